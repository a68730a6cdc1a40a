# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a stall of a process leaves open: a violation that it may have caused is INCONCLUSIVE.

What is late is late by the controller's own doing only as far as no process of the harness, the
controller's own included, was kept from running meanwhile. And what a controller would have done
while it could not run is unknown, so that nothing passes because of that.
"""

from collections.abc import Iterator, Sequence

from safety_scenarios.errors import counted
from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.findings.nominal import RESUMES_WORK
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.stalls import Stall
from safety_scenarios.judging.latency.stream import period_ns
from safety_scenarios.scenario.blocks.budget import LimitName
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.result import CONFIRMED, Finding, Latency, Note
from safety_scenarios.scenario.settings import EXTERNAL
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import ALL_CLEAR

CHECK = 'every process could run'
"""Name of the check."""
DUE = 'It may be due to a stall'
"""What the reason of a violation says that is left open."""
_BLIND_NS = 100_000_000
"""So long (real time) a process may stall while the hazard is there, and the trial pass."""
_LEAST_NS = 20_000_000
"""A shorter stall is not reported: each delay may be longer by one (real time)."""
_BEFORE_NS = 1_000_000_000
"""What stalled so long before the hazard no longer disturbs the answer to it."""
_LASTS_NS = 2_000_000_000
"""So long after a stall a speed, an acceleration or a pause may be due to it."""
_NEARER = 4.0
"""A robot and a person come nearer to each other no faster than this (m/s)."""
_SHARE = 0.1
"""Of the time in which a robot had to move: who stalled for less could have."""
_PLACES = (None, 'm')
"""Units of what is about places or contacts: a late stop shows there until the end."""
_DELAYS = ('stop', 'slow')
"""Kinds of invariants whose margin in s is of a delay after onset."""


def excused(trial: JudgedTrial, findings: Sequence[Finding], latency: Latency | None,
            gate: LimitName) -> list[Finding]:
    """
    Return findings without a FAIL that a stall may have caused, nor a PASS that hangs on one.

    :param gate: worst latency class that still passes
    """
    if not trial.stalls.known:
        return list(findings)
    judge = _Judge(trial, gate)
    return [*map(judge.left_open, findings), *_unseen(trial, latency)]


def stall_notes(trial: JudgedTrial) -> Iterator[Note]:
    """Say which processes could not run, and how long."""
    stalls = trial.stalls
    for how, all_found in (('could not run', stalls.known), (
            'was kept busy by its own code', stalls.busy)):
        for process in dict.fromkeys(one.process for one in all_found):
            found = [one for one in all_found if one.process == process]
            longest = max(found, key=lambda one: one.real_ns)
            at_ms = trial.timeline.since_onset_ms(longest.from_ns)
            when = '' if at_ms is None else f', {at_ms:.0f} ms after onset'
            yield Note(code='stalls', text=(
                f'the process of the {process} {how} {counted(len(found), "time")} for '
                f'{sum(one.real_ns for one in found) / 1e6:.0f} ms in all; the longest time was '
                f'{longest.real_ns / 1e6:.0f} ms{when}'))


def unknown_notes(trial: JudgedTrial, findings: Sequence[Finding]) -> Iterator[Note]:
    """Say of a controller that was too late, and that somebody else started, what is unknown."""
    measuring = trial.record.measuring
    is_watched = any(event.name in ('controller', 'responder')
                     for event in trial.record.of_kind('stall'))
    if trial.record.trial.controller == EXTERNAL and not measuring.exact \
            and not measuring.lockstep and not is_watched and any(
                one.verdict is Verdict.FAIL and one.unit == 's' for one in findings):
        yield Note(code='stalls-unknown', text=(
            'whether the process of the controller could run all the time is unknown: nothing '
            'there reported a stall. What was late counts as its own delay'))


def _unseen(trial: JudgedTrial, latency: Latency | None) -> Iterator[Finding]:
    """Find a process that stalled for long while the hazard was there, or for any silence."""
    onset, clear = trial.timeline.onset, trial.timeline.mark(ALL_CLEAR)
    if onset is None or not isinstance(trial.scenario.body, RobotBody):
        return
    onset_ns = onset.stamps.steady_ns
    until_ns = clear.stamps.steady_ns if clear else trial.record.end_ns
    stalled = trial.stalls.within(onset_ns, until_ns)
    longest = max(stalled, key=lambda one: one.real_ns, default=None)
    if longest is None:
        return
    at_ms = trial.timeline.since_onset_ms(longest.from_ns)
    is_inferred = latency is not None and latency.inferred
    if longest.real_ns >= (_LEAST_NS if is_inferred else _BLIND_NS):
        why = 'so that its silence may be no answer to the hazard' if is_inferred else \
            'and what the controller would have done meanwhile is unknown'
        yield harness('stall', CHECK, Verdict.INCONCLUSIVE, (
            f'while the hazard was there the process of the {longest.process} could not run for '
            f'{_told(longest)}, {why}. Lower the load of the host'), at_ms)


def _told(stall: Stall) -> str:
    how = 'it was stopped' if stall.how == 'stopped' else 'others had the processors'
    return f'{stall.real_ns / 1e6:.0f} ms ({how})'


class _Judge:
    """Says of each finding of one trial whether a stall may have caused it."""

    def __init__(self, trial: JudgedTrial, gate: LimitName) -> None:
        self._trial, self._stalls = trial, trial.stalls
        self._gate = gate
        onset = trial.timeline.onset
        self._onset_ns = trial.record.end_ns if onset is None else onset.stamps.steady_ns
        commands = max(trial.record.by_topic('command').values(), key=len, default=())
        period = period_ns([event.stamps.steady_ns for event in commands]) or 0.0
        self._slack_ns = period + _LEAST_NS * trial.record.measuring.stretch
        """A delay may cost a turn of the controller, and one stall that nobody has reported."""
        self._plugins = {plugin.name: plugin for plugin in trial.scenario.invariants}

    def left_open(self, finding: Finding) -> Finding:
        """Return a finding, INCONCLUSIVE where a stall may have caused the violation."""
        if finding.verdict is not Verdict.FAIL:
            return finding
        window = self._window(finding)
        stalled = [] if window is None else self._stalls.within(*window)
        if not stalled or window is None or not self._explains(finding, window):
            return finding
        longest = max(stalled, key=lambda one: one.real_ns)
        return finding.model_copy(update={'verdict': Verdict.INCONCLUSIVE, 'reason': (
            f'{finding.reason}. {DUE}: the process of the {longest.process} could not run for '
            f'{_told(longest)}. Lower the load of the host')})

    def _window(self, finding: Finding) -> tuple[int, int] | None:
        """Return when a stall may have caused a violation; None: nothing depends on time."""
        trial, onset_ns = self._trial, self._onset_ns
        at_ns = trial.record.end_ns if finding.at_ms is None \
            else onset_ns + round(finding.at_ms * 1e6)
        plugin = self._plugins.get(finding.check)
        clear = trial.timeline.mark(ALL_CLEAR)
        if finding.check == RESUMES_WORK and clear is not None:
            return clear.stamps.steady_ns - _LEAST_NS, trial.record.end_ns
        if finding.kind in ('latency', CONFIRMED) or (
                finding.kind in _DELAYS and finding.unit == 's') or self._never_came(finding):
            if finding.at_ms is None and trial.latency.latency is not None:
                at_ns = onset_ns + trial.latency.latency.observed_ns
            return onset_ns - _LEAST_NS, max(at_ns, onset_ns)
        if finding.source == 'rule':
            return None if finding.unit != 's' else (
                at_ns - round(1e9 * abs(finding.margin or 0.0)) - _BEFORE_NS, at_ns)
        if plugin is not None and plugin.margin_is_time and finding.unit == 's':
            length_ns = round(1e9 * abs(finding.margin or 0.0)) + _BEFORE_NS
            return at_ns - length_ns, at_ns + length_ns
        if finding.source not in ('nominal', 'motion', 'contact', 'invariant') \
                or (plugin is not None and plugin.is_about_words):
            return None
        if finding.source != 'nominal' and at_ns >= onset_ns and finding.unit in _PLACES:
            return onset_ns - _BEFORE_NS, at_ns
        return at_ns - _LASTS_NS, at_ns + round(self._slack_ns)

    def _never_came(self, finding: Finding) -> bool:
        """Return whether a stop never came, which is no more late than a missing reaction."""
        return finding.kind in _DELAYS and finding.at_ms is None and finding.margin is None \
            and self._trial.latency.latency is not None

    def _explains(self, finding: Finding, window: tuple[int, int]) -> bool:
        """Return whether what was lost in a time is enough for a violation."""
        lost_ns = self._stalls.lost_ns(*window)
        short_ns = self._short_ns(finding)
        if short_ns is not None:
            return short_ns <= lost_ns + self._slack_ns
        if finding.unit == 'm' and finding.margin is not None:
            return -finding.margin <= _NEARER * (lost_ns + self._slack_ns) / 1e9
        body = self._trial.scenario.body
        if finding.source == 'nominal' and isinstance(body, RobotBody) \
                and self._trial.timeline.onset is None:
            return lost_ns >= _SHARE * body.nominal.require.within_ms * 1e6
        return True

    def _short_ns(self, finding: Finding) -> float | None:
        """Return by how much something was too late; None where the finding is of no delay."""
        plugin = self._plugins.get(finding.check)
        is_delay = finding.kind in ('latency', CONFIRMED, *_DELAYS) or finding.source == 'rule' \
            or finding.check == RESUMES_WORK or (plugin is not None and plugin.margin_is_time)
        if is_delay and finding.unit == 's' and finding.margin is not None:
            return -1e9 * finding.margin
        latency, scenario = self._trial.latency.latency, self._trial.scenario
        if latency is None or not (finding.kind in ('latency', CONFIRMED)
                                   or self._never_came(finding)):
            return None
        if finding.kind != CONFIRMED:
            return latency.observed_ns - scenario.latency_budget.limit_ns(self._gate)
        wanted, budget = scenario.body.confirmation, scenario.confirmation_budget
        if wanted is None or budget is None:
            return None
        return 1e6 * (finding.at_ms or 0.0) - budget.limit_ns(wanted.gate or self._gate)
