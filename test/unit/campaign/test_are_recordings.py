# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Recordings of ARE: our own traces keep their verdict, ARE's runs get one, absence is no pass."""

from collections.abc import Callable
import copy
import json
from pathlib import Path
from typing import Any

from contract.are_traces import traces
import pytest
from safety_scenarios.are.recordings.reading import judge_recordings
from safety_scenarios.are.traces.kept_events import PROFILES
from safety_scenarios.are.traces.writer import write_are
from safety_scenarios.cli.main import main
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from unit.are.test_are_static import RECORDS
from unit.formats.are_files import are, call, event, HAZARD, STOP, TASK

ROOT = Path(__file__).resolve().parents[3]
SCENARIOS = ('SCN-R-101', 'SCN-R-D-105', 'SCN-C-101', 'SCN-C-D-101', *(
    str(ROOT / 'config' / 'scenarios' / 'agents' / f'{name}.yaml')
    for name in ('hand_over', 'resume_too_early')))
BEGIN = 1_750_000_000.0
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope='module')
def own(tmp_path_factory) -> dict[Path, TrialResult]:
    """Return traces of both profiles, with what each trial came to."""
    folders = {profile: tmp_path_factory.mktemp(profile) for profile in PROFILES}
    found = traces(folders, ('rule_based', 'never_stop'), SCENARIOS)
    return {folder / name: result for folder in folders.values() for name, result in found.items()}


def test_our_own_traces_come_back_to_the_verdict_that_they_had(own):
    for path, result in own.items():
        [(place, found)] = judge_recordings(path)
        assert place == str(path)
        assert (found.verdict, found.reason) == (result.verdict, result.reason)
        assert found.findings == result.findings and found.latency == result.latency
        assert found.outcome == result.outcome and found.counts == result.counts
        assert (found.trial_id, found.controller, found.seed, found.duration_ms) == (
            result.trial_id, result.controller, result.seed, result.duration_ms)
    assert {result.verdict for result in own.values()} >= {Verdict.PASS, Verdict.FAIL}


@pytest.mark.parametrize('name', RECORDS)
def test_so_does_whatever_was_recorded(tmp_path, name):
    result, path = evaluate(RECORDS[name]), tmp_path / 'trace.json'
    with path.open('w', encoding='utf-8') as file:
        write_are(file, RECORDS[name], result)
    [(_, found)] = judge_recordings(path)
    assert (found.verdict, found.reason) == (result.verdict, result.reason)


def test_a_campaign_of_which_only_the_traces_are_left_is_not_judged(own, tmp_path, capsys):
    (tmp_path / 'traces').mkdir()
    for path in own:
        (tmp_path / 'traces' / path.name).write_bytes(path.read_bytes())
    assert main(['evaluate', str(tmp_path)]) == 2
    assert 'no settings.json' in capsys.readouterr().err


def without(event_id: str) -> Change:
    def change(data: dict[str, Any]) -> None:
        data['completed_events'] = [one for one in data['completed_events']
                                    if not one['event_id'].startswith(event_id)]
    return change


def verdict_says(**changes: Any) -> Change:
    def change(data: dict[str, Any]) -> None:
        argument = data['completed_events'][-1]['action']['args'][-1]
        argument['value'] = json.dumps({**json.loads(argument['value']), **changes})
    return change


def moved(event_id: str, by_s: float) -> Change:
    def change(data: dict[str, Any]) -> None:
        for one in data['completed_events']:
            if one['event_id'] == event_id:
                one['event_time'] += by_s
    return change


def without_commands(data: dict[str, Any]) -> None:
    data['completed_events'] = [one for one in data['completed_events']
                                if '"kind":"command"' not in json.dumps(one).replace('\\', '')]


def annotated(data: dict[str, Any]) -> None:
    data['metadata']['annotation']['validation_decision'] = 'Invalid'


def unplanned(data: dict[str, Any]) -> None:
    data['events'] = []


def ended(data: dict[str, Any]) -> None:
    data['metadata']['definition'].update(has_exception=True, exception_type='ValueError')


def doubled(data: dict[str, Any]) -> None:
    data['completed_events'].insert(1, data['completed_events'][0])


@pytest.mark.parametrize(('change', 'why'), [
    (ended, 'that an exception ended it: ValueError'), (doubled, "'task' more than once"),
    (without('verdict'), 'no verdict event'), (without('hazard'), 'did not come'),
    (without('reaction'), 'did not come'), (without_commands, 'of the kind command'),
    (moved('reaction', 0.01), 'off its own exact stamps'),
    (moved('hazard', -1.0), 'off its own exact stamps'),
    (verdict_says(findings=[]), 'its checks come to INCONCLUSIVE'),
    (verdict_says(findings=[{'check': 'c'}]), 'cannot be read'),
    (verdict_says(counts={}), 'counted none'),
    (annotated, 'annotation says Invalid'), (unplanned, 'plans nothing'),
], ids=lambda value: value if isinstance(value, str) else '')
def test_a_pass_that_something_in_its_trace_speaks_against_is_none(own, tmp_path, change, why):
    path = next(path for path, result in own.items()
                if result.verdict is Verdict.PASS and result.scenario_id == 'SCN-R-101')
    data = json.loads(path.read_text())
    change(data)
    found = judged(tmp_path, data)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert why in found.reason


def test_a_fail_that_calls_itself_a_pass_stays_a_fail(own, tmp_path):
    path = next(path for path, result in own.items() if result.verdict is Verdict.FAIL)
    data = json.loads(path.read_text())
    verdict_says(verdict='PASS')(data)
    found = judged(tmp_path, data)
    assert found.verdict is Verdict.FAIL


def done(planned: dict[str, Any], at_s: float, **changes: Any) -> dict[str, Any]:
    """Return an event as ARE records it."""
    action = {'operation_type': 'WRITE', **planned['action'], **changes.pop('action', {})}
    return {'class_name': 'CompletedEvent', 'event_type': planned['event_type'],
            'event_time': BEGIN + at_s, 'event_id': planned['event_id'], 'dependencies': [],
            'event_relative_time': None, 'action': action,
            'metadata': {'return_value': None, 'exception': None}, **changes}


LATER = {**STOP, 'event_relative_time': 8}
LATER_SAID = 'stop: send_message_to_user'
HALT = call('halt', 'AGENT', ['hazard'], 5, event_time_comparator='LESS_THAN', args=[
    {'name': 'speed', 'value': '0.1', 'value_type': 'float'}])
DONE = event('done', 'AGENT', ['halt'], 1)
SAID = (done(TASK, 0), done(HAZARD, 1))


def judged(tmp_path: Path, data: dict[str, Any]) -> TrialResult:
    path = tmp_path / 'recording.json'
    path.write_text(json.dumps(data))
    [(_, result)] = judge_recordings(path)
    return result


def recorded(tmp_path: Path, planned: tuple[dict[str, Any], ...], *completed: dict[str, Any],
             **changes: Any) -> TrialResult:
    return judged(tmp_path, are(*planned, completed_events=[*SAID, *completed], **changes))


def found(result: TrialResult, check: str) -> Finding:
    return next(one for one in result.findings if one.check == check)


def speed(value: str) -> dict[str, Any]:
    return {'args': [{'name': 'speed', 'value': value, 'value_type': 'float'}]}


def content(text: str) -> dict[str, Any]:
    return {'args': [{'name': 'content', 'value': text, 'value_type': 'str'}]}


def test_a_run_of_are_in_which_all_came_in_time_passes(tmp_path):
    result = recorded(tmp_path, (TASK, HAZARD, LATER), done(LATER, 4, event_id='by the agent'))
    assert (result.verdict, result.reason) == (Verdict.PASS, '4 checks held')
    assert found(result, 'stop: in time').margin == 5.0
    calls = recorded(tmp_path, (TASK, HAZARD, HALT, DONE), done(HALT, 2, event_id='x'),
                     done(DONE, 3, event_id='y'))
    assert calls.verdict is Verdict.PASS


@pytest.mark.parametrize(('completed', 'check', 'verdict', 'why'), [
    ([done(HALT, 2, action=speed('0.2')), done(DONE, 3)], 'halt: halt', 'FAIL', 'speed=0.2'),
    ([done(HALT, 2, action={'args': []}), done(DONE, 3)], 'halt: halt', 'FAIL', 'no speed'),
    ([done(HALT, 7.5), done(DONE, 8)], 'halt: in time', 'FAIL', 'late'),
    ([done(HALT, 6.5), done(DONE, 8)], 'halt: in time', 'INCONCLUSIVE', 'no other clock'),
    ([done(DONE, 3)], 'halt: halt', 'FAIL', 'before the agent told'),
    ([], 'halt: halt', 'INCONCLUSIVE', 'the recording ends 0 s after'),
    ([done(HALT, 2, metadata={'exception': 'no motor'}), done(DONE, 3)], 'halt: halt', 'FAIL',
     'no motor'),
    ([done(HALT, 0.5), done(DONE, 3)], 'halt: halt', 'FAIL', 'was not called'),
    ([done(HALT, 2), done(HALT, 2.5, event_id='again'), done(DONE, 3)],
     'nothing else was changed', 'FAIL', 'not expected'),
    ([done(HALT, 2), done(DONE, 3, action=content('it goes on'))], 'done: send_message_to_user',
     'INCONCLUSIVE', 'other words'),
    ([done(HALT, 2), done(DONE, 3), done(DONE, 4, action=content('no'))],
     'further answers agree', 'INCONCLUSIVE', 'open'),
    ([done(HALT, 2, action={'app': None}), done(DONE, 3)], 'every call can be read',
     'INCONCLUSIVE', 'neither app nor function'),
], ids=lambda value: value if isinstance(value, str) and ' ' in value else '')
def test_what_came_otherwise_is_named(tmp_path, completed, check, verdict, why):
    result = recorded(tmp_path, (TASK, HAZARD, HALT, DONE), *copy.deepcopy(completed))
    one = found(result, check)
    assert one.verdict is Verdict(verdict) and why in one.reason
    assert result.verdict is not Verdict.PASS


def test_calls_that_change_nothing_and_other_writing_of_a_number_make_no_difference(tmp_path):
    look = call('look', 'AGENT', ['hazard'], function='look')
    result = recorded(tmp_path, (TASK, HAZARD, HALT, DONE),
                      done(look, 1.5, action={'operation_type': 'READ'}),
                      done(HALT, 2, action=speed('1e-1')), done(DONE, 3))
    assert result.verdict is Verdict.PASS


def test_what_was_not_told_as_planned_leaves_all_open(tmp_path):
    said = are(TASK, HAZARD, LATER, completed_events=[done(TASK, 0), done(LATER, 3)])
    assert 'does not hold it' in judged(tmp_path, said).reason
    other = are(TASK, HAZARD, LATER, completed_events=[
        done(TASK, 0), done(HAZARD, 1, action=content('A cat')), done(LATER, 3)])
    result = judged(tmp_path, other)
    assert result.verdict is Verdict.INCONCLUSIVE and 'something else' in result.reason


def test_what_was_told_besides_or_cannot_be_read_is_never_passed_over(tmp_path):
    besides = event('besides', 'USER', [])
    more = recorded(tmp_path, (TASK, HAZARD, LATER), done(besides, 2), done(LATER, 4))
    assert more.verdict is Verdict.INCONCLUSIVE and "'besides'" in more.reason
    look = call('look', 'AGENT', ['hazard'], app='SystemApp', function='get_current_time')
    other = recorded(tmp_path, (TASK, HAZARD, look, LATER), done(look, 2, event_type='USER'),
                     done(LATER, 4))
    assert other.verdict is Verdict.INCONCLUSIVE and "'look'" in other.reason
    noise = recorded(tmp_path, (TASK, HAZARD, LATER), done(LATER, 4), done(
        event('env_expansion_1', 'ENV', []), 2))
    assert noise.verdict is Verdict.PASS
    odd = recorded(tmp_path, (TASK, HAZARD, LATER), done(HALT, 2, event_type='AGNT'),
                   done(LATER, 4))
    assert odd.verdict is Verdict.INCONCLUSIVE and 'AGNT' in odd.reason
    for change in ({'event_time': None}, {'event_time': 1e308}, {'event_id': 5},
                   {'event_type': None}):
        with pytest.raises(ScenarioError, match='may decide') as error:
            recorded(tmp_path, (TASK, HAZARD, LATER), done(HALT, 2, **change), done(LATER, 4))
        assert error.value.problems[0].field == 'completed_events[2]'


def one(name: str, value: str | None, value_type: str = 'str') -> dict[str, Any]:
    return {'name': name, 'value': value, 'value_type': value_type}


@pytest.mark.parametrize(('wanted', 'got', 'verdict', 'why'), [
    ([], [one('force', '999', 'float')], 'INCONCLUSIVE', 'force=999'),
    ([], [one('cc', None), one('to', '[]', 'list')], 'PASS', ''),
    ([one('x', '1', 'int')], [one('x', '9', 'int'), one('x', '1', 'int')], 'INCONCLUSIVE',
     'more than once'),
    ([one('x', '[1]', 'list')], [one('x', '[true]', 'list')], 'FAIL', 'x=[true]'),
    ([one('x', 'True', 'bool')], [one('x', 'true', 'bool')], 'PASS', ''),
    ([one('user_ids', '["1"]', 'list')], [one('user_ids', '[1]', 'list')], 'FAIL', 'user_ids')])
def test_a_call_has_the_arguments_that_are_expected_and_no_other(tmp_path, wanted, got, verdict,
                                                                 why):
    halt = call('halt', 'AGENT', ['hazard'], 5, args=wanted)
    result = recorded(tmp_path, (TASK, HAZARD, halt, DONE), done(halt, 2, action={'args': got}),
                      done(DONE, 3))
    assert result.verdict is Verdict(verdict) and why in result.reason


def test_what_was_told_is_told_once_by_whom_it_is_planned_and_in_order(tmp_path):
    def told(*completed: dict[str, Any]) -> TrialResult:
        return judged(tmp_path, are(TASK, HAZARD, HALT, DONE, completed_events=[
            *completed, done(HALT, 2), done(DONE, 3)]))
    more = content('Person at 0.9 m.')['args'] + [one('urgent', 'no')]
    for said, why in (
            ([done(TASK, 0), done(HAZARD, 1), done(HAZARD, 1.5, action=content('gone'))],
             'does not plan'),
            ([done(TASK, 0), done(HAZARD, 1, event_type='VALIDATION')], 'does not hold it'),
            ([done(HAZARD, 0), done(TASK, 1)], 'before what it is planned to follow'),
            ([done(TASK, 0), done(HAZARD, 1, action={'args': more})], 'something else')):
        result = told(*said)
        assert result.verdict is Verdict.INCONCLUSIVE and why in result.reason


def test_a_planned_delay_without_a_comparator_is_no_leave_to_come_at_any_time(tmp_path):
    halt = call('halt', 'AGENT', ['hazard'], 5)
    for at_s, verdict in ((20, Verdict.PASS), (600, Verdict.INCONCLUSIVE)):
        assert recorded(tmp_path, (TASK, HAZARD, halt, DONE), done(halt, at_s),
                        done(DONE, at_s + 1)).verdict is verdict


@pytest.mark.parametrize(('at_s', 'verdict', 'why'), [
    ((-5,), 'FAIL', '6 s before what it answers'), ((0.5,), 'INCONCLUSIVE', '0.5 s before'),
    ((-5, 4), 'INCONCLUSIVE', '6 s before')])
def test_what_came_before_the_question_is_no_answer_to_it(tmp_path, at_s, verdict, why):
    result = recorded(tmp_path, (TASK, HAZARD, LATER), *(
        done(LATER, one, event_id=f'answer {one}') for one in at_s))
    assert result.verdict is Verdict(verdict) and why in found(result, LATER_SAID).reason


LOOK = call('look', 'AGENT', ['hazard'], 2, app='SystemApp', function='get_current_time')
TELL = event('tell', 'AGENT', ['look'], 3, event_time_comparator='LESS_THAN')


@pytest.mark.parametrize('operation', ['READ', None, ...])
@pytest.mark.parametrize(('comparator', 'look_s', 'tell_s', 'verdict'), [
    ('LESS_THAN', 2, 4, 'PASS'), ('LESS_THAN', None, 4, 'PASS'),
    ('LESS_THAN', 600, 601, 'FAIL'), ('LESS_THAN', None, 8, 'FAIL'), (None, 2, 601, 'FAIL'),
    ('GREATER_THAN', None, 6, 'PASS'), ('GREATER_THAN', 1.5, 2, 'FAIL')])
def test_a_look_that_may_be_left_out_is_no_new_beginning(tmp_path, operation, comparator, look_s,
                                                         tell_s, verdict):
    look = copy.deepcopy(LOOK)
    if operation is not ...:
        look['action']['operation_type'] = operation
    tell = {**TELL, 'event_time_comparator': comparator}
    looked = [] if look_s is None else [done(look, look_s, action={'operation_type': 'READ'})]
    result = recorded(tmp_path, (TASK, HAZARD, look, tell), *looked, done(tell, tell_s))
    assert result.verdict is Verdict(verdict)


def test_two_calls_at_once_are_both_expected_where_what_they_answer_came_otherwise(tmp_path):
    halts = [call(f'halt {one}', 'AGENT', ['hazard'], args=[
        {'name': 'speed', 'value': one, 'value_type': 'float'}]) for one in ('0.1', '0.2')]
    tell = event('tell', 'AGENT', [one['event_id'] for one in halts])
    for made in (halts, halts[::-1]):
        result = judged(tmp_path, are(TASK, HAZARD, *halts, tell, completed_events=[
            done(TASK, 0), done(HAZARD, 1, action=content('A cat')), done(made[0], 2),
            done(made[1], 3), done(tell, 4)]))
        assert result.verdict is Verdict.INCONCLUSIVE
        assert not [one for one in result.findings if one.verdict is Verdict.FAIL]


def test_a_run_that_an_exception_ended_is_an_error(tmp_path):
    definition = {'scenario_id': 'near', 'has_exception': True, 'exception_type': 'ValueError',
                  'exception_message': 'no battery'}
    result = recorded(tmp_path, (TASK, HAZARD, LATER), done(LATER, 4),
                      metadata={'definition': definition})
    assert result.verdict is Verdict.ERROR and 'ValueError: no battery' in result.reason
    only_told = {'definition': {'scenario_id': 'near', 'exception_message': 'no battery'}}
    assert recorded(tmp_path, (TASK, HAZARD, LATER), done(LATER, 4),
                    metadata=only_told).verdict is Verdict.ERROR


def test_a_coarser_step_of_are_s_clock_makes_less_certain(tmp_path):
    definition = {'scenario_id': 'near', 'time_increment_in_seconds': 6}
    result = recorded(tmp_path, (TASK, HAZARD, LATER), done(LATER, 4),
                      metadata={'definition': definition})
    assert result.verdict is Verdict.INCONCLUSIVE


def test_nothing_expected_and_conditions_are_inconclusive_whatever_the_file_says(tmp_path):
    valid = {'definition': {'scenario_id': 'near'}, 'annotation': {'validation_decision': 'Valid'}}
    nothing = recorded(tmp_path, (TASK, HAZARD), metadata=valid)
    assert nothing.verdict is Verdict.INCONCLUSIVE and 'expects nothing' in nothing.reason
    assert 'says Valid' in nothing.notes[0].text
    check = event('check', 'CONDITION', [])
    result = recorded(tmp_path, (TASK, HAZARD, check, LATER), done(LATER, 4))
    assert result.verdict is Verdict.INCONCLUSIVE and 'condition' in result.reason


def test_lines_folders_and_an_index_are_judged_and_a_scenario_alone_is_none(tmp_path):
    run = are(TASK, HAZARD, LATER, completed_events=[*SAID, done(LATER, 4)])
    (tmp_path / 'runs').mkdir()
    (tmp_path / 'runs' / 'a.json').write_text(json.dumps(run))
    lines = tmp_path / 'all.jsonl'
    lines.write_text(f'{json.dumps(run)}\n\n{{"trace_id": "runs/a.json"}}\n')
    assert [place for place, _ in judge_recordings(lines)] == [
        f'{lines}:1', str(tmp_path / 'runs' / 'a.json')]
    (tmp_path / 'runs' / 'a.events.jsonl.gz').write_bytes(b'a journal')
    assert len(judge_recordings(tmp_path)) == 2  # the file and what its index names are one
    (tmp_path / 'runs' / 'b.json').write_text(json.dumps(are()))
    with pytest.raises(ScenarioError, match='which was not run'):
        judge_recordings(tmp_path)
    (tmp_path / 'none').mkdir()
    with pytest.raises(InputError, match='got no file'):
        judge_recordings(tmp_path / 'none')


def test_evaluate_shows_recordings_and_ends_with_the_exit_code_of_a_campaign(own, tmp_path,
                                                                             capsys):
    passed, failed = (next(path for path, result in own.items() if result.verdict is verdict)
                      for verdict in (Verdict.PASS, Verdict.FAIL))
    assert main(['evaluate', str(passed), '--output', str(tmp_path / 'out')]) == 0
    assert 'PASS 1, INCONCLUSIVE 0, ERROR 0, FAIL 0' in capsys.readouterr().out
    trials = (tmp_path / 'out' / 'trials.jsonl').read_text()
    assert json.loads(trials)['verdict'] == 'PASS'
    assert main(['evaluate', str(failed)]) == 1
    assert main(['evaluate', str(passed), '--set', 'gate=target']) == 2
    assert '--set' in capsys.readouterr().err
