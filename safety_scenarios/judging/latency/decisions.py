# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the controller may have had beside what it was charged, where a world charges decisions.

A controller may answer at once, and compute on in another thread, another process or elsewhere.
Nobody sees that for sure. So for one that is not known to compute nothing between two decisions,
real time that passed while simulated time did not counts as time that it may have used.
"""

from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.timing import ENDED, HELD, THOUGHT, TURN
from safety_scenarios.trial.trial import TrialRecord


class Decisions:
    """The decisions of one record, in the order in which they took effect."""

    def __init__(self, record: TrialRecord) -> None:
        self._decisions = sorted(record.of_kind('decision'), key=_effect)

    def free_ns(self, from_ns: int, to_ns: int) -> int:
        """
        Return how much more real than simulated time passed, at the worst, from one on to another.

        :param from_ns: simulated; real time counts from the end of the decision before it
        :param to_ns: simulated; a decision that takes effect then is the last that counts
        """
        most_ns, least_ns = 0, None
        for decision in self._around(from_ns, to_ns):
            behind_ns = round(decision.truth[ENDED] * 1e9) - max(from_ns, _effect(decision))
            if least_ns is None or behind_ns < least_ns:
                least_ns = behind_ns
            most_ns = max(most_ns, behind_ns - least_ns)
        return most_ns

    def held_ns(self, from_ns: int, to_ns: int) -> int:
        """Return how long threads of the controller's process were ready to run, and did not."""
        return round(1e9 * sum(decision.truth[HELD] for decision in self._around(from_ns, to_ns)
                               if _effect(decision) > from_ns))

    def unanswered_ns(self, from_ns: int, until_ns: int) -> int:
        """
        Return the longest simulated time that passed while a turn was not answered.

        :param from_ns: simulated
        :param until_ns: as of ``unanswered``
        """
        return max([0, *(min(effect_ns, until_ns) - max(from_ns, due_ns)
                         for due_ns, effect_ns in self.unanswered(until_ns))])

    def unanswered(self, until_ns: int) -> list[tuple[int, int]]:
        """
        Return from when to when (simulated) each turn was not answered; the last is the next turn.

        Time stands still for a decision, but for no longer than the simulator's patience. What the
        decision was charged for does not count.

        :param until_ns: simulated; a turn that was not answered by then counts until then
        """
        turns = [round(one.truth[TURN] * 1e9) for one in self._decisions]
        usual_ns = median(later - earlier for earlier, later in pairwise(turns)) \
            if len(turns) > 1 else 0
        answers = [(turn_ns + round(one.truth[THOUGHT] * 1e9), _effect(one))
                   for turn_ns, one in zip(turns, self._decisions, strict=True)]
        if answers:
            answers.append((max(answers[-1][1], round(turns[-1] + usual_ns)), until_ns))
        return answers

    def _around(self, from_ns: int, to_ns: int) -> Iterator[Event]:
        before = None
        for decision in self._decisions:
            if _effect(decision) <= from_ns:
                before = decision
                continue
            if before is not None:
                yield before
                before = None
            if _effect(decision) > to_ns:
                return
            yield decision


def _effect(decision: Event) -> int:
    return decision.stamps.steady_ns
