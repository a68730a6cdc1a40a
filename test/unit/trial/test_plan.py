# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Every chance is drawn from the seed when a trial is planned, and never later."""

from collections import Counter

from cases import for_each
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.identity import file_name
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.trial import Trial
from unit.records import benign_variant, chat, hazard, ns

SCENARIOS = (hazard(), benign_variant(id='D'), chat(id='C'))


def planned(seed: int = 0, trials: int = 20, controller: str = 'c',
            warmup: int = 0) -> tuple[Trial, ...]:
    return plan(SCENARIOS, controller=controller, trials=trials, seed=seed, prompt=Prompt(),
                warmup=warmup)


def test_the_same_seed_gives_the_same_plan():
    assert planned(7) == planned(7)


def test_another_seed_gives_other_delays():
    delays = [[trial.onset_delay_ns for trial in planned(seed)] for seed in (1, 2, 3)]
    assert delays[0] != delays[1] != delays[2] != delays[0]


def test_each_trial_has_a_phase_of_its_own():
    assert len({trial.onset_delay_ns for trial in planned()}) == 60


def test_the_delay_lies_in_the_scenario_s_range():
    for trial in planned(trials=500):
        shortest, longest = (0, 200) if trial.is_text else (500, 900)
        assert ns(shortest) <= trial.onset_delay_ns <= ns(longest)


def test_the_delays_spread_over_the_range():
    delays = [trial.onset_delay_ns for trial in planned(trials=500) if not trial.is_text]
    assert min(delays) < ns(510) and max(delays) > ns(890)


def test_a_trial_does_not_depend_on_how_many_others_there_are():
    assert planned(trials=3)[:3] == planned(trials=20)[:3]


def test_a_controller_sees_the_same_phases_as_another():
    assert [trial.onset_delay_ns for trial in planned(controller='a')] == [
        trial.onset_delay_ns for trial in planned(controller='b')]


def test_scenarios_come_one_after_the_other():
    assert [(trial.scenario.id, trial.index) for trial in planned(trials=2)] == [
        ('T', 0), ('T', 1), ('D', 0), ('D', 1), ('C', 0), ('C', 1)]


def test_every_trial_has_an_id_of_its_own():
    ids = [trial.trial_id for seed in (0, 1) for trial in planned(seed)]
    assert len(set(ids)) == len(ids)


def test_the_times_are_those_of_the_scenario():
    robot, _, text = planned(trials=1)
    assert (robot.all_clear_ns, robot.end_ns, robot.nominal_timeout_ns) == (
        ns(2500), ns(3000), ns(3000))
    assert (text.all_clear_ns, text.end_ns) == (None, ns(1500))
    assert text.hazard == (Prompt(),) and text.nominal == ()


def test_an_observation_of_a_text_outlasts_its_budget():
    text = planned(trials=1)[-1]
    assert text.end_ns > text.scenario.latency_budget.limit_ns('critical')


@for_each('identifier', ['a/b', 'a b', 'ä', '..', 'x' * 200, 'a.b', 'a:b'])
def test_an_id_becomes_a_safe_file_name_that_tells_it_apart(identifier):
    name = file_name(identifier)
    assert name.isascii() and len(name) <= 100
    assert not set(name) & set('/\\. :')
    assert name != file_name(identifier + '_')


def test_a_plain_id_is_its_own_file_name():
    assert file_name('SCN-R_101') == 'SCN-R_101'


def test_the_phase_of_onset_is_a_share_of_the_controller_s_period():
    phases = [trial.onset_phase for trial in planned(trials=500)]
    assert all(0 <= phase < 1 for phase in phases)
    assert len(set(phases)) == 1500


def test_the_phases_spread_evenly():
    """Each tenth of the period is met about 150 times of 1500; the chance of 90 is 1e-7."""
    tenths = Counter(int(trial.onset_phase * 10) for trial in planned(trials=500))
    assert set(tenths) == set(range(10))
    assert all(90 < count < 210 for count in tenths.values())


def test_the_phase_is_drawn_from_the_seed_and_beside_the_delay():
    assert [trial.onset_phase for trial in planned(1)] != [
        trial.onset_phase for trial in planned(2)]
    shares = [(trial.onset_delay_ns / 1e6 - 500) / 400 for trial in planned() if not trial.is_text]
    assert all(abs(share - trial.onset_phase) > 1e-6 for share, trial in zip(
        shares, (trial for trial in planned() if not trial.is_text), strict=True))


def test_a_controller_meets_the_same_phases_as_another():
    assert [trial.onset_phase for trial in planned(controller='a')] == [
        trial.onset_phase for trial in planned(controller='b')]


def test_warm_up_trials_come_first_and_are_marked():
    assert [(trial.scenario.id, trial.index, trial.warmup) for trial in planned(
        trials=2, warmup=2)] == [
            (name, index, index < 0) for name in 'TDC' for index in (-2, -1, 0, 1)]


def test_warm_up_trials_change_none_of_the_others():
    cold = [trial for trial in planned(trials=5, warmup=3) if not trial.warmup]
    assert tuple(cold) == planned(trials=5)


def test_a_warm_up_trial_is_drawn_like_any_other_and_has_an_id_of_its_own():
    trials = planned(trials=3, warmup=3)
    assert len({trial.trial_id for trial in trials}) == len(trials) == 18
    assert len({trial.onset_phase for trial in trials}) == 18
    assert planned(trials=1, warmup=1)[0].trial_id.endswith('.w1')
