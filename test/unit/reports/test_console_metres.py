# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The table from latency to metres: the terms, what is left, and no number where there is none."""

import io

from cases import for_each
from rich.console import Console
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.reports.console_report import console
from safety_scenarios.reports.console_tables import metres_table
from safety_scenarios.scenario.blocks.robot import SeparationCost
from safety_scenarios.scenario.result import Latency, TrialResult
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from safety_scenarios.trial.summary import CampaignSummary
from unit.campaign.statistics.test_summarise import said
from unit.records import elapsed, ns

COST = SeparationCost(latency_ms=300.0, speed=1.0, approach_speed=1.6, human=1.056, reaction=0.36,
                      stopping=0.15, margins=0.35, stopping_time=0.3, required=1.916,
                      per_second=2.6, available=2.0)


def summary(*costs: SeparationCost | None) -> CampaignSummary:
    results = [TrialResult(
        trial_id=f't{index}', scenario_id=f's{index}', scenario_name=f'[b]arm {index}',
        domain='robotic', controller='c', index=0, seed=0, verdict=Verdict.PASS, reason='r',
        latency=Latency(onset_steady_ns=0, reaction=elapsed(300.0), observed_ns=ns(2500),
                        latency_class=LatencyClass.CRITICAL),
        findings=(said('latency', Verdict.PASS),), failure_class='none', started_system_ns=0,
        duration_ms=0.0, counts={}, separation=cost) for index, cost in enumerate(costs)]
    return summarise(results, controller='c', seed=0, planned=len(results), interrupted=False)


def rows(*costs: SeparationCost | None) -> list[list[str]]:
    table = metres_table(summary(*costs))
    assert table is not None
    output = io.StringIO()
    Console(file=output, width=300, color_system=None).print(table)
    cells = [[cell.strip() for cell in line.strip('│┃').replace('┃', '│').split('│')]
             for line in output.getvalue().splitlines()]
    return [row for row in cells if len(row) == 13]


def test_every_term_is_shown_with_what_is_left_and_what_100_ms_more_cost():
    head, row = rows(COST)
    assert head == ['scenario', 'by', 'within ms', 'at m/s', 'stops in s', 'S_h', 'S_r', 'S_s',
                    'C+Z', 'needs S_p m', 'has m', 'left m', '+100 ms']
    assert row == ['[b]arm 0', 'slowest seen', '300.0', '1.00', '0.30', '1.06', '0.36', '0.15',
                   '0.35', '1.92', '2.00', '0.08', '+0.26']


def test_what_is_too_little_is_negative_and_what_is_unknown_a_dash():
    assert rows(COST.model_copy(update={'available': 1.8}))[1][10:12] == ['1.80', '-0.12']
    assert rows(COST.model_copy(update={'available': None}))[1][10:12] == ['-', '-']


def test_it_is_said_whether_the_metres_are_a_bound_or_what_was_seen():
    for count, by in ((298, 'slowest seen'), (299, 'p99 bound')):
        [row] = summary(COST).scenarios
        results = [TrialResult(
            trial_id=f't{index}', scenario_id='s', scenario_name='s', domain='robotic',
            controller='c', index=index, seed=0, verdict=Verdict.PASS, reason='r',
            latency=Latency(onset_steady_ns=0, reaction=elapsed(300.0), observed_ns=ns(2500),
                            latency_class=LatencyClass.CRITICAL),
            findings=(said('latency', Verdict.PASS),), failure_class='none',
            started_system_ns=0, duration_ms=float(index), counts={}, separation=COST)
            for index in range(count)]
        table = metres_table(summarise(results, controller='c', seed=0, planned=count,
                                       interrupted=False))
        assert table is not None
        output = io.StringIO()
        Console(file=output, width=300, color_system=None).print(table)
        assert (by in output.getvalue()) and row.separation is None
        assert ('no claim about others' in output.getvalue()) == (count < 299)


@for_each(('available', 'is_red'), [(1.916, True), (1.8, True), (1.93, False)])
def test_none_to_spare_is_red(available, is_red):
    table = metres_table(summary(COST.model_copy(update={'available': available})))
    assert table is not None
    output = io.StringIO()
    Console(file=output, width=300, color_system='standard', force_terminal=True).print(table)
    assert ('\x1b[31m' in output.getvalue()) is is_red


def test_only_scenarios_that_tell_how_to_reckon_have_a_row():
    assert [row[0] for row in rows(None, COST)[1:]] == ['[b]arm 1']
    assert metres_table(summary(None)) is None


def test_a_name_with_colons_is_no_picture(capsys):
    console().print('my.policy:Ok: PASS')
    assert capsys.readouterr().out == 'my.policy:Ok: PASS\n'
