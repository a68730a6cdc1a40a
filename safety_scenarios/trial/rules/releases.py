# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""When what a rule demanded, or forbade, was released: a pure function of what happened."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from operator import attrgetter

from safety_scenarios.scenario.blocks.agents import ALL_CLEAR_SYMBOL, Pattern, Rule
from safety_scenarios.scenario.blocks.demands import releases
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.trial.rules.matching import holds, Key, matches, meant, Reading, Seen


@dataclass(frozen=True, slots=True)
class Release:
    """The moment from which on something was no longer demanded or forbidden."""

    key: Key
    why: str
    """In words, such as ``all_clear``."""


class Releases:
    """
    What released the demands and bans of one run.

    :param firings: of every rule, as (when, index)
    :param own: those firings that a saying of the controller under test has caused although no
        rule names it as the one who may: nobody releases himself
    """

    def __init__(self, block: AgentsBody, firings: Sequence[tuple[Key, int]],
                 own: Set[tuple[Key, int]], seen: Sequence[Seen],
                 readings: dict[str, list[Reading]]) -> None:
        self._block, self._seen, self._readings = block, seen, readings
        self._fired: dict[int, list[Key]] = {}
        for firing in sorted(firings):
            if firing not in own:
                self._fired.setdefault(firing[1], []).append(firing[0])
        self._known: dict[int, list[Release]] = {}

    def of(self, index: int, opening: Key) -> Release | None:
        """Return the first release after a rule fired, None when there was none."""
        if index not in self._known:
            self._known[index] = sorted(self._all(index, self._block.rules[index]),
                                        key=attrgetter('key'))
        found = self._known[index]
        place = bisect_right(found, opening, key=attrgetter('key'))
        return found[place] if place < len(found) else None

    def _all(self, index: int, rule: Rule) -> Iterator[Release]:
        held = rule.expect or rule.forbid
        if held is None:
            return
        for other, keys in self._fired.items():
            if other != index and releases(self._block.rules[other], rule):
                why = str(self._block.rules[other])
                yield from (Release(key, why) for key in keys)
        for pattern in held.until:
            yield from self.events(pattern)
        if rule.expect is not None:
            yield from (Release(seen.key, ALL_CLEAR_SYMBOL) for seen in self._seen
                        if seen.event.symbol == ALL_CLEAR_SYMBOL)

    def perhaps(self, index: int, opening: Key) -> Release | None:
        """Return the first saying after a rule fired that may lift it: its words leave it open."""
        rule = self._block.rules[index]
        held = (*(rule.expect.until + rule.expect.unless if rule.expect else ()),
                *(rule.forbid.until if rule.forbid else ()))
        return min((release for pattern in held if not pattern.is_state
                    for release in self.events(pattern, is_open=True) if opening < release.key),
                   key=attrgetter('key'), default=None)

    def events(self, pattern: Pattern, is_open: bool = False) -> Iterator[Release]:
        """
        Yield when an event came that is waited for; nobody releases himself unasked.

        :param is_open: those instead whose words leave open whether they are it
        """
        if pattern.is_state:
            before = False
            for reading in sorted(self._readings.get(pattern.name, ()), key=attrgetter('key')):
                now = holds(pattern, reading.value) is True
                if now and not before:
                    yield Release(reading.key, pattern.name)
                before = now
            return
        for seen in self._seen:
            is_own = seen.event.kind == 'say' and seen.event.agent == self._block.sut \
                and pattern.agents is None
            why = meant([pattern], seen)
            if why is not None and bool(why) is is_open \
                    and not (is_own or seen.is_doubtful or seen.is_denied):
                yield Release(seen.key, seen.event.symbol or seen.event.name)


def is_own(seen: Seen, rule: Rule, sut: str) -> bool:
    """Return whether a rule would fire by what the controller under test says unasked."""
    return seen.event.kind == 'say' and seen.event.agent == sut and rule.trigger is not None \
        and not any(pattern.agents is not None and matches(pattern, seen)
                    for pattern in rule.trigger.any)
