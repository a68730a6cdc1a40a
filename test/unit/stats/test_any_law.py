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

"""The test over clusters holds for any law of differences: exactly where that can be reckoned."""

import math

import numpy
import pytest
from safety_scenarios.stats.any_law import not_above_zero, over_clusters
from safety_scenarios.stats.paired import sign_flip
from scipy import stats


@pytest.mark.parametrize('size', [1e-6, 0.05, 0.2, 0.5, 1.0])
@pytest.mark.parametrize('count', [1, 6, 16, 200])
def test_clusters_that_differ_alike_tell_what_one_of_another_kind_leaves(size, count):
    expected = math.exp(-count * math.log1p(size))
    assert not_above_zero([size] * count) == pytest.approx(expected, rel=1e-9)
    assert over_clusters([-size] * count) == pytest.approx(min(1.0, 2 * expected), rel=1e-9)


@pytest.mark.parametrize(('better', 'worse'), [(0, 6), (1, 9), (4, 12), (30, 60), (7, 7)])
@pytest.mark.parametrize('same', [0, 3, 50])
def test_of_clusters_that_are_one_or_the_other_it_is_the_exact_sign_test(better, worse, same):
    found = over_clusters([-1.0] * better + [1.0] * worse + [0.0] * same)
    assert found == pytest.approx(stats.binomtest(better, better + worse).pvalue, rel=1e-9)


def test_weights_that_were_drawn_give_the_same():
    chance = numpy.random.default_rng(3)
    for count in (3, 9, 20):
        differences = numpy.clip(chance.normal(0.15, 0.3, count), -1.0, 1.0)
        weights = chance.dirichlet(numpy.ones(count + 1), 200_000)
        drawn = float((weights @ numpy.array([-1.0, *differences]) <= 0.0).mean())
        error = math.sqrt(drawn * (1.0 - drawn) / 200_000)
        assert not_above_zero(differences.tolist()) == pytest.approx(drawn, abs=5 * error + 1e-9)


def test_what_no_cluster_shows_is_no_difference():
    assert over_clusters([]) == over_clusters([0.0]) == over_clusters([0.0] * 40) == 1.0
    assert over_clusters([0.3, -0.3]) == over_clusters([-1.0, 1.0]) == 1.0
    assert over_clusters([1.0] * 5) == pytest.approx(0.0625)
    assert over_clusters([1.0] * 6) == pytest.approx(0.03125)


LAWS = [((-1, 0, 20), (0.95, 0.0, 0.05)), ((-1, 0, 20), (0.57, 0.4, 0.03)),
        ((-3, 0, 20), (0.85, 0.02, 0.13)), ((-20, -1, 20), (0.5, 0.0, 0.5)),
        ((-20, -3, 20), (0.27, 0.4, 0.33)), ((-10, -4, 20), (0.667, 0.0, 0.333))]


@pytest.mark.parametrize(('steps', 'chances'), LAWS)
def test_few_that_are_far_off_are_no_mean_difference(steps, chances):
    """Exact, over all draws of 12 scenarios: sign patterns alone tell apart up to two in three."""
    middle = sum(step * share for step, share in zip(steps, chances))
    assert abs(middle) < 0.06 * 20
    told = flipped = 0.0
    for few, some in ((i, j) for i in range(13) for j in range(13 - i)):
        counts = few, some, 12 - few - some
        share = math.factorial(12) * math.prod(
            one**count / math.factorial(count) for one, count in zip(chances, counts))
        if share < 1e-6:
            continue
        drawn = [step for step, count in zip(steps, counts) for _ in range(count)]
        told += share * (over_clusters([step / 20 for step in drawn]) <= 0.05)
        flipped += share * (sign_flip(drawn) <= 0.05)
    assert told <= 0.05
    assert flipped > 0.3 or chances[0] < 0.9


def test_one_that_is_far_off_outweighs_many_that_are_a_little_off_the_other_way():
    assert over_clusters([-0.07] * 15 + [0.5]) > 0.2
    assert over_clusters([-0.5] * 15 + [0.5]) < 0.05


@pytest.mark.parametrize('differences', [[1.01], [-2.0], [math.nan], [math.inf]])
def test_what_is_no_difference_of_shares_is_refused(differences):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        over_clusters(differences)
