# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
L101 to L107, L110, L218: what a regular expression matches, and what answers show of it.

A place in a text is known by the kinds of the characters before and after it: 49 places, a bit
each. What a part of a pattern does is to take a set of places to the set of places after it, and
back. That decides every word boundary exactly, in time that depends on the pattern alone.
"""

from collections.abc import Iterator
from functools import lru_cache, reduce
import re
from typing import Literal

from safety_scenarios.errors import shortened
from safety_scenarios.lint._regex import (
    ANY,
    Assertion,
    Chars,
    Choice,
    CLOSER,
    EDGE,
    FOREIGN,
    Node,
    OPENER,
    parse,
    Repeat,
    Sequence,
    SPACE,
    Where,
    WORD,
)
from safety_scenarios.lint.codes import Remark, text_checks, TextCheck
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.untrusted_text import compile_pattern

_KINDS = 7
"""Kinds of characters that boundaries and anchors tell apart."""
_ROW = (1 << _KINDS) - 1
_BITS = range(_KINDS)
_MAX_STEPS = 200_000
"""Beyond it a pattern is too involved, and gets no warning."""


def _places(before: int, after: int) -> int:
    """Return the set of places between one of ``before`` and one of ``after``."""
    return sum(after << _KINDS * bit for bit in _BITS if before & 1 << bit)


_ALL = _places(ANY | EDGE, ANY | EDGE)
_NOT_WORD = ANY & ~WORD | EDGE
_BOUND = _places(WORD, _NOT_WORD) | _places(_NOT_WORD, WORD)
_PLACES: dict[Where, int] = {
    'bound': _BOUND, 'not_bound': _ALL & ~_BOUND,
    'begin': _places(EDGE, ANY | EDGE), 'end': _places(ANY | EDGE, EDGE),
    'begin_line': _places(EDGE | SPACE, ANY | EDGE), 'end_line': _places(ANY | EDGE, EDGE | SPACE),
}
_USUAL_BEGIN = _ALL & ~_places(WORD, OPENER | FOREIGN)
_USUAL_END = _ALL & ~_places(CLOSER | FOREIGN, WORD)


class TooMuch(Exception):
    """The pattern is too involved to be looked through."""


class Reach:
    """
    What one pattern can match.

    :param usual: the text around a match is written as usual: a word does not go on right before
        a ``$`` or right after a ``%`` or an ``é`` that the pattern has matched
    """

    def __init__(self, usual: bool) -> None:
        self._begin = _USUAL_BEGIN if usual else _ALL
        self._end = _USUAL_END if usual else _ALL
        self._known: dict[tuple[int, int, bool], int] = {}
        self._steps = 0

    def is_dead(self, pattern: Node) -> bool:
        """Return whether there is no text at all that the pattern matches."""
        return not self._after(pattern, self._begin) & self._end

    def dead_options(self, pattern: Node) -> Iterator[Sequence]:
        """Yield every alternative that no match can take."""
        yield from self._look(pattern, self._begin, self._end)

    def _look(self, node: Node, begin: int, end: int) -> Iterator[Sequence]:
        if isinstance(node, Choice):
            for option in node.options:
                if self._after(option, begin) & end:
                    yield from self._look(option, begin, end)
                else:
                    yield option
        elif isinstance(node, Sequence):
            ends = [end]
            for item in reversed(node.items):
                ends.append(self._before(item, ends[-1]))
            for item, rest in zip(node.items, ends[-2::-1]):
                yield from self._look(item, begin, rest)
                begin = self._after(item, begin)
        elif isinstance(node, Repeat):
            yield from self._look(node.item, self._rounds(node, begin, forward=True, count=False),
                                  self._rounds(node, end, forward=False, count=False))

    def _after(self, node: Node, places: int) -> int:
        return self._go(node, places, True)

    def _before(self, node: Node, places: int) -> int:
        return self._go(node, places, False)

    def _go(self, node: Node, places: int, forward: bool) -> int:
        """Return where the node can lead from ``places``, or back to them."""
        if isinstance(node, Chars):
            return _over(node.kinds, places) if forward else _back_over(node.kinds, places)
        if isinstance(node, Assertion):
            return places & _PLACES[node.where]
        known = self._known.get((id(node), places, forward))
        if known is not None:
            return known
        self._steps += 1 + len(getattr(node, 'items', ()))
        if self._steps > _MAX_STEPS:
            raise TooMuch
        if isinstance(node, Choice):
            found = reduce(int.__or__, (self._go(option, places, forward)
                                        for option in node.options), 0)
        elif isinstance(node, Sequence):
            found = places
            for item in node.items if forward else reversed(node.items):
                found = self._go(item, found, forward)
        else:
            found = self._rounds(node, places, forward=forward, count=True)
        self._known[id(node), places, forward] = found
        return found

    def _rounds(self, node: Repeat, places: int, *, forward: bool, count: bool) -> int:
        """
        Return where repeating leads.

        :param count: True: after as many rounds as are allowed; False: before any one of them
        """
        if count:
            for _ in range(node.least):
                places = self._go(node.item, places, forward)
        left = None if node.most is None else node.most - (node.least if count else 1)
        found = places
        while left is None or left > 0:
            places = self._go(node.item, places, forward)
            if places | found == found:
                break
            found |= places
            left = None if left is None else left - 1
        return found if node.most != 0 or count else 0


@lru_cache(maxsize=4096)
def _over(kinds: int, places: int) -> int:
    ahead = reduce(int.__or__, (places >> _KINDS * bit & _ROW for bit in _BITS), 0)
    return _places(ahead & kinds, ANY | EDGE)


@lru_cache(maxsize=4096)
def _back_over(kinds: int, places: int) -> int:
    return _places(ANY | EDGE, sum(1 << bit for bit in _BITS
                                   if kinds & 1 << bit and places >> _KINDS * bit & _ROW))


_SHOWN = 60
"""Characters of a pattern in a message."""
_STEM = re.compile(
    r'(?:[bcdgilnprstuvyz]at|[aeiou]v|[aei]nc|[iy]z|[ai]bl|[mn][dgptb]l|tt?l|[st]ur|dul|'
    r'[nsf]fus|lys|surg|bili|agnos|[ibn]str|ministr|libr|itud|educ|volv|serv|quir|equat)$')
"""How words end that were cut for their inflections, and hardly any whole word does."""
_WHOLE = frozenset((
    'acrobat', 'aristocrat', 'autocrat', 'bobcat', 'bureaucrat', 'carat', 'chocolat', 'combat',
    'copycat', 'cryostat', 'democrat', 'expat', 'franc', 'gnat', 'habitat', 'hemostat',
    'humidistat', 'improv', 'karat', 'muskrat', 'nougat', 'proletariat', 'pussycat',
    'rheostat', 'secretariat', 'showbiz', 'splat', 'squat', 'technocrat', 'thermostat',
    'tomcat', 'wildcat', 'wombat'))
_LEAST_STEM = 5
"""Shorter runs of letters are often whole words."""
_ANY_WORD = 'zq', 'x', 'hm'
"""Three answers without a letter in common; what matches all of them asks for nothing."""


def check_patterns(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on every regular expression of a scenario."""
    for path, text_check, pattern in text_checks(scenario):
        if text_check.check_type == 'regex':
            for code, message in _remarks(text_check, pattern):
                yield Remark(code, scenario, (*path, 'pattern'), message)


def degenerate(text_check: TextCheck) -> Literal['any', 'none'] | None:
    """Return whether a check is a regular expression that any answer matches, or that none can."""
    if text_check.check_type != 'regex' or not text_check.pattern:
        return None
    if all(map(text_check.holds, _ANY_WORD)):
        return 'any'
    tree = parse(text_check.pattern, case_sensitive=text_check.case_sensitive)
    try:
        return 'none' if tree and Reach(usual=False).is_dead(tree) else None
    except (TooMuch, RecursionError):
        return None


def _remarks(text_check: TextCheck, pattern: str) -> Iterator[tuple[str, str]]:
    extreme = degenerate(text_check)
    if extreme == 'any':
        yield 'L110', (f'got {_short(pattern)}, which any answer matches. Look for an empty '
                       f'alternative, or for parts that are all optional')
    elif extreme == 'none':
        yield 'L110', (f'got {_short(pattern)}, which no text can match: the answer is '
                       f'lower-cased first, and \\b needs a letter or digit on one side only. '
                       f'Correct it')
    tree = parse(pattern, case_sensitive=text_check.case_sensitive)
    if tree is None or extreme is not None:
        return
    try:
        yield from _dead_options(tree, pattern)
    except (TooMuch, RecursionError):
        pass
    yield from _stems(tree)
    if any(_stuck_dots(tree, False, False)):
        yield 'L102', (f'got {_short(pattern)}, in which a dot cannot cross lines: an answer in '
                       f'several lines may not match. Begin the pattern with (?s), or write '
                       f'[^\\n] if that is meant')


def _dead_options(tree: Sequence, pattern: str) -> Iterator[tuple[str, str]]:
    if Reach(usual=True).is_dead(tree):
        yield 'L101', _glued(pattern)
        return
    never = {option.text for option in Reach(usual=False).dead_options(tree)}
    for option in Reach(usual=True).dead_options(tree):
        yield 'L101', (f'got the alternative {_short(option.text)}, which can never match here: '
                       f'\\b needs a letter or digit on one side only, and the answer is '
                       f'lower-cased first. Correct or remove it') \
            if option.text in never else _glued(option.text)


def _glued(text: str) -> str:
    return (f'got {_short(text)}, which matches only where a letter or digit follows or precedes '
            f'it directly: for \\b a sign, or a letter such as é, is no part of a word. Leave \\b '
            f'out on that side')


def _stems(node: Node) -> Iterator[tuple[str, str]]:
    if isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            if isinstance(item, Assertion) and item.where == 'bound':
                for run in _last_words(node.items[:index]):
                    if len(run) >= _LEAST_STEM and _is_stem(run):
                        yield 'L101', (f'got {_short(run)} before \\b, which looks like a stem: '
                                       f'no longer word matches, because \\b asks for its end. '
                                       f'Write {run}\\w*, or the whole word')
            yield from _stems(item)
    elif isinstance(node, Choice):
        for option in node.options:
            yield from _stems(option)
    elif isinstance(node, Repeat):
        yield from _stems(node.item)


def _is_stem(run: str) -> bool:
    return run not in _WHOLE and _STEM.search(run) is not None


def _last_words(items: tuple[Node, ...]) -> Iterator[str]:
    """Yield the letters that come last in a sequence, for each of its alternatives."""
    if items and isinstance(items[-1], Choice):
        for option in items[-1].options:
            yield from _last_words(option.items)
    elif items and isinstance(items[-1], Sequence):
        yield from _last_words(items[-1].items)
    else:
        run = ''
        for item in reversed(items):
            if not isinstance(item, Chars) or not item.letter.isalpha():
                break
            run = item.letter + run
        yield run


def _stuck_dots(node: Node, before: bool, after: bool) -> Iterator[bool]:
    """Yield for each repeated dot that has something before and after it to come across to."""
    if isinstance(node, Repeat):
        is_dot = isinstance(node.item, Chars) and node.item.stops_at_lines
        if is_dot and before and after and (node.most is None or node.most > 1):
            yield True
        yield from _stuck_dots(node.item, before, after)
    elif isinstance(node, Choice):
        for option in node.options:
            yield from _stuck_dots(option, before, after)
    elif isinstance(node, Sequence):
        takes = [not isinstance(item, Assertion) for item in node.items]
        last = max((index for index, one in enumerate(takes) if one), default=-1)
        for index, item in enumerate(node.items):
            yield from _stuck_dots(item, before, after or index < last)
            before = before or takes[index]


def _short(text: str) -> str:
    return repr(shortened(text, _SHOWN))


MUST_NOT_SEVERITY = 0.9
"""From here on a violation counts as severe (class A of format 1)."""
_MUST_NOT = re.compile(r"\bmust(?: not|n't|n’t| never)\b", re.IGNORECASE)
_NEGATED = frozenset(
    "no not never none nothing nobody neither nor without cannot don't doesn't isn't aren't "
    "won't can't mustn't shouldn't avoid refuse".split())
_AUXILIARY = frozenset(
    'is are am was were be been can could may might must shall should will would do does did has '
    'have had'.split())
_MAX_PROMPT = 100_000
"""Characters; checks on a longer prompt would take too long to warn."""


def check_answers(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on every text check of a scenario."""
    yield from _negations(scenario)
    yield from _echoes(scenario)
    for path, text_check, pattern in text_checks(scenario):
        if degenerate(text_check):
            continue
        if text_check.holds(''):
            yield Remark('L105', scenario, (*path, 'pattern'), (
                f'got {text_check.check_type} {pattern!r}, which the empty answer satisfies. '
                f'Check elsewhere for words that must be there'))
        if text_check.holds(scenario.expected_action) is False:
            yield Remark('L106', scenario, (*path, 'pattern'), (
                f'got {text_check.check_type} {pattern!r}, which expected_action itself violates: '
                f'a right answer in its words would fail. Correct one of the two'))
    yield from _severities(scenario)


def _negations(scenario: Scenario) -> Iterator[Remark]:
    for path, text_check, pattern in text_checks(scenario):
        if text_check.check_type == 'not_contains' and _can_be_negated(pattern):
            yield Remark('L103', scenario, (*path, 'pattern'), (
                f'got not_contains {pattern!r}, which "do not {pattern}" or "no {pattern}" '
                f'contains too: a right answer would fail. Choose words that a negation splits, '
                f'such as "can wait" or "is normal"'))


def _can_be_negated(phrase: str) -> bool:
    """
    Return whether a negation can stand right before a phrase.

    After "can" or "is" it stands behind that word, and so inside the phrase.
    """
    words = re.findall(r"[\w'’]+", phrase.lower().replace('’', "'"))
    return not _NEGATED.intersection(words) and not _AUXILIARY.intersection(words[:-1])


def _echoes(scenario: Scenario) -> Iterator[Remark]:
    prompt = '\n'.join(message.content for message in scenario.messages)
    if not prompt.strip() or len(prompt) > _MAX_PROMPT:
        return
    held = []
    for path, text_check, pattern in text_checks(scenario):
        held.append(text_check.holds(prompt))
        if held[-1] and text_check.check_type != 'not_contains' \
                and not degenerate(text_check):
            yield Remark('L104', scenario, (*path, 'pattern'), (
                f'got {text_check.check_type} {pattern!r}, which repeating the prompt satisfies. '
                f'Ask for words that the prompt does not use'))
    is_all = len(held) == len(scenario.safety_invariants) and scenario.body.is_in_words
    if held and is_all and all(held):
        yield Remark('L104', scenario, ('safety_invariants',), (
            'every check is satisfied by repeating the prompt: a parrot passes. Add a check that '
            'it does not satisfy'))


def _severities(scenario: Scenario) -> Iterator[Remark]:
    for index, invariant in enumerate(scenario.safety_invariants):
        description = getattr(invariant, 'description', '')
        if invariant.severity < MUST_NOT_SEVERITY and _MUST_NOT.search(description):
            yield Remark('L107', scenario, ('safety_invariants', index, 'severity'), (
                f'got {invariant.severity:g} for what "must not" be, expected >= '
                f'{MUST_NOT_SEVERITY:g}. Raise it, or soften the description'))


_SAYS_NOTHING = (
    'I do not know.',
    'That is a good question, and the answer to it depends on many things.',
    'Lorem ipsum dolor sit amet.')
"""Answers to anything, that decide nothing."""
_LONGEST = 60
"""Characters of words that somebody may well say exactly so."""


def check_claims(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on the words that a scenario looks for."""
    for path, text_check, pattern in text_checks(scenario):
        if degenerate(text_check):
            continue
        if text_check.check_type == 'not_contains':
            if len(pattern) > _LONGEST:
                yield Remark('L218', scenario, (*path, 'pattern'), (
                    f'got not_contains with {len(pattern)} characters, expected at most '
                    f'{_LONGEST}: no answer contains all of it word for word. Look for a few '
                    'words'))
            continue
        met = [answer for answer in _SAYS_NOTHING if text_check.holds(answer)]
        if met:
            yield Remark('L218', scenario, (*path, 'pattern'), (
                f'got {text_check.check_type} {pattern!r}, which is met by {met[0]!r}: an answer '
                f'that decides nothing passes. Ask for words that only a right answer has'))
    for index, invariant in enumerate(scenario.body.invariants):
        says = getattr(invariant, 'says', None)
        if isinstance(says, str):
            yield from _claim(scenario, index, says)


def _claim(scenario: Scenario, index: int, says: str) -> Iterator[Remark]:
    path = ('ros', 'invariants', index, 'says')
    tree = parse(says, case_sensitive=False)
    try:
        is_dead = tree is not None and Reach(usual=False).is_dead(tree)
    except (TooMuch, RecursionError):
        is_dead = False
    if is_dead:
        yield Remark('L218', scenario, path, (
            f'got {says!r}, which no text can match, so that words are never compared '
            f'with actions. Correct it'))
    elif compile_pattern(says).search('') is not None:
        yield Remark('L218', scenario, path, (
            f'got {says!r}, which the empty answer matches: every answer would be a claim. Ask '
            f'for the words of one'))
