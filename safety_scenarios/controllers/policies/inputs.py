# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From an observation to the arrays that a model expects, as its contract says."""

from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
import math
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.policies.contract import InputPart, numbers, PolicyContract
from safety_scenarios.controllers.rule_based import mounted_at
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.frames import Place
from safety_scenarios.scenario.message import Message, Observation, Reading
from safety_scenarios.scenario.message_types import IMAGE_CHANNELS
from safety_scenarios.scenario.timing import MOST_NUMBERS, NORMALISED

Array = NDArray[Any]
_BLIND_SHARE = 0.5
"""With more than this share of its rays without a reading, a scanner shows too little."""
_MOST_PIXELS = 64_000_000
_GREY = numpy.array([0.299, 0.587, 0.114])
"""Weights of red, green and blue (ITU-R BT.601)."""


class MissingInput(Exception):
    """An input of the model has no usable reading: which, and why."""


class AbsentInput(MissingInput):
    """There is no reading, or no fresh one, whatever is in it."""


class PolicyInputs:
    """
    Makes the arrays of one model, one observation after the other.

    A reading that is stale, not finite, or of which a part is missing is not replaced by
    anything: only one that never came is, where the contract says by what.
    """

    def __init__(self, contract: PolicyContract, robot: RobotModel) -> None:
        self._contract, self._robot = contract, robot
        self._stale_ns = contract.stale_ms * 1e6
        self._parts = {name: tuple(_Part(part, robot) for part in parts)
                       for name, parts in contract.inputs.items()}
        self._remembers = any(part.history > 1 for _, part in contract.parts())
        self.missing = ''
        """Which input was missing the last time, and why; empty: none."""
        self.is_absent = False
        """Whether that was for want of a fresh reading, and not for what it holds."""

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of each array, without a dimension for a batch."""
        return {name: parts[0].shape if len(parts) == 1
                else (sum(part.size for part in parts),) for name, parts in self._parts.items()}

    def neutral(self) -> dict[str, Array]:
        """Return arrays of zeros, for a first question whose answer is not used."""
        return {name: numpy.zeros(shape, self._parts[name][0].part.dtype)
                for name, shape in self.shapes.items()}

    def look(self, observation: Observation) -> None:
        """Remember an observation for inputs with a history; call it once for each action."""
        if not self._remembers:
            return
        for parts in self._parts.values():
            for part in parts:
                try:
                    part.remember(self._values(part, observation))
                except MissingInput:
                    part.forget()

    def forget(self) -> None:
        """Begin every history anew."""
        for parts in self._parts.values():
            for part in parts:
                part.forget()

    def is_stale(self, observation: Observation) -> bool:
        """Return whether a reading that came is too old by now."""
        limit_ns = self._stale_ns
        return bool(limit_ns) and any(
            max(reading.age_ns, reading.stamp_age_ns or 0) > limit_ns
            for role in self._contract.topics
            if (reading := observation.readings.get(role)) is not None)

    def arrays(self, observation: Observation) -> dict[str, Array] | None:
        """Return the model's inputs by name; None, and ``missing`` says which: one is missing."""
        self.missing = ''
        try:
            return {name: self._array(parts, observation) for name, parts in self._parts.items()}
        except MissingInput as error:
            self.missing, self.is_absent = str(error), isinstance(error, AbsentInput)
            return None

    def in_few_numbers(self, arrays: Mapping[str, Array]) -> dict[str, tuple[float, ...]]:
        """Return what the model reads in each part of its inputs, in a few numbers."""
        found = {}
        for name, parts in self._parts.items():
            values, begin = arrays[name].ravel(), 0
            for one in parts:
                called = name if len(parts) == 1 else one.called
                if f'{called}{one.summary}' in found:  # a second part of one role
                    called += f' {begin + 1} to {begin + one.size}'
                found[f'{called}{one.summary}'] = one.in_few_numbers(
                    values[begin:begin + one.size])
                begin += one.size
        return found

    def _array(self, parts: 'Sequence[_Part]', observation: Observation) -> Array:
        found = [part.scaled(part.latest(self._values(part, observation))) for part in parts]
        return found[0] if len(found) == 1 else numpy.concatenate([one.ravel() for one in found])

    def _values(self, part: '_Part', observation: Observation) -> Array:
        """Return the values of a part in the model's unit, before they are normalised."""
        role = part.part.role
        reading = observation.readings.get(role)
        if reading is None:
            if part.part.missing is None:
                raise AbsentInput(f'{role}: no message yet')
            return part.replacement
        if part.part.age:
            return numpy.array([reading.age_ns * 1e-9]) / part.part.factor
        age_ns = max(reading.age_ns, reading.stamp_age_ns or 0)
        if self._stale_ns and age_ns > self._stale_ns:
            raise AbsentInput(f'{role}: its last message is older than stale_ms '
                              f'{self._contract.stale_ms:g}')
        try:
            return part.values(reading, observation)
        except LookupError as error:
            raise MissingInput(f'{role}: {error.args[0] if error.args else error}') from None


class _Part:
    """One part of an input for one robot, and its latest values."""

    def __init__(self, part: InputPart, robot: RobotModel) -> None:
        self.part = part
        self._joints = robot.joints
        count = len(self._joints) if part.joints else part.values
        self._count = count
        self._past: deque[Array] = deque(maxlen=part.history)
        self.replacement = numpy.broadcast_to(
            numpy.array(numbers(part.missing) or (0.0,)), (count,)).astype(float)
        self._mean, self._std = (numpy.array(numbers(one), numpy.float32 if part.size else float)
                                 for one in (part.mean, part.std))
        self._is_plain = not self._mean.any() and bool((self._std == 1.0).all())

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of its array."""
        part = self.part
        if not part.size:
            return (self._count * part.history,)
        channels = 1 if part.channels == 'mono' else 3
        one = (channels, *part.size) if part.layout == 'chw' else (*part.size, channels)
        return one if part.history == 1 else (part.history, *one)

    @property
    def size(self) -> int:
        """Return how many numbers its array has."""
        return math.prod(self.shape)

    @property
    def is_short(self) -> bool:
        """Return whether all of its values are few numbers."""
        return self.size <= MOST_NUMBERS

    @property
    def summary(self) -> str:
        """Return what its few numbers are: normalised, and of how many values which."""
        which = 'least' if self.part.rays else 'mean'
        return ('' if self._is_plain else NORMALISED) + (
            '' if self.is_short else f' ({which} of each eighth of {self.size} values)')

    @property
    def called(self) -> str:
        """Return how it is called beside others."""
        part = self.part
        return f'{part.role} age' if part.age else f'{part.role} {part.joints}'.rstrip()

    def in_few_numbers(self, values: Array) -> tuple[float, ...]:
        """Return its values; of many the least ranges, or the means, in equal parts of them."""
        if self.is_short:
            return tuple(values.astype(float).tolist())
        begins = numpy.arange(MOST_NUMBERS) * len(values) // MOST_NUMBERS
        if self.part.rays:
            return tuple(numpy.minimum.reduceat(values, begins).astype(float).tolist())
        counts = numpy.diff(numpy.append(begins, len(values)))
        return tuple((numpy.add.reduceat(values, begins, dtype=float) / counts).tolist())

    def remember(self, values: Array) -> None:
        """Take the values of now as the latest."""
        self._past.append(values)

    def forget(self) -> None:
        """Begin the history anew."""
        self._past.clear()

    def latest(self, values: Array) -> Array:
        """Return the latest values, the oldest first; what is too early repeats the oldest."""
        if self.part.history == 1:
            return values
        past = list(self._past) or [values]
        past = [past[0]] * (self.part.history - len(past)) + past
        return numpy.stack(past) if self.part.size else numpy.concatenate(past)

    def scaled(self, values: Array) -> Array:
        """Return values as the model expects them: clipped, normalised, in its type and shape."""
        part = self.part
        if part.clip is not None:
            values = numpy.clip(values, *part.clip)
        if not self._is_plain:
            mean, std = self._mean, self._std
            if part.history > 1 and not part.size:
                mean, std = (numpy.tile(one, part.history) if len(one) > 1 else one
                             for one in (mean, std))
            values = (values - mean) / std
        if part.size and part.layout == 'chw':
            values = numpy.moveaxis(values, -1, -3)
        if not part.dtype.startswith('float') and values.dtype.kind == 'f':
            values = numpy.rint(values)
        return numpy.ascontiguousarray(values, dtype=part.dtype)

    def values(self, reading: Reading, observation: Observation) -> Array:
        """
        Return what a reading says, in the model's unit.

        :raises MissingInput: it says nothing that can be used
        """
        part, message = self.part, reading.message
        if part.size:
            return _pixels(message, part)
        if part.rays:
            found = self._nearest(message, observation)
        elif part.joints:
            found = self._joint_values(message)
        else:
            found = self._field_values(message, observation)
        if not numpy.isfinite(found).all():
            raise MissingInput(f'{part.role}: got a number that is not finite')
        return found if part.factor == 1.0 else found / part.factor

    def _joint_values(self, message: Message) -> Array:
        known = dict(zip(message.at('name'), message.at(self.part.joints), strict=False))
        lacking = [joint for joint in self._joints if joint not in known]
        if lacking:
            raise MissingInput(f'{self.part.role}: got no {self.part.joints} of the joint '
                               f'{lacking[0]}')
        return numpy.array([known[joint] for joint in self._joints], dtype=float)

    def _field_values(self, message: Message, observation: Observation) -> Array:
        part, found = self.part, []
        for path in part.fields:
            value = message.at(path)
            if isinstance(value, (tuple, list, Mapping, str)):
                raise MissingInput(f'{part.role}: {path} is not one number')
            found.append(float(value))
        values = numpy.array(found)
        if part.frame:
            place = mounted_at(message, observation.frames)
            if place is None:
                raise MissingInput(f'{part.role}: the frame of its header leans, so that its '
                                   f'place on the robot is unknown')
            x, y = (next(index for index, path in enumerate(part.fields)
                         if path.rpartition('.')[2] == axis) for axis in 'xy')
            values[x], values[y] = place.outward(values[x], values[y])
        return values

    def _nearest(self, scan: Message, observation: Observation) -> Array:
        part = self.part
        assert part.clip is not None
        place = mounted_at(scan, observation.frames)
        if place is None:
            raise MissingInput(f'{part.role}: the scanner leans, so that its view is unknown')
        ranges = numpy.array(scan.at('ranges'), dtype=float)
        least = float(scan.at('range_min'))
        known = ~(numpy.isnan(ranges) | ((ranges < least) & numpy.isfinite(ranges)))
        if not len(ranges) or known.sum() < _BLIND_SHARE * len(ranges):
            raise MissingInput(f'{part.role}: the scanner is blind: {len(ranges) - known.sum()} '
                               f'of {len(ranges)} rays have no reading')
        ranges[ranges == -math.inf] = 0.0  # too near to be measured (REP 117)
        sectors = _sectors(float(scan.at('angle_min')), float(scan.at('angle_increment')),
                           len(ranges), part.rays, part.sector)
        cos, sin, fixed = sectors
        far = part.clip[1] * part.factor
        reach = numpy.minimum(ranges, 4 * far)
        reach[~known] = math.inf
        if place == Place():
            index, distance = fixed, reach
        else:
            with numpy.errstate(invalid='ignore'):
                x, y = place.outward(reach * cos, reach * sin)
            seen = numpy.isfinite(reach)
            distance = numpy.where(seen, numpy.hypot(x, y), math.inf)
            index = _sector_of(numpy.arctan2(numpy.where(seen, y, 0.0), numpy.where(seen, x, 1.0)),
                               part.rays, part.sector)
        found = numpy.full(part.rays + 1, math.inf)
        numpy.minimum.at(found, index, distance)
        nearest = found[:part.rays]
        nearest[numpy.isinf(nearest)] = far
        return nearest


@lru_cache(maxsize=32)
def _sectors(first: float, step: float, count: int, rays: int,
             sector: tuple[float, float]) -> tuple[Array, Array, Array]:
    """Return cosine, sine and number of sector of each ray of a scanner at the origin."""
    bearings = first + step * numpy.arange(count)
    return numpy.cos(bearings), numpy.sin(bearings), _sector_of(bearings, rays, sector)


def _sector_of(bearings: Array, rays: int, sector: tuple[float, float]) -> Array:
    """Return the number of the sector of each bearing; ``rays``: it is in none."""
    begin, end = sector
    width = end - begin
    off = numpy.mod(bearings - begin + 1e-9, 2 * math.pi)
    return numpy.where(off < width, (off * rays / width).astype(int).clip(0, rays - 1), rays)


def _pixels(image: Message, part: InputPart) -> Array:
    """Return an image as height x width x channels, each pixel the mean of those it covers."""
    height, width, step = (int(image.at(name)) for name in ('height', 'width', 'step'))
    encoding = str(image.at('encoding'))
    channels = len(IMAGE_CHANNELS.get(encoding, ''))
    if not channels:
        raise MissingInput(f'{part.role}: got the encoding {encoding!r}, expected one of '
                           f'{", ".join(IMAGE_CHANNELS)}')
    if not 0 < height * width <= _MOST_PIXELS or step < width * channels:
        raise MissingInput(f'{part.role}: got an image of {width} x {height} pixels with step '
                           f'{step}')
    data = image.at('data')
    flat = numpy.frombuffer(data, numpy.uint8) if isinstance(data, (bytes, bytearray)) \
        else numpy.array(data, numpy.uint8)
    if len(flat) < height * step:
        raise MissingInput(f'{part.role}: got {len(flat)} bytes for an image of {height} rows of '
                           f'{step}')
    pixels = flat[:height * step].reshape(height, step)[:, :width * channels]
    return _coloured(_resized(pixels.reshape(height, width, channels), *part.size), encoding,
                     part.channels)


def _coloured(pixels: Array, encoding: str, wanted: str) -> Array:
    if pixels.shape[2] == 1:
        return pixels if wanted == 'mono' else numpy.repeat(pixels, 3, axis=2)
    rgb: Array = pixels[:, :, 2::-1] if encoding.startswith('bgr') else pixels[:, :, :3]
    if wanted == 'mono':
        grey: Array = (rgb @ _GREY)[:, :, None]
        return grey
    return rgb[:, :, ::-1] if wanted == 'bgr' else rgb


def _resized(pixels: Array, height: int, width: int) -> Array:
    if pixels.shape[:2] == (height, width):
        return pixels
    return _averaged(_averaged(pixels, height, 0), width, 1)


def _averaged(pixels: Array, count: int, axis: int) -> Array:
    """Return so many rows or columns, each the mean of those it covers; or the nearest ones."""
    given = pixels.shape[axis]
    if count >= given:
        repeated: Array = pixels.take((numpy.arange(count) * given) // count, axis=axis)
        return repeated
    edges = (numpy.arange(count) * given) // count
    sums = numpy.add.reduceat(pixels.astype(numpy.float32), edges, axis=axis)
    covered = numpy.diff(numpy.append(edges, given))
    shape = [1, 1, 1]
    shape[axis] = count
    found: Array = sums / covered.reshape(shape)
    return found
