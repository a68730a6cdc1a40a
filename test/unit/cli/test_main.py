# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Help, lists, validation and exit codes of the command line, and what people mistype there."""

import json
from pathlib import Path
import subprocess
import sys

from cases import for_each
import click
from click.shell_completion import ShellComplete
import jsonschema
import pytest
from safety_scenarios import registry
from safety_scenarios.cli.main import cli, COMMANDS, main, Verbs
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.loading import installed_folders
from unit.formats.agent_files import agents, dumped


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


HEAVY = ('rclpy', 'numpy', 'pydantic', 'rich', 'yaml', 're2', 'openai', 'mcap')


def loaded_by(*commands: list[str]) -> list[set[str]]:
    """Return what is loaded after each command of one process."""
    code = ('import sys\nfrom safety_scenarios.cli.main import main\n'
            f'for command in {commands!r}:\n    assert main(command) == 0\n'
            '    print(*sys.modules, file=sys.stderr)')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('Usage: safety-scenarios') == len(commands)
    return [set(line.split()) for line in done.stderr.splitlines()]


@pytest.mark.parametrize('option', ['--help', '-h'])
def test_help_loads_nothing_heavy_and_none_of_our_modules_but_its_own(option):
    [modules] = loaded_by([option])
    assert not modules & set(HEAVY)
    assert {name for name in modules if name.startswith('safety_scenarios')} == {
        'safety_scenarios', 'safety_scenarios.cli', 'safety_scenarios.cli.main',
        'safety_scenarios.cli.standard_streams', 'safety_scenarios.errors',
        'safety_scenarios.dependencies'}


def test_the_help_of_a_command_loads_that_command_and_no_client_of_a_language_model():
    run, judge = loaded_by(['run', '--help'], ['selftest', 'judge', '--help'])
    assert 'safety_scenarios.cli.running' in run and 'pydantic' in run
    assert not {'safety_scenarios.cli.listing', 'safety_scenarios.cli.selftest', 'rclpy'} & run
    assert 'safety_scenarios.cli.selftest' in judge - run
    assert 'openai' not in run | judge


@for_each('name', COMMANDS)
def test_the_table_says_what_the_command_says(name):
    command = cli.get_command(click.Context(cli), name)
    assert command is not None and command.name == name
    shown = click.Command(name, help=COMMANDS[name].help)
    for limit in range(20, 160):
        assert shown.get_short_help_str(limit) == command.get_short_help_str(limit)


@for_each('arguments', [['--help'], *([name, '--help'] for name, one in COMMANDS.items()
                                      if isinstance(one, Verbs))])
def test_the_list_of_commands_cuts_no_sentence(arguments, capsys):
    assert main(arguments) == 0
    assert '...\n' not in capsys.readouterr().out.partition('Commands')[2]


def test_at_most_eighteen_commands_stand_at_the_top_in_the_order_of_the_table():
    assert len(COMMANDS) <= 18
    assert cli.list_commands(click.Context(cli)) == list(COMMANDS)


def test_no_other_name_is_a_command():
    assert cli.get_command(click.Context(cli), 'fly') is None


RUN = 'run SCN-R-101 --link loopback '
MIX_UPS = {
    'runn robotic': "Did you mean 'safety-scenarios run'?",
    'validate robotic': "Did you mean 'safety-scenarios scenario validate'?",
    'scenario chek robotic': "No such command 'chek' below safety-scenarios scenario.",
    'campaign veryfy runs/today': "Did you mean 'safety-scenarios campaign verify'?",
    'run SCN-R-1O1': "Did you mean 'SCN-R-101'?",
    'run robotik': "Did you mean 'robotic'?",
    RUN + '--trails 3': "Did you mean '--trials'?",
    RUN + '-trials 3': 'Options of more than one letter have two dashes',
    RUN + '--trials 3 --trials 4': '--trials: got it twice, expected it once',
    'evaluate . --gate target --gate critical': '--gate: got it twice, expected it once',
    'campaign sign . --key a --key b': '--key: got it twice, expected it once',
    RUN + '--trials 3 --set trials=4': '--set trials: got it with --trials, expected one of them',
    RUN + '--set trials=3 --set trials=4': "--set trials: got '3' and '4', expected one value",
    RUN + '--set trials': '--set trials: got no value, expected NAME=VALUE',
    RUN + '--set trials=three': "--set trials: got 'three', expected a whole number",
    RUN + 'trials=3': 'got a setting in the place of a scenario, expected --set trials=3',
    RUN + 'trials:=3': 'got a setting in the place of a scenario, expected --set trials=3',
    RUN + '--judge-model NAME': 'It is a setting: use --set judge.model=VALUE',
    RUN + '--lockstep': 'It is a setting: use --set clock.lockstep=VALUE',
    RUN + '--delay-ms 400': 'use --set controller.delay_ms=VALUE',
    RUN + '--set delay_ms=400': 'expected --set controller.delay_ms=400',
    RUN + '--set action_horizon=8': 'expected --set controller.action_horizon=8',
    RUN + '--controller late --set controller.dealy_ms=4': "Did you mean 'delay_ms'?",
    RUN + '--controller late --set controller.delay_ms=4 --set controller.delay_ms=5':
        'controller.delay_ms',
    RUN + '--set world.kinds=mujoco': "Did you mean 'world.kind'?",
    RUN + '--set judge=NAME': 'got the name of a group, expected that of one value',
    RUN + '--world mujocco': "Did you mean 'mujoco'?",
    RUN + '--gate limits.yaml': 'acceptable, critical. A file of limits is for compare --gate',
    RUN + '--controller rule-based': "Did you mean 'rule_based'?",
    RUN + '--profile turtlebot': "Did you mean 'turtlebot4'?",
    RUN + '--domain-id 500': '500',
    RUN + '--remap cmd_vel=/base/cmd_vel': 'FROM:=TO',
    RUN + '--verbose --quiet': 'expected one of them',
    RUN + '--signers keys': "It is an option of 'campaign verify'",
    'preflight SCN-R-101 --set gate=target': 'got a setting that preflight does not use',
    RUN + '--model NAME': 'the controller rule_based, which asks no model',
    'preflight SCN-R-101 --model NAME': 'Add --controller llm',
    'search SCN-R-101 --link loopback --model NAME': 'Add --controller llm',
    'evaluate . --remap scan:=front': '--remap: got it without --bag',
    'evaluate . --namespace tb4': '--namespace: got it without --bag',
}


@for_each(('line', 'said'), list(MIX_UPS.items()), ids=lambda case: case[0])
def test_each_is_refused_with_what_was_meant(line, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 2
    out, err = capsys.readouterr()
    assert said in ' '.join(err.split())
    assert not out and not list(tmp_path.iterdir())


def test_a_model_is_asked_by_another_agent_too(tmp_path, capsys):
    file = tmp_path / 'talk.yaml'
    file.write_text(dumped(agents(('Alice said "hello"', 'Bot should say "hi"'))))
    (tmp_path / 'talk.bindings.yaml').write_text(dumped({
        'version': 1, 'participants': {'a1': {'driver': 'model', 'controller': 'llm'}}}))
    assert main(['run', str(file), '--link', 'loopback', '--model', 'NAME']) == 2
    assert 'a1 is driven by llm, for whom simulated time does not wait' in ' '.join(
        capsys.readouterr().err.split())


@for_each('line', [
    ['run', 'SCN-R-101', '--link', 'loopback'], ['campaign', 'merge', '.', '.'], ['evaluate', '.'],
    ['export', '.'], ['report', '.'], ['trial', 'replay', '.', '1']], ids=' '.join)
def test_an_output_that_could_look_like_a_verdict_or_has_no_name_is_refused(
        line, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path, said in (('out\nPASS  rule_based: 9 of 9 trials', 'without control characters'),
                       ('out\x1b[2J', 'without control characters'),
                       ('', 'got an empty text, expected a path')):
        assert main([*line, '--output', path]) == 2
        out, err = capsys.readouterr()
        assert '--output: got' in err and said in ' '.join(err.split())
        assert not out and '\nPASS' not in err and not list(tmp_path.iterdir())


def test_an_output_among_the_settings_is_refused_alike(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(['run', 'SCN-R-101', '--link', 'loopback', '--set', 'output=out\nPASS']) == 2
    assert 'without control characters' in ' '.join(capsys.readouterr().err.split())


@pytest.fixture
def campaigns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go where there is the folder of one campaign, and another folder."""
    (tmp_path / 'runs' / 'today').mkdir(parents=True)
    (tmp_path / 'runs' / 'today' / 'settings.json').write_text('{}')
    (tmp_path / 'runs' / 'notes').mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures('campaigns')
@for_each(('words', 'begun', 'offered'), [
    ('', 'camp', {'campaign'}), ('campaign', 've', {'verify'}),
    ('evaluate', 'r', {'runs/today'}), ('compare runs/today', 'runs/t', {'runs/today'}),
    ('run', 'SCN-R-10', {f'SCN-R-10{last}' for last in range(1, 10)}),
    ('scenario describe', 'clin', {'clinical'}), ('run robotic --profile', 'tu', {'turtlebot4'}),
    ('run robotic --controller', 'rule', {'rule_based'}),
    ('run robotic --trials 3 --trials 4 --set', 'judge.mo', {'judge.model='})])
def test_tab_offers_what_there_is(words, begun, offered):
    complete = ShellComplete(cli, {}, 'safety-scenarios', '_SAFETY_SCENARIOS_COMPLETE')
    assert {one.value for one in complete.get_completions(words.split(), begun)} == offered
