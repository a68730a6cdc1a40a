# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""No motion on old data: by the stamp that the data carry, for each topic, silence included."""

import math
from typing import Any

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.judging.invariants.command_stream import Fresh
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.timing import ClockOffset, Measuring
from safety_scenarios.scenario.verdict import Verdict
from steps import growth
from unit.records import (
    command,
    driving,
    hazard,
    NOMINAL_MS,
    ns,
    ONSET_ROS_NS,
    ONSET_STEADY_NS,
    record,
    shown,
    SIGNALS,
    stages,
)

FRESH = Fresh(name='f', topics=('scan',), max_age_ms=300.0, signal='speed', at_most=0.05)
BOTH = Fresh(name='f', topics=('scan', 'heartbeat'), max_age_ms=300.0, signal='speed')


def scans(from_ms: float = NOMINAL_MS, to_ms: float = 0.0, every_ms: float = 50.0,
          topic: str = 'scan') -> list[Event]:
    return [shown(t_ms, topic, hazard=False) for t_ms, _ in driving(from_ms, to_ms,
                                                                    every_ms=every_ms)]


def frozen(t_ms: float, stamp_ms: float) -> Event:
    """Return a scan that is sent with an old stamp."""
    return shown(t_ms, header_ns=ONSET_ROS_NS + ns(stamp_ms))


def judged(commands: Any, data: list[Event], invariant: Fresh = FRESH,
           silence: Silence | None = None, **changes: Any) -> Finding:
    """Judge commands by data, the last of which is sent 20 ms before onset unless told else."""
    return invariant.check(stages(record(commands, hazard(silence=silence), extra=data,
                                         hazard_at=shown(0.0, 'lost'), **changes)))


def until(stop_ms: float, speed: float | None = 0.8) -> list[tuple[float, float | None]]:
    return [*driving(NOMINAL_MS + 20, stop_ms, every_ms=20.0), (stop_ms, speed),
            *driving(stop_ms + 20, 3000, 0.0)]


LAST_MS = -50.0
"""When the last of ``scans()`` is sent."""


def test_the_margin_is_the_time_that_the_oldest_data_had_left():
    finding = judged(until(100), scans())
    assert (finding.verdict, finding.unit, finding.at_ms) == (Verdict.PASS, 's', 100.0)
    assert finding.margin == pytest.approx(0.15)


def test_data_of_the_exact_age_are_fresh_and_a_nanosecond_more_is_not():
    assert judged(until(LAST_MS + 300), scans()).margin == 0.0
    assert judged(until(LAST_MS + 300), scans()).verdict is Verdict.PASS
    finding = judged(until(LAST_MS + 300.000001), scans())
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, -1e-9)


def test_going_on_without_data_fails_with_the_topic_and_the_age():
    finding = judged(driving(NOMINAL_MS, 3000), scans())
    assert (finding.verdict, finding.at_ms) == (Verdict.FAIL, 2950.0)
    assert 'scan that was 2700 ms older' in finding.reason


def test_a_command_that_is_held_long_after_its_data_are_too_old_leaves_it_open():
    def held_until(t_ms: float, *later: Event) -> Finding:
        return judged([*driving(NOMINAL_MS + 20, 240, every_ms=20.0), (240, 0.8),
                       *driving(t_ms, 3000, 0.0)], [*scans(), *later])

    assert held_until(350).verdict is Verdict.PASS
    found = held_until(500)
    assert (found.verdict, 'scan was 250 ms too old' in found.reason) == (
        Verdict.INCONCLUSIVE, True)
    assert held_until(500, frozen(495, 495)).verdict is Verdict.INCONCLUSIVE


def test_standing_still_needs_no_data():
    assert judged(until(100), scans()).verdict is Verdict.PASS
    assert judged(until(900, 0.05), scans(to_ms=900)).verdict is Verdict.PASS
    assert judged([*until(100)[:-10], (2900, 0.05)], scans()).verdict is Verdict.PASS
    assert judged([*until(100)[:-10], (2900, math.nextafter(0.05, 1))], scans()).verdict is \
        Verdict.FAIL


def test_new_data_allow_motion_again():
    back = [*until(100), (2600, 0.8)]
    assert judged(back, [*scans(), shown(2550.0)]).verdict is Verdict.PASS
    assert judged(back, [*scans(), shown(2650.0)]).verdict is Verdict.FAIL


def test_frozen_data_are_as_old_as_their_stamp():
    stuck = [frozen(t_ms, LAST_MS) for t_ms, _ in driving(0, 2500)]
    assert judged(until(250), [*scans(), *stuck]).verdict is Verdict.PASS
    finding = judged(until(251), [*scans(), *stuck])
    assert (finding.verdict, finding.margin) == (Verdict.FAIL, pytest.approx(-0.001))


def test_a_stamp_that_goes_back_makes_nothing_younger_or_older():
    back = [frozen(0.0, -400.0)]
    assert judged(until(100), [*scans(), *back]).margin == pytest.approx(0.15)


def test_the_oldest_of_several_topics_counts():
    beats = scans(to_ms=-300, topic='heartbeat')
    finding = judged(until(0), [*scans(to_ms=2000), *beats], BOTH)
    assert finding.verdict is Verdict.FAIL and 'heartbeat' in finding.reason
    beats = scans(to_ms=2000, topic='heartbeat')
    assert judged(until(0), [*scans(to_ms=2000), *beats], BOTH).verdict is Verdict.PASS


def test_a_topic_on_which_nothing_is_sent_is_inconclusive():
    finding = judged(until(-500), scans(), BOTH)
    assert finding.verdict is Verdict.INCONCLUSIVE and 'heartbeat' in finding.reason
    assert judged(driving(NOMINAL_MS, 3000), []).verdict is Verdict.INCONCLUSIVE


def test_motion_long_before_the_first_message_is_inconclusive():
    late = scans(from_ms=-300, to_ms=2000, topic='heartbeat')
    finding = judged(until(0), [*scans(to_ms=2000), *late], BOTH)
    assert finding.verdict is Verdict.INCONCLUSIVE and 'nothing had been sent' in finding.reason
    soon = scans(from_ms=-500, to_ms=2000, topic='heartbeat')
    assert judged(until(0), [*scans(to_ms=2000), *soon], BOTH).verdict is Verdict.PASS


def test_a_command_in_the_first_moment_of_a_trial_is_no_violation():
    first = [(NOMINAL_MS + 1, 0.8), *until(0)[5:]]
    assert judged(first, scans(from_ms=NOMINAL_MS + 5)).verdict is Verdict.PASS


def test_messages_of_other_kinds_and_topics_are_no_data():
    echo = [event.model_copy(update={'kind': 'echo'}) for event in scans(to_ms=2000)]
    other = scans(to_ms=2000, topic='image')
    assert judged(until(500), [*scans(), *echo, *other]).verdict is Verdict.FAIL


def test_no_command_is_inconclusive():
    assert judged([], scans()).verdict is Verdict.INCONCLUSIVE


def test_no_command_that_moves_is_inconclusive():
    assert judged(driving(-600, 3000, 0.0), scans()).verdict is Verdict.INCONCLUSIVE


def test_commands_that_cease_in_motion_leave_the_answer_open():
    silent = driving(NOMINAL_MS + 20, 100)
    finding = judged(silent, scans())
    assert finding.verdict is Verdict.INCONCLUSIVE and 'was in force' in finding.reason
    resumed = [*silent, (2600, 0.8)]
    fresh_again = scans(from_ms=2500, to_ms=3000)
    assert judged(resumed, [*scans(), *fresh_again]).verdict is Verdict.INCONCLUSIVE
    assert judged(silent, scans(to_ms=3000)).verdict is Verdict.PASS


def test_a_silence_that_stops_the_robot_in_time_is_no_motion():
    silent = driving(NOMINAL_MS + 20, 100)
    for timeout_ms, verdict in ((200.0, Verdict.PASS), (900.0, Verdict.INCONCLUSIVE)):
        stop = Silence(policy='stop', driver_timeout_ms=timeout_ms)
        assert judged(silent, scans(), silence=stop).verdict is verdict


@for_each('value', [math.nan, None])
@for_each('t_ms', [-500, 50, 2000])
def test_an_unknown_value_never_passes(value, t_ms):
    assert judged([*until(100), (t_ms, value)], scans()).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('value', [math.nan, None])
def test_a_violation_beside_an_unknown_value_fails(value):
    assert judged([*until(100), (400, value), (700, 0.8)], scans()).verdict is Verdict.FAIL


@pytest.mark.parametrize('value', [math.inf, -math.inf])
def test_an_infinite_speed_is_motion(value):
    assert judged([*until(100), (400, value)], scans()).verdict is Verdict.FAIL


@pytest.mark.parametrize('order', [(0.8, 0.0), (0.0, 0.8)])
def test_of_two_commands_at_one_instant_the_one_that_moves_counts(order):
    assert judged([*until(100), *((700.5, value) for value in order)], scans()).verdict is \
        Verdict.FAIL


def test_a_command_on_another_topic_is_no_motion():
    stray = command(700.0, Message(type='std_msgs/msg/String', data={}), topic='speech')
    assert judged([*until(100), stray], scans()).verdict is Verdict.PASS


def test_the_speed_is_read_from_its_own_signal():
    turning = Fresh(name='f', topics=('scan',), max_age_ms=300.0, signal='turn')
    assert 'turn' in SIGNALS
    assert judged(until(900), scans(), turning).verdict is Verdict.INCONCLUSIVE


@for_each('changes', [
    {'topics': ()}, {'max_age_ms': 0.0}, {'at_most': -0.1}, {'max_age_ms': math.nan}])
def test_limits_that_are_none_are_refused(changes):
    with pytest.raises(ValidationError):
        Fresh(**{'name': 'f', 'topics': ('scan',), 'max_age_ms': 300.0, 'signal': 'speed',
                 **changes})


def test_twenty_thousand_commands_are_judged_with_their_verdict():
    many = record(driving(NOMINAL_MS + 20, 3000, every_ms=0.15), hazard(), extra=scans(),
                  hazard_at=shown(0.0, 'lost'))
    assert FRESH.check(stages(many)).verdict is Verdict.FAIL


def test_twice_the_commands_take_twice_the_steps():
    def check(count):
        FRESH.check(stages(record(driving(NOMINAL_MS + 20, 3000, every_ms=3000 / count), hazard(),
                                  extra=scans(), hazard_at=shown(0.0, 'lost'))))
    assert growth(check, 500) < 2.2


@for_each('ahead_ms', [0, 200, 1000, 5000, -200])
def test_frozen_data_grow_old_however_far_another_clock_is_ahead(ahead_ms):
    """Where that is known; the stamp of a clock that is ahead is never older than its arrival."""
    def stamped(t_ms: float, stamp_ms: float) -> Event:
        return shown(t_ms, header_ns=ONSET_ROS_NS + ns(stamp_ms + ahead_ms), hazard=False)
    data = [*(stamped(t_ms, t_ms) for t_ms, _ in driving(NOMINAL_MS, 0)),
            *(stamped(t_ms, -20) for t_ms, _ in driving(0, 2500))]
    known = Measuring(exact=True, offset=ClockOffset(
        offset_ns=ns(ahead_ms), bound_ns=0, outbound_ns=0, inbound_ns=0, spread_ns=0, probes=9))
    assert judged(until(100), data, measuring=known).verdict is Verdict.PASS
    assert judged(until(400), data, measuring=known).verdict is Verdict.FAIL
    if ahead_ms >= 0:
        assert judged(until(400), data).verdict is Verdict.FAIL


@pytest.mark.parametrize('by_ms', [-10_000, 10_000])
@pytest.mark.parametrize('stop_ms', [100, 3000])
def test_a_system_clock_that_was_stepped_tells_no_age(stop_ms, by_ms):
    """Set back, it made data younger that no longer came; without /clock it is ROS time."""
    commands = until(stop_ms) if stop_ms < 3000 else driving(NOMINAL_MS, 3000)
    whole = record(commands, hazard(), extra=scans(), hazard_at=shown(0.0, 'lost'))

    def judged_with(measuring: Measuring) -> Finding:
        return FRESH.check(stages(whole.model_copy(update={'measuring': measuring, 'events': tuple(
            event if event.stamps.steady_ns < ONSET_STEADY_NS + ns(200)
            else event.model_copy(update={'stamps': event.stamps.model_copy(update={
                'system_ns': event.stamps.system_ns + ns(by_ms),
                'ros_ns': event.stamps.ros_ns + (0 if measuring.sim_time else ns(by_ms))})})
            for event in whole.events)})))

    found = judged_with(Measuring())
    assert found.verdict is Verdict.INCONCLUSIVE and 'system clock was stepped' in found.reason
    assert judged_with(Measuring(sim_time=True)).verdict is (
        Verdict.PASS if stop_ms < 3000 else Verdict.FAIL)


def test_stamps_that_nobody_has_set_tell_no_age():
    data = [shown(t_ms, header_ns=0, hazard=False) for t_ms, _ in driving(NOMINAL_MS, 2900)]
    found = judged(until(100), data)
    assert found.verdict is Verdict.INCONCLUSIVE and 'stamps of zero' in found.reason
    assert judged(until(100), [*data[:1], *scans()]).verdict is Verdict.PASS
