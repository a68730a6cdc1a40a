# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether somebody else moves the world in which a trial runs; pure."""

from collections import deque
from collections.abc import Iterable
import math

from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.worlds.external.mover import PoseBook
from safety_scenarios.scenario.world_body import Placed

_KEPT = 10
"""Places of a body that are remembered: poses come half a second later than asked for at most."""
_NEAR_M = 0.1
"""A body that is this near to where it was put is there."""
_FASTEST_M_S, _JUMP_M = 20.0, 0.1
"""No robot drives faster; it jumps if it gets farther than that, and by so much."""
_LONGEST_NS = 200_000_000
"""Between two poses that are farther apart nobody knows what was."""
_ADVICE = ('another client moves the world, or has reset it. Let only the evaluator use the '
           'services of the simulator during a campaign')


class Disturbed:
    """Holds what the poses show against what was asked for."""

    def __init__(self, book: PoseBook, robot: str) -> None:
        self._book, self._robot = book, robot
        self._places: dict[str, deque[Placed]] = {}
        self._since_ns = 0

    def begin(self, now_ns: int) -> None:
        """Forget what was before a trial."""
        self._places.clear()
        self._since_ns = now_ns

    def put(self, name: str, place: Placed, *, is_new: bool = False) -> None:
        """Take that a body was asked to be somewhere; ``is_new``: it has just appeared."""
        if is_new or name not in self._places:
            self._places[name] = deque(maxlen=_KEPT)
        self._places[name].append(place)

    def check(self, there: Iterable[tuple[str, int]]) -> None:
        """
        See that nobody else has moved anything.

        :param there: names of the bodies that are there, and since when that is known (ns)
        :raises MeasurementError: somebody has; what, and where it is
        """
        for name, since_ns in there:
            told = self._book.last(name)
            if told is None or not self._book.is_there(name):
                raise MeasurementError(f'the model {name!r}: its position is no longer published, '
                                       f'expected it where it was put: {_ADVICE}')
            places = self._places.get(name)
            if told[0] >= since_ns and places and not any(
                    _apart(told[1], place) <= _NEAR_M for place in places):
                raise MeasurementError(f'the model {name!r}: it is at {_said(told[1])}, expected '
                                       f'it at {_said(places[-1])}, where it was put: {_ADVICE}')
        self._check_robot()

    def _check_robot(self) -> None:
        stamps = self._book.stamps_after(self._robot, self._since_ns - 1)
        for before_ns, now_ns in zip(stamps, stamps[1:], strict=False):
            self._since_ns = now_ns
            was, now = (self._book.at(self._robot, stamp) for stamp in (before_ns, now_ns))
            if was is None or now is None or now_ns - before_ns > _LONGEST_NS:
                continue
            if _apart(was, now) > _JUMP_M + _FASTEST_M_S * (now_ns - before_ns) / 1e9:
                raise MeasurementError(f'the robot: it was at {_said(was)}, and '
                                       f'{(now_ns - before_ns) / 1e6:.0f} ms later at '
                                       f'{_said(now)}, farther than any can drive: {_ADVICE}')


def _apart(one: Placed, other: Placed) -> float:
    return math.hypot(one[0] - other[0], one[1] - other[1])


def _said(place: Placed) -> str:
    return f'x {place[0]:.2f}, y {place[1]:.2f} m'
