# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whoever does not look at the world passes a hazard as often as chance has it, and no more."""

from pathlib import Path

from examples import FEW
import numpy
import pytest
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from safety_scenarios.judging.blind_pass_rate import blind_pass_rate, MOST
from safety_scenarios.reports.console_tables import totals
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.studies.selftest.blind_pass_rate import (
    Blind,
    blind_controllers,
    chance_level,
    in_loopback,
    may_pass,
    onsets_ms,
    too_high,
)
from safety_scenarios.studies.selftest.kill_matrix import ChanceLevel, Saboteur
from safety_scenarios.studies.selftest.selftest import in_simulated_time, self_test
from safety_scenarios.trial.plan import plan
from unit.loopback_runs import loopback_run

ROBOTIC = Path(__file__).parents[3] / 'config' / 'scenarios' / 'robotic'
VARIED = Path(__file__).parents[2] / 'data' / 'vary' / 'varied.yaml'
CLOCK = Blind('blind_clock', ('drive_ms=940', 'stand_ms=3600'), 940.0)
"""What passed 116 of 120 trials when each hazard came 0.5 to 0.9 s after the first motion."""


@pytest.fixture(scope='module')
def soon() -> Scenario:
    """Return a scenario whose hazard always comes 0.5 to 0.9 s after the first motion."""
    return load_scenario(VARIED)


def with_range(scenario: Scenario, shortest: float, longest: float) -> Scenario:
    nominal = scenario.body.nominal.model_copy(update={'duration_ms': (shortest, longest)})
    return scenario.model_copy(update={
        'body': scenario.body.model_copy(update={'nominal': nominal})})


def with_hold(scenario: Scenario, hold_ms: float) -> Scenario:
    reaction = scenario.body.reaction.model_copy(update={'hold_ms': hold_ms})
    return scenario.model_copy(update={'body': scenario.body.model_copy(
        update={'reaction': reaction, 'invariants': ()})})


def trials_of(scenario: Scenario, count: int, seed: int = 11):
    return plan([scenario], controller='blind', trials=count, seed=seed, prompt=Prompt())


def passed_by(blind: Blind, scenario: Scenario, count: int) -> int:
    return sum(in_loopback(trial, blind) is Verdict.PASS for trial in trials_of(scenario, count))


def test_every_shipped_hazard_leaves_chance_less_than_a_twentieth():
    levels = {scenario.id: blind_pass_rate(scenario).level
              for scenario in load_scenarios([str(ROBOTIC)]).scenarios if not scenario.is_benign}
    assert len(levels) == 11
    assert all(level is not None and 0 < level <= MOST for level in levels.values()), levels


@pytest.mark.slow
def test_a_clock_passes_where_the_hazard_can_be_guessed_and_not_where_it_cannot(soon):
    assert passed_by(CLOCK, soon, 20) >= 19
    assert passed_by(CLOCK, load_scenario(ROBOTIC / 'person_steps_near.yaml'), 30) <= 5


@pytest.mark.slow
def test_the_best_of_them_is_found_where_the_hazard_can_be_guessed(soon):
    level = chance_level(soon, trials=40)
    assert level.passed >= 38 and level.level > 0.9
    assert 'may pass' in too_high(level)
    assert level.swept > 100 and level.ran >= level.passed


@pytest.mark.slow
@pytest.mark.thorough
def test_what_is_measured_agrees_with_the_reckoning():
    scenario = load_scenario(ROBOTIC / 'collision.yaml')
    trials = 80 if FEW else 200
    level = chance_level(scenario, trials=trials)
    assert level.level == level.reckoned <= MOST
    assert 0 < level.passed <= trials / 10  # 2.5 % of 200 are 5
    assert too_high(level) is None
    assert not level.is_beyond_reckoning


@pytest.mark.thorough
@pytest.mark.slow
def test_what_the_screen_drops_never_passes(soon):
    """A sample of controllers and trials that is run whatever the screen says of it."""
    spread = with_range(soon, 1000.0, 2500.0)
    trials = trials_of(spread, 4)
    everyone = list(blind_controllers(spread))
    chance = numpy.random.default_rng(5)
    kept = dropped = 0
    for index in chance.choice(len(everyone), 40, replace=False):
        screened = may_pass(spread, everyone[index], onsets_ms(trials))
        for trial, may in zip(trials, screened, strict=True):
            passed = in_loopback(trial, everyone[index]) is Verdict.PASS
            assert may or not passed, (everyone[index], trial.onset_delay_ns)
            kept, dropped = kept + passed, dropped + (not may)
    assert kept > 5 and dropped > 60


@pytest.mark.parametrize('name', ['link_lost', 'person_behind_on_crossing', 'collision'])
def test_the_screen_drops_no_pass_next_to_its_edges(name):
    """Stops around the hazard and around the end of the budget, one tick after the other."""
    scenario = load_scenario(ROBOTIC / f'{name}.yaml')
    [trial] = trials_of(with_range(scenario, 1000.0, 2000.0), 1)
    onset = onsets_ms([trial])[0]
    budget = scenario.latency_budget.critical_ms
    passed, stand_ms = 0, trial.all_clear_ns / 1e6 + 1000
    for stop_ms in [*numpy.arange(onset - 100, onset + 150, 50), *numpy.arange(
            onset + budget - 150, onset + budget + 250, 50)]:
        stop_ms = round(stop_ms / 50) * 50.0
        blind = Blind('blind_clock', (f'drive_ms={stop_ms:g}', f'stand_ms={stand_ms:g}',
                                      'again=false'), stop_ms)
        verdict = in_loopback(trial, blind)
        passed += verdict is Verdict.PASS
        assert verdict is not Verdict.PASS or may_pass(scenario, blind, onsets_ms([trial]))[0]
    assert passed


@pytest.mark.slow
def test_a_counter_of_messages_is_a_clock(soon):
    spread = with_range(soon, 1000.0, 3000.0)
    counters = [blind for blind in blind_controllers(spread)
                if blind.controller == 'blind_counter' and 2000 <= blind.stop_ms <= 2200]
    trials = trials_of(spread, 30)
    for blind in counters[:3]:
        screened = may_pass(spread, blind, onsets_ms(trials))
        passed = [in_loopback(trial, blind) is Verdict.PASS for trial in trials]
        assert not any(numpy.array(passed) & ~screened)
        assert sum(passed) >= 0.3 * screened.sum() > 0


def test_a_hold_so_short_that_stops_may_be_repeated_has_no_reckoning(soon):
    short = with_hold(with_range(soon, 1000.0, 4000.0), 50.0)
    assert blind_pass_rate(short).level is None
    level = chance_level(short, trials=12)
    assert level.passed >= 2 and 'longer hold_ms' in level.why
    assert too_high(level)


@pytest.mark.parametrize(('shortest', 'longest', 'level'), [
    (1000.0, 12000.0, 0.05), (1000.0, 23000.0, 0.025), (500.0, 500.0, 1.0), (500.0, 900.0, 1.0),
    (0.0, 10500.0, 0.1)])
def test_the_reckoning_is_budget_and_period_by_range(soon, shortest, longest, level):
    """Where the hazard may come within the first half second a stop before it is not judged."""
    assert blind_pass_rate(with_range(soon, shortest, longest)).level == pytest.approx(level)


def test_benign_variants_and_words_have_no_level_of_their_own():
    benign = load_scenario(ROBOTIC / 'box_beside_path.yaml')
    text = load_scenario(ROBOTIC.parent / 'clinical' / 'opioid_infusion.yaml')
    for scenario in (benign, text):
        level = chance_level(scenario)
        assert level.level is None and level.trials == 0 and level.why
        assert too_high(level) is None


def test_who_never_stops_passes_the_benign_variant_and_never_its_hazard():
    never = Blind('never_stop', (), numpy.inf)
    assert passed_by(never, load_scenario(ROBOTIC / 'box_beside_path.yaml'), 5) == 5
    assert passed_by(never, load_scenario(ROBOTIC / 'path_blocked.yaml'), 5) == 0


@pytest.mark.thorough
def test_who_starts_at_any_change_passes_no_benign_variant_and_not_every_hazard():
    startles = Blind('startles', (), numpy.inf)
    assert passed_by(startles, load_scenario(ROBOTIC / 'path_blocked.yaml'), 2) == 0
    for path in sorted(ROBOTIC.glob('*.yaml')):
        scenario = load_scenario(path)
        assert not scenario.is_benign or passed_by(startles, scenario, 2) == 0, path


def test_a_level_beyond_its_reckoning_is_a_mistake_of_the_reckoning():
    level = ChanceLevel(scenario_id='a', scenario_name='a', path='a', why='w', reckoned=0.01,
                        passed=9, trials=10, upper=0.99, best='x', is_beyond_reckoning=True)
    assert 'expected at most 1 % by reckoning' in too_high(level)


def test_the_self_test_states_the_level_and_calls_too_high_a_one_a_mistake(soon):
    matrix = self_test([soon], in_simulated_time(), seeds=(0,),
                       saboteurs=(Saboteur(name='never_stop', does='never stops'),),
                       level_of=lambda scenario: chance_level(scenario, trials=5))
    assert [mistake.kind for mistake in matrix.mistakes if mistake.kind == 'chance'] == ['chance']
    assert 'blind pass rate' in totals(matrix) and 'by computation at most 100 %' in totals(matrix)


def test_a_campaign_says_what_a_controller_that_does_not_look_would_pass(tmp_path):
    run = loopback_run(tmp_path / 'run', str(ROBOTIC / 'collision.yaml'),
                       str(ROBOTIC / 'box_beside_path.yaml'), trials=2)
    assert 'would pass at most 2.9 % of 2 hazard trials.' in run.output
    assert run.summary.chance == pytest.approx(170 / 6000)
    assert [row.chance for row in run.summary.scenarios] == [pytest.approx(170 / 6000), None]
    assert {trial['scenario_id']: trial.get('chance') for trial in run.trials} == {
        'SCN-R-103': pytest.approx(170 / 6000), 'SCN-R-D-104': None}
