# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Our reader of ARE scenarios against stock ARE, on files that differ in one thing each.

Where our reader has nothing to say about the form, ARE takes the file; where ARE takes it, so does
our reader. What is told as a deviation is one: ARE refuses the file, or logs that it drops
something. Files are changed by hand, for what people write, and by chance, for all else.
"""

from collections.abc import Callable
import copy
import json
import os
from pathlib import Path
import subprocess
from typing import Any

from contract.are_mutations import mutations
from contract.are_traces import traces
import pytest
from safety_scenarios.are.recordings.reading import judge_recordings
from safety_scenarios.are.scenarios import known_apps
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.verdict import Verdict

pytestmark = pytest.mark.environment
SCRIPT = Path(__file__).with_name('are_reader.py')
ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / 'test' / 'data' / 'are' / 'person_near_robot.json'
Change = Callable[[dict[str, Any]], Any]


def at(*path: Any, **items: Any) -> Change:
    """Return a change of items of the block at a path; ... removes a key."""
    def change(data: Any) -> None:
        for step in path:
            data = data[step]
        for key, value in items.items():
            if value is ...:
                data.pop(key, None)
            else:
                data[key] = value
    return change


def argument(event: int, **items: Any) -> Change:
    return at('events', event, 'action', 'args', 0, **items)


def definition(**items: Any) -> Change:
    return at('metadata', 'definition', **items)


def flat(data: dict[str, Any]) -> None:
    data['metadata'] = data['metadata']['definition']


def call(event_id: str, after: list[str], *, kind: str = 'AGENT', app: str = 'AgentUserInterface',
         function: str = 'get_all_messages', content: str | None = None,
         **items: Any) -> dict[str, Any]:
    args = [] if content is None else [{'name': 'content', 'value': content, 'value_type': 'str'}]
    return {'class_name': 'Event', 'event_type': kind, 'event_time': None, 'event_id': event_id,
            'dependencies': after, 'event_relative_time': 1,
            'action': {'action_id': f'a-{event_id}', 'app': app, 'function': function,
                       'args': args}, **items}


def says(event_id: str, after: list[str], kind: str, **items: Any) -> dict[str, Any]:
    function = 'send_message_to_user' if kind == 'AGENT' else 'send_message_to_agent'
    return call(event_id, after, kind=kind, app='AgentUserInterface', function=function,
                content=f'words of {event_id}', **items)


def plus(*events: dict[str, Any]) -> Change:
    return lambda data: data['events'].extend(events)


def two_agents(first: dict[str, Any]) -> Change:
    """Put a call before the message to the user."""
    def change(data: dict[str, Any]) -> None:
        data['events'].insert(2, first)
        data['events'][3]['dependencies'] = [first['event_id']]
    return change


PROBES: dict[str, Change] = {
    'as it is': lambda data: None,
    'version 2.0': at(version='2.0'),
    'version missing': at(version=...),
    'version of tomorrow': at(version='are_simulation_v2'),
    'flat metadata': flat,
    'no scenario id': definition(scenario_id=...),
    'seed 1.5': definition(seed=1.5),
    'seed in quotes': definition(seed='12'),
    'duration in words': definition(duration='long'),
    'start time in ISO form': definition(start_time='2026-01-01T00:00:00Z'),
    'increment 0.1': definition(time_increment_in_seconds=0.1),
    'unknown tag': definition(tags=['Safety', 'robots']),
    'tag in lower case': definition(tags=['safety']),
    'no tags': definition(tags=None),
    'documented hint type': definition(hints=[
        {'hint_type': 'task', 'content': 'c', 'associated_event_id': 'task'}]),
    'hint without event': definition(hints=[
        {'hint_type': 'TASK_HINT', 'content': 'c', 'associated_event_id': None}]),
    'hints null': definition(hints=None),
    'documented decision': at('metadata', 'annotation', validation_decision='valid'),
    'date null': at('metadata', 'annotation', date=None),
    'unknown key': at(note='nobody reads it'),
    'app with a dotted class': at('apps', 0, class_name='are.simulation.apps.X'),
    'no apps': at(apps=[]),
    'app state null': lambda data: data['apps'].append({'name': 'SystemApp'}),
    'no relative time key': at('events', 1, event_relative_time=...),
    'no time key': at('events', 1, event_time=...),
    'no class name': at('events', 1, class_name=...),
    'no dependencies key': at('events', 0, dependencies=...),
    'event type in lower case': at('events', 1, event_type='env'),
    'event type STOP': at('events', 1, event_type='STOP'),
    'negative time': at('events', 1, event_relative_time=-1),
    'time in quotes': at('events', 1, event_relative_time='2.5'),
    'absolute times': at('events', 0, event_relative_time=None, event_time=1750000003),
    'both times': at('events', 1, event_time=5),
    'comparator EQUAL': at('events', 2, event_time_comparator='EQUAL'),
    'no comparator': at('events', 2, event_time_comparator=...),
    'comparator in lower case': at('events', 2, event_time_comparator='less_than'),
    'comparator misspelt': at('events', 2, event_time_comparator='LESS_THEN'),
    'comparator on an ENV event': at('events', 1, event_time_comparator='LESS_THAN'),
    'limit of 0 s': at('events', 2, event_relative_time=0),
    'ENV without predecessor': at('events', 1, dependencies=[]),
    'ENV with two predecessors': plus(says('more', ['task', 'hazard'], 'ENV')),
    'ENV after a call': two_agents(call('look', ['more'])),
    'ENV after an AGENT call': lambda data: data['events'].extend([
        call('look', ['hazard'], event_relative_time=0.1), says('more', ['look'], 'ENV')]),
    'AGENT without predecessor': at('events', 2, dependencies=[]),
    'a call after the message': plus(call('look', ['stop'])),
    'a second turn': plus(says('thanks', ['stop'], 'USER'), says('bye', ['thanks'], 'AGENT')),
    'a second USER root': plus(says('aside', [], 'USER')),
    'message due before a call': plus(call('look', ['hazard'])),
    'a call before the message': two_agents(call('look', ['hazard'])),
    'predecessors of two turns': plus(says('thanks', ['stop'], 'USER'),
                                      call('look', ['hazard', 'thanks'])),
    'unknown predecessor': at('events', 2, dependencies=['hasard']),
    'a circle': at('events', 1, dependencies=['stop']),
    'two events of one id': plus(says('hazard', ['hazard'], 'ENV')),
    'key type': argument(1, type='str', value_type=...),
    'no value type': argument(1, value_type=...),
    'value without quotes': argument(1, value=5),
    'empty value': argument(2, value=''),
    'whole placeholder': argument(2, value='{{hazard}}', value_type=None),
    'wrong int': argument(1, name='n', value='5.0', value_type='int'),
    'type of another world': argument(1, value_type='tuple'),
    'optional': argument(2, value_type='Optional[str]'),
    'operation NOTIFY': at('events', 1, 'action', operation_type='NOTIFY'),
    'no action id': at('events', 1, 'action', action_id=...),
    'unknown app': at('events', 1, 'action', app='BellApp'),
    'unknown function': at('events', 1, 'action', function='shout'),
    'app state that ARE cannot load': at('apps', 0, app_state={}),
    'unknown app of an AGENT event': at('events', 2, 'action', app='BellApp'),
    'USER without action': at('events', 0, action=None),
    'condition': plus(call('check', ['hazard'], kind='CONDITION', app=None, function=None)),
    'world log as an object': at(world_logs=[{'log_type': 'thought'}]),
    'world log as documented': at(world_logs=['{"level": "INFO", "message": "m"}']),
    'no events': at(events=[]),
    'incomplete completed event': at(completed_events=[{'event_id': 'x'}]),
}
MORE = {
    'byte order mark': b'\xef\xbb\xbf' + BASE.read_bytes(),
    'NaN': BASE.read_bytes().replace(b'"seed": 5', b'"seed": NaN'),
    'comment': b'// comment\n' + BASE.read_bytes(),
    'Latin-1': BASE.read_bytes().replace(b'Stopping', b'Stopp\xe9'),
}
"""Files whose mistake is in their text."""

ONLY_ARE = {
    'limit of 0 s': 'ARE adds 25 s; without them nobody could be in time',
    'no events': 'there is nothing to run',
}
"""What ARE takes without a word and our reader refuses."""
EXAMPLES = 5
"""Scenarios of ARE's own that it can export."""
MUTATIONS, SEED = 320, 20_260_101
TRACES = 'SCN-R-102', 'SCN-C-101', str(ROOT / 'config' / 'scenarios' / 'agents' / 'hand_over.yaml')
SHIPPED = BASE, BASE.with_name('two_turns_with_calls.json')


@pytest.fixture(scope='module')
def files(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp('probes')
    base, found = json.loads(BASE.read_text()), {}
    for number, (name, change) in enumerate(PROBES.items()):
        data = copy.deepcopy(base)
        change(data)
        found[name] = folder / f'{number}.json'
        found[name].write_text(json.dumps(data))
    for number, (name, raw) in enumerate(MORE.items()):
        found[name] = folder / f'text{number}.json'
        found[name].write_bytes(raw)
    place = folder / 'traces'
    place.mkdir()
    exported = sorted(place / name for name in traces({'portable': place}, ['rule_based'], TRACES))
    for number, (name, data) in enumerate(mutations([*exported, *SHIPPED], MUTATIONS, SEED)):
        found[f'{number} {name}'] = folder / f'mutation{number}.json'
        found[f'{number} {name}'].write_text(json.dumps(data))
    return found


@pytest.fixture(scope='module')
def said_by_are(are_python, files, tmp_path_factory) -> list[dict[str, Any]]:
    """Return what ARE says of its own examples, each probe and mutation, and then of its apps."""
    environment = {**os.environ, 'HF_HUB_OFFLINE': '1', 'LITELLM_LOCAL_MODEL_COST_MAP': 'True'}
    environment.pop('PYTHONPATH', None)
    done = subprocess.run(
        [are_python, SCRIPT, tmp_path_factory.mktemp('examples'), *files.values()],
        env=environment, text=True, timeout=120, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]


@pytest.fixture(scope='module')
def of_are(said_by_are, files) -> dict[str, dict[str, Any]]:
    said = said_by_are[EXAMPLES:-1]
    assert [one['path'] for one in said] == [str(path) for path in files.values()]
    return dict(zip(files, said))


@pytest.fixture(scope='module')
def ours(files) -> dict[str, list[str] | None]:
    """Return the deviations that our reader tells of each probe, None if it refuses it."""
    found: dict[str, list[str] | None] = {}
    for name, path in files.items():
        try:
            warnings = load_scenarios([str(path)]).warnings
        except ScenarioError:
            found[name] = None
        else:
            found[name] = [str(one) for one in warnings if one.code == 'A101']
    return found


def taken(said: dict[str, Any]) -> bool:
    """Whether ARE took a file whole and without a word."""
    return said['error'] is None and not said['logged']


def told(of_are: dict[str, dict[str, Any]], names: set[str]) -> str:
    return '\n'.join(f'{name}: {of_are[name]}' for name in sorted(names))


def test_what_are_refuses_or_drops_is_never_without_a_word_of_ours(of_are, ours):
    silent = {name for name, said in of_are.items() if not taken(said) and ours[name] == []}
    assert not silent, told(of_are, silent)
    assert sum(not taken(said) for said in of_are.values()) >= MUTATIONS / 3


def test_what_is_said_to_be_refused_by_are_is(of_are, ours):
    wrong = {name for name, deviations in ours.items() if deviations and taken(of_are[name])}
    assert not wrong, '\n'.join(f'{name}: {ours[name]}' for name in wrong)
    assert sum(bool(deviations) for deviations in ours.values()) >= MUTATIONS / 5


def test_what_stock_are_imports_our_reader_takes(of_are, ours):
    refused = {name for name in PROBES if taken(of_are[name]) and ours[name] is None}
    assert refused == set(ONLY_ARE)
    assert len([name for name in PROBES if taken(of_are[name])]) >= 15


def test_our_reader_repairs_much_of_what_stock_are_refuses(of_are, ours):
    repaired = [name for name in PROBES if ours[name] and of_are[name]['error'] is not None]
    assert len(repaired) >= 20


def test_are_s_own_examples_load_and_what_it_refuses_of_them_is_told(said_by_are):
    verdicts = set()
    for said in said_by_are[:EXAMPLES]:
        found = load_scenarios([said['path']])
        deviations = [one for one in found.warnings if one.code == 'A101']
        assert said['error'] is not None and deviations, said
        (_, result), = judge_recordings(Path(said['path']))
        assert result.verdict is not Verdict.FAIL, (result.reason, said['path'])
        verdicts.add(result.verdict)
    assert verdicts == {Verdict.PASS, Verdict.INCONCLUSIVE}


def test_the_apps_that_we_know_are_those_of_are(said_by_are):
    found = said_by_are[-1]
    assert sorted(known_apps.CLASSES) == found['listed']
    assert sorted(known_apps.RECORDED) == sorted(found['functions'])
    for name, functions in found['functions'].items():
        known = known_apps.functions(name)
        assert known is None or known == set(functions), name


def test_what_are_records_as_a_read_is_known(said_by_are):
    found = said_by_are[-1]['operations']
    assert len(found) > 100
    for tool, operation in found.items():
        assert known_apps.only_reads(tool) == (operation == 'read'), tool


def test_arguments_are_compared_as_are_s_judge_says(said_by_are):
    found = said_by_are[-1]['checks']
    assert len(found) > 60
    for tool, checks in found.items():
        if tool != 'SandBoxLocalFileSystem__makedirs':  # no app has this name
            assert known_apps.checks_of(tool) == checks, tool
    for tool, defaults in said_by_are[-1]['defaults'].items():
        assert known_apps.defaults_of(tool) == defaults, tool
    tools = {f'{name}__{function}' for name, functions in said_by_are[-1]['functions'].items()
             for function in functions}
    assert {tool for tool in tools if known_apps.checks_of(tool) is not None} <= found.keys()
