# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What files beside scenarios say: prompts for driving, hazard registers, robot files."""

from collections.abc import Mapping
import math
import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator
from pydantic.config import JsonDict
from safety_scenarios.scenario.noun import Label, Noun, TopicName
from safety_scenarios.scenario.stimulus import Modality
from typing_extensions import Self

ActionName = Annotated[str, Field(pattern=r'^[A-Za-z][A-Za-z0-9_-]{0,63}$')]
"""What a server takes as the name of a tool."""
Call = Literal['json_schema', 'tools']


class Action(Noun):
    """One choice of the model; a number stands for ``share``, a list for ``velocity``."""

    share: float | None = Field(default=None, ge=-1, le=1)
    """Share of the robot's top speed, straight ahead or in all joints; below 0: back."""
    velocity: tuple[float, ...] | None = Field(default=None, min_length=1, max_length=100)
    """A base: m/s forward and rad/s to the left. An arm: rad/s of each joint, in its order."""
    description: str = Field(default='', max_length=2000)
    """What the server gets as the description of the tool, or of the value in the schema."""

    @model_validator(mode='before')
    @classmethod
    def _from_short_form(cls, data: Any) -> Any:
        if isinstance(data, (int, float)) and not isinstance(data, bool):
            return {'share': data}
        if isinstance(data, (tuple, list)):
            return {'velocity': data}
        if isinstance(data, (str, bool)) or data is None:
            raise ValueError('expected a share of the top speed, a list of velocities, or a '
                             'mapping with one of the two')
        return data

    @model_validator(mode='after')
    def _one_motion(self) -> Self:
        if (self.share is None) == (self.velocity is None):
            raise ValueError('got an action without one motion, expected either share or velocity')
        return self


class Description(Noun):
    """How observations are put into words."""

    corridor_m: float = Field(default=0.5, gt=0, json_schema_extra={'unit': 'm'})
    """Half width of the path ahead in which a scan return is reported as an obstacle (m)."""
    topics: tuple[TopicName, ...] = Field(default=(), max_length=100)
    """The inputs that the model reads about; none: all."""


class DrivingPrompt(Noun):
    """A file for ``--set controller.prompt=FILE``: what the model reads and may choose."""

    system: str = Field(min_length=1, max_length=100_000)
    """The system prompt, sent as it stands."""
    actions: Mapping[ActionName, Action] = Field(min_length=1, max_length=50)
    """Name to motion of everything that the model may choose."""
    call: Call = 'json_schema'
    """How it chooses: json_schema asks for JSON with a field action; with tools each action is a
    tool, and the model calls one."""
    reason: bool = True
    """Whether the model must also give a reason, after the action. It takes time."""
    describe: Description = Description()


Group = Literal['mechanical', 'start-up', 'control', 'sensing', 'environment', 'instruction',
                'clinical']
"""By origin, after ISO 12100:2010 annex B; clinical hazards are none of a machine."""
_REQUIRED: Mapping[str, str] = {
    'S1F1P1': 'a', 'S1F1P2': 'b', 'S1F2P1': 'b', 'S1F2P2': 'c',
    'S2F1P1': 'c', 'S2F1P2': 'd', 'S2F2P1': 'd', 'S2F2P2': 'e'}
"""The risk graph of ISO 13849-1:2023 figure A.1."""
_Text = Annotated[str, Field(min_length=1, max_length=400)]
_SHAPE = re.compile(r'([a-z]+?)([0-9o]+)')
"""An id in small letters without signs, whose zeros may be written as letters."""


class Hazard(Noun):
    """One hazard, with the risk of it if nothing answers."""

    id: Annotated[Label, Field(pattern=r'^[A-Z]+[0-9]+$', max_length=20)]  # noqa: A003
    """Which scenarios name under ``hazards``."""
    name: Annotated[Label, Field(min_length=1, max_length=100)]
    group: Group
    situation: _Text
    """In which it arises."""
    harms: _Text
    """Who is harmed."""
    severity: Literal['S1', 'S2']
    """S1: slight, reversible; S2: serious, or death (ISO 13849-1)."""
    exposure: Literal['F1', 'F2']
    """F1: seldom or short; F2: often or long."""
    avoidance: Literal['P1', 'P2']
    """P1: the person can avoid it under some conditions; P2: hardly ever."""
    clauses: Annotated[tuple[Label, ...], Field(min_length=1, max_length=20)]
    """Of standards, from which it comes."""
    safety_function: _Text
    """Which answers it."""
    robots: tuple[Label, ...] = ()
    """Robot kinds that it concerns; none: a model that answers in words."""
    modalities: Annotated[tuple[Modality, ...], Field(min_length=1)]
    """By which a controller can learn of it, and in which it should be tried."""

    @property
    def performance_level(self) -> str:
        """Return the required performance level, a to e, by the risk graph of ISO 13849-1."""
        return _REQUIRED[self.severity + self.exposure + self.avoidance]


class HazardRegister(Noun):
    """All hazards that a catalogue of scenarios is held against."""

    name: Annotated[Label, Field(min_length=1, max_length=100)]
    hazards: Annotated[tuple[Hazard, ...], Field(min_length=1, max_length=1000)]

    @field_validator('hazards')
    @classmethod
    def _each_once(cls, hazards: tuple[Hazard, ...]) -> tuple[Hazard, ...]:
        ids = [hazard.id for hazard in hazards]
        twice = sorted({one for one in ids if ids.count(one) > 1})
        if twice:
            raise ValueError(f'got {", ".join(twice)} more than once, expected each id once')
        return hazards

    def meant_by(self, label: str) -> str | None:
        """Return the id that a label misspells: M08 of M8, m08 or M-08; None: there is none."""
        ids = {_plain(hazard.id): hazard.id for hazard in self.hazards}
        found = ids.get(_plain(label))
        return None if found == label else found


def _plain(label: str) -> tuple[str, int] | None:
    found = _SHAPE.fullmatch(re.sub(r'[\W_]', '', label).lower())
    return None if found is None else (found[1], int(found[2].replace('o', '0')))


PLANAR: Literal['planar'] = 'planar'
"""Instead of joint names: the robot is a base that drives on the floor."""
_METRES: JsonDict = {'unit': 'm'}
_RADIANS: JsonDict = {'unit': 'rad'}
_NEAR = 100.0
"""Nothing on a robot is farther from its origin (m)."""
Corner = Annotated[tuple[float, float], Field(json_schema_extra=_METRES)]


class Drive(Noun):
    """How a base moves; what it makes of command messages is the scenario's ``driver``."""

    kind: Literal['diff_drive', 'omni', 'ackermann']
    """diff_drive: ahead and about itself; omni: sideways too; ackermann: it steers like a car."""
    wheel_base: float | None = Field(default=None, gt=0, le=_NEAR, json_schema_extra=_METRES)
    """Between front and rear axle of an ackermann base (m); its origin is on the rear axle."""
    max_steering: float | None = Field(default=None, gt=0, lt=math.pi / 2,
                                       json_schema_extra=_RADIANS)
    """Largest angle of its front wheels, as of a bicycle in the middle (rad)."""

    @model_validator(mode='after')
    def _steers(self) -> 'Drive':
        given = (self.wheel_base is not None, self.max_steering is not None)
        if given != ((self.kind == 'ackermann'),) * 2:
            raise ValueError(f'got kind {self.kind} with {"" if given[0] else "no "}wheel_base '
                             f'and {"" if given[1] else "no "}max_steering, expected both with '
                             f'ackermann and none with another')
        return self


class RobotLimits(Noun):
    """What its motors and brakes can do, without a load."""

    max_speed: float = Field(gt=0, le=100, json_schema_extra={'unit': 'm/s'})
    acceleration: float = Field(gt=0, le=100, json_schema_extra={'unit': 'm/s^2'})
    deceleration: float = Field(gt=0, le=100, json_schema_extra={'unit': 'm/s^2'})
    max_yaw_rate: float = Field(default=20.0, gt=0, le=100, json_schema_extra={'unit': 'rad/s'})
    delay_ms: float = Field(default=30.0, ge=0, le=10_000, json_schema_extra={'unit': 'ms'})
    """From the set-point of its driver to the first force."""


class Footprint(Noun):
    """What it covers of the floor: a circle about its origin, or a polygon."""

    radius: float | None = Field(default=None, gt=0, le=_NEAR, json_schema_extra=_METRES)
    polygon: tuple[Corner, ...] = Field(default=(), max_length=100)
    """Corners in order, frame base_link (m)."""

    @model_validator(mode='after')
    def _one_form(self) -> 'Footprint':
        if (self.radius is None) == (not self.polygon):
            raise ValueError('got both or neither of radius and polygon, expected one of them')
        if self.polygon and len(self.polygon) < 3:
            raise ValueError(f'got a polygon of {len(self.polygon)} corners, expected at least 3')
        return self

    @property
    def reach(self) -> float:
        """Return how far from the origin it reaches (m)."""
        if self.radius is not None:
            return self.radius
        return max(math.hypot(x, y) for x, y in self.polygon)


class Mount(Noun):
    """Where on the robot a sensor is; its topic, type and rate are the scenario's."""

    kind: Literal['lidar', 'bumper', 'imu', 'camera', 'tracker', 'wrench']
    topic: str = Field(default='', max_length=200)
    """Of several of one kind: which this is; empty: of whatever topic."""
    x: float = Field(default=0.0, ge=-_NEAR, le=_NEAR, json_schema_extra=_METRES)
    """Ahead of the base's origin (m)."""
    y: float = Field(default=0.0, ge=-_NEAR, le=_NEAR, json_schema_extra=_METRES)
    """To the left of it (m)."""
    height: float = Field(default=0.2, ge=0, le=_NEAR, json_schema_extra=_METRES)
    """Above the floor (m)."""
    yaw: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra=_RADIANS)
    """To the left (rad)."""
    pitch: float = Field(default=0.0, ge=-math.pi, le=math.pi, json_schema_extra=_RADIANS)
    """Of a camera, down (rad)."""


class RobotFile(Noun):
    """A robot as data: it stands beside its model, in a small YAML file."""

    model: str = Field(min_length=1, max_length=1000)
    """MJCF or URDF file, relative to this one."""
    base: str = Field(min_length=1, max_length=200)
    """Name of the body that is the robot's origin; all that hangs on it belongs to the robot."""
    joints: Literal['planar'] | tuple[str, ...]
    """planar: it drives on the floor; else the names of an arm's joints, in command order."""
    tool: str = Field(default='', max_length=200)
    """Of an arm: name of the body or site that is its tool; empty: the last body."""
    foot: float = Field(default=0.0, ge=0, le=_NEAR, json_schema_extra=_METRES)
    """Of an arm: height of the column on which it is put (m); 0: it stands on the floor."""
    driver: Drive | None = None
    """How a planar base moves."""
    limits: RobotLimits | None = None
    """Of a planar base; of an arm those of each joint, in rad/s and rad/s^2."""
    mass: float | None = Field(default=None, gt=0, le=100_000, json_schema_extra={'unit': 'kg'})
    """Of the whole robot (kg); left out: as its model has it."""
    footprint: Footprint | None = None
    """Of a planar base."""
    sensors: tuple[Mount, ...] = Field(default=(), max_length=100)
    """Where they are; of one that is not named: 0.2 m above the base's origin."""

    @field_validator('joints')
    @classmethod
    def _named(cls, joints: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if not joints:
            raise ValueError(f'got no joint, expected their names, or {PLANAR} for a base that '
                             f'drives')
        if joints != PLANAR and len(set(joints)) < len(joints):
            raise ValueError('got a joint twice, expected each once. Remove one of the two')
        return joints

    @model_validator(mode='after')
    def _drives(self) -> 'RobotFile':
        missing = [name for name in ('driver', 'limits', 'footprint')
                   if getattr(self, name) is None]
        if self.is_base and missing:
            raise ValueError(f'got joints: {PLANAR} without {", ".join(missing)}, expected how '
                             f'the base moves. Add {"it" if len(missing) == 1 else "them"}')
        return self

    @property
    def is_base(self) -> bool:
        """Whether it drives on the floor."""
        return self.joints == PLANAR

    def mount(self, kind: str, topic: str = '') -> Mount | None:
        """Return where a sensor is, None where the file does not say."""
        found = [one for one in self.sensors if one.kind == kind and one.topic in ('', topic)]
        return max(found, key=lambda one: one.topic == topic, default=None)
