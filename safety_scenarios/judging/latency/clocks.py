# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The events of one record on each clock, and the best way to measure between two of them.

Methods, best first. ``source``: the middleware's stamp of the command's publish - that of the
stimulus', which the evaluator reads from its own echo of it; neither waits for Python, but both
must come from one system clock. ``received``: the stamp of the command's arrival instead, for two
hosts. ``callback``: the steady clock in the evaluator's own code, when the middleware gives no
stamps or the system clock was stepped.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
import math
from statistics import median

from safety_scenarios.judging.latency.stalls import Decisions
from safety_scenarios.judging.latency.stream import WakeUps
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Elapsed, Split
from safety_scenarios.scenario.timing import Method, REAL, SPLIT_BOUND_NS
from safety_scenarios.scenario.verdict import LatencyBudget
from safety_scenarios.trial.trial import Timeline, TrialRecord

_STEP_NS = 1_000_000
"""Two clocks of one host drift apart by less in a trial; more is a step."""
_NEIGHBOURS = 8
"""Of this many readings at least one was not interrupted between the clocks."""
_ENOUGH_TICKS = 40
"""With fewer, one tick more or less would change the factor by more than 2.5 %."""
_TRANSIT_NS = 2_000_000
"""On one host a command takes less than this, at the median, from publish to arrival."""
_HELD_UP_NS = 5_000_000
"""A command that takes longer was held up on the way: what counts is when it arrived."""
_WAKE_UPS = 2
"""In each latency: the stimulus is read, and the controller takes its next turn."""


@dataclass(frozen=True, slots=True)
class Instant:
    """One moment on the clocks; ``system_ns`` by the middleware or by our own reading."""

    steady_ns: int
    system_ns: int
    ros_ns: int
    header_ns: int | None


class Clocks:
    """
    One record's clocks.

    :ivar step_ns: how far the system clock was stepped against the steady one, 0 when it was not
    :ivar decisions: of the controller, where a world charges them
    :ivar rtf: real-time factor of /clock between the first and the last event, None without it
    """

    def __init__(self, timeline: Timeline) -> None:
        record = timeline.record
        self._timeline = timeline
        self._record = record
        self._measuring = record.measuring
        ticks = record.of_kind('clock')
        self._tick_system = [event.stamps.received_ns or event.stamps.system_ns for event in ticks]
        self._tick_steady = [event.stamps.steady_ns for event in ticks]
        self._tick_ros = [event.stamps.ros_ns for event in ticks]
        self._tick_real = [_real_ns(event) for event in ticks]
        steps = [later - earlier for earlier, later in pairwise(self._tick_ros) if later > earlier]
        self._usual_tick_ns = median(steps) if steps else 0.0
        self.step_ns = _step(record)
        self.rtf = _rtf(self._tick_real, self._tick_ros)
        self._echoes: dict[str, list[Event]] = defaultdict(list)
        for event in record.of_kind('echo'):
            self._echoes[event.name].append(event)
        self._transits: dict[str, tuple[float, int]] = {}
        self._wake_ups: WakeUps | None = None
        self.decisions = Decisions(record)

    def _transit(self, name: str) -> tuple[float, int]:
        """Return how long what came under a name was on its way, the median and the least (ns)."""
        found = self._transits.get(name)
        if found is None:
            stamps = [event.stamps for event in self._record.events
                      if event.name == name and event.kind != 'echo']
            took = [one.received_ns - one.source_ns for one in stamps
                    if one.received_ns is not None and one.source_ns is not None]
            found = self._transits[name] = median(took), min(took)
        return found

    def onset(self) -> Instant | None:
        """Return when the hazard began: its publish, or for a silence when it was due."""
        event = self._timeline.onset
        return None if event is None else self.published(event)

    def published(self, stimulus: Event) -> Instant:
        """Return when a stimulus left, or a mark was set: by the middleware's echo if heard."""
        stamps = stimulus.stamps
        echo = self._echo(stimulus)
        system_ns = stamps.system_ns if echo is None or echo.stamps.source_ns is None \
            else echo.stamps.source_ns
        return Instant(stamps.steady_ns, system_ns, self.ros_at(system_ns, stamps.ros_ns),
                       stamps.header_ns)

    def method(self, command: Event) -> tuple[Method, str | None]:
        """Return the method for one command, and why no better one could be used."""
        best, reason = self.allowed(command)
        stamps = command.stamps
        if best != 'source' or stamps.received_ns is None or stamps.source_ns is None:
            return best, reason
        own_ns = stamps.received_ns - stamps.source_ns
        if own_ns > _HELD_UP_NS * self._measuring.stretch:
            return 'received', (f'the command took {own_ns / 1e6:.1f} ms to arrive, and no robot '
                                f'has it earlier')
        return best, reason

    def allowed(self, command: Event) -> tuple[Method, str | None]:
        """Return the best method for all that comes as this command does, and why no better."""
        if command.stamps.received_ns is None:
            return 'callback', 'the middleware gives no stamps'
        if self.step_ns:
            return 'callback', (f'the system clock was stepped by {self.step_ns / 1e6:+.1f} ms '
                                f'during the trial')
        if command.stamps.source_ns is None:
            return 'received', 'the middleware gives no source stamps'
        if not self._measuring.one_host:
            return 'received', self._measuring.hosts_because
        transit_ns = self._transit(command.name)[0]
        if not 0 <= transit_ns <= _TRANSIT_NS * self._measuring.stretch:
            return 'received', (f'by their stamps commands take {transit_ns / 1e6:.2f} ms to '
                                f'arrive, so the controller has another clock')
        return 'source', None

    def sent_ns(self, command: Event) -> int:
        """
        Return when a command was sent (steady clock), or received where that is not known.

        One that was held up on the way counts when it arrived: no robot has it earlier.
        """
        stamps = command.stamps
        if stamps.source_ns is None or self.allowed(command)[0] != 'source':
            return stamps.steady_ns
        sent_ns = stamps.source_ns if self.method(command)[0] == 'source' \
            else stamps.received_ns or stamps.system_ns
        return stamps.steady_ns - max(0, stamps.system_ns - sent_ns)

    def was_sent_before(self, onset: Instant, command: Event) -> bool:
        """
        Return whether a command was on its way already at ``onset``.

        By its stamps where they are of one clock. With two clocks, a command that took longer than
        the fastest of its topic left earlier by as much. Without stamps, what comes sooner than
        half of what the fastest controller needed in the calibration.
        """
        method, _ = self.method(command)
        stamps = command.stamps
        if method == 'callback' or stamps.source_ns is None or stamps.received_ns is None:
            end_ns = stamps.steady_ns - onset.steady_ns if method == 'callback' \
                else (stamps.received_ns or stamps.system_ns) - onset.system_ns
            return end_ns < (0.5e6 * self._measuring.stretch
                             * self._measuring.floor_ms.get(method, 0.0))
        if method == 'source':
            return stamps.source_ns < onset.system_ns
        return stamps.source_ns + self._transit(command.name)[1] < onset.system_ns

    def pauses(self, from_ns: int, to_ns: int) -> tuple[float | None, int]:
        """
        Return the real-time factor, and the longest real time that /clock stood still (ns).

        A /clock that repeats its time stands still.

        :param from_ns: steady time; the ticks just before it and just after ``to_ns`` count too
        :return: None for a factor that so few ticks do not tell within 5 %
        """
        first = max(0, bisect_right(self._tick_steady, from_ns) - 1)
        last = bisect_right(self._tick_steady, to_ns) + 1
        real, ros = self._tick_real[first:last], self._tick_ros[first:last]
        longest_ns = max(_advances(real, ros), default=0)
        return _rtf(real, ros) if len(real) > _ENOUGH_TICKS else None, longest_ns

    def given_ns(self, from_ns: int, to_ns: int) -> int:
        """
        Return how much longer something lasted really than in a simulator's time, 0 if it did not.

        While simulated time stands still a controller goes on thinking, which a robot would not
        allow it. A factor below 1 gives that time on purpose. Where decisions are charged, a
        controller that is known to compute nothing between them has none.

        :param from_ns: simulated; the ticks just before it and just after ``to_ns`` count too
        """
        if self._measuring.charges and not self._measuring.answers_alone:
            return self.decisions.free_ns(from_ns, to_ns)
        simulated_ns, real_ns, pace = self._passed(from_ns, to_ns)
        return round(max(0.0, real_ns - simulated_ns / min(1.0, pace)))

    def off_pace_ns(self, from_ns: int, to_ns: int) -> int:
        """
        Return by how much real time and a simulator's time at its pace differ (ns).

        Either it gave time, or it went faster because it was held up before, which takes time from
        its controller.

        :param from_ns: as of ``given_ns``
        """
        simulated_ns, real_ns, pace = self._passed(from_ns, to_ns)
        return max(self.given_ns(from_ns, to_ns), round(simulated_ns - real_ns * pace))

    def _passed(self, from_ns: int, to_ns: int) -> tuple[int, int, float]:
        """Return simulated time and real time that passed, and the pace; where it has none, 0."""
        pace = self._measuring.pace
        first = max(0, bisect_right(self._tick_steady, from_ns) - 1)
        last = min(bisect_right(self._tick_steady, to_ns), len(self._tick_ros) - 1)
        if pace is None or self._measuring.lockstep or last <= first:
            return 0, 0, 1.0
        return (self._tick_ros[last] - self._tick_ros[first],
                self._tick_real[last] - self._tick_real[first], pace)

    def lasted_ns(self, from_ns: int, length_ns: int) -> int | None:
        """
        Return when a time had passed in a simulator's time and really, at its pace (steady ns).

        :param from_ns: steady time at which it begins
        :return: None where it had not passed by the last message on /clock
        """
        pace = self._measuring.pace
        if pace is None or self._measuring.lockstep:
            return from_ns + length_ns
        place = max(0, bisect_right(self._tick_steady, from_ns) - 1)
        return next((steady_ns for steady_ns, real_ns in zip(
            self._tick_steady[place:], self._tick_real[place:], strict=True)
            if steady_ns >= from_ns + length_ns
            and pace * (real_ns - self._tick_real[place]) >= length_ns), None)

    @property
    def tick_ns(self) -> float:
        """Median real time in which /clock goes on once, 0 without it."""
        gaps = _advances(self._tick_real, self._tick_ros)
        return median(gaps) if gaps else 0.0

    def elapsed(self, onset: Instant, command: Event, budget: LatencyBudget,
                more_ns: int = 0) -> Elapsed:
        """
        Return the time from ``onset`` to a command on each clock.

        :param more_ns: added to all of them, such as a driver's timeout
        """
        method, _ = self.method(command)
        stamps = command.stamps
        callback_ns = stamps.steady_ns - onset.steady_ns
        end_ns = stamps.source_ns if method == 'source' else stamps.received_ns
        if method == 'callback' or end_ns is None:
            end_ns = stamps.system_ns
            steady_ns = callback_ns
            ros_ns = None if self.step_ns and not self._measuring.sim_time \
                else stamps.ros_ns - onset.ros_ns
        else:
            steady_ns = end_ns - onset.system_ns
            ros_ns = self.ros_at(end_ns, stamps.ros_ns) - onset.ros_ns \
                if self._measuring.sim_time else steady_ns
        header_ns = None if stamps.header_ns is None or onset.header_ns is None \
            else stamps.header_ns - onset.header_ns
        steady_ns += more_ns
        ros_ns = None if ros_ns is None else ros_ns + more_ns
        judged_ns = self._judged(steady_ns, ros_ns)
        return Elapsed(
            steady_ns=steady_ns, ros_ns=ros_ns, judged_ns=judged_ns,
            callback_ns=callback_ns + more_ns, header_ns=header_ns, method=method,
            uncertainty_ns=self._uncertainty_ns(
                method, math.hypot(self.busy_ns(onset.steady_ns, stamps.steady_ns),
                                   self.off_pace_ns(onset.steady_ns, stamps.steady_ns)),
                onset.system_ns, end_ns),
            latency_class=budget.classify(max(0, judged_ns)))

    def ros_at(self, system_ns: int, otherwise_ns: int) -> int:
        """
        Return what /clock had last said by a moment of system time.

        :param otherwise_ns: returned without /clock, or when a step has left system time unsorted
        """
        if not self._measuring.sim_time or not self._tick_system or self.step_ns:
            return otherwise_ns
        index = bisect_right(self._tick_system, system_ns) - 1
        return self._tick_ros[index] if index >= 0 else otherwise_ns

    def split(self, onset: Instant, command: Event) -> Split | None:
        """
        Return the controller's own part of a latency.

        None where nobody beside it answered probes, or they bound it no better than 1 ms, and of a
        hazard that was observed: how it reached the controller nobody knows.
        """
        offset, stamps = self._measuring.offset, command.stamps
        if offset is None or self._record.trial.is_observed \
                or offset.split_bound_ns > SPLIT_BOUND_NS or self.step_ns \
                or stamps.source_ns is None or stamps.received_ns is None:
            return None
        left_ns = stamps.source_ns - offset.offset_ns
        return Split(controller_ns=left_ns - onset.system_ns - offset.outbound_ns,
                     outbound_ns=offset.outbound_ns, inbound_ns=stamps.received_ns - left_ns,
                     bound_ns=offset.split_bound_ns)

    def _judged(self, steady_ns: int, ros_ns: int | None) -> int:
        judge = self._measuring.rules.judge
        if ros_ns is None or judge == 'steady':
            return steady_ns
        return ros_ns if judge == 'ros' else max(steady_ns, ros_ns)

    def busy_ns(self, onset_ns: int, end_ns: int) -> float:
        """
        Return what the host's load adds to the uncertainty of a latency (k = 2), 0 when idle.

        Two wake-ups wait for the same processors, so that they add up. What the calibration has
        met already is part of what it found.
        """
        measuring = self._measuring
        if measuring.exact or measuring.lockstep or measuring.wake_ups_ms is None or self.step_ns:
            return 0.0
        if self._wake_ups is None:
            self._wake_ups = WakeUps(self._record, {
                kind: late_ms * measuring.stretch
                for kind, late_ms in measuring.wake_ups_ms.items()})
        busy_ns = self._wake_ups.busy_ns(onset_ns, end_ns)
        known_ns = 1e6 * measuring.busy_ms * measuring.stretch
        return _WAKE_UPS * math.sqrt(max(0.0, busy_ns**2 - known_ns**2))

    def _uncertainty_ns(self, method: Method, busy_ns: float, *system_ns: int) -> int:
        """Combine the calibrated part with that of the load and, of ROS time, of /clock."""
        own_ns = round(math.hypot(self._calibrated_ns(method), busy_ns))
        pace = self._measuring.pace
        if pace is not None and not self._measuring.lockstep:
            resolution_ns = max(self._uneven_ns(moment_ns, pace) for moment_ns in system_ns)
        elif self._measuring.charges or (pace is None and (
                not self._measuring.sim_time or self._measuring.rules.judge == 'steady')):
            return own_ns + self._sensor_uncertainty_ns
        else:
            resolution_ns = max(self._tick_step_ns(moment_ns) for moment_ns in system_ns)
        return round(math.hypot(own_ns,
                                2 * resolution_ns / math.sqrt(6))) + self._sensor_uncertainty_ns

    def _calibrated_ns(self, method: Method) -> int:
        """Return what the calibration found; a sensor's message is stamped when it arrives."""
        measuring = self._measuring
        if self._timeline.observed is None or method == 'callback':
            return measuring.uncertainty_ns(method)
        return max(measuring.uncertainty_ns(method), measuring.uncertainty_ns('received'))

    @property
    def _sensor_uncertainty_ns(self) -> int:
        """
        Return by how much the onset may be off by which a reference sensor is stated to be.

        It is added, and not combined as independent errors are: that of one sensor is the same in
        every trial, and nobody knows more of it than its bound.
        """
        observed = self._timeline.observed
        return 0 if observed is None else observed.uncertainty_ns

    def _tick_step_ns(self, system_ns: int) -> float:
        """Return by how much /clock advanced around a moment, at least its median step."""
        index = bisect_right(self._tick_system, system_ns)
        around = self._tick_ros[max(0, index - 2):index + 1]
        return max([self._usual_tick_ns,
                    *(later - earlier for earlier, later in pairwise(around))])

    def _uneven_ns(self, system_ns: int, factor: float) -> float:
        """Return how far simulated time was off its factor around a moment, at the worst."""
        index = bisect_right(self._tick_system, system_ns)
        around = slice(max(0, index - 2), index + 2)
        return max((abs(later - earlier - factor * (real - before)) for
                    (earlier, later), (before, real) in zip(
                        pairwise(self._tick_ros[around]), pairwise(self._tick_real[around]),
                        strict=True)), default=0.0)

    def _echo(self, stimulus: Event) -> Event | None:
        """Return the echo that carries the stimulus' own stamp of when it was due."""
        return next((echo for echo in self._echoes[stimulus.name]
                     if echo.scheduled_ns == stimulus.scheduled_ns), None)


def _step(record: TrialRecord) -> int:
    """
    Return the largest step of the system clock against the steady one, 0 when there was none.

    Whoever is interrupted between reading the steady and the system clock finds their difference
    too large, never too small. So the smallest of a few neighbours is the true one, and it must
    not change: Linux slews both clocks together. Where there are fewer, at both ends, one of them
    is a mark, whose clocks are read closely together.
    """
    differences = [event.stamps.system_ns - event.stamps.steady_ns for event in record.events]
    if not differences or max(differences) - min(differences) <= _STEP_NS:
        return 0
    steps = [min(differences[place:place + _NEIGHBOURS])
             - min(differences[max(0, place - _NEIGHBOURS):place])
             for place in range(1, len(differences))]
    largest = max(steps, key=abs, default=0)
    return largest if abs(largest) > _STEP_NS else 0


def _real_ns(tick: Event) -> int:
    """Return the real time of a message on /clock, which simulated stamps leave to its truth."""
    told = tick.truth.get(REAL)
    return tick.stamps.steady_ns if told is None else round(told * 1e9)


def _advances(real_ns: Sequence[int], ros_ns: Sequence[int]) -> list[int]:
    """Return the real times in which /clock went on once, and the one after the last time."""
    moved_ns = [*real_ns[:1], *(real for real, (earlier, later) in zip(
        real_ns[1:], pairwise(ros_ns), strict=True) if later != earlier), *real_ns[-1:]]
    return [later - earlier for earlier, later in pairwise(moved_ns) if later > earlier]


def _rtf(real_ns: Sequence[int], ros_ns: Sequence[int]) -> float | None:
    if len(real_ns) < 2:
        return None
    passed_ns = real_ns[-1] - real_ns[0]
    return (ros_ns[-1] - ros_ns[0]) / passed_ns if passed_ns > 0 else None
