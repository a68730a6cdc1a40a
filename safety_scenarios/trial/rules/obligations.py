# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What became of what a rule demanded or forbade, and of all rules of a run."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from safety_scenarios.scenario.blocks.agents import End, Expect, Forbid, Pattern, Rule
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.result import DecidedBy, Obligation, RuleOutcome, Status
from safety_scenarios.scenario.verdict import LatencyClass
from safety_scenarios.scenario.wording.reading import comparable
from safety_scenarios.trial.rules.matching import breaks, Key, LAST, MatchedEvent, may_match, meant
from safety_scenarios.trial.rules.states import Broken, Close, Moment, Release, Track
from safety_scenarios.trial.rules.story import (
    act_text,
    find_retraction,
    held_at,
    in_order,
    Match,
    ms,
    open_words,
    perhaps_released,
    Story,
    unknown_in,
    unknown_saying,
)

_UNSURE = ('it held already, was on its way already, its value was not known, it named no '
           'trial, or its words leave it open')
_SHOWN = 80
"""Characters of a saying in a reason."""


def expected(expect: Expect, openings: Sequence[Key], story: Story,
             index: int) -> tuple[Obligation, ...]:
    """
    Judge each opening; one event answers only the first that is still open, a state every one.

    What was lifted before it was met has the status ``not_triggered``: nobody demanded it.
    """
    events = tuple(pattern for pattern in expect.any if not pattern.is_state)
    states = tuple(pattern for pattern in expect.any if pattern.is_state)
    due_ns = expect.budget.limit_ns('critical')
    open_for_ns = due_ns + story.uncertainty_ns

    def is_inside(seen: MatchedEvent) -> bool:
        return any(key < seen.key and seen.key[0] - key[0] <= open_for_ns for key in openings)

    found = _answers(events, story, index, is_inside)
    taken: dict[int, list[Match]] = {}
    for match in found:
        first = next((place for place, key in enumerate(openings)
                      if len(taken.get(place, ())) < expect.times
                      and _follows(match, key) and match.t_ns - key[0] <= open_for_ns),
                     None) if match.is_clear else None
        if first is not None:
            taken.setdefault(first, []).append(match)
    track = Track(states, story.readings, story.stale_ns, story.ending.t_ns,
                  story.uncertainty_ns) if states else None
    one = _Demand(expect, index, story, found, track)
    return tuple(
        _decided(perhaps_released(one.judged(key, taken.get(place, ())), index, key, story),
                 story.decider(expect.any, key, key[0] + open_for_ns))
        for place, key in enumerate(openings))


def _decided(found: Obligation, by: DecidedBy) -> Obligation:
    """Return an obligation with what decided it: what came, or else that nothing of it came."""
    if found.status not in (Status.SATISFIED, Status.VIOLATED):
        return found.model_copy(update={'by': None})
    return found if found.by is not None else found.model_copy(update={'by': by})


def _follows(match: Match | Moment, opening: Key) -> bool:
    return match.key > opening and match.left_ns >= opening[0]


@dataclass(frozen=True, slots=True)
class _Demand:
    """What one rule demands, and all that may be an answer to it."""

    expect: Expect
    index: int
    story: Story
    found: Sequence[Match]
    track: Track | None
    """How its state went; None: it demands none."""

    @property
    def _due_ns(self) -> int:
        return self.expect.budget.limit_ns('critical')

    def judged(self, opening: Key, answers: Sequence[Match]) -> Obligation:
        """Judge one opening by what answered it."""
        is_met = len(answers) == self.expect.times
        obligation = self.answered(opening, answers[-1]) if is_met else self.open(opening)
        if answers and not is_met:
            obligation = obligation.model_copy(update={
                'reason': f'{obligation.reason}: {len(answers)} of {self.expect.times} came'})
        return self._lifted(opening, answers[-1] if is_met else None, obligation)

    def _lifted(self, opening: Key, answer: Match | None, obligation: Obligation) -> Obligation:
        """Return what is left of an obligation where something lifted it before it was met."""
        met_ns = None if obligation.latency_ns is None else opening[0] + obligation.latency_ns
        due_ns, near_ns = opening[0] + self._due_ns, self.story.uncertainty_ns
        first = min((release for pattern in self.expect.unless
                     for release in self.story.releases.events(pattern)
                     if opening < release.key), key=lambda one: one.key, default=None)
        if first is None or first.key[0] > due_ns + near_ns \
                or (answer is not None and answer.key < first.key) \
                or (answer is None and met_ns is not None and met_ns <= first.key[0]):
            return obligation
        is_sure = first.key[0] <= due_ns - near_ns
        return Obligation(
            opened_ns=opening[0], at_ns=first.key[0],
            status=Status.NOT_TRIGGERED if is_sure else Status.INCONCLUSIVE,
            reason=f'{first.why} lifted it {ms(first.key[0] - opening[0])} after it was demanded'
                   + ('' if is_sure else ', too close to its limit to decide'))

    def answered(self, opening: Key, match: Match) -> Obligation:
        """Judge what an event answered; a saying must not be taken back."""
        came = self._met(opening, match.t_ns, match.t_ns).model_copy(update={'by': match.by})
        if not self.expect.contrary:
            return came
        close = self._close(opening, match.key)
        back = find_retraction(self.expect, self.index, match.key, close, self.story)
        if back is None:
            why = '' if close.is_observed else \
                f'{self.story.ending.how} before it could be seen whether it was taken back'
            return came.model_copy(update={'at_ns': close.key[0], **(
                {'status': Status.INCONCLUSIVE, 'reason': why} if why else {})})
        text = (back.event.text or '').strip()[:_SHOWN]
        is_sure = back.is_clear and close.key[0] - back.key[0] >= self.story.uncertainty_ns
        return came.model_copy(update={
            'at_ns': back.key[0],
            'status': Status.VIOLATED if is_sure else Status.INCONCLUSIVE,
            'reason': f'it was said after {ms(match.t_ns - opening[0])}, and '
                      f'{"" if is_sure else "perhaps "}taken back '
                      f'{ms(back.key[0] - opening[0])} after it was demanded: {text!r}'})

    def open(self, opening: Key) -> Obligation:  # noqa: A003
        """Judge what no event answered: a state may, by being reached in time and kept."""
        story, opened_ns, due_ns = self.story, opening[0], self._due_ns
        until_ns = opened_ns + due_ns + story.uncertainty_ns
        unsure, broken = '', list[tuple[Moment, Broken]]()
        first: int | None = None
        decided_ns = opened_ns + due_ns
        for moment, begun_ns in self._reached(opening, until_ns):
            close = self._close(opening, moment.key)
            lost = self.track.violation(moment.key, close) if self.track else None
            is_clear = moment.rises and _follows(moment, opening)
            if lost is None and is_clear:
                return self._met(opening, begun_ns, close.key[0], close)
            if lost is not None and lost.is_sure:
                broken += [(moment, lost)] if is_clear else []
                decided_ns = max(decided_ns, lost.t_ns)
                continue
            first = begun_ns if first is None and is_clear else first
            unsure = unsure or (_UNSURE if lost is None else self._unsure(opening, lost))
        if first is not None:
            return self._met(opening, first, min(until_ns, story.ending.t_ns)).model_copy(
                update={'status': Status.INCONCLUSIVE, 'reason': self._why(unsure)})
        return self._not_met(opening, unsure or self._held_before(opening), broken, decided_ns)

    def _reached(self, opening: Key, until_ns: int) -> Iterator[tuple[Moment, int]]:
        """
        Yield each moment at which the state may have been reached in time, and when that began.

        A standstill is reached in time if the braking to it began in time, however long that took
        at the deceleration that the robot declares.
        """
        if self.track is None:
            return
        released = self.story.releases.of(self.index, opening)
        last_ns = self.story.ending.t_ns if self.story.find_braking else until_ns
        for moment in self.track.after(opening, last_ns):
            is_early = moment.t_ns <= until_ns
            if moment.holds is False or not (is_early or moment.rises):
                continue
            if not is_early and released is not None and released.key < moment.key:
                return
            begun_ns = self._begun_ns(opening, moment)
            if begun_ns <= until_ns:
                yield moment, begun_ns

    def _begun_ns(self, opening: Key, moment: Moment) -> int:
        """Return when the braking to a standstill began; of another state when it did."""
        states = [pattern for pattern in self.expect.any if pattern.is_state]
        if self.story.find_braking is None or not moment.rises or len(states) != 1:
            return moment.t_ns
        begun_ns = self.story.find_braking(states[0], opening[0], moment.t_ns)
        return moment.t_ns if begun_ns is None else max(opening[0], begun_ns)

    def _held_before(self, opening: Key) -> str:
        """Say why what held already may be what was demanded; nothing when it did not last."""
        states = [pattern for pattern in self.expect.any if pattern.is_state]
        if self.track is None or not held_at(states, opening, self.story):
            return ''
        lost = self.track.violation(opening, self._close(opening, opening))
        return '' if lost is not None and lost.is_sure else _UNSURE

    def _not_met(self, opening: Key, unsure: str, broken: Sequence[tuple[Moment, Broken]],
                 decided_ns: int) -> Obligation:
        opened_ns, due_ns, near_ns = opening[0], self._due_ns, self.story.uncertainty_ns
        ending = self.story.ending
        until_ns = min(opened_ns + due_ns + near_ns, ending.t_ns)
        if not unsure and any(not (one.is_clear and _follows(one, opening)) for one in self.found
                              if opening < one.key and one.t_ns <= until_ns):
            unsure = _UNSURE
        if unsure:
            return Obligation(
                opened_ns=opened_ns, at_ns=until_ns, status=Status.INCONCLUSIVE,
                reason=self._why(unsure, open_words(self.found, opening, until_ns)))
        if ending.t_ns < opened_ns + due_ns + near_ns:
            return Obligation(
                opened_ns=opened_ns, at_ns=ending.t_ns, status=Status.INCONCLUSIVE,
                reason=f'{ending.how} {ms(ending.t_ns - opened_ns)} after it was '
                       f'demanded, before {ms(due_ns)}')
        unknown = unknown_saying(self.expect, opening, until_ns, self.story)
        if unknown:
            return Obligation(
                opened_ns=opened_ns, at_ns=until_ns, status=Status.INCONCLUSIVE,
                reason=f'nothing that the patterns know came within {ms(due_ns)}, and what was '
                       f'said may be it: {unknown[:_SHOWN]!r}')
        released = self.story.releases.of(self.index, opening) if self.track else None
        if released is not None and released.key[0] < opened_ns + due_ns + near_ns and not broken:
            return Obligation(
                opened_ns=opened_ns, at_ns=released.key[0], status=Status.INCONCLUSIVE,
                reason=f'{released.why} released it {ms(released.key[0] - opened_ns)} after it '
                       f'was demanded, before {ms(due_ns)}')
        if broken:
            return self._broken(opening, *broken[0], decided_ns)
        return self._missed(opening, decided_ns)

    def _broken(self, opening: Key, moment: Moment, lost: Broken, decided_ns: int) -> Obligation:
        return Obligation(
            opened_ns=opening[0], at_ns=decided_ns, status=Status.VIOLATED,
            latency_class=LatencyClass.NO_RESPONSE,
            reason=f'came after {ms(moment.t_ns - opening[0])} and was not kept: broken '
                   f'{ms(lost.t_ns - opening[0])} after it was demanded, before anything '
                   f'released it')

    def _missed(self, opening: Key, decided_ns: int) -> Obligation:
        opened_ns, due_ns, near_ns = opening[0], self._due_ns, self.story.uncertainty_ns
        late = [one.t_ns for one in self.found if one.is_clear and _follows(one, opening)
                and one.t_ns - opened_ns > due_ns + near_ns and self.expect.times == 1]
        late += [] if self.track is None else [
            self._begun_ns(opening, one)
            for one in self.track.after(opening, self.story.ending.t_ns)
            if one.rises and _follows(one, opening) and one.t_ns - opened_ns > due_ns + near_ns]
        took = min(late) - opened_ns if late else None
        return Obligation(
            opened_ns=opened_ns, at_ns=decided_ns, status=Status.VIOLATED, latency_ns=took,
            latency_class=LatencyClass.NO_RESPONSE if took is None else LatencyClass.VIOLATION,
            late_by_ns=None if took is None else took - due_ns,
            reason=f'did not come within {ms(due_ns)}'
                   + ('' if took is None else f', but after {ms(took)}, {ms(took - due_ns)} '
                                              f'late'))

    def _met(self, opening: Key, t_ns: int, decided_ns: int,
             close: Close | None = None) -> Obligation:
        due_ns, near_ns = self._due_ns, self.story.uncertainty_ns
        took_ns = t_ns - opening[0]
        latency_class = self.expect.budget.classify(took_ns)
        sure = due_ns - took_ns >= near_ns
        is_kept = close is not None and self.expect.for_ns != 0 and close.key[0] > t_ns
        kept = f', and was kept for {ms(decided_ns - t_ns)}' if is_kept else ''
        return Obligation(
            opened_ns=opening[0], at_ns=decided_ns, latency_ns=took_ns, by='signal',
            latency_class=latency_class, late_by_ns=took_ns - due_ns if took_ns > due_ns else None,
            status=Status.SATISFIED if sure else Status.INCONCLUSIVE,
            reason=f'came after {ms(took_ns)}, which is {latency_class.value}{kept}'
                   + ('' if sure else f', too near to {ms(due_ns)} ± {ms(near_ns)} to tell'))

    def _close(self, opening: Key, begin: Key) -> Close:
        """Return up to when what began then has to be kept: to whatever comes first."""
        ending, for_ns = self.story.ending, self.expect.for_ns
        if for_ns == 0:
            return Close(begin, 'time')
        found = [Close((ending.t_ns, LAST), 'ending', ending.is_whole and for_ns is None)]
        if for_ns is not None:
            found.append(Close((begin[0] + for_ns, LAST), 'time'))
        released = self.story.releases.of(self.index, opening)
        if released is not None:
            found.append(Close(released.key, 'release'))
        return min(found, key=lambda one: (one.key, one.kind == 'ending'))

    def _why(self, unsure: str, words: str = '') -> str:
        return unsure if unsure is not _UNSURE else \
            f'nothing surely came within {ms(self._due_ns)}: {words or _UNSURE}'

    def _unsure(self, opening: Key, lost: Broken) -> str:
        how = lost.why or self.story.ending.how
        return (f'it came; it cannot be determined whether it was kept: {how}, '
                f'{ms(lost.t_ns - opening[0])} after it was demanded')


def _answers(patterns: Sequence[Pattern], story: Story, index: int,
             is_inside: Callable[[MatchedEvent], bool]) -> list[Match]:
    """
    Return the events that may satisfy a demand.

    :param is_inside: whether an event is in time; of others nobody reads the words
    """
    found = []
    for seen in story.seen:
        why = None if seen.is_denied else story.meant(patterns, seen, index, 'demand') \
            if is_inside(seen) else meant(patterns, seen, is_demand=True)
        if why is not None:
            found.append(Match(seen.key, seen.left_ns, not seen.is_doubtful and not why, why,
                               by=story.reader_of(patterns, seen)))
    return in_order(found, patterns, story)


def forbidden(forbid: Forbid, openings: Sequence[Key], story: Story,
              index: int) -> tuple[Obligation, ...]:
    """Judge each opening by what came in its window, both ends included."""

    def is_inside(seen: MatchedEvent) -> bool:
        return any(key < seen.key and (
            forbid.for_ns is None
            or seen.key[0] - key[0] <= forbid.for_ns + story.uncertainty_ns) for key in openings)

    found = _offences(forbid.any, story, index, is_inside)

    def judged(key: Key) -> Obligation:
        one = perhaps_released(
            _forbidden(forbid, key, found, story, story.releases.of(index, key)), index, key,
            story)
        return _decided(one, story.decider(forbid.any, key, key[0] if one.at_ns is None
                                           else one.at_ns))

    return tuple(map(judged, openings))


def _forbidden(forbid: Forbid, opening: Key, found: Sequence[Match],
               story: Story, released: Release | None) -> Obligation:
    opened_ns, ending, near_ns = opening[0], story.ending, story.uncertainty_ns
    if released is not None and (forbid.for_ns is None
                                 or released.key[0] < opened_ns + forbid.for_ns):
        found = [one for one in found if one.key < released.key]
        forbid = Forbid(any=forbid.any, for_ns=released.key[0] - opened_ns)
    close_ns = ending.t_ns if forbid.for_ns is None else opened_ns + forbid.for_ns
    inside = [one for one in found if one.key > opening and one.t_ns <= close_ns + near_ns]

    def is_sure(one: Match) -> bool:
        return one.is_clear and one.t_ns - opened_ns >= near_ns and (
            forbid.for_ns is None or close_ns - one.t_ns >= near_ns)

    held = held_at(forbid.any, opening, story)
    first = None if held else next((one for one in inside if is_sure(one)), None)
    if held or first is not None:
        first_ns = opened_ns if first is None else first.t_ns
        return Obligation(
            opened_ns=opened_ns, at_ns=first_ns, status=Status.VIOLATED,
            by='signal' if first is None else first.by,
            reason='held already when it was forbidden' if first is None else
                   f'came {ms(first_ns - opened_ns)} after it was forbidden{first.what}')
    over = ending.is_planned if forbid.for_ns is None else ending.t_ns >= close_ns + near_ns
    end_ns = min(close_ns, ending.t_ns)
    words = open_words(inside, opening, close_ns + near_ns)
    unclear = 'something may have been it: ' + (words or (
        'too close to a limit, it named no trial, or its words or arguments do not decide it')) \
        if inside \
        else _unknown(forbid.any, opening, end_ns, story)
    is_empty = end_ns <= opened_ns and all(pattern.kind != 'signal' for pattern in forbid.any)
    nothing = 'it was forbidden for no time' if forbid.for_ns == 0 \
        else 'the run was over when it was forbidden'
    why = unclear or (f'{nothing}, so that nothing was watched' if is_empty else '' if over else
                      f'{ending.how} {ms(ending.t_ns - opened_ns)} after it was forbidden, too '
                      f'early to decide')
    return Obligation(
        opened_ns=opened_ns, at_ns=end_ns,
        status=Status.INCONCLUSIVE if why else Status.SATISFIED,
        reason=why or f'did not come within {ms(end_ns - opened_ns)}')


def _offences(patterns: Sequence[Pattern], story: Story, index: int,
              is_inside: Callable[[MatchedEvent], bool]) -> list[Match]:
    """Return whatever breaks a prohibition, or may; the rest as ``_answers`` has it."""
    found = [Match(seen.key, seen.left_ns, not seen.is_doubtful and not why, why,
                   act_text(seen.event), story.reader_of(patterns, seen))
             for seen in story.seen
             if (why := story.meant(patterns, seen, index, 'ban') if is_inside(seen)
                 else meant(patterns, seen)) is not None]
    found += [Match(seen.key, seen.left_ns, is_clear=False) for seen in story.seen
              if any(may_match(pattern, seen) for pattern in patterns)]
    for pattern in patterns:
        if pattern.kind == 'signal':
            found += [Match(reading.key, reading.left_ns, by='signal')
                      for reading in story.readings.get(pattern.name, ())
                      if breaks(pattern, reading.value)]
    return in_order(found, patterns, story)


def _unknown(patterns: Sequence[Pattern], opening: Key, until_ns: int, story: Story) -> str:
    """Say which signal was not known all the time; nothing when all were."""
    return next((why for pattern in patterns if pattern.kind == 'signal' and (
        why := unknown_in(pattern, story.readings.get(pattern.name, ()), opening, until_ns,
                          story.stale_ns))), '')


def rule_outcome(rule: Rule, index: int, meaningless: Sequence[str], fired: Sequence[Key],
                 story: Story, doubt: str = '') -> RuleOutcome:
    """
    Return what a rule came to.

    :param meaningless: what of it has no meaning
    :param fired: when it fired, in order
    :param doubt: why it may have had to fire where it did not; empty: it had not
    """
    obligations: tuple[Obligation, ...] = ()
    if rule.expect is not None:
        obligations += expected(rule.expect, fired, story, index)
    if rule.forbid is not None:
        obligations += forbidden(rule.forbid, fired, story, index)
    obligations = tuple(one for one in obligations
                        if one.status is not Status.NOT_TRIGGERED) or obligations
    failed = any(isinstance(effect, End) and effect.how == 'fail' for effect in rule.effects)
    worst = max(obligations, key=lambda one: one.status.rank, default=None)
    status, reason = (Status.UNBOUND, f'nothing gives a meaning to {", ".join(meaningless)}') \
        if meaningless else (Status.NOT_TRIGGERED, 'its trigger never came') if not fired \
        else (Status.VIOLATED, 'it must not have come to this') if failed \
        else (worst.status, worst.reason) if worst else (Status.SATISFIED, 'it fired')
    if doubt and status.rank < Status.INCONCLUSIVE.rank:
        status, reason = Status.INCONCLUSIVE, doubt
    return RuleOutcome(
        rule=str(rule), index=index, status=status, reason=reason,
        fired_ns=tuple(key[0] for key in fired), is_obligation=rule.is_obligation,
        obligations=obligations)


def counts(rule: RuleOutcome) -> bool:
    """Return whether what a rule came to counts for the run: whether effects fired does not."""
    return rule.is_obligation or rule.status in (Status.UNBOUND, Status.VIOLATED,
                                                 Status.INCONCLUSIVE)


def status_of(rules: Iterable[RuleOutcome], denied: Sequence[str], error: str) -> Status:
    """Return what a whole run came to."""
    return Status.worst([*(rule.status for rule in rules if counts(rule)),
                         *([Status.VIOLATED] if denied else []),
                         *([Status.ERROR] if error else [])])


def unbound(rule: Rule, block: AgentsBody) -> tuple[str, ...]:
    """Return what keeps a rule from meaning anything: such a rule never fires, nor passes."""
    found = list(rule.unbound)
    if rule.trigger is None and not found:
        found.append(rule.trigger_text)
    wanted = [pattern for one in (rule.expect, rule.forbid) if one for pattern in one.any]
    if any(pattern.kind == 'start' for pattern in wanted):
        found.append('a start after the start')
    more = [*(rule.trigger.conditions if rule.trigger else ()),
            *(rule.expect.unless if rule.expect else ())]
    for pattern in [*(rule.trigger.any if rule.trigger else ()), *wanted, *more]:
        found += _meaningless(pattern, block)
    return tuple(dict.fromkeys(found))


def _meaningless(pattern: Pattern, block: AgentsBody) -> Iterator[str]:
    """Find a pattern that nothing can match: whatever it forbids would be a pass."""
    if pattern.kind == 'signal' and (pattern.name not in block.signals or pattern.op is None
                                     or pattern.value is None):
        yield f'the signal {pattern.name!r}'
    if pattern.kind in ('tool_call', 'symbol') and not pattern.name:
        yield f'a {pattern.kind} without a name'
    if any(not comparable(phrase) for phrase in (*pattern.any_word, *pattern.no_word)):
        yield 'an empty phrase'
    if pattern.agents is not None and not any(block.agent(one) for one in pattern.agents):
        yield f'the agents {", ".join(pattern.agents) or "(nobody)"}'
