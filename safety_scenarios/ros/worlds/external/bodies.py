# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Bodies that intents put into another simulator: outlines, models in SDF, and paths."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
import math
from typing import Literal, Protocol
from xml.sax.saxutils import escape, quoteattr

from safety_scenarios.errors import InputError
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.stimulus import Intent
from safety_scenarios.scenario.world import Floor, WorldBlock
from safety_scenarios.scenario.world_body import (
    beside,
    Body,
    Colour,
    Footprint,
    GREY,
    GRIP,
    Placed,
    Solid,
)

_STROLL = 0.05
"""Slower than this nobody turns to where he or she walks (m/s)."""
_LONGEST_S = 0.5
"""Who was not moved for longer does not catch up at once."""


class Places(Protocol):
    """Where something is to be that was put into the world."""

    faces: float | None
    """Where it looks from now on, wherever it goes (rad); None: where it goes."""

    @property
    def moves(self) -> bool:
        """Whether it is not where it was put for good."""

    @property
    def place(self) -> Placed:
        """Return where it is to be."""

    @property
    def velocity(self) -> tuple[float, float]:
        """Return how fast it goes its own way (m/s)."""

    def begin(self, robot: Placed, now_ns: int) -> Placed:
        """Return where it appears."""

    def go_on(self, robot: Placed, now_ns: int, is_free: Callable[[Placed], bool]) -> Placed:
        """Return where it is to be now; ``is_free``: whether it can be at a place."""

    def distance(self, place: Placed, robot: Placed) -> float:
        """Return how far away it is from the robot's origin, as its stimulus counts it (m)."""


class BodyPath:
    """
    The places of one body: beside the robot while it is kept, else its own way.

    It is moved by poses, so nothing stops it but itself: it stands where it would be in the robot.

    :param is_kept: it keeps its place beside the robot, as what the nominal phase shows does
    """

    def __init__(self, body: Body, is_kept: bool) -> None:
        self.is_kept, self._body = is_kept, body
        self._way = body.motion.begin((0.0, 0.0, 0.0))
        self._velocity = (0.0, 0.0)
        self._place: Placed = (0.0, 0.0, 0.0)
        self._began_ns = self._now_ns = 0
        self.faces: float | None = None

    @property
    def moves(self) -> bool:
        """Whether it is not where it was put for good."""
        return self.is_kept or not self._body.motion.is_stationary

    @property
    def place(self) -> Placed:
        """Return where it is to be."""
        x, y, heading = self._place
        return x, y, heading if self.faces is None else self.faces

    @property
    def velocity(self) -> tuple[float, float]:
        """Return how fast it goes its own way (m/s)."""
        return self._velocity

    def begin(self, robot: Placed, now_ns: int) -> Placed:
        """Return where it appears; it moves already then, unless it is kept."""
        self._began_ns = self._now_ns = now_ns
        self._way = self._body.motion.begin(robot)
        x, y = beside(robot, self._body.ahead, self._body.left)
        heading = self._body.heading(x, y, robot)
        self._velocity = (0.0, 0.0) if self.is_kept else self._way.wanted(x, y, robot, 0.0)
        self._place = (x, y, self._looks(heading))
        return self._place

    def go_on(self, robot: Placed, now_ns: int, is_free: Callable[[Placed], bool]) -> Placed:
        """
        Return where it is to be now.

        :param is_free: whether it can be at a place without being in the robot
        """
        passed_s = min(_LONGEST_S, max(0.0, (now_ns - self._now_ns) / 1e9))
        self._now_ns = now_ns
        x, y, heading = self._place
        if self.is_kept or self._body.motion.is_along:
            x, y = beside(robot, self._body.ahead, self._body.left)
            self._place = (x, y, robot[2] if self._body.to_face else heading)
            return self._place
        want_x, want_y = self._way.wanted(x, y, robot, (now_ns - self._began_ns) / 1e9)
        vx, vy = self._velocity
        east, north = want_x - vx, want_y - vy
        size, most = math.hypot(east, north), GRIP * passed_s
        share = 1.0 if size <= most else most / size
        self._velocity = vx + share * east, vy + share * north
        there = (x + self._velocity[0] * passed_s, y + self._velocity[1] * passed_s,
                 self._looks(heading))
        if is_free(there):
            self._place = there
        else:
            self._velocity = (0.0, 0.0)
        return self._place

    def distance(self, place: Placed, robot: Placed) -> float:
        """Return how far away it is from the robot's origin, as its stimulus counts it (m)."""
        return self._body.distance(place, robot)

    def _looks(self, heading: float) -> float:
        if self.faces is not None:
            return self.faces
        vx, vy = self._velocity
        return math.atan2(vy, vx) if not self._body.to_face and math.hypot(vx, vy) > _STROLL \
            else heading


Plugins = Literal['gz', 'ignition']
POSE_HZ = 100
"""So often a body of ours tells where it is, in simulated time."""
_LIBRARY = {'gz': ('gz-sim-{}-system', 'gz::sim::systems::{}'),
            'ignition': ('ignition-gazebo-{}-system', 'ignition::gazebo::systems::{}')}
_SDF = '1.8'
"""Fortress knows it, and so does every later one."""


@dataclass(frozen=True)
class Model:
    """One upright thing on the floor or above it."""

    solid: Solid
    is_person: bool = False
    is_tracked: bool = False
    """Whether a tracker of people shows where it is."""
    colour: Colour = GREY
    is_felt: bool = True
    """Whether anything can touch it: else it has a visual and no more."""

    @cached_property
    def footprint(self) -> Footprint:
        """Return its outline on the floor."""
        return self.solid.footprint

    def sdf(self, name: str, robot: str, plugins: Plugins) -> str:
        """
        Return the model: it goes nowhere by itself, tells where it is and whom it touches.

        :param name: of the model, and of the topics on which it tells
        :param robot: name of the model whose touch it tells
        """
        shape = self._shape()
        colour = ' '.join(f'{part:g}' for part in self.colour)
        visual = (f'<visual name="look">{shape}<material><diffuse>{colour}</diffuse>'
                  f'<ambient>{colour}</ambient></material></visual>') if self.solid.is_seen else ''
        collision = touch = ''
        if self.is_felt:
            collision = (
                f'<collision name="body">{shape}</collision>'
                f'<sensor name="touch" type="contact"><always_on>true</always_on>'
                f'<contact><collision>body</collision></contact></sensor>')
            touch = _plugin(
                plugins, 'touchplugin', 'TouchPlugin',
                f'<target>{escape(robot)}</target><namespace>{escape(name)}</namespace>'
                f'<time>0.001</time><enabled>true</enabled>')
        return (
            f'<sdf version="{_SDF}"><model name={quoteattr(name)}><static>true</static>'
            f'<link name="body">{visual}{collision}</link>{touch}'
            + _plugin(plugins, 'pose-publisher', 'PosePublisher', POSE_OPTIONS)
            + '</model></sdf>')

    def _shape(self) -> str:
        solid = self.solid
        middle = f'<pose>0 0 {solid.above + solid.height / 2:g} 0 0 0</pose>'
        if solid.kind == 'cylinder':
            return (f'{middle}<geometry><cylinder><radius>{solid.width / 2:g}</radius>'
                    f'<length>{solid.height:g}</length></cylinder></geometry>')
        return (f'{middle}<geometry><box><size>{solid.length:g} {solid.width:g} '
                f'{solid.height:g}</size></box></geometry>')


POSE_OPTIONS = (
    f'<publish_link_pose>false</publish_link_pose><publish_model_pose>true</publish_model_pose>'
    f'<publish_nested_model_pose>true</publish_nested_model_pose>'
    f'<use_pose_vector_msg>true</use_pose_vector_msg><update_frequency>{POSE_HZ}'
    f'</update_frequency>')


def _plugin(plugins: Plugins, library: str, name: str, inside: str) -> str:
    file, kind = _LIBRARY[plugins]
    return (f'<plugin filename="{file.format(library)}" name="{kind.format(name)}">{inside}'
            f'</plugin>')


def models_of(intent: Intent, is_seen: bool) -> Sequence[Model]:
    """
    Return what an intent puts into the world, body by body; empty if it puts nothing there.

    :raises InputError: it is something that only the embedded world can show
    """
    bodies = intent.bodies()
    for body in bodies:
        if body.unfit:
            raise InputError(f'ros.stimuli: got {body.unfit}: bodies in other simulators are '
                             f'rigid. Use world mujoco for this one')
    return [model_of(body, body.rigid, is_seen) for body in bodies]


def model_of(body: Body, solid: Solid, is_seen: bool) -> Model:
    """Return a body while it has this solid; a pane of glass is seen by pieces of its own."""
    return Model(replace(solid, is_seen=is_seen and not body.is_glass), body.is_person,
                 body.is_tracked, body.colour)


def refuse_scene(ros: RobotBody, *, has_arms: bool = False) -> None:
    """
    Refuse what a scenario says of a scene that is not built here, but comes with the other world.

    :param has_arms: whether the simulator tells where the links of an arm are
    :raises InputError: names what it is
    """
    kind = kind_of(ros.robot)
    if not kind.drives and not has_arms:
        raise InputError(
            f'ros.robot.kind: got {ros.robot.kind}, expected mobile_base: the positions of '
            f'the links of an arm are published by ros_gz_bridge alone. Use world mujoco for '
            f'this one')
    block = ros.world or WorldBlock()
    senses = block.senses
    asked = [name for name, is_asked in (
        ('a mass in boxes', any(one.mass for one in block.boxes)),
        ('floor', block.floor != Floor()), ('payload', block.payload),
        ('senses.mounts', senses.mounts), ('senses.darkness', senses.darkness),
        ('senses.lens_dirt', senses.lens_dirt),
        ('walls around an arm', kind.has_joints and block.walls),
        ('boxes around an arm', kind.has_joints and block.boxes)) if is_asked]
    if asked:
        raise InputError(
            f'ros.world: got {", ".join(asked)}, expected start, route, goal_radius, walls, boxes '
            f'that are fixed and what a relay does to scans and odometry at most: how wheels '
            f'grip, what the robot carries and where its sensors are is said by the other '
            f"simulator's own world file. Use world mujoco for this one")


@dataclass
class Fall:
    """A person who falls: while one of the two bodies is there, the other one is kept here."""

    body: Model
    after_ns: int
    """After the person has appeared, when who falls is in the way as one who lies (ns)."""
    name: str = ''
    """Of the model of the body that is kept."""
    due_ns: int = 0
    is_down: bool = False
    faces: float | None = None
    """Where the person looked when appearing, across which he or she will lie (rad)."""

    def swap(self, name: str, body: Model) -> tuple[str, Model]:
        """Keep this one, and return the other: name of its model, and body."""
        self.is_down = not self.is_down
        found = self.name, self.body
        self.name, self.body = name, body
        return found


def fall_of(body: Body, is_seen: bool) -> Fall | None:
    """Return how a body falls; None: it does not, or lies already when it appears."""
    if body.fall is None or body.fall.after_s is None:
        return None
    return Fall(model_of(body, body.fall.solid, is_seen), round(body.fall.after_s * 1e9))
