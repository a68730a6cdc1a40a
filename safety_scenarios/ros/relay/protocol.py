# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a ``relay_node`` is asked and answers, as JSON in ``std_msgs/String``; without ROS.

Several relays may hear a request. One that names a topic is answered by the relay that carries
it, and ``look`` by all of them.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, ValidationError
from safety_scenarios.errors import refused
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.world.block import Senses
from safety_scenarios.scenario.world.wire_fault import WireFault

ASK, ANSWER = 'relay/ask', 'relay/answer'
"""Topics on which requests and their answers travel."""
LONGEST = 100_000
"""Characters of a request; nothing is longer."""
MOST_FAULTS = 20


class RelayRequest(Noun):
    """One thing that relays are asked to do."""

    id: str = Field(min_length=1, max_length=100)  # noqa: A003
    what: Literal['look', 'apply', 'clear', 'misread']
    """look: say how it goes; apply: these faults, instead of those before; clear: none; misread:
    be as wrong as these senses, whatever faults there are."""
    topic: str = Field(default='', max_length=500)
    """Full name of the output topic."""
    faults: tuple[WireFault, ...] = Field(default=(), max_length=MOST_FAULTS)
    """Of ``apply``: in the order in which they lie on the wire."""
    senses: Senses | None = None
    """Of ``misread``: what is wrong with the sensor of a scan or of odometry; None: nothing."""
    seed: int = Field(default=0, ge=0)
    """Of ``misread``: of what is drawn."""


class RelayTopic(Noun):
    """How it goes with one topic."""

    source: str
    """Full name of the topic that is carried."""
    interface: str = ''
    """Its type; empty: nobody has published there yet."""
    faults: tuple[WireFault, ...] = ()
    senses: Senses | None = None
    """What is wrong with the sensor itself; None: nothing."""
    received: int = 0
    published: int = 0
    altered: int = 0
    """Messages whose content was changed since the faults were set."""
    median_ns: int | None = None
    """The relay's own latency, from the receipt of a message to the end of its publishing, less
    what a fault delays it by; None: nothing was carried."""
    p99_ns: int | None = None
    problem: str = ''
    """Why nothing, or not this alone, comes out; empty: all is well."""


class RelayAnswer(Noun):
    """What became of a request."""

    id: str = Field(max_length=100)  # noqa: A003
    relay: str = ''
    """Full name of the node that answers."""
    error: str = ''
    """Why nothing was done; empty: it was done."""
    now_ns: int = 0
    """ROS time right before it was done."""
    topics: Mapping[str, RelayTopic] = {}
    """Full name of each output topic to how it goes with it."""


def read_request(text: str) -> RelayRequest | RelayAnswer:
    """Return the request in a text, or the answer that says why there is none."""
    if len(text) > LONGEST:
        return RelayAnswer(id='', error=f'got {len(text)} characters, expected at most {LONGEST}')
    try:
        return RelayRequest.model_validate_json(text)
    except ValidationError as error:
        try:
            known = _Named.model_validate_json(text).id
        except ValidationError:
            known = ''
        first = error.errors(include_url=False)[0]
        place = '.'.join(map(str, first['loc'])) or 'the request'
        return RelayAnswer(id=known, error=refused(place, first))


class _Named(Noun, extra='ignore'):
    id: str = Field(max_length=100)  # noqa: A003


def as_json(noun: Noun) -> str:
    """Return a noun of this protocol as text."""
    return noun.model_dump_json(exclude_defaults=True)
