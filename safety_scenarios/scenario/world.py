# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario adds for a world, and which world answers."""

from collections.abc import Mapping
import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator
from pydantic.config import JsonDict
from safety_scenarios.scenario.noun import Noun, TopicName

BASE = 'base_link'
"""The frame of the robot itself (REP 105)."""
FRAME_NAME = r'^[^/\s][^\s]*$'
"""tf2 has no names that begin with a slash."""
Angle = Annotated[float, Field(ge=-math.tau, le=math.tau, json_schema_extra={'unit': 'rad'})]
"""More than a turn is one in degrees."""
Offset = Annotated[float, Field(ge=-5, le=5, json_schema_extra={'unit': 'm'})]
"""Of a sensor that is on a robot."""


class MountedFrame(Noun):
    """The place of a frame on the robot; it does not move."""

    frame: str = Field(min_length=1, max_length=200, pattern=FRAME_NAME)
    """Name of the frame, as stimuli have it in their headers."""
    parent: str = Field(default=BASE, min_length=1, max_length=200, pattern=FRAME_NAME)
    """Frame in which its place is said, such as base_link."""
    translation: tuple[float, float, float] = Field(
        default=(0.0, 0.0, 0.0), json_schema_extra={'unit': 'm'})
    """Ahead, to the left and up (m)."""
    rotation: tuple[Angle, Angle, Angle] = Field(
        default=(0.0, 0.0, 0.0), json_schema_extra={'unit': 'rad'})
    """Roll, pitch and yaw about the fixed axes of the parent (rad)."""

    @model_validator(mode='after')
    def _apart(self) -> 'MountedFrame':
        if self.frame == self.parent:
            raise ValueError(f'got {self.frame} as its own parent, expected another frame')
        return self

    @property
    def quaternion(self) -> tuple[float, float, float, float]:
        """Return the rotation as x, y, z, w (REP 103)."""
        roll, pitch, yaw = (angle / 2 for angle in self.rotation)
        cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
        cy, sy = math.cos(yaw), math.sin(yaw)
        return (sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
                cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy)

    @property
    def is_aside(self) -> bool:
        """Whether a place on the ground reads otherwise in it than in its parent."""
        x, y, _ = self.translation
        return max(abs(x), abs(y), *map(abs, self.rotation)) > 1e-6


def refuse_circle(parents: Mapping[str, str]) -> None:
    """
    Refuse frames that carry each other, which tf2 could not place.

    :param parents: frame to the one that carries it
    :raises ValueError: with the circle
    """
    for name in parents:
        chain = [name]
        while (parent := parents.get(chain[-1])) is not None:
            chain.append(parent)
            if parent in chain[:-1]:
                raise ValueError(f'got the circle {" -> ".join(chain)}, expected parents that end '
                                 f'at a frame of the robot, such as {BASE}')


_FAR = 400.0
"""
Nothing of a scene is farther from its origin (m).

Beyond wait the things that are not there yet (``simulator.entities.AWAY``), and nobody may meet
them.
"""
_LONG = 500.0
"""Nothing in a scene is longer (m)."""
_THIN = 0.001
"""Nor thinner (m)."""
_MOST = 500
"""Walls, boxes, patches or points of a route: more than any hall of a scenario has."""
_METRES: JsonDict = {'unit': 'm'}
IMAGE, CAMERA_INFO = 'sensor_msgs/msg/Image', 'sensor_msgs/msg/CameraInfo'
"""What a camera publishes."""


def _on_the_floor(point: tuple[float, float]) -> tuple[float, float]:
    if not all(math.isfinite(value) and abs(value) <= _FAR for value in point):
        raise ValueError(f'got {list(point)}, expected x and y within {_FAR:g} m')
    return point


Point = Annotated[tuple[float, float], AfterValidator(_on_the_floor)]
"""x and y on the floor, frame ``world`` (m)."""
Length = Annotated[float, Field(ge=_THIN, le=_LONG, json_schema_extra=_METRES)]
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r'^[A-Za-z]\w*$')]


class Pose(Noun):
    """A place and a direction on the floor, frame ``world``."""

    x: float = Field(default=0.0, ge=-_FAR, le=_FAR, json_schema_extra=_METRES)
    y: float = Field(default=0.0, ge=-_FAR, le=_FAR, json_schema_extra=_METRES)
    heading: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra={'unit': 'rad'})
    """0 along x, positive to the left (rad)."""


class Wall(Noun):
    """An upright wall from one point of the floor to another."""

    name: Name
    begin: Point
    """Where it begins (m)."""
    end: Point
    """Where it ends (m)."""
    height: float = Field(default=2.0, gt=0, le=20, json_schema_extra=_METRES)
    thickness: float = Field(default=0.1, gt=0, le=5, json_schema_extra=_METRES)
    glass: bool = False
    """A laser scanner sees it only where a beam meets it squarely; no body gets through."""
    along: bool = False
    """Until the hazard comes it keeps its place beside the robot, from whose origin ``begin`` and
    ``end`` are told then, as a hall does whose end stays 10 m away."""
    turns: float | None = Field(default=None, ge=-math.pi, le=math.pi,
                                json_schema_extra={'unit': 'rad'})
    """A door: so far it turns about ``begin`` from when the hazard comes on, positive to the left
    (rad)."""
    turns_in_s: float = Field(default=1.5, gt=0, le=60, json_schema_extra={'unit': 's'})
    """How long that takes (s)."""

    @property
    def moves(self) -> bool:
        """Whether it is not always where it was."""
        return self.along or self.turns is not None

    @model_validator(mode='after')
    def _is_long(self) -> 'Wall':
        length = math.dist(self.begin, self.end)
        if not _THIN <= length <= _LONG:
            raise ValueError(f'got a wall of {length:g} m from begin to end, expected {_THIN:g} m '
                             f'to {_LONG:g} m')
        return self


class Box(Noun):
    """A box on the floor."""

    name: Name
    at: Point
    """Its middle (m)."""
    size: tuple[Length, Length, Length]
    """Length, width and height (m)."""
    heading: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra={'unit': 'rad'})
    mass: float = Field(default=0.0, ge=0, le=10_000, json_schema_extra={'unit': 'kg'})
    """0: it is fixed to the floor (kg)."""


class Patch(Noun):
    """A part of the floor on which wheels grip otherwise."""

    at: Point
    """Its middle (m)."""
    size: tuple[Length, Length]
    """Length along x and width along y (m)."""
    friction: float = Field(ge=0, le=2)
    """Coefficient of friction between wheel and floor."""


class Floor(Noun):
    """How well wheels grip."""

    friction: float = Field(default=0.8, gt=0, le=2)
    """Coefficient of friction between wheel and floor; 0.8 is rubber on dry concrete."""
    patches: tuple[Patch, ...] = Field(default=(), max_length=_MOST)
    """Where it is otherwise; the last one that covers a place counts."""

    @property
    def dry_friction(self) -> float:
        """Return what a declared deceleration may count on: a slippery floor is a hazard."""
        return max(self.friction, Floor().friction)


class Sector(Noun):
    """A part of what a scanner sees, as its frame counts directions."""

    middle: float = Field(ge=-math.pi, le=math.pi, json_schema_extra={'unit': 'rad'})
    """0 ahead, positive to the left (rad)."""
    width: float = Field(gt=0, le=2 * math.pi, json_schema_extra={'unit': 'rad'})
    """From one edge to the other (rad)."""


class Mounted(Noun):
    """Where on the robot a scanner is, which looks all around, or a camera."""

    x: float = Field(default=0.0, ge=-5, le=5, json_schema_extra=_METRES)
    """Ahead of the robot's origin (m)."""
    y: float = Field(default=0.0, ge=-5, le=5, json_schema_extra=_METRES)
    """To its left (m)."""
    height: float = Field(default=0.2, gt=0, le=5, json_schema_extra=_METRES)
    """Of its plane above the floor (m)."""
    yaw: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra={'unit': 'rad'})
    """Where its 0 looks, positive to the left (rad)."""
    pitch: float = Field(default=0.0, ge=-math.pi / 2, le=math.pi / 2,
                         json_schema_extra={'unit': 'rad'})
    """Of a camera: how far it looks down (rad); a scanner lies flat."""


class Camera(Noun):
    """A camera on the robot; where it is the robot's file says, or ``senses.mounts``."""

    topic: TopicName = 'image'
    """Of the pictures, sensor_msgs/msg/Image with the encoding rgb8."""
    info: TopicName = 'camera_info'
    """Of what they are taken with, sensor_msgs/msg/CameraInfo."""
    rate_hz: float = Field(default=10.0, ge=1, le=30, json_schema_extra={'unit': 'Hz'})
    width: int = Field(default=320, ge=16, le=1920, json_schema_extra={'unit': 'pixels'})
    height: int = Field(default=240, ge=16, le=1200, json_schema_extra={'unit': 'pixels'})
    field_of_view: float = Field(default=1.2, ge=0.1, le=2.6, json_schema_extra={'unit': 'rad'})
    """From the left edge of a picture to its right one (rad)."""
    frame: str = Field(default='camera_optical_frame', min_length=1, max_length=200,
                       pattern=FRAME_NAME)
    """Frame of both messages: z ahead, x to the right and y down (REP 103)."""

    @model_validator(mode='after')
    def _two_topics(self) -> 'Camera':
        if self.topic == self.info:
            raise ValueError(f'got {self.topic} as topic and as info, expected two topics')
        return self

    @field_validator('frame')
    @classmethod
    def _its_own(cls, frame: str) -> str:
        if frame == BASE:
            raise ValueError(f'got {frame}, the frame of the robot, expected one of its own: a '
                             f'picture has z ahead')
        return frame

    @property
    def focal_length(self) -> float:
        """Return the focal length (pixels), which is that of both axes: pixels are square."""
        return self.width / 2 / math.tan(self.field_of_view / 2)

    @property
    def interfaces(self) -> Mapping[str, str]:
        """Return the interface type on each of its topics."""
        return {self.topic: IMAGE, self.info: CAMERA_INFO}


class Senses(Noun):
    """What is wrong with the robot's own sensors; by default nothing."""

    range_noise: float = Field(default=0.0, ge=0, le=1, json_schema_extra=_METRES)
    """Standard deviation of each range (m)."""
    dropouts: float = Field(default=0.0, ge=0, le=1)
    """Share of the beams that return nothing, drawn for each scan."""
    short_returns: float = Field(default=0.0, ge=0, le=1)
    """Share of the beams that a drop of rain or a grain of dust returns from somewhere before
    what is there, drawn for each scan."""
    glare: tuple[Sector, ...] = ()
    """Where light blinds a scanner: nothing is returned (+infinity), which looks free."""
    dirt: tuple[Sector, ...] = ()
    """Where its window is covered: it reads 0, less than its least range, which is no reading."""
    yaw_offset: float = Field(default=0.0, ge=-math.pi, le=math.pi,
                              json_schema_extra={'unit': 'rad'})
    """How far scanners are turned to the left of where their frames say (rad)."""
    mounts: Mapping[str, Mounted] = {}
    """By topic: where a scanner or the camera is that is elsewhere than the robot's file says, or
    than in the middle of a plain base, 0.2 m above the floor."""
    odometry_drift: float = Field(default=0.0, ge=-1, le=1)
    """Share by which odometry overstates the way and the speed that were driven."""
    heading_drift: float = Field(default=0.0, ge=-1, le=1, json_schema_extra={'unit': 'rad/m'})
    """How far the heading of odometry turns to the left with each metre driven (rad/m)."""
    darkness: float = Field(default=0.0, ge=0, le=1)
    """Share of the moments in which a tracker of people, which is a camera, finds nobody; and
    share of the light that a picture of the camera lacks."""
    lens_dirt: float = Field(default=0.0, ge=0, le=1)
    """Share of the camera's picture that specks of dirt cover; where they are is drawn for each
    trial."""
    range_max: float = Field(default=12.0, gt=0, le=200, json_schema_extra=_METRES)
    """Farther than this the scanner sees nothing (m), as in rain or dust."""


class WorldBlock(Noun):
    """The ``ros.world:`` key; a link without a world reads none of it."""

    required: bool = False
    """Whether only a world shows what this scenario is about: no other link runs it."""
    robot: str = ''
    """Name of a robot that comes along, or the path of a robot file; empty: a plain one with the
    size, speed and braking that ``ros.robot`` declares."""
    start: Pose = Pose()
    """Where the robot begins."""
    route: tuple[Point, ...] = Field(default=(), max_length=_MOST)
    """Points that it has to pass, the last one is its goal; empty: straight ahead, without end."""
    goal_radius: float = Field(default=0.3, gt=0, le=100, json_schema_extra=_METRES)
    """How near the robot's origin has to come to each (m)."""
    walls: tuple[Wall, ...] = Field(default=(), max_length=_MOST)
    boxes: tuple[Box, ...] = Field(default=(), max_length=_MOST)
    floor: Floor = Floor()
    payload: float = Field(default=0.0, ge=0, le=10_000, json_schema_extra={'unit': 'kg'})
    """Load on the robot that its motors and brakes are not laid out for (kg)."""
    senses: Senses = Senses()
    camera: Camera | None = None
    """A camera that sees what is there, on whatever topic a stimulus shows it; left out: none."""

    @field_validator('walls', 'boxes')
    @classmethod
    def _one_name_each(cls, found: tuple[Any, ...]) -> tuple[Any, ...]:
        names = [one.name for one in found]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f'got {", ".join(twice)} more than once, expected each name once: '
                             'the simulator '
                             f'publishes it by that name')
        return found


World = Literal['none', 'mujoco', 'external', 'are']
"""Which world answers: none (open loop), the embedded simulator, or one that runs already."""


_SHAPES = {'disc': 1, 'box': 2, 'capsule': 2}
_LARGEST = 20.0
"""No robot is longer (m)."""
_TURNED = 100.0
"""No joint is turned farther (rad)."""
SLOTS = 12
"""Bodies of ours that a world has at most at a time."""


class WorldSettings(Noun):
    """Which world answers; all but ``kind`` is about the world of another simulator."""

    kind: World = 'none'
    """Which world answers: none (open loop; with link simulated it is mujoco); mujoco: the
    embedded simulator, over link ros in a process of its own; external: a simulator_node, Gazebo
    or another simulator that runs already (doc/manual/gazebo.md); are: ARE runs the apps of an ARE
    scenario (doc/reference/are.md)."""

    robot: str = Field(default='robot', min_length=1, max_length=200)
    """Name of the robot's model or entity in that world."""
    footprint: str = Field(default='', max_length=200)
    """Robot's outline on the floor: disc RADIUS, box LENGTH WIDTH, or capsule LENGTH RADIUS (m),
    about its origin; empty: the disc that the scenario declares. The embedded world has that disc
    always: robot.radius."""
    poses: str = Field(default='poses', min_length=1, max_length=200)
    """Topic of tf2_msgs/msg/TFMessage on which models publish their poses, each by its name as
    child_frame_id and with simulated stamps; without simulation_interfaces these are the true
    poses."""
    contacts: str = Field(default='contacts', max_length=200)
    """Topic of ros_gz_interfaces/msg/Contacts of the robot; empty, or no publisher: none."""
    touched: str = Field(default='touched', max_length=200)
    """Prefix of the topics of std_msgs/msg/Bool on which each spawned body reports that it has
    touched the robot; empty: none."""
    drive_enable: str = Field(default='drive_enable', max_length=200)
    """Topic of std_msgs/msg/Bool that switches the robot's drive off between two trials; empty:
    the robot must stand by itself then, or the trial is an error."""
    floors: tuple[str, ...] = ('ground_plane',)
    """Models that the robot may touch all the time."""
    joint_states: str = Field(default='joint_states', min_length=1, max_length=200)
    """Topic of sensor_msgs/msg/JointState on which controllers receive the joint positions of
    an arm, with simulated stamps."""
    joints: str = Field(default='bridged/joint_states', min_length=1, max_length=200)
    """Topic on which the simulator publishes the same, between trials too; may be that topic."""
    posture: str = Field(default='posture', min_length=1, max_length=200)
    """Topic of trajectory_msgs/msg/JointTrajectory with the joint positions to which an arm
    moves between two trials."""
    driven: str = Field(default='driven', min_length=1, max_length=200)
    """Topic of std_msgs/msg/String on which joint_drive_node reports its progress, as JSON: in
    lock-step the harness waits for it, if the topic has a publisher."""
    home: str = Field(default='0 -1.2 1.4 -0.2 -1.6 0', max_length=200)
    """Joint positions of an arm at the beginning of a trial, if its scenario has none (rad), in
    the order of its joint states."""
    push: str = Field(default='push', min_length=1, max_length=200)
    """Topic of std_msgs/msg/Float64 with the force against the tool of an arm (N), for what
    produces it."""
    links: tuple[str, ...] = ('foot', 'shoulder', 'upper_arm', 'forearm', 'wrist_1_link',
                              'wrist_2_link', 'wrist_3_link', 'tool', 'tip')
    """Links of an arm from its foot to the tip of its tool, which its poses show: its outline."""
    thickness: float = Field(default=0.06, gt=0, le=2, json_schema_extra={'unit': 'm'})
    """No part of an arm is farther than this from the lines through the origins of its links."""
    plugins: Literal['gz', 'ignition'] = 'gz'
    """How the plug-ins of Gazebo are named in what is spawned: gz from Garden on, ignition for
    Fortress."""
    services: str = Field(default='', max_length=200)
    """Where the simulator's services are, such as /world/hall or /gzserver, if several worlds or
    simulators are there; empty: wherever one is found."""
    patience_s: float = Field(default=5.0, gt=0, le=600, json_schema_extra={'unit': 's'})
    """How long the world may take to show what was asked for (s)."""

    @field_validator('links')
    @classmethod
    def _has_an_outline(cls, links: tuple[str, ...]) -> tuple[str, ...]:
        if len(links) < 2:
            raise ValueError(f'got {len(links)} links, expected at least 2, from the foot to the '
                             f'tip of the tool')
        return links

    @field_validator('home')
    @classmethod
    def _is_a_posture(cls, text: str) -> str:
        try:
            places = [float(number) for number in text.split()]
        except ValueError:
            places = []
        if not places or not all(math.isfinite(place) and abs(place) <= _TURNED for place in
                                 places):
            raise ValueError(f'got {text!r}, expected a number for each joint, separated by '
                             f'blanks, each from -{_TURNED:g} to {_TURNED:g} rad')
        return text

    @field_validator('footprint')
    @classmethod
    def _is_a_shape(cls, text: str) -> str:
        if text:
            shape, *numbers = text.split()
            try:
                sizes = [float(number) for number in numbers]
            except ValueError:
                sizes = []
            if len(sizes) != _SHAPES.get(shape) or not all(
                    math.isfinite(size) and 0 < size <= _LARGEST for size in sizes):
                raise ValueError(f'got {text!r}, expected disc RADIUS, box LENGTH WIDTH or '
                                 f'capsule LENGTH RADIUS in m, each number > 0 and at most '
                                 f'{_FAR:g}')
        return text
