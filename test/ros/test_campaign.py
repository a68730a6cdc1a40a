# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The main job over real DDS: the reference passes, every saboteur is caught."""

import json
from statistics import median

import pytest
from ros.campaigns import BEDSIDE, brief, campaign, DRIVEN, QUICK, trials_in
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.plan import plan
from unzipped import read_text

pytestmark = pytest.mark.dds
HAZARDS = ('SCN-R-101', 'SCN-R-102')
ARM = 'SCN-R-102'
BENIGN = ('SCN-R-D-101', 'SCN-R-D-102')
SHIPPED = [scenario for scenario in load_scenarios(['robotic', *BEDSIDE]).scenarios
           if scenario.body.is_in_words or scenario.id in DRIVEN]


def test_the_reference_passes_every_shipped_scenario(rule_based_run):
    assert len(rule_based_run.trials) == len(SHIPPED)
    assert set(rule_based_run.verdicts.values()) == {'PASS'}
    output = rule_based_run.output.replace('\n', '')
    assert 'PASS  rule_based:' in output
    assert f'Results: {rule_based_run.folder} (campaign.json' in output


def test_the_folder_holds_what_was_promised(rule_based_run):
    folder = rule_based_run.folder
    settings = json.loads((folder / 'settings.json').read_text())
    assert settings['settings']['controller'] == 'rule_based'
    assert settings['versions']['safety_scenarios'] and settings['versions']['rclpy']
    assert len({entry['sha256'] for entry in settings['scenarios']}) == len(SHIPPED)
    for trial in trials_in(folder):
        trace = folder / 'traces' / trial['scenario_id'] / f'{trial["trial_id"]}.json.gz'
        assert json.loads(read_text(trace))['completed_events']
    summary = rule_based_run.summary()
    assert summary['completed'] == summary['planned'] == len(SHIPPED)
    assert not list(folder.rglob('*.part'))


@pytest.mark.thorough
def test_a_parameter_reaches_the_controller_and_names_it(tmp_path):
    """The person of the scenario stands 1.5 m ahead."""
    run = campaign(tmp_path / 'run', QUICK,
                   '--set', 'controller.stop_distance_m=1.0',
                   '--set', 'controller.slow_distance_m=1.0')
    assert run.code == 1, run.output
    [trial] = run.trials
    assert trial['controller'] == 'rule_based(stop_distance_m=1.0, slow_distance_m=1.0)'
    assert run.summary()['spec']['parameters'] == {'stop_distance_m': 1.0, 'slow_distance_m': 1.0}


def test_both_clocks_are_recorded_and_agree_without_simulated_time(rule_based_run):
    latencies = [trial['latency'] for trial in rule_based_run.trials if trial['latency']]
    assert len(latencies) == sum(
        scenario.body.is_in_words or scenario.body.reaction is not None for scenario in SHIPPED)
    reactions = [latency['reaction'] for latency in latencies]
    for latency, reaction in zip(latencies, reactions, strict=True):
        # a busy host may hold one command up for so long that no robot has it when it was sent
        if reaction['method'] != 'source':
            assert 'no robot has it earlier' in latency['fallback']
        assert reaction['judged_ns'] == reaction['steady_ns'] == reaction['ros_ns']
        assert reaction['callback_ns'] > reaction['steady_ns'] and reaction['uncertainty_ns'] > 0
    assert 'source' in {reaction['method'] for reaction in reactions}


@pytest.mark.exact
def test_callbacks_and_uncertainties_stay_small_over_dds(tmp_path):
    """Of most: a busy host may be late for one, and what its load has added is told beside."""
    run = campaign(tmp_path / 'run', QUICK, '--trials', '5', calibration='short')
    latencies = [trial['latency'] for trial in run.trials]
    assert median(one['reaction']['callback_ns'] - one['reaction']['steady_ns']
                  for one in latencies) < 20_000_000
    loaded_ns = 2e6 * run.summary()['calibration']['busy_ms']
    assert median(one['reaction']['uncertainty_ns'] - one.get('widened_ns', 0)
                  for one in latencies) < 20_000_000 + loaded_ns


def liveness(trial):
    return [finding['verdict'] for finding in trial['findings']
            if finding['check'] == 'command stream alive']


@pytest.mark.parametrize('saboteur', ['silent', 'late'])
@pytest.mark.thorough
def test_a_saboteur_fails_every_hazard(tmp_path, saboteur):
    # all scenarios against all saboteurs: in loopback, in a tenth of the time
    hazards = HAZARDS if saboteur == 'silent' else HAZARDS[:1]
    run = campaign(tmp_path / 'run', *brief(tmp_path, *hazards), '--controller', saboteur)
    assert run.code == 1, run.output
    assert {run.verdicts[hazard] for hazard in hazards} == {'FAIL'}
    classes = {trial['scenario_id']: trial['latency']['latency_class'] for trial in run.trials}
    if saboteur == 'silent':
        assert all(liveness(trial) == ['FAIL'] for trial in run.trials)
        del classes[ARM]  # its last trajectory ends at rest, of itself, sooner or later
    assert set(classes.values()) == {'violation' if saboteur == 'late' else 'no_response'}
    missed, hazards_shown = run.counted('missed')
    assert missed == hazards_shown >= len(hazards)


def test_always_stop_fails_every_benign_variant_and_never_passes_a_hazard(tmp_path):
    run = campaign(tmp_path / 'run', *brief(tmp_path, HAZARDS[0], *BENIGN), '--controller',
                   'always_stop')
    assert run.code == 1
    assert {run.verdicts[benign_variant] for benign_variant in BENIGN} == {'FAIL'}
    assert run.verdicts[HAZARDS[0]] == 'INCONCLUSIVE'
    false_stops, benign_shown = run.counted('false_stops')
    assert false_stops == benign_shown >= 2


@pytest.mark.thorough
def test_a_saboteur_does_not_pass_both_text_scenarios(tmp_path):
    # the silent one: in loopback, and a model that is too slow in test_llm.py
    run = campaign(tmp_path / 'run', *BEDSIDE, '--controller', 'parrot')
    assert run.code == 1, run.output
    assert 'FAIL' in run.verdicts.values()


@pytest.mark.thorough
def test_the_seeds_of_a_run_are_those_that_were_planned_and_another_seed_draws_others(tmp_path):
    def planned(seed):
        scenarios = load_scenarios([QUICK]).scenarios
        return [trial.seed for trial in plan(scenarios, controller='rule_based', trials=2,
                                             seed=seed, prompt=Prompt())]
    run = campaign(tmp_path / 'run', QUICK, '--trials', '2', '--seed', '7')
    assert [trial['seed'] for trial in run.trials] == planned(7)
    assert len(set(planned(7))) == 2
    assert planned(7) != planned(8)


def test_an_arm_and_a_base_can_be_commanded_by_other_types(tmp_path):
    run = campaign(tmp_path / 'run', QUICK, '--set', 'command_type=geometry_msgs/msg/TwistStamped')
    assert run.code == 0, run.output


def test_a_folder_in_use_is_refused_and_kept(tmp_path):
    (tmp_path / 'notes.txt').write_text('mine')
    run = campaign(tmp_path, 'SCN-C-101')
    assert run.code == 2
    assert 'not empty' in run.output
    assert [path.name for path in tmp_path.iterdir()] == ['notes.txt']


@pytest.mark.thorough
def test_wrong_input_ends_with_2_before_anything_runs(tmp_path):
    run = campaign(tmp_path / 'run', 'SCN-R-1O1')
    assert run.code == 2
    assert "Did you mean 'SCN-R-101'?" in run.output
    assert 'Traceback' not in run.output
    assert campaign(tmp_path / 'run', 'robotic', '--controller', 'rule_base').code == 2
    assert campaign(tmp_path / 'run', 'robotic', '--trials', '0').code == 2
    assert not (tmp_path / 'run').exists()
