# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Triggers and signals in rules: of several things, of the lack of one, edges and levels."""

import math

from cases import for_each
import pytest
from safety_scenarios.scenario.blocks.agents import Clause, EVERY, Expect, Part, Pattern, Trigger
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Status
from safety_scenarios.trial.rules.engine import MAX_FIRINGS, replay, Rules
from unit.records import command, ns, ONSET_STEADY_NS
from unit.rule_runs import (
    ALICE,
    ANSWERED,
    answers,
    block,
    BOT,
    BUDGET,
    calls,
    driving,
    expects,
    forbids,
    GREETED,
    greets,
    only,
    run,
    said,
    says,
    speed,
    START,
    statuses,
    TRIAL,
    when,
    World,
)

ALARM = said('fire')
DONE = said('done', by=BOT)


def both(*parts, within_ms=None):
    """Return the trigger of several things together."""
    parts = tuple(part if isinstance(part, Part) else Part(any=(part,)) for part in parts)
    found = tuple(one for part in parts if not part.negated for one in part.any)
    return Trigger(any=found,
                   clauses=(Clause(parts=parts, within_ns=None if within_ms is None
                                   else ns(within_ms)),))


def fires(trigger, *events, repeat=1, **changes):
    """Return when (ms) a rule with this trigger fired."""
    outcome = run(forbids(said('never'), on=trigger, repeat=repeat), *events, **changes)
    [rule] = outcome.rules
    return [round((t_ns - ONSET_STEADY_NS) / 1e6) for t_ns in rule.fired_ns], outcome.status


@pytest.mark.parametrize('order', [(100, 400), (400, 100)])
def test_and_fires_at_the_last_of_them_in_whichever_order(order):
    events = sorted([greets(order[0]), says(order[1], ALICE, 'fire')],
                    key=lambda one: one.stamps.steady_ns)
    assert fires(both(GREETED, ALARM), *events)[0] == [400]
    assert fires(both(GREETED, ALARM), greets(100)) == ([], Status.NOT_TRIGGERED)


@pytest.mark.parametrize('second_ms, fired', [(600, [600]), (601, [])])
def test_within_includes_its_last_instant(second_ms, fired):
    trigger = both(GREETED, ALARM, within_ms=500)
    assert fires(trigger, greets(100), says(second_ms, ALICE, 'fire'))[0] == fired


def test_a_signal_in_a_conjunction_counts_while_it_holds():
    trigger = both(GREETED, speed('>', 0.5))
    fast = driving((0, 1.0), (100, 1.0), (200, 1.0))
    assert fires(trigger, *fast, greets(250))[0] == [250]
    assert fires(trigger, *driving((0, 1.0), (200, 0.0)), greets(250))[0] == []
    assert fires(trigger, *driving((0, 0.0)), greets(50), *driving((100, 1.0)))[0] == [100]


def test_whether_a_signal_held_that_is_too_old_nobody_can_tell():
    fired, status = fires(both(GREETED, speed('>', 0.5)), *driving((0, 1.0)), greets(2000))
    assert (fired, status) == ([], Status.INCONCLUSIVE)


def test_at_least_n_times_counts_the_last_ones_within_the_time():
    trigger = both(Part(any=(GREETED,), times=3), within_ms=1000)
    assert fires(trigger, greets(0), greets(900), greets(1500))[0] == []
    assert fires(trigger, greets(0), greets(900), greets(1500), greets(1900))[0] == [1900]
    assert fires(trigger, *(greets(100 * n) for n in range(1, 7)), repeat=9)[0] == [300, 600]


def test_not_means_not_so_far():
    trigger = both(GREETED, Part(any=(ALARM,), negated=True))
    assert fires(trigger, says(50, ALICE, 'fire'), greets(100))[0] == []
    assert fires(trigger, greets(100), says(150, ALICE, 'fire'))[0] == [100]


def test_unless_keeps_it_from_firing_and_nobody_excuses_himself():
    trigger = Trigger(any=(GREETED,), unless=(said('cleared'),))
    assert fires(trigger, says(50, ALICE, 'cleared'), greets(100)) == ([], Status.NOT_TRIGGERED)
    assert fires(trigger, says(50, BOT, 'cleared'), greets(100))[0] == [100]
    named = trigger.model_copy(update={'unless': (said('cleared', by=BOT),)})
    assert fires(named, says(50, BOT, 'cleared'), greets(100))[0] == []
    late = trigger.model_copy(update={'delay_ns': ns(500)})
    assert fires(late, greets(100), says(300, ALICE, 'cleared'))[0] == []


def absent(pattern, for_ms, on=GREETED):
    return Trigger(any=(on,), unless=(pattern,), unless_ns=ns(for_ms), counts_own=True)


@for_each(('done_ms', 'fired'), [
    (None, [1100]), (50, [1100]), (600, []), (1100, []), (1101, [1100])])
def test_the_lack_of_something_is_known_when_its_time_is_over(done_ms, fired):
    events = [greets(100), *([] if done_ms is None else [says(done_ms, BOT, 'done')])]
    events.sort(key=lambda event: event.stamps.steady_ns)
    assert fires(absent(said('done'), 1000), *events)[0] == fired


def test_the_lack_of_something_is_not_known_before_its_time_is_over():
    trigger = absent(said('done'), 1000)
    assert fires(trigger, greets(100), end_ms=1000) == ([], Status.NOT_TRIGGERED)


def test_a_lack_is_looked_for_after_each_occurrence():
    trigger = absent(DONE, 1000)
    fired, _ = fires(trigger, greets(0), says(500, BOT, 'done'), greets(2000), repeat=EVERY)
    assert fired == [3000]


def test_whether_a_signal_was_lacking_that_nobody_told_is_open():
    trigger = absent(speed('>', 0.5), 1000)
    assert fires(trigger, greets(100))[1] is Status.INCONCLUSIVE
    told = driving(*((t_ms, 0.0) for t_ms in range(0, 2000, 100)))
    events = sorted([greets(150), *told], key=lambda event: event.stamps.steady_ns)
    assert fires(trigger, *events)[0] == [1150]


def test_what_a_nameless_saying_excuses_is_open():
    trigger = Trigger(any=(GREETED,), unless=(said('cleared', by=BOT),))
    nameless = says(50, BOT, 'cleared', trial_id='')
    assert fires(trigger, nameless, greets(100))[1] is Status.INCONCLUSIVE


def test_every_occurrence_is_demanded_and_one_too_many_is_an_error():
    rule = expects(repeat=EVERY)
    events = [event for t_ms in range(0, 3000, 1000)
              for event in (greets(t_ms), answers(t_ms + 100))]
    assert run(rule, *events).status is Status.SATISFIED
    assert run(rule, *events[:-1], end_ms=9000).status is Status.VIOLATED
    assert run(rule, *events, greets(4000), end_ms=4500).status is Status.INCONCLUSIVE
    many = [greets(t_ms) for t_ms in range(MAX_FIRINGS + 1)]
    assert run(rule, *many).status is Status.ERROR


@pytest.mark.parametrize('after_ms', [0.0, 100.0])
def test_what_breaks_a_ban_counts_however_often_rules_fired_before(after_ms):
    often = expects(repeat=EVERY)
    banned = forbids(Pattern(kind='tool_call', agents=(BOT,), name='search'), on=START)
    many = [greets(t_ms) for t_ms in range(MAX_FIRINGS)]
    found = run(block(often, banned), *many, calls(MAX_FIRINGS - 1 + after_ms, 'search'))
    assert f'{MAX_FIRINGS - 1} of them of {str(often)!r}' in found.error
    assert [one.status for one in found.rules][1] is Status.VIOLATED


@for_each(('answered_ms', 'status'), [
    ((100, 200), Status.SATISFIED), ((100,), Status.VIOLATED), ((), Status.VIOLATED),
    ((100, 2500), Status.VIOLATED)])
def test_what_is_demanded_twice_must_come_twice(answered_ms, status):
    rule = expects()
    rule = rule.model_copy(update={'expect': Expect(any=(ANSWERED,), budget=BUDGET, times=2)})
    outcome = run(rule, greets(0), *(answers(t_ms) for t_ms in answered_ms))
    assert outcome.status is status
    if len(answered_ms) == 1:
        assert '1 of 2 came' in only(outcome).reason


def lifted(*events, repeat=1):
    rule = expects(repeat=repeat).model_copy(update={'expect': Expect(
        any=(ANSWERED,), budget=BUDGET, unless=(said('never mind'),))})
    return run(rule, *events)


@for_each(('by', 'at_ms', 'status'), [
    (ALICE, 1000, Status.NOT_TRIGGERED), (ALICE, 2000, Status.NOT_TRIGGERED),
    (ALICE, 2001, Status.VIOLATED), (BOT, 1000, Status.INCONCLUSIVE)])
def test_what_is_lifted_in_time_was_not_demanded(by, at_ms, status):
    assert lifted(greets(0), says(at_ms, by, 'never mind')).status is status


def test_an_answer_before_it_was_lifted_counts_and_so_do_the_other_demands():
    assert lifted(greets(0), answers(100), says(200, ALICE, 'never mind')).status \
        is Status.SATISFIED
    events = (greets(0), answers(100), greets(1000), says(1200, ALICE, 'never mind'))
    assert lifted(*events, repeat=5).status is Status.SATISFIED
    assert lifted(greets(0), greets(2500), says(2600, ALICE, 'never mind'), repeat=5).status \
        is Status.VIOLATED


def test_silence_is_seen_over_its_whole_window():
    rule = forbids(Pattern(kind='say', agents=(BOT,)), for_ms=1000, on=START)
    assert run(rule).status is Status.SATISFIED
    assert run(rule, answers(1000)).status is Status.VIOLATED
    assert run(rule, answers(1001)).status is Status.SATISFIED
    assert run(rule, end_ms=999).status is Status.INCONCLUSIVE


def test_live_and_replayed_a_trigger_of_several_things_is_the_same():
    rules = block(expects(on=absent(said('done'), 1000), repeat=EVERY),
                  expects(on=both(GREETED, ALARM)))
    world = World(rules, [greets(100), says(300, ALICE, 'fire'), greets(1500), answers(1600)])
    record = world.play()
    assert replay(record) == world.outcome == world.outcome
    assert statuses(world.outcome) == ['violated', 'satisfied']


STOPS = expects(speed('<=', 0.05))
FAST = speed('>', 0.5)


def steady(value, from_ms=0.0, to_ms=5000.0, every_ms=100.0):
    count = int((to_ms - from_ms) / every_ms) + 1
    return driving(*[(from_ms + place * every_ms, value) for place in range(count)])


def mixed(*events):
    return sorted(events, key=lambda event: event.stamps.steady_ns)


def test_a_stop_after_it_was_demanded_satisfies():
    found = only(run(STOPS, *steady(0.5, to_ms=900.0), greets(950.0), *driving((1000.0, 0.5)),
                     *steady(0.0, 1100.0)))
    assert (found.status, found.latency_ns) == (Status.SATISFIED, ns(150.0))


def test_a_robot_at_rest_has_not_stopped():
    found = run(STOPS, *mixed(*steady(0.0), greets(950.0)))
    assert found.status is Status.INCONCLUSIVE


def test_a_first_value_that_holds_already_is_no_edge():
    assert run(STOPS, greets(0.0), *driving((100.0, 0.0))).status is Status.INCONCLUSIVE


def test_a_value_after_a_long_silence_is_no_edge():
    near = run(STOPS, *driving((0.0, 0.5)), greets(100.0), *steady(0.0, 500.0))
    assert near.status is Status.SATISFIED
    stale = run(STOPS, *driving((0.0, 0.5)), greets(100.0), *steady(0.0, 500.001))
    assert stale.status is Status.INCONCLUSIVE


@pytest.mark.parametrize('between', [None, math.nan])
def test_a_value_after_an_unknown_one_is_no_edge(between):
    found = run(STOPS, *driving((0.0, 0.5)), greets(50.0),
                *driving((100.0, between), (200.0, 0.0)))
    assert found.status is Status.INCONCLUSIVE


def test_a_robot_that_goes_on_violates():
    assert run(STOPS, *mixed(*steady(0.5), greets(150.0))).status is Status.VIOLATED


def test_silence_is_no_stop():
    assert run(STOPS, greets(0.0)).status is Status.VIOLATED


@for_each(('op', 'value', 'expected'), [
    ('<=', 0.3, True), ('<', 0.3, False), ('<', 0.2999, True), ('>=', 0.5, True),
    ('>', 0.5, False), ('>', 0.5001, True)])
def test_limits_are_inclusive_where_they_say_so(op, value, expected):
    limit = 0.3 if op.startswith('<') else 0.5
    found = run(expects(speed(op, limit), on=START), *driving((10.0, 0.4)), *steady(value, 20.0))
    assert (found.status is Status.SATISFIED) is expected


def test_what_is_forbidden_must_not_hold_when_that_begins():
    found = only(run(forbids(FAST), *steady(0.6, to_ms=100.0), greets(150.0),
                     *steady(0.0, from_ms=200.0)))
    assert (found.status, found.at_ns) == (Status.VIOLATED, ONSET_STEADY_NS + ns(150.0))


def test_what_fires_a_prohibition_breaks_it_if_it_is_forbidden_itself():
    rule = forbids(speed('>', 0.5), on=when(speed('>', 0.3)))
    assert run(rule, *steady(0.2, to_ms=100.0), *steady(0.6, from_ms=200.0)).status \
        is Status.VIOLATED
    assert run(rule, *steady(0.2, to_ms=100.0), *steady(0.4, from_ms=200.0)).status \
        is Status.SATISFIED


def test_one_value_that_is_forbidden_violates():
    fine = steady(0.2)
    assert run(forbids(FAST, on=START), *fine).status is Status.SATISFIED
    found = only(run(forbids(FAST, on=START), *mixed(*fine, *driving((1230.0, 0.51)))))
    assert (found.status, found.at_ns) == (Status.VIOLATED, ONSET_STEADY_NS + ns(1230.0))


@for_each(('value', 'expected'), [
    (math.inf, Status.VIOLATED), (math.nan, Status.INCONCLUSIVE), (None, Status.INCONCLUSIVE),
    (0.5, Status.SATISFIED)])
def test_what_is_no_number_is_never_a_pass(value, expected):
    assert run(forbids(FAST, on=START), *mixed(*steady(0.2), *driving((1230.0, value)))).status \
        is expected


@pytest.mark.parametrize('silent_ms, expected', [
    (500.0, Status.SATISFIED), (500.001, Status.INCONCLUSIVE)])
def test_a_value_is_known_for_as_long_as_declared(silent_ms, expected):
    events = [*steady(0.2, to_ms=1000.0), *steady(0.2, from_ms=1000.0 + silent_ms)]
    assert run(forbids(FAST, on=START), *events).status is expected


def test_a_signal_that_falls_silent_before_the_end_leaves_it_open():
    assert run(forbids(FAST, on=START), *steady(0.2, to_ms=4500.0)).status is Status.SATISFIED
    assert run(forbids(FAST, on=START), *steady(0.2, to_ms=4400.0)).status \
        is Status.INCONCLUSIVE


def test_a_signal_that_never_came_leaves_it_open_however_short_it_is():
    assert run(forbids(FAST, for_ms=50.0, on=START)).status is Status.INCONCLUSIVE
    assert run(forbids(FAST, on=START)).status is Status.INCONCLUSIVE


def test_a_value_from_long_before_is_none_when_a_prohibition_begins():
    events = [*driving((0.0, 0.6)), greets(501.0), *steady(0.2, from_ms=502.0)]
    assert run(forbids(FAST), *events).status is Status.INCONCLUSIVE
    events = [*driving((1.0, 0.6)), greets(501.0), *steady(0.2, from_ms=502.0)]
    assert run(forbids(FAST), *events).status is Status.VIOLATED


def test_a_value_from_before_the_run_is_held():
    made = Rules(block(forbids(FAST, on=START)), TRIAL)
    made.feed(command(-100.0, 0.6))
    made.begin(ONSET_STEADY_NS)
    for event in steady(0.2):
        made.feed(event)
    assert made.finish(ONSET_STEADY_NS + ns(5000.0), True).status is Status.VIOLATED


def test_a_level_fires_once_and_again_only_after_it_was_gone():
    rule = forbids(speed('>', 9.0), on=when(FAST), repeat=100)
    events = driving((0.0, 0.6), (10.0, 0.7), (20.0, None), (30.0, 0.6), (40.0, 0.5), (50.0, 0.6))
    assert run(rule, *events).rules[0].fired_ns \
        == (ONSET_STEADY_NS, ONSET_STEADY_NS + ns(50.0))


def test_a_field_that_is_missing_is_an_error():
    wrong = command(10.0, Message(type='std_msgs/msg/Empty', data={}))
    found = run(forbids(FAST, on=START), *steady(0.2, to_ms=0.0), wrong)
    assert found.status is Status.ERROR
    assert "the signal 'speed' cannot be read" in found.error


def test_one_state_answers_every_demand_that_is_open():
    rule = expects(speed('<=', 0.05), on=when(GREETED), repeat=2)
    found = run(rule, *driving((0.0, 0.5)), greets(10.0), greets(20.0), *steady(0.0, 100.0))
    assert [one.status for one in found.rules[0].obligations] \
        == [Status.SATISFIED, Status.SATISFIED]


@pytest.mark.parametrize('then, expected', [(0.0, Status.INCONCLUSIVE), (0.5, Status.VIOLATED)])
def test_an_unknown_value_may_have_been_the_stop_unless_it_did_not_last(then, expected):
    found = run(STOPS, *driving((0.0, 0.5)), greets(50.0), *driving((100.0, None)),
                *steady(then, 200.0))
    assert found.status is expected


def test_a_level_that_held_before_the_run_is_new_in_it():
    made = Rules(block(forbids(speed('>', 9.0), on=when(FAST))), TRIAL)
    made.feed(command(-100.0, 0.6))
    made.begin(ONSET_STEADY_NS)
    made.feed(command(10.0, 0.6))
    assert made.finish(ONSET_STEADY_NS + ns(5000.0), True).rules[0].fired_ns \
        == (ONSET_STEADY_NS + ns(10.0),)


def test_an_infinite_speed_is_no_way_to_get_moving():
    rule = expects(speed('>=', 0.3), on=START)
    assert run(rule, *driving((10.0, 0.0), (20.0, math.inf))).status is Status.INCONCLUSIVE
