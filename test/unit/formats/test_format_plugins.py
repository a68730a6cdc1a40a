# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Formats are plug-ins: built-ins first, and one that fails costs no other."""

from collections.abc import Callable, Iterator
import sys
from types import ModuleType
from typing import Any

import pytest
from safety_scenarios import registry
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.document.json_document import Reading
from safety_scenarios.formats.loading import load_scenarios, ScenarioSet
from unit.formats.files import plain, write
from unit.records import chat

ODD = {'odd': 1}
"""A file of no built-in format."""


class Plugin:
    """A format of another package."""

    def __init__(self, name: str, recognises: Any, read: Any = None) -> None:
        self.NAME = f'{name} files'
        self.recognises = recognises
        self.read = read
        self.name = name


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Yield a function that installs plug-ins, in that order."""
    def installed(*plugins: Plugin, **targets: str) -> None:
        entries = list(targets.items())
        for plugin in plugins:
            module = ModuleType(f'format_of_{plugin.name}')
            module.plugin = plugin  # type: ignore[attr-defined]
            monkeypatch.setitem(sys.modules, module.__name__, module)
            entries.append((plugin.name, f'{module.__name__}:plugin'))
        monkeypatch.setattr(registry, '_entries',
                            lambda kind: tuple(entries) if kind == 'formats' else ())
    yield installed


def accept(data: Any) -> None:
    """Recognise everything."""


def decline(data: Any) -> str:
    return 'got no such thing'


def fail(*_: Any) -> Any:
    raise ZeroDivisionError('by zero')


def leave(*_: Any) -> Any:
    raise SystemExit(0)


def reads(name: str) -> Callable[..., Reading]:
    return lambda path, raw, document, resolve: Reading(
        scenario=chat().model_copy(update={'id': name}))


def load(tmp_path, data: Any = ODD) -> ScenarioSet:
    return load_scenarios([write(tmp_path / 'scenario.yaml', data)])


def told(tmp_path) -> str:
    with pytest.raises(ScenarioError) as error:
        load(tmp_path)
    return str(error.value)


def test_a_format_of_another_package_reads_what_no_built_in_does(tmp_path, install):
    install(Plugin('other', accept, reads('theirs')))
    scenario = load(tmp_path).scenarios[0]
    assert scenario.id == 'theirs'
    assert scenario.origin.path.endswith('scenario.yaml') and len(scenario.origin.sha256) == 64


def test_a_module_is_a_plug_in_too(tmp_path, install, monkeypatch):
    module = ModuleType('format_as_module')
    for name, value in {'NAME': 'x', 'recognises': accept, 'read': reads('by module')}.items():
        setattr(module, name, value)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    install(other=module.__name__)
    assert load(tmp_path).scenarios[0].id == 'by module'


def test_a_built_in_comes_before_any_other(tmp_path, install):
    install(Plugin('a', accept, reads('theirs')))
    assert load(tmp_path, plain()).scenarios[0].id == 'SCN-C-001'


def test_others_are_tried_by_name_however_they_were_found(tmp_path, install):
    first, second = Plugin('b1', accept, reads('b1')), Plugin('b2', accept, reads('b2'))
    for order in ((first, second), (second, first)):
        install(*order)
        assert load(tmp_path).scenarios[0].id == 'b1'


def test_a_built_in_cannot_be_replaced(tmp_path, install):
    install(Plugin('scenario_yaml', accept, reads('theirs')))
    assert load(tmp_path, plain()).scenarios[0].id == 'SCN-C-001'


def test_an_unknown_file_is_refused_with_what_every_format_said(tmp_path, install):
    install(Plugin('other', decline))
    text = told(tmp_path)
    for name in ('format 1', 'format 2', 'LostBench', 'other files: got no such thing'):
        assert name in text


@pytest.mark.parametrize('mistake', [fail, leave])
def test_a_plug_in_that_fails_to_look_is_named_and_costs_no_other(tmp_path, install, mistake):
    install(Plugin('a', mistake), Plugin('b', accept, reads('b')))
    found = load(tmp_path)
    assert found.scenarios[0].id == 'b'
    assert ["'a' failed" in problem.message for problem in found.warnings] == [True]
    install(Plugin('a', mistake))
    assert "the format plug-in 'a' failed" in told(tmp_path)


@pytest.mark.parametrize(('mistake', 'what'), [
    (fail, 'ZeroDivisionError: by zero'), (leave, 'it asked to exit with 0'),
    (lambda *_: None, 'expected a Reading'), (lambda *_: chat(), 'expected a Reading'),
    (lambda *_: Reading(), 'neither a scenario nor a problem')])
def test_a_plug_in_that_fails_to_read_refuses_the_file(tmp_path, install, mistake, what):
    install(Plugin('a', accept, mistake), Plugin('b', accept, reads('b')))
    assert "the format plug-in 'a' failed" in told(tmp_path)
    assert what in told(tmp_path)


@pytest.mark.parametrize('target', ['no_such_module', 'json:no_such_name', 'json'])
def test_a_plug_in_that_cannot_be_imported_is_named(tmp_path, install, target):
    install(broken=target)
    assert "the format plug-in 'broken' failed" in told(tmp_path)
    assert load(tmp_path, plain()).scenarios[0].id == 'SCN-C-001'


def test_what_a_format_warns_of_is_told_with_its_place(tmp_path, install):
    def read(path, raw, document, resolve):
        return Reading(scenario=chat(), warnings=[document.problem(('odd',), 'is odd')])
    install(Plugin('other', accept, read))
    warning = load(tmp_path).warnings[0]
    assert (warning.line, warning.column, warning.message) == (1, 6, 'is odd')
