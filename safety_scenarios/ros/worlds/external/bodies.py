# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an intent puts into a world of another simulator: outlines, and models in SDF."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from safety_scenarios.errors import InputError
from safety_scenarios.ros.worlds.external.footprint import box, disc, Footprint
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.intent import Intent, ObstacleAt, PersonAt, VehicleAt
from safety_scenarios.scenario.world.block import Floor, WorldBlock
from safety_scenarios.scenario.world.walking import Figure
from safety_scenarios.worlds.mujoco.entities import BOX_DEPTH, THICK, WIDE

Plugins = Literal['gz', 'ignition']
POSE_HZ = 100
"""So often a body of ours tells where it is, in simulated time."""
_LIBRARY = {'gz': ('gz-sim-{}-system', 'gz::sim::systems::{}'),
            'ignition': ('ignition-gazebo-{}-system', 'ignition::gazebo::systems::{}')}
_SDF = '1.8'
"""Fortress knows it, and so does every later one."""


@dataclass(frozen=True)
class Body:
    """One upright thing on the floor."""

    footprint: Footprint
    height: float
    """m."""
    is_person: bool
    is_seen: bool
    """Whether a scanner sees it: else it has no visual, and is touched all the same."""
    is_felt: bool = True
    """Whether anything can touch it: else it has a visual and no more."""

    def sdf(self, name: str, robot: str, plugins: Plugins) -> str:
        """
        Return the model: it goes nowhere by itself, tells where it is and whom it touches.

        :param name: of the model, and of the topics on which it tells
        :param robot: name of the model whose touch it tells
        """
        shape = self._shape()
        visual = f'<visual name="look">{shape}{_COLOUR[self.is_person]}</visual>' \
            if self.is_seen else ''
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
        middle = f'<pose>0 0 {self.height / 2:g} 0 0 0</pose>'
        points, rounding = self.footprint.points, self.footprint.rounding
        if len(points) == 1:
            return (f'{middle}<geometry><cylinder><radius>{rounding:g}</radius>'
                    f'<length>{self.height:g}</length></cylinder></geometry>')
        length, width = 2 * points[0][0], 2 * points[0][1]
        return (f'{middle}<geometry><box><size>{length:g} {width:g} {self.height:g}</size></box>'
                f'</geometry>')


POSE_OPTIONS = (
    f'<publish_link_pose>false</publish_link_pose><publish_model_pose>true</publish_model_pose>'
    f'<publish_nested_model_pose>true</publish_nested_model_pose>'
    f'<use_pose_vector_msg>true</use_pose_vector_msg><update_frequency>{POSE_HZ}'
    f'</update_frequency>')
_COLOUR = {
    True: '<material><diffuse>0.84 0.37 0 1</diffuse><ambient>0.84 0.37 0 1</ambient></material>',
    False: '<material><diffuse>0.45 0.45 0.5 1</diffuse><ambient>0.45 0.45 0.5 1</ambient>'
           '</material>'}


def _plugin(plugins: Plugins, library: str, name: str, inside: str) -> str:
    file, kind = _LIBRARY[plugins]
    return (f'<plugin filename="{file.format(library)}" name="{kind.format(name)}">{inside}'
            f'</plugin>')


def bodies_of(intent: Intent, is_seen: bool) -> Sequence[Body]:
    """
    Return what an intent puts into the world; empty if it puts nothing there.

    :raises InputError: it is something that only the embedded world can show
    """
    if isinstance(intent, PersonAt):
        figure = intent.figure
        if figure.reaches_at is not None:
            raise InputError(
                'ros.stimuli: got a person who reaches, expected one who stands, walks, falls or '
                'lies: bodies in other simulators are rigid. Use world mujoco for this one')
        if figure.posture == 'lies':
            return [lying(figure, is_seen)] * intent.count
        return [Body(disc(intent.radius), figure.height, True, is_seen)] * intent.count
    if isinstance(intent, VehicleAt):
        return [Body(disc(intent.radius), intent.height, False, is_seen)]
    if isinstance(intent, ObstacleAt):
        return [Body(box(BOX_DEPTH, intent.width), intent.height, False,
                     is_seen and not intent.is_glass)]
    return []


def lying(figure: Figure, is_seen: bool) -> Body:
    """Return a person who lies on the side, across where he or she looked."""
    return Body(box(THICK * figure.height, figure.height), WIDE * figure.height, True, is_seen)


def refuse_scene(ros: RobotBody, *, has_arms: bool = False) -> None:
    """
    Refuse what a scenario says of a scene that is not built here, but comes with the other world.

    :param has_arms: whether the simulator tells where the links of an arm are
    :raises InputError: names what it is
    """
    if ros.robot.kind != 'mobile_base' and not has_arms:
        raise InputError(
            f'ros.robot.kind: got {ros.robot.kind}, expected mobile_base: where the links of an '
            f'arm are is told behind ros_gz_bridge alone. Use world mujoco for this one')
    block = ros.world or WorldBlock()
    senses = block.senses
    asked = [name for name, is_asked in (
        ('a mass in boxes', any(one.mass for one in block.boxes)),
        ('floor', block.floor != Floor()), ('payload', block.payload),
        ('senses.mounts', senses.mounts), ('senses.darkness', senses.darkness),
        ('senses.lens_dirt', senses.lens_dirt),
        ('walls around an arm', ros.robot.kind == 'arm' and block.walls),
        ('boxes around an arm', ros.robot.kind == 'arm' and block.boxes)) if is_asked]
    if asked:
        raise InputError(
            f'ros.world: got {", ".join(asked)}, expected start, route, goal_radius, walls, boxes '
            f'that are fixed and what a relay does to scans and odometry at most: how wheels '
            f'grip, what the robot carries and where its sensors are is said by the other '
            f"simulator's own world file. Use world mujoco for this one")
