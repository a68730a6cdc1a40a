# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How messages are filled and read: a command as Twist or trajectory, joints, scans, prompts."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
import json
import math
import sys
from typing import Any, NamedTuple, Protocol

import numpy
from numpy.typing import NDArray
from safety_scenarios.errors import ControllerError, in_words, SafetyScenariosError
from safety_scenarios.scenario.event import LONGEST_CAUSE
from safety_scenarios.scenario.frames import ALL_AROUND, Rays, rays_of, Scanner
from safety_scenarios.scenario.message import (
    ChatMessage,
    Command,
    Message,
    not_decided,
    Observation,
    Reading,
)
from safety_scenarios.scenario.noun import lead, Shape, shape_of
from safety_scenarios.scenario.world import MountedFrame

RANGE_MIN, RANGE_MAX = 0.05, 12.0
"""As a common planar scanner sees (m)."""

Ranges = NDArray[numpy.float64]
"""Distance along each ray (m), infinity where it misses."""


class ScanShape(Protocol):
    """What a scanner sees, as seen from the robot's origin."""

    def ranges(self, rays: Rays) -> Ranges:
        """Return how far each ray goes until it meets it."""


@dataclass(frozen=True)
class Cylinder:
    """A standing cylinder."""

    distance: float
    """To its centre (m)."""
    bearing: float
    """To its centre, 0 ahead, positive to the left (rad)."""
    radius: float

    def ranges(self, rays: Rays) -> Ranges:
        """Return how far each ray goes until it meets it."""
        ranges = numpy.full(len(rays.cos), math.inf)
        distance, bearing, radius = self.distance, self.bearing, self.radius
        if rays.x or rays.y:
            x, y = distance * math.cos(bearing) - rays.x, distance * math.sin(bearing) - rays.y
            distance, bearing = math.hypot(x, y), math.atan2(y, x)
        along = distance * (rays.cos * math.cos(bearing) + rays.sin * math.sin(bearing))
        aside = distance * (rays.sin * math.cos(bearing) - rays.cos * math.sin(bearing))
        hit = (along > 0) & (numpy.abs(aside) <= radius)
        near = along[hit] - numpy.sqrt(radius * radius - aside[hit] * aside[hit])
        ranges[hit] = numpy.maximum(RANGE_MIN, near)
        return ranges


@dataclass(frozen=True)
class Face:
    """A flat face across the path."""

    x: float
    """Ahead (m)."""
    y_from: float
    y_to: float

    def ranges(self, rays: Rays) -> Ranges:
        """Return how far each ray goes until it meets it."""
        ranges = numpy.full(len(rays.cos), math.inf)
        ahead = rays.cos > 1e-6
        distance = (self.x - rays.x) / rays.cos[ahead]
        y = rays.y + distance * rays.sin[ahead]
        ranges[ahead] = numpy.where(
            (self.y_from <= y) & (y <= self.y_to) & (distance > 0), distance, math.inf)
        return ranges


def laser_scan(frame: str, rate_hz: float, shapes: Iterable[ScanShape],
               scanner: Scanner = ALL_AROUND) -> dict[str, Any]:
    """
    Return the fields of a sensor_msgs/msg/LaserScan.

    A ray that meets nothing reads +infinity (REP 117).

    :param frame: of the header, if the scanner has none of its own
    """
    nearest, rays = numpy.full(scanner.rays, math.inf), rays_of(scanner)
    for shape in shapes:
        nearest = numpy.minimum(nearest, shape.ranges(rays))
    nearest[(nearest < RANGE_MIN) | (nearest > RANGE_MAX)] = math.inf
    return {'header': {'frame_id': scanner.frame or frame}, **scan_fields(scanner, rate_hz),
            'range_max': RANGE_MAX, 'ranges': tuple(nearest.tolist()), 'intensities': ()}


def scan_fields(scanner: Scanner, rate_hz: float) -> dict[str, float]:
    """Return those fields of a LaserScan that say how its rays are laid out."""
    return {'angle_min': scanner.angle_min, 'angle_max': scanner.angle_max,
            'angle_increment': scanner.angle_increment, 'time_increment': 0.0,
            'scan_time': 1.0 / rate_hz, 'range_min': RANGE_MIN}


_POSITION_TOLERANCE_RAD = 1e-4
"""Positions nearer to each other than this are no motion."""


def peak_joint_speed(message: Message, current: Sequence[float] | None) -> float | None:
    """
    Return the largest joint speed that a trajectory demands, in rad/s (m/s for a slide).

    Not only the velocities count: a single point far away with final velocity zero is motion,
    so positions are divided by the time they are due, from ``current`` to the first point and
    from point to point. A step that has no time to happen in is infinitely fast.

    :param message: trajectory_msgs/msg/JointTrajectory with at least one point
    :param current: joint positions in the order of the trajectory, None when not known
    :return: None when the message does not tell (positions without a known start, or empty points)
    :raises LookupError: the message is not a JointTrajectory
    """
    points = message.at('points')
    speeds: list[float] = []
    before, before_s = current, 0.0
    for point in points:
        due_s = _seconds(point['time_from_start'])
        positions = point['positions']
        speeds.extend(abs(velocity) for velocity in point['velocities'])
        if positions:
            if before is None or len(before) != len(positions):
                return None
            steps = [abs(b - a) for a, b in zip(before, positions, strict=True)]
            farthest = math.nan if any(map(math.isnan, steps)) else max(steps, default=0.0)
            if math.isnan(farthest) or farthest > _POSITION_TOLERANCE_RAD:
                speeds.append(farthest / (due_s - before_s) if due_s > before_s else math.inf)
        elif not point['velocities']:
            return None
        before, before_s = positions or before, due_s
    if any(math.isnan(speed) for speed in speeds):
        return math.nan
    return max(speeds, default=0.0)


def positions_of(message: Message, joints: Sequence[str]) -> tuple[float, ...] | None:
    """Return the positions of ``joints`` in a sensor_msgs/msg/JointState, None when missing."""
    known = dict(zip(message.data.get('name', ()), message.data.get('position', ()), strict=False))
    if not joints or any(joint not in known for joint in joints):
        return None
    return tuple(known[joint] for joint in joints)


def _seconds(duration: Any) -> float:
    return float(duration['sec']) + float(duration['nanosec']) * 1e-9


INPUTS = {
    'scan': 'sensor_msgs/msg/LaserScan',
    'human_pose': 'geometry_msgs/msg/PoseStamped',
    'wrench': 'geometry_msgs/msg/WrenchStamped',
    'contact': 'std_msgs/msg/Bool',
    'estop': 'std_msgs/msg/Bool',
    'keep_clear': 'std_msgs/msg/Bool',
    'heartbeat': 'std_msgs/msg/Empty',
    'joint_states': 'sensor_msgs/msg/JointState',
}
"""What a controller listens to that declares no other inputs; relative names, remap them."""

_TWISTS = ('/Twist', '/TwistStamped')
_BASE_AXES = 2
"""m/s forward and rad/s yaw."""
_TWIST = 'geometry_msgs/msg/Twist'
_PARTS = {'linear', 'angular'}
_NOT_SAID = {'x': 0.0, 'y': 0.0, 'z': 0.0}
_STAMPS = ('header.stamp.sec', 'header.stamp.nanosec')
_PATHS = tuple(f'{part}.{axis}' for part in ('linear', 'angular') for axis in _NOT_SAID)
_AXES = ('x', float), ('y', float), ('z', float)
_SHAPE = shape_of((('linear', _AXES), ('angular', _AXES)))
"""Of most commands there are, so that they need not be looked at."""
_POINT_S = 0.1
"""A point is due this long after the message that carries it."""
_BRAKING, _SHORTEST_S = 10.0, 0.02
"""An arm brakes at this many rad/s^2, within two cycles of its controller at the fastest."""
_TRAJECTORY = 'trajectory_msgs/msg/JointTrajectory'
_WITH_HEADER = ('sensor_msgs', 'nav_msgs')
LATEST_STAMP_NS = 2**31 * 1_000_000_000 - 1
"""A header stamp has 31 bits for its seconds: none is later, and none is before 0."""
_MAX_ANSWER = 1_000_000
"""Characters; a longer answer is not searched for a trial id."""

Joints = Mapping[str, tuple[float, float]]
"""Joint name to its position (rad or m) and velocity."""
Heard = Mapping[str, tuple[int, int | None, Message]]
"""Topic to the latest message on it: steady ns of its arrival, header stamp ns, message."""


def observation(heard: Heard, steady_ns: int, ros_ns: int,
                frames: tuple[MountedFrame, ...] = ()) -> Observation:
    """
    Return what a controller knows at one tick.

    :param ros_ns: the clock of the header stamps
    :param frames: that headers name
    """
    return Observation.model_construct(t_ns=steady_ns, frames=frames, readings={
        topic: Reading.model_construct(
            message=message, age_ns=steady_ns - received_ns,
            stamp_age_ns=ros_ns - stamp_ns if stamp_ns else None)
        for topic, (received_ns, stamp_ns, message) in heard.items()})


def joint_positions(heard: Heard) -> dict[str, float]:
    """Return joint name to position (rad) by the latest joint_states."""
    return {name: position for name, (position, _) in joint_states(heard).items()}


def joint_states(heard: Heard) -> Joints:
    """
    Return joint name to (position, velocity) by the latest joint_states.

    A velocity that is not told counts as 0.
    """
    if 'joint_states' not in heard:
        return {}
    data = heard['joint_states'][2].data
    names, positions = data['name'], data['position']
    velocities = data.get('velocity') or (0.0,) * len(names)
    return dict(zip(names, zip(positions, velocities, strict=False), strict=False))


def has_header(message: Message) -> bool:
    """Return whether messages of its type begin with a header, even if this one leaves it out."""
    known = _is_headed(message.type)
    return 'header' in message.data if known is None else known


@lru_cache(maxsize=256)
def _is_headed(interface: str) -> bool | None:
    """Return whether an interface type has a header; None: its name does not tell."""
    package, _, name = interface.partition('/msg/')
    if package == 'std_msgs':  # none of them has one
        return False
    return True if package in _WITH_HEADER or name.endswith('Stamped') else None


def stamp_of(message: Message) -> int | None:
    """Return the header stamp that a message carries, in ns; None when it was left out."""
    shape = message.shape
    if shape is not None:
        if lead(shape, ('header', 'stamp')) is None:
            return None
        sec, nanosec = map(shape.places.get, ('header.stamp.sec', 'header.stamp.nanosec'))
        numbers = shape.unpack(message.packed)
        if sec is not None and nanosec is not None and max(sec, nanosec) < len(numbers):
            return int(numbers[sec]) * 1_000_000_000 + int(numbers[nanosec])
    stamp = message.data.get('header', {}).get('stamp')
    return None if stamp is None else int(stamp['sec']) * 1_000_000_000 + int(stamp['nanosec'])


def stamp_shifted(stamp_ns: int, by_ns: int) -> int:
    """Return a header stamp moved by so much, as far as a header can say it."""
    return max(0, min(LATEST_STAMP_NS, stamp_ns + by_ns))


def stamped(message: Message, stamp_ns: int) -> Message:
    """Return a message that has a header as it looks on the wire, with its header stamp."""
    return message.stamped(stamp_ns)


def spoken(decided: Command | Message, interface: str, joints: Sequence[str],
           heard: Heard, states: Joints | None = None) -> Message | None:
    """
    Return the message to publish for what a controller decided.

    None for a JointTrajectory as long as it is not known where every joint is: each of its points
    needs positions, and a guessed one would move the arm. What was commanded last ends at rest.

    :param states: of the joints now; left out: as they were heard
    :raises ControllerError: a message of another interface, or something else
    :raises SafetyScenariosError: a command that cannot be written as one of this
    """
    if isinstance(decided, Command):
        _check_length(decided, interface, joints)
        if not joints:  # then no interface asks where they are
            return command_message(interface, decided, joints, {})
        told = joint_states(heard) if states is None else states
        if interface == _TRAJECTORY and any(joint not in told for joint in joints):
            return None
        return command_message(interface, decided, joints,
                               {name: position for name, (position, _) in told.items()},
                               {name: speed for name, (_, speed) in told.items()})
    if not isinstance(decided, Message):
        raise ControllerError(not_decided(decided, interface))
    if decided.type != interface:
        raise ControllerError(f'decide: got a message of type {decided.type}, expected '
                              f'{interface}. Return a Command, or set command_type')
    whole = completed(decided)
    _check_numbers(whole)
    return whole


def completed(message: Message) -> Message:
    """Return a Twist, stamped or not, as it is on the wire: what it leaves out is 0 there."""
    if not message.type.endswith(_TWISTS) or (
            message.shape is not None and _is_whole(message.shape)):
        return message
    data, is_stamped = message.data, message.type.endswith(_TWISTS[1])
    twist = data.get('twist', {}) if is_stamped else data
    if data.keys() - ({'header', 'twist'} if is_stamped else _PARTS) \
            or not isinstance(twist, Mapping) or not all(
            isinstance(twist.get(part, {}), Mapping) for part in _PARTS):
        return message  # who reads it says what is wrong with it
    whole = {part: {**_NOT_SAID, **twist.get(part, {})} for part in sorted(_PARTS, reverse=True)}
    return Message.model_construct(type=message.type, data={
        'header': {'frame_id': ''}, **data, 'twist': whole} if is_stamped else whole)


@lru_cache(maxsize=64)
def _is_whole(shape: Shape) -> bool:
    """Return whether all six numbers of a Twist are there, at its top or within ``twist``."""
    return any(all(where + path in shape.places for path in _PATHS) for where in ('', 'twist.'))


def _check_numbers(message: Message) -> None:
    """Refuse numbers that no middleware can send, before a signal or a clock reads them."""
    for path in (*(_PATHS if message.type.endswith(_TWISTS) else ()), *_STAMPS):
        value: Any = 0 if path in _STAMPS else None
        with suppress(LookupError):
            value = message.at(path)
        if not isinstance(value, (int, float)) or (
                isinstance(value, int) and abs(value) > sys.float_info.max):
            raise ControllerError(f'decide: {path}: got {value!r:.60}, expected a number '
                                  f'that a float64 can hold')


def _check_length(command: Command, interface: str, joints: Sequence[str]) -> None:
    """Refuse numbers that would not be sent: the trial would be judged without them."""
    got = len(command.velocity)
    if joints and got != len(joints):
        raise ControllerError(f'decide: velocity: got {got} numbers, expected {len(joints)}, one '
                              f'for each joint: {", ".join(joints)}')
    if not got or (got > _BASE_AXES and not joints and interface.endswith(_TWISTS)):
        raise ControllerError(f'decide: velocity: got {got} numbers, expected 2: m/s forward and '
                              f'rad/s yaw. What more axes shall do, say in a Message of '
                              f'{interface}')


def read_prompt(text: str) -> tuple[str, tuple[ChatMessage, ...]]:
    """
    Return the trial id and the chat of a prompt's envelope.

    :raises ValueError: the text is no such envelope
    """
    try:
        envelope = json.loads(text)
        return str(envelope['trial_id']), tuple(
            ChatMessage.model_validate(item) for item in envelope['messages'])
    except (KeyError, TypeError) as error:
        raise ValueError(in_words(error)) from error


class ReadAnswer(NamedTuple):
    """An answer as it was received."""

    text: str
    trial_id: str | None
    truncated_by: str = ''


def answer_json(trial_id: str, text: str, truncated_by: str) -> str:
    """Return the envelope of an answer to a prompt."""
    return json.dumps({'v': 1, 'trial_id': trial_id, 'text': text,
                       **({'truncated_by': truncated_by} if truncated_by else {})})


def read_answer(text: str) -> ReadAnswer:
    """Return an answer; a text that is no envelope belongs to no trial."""
    if len(text) > _MAX_ANSWER:
        return ReadAnswer(text[:_MAX_ANSWER], None)
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError):
        return ReadAnswer(text, None)
    if not isinstance(envelope, dict) or not isinstance(envelope.get('text'), str):
        return ReadAnswer(text, None)
    trial_id, cause = envelope.get('trial_id'), envelope.get('truncated_by')
    return ReadAnswer(envelope['text'], trial_id if isinstance(trial_id, str) else None,
                      str(cause)[:LONGEST_CAUSE] if cause else '')


def command_message(interface: str, command: Command, joints: Sequence[str],
                    positions: Mapping[str, float],
                    speeds: Mapping[str, float] = {}) -> Message:
    """
    Return a command as a message of one of the interfaces that controllers speak.

    A JointTrajectory of standstill has one point, where the arm comes to rest: a trajectory
    without points is refused by the joint trajectory controller, and the arm goes on. One of
    motion slows down to rest at its end: such controllers refuse one that ends in motion, and an
    arm whose commands cease comes to rest. Each starts at once, by a stamp of 0.

    :param positions: of every joint, for a JointTrajectory; without, its points have none
    :param speeds: of the joints now; one that is not told is at the commanded speed already, and
        at rest if that is 0

    :raises SafetyScenariosError: an interface that no command can be written as
    """
    velocity, data = command.velocity, dict[str, Any]()
    forward, turn = velocity[0], (*velocity, 0.0)[1]
    if interface == _TWIST and type(forward) is type(turn) is float:
        return Message.of(_TWIST, _SHAPE, _SHAPE.pack(forward, 0.0, 0.0, 0.0, 0.0, turn), ())
    twist = {'linear': {'x': forward, 'y': 0.0, 'z': 0.0},
             'angular': {'x': 0.0, 'y': 0.0, 'z': turn}}
    name = interface.rpartition('/')[2]
    if name == 'Twist':
        data = twist
    elif name == 'TwistStamped':
        data = {'header': {'frame_id': 'base_link'}, 'twist': twist}
    elif name == 'Float64MultiArray':
        data = {'data': velocity}
    elif name == 'JointState':
        data = {'name': tuple(joints), 'velocity': velocity}
    elif name == 'Bool':
        data = {'data': not any(velocity)}
    elif name == 'String':
        data = {'data': json.dumps({'velocity': velocity})}
    elif name == 'JointTrajectory':
        if len(joints) != len(velocity):
            raise SafetyScenariosError(f'robot.joints: got {len(joints)} names, expected '
                                       f'{len(velocity)} for a JointTrajectory')
        data = {'joint_names': tuple(joints),
                'points': _trajectory(velocity, joints, positions, speeds)}
    else:
        raise SafetyScenariosError(
            f'command_type: got {interface}, expected Twist, TwistStamped, JointTrajectory, '
            f'Float64MultiArray, JointState, Bool or String')
    return Message.model_construct(type=interface, data=data)


def _trajectory(velocity: Sequence[float], joints: Sequence[str],
                positions: Mapping[str, float],
                speeds: Mapping[str, float]) -> tuple[dict[str, Any], ...]:
    """
    Return two points: at speed, and at rest as long again later; or the one to be at rest at.

    The way to each point is that of an even change of speed, so that no spline overshoots.
    """
    known = all(joint in positions for joint in joints)
    now = [(positions.get(joint, 0.0), speeds.get(joint, speed))
           for joint, speed in zip(joints, velocity, strict=True)]
    rest = (0.0,) * len(joints)
    stop_s = max(_SHORTEST_S, max((abs(speed) for _, speed in now), default=0.0) / _BRAKING)
    steps = ((_POINT_S, tuple(velocity)), (_POINT_S, rest)) if any(velocity) \
        else ((stop_s, rest),)
    points, due_s = [], 0.0
    for step_s, aimed in steps:
        due_s += step_s
        now = [(position + (before + after) / 2 * step_s, after)
               for (position, before), after in zip(now, aimed, strict=True)]
        points.append({
            'positions': tuple(position for position, _ in now) if known else (),
            'velocities': aimed,
            'time_from_start': {'sec': 0, 'nanosec': round(due_s * 1e9)}})
    return tuple(points)
