# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Every development tool, and all that it needs in turn, has the version that was tested."""

from importlib import metadata
from pathlib import Path
import subprocess
import sys

from cases import for_each
from contract import environments
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
import pytest

TEST = Path(__file__).parents[1]
FILES = (TEST / 'constraints.txt', TEST / 'constraints-numpy.txt')
OURS = 'safety_scenarios'


def requirements(*files: Path) -> list[Requirement]:
    return [Requirement(line) for file in files
            for line in file.read_text(encoding='utf-8').splitlines()
            if line and not line.startswith('#')]


def pins(*files: Path) -> dict[str, str]:
    """Return the name and version of what is pinned for this Python."""
    found = [(canonicalize_name(one.name), next(iter(one.specifier)).version)
             for one in requirements(*files) if one.marker is None or one.marker.evaluate()]
    assert len(dict(found)) == len(found), 'two versions of one package'
    return dict(found)


def needed(name: str, *extras: str) -> dict[str, str]:
    """Return the name and installed version of what a package needs, and of what that needs."""
    to_do, seen = [(name, extras)], set()
    while to_do:
        name, extras = to_do.pop()
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        for one in map(Requirement, metadata.requires(name) or ()):
            if one.marker is None or any(one.marker.evaluate({'extra': extra})
                                         for extra in (*extras, '')):
                to_do.append((canonicalize_name(one.name), tuple(sorted(one.extras))))
    return {name: metadata.version(name) for name, _ in seen if name != OURS}


@for_each('file', [*FILES, environments.OF_ARE, environments.OF_INSPECT],
          ids=lambda file: file.name)
def test_a_pin_is_one_exact_version(file):
    for one in requirements(file):
        [specifier] = one.specifier
        assert specifier.operator == '==' and '*' not in specifier.version, str(one)
        assert one.url is None and not one.extras


@for_each('python', ['3.10', '3.11', '3.12', '3.13'])
def test_each_python_has_at_most_one_version_of_each(python):
    for files in (FILES, (environments.OF_ARE,)):
        names = [canonicalize_name(one.name) for one in requirements(*files)
                 if one.marker is None or one.marker.evaluate({'python_version': python})]
        assert len(set(names)) == len(names)
        assert len(names) > 30


def test_all_that_the_tests_need_is_pinned_and_nothing_else():
    tools, pinned = needed(OURS, 'test'), pins(*FILES)
    assert {'pytest', 'pytest-xdist', 'hypothesis', 'scipy', 'ruff', 'mypy', 'colcon-core',
            'numpy', 'pydantic'} <= set(tools)
    assert set(tools) == set(pinned)


def test_what_is_installed_here_is_what_is_pinned():
    if not list(Path(sys.prefix).glob('.installed-*-test')):
        pytest.skip('only the environment that make has installed is held to the pins')
    pinned = pins(*FILES if (Path(sys.prefix) / '.installed-jazzy-test').exists() else FILES[:1])
    installed = needed(OURS, 'test')
    assert {name: installed.get(name) for name in pinned} == pinned


@pytest.mark.environment
def test_the_environment_for_are_holds_the_pins_and_nothing_else(are_python):
    listed = subprocess.run([are_python, '-m', 'pip', 'list', '--format', 'freeze',
                             '--disable-pip-version-check'], text=True, timeout=60,
                            stdout=subprocess.PIPE, check=True).stdout
    installed = {canonicalize_name(name): version for name, _, version in
                 (line.partition('==') for line in listed.splitlines())}
    are, _, version = environments.ARE.partition('==')
    assert installed.pop(are) == version
    bundled = {'pip', 'setuptools'}  # come with venv, which pins them itself
    assert {name: found for name, found in installed.items() if name not in bundled} \
        == pins(environments.OF_ARE)
