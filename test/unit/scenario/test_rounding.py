# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A bound in words is no narrower than the bound, and a value does not stand on its limit."""

import pytest
from safety_scenarios.scenario import rounding


@pytest.mark.parametrize('share, low, high', [
    (0.2849, '28 %', '29 %'), (0.034375, '3.4 %', '3.5 %'), (0.07, '7 %', '7 %'),
    (0.101, '10 %', '11 %'), (0.9999, '99 %', '100 %'), (0.00051, '0.051 %', '0.051 %'),
    (1e-9, '0 %', 'below 0.001 %'), (0.0, '0 %', '0 %'), (1.0, '100 %', '100 %')])
def test_a_share_is_rounded_away_from_what_is_hoped_for(share, low, high):
    assert (rounding.percent_down(share), rounding.percent_up(share)) == (low, high)


@pytest.mark.parametrize('value, low, high', [
    (-0.04, '-0.04', '-0.04'), (-1.2345, '-1.24', '-1.23'), (12345.6, '12345', '12346'),
    (0.0, '0', '0'), (3.2e-5, '3.20e-5', '3.20e-5'), (100 * 0.07, '7', '7'),
    (5.5337e-24, '5.53e-24', '5.54e-24')])
def test_figures_of_an_interval_are_rounded_outwards(value, low, high):
    assert (rounding.figures_down(value, 3), rounding.figures_up(value, 3)) == (low, high)


@pytest.mark.parametrize('low, high, text', [
    (1.19e-8, 5.003, '0, 5.01'), (2e-6, 2e-3, '2.00e-6, 0.002'), (-1e-9, 5.0, '-1.00e-9, 5'),
    (1e-9, None, '1.00e-9, unbounded'), (None, 2.0, 'unbounded, 2')])
def test_a_lower_end_that_is_nothing_beside_the_upper_one_is_written_as_0(low, high, text):
    assert rounding.ends(low, high) == text


@pytest.mark.parametrize('value, low, high', [
    (-0.04, '-0.1', '0.0'), (0.14, '0.1', '0.2'), (float('inf'), 'inf', 'inf')])
def test_decimals_of_an_interval_are_rounded_outwards(value, low, high):
    assert (rounding.down(value, 1), rounding.up(value, 1)) == (low, high)


@pytest.mark.parametrize('value, limit, form, text', [
    (757.0372, 757.0, '.1f', '757.04'), (757.4, 757.0, '.1f', '757.4'),
    (757.0, 757.0, '.1f', '757.0'), (756.96, 757.0, '.1f', '756.96'),
    (757.04, 757.03, '.1f', '757.04'), (0.0372, 0.0, '.1f', '0.04'),
    (-0.0004, 0.0, '.1f', '-0.0004'), (500.2, 500.0, '.0f', '500.2'),
    (1.00004, 1.0, '.4g', '1.00004'), (1.5, 1.0, '.4g', '1.5')])
def test_a_value_has_as_many_figures_as_tell_its_side_of_the_limit(value, limit, form, text):
    assert rounding.apart(value, limit, form) == text
