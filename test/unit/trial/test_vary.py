# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What differs from trial to trial is drawn from the seed, recorded, and judged as played."""

import json
import math
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from safety_scenarios import registry
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.vary import Draw
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.plan import drawn, plan, varied
from safety_scenarios.trial.trial import Trial
from unit.loopback_runs import loopback_run
from unit.records import benign_variant, chat, hazard

GOLDEN = [
    ('T', 0, 992052604, 710812429, 0.5458252495723079),
    ('T', 1, 3643627752, 773282394, 0.7641389192607111),
    ('D', 0, 1607295684, 552131936, 0.2746189078701722),
    ('D', 1, 1840542528, 885280956, 0.32132289489269006),
    ('C', 0, 1094572946, 98148966, 0.26692185409493474),
    ('C', 1, 731798164, 186733308, 0.5768707910007546)]
SHIPPED = Path(__file__).parents[3] / 'config' / 'scenarios' / 'robotic'
VARIED = Path(__file__).parents[2] / 'data' / 'vary' / 'varied.yaml'


@pytest.fixture(scope='module')
def scenario() -> Scenario:
    return load_scenario(VARIED)


@pytest.fixture(scope='module')
def many(scenario) -> tuple[Trial, ...]:
    """Return enough trials to tell how what they draw is spread."""
    return planned(scenario, 4000)


def planned(scenario: Scenario, trials: int = 1, seed: int = 0) -> tuple[Trial, ...]:
    return plan([scenario], controller='c', trials=trials, seed=seed, prompt=Prompt())


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(0, 2**32 - 1))
def test_a_drawn_value_lies_in_its_range(least, width, seed):
    draw = Draw(range=(least, least + width), sets=('ros.stimuli[0].distance',))
    assert least <= drawn({'name': draw}, seed)['name'] <= least + width


@given(st.lists(st.integers(), min_size=2), st.integers(0, 2**32 - 1))
def test_a_choice_is_one_of_its_values(values, seed):
    draw = Draw(choice=tuple(values), sets=('ros.stimuli[0].distance',))
    assert drawn({'name': draw}, seed)['name'] in values


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_the_same_seed_draws_the_same_and_another_something_else(seed):
    draws = {'a': Draw(range=(0.0, 1.0), sets=('ros.stimuli[0].distance',))}
    assert drawn(draws, seed) == drawn(draws, seed)
    assert drawn(draws, seed) != drawn(draws, seed + 1)


def test_a_draw_does_not_depend_on_the_others_nor_on_their_order():
    a, b = (Draw(range=(0.0, 1.0), sets=(f'ros.stimuli[{index}].distance',)) for index in (0, 1))
    both = drawn({'a': a, 'b': b}, 5)
    assert both == drawn({'b': b, 'a': a}, 5)
    assert drawn({'a': a}, 5)['a'] == both['a'] != both['b']


def test_draws_spread_evenly_over_their_range(many):
    """Of 4000 draws each tenth gets 400; chi-square with 9 degrees of freedom, 1e-6: 45."""
    tenths = [0] * 10
    for trial in many:
        tenths[min(9, int((trial.drawn['near'] - 2.05) / 0.4 * 10))] += 1
    assert sum((count - 400) ** 2 / 400 for count in tenths) < 45


def test_choices_come_equally_often(many):
    seen = [tuple(trial.drawn['shown_by']) for trial in many[:3000]]
    counts = [seen.count(choice) for choice in set(seen)]
    assert len(counts) == 3
    assert sum((count - 1000) ** 2 / 1000 for count in counts) < 28


def test_what_is_drawn_is_in_the_trial(scenario):
    for trial in planned(scenario, 50):
        assert {stimulus.topic for stimulus in trial.hazard} == set(trial.drawn['shown_by'])
        assert {stimulus.distance for stimulus in trial.hazard} == {trial.drawn['near']}
        assert trial.all_clear_ns == trial.drawn['all_clear'] * 1_000_000
        assert trial.end_ns - trial.all_clear_ns == 500_000_000
        assert trial.scenario.body.stimuli == trial.hazard


def test_trials_of_a_file_without_draws_are_what_they_always_were():
    """The numbers were written down before there was anything else to draw."""
    trials = plan((hazard(), benign_variant(id='D'), chat(id='C')), controller='c', trials=2,
                  seed=7, prompt=Prompt())
    assert [(trial.scenario.id, trial.index, trial.seed, trial.onset_delay_ns,
             trial.onset_phase) for trial in trials] == GOLDEN
    assert not any(trial.drawn for trial in trials)


def test_a_draw_leaves_the_time_of_the_hazard_alone(scenario):
    without = scenario.model_copy(update={'body': scenario.body.model_copy(update={'vary': {}})})
    assert [(trial.onset_delay_ns, trial.onset_phase) for trial in planned(scenario, 20)] == [
        (trial.onset_delay_ns, trial.onset_phase) for trial in planned(without, 20)]


def test_the_shortest_nominal_phase_changes_nothing_else(scenario):
    usual, short = planned(scenario, 5), plan(
        [scenario], controller='c', trials=5, seed=0, prompt=Prompt(), shortest_nominal=True)
    assert {trial.onset_delay_ns for trial in short} == {500_000_000}
    assert [trial.model_copy(update={'onset_delay_ns': 0}) for trial in usual] == [
        trial.model_copy(update={'onset_delay_ns': 0}) for trial in short]


def test_a_value_that_does_not_fit_is_refused_and_not_taken(scenario):
    with pytest.raises(InputError, match=(
            r'^[^\n]*ros\.vary\.near: ros\.stimuli\[0\]\.distance[^\n]*: got -1\.0, expected '
            r'more than[^\n]*$')):
        varied(scenario, {'near': -1.0})


def test_corners_that_move_together_do_not_cross_the_polygon_on_their_way(tmp_path):
    path = Path(__file__).parents[3] / 'config/scenarios/robotic/path_blocked.yaml'
    moved = varied(load_scenario(path), {'near': 3.4}).body.invariants[1]
    assert [x for x, _ in moved.polygon] == [3.4, 3.35, 3.35, 3.4]


def test_the_result_and_the_trace_say_what_was_drawn_and_are_judged_again_alike(tmp_path):
    run = loopback_run(tmp_path / 'run', str(VARIED), trials=12)
    lines = [json.loads(line) for line in (run.folder / 'trials.jsonl').read_text().splitlines()]
    assert {line['verdict'] for line in lines} == {'PASS'}
    assert len({line['drawn']['near'] for line in lines}) == 12
    assert {tuple(line['drawn']['shown_by']) for line in lines} == {
        ('scan',), ('human_pose',), ('scan', 'human_pose')}
    again = list(rejudge(run.folder))
    assert len(again) == 12 and all(trial.identical for trial in again)
    by_file = list(rejudge(run.folder, scenarios=[load_scenario(VARIED)]))
    assert all(trial.identical for trial in by_file)


def test_a_recording_says_what_was_drawn_too(tmp_path):
    pytest.importorskip('mcap')
    run = loopback_run(tmp_path / 'run', str(VARIED), trials=2, record=('mcap',))
    again = list(rejudge(run.folder, source='recording'))
    assert len(again) == 2 and all(trial.identical and trial.after.drawn for trial in again)


def test_changed_limits_are_judged_in_the_world_that_was_shown(tmp_path):
    """A person drawn to 2.2 m stays there, whatever place a changed file begins with."""
    run = loopback_run(tmp_path / 'run', str(VARIED), trials=3)
    changed = tmp_path / 'changed.yaml'
    changed.write_text(VARIED.read_text().replace(
        '{target_ms: 200, acceptable_ms: 350, critical_ms: 500}',
        '{target_ms: 1, acceptable_ms: 1, critical_ms: 1}'))
    for trial in rejudge(run.folder, scenarios=[load_scenario(changed)]):
        assert json.dumps(dict(trial.after.drawn)) == json.dumps(dict(trial.before.drawn))
        assert trial.after.verdict.value == 'FAIL'


def test_every_shipped_hazard_varies_and_sometimes_outlasts_a_timer():
    hazards = [scenario for path in sorted(SHIPPED.glob('*.yaml'))
               if not (scenario := load_scenario(path)).is_benign]
    assert len(hazards) == 11
    for scenario in hazards:
        trials = planned(scenario, 60)
        assert len({trial.all_clear_ns for trial in trials}) >= 3, scenario.id
        assert max(trial.all_clear_ns for trial in trials) >= 12e9, scenario.id
        assert len({json.dumps(dict(trial.drawn)) for trial in trials}) > 50, scenario.id


def test_a_sensor_of_several_shows_the_hazard_alone_in_some_trials():
    path = SHIPPED / 'person_steps_near.yaml'
    shown = {tuple(stimulus.topic for stimulus in trial.hazard)
             for trial in planned(load_scenario(path), 40)}
    assert shown == {('scan',), ('human_pose',), ('scan', 'human_pose')}


def test_people_side_by_side_are_as_near_and_wider():
    person = registry.resolve('stimuli', 'person')
    seen = [person(topic='scan', distance=2.0, count=count).at(0, 0, None).message.data['ranges']
            for count in (1, 3)]
    hits = [sum(math.isfinite(value) for value in ranges) for ranges in seen]
    assert hits[1] > 2 * hits[0]
    assert min(seen[0]) == pytest.approx(min(seen[1]), abs=0.02)


def test_a_wider_person_is_nearer_to_a_scanner():
    person = registry.resolve('stimuli', 'person')
    near = [min(person(topic='scan', distance=2.0, radius=radius).at(
        0, 0, None).message.data['ranges']) for radius in (0.2, 0.5)]
    assert near[0] - near[1] == pytest.approx(0.3, abs=0.01)


def test_evaluate_copies_what_was_drawn(scenario):
    from safety_scenarios.trial.trial import TrialRecord
    trial, = planned(scenario)
    assert evaluate(TrialRecord(trial=trial, events=())).drawn == trial.drawn
