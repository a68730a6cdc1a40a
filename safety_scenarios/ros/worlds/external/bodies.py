# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an intent puts into a world of another simulator: outlines, and models in SDF."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from safety_scenarios.errors import InputError
from safety_scenarios.scenario.intent import Intent
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import RosBlock
from safety_scenarios.scenario.world.block import Floor, WorldBlock
from safety_scenarios.scenario.world.body import Body, Colour, GREY, Solid
from safety_scenarios.scenario.world.footprint import Footprint

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


def refuse_scene(ros: RosBlock, *, has_arms: bool = False) -> None:
    """
    Refuse what a scenario says of a scene that is not built here, but comes with the other world.

    :param has_arms: whether the simulator tells where the links of an arm are
    :raises InputError: names what it is
    """
    kind = kind_of(ros.robot)
    if not kind.drives and not has_arms:
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
        ('walls around an arm', kind.has_joints and block.walls),
        ('boxes around an arm', kind.has_joints and block.boxes)) if is_asked]
    if asked:
        raise InputError(
            f'ros.world: got {", ".join(asked)}, expected start, route, goal_radius, walls, boxes '
            f'that are fixed and what a relay does to scans and odometry at most: how wheels '
            f'grip, what the robot carries and where its sensors are is said by the other '
            f"simulator's own world file. Use world mujoco for this one")
