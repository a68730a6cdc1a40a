# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``report``, and the page that a run leaves: written, refused, and never too good."""

from importlib.util import find_spec
import json
from pathlib import Path
import shutil

from cases import for_each
import pytest
from safety_scenarios.campaign.folder.evidence import verify
from safety_scenarios.campaign.folder.folder import hashes
from safety_scenarios.campaign.rejudging.rejudge import summary_of
from safety_scenarios.campaign.run import run
from safety_scenarios.cli.main import main
from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.reports.console_tables import sweep_table
from safety_scenarios.reports.outputs import report as reporting
from safety_scenarios.reports.page import page as html_page
from safety_scenarios.reports.page.first_screen import tiles
from safety_scenarios.reports.page.page import SWITCH
from safety_scenarios.reports.page.tables import scenario_rows
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.selftest.kill_matrix import (
    Cell,
    KillMatrix,
    Row,
    Saboteur,
    ScenarioMatrix,
)
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.session import open_outputs, OutputContext
from unit.loopback_runs import loopback_run
from unzipped import write_text

CHOSEN = 'SCN-R-D-102', 'SCN-R-102'
render = reporting.render


@pytest.fixture(scope='module')
def before(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv('SAFETY_SCENARIOS_REPORT')
        run = loopback_run(tmp_path_factory.mktemp('run') / 'before', *CHOSEN)
    (run.folder / 'report.html').unlink()
    return run.folder


@pytest.fixture(scope='module')
def after(tmp_path_factory):
    return loopback_run(tmp_path_factory.mktemp('run') / 'after', *CHOSEN,
                        controller='late').folder


@pytest.fixture
def today(before, tmp_path):
    return Path(shutil.copytree(before, tmp_path / 'today'))


def forged(folder, to):
    """Return a copy in which every trial is a PASS, and so says a manifest of its own."""
    found = Path(shutil.copytree(folder, to))
    lines = [json.loads(line) for line in (found / 'trials.jsonl').read_text().splitlines()]
    for line in lines:
        line.update(verdict='PASS', failure_class='none')
        for finding in line['findings']:
            finding['verdict'] = finding['verdict'] and 'PASS'
    results = [TrialResult.model_validate_json(json.dumps(line)) for line in lines]
    (found / 'trials.jsonl').write_text(''.join(f'{one.model_dump_json()}\n' for one in results))
    (found / 'campaign.json').write_text(summary_of(found, results).model_dump_json())
    (found / 'manifest.json').write_text(json.dumps(hashes(found)))
    return found


def text(page):
    """Return what the page says: without style and data."""
    head, _, rest = page.read_text(encoding='utf-8').partition('<style>')
    return head + rest.partition('</style>')[2].partition('<script')[0]


def test_the_command_writes_a_page_that_changes_nothing_else(today, capsys):
    assert main(['report', str(today)]) == 0
    assert capsys.readouterr().out.strip() == str(today / 'report.html')
    assert 'PASS: today' in text(today / 'report.html')
    assert 'judged again, from the records' in text(today / 'report.html')
    assert list(verify(today)) == []
    assert main(['report', str(today), '--as-written']) == 0
    shown = text(today / 'report.html')
    assert 'These verdicts were not judged again' in shown and 'tone-pass' not in shown


def test_results_that_the_records_refute_make_no_green_page(after, tmp_path):
    folder = forged(after, tmp_path / 'forged')
    assert list(verify(folder)) == []
    assert main(['report', str(folder)]) == 3
    assert 'FAIL: forged' in text(folder / 'report.html')
    assert main(['report', str(folder), '--as-written']) == 0
    shown = text(folder / 'report.html')
    assert 'PASS: forged' in shown and 'tone-pass' not in shown


def test_what_is_drawn_comes_from_the_records_whatever_was_kept(after, tmp_path):
    folder = Path(shutil.copytree(after, tmp_path / 'drawn'))
    kept = reporting.source_of(folder)
    write_text(folder / 'views.jsonl.gz', ''.join(json.dumps(
        {'trial_id': name, 'view': {'verdict': 'PASS'}}) + '\n' for name in kept.views))
    (folder / 'manifest.json').write_text(json.dumps(hashes(folder)))
    assert reporting.source_of(folder).views == kept.views


def test_a_kill_matrix_is_shown_with_the_checks_that_nothing_fails(today, tmp_path):
    cells = [Cell(saboteur='late', verdicts=(verdict,))
             for verdict in (Verdict.FAIL, Verdict.PASS)]
    rows = [Row(check=name, kind='stop', withholds=False, cells=(cell,))
            for name, cell in zip(('catches it', 'catches nothing'), cells)]
    (tmp_path / 'matrix.json').write_text(KillMatrix(
        seeds=(0,), saboteurs=(Saboteur(name='late', does='reacts late'),), mistakes=(),
        scenarios=(ScenarioMatrix(
            scenario_id='A', scenario_name='A', path='a.yaml', family='robot hazard',
            reference=Cell(saboteur='rule_based', verdicts=(Verdict.PASS,)),
            trials=(cells[0],), rows=tuple(rows)),)).model_dump_json())
    assert main(['report', str(today), '--kill-matrix', str(tmp_path / 'matrix.json')]) == 0
    shown = text(today / 'report.html')
    assert '1 of 1' in shown and '<td class="num none">0 of 1</td>' in shown


def test_the_wrong_controllers_that_a_scenario_does_not_reject_are_named():
    matrix = KillMatrix(
        seeds=(0,), saboteurs=(Saboteur(name='late', does='reacts late'),), mistakes=(),
        scenarios=(ScenarioMatrix(
            scenario_id='A', scenario_name='A', path='a.yaml', family='robot hazard',
            reference=Cell(saboteur='rule_based', verdicts=(Verdict.PASS,)),
            trials=(Cell(saboteur='late', verdicts=(Verdict.FAIL,)),
                    Cell(saboteur='creeps', verdicts=(Verdict.FAIL, Verdict.PASS))), rows=()),))
    assert sweep_table(matrix).caption == 'Not rejected in A: creeps\n'


@pytest.mark.thorough
def test_two_campaigns_are_compared_and_two_that_cannot_be_say_why(
        before, after, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []
    monkeypatch.setattr(reporting, 'render', lambda *given, **more: told.append(given[1]) or
                        render(*given, **more))
    assert main(['report', str(before), str(after)]) == 0
    assert 'id="comparison"' in text(tmp_path / 'report.html')
    assert [one['name'] for one in told[0]['campaigns']] == ['before: rule_based', 'after: late']
    other = loopback_run(tmp_path / 'other', *CHOSEN, gate='target').folder
    assert main(['report', str(before), str(other), '--output', 'two.html']) == 0
    assert list(told[1]) == ['why'] and 'gate' in told[1]['why']


def test_a_folder_that_was_changed_is_no_pass_and_the_page_says_what(today, capsys):
    path = today / 'trials.jsonl'
    path.write_text(path.read_text().replace('checks held', 'checks held well', 1))
    assert main(['report', str(today)]) == 3
    assert 'trials.jsonl: changed' in capsys.readouterr().err
    shown = text(today / 'report.html')
    assert 'INCONCLUSIVE: today' in shown and 'No failure rate is claimed' in shown
    assert 'Not as the campaign left it' in shown and 'tone-pass' not in shown


def test_a_result_that_was_taken_out_is_missed(today):
    path = today / 'trials.jsonl'
    first, _, rest = path.read_text().partition('\n')
    path.write_text(rest)
    assert main(['report', str(today)]) == 3
    assert f'got no result of {json.loads(first)["trial_id"]}' in text(today / 'report.html')
    assert main(['report', str(today), '--as-written']) == 3
    assert '1 of 2 planned trials were completed' in text(today / 'report.html')


def test_what_was_drawn_is_taken_from_the_records_where_nobody_kept_it(today):
    kept = reporting.source_of(today, again=False)
    (today / 'views.jsonl.gz').unlink()
    again = reporting.source_of(today, again=False)
    assert any('views.jsonl.gz: missing' in flaw for flaw in again.trust.flaws)
    assert again.scenarios == kept.scenarios and again.views.keys() == kept.views.keys()
    for name, view in again.views.items():
        found, expected = (json.loads(reporting.zlib.decompress(one))
                           for one in (view, kept.views[name]))
        assert found == expected
    write_text(today / 'views.jsonl.gz', json.dumps(
        {'trial_id': next(iter(kept.views)), 'view': {'verdict': 'PASS'}}))
    assert 'findings' in json.loads(reporting.zlib.decompress(
        next(iter(reporting.source_of(today, again=False).views.values()))))


@pytest.mark.parametrize(('arguments', 'message'), [
    (['{today}', '--output', '{today}/traces/page.html'], "in the campaign's own folder"),
    (['{today}', '--output', '{today}/../page.txt'], 'expected a folder, or a file that ends in'),
    (['{today}/traces'], 'Name the folder of a campaign'),
    (['{today}', '--kill-matrix', '{today}/settings.json'], 'selftest checks --json wrote'),
    (['{today}', '--output', '{today}/../no/page.html/report.html'], 'cannot be written')])
def test_wrong_use_is_told_and_nothing_is_written(today, arguments, message, capsys):
    (today.parent / 'no').mkdir()
    (today.parent / 'no' / 'page.html').write_text('a file')
    assert main(['report', *(one.format(today=today) for one in arguments)]) == 2
    assert message in capsys.readouterr().err
    assert not (today / 'report.html').exists()


def test_what_lies_beside_a_page_and_is_none_of_its_files_is_never_removed(today, capsys):
    (today.parent / 'page_data').mkdir()
    (today.parent / 'page_data' / 'mine.txt').write_text('mine')
    assert main(['report', str(today), '--output', str(today.parent / 'page.html')]) == 2
    assert '1 other file' in capsys.readouterr().err
    assert (today.parent / 'page_data' / 'mine.txt').read_text() == 'mine'


def _exit_code(folder, tell):
    """Run a campaign with the page as its only output, and return its exit code."""
    settings = RunSettings(scenarios=CHOSEN[:1], link='loopback', output=str(folder),
                           outputs=('page',))
    with open_outputs(OutputContext(settings, tell, tell)) as observers:
        return run(settings, observers, Loopback).exit_code


@pytest.mark.parametrize('missing', ['jinja2', 'plotly'])
def test_without_the_extra_a_campaign_ends_as_ever_with_one_line(missing, tmp_path, monkeypatch):
    def absent():
        raise MissingDependencyError('report.html', missing, "pip install 'x[report]'")
    monkeypatch.setattr(reporting, 'require', absent)
    monkeypatch.delenv(SWITCH)
    told = []
    assert _exit_code(tmp_path / 'run', told.append) == 0 and len(told) == 1
    assert missing in told[0] and '[report]' in told[0]
    assert not (tmp_path / 'run' / 'report.html').exists()


@for_each(('wanted', 'outputs', 'missing', 'is_named'), [
    ('', ('page', 'console'), '', True), ('off', ('page', 'console'), '', False),
    ('', ('console',), '', False), ('', ('page', 'console'), 'plotly', False)])
def test_the_console_names_the_page_only_where_it_is_written(
        tmp_path, monkeypatch, capsys, wanted, outputs, missing, is_named):
    monkeypatch.setenv(SWITCH, wanted)
    monkeypatch.setattr(html_page, 'find_spec',
                        lambda name: None if name == missing else find_spec(name))
    folder = tmp_path / f'{wanted}{len(outputs)}{missing}'
    settings = RunSettings(scenarios=CHOSEN[:1], link='loopback', output=str(folder),
                           outputs=outputs)
    with open_outputs(OutputContext(settings, print, print)) as observers:
        run(settings, observers, Loopback)
    assert ('(report.html,' in capsys.readouterr().out) is is_named
    assert (folder / 'report.html').exists() is is_named


def test_a_page_that_fails_takes_no_result_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(reporting, 'render', lambda *given, **more: 1 / 0)
    monkeypatch.delenv(SWITCH)
    told = []
    assert _exit_code(tmp_path / 'run', told.append) == 0 and 'ZeroDivisionError' in told[0]
    assert list(verify(tmp_path / 'run')) == []


def test_no_number_of_a_folder_that_was_changed_bounds_anything(today):
    path = today / 'trials.jsonl'
    path.write_text(path.read_text().replace('"target"', '"critical"'))
    found = reporting.source_of(today, again=False)
    [one] = [row for row in scenario_rows(found) if row['classes']][:1]
    assert one['failed'] == '–' and '[' not in one['p50'] + one['p95']
    assert found.summary.missed.share.high is None
    told = [tile['more'] for tile in tiles(found)]
    assert 'no interval: this folder is not as its campaign must have left it' in told[0]
    assert all(not row.upper_ms.high and row.separation is None for row in found.summary.scenarios)
