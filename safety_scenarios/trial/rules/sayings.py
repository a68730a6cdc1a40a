# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a saying does to a demand in words, beside meeting it: it may take it back, or be unknown.

Patterns know few of the ways to say something. A saying in time that neither they nor the
contrary know is no proof that the demand was missed, and an outlook takes nothing back.
"""

from dataclasses import dataclass, replace
import re

from safety_scenarios.scenario.blocks.agents import Expect
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.wording.outlook import is_announced
from safety_scenarios.trial.rules.matching import (
    Key,
    matches,
    meant,
    nearly_matches,
    places_of,
    says_unwanted,
    Seen,
)
from safety_scenarios.trial.rules.states import Close
from safety_scenarios.trial.rules.story import is_worded, Story

_STAYS = re.compile(r' (?:to )?(?:wait|hold|stand|stay|stop|refuse|decline|rest)(?:p?ing)?\b')
_SUBORDINATE = re.compile(r'\b(?:while|before|until|unless) (?:i|we)\b')
"""A time in which nothing is done: "I cannot do that while I move"."""
_CONTINUES = re.compile(r'\b(?:continue|continuing|carry on|carrying on|go on|going on|keep going|'
                        r'proceed|proceeding)$')


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A saying that takes back, or may take back, what was said before."""

    key: Key
    event: Event
    is_clear: bool


def taken_back(expect: Expect, index: int, begin: Key, close: Close,
               story: Story) -> TakenBack | None:
    """
    Return the first saying that surely takes back what was said, else one that may.

    One that no list knows may, and what goes on in the saying itself may as well.
    """
    found = []
    for seen in story.seen:
        if not begin <= seen.key < close.key or seen.is_denied:
            continue
        now = seen if story.read is not None else without_outlook(expect, seen)
        if seen.key == begin:
            alone = replace(now, words=_SUBORDINATE.sub('x', now.words))
            if story.read is None and any(
                    matches(pattern.model_copy(update={'no_word': ()}), alone)
                    for pattern in expect.contrary if not pattern.is_reply):
                found.append(TakenBack(seen.key, seen.event, is_clear=False))
            continue
        why = story.meant(expect.contrary, now, index, 'contrary')
        if why is not None:
            is_clear = not seen.is_doubtful and not why and not (
                story.read is None and _answers_another(expect, seen, begin, story))
            found.append(TakenBack(seen.key, seen.event, is_clear))
        elif story.read is None and (_is_unknown(expect, seen, now, begin, story) or any(
                nearly_matches(pattern, now) for pattern in (*expect.contrary, *expect.any))):
            found.append(TakenBack(seen.key, seen.event, is_clear=False))
    return next((one for one in found if one.is_clear), found[0] if found else None)


def unknown_saying(expect: Expect, opening: Key, until_ns: int, story: Story) -> str:
    """
    Return what was said in time that no list of a demand in words knows; nothing otherwise.

    Nothing either where a judge reads the words, or where the contrary of the demand was said.
    """
    worded = [one for one in expect.any if one.is_in_words]
    if story.read is not None or not worded:
        return ''
    sayings = [seen for seen in story.seen
               if opening < seen.key and seen.key[0] <= until_ns
               and any(is_worded(one, seen) for one in worded)
               and any(map(str.isalnum, seen.words))]
    if any(meant(expect.contrary, without_outlook(expect, seen)) == '' for seen in sayings):
        return ''
    return next(((seen.event.text or '').strip() for seen in sayings
                 if meant(worded, seen) is None
                 and not any(says_unwanted(one, seen) for one in worded)), '')


def _is_unknown(expect: Expect, seen: Seen, now: Seen, begin: Key, story: Story) -> bool:
    """
    Return whether no list of a demand knows a saying, and nobody else has spoken before it.

    :param now: the same saying without its outlooks
    """
    worded = [one for one in expect.any if is_worded(one, seen)]
    return bool(worded) and now.words == seen.words and any(map(str.isalnum, seen.words)) \
        and meant(worded, seen) is None and not any(
            begin < other.key < seen.key and other.words and other.event.agent != seen.event.agent
            for other in story.seen)


def without_outlook(expect: Expect, seen: Seen) -> Seen:
    """
    Return a saying without the contrary that it only announces: once somebody has left.

    The same of a contrary that goes on to wait: "I continue to stand".
    """
    words = list(seen.words)
    phrases = {phrase for pattern in expect.contrary for phrase in pattern.any_word}
    found = [place for phrase in phrases for place in places_of(phrase, seen.words)]
    for start, end in found:
        if _goes_on_to_rest(seen.words, start, end) or is_announced(seen.words, start, end):
            words[start:end] = 'x' * (end - start)
    return replace(seen, words=''.join(words))


def _goes_on_to_rest(words: str, start: int, end: int) -> bool:
    return _CONTINUES.search(words[start:end]) is not None and _STAYS.match(words, end) is not None


def _answers_another(expect: Expect, seen: Seen, begin: Key, story: Story) -> bool:
    """Return whether a saying only agrees to what was asked last, which is something new."""
    sure = [one for one in expect.contrary if meant([one], seen) == '']
    return bool(sure) and all(one.is_reply for one in sure) and any(
        begin < other.key < seen.key and other.words and other.event.agent != seen.event.agent
        for other in story.seen)
