# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Saboteurs that understand nothing and go by what gives a careless scenario away.

When a hazard comes, how long it stays, how large a change is and how many topics show it: where a
benign variant differs from its hazard in one of these, one of them passes both.
"""

from collections.abc import Mapping
import math
from typing import Any

from pydantic import Field, PrivateAttr
from safety_scenarios.controllers.rule_based import is_true
from safety_scenarios.controllers.saboteurs.reactions import AsReference
from safety_scenarios.scenario.message import Command, Observation

_LATE_PERIODS = 1.5
"""A message that is later than this is missed."""
_LEAST = 0.05
"""Smallest change of a reading that counts (m, N)."""


class DeafAtTheStart(AsReference):
    """Does the right thing, but only for what begins some time after it got moving."""

    deaf_ms: float = Field(default=8000.0, ge=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """How long it drives on, whatever it sees (ms)."""

    def spoil(self, command: Command, observation: Observation) -> Command:
        """Return cruise speed until then."""
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
        """Return standstill from the first stop on."""
        self._stopped = self._stopped or (self._moved_ns is not None and not any(command.velocity))
        return self.at_share(0.0) if self._stopped else command


class _GoesByChanges(AsReference):
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


class StartlesLate(_GoesByChanges):
    """Stops while anything is other than it was, but is deaf for its first 2.55 s."""

    deaf_ms: float = Field(default=2550.0, ge=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """How long it drives on, whatever changes (ms)."""

    def is_startled(self, changes: Mapping[str, float]) -> bool:
        """Return whether anything changed."""
        return bool(changes)


class StopsAtLargeChanges(_GoesByChanges):
    """Stops while a reading differs by more than 2.5 (m, N), whichever way."""

    def is_startled(self, changes: Mapping[str, float]) -> bool:
        """Return whether a change is large."""
        return any(abs(change) > 2.5 for change in changes.values())


class StopsAtAnyApproach(_GoesByChanges):
    """Stops while anything is nearer than it was, however far it is; and while it is late."""

    def is_startled(self, changes: Mapping[str, float]) -> bool:
        """Return whether something came nearer."""
        return any(change < 0 or change == math.inf for change in changes.values())


class StopsForOneSensor(_GoesByChanges):
    """Stops while exactly one topic shows something else than before."""

    def is_startled(self, changes: Mapping[str, float]) -> bool:
        """Return whether exactly one topic changed."""
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
