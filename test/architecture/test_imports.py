# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Who may import whom; nothing but the ROS edge needs ROS; nothing but the edges prints."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter  # noqa: I201
from importlib.util import find_spec  # noqa: I100, I201
from pathlib import Path  # noqa: I100, I201
import re
import subprocess
import sys

from architecture.layers import may_import, PAGE, page, ROOMS
from examples import some
import pytest
import safety_scenarios
from safety_scenarios.formats.loading import load_scenarios

PACKAGE = 'safety_scenarios'
ROOT = Path(safety_scenarios.__file__).parent
MODULES = sorted(path for path in ROOT.rglob('*.py') if path.name != '__init__.py')
FOLDERS = sorted({path.parent for path in MODULES} - {ROOT})
NEEDS_ROS = ('rclpy', 'launch', 'launch_ros', 'ament_index_python')
NEEDS_ARE = 'are'
"""The only package that the modules in ``are/app`` need; ARE has an environment of its own."""
MAY_PRINT = ('cli/', 'reports/', 'ros/nodes/monitor_node.py', 'ros/nodes/node_program.py',
             'ros/nodes/relay_node.py')

BY_NAME = re.compile(rf"import_module\(\s*'({PACKAGE}[\w.]+)'")
"""A module that is imported by its name."""


@dataclass(frozen=True)
class Facts:
    """What the rules ask of a module."""

    imports: tuple[str, ...]
    """Every module that it imports, also inside functions."""
    is_documented: bool
    statements: int
    prints: tuple[int, ...]
    """The lines of its calls of print."""


@cache
def facts(path: Path) -> Facts:
    """Read a module once, for all rules; its tree is not kept: all of them are a lot of memory."""
    text = path.read_text(encoding='utf-8')
    tree = ast.parse(text)
    calls = ast.walk(tree) if 'print' in text else ()
    return Facts(tuple(named_in(path, tree)), bool(ast.get_docstring(tree)), len(tree.body),
                 tuple(node.lineno for node in calls if isinstance(node, ast.Call)
                       and isinstance(node.func, ast.Name) and node.func.id == 'print'))


def imported_in(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield what a module imports, also inside functions: statements alone are looked through."""
    left = list[ast.AST](tree.body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        for inner in ('body', 'orelse', 'finalbody', 'handlers', 'cases'):
            left += getattr(node, inner, ())


def name_of(path: Path) -> str:
    """Return ``scenario.event`` for ``.../safety_scenarios/model/event.py``."""
    return '.'.join(path.relative_to(ROOT).with_suffix('').parts)


def named_in(path: Path, tree: ast.Module) -> Iterator[str]:
    """Yield the names of the modules that a file imports."""
    for node in imported_in(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert node.level == 0, f'{path}: a relative import'
            module = node.module or ''
            at_the_top = module == PACKAGE or (
                module.startswith(PACKAGE) and (ROOT / '/'.join(module.split('.')[1:])).is_dir())
            yield from (f'{module}.{alias.name}' for alias in node.names) if at_the_top \
                else (module,)


def own_imports(path: Path) -> Iterator[str]:
    for module in facts(path).imports:
        if module.partition('.')[0] == PACKAGE:
            yield module.partition('.')[2]


def hold_none(broken: Iterable[str]) -> None:
    """Fail with everything that breaks a rule."""
    found = list(broken)
    assert not found, '\n'.join(found)


def test_a_module_imports_only_its_own_room_and_those_before_it():
    hold_none(f'{name_of(path)} imports {imported}' for path in MODULES
              for imported in own_imports(path) if not may_import(name_of(path), imported))


def test_folders_inside_a_folder_import_each_other_in_no_circle():
    beside: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for path in MODULES:
        importer = name_of(path).split('.')
        for other in own_imports(path):
            imported = other.split('.')
            differ = next((at for at, (one, two) in enumerate(zip(importer, imported))
                           if one != two), None)
            if differ is not None:
                beside.setdefault(tuple(importer[:differ + 1]), set()).add(
                    tuple(imported[:differ + 1]))
    assert ('ros', 'link') in beside and ('trial', 'links') in beside
    TopologicalSorter(beside).prepare()  # raises where there is a circle, and names it


def test_modules_import_each_other_in_no_circle():
    """Nor by the name of one that is imported inside a function."""
    imported = {name_of(path): {*own_imports(path), *(name.partition('.')[2] for name in BY_NAME.
                                                      findall(path.read_text(encoding='utf-8')))}
                for path in MODULES}
    assert 'cli.advice' in imported['cli.main']
    TopologicalSorter(imported).prepare()  # raises where there is a circle, and names it


def test_every_room_is_in_the_list():
    assert {name_of(path).partition('.')[0] for path in MODULES} == set(ROOMS)


def test_the_page_lists_who_may_import_whom_as_it_is_held_here():
    assert page() == PAGE.read_text(encoding='utf-8'), \
        'run: python test/architecture/layers.py'


def test_the_init_of_a_folder_is_a_docstring_and_nothing_else():
    found = {folder: facts(folder / '__init__.py') for folder in FOLDERS}
    hold_none(str(folder) for folder, init in found.items()
              if not init.is_documented or init.statements != 1)


def test_every_module_says_what_it_is_for():
    hold_none(name_of(path) for path in MODULES if not facts(path).is_documented)


def test_only_the_ros_edge_imports_ros():
    hold_none(f'{name_of(path)} imports {module}' for path in MODULES
              if not name_of(path).startswith('ros.') and path.parent.name != 'ros'
              for module in facts(path).imports
              if (name := module.partition('.')[0]) in NEEDS_ROS or name.endswith('_msgs'))


def test_only_the_folder_for_are_imports_are():
    hold_none(name_of(path) for path in MODULES if path.parent != ROOT / 'are' / 'app'
              for module in facts(path).imports if module.partition('.')[0] == NEEDS_ARE)


ROS_EDGE = f'{PACKAGE}.ros.link.link'
OUTSIDE = [f'{PACKAGE}.{name_of(path)}' for path in MODULES
           if not name_of(path).startswith(('ros.', 'are.app.', 'inspect_tasks'))
           and (name_of(path) != 'trial.rrd' or find_spec('rerun') is not None)]
"""The extra ``rerun``, of 170 MB, need not be installed where tests run."""
WITHOUT_ROS = f"""
import importlib, sys

class NoRos:
    def find_spec(self, name, path=None, target=None):
        top = name.partition('.')[0]
        if top in {NEEDS_ROS!r} or top.endswith('_msgs') or top.endswith('_interfaces'):
            raise ImportError('no ROS here: ' + name, name=name)

sys.meta_path.insert(0, NoRos())
for name in sys.argv[1:]:
    importlib.import_module(name)
    print(name)
"""


@cache
def imported_without_ros() -> 'subprocess.CompletedProcess[str]':
    """Import one after another what should need no ROS, and at last what does need it."""
    return subprocess.run([sys.executable, '-c', WITHOUT_ROS, PACKAGE, *OUTSIDE, ROS_EDGE],
                          capture_output=True, text=True, timeout=120, check=False)


def test_everything_but_the_ros_edge_can_be_imported_without_ros():
    assert len(OUTSIDE) > 30
    ended = imported_without_ros()
    assert ended.stdout.splitlines() == [PACKAGE, *OUTSIDE], ended.stderr


def test_the_ros_edge_cannot_be_imported_without_ros():
    ended = imported_without_ros()
    assert ROS_EDGE not in ended.stdout.splitlines()
    assert ended.returncode == 1 and 'no ROS here: rclpy' in ended.stderr


@pytest.mark.parametrize('node', ['evaluator_node', 'monitor_node'])
def test_a_node_without_ros_says_what_is_missing_and_does_not_fail_a_trial(node):
    program = f'sys.exit(importlib.import_module("safety_scenarios.cli.nodes").{node}())'
    ended = subprocess.run([sys.executable, '-c', f'{WITHOUT_ROS}\n{program}'],
                           capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 2 and 'Traceback' not in ended.stderr
    assert ended.stderr.startswith(f'error: {node} of safety_scenarios needs ')
    assert 'source your ROS installation' in ended.stderr


def test_each_node_that_is_installed_has_a_program():
    from safety_scenarios.cli import nodes
    for path in (ROOT / 'ros' / 'nodes').glob('*_node.py'):
        assert callable(getattr(nodes, path.stem))
    assert not hasattr(nodes, 'node_program') and not hasattr(nodes, 'other_node')


@pytest.mark.slow
def test_a_campaign_over_loopback_needs_no_ros(tmp_path):
    folder = tmp_path / 'run'
    ids = some([one.id for one in load_scenarios(['robotic', 'clinical']).scenarios])
    command = ['run', *ids, '--link', 'loopback', '--words', 'patterns', '--output', str(folder)]
    code = f"""{WITHOUT_ROS}
from safety_scenarios.cli.main import main
code = main({command!r})
assert not any(name.partition('.')[0] in {NEEDS_ROS!r} for name in sys.modules)
sys.exit(code)"""
    ended = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                           timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len((folder / 'trials.jsonl').read_text().splitlines()) == len(ids)
    without_link = code.replace("'--link', 'loopback', ", '')
    ended = subprocess.run([sys.executable, '-c', without_link], capture_output=True, text=True,
                           timeout=120, check=False)
    assert ended.returncode == 2 and '--link loopback' in ended.stderr


def test_only_the_edges_print():
    hold_none(f'{name_of(path)}:{line}' for path in MODULES
              if not path.relative_to(ROOT).as_posix().startswith(MAY_PRINT)
              for line in facts(path).prints)
