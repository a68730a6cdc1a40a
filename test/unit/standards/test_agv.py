# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Protective fields of mobile machines: what is assumed of the person is said aloud."""

import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.standards.agv import braking_distance, protective_field

FIELD: dict[str, Any] = {
    'speed': 1.2, 'braking': 0.9, 'scan_time': 0.08, 'vehicle_time': 0.05, 'scanner': 0.065,
    'reflector': 0.35, 'ground': 0.15, 'wear_share': 0.1, 'person_model': 'static',
    'clearance': 0.5}


def test_the_length_is_the_sum_of_its_terms():
    found = protective_field(**FIELD)
    assert found.wear == pytest.approx(0.09)
    assert found.stopping_distance == pytest.approx(1.056)
    assert found.length == pytest.approx(1.056 + 0.065 + 0.35 + 0.15 + 0.09 + 0.5)


def test_a_person_who_approaches_walks_during_the_response():
    assert protective_field(**FIELD).person == 0.0
    assert protective_field(**{**FIELD, 'person_model': 'approaching'}).person == \
        pytest.approx(0.208)


def test_a_vehicle_that_stands_needs_its_margins():
    found = protective_field(**{**FIELD, 'speed': 0.0, 'braking': braking_distance(0.0, 1.0)})
    assert found.stopping_distance == 0.0
    assert found.length == pytest.approx(1.065)


@for_each('name', sorted(set(FIELD) - {'person_model'}))
@for_each('value', [-0.001, math.nan, math.inf])
def test_what_is_no_quantity_is_refused(name, value):
    with pytest.raises(InputError, match=f'{name}: got {value}'):
        protective_field(**{**FIELD, name: value})


def test_a_share_of_more_than_all_is_refused():
    with pytest.raises(InputError, match='wear_share: got 1.1'):
        protective_field(**{**FIELD, 'wear_share': 1.1})


def test_another_person_model_is_refused():
    with pytest.raises(InputError, match="person_model: got 'running'"):
        protective_field(**{**FIELD, 'person_model': 'running'})


@for_each(('speed', 'deceleration'), [
    (-1.0, 1.0), (math.nan, 1.0), (1.0, 0.0), (1.0, math.nan)])
def test_braking_of_no_quantity_is_refused(speed, deceleration):
    with pytest.raises(InputError, match=r'got .*, expected'):
        braking_distance(speed, deceleration)
