# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which world answers, and the names and sizes in one that another simulator runs."""

import math
from typing import Literal

from pydantic import Field, field_validator
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.world.block import World

_SHAPES = {'disc': 1, 'box': 2, 'capsule': 2}
_FAR = 20.0
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
    """Topic of tf2_msgs/msg/TFMessage on which models tell where they are, each by its name as
    child_frame_id and with simulated stamps; without simulation_interfaces the truth comes from
    there."""
    contacts: str = Field(default='contacts', max_length=200)
    """Topic of ros_gz_interfaces/msg/Contacts of the robot; empty, or nobody publishes: none."""
    touched: str = Field(default='touched', max_length=200)
    """Prefix of the topics of std_msgs/msg/Bool on which each body of ours says that it has
    touched the robot; empty: none."""
    drive_enable: str = Field(default='drive_enable', max_length=200)
    """Topic of std_msgs/msg/Bool that lets the robot's drive stand between two trials; empty: the
    robot stands by itself then, or the trial is an error."""
    floors: tuple[str, ...] = ('ground_plane',)
    """Models that the robot may touch all the time."""
    joint_states: str = Field(default='joint_states', min_length=1, max_length=200)
    """Topic of sensor_msgs/msg/JointState on which controllers hear where the joints of an arm
    are, with simulated stamps."""
    joints: str = Field(default='bridged/joint_states', min_length=1, max_length=200)
    """Topic on which the simulator tells the same, between trials too; it may be the same."""
    posture: str = Field(default='posture', min_length=1, max_length=200)
    """Topic of trajectory_msgs/msg/JointTrajectory on which the drives of an arm are told where
    its joints are to be between two trials."""
    driven: str = Field(default='driven', min_length=1, max_length=200)
    """Topic of std_msgs/msg/String on which joint_drive_node says how far it is, as JSON: in
    lock-step that is waited for, if anybody publishes there."""
    home: str = Field(default='0 -1.2 1.4 -0.2 -1.6 0', max_length=200)
    """Where the joints of an arm are at the begin of a trial whose scenario does not say (rad), in
    the order of its joint states."""
    push: str = Field(default='push', min_length=1, max_length=200)
    """Topic of std_msgs/msg/Float64 on which what pushes against the tool of an arm is told how
    hard (N)."""
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
                    math.isfinite(size) and 0 < size <= _FAR for size in sizes):
                raise ValueError(f'got {text!r}, expected disc RADIUS, box LENGTH WIDTH or '
                                 f'capsule LENGTH RADIUS in m, each number > 0 and at most '
                                 f'{_FAR:g}')
        return text
