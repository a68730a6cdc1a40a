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

"""Two controllers on the same trials: a missing reaction is later, two missing ones tie."""

import math

import pytest
from scipy import stats

from safety_scenarios.stats.paired import mcnemar, median_difference, sign_test


@pytest.mark.parametrize('only_first', [0, 1, 5, 6, 40, 1000])
@pytest.mark.parametrize('only_second', [0, 1, 5, 12, 40, 1100])
def test_mcnemar_is_the_exact_binomial_test(only_first, only_second):
    n = only_first + only_second
    expected = stats.binomtest(only_first, n).pvalue if n else 1.0
    assert mcnemar(only_first, only_second) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_by_hand():
    assert mcnemar(0, 5) == pytest.approx(2.0 / 32.0)
    assert mcnemar(1, 9) == pytest.approx(2.0 * 11.0 / 1024.0)
    assert mcnemar(0, 0) == 1.0


def test_a_missing_reaction_is_later_than_any_number():
    assert sign_test([(1e9, None)] * 6) == pytest.approx(2.0 / 64.0)
    assert sign_test([(1e9, None)] * 3 + [(None, 5.0)] * 3) == 1.0


def test_ties_and_pairs_without_any_reaction_are_dropped():
    assert sign_test([(3.0, 3.0), (None, None)]) == 1.0
    assert sign_test([]) == 1.0
    assert sign_test([(1.0, 2.0)] * 6 + [(3.0, 3.0), (None, None)]) == pytest.approx(2.0 / 64.0)


@pytest.mark.parametrize(('differences', 'value', 'low', 'high'), [
    ([5.0], 5.0, None, None), ([1.0, 2.0, 3.0, 4.0, 5.0], 3.0, None, None),
    ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4.0, 1.0, 6.0),
    ([float(number) for number in range(1, 21)], 11.0, 6.0, 15.0), ([], None, None, None)])
def test_the_median_difference_and_its_ranks(differences, value, low, high):
    found = median_difference([(10.0, 10.0 + number) for number in differences], 'ms')
    assert (found.value, found.low, found.high) == (value, low, high)
    assert (found.n, found.unit) == (len(differences), 'ms')


@pytest.mark.parametrize(('pairs', 'value', 'low', 'high'), [
    ([(1.0, None)] * 6, None, None, None), ([(None, 1.0)] * 6, None, None, None),
    ([(None, None)] * 6, 0.0, 0.0, 0.0), ([(1.0, 3.0)] * 5 + [(1.0, None)], 2.0, 2.0, None),
    ([(1.0, 3.0)] * 5 + [(None, 1.0)], 2.0, None, 2.0),
    ([(1.0, 3.0)] * 2 + [(1.0, None)] * 4, None, 2.0, None)])
def test_a_difference_is_infinite_where_one_reaction_is_missing(pairs, value, low, high):
    found = median_difference(pairs, 'ms')
    assert (found.value, found.low, found.high) == (value, low, high)


@pytest.mark.parametrize('call', [
    lambda: mcnemar(-1, 2), lambda: mcnemar(1, -2), lambda: mcnemar(1.5, 2),
    lambda: sign_test([(math.nan, 1.0)]), lambda: sign_test([(1.0, math.inf)]),
    lambda: median_difference([(1.0, math.nan)], 'ms'),
    lambda: median_difference([(1.0, 2.0)], 'ms', 1.0)])
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        call()
