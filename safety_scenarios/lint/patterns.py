# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L101, L102, L110: what a regular expression matches, seen from the expression alone."""

from collections.abc import Iterator
import re
from typing import Literal

from safety_scenarios.lint._reach import Reach, TooMuch
from safety_scenarios.lint._regex import (
    Assertion,
    Chars,
    Choice,
    Node,
    parse,
    Repeat,
    Sequence,
)
from safety_scenarios.lint._remark import Remark, text_checks, TextCheck
from safety_scenarios.scenario.scenario import Scenario

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


def check(scenario: Scenario) -> Iterator[Remark]:
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
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + '...')
