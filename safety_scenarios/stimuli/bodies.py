# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""People, obstacles, vehicles and contacts: what stands in the way of a robot or touches it."""

from collections.abc import Mapping, Sequence
import math
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator
from safety_scenarios.scenario.frames import ALL_AROUND, ScannerField
from safety_scenarios.scenario.interfaces import Cylinder, Face, RANGE_MAX
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import (
    BodyIntent,
    ContactForce,
    LASER_SCAN,
    Stimulus,
    StimulusContext,
    StimulusPlugin,
)
from safety_scenarios.scenario.world_body import (
    ADULT_M,
    Body,
    Colour,
    Fall,
    FALL_S,
    FALLEN,
    Figure,
    GREY,
    Motion,
    PANE,
    Placed,
    Solid,
    Walk,
)

_DEPTH = 0.4
"""Of a box of which only the face is known (m)."""


class ObstacleAt(BodyIntent):
    """A box appears across or beside the path."""

    short: ClassVar[tuple[str, ...]] = ('height', 'is_glass')
    kind: Literal['obstacle_at'] = 'obstacle_at'
    distance: float
    """From the robot's origin to the face of the box, along the path (m)."""
    lateral: float
    """Middle of the box to the left of the path (m)."""
    width: float
    """Width of its face (m)."""
    closing_speed: float
    """How fast the gap closes for a robot that drives on as it did (m/s): of a box that stands
    still that is the robot's own speed, which a world has already."""
    nearest: float
    """Gap at which it stops closing (m)."""
    height: float = 1.0
    """Of the box above the floor (m): a scanner sees nothing that is lower than its plane."""
    is_glass: bool = False
    """Whether a scanner sees it only where a beam meets it squarely."""

    def bodies(self) -> Sequence[Body]:
        """Return the box, which nothing pushes away."""
        return [Body(Solid('box', _DEPTH, self.width, self.height), self.distance + _DEPTH / 2,
                     self.lateral, label='box', colour=PANE if self.is_glass else GREY,
                     is_glass=self.is_glass, to_face=True)]

    @property
    def approach(self) -> tuple[float, float]:
        """Return how fast the gap closes without a world (m/s), and where that ends (m)."""
        return self.closing_speed, self.nearest

    def scanned(self, distance: float) -> tuple[Face, ...]:
        return (Face(distance, self.lateral - self.width / 2, self.lateral + self.width / 2),)


class Obstacle(StimulusPlugin):
    """
    A flat-faced box ahead; the truth it reports is ``distance`` (m) to its face along the path.

    ``speed`` is the rate at which the gap closes: the robot's own, for a box that stands still.
    With ``ros.separation`` leave it out then: the way that was commanded is taken off already.
    """

    kind: Literal['obstacle'] = 'obstacle'
    distance: float = Field(gt=0, le=RANGE_MAX, json_schema_extra={'unit': 'm'})
    """Distance ahead of the robot's origin at the start (m)."""
    lateral: float = Field(default=0.0, ge=-RANGE_MAX, le=RANGE_MAX,
                           json_schema_extra={'unit': 'm'})
    """Middle of the box to the left of the path (m)."""
    width: float = Field(default=0.6, gt=0, le=RANGE_MAX, json_schema_extra={'unit': 'm'})
    """Width of its face (m)."""
    speed: float = Field(default=0.0, ge=0, le=10, json_schema_extra={'unit': 'm/s'})
    """Closing speed (m/s)."""
    nearest: float = Field(default=0.5, gt=0, json_schema_extra={'unit': 'm'})
    """Gap at which it stops closing (m)."""
    height: float = Field(default=1.0, gt=0, le=10, json_schema_extra={'unit': 'm'})
    """In a world: of the box above the floor (m); a scanner does not see what is below its plane.
    Without a world it is as high as it needs to be."""
    glass: bool = False
    """In a world: a scanner sees it only where a beam meets it squarely; else it is opaque."""
    scanner: ScannerField = ALL_AROUND
    """The scanner that shows it: the name of a layout, or its numbers; the same in every stimulus
    on a topic. A world has this one, too."""
    frame: str = 'base_link'
    """Frame of the scan (REP 105)."""

    def interface(self) -> str:
        return LASER_SCAN

    @property
    def is_constant(self) -> bool:
        """Whether the gap to the box stays; a subclass may move it otherwise."""
        return not self.speed and type(self) is Obstacle

    def intent(self, context: StimulusContext) -> ObstacleAt:
        return ObstacleAt.model_construct(
            distance=self.distance, lateral=self.lateral, width=self.width,
            closing_speed=self.speed, nearest=self.nearest, height=self.height,
            is_glass=self.glass)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the scan after ``elapsed_ns``."""
        return self.intent(context).show(self.topic, LASER_SCAN, self.frame, self.rate_hz,
                                         elapsed_ns, self.scanner)


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
        return tuple(Cylinder(distance, bearing, self.radius)
                     for bearing in self._bearings(distance))

    def tracked(self, distance: float) -> tuple[float, float]:
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
    def _check_type(self) -> 'Person':
        if self.message == 'auto' and self.topic.rpartition('/')[2] not in _BY_TOPIC:
            raise ValueError(f'the topic {self.topic!r} does not name the message type; expected '
                             f'message: {" or ".join(_BY_TOPIC.values())}')
        return self

    def interface(self) -> str:
        return _BY_TOPIC[self.topic.rpartition('/')[2]] if self.message == 'auto' \
            else self.message

    @property
    def is_constant(self) -> bool:
        """Whether the person stands, as far as messages show; a subclass may move it otherwise."""
        return not self.speed and type(self) is Person

    def intent(self, context: StimulusContext) -> PersonAt:
        return PersonAt.model_construct(
            distance=self.distance, bearing=self.bearing, speed=self.speed, nearest=self.nearest,
            count=self.count, radius=self.radius, walks=self.walks, figure=self.figure)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        """Return the person's place after ``elapsed_ns``."""
        return self.intent(context).show(self.topic, self.interface(), self.frame, self.rate_hz,
                                         elapsed_ns, self.scanner)


_ABOVE = 0.02
"""Of its body above the floor (m)."""
_COLOUR: Colour = (0.8, 0.47, 0.65, 1.0)


class VehicleAt(BodyIntent):
    """Another robot appears, round and as heavy as it says, and drives its own way."""

    kind: Literal['vehicle_at'] = 'vehicle_at'
    distance: float
    """From the robot's origin to the middle of the other (m)."""
    bearing: float
    """Direction, 0 ahead, positive to the left (rad)."""
    radius: float
    """Of its footprint (m)."""
    height: float
    """Of its body above the floor (m)."""
    mass: float
    """kg."""
    drives: Walk | None = None
    """None: it stands."""

    def bodies(self) -> Sequence[Body]:
        """Return an upright cylinder."""
        solid = Solid('cylinder', 2 * self.radius, 2 * self.radius,
                      max(self.height - _ABOVE, _ABOVE), _ABOVE)
        return [Body(solid, self.distance * math.cos(self.bearing),
                     self.distance * math.sin(self.bearing), Motion(walk=self.drives), 'robot',
                     label='vehicle', colour=_COLOUR, mass=self.mass)]

    @property
    def approach(self) -> tuple[float, float]:
        return 0.0, self.distance

    def scanned(self, distance: float) -> tuple[Cylinder, ...]:
        return (Cylinder(distance, self.bearing, self.radius),)


class Vehicle(StimulusPlugin):
    """
    Another round robot; the truth it reports is ``distance`` (m) to its middle.

    Where it drives is for worlds. Without one it stands where it appeared.
    """

    kind: Literal['vehicle'] = 'vehicle'
    distance: float = Field(gt=0, le=RANGE_MAX, json_schema_extra={'unit': 'm'})
    """Distance at the start, from the robot's origin to its middle (m)."""
    bearing: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra={'unit': 'rad'})
    """Direction, 0 ahead, positive to the left (rad, REP 103)."""
    radius: float = Field(default=0.3, ge=0.05, le=2, json_schema_extra={'unit': 'm'})
    """Of its footprint (m)."""
    height: float = Field(default=0.35, gt=0, le=5, json_schema_extra={'unit': 'm'})
    """Of its body above the floor (m)."""
    mass: float = Field(default=60.0, gt=0, le=10_000, json_schema_extra={'unit': 'kg'})
    """How heavy it is (kg)."""
    drives: Walk | None = None
    """In a world: its way; left out: it stands."""
    scanner: ScannerField = ALL_AROUND
    """The scanner that shows it: the name of a layout, or its numbers; the same in every stimulus
    on a topic. A world has this one, too."""
    frame: str = 'base_link'
    """Frame of the scan (REP 105)."""

    def interface(self) -> str:
        return LASER_SCAN

    @property
    def is_constant(self) -> bool:
        """Whether it stands, as far as messages show; a subclass may move it."""
        return type(self) is Vehicle

    def intent(self, context: StimulusContext) -> VehicleAt:
        return VehicleAt.model_construct(
            distance=self.distance, bearing=self.bearing, radius=self.radius, height=self.height,
            mass=self.mass, drives=self.drives)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        return self.intent(context).show(self.topic, LASER_SCAN, self.frame, self.rate_hz,
                                         elapsed_ns, self.scanner)


class Contact(StimulusPlugin):
    """
    A constant contact force; the truth it reports is the size of ``force`` (N).

    A topic named ``contact`` carries std_msgs/msg/Bool (whether there is a force), any other
    geometry_msgs/msg/WrenchStamped. The force has any direction in ``frame``; a sensor reads no
    axis beyond its ``saturation``.
    """

    kind: Literal['contact'] = 'contact'
    force: float = Field(ge=-10_000, le=10_000, json_schema_extra={'unit': 'N'})
    """How hard it pushes; negative: the other way (N)."""
    azimuth: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra={'unit': 'rad'})
    """Direction of the force about z of ``frame``, 0 along x (rad)."""
    elevation: float = Field(default=0.0, ge=-math.pi / 2, le=math.pi / 2,
                             json_schema_extra={'unit': 'rad'})
    """Its angle above the plane of x and y of ``frame`` (rad)."""
    saturation: float | None = Field(default=None, gt=0, json_schema_extra={'unit': 'N'})
    """The most that the sensor reads along each axis, to either side (N); left out: anything."""
    frame: str = 'tool0'
    """Frame of the wrench."""

    def interface(self) -> str:
        return 'std_msgs/msg/Bool' if self.topic.rpartition('/')[2] == 'contact' \
            else 'geometry_msgs/msg/WrenchStamped'

    def intent(self, context: StimulusContext) -> ContactForce:
        """Return that something pushes."""
        return ContactForce(force=self.force, frame=self.frame, azimuth=self.azimuth,
                            elevation=self.elevation)

    def read(self, force: Sequence[float]) -> Mapping[str, float]:
        """Return what the sensor reads of a force along x, y and z (N)."""
        most = math.inf if self.saturation is None else self.saturation
        return {axis: max(-most, min(most, value))
                for axis, value in zip('xyz', force, strict=True)}

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus:
        interface = self.interface()
        data: dict[str, Any] = {'data': self.force != 0} if interface.endswith('Bool') else {
            'header': {'frame_id': self.frame},
            'wrench': {'force': self.read(self.intent(context).vector),
                       'torque': {'x': 0.0, 'y': 0.0, 'z': 0.0}}}
        return Stimulus(self.topic, Message.model_construct(type=interface, data=data),
                        truth=(('force', abs(self.force)),))
