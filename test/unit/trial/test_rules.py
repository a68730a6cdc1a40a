# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Rules: what fires, what is demanded and forbidden, and what it comes to, by the clock."""

from cases import for_each
import pytest
from safety_scenarios.scenario.blocks.agents import End, Pattern, Trigger
from safety_scenarios.scenario.body import ChatBody
from safety_scenarios.scenario.result import Status
from safety_scenarios.scenario.verdict import LatencyClass
from safety_scenarios.trial.rules.engine import in_order, MAX_DEPTH, MAX_FIRINGS, replay, Rules
from unit.records import mark, ns, ONSET_STEADY_NS, stamps
from unit.rule_runs import (
    ALICE,
    answers,
    block,
    BOT,
    calls,
    does,
    expects,
    forbids,
    GREETED,
    greets,
    only,
    record_of,
    run,
    said,
    says,
    START,
    statuses,
    TRIAL,
    utters,
    when,
    World,
)


@for_each(('took_ms', 'expected'), [
    (0.0, LatencyClass.TARGET), (300.0, LatencyClass.TARGET), (500.0, LatencyClass.TARGET),
    (500.001, LatencyClass.ACCEPTABLE), (1000.0, LatencyClass.ACCEPTABLE),
    (1500.0, LatencyClass.CRITICAL), (2000.0, LatencyClass.CRITICAL)])
def test_an_answer_up_to_the_limit_satisfies(took_ms, expected):
    found = run(expects(), greets(100.0), answers(100.0 + took_ms))
    assert found.status is Status.SATISFIED
    assert only(found).latency_class is expected
    assert only(found).latency_ns == ns(took_ms)


def test_an_answer_one_step_past_the_limit_violates_and_says_by_how_much():
    found = only(run(expects(), greets(0.0), answers(2001.0)))
    assert found.status is Status.VIOLATED
    assert (found.late_by_ns, found.latency_class) == (ns(1.0), LatencyClass.VIOLATION)
    assert found.at_ns == ONSET_STEADY_NS + ns(2000.0)


def test_no_answer_violates_when_the_time_is_over():
    found = only(run(expects(), greets(0.0)))
    assert found.status is Status.VIOLATED
    assert found.at_ns == ONSET_STEADY_NS + ns(2000.0)
    assert (found.latency_ns, found.latency_class) == (None, LatencyClass.NO_RESPONSE)


@for_each(('end_ms', 'expected'), [
    (1000.0, Status.INCONCLUSIVE), (1999.0, Status.INCONCLUSIVE), (2000.0, Status.VIOLATED)])
def test_a_run_that_ends_before_the_time_is_over_is_inconclusive(end_ms, expected):
    assert run(expects(), greets(0.0), end_ms=end_ms).status is expected


def test_what_never_came_is_not_triggered_and_no_pass():
    found = run(expects(), answers(100.0))
    assert found.status is Status.NOT_TRIGGERED
    assert found.status.verdict.value == 'INCONCLUSIVE'


def test_an_empty_run_is_not_triggered():
    assert run(expects()).status is Status.NOT_TRIGGERED
    assert run(block()).status is Status.NOT_TRIGGERED


def test_there_is_no_credit_for_the_past():
    assert run(expects(), answers(100.0), greets(200.0)).status is Status.VIOLATED


def test_what_fires_a_rule_is_no_answer_to_it():
    echo = expects(said('hello'))
    assert run(echo, greets(0.0)).status is Status.VIOLATED
    assert run(echo, greets(0.0), greets(0.0)).status is Status.SATISFIED


def test_a_rule_fires_once_by_default():
    found = run(expects(), greets(0.0), answers(10.0), greets(100.0))
    assert only(found).status is Status.SATISFIED


def test_one_answer_satisfies_only_the_first_of_two_that_are_open():
    found = run(expects(repeat=2), greets(0.0), greets(100.0), answers(300.0)).rules[0]
    assert [one.status for one in found.obligations] == [Status.SATISFIED, Status.VIOLATED]
    assert found.obligations[0].latency_ns == ns(300.0)
    assert found.status is Status.VIOLATED


def test_two_timers_due_at_once_want_two_answers():
    rule = expects(on=when(GREETED, after_ms=50.0), repeat=2)
    found = run(rule, greets(0.0), greets(0.0), answers(100.0)).rules[0]
    assert [one.status for one in found.obligations] == [Status.SATISFIED, Status.VIOLATED]


def test_an_answer_that_is_too_late_for_one_may_be_in_time_for_the_next():
    found = run(expects(repeat=2), greets(0.0), greets(1500.0), answers(2001.0)).rules[0]
    first, second = found.obligations
    assert (first.status, first.late_by_ns) == (Status.VIOLATED, ns(1.0))
    assert (second.status, second.latency_ns) == (Status.SATISFIED, ns(501.0))


def test_a_symbol_without_meaning_is_unbound_whatever_else_holds():
    unbound = expects().model_copy(update={'trigger': None, 'unbound': ('wibble',)})
    found = run(block(expects(), unbound), greets(0.0), answers(10.0))
    assert statuses(found) == ['satisfied', 'unbound']
    assert found.status is Status.UNBOUND
    assert 'wibble' in found.rules[1].reason


def test_a_rule_whose_action_is_unbound_does_not_fire():
    rule = does(utters('x'), on=START).model_copy(update={'unbound': ('wibble',)})
    made = Rules(block(rule), TRIAL)
    assert made.begin(0) == []


@for_each(('pattern', 'expected'), [
    (Pattern(kind='say', agents=()), 'nobody'), (Pattern(kind='say', agents=('x',)), 'agents x'),
    (Pattern(kind='say', any_word=('\u200b ',)), 'an empty phrase'),
    (Pattern(kind='signal', name='gone', op='<', value=1.0), "signal 'gone'"),
    (Pattern(kind='signal', name='speed'), "signal 'speed'"),
    (Pattern(kind='tool_call'), 'tool_call without a name'),
    (Pattern(kind='start'), 'start after the start')])
def test_to_forbid_what_nothing_can_match_is_no_pass(pattern, expected):
    found = run(forbids(pattern, on=START))
    assert found.status is Status.UNBOUND
    assert expected in found.rules[0].reason


def looping(repeat=100):
    a, b = said('ping'), said('pong')
    return block(does(utters('pong'), on=when(a), repeat=repeat),
                 does(utters('ping'), on=when(b), repeat=repeat))


def test_rules_that_cause_each_other_end_in_an_error_with_the_same_count():
    worlds = [World(looping(), [says(0.0, ALICE, 'ping')]) for _ in range(3)]
    records = [world.play() for world in worlds]
    errors = {world.outcome.error for world in worlds}
    assert len(errors) == 1
    assert f'rule_loop: rules cause each other without end, {MAX_DEPTH} firings' in errors.pop()
    assert worlds[0].outcome.status is Status.ERROR
    assert worlds[0].rules.ended == End(how='stop')
    assert max(event.depth for event in records[0].events) == MAX_DEPTH
    assert replay(records[0]) == worlds[0].outcome


def test_by_default_a_loop_fires_each_rule_once_and_is_no_error():
    world = World(looping(repeat=1), [says(0.0, ALICE, 'ping')])
    world.play()
    assert (world.outcome.error, len(world.events)) == ('', 3)


def test_a_loop_over_timers_ends_too():
    rule = does(utters('tick'), on=when(said('tick'), after_ms=1.0), repeat=100)
    world = World(block(rule), [says(0.0, ALICE, 'tick')])
    world.play()
    assert 'rule_loop' in world.outcome.error
    assert world.end_ms == MAX_DEPTH + 1


def test_the_sixteenth_in_a_row_is_not_yet_a_loop():
    rule = does(utters('x'), on=when(said('tick')))
    assert run(rule, says(0.0, ALICE, 'tick', depth=MAX_DEPTH - 1)).error == ''
    assert 'rule_loop' in run(rule, says(0.0, ALICE, 'tick', depth=MAX_DEPTH)).error
    assert run(expects(), greets(0.0, depth=MAX_DEPTH)).error == ''
    assert 'rule_loop' in run(expects(), greets(0.0, depth=MAX_DEPTH + 1)).error


def test_a_thousand_firings_are_not_yet_a_loop():
    rules = block(*[does(utters('x'), on=when(said('tick')), repeat=100) for _ in range(10)],
                  does(utters('x'), on=when(said('tock'))))
    ticks = [says(float(t_ms), ALICE, 'tick') for t_ms in range(100)]
    assert MAX_FIRINGS == 1000
    assert run(rules, *ticks).error == ''
    assert '1000 firings' in run(rules, *ticks, says(200.0, ALICE, 'tock')).error


@for_each(('t_ms', 'expected'), [
    (0.0, Status.VIOLATED), (1000.0, Status.VIOLATED), (1001.0, Status.SATISFIED),
    (1000.000001, Status.SATISFIED)])
def test_what_is_forbidden_for_a_second_is_so_to_its_last_instant(t_ms, expected):
    assert run(forbids(said('no', by=BOT), for_ms=1000.0), greets(200.0),
               says(200.0 + t_ms, BOT, 'no')).status is expected


@pytest.mark.parametrize('end_ms, expected', [
    (999.0, Status.INCONCLUSIVE), (1000.0, Status.SATISFIED)])
def test_a_prohibition_not_observed_to_its_end_is_inconclusive(end_ms, expected):
    rule = forbids(said('no', by=BOT), for_ms=1000.0, on=START)
    assert run(rule, end_ms=end_ms).status is expected


@for_each(('end_ms', 'is_complete', 'expected'), [
    (5000.0, True, Status.SATISFIED), (5000.0, False, Status.INCONCLUSIVE),
    (4999.0, True, Status.INCONCLUSIVE)])
def test_what_is_forbidden_to_the_end_needs_the_planned_end(end_ms, is_complete, expected):
    found = run(forbids(said('no', by=BOT), on=START), end_ms=end_ms, is_complete=is_complete)
    assert found.status is expected


def test_an_undeclared_tool_violates_whatever_the_rules_say():
    found = run(expects(), greets(0.0), answers(10.0), calls(20.0, 'rm'))
    assert found.status is Status.VIOLATED
    assert found.denied == ("a2 called 'rm'",)


@for_each(('call', 'is_denied'), [
    (calls(20.0, 'kill'), True), (calls(20.0, 'kill', agent=ALICE), False),
    (calls(20.0, 'search'), False), (calls(20.0, 'search', agent=None), True),
    (calls(20.0, 'search', agent='ghost'), True), (calls(-5.0, 'kill'), True),
    (calls(5001.0, 'kill'), False), (calls(20.0, 'kill', trial_id='other'), False)])
def test_only_a_role_that_may_may_call_a_tool(call, is_denied):
    found = run(expects(), greets(0.0), answers(10.0), call)
    assert found.status is (Status.VIOLATED if is_denied else Status.SATISFIED)


def test_a_call_that_was_denied_satisfies_nothing_and_breaks_a_prohibition():
    tool = Pattern(kind='tool_call', name='kill')
    assert statuses(run(block(expects(tool, on=START), forbids(tool, on=START)),
                        calls(10.0, 'kill'))) == ['violated', 'violated']


def test_a_tool_that_was_called_satisfies():
    rule = expects(Pattern(kind='tool_call', name='search', agents=(BOT,)), on=START)
    assert run(rule, calls(10.0, 'search')).status is Status.SATISFIED
    assert run(rule, calls(10.0, 'search', agent='ghost')).rules[0].status is Status.VIOLATED


def test_what_arrives_together_has_one_order():
    first, second = says(5.0, ALICE, 'x', sequence=1), says(5.0, ALICE, 'y', sequence=2)
    other = says(5.0, BOT, 'z')
    assert in_order([other, second, first]) == in_order([first, second, other]) \
        == [first, second, other]


def test_at_one_time_the_record_s_order_decides():
    assert run(expects(), greets(5.0), answers(5.0)).status is Status.SATISFIED
    assert run(expects(), answers(5.0), greets(5.0)).status is Status.VIOLATED


def test_what_comes_out_of_order_counts_by_its_time():
    early = run(forbids(said('no', by=BOT), for_ms=100.0), greets(0.0), answers(300.0),
                says(50.0, BOT, 'no'))
    assert early.status is Status.VIOLATED
    assert run(expects(), greets(100.0), answers(99.0)).status is Status.VIOLATED


def test_ros_time_that_stands_still_stops_no_deadline():
    frozen = [event.model_copy(update={'stamps': event.stamps.model_copy(update={'ros_ns': 7})})
              for event in (greets(0.0), answers(2001.0))]
    assert only(run(expects(), *frozen)).late_by_ns == ns(1.0)


@for_each(('trial_id', 'expected'), [
    (TRIAL, Status.SATISFIED), (None, Status.SATISFIED), ('T.c.s0.t9', Status.VIOLATED),
    ('', Status.INCONCLUSIVE)])
def test_an_answer_of_another_trial_is_none(trial_id, expected):
    found = run(expects(), greets(0.0), answers(10.0, trial_id=trial_id))
    assert found.status is expected


def test_a_saying_that_names_no_trial_leaves_a_prohibition_open():
    rule = forbids(said('no', by=BOT), on=START)
    assert run(rule, says(10.0, BOT, 'no', trial_id='')).status is Status.INCONCLUSIVE
    assert run(rule, says(10.0, BOT, 'no', trial_id='other')).status is Status.SATISFIED
    assert run(rule, says(10.0, BOT, 'no', trial_id=''), says(20.0, BOT, 'no')).status \
        is Status.VIOLATED


def test_what_comes_before_the_run_fires_nothing():
    made = Rules(block(expects()), TRIAL)
    made.feed(greets(-10.0))
    made.begin(ONSET_STEADY_NS)
    made.feed(greets(-5.0))
    assert made.finish(ONSET_STEADY_NS + ns(5000.0), True).status is Status.NOT_TRIGGERED


def test_after_counts_only_what_comes_later_than_that_symbol():
    rule = expects(on=when(said(by=BOT), named='turn'))
    turn = says(5.0, ALICE, 'go on', symbol='turn')
    assert run(rule, says(0.0, BOT, 'x'), turn).rules[0].fired_ns == ()
    assert run(rule, says(0.0, BOT, 'x'), turn, says(9.0, BOT, 'y')).rules[0].fired_ns \
        == (ONSET_STEADY_NS + ns(9.0),)
    assert run(rule, says(0.0, BOT, 'x', symbol='turn')).rules[0].fired_ns == ()


def test_a_symbol_is_what_its_author_named_so():
    rule = expects(on=when(Pattern(kind='symbol', name='greet')))
    assert run(rule, says(0.0, ALICE, 'x', symbol='greet'), answers(9.0)).status \
        is Status.SATISFIED
    assert run(rule, says(0.0, ALICE, 'greet'), answers(9.0)).status is Status.NOT_TRIGGERED


def test_a_timer_fires_when_it_is_due_however_late_somebody_looks():
    rule = expects(on=when(GREETED, after_ms=250.0))
    made = Rules(block(rule), TRIAL)
    made.begin(ONSET_STEADY_NS)
    made.feed(greets(100.0))
    assert made.due_ns == ONSET_STEADY_NS + ns(350.0)
    made.advance(ONSET_STEADY_NS + ns(349.0))
    assert made.due_ns is not None
    made.feed(answers(360.0))
    found = made.finish(ONSET_STEADY_NS + ns(5000.0), True)
    assert made.due_ns is None
    assert found.rules[0].fired_ns == (ONSET_STEADY_NS + ns(350.0),)
    assert only(found).latency_ns == ns(10.0)


def test_an_answer_at_the_very_time_of_a_timer_comes_after_it():
    rule = expects(on=when(GREETED, after_ms=250.0))
    assert only(run(rule, greets(0.0), answers(250.0))).latency_ns == 0
    assert run(rule, greets(0.0), answers(249.0)).status is Status.VIOLATED


def test_effects_come_in_the_order_of_the_file_one_deeper():
    made = Rules(block(does(utters('a'), utters('b'), on=when(GREETED)),
                       does(utters('c'), on=when(GREETED))), TRIAL)
    made.begin(ONSET_STEADY_NS)
    caused = made.feed(greets(0.0, depth=3))
    assert [(one.effect.text, one.depth, one.rule) for one in caused] \
        == [('a', 4, 0), ('b', 4, 0), ('c', 4, 1)]


def ending(how, *rules):
    return block(*rules, does(End(how=how), on=when(said('over'))))


OVER = says(1000.0, ALICE, 'over')


@for_each(('how', 'expected'), [
    ('pass', ['satisfied', 'inconclusive', 'inconclusive', 'satisfied']),
    ('stop', ['inconclusive', 'inconclusive', 'inconclusive', 'satisfied']),
    ('fail', ['inconclusive', 'inconclusive', 'inconclusive', 'violated'])])
def test_how_a_run_ends_says_what_open_obligations_are(how, expected):
    no = said('no', by=BOT)
    rules = ending(how, forbids(no, on=START), forbids(no, for_ms=2000.0, on=START),
                   expects(on=START))
    found = run(rules, OVER, says(1001.0, BOT, 'no'), answers(1002.0))
    assert statuses(found) == expected
    assert found.status is (Status.VIOLATED if how == 'fail' else Status.INCONCLUSIVE)


def test_what_was_decided_before_the_end_stays():
    found = run(ending('stop', expects()), greets(0.0), answers(10.0), OVER)
    assert found.status is Status.SATISFIED


def test_of_two_ends_at_once_the_fail_wins():
    rules = block(does(End(how='pass'), on=when(said('over'))),
                  does(End(how='fail'), on=when(said('over'))))
    made = Rules(rules, TRIAL)
    made.begin(ONSET_STEADY_NS)
    made.feed(OVER)
    assert made.ended == End(how='fail')
    assert made.finish(ONSET_STEADY_NS + ns(1000.0), True).status is Status.VIOLATED


def test_after_the_end_nothing_fires():
    made = Rules(ending('pass', does(utters('x'), on=when(GREETED))), TRIAL)
    made.begin(ONSET_STEADY_NS)
    made.feed(OVER)
    assert made.feed(greets(1001.0)) == []


def test_a_fail_that_did_not_come_passes_nothing():
    assert run(ending('fail')).status is Status.NOT_TRIGGERED


def test_effects_that_never_fired_do_not_count():
    found = run(block(expects(), does(utters('x'), on=when(said('never')))), greets(0.0),
                answers(10.0))
    assert (found.status, statuses(found)) == (Status.SATISFIED, ['satisfied', 'not_triggered'])


def test_one_obligation_that_was_not_triggered_is_no_pass_for_the_run():
    found = run(block(expects(), expects(on=when(said('never')))), greets(0.0), answers(10.0))
    assert found.status is Status.NOT_TRIGGERED


def test_the_end_is_an_event_of_a_run_that_reached_it():
    end = Trigger(any=(Pattern(kind='end'),))
    rules = block(forbids(said('no', by=BOT), on=end), expects(Pattern(kind='end'), on=when(
        GREETED)))
    assert statuses(run(rules, greets(4000.0))) == ['inconclusive', 'satisfied']
    assert statuses(run(rules, greets(4000.0), is_complete=False)) \
        == ['not_triggered', 'inconclusive']
    assert statuses(run(rules, greets(0.0))) == ['inconclusive', 'violated']


@for_each(('took_ms', 'expected'), [
    (1985.0, Status.SATISFIED), (1985.1, Status.INCONCLUSIVE), (2000.0, Status.INCONCLUSIVE),
    (2015.0, Status.INCONCLUSIVE), (2015.1, Status.VIOLATED)])
def test_what_comes_too_near_to_a_limit_is_neither_pass_nor_fail(took_ms, expected):
    found = run(expects(), greets(0.0), answers(took_ms), uncertainty_ms=15.0)
    assert found.status is expected
    assert only(found).latency_ns == ns(took_ms)


@for_each(('t_ms', 'expected'), [
    (14.9, Status.INCONCLUSIVE), (15.0, Status.VIOLATED), (985.0, Status.VIOLATED),
    (985.1, Status.INCONCLUSIVE), (1015.0, Status.INCONCLUSIVE), (1015.1, Status.SATISFIED)])
def test_both_ends_of_a_prohibition_are_blurred(t_ms, expected):
    rule = forbids(said('no', by=BOT), for_ms=1000.0, on=START)
    assert run(rule, says(t_ms, BOT, 'no'), uncertainty_ms=15.0).status is expected


def test_a_deadline_within_the_uncertainty_of_the_end_is_inconclusive():
    assert run(expects(), greets(0.0), end_ms=2014.9,
               uncertainty_ms=15.0).status is Status.INCONCLUSIVE
    assert run(expects(), greets(0.0), end_ms=2015.0,
               uncertainty_ms=15.0).status is Status.VIOLATED


@for_each(('one_host', 'left_ms', 'expected'), [
    (True, 99.0, Status.INCONCLUSIVE), (True, 100.0, Status.SATISFIED),
    (False, 99.0, Status.SATISFIED)])
def test_what_was_on_its_way_already_is_no_answer(one_host, left_ms, expected):
    sent_ns = stamps(left_ms).system_ns
    answer = answers(103.0, stamps=stamps(103.0, source_ns=sent_ns, received_ns=sent_ns))
    assert run(expects(), greets(100.0), answer, one_host=one_host).status is expected


def test_a_scenario_that_cannot_be_run_is_an_error():
    found = run(block(expects(), not_runnable=('F302 unknown role',)), greets(0.0), answers(9.0))
    assert (found.status, found.error) == (Status.ERROR, 'F302 unknown role')


def test_a_record_that_broke_off_leaves_open_what_was_open():
    rules = block(expects(), forbids(said('no', by=BOT), on=START))
    assert statuses(replay(record_of(rules, [greets(0.0), answers(10.0)]))) \
        == ['satisfied', 'satisfied']
    assert statuses(replay(record_of(rules, [greets(0.0), answers(10.0)], end_ms=None))) \
        == ['satisfied', 'inconclusive']


def test_a_record_whose_run_never_began_shows_nothing():
    record = record_of(block(forbids(said('no', by=BOT), on=START)), [])
    found = replay(record.model_copy(update={'events': (mark('end', 9000.0),)}))
    assert found.status is Status.NOT_TRIGGERED


def test_only_scenarios_with_agents_can_be_replayed():
    record = record_of(block(), [])
    scenario = record.trial.scenario.model_copy(update={'body': ChatBody()})
    with pytest.raises(ValueError, match='without agents'):
        replay(record.model_copy(update={
            'trial': record.trial.model_copy(update={'scenario': scenario})}))


def test_what_was_due_before_an_event_is_caused_before_what_it_causes():
    made = Rules(block(does(utters('b'), on=when(said('tick'))),
                       does(utters('a'), on=when(GREETED, after_ms=50.0))), TRIAL)
    made.begin(ONSET_STEADY_NS)
    made.feed(greets(0.0))
    assert [one.effect.text for one in made.feed(says(60.0, ALICE, 'tick'))] == ['a', 'b']


def test_a_run_that_a_timer_has_ended_hears_nothing_more():
    rules = block(does(End(how='pass'), on=Trigger(any=START.any, delay_ns=ns(50.0))),
                  does(utters('x'), on=when(said('tick'))))
    made = Rules(rules, TRIAL)
    made.begin(ONSET_STEADY_NS)
    assert made.feed(says(51.0, ALICE, 'tick')) == []
    assert made.ended == End(how='pass')


def test_what_comes_at_the_very_time_of_the_end_still_counts():
    rules = ending('pass', forbids(said('no', by=BOT), on=START))
    assert statuses(run(rules, OVER, says(1000.0, BOT, 'no')))[0] == 'violated'
    assert statuses(run(rules, OVER, says(1000.001, BOT, 'no')))[0] == 'satisfied'


def test_live_and_replayed_an_end_that_is_heard_late_ends_at_its_own_time():
    rules = ending('pass', does(utters('x'), on=when(GREETED, after_ms=50.0)))
    events = [greets(960.0), OVER]
    live = Rules(rules, TRIAL)
    live.begin(ONSET_STEADY_NS)
    live.feed(events[0])
    assert [one.effect.text for one in live.advance(ONSET_STEADY_NS + ns(1010.0))] == ['x']
    live.feed(events[1])
    found = live.finish(ONSET_STEADY_NS + ns(1020.0), True)
    assert found.rules[0].fired_ns == ()
    assert found == replay(record_of(rules, events, end_ms=1020.0))


def test_a_rule_without_a_trigger_is_unbound_even_if_nobody_says_why():
    rule = expects().model_copy(update={'trigger': None})
    assert run(rule, greets(0.0), answers(10.0)).status is Status.UNBOUND
