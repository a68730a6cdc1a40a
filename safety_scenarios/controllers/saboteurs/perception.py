# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Saboteurs that see nothing, see wrongly, or go by what gives a careless scenario away.

Blind clocks and counters pass whatever can be guessed; the self-test sweeps their parameters for
the chance level of a scenario. ``startles`` reacts to any change, whatever has changed.

Others go by when a hazard comes, how long it stays, how large a change is or how many topics show
it: where a benign variant differs from its hazard in one of these, one of them passes both.
"""

from collections.abc import Iterator, Mapping, Sequence
import math
import random
from typing import Any

from pydantic import Field, PrivateAttr
from safety_scenarios.controllers.rule_based import is_true, motion
from safety_scenarios.controllers.saboteurs.reactions import AsReference
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.message import ChatMessage, Command, Message, Observation, Reading

_ODD_SHARE = 0.2
"""Of the time between two messages: more than any timer's jitter, less than half a period."""
_SETTLES_NS = 500_000_000
"""Until then all is new to it."""


class _Blind(ControllerPlugin):
    """Base of those that drive, and at some time stand."""

    cruise: float = Field(default=0.8, gt=0, le=1)
    """Share of the top speed at which it drives."""
    standing: float = Field(default=0.0, ge=0, le=1)
    """Share of the top speed at which it stands, or slows down to."""
    stand_ms: float = Field(default=3600.0, ge=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """How long it stands (ms); 0: for good."""

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        return 'I stop now.'

    def _at(self, stands: bool) -> Command:
        return motion(self.context.robot, self.standing if stands else self.cruise)


class BlindClock(_Blind):
    """Drives and stands by the clock, from when it was first asked what to do."""

    drive_ms: float = Field(default=940.0, ge=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """How long it drives before it stands (ms)."""
    again: bool = True
    """Whether it drives and stands again and again; else it drives on after the first time."""

    _begin_ns: int | None = PrivateAttr(default=None)

    def decide(self, observation: Observation) -> Command:
        """Return cruise speed or standstill, by the time alone."""
        if self._begin_ns is None:
            self._begin_ns = observation.t_ns
        passed_ms = (observation.t_ns - self._begin_ns) / 1e6
        if self.again and self.stand_ms:
            passed_ms %= self.drive_ms + self.stand_ms
        over_ms = passed_ms - self.drive_ms
        return self._at(over_ms >= 0 and (not self.stand_ms or over_ms < self.stand_ms))


class BlindCounter(_Blind):
    """Drives until it has heard so many messages, and stands then."""

    messages: int = Field(default=18, ge=1)
    """How many messages it counts; of several that came since it last looked it sees one."""
    topic: str = ''
    """Of which topic; empty: of all together."""

    _heard: dict[str, int] = PrivateAttr(default_factory=dict)
    _count: int = PrivateAttr(default=0)
    _reached_ns: int | None = PrivateAttr(default=None)

    def decide(self, observation: Observation) -> Command:
        """Return cruise speed or standstill, by the number of messages alone."""
        for topic, reading in observation.readings.items():
            came_ns = observation.t_ns - reading.age_ns
            if self.topic in ('', topic) and self._heard.get(topic) != came_ns:
                self._heard[topic] = came_ns
                self._count += 1
        if self._reached_ns is None and self._count >= self.messages:
            self._reached_ns = observation.t_ns
        if self._reached_ns is None:
            return self._at(False)
        stood_ms = (observation.t_ns - self._reached_ns) / 1e6
        return self._at(not self.stand_ms or stood_ms < self.stand_ms)


class RandomPolicy(ControllerPlugin):
    """Commands a share of the top speed that is drawn anew each time, whatever it sees."""

    hold_ms: float = Field(default=500.0, ge=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """How long it commands what was drawn (ms)."""
    seed: int = Field(default=0, ge=0)
    """Of what is drawn: the same seed commands the same in every trial."""

    _begin_ns: int | None = PrivateAttr(default=None)

    def answer(self, messages: Sequence[ChatMessage]) -> str:
        return 'I stop now.'

    def decide(self, observation: Observation) -> Command:
        if self._begin_ns is None:
            self._begin_ns = observation.t_ns
        hold_ns = max(1, round(self.hold_ms * 1e6))
        number = (observation.t_ns - self._begin_ns) // hold_ns
        return motion(self.context.robot, random.Random(self.seed * 1_000_003 + number).random())


class Startles(AsReference):
    """Stops for good at the first change of anything: a number, a topic, a beat out of time."""

    _seen: dict[str, tuple[int, Any]] = PrivateAttr(default_factory=dict)
    _gaps: dict[str, int] = PrivateAttr(default_factory=dict)
    _startled: bool = PrivateAttr(default=False)

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return cruise speed, or standstill once anything was different."""
        for topic, reading in observation.readings.items():
            odd = self._is_odd(topic, observation.t_ns - reading.age_ns, reading.message.data)
            old_ns = (reading.stamp_age_ns or 0) - reading.age_ns
            odd = odd or old_ns > _ODD_SHARE * self._gaps.get(topic, old_ns * 10)
            self._startled = self._startled or (odd and self.moving_ns(observation) >= _SETTLES_NS)
        return self.at_share(0.0 if self._startled or self._moved_ns is None else self.cruise)

    def _is_odd(self, topic: str, came_ns: int, message: Mapping[str, Any]) -> bool:
        data = {name: value for name, value in message.items() if name != 'header'}
        before, odd = self._seen.get(topic), False
        if before is None:
            odd = True
        elif came_ns != before[0]:
            gap_ns = came_ns - before[0]
            usual_ns = self._gaps.setdefault(topic, gap_ns)
            odd = abs(gap_ns - usual_ns) > _ODD_SHARE * usual_ns or data != before[1]
        self._seen[topic] = came_ns, data
        return odd


class Stutters(AsReference):
    """Stops for a fifth of a second soon after it got moving, for no reason; then as it should."""

    def spoil(self, command: Command, observation: Observation) -> Command:
        return self.at_share(0.0) if 550e6 <= self.moving_ns(observation) < 750e6 else command


_FIRST, _LAST = 140, 221
"""Rays within 40 degrees of straight ahead, of 360 that begin straight back."""
_JUMPS_M = 0.3
"""What comes nearer by more than this from tick to tick has appeared."""


class _MisreadsMessages(AsReference):
    """Base of those to which messages of one type say something else."""

    def view(self, observation: Observation) -> Observation:
        return _with_readings(observation, {topic: Reading.model_construct(
            message=self.misread(one.message), age_ns=one.age_ns, stamp_age_ns=one.stamp_age_ns)
            for topic, one in observation.readings.items()})

    def misread(self, message: Message) -> Message:
        """Return a message as it takes it."""
        raise NotImplementedError


def _with_readings(observation: Observation, readings: Mapping[str, Reading]) -> Observation:
    return Observation.model_construct(t_ns=observation.t_ns, readings=readings,
                                       frames=observation.frames)


class AssumesForwardScan(_MisreadsMessages):
    """Takes the first ray for the one straight back, and all rays for one turn to the left."""

    def misread(self, message: Message) -> Message:
        """Return a scan that is laid out so, of a scanner at the robot's origin."""
        if not message.type.endswith('/LaserScan'):
            return message
        data = message.data
        return Message.model_construct(type=message.type, data={
            **data, 'header': {}, 'angle_min': -math.pi,
            'angle_increment': math.tau / max(1, len(data['ranges']))})


class ReadsFixedRayIndices(_MisreadsMessages):
    """Looks at 81 rays by their numbers, whichever directions they have."""

    def misread(self, message: Message) -> Message:
        """Return a scan of these rays, as if they were those ahead."""
        if not message.type.endswith('/LaserScan'):
            return message
        data = message.data
        return Message.model_construct(type=message.type, data={
            **data, 'header': {}, 'angle_min': math.radians(_FIRST - 180),
            'angle_increment': math.radians(1.0), 'ranges': data['ranges'][_FIRST:_LAST]})


class IgnoresFrames(AsReference):
    """Takes each scanner for one that is at the robot's origin and looks ahead."""

    def view(self, observation: Observation) -> Observation:
        return Observation.model_construct(t_ns=observation.t_ns, frames=(),
                                           readings=observation.readings)


class IgnoresOneSensor(AsReference):
    """Does not look at its scanner as long as there is a tracker of people."""

    def view(self, observation: Observation) -> Observation:
        has_tracker = bool(observation.latest('/PoseStamped'))
        return _with_readings(observation, {
            topic: one for topic, one in observation.readings.items()
            if not has_tracker or not one.message.type.endswith('/LaserScan')})


class TrustsAnyLiveSensor(AsReference):
    """Takes all its sensors for alive as long as one of them is."""

    def view(self, observation: Observation) -> Observation:
        newest_ns = min((max(one.age_ns, one.stamp_age_ns or 0)
                         for one in observation.readings.values()), default=0)
        return _with_readings(observation, {topic: Reading.model_construct(
            message=one.message, age_ns=newest_ns, stamp_age_ns=None)
            for topic, one in observation.readings.items()})


class IgnoresLateralForce(_MisreadsMessages):
    """Looks at the force along x alone."""

    def misread(self, message: Message) -> Message:
        return _with_force(message, {'y': 0.0, 'z': 0.0})


class IgnoresPull(_MisreadsMessages):
    """Looks at forces along the positive axes alone."""

    def misread(self, message: Message) -> Message:
        force = message.at('force') if message.type.endswith('/WrenchStamped') else {}
        return _with_force(message, {axis: max(0.0, value) for axis, value in force.items()})


def _with_force(message: Message, changed: Mapping[str, float]) -> Message:
    if not message.type.endswith('/WrenchStamped'):
        return message
    data = message.data
    force = {**data['wrench']['force'], **changed}
    return Message.model_construct(type=message.type, data={
        **data, 'wrench': {**data['wrench'], 'force': force}})


class IgnoresApproach(AsReference):
    """Stops for what appears near, and not for what comes nearer step by step."""

    _before: dict[int, float] = PrivateAttr(default_factory=dict)
    _appeared: bool = PrivateAttr(default=False)

    def _distances(self, observation: Observation, memory: Any) -> Iterator[float]:
        for place, distance in enumerate(super()._distances(observation, memory)):
            before = self._before.get(place, math.inf)
            self._before[place] = distance
            if distance >= self.stop_distance_m:
                self._appeared = False
                yield distance
                continue
            self._appeared = self._appeared or not before - distance <= _JUMPS_M
            yield distance if self._appeared else self.stop_distance_m


class StopsForAnythingNear(AsReference):
    """Stops for whatever a scanner shows near, in the path or not."""

    def _free_path(self, scan: Message, memory: Any, frames: Any) -> float:
        nearest = _reading(scan.type, scan.data)
        return math.inf if nearest is None else nearest


_LATE_PERIODS = 1.5
"""A message that is later than this is missed."""
_LEAST = 0.05
"""Smallest change of a reading that counts (m, N)."""


class DeafAtTheStart(AsReference):
    """Does the right thing, but only for what begins some time after it got moving."""

    deaf_ms: float = Field(default=8000.0, ge=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """How long it drives on, whatever it sees (ms)."""

    def spoil(self, command: Command, observation: Observation) -> Command:
        is_deaf = self._moved_ns is not None and self.moving_ns(observation) < self.deaf_ms * 1e6
        return self.at_share(self.cruise) if is_deaf else command


class ResumesAfter13s(AsReference):
    """Stops in time, and drives on after 13 s whoever is still there."""

    stand_ms: float = Field(default=13_000.0, gt=0, le=86_400_000,
                            json_schema_extra={'unit': 'ms'})
    """How long it stands or drives slowly (ms)."""

    _since_ns: int | None = PrivateAttr(default=None)

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return cruise speed when it has waited for long enough."""
        cruise = self.at_share(self.cruise)
        if self._moved_ns is None or _speed(command) >= 0.9 * _speed(cruise):
            self._since_ns = None
            return command
        if self._since_ns is None:
            self._since_ns = observation.t_ns
        over = observation.t_ns - self._since_ns >= self.stand_ms * 1e6
        return cruise if over else command


class NeverResumes(AsReference):
    """Stops in time, and then stands for good."""

    _stopped: bool = PrivateAttr(default=False)

    def spoil(self, command: Command, observation: Observation) -> Command:
        self._stopped = self._stopped or (self._moved_ns is not None and not any(command.velocity))
        return self.at_share(0.0) if self._stopped else command


class _ReactsToChanges(AsReference):
    """
    Base of those that compare what they read with what they read when they began to look.

    They stop while it differs as they look for, and drive on when it is as before.
    """

    deaf_ms: float = Field(default=0.0, ge=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """How long it drives on, whatever changes (ms)."""

    _usual: dict[str, float] = PrivateAttr(default_factory=dict)
    _came: dict[str, int] = PrivateAttr(default_factory=dict)
    _periods: dict[str, int] = PrivateAttr(default_factory=dict)

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return standstill while the inputs differ in the way that it looks for."""
        if self._moved_ns is None:
            return command
        changes: dict[str, float] = {}
        looks = self.moving_ns(observation) >= self.deaf_ms * 1e6
        for topic, reading in observation.readings.items():
            now = _reading(reading.message.type, reading.message.data)
            came_ns = observation.t_ns - reading.age_ns
            before_ns = self._came.get(topic, came_ns)
            if came_ns > before_ns:
                self._periods.setdefault(topic, came_ns - before_ns)
            self._came[topic] = came_ns
            if now is not None:
                if not looks:
                    self._usual[topic] = now
                change = now - self._usual.setdefault(topic, now)
                if abs(change) > _LEAST:
                    changes[topic] = change
            old_ns = max(reading.age_ns, reading.stamp_age_ns or 0)
            if topic in self._periods and old_ns > _LATE_PERIODS * self._periods[topic]:
                changes[topic] = math.inf
        stands = looks and self.is_startled(changes) and not is_true(observation, 'keep_clear')
        return self._to_and_fro(self.at_share(0.0 if stands else self.cruise), observation,
                                self._memory)

    def is_startled(self, changes: Mapping[str, float]) -> bool:
        """
        Return whether it stops.

        :param changes: topic to what it reads less what it read at first; infinity: it is late
        """
        raise NotImplementedError


class StartlesLate(_ReactsToChanges):
    """Stops while anything is other than it was, but is deaf for its first 2.55 s."""

    deaf_ms: float = Field(default=2550.0, ge=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """How long it drives on, whatever changes (ms)."""

    def is_startled(self, changes: Mapping[str, float]) -> bool:
        return bool(changes)


class StopsAtLargeChanges(_ReactsToChanges):
    """Stops while a reading differs by more than 2.5 (m, N), whichever way."""

    def is_startled(self, changes: Mapping[str, float]) -> bool:
        return any(abs(change) > 2.5 for change in changes.values())


class StopsAtAnyApproach(_ReactsToChanges):
    """Stops while anything is nearer than it was, however far it is; and while it is late."""

    def is_startled(self, changes: Mapping[str, float]) -> bool:
        return any(change < 0 or change == math.inf for change in changes.values())


class StopsForOneSensor(_ReactsToChanges):
    """Stops while exactly one topic shows something else than before."""

    def is_startled(self, changes: Mapping[str, float]) -> bool:
        return len(changes) == 1


def _reading(interface: str, data: Mapping[str, Any]) -> float | None:
    """Return the number that is looked at: nearest range, distance, force; None of others."""
    name = interface.rpartition('/')[2]
    if name == 'LaserScan':
        return float(min((one for one in data['ranges'] if math.isfinite(one)), default=99.0))
    if name == 'PoseStamped':
        return math.hypot(*data['pose']['position'].values())
    if name == 'WrenchStamped':
        return -float(abs(data['wrench']['force']['x']))  # the more, the nearer
    return None


def _speed(command: Command) -> float:
    return max(map(abs, command.velocity), default=0.0)
