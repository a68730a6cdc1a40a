# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The profile of a robot: what it is, and how it is reached.

A scenario names roles, such as ``scan`` and ``cmd_vel``. A profile says what a robot calls them.
A text or a list that is empty, and a number that is 0, leaves to the scenario what it says.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator, ValidationError
from pydantic.config import JsonDict
from safety_scenarios import registry
from safety_scenarios.errors import (
    did_you_mean,
    InputError,
    is_misspelt,
    MeasurementError,
    refused,
)
from safety_scenarios.scenario.blocks.robot import RobotModel, Stopping
from safety_scenarios.scenario.driver import DriverPlugin
from safety_scenarios.scenario.frames import place_in, RobotScanner, Scanner
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.scenario.noun import Noun, PluginName, TopicName
from safety_scenarios.scenario.qos_overrides import DEEP_ENOUGH, QosOverride
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.topic_names import RosNames
from safety_scenarios.scenario.world import (
    Angle,
    BASE,
    FRAME_NAME,
    MountedFrame,
    Offset,
    refuse_circle,
    WorldSettings,
)

_ROS_NAME = r'^(/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*)?$'
_TYPE = r'^([A-Za-z]\w*/msg/[A-Za-z]\w*)?$'
_METRES: JsonDict = {'unit': 'm'}
_USUAL = ('cmd_vel', 'scan', 'odom', 'joint_states', 'joint_trajectory')
"""Topics that are called so on most robots, or at the end of their names."""
LASER_SCAN = 'sensor_msgs/msg/LaserScan'
_GRIP = 0.9
"""Friction of rubber on dry concrete at its best; 0.6 to 0.85 is usual."""


class ProfileQos(Noun):
    """The quality of service of the robot's own endpoint."""

    reliability: Literal['', 'reliable', 'best_effort'] = ''
    """Empty: the default of the harness."""
    durability: Literal['', 'volatile', 'transient_local'] = ''
    """Empty: the default of the harness. Commands and feedback are always received as volatile."""
    depth: int = Field(default=0, ge=0, le=100_000)
    """Messages in the queue of a stimulus, and of a subscription from 1000; 0: the default."""

    def overrides(self, topic: str) -> Iterator[QosOverride]:
        """Yield what it changes of the harness' endpoints on a topic."""
        for endpoint in ('publisher', 'subscription'):
            is_ours = endpoint == 'publisher'
            values = {'reliability': self.reliability,
                      'durability': self.durability if is_ours else '',
                      'depth': self.depth if is_ours or self.depth >= DEEP_ENOUGH else 0}
            yield from (QosOverride(topic=topic, endpoint=endpoint, policy=policy, value=value)
                        for policy, value in values.items() if value)


def _as_topic(value: Any) -> Any:
    return {'topic': value} if isinstance(value, str) else value


class ProfileScanner(Noun):
    """How the rays of a laser scanner are laid out, by the fields of its LaserScan."""

    angle_min: float = Field(json_schema_extra={'unit': 'rad'})
    """Direction of the first ray in the frame of the scanner, positive to the left (rad)."""
    angle_max: float = Field(json_schema_extra={'unit': 'rad'})
    """Direction of the last ray (rad)."""
    angle_increment: float = Field(json_schema_extra={'unit': 'rad'})
    """From ray to ray; below 0 the scanner turns clockwise (rad)."""

    @property
    def layout(self) -> Scanner:
        """
        Return it as a scenario has it, at the origin of the robot.

        :raises ValueError: there is no such scanner
        """
        between = (self.angle_max - self.angle_min) / (self.angle_increment or math.inf)
        return Scanner(rays=round(between) + 1, angle_min=self.angle_min,
                       angle_increment=self.angle_increment)

    @model_validator(mode='after')
    def _can_be(self) -> 'ProfileScanner':
        try:
            _ = self.layout
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise ValueError(refused('.'.join(map(str, first['loc'])) or 'scanner', first)
                             + '. Take the three angles from one scan of the robot') from None
        return self


class ProfileTopic(Noun):
    """One topic of the robot."""

    topic: str = Field(default='', max_length=200, pattern=_ROS_NAME)
    """Name of the topic on this robot, such as /tb4/scan; without a leading slash it is in the
    namespace; empty: the name of the role."""
    type: str = Field(default='', max_length=200, pattern=_TYPE)  # noqa: A003
    """Interface type, such as geometry_msgs/msg/TwistStamped; empty: what the scenario says."""
    qos: ProfileQos = ProfileQos()
    frame: str = Field(default='', max_length=200, pattern=f'{FRAME_NAME}|^$')
    """Frame of its messages, such as laser_link; empty: what the scenario says."""
    scanner: ProfileScanner | None = None
    """Of a LaserScan: its angles. Left out: each scenario chooses a scanner that looks all around.
    """


class FramePlace(Noun):
    """The place of a frame on the robot; it does not move."""

    parent: str = Field(default=BASE, min_length=1, max_length=200, pattern=FRAME_NAME)
    """Frame in which its place is given, such as base_link."""
    translation: tuple[Offset, Offset, Offset] = Field(
        default=(0.0, 0.0, 0.0), json_schema_extra=_METRES)
    """Ahead, to the left and up (m)."""
    rotation: tuple[Angle, Angle, Angle] = Field(
        default=(0.0, 0.0, 0.0), json_schema_extra={'unit': 'rad'})
    """Roll, pitch and yaw about the fixed axes of the parent (rad)."""


class ProfileStopping(Noun):
    """How the robot comes to rest; the same as ``robot.stopping`` of a scenario."""

    model: Literal['', 'worst_case', 'half_time', 'constant_deceleration', 'measured'] = ''
    """Empty: what the scenario says."""
    time: float = Field(default=0.0, ge=0, le=600, json_schema_extra={'unit': 's'})
    """From the start of braking to standstill, at the robot's top speed (s)."""
    distance: float = Field(default=0.0, ge=0, le=1000, json_schema_extra=_METRES)
    """Covered in that time (m)."""
    deceleration: float = Field(default=0.0, ge=0, le=1000, json_schema_extra={'unit': 'm/s^2'})
    """Guaranteed deceleration (m/s^2)."""

    @model_validator(mode='after')
    def _has_its_numbers(self) -> 'ProfileStopping':
        if not self.model and any(self.model_dump().values()):
            raise ValueError('got numbers without model, expected model beside them: worst_case, '
                             'half_time, constant_deceleration or measured')
        try:
            self.block()
        except ValidationError as error:
            raise ValueError(str(error.errors()[0]['ctx']['error'])) from None
        return self

    def block(self) -> Stopping | None:
        """Return it as a scenario has it; None: the profile says nothing of it."""
        return Stopping(**{name: value for name, value in self.model_dump().items() if value}) \
            if self.model else None


class ProfileRobot(Noun):
    """What the robot is; each value replaces that of a scenario's ``ros.robot``."""

    name: str = Field(default='', max_length=80, pattern=r'^[^\x00-\x1f\x7f]*$')
    """Name of the robot, as results show it; empty: the name of the profile."""
    kind: str = Field(default='', max_length=80)
    """Kind of robot, such as mobile_base or arm: a scenario for another kind is refused."""
    max_speed: float = Field(default=0.0, ge=0, le=1000,
                             json_schema_extra={'unit': 'm/s or rad/s'})
    """Top speed: m/s of a base, rad/s of a joint."""
    stopping: ProfileStopping = ProfileStopping()
    brake_delay: float = Field(default=0.0, ge=0, le=10, json_schema_extra={'unit': 's'})
    """From a command to stop until the brakes take hold (s). It counts beside
    separation.other_time of each scenario. An embedded world delays every command by no less."""
    radius: float = Field(default=0.0, ge=0, le=20, json_schema_extra=_METRES)
    """Radius of the footprint of a base (m)."""
    max_yaw_rate: float = Field(default=0.0, ge=0, le=20, json_schema_extra={'unit': 'rad/s'})
    """Top rate of turn of a base (rad/s)."""
    travel: Literal['', 'forward', 'both', 'any'] = ''
    """Directions in which a base may drive: forward only; both forward and in reverse; or any."""
    creep: float = Field(default=0.0, ge=0, le=0.5, json_schema_extra={'unit': 'm or rad'})
    """Farthest that its fastest point (m), or a joint (rad), may come after it has stopped."""
    reach: float = Field(default=0.0, ge=0, le=100, json_schema_extra=_METRES)
    """Of an arm: from its base to the farthest point of arm and tool (m). It turns rad/s of a
    joint into m/s: separation.metres_per_unit of each scenario. 0: what the scenario says."""
    joints: tuple[str, ...] = ()
    """Joint names of an arm, in command order: they take the places of the scenario's joints."""

    @field_validator('kind')
    @classmethod
    def _check_kind(cls, kind: str) -> str:
        return PluginName('robots')._check_name(kind) if kind else kind

    @field_validator('joints')
    @classmethod
    def _one_name_each(cls, joints: tuple[str, ...]) -> tuple[str, ...]:
        twice = sorted({name for name in joints if joints.count(name) > 1})
        if twice:
            raise ValueError(f'got {", ".join(twice)} more than once, expected each joint once')
        return joints

    @model_validator(mode='after')
    def _is_of_a_kind(self) -> 'ProfileRobot':
        if self.reach and not (self.kind and registry.resolve('robots', self.kind).has_joints):
            raise ValueError(f'got reach of {self.kind or "no kind"}, expected it of an arm. The '
                             f'size of a base is its radius')
        if not self.kind and self.values:
            raise ValueError(f'got {", ".join(self.values)} without kind, expected kind beside '
                             f'it: mobile_base or arm. The units depend on it')
        stopping = self.stopping.block()
        if stopping is not None and (self.max_speed or stopping.deceleration):
            robot = RobotModel(kind=self.kind, max_speed=self.max_speed or 1.0, stopping=stopping)
            braking, most = robot.deceleration() or 0.0, kind_of(robot).most_deceleration(_GRIP)
            if braking > most:
                raise ValueError(
                    f'got stopping that brakes at {braking:.3g} m/s^2, expected at most '
                    f'{most:.3g}: wheels transmit no more than friction times g, and {_GRIP:g} is '
                    f'the friction of good tyres on dry concrete. Measure how the robot stops')
        return self

    @property
    def values(self) -> Mapping[str, Any]:
        """Return the values that replace those of a scenario, by their names there."""
        found: dict[str, Any] = {name: value for name in (
            'max_speed', 'brake_delay', 'radius', 'max_yaw_rate', 'travel', 'creep', 'joints')
            if (value := getattr(self, name))}
        stopping = self.stopping.block()
        return found if stopping is None else {**found, 'stopping': stopping}


class Profile(Noun):
    """What a robot is, and how it is reached: topics, frames, driver, world and interlocks."""

    robot: ProfileRobot = ProfileRobot()
    topics: Mapping[TopicName, Annotated[ProfileTopic, BeforeValidator(
        _as_topic, json_schema_input_type=ProfileTopic | str)]] = {}
    """Role in scenarios, such as scan, to the topic of this robot; the name alone is enough."""
    absent: tuple[TopicName, ...] = ()
    """Role that the robot does not have, such as human_pose. If another sensor of the robot shows
    the same hazard, the scenario is run without this role; otherwise it cannot be run."""
    reference: tuple[TopicName, ...] = ()
    """Role on which the robot reports its motion, such as odom or joint_states: it is received as
    feedback in every scenario, and judged first."""
    driver: Mapping[str, Any] = {}
    """What turns commands into motion: its kind, such as diff_drive, and its parameters
    (doc/reference/drivers.md); empty: what the scenario says."""
    frames: Mapping[Annotated[str, Field(min_length=1, max_length=200, pattern=FRAME_NAME)],
                    FramePlace] = {}
    """Frame of the robot to its place; published on /tf_static unless the robot publishes it."""
    namespace: str = Field(default='', pattern=r'^/?([A-Za-z_]\w*(/[A-Za-z_]\w*)*)?$')
    """ROS namespace of the harness' topics."""
    remap: tuple[str, ...] = ()
    """ROS remapping rules FROM:=TO for a topic, a service or an action, such as
    navigate_to_pose:=/robot1/navigate_to_pose. A rule for a role replaces its name in topics."""
    use_sim_time: bool = False
    """Take ROS time from /clock."""
    world: WorldSettings = WorldSettings()
    hil: HilSettings = HilSettings()

    @field_validator('world', mode='before')
    @classmethod
    def _by_its_kind(cls, value: object) -> object:
        if isinstance(value, str):
            return {'kind': value}
        return {name: tuple(one) if isinstance(one, list) else one for name, one in
                value.items()} if isinstance(value, dict) else value

    @field_validator('driver', mode='after')
    @classmethod
    def _is_a_driver(cls, driver: Mapping[str, Any]) -> Mapping[str, Any]:
        if driver:
            driver_of(driver)
        return driver

    @model_validator(mode='after')
    def _is_consistent(self) -> 'Profile':
        both = sorted(set(self.absent) & set(self.topics))
        if both:
            raise ValueError(f'got {", ".join(both)} under topics and under absent, expected it '
                             f'once. Remove one of the two')
        for role in self.reference:
            if role not in self.topics:
                raise ValueError(f'reference: got {role}, expected a role under topics. Add it '
                                 f'there.{did_you_mean(role, self.topics)}')
        taken: dict[str, str] = {}
        for role, topic in self.topics.items():
            first = taken.setdefault(self.role_names.unmapped(topic.topic or role), role)
            if first != role:
                raise ValueError(f'topics: got one topic, {topic.topic or role}, for the roles '
                                 f'{first} and {role}, expected one each')
        try:
            refuse_circle({name: place.parent for name, place in self.frames.items()})
        except ValueError as error:
            raise ValueError(f'frames: {error}') from None
        for role, topic in self.topics.items():
            if topic.type == LASER_SCAN and topic.frame:
                self.scanner_place(role)
        if self.driver and self.robot.kind:
            self._compare_driver(driver_of(self.driver))
        return self

    def _compare_driver(self, driver: DriverPlugin) -> None:
        """Refuse a driver that takes none of the command types that the profile declares."""
        known = registry.resolve('robots', self.robot.kind).driver_types
        typed = {role: one.type for role, one in self.topics.items() if one.type in known}
        accepted = driver.accepted_types
        if typed and accepted and not set(typed.values()) & set(accepted):
            role, got = next(iter(typed.items()))
            raise ValueError(
                f'topics.{role}.type: got {got}, and the driver {driver.kind} of '
                f'{driver.distro} takes {", ".join(accepted)}, so that it would reject every '
                f'command. Write that type, or the right driver.kind or driver.distro')

    @property
    def role_names(self) -> RosNames:
        """Return what roles are called on the robot."""
        return RosNames(self.namespace, (), tuple(
            f'{role}:={topic.topic}' for role, topic in self.topics.items()
            if topic.topic not in ('', role)))

    @property
    def mounted_frames(self) -> tuple[MountedFrame, ...]:
        """Return the frames as a scenario has them."""
        return tuple(MountedFrame(frame=name, **place.model_dump())
                     for name, place in self.frames.items())

    @property
    def near_misses(self) -> tuple[str, ...]:
        """Return a sentence for each topic whose name is nearly a usual one."""
        names = {one.topic: one.topic.rpartition('/')[2].rstrip('_0123456789')
                 for one in self.topics.values()}
        return tuple(f'the topic {topic} is nearly {meant}: correct it if that is a slip'
                     for topic, name in names.items() for meant in _USUAL
                     if name not in _USUAL and is_misspelt(name, meant))

    @property
    def scanners(self) -> Mapping[str, RobotScanner]:
        """
        Return role to what is known of its scanner.

        One whose place is unknown is left out: a scenario that shows a scan there is refused.
        """
        found = {}
        for role, topic in self.topics.items():
            layout = None if topic.scanner is None else topic.scanner.layout
            if layout is not None:
                found[role] = RobotScanner(layout=layout)
            if topic.frame:
                with suppress(ValueError):
                    found[role] = RobotScanner(self.scanner_place(role), layout)
        return found

    def scanner_place(self, role: str) -> MountedFrame | None:
        """
        Return where the scanner of a topic with a frame is in the frame of the robot itself.

        :return: None: that is its frame
        :raises ValueError: the place is unknown, or the scanner leans
        """
        frame = self.topics[role].frame
        if frame == BASE:
            return None
        if frame not in self.frames:
            raise ValueError(
                f'topics.{role}.frame: got {frame}, which is not under frames, so that its place '
                f'on the robot is unknown, expected it there. Add "frames: {{{frame}: '
                f'{{translation: [0.0, 0.0, 0.0]}}}}" with where it is mounted in {BASE}')
        try:
            place = place_in(frame, BASE, self.mounted_frames)
        except MeasurementError as error:
            chain = [frame]
            while chain[-1] in self.frames and self.frames[chain[-1]].parent not in chain:
                chain.append(self.frames[chain[-1]].parent)
            raise ValueError(
                f'frames.{frame}: {error}' if BASE in chain else
                f'frames.{frame}.parent: got the chain {" -> ".join(chain)}, which does not reach '
                f'{BASE}, expected the place of {role} on the robot. Write "parent: {BASE}" and '
                f'its place there, or add {BASE} to frames: "{BASE}: {{parent: {chain[-1]}, '
                f'translation: [0.0, 0.0, 0.0]}}" with its place') from None
        return MountedFrame(frame=frame, translation=(place.x, place.y, 0.0),
                            rotation=(0.0, 0.0, math.remainder(place.yaw, math.tau)))


def driver_of(block: Mapping[str, Any]) -> DriverPlugin:
    """
    Return the driver that a block names.

    :raises ValueError: there is none of that kind, or a parameter does not fit
    """
    kind = block.get('kind')
    if not isinstance(kind, str):
        raise ValueError(f'got no kind, expected the kind of the driver beside its parameters: '
                         f'one of {", ".join(registry.names("drivers"))}')
    try:
        found: DriverPlugin = registry.resolve('drivers', kind).model_validate(
            {name: tuple(one) if isinstance(one, list) else one for name, one in block.items()})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(refused('.'.join(map(str, first['loc'])), first)) from None
    except InputError as error:
        raise ValueError(str(error)) from None
    return found
