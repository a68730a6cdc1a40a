# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Signals in rules: edges for what is demanded and fires, levels for what is forbidden."""

import math

from cases import for_each
import pytest
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Status
from safety_scenarios.trial.rules.engine import Rules
from unit.records import command, ns, ONSET_STEADY_NS
from unit.rule_runs import (
    block,
    driving,
    expects,
    forbids,
    GREETED,
    greets,
    only,
    run,
    speed,
    START,
    TRIAL,
    when,
)

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
