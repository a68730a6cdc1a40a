# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Counted steps: they grow as the work does, and are the same each time."""

import pytest
from steps import calls, growth, lines


def linear(size):
    return sum(number for number in range(size))


def quadratic(size):
    count = 0
    for number in range(size):
        count += len([other for other in range(size) if other > number])
    return count


@pytest.mark.parametrize('count', [calls, lines])
def test_the_same_work_is_the_same_number_of_steps(count):
    assert count(lambda: linear(500)) == count(lambda: linear(500)) > 100


def test_linear_work_doubles_and_quadratic_work_does_more():
    assert growth(linear, 500) < 2.1
    assert growth(quadratic, 100) > 3


def test_calls_into_c_are_counted_too():
    assert calls(lambda: [len('a') for _ in range(100)]) >= 100


@pytest.mark.parametrize('count', [calls, lines])
def test_what_is_raised_is_raised(count):
    def fails():
        raise ValueError('why')
    with pytest.raises(ValueError, match='why'):
        count(fails)
    assert count(lambda: linear(10)) > 1
