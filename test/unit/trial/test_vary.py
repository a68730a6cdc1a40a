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
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from safety_scenarios.formats.scenario_files import portable_name
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.lint.pairs import _apart
from safety_scenarios.lint.review import review
from safety_scenarios.scenario.blocks.vary import Draw
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.plan import drawn, plan, varied
from safety_scenarios.trial.plan_data import plan_of, plan_text
from safety_scenarios.trial.run import run_trial
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


ROBOTIC = Path(__file__).parents[3] / 'config' / 'scenarios' / 'robotic'


@pytest.fixture(scope='module')
def changing() -> Scenario:
    return load_scenario(ROBOTIC / 'path_blocked.yaml')


def trials(changing: Scenario, count: int = 60) -> tuple[Trial, ...]:
    return plan([changing], controller='x', trials=count, seed=4, prompt=Prompt())


def test_each_is_over_half_a_second_before_the_hazard_and_meets_no_other(changing):
    for trial in trials(changing):
        ends = [0, *(change.end_ns for change in trial.changes)]
        assert all(change.begin_ns >= end for change, end in zip(trial.changes, ends))
        assert trial.onset_delay_ns - ends[-1] >= 500_000_000 or not trial.changes


def test_how_many_there_are_differs_from_trial_to_trial(changing):
    assert {len(trial.changes) for trial in trials(changing)} == {0, 1, 2}


def test_a_plan_is_read_back_with_its_changes(changing):
    trial = max(trials(changing, 8), key=lambda one: len(one.changes))
    origin = trial.scenario.origin
    kept = trial.model_copy(update={'scenario': trial.scenario.model_copy(update={
        'origin': origin.model_copy(update={'path': portable_name(origin.path)})})})
    assert trial.changes and plan_of(plan_text(trial), registry.resolve) == kept


def test_what_changes_is_shown_in_its_time_on_the_beat_of_its_topic(changing):
    trial = max(trials(changing), key=lambda one: len(one.changes))
    link = plan_link(RunSettings(controller='rule_based', link='loopback'))
    with Loopback(link, Path()) as session, session.open_link(trial.scenario) as one:
        events = run_trial(trial, one).of_kind('stimulus', 'scan')
    shown = [event for event in events if not event.hazard]
    distances = [event.truth['distance'] for event in shown]
    usual, other = (trial.drawn[name] for name in ('hall', 'other_hall'))
    runs = [distances[0], *(now for before, now in zip(distances, distances[1:]) if now != before)]
    assert runs[:5] == pytest.approx([usual, other, usual, other, usual])
    before = [event for event in shown if event.stamps.steady_ns < events[0].stamps.steady_ns
              + trial.onset_delay_ns]
    beats = {later.scheduled_ns - earlier.scheduled_ns
             for earlier, later in zip(before, before[1:])}
    assert beats == {50_000_000}


def test_one_of_several_ranges_is_drawn():
    draw = Draw(ranges=((1.0, 2.0), (1.0, 2.0), (8.0, 9.0)), sets=('ros.all_clear.at_ms',))
    found = [drawn({'x': draw}, seed)['x'] for seed in range(300)]
    assert all(1 <= value <= 2 or 8 <= value <= 9 for value in found)
    assert 60 <= sum(value >= 8 for value in found) <= 140
    assert draw.probes[:2] == (1.0, 9.0)


@pytest.mark.parametrize(('old', 'new', 'field'), [
    ('duration_ms: [1000, 17000]', 'duration_ms: [1000, 2500]', 'ros.nominal.duration_ms'),
    ('all_clear: {ranges: [[5000, 7000], ', 'all_clear: {ranges: [[2000, 2500], [2000, 2500], '
     '[2000, 2500], [2000, 2500], [2000, 2500], [5000, 7000], ', 'ros.all_clear.at_ms'),
    ('topic: scan, distance: 10.0, width: 4.0, rate_hz: 20', 'topic: scan, distance: 10.0, '
     'width: 4.0, rate_hz: 10', 'ros.nominal.stimuli.0.rate_hz'),
    ('distance: 10.0, width: 4.0,', 'distance: 10.0, width: 3.0,', 'ros.nominal.stimuli.0.width'),
    ('distance: 10.0, width: 4.0,', 'distance: 10.0, width: 4.0, frame: laser,',
     'ros.nominal.stimuli.0.frame'),
    ('lateral: 1.5, width: 0.6,', 'lateral: 1.5, width: 0.6, frame: laser,',
     'ros.stimuli.0.frame'),
    ('begins_ms: [800, 5000]', 'begins_ms: [100, 900]', 'ros.nominal.changes.0.begins_ms'),
    ('lasts_ms: [500, 2500]\n        stimuli:\n          - {kind: obstacle, topic: scan, '
     'distance: 8.0, width: 4.0, rate_hz: 20}\n      -', 'lasts_ms: [500, 2500]\n        '
     'stimuli:\n          - {kind: obstacle, topic: scan, distance: 8.0, width: 4.0, '
     'rate_hz: 25}\n      -', 'ros.nominal.changes.0.stimuli.0.rate_hz'),
    ('other_hall: {range: [6.0, 11.5]', 'other_hall: {range: [6.0, 8.0]', 'ros.vary.other_hall'),
    ('choice: [all_around, from_ahead, clockwise, coarse, fine,', 'choice: [all_around,',
     'ros.vary.scanner'),
    ('ahead: {range: [1.2, 2.5]', 'ahead: {range: [9.0, 11.0]', 'ros.stimuli.0'),
    ('radius: 0.35}', 'radius: 0.45}', 'ros.robot.radius'),
    ('{topic: cmd_vel, message: auto}', '{topic: cmd_vel, message: geometry_msgs/msg/Twist}',
     'ros.commands'),
    ('the one action it must take', 'an action', 'messages'),
    ('critical_ms: 500', 'critical_ms: 600', 'latency_budget.critical_ms'),
    ('\n  nominal:', '\n  world: {walls: [{name: side, begin: [0, 3], end: [5, 3]}]}\n  nominal:',
     'ros.world.walls'),
    ('\n  nominal:', '\n  world: {boxes: [{name: side, at: [5, 3], size: [1, 1, 1]}]}\n  nominal:',
     'ros.world.boxes'),
    ('\n  nominal:', '\n  world: {senses: {dropouts: 0.2}}\n  nominal:',
     'ros.world.senses.dropouts'),
    ('vary:', 'world: {floor: {friction: 0.5}}\n  vary:\n    grip: {range: [0.3, 0.8], '
     'sets: [ros.world.floor.friction]}', 'ros.vary.grip'),
    ('vary:', 'vary:\n    early: {choice: [100, 200], '
     'sets: ["ros.nominal.changes[0].begins_ms[0]"]}', 'ros.nominal.changes')])
def test_a_variant_that_is_drawn_otherwise_is_warned_of(tmp_path, old, new, field):
    hazard, variant = ROBOTIC / 'path_blocked.yaml', ROBOTIC / 'box_beside_path.yaml'
    text = variant.read_text(encoding='utf-8')
    assert old in text
    (tmp_path / 'variant.yaml').write_text(text.replace(old, new), encoding='utf-8')
    found = [remark for remark in review(load_scenarios(
        [str(hazard), str(tmp_path / 'variant.yaml')]).scenarios).remarks if remark.code == 'L227']
    assert ['.'.join(map(str, remark.field)) for remark in found] == [field]
    assert not [remark for remark in review(load_scenarios(
        [str(hazard), str(variant)]).scenarios).remarks if remark.code == 'L227']


def test_a_range_of_numbers_and_a_text_have_nothing_in_common():
    assert _apart([(1.0, 0.0, 2.0)], [(1.0, 'hello', 'hello')]) == 1.0
    assert _apart([(1.0, None, None)], [(1.0, None, None)]) == 0.0
