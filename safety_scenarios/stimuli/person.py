# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One or more people near the robot, seen by a laser scanner or by a person tracker."""

from collections.abc import Sequence
import math
from typing import ClassVar, Literal

from pydantic import Field, model_validator
from safety_scenarios.scenario.body_intent import BodyIntent
from safety_scenarios.scenario.interfaces import Cylinder, RANGE_MAX
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext, StimulusPlugin
from safety_scenarios.scenario.world.body import Body, Colour, Fall, Solid
from safety_scenarios.scenario.world.footprint import Placed
from safety_scenarios.scenario.world.motion import ADULT_M, FALL_S, FALLEN, Figure, Motion, Walk
from safety_scenarios.scenario.world.scanner import ALL_AROUND, ScannerField

_BY_TOPIC = {'scan': 'sensor_msgs/msg/LaserScan', 'human_pose': 'geometry_msgs/msg/PoseStamped'}
_LEG_RADIUS_M = 0.25
"""Both legs of a standing person, seen by a scanner near the floor."""
_ABREAST_M = 0.7
"""Between two people who stand side by side."""
_THICK, _WIDE = 0.3 / ADULT_M, 0.5 / ADULT_M
"""Of who lies on the side: along the floor and above it (shares of the height)."""
_CLOTHES: dict[str, Colour] = {
    'plain': (0.84, 0.37, 0.0, 1.0), 'high_visibility': (0.8, 1.0, 0.0, 1.0),
    'dark': (0.1, 0.1, 0.12, 1.0)}


class PersonAt(BodyIntent):
    """A person appears, and stands or walks toward the robot."""

    short: ClassVar[tuple[str, ...]] = ('walks', 'figure')
    kind: Literal['person_at'] = 'person_at'
    distance: float
    """From the robot's origin to the person's centre (m)."""
    bearing: float
    """Direction, 0 ahead, positive to the left (rad)."""
    speed: float
    """Speed of the person toward the robot; below 0: away from it (m/s)."""
    nearest: float
    """Distance at which a walking person comes to rest (m)."""
    count: int = 1
    """How many people: the first in that direction, each other beside the one before, farther
    left and as far away."""
    radius: float = _LEG_RADIUS_M
    """How wide a person is for a scanner (m)."""
    walks: Walk | None = None
    """Where the person goes instead of toward the robot."""
    figure: Figure = Figure()

    def bodies(self) -> Sequence[Body]:
        """Return each person: an upright cylinder, or a box that lies."""
        figure = self.figure
        solid = Solid('cylinder', 2 * self.radius, 2 * self.radius, figure.height)
        return [Body(
            solid, self.distance * math.cos(bearing), self.distance * math.sin(bearing),
            Motion(self.speed, self.nearest, self.walks), 'person',
            colour=_CLOTHES[figure.clothing], mass=figure.weighs, is_person=True,
            is_tracked=True, figure=figure, fall=_fall(figure),
            unfit='' if figure.reaches_at is None else
            'a person who reaches, expected one who stands, walks, falls or lies')
            for bearing in self._bearings(self.distance)]

    @property
    def approach(self) -> tuple[float, float]:
        """Return speed toward the robot (m/s), and where that walk ends (m)."""
        return self.speed, self.nearest

    def places(self, distance: float) -> Sequence[tuple[Body, Placed]]:
        """Return each person and where he or she is: all as far away, side by side."""
        return [(body, (distance * math.cos(bearing), distance * math.sin(bearing),
                        bearing + math.pi))
                for body, bearing in zip(self.bodies(), self._bearings(distance), strict=True)]

    def scanned(self, distance: float) -> tuple[Cylinder, ...]:
        """Return the legs of each."""
        return tuple(Cylinder(distance, bearing, self.radius)
                     for bearing in self._bearings(distance))

    def tracked(self, distance: float) -> tuple[float, float]:
        """Return where the first person is."""
        return distance * math.cos(self.bearing), distance * math.sin(self.bearing)

    def _bearings(self, distance: float) -> Sequence[float]:
        apart = 2 * math.asin(min(1.0, _ABREAST_M / (2 * distance)))
        return [self.bearing + index * apart for index in range(self.count)]


def _fall(figure: Figure) -> Fall | None:
    if figure.posture == 'stands':
        return None
    lying = Solid('box', _THICK * figure.height, figure.height, _WIDE * figure.height)
    return Fall(lying, None if figure.posture == 'lies' else figure.after_s + FALLEN * FALL_S)


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
    bearing: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra={'unit': 'rad'})
    """Direction, 0 ahead, positive to the left (rad, REP 103)."""
    speed: float = Field(default=0.0, ge=-10, le=10, json_schema_extra={'unit': 'm/s'})
    """Speed toward the robot; below 0: away from it (m/s)."""
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
    scanner: ScannerField = ALL_AROUND
    """The scanner that shows it: the name of a layout, or its numbers; the same in every stimulus
    on a topic. A world has this one, too."""
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
            raise ValueError(f'the topic {self.topic!r} does not name the message type; expected '
                             f'message: {" or ".join(_BY_TOPIC.values())}')
        return self

    def interface(self) -> str:
        """Return the interface type."""
        return _BY_TOPIC[self.topic.rpartition('/')[2]] if self.message == 'auto' \
            else self.message

    @property
    def is_constant(self) -> bool:
        """Whether the person stands, as far as messages show; a subclass may move it otherwise."""
        return not self.speed and type(self) is Person

    def intent(self, context: StimulusContext) -> PersonAt:
        """Return that a person appears, and walks."""
        return PersonAt.model_construct(
            distance=self.distance, bearing=self.bearing, speed=self.speed, nearest=self.nearest,
            count=self.count, radius=self.radius, walks=self.walks, figure=self.figure)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the person's place after ``elapsed_ns``."""
        return self.intent(context).show(self.topic, self.interface(), self.frame, self.rate_hz,
                                         elapsed_ns, self.scanner)
