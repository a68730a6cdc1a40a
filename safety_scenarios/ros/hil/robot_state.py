# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Interlocks on the robot's own state: battery, speed, travel, start, protective functions."""

from collections.abc import Collection, Mapping
import math
from typing import Any

from safety_scenarios.ros.hil.interlock import Interlock, MS, Word

Pose = Mapping[str, float]
"""x, y and z (m) and heading (rad) of a base, or each joint's position."""
HEADING = 'heading'


def motion_of(message: Any) -> tuple[float, float]:
    """
    Return how fast it moves (m/s, or of the fastest joint) and turns (rad/s); NaN if unknown.

    :raises LookupError: the message says nothing about that
    """
    if hasattr(message, 'velocity') and hasattr(message, 'name'):
        speeds = [abs(float(value)) for value in message.velocity]
        known = speeds and len(speeds) == len(message.name) and not any(map(math.isnan, speeds))
        return (max(speeds) if known else math.nan), 0.0
    twist = getattr(message, 'twist', message)
    twist = getattr(twist, 'twist', twist)
    if not hasattr(twist, 'linear') or not hasattr(twist, 'angular'):
        raise LookupError(f'got {type(message).__name__}, which contains no speed, expected '
                          f'Odometry, TwistStamped, Twist or JointState')
    return _norm(twist.linear), _norm(twist.angular)


def pose_of(message: Any) -> Pose | None:
    """Return where it is, None if the message does not say."""
    if hasattr(message, 'position') and hasattr(message, 'name'):
        known = len(message.position) == len(message.name) > 0
        return dict(zip(message.name, map(float, message.position), strict=True)) if known \
            else None
    pose = getattr(getattr(message, 'pose', None), 'pose', None)
    if pose is None:
        return None
    place, turn = pose.position, pose.orientation
    heading = math.atan2(2 * (turn.w * turn.z + turn.x * turn.y),
                         1 - 2 * (turn.y * turn.y + turn.z * turn.z))
    return {'x': place.x, 'y': place.y, 'z': place.z, HEADING: heading}


def apart(one: Pose, other: Pose) -> tuple[float, float]:
    """Return how far away one place is of another (m), and their directions or joints (rad)."""
    if one.keys() != other.keys():
        return math.nan, math.nan
    if HEADING not in one:
        return 0.0, _largest(abs(one[name] - other[name]) for name in one)
    turn = math.remainder(one[HEADING] - other[HEADING], 2 * math.pi) \
        if math.isfinite(one[HEADING] - other[HEADING]) else math.nan
    return math.hypot(*(one[axis] - other[axis] for axis in 'xyz')), abs(turn)


def _largest(values: Any) -> float:
    found = list(values)
    return math.nan if any(map(math.isnan, found)) else max(found)


def _norm(vector: Any) -> float:
    return math.hypot(vector.x, vector.y, vector.z)


class Battery(Interlock):
    """
    Holds while the charge is known and above its floor.

    :param floor: least charge (0 to 1)
    """

    name = 'battery'

    def __init__(self, word: Word, floor: float) -> None:
        self._word, self._floor = word, floor

    def why_not(self, now_ns: int) -> str | None:
        """Return the charge that is too low, or that nobody knows it."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        charge = self._word.message.percentage
        if not self._floor <= charge <= 1.0:
            return (f'got percentage {charge:g} on {self._word.topic}, expected '
                    f'{self._floor:g} to 1')
        return None


class Protective(Interlock):
    """
    Holds while the robot's own word is true, or a mode in which its functions are on.

    :param modes: in which they are on
    """

    name = 'protective'

    def __init__(self, word: Word, modes: Collection[int]) -> None:
        self._word, self._modes = word, modes

    def why_not(self, now_ns: int) -> str | None:
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        message, topic = self._word.message, self._word.topic
        if type(message).__name__ == 'RobotMode':
            return (f'got RobotMode on {topic}, which reports whether the robot has power, '
                    f'expected SafetyMode, which reports whether its protective functions are on')
        if hasattr(message, 'mode'):
            mode = message.mode
            return None if not isinstance(mode, bool) and mode in self._modes else (
                f'got mode {mode} on {topic}, expected '
                f'{" or ".join(map(str, sorted(self._modes)))}')
        if not hasattr(message, 'data'):
            return (f'got {type(message).__name__} on {topic}, which has neither data nor mode, '
                    f'expected Bool or a message with mode')
        return None if message.data is True else f'got {message.data!r} on {topic}, expected true'


class Speed(Interlock):
    """
    Holds while the observed speed and turn are within their caps; NaN is not.

    :param speed_cap: m/s, or of the fastest joint
    :param turn_cap: rad/s
    """

    name = 'speed'

    def __init__(self, word: Word, speed_cap: float, turn_cap: float) -> None:
        self._word, self._speed_cap, self._turn_cap = word, speed_cap, turn_cap

    def why_not(self, now_ns: int) -> str | None:
        """Return which cap is broken, or that nobody knows."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        speed, turn = motion_of(self._word.message)
        if not speed <= self._speed_cap:
            return f'got {speed:g} on {self._word.topic}, expected {self._speed_cap:g} m/s at most'
        if not turn <= self._turn_cap:
            return (f'got a turn of {turn:g} on {self._word.topic}, expected {self._turn_cap:g} '
                    f'rad/s at most')
        return None


class Travel(Interlock):
    """
    Holds while a mobile base is within its cap of where its trial began.

    :param cap_m: how far it may get
    """

    name = 'travel'

    def __init__(self, word: Word, cap_m: float) -> None:
        self._word, self._cap_m = word, cap_m
        self._began: Pose | None = None

    def begin(self) -> None:
        """Take the place where the robot is now for its start."""
        self._began = None

    def why_not(self, now_ns: int) -> str | None:
        """Return how far it has got, if too far, or that nobody knows."""
        lacking = self._word.why_not(now_ns)
        if lacking is not None:
            return lacking
        here = pose_of(self._word.message)
        if here is None or HEADING not in here:
            return (f'got no place of a mobile base on {self._word.topic}, expected '
                    f'nav_msgs/msg/Odometry. Set hil.without for an arm')
        if self._began is None:
            self._began = here
        away, _ = apart(here, self._began)
        if not away <= self._cap_m:
            return (f'got {away:g} m from where the trial began, by {self._word.topic}, expected '
                    f'{self._cap_m:g} m at most')
        return None


_STILL, _STILL_TURN = 0.02, 0.05
"""m/s (or of the fastest joint) and rad/s below which nobody sees it move."""
_STILL_NS = 500 * MS
"""So long it has to stand."""


class Home:
    """
    Says whether the robot is back where the first trial began.

    :param within_m: how near it has to be
    :param within_rad: by heading, or by each joint
    """

    def __init__(self, word: Word, within_m: float, within_rad: float) -> None:
        self._word, self._within_m, self._within_rad = word, within_m, within_rad
        self._pose: Pose | None = None
        self._still_ns: int | None = None

    def why_not(self, now_ns: int) -> str | None:
        """Return what the robot does instead; the first place where it stands is its start."""
        lacking = self._word.why_not(now_ns)
        topic = self._word.topic
        if lacking is not None:
            return lacking
        speed, turn = motion_of(self._word.message)
        if not (speed <= _STILL and turn <= _STILL_TURN):
            self._still_ns = None
            return f'got a speed of {speed:g} and a turn of {turn:g} on {topic}, expected rest'
        self._still_ns = now_ns if self._still_ns is None else self._still_ns
        if now_ns - self._still_ns < _STILL_NS:
            return f'got a robot at rest on {topic} just now, expected {_STILL_NS / MS:g} ms of it'
        here = pose_of(self._word.message)
        if here is None:
            return f'got no place or positions on {topic}, expected Odometry or JointState'
        if self._pose is None:
            self._pose = here
        away, turned = apart(here, self._pose)
        if not (away <= self._within_m and turned <= self._within_rad):
            return (f'got {away:.2f} m and {turned:.2f} rad from the start, by {topic}, expected '
                    f'{self._within_m:g} m and {self._within_rad:g} rad at most')
        return None

    def begin(self) -> None:
        """Look anew: it has moved meanwhile."""
        self._still_ns = None
