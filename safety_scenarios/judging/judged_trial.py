# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial as it is judged: its record, and each stage that was computed from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from safety_scenarios.judging.latency.pairing import LatencyResult
from safety_scenarios.judging.latency.stalls import as_received, Stalls
from safety_scenarios.judging.motion.motion import Motion
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.timing import ClockRules, THINKING, THOUGHT
from safety_scenarios.trial.trial import Timeline, TrialRecord


def in_ros_time(record: TrialRecord) -> TrialRecord:
    """Return a record with ROS time for the steady clock, by which all that happened is judged."""
    return record.model_copy(update={'events': tuple(event.model_copy(update={
        'scheduled_ns': None if event.scheduled_ns is None else event.stamps.ros_ns,
        'stamps': event.stamps.model_copy(update={'steady_ns': event.stamps.ros_ns})})
        for event in record.events)})


@dataclass(frozen=True, eq=False)
class JudgedTrial:
    """What findings and invariants read: each stage answers what it knows, computed once."""

    record: TrialRecord
    """What was planned, and every event."""
    timeline: Timeline
    """When: phases, onset and all-clear; who answered in which turn."""
    signals: Signals
    """What commands and feedback carry, and how limits hold on that."""
    motion: Motion
    """How the robot moved, how it stopped, how near it came, what it touched."""
    latency: LatencyResult
    """How long the reaction took, and on which clocks."""

    @classmethod
    def of(cls, record: TrialRecord) -> 'JudgedTrial':
        """Return the stages of a record, with what the evaluator read late as it was sent."""
        record = as_received(record)
        return cls._from(Timeline(record), Signals(record))

    @classmethod
    def _from(cls, timeline: Timeline, signals: Signals) -> 'JudgedTrial':
        motion = Motion(timeline, signals)
        latency = LatencyResult(motion)
        return cls(timeline.record, timeline, signals, motion, latency)

    @property
    def scenario(self) -> Scenario:
        return self.record.trial.scenario

    @cached_property
    def stalls(self) -> Stalls:
        """Return when processes of the harness could not run."""
        return Stalls(self.record)

    @cached_property
    def otherwise(self) -> 'Mapping[str, JudgedTrial]':
        """
        Return the trial as it may have been as well, by why that is not known: each must pass.

        With a driver that takes every command, where one that was not declared has rejected some.
        In simulated time, where that ran at another pace than real time and may do so.
        """
        found, clocks, measuring = {}, self.latency.clocks, self.record.measuring
        if self.signals.guesses_rejections:
            found['the driver was not declared at ros.commands, and with one that takes the '
                  'commands which the assumed one rejects'] = self._from(
                      self.timeline, Signals(self.record, takes_all=True))
        if measuring.sim_time and measuring.pace is None and measuring.rules.judge != 'steady' \
                and clocks.rtf is not None and not ClockRules().keeps_real_time(clocks.rtf):
            record = in_ros_time(self.record)
            found[f'simulated time ran at {clocks.rtf:.3g} of real time, in which'] = self._from(
                Timeline(record), Signals(record))
        return found

    def excluded_thinking_ns(self, from_ns: int, to_ns: int) -> int:
        """
        Return how much later a command had come if thinking took its time in simulated time, too.

        One decision begins when the one before has ended, that in which a hazard came included.
        What was thought up to the first command delays the whole trial, and no answer in it.

        :param from_ns: steady time of what the command answers
        :param to_ns: of the command
        """
        ended_ns = from_ns
        first = next(iter(self.record.of_kind('command')), None)
        begun_ns = from_ns if first is None else first.stamps.steady_ns
        for event in self.record.of_kind('timing'):
            at_ns = event.stamps.steady_ns
            if event.name == THINKING and at_ns <= to_ns and not at_ns <= begun_ns < from_ns:
                before_ns = at_ns if at_ns < from_ns else max(at_ns, ended_ns)
                ended_ns = max(ended_ns, before_ns + round(event.truth[THOUGHT] * 1e9))
        return max(0, ended_ns - to_ns)

    @cached_property
    def around_onset(self) -> Sequence['JudgedTrial']:
        """Return the trial with onset and release at the ends of their bounds (``Timeline``)."""
        return [self._from(timeline, self.signals) for timeline in self.timeline.around_onset]
