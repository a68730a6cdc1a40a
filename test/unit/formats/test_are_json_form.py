# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The form of ARE files, the documented and the real one: what is odd is told in its place."""

import copy
from pathlib import Path

from cases import for_each
import pytest
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.loading import load_scenarios
from unit.formats import files
from unit.formats.are_files import (
    are,
    call,
    defined,
    event,
    HAZARD,
    load,
    loaded,
    refused,
    STOP,
    TASK,
    warned,
    write,
)
import yaml

DATA = Path(__file__).resolve().parents[2] / 'data' / 'are'
HINT = {'hint_type': 'TASK_HINT', 'content': 'c', 'associated_event_id': 'task'}


def noted(**annotation):
    return are(metadata={'definition': {'scenario_id': 'near'}, 'annotation': annotation})


def argument(**changes):
    """Return a file in which the hazard's argument is another; ... removes a key."""
    data = {'name': 'content', 'value': 'Person at 0.9 m.', 'value_type': 'str', **changes}
    one = {key: value for key, value in data.items() if value is not ...}
    hazard = copy.deepcopy(HAZARD)
    hazard['action']['args'] = [one]
    return are(TASK, hazard, STOP)


def acting(index, **changes):
    """Return a file in which the action of one event is another; ... removes a key."""
    data = are()
    data['events'] = copy.deepcopy(data['events'])
    action = {**data['events'][index]['action'], **changes}
    data['events'][index]['action'] = {
        key: value for key, value in action.items() if value is not ...}
    return data


def problems(tmp_path, data):
    """Return why a file is refused, with repetitions."""
    with pytest.raises(ScenarioError) as error:
        loaded(tmp_path, data)
    return error.value.problems


def test_the_form_that_are_accepts_is_taken_and_what_acts_on_nothing_is_named(tmp_path):
    assert loaded(tmp_path, defined(start_time=1.75e9, tags=['Safety'],
                                    hints=[HINT])).warnings == ()
    found = loaded(tmp_path, {**defined(
        seed=3, duration=60, start_time=1.75e9, time_increment_in_seconds=1, run_number=2,
        config='c', has_tool_augmentation=True, hintz=1), 'augmentation': {'a': 1}})
    told = warned(found, 'A102')
    assert len(found.warnings) == len(told) == 3
    assert all(name in told['metadata.definition'] for name in (
        'seed', 'duration', 'time_increment_in_seconds', 'run_number', 'config',
        'has_tool_augmentation'))
    assert 'not played' in told['augmentation']
    assert "Did you mean 'hints'" in told['metadata.definition.hintz']
    assert found.scenarios[0].metadata['are']['augmentation'] == {'a': 1}
    noted = loaded(tmp_path, are(metadata={
        'definition': {'scenario_id': 'near'}, 'simulation': {'agent_id': 'a', 'agent': 1},
        'annotation': {'comment': 'c', 'coment': 'd'}, 'runner_config': {'model': 'm'}}))
    told = warned(noted)
    assert set(told) == {'metadata', 'metadata.simulation.agent', 'metadata.annotation.coment'}
    assert all(name in told['metadata'] for name in ('simulation', 'annotation', 'runner_config'))


def test_a_hint_is_told_with_the_event_that_it_is_about(tmp_path):
    hints = [{**HINT, 'content': 'Look left', 'associated_event_id': 'hazard'},
             {**HINT, 'content': 'Be brief', 'associated_event_id': 'nobody'},
             {**HINT, 'content': ' '},
             {**HINT, 'content': 'Say stop', 'associated_event_id': 'stop'}]
    found = loaded(tmp_path, defined(hints=hints))
    first, second = (message.content for message in found.scenarios[0].messages)
    assert first == 'words of task\n\nHint: Be brief'
    assert second == 'Person at 0.9 m.\n\nHint: Look left'
    [(place, why)] = warned(found).items()
    assert place == 'metadata.definition.hints[3]' and 'not sent' in why


def test_a_documented_operation_that_are_does_not_look_at_is_no_deviation(tmp_path):
    found = loaded(tmp_path, acting(1, operation_type='NOTIFY'))
    assert set(warned(found)) == {'events[1].action.operation_type'}
    assert warned(found, 'A101') == {}


def test_one_look_at_a_condition_is_taken_for_the_condition(tmp_path):
    check = event('check-CHECK_0', 'CONDITION', [])
    late = event('late', 'ENV', ['check-CHECK_6'])
    found = loaded(tmp_path, are(TASK, HAZARD, STOP, check, late))
    assert 'Name the condition' in warned(found, 'A101')['events[4].dependencies[0]']


DEVIATIONS = {
    'version 2.0': (are(version='2.0'), 'version'),
    'version as a number': (are(version=2.0), 'version'),
    'version missing': (are(version=...), 'version'),
    'flat metadata': (are(metadata={'scenario_id': 'near'}), 'metadata'),
    'no relative time': (are(TASK, event('hazard', 'ENV', ['task'], event_relative_time=...),
                             STOP), 'events[1]'),
    'no class name': (are(TASK, {**HAZARD, 'class_name': ...}, STOP), 'events[1]'),
    'hint without event': (defined(hints=[{**HINT, 'associated_event_id': None}]),
                           'metadata.definition.hints[0].associated_event_id'),
    'hint type': (defined(hints=[{**HINT, 'hint_type': 'tip'}]),
                  'metadata.definition.hints[0].hint_type'),
    'hints null': (defined(hints=None), 'metadata.definition.hints'),
    'tag': (defined(tags=['Safety', 'email']), 'metadata.definition.tags[1]'),
    'dotted class': (are(apps=[{'name': 'AgentUserInterface', 'class_name': 'a.b.C'}]),
                     'apps[0].class_name'),
    'app without a name': (are(apps=[are()['apps'][0], {}]), 'apps[1].name'),
    'unknown class': (are(apps=[are()['apps'][0], {'name': 'Bell'}]), 'apps[1].name'),
    'state of an app': (are(apps=[{'name': 'AgentUserInterface', 'app_state': {}}]),
                        'apps[0].app_state'),
    'type of a value': (are(context=None, augmentation=[1]), 'augmentation'),
    'app state': (are(apps=[{'name': 'AgentUserInterface', 'app_state': []}]),
                  'apps[0].app_state'),
    'app not in apps': (are(TASK, call('hazard', 'ENV', ['task'], app='Bell'), STOP),
                        'events[1].action.app'),
    'ENV root': (are(event('hazard', 'ENV', []), STOP), 'events[0]'),
    'key type': (argument(type='str', value_type=...), 'events[1].action.args[0].type'),
    'no value type': (argument(value_type=...), 'events[1].action.args[0].value'),
    'value without quotes': (argument(value=5, value_type='int'),
                             'events[1].action.args[0].value'),
    'wrong int': (argument(value='5.0', value_type='int'), 'events[1].action.args[0].value'),
    'unknown type': (argument(value_type='tuple'), 'events[1].action.args[0].value'),
    'no action id': (acting(1, action_id=...), 'events[1].action.action_id'),
    'decision': (noted(validation_decision='needs_review'),
                 'metadata.annotation.validation_decision'),
    'date': (noted(date=None), 'metadata.annotation.date'),
    'lower case': (are(TASK, {**HAZARD, 'event_type': 'env'}, STOP), 'events[1].event_type'),
    'comparator in lower case': (are(TASK, HAZARD, {**STOP, 'event_time_comparator': 'less_than'}),
                                 'events[2].event_time_comparator'),
    'comparator of an ENV event': (are(TASK, {**HAZARD, 'event_time_comparator': 'EQUAL'}, STOP),
                                   'events[1].event_time_comparator'),
    'log as an object': (are(world_logs=[{'log_type': 'thought'}]), 'world_logs[0]'),
    'log as documented': (are(world_logs=['{"level": "INFO"}']), 'world_logs[0]'),
    'seed': (defined(seed=1.5), 'metadata.definition.seed'),
    'increment': (defined(time_increment_in_seconds=0.1),
                  'metadata.definition.time_increment_in_seconds'),
    'completed event': (are(completed_events=[{'event_id': 'x'}]), 'completed_events[0]'),
}


@for_each(('data', 'field'), DEVIATIONS.values(), ids=DEVIATIONS)
def test_a_deviation_is_accepted_and_told_in_its_place(tmp_path, data, field):
    data['events'] = [{key: value for key, value in one.items() if value is not ...}
                      for one in data['events']]
    found = loaded(tmp_path, data)
    assert list(warned(found, 'A101')) == [field]
    assert found.scenarios[0].id == 'near'


def test_a_warning_names_line_and_column(tmp_path):
    text = Path(write(tmp_path / 'a.json', are(version='2.0'))).read_text()
    [warning] = loaded(tmp_path, text).warnings
    line = text.splitlines().index(' "version": "2.0"') + 1
    assert str(warning).startswith(f'{tmp_path}/scenario.json:{line}:13: A101 version: got ')


def test_the_form_of_the_document_loads_with_all_its_deviations(monkeypatch):
    monkeypatch.chdir(DATA)
    found = load_scenarios(['documented_form.json'])
    [scenario] = found.scenarios
    assert scenario.id == 'lift_is_stuck_007'
    assert scenario.description == 'A dispatcher decides whom to send to a lift'
    assert scenario.tags == ('building', 'dispatch')
    assert [message.content for message in scenario.messages] == [
        'BellApp.ring(message="The alarm bell of lift 2 rings")\n\n'
        'Hint: Somebody may be waiting in the lift']
    kept = scenario.metadata['are']
    assert kept['definition']['seed'] == 77 and kept['definition']['hints'][0]['content']
    assert kept['apps'][0]['app_state']['open'][0]['from'] == 'porter'
    assert [step['at_s'] for step in kept['timeline']] == [45.0]
    assert sorted(warned(found, 'A101')) == sorted([
        'metadata', 'metadata.hints[0].hint_type', 'metadata.hints[0].associated_event_id',
        'metadata.tags[0]', 'metadata.tags[1]', 'apps[0].class_name', 'events[0]',
        'events[0].action.app', 'events[0].action.args[0].type', 'version'])


REFUSED = {
    'another version': (are(version='are_simulation_v2'), 'version'),
    'version true': (are(version=True), 'version'),
    'no id': (are(metadata={'definition': {}}), 'metadata.definition.scenario_id'),
    'blank id': (are(metadata={'definition': {'scenario_id': ' '}}),
                 'metadata.definition.scenario_id'),
    'long id': (are(metadata={'definition': {'scenario_id': 'x' * 201}}),
                'metadata.definition.scenario_id'),
    'start in words': (defined(start_time='noon'), 'metadata.definition.start_time'),
    'tags a text': (defined(tags='Safety'), 'metadata.definition.tags'),
    'context a number': (are(context=5), 'context'),
    'events a mapping': (are(events={}), 'events'),
    'event a text': (are(events=['hazard']), 'events[0]'),
    'no event id': (are(event('', 'USER', [])), 'events[0].event_id'),
    'endless event id': (are(event('x' * 201, 'USER', [])), 'events[0].event_id'),
    'endless dependency': (are(TASK, {**HAZARD, 'dependencies': ['x' * 201]}, STOP),
                           'events[1].dependencies[0]'),
    'too many events': (are(*(event(f'e{number}', 'USER', []) for number in range(1001))),
                        'events'),
    'no event type': (are(event('task', 'USER', [], event_type=...)), 'events[0].event_type'),
    'STOP': (are(event('task', 'STOP', [])), 'events[0].event_type'),
    'two of one id': (are(TASK, TASK), 'events[1].event_id'),
    'negative time': (are(event('task', 'USER', [], -1)), 'events[0].event_relative_time'),
    'time nan': (are(event('task', 'USER', [], event_relative_time='nan')),
                 'events[0].event_relative_time'),
    'time true': (are(event('task', 'USER', [], True)), 'events[0].event_relative_time'),
    'comparator misspelt': (are(TASK, HAZARD, {**STOP, 'event_time_comparator': 'LESS_THEN'}),
                            'events[2].event_time_comparator'),
    'unknown dependency': (are(TASK, HAZARD, {**STOP, 'dependencies': ['hasard']}),
                           'events[2].dependencies[0]'),
    'dependency a number': (are(TASK, {**HAZARD, 'dependencies': [1]}, STOP),
                            'events[1].dependencies[0]'),
    'circle': (are({**TASK, 'dependencies': ['stop']}, HAZARD, STOP), 'events[0].dependencies'),
    'depends on itself': (are(TASK, {**HAZARD, 'dependencies': ['hazard']}, STOP),
                          'events[1].dependencies'),
    'AGENT root': (are(TASK, HAZARD, {**STOP, 'dependencies': []}), 'events[2].dependencies'),
    'no action': (are({**TASK, 'action': None}), 'events[0].action'),
    'app a number': (acting(2, app=5), 'events[2].action.app'),
    'message without content': (argument(name='text'), 'events[1].action'),
    'nothing to ask': (are(events=[]), 'events'),
    'limit of 0 s': (are(TASK, HAZARD, {**STOP, 'event_relative_time': 0}), 'events[2]'),
    'limit of two days': (are(TASK, HAZARD, {**STOP, 'event_relative_time': 2e5}), 'events[2]'),
    'limit before its cause': (defined(TASK, HAZARD, {
        **STOP, 'event_relative_time': None, 'event_time': 5}, start_time=5), 'events[2]'),
}


@for_each(('data', 'field'), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_repaired_is_refused_in_its_place(tmp_path, data, field):
    [told] = problems(tmp_path, data)
    assert told.field == field
    assert told.message.startswith(('got ', 'missing', 'event '))


def test_every_problem_of_a_file_is_told_at_once_in_its_order(tmp_path):
    assert list(refused(tmp_path, are(
        event('task', 'USER', [], -1), {**HAZARD, 'dependencies': ['taks']},
        {**STOP, 'event_time_comparator': 'SOON'}, version='3'))) == [
            'events[0].event_relative_time', 'events[1].dependencies[0]',
            'events[2].event_time_comparator', 'version']


def test_metadata_that_are_a_list_are_told_once(tmp_path):
    told = problems(tmp_path, are(metadata=[]))
    assert [problem.field for problem in told] == ['metadata', 'metadata.scenario_id']


def test_a_near_miss_is_pointed_out(tmp_path):
    assert refused(tmp_path, are(TASK, {**HAZARD, 'dependencies': ['taks']}, STOP))[
        'events[1].dependencies[0]'].endswith("Did you mean 'task'?")


def test_an_event_that_cannot_be_read_is_not_called_missing_too(tmp_path):
    assert list(refused(tmp_path, are(TASK, {**HAZARD, 'event_type': 'ENVY'}, STOP))) == [
        'events[1].event_type']


def test_unknown_keys_are_told(tmp_path):
    found = loaded(tmp_path, are(TASK, {**HAZARD, 'delay': 3}, STOP, note='n'))
    assert list(warned(found, 'A102')) == ['events[1].delay', 'note']


def test_a_byte_order_mark_is_taken_and_told(tmp_path):
    raw = b'\xef\xbb\xbf' + Path(write(tmp_path / 'a.json', are())).read_bytes()
    found = loaded(tmp_path, raw)
    assert 'byte order mark' in warned(found)['']


def test_yaml_is_taken_and_told(tmp_path):
    path = files.write(tmp_path / 'are.yaml', yaml.safe_dump(are()))
    found = load_scenarios([path])
    assert found.scenarios[0].latency_budget.critical_ms == 200
    assert 'ARE itself reads JSON only' in warned(found)['']


def test_numbers_in_quotes_are_numbers_as_for_are(tmp_path):
    found = loaded(tmp_path, are(TASK, HAZARD, {**STOP, 'event_relative_time': '0.3'}))
    assert found.scenarios[0].latency_budget.critical_ms == 300
    assert found.warnings == ()


def test_format_1_in_json_is_still_format_1(tmp_path):
    scenario = load(tmp_path, files.plain(version='2.0', events=[]))
    assert scenario.domain == 'clinical'


@pytest.mark.parametrize('data', [
    {'description': 'd'}, {'metadata': {'owner': 'me'}},
    {'name': 'package', 'version': '2.0'}, {'events': [1]}])
def test_other_files_are_told_all_formats_that_were_tried(tmp_path, data):
    [told] = refused(tmp_path, data).values()
    assert 'scenario YAML (format 1): ' in told and 'ARE scenario (format 2): ' in told


def test_the_least_file_that_are_takes_is_recognised(tmp_path):
    assert list(refused(tmp_path, are(apps=..., events=...))) == ['events']


def test_a_folder_of_json_files_is_read_to_the_bottom(tmp_path):
    (tmp_path / 'deep').mkdir()
    write(tmp_path / 'deep' / 'a.json', are())
    files.write(tmp_path / 'b.yaml', files.plain())
    assert {scenario.id for scenario in load_scenarios([str(tmp_path)]).scenarios} == {
        'near', 'SCN-C-001'}
    write(tmp_path / 'c.json', '{"a": 1')
    with pytest.raises(ScenarioError, match='c.json:1:8: not readable as JSON'):
        load_scenarios([str(tmp_path)])
