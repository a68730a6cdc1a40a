# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which clock a latency is measured on, why no better one, and how well each is known."""

from collections.abc import Iterable
import math
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.latency.clocks import Clocks
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Elapsed, Split
from safety_scenarios.scenario.timing import ClockOffset, ClockRules, Measuring
from safety_scenarios.scenario.verdict import LatencyBudget, LatencyClass, Verdict
from safety_scenarios.stimuli.faults import LinkLoss
from safety_scenarios.stimuli.messages import RawMessage
from safety_scenarios.trial.trial import ALL_CLEAR, END, NOMINAL, ONSET, Timeline, TrialRecord
from unit.records import (
    answered,
    chat,
    command,
    echo,
    hazard,
    mark,
    ns,
    ONSET_ROS_NS,
    ONSET_STEADY_NS,
    ONSET_SYSTEM_NS,
    planned,
    record,
    shown,
    stamps,
    ticks,
)

BUDGET = LatencyBudget(target_ms=50.0, acceptable_ms=100.0, critical_ms=200.0)
ONE_HOST = Measuring(one_host=True, exact=True)
SIM = Measuring(one_host=True, sim_time=True, exact=True)
ANSWER = command(80, 0.0, left_ms=50.2, arrived_ms=50.5)
"""Left 50 ms after the echo of the hazard, and waited 29.5 ms for Python."""


def timeline(*events: Event, measuring: Measuring = ONE_HOST, **changes: Any) -> Clocks:
    return Clocks(Timeline(record(events, measuring=measuring, **changes)))


def took(answer: Event = ANSWER, *events: Event, measuring: Measuring = ONE_HOST,
         more_ns: int = 0, **changes: Any) -> Elapsed:
    """Return the time from the hazard, which its echo says left at 0.2 ms, to an answer."""
    clocks = timeline(answer, echo(0.2), *events, measuring=measuring, **changes)
    onset = clocks.onset()
    assert onset is not None
    return clocks.elapsed(onset, answer, BUDGET, more_ns)


def under(rules: ClockRules, measuring: Measuring = SIM) -> Measuring:
    return measuring.model_copy(update={'rules': rules})


def test_on_one_host_it_is_from_publish_to_publish_whatever_python_waits_for():
    found = took()
    assert (found.method, found.steady_ns, found.callback_ns) == ('source', ns(50), ns(80))
    assert found.latency_class is LatencyClass.TARGET


def test_without_simulated_time_ros_time_is_the_same_time():
    found = took()
    assert found.ros_ns == found.steady_ns == found.judged_ns == ns(50)


def test_what_is_added_is_added_to_every_clock():
    found = took(more_ns=ns(100))
    assert (found.steady_ns, found.ros_ns, found.judged_ns, found.callback_ns) == (
        ns(150), ns(150), ns(150), ns(180))
    assert found.latency_class is LatencyClass.CRITICAL


def method(*commands: Event, measuring: Measuring = ONE_HOST,
           extra: Iterable[Event] = ()) -> tuple[str, str | None]:
    return timeline(*commands, measuring=measuring, extra=extra).method(commands[0])


def test_the_stamps_of_one_system_clock_are_the_best_method():
    assert method(ANSWER) == ('source', None)


def test_a_command_that_was_held_up_on_the_way_counts_from_its_arrival():
    others = [command(t_ms, 0.0, left_ms=t_ms - 1, arrived_ms=t_ms - 0.7)
              for t_ms in range(400, 700, 50)]
    late = command(312, 0.0, left_ms=1.2, arrived_ms=311.2)
    assert method(late, *others) == (
        'received', 'the command took 310.0 ms to arrive, and no robot has it earlier')
    assert took(late, *others).judged_ns == ns(311)
    quick = command(30, 0.0, left_ms=1.2, arrived_ms=6.2)
    assert method(quick, *others) == ('source', None)


def test_with_two_hosts_the_arrival_counts():
    two = Measuring(one_host=False, hosts_because='the publisher is on another machine')
    assert method(ANSWER, measuring=two) == ('received', 'the publisher is on another machine')
    found = took(measuring=two)
    assert (found.method, found.steady_ns, found.callback_ns) == ('received', ns(50.3), ns(80))


@for_each(('transit_ms', 'name'), [
    (-0.000001, 'received'), (0, 'source'), (2, 'source'), (2.000001, 'received'),
    (-4000, 'received')])
def test_a_transit_that_cannot_be_unmasks_another_clock(transit_ms, name):
    commands = [command(80 + k * 50, 0.0, left_ms=60 + k * 50, arrived_ms=60 + k * 50 + transit_ms)
                for k in range(3)]
    found, reason = method(*commands)
    assert found == name
    if name == 'received':
        assert f'{transit_ms:.2f} ms to arrive' in str(reason)
        assert 'another clock' in str(reason)


def test_one_slow_message_among_many_is_no_other_clock():
    quick = [command(80 + k * 50, 0.0, left_ms=79 + k * 50, arrived_ms=79.5 + k * 50)
             for k in range(2)]
    slow = [command(t_ms, 0.0, left_ms=t_ms - 50, arrived_ms=t_ms - 1) for t_ms in (300, 350)]
    assert method(quick[0], quick[1], slow[0]) == ('source', None)
    assert 'took 49.0 ms' in method(slow[0], *quick)[1]
    assert 'has another clock' in method(slow[0], quick[0], slow[1])[1]
    assert 'has another clock' in method(quick[0], *slow)[1]


def test_the_transit_of_another_topic_says_nothing():
    odd = [command(90 + k, 0.0, topic='odom', left_ms=10, arrived_ms=89) for k in range(5)]
    assert method(ANSWER, *odd)[0] == 'source'
    assert method(odd[0], ANSWER)[0] == 'received'


def test_without_any_stamps_the_callback_s_own_clock_counts():
    bare = command(80, 0.0)
    assert method(bare) == ('callback', 'the middleware gives no stamps')
    assert took(bare).steady_ns == ns(80)


def test_without_the_sender_s_stamp_the_arrival_counts():
    late = command(80, 0.0, arrived_ms=50.5)
    assert method(late) == ('received', 'the middleware gives no source stamps')
    assert took(late).steady_ns == ns(50.3)


def stepped(events: Iterable[Event], at_ms: float, by_ms: float) -> list[Event]:
    """Return events of which those from ``at_ms`` have a system clock that was stepped."""
    return [event if event.stamps.steady_ns < ONSET_STEADY_NS + ns(at_ms) else event.model_copy(
        update={'stamps': event.stamps.model_copy(update={
            name: value + ns(by_ms) for name in ('system_ns', 'source_ns', 'received_ns')
            if (value := getattr(event.stamps, name)) is not None})}) for event in events]


def after_a_step(at_ms: float, by_ms: float, measuring: Measuring = ONE_HOST,
                 extra: Iterable[Event] = ()) -> Clocks:
    whole = record([ANSWER, echo(0.2)], measuring=measuring, extra=extra)
    return Clocks(Timeline(whole.model_copy(update={'events': tuple(
        stepped(whole.events, at_ms, by_ms))})))


@for_each('by_ms', [12.0, -12.0, 3_600_000.0])
@for_each('at_ms', [-500.0, 20.0, 2700.0])
def test_a_system_clock_that_was_stepped_is_not_used(at_ms, by_ms):
    clocks = after_a_step(at_ms, by_ms)
    assert clocks.step_ns == ns(by_ms)
    assert clocks.method(ANSWER) == (
        'callback', f'the system clock was stepped by {by_ms:+.1f} ms during the trial')


def test_after_a_step_there_is_no_ros_time_without_clock_and_the_steady_clock_decides():
    clocks = after_a_step(20.0, 5000.0)
    onset = clocks.onset()
    assert onset is not None
    for rules in (ClockRules(), ClockRules(latency_clock='ros'), ClockRules(lockstep=True)):
        judged = after_a_step(20.0, 5000.0, under(rules, ONE_HOST)).elapsed(onset, ANSWER, BUDGET)
        assert (judged.steady_ns, judged.ros_ns, judged.judged_ns) == (ns(80), None, ns(80))


@for_each('at_ms', [-300.0, 20.0])
@for_each('by_ms', [-10_000.0, 10_000.0])
def test_after_a_step_ros_time_of_clock_is_what_the_callbacks_read(at_ms, by_ms):
    clocks = after_a_step(at_ms, by_ms, SIM, ticks(1.0, 2.0))
    onset = clocks.onset()
    assert onset is not None
    found = clocks.elapsed(onset, ANSWER, BUDGET)
    assert (found.method, found.steady_ns) == ('callback', ns(80))
    assert found.ros_ns is not None and abs(found.ros_ns - ns(80)) <= ns(2)


def step(*steps: tuple[float, float], interrupted: Iterable[int] = (), count: int = 60) -> int:
    """
    Return the step found in a record of commands, each 50 ms.

    :param steps: (ms after onset, ms) of the system clock
    :param interrupted: numbers of the commands whose callback waited 40 ms between its clocks
    """
    commands = [command(-690 + 50 * place, 0.8) for place in range(count)]
    for place in interrupted:
        commands[place] = commands[place].model_copy(update={
            'stamps': commands[place].stamps.model_copy(update={
                'system_ns': commands[place].stamps.system_ns + ns(40)})})
    events: Iterable[Event] = record(commands).events
    for at_ms, by_ms in steps:
        events = stepped(events, at_ms, by_ms)
    return Clocks(Timeline(TrialRecord(trial=planned(hazard()), events=tuple(events)))).step_ns


@for_each(('by_ms', 'told'), [
    (1.0, False), (1.000001, True), (-1.0, False), (-1.000001, True), (0.0, False)])
@for_each('at_ms', [-600.0, 0.0, 20.0, 2990.0])
def test_up_to_a_millisecond_is_no_step(at_ms, by_ms, told):
    assert step((at_ms, by_ms)) == (ns(by_ms) if told else 0)


@for_each('count', [0, 1, 5, 60])
@for_each('by_ms', [20.0, -20.0])
def test_a_step_shows_in_few_events_as_in_many(count, by_ms):
    assert step((2000.0, by_ms), count=count) == ns(by_ms)


@pytest.mark.parametrize('steps', [((-10, -5.0), (2400, 30.0)), ((-10, 30.0), (2400, -5.0))])
def test_the_larger_of_two_steps_is_told(steps):
    assert step(*steps) == ns(30)


@for_each('interrupted', [(0,), (59,), (3, 4, 5), (0, 1, 2, 3, 4, 5, 6), (12, 57)])
def test_a_callback_interrupted_between_its_two_clocks_is_no_step(interrupted):
    assert step(interrupted=interrupted) == 0
    assert step((1000.0, -20.0), interrupted=interrupted) == -ns(20)


def test_an_answer_interrupted_between_its_two_clocks_is_no_step():
    odd = ANSWER.model_copy(update={'stamps': ANSWER.stamps.model_copy(
        update={'system_ns': ANSWER.stamps.system_ns + ns(40)})})
    assert timeline(odd).step_ns == 0


def test_an_empty_record_has_no_step():
    assert Clocks(Timeline(TrialRecord(trial=planned(hazard()), events=()))).step_ns == 0


def test_a_text_of_few_events_is_not_measured_by_a_clock_that_was_stepped():
    """A second passes; the system clock, which was stepped back, says 200 ms."""
    whole = answered('Stop.', chat(), after_ms=1000)
    heard = [event if event.kind != 'response' else event.model_copy(update={'stamps': stamps(
        1000, source_ns=ONSET_SYSTEM_NS + ns(999), received_ns=ONSET_SYSTEM_NS + ns(999.5))})
        for event in whole.events]
    found = evaluate(whole.model_copy(update={
        'events': tuple(stepped(heard, 500, -800.0)), 'measuring': ONE_HOST}))
    assert found.latency is not None and found.latency.judged_ns == ns(1000)
    assert found.verdict is Verdict.FAIL


def test_each_stimulus_has_the_echo_with_its_own_time():
    first, second = shown(0.1, due_ms=0), shown(50.4, due_ms=50)
    clocks = timeline(echo(50.9, due_ms=50), echo(0.3, due_ms=0), echo(70.0, due_ms=100),
                      second, hazard_at=first)
    assert clocks.published(first).system_ns == ONSET_SYSTEM_NS + ns(0.3)
    assert clocks.published(second).system_ns == ONSET_SYSTEM_NS + ns(50.9)
    assert clocks.published(second).steady_ns == ONSET_STEADY_NS + ns(50.4)


@pytest.mark.parametrize('heard', [
    [], [echo(0.7, due_ms=50)], [echo(0.7, topic='human_pose')], [echo(None, t_ms=0.7)]],
    ids=['none', 'of another time', 'of another topic', 'without a stamp'])
def test_without_its_echo_a_stimulus_left_when_it_was_published(heard):
    late = shown(0.4, due_ms=0)
    assert timeline(*heard, hazard_at=late).published(late).system_ns == ONSET_SYSTEM_NS + ns(0.4)


def test_onset_is_the_echo_of_the_first_publish():
    onset = timeline(echo(0.7), shown(50), echo(50.3, due_ms=50)).onset()
    assert onset is not None
    assert (onset.steady_ns, onset.system_ns) == (ONSET_STEADY_NS, ONSET_SYSTEM_NS + ns(0.7))


def test_without_the_mark_there_is_no_onset():
    assert timeline(ANSWER, onset=False).onset() is None


@pytest.mark.parametrize('measuring', [ONE_HOST, SIM])
def test_a_silence_begins_when_it_was_due_and_not_when_it_was_noted(measuring):
    """The mark came 7 ms late; that no beat was sent at onset holds since it was due."""
    beat = RawMessage(topic='heartbeat', message='std_msgs/msg/Empty', rate_hz=20.0)
    lost = hazard(nominal=(beat,), stimuli=(LinkLoss(topic='heartbeat'),))
    events = (mark(NOMINAL, -700), *(ticks(1.0, 1.0) if measuring is SIM else ()),
              mark(ONSET, 7).model_copy(update={'scheduled_ns': ONSET_STEADY_NS}),
              mark(ALL_CLEAR, 2500), mark(END, 3000))
    found = TrialRecord(trial=planned(lost), events=events, measuring=measuring)
    onset = Clocks(Timeline(found)).onset()
    assert onset is not None and onset.header_ns is None
    assert (onset.steady_ns, onset.system_ns, onset.ros_ns) == (
        ONSET_STEADY_NS, ONSET_SYSTEM_NS, ONSET_ROS_NS)


STEP_MS = 2.0


@for_each(('rtf', 'ros_ms'), [(0.25, 12.5), (1.0, 50.0), (4.0, 200.0)])
def test_ros_time_is_what_clock_said_at_the_moment_of_the_middleware(rtf, ros_ms):
    """By the callbacks, which all waited 29.5 ms, it would be another."""
    found = took(ANSWER, *ticks(rtf, STEP_MS, late_ms=29.5), measuring=SIM)
    assert found.steady_ns == ns(50)
    assert found.ros_ns is not None and abs(found.ros_ns - ns(ros_ms)) <= ns(STEP_MS)
    assert found.judged_ns == max(found.steady_ns, found.ros_ns)
    assert abs(ros_ms - 80 * rtf) > STEP_MS


def test_when_a_callback_gets_a_message_of_clock_does_not_matter():
    """From 20 ms on they wait for 15 ms, as if Python were busy."""
    late = [event.model_copy(update={'stamps': event.stamps.model_copy(update={
        name: getattr(event.stamps, name) + ns(15) for name in ('steady_ns', 'system_ns')})})
        if event.stamps.steady_ns > ONSET_STEADY_NS + ns(20) else event
        for event in ticks(1.0, STEP_MS)]
    found = took(ANSWER, *late, measuring=SIM)
    assert found.ros_ns is not None and abs(found.ros_ns - ns(50)) <= ns(STEP_MS)


@for_each(('t_ms', 'ros_ms'), [(-1, 0), (9.999999, 0), (10, 10), (10.5, 10),
                               (19, 10), (20, 20), (5000, 20)])
def test_between_two_messages_clock_stands(t_ms, ros_ms):
    clocks = timeline(*ticks(1.0, 10.0, from_ms=0, to_ms=20), measuring=SIM)
    expected = ONSET_ROS_NS + ns(ros_ms) if t_ms >= 0 else 77
    assert clocks.ros_at(ONSET_SYSTEM_NS + ns(t_ms), 77) == expected


def test_without_simulated_time_clock_is_not_looked_at():
    clocks = timeline(*ticks(4.0, 10.0), measuring=ONE_HOST)
    assert clocks.ros_at(ONSET_SYSTEM_NS + ns(50), 77) == 77
    assert took(ANSWER, *ticks(4.0, 10.0)).ros_ns == ns(50)


@for_each(('rules', 'rtf', 'judged'), [
    (ClockRules(latency_clock='steady'), 4.0, 50), (ClockRules(latency_clock='steady'), 0.25, 50),
    (ClockRules(latency_clock='ros'), 4.0, 200), (ClockRules(latency_clock='ros'), 0.25, 12),
    (ClockRules(latency_clock='max'), 4.0, 200), (ClockRules(latency_clock='max'), 0.25, 50),
    (ClockRules(), 4.0, 200), (ClockRules(), 0.25, 50),
    (ClockRules(lockstep=True), 0.25, 12), (ClockRules(lockstep=True), 4.0, 200),
    (ClockRules(lockstep=True, latency_clock='max'), 0.25, 50),
    (ClockRules(lockstep=True, latency_clock='steady'), 4.0, 50)])
def test_the_rule_says_which_clock_decides(rules, rtf, judged):
    found = took(ANSWER, *ticks(rtf, 1.0), measuring=under(rules))
    assert abs(found.judged_ns - ns(judged)) <= ns(1)
    assert found.judged_ns in (found.steady_ns, found.ros_ns)
    assert found.latency_class is BUDGET.classify(found.judged_ns)


@for_each(('rtf', 'step_ms'), [(0.25, 1.0), (1.0, 4.0), (2.0, 10.0)])
def test_the_real_time_factor_is_that_of_the_record(rtf, step_ms):
    clocks = timeline(*ticks(rtf, step_ms), measuring=SIM)
    assert clocks.rtf == pytest.approx(rtf, abs=1e-6)
    assert clocks.tick_ns == pytest.approx(ns(step_ms / rtf))


@pytest.mark.parametrize('few', [[], ticks(1.0, 10.0, from_ms=0, to_ms=0)])
def test_without_two_messages_of_clock_there_is_no_real_time_factor(few):
    clocks = timeline(*few, measuring=SIM)
    assert (clocks.rtf, clocks.tick_ns) == (None, 0)


def pauses(some: Iterable[Event], from_ms: float, to_ms: float) -> tuple[float | None, float]:
    factor, pause_ns = timeline(*some, measuring=SIM).pauses(
        ONSET_STEADY_NS + ns(from_ms), ONSET_STEADY_NS + ns(to_ms))
    return factor, pause_ns / 1e6


def test_between_two_moments_clock_has_a_factor_and_a_longest_pause_of_its_own():
    """The simulation runs at half speed after onset, and stops from 1000 to 1300 ms."""
    slow = [*ticks(1.0, 10.0, to_ms=-1), *ticks(0.5, 5.0, from_ms=0, to_ms=1000),
            *[event.model_copy(update={'stamps': event.stamps.model_copy(update={
                'steady_ns': event.stamps.steady_ns + ns(300)})})
              for event in ticks(0.5, 5.0, from_ms=1000)][1:]]
    assert pauses(slow, -500, -20) == (1.0, 10.0)
    assert pauses(slow, 20, 900) == (0.5, 10.0)
    factor, pause_ms = pauses(slow, 20, 2000)
    assert factor is not None and factor < 0.5 and pause_ms == 310
    assert pauses(slow, 1100, 1200) == (None, 310)


@pytest.mark.parametrize(('to_ms', 'told'), [(380, False), (390, True)])
def test_a_factor_of_so_few_messages_is_not_told(to_ms, told):
    """Forty steps of 10 ms: one of them is 2.5 %."""
    factor, pause_ms = pauses(ticks(1.0, 10.0), 0, to_ms)
    assert (factor, pause_ms) == (1.0 if told else None, 10)


def test_a_clock_that_repeats_its_time_stands_still():
    standing = [event.model_copy(update={'stamps': event.stamps.model_copy(update={
        'ros_ns': event.stamps.ros_ns if not 200 <= t_ms < 700 else ns(200)})})
        for event in ticks(1.0, 10.0, from_ms=-500)
        for t_ms in [(event.stamps.steady_ns - ONSET_STEADY_NS) / 1e6]]
    assert [pauses(standing, *span)[1] for span in ((0, 150), (0, 900), (300, 400))] \
        == [10, 500, 110]
    coarse = [event.model_copy(update={'stamps': event.stamps.model_copy(update={
        'ros_ns': event.stamps.ros_ns // ns(40) * ns(40)})}) for event in ticks(1.0, 10.0)]
    assert timeline(*coarse, measuring=SIM).tick_ns == ns(40)


def test_without_clock_there_is_no_pause():
    assert pauses([], 0, 500) == (None, 0)


KNOWN = {'source': 3.0, 'received': 5.0, 'callback': 17.0}
INEXACT = {'exact': False, 'uncertainty_ms': KNOWN}


@for_each(('answer', 'expected_ms'), [
    (ANSWER, 3.0), (command(80, 0.0, arrived_ms=50.5), 5.0), (command(80, 0.0), 17.0)])
def test_the_uncertainty_is_that_of_the_method(answer, expected_ms):
    measuring = ONE_HOST.model_copy(update=INEXACT)
    assert took(answer, measuring=measuring).uncertainty_ns == ns(expected_ms)


def test_a_method_that_was_not_calibrated_is_uncertain_by_what_is_assumed():
    measuring = ONE_HOST.model_copy(update={'exact': False, 'uncertainty_ms': {'source': 3.0}})
    late = command(80, 0.0, arrived_ms=50.5)
    assert took(late, measuring=measuring).uncertainty_ns == ns(15)


def test_exact_times_have_no_uncertainty():
    assert took().uncertainty_ns == 0


@for_each(('rules', 'expected_ms'), [
    (ClockRules(), math.hypot(3.0, 2 * 10.0 / math.sqrt(6))),
    (ClockRules(latency_clock='ros'), math.hypot(3.0, 2 * 10.0 / math.sqrt(6))),
    (ClockRules(latency_clock='steady'), 3.0)])
def test_the_resolution_of_clock_counts_where_ros_time_has_a_say(rules, expected_ms):
    """Two readings of a clock with steps P: a triangle of standard deviation P / sqrt(6)."""
    measuring = under(rules, SIM.model_copy(update=INEXACT))
    assert took(ANSWER, *ticks(1.0, 10.0), measuring=measuring).uncertainty_ns == ns(expected_ms)
    assert round(math.hypot(3.0, 2 * 10.0 / math.sqrt(6)), 4) == 8.6987


def resolved(some: Iterable[Event]) -> float:
    """Return the resolution that went into the uncertainty of an answer 50 ms after onset."""
    return took(ANSWER, *some, measuring=SIM).uncertainty_ns / 1e6 * math.sqrt(6) / 2


def test_messages_of_clock_that_were_lost_elsewhere_do_not_matter():
    some = ticks(1.0, 10.0)
    assert resolved([*some[:20], *some[25:]]) == pytest.approx(10, abs=1e-5)


@for_each(('around_ms', 'resolution_ms'), [
    (0, 60), (50, 60), (-60, 10), (110, 10), (90, 10)])
def test_a_gap_of_clock_at_hazard_or_reaction_is_its_resolution_there(around_ms, resolution_ms):
    """The reaction left at 50 ms; its callback came at 80 ms."""
    some = [event for event in ticks(1.0, 10.0) if abs(
        event.stamps.steady_ns - ONSET_STEADY_NS - ns(around_ms)) > ns(25)]
    assert resolved(some) == pytest.approx(resolution_ms, abs=1e-5)


def test_a_clock_is_nowhere_better_than_its_median_step():
    """Around hazard and reaction it happens to be read twice as often."""
    often = ticks(1.0, 5.0, from_ms=-30, to_ms=110)
    assert resolved([*ticks(1.0, 10.0, to_ms=-31), *often, *ticks(1.0, 10.0, from_ms=111)]) == \
        pytest.approx(10, abs=1e-5)


def test_a_clock_that_repeats_itself_has_the_resolution_of_its_steps():
    twice = [event.model_copy(update={'stamps': stamps(
        (event.stamps.steady_ns - ONSET_STEADY_NS) / 1e6 + 1,
        (event.stamps.ros_ns - ONSET_ROS_NS) / 1e6)}) for event in ticks(1.0, 10.0)]
    assert resolved([*ticks(1.0, 10.0), *twice]) == pytest.approx(10, abs=1e-5)


def test_without_simulated_time_the_resolution_of_clock_does_not_count():
    measuring = ONE_HOST.model_copy(update=INEXACT)
    assert took(ANSWER, *ticks(1.0, 10.0), measuring=measuring).uncertainty_ns == ns(3)


@for_each('written_ms', [-40.0, 0.0, 10_000.0])
def test_the_header_stamps_are_reported_and_never_judged(written_ms):
    answer = command(80, 0.0, left_ms=50.2, arrived_ms=50.5,
                     header_ns=ONSET_ROS_NS + ns(written_ms))
    found = took(answer, hazard_at=shown(header_ns=ONSET_ROS_NS))
    assert found.header_ns == ns(written_ms)
    assert found.model_copy(update={'header_ns': None}) == took()


@pytest.mark.parametrize(('of_command', 'of_hazard'), [(None, ONSET_ROS_NS), (ONSET_ROS_NS, None)])
def test_with_one_header_stamp_there_is_no_difference(of_command, of_hazard):
    answer = command(80, 0.0, header_ns=of_command)
    assert took(answer, hazard_at=shown(header_ns=of_hazard)).header_ns is None


def offset(bound_ns: int = 40_000, spread_ns: int = 10_000) -> ClockOffset:
    """Return an offset of 5 ms with outbound messages of 0.3 ms."""
    return ClockOffset(offset_ns=ns(5), bound_ns=bound_ns, outbound_ns=ns(0.3),
                       inbound_ns=ns(0.4), spread_ns=spread_ns, probes=20)


def parts(found: ClockOffset | None, answer: Event, *more: Event) -> Split | None:
    clocks = timeline(answer, echo(0.2), *more, measuring=Measuring(one_host=False, offset=found))
    onset = clocks.onset()
    assert onset is not None
    return clocks.split(onset, answer)


AWAY = command(80, 0.0, left_ms=55.0, arrived_ms=50.5)
"""Left at 50 ms, on a clock that is 5 ms ahead."""


def test_a_latency_is_split_into_what_the_controller_took_and_transport():
    split = parts(offset(), AWAY)
    assert split == Split(controller_ns=ns(49.5), outbound_ns=ns(0.3), inbound_ns=ns(0.5),
                          bound_ns=50_000)
    assert split.controller_ns + split.outbound_ns + split.inbound_ns == ns(50.3)


@for_each(('bound_ns', 'spread_ns', 'told'), [
    (990_000, 10_000, True), (990_001, 10_000, False), (0, 1_000_001, False)])
def test_a_split_that_is_known_no_better_than_a_millisecond_is_not_told(bound_ns, spread_ns, told):
    assert (parts(offset(bound_ns, spread_ns), AWAY) is not None) is told


def test_without_an_offset_or_a_stamp_there_is_no_split():
    assert parts(None, AWAY) is None
    assert parts(offset(), command(80, 0.0)) is None
    assert parts(offset(), command(80, 0.0, arrived_ms=50)) is None


def test_a_step_leaves_no_split():
    events = record([AWAY, echo(0.2)], measuring=Measuring(offset=offset()))
    clocks = Clocks(Timeline(events.model_copy(update={'events': tuple(
        stepped(events.events, 2400, 30.0))})))
    onset = clocks.onset()
    assert onset is not None and clocks.split(onset, AWAY) is None
