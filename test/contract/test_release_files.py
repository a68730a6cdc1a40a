# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a release has beside the package says what the package is."""

import ast
from importlib import import_module
import os
from pathlib import Path
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tarfile
from xml.etree import ElementTree

from catkin_pkg.changelog import get_changelog_from_path
import click
import pytest
from safety_scenarios import dependencies
from safety_scenarios.cli.main import command_at
import setuptools
import yaml

ROOT = Path(__file__).parents[2]


def load(name):
    return yaml.safe_load((ROOT / name).read_text(encoding='utf-8'))


def test_the_citation_has_the_version_and_the_licence_of_the_package():
    package = ElementTree.parse(ROOT / 'package.xml')
    cited = load('CITATION.cff')
    assert cited['version'] == package.findtext('version')
    assert cited['license'] == package.findtext('license') == 'Apache-2.0'
    assert {'cff-version', 'message', 'title', 'authors'} <= cited.keys()


def test_the_action_runs_a_command_that_exists_and_hides_no_exit_code():
    action = load('action.yml')
    steps = action['runs']['steps']
    assert action['runs']['using'] == 'composite'
    [run] = [step['run'] for step in steps if step.get('id') == 'run']
    line = re.search(r'safety-scenarios (run .+?)\n(?!\s)', run.replace('\\\n', ' '))[1]
    command, arguments = command_at([word for word in shlex.split(line) if '[@]' not in word])
    command.make_parser(click.Context(command)).parse_args([*arguments, 'robotic'])
    assert run.rstrip().endswith('exit $code') and 'continue-on-error' not in str(steps)
    assert all(step['shell'] == 'bash' for step in steps if 'run' in step)


def test_the_action_puts_no_input_into_a_script():
    steps = load('action.yml')['runs']['steps']
    assert not any('${{' in step.get('run', '') for step in steps)
    used = set(re.findall(r'inputs\.([a-z-]+)', str(steps)))
    assert used == set(load('action.yml')['inputs'])


def test_the_action_runs_what_stands_on_each_line_of_an_input(tmp_path):
    """A scenario that is left out would leave the job green."""
    [run] = [step['run'] for step in load('action.yml')['runs']['steps'] if 'id' in step]
    program = tmp_path / 'safety-scenarios'
    program.write_text('#!/bin/sh\necho "$@"\nexit 3\n')
    program.chmod(0o755)
    done = subprocess.run(
        ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', run], capture_output=True,
        text=True, timeout=60, check=False, env={
            'PATH': f'{tmp_path}:/usr/bin:/bin', 'SCENARIOS': 'SCN-R-101  SCN-R-102\nmy/*.yaml\n',
            'ARGUMENTS': '--trials 2\n--seed 7', 'CONTROLLER': 'my_pkg.policy:Policy',
            'LINK': 'loopback', 'OUTPUT': 'a b', 'GITHUB_OUTPUT': str(tmp_path / 'output')})
    assert done.stdout == (
        'run SCN-R-101 SCN-R-102 my/*.yaml --controller my_pkg.policy:Policy --link loopback '
        '--output a b --junit a b.junit.xml --trials 2 --seed 7\n'), done.stderr
    assert done.returncode == 3
    assert (tmp_path / 'output').read_text() == 'exit-code=3\n'


def test_the_container_has_the_two_commands():
    text = (ROOT / 'Containerfile').read_text(encoding='utf-8')
    targets = re.findall(r'^([a-z]+):', (ROOT / 'Makefile').read_text(), re.MULTILINE)
    assert {'eval', 'test'} <= {*re.findall(r'make", "(\w+)', text),
                                *re.findall(r'make (eval|test)', text)} <= set(targets)


def test_security_says_how_and_what():
    text = (ROOT / 'SECURITY.md').read_text(encoding='utf-8')
    assert 'package.xml' in text and 'a wrong PASS' in text


@pytest.mark.filterwarnings('ignore:pkg_resources:DeprecationWarning')
def test_every_entry_point_names_what_exists(monkeypatch):
    """Read from the sources: some import what has an environment of its own, as ARE."""
    groups = {}
    monkeypatch.setattr(setuptools, 'setup', lambda **given: groups.update(given['entry_points']))
    runpy.run_path(str(ROOT / 'setup.py'))
    assert {'console_scripts', 'are.simulation.scenarios'} <= groups.keys()
    for line in sum(groups.values(), []):
        module, _, name = line.partition(' = ')[2].partition(':')
        path = ROOT.joinpath(*module.split('.')).with_suffix('.py')
        assert path.is_file(), line
        defined = {getattr(node, 'name', '') for node in ast.parse(path.read_text()).body}
        assert not name or name in defined or hasattr(import_module(module), name), line


def test_pytest_starts_beside_the_plug_ins_of_a_sourced_ros(tmp_path):
    """In Jazzy one takes an argument that pytest 9 removed, and the other needs the first."""
    (tmp_path / 'old_launch.py').write_text('def pytest_pycollect_makemodule(path, parent): ...\n')
    (tmp_path / 'old_ros.py').write_text('def pytest_launch_collect_makemodule(path): ...\n')
    info = tmp_path / 'launch-3.4.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: launch\nVersion: 3.4\n')
    (info / 'entry_points.txt').write_text(
        '[pytest11]\nlaunch_testing = old_launch\nlaunch_ros = old_ros\n')
    (tmp_path / 'test_it.py').write_text('def test_it(): pass\n')
    done = subprocess.run(
        ['make', '--silent', '--file', ROOT / 'Makefile', f'VENV={sys.prefix}',
         '--eval', 'it: ; $(PYTEST) -q -p no:cacheprovider test_it.py', 'it'],
        cwd=tmp_path, env={**os.environ, 'ROS_DISTRO': 'jazzy', 'PYTHONPATH': str(tmp_path)},
        capture_output=True, text=True, timeout=60, check=False)
    assert '1 passed' in done.stdout, done.stdout + done.stderr


KEYS = {
    'cryptography', 'click', 'hypothesis', 'jsonschema', 'numpy', 'pandas', 'pip', 'pydantic',
    'pytest', 'rich', 'scipy', 'typing-extensions', 'yaml'}
"""Of ``rosdep/python.yaml``, behind ``python3-``: each resolves on Ubuntu 24.04 and later."""
PACKAGES = {
    'action_msgs', 'ament_flake8', 'ament_index_python', 'ament_pep257', 'ament_xmllint',
    'builtin_interfaces', 'diagnostic_msgs', 'geometry_msgs', 'launch', 'launch_ros',
    'lifecycle_msgs', 'nav_msgs', 'rcl_interfaces', 'rclpy', 'ros2launch', 'rosgraph_msgs',
    'sensor_msgs', 'std_msgs', 'std_srvs', 'tf2_msgs', 'trajectory_msgs', 'visualization_msgs'}
"""Of the distributions Jazzy and Kilted."""


def test_every_dependency_has_a_key_that_rosdep_resolves():
    needed = {element.text for element in ElementTree.parse(ROOT / 'package.xml').getroot()
              if element.tag.endswith('depend')}
    assert needed == PACKAGES | {f'python3-{key}' for key in KEYS}


def test_what_runs_over_ros_depends_on_each_package_of_ros_that_it_uses():
    """Who installs the Debian package gets nothing that is not named, such as by a test alone."""
    code = ''.join(path.read_text(encoding='utf-8') for folder in ('safety_scenarios', 'launch')
                   for path in (ROOT / folder).rglob('*.py'))
    robots = ''.join((ROOT / 'config' / 'profiles' / f'{name}.yaml').read_text(encoding='utf-8')
                     for name in ('base', 'arm'))
    used = {*re.findall(r'^ *(?:from|import) (\w+_(?:msgs|srvs|interfaces)|rclpy|launch(?:_ros)?'
                        r'|ament_index_python)\b', code, re.MULTILINE),
            *re.findall(r'(\w+)/msg/', robots)}
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    assert {'rclpy', 'nav_msgs'} <= used <= {element.text for tag in ('depend', 'exec_depend')
                                             for element in package.iter(tag)}


def test_the_first_sentence_about_the_package_fits_the_synopsis_of_a_debian_package():
    description = ElementTree.parse(ROOT / 'package.xml').findtext('description')
    synopsis, _, rest = description.partition('. ')
    assert len(synopsis) < 80 and rest, 'bloom parts it there, and lintian refuses 80 characters'


def test_the_source_archive_has_what_the_tests_read(tmp_path):
    """Who packages from it runs the tests; four of a few hundred modules could not even begin."""
    shutil.copytree(ROOT, tmp_path / 'source', symlinks=True, ignore=shutil.ignore_patterns(
        '.git', '.venv', 'build', 'runs', '*.egg-info', '__pycache__', '.*_cache', '.hypothesis'))
    subprocess.run([sys.executable, 'setup.py', '-q', 'sdist', '--dist-dir', tmp_path],
                   cwd=tmp_path / 'source', check=True, capture_output=True, timeout=300)
    [archive] = tmp_path.glob('*.tar.gz')
    with tarfile.open(archive) as found:
        names = {name.partition('/')[2] for name in found.getnames()}
    assert {str(path.relative_to(ROOT)) for folder in ('test', 'examples', 'LICENSES', 'bench')
            for path in (ROOT / folder).rglob('*.*') if path.is_file()
            and not {'__pycache__', '.pytest_cache'} & set(path.parts)} <= names
    assert {'Makefile', 'REUSE.toml', 'CITATION.cff', 'doc/manual/first_run.md'} <= names
    assert not [name for name in names if name.endswith('.pyc')]


def test_the_build_sees_what_decides_about_the_bundle():
    """A build farm installs nothing but what ``build_depend`` or ``depend`` names."""
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    assert {f'python3-{need.name}' for need in (dependencies.PYDANTIC, dependencies.TYPING)} <= {
        element.text for element in package.iter('depend')}


@pytest.mark.filterwarnings('ignore:nodes.Node.traverse:DeprecationWarning')
def test_the_changelog_has_the_version_of_the_package_and_fits_a_debian_package():
    changelog = get_changelog_from_path(ROOT)
    [version, _, content] = next(iter(changelog.foreach_version()))
    assert version == ElementTree.parse(ROOT / 'package.xml').findtext('version')
    assert all(str(part).strip() for part in content)
