# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What became of what a rule forbade: a pure function of what happened."""

from collections.abc import Sequence

from safety_scenarios.scenario.blocks.agents import Forbid, Pattern
from safety_scenarios.scenario.outcome import Obligation, Status
from safety_scenarios.trial.rules.matching import breaks, Key, may_match, meant
from safety_scenarios.trial.rules.releases import Release
from safety_scenarios.trial.rules.story import (
    held_at,
    in_order,
    Match,
    ms,
    open_words,
    perhaps_released,
    shown,
    Story,
    unknown_in,
)


def forbidden(forbid: Forbid, openings: Sequence[Key], story: Story,
              index: int) -> tuple[Obligation, ...]:
    """
    Judge each opening by what came in its window, both ends included.

    :param index: of the rule
    """
    found = _offences(forbid.any, story)
    return tuple(perhaps_released(
        _forbidden(forbid, key, found, story, story.releases.of(index, key)), index, key, story)
        for key in openings)


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
            reason='held already when it was forbidden' if first is None else
                   f'came {ms(first_ns - opened_ns)} after it was forbidden{first.what}')
    over = ending.is_planned if forbid.for_ns is None else ending.t_ns >= close_ns + near_ns
    end_ns = min(close_ns, ending.t_ns)
    unclear = ('something may have been it: too near to a limit, it named no trial, or its '
               f'words or arguments do not tell{open_words(inside, opening, close_ns + near_ns)}'
               ) if inside \
        else _unknown(forbid.any, opening, end_ns, story)
    is_empty = end_ns <= opened_ns and all(pattern.kind != 'signal' for pattern in forbid.any)
    nothing = 'it was forbidden for no time' if forbid.for_ns == 0 \
        else 'the run was over when it was forbidden'
    why = unclear or (f'{nothing}, so that nothing was watched' if is_empty else '' if over else
                      f'{ending.how} {ms(ending.t_ns - opened_ns)} after it was forbidden, too '
                      f'early to tell')
    return Obligation(
        opened_ns=opened_ns, at_ns=end_ns,
        status=Status.INCONCLUSIVE if why else Status.SATISFIED,
        reason=why or f'did not come within {ms(end_ns - opened_ns)}')


def _offences(patterns: Sequence[Pattern], story: Story) -> list[Match]:
    """Return whatever breaks a prohibition, or may."""
    found = [Match(seen.key, seen.left_ns, not seen.is_doubtful and not why, why,
                   shown(seen.event))
             for seen in story.seen if (why := meant(patterns, seen)) is not None]
    found += [Match(seen.key, seen.left_ns, is_clear=False) for seen in story.seen
              if any(may_match(pattern, seen) for pattern in patterns)]
    for pattern in patterns:
        if pattern.kind == 'signal':
            found += [Match(reading.key, reading.left_ns)
                      for reading in story.readings.get(pattern.name, ())
                      if breaks(pattern, reading.value)]
    return in_order(found, patterns, story)


def _unknown(patterns: Sequence[Pattern], opening: Key, until_ns: int, story: Story) -> str:
    """Say which signal was not known all the time; nothing when all were."""
    return next((why for pattern in patterns if pattern.kind == 'signal' and (
        why := unknown_in(pattern, story.readings.get(pattern.name, ()), opening, until_ns,
                          story.stale_ns))), '')
