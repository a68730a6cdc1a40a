# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What has to be said of a world that somebody else simulates: names, sizes and patience."""

import math
from typing import Literal

from pydantic import Field, field_validator
from safety_scenarios.model.noun import Noun, TOLD

_SHAPES = {'disc': 1, 'box': 2, 'capsule': 2}
_FAR = 20.0
"""No robot is longer (m)."""
SLOTS = 12
"""Bodies of ours that a world has at most at a time."""


class ExternalWorld(Noun):
    """A world in another simulator; the embedded one knows all of this by itself."""

    model_config = TOLD

    world_robot: str = Field(default='robot', min_length=1, max_length=200)
    """Name of the robot's model or entity in that world."""
    world_footprint: str = Field(default='', max_length=200)
    """Robot's outline on the floor: disc RADIUS, box LENGTH WIDTH, or capsule LENGTH RADIUS (m),
    about its origin; empty: the disc that the scenario declares."""
    world_poses: str = Field(default='poses', min_length=1, max_length=200)
    """Topic of tf2_msgs/msg/TFMessage on which models tell where they are, each by its name as
    child_frame_id and with simulated stamps; without simulation_interfaces the truth comes from
    there."""
    world_contacts: str = Field(default='contacts', max_length=200)
    """Topic of ros_gz_interfaces/msg/Contacts of the robot; empty, or nobody publishes: none."""
    world_touched: str = Field(default='touched', max_length=200)
    """Prefix of the topics of std_msgs/msg/Bool on which each body of ours says that it has
    touched the robot; empty: none."""
    world_drive_enable: str = Field(default='drive_enable', max_length=200)
    """Topic of std_msgs/msg/Bool that lets the robot's drive stand between two trials; empty: the
    robot stands by itself then, or the trial is an error."""
    world_floors: tuple[str, ...] = ('ground_plane',)
    """Models that the robot may touch all the time."""
    world_plugins: Literal['gz', 'ignition'] = 'gz'
    """How the plug-ins of Gazebo are named in what is spawned: gz from Garden on, ignition for
    Fortress."""
    world_services: str = Field(default='', max_length=200)
    """Where the simulator's services are, such as /world/hall or /gzserver, if several worlds or
    simulators are there; empty: wherever one is found."""
    world_patience_s: float = Field(default=5.0, gt=0, le=600, json_schema_extra={'unit': 's'})
    """How long the world may take to show what was asked for (s)."""

    @field_validator('world_footprint')
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
