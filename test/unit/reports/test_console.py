# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The console of a run: failures first, the verdict last, and from latency to metres."""

import io
import json
from pathlib import Path
import re

from cases import for_each
from rich.console import Console
from rich.table import Table
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.cli.main import main
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.reports.console_report import console, ConsoleReport, Screen
from safety_scenarios.reports.console_tables import metres_table
from safety_scenarios.reports.plain_text import without_exponents
from safety_scenarios.scenario.blocks.robot import SeparationCost
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.result import Latency, Note, StopPath, TrialResult
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from safety_scenarios.trial.session import Beginning
from safety_scenarios.trial.summary import CampaignSummary, Preflight, PreflightRow
from unit.campaign.statistics.test_summarise import said
from unit.records import elapsed, ns, reacting, record

WIDTH = 100
RECORD = record(reacting(250))
TRIAL = evaluate(RECORD)
LATE = evaluate(record(reacting(800)))
SILENT = evaluate(record(reacting(250, 0.8)))
NOTE = Note(code='odd', text='the header stamps are odd: 1e-20 s apart, ' + 'again and ' * 10)


def trials(count: int, verdict: str = 'PASS', scenarios: int = 16) -> list[TrialResult]:
    """Return trials of several scenarios; those of every third pass, whatever the verdict."""
    found = []
    for index in range(count):
        number = index % scenarios
        source = TRIAL if verdict == 'PASS' or number % 3 == 2 else (LATE, SILENT)[number % 2]
        found.append(source.model_copy(update={
            'trial_id': f't{index}', 'scenario_id': f'SCN-{number}', 'index': index // scenarios,
            'scenario_name': f'A person comes near the robot, variant {number}',
            'notes': (NOTE,)}))
    return found


def printed(results: list[TrialResult], detail: str = 'normal', *, colours: bool = False,
            folder: Path | None = None, **environment: str) -> str:
    """Return what a campaign with these results prints."""
    out = io.StringIO()
    screen = Screen(file=out, width=WIDTH, force_terminal=colours, emoji=False, highlight=False,
                    _environ={'TERM': 'xterm', **environment})
    report = ConsoleReport(screen, detail, has_page=True)
    report.campaign_began(Beginning(ControllerSpec(name='mine'), 'this process', 1, len(results),
                                    None, folder or Path('runs/today')))
    for result in results:
        report.trial_ended(RECORD, result)
    report.campaign_ended(summary(results))
    return out.getvalue()


def summary(results: list[TrialResult]):
    rows = (PreflightRow(check='/scan', status='ok', detail='comes 10 times a second'),)
    return summarise(results, controller='mine', seed=1, planned=len(results), interrupted=False,
                     command='safety-scenarios run robotic --seed 1',
                     preflight=[Preflight(scenario_id=scenario, rows=rows)
                                for scenario in sorted({one.scenario_id for one in results})])


def test_the_trials_of_this_page_pass_and_fail():
    assert [one.verdict for one in (TRIAL, LATE, SILENT)] == [
        Verdict.PASS, Verdict.FAIL, Verdict.FAIL]


@for_each('verdict', ['PASS', 'FAIL'])
@for_each('count', [1, 16, 1600])
def test_a_campaign_takes_at_most_40_lines_of_100_columns_and_ends_with_the_verdict(
        count, verdict):
    text = printed(trials(count, verdict))
    lines = text.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= WIDTH
    assert lines[-1].startswith(f'{verdict}  mine: {count} of ')
    assert not re.search(r'\de[-+]\d', text)
    assert text.count('header stamps are odd') == 1


def test_few_failures_have_the_sentence_of_each_and_stand_before_the_summary():
    text = ' '.join(printed(trials(8, 'FAIL', scenarios=8)).split())
    for result in trials(8, 'FAIL', scenarios=8):
        assert (f'({result.scenario_id}, trial 1), hazard missed: {result.reason}'
                in text) == (result.verdict is Verdict.FAIL)
    assert text.index('FAIL') < text.index('Hazards missed')


def test_a_missed_hazard_tells_when_it_was_answered_and_how_far_the_robot_came():
    stop = StopPath(stands_ns=ns(1610), way=0.75, unit='m', source='prediction')
    late = LATE.model_copy(update={
        'separation': COST, 'latency': LATE.latency.model_copy(update={'stop': stop})})
    text = ' '.join(printed([late]).split())
    assert ('. From the start of the hazard: reaction at +800 ms; standstill at +1610 ms, after '
            '0.75 m; 2.00 m away at the start, of which 1.92 m are needed') in text
    assert 'From the start' not in printed([TRIAL, SILENT])


@for_each(('passing', 'can_help'), [(None, False), ('another', False), ('the same', True)])
def test_conditions_are_offered_where_trials_of_one_scenario_passed_and_others_failed(
        passing, can_help):
    found = [LATE.model_copy(update={'index': index}) for index in range(12)]
    if passing:
        found.append(TRIAL.model_copy(update={
            'index': 12, 'scenario_id': TRIAL.scenario_id if can_help else 'SCN-2'}))
    assert ('campaign conditions runs/today' in printed(found)) == can_help


def test_hazards_alone_show_no_needless_stop_and_no_refusal_of_everything():
    unseen = 'no such trial, so that needless stops and refusals are not seen.'
    alone, with_benign = trials(2), trials(2)
    with_benign[1] = with_benign[1].model_copy(update={'domain': 'robotic_defer'})
    assert unseen in ' '.join(printed(alone).split())
    assert unseen not in ' '.join(printed(with_benign).split())


def test_many_failures_are_counted_by_their_cause_with_the_worst_of_each():
    text = ' '.join(printed(trials(1600, 'FAIL')).split())
    failed = [one for one in trials(1600, 'FAIL') if one.verdict is Verdict.FAIL]
    assert (f'reaction within the budget: {len(failed)} trials in 11 scenarios '
            f'({len(failed)} hazards missed). Worst: ') in text
    what_happened = SILENT.reason.partition(': ')[2]
    assert text.count(what_happened) == 1  # no reaction at all is worse than a late one


def test_no_reaction_is_slower_than_any_number_and_leaves_no_distance():
    text = printed(trials(16, 'FAIL'))
    assert 'Slowest reaction: none came in 6 scenarios, such as' in text
    assert 'Least distance left' not in text


def test_verbose_adds_a_line_for_each_trial_the_preflight_and_every_scenario():
    text = printed(trials(48, 'FAIL'), 'verbose')
    for wanted in (' 1/48 ', '48/48 ', 'Preflight', 'comes 10 times a second', 'variant 15'):
        assert wanted in text
    assert text.splitlines()[-1].startswith('FAIL  mine')


@for_each('count', [1, 1600])
def test_quiet_prints_the_verdict_alone(count):
    assert printed(trials(count), 'quiet').splitlines() == [
        f'PASS  mine: {count} of {count} trial{"s" if count > 1 else ""}: {count} PASS; '
        f'exit code 0']


def test_colours_obey_no_color():
    assert '\x1b[' in printed(trials(1, 'FAIL'), colours=True)
    assert '\x1b[3' not in printed(trials(1, 'FAIL'), colours=True, NO_COLOR='1')


def test_json_is_the_summary_of_the_campaign_and_nothing_else(tmp_path, capsys):
    code = main(['run', 'SCN-R-101', '--link', 'loopback', '--json', '--output',
                 str(tmp_path / 'run')])
    out = capsys.readouterr().out
    assert code == 0
    assert json.loads(out) == json.loads((tmp_path / 'run' / 'campaign.json').read_text())


@for_each(('text', 'plain'), [
    ('1e-20 m', '0 m'), ('-1e-20 m', '0 m'), ('5e-05 s', '0.00005 s'), ('1.5e+06', '1500000'),
    ('at most 4.90e-7', 'at most 0.00000049'), ('[-1.23e-7, 2]', '[-0.000000123, 2]'),
    ('margin -4.2e-07 m', 'margin -0.00000042 m'), ('1e+02', '100'), ('-2e-09', '-0.000000002'),
    ('1e+300', 'above 10^15'), ('trial x-1e-20', 'trial x-1e-20'), ('id 1e-20a', 'id 1e-20a')])
def test_a_number_is_written_without_an_exponent(text, plain):
    assert without_exponents(text) == plain


@for_each(('told', 'width'), [('140', 140), ('', 100), ('wide', 100), ('0', 100)])
def test_a_file_is_as_wide_as_columns_says(monkeypatch, capsys, told, width):
    monkeypatch.setenv('COLUMNS', told)
    assert console().width == width and isinstance(console(), Console)


@for_each(('columns', 'is_terminal'), [(20, False), (100, False), (110, True)])
def test_no_word_of_a_table_is_cut_where_another_column_has_room(columns, is_terminal):
    names = ('scenario', 'by', 'within ms', 'at m/s', 'stops in s', 'S_h', 'S_r', 'S_s', 'C+Z',
             'needs S_p m', 'has m', 'left m', '+100 ms')
    cells = ('Person steps near', 'least seen', '788.0', *('0.80',) * 9, '+0.08')
    rows, out = Table(*names), io.StringIO()
    rows.add_row(*cells)
    Screen(file=out, width=columns, force_terminal=is_terminal, no_color=True).print(rows)
    for word in ' '.join((*names, *cells)).split():
        assert word in out.getvalue()
    assert '\u2026' not in out.getvalue()


def test_a_terminal_without_room_breaks_words_and_loses_none():
    rows, out = Table('check', 'verdict', box=None), io.StringIO()
    rows.add_row('a_name_without_any_space_at_all', 'FAIL')
    Screen(file=out, width=20, force_terminal=True, no_color=True).print(rows)
    letters = ''.join(out.getvalue().split()).replace('FAIL', '')
    assert letters.endswith('a_name_without_any_space_at_all'), out.getvalue()


@for_each('columns', [20, 60, 100])
def test_no_word_of_a_table_is_cut_in_a_file(columns):
    rows = Table(box=None)
    rows.add_column('scenario')
    rows.add_column('stops m', no_wrap=True)
    rows.add_row('A-long-name-of-a-scenario and more words', '0.37 after all')
    out = io.StringIO()
    Screen(file=out, width=columns).print(rows)
    assert {'A-long-name-of-a-scenario', 'words'} <= {*out.getvalue().split()}
    assert 'stops m' in out.getvalue() and '0.37 after all' in out.getvalue()


COST = SeparationCost(latency_ms=300.0, speed=1.0, approach_speed=1.6, human=1.056, reaction=0.36,
                      stopping=0.15, margins=0.35, stopping_time=0.3, required=1.916,
                      per_second=2.6, available=2.0)


def costing(*costs: SeparationCost | None) -> CampaignSummary:
    results = [TrialResult(
        trial_id=f't{index}', scenario_id=f's{index}', scenario_name=f'[b]arm {index}',
        domain='robotic', controller='c', index=0, seed=0, verdict=Verdict.PASS, reason='r',
        latency=Latency(onset_steady_ns=0, reaction=elapsed(300.0), observed_ns=ns(2500),
                        latency_class=LatencyClass.CRITICAL),
        findings=(said('latency', Verdict.PASS),), failure_class='none', started_system_ns=0,
        duration_ms=0.0, counts={}, separation=cost) for index, cost in enumerate(costs)]
    return summarise(results, controller='c', seed=0, planned=len(results), interrupted=False)


def rows(*costs: SeparationCost | None) -> list[list[str]]:
    table = metres_table(costing(*costs))
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
    assert row == ['[b]arm 0', 'least seen', '300.0', '1.00', '0.30', '1.06', '0.36', '0.15',
                   '0.35', '1.92', '2.00', '0.08', '+0.26']


def test_what_is_too_little_is_negative_and_what_is_unknown_a_dash():
    assert rows(COST.model_copy(update={'available': 1.8}))[1][10:12] == ['1.80', '-0.12']
    assert rows(COST.model_copy(update={'available': None}))[1][10:12] == ['-', '-']


def test_it_is_said_whether_the_metres_are_a_bound_or_what_was_seen():
    for count, by in ((298, 'least seen'), (299, 'p99 bound')):
        [row] = costing(COST).scenarios
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
    table = metres_table(costing(COST.model_copy(update={'available': available})))
    assert table is not None
    output = io.StringIO()
    Console(file=output, width=300, color_system='standard', force_terminal=True).print(table)
    assert ('\x1b[31m' in output.getvalue()) is is_red


def test_only_scenarios_that_tell_how_to_reckon_have_a_row():
    assert [row[0] for row in rows(None, COST)[1:]] == ['[b]arm 1']
    assert metres_table(costing(None)) is None


def test_a_name_with_colons_is_no_picture(capsys):
    console().print('my.policy:Ok: PASS')
    assert capsys.readouterr().out == 'my.policy:Ok: PASS\n'
