# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Two controllers are told apart by scenarios, however many trials each has."""

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.compare import compare
from safety_scenarios.campaign.statistics.paired import Margin
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.result import Finding, Latency, TrialResult
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from unit.records import elapsed, ns


def trial(verdict: str, after_ms: float | None, scenario: str, index: int,
          **changes: object) -> TrialResult:
    took = None if after_ms is None else elapsed(after_ms)
    return TrialResult(**{
        'trial_id': f'{scenario}.{index}', 'scenario_id': scenario, 'scenario_name': scenario,
        'domain': 'robotic', 'controller': 'c', 'index': index, 'seed': index,
        'verdict': Verdict(verdict), 'reason': 'r',
        'latency': Latency(onset_steady_ns=0, reaction=took, observed_ns=ns(2500),
                           latency_class=took.latency_class if took
                           else LatencyClass.NO_RESPONSE),
        'findings': (Finding(check='latency', kind='latency', reason='r', verdict=Verdict.PASS
                             if took else Verdict.FAIL),),
        'failure_class': 'none', 'started_system_ns': 0, 'duration_ms': 0.0, 'counts': {},
        **changes})


def campaign(scenarios: int, trials: int, *, failed: int = 0,
             after_ms: float | None = 100.0) -> list[TrialResult]:
    """Return scenarios of which each fails as many trials, all of which took another time."""
    return [trial('FAIL' if index < failed else 'PASS', after_ms, f'S{scenario}', index,
                  duration_ms=float(index))
            for scenario in range(scenarios) for index in range(trials)]


def measured_within(results: list[TrialResult], uncertainty_ms: float) -> list[TrialResult]:
    """Return the trials that have a latency, with another uncertainty of it."""
    return [one.model_copy(update={'latency': one.latency.model_copy(update={
        'reaction': one.latency.reaction.model_copy(update={
            'uncertainty_ns': ns(uncertainty_ms)})})}) for one in results if one.latency]


def alike(scenarios: int, trials: int, **changes: object) -> list[TrialResult]:
    """Return the same of a controller whose trials all come out alike."""
    return [one.model_copy(update={'duration_ms': 1000.0})
            for one in campaign(scenarios, trials, **changes)]


def test_a_hundred_trials_of_one_scenario_are_one_scenario():
    found = compare(campaign(1, 100), campaign(1, 100, failed=100))
    assert (found.failures_p, found.pairs, found.scenarios) == (1.0, 100, 1)
    assert found.failures_difference.low < 0.0 < 1.0 == found.failures_difference.value
    assert 'p cannot fall below 1' in found.notes[0]
    [alone] = found.alone
    assert alone.p == pytest.approx(2.0 * 0.5**100)


@pytest.mark.parametrize(('pairs', 'lost', 'code'), [
    (2, 2, 3), (5, 5, 3), (5, 4, 0), (6, 6, 1)])
def test_a_scenario_that_always_fails_now_is_no_equal_controller_however_few_its_pairs(
        pairs, lost, code):
    others = [one for one in campaign(17, pairs) if one.scenario_id != 'S0']
    found = compare(campaign(17, pairs), campaign(1, pairs, failed=lost) + others)
    assert found.regression_code == code
    assert any(f'fails in each of {pairs} pairs of S0' in one
               for one in found.doubts) == (code == 3)


@pytest.mark.parametrize(('second', 'code'), [('FE', 3), ('EF', 3), ('FF', 3), ('EP', 0)])
def test_a_scenario_that_always_fails_now_is_not_hidden_by_an_error_among_its_pairs(second, code):
    verdicts = {'F': 'FAIL', 'E': 'ERROR', 'P': 'PASS'}
    others = [one for one in campaign(17, 2) if one.scenario_id != 'S0']
    found = compare(campaign(17, 2), others + [
        trial(verdicts[one], 100.0, 'S0', index, duration_ms=float(index))
        for index, one in enumerate(second)])
    assert found.regression_code == code
    assert any('fails in each of 2 pairs of S0' in one for one in found.doubts) == (code == 3)


@pytest.mark.parametrize(('first', 'second'), [
    ('PPPPPE', 'FFFFFP'), ('PPE', 'FFP'), ('PPF', 'FFE')])
def test_pairs_that_are_all_lost_count_beside_one_that_nobody_decided(first, second):
    verdicts = {'F': 'FAIL', 'E': 'ERROR', 'P': 'PASS'}
    sides = [[one for one in campaign(17, len(first)) if one.scenario_id != 'S0'] + [
        trial(verdicts[one], 100.0, 'S0', index, duration_ms=float(index))
        for index, one in enumerate(text)] for text in (first, second)]
    assert compare(*sides).regression_code == 3


@pytest.mark.parametrize(('scenarios', 'p'), [(1, 1.0), (5, 0.0625), (6, 0.03125)])
def test_a_hundred_trials_that_came_out_alike_are_one(scenarios, p):
    """Two deterministic controllers: repeats make no difference significant, and none is lost."""
    for trials in (1, 100):
        found = compare(alike(scenarios, trials),
                        alike(scenarios, trials, failed=trials, after_ms=400.0), 'simulated')
        assert [found.failures_p, found.latency_p] == pytest.approx([p] * 2)
        assert all(row.p == 1.0 and row.distinct == 1 for row in found.alone)
        assert found.regression_code == (1 if p < 0.05 else 3)
        assert any('came out like another' in note for note in found.notes) == (trials > 1)
    if scenarios == 1:
        assert any('fails more often in S0: 100 of 100 pairs against 0' in doubt
                   for doubt in found.doubts)


def test_one_more_failure_turns_no_regression_into_a_pass():
    """It may make one more question count, after whose correction too little is left."""
    def later(scenarios: int, lost: int) -> list[TrialResult]:
        """Be later once in each scenario, and fail in the first one some pairs that differ."""
        return [trial('FAIL' if (index >= 10 - lost if scenario == 0 else
                                 index == 0 and scenario % 2) else 'PASS',
                      400.0 if index == 9 and scenario < scenarios else 100.0, f'S{scenario}',
                      index, duration_ms=float(index))
                for scenario in range(7) for index in range(10)]
    first = [trial('FAIL' if (index < 4 if scenario == 0 else index == 0 and not scenario % 2)
                   else 'PASS', 100.0, f'S{scenario}', index, duration_ms=float(index))
             for scenario in range(7) for index in range(10)]
    for scenarios, codes in ((6, [1, 3]), (7, [1, 1])):
        assert [compare(first, later(scenarios, lost)).regression_code
                for lost in (4, 5)] == codes


def test_one_deterministic_scenario_that_got_lost_among_many_is_not_green():
    lost = [one if one.scenario_id != 'S3' else other for one, other in zip(
        alike(20, 20), alike(20, 20, failed=20))]
    found = compare(alike(20, 20), lost, 'loopback')
    assert found.regression_code == 3 and not found.regressions
    assert any('fails more often in S3' in doubt and 'Run other seeds' in doubt
               for doubt in found.doubts)


def test_repeats_beside_trials_that_differ_count_once():
    first = campaign(1, 30)
    second = [one.model_copy(update={'verdict': Verdict.FAIL}) for one in first[:8]] + first[8:]
    once = compare(first, second, 'ros')
    assert once.alone[0].p == pytest.approx(2.0 * 0.5**8)
    again = [[*mine, *(mine[0].model_copy(update={'index': 30 + number, 'seed': 30 + number})
                       for number in range(50))] for mine in (first, second)]
    often = compare(*again, 'ros')
    assert often.alone[0].p == once.alone[0].p
    assert (often.pairs, often.alone[0].distinct) == (80, 30)


def test_a_sequential_test_leaves_no_p_value_of_the_trials_that_it_chose():
    first, second = campaign(2, 20), campaign(2, 20, failed=20)
    found = compare(first, second, stopped={'S0'})
    assert [row.scenario_id for row in found.alone] == ['S1']
    assert 'no p-value of the trials of S0: a sequential test' in found.notes[-1]
    none = compare(first, second, stopped={'S0', 'S1'})
    assert none.alone == ()
    assert none.regression_code == 3


@pytest.mark.parametrize('made', [campaign, alike])
@pytest.mark.parametrize(('trials', 'failed', 'says'), [
    (20, 20, 'fails more often in S3: 20 of 20 pairs against 0, p = '),
    (3, 3, 'fails more often in S3: 3 of 3 pairs against 0, which are too few'),
    (20, 0, None)])
def test_a_scenario_that_a_sequential_test_ended_and_that_got_lost_is_not_green(
        trials, failed, says, made):
    rest = [one for one in made(20, 20) if one.scenario_id != 'S3']
    first, second = ([*rest, *(one for one in made(20, trials, failed=fails)
                               if one.scenario_id == 'S3')] for fails in (0, failed))
    found = compare(first, second, 'simulated', stopped={'S3'})
    assert not found.regressions and found.regression_code == (0 if says is None else 3)
    assert says is None or any(says in doubt and 'a sequential test chose' in doubt
                               for doubt in found.doubts)


@pytest.mark.parametrize(('scenarios', 'p'), [(5, 0.0625), (6, 0.03125), (16, 2.0 * 0.5**16)])
def test_what_all_scenarios_show_is_a_matter_of_their_number(scenarios, p):
    for trials in (1, 50):
        found = compare(campaign(scenarios, trials), campaign(scenarios, trials, failed=1))
        assert found.failures_p == pytest.approx(p)
        assert bool(found.notes) == (scenarios < 6)
        assert found.worse == tuple(sorted(f'S{index}' for index in range(scenarios)))


def test_differences_that_cancel_are_none():
    half = [*campaign(8, 10, failed=9)[:40], *campaign(8, 10)[40:]]
    other = [*campaign(8, 10)[:40], *campaign(8, 10, failed=9)[40:]]
    found = compare(half, other)
    assert found.failures_p == 1.0
    assert (found.scenarios_better, found.scenarios_worse) == (4, 4)
    assert found.failures_difference.value == 0.0
    assert all(row.p < 0.05 for row in found.alone)


def test_a_later_controller_is_told_by_its_latencies():
    found = compare(campaign(8, 4), campaign(8, 4, after_ms=130.0))
    assert found.latency_p == pytest.approx(2.0 * 0.5**8)
    assert found.failures_p == 1.0
    assert (found.median_difference_ms.value, found.median_difference_ms.low) == (30.0, 30.0)


def test_no_reaction_is_later_than_any():
    found = compare(campaign(8, 4, after_ms=2400.0), campaign(8, 4, after_ms=None))
    assert found.latency_p == pytest.approx(2.0 * 0.5**8)
    assert found.median_difference_ms.value is None
    back = compare(campaign(8, 4, after_ms=None), campaign(8, 4, after_ms=None))
    assert (back.latency_p, back.median_difference_ms.value) == (1.0, 0.0)


def test_a_latency_that_could_not_be_measured_on_one_side_is_left_out_of_both():
    odd = [trial('INCONCLUSIVE', 900.0, result.scenario_id, result.index,
                 findings=(Finding(check='c', kind='harness', verdict=Verdict.ERROR, reason='r'),))
           for result in campaign(8, 1)]
    found = compare(campaign(8, 4), [*odd, *(result for result in campaign(8, 4) if result.index)])
    assert (found.pairs, found.latency_pairs, found.latency_p) == (32, 24, 1.0)
    assert found.undecided == (0, 8)


def test_trials_of_one_side_only_tell_nothing():
    found = compare(campaign(6, 3), campaign(7, 2, failed=1))
    assert (found.pairs, found.unpaired, found.scenarios) == (12, 8, 6)


@pytest.mark.parametrize('counts', [(100, 80), (80, 100)])
def test_trials_that_only_one_has_show_nothing_to_be_no_worse(counts):
    """Whoever ends before the first failure, or compares with the good trials alone, sees none."""
    first, second = (campaign(1, count) for count in counts)
    found = compare(first, second, margins=[Margin('failures', 0.05)])
    assert found.regression_code == 3 and found.margins[0].answer == 'not shown'
    assert found.doubts[0] == found.margins[0].why == (
        '20 trials of one campaign without that of the other. Run both with the same number of '
        'trials')
    more = [*first, *(one for one in campaign(2, 5) if one.scenario_id == 'S1')]
    assert compare(first, more).regression_code == 0, 'of a scenario that is not compared'


def test_a_regression_is_found_by_what_both_decided_and_by_nothing_else():
    assert compare(campaign(6, 1), campaign(6, 1, failed=1)).regression_code == 1
    assert compare(campaign(6, 1), campaign(6, 1, after_ms=140.0)).regression_code == 1
    assert compare(campaign(6, 1, failed=1), campaign(6, 1)).regression_code == 0
    worse = [*campaign(6, 20)[:-8], *campaign(6, 20, failed=20)[-8:]]
    found = compare(campaign(6, 20), worse)
    assert found.regression_code == 1
    assert [text.partition(' pairs')[0] for text in found.regressions] == [
        'fails more often, in these scenarios: 8 of 120', 'fails more often in S5: 8 of 20']


@for_each(('after_ms', 'uncertainty_ms', 'code'), [
    (400.0, 0.0, 1), (400.0, 11.75, 1), (110.0, 11.75, 0), (100.0, 0.0, 0), (40.0, 0.0, 0)])
def test_a_later_reaction_in_one_scenario_is_a_regression_if_it_can_be_measured(
        after_ms, uncertainty_ms, code):
    found = compare(*(measured_within(mine, uncertainty_ms) for mine in (
        campaign(1, 20), campaign(1, 20, after_ms=after_ms))))
    assert found.regression_code == code
    assert [text.partition(',')[0] for text in found.regressions] == (
        ['reacts later in S0: 20 of 20 pairs against 0'] if code else [])


def test_what_could_not_be_compared_is_never_green():
    first = campaign(7, 4)
    [*others, last] = first
    for verdict in ('ERROR', 'INCONCLUSIVE'):
        undecided = [trial(verdict, None, one.scenario_id, one.index) for one in first]
        found = compare(first, undecided)
        assert (found.exit_code, found.regression_code, found.decided) == (3, 3, 0)
        one_scenario = [*first[:-4], *undecided[-4:]]
        found = compare(first, one_scenario)
        assert (found.exit_code, found.regression_code) == (0, 3)
        assert found.not_compared == ('S6',) and 'compared of S6' in found.doubts[0]
        some_of_each = [two if two.index else one for one, two in zip(first, undecided)]
        found = compare(first, some_of_each)
        assert not found.not_compared and found.regression_code == 3
        assert 'if every trial that is INCONCLUSIVE or ERROR had come out' in found.doubts[0]
        assert compare(first, [*others, trial(verdict, None, 'S6', 3)]).regression_code == 0
    assert compare(first, first[:-4]).not_compared == ('S6',)
    assert compare(first[:-4], first).regression_code == 0


@for_each(('scenarios', 'trials', 'code'), [
    (1, 5, 3), (1, 6, 0), (2, 2, 3), (2, 3, 0), (5, 1, 3), (6, 1, 0)])
def test_a_gate_that_no_result_could_fail_is_never_green(scenarios, trials, code):
    same = campaign(scenarios, trials)
    assert compare(same, same).regression_code == code
    assert compare(same, campaign(scenarios, trials, failed=trials)).regression_code == (
        1 if code == 0 else 3)


def test_nothing_in_common_is_refused():
    with pytest.raises(SettingsError, match='without a common trial'):
        compare(campaign(1, 1), [trial('PASS', 1.0, 'other', 0)])


@for_each(('after_ms', 'code'), [(110.0, 0), (111.0, 1)])
def test_a_later_reaction_over_scenarios_is_a_regression_only_beyond_both_uncertainties(
        after_ms, code):
    found = compare(*(measured_within(campaign(8, 2, after_ms=each), 5.0)
                      for each in (100.0, after_ms)))
    assert (found.regression_code, found.latency_p < 0.05) == (code, code == 1)
