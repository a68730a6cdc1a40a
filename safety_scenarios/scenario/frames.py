# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where frames and laser scanners are on a robot, and how a scanner lays out its rays."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
import math
from typing import Annotated, Any, Literal

import numpy
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, model_validator, ValidationError
from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.world import BASE, FRAME_NAME, MountedFrame

_RAYS = 360
"""One a degree."""
_ROUND = 2 * math.pi
_MARGIN = 1e-3
"""Numbers in files are rounded (rad)."""
Floats = NDArray[numpy.float64]


class Scanner(Noun):
    """
    A planar laser scanner, by the fields of its sensor_msgs/msg/LaserScan.

    By default it has one ray a degree all around, the first straight back, and is at the origin
    of the robot.
    """

    rays: int = Field(default=_RAYS, ge=24, le=4000)
    """How many ranges a scan has."""
    angle_min: float = Field(default=-math.pi, ge=-_ROUND, le=_ROUND,
                             json_schema_extra={'unit': 'rad'})
    """Direction of the first ray in the frame of the scanner, 0 ahead, positive to the left (rad).
    """
    angle_increment: float = Field(default=_ROUND / _RAYS, ge=-0.5, le=0.5,
                                   json_schema_extra={'unit': 'rad'})
    """From ray to ray, to the left; below 0 the scanner turns clockwise (rad)."""
    frame: str = Field(default='', max_length=200, pattern=f'{FRAME_NAME}|^$')
    """Frame of its messages; empty: that of the stimulus, at the origin of the robot."""
    x: float = Field(default=0.0, ge=-5, le=5, json_schema_extra={'unit': 'm'})
    """Ahead of the robot's origin (m)."""
    y: float = Field(default=0.0, ge=-5, le=5, json_schema_extra={'unit': 'm'})
    """To its left (m)."""
    yaw: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra={'unit': 'rad'})
    """Where the 0 of its frame looks; pi: it is mounted backwards (rad)."""

    @model_validator(mode='after')
    def _can_be(self) -> 'Scanner':
        if not abs(self.angle_increment) > 0:
            raise ValueError('angle_increment: got 0, expected the angle from ray to ray')
        if abs(self.angle_increment) * self.rays > _ROUND + _MARGIN:
            raise ValueError(f'got {self.rays} rays, {abs(self.angle_increment):g} rad apart, '
                             f'expected no more than one turn')
        if (self.x or self.y or self.yaw) and self.frame in ('', BASE):
            raise ValueError('got a place on the robot without a frame of its own, expected '
                             'frame: controllers read from it where the scanner is')
        return self

    @property
    def angle_max(self) -> float:
        """Return the direction of the last ray (rad)."""
        return self.angle_min + (self.rays - 1) * self.angle_increment

    @property
    def angles(self) -> Floats:
        """Return the direction of each ray in its frame (rad)."""
        return numpy.asarray(self.angle_min + numpy.arange(self.rays) * self.angle_increment)

    @property
    def in_base(self) -> 'Scanner':
        """Return one with rays in the same directions that is at the robot's origin."""
        if self.mounted is None:
            return self
        first = math.remainder(self.angle_min + self.yaw, _ROUND)
        return Scanner(rays=self.rays, angle_min=first, angle_increment=self.angle_increment)

    def at(self, place: MountedFrame) -> 'Scanner':
        """Return one with rays in the same directions that is at another place of the robot."""
        yaw = math.remainder(place.rotation[2], _ROUND)
        first = math.remainder(self.in_base.angle_min - yaw, _ROUND)
        return Scanner(rays=self.rays, angle_min=first, angle_increment=self.angle_increment,
                       frame=place.frame, x=place.translation[0], y=place.translation[1], yaw=yaw)

    @property
    def mounted(self) -> MountedFrame | None:
        """Return where its frame is on the robot; None: it has none of its own."""
        if self.frame in ('', BASE):
            return None
        return MountedFrame(frame=self.frame, translation=(self.x, self.y, 0.0),
                            rotation=(0.0, 0.0, self.yaw))


@dataclass(frozen=True)
class RobotScanner:
    """What is known of a scanner on a robot, whatever a scenario says of it."""

    place: MountedFrame | None = None
    """Where it is; None: at the origin, in the frame of the robot itself."""
    layout: Scanner | None = None
    """How its rays are laid out in its own frame; None: that is left to the scenario."""

    def instead_of(self, scanner: Scanner) -> Scanner:
        """Return the scanner of a scenario as it is on the robot."""
        if self.layout is not None:
            place = self.place
            return self.layout if place is None else self.layout.model_copy(update={
                'frame': place.frame, 'x': place.translation[0], 'y': place.translation[1],
                'yaw': place.rotation[2]})
        return scanner.in_base if self.place is None else scanner.at(self.place)


@dataclass(frozen=True)
class Rays:
    """The rays of a scanner, as seen from the robot's origin."""

    x: float
    y: float
    """Where they begin (m)."""
    cos: Floats
    sin: Floats
    """Of their directions in the robot's frame."""


@lru_cache(maxsize=64)
def rays_of(scanner: Scanner) -> Rays:
    """Return the rays of a scanner on its robot."""
    angles = scanner.angles + scanner.yaw if scanner.yaw else scanner.angles
    return Rays(scanner.x, scanner.y, numpy.cos(angles), numpy.sin(angles))


ALL_AROUND = Scanner()
Layout = Literal['all_around', 'from_ahead', 'clockwise', 'coarse', 'fine', 'backwards',
                 'turned_left', 'behind_bumper']
_OFF = 0.3
"""Of an increment: where the first ray is, so that no two rays mirror each other. What stands
across the path would else read the same twice, and what stands beside it never."""


def _scanner(rays: int, begin: float, *, turns: int = 1, **mount: Any) -> Scanner:
    increment = turns * _ROUND / rays
    return Scanner(rays=rays, angle_min=begin + _OFF * increment, angle_increment=increment,
                   **mount)


LAYOUTS: Mapping[str, Scanner] = {
    'all_around': _scanner(360, -math.pi),
    'from_ahead': _scanner(720, 0.0),
    'clockwise': _scanner(450, math.pi, turns=-1),
    'coarse': _scanner(240, -math.pi / 2),
    'fine': _scanner(1080, -math.pi),
    'backwards': _scanner(360, -math.pi, frame='laser_backwards', yaw=math.pi),
    'turned_left': _scanner(540, math.pi, turns=-1, frame='laser_left', yaw=math.pi / 2),
    'behind_bumper': _scanner(400, 0.0, frame='laser_front', x=0.15, yaw=-0.6),
}
"""Scanners as they are found on robots, by name; all of them look all around."""


def _named(value: Any) -> Any:
    if isinstance(value, str):
        if value not in LAYOUTS:
            raise ValueError(f'got {value!r}, expected one of {", ".join(LAYOUTS)}, or rays, '
                             f'angle_min and angle_increment')
        return LAYOUTS[value]
    return value


ScannerField = Annotated[Scanner, BeforeValidator(_named, json_schema_input_type=Scanner | Layout)]
"""A scanner in a file: its numbers, or the name of a layout."""


TF, STATIC = 'tf2_msgs/msg/TFMessage', '/tf_static'
"""Interface type and topic by which frames that do not move are told."""


def frames_message(frames: Iterable[MountedFrame], now_ns: int) -> Message:
    """Return the message that says where frames are on a robot."""
    seconds, nanoseconds = divmod(now_ns, 1_000_000_000)
    return Message(type=TF, data={'transforms': [{
        'header': {'frame_id': known.parent,
                   'stamp': {'sec': seconds, 'nanosec': nanoseconds}},
        'child_frame_id': known.frame,
        'transform': {'translation': dict(zip('xyz', known.translation, strict=True)),
                      'rotation': dict(zip('xyzw', known.quaternion, strict=True))}}
        for known in frames]})


def frames_in(message: Message) -> Iterator[MountedFrame]:
    """Yield what a TFMessage says, but for names that tf2 does not have."""
    for known in message.data['transforms']:
        place, turn = known['transform']['translation'], known['transform']['rotation']
        with suppress(ValidationError):
            yield MountedFrame(frame=known['child_frame_id'], parent=known['header']['frame_id'],
                               translation=(place['x'], place['y'], place['z']),
                               rotation=roll_pitch_yaw(turn['x'], turn['y'], turn['z'], turn['w']))


def roll_pitch_yaw(x: float, y: float, z: float, w: float) -> tuple[float, float, float]:
    """Return the angles about the fixed axes of a unit quaternion (rad)."""
    return (math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
            math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x)))),
            math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


_LEVEL_RAD = 0.05
"""A scanner that leans more sees a person elsewhere than from above."""


@dataclass(frozen=True, slots=True)
class Place:
    """A frame in another one: its origin (m), and by how much it is turned to the left (rad)."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def outward(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return a point of this frame, or an array of them, in the other one."""
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return self.x + cos * x - sin * y, self.y + sin * x + cos * y

    def inward(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return a point of the other frame, or an array of them, in this one."""
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        x, y = x - self.x, y - self.y
        return cos * x + sin * y, cos * y - sin * x


def place_in(frame: str, other: str, known: Iterable[MountedFrame]) -> Place:
    """
    Return where a frame is in another one.

    :param known: the first of a name counts
    :raises MeasurementError: nobody says where they are to each other, or one of them leans
    """
    if frame == other:
        return Place()
    parents: dict[str, MountedFrame] = {}
    for mounted in known:
        parents.setdefault(mounted.frame, mounted)
    own, others = _ancestors(frame, parents), _ancestors(other, parents)
    common = next((name for name in own if name in others), None)
    if common is None:
        raise MeasurementError(
            f'got a frame {frame!r} whose place in {other!r} is published nowhere, expected '
            f'it on /tf_static or under ros.frames. Publish it, or declare it there')
    of_frame, of_other = own[common], others[common]
    x, y = of_other.inward(of_frame.x, of_frame.y)
    return Place(x, y, of_frame.yaw - of_other.yaw)


def _ancestors(frame: str, parents: Mapping[str, MountedFrame]) -> dict[str, Place]:
    """Return each frame that carries this one, itself first, and where this one is in it."""
    found = {frame: Place()}
    name = frame
    while name in parents and parents[name].parent not in found:
        mounted = parents[name]
        roll, pitch, yaw = mounted.rotation
        if max(abs(math.remainder(angle, math.tau)) for angle in (roll, pitch)) > _LEVEL_RAD:
            raise MeasurementError(
                f'got a frame {name!r} with roll {roll:.2f} and pitch {pitch:.2f} rad in '
                f'{mounted.parent!r}, expected a level one: what is drawn would be elsewhere')
        here = found[name]
        step = Place(mounted.translation[0], mounted.translation[1], yaw)
        x, y = step.outward(here.x, here.y)
        name = mounted.parent
        found[name] = Place(x, y, here.yaw + yaw)
    return found
