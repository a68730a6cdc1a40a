# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Each folder of ``examples/`` is installed as its user would, and does what its README says.

The node is run by ``test/ros/test_example_node.py``, launch tests by ``test/ros/test_launch.py``,
the controller with a camera by ``test/unit/worlds/test_camera.py``.
"""

from collections.abc import Iterator
from itertools import chain
import os
from pathlib import Path
import re
import shlex
import shutil
import subprocess
import sys

from cases import for_each
from examples import FEW, some
from pages import blocks, expect_shown, lines, ROOT, run_shell, SHELLS
import pytest
from safety_scenarios import registry
from safety_scenarios.cli.main import main
import yaml

EXAMPLES = ROOT / 'examples'
FOLDERS = sorted(path.parent.name for path in EXAMPLES.glob('*/README.md'))
PACKAGES = sorted(path.parent.name for path in chain(
    EXAMPLES.glob('*/pyproject.toml'), EXAMPLES.glob('*/setup.py')))
RUN = sorted(folder for folder in FOLDERS
             if '<!-- not run' not in (EXAMPLES / folder / 'README.md').read_text())
TESTED = sorted({*RUN} - {'ci'} - ({'controller', 'output'} if FEW else set()))
"""Those whose own tests need no ROS; without those that take longest, where few are wanted."""
SHOWN = {'make_policy.py': ('controller.md', 'policy'), 'policy.yaml': ('controller.md', 'policy'),
         'my_robot.yaml': ('robot.md', 'profile')}
"""File to the page of the manual that shows it, and the folder that it is in."""
MOST_LINES = 15
PAIRS = '6'
"""Trials of a scenario: with fewer no regression can be significant."""


@pytest.fixture(scope='module')
def site(tmp_path_factory) -> Path:
    """Install all packages below a folder; pip leaves nothing beside their source."""
    folder, source = tmp_path_factory.mktemp('site'), tmp_path_factory.mktemp('source')
    for name in PACKAGES:
        shutil.copytree(EXAMPLES / name, source / name)
    done = subprocess.run(
        [sys.executable, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check',
         '--no-index', '--no-deps', '--no-build-isolation', '--no-compile', '--target', folder,
         *(source / name for name in PACKAGES)],
        capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def installed(site, monkeypatch) -> Iterator[None]:
    """Have the packages on the path and in the ament index, here and in other processes."""
    for name in ('PYTHONPATH', 'AMENT_PREFIX_PATH'):
        monkeypatch.setenv(name, os.pathsep.join(
            filter(None, [str(site), str(ROOT), os.environ.get(name)])))
    monkeypatch.syspath_prepend(str(site))
    registry._entries.cache_clear()
    yield
    registry._entries.cache_clear()


@pytest.mark.slow
def test_each_readme_runs_and_prints_what_it_says(installed, place, monkeypatch, capfd):
    for name in some(RUN):
        folder, written = place / name, ''
        shutil.copytree(EXAMPLES / name, folder)
        monkeypatch.chdir(folder)
        for block in blocks((folder / 'README.md').read_text(encoding='utf-8')):
            if block.language in SHELLS:
                written, _ = run_shell(block, f'examples/{name}/README.md', capfd)
            else:
                assert block.mark('output') is not None, 'or the page says what nobody tries'
                expect_shown(block, written, f'examples/{name}/README.md')
        assert written


@pytest.mark.slow
def test_each_example_passes_its_own_tests(installed, place):
    """All in one process, as each of them takes longer to start than to run."""
    for name in TESTED:
        shutil.copytree(EXAMPLES / name, place / name)
    done = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-W', 'error',
         '-c', os.devnull, '--rootdir', place, *TESTED],
        cwd=place, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    ran = re.search(r'^(\d+) passed in', done.stdout, re.M)
    assert ran and int(ran[1]) >= 5 * len(TESTED), done.stdout


def commands_of(script: list[str]) -> list[list[str]]:
    """Return the words of our commands in a pipeline, with what it draws in their place."""
    text = '\n'.join(script)
    for pattern, value in ((r'\$\{\{ github.run_number \}\}|\$CI_PIPELINE_IID', '7'),
                           (r'\$\{\{ github.sha \}\}|\$CI_COMMIT_SHA', 'abc'),
                           (r' \|\| \[ \$\? != 2 \]$', '')):
        text = re.sub(pattern, value, text, flags=re.M)
    return [words[1:] for words in map(shlex.split, text.splitlines())
            if words[0] == 'safety-scenarios']


def pipelines() -> tuple[list[list[str]], list[list[str]]]:
    """Return our commands in the pipelines of GitHub and of GitLab."""
    steps = yaml.safe_load((EXAMPLES / 'ci/github.yaml').read_text())['jobs']['gate']['steps']
    script = yaml.safe_load((EXAMPLES / 'ci/gitlab.yaml').read_text())['safety']['script']
    return commands_of([one['run'] for one in steps if 'run' in one]), commands_of(script)


def test_both_pipelines_run_the_same_commands():
    github, gitlab = pipelines()
    assert github == gitlab and [words[0] for words in github] == ['run', 'run', 'compare']


@pytest.mark.slow
@pytest.mark.thorough
def test_a_pipeline_lets_a_good_controller_in_and_no_worse_one(place, monkeypatch):
    (place / 'old').mkdir()
    shutil.copy(EXAMPLES / 'ci' / 'gate.yaml', place)
    old, new, compare = pipelines()[0]

    def ended(words: list[str], controller: str, trials: str) -> int:
        given = {'my_policy:Policy': controller, '20': trials, 'results/new': controller}
        return main([given.get(word, word) for word in words])
    monkeypatch.chdir(place / 'old')
    assert ended(old, 'rule_based', PAIRS) == 0
    monkeypatch.chdir(place)
    assert [ended(words, 'rule_based', PAIRS) for words in (new, compare)] == [0, 0]
    assert [ended(words, 'late', '1') for words in (new, compare)] == [1, 1]
    assert (place / 'junit.xml').is_file()


@for_each(('name', 'page', 'folder'), [(name, *where) for name, where in SHOWN.items()])
def test_what_the_manual_shows_is_the_file_of_an_example(name, page, folder):
    text = (ROOT / 'doc' / 'manual' / page).read_text(encoding='utf-8')
    [shown] = re.findall(rf'^# file: {re.escape(name)}\n(.*?)^```$', text, re.M | re.S)
    file = (EXAMPLES / folder / name).read_text(encoding='utf-8')
    assert re.sub(r'\A(# SPDX.*\n)+\n', '', file) == shown


@for_each('folder', FOLDERS)
def test_a_readme_is_short_and_its_folder_is_in_the_list(folder):
    text = (EXAMPLES / folder / 'README.md').read_text(encoding='utf-8')
    assert len(text.splitlines()) <= MOST_LINES
    assert f'`{folder}`' in (EXAMPLES / 'README.md').read_text(encoding='utf-8')
    assert any(True for block in blocks(text) for _ in lines(block))


def test_no_folder_of_examples_is_without_a_readme():
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} == {*FOLDERS}
