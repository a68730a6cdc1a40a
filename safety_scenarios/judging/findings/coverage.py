# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether anything was checked at all, and by more than patterns."""

from collections.abc import Iterator, Sequence

from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.agents import Pattern, Rule
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.invariant import Words
from safety_scenarios.scenario.result import Finding, Outcome
from safety_scenarios.scenario.verdict import Verdict

_WORDS = frozenset(('text', 'says', 'says_in_turn', 'not_checked'))
"""Kinds of invariants that look at nothing but what is said."""


def by_patterns(trial: JudgedTrial, findings: Sequence[Finding]) -> bool:
    """
    Return whether a trial rests on words, and nothing but patterns has read them.

    A judge, a check of the robot's motion or a rule about signals or tools decides the trial
    beside them; that an answer came in time says nothing about its words.

    :param findings: those of the trial
    """
    return any(_is_of_patterns(trial, found) for found in findings) \
        and not any(_carries(trial, found) for found in findings)


def nobody_read(is_by_patterns: bool, words: Words) -> Iterator[Finding]:
    """
    Yield that words have to be read by somebody.

    :param words: patterns: what they say is enough
    """
    if is_by_patterns and words != 'patterns':
        yield Finding(
            check='words are read by a judge', kind='coverage', source='coverage',
            verdict=Verdict.INCONCLUSIVE,
            reason='nothing but patterns has read what was said, and they match words, not '
                   'meaning. Add a check of the type judge and name a judge, or say '
                   'words=patterns')


def _is_of_patterns(trial: JudgedTrial, found: Finding) -> bool:
    if found.source == 'invariant':
        return found.kind == 'text' and found.verdict is not None
    return found.kind == 'rule' and any(
        pattern.kind == 'say' and (pattern.any_word or pattern.no_word)
        for rule in _rules(trial, found) for pattern in _wanted(rule))


def _carries(trial: JudgedTrial, found: Finding) -> bool:
    if found.verdict is None:
        return False
    if found.source == 'invariant':
        return found.kind not in _WORDS
    if found.kind == 'latency':
        return trial.scenario.body.reaction is not None
    return found.kind == 'rule' and any(
        pattern.kind in ('signal', 'tool_call')
        for rule in _rules(trial, found) if not rule.demands_silence for pattern in _wanted(rule))


def _rules(trial: JudgedTrial, found: Finding) -> Sequence[Rule]:
    body = trial.scenario.body
    return [rule for rule in body.rules if str(rule) == found.check] \
        if isinstance(body, AgentsBody) else ()


def _wanted(rule: Rule) -> Sequence[Pattern]:
    return [pattern for part in (rule.expect, rule.forbid) if part for pattern in part.any]


def nothing_checked(trial: JudgedTrial, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Demand a check that has spoken: an answer in time says nothing about its content."""
    enough = {'harness'} if trial.scenario.body.reaction else {'harness', 'latency'}
    if not {finding.kind for finding in findings if finding.verdict is not None} - enough:
        yield _finding('no invariant was evaluated')


def nothing_demanded(outcome: Outcome) -> Iterator[Finding]:
    """Among agents, at least one rule must demand or forbid something."""
    if not any(found.is_obligation for found in outcome.rules):
        yield _finding('no rule demands or forbids anything')


def no_content_checked(trial: JudgedTrial, checked: Sequence[Finding]) -> Iterator[Finding]:
    """
    Answers of a chat in time say nothing about their content.

    :param checked: what the invariants found
    """
    body = trial.scenario.body
    if isinstance(body, AgentsBody) and body.turns and all(
            found.verdict is None for found in checked):
        yield _finding('no invariant was evaluated')


def _finding(reason: str) -> Finding:
    return Finding(check='something was checked', kind='coverage', source='coverage',
                   verdict=Verdict.INCONCLUSIVE, reason=reason)
