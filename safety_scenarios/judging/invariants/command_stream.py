# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A command stream that is alive and not flooded, and no motion commanded on old data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
import math
from operator import attrgetter, itemgetter
from typing import ClassVar, Literal

import numpy
from pydantic import Field
from safety_scenarios.errors import counted
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.invariant import InvariantPlugin, SignalUnits, SPEEDS
from safety_scenarios.scenario.noun import TopicName
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.rounding import apart
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.streams import agreed_ns
from safety_scenarios.trial.trial import NOMINAL

_TRAJECTORY = '/JointTrajectory'
_BRAKES = 0.7
"""Mean speed of a braking at most, as a share of the speed at which it begins."""


class Liveness(InvariantPlugin):
    """
    No gap between commands is above ``max_gap_ms``.

    Gaps run from the first command, and from when the controller was asked to move, to the end of
    the observation, the last command's own silence included. They go by when commands were sent
    where the middleware's stamps of that can be trusted, and else by when they were received. A
    gap in which commands were lost on the way, as their publisher counts them, is INCONCLUSIVE.
    A JointTrajectory that the driver accepts is no silence until its last point is due. After
    one that stopped the arm during the hazard, a controller may be silent until it moves the arm
    again. Arms are commanded at up to 1 kHz: their rate is judged from 1100 Hz on. The margin is
    that of the gap (s), or of the rate (Hz).
    """

    margin_is_time: ClassVar[bool] = True
    holds_always: ClassVar[bool] = True

    wording: ClassVar[Mapping[str, str]] = {'max_rate_hz': 'and at most {} of them'}

    kind: Literal['liveness'] = 'liveness'
    topic: str = Field(min_length=1)
    """Command topic."""
    max_gap_ms: float = Field(gt=0, json_schema_extra={'unit': 'ms'})
    """Longest silence allowed (ms)."""
    max_rate_hz: float | None = Field(default=None, gt=0, json_schema_extra={'unit': 'Hz'})
    """Most commands a second allowed, as the mean over the trial (Hz)."""

    def reach_s(self, scenario: Scenario) -> float | None:
        return 0.0 if self.max_rate_hz is None else None

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge the longest gap and the mean rate."""
        commands = _sent(trial, self.topic)
        if not commands:
            return self.finding(Verdict.INCONCLUSIVE, f'no command on {self.topic}')
        times = [command.t_ns for command in commands]
        gap_ns, since_ns, lost = _longest_gap(trial, commands, self.max_gap_ms * 1e6)
        margin = (self.max_gap_ms * 1e6 - gap_ns) / 1e9
        at_ms = trial.timeline.since_onset_ms(since_ns)
        if margin < 0:
            silent = f'{self.topic} was silent for ' \
                     f'{apart(gap_ns / 1e6, self.max_gap_ms, ".0f")} ms, at most ' \
                     f'{self.max_gap_ms:g} ms allowed'
            if lost:
                return self.finding(
                    Verdict.INCONCLUSIVE, f'{silent}, but {counted(lost, "command")} that the '
                    f'controller sent meanwhile did not arrive', at_ms=at_ms)
            return self.finding(Verdict.FAIL, silent, margin, 's', at_ms)
        seconds = (trial.record.end_ns - times[0]) / 1e9
        if seconds <= 0 and any(True for _ in trial.record.of_kind('fault')):
            return self.finding(Verdict.INCONCLUSIVE, 'the trial broke off before any time had '
                                                      'passed in which a rate could be seen')
        rate = len(times) / seconds if seconds > 0 else math.inf if len(times) > 1 else 0.0
        robot = trial.scenario.body.robot
        usual = 0.0 if robot is None else kind_of(robot).usual_rate_hz
        most = math.inf if self.max_rate_hz is None else max(self.max_rate_hz, usual)
        if rate > most:
            return self.finding(
                Verdict.FAIL, f'{self.topic} carried {apart(rate, most, ".0f")} commands a '
                f'second, at most {most:g} allowed',
                most - rate if math.isfinite(rate) else None, 'Hz')
        return self.finding(
            Verdict.PASS, f'{counted(len(times), "command")}, longest gap {gap_ns / 1e6:.0f} ms',
            margin, 's', at_ms)


@dataclass(frozen=True, slots=True)
class _Sent:
    """One command, and the trajectory that the driver follows from then on."""

    t_ns: int
    """When it was sent (steady clock)."""
    ends_ns: int = 0
    """When the last point of that trajectory is due."""
    trajectory: Event | None = None
    sequence: int | None = None
    """By the count of its publisher."""

    def lost(self, following: '_Sent') -> int:
        """Return how many commands are missing between this one and the next that arrived."""
        if self.sequence is None or following.sequence is None:
            return 0
        return max(0, following.sequence - self.sequence - 1)


def _sent(trial: JudgedTrial, topic: str) -> list[_Sent]:
    """Return the commands on a topic in the order in which they were sent."""
    events = trial.record.of_kind('command', topic)
    execution = trial.signals.executed(topic) if any(
        event.message is not None and event.message.type.endswith(_TRAJECTORY)
        for event in events) else None
    accepted = iter(() if execution is None else execution.accepted.tolist())
    found, last = [], _Sent(0)
    for event in events:
        t_ns = trial.latency.clocks.sent_ns(event)
        if event.message is not None and next(accepted, False):
            last = _Sent(t_ns, t_ns + _lasts_ns(event), event)
        found.append(replace(last, t_ns=t_ns, sequence=event.sequence))
    return sorted(found, key=attrgetter('t_ns'))


def _lasts_ns(command: Event) -> int:
    """Return how long after it is sent the last point of a trajectory is due; 0: it has none."""
    message, stamps = command.message, command.stamps
    if message is None or not message.type.endswith(_TRAJECTORY) or not message.at('points'):
        return 0
    due = message.at('points')[-1]['time_from_start']
    ahead_ns = stamps.header_ns - stamps.ros_ns if stamps.header_ns else 0
    return max(0, int(due['sec']) * 1_000_000_000 + int(due['nanosec']) + ahead_ns)


def _longest_gap(trial: JudgedTrial, commands: Sequence[_Sent],
                 most_ns: float) -> tuple[int, int, int]:
    """
    Return the longest silence, when it began (ns), and how many commands were lost in it.

    One that is too long although none was lost comes before any other.

    :param most_ns: a longer one counts only if the command before it did not stop the arm
    """
    asked_ns, end_ns = _request_ns(trial), trial.record.end_ns
    began_ns = max(commands[0].t_ns, min(asked_ns, end_ns))
    before = next((one for one in reversed(commands) if one.t_ns <= began_ns), commands[0])
    known = [replace(before, t_ns=began_ns), *(one for one in commands if one.t_ns > began_ns)]
    longest, is_certain = (0, began_ns, 0), False
    for one, following in pairwise([*known, _Sent(end_ns)]):
        gap_ns = following.t_ns - max(one.t_ns, one.ends_ns)
        lost = one.lost(following)
        is_worse = (gap_ns > most_ns and not lost, gap_ns) > (is_certain, longest[0])
        if is_worse and not (
                gap_ns > most_ns and following.trajectory and _stopped_arm(trial, one)):
            longest, is_certain = (gap_ns, one.t_ns, lost), gap_ns > most_ns and not lost
    return longest


def _stopped_arm(trial: JudgedTrial, sent: _Sent) -> bool:
    """
    Return whether a trajectory was sent during the hazard, and stopped the arm at once.

    Its mean speed tells: that of an even braking is half the speed at which it begins. Where a
    controller dies, the end of its last trajectory stops the arm as well, but later.
    """
    window, robot = trial.timeline.window('hazard'), trial.scenario.body.robot
    if window is None or robot is None or sent.trajectory is None:
        return False
    begin_ns = trial.signals.effective_ns(sent.trajectory)
    track = next((one for one in trial.motion.tracks if one.topic == sent.trajectory.name), None)
    if track is None or not window[0] <= begin_ns < min(window[1], sent.ends_ns):
        return False
    before, after = track.at(track.fastest, numpy.array([begin_ns, sent.ends_ns + 1])).tolist()
    mean = track.way(track.fastest, begin_ns, sent.ends_ns) / (sent.ends_ns - begin_ns) * 1e9
    pace = kind_of(robot).pace
    return bool(mean <= max(pace, _BRAKES * before) and after <= pace)


def _request_ns(trial: JudgedTrial) -> int:
    """Return when the controller was asked to move: its inputs were there, and its goals."""
    first = next((event for event in trial.record.of_kind('stimulus') if not event.hazard), None)
    return max(0 if first is None else first.stamps.steady_ns, agreed_ns(trial.record) or 0)


Oldest = tuple[int, str, int]
"""Time left (ns), topic, steady ns of the command."""
_HELD_NS = 100_000_000
"""A command that is held until the next for longer than two periods of 20 Hz is motion too."""


class Fresh(InvariantPlugin):
    """
    While one of ``topics`` is older than ``max_age_ms``: ``signal <= at_most``, or braking.

    The age is that of the newest header stamp that was sent on the topic (frozen data keep their
    stamp, and are no younger for being sent again), or of the newest message where its type has
    none; ROS clock, less what the clock of the stamps is known to be ahead. What was never sent is
    as old as the trial, and leaves the answer open; so do a header stamp of zero, a step of that
    clock, commands that cease while they move the robot, or that are held until 100 ms after the
    data have grown too old. One that by then brakes at the deceleration of ``robot.stopping`` may
    end it. The margin is the time that the oldest data behind a moving command had left (s).
    """

    names_stimuli: ClassVar[tuple[str, ...]] = ('topics',)
    units: ClassVar[SignalUnits] = {'signal': SPEEDS}
    margin_is_time: ClassVar[bool] = True

    holds_always: ClassVar[bool] = True

    kind: Literal['fresh'] = 'fresh'
    topics: tuple[TopicName, ...] = Field(min_length=1)
    """Stimulus topics that the robot must not move without."""
    max_age_ms: float = Field(gt=0, le=86_400_000, json_schema_extra={'unit': 'ms'})
    """Oldest data to move on, the time to notice included (ms)."""
    signal: str = Field(min_length=1)
    """Signal with the commanded speed."""
    at_most: float = Field(default=0.01, ge=0)
    """Speed up to which the robot counts as stopped (signal's unit)."""

    def reach_s(self, scenario: Scenario) -> float | None:
        robot = scenario.body.robot
        brakes_s = robot.stopping_s() if robot else None
        return None if brakes_s is None else self.max_age_ms / 1e3 + brakes_s

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge each command by the data that had been sent before it."""
        begin, moves = trial.timeline.mark(NOMINAL), self._moves(trial)
        if begin is None or not moves:
            return self.finding(Verdict.INCONCLUSIVE, 'no command arrived')
        unknown = self._unknown_age(trial)
        if unknown:
            return self.finding(Verdict.INCONCLUSIVE, unknown)
        sent = dict.fromkeys(self.topics, begin.stamps.ros_ns)
        missing, unsure, max_ns = set(self.topics), '', round(self.max_age_ms * 1e6)
        newest, ahead_ns = dict[str, int](), trial.record.measuring.ahead_ns
        oldest: Oldest | None = None
        silent_ns = until_ns = 0
        for event in sorted(trial.record.events, key=_when):
            stamps, topic = event.stamps, min(sent, key=lambda name: sent[name])
            left_ns = max_ns - (stamps.ros_ns - sent[topic])
            if left_ns < 0 and silent_ns > max_ns:
                unsure = unsure or (f'a command to move was in force for '
                                    f'{silent_ns / 1e6:.0f} ms, while {topic} grew too old')
            due_ns, moved_ns = stamps.steady_ns + left_ns, min(stamps.steady_ns, until_ns)
            if moved_ns - due_ns > _HELD_NS and 0 < silent_ns <= max_ns and not self._brakes(
                    trial, due_ns, max(due_ns, until_ns - silent_ns)):
                unsure = unsure or (f'a command to move stayed in force until {topic} was '
                                    f'{(moved_ns - due_ns) / 1e6:.0f} ms too old')
            if event.name in sent and (event.kind == 'sensed' or (
                    event.kind == 'stimulus' and event.message is not None)):
                stamp_ns, header_ns = stamps.ros_ns, stamps.header_ns
                if header_ns is not None:  # no data are of the future
                    stamp_ns = sent[event.name] if header_ns <= newest.get(event.name, -1) \
                        else min(header_ns - ahead_ns, stamp_ns)
                    newest[event.name] = max(header_ns, newest.get(event.name, -1))
                sent[event.name] = stamp_ns if event.name in missing \
                    else max(sent[event.name], stamp_ns)
                missing.discard(event.name)
            if event.kind != 'command' or stamps.steady_ns not in moves:
                continue
            margin, held_ns = moves[stamps.steady_ns]
            silent_ns = held_ns if margin < 0 else 0
            until_ns = stamps.steady_ns + silent_ns
            if math.isnan(margin):
                unsure = unsure or f'{self.signal} is unknown or not a number in a command'
            elif margin < 0 and left_ns < 0 and topic in missing:
                unsure = unsure or f'it moved, and nothing had been sent on {topic} yet'
            elif margin < 0 and not (left_ns < 0 and self._brakes(trial, due_ns,
                                                                  stamps.steady_ns)):
                found = left_ns, topic, stamps.steady_ns
                oldest = found if oldest is None else min(oldest, found, key=itemgetter(0))
        return self._judged(trial, oldest, missing, unsure)

    def _judged(self, trial: JudgedTrial, oldest: Oldest | None, missing: set[str],
                unsure: str) -> Finding:
        at_ms = None if oldest is None else trial.timeline.since_onset_ms(oldest[2])
        if oldest is not None and oldest[0] < 0:
            return self.finding(
                Verdict.FAIL, f'still moved on {oldest[1]} that was '
                f'{apart(-oldest[0] / 1e6, 0.0, ".0f")} ms older than the '
                f'{self.max_age_ms:g} ms allowed', oldest[0] / 1e9, 's', at_ms)
        if missing:
            unsure = f'nothing was sent on {", ".join(sorted(missing))}'
        if not unsure and oldest is None and trial.scenario.is_monitor:
            return self.finding(Verdict.PASS, 'no command moved the robot in this window')
        if unsure or oldest is None:
            return self.finding(Verdict.INCONCLUSIVE, unsure or 'no command moved the robot')
        return self.finding(Verdict.PASS, f'no motion on data older than {self.max_age_ms:g} ms',
                            oldest[0] / 1e9, 's', at_ms)

    def _unknown_age(self, trial: JudgedTrial) -> str:
        """Return why the age of the data cannot be determined; empty: it can."""
        step_ns = trial.latency.clocks.step_ns
        if step_ns and not trial.record.measuring.sim_time and not trial.scenario.is_monitor:
            return (f'the system clock was stepped by {step_ns / 1e6:+.1f} ms during the trial, '
                    f'so that the age of the data is unknown')  # a monitor notices it itself
        stamps: dict[str, set[int | None]] = {topic: set() for topic in self.topics}
        for event in trial.record.events:
            if event.name in stamps and event.kind in ('sensed', 'stimulus'):
                stamps[event.name].add(event.stamps.header_ns)
        unset = sorted(topic for topic, found in stamps.items() if found == {0})
        return '' if not unset else (
            f'{", ".join(unset)}: got header stamps of zero, expected the time of the data. Let '
            f'the publisher stamp its messages')

    def _brakes(self, trial: JudgedTrial, due_ns: int, now_ns: int) -> bool:
        """Return whether it was braking when the data became too old, and still is."""
        return now_ns < trial.motion.braked_until(
            [Limit(signal=self.signal, at_most=self.at_most)], due_ns, trial.record.end_ns)

    def _moves(self, trial: JudgedTrial) -> dict[int, tuple[float, int]]:
        """Return steady ns of each command to its margin and how long it was in force (ns)."""
        samples = trial.signals.margin_series(
            [Limit(signal=self.signal, at_most=self.at_most)]).samples
        ends = [*(sample.t_ns for sample in samples[1:]), trial.record.end_ns]
        found: dict[int, tuple[float, int]] = {}
        for sample, end_ns in zip(samples, ends):
            margin = math.nan if sample.margin is None else sample.margin
            before = found.get(sample.t_ns, (math.inf, 0))[0]
            found[sample.t_ns] = (before if math.isnan(before) else min(margin, before),
                                  end_ns - sample.t_ns)
        return found


def _when(event: Event) -> tuple[int, bool]:
    """Return what orders events by time: what was sensed at a moment goes before a command."""
    return event.stamps.steady_ns, event.kind != 'sensed'
