# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A link around a link passes on everything that it does not change on purpose."""

import ast
from importlib import import_module
import inspect
from pathlib import Path
import threading
from typing import Any

import pytest
from safety_scenarios.campaign.open_session import connection
from safety_scenarios.campaign.run import run
from safety_scenarios.ros.link.stopped_link import Stop, stoppable, StoppedLink
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.link import ForwardingLink, Link
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import TrialRecord

ROOT = Path(__file__).parents[4]
REAL = ROOT / 'test' / 'data' / 'real_hazard.yaml'
NAMES = sorted(name for name in {*vars(Link), *Link.__annotations__} if not name.startswith('_'))
CALLED = [name for name in NAMES if callable(getattr(Link, name)) and name != 'schedule_ns']
INSTEAD = {'AppLink': {'happen'}, 'WorldLink': {'apply', 'withdraw', 'receive_until', 'rehearses'}}
"""What a wrapper has a world for, so that the inner link has no part in it."""


def wrappers():
    """Return module and name of each class of the package that is a ``ForwardingLink``."""
    classes = {}
    for path in sorted((ROOT / 'safety_scenarios').rglob('*.py')):
        text = path.read_text(encoding='utf-8')
        if 'Link)' in text:
            module = '.'.join(path.relative_to(ROOT).with_suffix('').parts)
            classes |= {node.name: (module, {ast.unparse(base) for base in node.bases})
                        for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)}
    found = {'ForwardingLink'}
    while more := {name for name, (_, bases) in classes.items() if bases & found} - found:
        found |= more
    return sorted((classes[name][0], name) for name in found - {'ForwardingLink'})


WRAPPERS = wrappers()


def wrapper_of(module, name):
    """Import a wrapper, which may need ROS."""
    if module.startswith('safety_scenarios.ros.'):
        try:
            return getattr(import_module(module), name)
        except ImportError as error:
            pytest.skip(f'{name} needs {error.name}, which is not installed')
    return getattr(import_module(module), name)


class Recording(Link):
    """Notes each call, and returns an object that no default of ``Link`` returns."""

    rehearses = True
    measuring = Measuring(world='recorded')

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.answer = object()


def recording(name: str) -> Any:
    def call(self: Recording, *args: Any, **named: Any) -> Any:
        self.calls.append((name, args, named))
        return self.answer
    return call


for each in CALLED:
    setattr(Recording, each, recording(each))


def arguments(name: str) -> tuple[list[object], dict[str, object]]:
    """Return one object for each parameter of a method of ``Link``."""
    parameters = list(inspect.signature(getattr(Link, name)).parameters.values())[1:]
    return ([object() for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD],
            {one.name: object() for one in parameters if one.kind is one.KEYWORD_ONLY})


@pytest.mark.parametrize('name', CALLED)
def test_each_method_is_called_on_the_inner_link_with_all_that_it_was_given(name):
    inner = Recording()
    args, named = arguments(name)
    returned = getattr(ForwardingLink(inner), name)(*args, **named)
    assert inner.calls == [(name, tuple(args), named)]
    wants = inspect.signature(getattr(Link, name)).return_annotation
    assert returned is (None if wants is None else inner.answer)


def test_each_attribute_is_that_of_the_inner_link():
    inner = Recording()
    assert set(NAMES) - set(CALLED) == {'measuring', 'rehearses', 'schedule_ns'}
    for link in (ForwardingLink(inner), StoppedLink(inner, Stop())):
        assert link.rehearses and link.measuring is inner.measuring


def test_the_wrappers_are_found():
    assert {'StoppedLink', 'GuardedLink', 'AppLink', 'WorldLink'} <= {name for _, name in WRAPPERS}


@pytest.mark.parametrize(('module', 'wrapper'), WRAPPERS)
def test_each_wrapper_passes_on_all_that_it_has_no_world_for(module, wrapper):
    found = wrapper_of(module, wrapper)
    assert issubclass(found, ForwardingLink)
    for name in NAMES:
        owner = next(each for each in found.__mro__ if name in vars(each))
        if owner is ForwardingLink or name == 'schedule_ns':
            continue
        assert owner is not Link, f'{name} is hidden by the default of Link'
        if name in CALLED:
            assert inspect.signature(getattr(owner, name)) == \
                inspect.signature(getattr(Link, name)), name
        reached = {ast.unparse(node) for node in ast.walk(ast.parse(inspect.getsource(owner)))
                   if isinstance(node, ast.Attribute) and node.attr == name}
        passes = reached & {f'self._inner.{name}', f'super().{name}', f'inner.{name}'}
        assert bool(passes) is (name not in INSTEAD.get(wrapper, ())), name


def test_a_stopped_link_lets_nothing_leave_once_it_is_stopped():
    inner, stop = Recording(), Stop()
    link = StoppedLink(inner, stop)
    asking = threading.Thread(target=stop.ask)
    asking.start()
    asking.join()
    args, named = arguments('send')
    with pytest.raises(KeyboardInterrupt):
        link.send(*args, **named)
    assert inner.calls == []


def test_a_managed_campaign_plays_a_rehearsed_hazard(tmp_path):
    """As the lifecycle node runs it: over a link that another thread can stop."""
    path = tmp_path / 'real.yaml'
    path.write_text(REAL.read_text(encoding='utf-8').replace('  nominal:\n', (
        '  nominal:\n'
        '    stimuli: [{kind: person, topic: scan, distance: 6.0, rate_hz: 40}]\n')))
    settings = RunSettings(scenarios=(str(path),), link='loopback', trials=1, seed=0)
    kept = Kept()
    summary = run(settings, [kept], stoppable(connection(settings.link), Stop()), files=False)
    assert summary.verdict is Verdict.PASS
    [record] = kept.records
    assert any(event.name == 'scan' and event.hazard for event in record.of_kind('stimulus'))


class Kept(Observer):
    """Keeps the records."""

    def __init__(self) -> None:
        self.records: list[TrialRecord] = []

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Keep one."""
        self.records.append(record)
