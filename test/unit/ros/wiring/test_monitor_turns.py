# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a monitor notes of itself and of its clock, from turn to turn, without anybody there."""

from types import SimpleNamespace
from typing import Any

import pytest
from safety_scenarios.campaign.folder.many import MonitorRun
from safety_scenarios.errors import ClockError
from safety_scenarios.ros import monitoring
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.monitoring import Monitoring
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.settings import MonitorSettings
from unit.operation import monitor_file

S = 1_000_000_000


class Time:
    """Clocks of a computer that pass as a test says (ns)."""

    def __init__(self) -> None:
        self.now_ns, self.ran_ns = 10**12, 0

    def monotonic_ns(self) -> int:
        return self.now_ns

    def time_ns(self) -> int:
        return 1_700_000_000 * S + self.now_ns

    def thread_time_ns(self) -> int:
        return self.ran_ns


class Quiet(Monitoring):
    """A monitor that hears nothing; ``noted`` has what it put into its window by itself."""

    def __init__(self, folder: Any, clock: RosClock) -> None:
        self.noted: list[Event] = []
        settings = MonitorSettings(output=str(folder / 'run'), use_sim_time=clock.sim_time)
        super().__init__(
            monitor_file(), settings, SimpleNamespace(  # type: ignore[arg-type]
                troubles={}, take=lambda: iter(()), follow_graph=lambda: None), clock,
            SimpleNamespace(  # type: ignore[arg-type]
                publish=lambda *_: False, status=lambda *_, **__: None),
            MonitorRun(settings, monitor_file(), {}))

    def _add(self, event: Event) -> None:
        self.noted.append(event)
        super()._add(event)


@pytest.fixture
def passing(monkeypatch):
    found = Time()
    monkeypatch.setattr(monitoring, 'time', found)
    return found


def test_a_simulation_that_was_reset_is_noted_once_and_then_watched_again(tmp_path, passing):
    clock = RosClock()
    clock.sim_time = True
    monitor = Quiet(tmp_path, clock)
    monitor._rest_ns = 20_000_000
    for said_s in (5.0, 5.02, 1.0, 1.02, 1.04):
        passing.now_ns += 20_000_000
        clock._advance(passing.now_ns, round(said_s * S))
        monitor._turn()
    assert {(event.kind, event.name) for event in monitor.noted} == {('fault', 'ClockError')}
    assert ['went back by 4020.0 ms' in (event.text or '') for event in monitor.noted] == [
        False, False, True, False, False]  # its pace is unknown before and after


@pytest.mark.parametrize(('looks_ms', 'quiet_from_ms'), [
    (range(0, 3000, 100), 1100), ((0, 100, 1700, 1800, 2600), None),
    ((0, 100, *range(1700, 3000, 100)), 2800)])
def test_a_clock_stands_still_that_this_process_could_have_heard_to_go_on(looks_ms, quiet_from_ms):
    """It said so as well of a /clock that went on, while the evaluator itself was stopped."""
    clock, quiet = RosClock(), list[int]()
    clock.sim_time = True
    clock._advance(10**12, 5 * S)
    for at_ms in looks_ms:
        try:
            clock.check(10**12 + at_ms * 1_000_000)
        except ClockError:
            quiet.append(at_ms)
    assert next(iter(quiet), None) == quiet_from_ms


@pytest.mark.parametrize(('factor', 'told'), [
    (0.1, '/clock ran at 0.10 of real time'), (0.95, ''), (1.05, ''),
    (5.0, '/clock ran at 5.00 of real time')])
def test_simulated_time_that_is_not_real_time_is_noted(tmp_path, passing, factor, told):
    """At 0.1 a good robot seemed silent for long, and at 5 one that was silent did not."""
    clock = RosClock()
    clock.sim_time = True
    monitor = Quiet(tmp_path, clock)
    monitor._rest_ns = 100_000_000
    for turn in range(25):
        passing.now_ns += 100_000_000
        clock._advance(passing.now_ns, round(5 * S + factor * turn * 0.1 * S))
        monitor._turn()
    assert all('pace of /clock is unknown' in (event.text or '') for event in monitor.noted[:20])
    assert [told in (event.text or '') for event in monitor.noted[20:]] == [True] * (
        5 if told else 0)


@pytest.mark.parametrize(('passed_ms', 'ran_ms', 'lost'), [
    (25, 1, []), (420, 1, [0.399]), (420, 395, []), (41, 1, [0.02])])
def test_how_long_a_monitor_could_not_run_is_noted(tmp_path, passing, passed_ms, ran_ms, lost):
    """It had meant to rest for 20 ms, and what it computed is not lost."""
    monitor = Quiet(tmp_path, RosClock())
    monitor._turn()
    monitor._rest_ns = 20_000_000
    passing.now_ns += passed_ms * 1_000_000
    passing.ran_ns += ran_ms * 1_000_000
    monitor._turn()
    assert [event.truth['lost'] for event in monitor.noted] == lost
    assert {event.kind for event in monitor.noted} <= {'stall'}
