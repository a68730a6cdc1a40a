# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Traceability: covered is what came to PASS or FAIL, and nothing else."""

import csv
import io
from pathlib import Path

import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError
from safety_scenarios.reports.traceability import listed_in
from unit.loopback_runs import loopback_run

QUICK = (Path(__file__).parents[2] / 'data' / 'quick_person.yaml').read_text(encoding='utf-8')


def scenario(folder, name, labels='', text=QUICK):
    path = folder / f'{name}.yaml'
    path.write_text(f'{text.replace("id: QUICK", f"id: {name}")}\n{labels}\n', encoding='utf-8')
    return str(path)


def coverage(folder, *arguments, capsys):
    code = main(['campaign', 'coverage', str(folder), *map(str, arguments)])
    printed = capsys.readouterr()
    rows = {(row['kind'], row['label']): row for row in csv.DictReader(io.StringIO(printed.out))}
    return code, rows, printed.err


def listed(tmp_path, text, name='list.txt'):
    path = tmp_path / name
    path.write_text(text, encoding='utf-8')
    return path


@pytest.fixture
def files(tmp_path):
    """Return three scenarios: one that passes, one at which nobody ever moves, one unnamed."""
    silent = QUICK.replace('at_least: 0.3', 'at_least: 9.0')
    return [scenario(tmp_path, 'GOOD', 'requirements: [REQ-1, REQ-10]\nhazards: [H]'),
            scenario(tmp_path, 'MUTE', 'requirements: [REQ-1, REQ-2]', silent),
            scenario(tmp_path, 'NONE')]


def test_named_and_only_inconclusive_is_not_covered(tmp_path, files, capsys):
    run = loopback_run(tmp_path / 'run', *files, trials=2)
    code, rows, told = coverage(run.folder, capsys=capsys)
    assert code == 3
    assert rows['requirement', 'REQ-2']['covered'] == 'no'
    assert rows['requirement', 'REQ-2']['why'] == 'no trial came to PASS or FAIL'
    both = rows['requirement', 'REQ-1']
    assert (both['covered'], both['verdict'], both['PASS'], both['INCONCLUSIVE'], both['trials'],
            both['scenarios'], both['not shown by']) == (
        'yes', 'INCONCLUSIVE', '2', '2', '4', 'GOOD; MUTE', 'MUTE')
    assert 'not covered: requirement REQ-2' in told
    assert rows['scenario', 'NONE']['why'] == 'it names nothing'


def test_a_planned_trial_without_a_record_leaves_its_label_open(tmp_path, files, capsys):
    run = loopback_run(tmp_path / 'run', files[0], files[2], trials=2)
    for trial in (run.trials[0], run.trials[-1]):
        for path in run.folder.glob(f'traces/*/{trial["trial_id"]}.*'):
            path.unlink()
    (run.folder / 'trials.jsonl').write_text(''.join(f'{line}\n' for line in run.lines[1:-1]))
    code, rows, _ = coverage(run.folder, capsys=capsys)
    assert code == 3
    row = rows['requirement', 'REQ-1']
    assert (row['verdict'], row['covered'], row['PASS']) == ('INCONCLUSIVE', 'no', '1')
    assert row['why'] == '1 planned trial without a record'
    row = rows['scenario', 'NONE']
    assert (row['verdict'], row['why']) == (
        'INCONCLUSIVE', 'it names nothing; 1 planned trial without a record')


def test_the_worst_latency_is_the_largest_and_a_missing_reaction_is_no_number(tmp_path, capsys):
    path = scenario(tmp_path, 'A', 'requirements: [REQ-1]')
    run = loopback_run(tmp_path / 'run', path, trials=3)
    worst = max(trial['latency']['reaction']['judged_ns'] for trial in run.trials) / 1e6
    code, rows, _ = coverage(run.folder, capsys=capsys)
    assert code == 0
    assert float(rows['requirement', 'REQ-1']['worst latency ms']) == round(worst, 3)
    run = loopback_run(tmp_path / 'bad', path, controller='never_stop')
    code, rows, _ = coverage(run.folder, capsys=capsys)
    assert code == 1
    assert rows['requirement', 'REQ-1']['worst latency ms'] == 'no reaction in 1'
    assert rows['requirement', 'REQ-1']['covered'] == 'yes'


def test_a_listed_requirement_that_nobody_names_is_a_row_of_its_own(tmp_path, files, capsys):
    run = loopback_run(tmp_path / 'run', files[0])
    path = listed(tmp_path, '# ours\nREQ-1\n#12\n\nREQ-77\nREQ-77\n')
    code, rows, told = coverage(run.folder, '--requirements', path, capsys=capsys)
    assert code == 3
    assert [label for kind, label in rows if kind == 'requirement'] == [
        '#12', 'REQ-1', 'REQ-10', 'REQ-77']
    assert rows['requirement', 'REQ-77']['why'] == 'no scenario names it'
    assert '3 of 5 labels are covered' in told


def test_a_scenario_that_was_planned_and_never_run_covers_nothing(tmp_path, files, capsys):
    run = loopback_run(tmp_path / 'run', *files[::2])
    [journal] = run.folder.rglob('GOOD*.events.jsonl.gz')
    journal.unlink()
    lines = run.folder / 'trials.jsonl'
    lines.write_text(''.join(line + '\n' for line in run.lines if 'GOOD' not in line))
    code, rows, told = coverage(run.folder, capsys=capsys)
    assert code == 3
    assert (rows['hazard', 'H']['covered'], rows['hazard', 'H']['why']) == (
        'no', 'no trial was run')
    assert 'error: trials.jsonl' in told


def test_no_cell_is_a_formula_to_a_spreadsheet(tmp_path, capsys):
    path = scenario(tmp_path, 'A', 'requirements: ["=1+1", "@x", "-2", "a;=HYPERLINK(1)", "a-b"]')
    run = loopback_run(tmp_path / 'run', path)
    file = tmp_path / 'coverage.csv'
    assert main(['campaign', 'coverage', str(run.folder), '--output', str(file)]) == 0
    labels = {row['label'] for row in csv.DictReader(io.StringIO(file.read_text()))}
    assert labels == {"'=1+1", "'@x", "'-2", "a;'=HYPERLINK(1)", 'a-b'}
    assert all(line.startswith('"') for line in file.read_text().splitlines())


def test_a_table_goes_where_a_link_leads_and_leaves_the_link(tmp_path, files):
    """As root /dev/stdout, which leads to a file, would else become one."""
    run = loopback_run(tmp_path / 'run', files[0])
    (tmp_path / 'link.csv').symlink_to(tmp_path / 'own.csv')
    for before in (False, True):
        assert (tmp_path / 'own.csv').exists() == before
        main(['campaign', 'coverage', str(run.folder), '--output', str(tmp_path / 'link.csv')])
        assert (tmp_path / 'link.csv').is_symlink() and 'REQ-10' in (
            tmp_path / 'own.csv').read_text(encoding='utf-8')


def test_without_any_label_nothing_is_shown(tmp_path, files, capsys):
    run = loopback_run(tmp_path / 'run', files[2])
    code, _, told = coverage(run.folder, capsys=capsys)
    assert code == 3 and 'no scenario names' in told


def test_the_table_does_not_go_into_the_folder_of_its_campaign(tmp_path, files, capsys):
    run = loopback_run(tmp_path / 'run', files[0])
    assert main(['campaign', 'coverage', str(run.folder), '--output',
                 str(run.folder / 'coverage.csv')]) == 2
    assert 'manifest' in capsys.readouterr().err


@pytest.mark.parametrize('name, text, expected', [
    ('a.txt', 'REQ-1\r\n  REQ-2 \n', [('requirement', 'REQ-1'), ('requirement', 'REQ-2')]),
    ('a.csv', '\ufeffID,Text\nREQ-1,"a, b"\n', [('requirement', 'REQ-1')]),
    ('a.csv', 'Kind;ID\nhazard;H 1\nclauses;C\n;R\n',
     [('hazard', 'H 1'), ('clause', 'C'), ('requirement', 'R')]),
    ('a.csv', 'REQ-1,x\n#2,y\n', [('requirement', 'REQ-1'), ('requirement', '#2')]),
])
def test_a_list_is_read_as_spreadsheets_and_editors_write_it(tmp_path, name, text, expected):
    assert list(listed_in(listed(tmp_path, text, name))) == expected


@pytest.mark.parametrize('name, text, message', [
    ('a.txt', '# nothing\n\n', 'got no label'),
    ('a.txt', 'a\x1bb\n', 'line 1: .*control character'),
    ('a.txt', f'ok\n{"x" * 201}\n', 'line 2'),
    ('a.csv', 'kind,id\nwish,R\n', "line 2: kind: got 'wish'"),
    ('a.csv', 'id,kind\n,hazard\n', 'line 2: got no label'),
    ('a.csv', 'id\n"open\n', 'cannot be read'),
])
def test_a_list_that_says_nothing_clear_is_refused_with_its_line(tmp_path, name, text, message):
    with pytest.raises(SettingsError, match=message):
        listed_in(listed(tmp_path, text, name))
