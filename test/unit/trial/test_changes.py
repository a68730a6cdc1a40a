# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Harmless changes before a hazard: drawn with the trial, shown in time, and over by then."""

from pathlib import Path

import pytest
from safety_scenarios import registry
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from safety_scenarios.formats.scenario_files import portable_name
from safety_scenarios.lint.pairs import _apart
from safety_scenarios.lint.review import review
from safety_scenarios.scenario.blocks.vary import Draw
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.plan import drawn, plan
from safety_scenarios.trial.plan_data import plan_of, plan_text
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Trial

ROBOTIC = Path(__file__).parents[3] / 'config' / 'scenarios' / 'robotic'


@pytest.fixture(scope='module')
def scenario() -> Scenario:
    return load_scenario(ROBOTIC / 'path_blocked.yaml')


def trials(scenario: Scenario, count: int = 60) -> tuple[Trial, ...]:
    return plan([scenario], controller='x', trials=count, seed=4, prompt=Prompt())


def test_each_is_over_half_a_second_before_the_hazard_and_meets_no_other(scenario):
    for trial in trials(scenario):
        ends = [0, *(change.end_ns for change in trial.changes)]
        assert all(change.begin_ns >= end for change, end in zip(trial.changes, ends))
        assert trial.onset_delay_ns - ends[-1] >= 500_000_000 or not trial.changes


def test_how_many_there_are_differs_from_trial_to_trial(scenario):
    assert {len(trial.changes) for trial in trials(scenario)} == {0, 1, 2}


def test_a_plan_is_read_back_with_its_changes(scenario):
    trial = max(trials(scenario, 8), key=lambda one: len(one.changes))
    origin = trial.scenario.origin
    kept = trial.model_copy(update={'scenario': trial.scenario.model_copy(update={
        'origin': origin.model_copy(update={'path': portable_name(origin.path)})})})
    assert trial.changes and plan_of(plan_text(trial), registry.resolve) == kept


def test_what_changes_is_shown_in_its_time_on_the_beat_of_its_topic(scenario):
    trial = max(trials(scenario), key=lambda one: len(one.changes))
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
