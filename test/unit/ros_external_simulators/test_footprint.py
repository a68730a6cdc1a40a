# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Gaps between outlines: by hand, and their signs."""

import math

from cases import for_each
import pytest
from safety_scenarios.ros.external_simulators.footprint import (
    box,
    capsule,
    disc,
    gap,
    read_footprint,
)

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
