# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What weather, light, dirt and wheels make of what sensors read; without any physics."""

import math
from typing import Any

import numpy
from safety_scenarios.scenario.world import Sector, Senses


class Weather:
    """
    What becomes of the ranges of a scanner; chance is drawn anew for each scan.

    :param angles: where each beam looks, 0 ahead, positive to the left (rad)
    :param range_min: below it nothing is read (m)
    """

    def __init__(self, senses: Senses, random: numpy.random.Generator, angles: Any,
                 range_min: float) -> None:
        self._senses, self._random, self._range_min = senses, random, range_min
        self.is_random = bool(senses.range_noise or senses.short_returns or senses.dropouts)
        """Whether what is read is drawn anew for each scan."""
        self.is_clear = not (self.is_random or senses.glare or senses.dirt)
        """Whether nothing is read otherwise than it is, but for what is too near or too far."""
        self._glare, self._dirt = (_covered(angles, sectors) for sectors in (
            senses.glare, senses.dirt))

    def disturbed(self, ranges: Any) -> Any:
        """Return what is read where nothing would be wrong with these (m)."""
        senses, random, beams = self._senses, self._random, len(ranges)
        if senses.range_noise:
            ranges = ranges + random.normal(0.0, senses.range_noise, beams)
        if senses.short_returns:
            before = numpy.minimum(ranges, senses.range_max) * random.random(beams)
            drops = random.random(beams) < senses.short_returns
            ranges = numpy.where(drops, numpy.maximum(before, self._range_min), ranges)
        if senses.dropouts:
            ranges[random.random(beams) < senses.dropouts] = math.inf
        ranges[(ranges < self._range_min) | (ranges > senses.range_max)] = math.inf
        if senses.glare:
            ranges[self._glare] = math.inf
        if senses.dirt:
            ranges[self._dirt] = 0.0
        return ranges


def _covered(angles: Any, sectors: tuple[Sector, ...]) -> Any:
    """Return which beams are in one of the sectors."""
    found = numpy.zeros(len(angles), bool)
    for sector in sectors:
        off = numpy.remainder(angles - sector.middle + math.pi, 2 * math.pi) - math.pi
        found |= numpy.abs(off) <= sector.width / 2
    return found


def odometry(pose: tuple[float, float, float], twist: tuple[float, float, float],
             start: tuple[float, float, float], driven: float, senses: Senses,
             ) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """
    Return the pose and the twist that wheels tell, with their drift since the start.

    :param driven: how far the base has driven (m)
    """
    share, turned = 1.0 + senses.odometry_drift, senses.heading_drift * driven
    # along an arc that turns evenly, the way as a whole is turned by half of it
    cos, sin = math.cos(turned / 2), math.sin(turned / 2)
    east, north = (pose[0] - start[0]) * share, (pose[1] - start[1]) * share
    return ((start[0] + cos * east - sin * north, start[1] + sin * east + cos * north,
             pose[2] + turned), (twist[0] * share, twist[1] * share, twist[2]))
