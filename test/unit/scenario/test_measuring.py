# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How well time and judgements are known: settings that fit, bounds that add up or are rounded."""

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.scenario import rounding
from safety_scenarios.scenario.invariant import Cost, Judgement, Question
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.timing import ClockOffset, ClockRules, Measuring, UNCALIBRATED_MS


@for_each(('rules', 'judge'), [
    ({}, 'max'), ({'lockstep': True}, 'ros'), ({'latency_clock': 'steady'}, 'steady'),
    ({'latency_clock': 'ros'}, 'ros'), ({'latency_clock': 'max'}, 'max'),
    ({'latency_clock': 'max', 'lockstep': True}, 'max'),
    ({'latency_clock': 'steady', 'lockstep': True}, 'steady')])
def test_the_worse_clock_decides_unless_the_simulation_waits_or_somebody_says(rules, judge):
    assert ClockRules(**rules).judge == judge


@for_each('rules', [
    {'rtf_min': 1.2}, {'rtf_max': 0.8}, {'rtf_min': 2.0, 'rtf_max': 1.0}, {'rtf_min': -0.1},
    {'rtf_max': 0.0}, {'latency_clock': 'system'}])
def test_a_range_that_nothing_is_in_is_refused(rules):
    with pytest.raises(ValidationError):
        ClockRules(**rules)


def test_a_range_may_be_a_point():
    assert ClockRules(rtf_min=1.0, rtf_max=1.0).rtf_min == 1.0


@pytest.mark.parametrize(('option', 'says'), [
    (('--set', 'clock.rtf_min=2'), 'expected rtf_min <= rtf_max'),
    (('--set', 'sequential.p1=0.0005'), 'expected sequential.p1 above it'),
    (('--set', 'sequential.p1=1'), '--set sequential.p1'),
    (('--set', 'clock.latency_clock=system'), 'auto'), (('--set', 'warmup=-1'), 'warmup')])
def test_settings_that_do_not_fit_end_with_2_before_anything_runs(option, says, tmp_path, capsys):
    assert main(['run', 'SCN-R-101', '--link', 'loopback', '--output', str(tmp_path / 'run'),
                 *option]) == 2
    shown = capsys.readouterr().err
    assert says in shown and 'Traceback' not in shown
    assert not (tmp_path / 'run').exists()


def test_a_split_is_known_as_well_as_the_offset_and_the_transport():
    assert ClockOffset(offset_ns=-7, bound_ns=300, outbound_ns=1, inbound_ns=1, spread_ns=40,
                       probes=9).split_bound_ns == 340


def test_without_a_calibration_every_method_is_taken_for_uncertain():
    assert {Measuring().uncertainty_ns(method) for method in ('source', 'received', 'callback')} \
        == {round(UNCALIBRATED_MS * 1e6)}


def test_the_method_s_own_uncertainty_counts():
    known = Measuring(uncertainty_ms={'source': 1.5, 'received': 2.5})
    assert (known.uncertainty_ns('source'), known.uncertainty_ns('received')) == (
        1_500_000, 2_500_000)


@for_each('calibrated', [{}, {'source': 1.5}, {'callback': 3.0}])
def test_a_callback_is_never_known_better_than_without_a_calibration(calibrated):
    assert Measuring(uncertainty_ms=calibrated).uncertainty_ns('callback') == 15_000_000
    worse = Measuring(uncertainty_ms={'callback': 40.0})
    assert worse.uncertainty_ns('callback') == 40_000_000


@for_each('method', ['source', 'received', 'callback'])
def test_simulated_times_are_exact(method):
    assert Measuring(exact=True, uncertainty_ms={'source': 9.0}).uncertainty_ns(method) == 0


ASKED = Question(criterion='c', answer='a', situation='s', expected='e',
                 chat=(ChatMessage(role='user', content='What now?'),))


def said(**changes) -> Judgement:
    return Judgement(**{'check': 'n', 'question': ASKED.sha256, 'model': 'm', 'duration_ms': 5.0,
                        'opinion': 'satisfied', **changes})


@for_each('change', [
    {'criterion': 'C'}, {'answer': 'a '}, {'situation': ''}, {'expected': 'f'}, {'chat': ()},
    {'chat': (ChatMessage(role='system', content='What now?'),)},
    {'answer': 's', 'situation': 'a'}, {'answer': 'half \ud800 a pair'}])
def test_whatever_is_different_in_a_question_makes_it_another(change):
    assert ASKED.model_copy(update=change).sha256 != ASKED.sha256


def test_an_equal_question_is_the_same():
    assert ASKED.model_copy(deep=True).sha256 == ASKED.sha256


@for_each('change', [
    {'opinion': None}, {'error': 'HTTP 500'}, {'opinion': 'PASS'}, {'question': 'short'},
    {'prompt_tokens': -1}, {'duration_ms': float('nan')}])
def test_a_judgement_that_contradicts_itself_is_refused(change):
    with pytest.raises(ValidationError):
        said(**change)


def test_the_cost_is_that_of_what_was_asked_and_unknown_is_not_zero():
    found = Cost.of([said(prompt_tokens=100), said(cached=True, prompt_tokens=7),
                     said(opinion=None, error='timeout')])
    assert found == Cost(asked=2, cached=1, prompt_tokens=100, completion_tokens=None,
                         duration_ms=10.0)
    assert Cost.of([]).prompt_tokens is None


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
