# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The networks of a policy in NumPy, and how they are fitted.

Speed is decided by saturating units, one for each step up from standstill: a unit below 0 adds
nothing, a unit above 1 adds its whole step. So a stop is exactly 0, and a steady speed is steady.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math

import numpy
from numpy.typing import NDArray

Floats = NDArray[numpy.float32]
Arrays = Mapping[str, Floats]

_MARGIN = 2.0
"""A saturating unit is pushed this far past its limits."""
_BATCH = 512
_RATE = 4e-3
"""Learning rate at the start; it falls to 0 along half a cosine."""
_DECAY, _DECAY_OF_SQUARES, _TINY = 0.9, 0.999, 1e-8
"""Of Adam (Kingma and Ba, 2015)."""


@dataclass(frozen=True)
class Layers:
    """A multilayer perceptron with ReLU between its layers."""

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]

    @staticmethod
    def random(sizes: Sequence[int], chance: numpy.random.Generator) -> 'Layers':
        """Return one to begin with (He et al., 2015)."""
        return Layers(
            tuple(chance.normal(0.0, numpy.sqrt(2.0 / before), (before, after)).astype(
                numpy.float32) for before, after in zip(sizes, sizes[1:], strict=False)),
            tuple(numpy.zeros(after, numpy.float32) for after in sizes[1:]))

    def outputs(self, values: Floats) -> list[Floats]:
        """Return what each layer gives, the last one without ReLU."""
        found = [values]
        for place, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ weight + bias
            if place < len(self.weights) - 1:
                values = numpy.maximum(values, 0.0)
            found.append(values)
        return found

    def gradients(self, outputs: Sequence[Floats], slope: Floats) -> list[Floats]:
        """
        Return the gradient of each weight and then of each bias.

        :param outputs: of each layer
        :param slope: of the loss along the last of them
        """
        weights, biases = list[Floats](), list[Floats]()
        for place in reversed(range(len(self.weights))):
            weights.append(outputs[place].T @ slope)
            biases.append(slope.sum(axis=0))
            if place:
                slope = (slope @ self.weights[place].T) * (outputs[place] > 0)
        return [*reversed(weights), *reversed(biases)]


@dataclass(frozen=True)
class Network:
    """
    What a policy computes: a share of the top speed, and for an arm the sense of each joint.

    :ivar speed: from the input ``speed_input`` to one number for each step
    :ivar sense: from the input ``sense_input`` to one number for each joint; None: a base, which
        drives straight on
    """

    steps: tuple[float, ...]
    """By how much each saturating unit adds to the share of the top speed."""
    speed_input: str
    speed: Layers
    sense_input: str = ''
    sense: Layers | None = None

    def actions(self, inputs: Arrays) -> Floats:
        """Return a row for each row of the inputs: shares of the top speed of each axis."""
        units = numpy.clip(self.speed.outputs(inputs[self.speed_input])[-1], 0.0, 1.0)
        share: Floats = units @ numpy.array(self.steps, numpy.float32)[:, None]
        if self.sense is None:
            return share
        senses = numpy.clip(self.sense.outputs(inputs[self.sense_input])[-1], -1.0, 1.0)
        return share * senses


Slope = Callable[[Floats, Floats], Floats]
"""What a network gives and what is wanted, to the slope of the loss along what it gives."""


def speed_slope(given: Floats, wanted: Floats) -> Floats:
    """
    Return the slope of a squared hinge for saturating units.

    :param wanted: 1 for a step that is to be added, 0 for one that is not
    """
    low = numpy.maximum(0.0, given + _MARGIN) * _TOO_FAST
    high = -numpy.maximum(0.0, 1.0 + _MARGIN - given)
    found: Floats = numpy.where(wanted > 0.5, high, low)
    return found


_TOO_FAST = 2.0
"""To be too fast counts so many times as much as to be too slow."""


def sense_slope(given: Floats, wanted: Floats) -> Floats:
    """
    Return the slope of a squared hinge for the sense of each joint.

    :param wanted: 1 or -1; 0 where either will do
    """
    found: Floats = -wanted * numpy.maximum(0.0, 1.0 + _MARGIN - given * wanted)
    return found


def fitted(layers: Layers, values: Floats, wanted: Floats, slope: Slope, epochs: int,
           chance: numpy.random.Generator) -> Layers:
    """Return the layers after so many passes of Adam over the samples, in a random order."""
    parts = [part.copy() for part in (*layers.weights, *layers.biases)]
    means = [numpy.zeros_like(part) for part in parts]
    squares = [numpy.zeros_like(part) for part in parts]
    count = len(layers.weights)
    now = Layers(tuple(parts[:count]), tuple(parts[count:]))
    batches = max(1, len(values) // _BATCH)
    total, done = epochs * batches, 0
    for _ in range(epochs):
        order = chance.permutation(len(values))
        for rows in numpy.array_split(order, batches):
            outputs = now.outputs(values[rows])
            mean_slope = slope(outputs[-1], wanted[rows]) / numpy.float32(len(rows))
            gradients = now.gradients(outputs, mean_slope)
            done += 1
            rate = _RATE * 0.5 * (1.0 + math.cos(math.pi * done / total))
            rate *= math.sqrt(1.0 - _DECAY_OF_SQUARES ** done) / (1.0 - _DECAY ** done)
            for part, mean, square, gradient in zip(parts, means, squares, gradients, strict=True):
                mean += (1.0 - _DECAY) * (gradient - mean)
                square += (1.0 - _DECAY_OF_SQUARES) * (gradient * gradient - square)
                part -= rate * mean / (numpy.sqrt(square) + _TINY)
    return now
