# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Requests to ``relay_node`` and its replies as JSON, its parameters, and who sends them.

Several relays may hear a request. One that names a topic is answered by the relay that carries
it, and ``look`` by all of them.
"""

from collections.abc import Collection, Mapping, Sequence
import re
import secrets
import threading
import time
from typing import Any, Literal

from pydantic import Field, ValidationError
from rclpy.node import Node
from safety_scenarios.errors import LinkTimeoutError, MeasurementError, refused, SettingsError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.graph import ASK_RELAY, RELAY
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.wire_fault import WireFault
from safety_scenarios.scenario.world import Senses
from std_msgs.msg import String
import yaml

_TOPIC = re.compile(r'~?/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')
_ASSIGNS = ':='


class RelaySettings(Noun):
    """One relay process."""

    topics: tuple[str, ...] = ()
    """What it carries, each as FROM:=TO: whatever is published on FROM it publishes on TO."""
    faults: tuple[str, ...] = ()
    """What is wrong from the start, each as TO:={kind: delay, delay_ms: 100}; several of one
    topic in a row."""
    patience_s: float = Field(default=5.0, gt=0, le=600, json_schema_extra={'unit': 's'})
    """After how long it says that nobody publishes on FROM (s)."""
    exit_with_stdin: bool = False
    """End when standard input closes; for a parent that must not leave it behind."""


def pairs(settings: RelaySettings) -> Sequence[tuple[str, str]]:
    """
    Return what is carried where, as the topics are named in the settings.

    :raises SettingsError: nothing, or not FROM:=TO
    """
    if not settings.topics:
        raise SettingsError('parameter topics: got nothing, expected what to carry. Set it: '
                            "--ros-args -p topics:=\"['scan:=scan_on_wire']\"")
    return [_split(text, place, 'topics', 'FROM:=TO') for place, text
            in enumerate(settings.topics)]


def faults_at_start(settings: RelaySettings) -> Sequence[tuple[str, WireFault]]:
    """
    Return output topic and fault of each that is there from the start.

    :raises SettingsError: not TO:={kind: ...}, or numbers that make no sense
    """
    found = []
    for place, text in enumerate(settings.faults):
        topic, given = _split(text, place, 'faults', 'TO:={kind: delay, delay_ms: 100}')
        try:
            data = yaml.safe_load(given)
        except yaml.YAMLError:
            data = None
        if not isinstance(data, dict):
            raise SettingsError(f'parameter faults[{place}]: got {given!r:.100}, expected a '
                                f'mapping such as {{kind: delay, delay_ms: 100}}')
        found.append((topic, _fault(data, f'parameter faults[{place}]')))
    return found


def _fault(data: dict[str, object], where: str) -> WireFault:
    fields = data.get('fields')
    given = data if not isinstance(fields, list) else {**data, 'fields': tuple(fields)}
    try:
        return WireFault.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = '.'.join(map(str, first['loc']))
        raise SettingsError(refused(f'{where}.{place}' if place else where, first)) from None


def _split(text: str, place: int, name: str, shape: str) -> tuple[str, str]:
    before, sign, after = (part.strip() for part in text.partition(_ASSIGNS))
    wrong = not sign or not after or not _TOPIC.fullmatch(before) or (
        name == 'topics' and not _TOPIC.fullmatch(after))
    if wrong:
        raise SettingsError(f'parameter {name}[{place}]: got {text!r:.100}, expected {shape}')
    return before, after


ASK, ANSWER = ASK_RELAY, RELAY
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


_AGAIN_S = 0.3
"""A first request may be sent before the other side has matched our answers."""
_LOOK_S = 0.02
"""Between two looks at who is connected."""


class RelayControl:
    """
    Switches what is wrong with the topics that relays carry.

    :param node: a spinning node, whose callbacks run in another thread
    :param timeout_s: how long to wait for a relay to answer
    """

    def __init__(self, node: Node, timeout_s: float) -> None:
        self._node, self._timeout_s = node, timeout_s
        self._count, self._token = 0, secrets.token_hex(4)
        self._answered = threading.Condition()
        self._answers: dict[str, dict[str, RelayAnswer]] = {}
        self._asks = node.create_publisher(String, ASK, qos.conversation())
        self._subscription = node.create_subscription(String, ANSWER, self._receive,
                                                      qos.conversation())

    def apply(self, topic: str, faults: Sequence[WireFault]) -> int:
        """
        Let these be wrong from now on, instead of those before; return ROS time right before it.

        :param topic: one on which a relay publishes
        :raises MeasurementError: no relay carries it, or it cannot be
        """
        return self._one('apply', topic, faults=tuple(faults)).now_ns

    def clear(self, topic: str) -> int:
        """
        Let nothing be wrong from now on; return ROS time right before it.

        :raises MeasurementError: no relay carries it
        """
        return self._one('clear', topic).now_ns

    def misread(self, topic: str, senses: Senses | None, seed: int = 0) -> None:
        """
        Let the sensor of a topic be so wrong from now on; None: nothing is wrong with it.

        :raises MeasurementError: no relay carries it, or it cannot be
        """
        self._one('misread', topic, senses=senses, seed=seed)

    def topics(self) -> Collection[str]:
        """Return the full names of the topics on which relays publish; empty: there are none."""
        return self.status().keys()

    def status(self) -> Mapping[str, RelayTopic]:
        """Return how it goes with each of these topics, own latencies included."""
        deadline = time.monotonic() + self._timeout_s
        request = self._request('look')
        found: dict[str, RelayAnswer] = {}
        try:
            while time.monotonic() < deadline:
                self._ask(request, min(deadline, time.monotonic() + _AGAIN_S),
                          lambda said: len(said) >= max(1, self._relays()))
                with self._answered:
                    found = dict(self._answers.get(request.id, {}))
                if found and len(found) >= self._relays():
                    break
        finally:
            self._forget(request)
        return {topic: one for answer in found.values() for topic, one in answer.topics.items()}

    def close(self) -> None:
        """Give up the endpoints; faults stay as they are."""
        self._node.destroy_publisher(self._asks)
        self._node.destroy_subscription(self._subscription)

    def _relays(self) -> int:
        return int(self._node.count_publishers(ANSWER))

    def _one(self, what: Any, topic: str, **named: Any) -> RelayAnswer:
        name = self._node.resolve_topic_name(topic)
        request = self._request(what, topic=name, **named)
        deadline = time.monotonic() + self._timeout_s
        try:
            self._ask(request, deadline, lambda said: bool(said))
            with self._answered:
                found = list(self._answers.get(request.id, {}).values())
        finally:
            self._forget(request)
        if not found:
            raise LinkTimeoutError(
                name, f'an answer of a relay_node that carries it to {what!r}', self._timeout_s,
                f'{self._relays()} relays here',
                'Start one: ros2 run safety_scenarios relay_node --ros-args -p '
                f"topics:=\"['FROM:={name}']\"")
        if found[0].error:
            raise MeasurementError(f'{found[0].relay}: {found[0].error}')
        return found[0]

    def _request(self, what: Any, **named: Any) -> RelayRequest:
        self._count += 1
        request = RelayRequest(id=f'{self._token}-{self._count}', what=what, **named)
        with self._answered:
            self._answers[request.id] = {}
        return request

    def _ask(self, request: RelayRequest, deadline: float, is_enough: Any) -> None:
        """Ask until enough have answered, or it is too late."""
        text, again = String(data=as_json(request)), 0.0
        while (now := time.monotonic()) < deadline:
            with self._answered:
                if is_enough(self._answers[request.id]):
                    return
            if now >= again:
                self._asks.publish(text)
                again = now + _AGAIN_S
            with self._answered:
                if not is_enough(self._answers[request.id]):
                    self._answered.wait(min(_LOOK_S, deadline - now))

    def _forget(self, request: RelayRequest) -> None:
        with self._answered:
            self._answers.pop(request.id, None)

    def _receive(self, said: Any) -> None:
        try:
            answer = RelayAnswer.model_validate_json(said.data)
        except ValueError:
            return  # nothing of ours
        with self._answered:
            if answer.id in self._answers:
                self._answers[answer.id][answer.relay] = answer
                self._answered.notify()
