# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Contact limits: the smallest speed wins, clamping is no transient contact."""

from dataclasses import replace
import math

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.standards.pfl import (
    Contact,
    contact_energy,
    effective_mass,
    permitted_speed,
    PermittedSpeed,
    reduced_mass,
    RegionLimits,
    time_to_force,
)
from unit.standards.vectors import LIMITS, REGIONS

CHEST = RegionLimits(name='chest', force=140.0, pressure=1.2e6, multiplier=2.0, stiffness=25e3,
                     mass=40.0, energy=None)
FACE = RegionLimits(name='face', force=65.0, pressure=1.1e6, multiplier=None, stiffness=75e3,
                    mass=4.4, energy=0.11)


def test_a_transient_contact_may_reach_the_multiple():
    assert CHEST.force_limit(Contact.TRANSIENT) == 280.0
    assert CHEST.pressure_limit(Contact.TRANSIENT) == 2.4e6
    assert CHEST.force_limit(Contact.CLAMPED) == 140.0
    assert CHEST.pressure_limit(Contact.CLAMPED) == 1.2e6


def test_where_contact_is_to_be_avoided_nothing_is_multiplied():
    assert FACE.force_limit(Contact.TRANSIENT) == FACE.force_limit(Contact.CLAMPED) == 65.0


def test_the_smaller_energy_counts():
    own = 280.0**2 / (2 * 25e3)
    assert CHEST.transient_energy == pytest.approx(own)
    assert replace(CHEST, energy=own / 2).transient_energy == own / 2
    assert replace(CHEST, energy=own * 2).transient_energy == pytest.approx(own)
    assert FACE.transient_energy == pytest.approx(0.0282, abs=5e-5)


def test_a_clamped_body_does_not_give_way():
    found = permitted_speed(CHEST, 15.0, Contact.CLAMPED)
    assert found.by_force == pytest.approx(140.0 / math.sqrt(15.0 * 25e3))
    assert found.by_energy is None
    assert found.value < permitted_speed(CHEST, 15.0, Contact.TRANSIENT).value / 2


def test_the_speed_is_the_smallest_that_a_limit_allows():
    assert PermittedSpeed(by_force=3.0, by_pressure=2.0, by_energy=1.0).value == 1.0
    assert PermittedSpeed(by_force=3.0, by_pressure=2.0, by_energy=None).value == 2.0
    assert PermittedSpeed(by_force=3.0, by_pressure=None, by_energy=4.0).value == 3.0


def test_a_small_area_is_limited_by_pressure_and_a_large_one_by_force():
    small = permitted_speed(CHEST, 5.0, Contact.TRANSIENT, area=1e-4)
    large = permitted_speed(CHEST, 5.0, Contact.TRANSIENT, area=1e-2)
    assert small.value == small.by_pressure < small.by_force
    assert large.value == pytest.approx(large.by_force)
    assert large.by_force < large.by_pressure
    assert permitted_speed(CHEST, 5.0, Contact.TRANSIENT).by_pressure is None


def test_a_published_energy_below_that_of_the_force_limits_the_speed():
    limits = replace(CHEST, energy=0.1)
    found = permitted_speed(limits, 15.0, Contact.TRANSIENT)
    assert found.value == found.by_energy == pytest.approx(
        math.sqrt(0.2 / reduced_mass(40.0, 15.0)))


def test_energy_and_force_agree_where_no_energy_is_published():
    found = permitted_speed(CHEST, 15.0, Contact.TRANSIENT)
    assert found.by_energy == pytest.approx(found.by_force)


def test_a_multiple_of_one_is_none_at_all():
    assert replace(CHEST, multiplier=1.0).force_limit(Contact.TRANSIENT) == CHEST.force


@for_each('call', [
    lambda: replace(CHEST, force=0.0), lambda: replace(CHEST, pressure=math.nan),
    lambda: replace(CHEST, stiffness=-1.0), lambda: replace(CHEST, mass=math.inf),
    lambda: replace(CHEST, energy=0.0), lambda: replace(CHEST, multiplier=0.99),
    lambda: replace(CHEST, multiplier=math.nan), lambda: effective_mass(-1.0, 1.0),
    lambda: effective_mass(1.0, math.nan), lambda: reduced_mass(0.0, 1.0),
    lambda: reduced_mass(1.0, math.inf), lambda: contact_energy(-1.0, 1.0),
    lambda: contact_energy(1.0, 0.0), lambda: time_to_force(-1.0, 1.0, 1.0),
    lambda: time_to_force(1.0, 1.0, 0.0), lambda: time_to_force(1.0, math.nan, 1.0),
    lambda: permitted_speed(CHEST, 0.0, Contact.TRANSIENT),
    lambda: permitted_speed(CHEST, 0.0, Contact.CLAMPED),
    lambda: permitted_speed(CHEST, math.nan, Contact.CLAMPED),
    lambda: permitted_speed(CHEST, 1.0, Contact.TRANSIENT, area=0.0),
    lambda: permitted_speed(CHEST, 1.0, Contact.CLAMPED, area=math.nan)])
def test_what_is_no_quantity_is_refused(call):
    with pytest.raises(InputError, match=r'got .*, expected'):
        call()


def test_the_shipped_limits_say_that_they_must_be_checked():
    assert len(REGIONS) == 12
    assert LIMITS['provenance']['confidence'] != 'licensed_copy'
    assert 'licensed' in LIMITS['provenance']['warning']


def test_no_shipped_head_is_granted_a_multiple():
    assert [name for name, region in REGIONS.items() if region.multiplier is None] == [
        'skull_forehead', 'face']
