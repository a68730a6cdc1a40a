# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whole campaigns without ROS: the reference passes, every saboteur is caught, byte for byte."""

from contextlib import contextmanager
import json
import math
import os
import subprocess
import sys

from examples import some
import pytest
from safety_scenarios import registry
from safety_scenarios.campaign.run import run
from safety_scenarios.cli.main import main
from safety_scenarios.errors import MeasurementError, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.interfaces import INPUTS
from safety_scenarios.scenario.settings import ClockRules, RunSettings, SequentialTest
from safety_scenarios.scenario.timing import Calibration
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.trial.links.controller_settings import controller_settings, plan_controller
from safety_scenarios.trial.links.loopback import hosted
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import Session
from unit.loopback_runs import loopback_run
import unzipped

HAZARDS = ('SCN-R-101', 'SCN-R-102', 'SCN-R-103')
BENIGN = ('SCN-R-D-101', 'SCN-R-D-103')
BRAKES_NS = {'SCN-R-102': 90_000_000}
"""An arm on trajectories brakes from 0.8 rad/s at 10 rad/s^2, and a control period is 10 ms."""
TEXTS = ('SCN-C-101', 'SCN-C-D-101')
SHIPPED = load_scenarios(['robotic', 'clinical']).scenarios
REACTING = [scenario.id for scenario in SHIPPED if scenario.body.is_in_words
            or scenario.body.reaction]
SABOTEURS = ('silent', 'late', 'never_stop', 'parrot', 'always_stop')


def test_the_reference_passes_every_shipped_scenario(shipped):
    found = shipped('rule_based')
    assert found.summary.exit_code == 0, found.output
    assert len(found.trials) == len(SHIPPED) >= 18
    assert set(found.verdicts.values()) == {'PASS'}
    assert 'PASS  rule_based: ' in found.output
    assert (found.summary.missed.count, found.summary.false_stops.count) == (0, 0)


def test_the_latencies_of_the_reference_are_exact_and_within_a_period_of_the_hazard(shipped):
    """Messages take no time, so what is left is its period, and how long data take to be old."""
    latencies = {trial['scenario_id']: trial['latency']['reaction']
                 for trial in shipped('rule_based').trials if trial['latency']}
    assert set(latencies) == set(REACTING)
    for reaction in latencies.values():
        assert (reaction['method'], reaction['uncertainty_ns']) == ('source', 0)
        assert reaction['steady_ns'] == reaction['ros_ns'] == reaction['callback_ns']
    for name in HAZARDS:
        assert 0 <= latencies[name]['judged_ns'] <= 50_000_000 + BRAKES_NS.get(name, 0)
    assert all(latencies[name]['judged_ns'] == 0 for name in TEXTS)


@pytest.mark.parametrize('saboteur', ['never_stop', 'late', 'parrot'])
@pytest.mark.slow
def test_a_saboteur_fails_every_hazard(shipped, saboteur):
    found = shipped(saboteur)
    assert found.summary.exit_code == 1
    hazards = [trial for trial in found.trials if trial['domain'] == 'robotic']
    assert {trial['scenario_id'] for trial in hazards} > set(HAZARDS)
    assert {trial['verdict'] for trial in hazards} == {'FAIL'}
    assert {trial['latency']['latency_class'] for trial in hazards} == {
        'violation' if saboteur == 'late' else 'no_response'}
    assert not any(trial['latency']['fell_silent'] for trial in hazards)


@pytest.mark.slow
@pytest.mark.thorough
def test_a_controller_that_falls_silent_fails_wherever_it_should_stop(shipped):
    """To slow down is no stop: there it does as the reference does."""
    hazards = {trial['scenario_id']: trial for trial in shipped('silent').trials
               if trial['domain'] == 'robotic'}
    assert hazards.pop('SCN-R-107')['verdict'] == 'PASS'
    assert {trial['verdict'] for trial in hazards.values()} == {'FAIL'}
    assert all(trial['latency']['fell_silent'] for trial in hazards.values())


def test_late_is_what_the_reference_takes_and_half_as_much_again_as_the_budget(shipped, tmp_path):
    """A robot waits for the tick after that, which comes each 50 ms."""
    reacting = some(REACTING)
    late, reference = ({trial['scenario_id']: trial['latency']['reaction']['judged_ns']
                        for trial in run.trials if trial['latency']}
                       for run in (loopback_run(tmp_path / 'run', *reacting, controller='late',
                                                words='patterns'), shipped('rule_based')))
    for scenario in SHIPPED:
        if scenario.id in late:
            delay_ms = 1.5 * scenario.latency_budget.critical_ms
            ticks_ms = 50 * math.ceil(delay_ms / 50) if scenario.body.robot else delay_ms
            assert late[scenario.id] - reference[scenario.id] == pytest.approx(
                ticks_ms * 1e6, abs=10e6 if scenario.id in BRAKES_NS else 0.0)
    assert set(late) == set(reacting)


@pytest.mark.slow
def test_always_stop_fails_every_benign_variant_and_never_passes_a_hazard(shipped):
    found = shipped('always_stop')
    robots = [trial for trial in found.trials if trial['domain'].startswith('robotic')]
    assert {(trial['domain'], trial['verdict']) for trial in robots} == {
        ('robotic', 'INCONCLUSIVE'), ('robotic_defer', 'FAIL')}
    assert {trial['verdict'] for trial in robots if trial['scenario_id'] in BENIGN} == {'FAIL'}
    assert found.summary.false_stops.count == found.summary.false_stops.of == len(
        [scenario for scenario in SHIPPED if scenario.is_benign])


@pytest.mark.parametrize(('saboteur', 'scenario', 'stops', 'otherwise'), [
    ('spurious_stop', 'SCN-R-D-101', 1, None), ('stutters', 'SCN-R-D-101', 1, None),
    ('always_stop', 'SCN-C-D-101', 1, None),
    ('blank', 'SCN-C-D-101', 0, 'keeps_calm: 1, the answer is not empty: 1'),
    ('late', 'SCN-C-D-101', 0, 'reaction within the budget: 1'),
    ('gap', 'SCN-R-D-101', 0, 'command stream alive: 1'),
    ('jitter', 'SCN-R-D-101', 0, 'no faster than the robot can: 1, no jolts: 1')])
def test_what_never_stopped_nor_refused_is_no_false_stop(
        saboteur, scenario, stops, otherwise, tmp_path):
    found = loopback_run(tmp_path / 'run', scenario, controller=saboteur, words='patterns')
    assert (found.summary.false_stops.count, found.summary.false_stops.of) == (stops, 1)
    named = '' if otherwise is None else f'1 of 1 ({otherwise})'
    assert str(found.summary.failed_otherwise or '') == named
    assert (f'Other failures of benign variants: {named}.' in found.output) == bool(named)


@pytest.mark.parametrize('saboteur', SABOTEURS)
def test_no_saboteur_passes_both_text_scenarios(saboteur, tmp_path):
    found = loopback_run(tmp_path / 'run', 'clinical', controller=saboteur, words='patterns')
    assert 'FAIL' in {found.verdicts[text] for text in TEXTS}
    assert found.summary.exit_code == 1


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(shipped, tmp_path):
    chosen = some([scenario.id for scenario in SHIPPED])
    first, again, other = (
        loopback_run(tmp_path / name, *chosen, seed=seed, words='patterns')
        for name, seed in (('first', 0), ('again', 0), ('other', 1)))
    assert (again.lines, again.traces) == (first.lines, first.traces)
    assert (again.folder / 'campaign.json').read_bytes() == (
        first.folder / 'campaign.json').read_bytes()
    assert len(first.traces) == len(chosen)
    assert set(first.lines) <= set(shipped('rule_based').lines)
    assert set(other.lines).isdisjoint(first.lines)
    assert set(other.traces.values()).isdisjoint(first.traces.values())


@pytest.mark.slow
@pytest.mark.thorough
def test_another_process_with_other_hashes_gives_the_same_bytes(shipped, tmp_path):
    folder = tmp_path / 'run'
    command = ['run', 'robotic', 'clinical', '--link', 'loopback', '--words', 'patterns',
               '--seed', '0', '--output', str(folder)]
    code = f'from safety_scenarios.cli.main import main; raise SystemExit(main({command!r}))'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          check=False, env={**os.environ, 'PYTHONHASHSEED': '4711'})
    assert done.returncode == 0, done.stderr
    for name, content in shipped('rule_based').traces.items():
        assert unzipped.content(folder / name) == content
    assert (folder / 'trials.jsonl').read_text().splitlines() == shipped('rule_based').lines


def test_a_trial_does_not_depend_on_the_other_scenarios_of_its_campaign(shipped, tmp_path):
    alone = loopback_run(tmp_path / 'run', 'SCN-R-101')
    assert alone.lines == [line for line in shipped('rule_based').lines
                           if json.loads(line)['scenario_id'] == 'SCN-R-101']


@pytest.mark.slow
@pytest.mark.thorough
def test_over_many_trials_the_phase_shows_every_delay_of_the_period(tmp_path):
    """Uniform in a period of 50 ms: a fixed phase would show one latency sixty times."""
    found = loopback_run(tmp_path / 'run', 'SCN-R-101', trials=60)
    [row] = found.summary.scenarios
    latencies = sorted(latency for latency in row.latency_ms if latency is not None)
    assert len(set(latencies)) == 60
    assert latencies[0] < 5 and 45 < latencies[-1] <= 50
    assert row.median_ms.value == pytest.approx(25, abs=8)
    assert row.median_ms.low is not None and row.median_ms.high is not None


def test_warm_up_trials_are_written_and_not_counted(tmp_path):
    found = loopback_run(tmp_path / 'run', *TEXTS, trials=2, warmup=1, words='patterns')
    assert [(trial['index'], trial['warmup']) for trial in found.trials] == [
        (-1, True), (0, False), (1, False)] * 2
    assert [(row.trials, row.warmup) for row in found.summary.scenarios] == [(2, 1)] * 2
    assert (found.summary.planned, found.summary.completed) == (6, 6)
    assert found.summary.verdicts == {'PASS': 4}


def test_a_sequential_test_accepts_after_five_good_trials(tmp_path):
    """Wald: n ln(0.5 / 0.99) <= ln(0.05 / 0.95) for n >= 4.3."""
    rule = SequentialTest(p0=0.01, p1=0.5)
    found = loopback_run(tmp_path / 'run', *TEXTS, trials=30, sequential=rule, words='patterns')
    assert [row.trials for row in found.summary.scenarios] == [5, 5]
    assert all((row.stopped_early or '').startswith('accept after 5 trials with 0 failures')
               for row in found.summary.scenarios)
    assert (found.summary.planned, found.summary.exit_code) == (10, 0)


def test_a_sequential_test_rejects_after_the_first_failure(tmp_path):
    """Wald: ln(0.5 / 0.01) >= ln(0.95 / 0.05)."""
    rule = SequentialTest(p0=0.01, p1=0.5)
    found = loopback_run(tmp_path / 'run', 'SCN-R-101', trials=30, sequential=rule,
                         controller='never_stop')
    [row] = found.summary.scenarios
    assert row.trials == 1 and (row.stopped_early or '').startswith('reject after 1')
    assert found.summary.exit_code == 1


@pytest.mark.parametrize(('trials', 'told'), [(4, 'undecided'), (5, 'accept after 5')])
def test_too_few_trials_leave_a_sequential_test_undecided(tmp_path, trials, told):
    rule = SequentialTest(p0=0.01, p1=0.5)
    [row] = loopback_run(tmp_path / 'run', 'SCN-C-101', trials=trials, words='patterns',
                         sequential=rule).summary.scenarios
    assert row.trials == trials and (row.stopped_early or '').startswith(told)


def test_by_default_every_planned_trial_is_made(tmp_path):
    found = loopback_run(tmp_path / 'run', 'SCN-C-101', trials=30, words='patterns')
    assert found.summary.completed == 30
    assert found.summary.scenarios[0].stopped_early is None


def test_the_preflight_of_each_scenario_is_kept(shipped):
    found = shipped('rule_based').summary.preflight
    assert [rows.scenario_id for rows in found] == [
        row.scenario_id for row in shipped('rule_based').summary.scenarios]
    assert all(row.status == 'ok' for rows in found for row in rows.rows)


def test_the_stamps_of_the_reference_are_honest(shipped, tmp_path):
    assert all(note['code'] == 'by-patterns' for trial in shipped('rule_based').trials
               for note in trial['notes'])
    found = loopback_run(tmp_path / 'run', 'SCN-R-101', 'SCN-R-105', 'SCN-R-106', 'SCN-R-D-104',
                         command_type='geometry_msgs/msg/TwistStamped')
    assert found.summary.exit_code == 0
    assert not any(trial['notes'] for trial in found.trials)


def test_no_calibration_is_made_where_times_are_exact(shipped):
    assert shipped('rule_based').summary.calibration is None


def test_the_settings_hold_how_time_is_judged(tmp_path):
    found = loopback_run(tmp_path / 'run', 'SCN-C-101', warmup=1, clock=ClockRules(rtf_max=2.0))
    settings = json.loads((found.folder / 'settings.json').read_text())
    assert settings['settings']['clock']['rtf_max'] == 2.0
    assert settings['settings']['link'] == 'loopback' and settings['settings']['warmup'] == 1
    assert settings['host']['cores'] and settings['ros'] == {}


@pytest.mark.parametrize(('scenario', 'controller', 'why'), [
    ('robotic', 'external', 'An external controller needs ROS'),
    ('robotic', 'rule_base', "Did you mean 'rule_based'?"),
    ('SCN-C-101', 'llm', 'its latency would be a lie')])  # in simulated time it answers at once
def test_a_controller_that_cannot_be_judged_here_is_refused_before_anything_is_written(
        tmp_path, capsys, scenario, controller, why):
    folder = tmp_path / 'run'
    assert main(['run', scenario, '--link', 'loopback', '--controller', controller,
                 '--output', str(folder)]) == 2
    assert why in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.parametrize(('controller', 'code'), [('rule_based', 0), ('never_stop', 1),
                                                  ('always_stop', 3)])
def test_the_command_s_exit_code_is_that_of_the_campaign(tmp_path, controller, code, capsys):
    assert main(['run', 'SCN-R-101', '--link', 'loopback', '--controller', controller,
                 '--output', str(tmp_path / 'run')]) == code
    assert 'in simulated time' in capsys.readouterr().out


@pytest.mark.parametrize(('controller', 'code'), [('rule_based', 0), ('always_stop', 3)])
def test_a_preflight_shows_the_wiring_and_no_hazard(controller, code, capsys):
    assert main(['preflight', 'robotic', '--link', 'loopback', '--controller', controller]) == code
    shown = capsys.readouterr().out
    assert 'loopback: one process' in shown
    assert ('did not get moving' in shown) is (code == 3)


def calibrated(floor_ms: float | None, uncertainty_ms: float) -> Calibration:
    floor = Estimate(value=floor_ms, low=None, high=None, n=300, unit='ms', confidence=0.95,
                     method='m')
    return Calibration(method='source', floor_ms=(floor, floor), delays=(), late_ms=None,
                       uncertainty_ms={'source': uncertainty_ms, 'callback': 999.0}, host={})


@pytest.mark.parametrize(('floor_ms', 'uncertainty_ms', 'verdict'), [
    (300.0, 200.0, 'PASS'), (300.0, 200.001, 'ERROR'), (501.0, 0.0, 'ERROR'),
    (None, 0.0, 'ERROR')])
def test_a_budget_that_the_harness_itself_uses_up_is_refused(tmp_path, floor_ms, uncertainty_ms,
                                                             verdict):
    """SCN-R-101 allows 500 ms."""
    @contextmanager
    def connect(plan, folder):
        with Loopback(plan, folder) as session:
            yield Session(session.open_link, 'a test',
                          calibrate=lambda: calibrated(floor_ms, uncertainty_ms))
    summary = run(RunSettings(scenarios=('SCN-R-101',), link='loopback',
                              output=str(tmp_path / 'run')), (), connect)
    assert summary.verdict.value == verdict
    assert summary.calibration == calibrated(floor_ms, uncertainty_ms)
    if verdict == 'ERROR':
        why = 'which the harness itself needs here' if floor_ms else 'its 99th percentile is not'
        assert why in summary.scenarios[0].reason


@pytest.mark.parametrize('output', ['run', ''])
def test_where_logs_go_is_hidden_from_the_controller(tmp_path, output):
    """Their names are those of the scenarios that are over, also where no results are kept."""
    @contextmanager
    def connect(plan, folder):
        assert any(folder.is_relative_to(one) for one in plan.controller.hidden)
        with Loopback(plan, folder) as session:
            yield session
    settings = RunSettings(scenarios=('SCN-R-101',), link='loopback',
                           output=str(tmp_path / output) if output else '')
    assert run(settings, (), connect, files=bool(output)).verdict.value == 'PASS'


def test_a_calibration_that_fails_ends_the_campaign_before_its_first_trial(tmp_path):
    @contextmanager
    def connect(settings, folder):
        def calibrate():
            raise MeasurementError('nobody answered')
        yield Session(lambda scenario: pytest.fail('opened'), 'a test', calibrate=calibrate)
    with pytest.raises(MeasurementError, match='nobody answered'):
        run(RunSettings(scenarios=('SCN-R-101',), output=str(tmp_path / 'run')),
            (), connect)


@pytest.mark.parametrize('name', ['rule_based', *SABOTEURS])
def test_a_controller_is_told_its_robot_and_never_the_hazard(name):
    [scenario] = load_scenarios(['SCN-R-102']).scenarios
    settings = controller_settings(plan_controller(RunSettings(controller=name)), scenario)
    robot = scenario.body.robot.model_copy(update={'stopping': None})
    assert settings.robot == robot and settings.controller == name
    assert scenario.id not in settings.model_dump_json()
    assert hosted(registry.resolve('controllers', name), settings).inputs == INPUTS


def test_a_folder_in_use_is_refused(tmp_path):
    (tmp_path / 'notes.txt').write_text('mine')
    with pytest.raises(SettingsError, match='not empty'):
        loopback_run(tmp_path, 'SCN-C-101')
