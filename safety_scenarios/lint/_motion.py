# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a signal can be while a robot does what it can."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import math

from safety_scenarios.lint._remark import FieldPath
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Condition, RosBlock

BEYOND = 1.1
"""Times its top speed: limits up to there are rounded, those above it are beyond the robot."""


@dataclass(frozen=True, slots=True)
class Range:
    """From the least to the greatest value, both possible."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """Return the greatest step that a value can take."""
        return self.high - self.low


def is_signed(signal: Signal) -> bool:
    """Return whether a signal is a speed whose sign tells the direction."""
    return signal.unit in ('m/s', 'rad/s') and signal.reduce in ('none', 'min', 'max')


def is_still(signal: Signal, robot: RobotModel) -> bool:
    """Return whether it is along an axis that no robot of this kind moves on."""
    return kind_of(robot).never_moves(signal.field)


def reach(signal: Signal, robot: RobotModel | None) -> Range:
    """Return what a signal can be; without end where the robot's top speed does not tell."""
    low = 0.0 if signal.reduce in ('abs', 'norm', 'max_abs', 'joint_speed') else -math.inf
    if robot is None:
        return Range(low, math.inf)
    if is_still(signal, robot):
        return Range(0.0, 0.0)
    if signal.unit != kind_of(robot).speed_unit:
        return Range(low, math.inf)
    return Range(max(low, -robot.max_speed), robot.max_speed)


def by_name(ros: RosBlock, name: str | None) -> tuple[Signal, Range] | None:
    """Return a signal and what it can be; None when there is no such signal."""
    signal = ros.signals.get(name) if name is not None else None
    return None if signal is None else (signal, reach(signal, ros.robot))


def conditions(ros: RosBlock) -> Iterator[tuple[FieldPath, Limit, Sequence[Limit]]]:
    """Yield (field path, limit, all limits beside it) of the reaction and the confirmation."""
    for name, condition in (('reaction', ros.reaction), ('confirmation', ros.confirmation)):
        if isinstance(condition, Condition):
            several = condition.signal is None
            for index, limit in enumerate(condition.limits):
                path: FieldPath = ('ros', name, 'all', index) if several else ('ros', name)
                yield path, limit, condition.limits


def says_at_least(known: Limit, about: Limit, ros: RosBlock) -> Range | None:
    """
    Return what a limit that holds says about the signal of another limit; None: nothing.

    The whole of a vector is at least as large as each of its parts; a part may be anything.
    """
    first, second = ros.signals[known.signal], ros.signals[about.signal]
    low = -math.inf if known.at_least is None else known.at_least
    high = math.inf if known.at_most is None else known.at_most
    if known.signal == about.signal or (first.topic, first.field, first.reduce) == (
            second.topic, second.field, second.reduce):
        return Range(low, high)
    if first.topic != second.topic or low <= 0 or reach(second, ros.robot).low < 0:
        return None
    is_whole = first.field == second.field or first.field.startswith(f'{second.field}.')
    return Range(low, math.inf) if is_whole and second.reduce != 'joint_speed' else None
