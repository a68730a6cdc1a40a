# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""When the robot itself stood: in the summary, the console, a comparison, and from Python."""

import io
import json

import pytest
from rich.console import Console
from safety_scenarios.campaign.statistics.compare import compare
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.from_python import CampaignResults
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.reports.comparison_tables import comparison_table
from safety_scenarios.reports.console_report import latency_text, table
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.summary import CampaignSummary, ScenarioSummary
from unit.judging.latency.test_confirmation import odom, reports, WATCHED
from unit.records import hazard, reacting, record

NOT_ASKED = hazard()


def trials(*stands_ms: float | None) -> list[TrialResult]:
    """Return trials in which the robot stands by then; None: it goes on and says so."""
    found = []
    for index, t_ms in enumerate(stands_ms):
        states = reports((-50, 0.8)) if t_ms is None else odom((-50, 0.8), (t_ms, 0.0))
        result = evaluate(record(reacting(250), WATCHED, extra=states))
        found.append(result.model_copy(update={'index': index, 'trial_id': f't{index}'}))
    return found


def summary(results: list[TrialResult]) -> CampaignSummary:
    return summarise(results, controller='c', seed=0, planned=len(results), interrupted=False)


def shown(what: object) -> str:
    output = io.StringIO()
    Console(file=output, width=200, color_system=None).print(what)
    return output.getvalue()


def test_the_summary_has_what_the_robots_confirmed_and_a_stop_that_never_came_last():
    row = summary(trials(300, 687, 400)).scenarios[0].confirmed
    assert row.latency_ms == (300.0, 687.0, 400.0)
    assert (row.median_ms.value, row.worst_ms, row.not_measured) == (400.0, 687.0, 0)
    assert row.verdicts == {'FAIL': 1, 'PASS': 2}
    assert row.latency_classes == {'acceptable': 1, 'critical': 1, 'violation': 1}
    never = summary(trials(300, None)).scenarios[0].confirmed
    assert never.worst_ms is None and never.latency_classes['no_response'] == 1
    assert never.upper_ms.value is None


def test_a_crash_before_the_hazard_and_an_undecided_trial_count_as_never_confirmed():
    stood = [one.model_copy(update={'duration_ms': float(number)})
             for number, one in enumerate(trials(300) * 299)]
    assert summary(stood).scenarios[0].confirmed.upper_ms.high is not None
    crashed = stood[0].model_copy(update={'verdict': Verdict.ERROR, 'latency': None,
                                          'findings': ()})
    row = summary([*stood, crashed]).scenarios[0].confirmed
    assert (row.upper_ms.high, row.not_measured) == (None, 1)
    undecided = stood[0].model_copy(update={'verdict': Verdict.INCONCLUSIVE})
    row = summary([*stood, undecided]).scenarios[0].confirmed
    assert (row.upper_ms.high, row.not_measured) == (None, 0)


def test_what_nobody_reported_is_in_no_number_and_counted():
    silent = evaluate(record(reacting(250), WATCHED))
    row = summary([silent]).scenarios[0].confirmed
    assert (row.latency_ms, row.not_measured, row.verdicts) == ((), 1, {'INCONCLUSIVE': 1})
    assert 'not seen' in shown(table(summary([silent])))


def test_a_summary_without_a_confirmation_is_written_as_before_and_old_ones_are_read():
    plain = summary([evaluate(record(reacting(250), NOT_ASKED))])
    data = json.loads(plain.model_dump_json())['scenarios'][0]
    assert 'confirmed' not in data and 'confirmed' not in shown(table(plain))
    row = json.loads(summary(trials(300)).scenarios[0].model_dump_json())
    assert row['confirmed']['worst_ms'] == 300.0
    assert ScenarioSummary.model_validate_json(json.dumps(row)).confirmed.worst_ms == 300.0
    del row['confirmed']
    assert ScenarioSummary.model_validate_json(json.dumps(row)).confirmed is None


def test_the_console_shows_it_for_each_trial_and_each_scenario():
    results = trials(300, 687)
    assert latency_text(results[1].latency) == (
        '250.0 ms acceptable, confirmed 687.0 ms violation')
    text = shown(table(summary(results)))
    assert 'confirmed: median, worst ms' in text and '687.0 acceptable violation' in text


def test_two_campaigns_are_compared_by_it_too():
    found = compare(trials(300, 310), trials(400, 410)).confirmed
    assert (found.pairs, found.scenarios) == (2, 1)
    assert found.median_difference_ms.value == 100.0
    text = shown(comparison_table(compare(trials(300), trials(400)), 'a', 'b'))
    assert 'the robot confirms later' in text
    plain = [evaluate(record(reacting(250), NOT_ASKED))]
    assert compare(plain, plain).confirmed is None


def test_the_text_of_a_failed_test_has_both_latencies():
    results = trials(687)
    found = CampaignResults(summary(results), tuple(results), None)
    assert found.verdict is Verdict.FAIL
    assert '; reaction acceptable 250.0 ms, confirmed violation 687.0 ms' in found.explain()
    assert 'FAIL safe state confirmed: moves <= 0.05 after 687.0 ms' in found.explain()


def test_a_data_frame_has_a_column_for_it():
    pandas = pytest.importorskip('pandas')
    frame = CampaignResults(summary(trials(687, None)), tuple(trials(687, None)),
                            None).to_dataframe()
    assert frame['confirmed_ms'][0] == 687.0 and frame['confirmed_ms'][1] is pandas.NA
    assert list(frame['confirmed_class']) == ['violation', 'no_response']
