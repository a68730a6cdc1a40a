# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Every block of README and of the manual is run as its page has it, in order, in an empty folder.

``test/pages.py`` says how a page marks what cannot be run. Commands of all other pages are held to
what there is: the command, its options, launch arguments, extras and targets of make.
"""

from importlib.metadata import metadata
import json
from pathlib import Path
import re
import shlex
import shutil
import subprocess
import sys
import time

from cases import for_each
import click
import jsonschema
from pages import Block, blocks, expect_shown, indented, lines, ROOT, run_shell, SHELLS
import pytest
from safety_scenarios.cli.listing import schema_of
from safety_scenarios.cli.main import command_at
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.formats.profile_file import load_profile
from safety_scenarios.ros import launch_arguments as launching
from safety_scenarios.ros.relay.protocol import RelaySettings
import yaml

RUN = [ROOT / 'README.md', *sorted((ROOT / 'doc' / 'manual').glob('*.md'))]
PAGES = [*RUN, ROOT / 'CONTRIBUTING.md', ROOT / 'bench' / 'README.md', ROOT / 'doc' / 'index.md',
         *sorted((ROOT / 'doc' / 'reference').glob('*.md')),
         *sorted((ROOT / 'examples').rglob('README.md'))]
QUICK = ('README.md', 'first_run.md')
"""Pages that run wherever tests run; the others where nobody waits."""
MOST_SKIPPED = 0.6
"""Of the blocks of all pages that run; more would make the claim of this file an empty one."""


def name_of(page: Path) -> str:
    """Return the page as it is named here."""
    return str(page.relative_to(ROOT))


def commands() -> dict[str, str]:
    """Return each command line of all pages to the page that shows it."""
    found = {}
    for page in PAGES:
        text = page.read_text(encoding='utf-8')
        for block in blocks(text):
            if block.language in SHELLS:
                found.update(dict.fromkeys((line.command for line in lines(block)), name_of(page)))
        found.update(dict.fromkeys(indented(text), name_of(page)))
    return found


ALL = commands()
OURS = sorted(command for command in ALL if re.match(r'safety-scenarios\s', command))


@for_each('command', OURS)
def test_a_command_exists_with_its_options(command):
    text = re.sub(r'\$\{\{.*?\}\}|"\$\(.*?\)"', 'value', command)
    words = shlex.split(re.split(r' (?:\||&&|&|>|;)(?: |$)', text)[0])[1:]
    if words in (['--version'], ['--help']):
        return
    known, arguments = command_at(words)
    assert known is not None and not isinstance(known, click.Group)
    if '--help' not in arguments:
        known.make_parser(click.Context(known)).parse_args(list(arguments))


def test_an_option_that_is_none_would_be_found():
    known, arguments = command_at(['run', 'robotic', '--junti', 'x'])
    with pytest.raises(click.NoSuchOption):
        known.make_parser(click.Context(known)).parse_args(list(arguments))


def test_launch_and_nodes_are_given_arguments_that_there_are():
    names = {*launching.EVAL.names, *launching.HIL.names, *launching.MONITOR.names,
             *launching.GAZEBO.names, *RelaySettings.model_fields, 'scenario', 'autostart',
             'controller_parameters', 'topic', 'stop_distance_m', 'model', '__node', '__ns',
             'cmd_vel', 'scan', 'scan_on_wire', 'drives'}
    given = {name for command in ALL if command.startswith('ros2 ')
             for name in re.findall(r'(?<![\w.])(\w+):=', command)}
    assert given and given <= names, given - names


def test_make_knows_what_it_is_asked_for():
    targets = set(re.findall(r'^([a-z]+):', (ROOT / 'Makefile').read_text(), re.MULTILINE))
    asked = {command.split()[1] for command in ALL if command.startswith('make ')}
    assert asked >= {'eval', 'test'} and asked <= targets


def test_pip_is_asked_for_extras_that_there_are():
    extras = {extra for command in ALL if command.startswith('pip install')
              for found in re.findall(r'\[(.+?)\]', command) for extra in found.split(',')}
    assert extras <= set(metadata('safety_scenarios').get_all('Provides-Extra'))


def test_what_is_not_run_has_a_reason():
    all_blocks = [(page, block) for page in RUN
                  for block in blocks(page.read_text(encoding='utf-8'))
                  if block.language in (*SHELLS, 'python')]
    skipped = [(page, block) for page, block in all_blocks if block.mark('not run') is not None]
    assert all(len(block.mark('not run')) > 5 for _, block in skipped), 'a reason is missing'
    assert len(skipped) <= MOST_SKIPPED * len(all_blocks) or len(all_blocks) < 10


def is_read_by_a_command(block: Block, page: Path) -> bool:
    """Return whether a command below names the file, or its folder, and so says what it is."""
    if not block.file:
        return False
    below = [one for one in blocks(page.read_text(encoding='utf-8'))
             if one.line > block.line and one.language in SHELLS and one.mark('not run') is None]
    name = block.file.partition('/')[0]
    return any(name in line.tested for one in below for line in lines(one))


def read_yaml(block: Block) -> None:
    """Read a block as what it is: a scenario, a part of one, a profile; else as YAML."""
    data = yaml.safe_load(block.text)
    if not isinstance(data, dict):
        return
    if {'id', 'name', 'description'} <= data.keys():
        Path('shown.yaml').write_text(block.text, encoding='utf-8')
        load_scenario('shown.yaml')
        Path('shown.yaml').unlink()
    elif data.keys() <= {'ros'} or {'topics', 'robot'} <= data.keys():
        kind = 'scenario' if 'ros' in data else 'profile'
        if kind == 'profile' and block.file:
            load_profile(block.file)
        schema = without_required(json.loads(json.dumps(schema_of(kind))))
        problems = list(jsonschema.Draft202012Validator(schema).iter_errors(
            json.loads(json.dumps(data))))
        assert not problems, f'line {block.line}: {problems[0].message}'


def without_required(schema):
    """Return a schema to which a part of a file keeps."""
    if isinstance(schema, dict):
        return {key: without_required(value) for key, value in schema.items()
                if key not in ('required', 'if', 'then', 'minItems', 'minProperties')
                or not isinstance(value, list | int)}
    return [without_required(one) for one in schema] if isinstance(schema, list) else schema


@pytest.mark.slow
@pytest.mark.parametrize('page', [
    pytest.param(page, marks=() if page.name in QUICK else pytest.mark.thorough)
    for page in RUN], ids=name_of)
def test_every_block_of_a_page_runs(page, place, capfd, record_property):
    began, ran, commands_run, written = time.monotonic(), 0, 0, ''
    for block in blocks(page.read_text(encoding='utf-8')):
        if block.mark('not run') is not None:
            continue
        if block.file:
            path = Path(block.file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding='utf-8')
        where = f'{name_of(page)}:{block.line}'
        if block.language in SHELLS:
            written, count = run_shell(block, name_of(page), capfd)
            commands_run += count
        elif block.language == 'python':
            # where it stands on the page, for what reads the source of its classes there
            code = compile('\n' * block.line + block.text, str(page), 'exec')
            if not block.file:
                exec(code, {'__name__': 'example'})
        elif block.language == 'yaml' and not is_read_by_a_command(block, page):
            read_yaml(block)
        elif block.mark('output') is not None:
            expect_shown(block, written, where)
            continue
        else:
            continue
        ran += 1
    record_property('blocks', ran)
    record_property('commands', commands_run)
    record_property('seconds', round(time.monotonic() - began, 1))
    with capfd.disabled():
        sys.stdout.write(f' {name_of(page)}: {ran} blocks, {commands_run} commands, '
                         f'{time.monotonic() - began:.1f} s ')


def test_the_results_of_a_bench_come_into_their_page(tmp_path):
    shutil.copytree(ROOT / 'bench', tmp_path / 'bench',
                    ignore=shutil.ignore_patterns('__pycache__', '*.json'))
    figure = {'section': 'One topic', 'name': 'a figure of this test', 'value': 1.5, 'unit': 'ms',
              'n': 7, 'target': '<= 2', 'met': True}
    (tmp_path / 'bench' / 'results.json').write_text(json.dumps({
        'made': 'today', 'commit': 'c', 'versions': {'rclpy': '7'}, 'load_after': [0.0],
        'others_percent': 1, 'quick': False, 'figures': [figure],
        'host': {'cpu': 'a', 'cores': 2, 'python': '3', 'load': [0.0]},
        'ros': {'rmw': 'r', 'executor': 'e'}}))
    subprocess.run([sys.executable, 'bench/markdown.py'], cwd=tmp_path, check=True)
    page = (tmp_path / 'bench' / 'README.md').read_text(encoding='utf-8')
    assert '| a figure of this test | 1.50 | ms | 7 | <= 2 | met |' in page
    assert page.startswith('# ') and page.count('|---|---:|') == 1
