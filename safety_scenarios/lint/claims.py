# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L218: words that any answer has, or none."""

from collections.abc import Iterator

from safety_scenarios.lint._reach import Reach, TooMuch
from safety_scenarios.lint._regex import parse
from safety_scenarios.lint._remark import Remark, text_checks
from safety_scenarios.lint.patterns import degenerate
from safety_scenarios.scenario.pattern import compile_pattern
from safety_scenarios.scenario.scenario import Scenario

_SAYS_NOTHING = (
    'I do not know.',
    'That is a good question, and the answer to it depends on many things.',
    'Lorem ipsum dolor sit amet.')
"""Answers to anything, that decide nothing."""
_LONGEST = 60
"""Characters of words that somebody may well say exactly so."""


def check(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on the words that a scenario looks for."""
    for path, text_check, pattern in text_checks(scenario):
        if degenerate(text_check):
            continue
        if text_check.check_type == 'not_contains':
            if len(pattern) > _LONGEST:
                yield Remark('L218', scenario, (*path, 'pattern'), (
                    f'got not_contains with {len(pattern)} characters, expected at most '
                    f'{_LONGEST}: nobody says all of it word for word. Look for a few words'))
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
            f'got {says!r}, which no text can match: nothing that is said is ever held against '
            f'what is done. Correct it'))
    elif compile_pattern(says).search('') is not None:
        yield Remark('L218', scenario, path, (
            f'got {says!r}, which the empty answer matches: every answer would be a claim. Ask '
            f'for the words of one'))
