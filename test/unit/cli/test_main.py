# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command line without ROS: help, lists, schema, validation, exit codes."""

import json

from cases import for_each
import jsonschema
import pytest
from safety_scenarios import registry
from safety_scenarios.cli.main import main
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.loading import installed_folders


def files():
    return sorted(path for path in installed_folders()[0].rglob('*.yaml')
                  if path.parent.name != 'agents')


@pytest.mark.parametrize('command', [
    'run', 'scenario validate', 'scenario list', 'plugins', 'scenario schema', 'selftest checks',
    'selftest judge', 'train'])
def test_every_command_explains_itself_with_an_example(command, capsys):
    assert main([*command.split(), '--help']) == 0
    assert f'\n  safety-scenarios {command}' in capsys.readouterr().out


def test_help_of_run_has_at_most_28_options_and_set_gives_the_rest(capsys):
    assert main(['run', '--help']) == 0
    options = [line for line in capsys.readouterr().out.splitlines() if line.startswith('  -')]
    assert any('--set' in line for line in options)
    assert len(options) <= 30, 'with --version and --help'


def test_list_shows_every_installed_scenario(capsys):
    assert main(['scenario', 'list']) == 0
    assert capsys.readouterr().out.count('\n| SCN-') == len(files())


@pytest.mark.parametrize('command', ['scenario list', 'plugins'])
def test_what_a_program_reads_of_a_list_is_whole(command, capsys):
    assert main(command.split()) == 0
    shown = capsys.readouterr().out
    assert '…' not in shown
    for name in ('SCN-R-101', 'maintenance_lock_out') if command == 'scenario list' else (
            'safety_scenarios.controllers.saboteurs.command_streams:InHalfAMinute',
            'in_half_a_minute'):
        assert name in shown
    rows = [line for line in shown.splitlines() if line.startswith('│')]
    assert all(line.split('│')[1].strip() for line in rows)  # no row goes on in the next line


def test_one_is_not_told_as_many(capsys):
    assert main(['scenario', 'validate', 'SCN-R-101']) == 0
    assert '1 scenario is valid, 0 warnings' in capsys.readouterr().out


@pytest.mark.thorough
def test_validate_counts_and_strict_fails_on_warnings(tmp_path, capsys):
    folder = installed_folders()[0]
    assert main(['scenario', 'validate', str(folder), '--strict', '--no-sweep']) == 0
    count = len(files()) + len(list((folder / 'agents').glob('*.bindings.yaml')))
    assert f'{count} scenarios are valid, 0 warnings' in capsys.readouterr().out
    odd = tmp_path / 'odd.yaml'
    odd.write_text(files()[0].read_text() + 'colour: blue\n')
    assert main(['scenario', 'validate', str(odd)]) == 0
    assert main(['scenario', 'validate', str(odd), '--strict']) == 2
    assert 'colour: unknown key' in capsys.readouterr().err


@pytest.mark.parametrize('arguments', [
    ['validate', 'no_such_file.yaml'], ['run'], ['run', 'robotic', '--trials', 'many'],
    ['run', 'robotic', '--gate', 'later'], ['fly'], ['list', 'nowhere']])
def test_wrong_usage_ends_with_2_and_no_traceback(arguments, capsys):
    assert main(arguments) == 2
    assert 'Traceback' not in capsys.readouterr().err


def test_an_unknown_link_is_told_with_the_known_ones(capsys):
    assert main(['run', 'SCN-C-101', '--link', 'lopback']) == 2
    said = capsys.readouterr().err
    assert "link: got 'lopback', expected one of the links: loopback, ros, simulated. Did you " \
        "mean 'loopback'?" in ' '.join(said.split())
    assert main(['run', 'SCN-C-101', '--link', 'loopback', '--record', 'mcapp']) == 2
    assert "record: got 'mcapp', expected one of the traces" in capsys.readouterr().err


@pytest.mark.parametrize('option', ['profile', 'junit', 'model', 'shard'])
def test_an_empty_variable_of_a_shell_is_no_option_that_was_left_out(option, tmp_path, capsys):
    """``--profile "$PROFILE"`` would else judge another robot, and pass."""
    assert main(['run', 'SCN-C-101', '--link', 'loopback', f'--{option}', '', '--output',
                 str(tmp_path / 'run')]) == 2
    assert f'--{option}: got an empty text, expected a value' in capsys.readouterr().err


@pytest.mark.parametrize('command', [
    'report FOLDER --kill-matrix', 'campaign coverage FOLDER --requirements',
    'scenario validate SCN-C-101 --calibration', 'suite verify', 'selftest judge'])
def test_a_file_without_an_end_is_not_read_to_its_end(command, tmp_path, capsys):
    words = command.replace('FOLDER', str(tmp_path)).split()
    assert main([*words, '/dev/zero']) == 2
    assert 'got more than ' in capsys.readouterr().err


def test_a_lack_of_memory_is_told_and_no_fault_of_the_program(monkeypatch, capsys):
    def full(*_):
        raise MemoryError
    monkeypatch.setattr('safety_scenarios.cli.main.command_at', full)
    assert main(['scenario', 'list']) == 3
    said = capsys.readouterr().err
    assert 'there is not enough memory' in said and 'report it' not in said


@pytest.mark.parametrize(('arguments', 'told'), [
    (['--controller', 'lat'], "Did you mean 'late'?"),
    (['--trials', '0'], '--trials: got 0, expected at least 1')])
def test_a_wrong_value_is_told_in_one_short_line(arguments, told, capsys):
    assert main(['run', 'SCN-R-101', '--link', 'loopback', *arguments]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert told in line and len(line) < 250


def listed(value):
    """Return data as JSON knows it: lists, not tuples."""
    if isinstance(value, dict):
        return {key: listed(inner) for key, inner in value.items()}
    return [listed(inner) for inner in value] if isinstance(value, tuple) else value


@for_each('path', files(), ids=lambda path: path.stem)
def test_the_exported_schema_accepts_every_shipped_scenario(path, exported):
    exported.validate(listed(Document.of(str(path), path.read_bytes()).data))


@pytest.mark.parametrize('old, new', [
    ('kind: person,', 'kind: persn,'), ('rate_hz: 20', 'rate_hz: -1'),
    ('unit: m/s', 'unit: km/h'), ('critical_ms: 500', 'critical_ms: soon'),
    ('topic: cmd_vel, message: auto', 'topic: cmd_vel, message: Twist')])
def test_the_exported_schema_refuses_what_the_loader_refuses(old, new, exported):
    [path] = [path for path in files() if path.stem == 'person_steps_near']
    text = path.read_text()
    assert old in text
    data = Document('x.yaml', text.replace(old, new).encode()).data
    with pytest.raises(jsonschema.ValidationError):
        exported.validate(listed(data))


def test_schema_prints_json(capsys):
    assert main(['scenario', 'schema']) == 0
    assert json.loads(capsys.readouterr().out)['title'] == 'safety_scenarios scenario file'


@for_each(('kind', 'cause', 'code', 'said'), [
    (ImportError, KeyboardInterrupt(), 3, 'interrupted\n'),
    (AssertionError, KeyboardInterrupt(), 3, 'interrupted\n'),
    (ImportError, None, 2, 'source your ROS installation')])
def test_ctrl_c_while_a_library_in_c_is_imported_is_no_missing_library(
        kind, cause, code, said, monkeypatch, tmp_path, capsys):
    real = registry.import_module

    def stopped(module):
        if not module.startswith('safety_scenarios.ros.'):
            return real(module)
        try:
            raise ImportError('initialization failed') from cause
        except ImportError:
            assert kind is ImportError  # else as rpyutils does
            raise
    monkeypatch.setattr(registry, 'import_module', stopped)
    run = ['run', 'SCN-R-101', '--link', 'ros', '--output', str(tmp_path / 'run')]
    assert main(run) == code
    assert said in capsys.readouterr().err
