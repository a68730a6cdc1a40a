# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What became of what a rule demanded or forbade: a pure function of what happened."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

from safety_scenarios.engine.matching import breaks, holds, Key, LAST, meant, Reading, Seen
from safety_scenarios.model.agents import Expect, Forbid, Pattern
from safety_scenarios.model.outcome import Obligation, Status
from safety_scenarios.model.result import LatencyClass


@dataclass(frozen=True, slots=True)
class Ending:
    """When and how the observation was over."""

    t_ns: int
    is_planned: bool
    """What is forbidden to the end of the run was observed whole."""
    how: str
    """In words, such as ``the run was over``."""


@dataclass(frozen=True, slots=True)
class Story:
    """What happened up to the ending, in order of time."""

    seen: Sequence[Seen]
    readings: Mapping[str, Sequence[Reading]]
    """By signal."""
    ending: Ending
    stale_ns: int
    uncertainty_ns: int


@dataclass(frozen=True, slots=True)
class _Match:
    key: Key
    left_ns: int
    is_clear: bool = True
    """False: nobody can tell whether it counts."""
    why: str = ''
    """What its words leave open."""

    @property
    def t_ns(self) -> int:
        return self.key[0]


def expected(expect: Expect, openings: Sequence[Key], story: Story) -> tuple[Obligation, ...]:
    """Judge each opening; one event answers only the first that is still open."""
    found = _answers(expect.any, story)
    due_ns = expect.budget.limit_ns('critical')
    open_for_ns = due_ns + story.uncertainty_ns
    taken: dict[int, _Match] = {}
    for match in found:
        first = next((place for place, key in enumerate(openings) if place not in taken
                      and _follows(match, key) and match.t_ns - key[0] <= open_for_ns),
                     None) if match.is_clear else None
        if first is not None:
            taken[first] = match
    return tuple(_expected(expect, key, taken.get(place), found, story)
                 for place, key in enumerate(openings))


def _follows(match: _Match, opening: Key) -> bool:
    return match.key > opening and match.left_ns >= opening[0]


def _expected(expect: Expect, opening: Key, match: _Match | None, found: Sequence[_Match],
              story: Story) -> Obligation:
    opened_ns, near_ns = opening[0], story.uncertainty_ns
    due_ns = expect.budget.limit_ns('critical')
    if match is not None:
        took_ns = match.t_ns - opened_ns
        latency_class = expect.budget.classify(took_ns)
        sure = due_ns - took_ns >= near_ns
        return Obligation(
            opened_ns=opened_ns, at_ns=match.t_ns, latency_ns=took_ns,
            latency_class=latency_class, late_by_ns=took_ns - due_ns if took_ns > due_ns else None,
            status=Status.SATISFIED if sure else Status.INCONCLUSIVE,
            reason=f'came after {_ms(took_ns)}, which is {latency_class.value}'
                   + ('' if sure else f', too near to {_ms(due_ns)} ± {_ms(near_ns)} to tell'))
    until_ns = min(opened_ns + due_ns + near_ns, story.ending.t_ns)
    if _held_at(expect.any, opening, story) or any(
            not (one.is_clear and _follows(one, opening)) for one in found
            if opening < one.key and one.t_ns <= until_ns):
        return Obligation(
            opened_ns=opened_ns, at_ns=until_ns, status=Status.INCONCLUSIVE,
            reason=f'nothing surely came within {_ms(due_ns)}: it held already, was on its way '
                   f'already, its value was not known, it named no trial, or its words leave it '
                   f'open{_open_words(found, opening, until_ns)}')
    if story.ending.t_ns < opened_ns + due_ns + near_ns:
        return Obligation(
            opened_ns=opened_ns, at_ns=story.ending.t_ns, status=Status.INCONCLUSIVE,
            reason=f'{story.ending.how} {_ms(story.ending.t_ns - opened_ns)} after it was '
                   f'demanded, before {_ms(due_ns)}')
    late = next((one for one in found if one.is_clear and _follows(one, opening)
                 and one.t_ns - opened_ns > due_ns + near_ns), None)
    took = None if late is None else late.t_ns - opened_ns
    return Obligation(
        opened_ns=opened_ns, at_ns=opened_ns + due_ns, status=Status.VIOLATED, latency_ns=took,
        latency_class=LatencyClass.NO_RESPONSE if took is None else LatencyClass.VIOLATION,
        late_by_ns=None if took is None else took - due_ns,
        reason=f'did not come within {_ms(due_ns)}'
               + ('' if took is None else f', but after {_ms(took)}, {_ms(took - due_ns)} late'))


def forbidden(forbid: Forbid, openings: Sequence[Key], story: Story) -> tuple[Obligation, ...]:
    """Judge each opening by what came in its window, both ends included."""
    found = _offences(forbid.any, story)
    return tuple(_forbidden(forbid, key, found, story) for key in openings)


def _forbidden(forbid: Forbid, opening: Key, found: Sequence[_Match],
               story: Story) -> Obligation:
    opened_ns, ending, near_ns = opening[0], story.ending, story.uncertainty_ns
    close_ns = ending.t_ns if forbid.for_ns is None else opened_ns + forbid.for_ns
    inside = [one for one in found if one.key > opening and one.t_ns <= close_ns + near_ns]

    def is_sure(one: _Match) -> bool:
        return one.is_clear and one.t_ns - opened_ns >= near_ns and (
            forbid.for_ns is None or close_ns - one.t_ns >= near_ns)

    held = _held_at(forbid.any, opening, story)
    first_ns = opened_ns if held else next((one.t_ns for one in inside if is_sure(one)), None)
    if first_ns is not None:
        return Obligation(
            opened_ns=opened_ns, at_ns=first_ns, status=Status.VIOLATED,
            reason='held already when it was forbidden' if held else
                   f'came {_ms(first_ns - opened_ns)} after it was forbidden')
    over = ending.is_planned if forbid.for_ns is None else ending.t_ns >= close_ns + near_ns
    end_ns = min(close_ns, ending.t_ns)
    unclear = (f'something may have been it: too near to a limit, it named no trial, or its words '
               f'leave it open{_open_words(inside, opening, close_ns + near_ns)}') if inside \
        else _unknown(forbid.any, opening, end_ns, story)
    why = unclear or ('' if over else f'{ending.how} {_ms(ending.t_ns - opened_ns)} after it was '
                                      f'forbidden, too early to tell')
    return Obligation(
        opened_ns=opened_ns, at_ns=end_ns,
        status=Status.INCONCLUSIVE if why else Status.SATISFIED,
        reason=why or f'did not come within {_ms(end_ns - opened_ns)}')


def _open_words(found: Sequence[_Match], opening: Key, until_ns: int) -> str:
    """Return the first clause that leaves open what was said, as the end of a sentence."""
    return next((f': {one.why}' for one in found
                 if one.why and opening < one.key and one.t_ns <= until_ns), '')


def _answers(patterns: Sequence[Pattern], story: Story) -> list[_Match]:
    """Return what may satisfy a demand: events, and signals that begin to hold."""
    found = [_Match(seen.key, seen.left_ns, not seen.is_doubtful and not why, why)
             for seen in story.seen
             if not seen.is_denied and (why := meant(patterns, seen)) is not None]
    for pattern in patterns:
        if pattern.kind == 'signal':
            found += _edges(pattern, story)
    return _in_order(found, patterns, story)


def _edges(pattern: Pattern, story: Story) -> list[_Match]:
    """Return the readings that hold: clear only after one that was known not to, not long ago."""
    found = []
    before: Reading | None = None
    for reading in story.readings.get(pattern.name, ()):
        now = holds(pattern, reading.value)
        rises = before is not None and holds(pattern, before.value) is False \
            and reading.key[0] - before.key[0] <= story.stale_ns
        if now is not False:
            found.append(_Match(reading.key, reading.left_ns, bool(now) and rises))
        before = reading
    return found


def _offences(patterns: Sequence[Pattern], story: Story) -> list[_Match]:
    """Return whatever breaks a prohibition, or may."""
    found = [_Match(seen.key, seen.left_ns, not seen.is_doubtful and not why, why)
             for seen in story.seen if (why := meant(patterns, seen)) is not None]
    for pattern in patterns:
        if pattern.kind == 'signal':
            found += [_Match(reading.key, reading.left_ns)
                      for reading in story.readings.get(pattern.name, ())
                      if breaks(pattern, reading.value)]
    return _in_order(found, patterns, story)


def _in_order(found: list[_Match], patterns: Sequence[Pattern], story: Story) -> list[_Match]:
    ending = story.ending
    if ending.is_planned and any(pattern.kind == 'end' for pattern in patterns):
        found.append(_Match((ending.t_ns, LAST), ending.t_ns))
    return sorted(found, key=attrgetter('key'))


def _held_at(patterns: Sequence[Pattern], opening: Key, story: Story) -> bool:
    """Return whether a signal was known to hold when something was demanded or forbidden."""
    return any(breaks(pattern, reading.value) is True for pattern in patterns
               if pattern.kind == 'signal'
               and (reading := _in_force(pattern.name, opening, story)) is not None)


def _in_force(name: str, at: Key, story: Story) -> Reading | None:
    """Return the reading of a signal in force at a moment, None when it was too old."""
    readings = story.readings.get(name, ())
    place = bisect_right(readings, at, key=attrgetter('key')) - 1
    found = readings[place] if place >= 0 else None
    return found if found is not None and at[0] - found.key[0] <= story.stale_ns else None


def _unknown(patterns: Sequence[Pattern], opening: Key, until_ns: int, story: Story) -> str:
    """Say which signal was not known all the time; nothing when all were."""
    for pattern in patterns:
        if pattern.kind != 'signal':
            continue
        readings = story.readings.get(pattern.name, ())
        first = bisect_right(readings, opening, key=attrgetter('key'))
        inside = [one for one in readings[max(0, first - 1):] if one.key[0] <= until_ns]
        if not inside or any(holds(pattern, one.value) is None for one in inside):
            return f'{pattern.name} was not known all the time'
        begin_ns = min(opening[0], inside[0].key[0])
        gap_ns = max(later - earlier for earlier, later in pairwise(
            [begin_ns, *(one.key[0] for one in inside), until_ns]))
        if gap_ns > story.stale_ns:
            return (f'{pattern.name} was not known all the time: nothing told it for '
                    f'{_ms(gap_ns)}')
    return ''


def _ms(t_ns: int) -> str:
    return f'{t_ns / 1e6:g} ms'
