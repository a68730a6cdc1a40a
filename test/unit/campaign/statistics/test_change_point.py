# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where failures begin: the posterior is that of the model, and trials go where they tell most."""

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.sequential import change_point
from scipy import integrate, special


def likelihood(before, after):
    """Return the likelihood of both counts, over all pairs of rates of which the first is less."""
    (x, n), (y, m) = before, after
    return 2.0 * integrate.dblquad(
        lambda b, a: a**x * (1 - a)**(n - x) * b**y * (1 - b)**(m - y), 0, 1, lambda a: a, 1)[0]


@for_each('counts', [[(0, 6), (1, 4), (6, 6)], [(0, 6), (0, 4), (3, 4), (5, 6)],
                     [(1, 5), (0, 0), (4, 5)]])
def test_the_posterior_is_that_of_the_model(counts):
    found = change_point(counts)
    steps = [likelihood(*(tuple(map(sum, zip(*side))) for side in (counts[:k], counts[k:])))
             * 0.9 / (len(counts) - 1) for k in range(1, len(counts))]
    own = 0.1
    for x, n in counts:
        own *= special.beta(x + 1, n - x + 1)
    total = sum(steps) + own
    assert found.first_bad == pytest.approx([0.0, *(one / total for one in steps)], abs=0.004)
    assert found.no_step == pytest.approx(own / total, abs=0.004)


def test_trials_that_agree_name_the_change_and_trials_between_name_none():
    clear = change_point([(0, 6), (0, 4), (4, 4), (6, 6)])
    assert clear.most_likely == 2 and clear.first_bad[2] > 0.95
    gradual = change_point([(0, 20), (5, 20), (10, 20), (15, 20), (20, 20)])
    assert gradual.no_step > 0.95
    assert change_point([(0, 6), (6, 6)]).first_bad == (0.0, 1.0)


def test_the_next_trials_halve_what_is_known():
    nothing = change_point([(0, 6), *[(0, 0)] * 14, (6, 6)])
    assert nothing.first_bad[1:] == pytest.approx([nothing.first_bad[1]] * 15)
    assert nothing.most_telling(range(1, 15)) in (7, 8)
    assert nothing.most_telling([3, 14]) == 3
    assert nothing.most_telling([]) is None


@for_each('counts', [[(0, 1)], [(2, 1), (0, 1)], [(-1, 1), (0, 1)]])
def test_nonsense_is_refused(counts):
    with pytest.raises(ValueError, match=r'got .*, expected'):
        change_point(counts)
