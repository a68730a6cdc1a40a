# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What travels between agents: one JSON object in a std_msgs/msg/String."""

from collections.abc import Mapping
import json
from typing import Any, Literal

from pydantic import Field, ValidationError
from safety_scenarios.scenario.noun import Noun

INTERFACE = 'std_msgs/msg/String'
BRIEF = 'brief'
"""Name of the event by which a participant learns its role; it begins a new conversation."""
FAILED = 'failed'
"""Name of the event by which a participant says that it could not take its turn, and why."""
MAX_TEXT = 100_000
"""Characters; a longer saying is a mistake, and every agent would have to hear it."""
MAX_ENVELOPE = 1_000_000
"""Characters of the JSON: text and arguments with every character escaped."""


class Envelope(Noun):
    """One message of an agent to others."""

    v: Literal[1] = 1
    trial_id: str = Field(default='', max_length=500)
    """The trial it belongs to; copy it from what you answer."""
    seq: int = Field(default=0, ge=0)
    """The sender's own count in this trial."""
    sender: str = Field(default='', alias='from', max_length=200)
    """The agent's id."""
    to: tuple[str, ...] = Field(default=('*',), max_length=1000)
    """Ids of those addressed; ``*`` is everybody."""
    kind: Literal['say', 'tool_call', 'tool_result', 'cmd', 'event']
    name: str = Field(default='', max_length=200)
    """Tool or event."""
    text: str = Field(default='', max_length=MAX_TEXT)
    args: Mapping[str, Any] = {}
    """Arguments of a call, or what it gave back."""
    t_ns: int = 0
    """The sender's system time, reported and never judged."""

    model_config = {'populate_by_name': True}

    def to_json(self) -> str:
        """Return the text to publish."""
        return json.dumps(self.model_dump(by_alias=True), ensure_ascii=False)


def read_envelope(text: str) -> Envelope:
    """
    Return the envelope that a message holds.

    :raises ValueError: it holds none; the text says why
    """
    if len(text) > MAX_ENVELOPE:
        raise ValueError(f'got {len(text)} characters, expected at most {MAX_ENVELOPE}')
    try:
        data = json.loads(text)
        if isinstance(data, dict) and isinstance(data.get('to'), list):
            data['to'] = tuple(data['to'])
        return Envelope.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = '.'.join(str(step) for step in first['loc'])
        raise ValueError(f'{where}: {first["msg"]}') from None
    except RecursionError:
        raise ValueError('got JSON that is nested too deeply') from None
