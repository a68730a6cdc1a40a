# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How time is judged and how well it is known: settings that fit, bounds that add up."""

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.cli.main import main
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
