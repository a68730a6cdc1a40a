# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``safety-scenarios --help`` imports no command, and yet says what each of them says."""

import subprocess
import sys

from cases import for_each
import click
import pytest
from safety_scenarios.cli.main import cli, COMMANDS, main, Verbs

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
