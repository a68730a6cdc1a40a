# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The workflows in doc/ci.md are valid, and its commands have the options that they are given."""

from pathlib import Path
import re
import shlex

from cases import for_each
import click
import fast_yaml
import pytest
from safety_scenarios.cli.main import command_at, commands

DOC = Path(__file__).parents[2] / 'doc'
PAGE = (DOC / 'ci.md').read_text(encoding='utf-8')
WORKFLOWS = [fast_yaml.load(text) for text in re.findall(
    r'^```yaml\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)]
INDENTED = [line.strip() for name in ('ci.md', 'evidence.md') for line in
            (DOC / name).read_text(encoding='utf-8').splitlines()
            if line.startswith('    safety-scenarios ')]


def texts(data):
    if isinstance(data, str):
        yield data
    for inner in data.values() if isinstance(data, dict) else data if isinstance(data, list) \
            else ():
        yield from texts(inner)


IN_WORKFLOWS = [line for workflow in WORKFLOWS for text in texts(workflow)
                for line in text.splitlines() if line.startswith('safety-scenarios ')]


def parse(line: str) -> None:
    """Read a command as our own would, without running it."""
    line = re.sub(r'\$\{\{.*?\}\}|"\$\(.*?\)"', 'value', line)
    _, *words = shlex.split(line, comments=True)
    command, arguments = command_at(words)
    assert command is not None
    command.make_parser(click.Context(command)).parse_args(arguments)


@for_each('line', [*INDENTED, *IN_WORKFLOWS])
def test_a_command_exists_with_its_options(line):
    parse(line)


def test_an_option_that_is_none_would_be_found():
    with pytest.raises(click.NoSuchOption):
        parse('safety-scenarios run robotic --junti x')


def test_both_workflows_gate_upload_and_show():
    github, gitlab = (next(found for found in WORKFLOWS if key in found)
                      for key in ('jobs', 'safety'))
    steps = github['jobs']['scenarios']['steps']
    assert all(('uses' in step) != ('run' in step) for step in steps)
    assert not any('continue-on-error' in step for step in steps)
    assert steps[-1]['if'] == '${{ !cancelled() }}'
    assert gitlab['safety']['artifacts']['reports']['junit'] in ' '.join(
        gitlab['safety']['script'])
    assert len(IN_WORKFLOWS) >= 6 and len(INDENTED) >= 8


def test_the_exit_codes_are_those_of_the_commands():
    [row] = [line for line in PAGE.splitlines() if line.startswith('| code |')]
    named = set(re.findall(r'`([a-z ]+)`', row))
    assert named <= dict(commands()).keys()
    assert named >= {'run', 'evaluate', 'compare', 'campaign coverage', 'campaign verify',
                     'selftest checks', 'scenario validate'}
    codes = [line[:4] for line in PAGE.splitlines() if re.match(r'\| [0-9] \|', line)]
    assert codes == ['| 0 ', '| 1 ', '| 2 ', '| 3 ']
