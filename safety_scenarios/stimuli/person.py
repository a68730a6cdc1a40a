# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One or more people near the robot, seen by a laser scanner or by a person tracker."""

from functools import lru_cache
import math
from typing import Literal

from pydantic import Field, model_validator
from safety_scenarios.scenario.intent import PersonAt
from safety_scenarios.scenario.interfaces.scan import cylinder, laser_scan, RANGE_MAX
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin
from safety_scenarios.scenario.world.walking import Figure, Walk

_BY_TOPIC = {'scan': 'sensor_msgs/msg/LaserScan', 'human_pose': 'geometry_msgs/msg/PoseStamped'}
_LEG_RADIUS_M = 0.25
"""Both legs of a standing person, seen by a scanner near the floor."""
_ABREAST_M = 0.7
"""Between two people who stand side by side."""


class Person(StimulusPlugin):
    """
    A person at a distance, standing or walking toward the robot; or several side by side.

    The truth it reports is ``distance`` (m) from the robot's origin to the person's centre. Of
    several all are as near; a tracker's pose is that of the first.

    ``walks`` and ``figure`` are for worlds. Without one the robot does not move either, and the
    person is shown where ``distance``, ``bearing`` and ``speed`` say.
    """

    kind: Literal['person'] = 'person'
    distance: float = Field(gt=0, le=RANGE_MAX, json_schema_extra={'unit': 'm'})
    """Distance at the start, from the robot's origin (m)."""
    bearing: float = Field(default=0.0, ge=-math.pi, le=math.pi,
                           json_schema_extra={'unit': 'rad'})
    """Direction, 0 ahead, positive to the left (rad, REP 103)."""
    speed: float = Field(default=0.0, ge=0, le=10, json_schema_extra={'unit': 'm/s'})
    """Speed toward the robot (m/s)."""
    nearest: float = Field(default=0.5, gt=0, json_schema_extra={'unit': 'm'})
    """Where a walking person comes to rest (m)."""
    count: int = Field(default=1, ge=1, le=10)
    """How many people: the first in the direction of ``bearing``, each other farther left."""
    radius: float = Field(default=_LEG_RADIUS_M, ge=0.05, le=1, json_schema_extra={'unit': 'm'})
    """How wide a person is for a scanner (m)."""
    walks: Walk | None = None
    """In a world: where the person goes, instead of standing or walking toward the robot."""
    figure: Figure = Figure()
    """In a world: height, posture and arms."""
    frame: str = 'base_link'
    """Frame of the message (REP 105)."""
    message: Literal['auto', 'sensor_msgs/msg/LaserScan', 'geometry_msgs/msg/PoseStamped'] = 'auto'
    """Interface type; auto: by topic name, scan or human_pose."""

    @model_validator(mode='after')
    def _one_way(self) -> 'Person':
        if self.walks is not None and self.speed:
            raise ValueError('got speed and walks, expected one of them: speed is toward the '
                             'robot')
        return self

    @model_validator(mode='after')
    def _type_is_known(self) -> 'Person':
        if self.message == 'auto' and self.topic.rpartition('/')[2] not in _BY_TOPIC:
            raise ValueError(f'the topic {self.topic!r} does not tell the message type; expected '
                             f'message: {" or ".join(_BY_TOPIC.values())}')
        return self

    def interface(self) -> str:
        """Return the interface type."""
        return _BY_TOPIC[self.topic.rpartition('/')[2]] if self.message == 'auto' \
            else self.message

    def intent(self, context: StimulusContext) -> PersonAt:
        """Return that a person appears, and walks."""
        return PersonAt(distance=self.distance, bearing=self.bearing, speed=self.speed,
                        nearest=self.nearest, count=self.count, radius=self.radius,
                        walks=self.walks, figure=self.figure)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the person's place after ``elapsed_ns``."""
        walked = self.speed * elapsed_ns / 1e9
        distance = max(self.distance - walked, min(self.nearest, self.distance))
        interface = self.interface()
        message = _scan(self.frame, self.rate_hz, distance, self.bearing, self.count,
                        self.radius) \
            if interface == 'sensor_msgs/msg/LaserScan' else Message.model_construct(
                type=interface, data={'header': {'frame_id': self.frame}, 'pose': {
                    'position': {'x': distance * math.cos(self.bearing),
                                 'y': distance * math.sin(self.bearing), 'z': 0.0},
                    'orientation': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}}})
        return Stimulus(self.topic, message, truth=(('distance', distance),))


@lru_cache(maxsize=64)
def _scan(frame: str, rate_hz: float, distance: float, bearing: float, count: int,
          radius: float) -> Message:
    """Return the scan; that of people who stand still is the same message each time."""
    apart = 2 * math.asin(min(1.0, _ABREAST_M / (2 * distance)))
    people = [cylinder(distance, bearing + index * apart, radius) for index in range(count)]
    return Message.model_construct(type=_BY_TOPIC['scan'],
                                   data=laser_scan(frame, rate_hz, people))
