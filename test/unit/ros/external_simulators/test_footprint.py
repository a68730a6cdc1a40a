# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Gaps between outlines: by hand, and their signs."""

import math

from cases import for_each
import pytest
from safety_scenarios.scenario.world_body import box, capsule, disc, gap, read_footprint

ORIGIN = (0.0, 0.0, 0.0)


@for_each(('one', 'other', 'place', 'expected'), [
    (disc(0.3), disc(0.25), (2.05, 0, 0), 1.5),
    (disc(0.3), disc(0.25), (0.5, 0, 0), -0.05),
    (disc(0.3), box(0.4, 2.0), (2.55, 0.5, 0), 2.05),
    (disc(0.3), box(0.4, 2.0), (0.0, 0.0, 0), -0.5),
    (disc(0.3), box(2.0, 0.4), (2.55, 0, math.pi / 2), 2.05),
    (box(1.0, 1.0), box(1.0, 1.0), (1.5, 0, 0), 0.5),
    (box(1.0, 1.0), box(1.0, 1.0), (2.0, 2.0, 0), math.hypot(1, 1)),
    (box(1.0, 1.0), box(1.0, 1.0), (0.9, 0, 0), -0.1),
    (box(2.0, 0.1), box(2.0, 0.1), (0.0, 0.0, math.pi / 2), -1.05),
    (capsule(2.0, 0.3), disc(0.2), (2.0, 0, 0), 0.8),
    (capsule(2.0, 0.3), capsule(2.0, 0.3), (0.0, 1.0, 0), 0.4),
    (capsule(2.0, 0.3), capsule(2.0, 0.3), (0.0, 0.0, math.pi / 2), -0.6),
    (capsule(0.5, 0.3), disc(0.2), (1.0, 0, 0), 0.5)])
def test_the_gap_is_that_of_the_surfaces(one, other, place, expected):
    """Positive between them, negative where they overlap; whichever is asked first."""
    assert gap(one, ORIGIN, other, place) == pytest.approx(expected)
    assert gap(other, place, one, ORIGIN) == pytest.approx(expected)


def test_a_setting_is_an_outline():
    """With the reach that judging a turn needs."""
    assert read_footprint('box 0.8 0.6').radius == pytest.approx(0.5)
    assert read_footprint('capsule 1.0 0.2').radius == pytest.approx(0.5)
