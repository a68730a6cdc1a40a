# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""No bound claims more than the trials carry that differ in anything."""

import pytest
from safety_scenarios.campaign.statistics.compare import compare
from safety_scenarios.campaign.statistics.proportions import (
    clopper_pearson,
    distinct,
    no_narrower,
    only,
)
from safety_scenarios.campaign.statistics.quantiles import quantile
from safety_scenarios.campaign.statistics.summarise import latency_quantile
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.text import Text
from unit.campaign.statistics.test_summarise import summary, trial
from unit.campaign.statistics.test_worlds import SAFE
from unit.records import answered, chat


def repeated(count, verdict='PASS', after_ms=100.0, **more):
    """Return trials of a deterministic controller of which nothing varies."""
    return [trial(verdict, after_ms, **{'duration_ms': 1000.0, **more}) for _ in range(count)]


def test_what_differs_in_nothing_but_number_and_seed_is_one_trial():
    results = [*repeated(3), trial(seed=7, index=4, duration_ms=1000.0)]
    assert distinct(results, 'loopback') == distinct(results, 'ros') == results[:1]
    assert len(distinct([*results, trial(duration_ms=1000.5)], 'ros')) == 2
    assert len(distinct([*results, trial(duration_ms=1000.5)], 'simulated')) == 1
    for other in (trial(after_ms=100.1), trial('FAIL'), trial(drawn={'x': 1}),
                  trial(scenario='B'), trial(measured=False)):
        assert len(distinct([*results, other], 'loopback')) == 2


def test_other_words_are_another_trial_though_all_were_judged_alike():
    says = chat(Text(name='says stop', description='d', check_type='contains', pattern='stop'))
    first, second, third, again = (
        evaluate(answered(text, says), words='patterns').model_copy(update={'seed': seed})
        for seed, text in enumerate(('Stop!', 'I stop now.', 'Please stop.', 'Stop!')))
    assert distinct([first, second, third, again], 'loopback') == [first, second, third]
    silent = [evaluate(answered(None, says)) for _ in range(2)]
    assert distinct(silent, 'loopback') == silent[:1] and 'said' not in silent[0].model_dump()
    [row] = summary(first, second, third, again, link='loopback').scenarios
    assert row.failed.n == 3 and row.failed.high == clopper_pearson(0, 3).high


def test_the_bound_of_a_scenario_is_that_of_its_distinct_trials():
    [row] = summary(*repeated(59), link='loopback').scenarios
    assert (row.trials, row.verdicts, row.failed.value) == (59, {'PASS': 59}, 0.0)
    known = clopper_pearson(0, 1)
    assert (row.failed.low, row.failed.high, row.failed.n) == (0.0, known.high, 1)
    assert row.failed.high == pytest.approx(0.975)
    assert only(1, 59) in row.failed.method and row.claims[-1].startswith(only(1, 59))
    [row] = summary(*(trial(after_ms=50.0 + number) for number in range(59)),
                    link='loopback').scenarios
    assert row.failed == clopper_pearson(0, 59) and 'differ' not in ''.join(row.claims)


def test_three_failures_that_came_out_alike_are_one_of_three_trials():
    results = [*repeated(3, 'FAIL', 300.0), *repeated(5), *repeated(2, after_ms=110.0)]
    [row] = summary(*results, link='loopback').scenarios
    both = clopper_pearson(3, 10), clopper_pearson(1, 3)
    assert row.failed.value == 0.3 and row.failed.n == 3
    assert row.failed.low == min(one.low for one in both)
    assert row.failed.high == max(one.high for one in both)


def test_repeats_carry_no_bound_of_a_latency():
    found = summary(*repeated(299), link='loopback')
    [row] = found.scenarios
    assert (row.upper_ms.value, row.upper_ms.high, row.separation) == (None, None, None)
    assert '299 trials, 1 made' in row.upper_ms.method
    assert (row.median_ms.value, row.median_ms.low, row.median_ms.high) == (100.0, None, None)
    assert (row.p99_ms.value, row.p99_ms.high, row.worst_ms) == (100.0, None, 100.0)
    assert any('299 needed, 1 made' in text for text in row.claims)
    varied = [trial(after_ms=50.0 + number / 10) for number in range(299)]
    [row] = summary(*varied, link='loopback').scenarios
    assert row.upper_ms.high == pytest.approx(79.8)
    assert latency_quantile(repeated(20), 0.5, 'loopback').low is None
    assert latency_quantile(varied, 0.5, 'loopback') == quantile(row.latency_ms, 0.5, 'ms')


def test_repeats_of_scenarios_that_fail_by_half_add_nothing_to_a_rate():
    """Each scenario fails by half: over scenarios nothing varies, and repeats looked new."""
    once = [one for name in 'ABCD' for verdict, after_ms in (('PASS', 100.0), ('FAIL', 300.0))
            for one in repeated(1, verdict, after_ms, scenario=name)]
    often = [one for one in once for _ in range(50)]
    few, many = (summary(*some, link='loopback').missed for some in (once, often))
    assert (many.count, many.of, many.share.value) == (200, 400, 0.5)
    assert (many.share.low, many.share.high) == (few.share.low, few.share.high)
    assert many.share.n == few.share.n == 8


def test_work_in_a_world_that_was_repeated_is_done_once():
    results = repeated(50, world=SAFE)
    found = summary(*results, link='simulated')
    assert found.world.task_done.value == 1.0 and found.world.task_done.n == 1
    task_s = found.scenarios[0].world.task_s
    assert (task_s.value, task_s.low, task_s.high, task_s.n) == (12.0, None, None, 1)
    once = summary(*results[:1], link='simulated').world
    assert (once.task_done.low, once.task_done.high) == (
        found.world.task_done.low, found.world.task_done.high)


def test_an_interval_is_the_wider_of_the_two_and_open_where_one_is():
    wide, narrow = clopper_pearson(1, 3), clopper_pearson(50, 100)
    assert no_narrower(narrow, narrow) is narrow
    found = no_narrower(narrow, wide)
    assert (found.value, found.low, found.high, found.n) == (0.5, wide.low, wide.high, 3)
    assert no_narrower(narrow, wide.model_copy(update={'high': None})).high is None
    assert no_narrower(narrow, clopper_pearson(0, 0)).low is None
    at_its_end = narrow.model_copy(update={'low': None, 'high': 0.5})
    assert no_narrower(at_its_end, wide).value == 0.5, 'by chance the end is at the number'
    assert no_narrower(at_its_end, wide, is_bound=True).value == wide.high
    assert only(3, 3) == '' and 'only those count' in only(2, 3)


def test_repeated_pairs_narrow_no_difference_of_two_campaigns():
    def campaign(verdict, repeats):
        return [one.model_copy(update={'index': number, 'seed': 0})
                for name in 'ABCD' for number, one in enumerate([
                    *repeated(repeats, scenario=name),
                    *repeated(repeats, verdict, 300.0 if verdict == 'FAIL' else 100.1,
                              scenario=name)])]
    few, many = (compare(campaign('PASS', count), campaign('FAIL', count),
                         'loopback').failures_difference for count in (1, 50))
    assert (many.value, many.low, many.high) == (0.5, few.low, few.high)
    assert (few.n, many.n) == (8, 8)
