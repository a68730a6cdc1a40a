# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial as it is judged: its record, and each stage that was computed from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from safety_scenarios.judging.latency.pairing import LatencyResult
from safety_scenarios.judging.latency.stalls import as_received, Stalls
from safety_scenarios.judging.motion.motion import Motion
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.measuring import THOUGHT
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.timing import THINKING
from safety_scenarios.trial.timeline import Timeline
from safety_scenarios.trial.trial import TrialRecord


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
        """Return the scenario that was played."""
        return self.record.trial.scenario

    @cached_property
    def stalls(self) -> Stalls:
        """Return when processes of the harness could not run."""
        return Stalls(self.record)

    @cached_property
    def taking_all(self) -> 'JudgedTrial | None':
        """
        Return the trial as with a driver that takes every command.

        None where that is no other: the driver was declared, or has rejected nothing.
        """
        return self._from(self.timeline, Signals(self.record, takes_all=True)) \
            if self.signals.guesses_rejections else None

    def left_out_ns(self, from_ns: int, to_ns: int) -> int:
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
