# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
When processes of the harness could not run in a trial, and what was received late for it.

A controller may answer at once, and compute on in another thread, another process or elsewhere.
Nobody sees that for sure. So for one that is not known to compute nothing between two decisions,
real time that passed while simulated time did not counts as time that it may have used.

Where simulated time waits for every process, only for how long it went on without the controller.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median

from safety_scenarios.scenario.event import Event, STALL_BEGAN, STALL_ENDED, STALL_LOST
from safety_scenarios.scenario.timing import ENDED, HELD, Measuring, THOUGHT, TURN
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


EVALUATOR = 'evaluator'
LEAST_NS = 18_000_000
"""A shorter stall, by the record's clock, changes nothing that is judged."""
_BESIDE = 'responder'
"""It only stands beside a controller: that others had its processors holds for both."""
_NOT_RUN, BUSY = 'not run', 'busy'
_QUEUED = ('command', 'feedback', 'undeclared', 'response')
"""Kinds of events that arrive from elsewhere."""
_QUEUED_NS = 5_000_000
"""What was read so much later than it was sent has waited for the evaluator."""


@dataclass(frozen=True, slots=True)
class Stall:
    """One stretch of a trial in which a process could not run (ns, steady clock of the record)."""

    process: str
    from_ns: int
    until_ns: int
    lost_ns: int
    """How long of that it could not run, by the record's clock at the pace of real time."""
    real_ns: int
    """The same in real time."""
    how: str


class Stalls:
    """
    All of one record.

    :ivar known: those that are long enough to count, in the order in which they were reported
    :ivar busy: when the code of a process kept its own threads from running, which is no stall
    """

    def __init__(self, record: TrialRecord) -> None:
        found = tuple(_without_controller(record)) if _waits_for_all(record.measuring) else tuple(
            _stall(event, record.measuring.stretch) for event in record.of_kind('stall')
            if event.name != _BESIDE or event.text == _NOT_RUN)
        self.known = tuple(one for one in found if one.how != BUSY and one.lost_ns >= LEAST_NS)
        self.busy = tuple(one for one in found if one.how == BUSY)

    def lost_ns(self, from_ns: int, until_ns: int) -> int:
        """
        Return for how long at the most nothing went on between two moments for the stalls there.

        One process may have waited for another, so that what each has lost adds up, but to no more
        at any moment than all of it.
        """
        ends, stood_ns = list[tuple[int, float]](), 0
        for one in self.within(from_ns, until_ns):
            if one.until_ns == one.from_ns:  # simulated time stood still meanwhile
                stood_ns += one.lost_ns
                continue
            share = one.lost_ns / (one.until_ns - one.from_ns)
            ends += [(max(from_ns, one.from_ns), share), (min(until_ns, one.until_ns), -share)]
        ends.sort()
        shares = accumulate(share for _, share in ends)
        lost_ns = sum((later - earlier) * min(1.0, share) for (earlier, _), (later, _), share
                      in zip(ends, ends[1:], shares, strict=False))
        return min(max(0, until_ns - from_ns), round(lost_ns) + stood_ns)

    def ran_ns(self, process: str, from_ns: int, needs_ns: int) -> int:
        """Return by when (steady ns) a process had run for some time from a moment on, at last."""
        at_ns, left_ns = from_ns, float(needs_ns)
        own = sorted((one for one in self.known if one.process == process),
                     key=lambda one: one.from_ns)
        for one in own:
            if one.until_ns < at_ns:
                continue
            begin_ns = max(at_ns, one.from_ns)
            if begin_ns - at_ns >= left_ns:
                break
            left_ns -= begin_ns - at_ns
            length_ns = one.until_ns - one.from_ns
            at_ns = max(at_ns, one.until_ns)
            ran_ns = max(0.0, (at_ns - begin_ns) * (1 - one.lost_ns / length_ns)) \
                if length_ns else -one.lost_ns  # simulated time stood still meanwhile
            left_ns -= min(ran_ns, left_ns)
        return at_ns + round(left_ns)

    def of(self, process: str) -> 'Stalls':
        found = copy(self)
        found.known = tuple(one for one in self.known if one.process == process)
        return found

    def within(self, from_ns: int, until_ns: int) -> Sequence[Stall]:
        """Return those that overlap a time, or end where it begins."""
        return [one for one in self.known if one.from_ns <= until_ns and one.until_ns >= from_ns]


def _waits_for_all(measuring: Measuring) -> bool:
    is_lockstep = measuring.lockstep or measuring.rules.lockstep
    return measuring.exact or (is_lockstep and not measuring.beside)


def _without_controller(record: TrialRecord) -> Iterator[Stall]:
    """
    Yield when in lock-step time went on though the controller's process could not run.

    What it took to decide by its own doing is charged. One that had not answered by the end could
    not run where that was reported then.
    """
    *answered, last = Decisions(record).unanswered(record.end_ns) or [(0, 0)]
    if any(event.text == 'stopped' and event.stamps.steady_ns >= record.end_ns
           and 1e9 * event.truth[STALL_LOST] >= last[1] - last[0]
           for event in record.of_kind('stall', 'controller')):
        answered.append(last)
    for from_ns, until_ns in answered:
        lost_ns = until_ns - from_ns
        yield Stall('controller', from_ns, until_ns, lost_ns, lost_ns, 'stopped')


def _stall(event: Event, stretch: float) -> Stall:
    now_ns, truth = event.stamps.steady_ns, event.truth
    lost_s = truth.get(STALL_LOST, 0.0)
    return Stall(event.name, now_ns - round(1e9 * truth.get(STALL_BEGAN, lost_s)),
                 now_ns - round(1e9 * truth.get(STALL_ENDED, 0.0)),
                 round(1e9 * lost_s * stretch), round(1e9 * lost_s), event.text or '')


def as_received(record: TrialRecord) -> TrialRecord:
    """
    Return the record with the stamps that the evaluator would have read, had it not stalled.

    What waits until the evaluator runs again is read all at once then, so that its own stamps tell
    of a silence and a burst that never were. The middleware's stamp of the publish is right: where
    that is of this host's clock, a message that had to wait for a stall of the evaluator is given
    the time at which it was sent, and as long as messages on its topic usually take. Rules among
    agents went by when it was read, so that there nothing is changed.
    """
    is_agents = record.trial.scenario.body.is_conversation
    if is_agents or not record.measuring.one_host or not record.of_kind('stall', EVALUATOR):
        return record
    own, usual = Stalls(record).of(EVALUATOR), _usual(record)
    events, is_moved = list(record.events), False
    follows_ns: dict[tuple[str, str], int] = {}
    for place in range(len(events) - 1, -1, -1):
        event = events[place]
        if event.kind not in _QUEUED:
            continue
        now_ns, key = event.stamps.steady_ns, (event.kind, event.name)
        on_way_ns, read_ns = _waited_ns(event, usual[key], own, record.measuring.stretch) \
            if key in usual else (0, 0)
        late_ns = max(on_way_ns + read_ns, now_ns - follows_ns.get(key, now_ns))  # in order
        follows_ns[key] = now_ns - late_ns
        if late_ns:
            events[place], is_moved = _earlier(event, late_ns, on_way_ns), True
    if not is_moved:
        return record
    return record.model_copy(update={'events': (
        *sorted(events[:-1], key=lambda event: event.stamps.steady_ns), events[-1])})


def _usual(record: TrialRecord) -> dict[tuple[str, str], tuple[int, int]]:
    """Return how long messages take until they are read and until they arrive, by topic (ns)."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for event in record.events:
        stamps = event.stamps
        if event.kind in _QUEUED and stamps.source_ns is not None:
            found.setdefault((event.kind, event.name), []).append((
                stamps.system_ns - stamps.source_ns,
                (stamps.received_ns or stamps.system_ns) - stamps.source_ns))
    return {key: (_median(took[0] for took in all_took), _median(took[1] for took in all_took))
            for key, all_took in found.items()}


def _median(took_ns: Iterable[int]) -> int:
    return max(0, round(median(took_ns)))


def _waited_ns(event: Event, usual: tuple[int, int], own: Stalls,
               stretch: float) -> tuple[int, int]:
    """
    Return how much longer than usual a message took for stalls of the evaluator (ns).

    What it took on the way is theirs only as far as the evaluator lost that time: what others have
    held up was not here earlier.

    :param usual: how long messages of its topic take until they are read, and until they arrive
    :return: on the way, and from its arrival on
    """
    stamps = event.stamps
    if stamps.source_ns is None:
        return 0, 0
    late_ns, slack_ns = stamps.system_ns - stamps.source_ns - usual[0], _QUEUED_NS * stretch
    now_ns = stamps.steady_ns
    if late_ns <= slack_ns or not own.within(now_ns - late_ns, now_ns):
        return 0, 0
    on_way_ns = late_ns if stamps.received_ns is None else min(
        late_ns, max(0, stamps.received_ns - stamps.source_ns - usual[1]))
    read_ns = late_ns - on_way_ns
    lost_ns = own.lost_ns(now_ns - late_ns, now_ns - read_ns)
    return min(on_way_ns, round(lost_ns + slack_ns) if lost_ns else 0), read_ns


def _earlier(event: Event, by_ns: int, on_way_ns: int) -> Event:
    """Return a message with the stamps of an earlier moment."""
    stamps = event.stamps
    arrived_ns = None if stamps.received_ns is None else min(
        stamps.received_ns - on_way_ns, stamps.system_ns - by_ns)
    return event.model_copy(update={'stamps': stamps.model_copy(update={
        'steady_ns': stamps.steady_ns - by_ns, 'system_ns': stamps.system_ns - by_ns,
        'ros_ns': stamps.ros_ns - by_ns, 'received_ns': arrived_ns})})
