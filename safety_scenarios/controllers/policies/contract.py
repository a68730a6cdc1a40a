# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The contract of a policy: which readings become which inputs, and what its outputs mean.

It belongs to the model, as the profile belongs to the robot: roles are named as scenarios name
them, and a profile says what a robot calls them.
"""

from collections.abc import Container, Iterator, Mapping
import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator
from safety_scenarios.errors import InputError
from safety_scenarios.formats.document.file_contents import read_noun
from safety_scenarios.scenario.fields import Explained
from safety_scenarios.scenario.interfaces import INPUTS
from safety_scenarios.scenario.message import parse_path
from safety_scenarios.scenario.message_types import refuse_unknown_number
from safety_scenarios.scenario.noun import Noun, PluginName, TopicName

ROLE_TYPES: Mapping[str, str] = {
    **INPUTS, 'scan_high': 'sensor_msgs/msg/LaserScan', 'image': 'sensor_msgs/msg/Image',
    'odom': 'nav_msgs/msg/Odometry'}
"""Interface type of a role, unless the contract says another."""
_UNITS = {'m': 1.0, 'cm': 0.01, 'mm': 0.001, 'rad': 1.0, 'deg': math.pi / 180, 'm/s': 1.0,
          'cm/s': 0.01, 'mm/s': 0.001, 'km/h': 1 / 3.6, 'rad/s': 1.0, 'deg/s': math.pi / 180,
          's': 1.0, 'ms': 0.001, 'N': 1.0, 'N.m': 1.0}
Unit = Literal['', 'm', 'cm', 'mm', 'rad', 'deg', 'm/s', 'cm/s', 'mm/s', 'km/h', 'rad/s', 'deg/s',
               's', 'ms', 'N', 'N.m']
_MEANS = {'velocity': ('m/s', 'cm/s', 'mm/s', 'km/h'), 'joint_velocity': ('rad/s', 'deg/s'),
          'joint_position': ('rad', 'deg'), 'joint_delta': ('rad', 'deg')}
"""Quantity of an output to the units that it may have."""
_LENGTHS, _SPEEDS = ('m', 'cm', 'mm'), ('m/s', 'cm/s', 'mm/s', 'km/h')
_PART_UNITS = {'rays': _LENGTHS, 'age': ('s', 'ms'), 'size': (), 'effort': ('N', 'N.m'),
               'position': ('rad', 'deg', *_LENGTHS), 'velocity': ('rad/s', 'deg/s', *_SPEEDS)}
"""What a part reads to its units; joints may turn or slide."""
_FIELD_UNITS = {'position.': _LENGTHS, 'linear.': _SPEEDS, 'angular.': ('rad/s', 'deg/s'),
                'force.': ('N',), 'torque.': ('N.m',), 'orientation.': (), 'ranges[': _LENGTHS}
"""What is in the path of a field to its units."""
_RANGES = {'float16': (-65504.0, 65504.0), 'float32': (-3.4e38, 3.4e38),
           'float64': (-1.7e308, 1.7e308), 'uint8': (0.0, 255.0),
           'int32': (-2.0 ** 31, 2.0 ** 31 - 1), 'int64': (-2.0 ** 63, 2.0 ** 63 - 1024)}
"""Type to its least and greatest number."""
DTYPES = tuple(_RANGES)
"""Types of numbers that a contract can give to a model."""
_KINDS = {'velocity': 'mobile_base', 'joint_velocity': 'arm', 'joint_position': 'arm',
          'joint_delta': 'arm'}
_USUAL = 'policy.yaml'
"""Name of a contract that is not called like its model."""
_MODELS = ('.onnx', '.pt', '.pth', '.ts', '.torchscript')
"""Endings of files of models."""
_LEAST_RANGE_M = 0.1
"""No scanner ends nearer."""
Numbers = float | tuple[float, ...]
_ROUNDED_RAD = 1e-3
"""By so much 2 pi may be off as it is written in a file."""
_MOST_NUMBERS = 100_000_000
"""In one input or state; more is a mistake, and no memory holds a trial of it."""


def _as_tuples(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_as_tuples(one) for one in value)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 2 ** 1023 else value


Listed = Annotated[Numbers, BeforeValidator(_as_tuples)]
Pair = Annotated[tuple[float, float], BeforeValidator(_as_tuples)]
Whole = Annotated[tuple[int, ...], BeforeValidator(
    lambda value: tuple(value) if isinstance(value, list) else value)]
Texts = Annotated[tuple[str, ...], BeforeValidator(
    lambda value: tuple(value) if isinstance(value, list) else value)]


class InputPart(Noun):
    """Numbers of one reading; the parts of an input stand one behind the other in a vector."""

    role: TopicName
    """Topic as scenarios name it, such as scan, human_pose, odom or joint_states."""
    type: str = Field(default='', pattern=r'^([A-Za-z]\w*/msg/[A-Za-z]\w*)?$')  # noqa: A003
    """Interface type; needed for a role that is not one of the usual."""
    fields: Texts = ()
    """Numbers of the message by their paths, such as pose.position.x, in this order."""
    rays: int = Field(default=0, ge=0, le=10_000)
    """Of a LaserScan: the nearest return in each of so many equal sectors (m), seen from the
    robot's origin. A sector without a return reads the upper value of clip, which is needed."""
    sector: Pair = (-math.pi, math.pi)
    """First and last bearing of the rays (rad), 0 ahead, positive to the left. The default begins
    behind the robot, and goes on counter-clockwise."""
    joints: Literal['', 'position', 'velocity', 'effort'] = ''
    """Of a JointState: this quantity of each joint of the robot, in its order."""
    age: bool = False
    """The time since the reading was received (s)."""
    size: Whole = Field(default=(), max_length=2)
    """Of an Image: height and width in pixels to which it is scaled."""
    channels: Literal['rgb', 'bgr', 'mono'] = 'rgb'
    """Of an Image: order of its colours."""
    layout: Literal['hwc', 'chw'] = 'chw'
    """Of an Image: order of its dimensions."""
    unit: Unit = ''
    """Unit that the model expects; empty: SI."""
    frame: Literal['', 'base_link'] = ''
    """base_link: fields x, y of a position are turned and moved from the frame of the message's
    header into that of the robot."""
    clip: Pair | None = None
    """Least and greatest value, in the model's unit; what is outside becomes the nearer one."""
    mean: Listed = 0.0
    """Subtracted after that: one number, or one for each value (an image: for each channel)."""
    std: Listed = 1.0
    """Then divided by this; the same."""
    missing: Listed | None = None
    """Value, in the model's unit, as long as no reading has come; left out: the model is not asked
    then, and on_missing counts. A stale reading is never replaced."""
    history: int = Field(default=1, ge=1, le=1000)
    """So many of the latest values at the policy's rate, the oldest first."""
    dtype: Literal['float16', 'float32', 'float64', 'uint8', 'int32', 'int64'] = 'float32'
    """Type of the numbers."""

    @field_validator('fields')
    @classmethod
    def _are_paths(cls, fields: tuple[str, ...]) -> tuple[str, ...]:
        for path in fields:
            parse_path(path)
        return fields

    @model_validator(mode='after')
    def _says_one_thing(self) -> 'InputPart':
        given = [name for name in ('fields', 'rays', 'joints', 'age', 'size')
                 if getattr(self, name)]
        if len(given) != 1:
            raise ValueError(f'got {" and ".join(given) or "nothing"} for {self.role}, expected '
                             f'one of fields, rays, joints, age, size')
        if self.size and (len(self.size) != 2 or min(self.size) < 1 or max(self.size) > 4096):
            raise ValueError(f'got size {list(self.size)}, expected height and width in pixels')
        if not self.interface:
            raise ValueError(f'got the role {self.role} without type, expected its interface '
                             f'type, such as std_msgs/msg/Float64')
        if self.rays and (self.clip is None or not self.interface.endswith('/LaserScan')):
            raise ValueError(f'got rays of {self.interface} with clip {self.clip}, expected a '
                             f'LaserScan, and clip with the least and the greatest range')
        if self.rays and not 0 < self.sector[1] - self.sector[0] <= 2 * math.pi + _ROUNDED_RAD:
            raise ValueError(f'got sector {list(self.sector)}, expected two bearings in rad, not '
                             f'degrees, the second after the first by at most 2 pi')
        if self.clip is not None and not self.clip[0] < self.clip[1]:
            raise ValueError(f'got clip {list(self.clip)}, expected the least value first')
        if self.rays and self.clip is not None and self.clip[1] * self.factor < _LEAST_RANGE_M:
            raise ValueError(f'got rays with clip up to {self.clip[1]:g} {self.unit or "m"}, so '
                             f'that all returns read alike, expected the greatest range in unit')
        if self.frame and ('x' not in self._axes or 'y' not in self._axes):
            raise ValueError(f'got frame {self.frame} with fields {list(self.fields)}, expected x '
                             f'and y of a position among them')
        if self.values * self.history > _MOST_NUMBERS:
            raise ValueError(f'got {self.values} numbers of {self.role} with history '
                             f'{self.history}, expected at most {_MOST_NUMBERS} in all. Reduce '
                             f'history or size')
        for name in ('mean', 'std', 'missing'):
            given_now = getattr(self, name)
            expected = len(self.channels.replace('mono', '1')) if self.size else self.values
            if isinstance(given_now, tuple) and expected and len(given_now) != expected:
                raise ValueError(f'got {len(given_now)} numbers as {name}, expected {expected}, '
                                 f'or one')
        return self

    @model_validator(mode='after')
    def _fits_its_message(self) -> 'InputPart':
        for path in (*self.fields, *([f'{self.joints}[0]'] if self.joints else ())):
            refuse_unknown_number(self.interface, path)
        fits = [self.unit in units for units in self._units if units is not None]
        if self.unit and fits and not (all(fits) or self.factor == 1.0 and any(fits)):
            raise ValueError(f'got unit {self.unit} for {self.role}, which is no unit of what it '
                             f'reads there. Leave it out, or correct it')
        return self

    @model_validator(mode='after')
    def _fits_its_type(self) -> 'InputPart':
        means, stds = numbers(self.mean), numbers(self.std)
        if min(stds) <= 0:
            raise ValueError(f'got std {min(stds):g}, expected a number > 0: values are divided '
                             f'by it')
        least, most = _RANGES[self.dtype]
        if self.dtype == 'uint8' and self.clip is None and not self.size:
            raise ValueError(f'got dtype uint8 without clip, expected clip with the least and the '
                             f'greatest value: uint8 has {least:g} to {most:g}')
        for place in range(max(len(means), len(stds))):
            mean, std = means[place % len(means)], stds[place % len(stds)]
            for value in self.clip or ((0.0, 255.0) if self.size else (-1.0, 1.0)):
                if not least <= (value - mean) / std <= most:
                    raise ValueError(f'got mean {mean:g} and std {std:g} with dtype {self.dtype}, '
                                     f'in which ({value:g} - mean) / std does not fit. Correct '
                                     f'clip, mean, std or dtype')
        return self

    @property
    def _units(self) -> list[tuple[str, ...] | None]:
        """Return which units each value may have; None: unknown."""
        if self.fields and not self.interface.endswith('/JointState'):
            return [next((units for name, units in _FIELD_UNITS.items() if name in path), None)
                    for path in self.fields]
        what = 'rays' if self.rays else 'age' if self.age else 'size' if self.size else self.joints
        return [_PART_UNITS.get(what)]

    @property
    def interface(self) -> str:
        """Return the interface type of its topic; empty: nothing says it."""
        return self.type or ROLE_TYPES.get(self.role, '')

    @property
    def values(self) -> int:
        """Return how many numbers one reading gives; 0: as many as the robot has joints."""
        if self.size:
            return self.size[0] * self.size[1] * (1 if self.channels == 'mono' else 3)
        return self.rays or len(self.fields) or int(self.age)

    @property
    def factor(self) -> float:
        """Return the size of its unit in SI."""
        return _UNITS.get(self.unit, 1.0)

    @property
    def _axes(self) -> set[str]:
        return {path.rpartition('.')[2] for path in self.fields}


class StateInput(Noun):
    """Recurrent state: an output of the model that it gets back with the next observation."""

    output: str = Field(min_length=1, max_length=200)
    """Name of the output."""
    shape: Whole = Field(min_length=1, max_length=16)
    """Its dimensions; zeros at the beginning."""

    @field_validator('shape')
    @classmethod
    def _has_numbers(cls, shape: tuple[int, ...]) -> tuple[int, ...]:
        if min(shape) < 1 or math.prod(shape) > _MOST_NUMBERS:
            raise ValueError(f'got shape {list(shape)}, expected dimensions of at least 1, and at '
                             f'most {_MOST_NUMBERS} numbers in all')
        return shape


def _as_parts(value: Any) -> Any:
    if isinstance(value, Mapping) and 'role' in value:
        return (value,)
    return tuple(value) if isinstance(value, list) else value


Parts = Annotated[tuple[InputPart, ...], Field(min_length=1), BeforeValidator(
    _as_parts, json_schema_input_type=InputPart | tuple[InputPart, ...])]


class ActionOutput(Noun):
    """The output of the model that is a chunk of actions: horizon x values, or one action."""

    quantity: Literal['velocity', 'joint_velocity', 'joint_position', 'joint_delta']
    """velocity: of a base, ahead and rate of turn; joint_velocity, joint_position, joint_delta: of
    each joint, in the robot's order; a delta is added to where the joint is."""
    columns: Whole = ()
    """Which values of an action these are, from 0; empty: all, in order. A base needs two, or one
    for a robot that does not turn."""
    unit: Unit = ''
    """Unit of the model's values: of a velocity that ahead, such as m/s; empty: SI. The rate of
    turn is in rad/s."""
    mean: Listed = 0.0
    """Added to the values after they were multiplied by std: one number, or one for each."""
    std: Listed = 1.0
    """The same, multiplied."""
    of_top_speed: bool = False
    """Values are shares of the robot's top speed; of a base the rate of turn is not."""
    clip: Pair | None = None
    """Least and greatest value after that, in the model's unit."""

    @model_validator(mode='after')
    def _fits(self) -> 'ActionOutput':
        if self.unit and self.unit not in _MEANS[self.quantity]:
            raise ValueError(f'got unit {self.unit} of a {self.quantity}, expected one of '
                             f'{", ".join(_MEANS[self.quantity])}')
        if self.of_top_speed and (self.unit or not self.quantity.endswith('velocity')):
            raise ValueError('got of_top_speed with a unit or for a position, expected a velocity '
                             'without unit')
        if min(numbers(self.std)) < 0 or not any(numbers(self.std)):
            raise ValueError(f'got std {min(numbers(self.std)):g}, expected a number > 0, and '
                             f'none < 0: values are multiplied by it')
        if self.clip is not None and not self.clip[0] < self.clip[1]:
            raise ValueError(f'got clip {list(self.clip)}, expected the least value first')
        if any(column < 0 for column in self.columns) or \
                len(set(self.columns)) != len(self.columns):
            raise ValueError(f'got columns {list(self.columns)}, expected each once, from 0 on')
        return self

    @property
    def kind(self) -> str:
        """Return the kind of robot that can execute it."""
        return _KINDS[self.quantity]

    @property
    def factor(self) -> float:
        """Return the size of its unit in SI."""
        return _UNITS.get(self.unit, 1.0)


Execution = Literal['synchronous', 'asynchronous']
Ensembling = Literal['latest_only', 'average', 'weighted_average', 'conservative', 'temporal',
                     'real_time_chunking']


class PolicyContract(Noun):
    """How a policy is connected to a robot: the content of ``policy.yaml``."""

    robot: Annotated[str, PluginName('robots')]
    """Kind of robot that the policy commands, such as mobile_base or arm."""
    joints: int = Field(default=0, ge=0, le=1000)
    """Of an arm: number of joints that the policy was made for; 0: any."""
    inputs: Mapping[str, Parts] = Field(min_length=1)
    """Name of an input of the model to what goes in: one part of a reading, or a list of them."""
    prompts: Mapping[str, Annotated[str, Field(min_length=1, max_length=10_000)]] = {}
    """Name of an input to the text that the model reads there with each observation."""
    states: Mapping[str, StateInput] = {}
    """Name of an input to the recurrent state that goes in."""
    outputs: Mapping[str, ActionOutput] = Field(min_length=1, max_length=1)
    """Name of the output of the model that is the action, and what it means."""
    server: Mapping[str, str | int | float | bool] = {}
    """What the server is told to load, where the protocol has it. LeRobot: policy_type,
    pretrained_name_or_path, actions_per_chunk, device."""
    rate_hz: float = Field(default=20.0, ge=0.01, le=1000, json_schema_extra={'unit': 'Hz'})
    """Rate at which actions of a chunk follow each other."""
    action_horizon: int = Field(default=0, ge=0, le=10_000)
    """Actions of each chunk that are used, and that it must have; 0: all that the model gives."""
    replan_interval: int = Field(default=0, ge=0, le=10_000)
    """Actions after which the model is asked again, with execution synchronous; 0: when the
    horizon is used up."""
    execution: Execution = 'synchronous'
    """synchronous: nothing is commanded while the model is asked; asynchronous: the rest of the
    last chunk is executed meanwhile, and of the new one what is not over."""
    queue_threshold: float = Field(default=0.5, ge=0, le=1)
    """With execution asynchronous: the model is asked again when this share of the horizon, or
    less, is left."""
    ensembling: Ensembling = 'latest_only'
    """What counts where chunks overlap: the newest; their average; weighted_average: 0.3 of the
    old and 0.7 of the new; conservative: 0.7 and 0.3; temporal: of all chunks, weights falling
    from the oldest on (0.01 a chunk); real_time_chunking: from the old chunk to the new one over
    execution_horizon."""
    execution_horizon: int = Field(default=10, ge=1, le=10_000)
    """Of real_time_chunking: actions over which the new chunk takes over."""
    stale_ms: float = Field(default=250.0, ge=0, le=600_000, json_schema_extra={'unit': 'ms'})
    """A reading counts as missing when it, or its header stamp, is older; 0: never."""
    on_missing: Literal['stop', 'hold', 'wait'] = 'stop'
    """While an input is missing: stop the robot; hold: repeat the last command; wait: publish
    nothing."""

    @model_validator(mode='after')
    def _is_consistent(self) -> 'PolicyContract':
        output = self.action
        if output.kind != self.robot:
            raise ValueError(f'outputs: got {output.quantity} for a robot of kind {self.robot}, '
                             f'expected robot: {output.kind}, or another quantity')
        twice = sorted({*self.inputs} & {*self.prompts} | {*self.inputs} & {*self.states}
                       | {*self.prompts} & {*self.states})
        if twice:
            raise ValueError(f'got {", ".join(twice)} more than once under inputs, prompts and '
                             f'states, expected each input once')
        types: dict[str, str] = {}
        for name, part in self.parts():
            first = types.setdefault(part.role, part.interface)
            if first != part.interface:
                raise ValueError(f'inputs.{name}: got {part.interface} for {part.role}, which is '
                                 f'{first} elsewhere, expected one type')
        for name, value in self.inputs.items():
            if len({part.dtype for part in value}) > 1:
                raise ValueError(f'inputs.{name}: got parts of several dtypes, expected one')
            if len(value) > 1 and any(part.size for part in value):
                raise ValueError(f'inputs.{name}: got an image beside others, expected it alone')
        return self

    @property
    def action_name(self) -> str:
        """Return the name of the output that is the action."""
        return next(iter(self.outputs))

    @property
    def action(self) -> ActionOutput:
        """Return what the action means."""
        return self.outputs[self.action_name]

    @property
    def topics(self) -> Mapping[str, str]:
        """Return role to interface type of everything that it reads."""
        return {part.role: part.interface for _, part in self.parts()}

    @property
    def period_ns(self) -> int:
        """Return the time between two actions."""
        return round(1e9 / self.rate_hz)

    def parts(self) -> Iterator[tuple[str, InputPart]]:
        """Yield each part of an input that reads a topic, with the name of the input."""
        for name, value in self.inputs.items():
            yield from ((name, part) for part in value)


def numbers(value: Numbers | None) -> tuple[float, ...]:
    """Return one number, or several, as several."""
    return () if value is None else value if isinstance(value, tuple) else (value,)


def wrong_lengths(values: InputPart | ActionOutput,
                  allowed: Container[int]) -> Iterator[tuple[str, int]]:
    """
    Yield the name and length of each list that has another length than there are values.

    :param allowed: numbers of values
    """
    for field in ('mean', 'std', 'missing'):
        given = getattr(values, field, None)
        if isinstance(given, tuple) and len(given) not in allowed:
            yield field, len(given)


def load_contract(path: str | Path) -> PolicyContract:
    """
    Read a contract.

    :raises InputError: it cannot be read, or every problem in it with its line and field
    """
    found, _ = read_noun(Path(path), PolicyContract, 'robot, inputs and outputs')
    return found


def contract_of(address: str) -> Path:
    """
    Return the file of the contract that belongs to a model.

    :param address: what stands behind the colon: a file, whose contract has the same name or is
        policy.yaml beside it, or a server or code, whose contract is policy.yaml in this folder
    :raises InputError: there is none
    """
    model = Path(address)
    own = model.with_suffix('.yaml') if model.name else Path(_USUAL)
    for path in (own, model.parent / _USUAL, Path(_USUAL)):
        if path.is_file():
            return path
    if model.is_file():
        raise InputError(f'controller: got {model} without a contract, expected {own}, which '
                         f'declares what its inputs and outputs mean. Write it by: '
                         f'safety-scenarios new policy {model}')
    if model.suffix in _MODELS:
        raise InputError(f'controller: got {address}, and there is no such file in {Path.cwd()}. '
                         f'Correct the path')
    raise InputError(f'controller: got {address} without a contract, expected {_USUAL} in '
                     f'{Path.cwd()}, which declares what its inputs and outputs mean. Or name it '
                     f'by --set controller.contract=FILE')


def contract_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a contract."""
    schema = PolicyContract.model_json_schema(schema_generator=Explained)
    return {'$schema': 'https://json-schema.org/draft/2020-12/schema', **schema,
            'title': 'safety_scenarios policy contract'}
