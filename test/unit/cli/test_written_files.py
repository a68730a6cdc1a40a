# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a command writes, or cannot write, never looks like the success that it is not."""

import json
import os
from pathlib import Path
import shutil
import subprocess
import sys

from cases import for_each
import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.cli.result_files import write_result
from safety_scenarios.reports.traceability import coverage_csv
from unit.loopback_runs import loopback_run

OLD = {
    'json': json.dumps({'first': 'a', 'exit_code': 0}, indent=2),
    'csv': 'file,line,scenario_id,verdict\n',
    'labels': coverage_csv([]),
    'matrix': json.dumps({'seeds': [0]}, indent=2),
    'calibration': json.dumps({'method': 'x'}, indent=2)}
FAILING = (
    ('json', ['compare', 'nowhere', 'nowhere', '--json', 'FILE']),
    ('json', ['compare', 'nowhere', '--json=FILE', '--margin', '5 apples']),
    ('csv', ['scenario', 'grade', 'nowhere.jsonl', '--scenarios', 'SCN-C-101', '--csv', 'FILE']),
    ('labels', ['campaign', 'coverage', 'nowhere', '--output', 'FILE']),
    ('matrix', ['selftest', 'checks', 'nowhere', '--json', 'FILE']),
    ('calibration', ['selftest', 'calibrate', '--set', 'no=1', '--json', 'FILE']))


@for_each(('old', 'words'), FAILING)
def test_an_old_result_goes_before_the_command_that_fails(old, words, tmp_path):
    file = tmp_path / 'result'
    file.write_text(OLD[old], encoding='utf-8')
    assert main([word.replace('FILE', str(file)) for word in words]) == 2
    assert not file.exists()


@for_each(('old', 'words'), FAILING)
def test_a_file_of_somebody_else_stays(old, words, tmp_path):
    file = tmp_path / 'result'
    file.write_text('id: mine\n', encoding='utf-8')
    assert main([word.replace('FILE', str(file)) for word in words]) == 2
    assert file.read_text(encoding='utf-8') == 'id: mine\n'


@for_each('words', [
    'scenario grade FILE --scenarios SCN-C-101 --csv FILE', 'compare a b --gate=FILE --json=FILE',
    'campaign coverage nowhere --requirements FILE --output ./x/../FILE'])
def test_a_file_that_a_command_reads_is_not_written_over(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'x').mkdir(exist_ok=True)
    (tmp_path / 'FILE').write_text(OLD['csv'], encoding='utf-8')
    assert main(words.split()) == 2
    assert 'FILE to read and to write, expected two files' in capsys.readouterr().err
    assert (tmp_path / 'FILE').read_text(encoding='utf-8') == OLD['csv']


@pytest.fixture(scope='module')
def exported(tmp_path_factory):
    """Return a folder of files that an export has written."""
    folder = tmp_path_factory.mktemp('exported')
    run = loopback_run(folder / 'run', 'SCN-R-101').folder
    assert main(['export', str(run), '--for', 'csv', '--for', 'sarif', '--for', 'oscal', '--for',
                 'cyclonedx', '--output', str(folder / 'old')]) == 0
    return folder / 'old'


TABLES, REVIEWS = {'findings.csv', 'samples.csv', 'trials.csv'}, {
    'results.sarif', 'assessment-results.json', 'bom.cdx.json'}


@for_each(('options', 'gone'), [
    ([], TABLES), (['--format', 'sarif'], {'results.sarif'}), (['--format', 'svg'], set()),
    (['--for=sarif', '--format', 'csv'], {'results.sarif', *TABLES}),
    (['--for=oscal', '--for=cyclonedx'], REVIEWS - {'results.sarif'}),
    (['--table', 'trials', '--table=samples'], TABLES - {'findings.csv'})])
def test_an_export_that_fails_leaves_no_old_file_that_it_would_write(options, gone, exported,
                                                                     tmp_path):
    folder = shutil.copytree(exported, tmp_path / 'folder', dirs_exist_ok=True)
    assert main(['export', str(tmp_path / 'nowhere'), *options, '--output', str(folder)]) == 2
    assert {path.name for path in exported.iterdir()} - {
        path.name for path in folder.iterdir()} == gone


def test_an_export_that_fails_leaves_files_of_somebody_else(tmp_path):
    for name in TABLES:
        (tmp_path / name).write_text('a,b\n', encoding='utf-8')
    assert main(['export', str(tmp_path / 'nowhere'), '--output', str(tmp_path)]) == 2
    assert {path.name for path in tmp_path.iterdir()} == TABLES


def test_a_result_goes_into_a_pipe_of_the_shell():
    reads, writes = os.pipe()
    with os.fdopen(reads, encoding='utf-8') as file:
        write_result('--json', Path(f'/dev/fd/{writes}'), '{}')
        os.close(writes)
        assert file.read() == '{}\n'


@pytest.mark.parametrize('flag', ['-h', '--help'])
def test_who_asks_for_help_keeps_what_is_there(flag, tmp_path):
    program = Path(sys.executable).with_name('safety-scenarios')  # click keeps flags
    junit, file = tmp_path / 'junit.xml', tmp_path / 'old.json'
    junit.write_text('<testsuites name="x"/>', encoding='utf-8')
    file.write_text(OLD['json'], encoding='utf-8')
    subprocess.run([program, 'run', flag, '--junit', junit], check=True, capture_output=True)
    subprocess.run([program, 'compare', flag, '--json', file], check=True, capture_output=True)
    assert junit.read_text(encoding='utf-8') == '<testsuites name="x"/>' and file.exists()


def test_a_junit_file_is_withdrawn_however_it_is_named(tmp_path, capsys):
    for words in (['--junit', 'FILE'], ['--junit=FILE'], ['--set', 'junit=FILE'],
                  ['--set=junit=FILE']):
        junit = tmp_path / 'junit.xml'
        junit.write_text('<testsuites name="x"/>', encoding='utf-8')
        options = [one.replace('FILE', str(junit)) for one in words]
        assert main(['run', 'SCN-C-101', '--trials', '0', *options]) == 2
        assert 'ended with an error' in junit.read_text(encoding='utf-8')


def test_a_result_that_cannot_be_written_is_told_with_its_option(tmp_path, capsys):
    (tmp_path / 'file').write_text('', encoding='utf-8')
    assert main(['selftest', 'checks', 'SCN-C-101', '--seeds', '1', '--chance-trials', '0',
                 '--json', str(tmp_path / 'file' / 'matrix.json')]) == 2
    assert 'error: --json: ' in capsys.readouterr().err


@pytest.mark.parametrize('words', [
    'evaluate RUN --output RUN/new', 'compare RUN RUN --json RUN/c.json',
    'run SCN-C-101 --output RUN/traces/more', 'campaign coverage RUN --output RUN/a.csv',
    'scenario grade RUN --scenarios SCN-C-101 --csv RUN/../RUN/g.csv',
    'selftest checks SCN-C-101 --json RUN/m.json', 'suite table RUN --output RUN/t.html'])
def test_nothing_is_written_into_the_folder_of_a_campaign(words, tmp_path, monkeypatch, capsys):
    """It would no longer be as its campaign left it, and nothing of it could be a PASS."""
    monkeypatch.chdir(tmp_path)
    for name in ('settings.json', 'trials.jsonl'):
        (tmp_path / 'RUN').mkdir(exist_ok=True)
        (tmp_path / 'RUN' / name).write_text('{}', encoding='utf-8')
    assert main(words.split()) == 2
    assert "which is in the campaign's own folder" in capsys.readouterr().err
    assert len(list((tmp_path / 'RUN').iterdir())) == 2


MAIN = 'import sys; from safety_scenarios.cli.main import main; sys.exit(main())'
RUN = 'run', 'SCN-R-101', '--link', 'loopback', '--trials', '2', '-v', '--output'


def code_of(how, *arguments):
    """Return the exit code and standard error of a command with a lost standard output."""
    if how == 'closed pipe':
        reader, writer = os.pipe()
        os.close(reader)
    else:
        writer = os.open('/dev/full', os.O_WRONLY)
    try:
        done = subprocess.run(
            [sys.executable, '-c', MAIN, *map(str, arguments)], stdout=writer, text=True,
            stderr=subprocess.PIPE, preexec_fn=(lambda: os.close(1)) if how == 'closed' else None)
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize('how, controller, ends', [
    ('closed pipe', 'rule_based', 0), ('full', 'late', 1), ('closed', 'rule_based', 0)])
def test_a_campaign_without_a_console_ends_with_its_own_code(how, controller, ends, tmp_path):
    folder = tmp_path / 'campaign'
    code, _ = code_of(how, *RUN, folder, '--controller', controller)
    summary = json.loads((folder / 'campaign.json').read_text())
    assert (summary['completed'], code) == (2, ends)


@pytest.mark.parametrize('how, code, said', [
    ('closed pipe', 0, ''), ('full', 3, 'No space left on device'),
    ('closed', 3, 'Bad file descriptor')])
@pytest.mark.parametrize('command', ['--help', 'scenario schema'])
def test_a_command_whose_output_did_not_arrive_has_failed(how, code, said, command):
    found, errors = code_of(how, *command.split())
    assert found == code
    assert said in errors and (said or not errors)


def test_what_follows_a_campaign_ends_with_its_reader(tmp_path):
    folder = tmp_path / 'campaign'
    subprocess.run([sys.executable, '-c', MAIN, *RUN, folder], check=True,
                   stdout=subprocess.DEVNULL)
    assert code_of('closed pipe', 'campaign', 'tail', folder)[0] == 3
