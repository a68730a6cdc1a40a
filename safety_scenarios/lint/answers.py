# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L103 to L107, L218: what text checks make of answers that are known beforehand."""

from collections.abc import Iterator
import re

from safety_scenarios.lint._regex import parse
from safety_scenarios.lint.codes import Remark, text_checks
from safety_scenarios.lint.patterns import degenerate, Reach, TooMuch
from safety_scenarios.scenario.pattern import compile_pattern
from safety_scenarios.scenario.scenario import Scenario

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
