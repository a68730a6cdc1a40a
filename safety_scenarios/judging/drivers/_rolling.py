# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Velocity commands of a base, executed as they come one by one: what ``_twist`` does of many."""

from collections.abc import Callable, Mapping
import math

import numpy
from safety_scenarios.judging.drivers._twist import demanded_by, take_one, Terms, Vector
from safety_scenarios.scenario.driver import BASE_AXES, Commanded, Follower
from safety_scenarios.scenario.message import Message

_NOT_FINITE = 'not finite'


class Rolling(Follower):
    """
    How fast a base is told to go; how far it has come is not kept.

    :param timeout_ns: how long after its stamp a command no longer counts; None: never
    :param period_ns: of the driver's cycles
    :param limit: as of ``in_cycles``; None: a command takes effect at once
    :param nan_disables: a command that is not finite lets the one before go on for ever
    """

    def __init__(self, terms: Terms, timeout_ns: int | None, period_ns: int,
                 limit: Callable[[Vector, Vector, Vector], Vector] | None = None,
                 nan_disables: bool = False) -> None:
        self._terms = terms
        self._timeout_ns, self._period_ns = timeout_ns, period_ns
        self._limit, self._nan_disables = limit, nan_disables
        self._stopped = numpy.zeros(3)
        self._wanted = self._last = self._before = self._stopped
        self._state: Mapping[str, tuple[float, float]] = _told(self._stopped)
        self._message: Message | None = None
        self._demanded, self._is_sound = self._wanted, True
        self._stamp_ns: float = 0
        self._next_ns: int | None = None
        """When the next cycle is; None: before the first command."""

    def take(self, command: Commanded) -> None:
        """
        Execute a command from now on.

        :raises ValueError: the driver rejects it, and goes on as before
        """
        if command.message is not self._message:  # who drives on says the same again
            self._message = command.message
            self._demanded, self._is_sound = demanded_by(command.message, self._terms)
        stamp_ns, reason = take_one(command, self._terms, self._is_sound)
        if reason:
            if self._nan_disables and _NOT_FINITE in reason and self._next_ns is not None:
                self._stamp_ns = math.inf
            raise ValueError(reason)
        if self._next_ns is None:
            self._next_ns = command.t_ns
        self._to(command.t_ns - 1)
        self._wanted, self._stamp_ns = self._demanded, stamp_ns
        if self._limit is None:
            self._hold(self._wanted)
        self._to(command.t_ns)

    def state(self, t_ns: int) -> Mapping[str, tuple[float, float]]:
        """Return each axis's speed, with no way; none before the first command."""
        if self._next_ns is None:
            return {}
        self._to(t_ns)
        return self._state

    def lasts_ns(self, t_ns: int) -> float:
        """Return until when it does what it does now, by its next cycle and its timeout."""
        if self._next_ns is None:
            return math.inf
        if self._limit is not None:
            return t_ns
        self._to(t_ns)
        over_ns = math.inf if self._timeout_ns is None else self._stamp_ns + self._timeout_ns
        is_stale = self._next_ns > over_ns
        if (self._last is self._stopped) != is_stale:  # the next cycle changes it
            return self._next_ns - 1
        if is_stale:  # a cycle that has gone by is not undone by a command that is not finite
            return t_ns if self._nan_disables else math.inf
        return over_ns

    def _to(self, t_ns: int) -> None:
        assert self._next_ns is not None
        if self._limit is None and t_ns > self._next_ns:  # no cycle goes by the one before it
            self._next_ns += (t_ns - self._next_ns) // self._period_ns * self._period_ns
        while self._next_ns <= t_ns:
            is_stale = self._timeout_ns is not None \
                and self._next_ns - self._stamp_ns > self._timeout_ns
            wanted = self._stopped if is_stale else self._wanted
            found = wanted if self._limit is None else self._limit(
                wanted, self._last, self._before)
            self._hold(found)
            self._next_ns += self._period_ns

    def _hold(self, found: Vector) -> None:
        """Go as fast as this from now on."""
        before, self._before, self._last = self._last, self._last, found
        if found is not before:
            self._state = _told(found)


def _told(speeds: Vector) -> Mapping[str, tuple[float, float]]:
    """Return the axes of which the speed is a number."""
    return {axis: (0.0, speed) for axis, speed in zip(BASE_AXES, speeds.tolist(), strict=True)
            if math.isfinite(speed)}
