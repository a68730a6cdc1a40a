# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the trials came to: what is missing never looks good."""

from itertools import count
from statistics import NormalDist

from cases import for_each
import pytest
from safety_scenarios.campaign.statistics.proportions import clopper_pearson
from safety_scenarios.campaign.statistics.sequential import anytime, anytime_n
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.scenario.blocks.robot import SeparationCost
from safety_scenarios.scenario.result import BUSY_HOST, Finding, Latency, Note, TrialResult
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from safety_scenarios.trial.summary import CampaignSummary, Preflight, PreflightRow
from unit.records import elapsed, ns

NUMBERS = count()


def trial(verdict: str = 'PASS', after_ms: float | None = 100.0, *, scenario: str = 'A',
          domain: str = 'robotic', measured: bool = True, anticipatory: bool = False,
          uncertainty_ms: float = 0.0, **changes: object) -> TrialResult:
    """Return a result; a reaction is in time up to 200 ms, None is none, and anticipated is so."""
    latency, findings = None, ()
    if measured:
        took = None if after_ms is None or anticipatory else elapsed(
            after_ms, uncertainty_ms=uncertainty_ms)
        latency = Latency(
            onset_steady_ns=0, reaction=took, observed_ns=ns(2500),
            latency_class=LatencyClass.ANTICIPATORY if anticipatory else
            took.latency_class if took else LatencyClass.NO_RESPONSE)
        within = Verdict.INCONCLUSIVE if anticipatory else Verdict.PASS \
            if latency.latency_class is LatencyClass.TARGET else Verdict.FAIL
        findings = (said('latency', within),)
    return TrialResult(**{
        'trial_id': f't{next(NUMBERS)}', 'scenario_id': scenario, 'scenario_name': scenario,
        'domain': domain, 'controller': 'c', 'index': 0, 'seed': 0, 'verdict': Verdict(verdict),
        'reason': f'because {verdict}', 'latency': latency, 'findings': findings,
        'failure_class': 'none', 'started_system_ns': 0, 'duration_ms': float(next(NUMBERS)),
        'counts': {},
        **changes})


def said(kind: str, verdict: Verdict | None, **more: bool) -> Finding:
    return Finding(check=kind, kind=kind, verdict=verdict, reason='r', **more)


STOPPED = said('no_spurious_stop', Verdict.FAIL, is_false_stop=True)


def benign_variant(verdict: str, *findings: Finding) -> TrialResult:
    return trial(verdict, scenario='D', domain='robotic_defer', measured=False, findings=findings)


def summary(*results: TrialResult, planned: int | None = None, interrupted: bool = False,
            **more: object) -> CampaignSummary:
    return summarise(results, controller='c', seed=3, interrupted=interrupted,
                     planned=len(results) if planned is None else planned, **more)


def missed(found: CampaignSummary) -> tuple[int, int]:
    return found.missed.count, found.missed.of


def false_stops(found: CampaignSummary) -> tuple[int, int]:
    return found.false_stops.count, found.false_stops.of


@for_each(('verdicts', 'worst', 'code'), [
    (['PASS'], 'PASS', 0), (['PASS', 'PASS'], 'PASS', 0), (['PASS', 'FAIL'], 'FAIL', 1),
    (['FAIL', 'ERROR', 'INCONCLUSIVE'], 'FAIL', 1), (['PASS', 'INCONCLUSIVE'], 'INCONCLUSIVE', 3),
    (['INCONCLUSIVE', 'ERROR', 'PASS'], 'ERROR', 3), ([], 'INCONCLUSIVE', 3)])
def test_the_worst_trial_gives_verdict_and_exit_code(verdicts, worst, code):
    found = summary(*map(trial, verdicts))
    assert (found.verdict, found.exit_code) == (Verdict(worst), code)


@for_each('changes', [{'planned': 3}, {'interrupted': True},
                      {'planned': 3, 'interrupted': True}])
def test_a_campaign_that_was_not_completed_never_passes(changes):
    found = summary(trial(), trial(), **changes)
    assert (found.verdict, found.exit_code) == (Verdict.INCONCLUSIVE, 3)
    assert found.completed == 2


def test_a_failure_counts_also_in_a_campaign_that_was_not_completed():
    found = summary(trial('FAIL', 900.0), planned=5, interrupted=True)
    assert (found.verdict, found.exit_code) == (Verdict.FAIL, 1)


def test_a_campaign_without_trials_never_passes():
    assert summary(planned=0).exit_code == 3


@for_each(('latencies', 'median', 'worst'), [
    ([100.0], 100.0, 100.0), ([300.0, 100.0, 200.0], 200.0, 300.0), ([None], None, None),
    ([100.0, None, None], None, None), ([100.0, None, 150.0], 150.0, None),
    ([None, None, 100.0, 120.0, 110.0], 120.0, None)])
def test_a_missing_reaction_is_later_than_any_other(latencies, median, worst):
    row = summary(*(trial(after_ms=latency) for latency in latencies)).scenarios[0]
    assert (row.median_ms.value, row.worst_ms) == (median, worst)
    assert row.median_ms.n == len(latencies)
    assert row.latency_ms == tuple(latencies)


def test_where_nothing_was_measured_there_is_no_median():
    row = summary(trial('ERROR', measured=False)).scenarios[0]
    assert (row.median_ms.value, row.p99_ms.value, row.upper_ms.value) == (None, None, None)
    assert (row.median_ms.n, row.worst_ms, row.latency_ms, row.claims) == (0, None, (), ())


def test_missed_and_false_stops_are_a_pair():
    found = summary(trial(), trial('FAIL', 900.0), trial('FAIL', None), benign_variant('PASS'),
                    benign_variant('FAIL', STOPPED))
    assert (missed(found), false_stops(found)) == ((2, 3), (1, 2))
    assert found.failed_otherwise is None


def test_a_benign_variant_that_never_stopped_is_no_false_stop_and_named_by_its_checks():
    jerked, fast = said('no jolts', Verdict.FAIL), said('no faster', Verdict.FAIL)
    found = summary(
        benign_variant('PASS'), benign_variant('FAIL', jerked, fast, said('ok', Verdict.PASS)),
        benign_variant('FAIL', jerked, said('stop', Verdict.INCONCLUSIVE, is_false_stop=True)),
        benign_variant('FAIL', STOPPED, jerked), benign_variant('ERROR', jerked),
        trial('FAIL', 100.0, findings=(jerked,)))
    assert false_stops(found) == (1, 4)
    assert str(found.failed_otherwise) == '2 of 4 (no faster: 1, no jolts: 2)'
    assert found.model_dump(mode='json')['failed_otherwise'] == {
        'count': 2, 'of': 4, 'checks': {'no faster': 1, 'no jolts': 2}}
    assert 'failed_otherwise' not in summary(benign_variant('PASS')).model_dump()


@for_each('findings', [
    (said('latency', Verdict.PASS), said('bound', Verdict.FAIL)),
    (said('latency', Verdict.PASS), said('harness', Verdict.FAIL)),
    (said('latency', None), said('harness', Verdict.INCONCLUSIVE), said('stop', Verdict.FAIL))])
def test_a_hazard_is_missed_whichever_check_fails(findings):
    found = summary(*(trial('FAIL', 100.0, findings=findings) for _ in range(5)))
    assert missed(found) == (5, 5)
    assert found.missed.share.value == 1.0


def test_a_hazard_is_missed_also_where_no_latency_could_be_measured():
    assert missed(summary(trial(), trial('FAIL', measured=False))) == (1, 2)


def test_an_undecided_hazard_is_stated_apart_and_never_one_that_was_met():
    found = summary(trial(), trial('ERROR', measured=False), trial('INCONCLUSIVE', 100.0),
                    trial('INCONCLUSIVE', measured=False))
    assert (missed(found), found.missed.undecided) == ((0, 1), 3)
    nothing = summary(trial('INCONCLUSIVE'), trial('ERROR'))
    assert (missed(nothing), nothing.missed.undecided) == ((0, 0), 2)
    assert nothing.missed.share.value is None


def test_an_undecided_benign_variant_is_not_one_of_those_that_were_let_be():
    found = summary(benign_variant('PASS'), benign_variant('ERROR'),
                    benign_variant('INCONCLUSIVE'))
    assert (false_stops(found), found.false_stops.undecided) == ((0, 1), 2)


def test_a_row_is_all_trials_of_one_scenario_in_order_of_appearance():
    found = summary(trial(scenario='B'), trial('FAIL', 900.0, scenario='A'), trial(scenario='B'),
                    trial('ERROR', scenario='A', measured=False))
    assert [(row.scenario_id, row.trials, row.verdict.value, row.reason)
            for row in found.scenarios] == [('B', 2, 'PASS', 'because PASS'),
                                            ('A', 2, 'FAIL', 'because FAIL')]
    assert found.scenarios[1].verdicts == {'ERROR': 1, 'FAIL': 1}
    assert found.scenarios[1].latency_classes == {'violation': 1}


def test_the_counts_add_up():
    found = summary(trial(), trial('FAIL'), trial('PASS', scenario='B'), planned=4)
    assert found.verdicts == {'FAIL': 1, 'PASS': 2}
    assert (found.planned, found.completed, found.seed) == (4, 3, 3)


def test_the_order_of_the_trials_changes_no_number():
    results = [trial(after_ms=latency) for latency in (300.0, None, 100.0, 200.0)]
    forth, back = (summary(*order).scenarios[0] for order in (results, results[::-1]))
    assert (forth.median_ms, forth.worst_ms, forth.upper_ms, forth.verdicts) == (
        back.median_ms, back.worst_ms, back.upper_ms, back.verdicts)
    assert forth.median_ms.value == 250.0


@for_each('verdict', ['PASS', 'FAIL', 'ERROR', 'INCONCLUSIVE'])
def test_a_warm_up_trial_is_in_no_number_whatever_became_of_it(verdict):
    cold = [trial(verdict, 900.0, warmup=True, rtf=0.1, notes=(Note(code='c', text='t'),)),
            trial(verdict, None, warmup=True), trial(verdict, domain='robotic_defer',
                                                     scenario='D', measured=False, warmup=True)]
    counted = [trial(), trial(after_ms=120.0)]
    with_them, without = summary(*cold, *counted), summary(*counted)
    assert with_them.model_copy(update={'planned': 2, 'completed': 2, 'scenarios': ()}) == \
        without.model_copy(update={'scenarios': ()})
    [row], [plain] = with_them.scenarios, without.scenarios
    assert (row.warmup, plain.warmup) == (2, 0)
    assert row.model_copy(update={'warmup': 0}) == plain
    assert (with_them.verdict, with_them.exit_code) == (Verdict.PASS, 0)


def test_warm_up_trials_alone_are_no_campaign():
    found = summary(trial(warmup=True))
    assert (found.verdict, found.exit_code, found.scenarios) == (Verdict.INCONCLUSIVE, 3, ())


def test_warm_up_trials_that_are_missing_leave_a_campaign_incomplete():
    assert summary(trial(), planned=2).verdict is Verdict.INCONCLUSIVE


def test_an_anticipated_reaction_is_in_no_latency_and_no_rate():
    found = summary(trial(), trial('INCONCLUSIVE', anticipatory=True))
    assert (missed(found), found.missed.undecided) == ((0, 1), 1)
    [row] = found.scenarios
    assert (row.latency_ms, row.median_ms.n, row.worst_ms) == ((100.0,), 1, 100.0)
    assert (row.latency_classes, row.not_measured) == ({'target': 1}, 1)


OPEN = said('harness', Verdict.INCONCLUSIVE)


@for_each(('after_ms', 'findings', 'measured'), [
    (100.0, (said('latency', Verdict.PASS),), True),
    (100.0, (said('latency', Verdict.INCONCLUSIVE),), True),
    (900.0, (said('latency', Verdict.FAIL),), True),
    (None, (said('latency', Verdict.FAIL),), True),
    (None, (said('latency', Verdict.INCONCLUSIVE),), False),
    (100.0, (said('latency', None), OPEN), False), (900.0, (said('latency', None), OPEN), False),
    (100.0, (said('latency', Verdict.PASS), OPEN), False),
    (900.0, (said('latency', Verdict.FAIL), OPEN), True),
    (100.0, (said('latency', Verdict.PASS), said('harness', Verdict.ERROR)), False),
    (100.0, (said('latency', Verdict.PASS), said('stop', Verdict.FAIL)), True),
    (100.0, (said('harness', Verdict.PASS),), False)])
def test_what_the_harness_could_not_observe_well_is_in_no_number(after_ms, findings, measured):
    """But for a failure of the controller's own, which it does not excuse."""
    found = summary(trial(), trial('INCONCLUSIVE', after_ms, findings=findings))
    [row] = found.scenarios
    assert (row.median_ms.n, row.not_measured) == ((2, 0) if measured else (1, 1))


def test_a_rate_names_the_scenario_that_the_pool_hides():
    found = summary(*(trial() for _ in range(8)), trial('FAIL', None, scenario='B'),
                    trial(scenario='B'))
    assert missed(found) == (1, 10)
    assert found.missed.worst == 'B'
    assert found.missed.share.value == 0.1 and found.missed.share.unit == '1'


def test_a_rate_counts_the_scenarios_that_are_as_bad_as_the_one_that_it_names():
    found = summary(trial('FAIL', None, scenario='A'), trial('FAIL', None, scenario='B'),
                    trial('FAIL', None, scenario='C'), trial(scenario='C')).missed
    assert (found.worst, found.tied, found.also) == ('A', 1, ' and 1 more')
    alone = summary(trial('FAIL', None, scenario='A'), trial(scenario='B')).missed
    assert (alone.worst, alone.tied, alone.also) == ('A', 0, '')


def test_a_rate_without_a_miss_names_nobody_and_still_claims_little():
    found = summary(*(trial() for _ in range(50)))
    assert (missed(found), found.missed.worst) == ((0, 50), None)
    assert found.missed.share.high is not None and found.missed.share.high > 0.9
    assert found.false_stops.share.value is found.false_stops.share.high is None


def test_the_share_of_failed_trials_counts_all_that_did_not_pass():
    """Three of ten; the ends by Clopper and Pearson's own table."""
    found = summary(*(trial() for _ in range(7)), trial('FAIL'), trial('ERROR'),
                    trial('INCONCLUSIVE')).scenarios[0].failed
    assert (found.value, found.n) == (0.3, 10)
    assert (round(found.low or 0, 4), round(found.high or 0, 4)) == (0.0667, 0.6525)


def many(*others: TrialResult, n: int = 299, **changes: object) -> list[TrialResult]:
    """Return enough trials for a claim about the 99th percentile, and some others."""
    return [*(trial(**changes) for _ in range(n - len(others))), *others]


def test_the_uncertainty_of_the_harness_is_added_to_the_bound():
    exact, uncertain = (summary(*many(trial(uncertainty_ms=least), trial(
        uncertainty_ms=most))).scenarios[0].upper_ms for least, most in ((0, 0), (2.0, 4.5)))
    assert (exact.high, uncertain.high) == (100.0, 104.5)


@for_each('n', [1, 3, 50, 298])
def test_few_trials_carry_no_upper_bound(n):
    row = summary(*many(n=n)).scenarios[0]
    assert (row.upper_ms.value, row.upper_ms.high) == (None, None)
    assert f'needs n >= 299 trials, {n} made' in row.upper_ms.method
    assert any('n too small for a p99' in claim for claim in row.claims)


def test_a_trial_that_could_not_be_measured_counts_against_the_bound():
    """Nobody knows that the slow ones were not those that could not be measured."""
    odd = trial('INCONCLUSIVE', 100.0, findings=(said('latency', Verdict.PASS), OPEN))
    assert summary(*many()).scenarios[0].upper_ms.high == 100.0
    row = summary(*many(odd)).scenarios[0]
    assert (row.upper_ms.high, row.not_measured) == (None, 1)
    assert 'needs n >= 473 trials, 1 of them without a reaction' in row.upper_ms.method
    assert summary(*many(odd, n=473)).scenarios[0].upper_ms.high == 100.0


def test_a_crash_before_the_hazard_counts_against_the_bound():
    row = summary(*many(trial('ERROR', measured=False))).scenarios[0]
    assert row.upper_ms.high is None and '1 of them without a reaction' in row.upper_ms.method
    benign = trial('ERROR', measured=False, domain='robotic_defer')
    assert summary(*many(), benign).scenarios[0].upper_ms.high == 100.0


def test_a_model_has_a_word_only_when_it_is_asked_and_says_what_it_assumes():
    results = [trial(after_ms=100.0 + 10.0 * NormalDist().inv_cdf((i + 0.5) / 120))
               for i in range(120)]
    [plain], [asked] = (summary(*results, latency_law=law).scenarios for law in ('none', 'normal'))
    assert (plain.upper_if_normal_ms, plain.upper_if_lognormal_ms) == (None, None)
    assert asked.upper_if_normal_ms.high > 123.0
    assert 'if normal' in asked.upper_if_normal_ms.method
    assert (asked.upper_if_lognormal_ms, asked.upper_ms.high, asked.separation) == (
        None, None, None)
    [few] = summary(*results[:99], latency_law='lognormal').scenarios
    assert few.upper_if_lognormal_ms.high is None
    assert 'needs n >= 100 trials, 99 made' in few.upper_if_lognormal_ms.method


def test_trials_whose_number_was_not_fixed_have_the_intervals_that_hold_at_any_stop():
    found = summary(*many(n=400), stopped_early={'A': 'accept after 400 trials'})
    [row] = found.scenarios
    for estimate in (row.median_ms, row.p99_ms, row.upper_ms, row.failed, found.missed.share):
        assert 'at any stop' in estimate.method and estimate.high is not None
    assert (row.upper_ms.high, row.median_ms.value) == (100.0, 100.0)
    assert row.failed == anytime(0, 400)
    assert row.failed.high > clopper_pearson(0, 400).high
    kept = summary(*many(n=400), stopped_early={'B': 'accept'})
    assert 'at any stop' not in kept.missed.share.method + kept.scenarios[0].upper_ms.method


def test_a_bound_of_latencies_takes_more_trials_where_their_number_was_not_fixed():
    needed = anytime_n(0.01, 0)
    for trials, high in ((needed - 1, None), (needed, 100.0)):
        [row] = summary(*many(n=trials), stopped_early={'A': 'ended'}).scenarios
        assert row.upper_ms.high == high
        assert any('p99' in text for text in row.claims) == (high is None)
    assert f'needs n >= {needed} trials' in summary(
        *many(n=299), stopped_early={'A': 'ended'}).scenarios[0].upper_ms.method


def test_a_class_of_scenarios_is_bounded_by_their_first_trials_however_many_follow():
    """A test that ends a scenario at its first failure makes failures rare among its trials."""
    few, often = (summary(*(one for name in 'ABCDEF' for one in many(n=n, scenario=name)),
                          stopped_early=dict.fromkeys('ABCDEF', 'ended')) for n in (1, 50))
    assert few.missed.share.high == often.missed.share.high == anytime(0, 6).high


@for_each(('trials', 'claims'), [(58, 2), (59, 1), (298, 1), (299, 0)])
def test_what_the_sample_is_too_small_for_is_said(trials, claims):
    """59 and 299 are Wilks' numbers for 95/95 and 99/95."""
    assert len(summary(*(trial() for _ in range(trials))).scenarios[0].claims) == claims


def test_the_slowest_and_the_fastest_clock_are_told():
    row = summary(trial(rtf=0.97), trial(), trial(rtf=1.02)).scenarios[0]
    assert row.rtf == (0.97, 1.02)
    assert summary(trial()).scenarios[0].rtf is None


def test_what_was_odd_in_some_trial_is_told_once():
    note = Note(code='header-zero', text='cmd_vel: zero')
    row = summary(trial(), trial(notes=(note,)), trial(notes=(note,))).scenarios[0]
    assert row.notes == {'header-zero': 'cmd_vel: zero'}


def test_what_a_sequential_test_decided_stands_beside_its_scenario():
    found = summary(trial(), trial(scenario='B'), stopped_early={'B': 'accept after 1 trial'})
    assert [row.stopped_early for row in found.scenarios] == [None, 'accept after 1 trial']
    assert found.verdict is Verdict.PASS


def test_what_was_found_before_the_trials_is_kept():
    rows = (Preflight(scenario_id='A', rows=(PreflightRow(check='c', status='ok', detail='d'),)),)
    assert summary(trial(), preflight=iter(rows)).preflight == rows


def cost(latency_ms: float = 100.0, speed: float = 1.0, available: float | None = 2.0) -> \
        SeparationCost:
    """Return S_p of a person at 1.6 m/s, a stop of 0.3 s and 0.15 m, and margins of 0.5 m."""
    return SeparationCost(
        latency_ms=latency_ms, speed=speed, approach_speed=1.6,
        human=1.6 * (latency_ms / 1e3 + 0.3), reaction=speed * latency_ms / 1e3, stopping=0.15,
        margins=0.5, stopping_time=0.3, available=available, per_second=1.6 + speed,
        required=1.6 * (latency_ms / 1e3 + 0.3) + speed * latency_ms / 1e3 + 0.65)


def shared(*trials: TrialResult) -> SeparationCost | None:
    return summary(*trials).scenarios[0].separation


def seen(*trials: TrialResult) -> SeparationCost | None:
    return summary(*trials).scenarios[0].separation_seen


def test_the_metres_of_a_campaign_are_those_of_its_upper_bound():
    trials = [trial(after_ms=latency_ms, separation=cost(latency_ms))
              for latency_ms in [80.0, 120.0, *[100.0] * 297]]
    found, upper = shared(*trials), summary(*trials).scenarios[0].upper_ms.high
    assert found is not None and upper == 120.0
    assert found.latency_ms == upper
    assert found.required == pytest.approx(cost(upper).required)
    assert found.margin == pytest.approx(2.0 - cost(upper).required)
    assert seen(*trials).margin == pytest.approx(found.margin)


def test_without_a_bound_there_are_only_the_metres_of_what_was_seen():
    trials = [trial(after_ms=latency_ms, separation=cost(latency_ms))
              for latency_ms in (80.0, 120.0, 100.0)]
    assert shared(*trials) is None
    found = seen(*trials)
    assert found is not None and found.latency_ms == 120.0
    assert found.required == pytest.approx(cost(120.0).required)


def test_the_trial_that_its_own_latency_leaves_least_is_shown():
    """No latency of one trial is set against the distance of another one."""
    slow, near = cost(900.0, available=9.0), cost(100.0, available=1.5)
    found = seen(trial(after_ms=900.0, separation=slow), trial(after_ms=100.0, separation=near))
    assert found == near
    assert near.at_latency(900.0).margin < 0 < near.margin
    near = seen(trial(separation=cost(available=1.5)), trial(separation=cost(available=2.0)))
    assert near is not None and near.available == 1.5
    blind = seen(trial(separation=cost(available=None)), trial(separation=cost(speed=1.5)))
    assert blind is not None and blind.available is None


@pytest.mark.parametrize('other', [
    {'after_ms': None}, {'after_ms': 100.0, 'separation': None}])
def test_one_latency_without_a_bound_or_a_cost_leaves_no_metres(other):
    assert seen(trial(separation=cost()), trial(separation=cost())) is not None
    assert seen(trial(separation=cost()), trial(**other)) is None
    assert shared(*many(separation=cost())) is not None
    assert shared(*many(trial(**other), separation=cost())) is None


def test_a_warm_up_costs_nothing():
    found = seen(trial(separation=cost()), trial(after_ms=900.0, separation=cost(900.0),
                                                 warmup=True))
    assert found is not None and found.latency_ms < 900.0


@for_each(('widened_ms', 'trials'), [
    ((0.0, 0.0, 19.0), 'trial 3'), ((0.0, 24.0, 19.0), 'trial 2 at the worst; trials 2, 3')])
def test_the_note_of_a_busy_host_names_its_trials_and_has_the_worst(widened_ms, trials):
    noted = []
    for index, wider_ms in enumerate(widened_ms):
        one = trial('PASS', index=index, notes=(
            Note(code=BUSY_HOST, text=f'adds {wider_ms:g} ms'),) if wider_ms else ())
        noted.append(one.model_copy(update={'latency': one.latency.model_copy(update={
            'widened_ns': ns(wider_ms)})}))
    assert summary(*noted).scenarios[0].notes == {
        BUSY_HOST: f'adds {max(widened_ms):g} ms ({trials})'}
