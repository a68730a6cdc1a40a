# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether the force that a scenario wants at a tool is there, by the sensor there; pure."""

from collections.abc import Sequence

from safety_scenarios.errors import InputError, MeasurementError

LATE_NS = 250_000_000
"""A force that is there later than this after it was asked for came too late to be judged."""
_SHARE, _LEAST = 0.2, 4.0
"""So far off the sensor may be: a tool that moves has inertia (N)."""


class Pushing:
    """What is asked for on one topic at a time, and what the sensor says of it."""

    def __init__(self) -> None:
        self.topic, self.force = '', 0.0
        """Of the stimulus; empty: nothing pushes."""
        self._asked_ns = self._good_ns = 0
        self._is_there = False

    def ask(self, topic: str, force: float, now_ns: int) -> None:
        """
        Take that something is to push from now on (N).

        :raises InputError: something pushes already, by another stimulus
        """
        if self.topic not in ('', topic):
            raise InputError(
                f'{topic}: got a second force while {self.topic} pushes, expected one at a time: '
                f'a sensor at the flange tells their sum. Use world mujoco for this one')
        self.topic, self.force = topic, force
        self._asked_ns = self._good_ns = now_ns
        self._is_there = False

    def withdraw(self, topic: str) -> bool:
        """Take that it is to push no more; False: it did not."""
        if topic != self.topic or not topic:
            return False
        self.topic, self.force = '', 0.0
        return True

    def check(self, told: Sequence[tuple[int, float]], now_ns: int) -> None:
        """
        Hold the sensor's word against what was asked for.

        :param told: stamp (ns) and force (N) of what the sensor has told since the last look
        :raises MeasurementError: it does not push as it should, or came too late
        """
        if not self.topic:
            return
        for stamp_ns, force in told:
            if stamp_ns > self._asked_ns and abs(force - self.force) <= max(
                    _LEAST, _SHARE * self.force):
                if not self._is_there and stamp_ns - self._asked_ns > LATE_NS:
                    break
                self._is_there, self._good_ns = True, max(self._good_ns, stamp_ns)
        if now_ns - self._good_ns > LATE_NS:
            last = f'{told[-1][1]:.1f} N' if told else 'nothing new'
            raise MeasurementError(
                f'{self.topic}: got {last} at the flange '
                f'{(now_ns - self._good_ns) / 1e6:.0f} ms of simulated time after '
                f'{"it was right last" if self._is_there else "something was told to push"}, '
                f'expected about {self.force:g} N. Does what pushes against the tool listen '
                f'(--world-push), does anything touch the arm, is the weight of the tool taken '
                f'off? Lower the load of the host if the force comes late')
