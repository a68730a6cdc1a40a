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

"""The sequential test stops early and still errs no more often than it says."""

import math
import random

import pytest

from safety_scenarios.stats.sequential import Sprt

STRICT = Sprt(0.001, 0.01, 0.05, 0.05)


def test_326_straight_passes_are_accepted_and_325_are_not():
    assert STRICT.decide(0, 325) == 'continue'
    assert STRICT.decide(0, 326) == 'accept'


def test_before_the_first_trial_nothing_is_decided():
    assert STRICT.decide(0, 0) == 'continue'


def test_failures_at_once_are_rejected():
    assert [STRICT.decide(failures, failures) for failures in (1, 2)] == ['continue', 'reject']


def test_a_failure_asks_for_more_passes():
    """One failure is worth ln(10.09) / ln(.999/.99) = 254.4 passes."""
    needed = next(n for n in range(1, 2000) if STRICT.decide(1, n) == 'accept')
    assert needed == math.ceil(1 + (math.log(19.0) + math.log(10.0)) / math.log(0.999 / 0.99))


@pytest.mark.parametrize(('rate', 'wrong'), [(0.02, 'reject'), (0.1, 'accept')])
def test_the_wrong_decision_is_no_more_frequent_than_promised(rate, wrong):
    draw, test, errors = random.Random(5), Sprt(0.02, 0.1, 0.05, 0.05), 0
    for _ in range(400):
        failures = n = 0
        while (decision := test.decide(failures, n)) == 'continue':
            failures, n = failures + (draw.random() < rate), n + 1
        errors += decision == wrong
    assert errors / 400 < 0.08


@pytest.mark.parametrize('call', [
    lambda: Sprt(0.01, 0.001), lambda: Sprt(0.01, 0.01), lambda: Sprt(0.0, 0.1),
    lambda: Sprt(0.1, 1.0), lambda: Sprt(math.nan, 0.1), lambda: Sprt(0.1, 0.2, 0.0),
    lambda: Sprt(0.1, 0.2, 0.5, 0.5), lambda: Sprt(0.1, 0.2, 0.05, 1.0),
    lambda: STRICT.decide(2, 1), lambda: STRICT.decide(-1, 1), lambda: STRICT.decide(0, -1),
    lambda: STRICT.decide(0, 1.5)])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()
