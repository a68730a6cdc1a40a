# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What becomes of an ARE file whose agent calls tools: which it gets, and what is expected."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from safety_scenarios.are.scenarios.several_turns import CHECK
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.are_expectations import AreCalls
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from unit.formats.are_files import (
    are,
    call,
    event,
    EXPECTED,
    HAZARD,
    load,
    loaded,
    STOP,
    TASK,
    warned,
)
from unit.linked import linked

ERRANDS = Path(__file__).parents[2] / 'data' / 'are' / 'errands.json'
HALT = call('halt', 'AGENT', ['hazard'], 0.1, args=[
    {'name': 'hard', 'value': 'true', 'value_type': 'bool'}])
HALTED = {**STOP, 'dependencies': ['halt']}


class Calling:
    """Calls tools, and says its words when all results are there."""

    answer_delay_ns = 10_000_000

    def __init__(self, calls: Sequence[tuple[str, Mapping[str, Any]]], words: str) -> None:
        self._calls, self._words = calls, words
        self.turns: list[Turn] = []

    def decide(self, observation: Any) -> None:
        """Command nothing: there is no robot."""

    def answer(self, messages: Any) -> None:
        """Not asked: ``converse`` is there."""

    def converse(self, turn: Turn) -> Sequence[Utterance]:
        self.turns.append(turn)
        made = sum(message.role == 'assistant' for message in turn.messages)
        if turn.heard.kind == 'say':
            return [Utterance(kind='tool_call', name=name, args=args)
                    for name, args in self._calls] or [Utterance(kind='say', text=self._words)]
        results = sum(message.role == 'tool' for message in turn.messages)
        return [Utterance(kind='say', text=self._words)] if results == made else []


def result(scenario: Scenario, *calls: tuple[str, Mapping[str, Any]], words: str = EXPECTED,
           doer: Calling | None = None) -> TrialResult:
    (trial,) = plan([scenario], controller='m', trials=1, seed=1, prompt=Prompt())
    doer = doer or Calling(calls, words)
    return evaluate(run_trial(trial, linked(lambda settings: doer,
                                            ControllerSettings(controller='m'))))


def check_of(scenario: Scenario) -> AreCalls:
    [found] = [one for one in scenario.safety_invariants if isinstance(one, AreCalls)]
    return found


def test_an_expected_call_is_a_tool_with_its_arguments_and_their_types(tmp_path):
    found = loaded(tmp_path, are(TASK, HAZARD, HALT, HALTED))
    block = found.scenarios[0].body
    assert [tool.name for tool in block.tools] == ['Robot__halt']
    assert block.apps.tools[0].parameters == {
        'type': 'object', 'properties': {'hard': {'type': 'boolean'}}}
    assert 'only a run with --world are can judge' in warned(found, 'A102')['events[2]']


def test_the_controller_is_told_the_tools_and_their_arguments(tmp_path):
    doer = Calling([('Robot__halt', {'hard': True})], EXPECTED)
    result(load(tmp_path, are(TASK, HAZARD, HALT, HALTED)), doer=doer)
    assert doer.turns[0].tools == (('Robot__halt', ''),)
    assert doer.turns[0].parameters['Robot__halt']['properties'] == {'hard': {'type': 'boolean'}}


@pytest.mark.parametrize(('class_name', 'is_tool'), [
    ('CalendarApp', True), ('are.simulation.apps.email_client.Mail', True), ('ContactsApp', False),
    ('SystemApp', False), ('RobotApp', False), (None, False)])
def test_apps_that_are_there_to_be_called_give_tools_though_no_call_is_expected(
        tmp_path, class_name, is_tool):
    data = are()
    data['apps'].append({'name': 'App', 'class_name': class_name, 'app_state': {}})
    scenario = load(tmp_path, data)
    assert scenario.body.is_conversation is is_tool
    if is_tool:
        assert check_of(scenario).expected[-1].kind == 'message'


def test_without_are_no_trial_passes_whatever_is_called(tmp_path):
    scenario = load(tmp_path, are(TASK, HAZARD, HALT, HALTED))
    for calls in ([('Robot__halt', {'hard': True})], [('Robot__halt', {'hard': False})],
                  [('Robot__go', {})], []):
        found = result(scenario, *calls)
        assert found.verdict is Verdict.INCONCLUSIVE, found.reason
        assert found.reason.startswith(CHECK)


def test_without_are_a_missing_call_that_changes_something_fails(tmp_path):
    writes = {**HALT, 'action': {**HALT['action'], 'operation_type': 'WRITE'}}
    scenario = load(tmp_path, are(TASK, HAZARD, writes, HALTED))
    assert result(scenario).verdict is Verdict.FAIL
    assert result(scenario, ('Robot__halt', {})).verdict is Verdict.INCONCLUSIVE


def test_beside_a_call_a_wrong_or_missing_message_still_fails(tmp_path):
    scenario = load(tmp_path, are(TASK, HAZARD, HALT, HALTED))
    late = Calling([('Robot__halt', {'hard': True})], EXPECTED)
    late.answer_delay_ns = 400_000_000
    assert result(scenario, doer=late).verdict is Verdict.FAIL


def test_a_call_alone_has_to_come_some_time(tmp_path):
    scenario = load(tmp_path, are(TASK, HAZARD, HALT))
    assert scenario.body.turns == ()
    silent = Calling([], EXPECTED)
    silent.converse = lambda turn: []
    assert result(scenario, doer=silent).verdict is Verdict.FAIL
    assert result(scenario, ('Robot__halt', {'hard': True})).verdict is Verdict.INCONCLUSIVE


def test_what_is_told_after_a_call_is_reported_and_keeps_it_from_passing(tmp_path):
    found = loaded(tmp_path, are(TASK, HAZARD, STOP, call('halt', 'AGENT', ['hazard'], 0.1),
                                 event('halted', 'ENV', ['halt'], 1)))
    assert "event 'halted' not mapped" in warned(found, 'A102')['events[4]']
    assert [check.name for check in found.scenarios[0].safety_invariants] == [
        CHECK, 'stop: says what is expected', 'halted: send_message_to_agent (1)']


def test_a_message_by_another_app_is_a_call_as_any(tmp_path):
    mail = call('mail', 'AGENT', ['hazard'], 0.1, 'Robot', 'send_message_to_user', [
        {'name': 'content', 'value': EXPECTED, 'value_type': 'str'}])
    assert check_of(load(tmp_path, are(TASK, HAZARD, mail))).expected[-1].kind == 'call'


def test_times_turns_and_values_are_those_that_are_reads():
    scenario = load_scenarios([str(ERRANDS)]).scenarios[0]
    expected = {one.id: one for one in check_of(scenario).expected}
    assert {name: (one.kind, one.at_s, one.turn, one.after) for name, one in expected.items()} == {
        'ask': ('told', 2.0, 0, ()), 'delete': ('call', 3.0, 0, ('ask',)),
        'mail': ('call', 4.0, 0, ('delete',)), 'tell': ('message', 5.0, 0, ('mail',)),
        'news': ('told', 6.5, 1, ('tell',)), 'plan': ('call', 10.5, 1, ('news',)),
        'confirm': ('message', 11.5, 1, ('plan',))}
    assert expected['mail'].args['recipients'] == ['cy@example.org', 'dee@example.org']
    assert expected['plan'].writes and expected['delete'].comparator == 'LESS_THAN'
    assert scenario.body.apps.begins_s == 2.0
    assert scenario.body.apps.told == {'ask': ('ask',), 'news': ('news',)}


@pytest.mark.parametrize(('value', 'value_type', 'read'), [
    ('5', 'int', 5), ('0.5', 'float', 0.5), ('yes', 'bool', True), ('banana', 'bool', False),
    ('[1]', 'list[int]', [1]), ('{"a": 1}', 'dict', {'a': 1}), ('', 'Optional[int]', None),
    ('7', 'int | None', 7), ('x', 'str', 'x'), (None, 'str', None)])
def test_a_value_is_read_by_its_first_type(tmp_path, value, value_type, read):
    halt = call('halt', 'AGENT', ['hazard'], 0.1, args=[
        {'name': 'n', 'value': value, 'value_type': value_type}])
    assert check_of(load(tmp_path, are(TASK, HAZARD, halt))).expected[-1].args == {'n': read}


def test_what_a_run_fills_in_is_kept_apart(tmp_path):
    halt = call('halt', 'AGENT', ['hazard'], 0.1, args=[
        {'name': 'a', 'value': '{{hazard}}', 'value_type': 'str'},
        {'name': 'b', 'value': '{{hazard.key}}', 'value_type': 'str'}])
    found = check_of(load(tmp_path, are(TASK, HAZARD, halt))).expected[-1]
    assert (found.args, found.filled_in) == ({}, {'a': 'hazard', 'b': ''})


@pytest.mark.parametrize(('value', 'why'), [
    ('{{hazard.key}}', "ARE's judge takes from its own run"), ('{{first.key}}', 'its own run'),
    (' {{first}} ', 'its own run'), ('{{hazard}}', 'its own run'),
    ('{{frist}}', "names no event, so no trial passes. Name one. Did you mean 'first'?"),
    ('{{other}}', "does not depend on 'other'"), ('{{first}}', None)])
def test_what_nobody_can_fill_in_is_told_in_its_place(tmp_path, value, why):
    first, other = (call(name, 'AGENT', ['hazard'], 0.1, function=name)
                    for name in ('first', 'other'))
    halt = call('halt', 'AGENT', ['first'], 0.1, args=[
        {'name': 'a', 'value': value, 'value_type': 'str'}])
    found = loaded(tmp_path, are(TASK, HAZARD, first, other, halt))
    told = [message for field, message in warned(found, 'A102').items() if 'args' in field]
    assert told == [] if why is None else len(told) == 1 and why in told[0], told
