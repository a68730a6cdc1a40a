# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Trials as episodes for imitation: what the controller received and commanded, frame by frame.

A frame holds the latest message of each topic that had come by then. Arrays are made as those for
a policy (``PolicyInputs``), by the contract of the policy that was judged, or by a plain one that
reads every topic in SI units.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray
from safety_scenarios import registry
from safety_scenarios.controllers.policies.contract import (
    ActionOutput,
    contract_of,
    InputPart,
    load_contract,
    PolicyContract,
)
from safety_scenarios.controllers.policies.inputs import PolicyInputs
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.message import Message, Observation, Reading
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.world import IMAGE, MountedFrame
from safety_scenarios.trial.links.sensor_readings import sensor_readings
from safety_scenarios.trial.rrd_entities import numbers_in
from safety_scenarios.trial.trial import TrialRecord

Array = NDArray[Any]
NEVER = -1.0
"""Age of a topic on which nothing has come yet (s)."""
RESERVED = ('action', 'observation.age', 'timestamp', 'frame_index', 'episode_index', 'index',
            'task_index', 'task')
"""What a dataset calls its own columns."""
_RAYS = 180
_OBSERVED = ('stimulus', 'sensed', 'feedback')
_AXES = 'x', 'y', 'z'
_FIELDS: Mapping[str, Sequence[str]] = {
    'geometry_msgs/msg/PoseStamped': [f'pose.position.{axis}' for axis in _AXES],
    'geometry_msgs/msg/WrenchStamped': [f'wrench.{part}.{axis}' for part in ('force', 'torque')
                                        for axis in _AXES],
    'nav_msgs/msg/Odometry': [
        'pose.pose.position.x', 'pose.pose.position.y', 'pose.pose.orientation.z',
        'pose.pose.orientation.w', 'twist.twist.linear.x', 'twist.twist.linear.y',
        'twist.twist.angular.z'],
    'geometry_msgs/msg/TwistStamped': ['twist.linear.x', 'twist.linear.y', 'twist.angular.z'],
    'sensor_msgs/msg/Imu': ['angular_velocity.z', 'linear_acceleration.x',
                            'linear_acceleration.y'],
    'std_msgs/msg/Bool': ['data'], 'std_msgs/msg/Float64': ['data']}
"""Interface type to the numbers of it that a plain contract reads."""
_SCAN, _JOINTS, _EMPTY = ('sensor_msgs/msg/LaserScan', 'sensor_msgs/msg/JointState',
                          'std_msgs/msg/Empty')


class Received(NamedTuple):
    """One message that the controller received."""

    t_ns: int
    header_ns: int | None
    message: Message


@dataclass(frozen=True)
class Recorded:
    """What of one trial an episode is made of."""

    record: TrialRecord
    robot: RobotModel
    topics: Mapping[str, Sequence[Received]]
    commands: Sequence[tuple[int, Array]]
    """Steady time (ns) and action."""
    action_names: tuple[str, ...]
    frames: tuple[MountedFrame, ...]
    missing: str
    """Why readings of sensors are not known; empty: they are."""


@dataclass(frozen=True)
class Episode:
    """
    The frames of one trial: from the first command at which every input is known.

    Features are called like the inputs of the contract, by ``feature_of``.
    """

    trial_id: str
    task: str
    vectors: Mapping[str, Array]
    """Feature to frames x values."""
    images: Mapping[str, Array]
    """Feature to frames x height x width x 3 (RGB, 8 bits)."""

    def __len__(self) -> int:
        return len(self.vectors['action'])


def recorded(record: TrialRecord) -> Recorded | str:
    """Return what an episode is made of, or why there is none in a trial."""
    robot = record.trial.scenario.body.robot
    events = [event for event in record.events
              if event.kind == 'command' and event.message is not None]
    if robot is None or not events:
        return 'no robot was commanded'
    topic = Counter(event.name for event in events).most_common(1)[0][0]
    actions = [(event.stamps.steady_ns, *action_of(event.message)) for event in events
               if event.name == topic and event.message is not None]
    names = Counter(names for _, names, _ in actions).most_common(1)[0][0]
    readings, frames, missing = sensor_readings(record)
    topics: dict[str, list[Received]] = defaultdict(list)
    for place, event in enumerate(record.events):
        message = readings.get(place, event.message)
        if event.kind in _OBSERVED and message is not None:
            topics[event.name].append(Received(event.stamps.steady_ns, event.stamps.header_ns,
                                               message))
    return Recorded(
        record, robot, topics,
        [(at_ns, values) for at_ns, own, values in actions if own == names], names,
        (*frames, *record.trial.scenario.body.mounted_frames), missing)


def action_of(message: Message) -> tuple[tuple[str, ...], Array]:
    """
    Return the names and values of what a message commands.

    Of a Twist ahead, to the left and the rate of turn; of a JointTrajectory where its first point
    is, by speeds if it has them; else each number of the message.
    """
    name = message.type.rpartition('/')[2]
    if name in ('Twist', 'TwistStamped'):
        paths = 'linear.x', 'linear.y', 'angular.z'
        return paths, numpy.array([message.at(path) for path in paths], numpy.float32)
    if name == 'JointTrajectory' and message.at('points'):
        quantity = 'velocities' if message.at('points')[0].get('velocities') else 'positions'
        return (tuple(f'{joint}.{quantity}' for joint in message.at('joint_names')),
                numpy.array(message.at(f'points[0].{quantity}'), numpy.float32))
    found = list(numbers_in(message.data))
    return (tuple('.'.join(path) for path, _ in found),
            numpy.array([value for _, value in found], numpy.float32))


def contract_used(spec: ControllerSpec) -> PolicyContract | None:
    """
    Return the contract of the policy that was judged; None: it was no policy.

    :raises InputError: the policy's contract is not there any more
    """
    kind, colon, address = spec.name.partition(':')
    if not colon or not registry.is_known('policies', kind):
        return None
    own = spec.parameters.get('contract')
    return load_contract(Path(str(own)) if own else contract_of(address))


def plain_contract(robot: RobotModel,
                   first: Mapping[str, Message]) -> tuple[PolicyContract, Sequence[str]]:
    """
    Return a contract that reads every topic of some trials, and the topics that it cannot read.

    A topic on which nothing has come yet reads zeros, a scan the end of its range.

    :param first: topic to the first message on it
    """
    inputs: dict[str, tuple[InputPart, ...]] = {}
    unread = []
    for topic in sorted(first):
        parts = tuple(_parts(topic, first[topic]))
        if parts:
            inputs[f'observation.{"images." if parts[0].size else ""}{topic}'] = parts
        else:
            unread.append(f'{topic} [{first[topic].type}]')
    return PolicyContract(
        robot=robot.kind, inputs=inputs, stale_ms=0.0, outputs={'action': ActionOutput(
            quantity='joint_velocity' if kind_of(robot).has_joints else 'velocity')}), unread


def _parts(topic: str, message: Message) -> Iterator[InputPart]:
    common: dict[str, Any] = {'role': topic, 'type': message.type}
    if message.type == _SCAN:
        far = float(message.at('range_max'))
        yield InputPart(**common, rays=_RAYS, clip=(0.0, far), missing=far)
    elif message.type == _JOINTS:
        for quantity in ('position', 'velocity', 'effort'):
            if len(message.at(quantity) if quantity in message.data else ()) == len(
                    message.at('name')):
                yield InputPart(**common, joints=quantity, missing=0.0)
    elif message.type == IMAGE:
        height, width = (int(message.at(name)) // 2 * 2 for name in ('height', 'width'))
        yield InputPart(**common, size=(height, width), layout='hwc', dtype='uint8', missing=0.0)
    elif message.type == _EMPTY:
        yield InputPart(**common, age=True, missing=NEVER)
    elif message.type in _FIELDS:
        yield InputPart(**common, fields=tuple(_FIELDS[message.type]), missing=0.0,
                        frame='base_link' if 'PoseStamped' in message.type else '')


def names_of(contract: PolicyContract, robot: RobotModel) -> Mapping[str, Sequence[str]]:
    """Return what each value of a vector is, by its feature; images are left out."""
    found = {}
    for name, parts in contract.inputs.items():
        if not parts[0].size:
            found[feature_of(name)] = [
                f'{part.role}.{value}' + (f'.{place}' if part.history > 1 else '')
                for part in parts for place in range(part.history)
                for value in _values(part, robot)]
    return found


def _values(part: InputPart, robot: RobotModel) -> Sequence[str]:
    if part.joints:
        return [f'{joint}.{part.joints}' for joint in robot.joints]
    if part.rays:
        return [f'ray_{number}' for number in range(part.rays)]
    return part.fields or ('age',)


def episode_of(trial: Recorded, contract: PolicyContract, fps: int) -> Episode | str:
    """Return the frames of a trial, or why it has none."""
    inputs = PolicyInputs(contract.model_copy(update={'stale_ms': 0.0}), trial.robot)
    topics = sorted(contract.topics)
    times = {topic: [one.t_ns for one in trial.topics.get(topic, ())] for topic in topics}
    commanded_ns = [at_ns for at_ns, _ in trial.commands]
    end_ns, rows = trial.record.end_ns, list[Mapping[str, Array]]()
    begin_ns, number = commanded_ns[0], 0
    while (now_ns := begin_ns + round(number * 1e9 / fps)) <= end_ns:
        number += 1
        observation = _observation(trial, times, now_ns)
        inputs.look(observation)
        arrays = inputs.arrays(observation)
        if arrays is None:
            if not rows:  # an episode begins when every input is known
                begin_ns, number = now_ns + round(1e9 / fps), 0
                continue
            arrays = {name: rows[-1][name] for name in contract.inputs}
        ages = [observation.readings[topic].age_ns / 1e9 if topic in observation.readings
                else NEVER for topic in topics]
        place = bisect_right(commanded_ns, now_ns) - 1
        rows.append({**arrays, 'observation.age': numpy.array(ages, numpy.float32),
                     'action': trial.commands[place][1]})
    if not rows:
        return inputs.missing or 'nothing was commanded'
    columns = {name: numpy.stack([row[name] for row in rows]) for name in rows[0]}
    images = {name: parts[0] for name, parts in contract.inputs.items() if parts[0].size}
    return Episode(
        trial.record.trial.trial_id, trial.record.trial.scenario.name,
        {feature_of(name) if name in contract.inputs else name: _finite(values)
         for name, values in columns.items() if name not in images},
        {feature_of(name): _rgb(columns[name], part) for name, part in images.items()})


def feature_of(name: str) -> str:
    """Return what a dataset calls an input: a slash would be a folder, and some names are its."""
    plain = name.replace('/', '.')
    return f'observation.{plain}' if plain in RESERVED else plain


def _observation(trial: Recorded, times: Mapping[str, Sequence[int]], now_ns: int) -> Observation:
    readings = {}
    for topic, known in times.items():
        place = bisect_right(known, now_ns) - 1
        if place >= 0:
            one = trial.topics[topic][place]
            readings[topic] = Reading(message=one.message, age_ns=now_ns - one.t_ns,
                                      stamp_age_ns=None)
    return Observation(t_ns=now_ns, readings=readings, frames=trial.frames)


def _finite(values: Array) -> Array:
    """Return numbers that statistics can be made of: NaN as 0, infinity as the largest float."""
    return numpy.nan_to_num(values, nan=0.0, posinf=math.inf, neginf=-math.inf).clip(
        numpy.finfo(numpy.float32).min, numpy.finfo(numpy.float32).max).astype(
        values.dtype if values.dtype.kind == 'i' else numpy.float32)


def _rgb(pixels: Array, part: InputPart) -> Array:
    """Return images as they are shown: their numbers not normalised, RGB, colours last."""
    found = numpy.moveaxis(pixels, -3, -1) if part.layout == 'chw' else pixels
    found = found.astype(float) * numpy.array(part.std) + numpy.array(part.mean)
    found = found.reshape(len(found), *found.shape[-3:])[..., ::-1] \
        if part.channels == 'bgr' else found
    found = numpy.repeat(found, 3, axis=-1) if part.channels == 'mono' else found
    return numpy.ascontiguousarray(found.clip(0, 255).round().astype(numpy.uint8))
