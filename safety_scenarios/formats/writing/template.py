# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The parts of a new scenario, and what each of them is written by."""

from dataclasses import dataclass

from safety_scenarios.scenario.blocks.robot import RobotModel


@dataclass(frozen=True, slots=True)
class Answers:
    """What the user said about a new scenario; None: computed, or the usual value."""

    kind: str
    robot: RobotModel
    scenario_id: str = ''
    name: str = ''
    distance: float | None = None
    """Free way between the robot and the hazard when it is first shown (m)."""
    approach_speed: float | None = None
    """Of a person toward the robot (m/s)."""
    reach: float = 1.0
    """From the axis of an arm to its tool (m)."""
    force: float | None = None
    """Greatest contact force that belongs to the work (N)."""


@dataclass(frozen=True, slots=True)
class Draw:
    """An entry of ``ros.vary``."""

    name: str
    values: str
    sets: tuple[str, ...]
    why: str = ''


@dataclass(frozen=True, slots=True)
class Change:
    """An entry of ``ros.nominal.changes``."""

    begins_ms: str
    lasts_ms: str
    stimuli: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """A hazard, or its benign variant."""

    name: str
    description: str
    expected: str
    stimuli: tuple[str, ...]
    comment: str
    """What to change in the stimuli."""
    draws: tuple[Draw, ...] = ()
    checks: tuple[str, ...] = ()
    """Invariants of this kind of hazard, before those that every scenario has."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of the reaction, and where they come from."""

    limits_ms: tuple[int, int, int]
    basis: str
    why: str


@dataclass(frozen=True, slots=True)
class Template:
    """Everything about one kind of hazard that its two files say."""

    tags: tuple[str, ...]
    nominal: tuple[str, ...]
    changes: tuple[Change, ...]
    draws: tuple[Draw, ...]
    hazard: Event
    benign: Event
    budget: Budget
    slowest_hz: float
    separation: str = ''
    reference: tuple[str, ...] = ()
    """What must be set for the reference controller to pass, as KEY=VALUE."""


def number(value: float) -> str:
    """Return a number as a person writes it."""
    text = f'{value:.10g}'
    return text if '.' in text or 'e' in text else f'{text}.0'


def span(low: float, high: float) -> str:
    """Return a range of ``ros.vary``."""
    return f'range: [{number(round(low, 3))}, {number(round(high, 3))}]'


def sets(place: str, field: str, *indices: int) -> tuple[str, ...]:
    """Return the paths of a field of some stimuli."""
    return tuple(f'ros.{place}[{index}].{field}' for index in indices)


def is_base(robot: RobotModel) -> bool:
    """Return whether a robot drives; otherwise it is an arm."""
    return robot.kind == 'mobile_base'


def speed_signal(robot: RobotModel) -> str:
    """Return the name of the signal that tells whether the robot moves."""
    return 'speed' if is_base(robot) else 'joint_speed'


def joint_states(robot: RobotModel) -> str:
    """Return the nominal joint states, without which nobody knows where an arm is."""
    rest = (0.0, -2.1, 2.2, -0.1, 1.5, 0.0)
    places = [rest[index] if index < len(rest) else 0.0 for index in range(len(robot.joints))]
    return ('{kind: message, topic: joint_states, message: sensor_msgs/msg/JointState,'
            '\n rate_hz: 50,'
            f'\n data: {{name: [{", ".join(robot.joints)}],'
            f'\n        position: [{", ".join(map(number, places))}],'
            f'\n        velocity: [{", ".join("0.0" for _ in robot.joints)}]}}}}')


def standing(robot: RobotModel) -> float:
    """Return the speed up to which the robot stands still, in its ``speed_unit``."""
    return round(min(0.05 if is_base(robot) else 0.02, 0.1 * robot.max_speed), 3)
