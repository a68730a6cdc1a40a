# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Real time to simulated time, and how fast a simulator lets it pass."""

from cases import for_each
import pytest
from safety_scenarios.errors import ClockError
from safety_scenarios.ros.link.clock import SimulatedTime
from safety_scenarios.ros.worlds.simulator_link.protocol import RealTime
from safety_scenarios.scenario.event import Stamps

MS = 1_000_000
DAY = 86_400_000 * MS


def ticking(factor: float, every_ms: int = 4, count: int = 10) -> SimulatedTime:
    """Return the time of a simulator that began at 5 s, at midnight."""
    law = SimulatedTime()
    law.factor = factor
    for tick in range(count):
        real_ns = tick * every_ms * MS
        law.tell(DAY + real_ns, 5_000 * MS + round(real_ns * factor), 7)
    return law


@for_each('factor', [0.5, 1.0, 3.0])
def test_between_two_ticks_time_runs_evenly(factor):
    law = ticking(factor)
    assert law.at(DAY + 10 * MS) == 5_000 * MS + round(10 * MS * factor)


def test_after_the_last_tick_it_goes_no_farther_than_to_the_next():
    law = ticking(3.0)
    assert law.at(DAY + 37 * MS) == 5_000 * MS + 111 * MS
    assert law.at(DAY + 400 * MS) == 5_000 * MS + 120 * MS, 'a simulator that is held up'


def test_in_lock_step_it_stands_between_two_ticks():
    law = ticking(3.0)
    law.factor = 0.0
    assert law.at(DAY + 10 * MS) == 5_000 * MS + 24 * MS
    assert law.at(DAY + 400 * MS) == 5_000 * MS + 108 * MS


def test_before_the_first_tick_nobody_knows_a_time():
    assert SimulatedTime().at(DAY) == 0


def test_what_was_sent_before_the_first_tick_that_is_kept_is_reckoned_back():
    assert ticking(2.0).at(DAY - 10 * MS) == 5_000 * MS - 20 * MS


def test_a_simulator_that_begins_anew_has_no_past():
    law = ticking(1.0)
    law.tell(DAY + 50 * MS, 1_000 * MS, 7)
    assert law.at(DAY + 50 * MS) == 1_000 * MS
    assert law.at(DAY + 60 * MS) == 1_000 * MS, 'how far apart its ticks are is not known yet'


def test_every_stamp_is_of_one_clock_and_the_order_is_kept():
    found = ticking(2.0).stamps(Stamps(
        steady_ns=3, system_ns=DAY + 12 * MS, ros_ns=5, source_ns=DAY + 10 * MS,
        received_ns=DAY + 11 * MS, header_ns=17), 5_030 * MS)
    assert found == Stamps(
        steady_ns=5_030 * MS, system_ns=5_030 * MS, ros_ns=5_030 * MS, source_ns=5_020 * MS,
        received_ns=5_022 * MS, header_ns=17)


def test_a_step_of_the_system_clock_is_told():
    law = ticking(1.0, count=20)
    law.check()
    for tick in range(20, 30):
        law.tell(DAY + tick * 4 * MS, 5_000 * MS + tick * 4 * MS, 7 + 30 * MS)
    with pytest.raises(ClockError, match=r'stepped by \+30\.0 ms'):
        law.check()


@for_each('factor', [0.5, 1.0, 3.0])
def test_a_simulator_keeps_absolute_deadlines(factor):
    pace = RealTime(factor, 1_000, 2_000)
    for tick in range(1, 100):
        pace.reached(pace.at(2_000 + tick * 4 * MS), 2_000 + tick * 4 * MS + MS)
    assert pace.at(2_000 + 400 * MS) == 1_000 + 400 * MS * factor


@for_each(('factor', 'fastest'), [(0.5, 1.0), (1.0, 1.1), (3.0, 3.3)])
def test_who_was_held_up_catches_up_without_haste(factor, fastest):
    pace = RealTime(factor, 0, 0)
    pace.reached(0, 200 * MS)
    assert pace.at(200 * MS) == 0, 'the time is lost at first'
    before, now_ns = 0, 200 * MS
    while pace.at(now_ns) < round(now_ns * factor) - factor * MS:
        now_ns += 4 * MS
        reached = pace.at(now_ns)
        assert reached - before <= 4 * MS * fastest * 1.11
        pace.reached(reached, now_ns)
        before = reached
        assert now_ns < 4_000 * MS, 'it catches up in the end'


def test_what_a_host_has_taken_for_long_stays_lost():
    pace = RealTime(1.0, 0, 0)
    pace.reached(0, 60_000 * MS)
    now_ns = 60_000 * MS
    for _ in range(5_000):
        now_ns += 4 * MS
        pace.reached(pace.at(now_ns), now_ns)
    assert pace.at(now_ns) == pytest.approx(now_ns - 59_000 * MS, abs=MS)
