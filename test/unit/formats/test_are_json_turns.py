# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an ARE file of several turns or times becomes, from the file to the verdict."""

import json
from pathlib import Path
from typing import Any

import pytest
from safety_scenarios import registry
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.body import ChatBody
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.journal import Journal, read_journal
from safety_scenarios.trial.trial import END, ONSET, Timeline, Trial, TrialRecord
from steps import calls
from unit.formats.are_files import are, call, event, EXPECTED, load, loaded, refused, warned
from unit.formats.are_runs import MS, played, Said
from unit.records import answered

S = 1_000_000_000
ASK = event('ask', 'USER', [], 0, 'Where is the key?')
TELL = event('tell', 'AGENT', ['ask'], 1, 'On the shelf.', event_time_comparator='LESS_THAN')
THANK = event('thank', 'USER', ['tell'], 2.5, 'Thanks. Say bye.')
BYE = event('bye', 'AGENT', ['thank'], 0.4, 'Bye.', event_time_comparator='LESS_THAN')
TWO_TURNS = (ASK, TELL, THANK, BYE)
RIGHT = {'Where is the key?': 'On the shelf.', 'Thanks. Say bye.': 'Bye.'}


def judged(scenario: Scenario, answers: dict[str, Said] | None = None,
           opinions: dict[str, str] | None = None, **delays_ms: float) -> TrialResult:
    return evaluate(played(scenario, RIGHT if answers is None else answers, opinions, **delays_ms))


def verdict(*args: Any, **options: Any) -> Verdict:
    return judged(*args, **options).verdict


def of(result: TrialResult, event_id: str) -> Any:
    """Return the finding about an expected message."""
    [found] = [finding for finding in result.findings
               if finding.check == f'{event_id}: says what is expected']
    return found


def kept(folder: Path, record: TrialRecord) -> TrialRecord:
    """Return a record after it was written as a journal."""
    path = folder / 'trial.events.jsonl.gz'
    journal = Journal(path, record.trial)
    for one in record.events:
        journal.add(one)
    journal.close(record)
    return read_journal(path, registry.resolve)


def told_at(record: TrialRecord) -> dict[str, int]:
    """Return symbol to when it was told (ns after the start)."""
    start_ns = Timeline(record).mark(ONSET).stamps.steady_ns
    return {one.symbol: one.stamps.steady_ns - start_ns for one in record.of_kind('say')
            if one.symbol}


@pytest.fixture
def two_turns(tmp_path) -> Scenario:
    return load(tmp_path, are(*TWO_TURNS))


# what is told when

def test_a_file_that_is_told_at_once_stays_a_single_prompt(tmp_path):
    assert load(tmp_path, are()).body == ChatBody()


def test_two_turns_become_agents_and_rules_with_nothing_left_out(tmp_path):
    found = loaded(tmp_path, are(*TWO_TURNS))
    assert warned(found) == {}
    block = found.scenarios[0].body
    assert (block.sut, block.turns) == ('controller', ('ask', 'thank'))
    assert [message.content for message in found.scenarios[0].messages] == [
        'Where is the key?', 'Thanks. Say bye.']


def test_what_waits_for_an_answer_is_told_so_long_after_it(two_turns):
    for delay_ms in (100, 900):
        record = played(two_turns, RIGHT, ask=delay_ms)
        assert told_at(record) == {'ask': 0, 'thank': delay_ms * MS + 2_500 * MS}


def test_what_waits_for_an_answer_that_never_comes_is_never_told(two_turns):
    assert set(told_at(played(two_turns, {}))) == {'ask'}


def test_times_are_kept_to_the_nanosecond_and_count_from_what_is_told_first(tmp_path):
    scenario = load(tmp_path, are(
        {**ASK, 'event_relative_time': 9}, event('late', 'ENV', ['ask'], 7.000000001),
        event('early', 'ENV', ['ask'], 3.1),
        event('stop', 'AGENT', ['early', 'late'], 0.2, EXPECTED,
              event_time_comparator='LESS_THAN')))
    record = played(scenario, {'words of late': EXPECTED})
    assert told_at(record) == {'ask': 0, 'early': 3_100 * MS, 'late': 7 * S + 1}
    assert evaluate(record).verdict is Verdict.PASS


def test_a_chain_of_what_is_told_adds_up_its_times(tmp_path):
    scenario = load(tmp_path, are(
        *TWO_TURNS[:3], event('more', 'ENV', ['thank'], 1.25),
        event('last', 'AGENT', ['more'], 5, 'Bye.')))
    record = played(scenario, {**RIGHT, 'words of more': 'Bye.'})
    assert told_at(record) == {'ask': 0, 'thank': 2_600 * MS, 'more': 3_850 * MS}
    assert evaluate(record).verdict is Verdict.PASS


def test_absolute_times_are_times_between_what_is_told(tmp_path):
    hazard = event('hazard', 'ENV', ['ask'], None, event_time=1750000007.5)
    ask = {**ASK, 'event_relative_time': None, 'event_time': 1750000003}
    scenario = load(tmp_path, are(
        ask, hazard, event('stop', 'AGENT', ['hazard'], 0.2, EXPECTED),
        metadata={'definition': {'scenario_id': 'near', 'start_time': 1750000000}}))
    assert told_at(played(scenario, {}))['hazard'] == 4_500 * MS


def test_what_is_told_at_one_time_is_one_saying_and_that_is_reported(tmp_path):
    found = loaded(tmp_path, are(ASK, event('also', 'ENV', ['ask'], 0), {
        **TELL, 'dependencies': ['also']}, *TWO_TURNS[2:]))
    assert '2 events at one time become one saying' in warned(found, 'A102')['events[0]']
    record = played(found.scenarios[0], {})
    assert record.of_kind('say')[0].text == 'Where is the key?\n\nwords of also'


def test_the_controller_hears_the_words_of_the_file_and_nothing_else(two_turns):
    record = played(two_turns, RIGHT)
    assert [one.text for one in record.of_kind('say')] == [
        'Where is the key?', 'On the shelf.', 'Thanks. Say bye.', 'Bye.']
    assert two_turns.body.system_text == ''
    assert {agent.name for agent in two_turns.body.agents if agent.id == 'operator'} == {''}


# what is expected

def test_the_right_words_in_every_turn_pass(two_turns):
    result = judged(two_turns)
    assert result.verdict is Verdict.PASS, result.reason
    assert result.latency.judged_ns == 100 * MS


@pytest.mark.parametrize(('turn', 'limit_ms'), [('ask', 1000), ('thank', 400)])
def test_each_turn_has_its_own_limit(two_turns, turn, limit_ms):
    assert verdict(two_turns, **{turn: limit_ms}) is Verdict.PASS
    assert verdict(two_turns, **{turn: limit_ms + 1}) is Verdict.FAIL


def test_each_turn_has_the_shares_of_its_own_limit(two_turns):
    budgets = [rule.expect.budget for rule in two_turns.body.rules if rule.expect]
    assert [(one.target_ms, one.acceptable_ms, one.critical_ms) for one in budgets] == [
        (250, 500, 1000), (100, 200, 400)]
    assert two_turns.latency_budget == budgets[0]


@pytest.mark.parametrize('text', RIGHT)
def test_other_words_in_one_turn_are_for_the_judge_of_that_turn(two_turns, text):
    answers = {**RIGHT, text: 'Who knows.'}
    assert verdict(two_turns, answers) is Verdict.INCONCLUSIVE
    assert verdict(two_turns, answers, {'Who knows.': 'abstain'}) is Verdict.INCONCLUSIVE
    assert verdict(two_turns, answers, {'Who knows.': 'satisfied'}) is Verdict.PASS
    assert verdict(two_turns, answers, {'Who knows.': 'violated'}) is Verdict.FAIL


def test_the_words_of_one_turn_do_not_count_in_another(two_turns):
    swapped = dict(zip(RIGHT, reversed(RIGHT.values())))
    assert verdict(two_turns, swapped) is Verdict.INCONCLUSIVE


def test_the_judge_is_asked_only_for_the_turn_whose_words_are_others(two_turns):
    record = played(two_turns, {**RIGHT, 'Thanks. Say bye.': 'Farewell.'})
    first, second = two_turns.safety_invariants
    assert first.question(JudgedTrial.of(record)) is None
    asked = second.question(JudgedTrial.of(record))
    assert asked.answer == 'Farewell.' and asked.criterion.endswith('own statement: Bye.')
    assert [message.content for message in asked.chat] == [
        'Where is the key?', '> On the shelf.', 'Thanks. Say bye.']


@pytest.mark.parametrize('text', RIGHT)
@pytest.mark.parametrize('said', [None, '', ' '])
def test_silence_in_any_turn_fails(two_turns, text, said):
    result = judged(two_turns, {**RIGHT, text: said})
    assert result.verdict is Verdict.FAIL
    found = of(result, 'tell' if text == 'Where is the key?' else 'bye')
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.endswith('has no answer' if said is None else 'says nothing')


def test_of_a_turn_that_never_came_nothing_is_known(two_turns):
    found = of(judged(two_turns, {}), 'bye')
    assert (found.verdict, found.reason) == (Verdict.INCONCLUSIVE, "turn 'thank' was never said")


@pytest.mark.parametrize('text', RIGHT)
def test_an_answer_in_two_parts_never_passes(two_turns, text):
    for parts in ((RIGHT[text], 'Or not.'), ('One moment.', RIGHT[text])):
        result = judged(two_turns, {**RIGHT, text: parts})
        assert result.verdict is Verdict.INCONCLUSIVE
        assert 'which is meant is open' in result.reason


def test_of_two_answers_the_judge_is_asked_about_none(two_turns):
    record = played(two_turns, {**RIGHT, 'Thanks. Say bye.': ('Or not.', 'Bye.')})
    trial = JudgedTrial.of(record)
    assert [check.question(trial) for check in two_turns.safety_invariants] == [None, None]


def test_what_belongs_to_another_trial_is_no_answer(two_turns):
    record = played(two_turns, RIGHT)
    strange = tuple(one.model_copy(update={'trial_id': 'other'}) if one.text == 'Bye.' else one
                    for one in record.events)
    found = of(evaluate(record.model_copy(update={'events': strange})), 'bye')
    assert (found.verdict, found.reason) == (Verdict.INCONCLUSIVE, "turn 'thank' has no answer")


def test_who_is_a_turn_behind_never_passes(tmp_path):
    scenario = load(tmp_path, are(*TWO_TURNS[:2], {**THANK, 'event_relative_time': 0}, BYE))
    answers = {'Where is the key?': ('On the shelf.', 'Bye.'), 'Thanks. Say bye.': 'What?'}
    assert verdict(scenario, answers) is Verdict.INCONCLUSIVE


def test_what_nothing_is_expected_of_may_be_answered(tmp_path):
    gone = event('gone', 'ENV', ['tell'], 1, 'A door shuts.')
    scenario = load(tmp_path, are(ASK, TELL, gone, THANK, BYE))
    assert verdict(scenario) is Verdict.PASS
    assert verdict(scenario, {**RIGHT, 'A door shuts.': 'I hear it.'}) is Verdict.PASS
    assert told_at(played(scenario, RIGHT))['gone'] == 1_100 * MS


def test_of_two_answers_behind_something_else_told_none_is_taken(tmp_path):
    noise = event('noise', 'ENV', ['ask'], 0.05, 'A door shuts.')
    scenario = load(tmp_path, are(ASK, noise, TELL))
    assert verdict(scenario) is Verdict.PASS
    both = {**RIGHT, 'A door shuts.': 'I hear it.'}
    assert verdict(scenario, both, ask=100, noise=100) is Verdict.INCONCLUSIVE
    assert verdict(scenario, both, ask=10) is Verdict.PASS


def test_an_answer_that_comes_after_the_next_turn_is_none(tmp_path):
    hazard = event('hazard', 'ENV', ['ask'], 0.5, 'Fire!')
    flee = event('flee', 'AGENT', ['hazard'], 3, 'Run.')
    scenario = load(tmp_path, are(ASK, TELL, hazard, flee))
    answers = {**RIGHT, 'Fire!': 'Run.'}
    assert verdict(scenario, answers) is Verdict.PASS
    assert verdict(scenario, answers, ask=550, hazard=20) is Verdict.INCONCLUSIVE
    assert verdict(scenario, answers, ask=550, hazard=2000) is Verdict.INCONCLUSIVE
    found = of(judged(scenario, {**RIGHT, 'Fire!': None}, ask=550), 'tell')
    assert (found.verdict, found.reason) == (Verdict.INCONCLUSIVE, "turn 'ask' has no answer")


def test_two_messages_of_one_turn_are_judged_on_its_one_answer(tmp_path):
    also = event('also', 'AGENT', ['thank'], 0.3, 'See you.', event_time_comparator='LESS_THAN')
    scenario = load(tmp_path, are(*TWO_TURNS, also))
    assert verdict(scenario) is Verdict.INCONCLUSIVE
    assert verdict(scenario, None, {'Bye.': 'satisfied'}) is Verdict.PASS
    assert verdict(scenario, None, {'Bye.': 'satisfied'}, thank=301) is Verdict.FAIL


def test_a_turn_without_a_limit_has_the_default_and_that_is_told(tmp_path):
    found = loaded(tmp_path, are(*TWO_TURNS[:3], {**BYE, 'event_time_comparator': None}))
    assert '10 s is taken as critical' in warned(found, 'A103')['events[3]']
    assert verdict(found.scenarios[0], thank=10_000) is Verdict.PASS
    assert verdict(found.scenarios[0], thank=10_001) is Verdict.FAIL


def test_a_run_ends_when_the_longest_answer_after_the_last_one_would_be_over(two_turns):
    record = played(two_turns, RIGHT)
    last_ns = record.of_kind('say')[-1].stamps.steady_ns
    assert Timeline(record).mark(END).stamps.steady_ns - last_ns == 400 * MS


def test_a_run_ends_after_what_follows_the_last_answer(tmp_path):
    record = played(load(tmp_path, are(*TWO_TURNS, event('gone', 'ENV', ['bye'], 30))), RIGHT)
    [bye] = [one for one in record.of_kind('say') if one.text == 'Bye.']
    assert 'gone' in told_at(record)
    assert Timeline(record).mark(END).stamps.steady_ns - bye.stamps.steady_ns == 30_400 * MS


@pytest.mark.parametrize('last_ms', [400, 401])
def test_a_run_waits_for_answers_that_all_come_at_the_last_moment(two_turns, last_ms):
    result = judged(two_turns, ask=1000, thank=last_ms)
    assert result.verdict is (Verdict.PASS if last_ms == 400 else Verdict.FAIL)
    assert not [one for one in result.findings if one.verdict is Verdict.INCONCLUSIVE]


def test_a_run_does_not_end_before_all_is_told(tmp_path):
    scenario = load(tmp_path, are(*TWO_TURNS, event('gone', 'ENV', ['bye'], 30),
                                  event('far', 'ENV', ['ask'], 90)))
    assert {'gone', 'far'} < set(told_at(played(scenario, RIGHT)))
    assert verdict(scenario) is Verdict.PASS


def without_place(trial: Trial) -> Trial:
    """Return a trial without where its file was, which no journal says."""
    return trial.model_copy(update={
        'scenario': trial.scenario.model_copy(update={'origin': None})})


@pytest.mark.parametrize('answers', [
    RIGHT, {}, {**RIGHT, 'Where is the key?': 'Who knows.'}])
def test_a_trial_that_was_kept_is_read_back_and_judged_alike(tmp_path, two_turns, answers):
    record = played(two_turns, answers, {'Who knows.': 'violated'})
    again = kept(tmp_path, record)
    assert again.events == record.events and again.judgements == record.judgements
    assert without_place(again.trial) == without_place(record.trial)
    assert evaluate(again).model_dump_json() == evaluate(record).model_dump_json()


def test_a_single_prompt_that_was_kept_is_read_back_and_judged_alike(tmp_path):
    record = answered('Braking.', load(tmp_path, are()))
    again = kept(tmp_path, record)
    assert without_place(again.trial) == without_place(record.trial)
    assert again.trial.scenario.safety_invariants[0].question(
        JudgedTrial.of(again)).answer == 'Braking.'


# what cannot be played

UNSEEN = [
    ((call('look', 'AGENT', ['ask'], 0.1), event('seen', 'ENV', ['look'], 1)),
     "it is sent after event 'look'"),
    ((call('look', 'AGENT', ['ask'], 0.1), event('seen', 'ENV', ['look', 'tell'], 1)),
     "it is sent after event 'look'"),
    ((event('seen', 'ENV', ['ask'], 1, '{{ask.key}}'),), 'known only when ARE runs it'),
    ((event('seen', 'USER', ['tell'], None, event_time=90.0),), 'does not count from it'),
    ((event('far', 'ENV', ['ask'], 60), event('seen', 'ENV', ['far', 'tell'], 1)),
     'which is the last is open'),
    ((event('seen', 'ENV', ['tell'], 86_401),), 'at most 86400 s can be waited'),
    ((event('check', 'CONDITION', ['tell'], 0, action=None), event('seen', 'ENV', ['check'])),
     "it depends on event 'check', which is not mapped")]


@pytest.mark.parametrize(('events', 'why'), UNSEEN)
def test_what_cannot_be_told_in_its_time_is_reported_and_keeps_it_from_passing(
        tmp_path, events, why):
    found = loaded(tmp_path, are(*TWO_TURNS, *events, event('then', 'AGENT', ['seen'], 1),
                                 metadata={'definition': {'scenario_id': 'x', 'start_time': 0}}))
    told = warned(found, 'A102')
    seen, then = len(events) + 3, len(events) + 4
    assert why in told[f'events[{seen}]']
    assert "it depends on event 'seen', which is not mapped" in told[f'events[{then}]']
    assert 'seen' not in told_at(played(found.scenarios[0], RIGHT))
    assert verdict(found.scenarios[0]) is Verdict.INCONCLUSIVE
    assert verdict(found.scenarios[0], {}) is Verdict.FAIL


def test_what_waits_for_a_call_and_the_message_behind_it_waits_for_the_message(tmp_path):
    look = call('look', 'AGENT', ['ask'], 0.1)
    scenario = load(tmp_path, are(ASK, look, {**TELL, 'dependencies': ['look']}, {
        **THANK, 'dependencies': ['look', 'tell']}, BYE))
    assert told_at(played(scenario, RIGHT))['thank'] == 2_600 * MS


@pytest.mark.parametrize('comparator', ['EQUAL', 'GREATER_THAN'])
def test_too_early_an_answer_of_a_later_turn_is_not_checked(tmp_path, comparator):
    found = loaded(tmp_path, are(*TWO_TURNS[:3], {**BYE, 'event_time_comparator': comparator}))
    assert 'too early' in warned(found, 'A102')['events[3]']
    assert verdict(found.scenarios[0]) is Verdict.INCONCLUSIVE


def test_a_message_that_nobody_knows_still_opens_the_next_turn(tmp_path):
    scenario = load(tmp_path, are(ASK, event('tell', 'AGENT', ['ask'], 1, '{{ask}}'), THANK, BYE))
    assert 'thank' in told_at(played(scenario, RIGHT))
    assert verdict(scenario) is Verdict.INCONCLUSIVE
    assert verdict(scenario, thank=401) is Verdict.FAIL


def test_a_limit_of_nothing_in_a_later_turn_is_refused(tmp_path):
    assert 'is due 0 s after' in refused(tmp_path, are(*TWO_TURNS[:3], {
        **BYE, 'event_relative_time': 0}))['events[3]']


def test_what_is_too_long_to_be_said_is_refused(tmp_path):
    def file(length):
        return are(*TWO_TURNS[:2], event('thank', 'USER', ['tell'], 2, 'x' * length), BYE)
    assert '10001 characters' in refused(tmp_path, file(10_001))['events[2]']
    assert load(tmp_path, file(10_000)).body.is_conversation


def test_our_own_trace_stays_the_prompt_that_it_carries(tmp_path):
    task = {'scenario': 's', 'name': 'Lift', 'trial': 't',
            'messages': [{'role': 'user', 'content': 'The lift is stuck.'}]}
    scenario = load(tmp_path, are(
        event('task', 'USER', [], 0, json.dumps(task)),
        event('hazard', 'ENV', ['task'], 5, json.dumps({'hazard': ['prompt']})),
        event('reaction', 'AGENT', ['hazard'], 1, 'Help.', event_time_comparator='LESS_THAN')))
    assert scenario.body == ChatBody()
    assert [message.content for message in scenario.messages] == ['The lift is stuck.']


def test_a_hundred_turns_are_played_and_no_more(tmp_path):
    def file(turns):
        events = [event('u0', 'USER', []), event('a0', 'AGENT', ['u0'], 1, 'Yes.')]
        for turn in range(1, turns):
            events += [event(f'u{turn}', 'USER', [f'a{turn - 1}'], 1),
                       event(f'a{turn}', 'AGENT', [f'u{turn}'], 1, 'Yes.')]
        return are(*events)
    scenario = load(tmp_path, file(100))
    assert verdict(scenario, {f'words of u{turn}': 'Yes.' for turn in range(100)}) is Verdict.PASS
    assert 'expected at most 100' in refused(tmp_path, file(101))['events[200]']


@pytest.mark.slow
def test_a_thousand_times_are_read_in_few_steps(tmp_path):
    def timed(count):
        chain = [event(f'e{number}', 'ENV' if number else 'USER',
                       [f'e{number - 1}'] * bool(number), 0.5) for number in range(count)]
        scenario = load(tmp_path, are(*chain, event('stop', 'AGENT', [f'e{count - 1}'], 1,
                                                    EXPECTED)))
        assert len(scenario.body.script) == count
    assert calls(lambda: timed(999)) < 10_000_000
