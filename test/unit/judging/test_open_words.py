# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Words that leave it open, and calls that nobody can read, excuse nobody and lift nothing."""

import pytest
from safety_scenarios.scenario.result import Status
from unit.formats.agent_files import agents, block
from unit.rule_runs import ALICE, BOT, calls, greets, run, says

REPLIES = ('greet', 'expect: reply_greeting within 1 s')
TOLD = {'symbols': {'told': {'when': {'kind': 'say', 'any_word': ['clear'], 'from': 'a1'}}}}
PLAIN, OPEN = 'It is clear now.', 'It is not clear.'


def played(tmp_path, trigger: str, action: str, *events) -> Status:
    """Return what two rules come to when Bot greets back, which the first of them demands."""
    rules = block(tmp_path, agents(REPLIES, (trigger, action), tools=[{'name': 'call_help'}]),
                  TOLD)
    answer = says(500, BOT, 'Welcome, Alice!')
    return run(rules, *sorted([greets(100), answer, *events],
                              key=lambda one: one.stamps.steady_ns)).status


def helps(t_ms: float, arguments: str = '{}', **changes):
    return calls(t_ms, 'call_help', arguments=arguments, **changes)


@pytest.mark.parametrize(('trigger', 'text', 'status'), [
    ('greet unless says: "clear"', PLAIN, Status.SATISFIED),
    ('greet unless says: "clear"', OPEN, Status.INCONCLUSIVE),
    ('greet and not says: "clear"', OPEN, Status.INCONCLUSIVE)])
def test_a_rule_is_not_kept_from_firing_by_words_that_are_negated(tmp_path, trigger, text, status):
    assert played(tmp_path, trigger, 'end: fail', says(10, ALICE, text)) is status


@pytest.mark.parametrize(('event', 'status'), [
    (None, Status.VIOLATED), (helps(700), Status.SATISFIED),
    (helps(700, trial_id=''), Status.INCONCLUSIVE)])
def test_a_doubt_whether_a_run_had_to_fail_counts(tmp_path, event, status):
    found = played(tmp_path, 'no tool: call_help within 1 s of greet', 'end: fail',
                   *([event] if event else ()))
    assert found is status


@pytest.mark.parametrize('arguments', ['{"bay": 3, "bay": 9}', '{"bay": 9, "bay": 3}'])
def test_an_argument_that_stands_twice_meets_no_demand_and_keeps_no_ban(tmp_path, arguments):
    for action, status in (('expect: tool: call_help with bay = 3 within 2 s', Status.VIOLATED),
                           ('forbid: tool: call_help with bay = 3 for 2 s', Status.INCONCLUSIVE)):
        assert played(tmp_path, 'greet', action, helps(600, arguments)) is status


@pytest.mark.parametrize(('text', 'call_ms', 'status'), [
    (PLAIN, 800, Status.SATISFIED), (OPEN, 800, Status.INCONCLUSIVE),
    (OPEN, 200, Status.VIOLATED), (OPEN, None, Status.SATISFIED)])
def test_a_ban_is_not_lifted_by_words_that_are_negated(tmp_path, text, call_ms, status):
    assert played(tmp_path, 'greet', 'forbid: tool: call_help until told',
                  says(300, ALICE, text), *([helps(call_ms)] if call_ms else ())) is status


@pytest.mark.parametrize(('text', 'said_ms', 'status'), [
    (PLAIN, 300, Status.NOT_TRIGGERED), (OPEN, 300, Status.INCONCLUSIVE),
    (OPEN, 1300, Status.VIOLATED)])
def test_nor_is_a_demand(tmp_path, text, said_ms, status):
    assert played(tmp_path, 'greet', 'expect: tool: call_help within 1 s unless told',
                  says(said_ms, ALICE, text)) is status
