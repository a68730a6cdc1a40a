# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios with agents and decisions in ARE traces: what is kept, planned and compared."""

import io
import json
import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.are.traces.kept_events import ProfileName
from safety_scenarios.are.traces.writer import MAX_EVENTS, read_are_events, write_are
from safety_scenarios.errors import TraceError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.scenario.blocks.agents import Pattern
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from unit.records import answered, benign_variant, chat, command, driving, hazard, reacting, record
from unit.rule_runs import answers, block, calls, expects, greets, record_of

SLOW = Bound(name='slow', signal='speed', at_most=1.0)
SAYS = Text(name='says', description='d', check_type='contains', pattern='stop')
PASSED, LATE = record(reacting(150)), record(reacting(501))
RESTLESS = [(-699 + index / 8, 0.5 + index * 1e-5) for index in range(5000)]
POINT = {'positions': (0.1, 0.2), 'velocities': (0.0, 0.5), 'accelerations': (), 'effort': ()}


def trajectory(*points: Any) -> Message:
    return Message(type='trajectory_msgs/msg/JointTrajectory',
                   data={'joint_names': ('a', 'b'), 'points': points})


def text_of(found: TrialRecord, profile: ProfileName = 'portable', most: int = MAX_EVENTS) -> str:
    file = io.StringIO()
    write_are(file, found, evaluate(found), profile, most)
    return file.getvalue()


def completed(found: TrialRecord, profile: ProfileName = 'portable',
              most: int = MAX_EVENTS) -> dict[str, Any]:
    events = json.loads(text_of(found, profile, most))['completed_events']
    return {event['event_id']: event for event in events}


def compared(found: TrialRecord, profile: ProfileName = 'portable') -> list[str]:
    """Return what ARE's judge compares of a trace: its own filter, in our words."""
    return [name for name, event in completed(found, profile).items()
            if event['metadata']['exception'] is None and (
                event['action']['operation_type'] == 'WRITE' if event['event_type'] == 'AGENT'
                else 'env_expansion' not in name)]


def calls_of(found: TrialRecord) -> list[tuple[str, dict[str, str]]]:
    """Return what the controller did in the robot's words."""
    return [(event['action']['function'],
             {one['name']: one['value'] for one in event['action']['args']})
            for name, event in completed(found, 'robot').items()
            if event['event_type'] == 'AGENT' and name != 'reaction']


@pytest.mark.parametrize('profile', ['portable', 'robot'])
def test_of_a_passed_trial_the_judge_compares_task_hazard_and_reaction(profile):
    assert compared(PASSED, profile) == ['task', 'hazard', 'reaction']


@pytest.mark.parametrize('found', [
    LATE, record(reacting(150), hazard(invariants=(Bound(name='b', signal='speed',
                                                         at_most=0.1),))),
    record(driving(-600, 3000)), answered('Go on!', chat(SAYS)),
    record(reacting(150), benign_variant(invariants=(
        Bound(name='b', signal='speed', at_least=0.5),)))],
    ids=['late', 'violation', 'no reaction', 'wrong answer', 'benign_variant'])
def test_of_any_other_trial_the_judge_finds_something_else(found):
    """The tolerance of ARE itself is 25 s, and it sees no invariants."""
    assert evaluate(found).verdict is not Verdict.PASS
    assert compared(found) == ['task', 'hazard', 'verdict']


def test_the_exception_of_the_reaction_says_why():
    assert completed(LATE)['reaction']['metadata']['exception'].startswith('FAIL: ')


def test_what_was_expected_and_what_came_are_the_same_text():
    """So that ARE's judge asks no language model."""
    trace = json.loads(text_of(PASSED))
    said = [event['action']['args'] for events in (trace['events'], trace['completed_events'])
            for event in events if event['event_id'] == 'reaction']
    assert said[0] == said[1]


@pytest.mark.parametrize(('latency_ms', 'in_time'), [(500, True), (500.001, False)])
def test_the_reaction_comes_as_long_after_the_hazard_as_was_judged(latency_ms, in_time):
    """At the exact limit ARE computes the same float as we do; it resolves 238 ns."""
    events = completed(record(reacting(latency_ms)))
    hazard_s, reaction_s = (events[name]['event_time'] for name in ('hazard', 'reaction'))
    assert reaction_s - hazard_s == pytest.approx(latency_ms / 1e3, abs=3e-7)
    assert (reaction_s <= hazard_s + 0.5) is in_time


def test_what_comes_after_the_reaction_does_not_push_it_back():
    """Times are strictly increasing, in the order of the file."""
    events = completed(record([*driving(-690, 150), *driving(150, 600, 0.0), *driving(600, 2500)]))
    latency_s = events['reaction']['event_time'] - events['hazard']['event_time']
    assert latency_s == pytest.approx(0.15, abs=3e-7)


def test_a_step_of_the_system_clock_moves_nothing():
    stepped = tuple(event.model_copy(update={'stamps': event.stamps.model_copy(
        update={'system_ns': event.stamps.system_ns + 10**12 * (index > 20)})})
        for index, event in enumerate(PASSED.events))
    found = completed(PASSED.model_copy(update={'events': stepped}))
    assert found['hazard']['event_time'] == completed(PASSED)['hazard']['event_time']


def test_a_command_that_violates_is_kept_beyond_any_bound():
    found = record([*RESTLESS[:4000], (-150, 1.5), (-149, 0.55), (100, 0.0)],
                   hazard(invariants=(SLOW,)))
    at_ms = [finding.at_ms for finding in evaluate(found).findings if finding.check == 'slow']
    assert at_ms == [-150.0]
    events = completed(found, most=10).values()
    said = [json.loads(event['action']['args'][0]['value']) for event in events]
    assert 1.5 in [one['data']['linear']['x'] for one in said if one.get('kind') == 'command']
    assert len(events) < 40


def test_feedback_is_bounded_too():
    feedback = [command(t_ms, speed, topic='odom', kind='feedback') for t_ms, speed in RESTLESS]
    found = record(reacting(150), extra=feedback)
    assert len(completed(found, most=10)) < 40


def test_the_verdict_counts_what_there_was():
    verdict = list(completed(PASSED).values())[-1]
    counts = json.loads(verdict['action']['args'][0]['value'])['counts']
    assert counts == evaluate(PASSED).counts


def test_the_task_holds_domain_severity_and_all_three_budgets():
    task = json.loads(completed(PASSED)['task']['action']['args'][0]['value'])
    assert (task['domain'], task['severity']) == ('robotic', 1.0)
    assert task['latency_budget'] == {'target_ms': 200.0, 'acceptable_ms': 350.0,
                                      'critical_ms': 500.0}


def test_a_robot_is_told_in_its_own_words():
    assert ('set_velocity', {'linear_x': '0.0', 'angular_z': '0.0'}) in calls_of(PASSED)
    assert calls_of(record([(100, trajectory(POINT))])) == [('move_joints', {
        'joints': '["a", "b"]', 'positions': '[0.1, 0.2]', 'velocities': '[0.0, 0.5]'})]
    assert calls_of(answered('stop', chat(SAYS))) == [('say', {'text': 'stop'})]


@for_each('message', [
    math.nan, math.inf, None, trajectory(POINT, POINT), trajectory(),
    trajectory({**POINT, 'positions': (math.nan,)}),
    Message(type='geometry_msgs/msg/Twist', data={
        'linear': {'x': 0.1, 'y': 0.2, 'z': 0.0}, 'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}}),
    Message(type='std_msgs/msg/Float64MultiArray', data={'data': (0.5,)})])
def test_what_a_typed_call_would_lose_is_published_whole(message):
    [(function, arguments)] = calls_of(record([(100, message)]))
    assert function == 'publish' and arguments['topic'] == 'cmd_vel'
    assert json.loads(arguments['json'])['kind'] == 'command'


@for_each('text', ['', '{{e1}}', 'stop\x00'])
def test_an_answer_that_are_would_misread_is_published_whole(text):
    [(function, arguments)] = calls_of(answered(text, chat(SAYS)))
    assert function == 'publish' and json.loads(arguments['json'])['text'] == text


def test_the_text_of_every_event_of_a_robot_is_what_it_returned():
    for name, event in completed(PASSED, 'robot').items():
        if name not in ('task', 'reaction'):
            assert isinstance(json.loads(event['metadata']['return_value']), dict)


@pytest.mark.parametrize('profile', ['portable', 'robot'])
def test_the_reader_gives_back_what_was_written_line_by_line(tmp_path, profile):
    path = tmp_path / 'trace.json'
    found = answered('\u2028 \x85 \r\n stop', chat(SAYS))
    path.write_text(text_of(found, profile), encoding='utf-8', newline='')
    events = completed(found, profile)
    read = list(read_are_events(path))
    assert [(one.event_id, one.event_type, one.time_s) for one in read] == [
        (name, event['event_type'], event['event_time']) for name, event in events.items()]
    answer = next(one for one in read if one.event_type == 'AGENT' and one.event_id != 'reaction')
    assert json.loads(answer.said)['text'] == '\u2028 \x85 \r\n stop'


def test_a_long_trace_is_written_in_short_pieces():
    """So that memory does not grow with its length."""
    pieces: list[str] = []

    class File(io.StringIO):

        def write(self, text: str) -> int:
            pieces.append(text)
            return len(text)

    found = record([*RESTLESS, (100, 0.0)])
    write_are(File(), found, evaluate(found), most=2 * len(RESTLESS))
    assert max(map(len, pieces)) < sum(map(len, pieces)) / 50


@pytest.mark.parametrize('cut', ['half', 'other', 'nothing', 'line'])
def test_a_file_that_is_no_whole_trace_is_refused(tmp_path, cut):
    path, text = tmp_path / 'trace.json', text_of(PASSED)
    path.write_text({'half': text[:len(text) // 2], 'other': '{}', 'nothing': '',
                     'line': text.rpartition('\n]')[0] + '\n'}[cut], encoding='utf-8')
    with pytest.raises(TraceError):
        list(read_are_events(path))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(TraceError):
        list(read_are_events(tmp_path / 'none.json'))


SEARCHES = Pattern(kind='tool_call', agents=('a2',), name='search')
MET = greets(1000), answers(1300), calls(1900, 'search')


def written(*events: Any, profile: Any = 'portable') -> tuple[Verdict, dict[str, Any]]:
    """Return the verdict and the trace of a run with two demands that one greeting makes."""
    record = record_of(block(expects(), expects(SEARCHES)), events)
    result, file = evaluate(record, words='patterns'), io.StringIO()
    write_are(file, record, result, profile)
    return result.verdict, json.loads(file.getvalue())


def test_a_demand_whose_turn_is_over_goes_on_in_the_next_with_the_time_that_is_left():
    _, trace = written(*MET)
    plan = {event['event_id']: (event['dependencies'], event['event_relative_time'])
            for event in trace['events']}
    assert plan['expect0'] == (['rule0.fired0'], 2.0)
    assert plan['before_expect1'] == (['expect0'], 0.0)
    assert plan['expect1'] == (['before_expect1'], 1.7)


@for_each('profile', ['portable', 'robot'])
@for_each('events', [MET, (MET[0], MET[2], answers(2500)), MET[:2], MET[:1], ()])
def test_no_answer_is_planned_at_the_time_of_its_trigger(profile, events):
    _, trace = written(*events, profile=profile)
    limits = [event['event_relative_time'] for event in trace['events']
              if event['event_type'] == 'AGENT']
    assert len(limits) == 2 and min(limits) >= 1e-6


def test_what_is_compared_stands_in_the_plan_of_a_pass_in_the_order_in_which_it_came():
    for events in (MET, (MET[0], calls(1100, 'search'), answers(1300))):
        verdict, trace = written(*events)
        assert verdict is Verdict.PASS
        compared = [event['event_id'] for event in trace['completed_events']
                    if not event['event_id'].endswith('env_expansion')
                    and (event['event_type'], event['action']['operation_type']) != (
                        'AGENT', 'READ')]
        assert compared == [event['event_id'] for event in trace['events']]


def test_our_own_reader_takes_the_trace(tmp_path):
    for place, events in enumerate((MET, MET[:1])):
        path = tmp_path / f'{place}.json'
        path.write_text(json.dumps(written(*events)[1]))
        assert load_scenarios([str(path)]).scenarios


def test_our_own_reader_takes_traces_with_operation_types_in_lower_case_too(tmp_path):
    path = tmp_path / 'old.json'
    path.write_text(json.dumps(written(*MET)[1]).replace('"WRITE"', '"write"'))
    assert not [one for one in load_scenarios([str(path)]).warnings if one.code == 'A101']
