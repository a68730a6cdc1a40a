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

"""A number and what may be claimed about it."""

import math

from cases import for_each
import pytest
from safety_scenarios.model.estimate import Estimate

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
