# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Hears, judges, tells and keeps: what a monitor node does until it is told to end."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import queue
import threading
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from safety_scenarios.campaign.folder.many import MonitorRun
from safety_scenarios.errors import ClockError, described, SafetyScenariosError
from safety_scenarios.judging.latency.stalls import EVALUATOR, LEAST_NS
from safety_scenarios.judging.monitoring import LATE_NS, Level, NewViolation, Watch
from safety_scenarios.judging.sliding_window import declared
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.publishing import Diagnostics, invariant_statuses
from safety_scenarios.ros.monitor_subscriptions import Hearing
from safety_scenarios.scenario.event import Event, STALL_BEGAN, STALL_LOST, Stamps
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import MonitorSettings
from safety_scenarios.scenario.verdict import Verdict

_GRAPH_NS, _ALL_NS = 200_000_000, 1_000_000_000
_STEP_NS = 20_000_000
"""The system clock and the steady one drift apart by less from turn to turn; more is a step."""
_PACE_NS = 2_000_000_000
"""Over so long the pace of /clock is measured, which may tick ten times a second."""
_BEHIND_NS = 1_000_000_000
"""A monitor whose verdicts are later than this tells nothing."""


@dataclass
class _Pending:
    """A finding whose record still goes on."""

    found: NewViolation
    events: list[Event]
    until_ns: int
    size: int = 0


@dataclass
class _Counts:
    """What the monitor says about itself."""

    events: int = 0
    kept: int = 0
    not_kept: int = 0
    most_cost_ns: int = 0
    by_topic: dict[str, int] = field(default_factory=dict)


class Monitoring:
    """
    One run of a monitor.

    :param clock: ROS time
    :param diagnostics: take what is to be told
    :param kept: takes the records of findings
    """

    def __init__(self, scenario: Scenario, settings: MonitorSettings, hearing: Hearing,
                 clock: RosClock, diagnostics: Diagnostics, kept: MonitorRun) -> None:
        self._scenario, self._settings = scenario, settings
        self._hearing, self._clock = hearing, clock
        self._diagnostics, self._kept = diagnostics, kept
        Watch(scenario, settings, self._now()).judge(self._now())  # what is loaded once is loaded
        self._watch = Watch(scenario, settings, self._now())
        self._pending: list[_Pending] = []
        self._places: dict[str, str] = {}
        self._counts = _Counts()
        self._rates: dict[str, tuple[int, int, float]] = {}
        self._writer = _Writer()
        self._graph_ns = self._all_ns = self._rest_ns = 0
        self._ran = 0, 0
        """When this thread looked at itself (steady), and how long it had run by then (ns)."""
        self._paces = deque[tuple[int, int]]()
        """Steady and ROS time (ns) of the last turns."""
        self._offset_ns: int | None = None
        self._clock_trouble = ''

    def run(self, ended: threading.Event, healthy: Callable[[], None]) -> Verdict:
        """
        Go on until it is told to end; return what the whole run came to.

        :param healthy: raises when nothing is heard any more
        """
        period_s = self._settings.period_ms / 1e3
        while not ended.is_set():
            healthy()
            began_ns = time.monotonic_ns()
            self._turn()
            cost_ns = time.monotonic_ns() - began_ns
            self._counts.most_cost_ns = max(self._counts.most_cost_ns, cost_ns)
            wait_s = max(period_s - cost_ns / 1e9, cost_ns / 2e9)
            self._rest_ns = round(1e9 * wait_s)
            ended.wait(wait_s)
        self._turn()
        self._close_records(None)
        self._writer.close()
        self._kept.end(self._summary())
        return self._watch.verdict

    def _turn(self) -> None:
        """Take what has arrived, judge, and tell."""
        before_ns, until_ns = self._watch.judged_ns, time.monotonic_ns()
        if until_ns - self._graph_ns > _GRAPH_NS:
            self._graph_ns = until_ns
            self._hearing.follow_graph()
        self._watch.unheard = self._hearing.troubles
        for event in self._hearing.take():
            self._add(event)
        now = self._now()
        self._look_at_clock(now)
        self._look_at_itself(now)
        for found in self._watch.judge(now, until_ns):
            self._begin_record(found, now.steady_ns)
        is_due = now.steady_ns - self._all_ns > _ALL_NS
        if is_due:
            self._count_rates(now.steady_ns)
            self._all_ns = now.steady_ns
        has_changed = self._diagnostics.publish(self._statuses(now.steady_ns), now.ros_ns, is_due)
        lag_ns = time.monotonic_ns() - before_ns
        self._watch.keeps_up = lag_ns <= _BEHIND_NS
        if has_changed and self._watch.window.is_complete:
            self._watch.note_lag(lag_ns)
        self._close_records(now.steady_ns)

    def _add(self, event: Event) -> None:
        self._watch.add(event)
        self._counts.events += 1
        self._counts.by_topic[event.name] = self._counts.by_topic.get(event.name, 0) + 1
        for one in self._pending:
            if one.size < self._settings.max_record_mb * 5e5:
                one.events.append(event)
                one.size += event.size

    def _now(self) -> Stamps:
        steady_ns, system_ns = time.monotonic_ns(), time.time_ns()
        return Stamps.model_construct(
            steady_ns=steady_ns, system_ns=system_ns,
            ros_ns=self._clock.now_ns() if self._clock.sim_time else system_ns)

    def _look_at_clock(self, now: Stamps) -> None:
        """Put into the window, as a fault, that no time in it can be trusted."""
        text = ''
        try:
            self._clock.check(now.steady_ns)
        except SafetyScenariosError as error:
            text = str(error) if now.ros_ns else 'nothing has come on /clock yet'
            self._clock.go_on()
            self._paces.clear()
        text = text or self._uneven(now)
        offset_ns = now.system_ns - now.steady_ns
        if self._offset_ns is not None and abs(offset_ns - self._offset_ns) > _STEP_NS:
            text = text or (f'the system clock was stepped by '
                            f'{(offset_ns - self._offset_ns) / 1e6:+.1f} ms')
        self._offset_ns, self._clock_trouble = offset_ns, text
        if text:
            self._add(Event.model_construct(kind='fault', name=ClockError.__name__, stamps=now,
                                            text=text))

    def _uneven(self, now: Stamps) -> str:
        """Return that simulated time, in which a robot moves, is not the time that is judged."""
        if not self._clock.sim_time:
            return ''
        self._paces.append((now.steady_ns, now.ros_ns))
        while len(self._paces) > 1 and now.steady_ns - self._paces[1][0] >= _PACE_NS:
            self._paces.popleft()
        from_ns, since_ns = self._paces[0]
        passed_ns, rules = now.steady_ns - from_ns, self._watch.window.measuring.rules
        if passed_ns < _PACE_NS:
            return f'the pace of /clock is unknown until it was received for {_PACE_NS / 1e9:g} s'
        factor = (now.ros_ns - since_ns) / passed_ns
        return '' if rules.keeps_real_time(factor) else (
            f'/clock ran at {factor:.2f} of real time, expected {rules.rtf_min:g} to '
            f'{rules.rtf_max:g}: what is judged is real time. Let the simulator keep it')

    def _look_at_itself(self, now: Stamps) -> None:
        """Put into the window how long this thread could not run, of itself, since a turn ago."""
        before, ran_ns = self._ran, time.thread_time_ns()
        self._ran = now.steady_ns, ran_ns
        passed_ns = now.steady_ns - before[0]
        lost_ns = passed_ns - self._rest_ns - (ran_ns - before[1])
        if before[0] and lost_ns >= LEAST_NS:
            self._add(Event.model_construct(
                kind='stall', name=EVALUATOR, stamps=now, text='not run', truth={
                    STALL_BEGAN: passed_ns / 1e9, STALL_LOST: lost_ns / 1e9}))

    def _begin_record(self, found: NewViolation, now_ns: int) -> None:
        """Keep what was judged, and whatever comes for a while."""
        place = ''
        if self._counts.kept < self._settings.max_findings:
            self._counts.kept += 1
            place = str(self._kept.place(found.number, found.finding))
            self._pending.append(_Pending(
                found, list(self._watch.window.to_keep(found.cut)),
                now_ns + round(self._settings.after_s * 1e9)))
            self._places[found.finding.check] = place
        else:
            self._counts.not_kept += 1
        end = found.cut.record.events[-1].stamps
        entry = {'number': found.number, 'system_ns': end.system_ns, 'ros_ns': end.ros_ns,
                 'record': place, **found.finding.model_dump(mode='json')}
        self._writer.put(lambda: self._kept.note(entry))

    def _close_records(self, now_ns: int | None) -> None:
        """Hand over the records that are complete; None: all of them."""
        for one in [*self._pending]:
            if now_ns is None or now_ns >= one.until_ns:
                self._pending.remove(one)
                self._writer.put(lambda one=one: self._kept.write(
                    one.found.number, one.found.finding, one.events,
                    self._watch.window.measuring))

    def _count_rates(self, now_ns: int) -> None:
        for _, topic in declared(self._scenario):
            count = self._counts.by_topic.get(topic, 0)
            before, then_ns, _ = self._rates.get(topic, (0, now_ns, 0.0))
            passed_s = (now_ns - then_ns) / 1e9
            self._rates[topic] = (count, now_ns, (count - before) / passed_s if passed_s else 0.0)

    def _statuses(self, now_ns: int) -> Mapping[str, DiagnosticStatus]:
        found = dict(invariant_statuses(self._watch, self._places, self._diagnostics))
        silent = self._watch.silent(now_ns)
        for _, topic in declared(self._scenario):
            trouble = silent.get(topic)
            name = f'topic {topic}'
            found[name] = self._diagnostics.status(
                name, Level.STALE if trouble else Level.OK, trouble or 'is heard',
                rate_hz=f'{self._rates.get(topic, (0, 0, 0.0))[2]:.1f}')
        found['clock'] = self._diagnostics.status(
            'clock', Level.STALE if self._clock_trouble else Level.OK,
            self._clock_trouble or 'runs')
        found['monitor'] = self._own_status()
        return found

    def _own_status(self) -> DiagnosticStatus:
        watch, counts = self._watch, self._counts
        error = self._writer.error
        text = f'records cannot be written: {error}' if error else \
            '' if watch.keeps_up else 'cannot keep up: lower the rates, or the load of the host'
        text = text or (f'{watch.late} verdicts came later than {LATE_NS / 1e6:g} ms'
                        if watch.late else '')
        text = text or (f'{counts.not_kept} findings without a record: max_findings is reached'
                        if counts.not_kept else '')
        return self._diagnostics.status(
            'monitor', Level.WARN if text else Level.OK, text or 'keeps up',
            **{name: str(value) for name, value in self._figures().items()})

    def _figures(self) -> dict[str, Any]:
        watch, counts = self._watch, self._counts
        return {'verdict_latency_median_ms': round(watch.median_lag_ns / 1e6, 1),
                'verdict_latency_max_ms': round(watch.most_lag_ns / 1e6, 1),
                'late_verdicts': watch.late, 'longest_turn_ms': round(
                    counts.most_cost_ns / 1e6, 1),
                'events': counts.events, 'window_mb': round(watch.window.size / 1e6, 2),
                'findings': watch.found, 'records': counts.kept,
                'without_record': counts.not_kept}

    def _summary(self) -> dict[str, Any]:
        return {'verdict': self._watch.verdict.value, 'monitor': self._figures(),
                'error': self._writer.error,
                'checks': {name: {'verdict': known.verdict.value, 'violations': known.violations,
                                  'lost': known.lost or None, 'last': known.finding.reason,
                                  'doubt': known.doubt or None}
                           for name, known in self._watch.watched.items()}}


class _Writer:
    """
    Writes records in a thread of its own, one after the other.

    :ivar error: why one could not be written
    """

    def __init__(self) -> None:
        self.error: str | None = None
        self._jobs: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name='records', daemon=True)
        self._thread.start()
        self.put = self._jobs.put

    def close(self) -> None:
        """Wait until all is written."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception as error:  # a full disk must not end the monitor
                self.error = described(error)
