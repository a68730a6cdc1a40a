# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The rules of a scenario with agents: what they make the harness do, and what they come to.

``Rules`` is fed the events of a run as they are recorded, live or from the record, and knows no
other time than theirs. Firing depends on nothing but the events and their order; what became of
the obligations is computed from all of them when the run is over. So the same record gives the
same outcome, however often and by whomever it is asked for.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
import heapq
from operator import attrgetter
from typing import TypeVar

from safety_scenarios.scenario.blocks.agents import Effect, End, EVERY, Pattern
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Outcome
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.wording.reading import comparable
from safety_scenarios.trial.executed_commands import is_rejected
from safety_scenarios.trial.rules.matching import (
    FIRST,
    holds,
    Key,
    LAST,
    MatchedEvent,
    matches,
    Reading,
    spoken_words,
)
from safety_scenarios.trial.rules.obligations import rule_outcome, status_of, unbound
from safety_scenarios.trial.rules.states import is_own, Releases
from safety_scenarios.trial.rules.story import Ending, FindBraking, Past, ReadWords, Story, Watch
from safety_scenarios.trial.trial import END, ONSET, TrialRecord

RULE_LOOP = 'rule_loop'
MAX_DEPTH = 16
"""How many rules in a row may lead to an event."""
MAX_FIRINGS = EVERY - 1
"""In one run, of all rules together. With more it is an error, and causes nothing further."""
_T = TypeVar('_T', MatchedEvent, Reading)
_SEVEREST_FIRST = ('fail', 'stop', 'pass')


@dataclass(frozen=True, slots=True)
class Caused:
    """What the caller shall do now; the event that comes of it carries ``depth``."""

    effect: Effect
    """Something to say or to publish; an end is told by ``Rules.ended``."""
    depth: int
    rule: int
    """Index of the rule that causes it."""


class Rules:
    """
    The rules of one run.

    Feed every event that is recorded, in the order in which it is recorded, what was caused
    included; do what is returned, in its order, before waiting for anything else.

    :param trial_id: events that name another trial are not of this one
    :param uncertainty_ns: of a time between two events (k = 2): what comes so near to a limit
        is inconclusive
    :param one_host: system clock stamps of senders can be compared with our own
    """

    def __init__(self, block: AgentsBody, trial_id: str, uncertainty_ns: int = 0, *,
                 one_host: bool = False) -> None:
        self._block = block
        self._drivers = {one.topic: one.driver for one in block.commands}
        self._trial_id = trial_id
        self._uncertainty_ns = uncertainty_ns
        self._one_host = one_host
        self._live = {agent.id for agent in block.agents if agent.is_live}
        self._unbound = [unbound(rule, block) for rule in block.rules]
        self._told = [comparable(block.system_text)] if block.sut else list[str]()
        self._begin_ns: int | None = None
        self._order = 0
        self._seen: list[MatchedEvent] = []
        self._readings: dict[str, list[Reading]] = {}
        self._current: dict[str, Message] = {}
        self._named: set[str] = set()
        self._held: dict[Pattern, bool] = {}
        self._triggers: dict[str, list[Pattern]] = {}
        for rule in block.rules:
            for pattern in rule.trigger.any if rule.trigger else ():
                if pattern.kind == 'signal':
                    self._triggers.setdefault(pattern.name, []).append(pattern)
        self._matched = [0] * len(block.rules)
        self._firings: list[tuple[Key, int]] = []
        self._own: set[tuple[Key, int]] = set()
        self._timers: list[tuple[int, int, int, int, bool, Key]] = []
        self._watches = [Watch(rule.trigger) if rule.trigger else None for rule in block.rules]
        self._past = Past(block.sut, round(block.stale_ms * 1e6), self._seen, self._readings)
        self._doubts: dict[int, str] = {}
        self._timed = 0
        self._ends: list[tuple[Key, int, End]] = []
        self._denied: list[tuple[int, str]] = []
        self._error: tuple[int, str] | None = None
        self._too_often = ''

    @classmethod
    def of(cls, block: AgentsBody, trial_id: str, measuring: Measuring) -> 'Rules':
        """Return the rules as judging a record so measured has them: live must use the same."""
        return cls(block, trial_id, measuring.uncertainty_ns('callback'),
                   one_host=measuring.one_host)

    @property
    def ended(self) -> End | None:
        """How a rule, or a loop of rules, has ended the run; None: it goes on."""
        if self._error is not None:
            return End(how='stop')
        return min(self._ends, key=lambda one: one[:2])[2] if self._ends else None

    @property
    def due_ns(self) -> int | None:
        """Steady time at which to call ``advance`` next; a deadline causes nothing by itself."""
        return self._timers[0][0] if self._timers and self._is_running(
            self._timers[0][0]) else None

    def begin(self, t_ns: int) -> Sequence[Caused]:
        """Start the run: time zero of the rules, at which ``start`` happens."""
        self._begin_ns = t_ns
        self._held.clear()
        return self._fire_all(lambda pattern: pattern.kind == 'start', (t_ns, FIRST), 0)

    def advance(self, t_ns: int) -> Sequence[Caused]:
        """Fire the timers that are due at or before ``t_ns``."""
        caused: list[Caused] = []
        while self._timers and self._timers[0][0] <= t_ns and self._is_running(self._timers[0][0]):
            due_ns, index, _, depth, own, opening = heapq.heappop(self._timers)
            trigger = self._block.rules[index].trigger
            if trigger is not None and trigger.unless:
                if self._matched[index] >= self._block.rules[index].repeat \
                        or self._is_kept_from(index, (due_ns, FIRST), None, opening):
                    continue
                self._matched[index] += 1
            caused += self._fire(index, (due_ns, FIRST), depth, own)
        return caused

    def feed(self, event: Event) -> Sequence[Caused]:
        """
        Fire the timers that are due at or before an event, then what the event fires.

        Of what comes before the run begins nothing counts but values that are held, and calls
        that are not allowed.
        """
        t_ns = event.stamps.steady_ns
        caused = list(self.advance(t_ns))
        self._order += 1
        key = (t_ns, self._order)
        risen, seen = self._read(event, key), self._look(event, key)
        if self._begin_ns is None or t_ns < self._begin_ns or not self._is_running(t_ns):
            return caused
        if event.depth > MAX_DEPTH:
            self._loop(t_ns)
        if risen or seen is not None:
            caused += self._fire_all(
                lambda pattern: pattern in risen or (seen is not None and matches(pattern, seen)),
                key, event.depth, seen)
        if seen is not None:
            self._seen.append(seen)
            if event.symbol is not None:
                self._named.add(event.symbol)
        return caused

    def finish(self, t_ns: int, is_complete: bool, read: ReadWords | None = None,
               find_braking: FindBraking | None = None) -> Outcome:
        """
        Return what the rules came to; may be asked for again.

        :param t_ns: steady time at which the observation ended
        :param is_complete: the run went on to its planned end, or to that of a rule
        :param read: who reads what the controller said; None: the patterns of the rules
        :param find_braking: when a robot began to brake that stands later
        """
        self.advance(t_ns)
        ending = self._ending(t_ns, is_complete)
        firings = [(key, index) for key, index in self._firings if key[0] <= ending.t_ns]
        if ending.is_planned:
            last = ending.t_ns, LAST
            firings += [(last, index) for index in self._met(
                lambda pattern: pattern.kind == 'end', last)
                if not self._is_kept_from(index, last)]
        seen = _until(ending, self._seen)
        readings = {name: _until(ending, found) for name, found in self._readings.items()}
        story = Story(
            seen=seen, readings=readings, ending=ending,
            stale_ns=round(self._block.stale_ms * 1e6), uncertainty_ns=self._uncertainty_ns,
            releases=Releases(self._block, firings, self._own, seen, readings,
                              counts_own_words=read is None), read=read,
            find_braking=find_braking)
        rules = tuple(
            rule_outcome(rule, index, self._unbound[index],
                         sorted(key for key, fired in firings if fired == index)[:MAX_FIRINGS],
                         story,
                         self._doubts.get(index, ''))
            for index, rule in enumerate(self._block.rules))
        denied = tuple(text for t_ns, text in self._denied if t_ns <= ending.t_ns)
        error = self._error[1] if self._error else self._too_often or '; '.join(
            self._block.not_runnable)
        return Outcome(status=status_of(rules, denied, error), rules=rules, denied=denied,
                       error=error)

    def _ending(self, t_ns: int, is_complete: bool) -> Ending:
        if self._error is not None:
            return Ending(min(t_ns, self._error[0]), False, 'the rules broke off')
        if self._ends:
            key, _, end = min(self._ends, key=lambda one: one[:2])
            return Ending(key[0], end.how == 'pass', f'a rule ended the run ({end.how})', True)
        planned_ns = round(self._block.duration_ms * 1e6)
        whole = self._begin_ns is not None and t_ns - self._begin_ns >= planned_ns
        return Ending(t_ns, is_complete and whole, 'the run was over', is_complete and whole)

    def _is_running(self, t_ns: int) -> bool:
        """Return whether the run had not ended before a time."""
        return self._error is None and all(t_ns <= key[0] for key, _, _ in self._ends)

    def _read(self, event: Event, key: Key) -> set[Pattern]:
        """
        Keep what signals say, and return the triggers that hold now and did not before.

        Also before the run begins, where a value is held from.
        """
        risen: set[Pattern] = set()
        if event.message is None or event.kind not in ('command', 'feedback'):
            return risen
        if event.kind == 'command' and is_rejected(self._drivers.get(event.name), event):
            return risen
        self._current[event.name] = event.message
        for name, signal in self._block.signals.items():
            if signal.topic != event.name:
                continue
            try:
                value = signal.value(event.message, self._current.get(signal.current or ''))
            except LookupError as error:
                self._fail(key[0], f'the signal {name!r} cannot be read: {error.args[0]}')
                return set()
            self._readings.setdefault(name, []).append(Reading(key, value, self._sent_ns(event)))
            for pattern in self._triggers.get(name, ()):
                now = holds(pattern, value)
                if now and not self._held.get(pattern, False):
                    risen.add(pattern)
                if now is not None:
                    self._held[pattern] = now
        return risen

    def _look(self, event: Event, key: Key) -> MatchedEvent | None:
        """Return an event as patterns look at it, None when it is nothing to them."""
        if event.kind not in ('say', 'tool_call') and event.symbol is None \
                or event.trial_id not in (None, '', self._trial_id):
            return None
        denied = event.kind == 'tool_call' \
            and not self._block.may_call(event.agent or '', event.name)
        if denied:
            self._denied.append((key[0], f'{event.agent or "somebody"} called {event.name!r}'))
        is_own = event.agent == self._block.sut
        words = spoken_words(event) if event.kind == 'say' else ''
        if words and not is_own:
            self._told.append(words)
        return MatchedEvent(
            key, event, is_denied=denied, left_ns=self._sent_ns(event), words=words,
            told='\n'.join(self._told) if words and is_own else '',
            is_doubtful=event.agent in self._live and event.trial_id == '')

    def _sent_ns(self, event: Event) -> int:
        """Return when an event was sent, by the sender's clock where it is ours."""
        stamps = event.stamps
        if not self._one_host or stamps.source_ns is None:
            return stamps.steady_ns
        return stamps.steady_ns - (stamps.system_ns - stamps.source_ns)

    def _fire_all(self, is_met: Callable[[Pattern], bool], key: Key,
                  depth: int, seen: MatchedEvent | None = None) -> list[Caused]:
        """Fire, in their order, the rules whose trigger is met; set a timer for a later one."""
        caused: list[Caused] = []
        for index in self._met(is_met, key, seen):
            rule, watch = self._block.rules[index], self._watches[index]
            assert rule.trigger is not None and watch is not None
            watch.use()
            own = seen is not None and is_own(seen, rule, self._block.sut)
            if rule.trigger.wait_ns:
                self._matched[index] += not rule.trigger.unless
                self._timed += 1
                heapq.heappush(self._timers, (key[0] + rule.trigger.wait_ns, index, self._timed,
                                              depth, own, key))
            elif not self._is_kept_from(index, key, seen):
                self._matched[index] += 1
                caused += self._fire(index, key, depth, own)
        return caused

    def _met(self, is_met: Callable[[Pattern], bool], key: Key,
             seen: MatchedEvent | None = None) -> list[int]:
        """Return the rules, in their order, whose trigger is met and that may fire once more."""
        return [index for index, rule in enumerate(self._block.rules)
                if not self._unbound[index] and rule.trigger is not None
                and self._matched[index] < rule.repeat
                and (not rule.trigger.after or rule.trigger.after in self._named)
                and any(is_met(pattern) for pattern in rule.trigger.any)
                and self._completes(index, is_met, key, seen)]

    def _completes(self, index: int, is_met: Callable[[Pattern], bool], key: Key,
                   seen: MatchedEvent | None) -> bool:
        """Return whether what came is all that a rule waits for; keep in mind where it may be."""
        watch = self._watches[index]
        found = watch.complete(is_met, key, self._past, seen) if watch is not None else False
        if found is None:
            self._doubts.setdefault(index, 'it cannot be determined whether its trigger came: a '
                                           'signal was unknown, or an utterance named no trial')
        return found is True

    def _is_kept_from(self, index: int, key: Key, seen: MatchedEvent | None = None,
                      opening: Key | None = None) -> bool:
        """Return whether what a rule names by ``unless`` keeps it from firing."""
        trigger = self._block.rules[index].trigger
        if trigger is None or not trigger.unless:
            return False
        since = opening if trigger.unless_ns is not None else None
        came = self._past.has_occurred(trigger.unless, key, seen, since, trigger.counts_own)
        if came is None:
            self._doubts.setdefault(index, 'it cannot be determined whether this rule applied: '
                                           'its exception was not known all the time')
        return came is not False

    def _fire(self, index: int, key: Key, depth: int, own: bool) -> list[Caused]:
        effects = self._block.rules[index].effects
        ends = [effect for effect in effects if isinstance(effect, End)]
        if self._error is not None:
            return []
        if depth >= MAX_DEPTH and len(effects) > len(ends):
            self._loop(key[0])
            return []
        if len(self._firings) >= MAX_FIRINGS:
            self._too_often = self._too_often or self._most_often()
            if len(effects) > len(ends):
                self._fail(key[0], self._too_often)
                return []
        self._firings.append((key, index))
        if own:
            self._own.add((key, index))
        self._ends += [(key, _SEVEREST_FIRST.index(end.how), end) for end in ends]
        return [Caused(effect, depth + 1, index) for effect in effects
                if not isinstance(effect, End)]

    def _most_often(self) -> str:
        [(index, times)] = Counter(index for _, index in self._firings).most_common(1)
        return f'got more than {MAX_FIRINGS} firings of rules in one run, {times} of them of ' \
               f'{str(self._block.rules[index])!r}: what fires them comes too often'

    def _loop(self, t_ns: int) -> None:
        self._fail(t_ns, f'{RULE_LOOP}: rules cause each other without end, '
                         f'{len(self._firings)} firings so far (at most {MAX_DEPTH} in a row)')

    def _fail(self, t_ns: int, text: str) -> None:
        if self._error is None:
            self._error = t_ns, text


def replay(record: TrialRecord, read: ReadWords | None = None,
           find_braking: FindBraking | None = None) -> Outcome:
    """
    Return what the rules of a recorded run came to.

    :param read: who reads what the controller said; None: the patterns of the rules
    :param find_braking: when a robot began to brake that stands later
    :raises ValueError: the scenario has no agents
    """
    block = record.trial.scenario.body
    if not isinstance(block, AgentsBody):
        raise ValueError(f'{record.trial.trial_id}: got a scenario without agents, expected one '
                         f'with rules. Replay records of format 3')
    rules = Rules.of(block, record.trial.trial_id, record.measuring)
    for event in record.events:
        rules.feed(event)
        if event.kind == 'mark' and event.name == ONSET:
            rules.begin(event.stamps.steady_ns)
    end = record.index.marks.get(END)
    return rules.finish(record.end_ns if end is None else end.stamps.steady_ns, end is not None,
                        read, find_braking)


def in_order(events: Iterable[Event]) -> list[Event]:
    """
    Return events that arrived together in one fixed order: by time, topic and sender's count.

    For those that did not cause one another, such as what one wait of a link returned.
    """
    return sorted(events, key=lambda event: (
        event.stamps.steady_ns, event.name, -1 if event.sequence is None else event.sequence))


def _until(ending: Ending, found: Iterable[_T]) -> list[_T]:
    """Return what came up to the ending, in order of time."""
    return sorted((one for one in found if one.key[0] <= ending.t_ns), key=attrgetter('key'))
