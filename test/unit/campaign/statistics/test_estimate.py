# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A number and what may be claimed about it."""

import math

from cases import for_each
import pytest
from safety_scenarios.scenario.verdict import Estimate

GOOD = {'value': 2.0, 'low': 1.0, 'high': 3.0, 'n': 5, 'unit': 'ms', 'confidence': 0.95,
        'method': 'm'}


@for_each('field', ['value', 'low', 'high'])
def test_any_number_may_be_missing(field):
    assert getattr(Estimate(**{**GOOD, field: None}), field) is None


@for_each('field', ['value', 'low', 'high', 'confidence'])
@for_each('number', [math.nan, math.inf, -math.inf])
def test_no_number_is_nan_or_infinite(field, number):
    with pytest.raises(ValueError, match='finite number'):
        Estimate(**{**GOOD, field: number})


@for_each('change', [{'low': 2.1}, {'high': 1.9}, {'value': None, 'high': 0.9},
                     {'n': -1}, {'confidence': 0.0}, {'confidence': 1.0}])
def test_an_interval_holds_its_value_and_its_field_their_ranges(change):
    with pytest.raises(ValueError):
        Estimate(**{**GOOD, **change})


def test_an_interval_may_be_a_point():
    assert Estimate(**{**GOOD, 'low': 2.0, 'high': 2.0}).low == 2.0


def test_an_estimate_does_not_change():
    with pytest.raises(ValueError, match='frozen'):
        Estimate(**GOOD).value = 1.0
