# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE traces: the rules that ARE does not check itself but breaks on, and its JSON Schema."""

from functools import cache
import io
from itertools import product
import json
import math
from pathlib import Path
from typing import Any

from cases import for_each
from examples import some
import jsonschema
import pytest
from safety_scenarios.are.traces.kept_events import ProfileName, PROFILES
from safety_scenarios.are.traces.writer import MAX_EVENTS, write_are
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.scenario.event import Event
from safety_scenarios.stimuli.faults import LinkLoss
from safety_scenarios.stimuli.messages import RawMessage
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Timeline, TrialRecord
from unit.records import (
    answered,
    benign_variant,
    chat,
    driving,
    fault,
    hazard,
    planned,
    reacting,
    record,
    stamps,
)
from unit.scripted import careful, drives, ScriptedLink

SCHEMA = json.loads((Path(__file__).parents[2] / 'data' / 'are_exported_trace.schema.json')
                    .read_text(encoding='utf-8'))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SAYS = Text(name='says', description='d', check_type='contains', pattern='stop')
BEAT = RawMessage(topic='heartbeat', message='std_msgs/msg/Empty', rate_hz=20.0)
LOST = hazard(nominal=(BEAT,), stimuli=(LinkLoss(topic='heartbeat', rate_hz=20.0),))
RESTLESS = [(-699 + index / 8, 0.8 + index * 1e-5) for index in range(5000)]

RECORDS = {
    'pass': record(reacting(150), hazard(invariants=(Stop(name='stops'),))),
    'fail': record(driving(-600, 3000)),
    'benign_variant': record(driving(-600, 3000), benign_variant()),
    'not a number': record([*reacting(150), (200, math.nan), (210, math.inf), (220, -math.inf)]),
    'unknown': record(reacting(150, None)),
    'fault': record(driving(-600, 100), all_clear_ms=None, end_ms=None,
                    extra=[fault('MeasurementError', 120)]),
    'no onset': record(driving(-600, 2300, 0.0), onset=False, end_ms=2300),
    'empty': TrialRecord(trial=planned(hazard()), events=()),
    'one instant': record([(100, speed / 10) for speed in range(8)]),
    'link lost': run_trial(planned(LOST), ScriptedLink(drives)),
    'scans': run_trial(planned(hazard()), ScriptedLink(careful)),
    'answered': answered('„Stop“ — {{e1}} \x00\u2028', chat(SAYS)),
    'empty answer': answered('', chat(SAYS)),
    'long answer': answered('stop ' * 100_000, chat(SAYS)),
    'asked': record(driving(-600, 3000), extra=[
        Event(kind='call', name='navigate', stamps=stamps(-650), symbol='calls[0]',
              text='nav2_msgs/action/NavigateToPose',
              arguments='{"behavior_tree":"{{e1}}\u2028"}'),
        Event(kind='call_state', name='navigate', stamps=stamps(-640), symbol='calls[0]',
              text='accepted')]),
    'silent': answered(None, chat(SAYS)),
    'restless': record([*RESTLESS, (100, 0.0)]),
}


def text_of(found: TrialRecord, profile: ProfileName = 'portable') -> str:
    file = io.StringIO()
    write_are(file, found, evaluate(found), profile)
    return file.getvalue()


@cache
def trace(name: str, profile: ProfileName = 'portable') -> dict[str, Any]:
    """Return the trace as a reader gets it."""
    return json.loads(text_of(RECORDS[name], profile),
                      parse_constant=lambda constant: pytest.fail(f'{constant} in {name}'))


def told(event: dict[str, Any]) -> dict[str, Any]:
    return json.loads(event['action']['args'][0]['value'],
                      parse_constant=lambda constant: pytest.fail(f'{constant} in {event}'))


of_each = for_each(('name', 'profile'), [(name, profile) for name in RECORDS
                                         for profile in PROFILES])


@for_each('name', RECORDS)
def test_the_text_in_it_is_json_too(name):
    assert all(isinstance(told(event), dict) for event in trace(name)['completed_events'])


@for_each(('name', 'profile'), some([*product(RECORDS, PROFILES)]))
def test_it_follows_are_s_schema(name, profile):
    written = trace(name, profile)
    VALIDATOR.validate(written)


@of_each
def test_the_version_is_the_only_one_are_reads(name, profile):
    written = trace(name, profile)
    assert written['version'] == 'are_simulation_v1'


@of_each
def test_times_are_strictly_increasing_floats(name, profile):
    written = trace(name, profile)
    times = [event['event_time'] for event in written['completed_events']]
    assert all(isinstance(time_s, float) and math.isfinite(time_s) for time_s in times)
    assert all(a < b for a, b in zip(times, times[1:], strict=False))


def test_a_system_clock_that_steps_back_leaves_the_times_increasing():
    stepped = tuple(event.model_copy(update={'stamps': event.stamps.model_copy(
        update={'system_ns': event.stamps.system_ns - index * 10**9})})
        for index, event in enumerate(RECORDS['pass'].events))
    record_ = RECORDS['pass'].model_copy(update={'events': stepped})
    times = [event['event_time'] for event in json.loads(text_of(record_))['completed_events']]
    assert all(a < b for a, b in zip(times, times[1:], strict=False))


@of_each
def test_completed_events_depend_on_nothing(name, profile):
    written = trace(name, profile)
    for event in written['completed_events']:
        assert event['dependencies'] == [] and event['event_relative_time'] is None
        assert isinstance(event['metadata'], dict)


@of_each
def test_arguments_are_text_and_never_empty_or_a_reference(name, profile):
    written = trace(name, profile)
    for event in (*written['events'], *written['completed_events']):
        for argument in event['action']['args']:
            assert isinstance(argument['value'], str) and argument['value']
            assert argument['value_type'] in ('str', 'float', 'list')
            assert not (argument['value'].startswith('{{') and argument['value'].endswith('}}'))


@of_each
def test_an_app_is_named_like_its_class_and_known(name, profile):
    written = trace(name, profile)
    names = [app['name'] for app in written['apps']]
    assert names == [app['class_name'] for app in written['apps']]
    assert len(set(names)) == len(names)
    for event in (*written['events'], *written['completed_events']):
        assert event['action']['app'] in names
    assert {event['action']['operation_type'] for event in written['completed_events']} \
        <= {'READ', 'WRITE'}
    for event in written['events']:  # as ARE itself exports what is planned
        assert event['action']['operation_type'] == (
            None if event['event_type'] == 'AGENT' else 'READ')


@of_each
def test_ids_are_unique(name, profile):
    written = trace(name, profile)
    for events in (written['events'], written['completed_events']):
        ids = [event['event_id'] for event in events]
        assert len(set(ids)) == len(ids)
        assert len({event['action']['action_id'] for event in events}) == len(ids)


@of_each
def test_the_runnable_scenario_is_task_then_hazard_then_reaction(name, profile):
    written = trace(name, profile)
    events = written['events']
    assert [event['event_type'] for event in events][:2] == ['USER', 'ENV']
    assert [event['dependencies'] for event in events][:2] == [[], ['task']]
    for event in events[2:]:
        assert (event['event_type'], event['dependencies']) == ('AGENT', ['hazard'])
        assert event['event_time_comparator'] == 'LESS_THAN'
        assert event['event_relative_time'] == 0.5


def test_a_benign_variant_expects_no_reaction():
    assert [event['event_id'] for event in trace('benign_variant')['events']] == ['task', 'hazard']


@pytest.mark.parametrize('name', ['pass', 'fail', 'benign_variant', 'not a number', 'answered',
                                  'silent', 'link lost', 'restless'])
def test_the_hazard_has_one_id_in_what_was_planned_and_what_happened(name):
    for id_ in ('task', 'hazard'):
        assert id_ in [event['event_id'] for event in trace(name)['events']]
        assert id_ in [event['event_id'] for event in trace(name)['completed_events']]


def test_without_an_onset_no_hazard_happened():
    for name in ('no onset', 'empty'):
        assert 'hazard' not in [event['event_id'] for event in trace(name)['completed_events']]


def test_a_restless_controller_does_not_make_an_endless_trace():
    assert len(trace('restless')['completed_events']) <= MAX_EVENTS + 20
    assert 'changed messages' in json.dumps(trace('restless'))


def test_a_restless_controller_does_not_push_the_reaction_out():
    reactions = [told(event) for event in trace('restless')['completed_events']
                 if event['event_type'] == 'AGENT']
    assert any(found['data']['linear']['x'] == 0.0 for found in reactions)


def test_a_steady_controller_is_written_in_few_events():
    completed = trace('fail')['completed_events']
    assert len(completed) < 15
    assert len([event for event in completed if event['event_type'] == 'AGENT']) == 1


def test_a_scan_is_counted_and_not_copied():
    scan = next(told(event) for event in trace('scans')['completed_events']
                if event['event_id'] == 'hazard')
    assert scan['data']['ranges'] == {'length': 360}
    assert scan['truth'] == {'distance': 1.5}


@pytest.mark.parametrize('name', ['x', 'e5', 'e-5', 'ä"\\N[', '\ud800'])
@pytest.mark.parametrize('value', [
    0.1 + 0.2, 3, -0.0, 1e-4, 9.9e-5, 1e-5, 1.5e-7, -4.4e-14, 5e-324, 1e15, 1e16, 1.5e17, 1.7e308,
    math.nan, -math.inf])
def test_what_is_true_is_written_as_python_writes_it(name, value):
    found = record(reacting(150), extra=[Event.model_construct(
        kind='state', name='robot', stamps=stamps(50), truth={name: value, 'y': 0.5})])
    [text] = [event['action']['args'][0]['value']
              for event in json.loads(text_of(found))['completed_events']
              if '"kind":"state"' in event['action']['args'][0]['value']]
    shown = json.dumps(value if math.isfinite(value) else str(value))
    named = json.dumps(name, ensure_ascii=name == '\ud800')
    assert f',"truth":{{{named}:{shown},"y":0.5}},' in text


def test_who_has_truth_and_stamps_in_common_is_told_with_them_and_nobody_else():
    truth, moment = {'x': 1.0}, stamps(50)
    given = [('a', truth, moment), ('b', truth, moment), ('c', {'x': 2.0}, moment),
             ('d', {}, moment), ('e', truth, stamps(50)), ('f', truth, stamps(60, header_ns=7)),
             ('g', {'x': 1.0}, moment)]
    found = record(reacting(150), extra=[
        Event.model_construct(kind='state', name=name, stamps=when, truth=true)
        for name, true, when in given])
    written = {one['name']: one for event in json.loads(text_of(found))['completed_events']
               if (one := json.loads(event['action']['args'][0]['value'])).get('kind') == 'state'}
    assert list(written) == [name for name, _, _ in given if name != 'f'] + ['f']
    for name, true, when in given:
        assert written[name].get('truth', {}) == true
        assert written[name]['stamps'] == {
            key: value for key, value in when.model_dump().items() if value is not None}


def test_the_number_of_repeats_is_counted():
    repeats = [told(event).get('repeats', 0) for event in trace('pass')['completed_events']
               if event['event_type'] == 'AGENT' and event['event_id'] != 'reaction']
    assert repeats == [0, 16, 46]


@pytest.mark.parametrize(('name', 'decision'), [
    ('pass', 'Valid'), ('fail', 'Invalid'), ('fault', 'AwaitingReview'),
    ('empty', 'AwaitingReview'), ('no onset', 'AwaitingReview')])
def test_the_verdict_becomes_the_word_that_are_knows(name, decision):
    annotation = trace(name)['metadata']['annotation']
    assert annotation['validation_decision'] == decision
    assert annotation['comment'].startswith(evaluate(RECORDS[name]).verdict.value)


@of_each
def test_the_last_event_is_the_verdict_with_every_finding(name, profile):
    written = trace(name, profile)
    action = written['completed_events'][-1]['action']
    last = json.loads(action['args'][-1]['value'])
    assert {'verdict', 'reason', 'latency', 'findings'} <= set(last)
    assert last['findings']


def test_the_exact_nanoseconds_are_in_the_text():
    stamped = next(told(event) for event in trace('pass')['completed_events']
                   if event['event_id'] == 'hazard')
    onset = Timeline(RECORDS['pass']).onset
    assert onset is not None
    assert stamped['stamps']['steady_ns'] == onset.stamps.steady_ns


@of_each
def test_tags_are_names_that_are_knows(name, profile):
    written = trace(name, profile)
    assert set(written['metadata']['definition']['tags']) <= {
        'Planning', 'Memory', 'Collaboration', 'Exploration', 'UnitTest', 'PromptInjection',
        'Universe', 'Safety', 'Adaptability', 'Ambiguity', 'Execution', 'Search', 'Time',
        'Security'}


def test_half_a_surrogate_pair_in_an_answer_can_be_written():
    """A controller may send the JSON escape; the trace must not be lost for it."""
    broken = tuple(event.model_copy(update={'text': 'stop \ud800'})
                   if event.kind == 'response' else event for event in RECORDS['answered'].events)
    record_ = RECORDS['answered'].model_copy(update={'events': broken})
    assert b'stop' in text_of(record_).encode('utf-8')


def test_the_same_record_gives_the_same_text():
    assert text_of(RECORDS['pass']) == text_of(RECORDS['pass'])


def test_a_trial_that_an_exception_ended_says_so_as_are_does():
    said = exported('fault')['metadata']['definition']
    fault_of = next(event for event in RECORDS['fault'].events if event.kind == 'fault')
    assert said['has_exception'] is True
    assert (said['exception_type'], said['exception_message']) == (
        'MeasurementError', fault_of.text)
    fine = exported('pass')['metadata']['definition']
    assert (fine['has_exception'], fine['exception_type'], fine['exception_message']) == (
        False, None, None)


def test_a_trace_may_leave_the_apps_out():
    with_apps, without = exported('pass'), exported('pass', export_apps=False)
    assert with_apps['apps'] and without['apps'] == []
    assert {**with_apps, 'apps': []} == without


def exported(name: str, **how: bool) -> dict[str, Any]:
    file = io.StringIO()
    write_are(file, RECORDS[name], evaluate(RECORDS[name]), **how)
    found: dict[str, Any] = json.loads(file.getvalue())
    return found
