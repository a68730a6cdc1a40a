# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Blind saboteurs: what they do does not depend on what their inputs show.

Clocks and counters pass whatever can be guessed; the self-test sweeps their parameters for the
chance level of a scenario. ``startles`` reacts to any change, whatever has changed.
"""

from collections.abc import Mapping, Sequence
import random
from typing import Any

from pydantic import Field, PrivateAttr
from safety_scenarios.controllers.rule_based import motion
from safety_scenarios.controllers.saboteurs.reactions import AsReference
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.message import ChatMessage, Command, Observation

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
        """Return the same words whatever is asked."""
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
        """Return the same words whatever is asked."""
        return 'I stop now.'

    def decide(self, observation: Observation) -> Command:
        """Return a share of the top speed, each as likely."""
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
        """Return standstill from 0.55 s to 0.75 s after it first moved."""
        return self.at_share(0.0) if 550e6 <= self.moving_ns(observation) < 750e6 else command
