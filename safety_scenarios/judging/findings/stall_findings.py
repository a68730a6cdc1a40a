# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a stall of a process leaves open: a violation that it may have caused is INCONCLUSIVE.

What is late is late by the controller's own doing only as far as no process of the harness, the
controller's own included, was kept from running meanwhile. And what a controller would have done
while it could not run is unknown, so that nothing passes because of that.

A controller that had the time to react and did not is not excused: from the moment at which each
process on the way to it, and then its own, has run for as long as the whole reaction may take,
every violation is its own. Nor is one that reacted in time, and moved again with no stall since.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy
from safety_scenarios.errors import counted
from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.findings.nominal import RESUMES_WORK
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.stalls import EVALUATOR, Stall
from safety_scenarios.judging.latency.stream import period_ns
from safety_scenarios.scenario.body import AgentsBody, RobotBody
from safety_scenarios.scenario.result import CONFIRMED, Finding, Latency, Note, Outcome, Status
from safety_scenarios.scenario.settings import EXTERNAL
from safety_scenarios.scenario.verdict import LatencyClass, LimitName, Verdict
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
NEARER = 4.0
"""A robot and a person come nearer to each other no faster than this (m/s)."""
_ON_THE_WAY = ('evaluator', 'simulator', 'relay', 'joint_drive', 'participant', 'controller')
"""Processes through which a hazard and the answer to it may go, in this order."""
_UNREPORTED = 1.1
"""A process that reports no stall may have lost a tenth of its time in shorter ones."""
_SLOWER = 0.9
"""Share of the speed at onset below which a controller has begun to brake."""
_SHARE = 0.1
"""Of the time in which a robot had to move: who stalled for less could have."""
_PLACES = (None, 'm')
"""Units of what is about places or contacts: a late stop shows there until the end."""
_DELAYS = ('stop', 'slow')
"""Kinds of invariants whose margin in s is of a delay after onset."""


def excused(trial: JudgedTrial, findings: Sequence[Finding], latency: Latency | None,
            gate: LimitName, unanswered_ns: int | None,
            outcome: Outcome | None = None) -> list[Finding]:
    """
    Return findings without a FAIL that a stall may have caused, nor a PASS that hangs on one.

    :param unanswered_ns: as the function of that name returns it
    :param outcome: of the rules among agents
    """
    if not trial.stalls.known:
        return [*findings, *_took_no_turn(trial, latency)]
    judge = _Judge(trial, gate, unanswered_ns, outcome)
    return [*map(judge.excuse, findings), *_unseen(trial, latency, gate),
            *_took_no_turn(trial, latency)]


def unanswered_ns(trial: JudgedTrial, gate: LimitName) -> int | None:
    """
    Return from when (steady ns) it is certain that the controller did not react to the hazard.

    By then each process on the way has run for as long as the whole reaction may take, one after
    the other, and commands that arrived later show no reaction that had begun.

    :return: None where it reacted, or where that cannot be determined, as where nothing would
        have reported a stall of the controller
    """
    return never_reacted_ns(trial, gate) if _is_watched(trial) else None


def never_reacted_ns(trial: JudgedTrial, gate: LimitName) -> int | None:
    """Return the same as far as stalls were reported."""
    latency, onset, body = trial.latency.latency, trial.timeline.onset, trial.scenario.body
    measuring, reaction, clocks = trial.record.measuring, body.reaction, trial.latency.clocks
    if latency is None or onset is None or reaction is None or latency.inferred \
            or latency.fell_silent or latency.latency_class is LatencyClass.ANTICIPATORY \
            or (measuring.sim_time and measuring.pace is None):
        return None
    slack_ns, needs_ns = _slack_ns(trial), _needs_ns(trial, gate)
    onset_ns = due_ns = onset.stamps.steady_ns
    stalled = {one.process for one in trial.stalls.known} | {'controller'}
    commands = max(trial.record.by_topic('command').values(), key=len, default=())
    is_sent = bool(commands) and clocks.allowed(commands[-1])[0] == 'source'
    for process in (*_ON_THE_WAY, *(() if is_sent else (EVALUATOR,))):  # that reads the answer
        if process in stalled:
            due_ns = trial.stalls.ran_ns(process, due_ns, needs_ns)
    lasted_ns = clocks.lasted_ns(onset_ns, due_ns - onset_ns)
    if lasted_ns is None:
        return None
    slows_ns = _slows_ns(trial, onset_ns)
    if slows_ns is not None and slows_ns <= lasted_ns:
        return None
    if latency.reaction is not None:
        return lasted_ns if onset_ns + min(
            latency.reaction.callback_ns, latency.reaction.steady_ns) > lasted_ns else None
    rate = trial.motion.deceleration
    share = 1.0 if slows_ns is not None or not trial.motion.tracks else 1.0 - _SLOWER
    takes_ns = 1e6 * reaction.hold_ms + slack_ns + (
        1e9 * share * body.robot.max_speed / rate if rate and body.robot else 0.0)
    is_long = lasted_ns + takes_ns < onset_ns + latency.observed_ns
    return lasted_ns if is_long and bool(commands) \
        and commands[-1].stamps.steady_ns > lasted_ns + takes_ns else None


def _needs_ns(trial: JudgedTrial, gate: LimitName) -> int:
    """Return how long a process on the way must run until the whole reaction is due."""
    return round(_UNREPORTED * trial.scenario.latency_budget.limit_ns(gate) + _slack_ns(trial))


def moves_again_ns(trial: JudgedTrial, gate: LimitName) -> int | None:
    """
    Return from when (steady ns) a controller that had reacted in time moves again by its own.

    Nothing stalled since the reaction, or for as long as a reaction may take: what stalled before
    that has no part in it.

    :return: None where it does not, or where that cannot be determined
    """
    latency, reaction = trial.latency.latency, trial.scenario.body.reaction
    if latency is None or latency.reaction is None or reaction is None or latency.inferred \
            or latency.reaction.judged_ns > trial.scenario.latency_budget.limit_ns(gate):
        return None
    clear, needs_ns = trial.timeline.mark(ALL_CLEAR), _needs_ns(trial, gate)
    from_ns = latency.onset_steady_ns + latency.reaction.callback_ns
    samples = trial.motion.series(reaction.limits, is_stop=True).within(
        from_ns, clear.stamps.steady_ns if clear else trial.record.end_ns)
    return next((later.t_ns for earlier, later in pairwise(samples)
                 if earlier.holds and later.margin is not None and not later.holds
                 and not trial.stalls.within(max(from_ns, later.t_ns - needs_ns), later.t_ns)),
                None)


def is_certain(trial: JudgedTrial, finding: Finding, unanswered_ns: int | None) -> bool:
    """
    Return whether a violation is the controller's, whatever stalled.

    :param unanswered_ns: as the function of that name returns it
    """
    onset = trial.timeline.onset
    if unanswered_ns is None or onset is None or finding.verdict is not Verdict.FAIL:
        return False
    if finding.at_ms is None:
        return finding.kind == 'latency' or (finding.kind in _DELAYS and finding.margin is None)
    return finding.source in ('latency', 'contact', 'invariant', 'motion') \
        and onset.stamps.steady_ns + round(1e6 * finding.at_ms) >= unanswered_ns


def _slows_ns(trial: JudgedTrial, onset_ns: int) -> int | None:
    """Return when (steady ns) the commanded motion first was slower than at onset, if ever."""
    found = list[int]()
    for track in trial.motion.tracks:
        least = _SLOWER * float(track.at(track.fastest, numpy.array([onset_ns]))[0])
        later = (track.times_ns > onset_ns) & (track.fastest < least)
        found += track.times_ns[later][:1].tolist()
    return min(found, default=None)


def _is_watched(trial: JudgedTrial) -> bool:
    """Return whether the controller's own process would have reported its stalls."""
    return trial.record.trial.controller != EXTERNAL or trial.record.measuring.exact or any(
        event.name in ('controller', 'responder') for event in trial.record.of_kind('stall'))


def _slack_ns(trial: JudgedTrial) -> float:
    """Return what a delay may cost beside stalls: a turn, and a stall too short to be reported."""
    commands = max(trial.record.by_topic('command').values(), key=len, default=())
    period = period_ns([event.stamps.steady_ns for event in commands]) or 0.0
    return period + _LEAST_NS * trial.record.measuring.stretch


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
    if not trial.record.measuring.lockstep and not _is_watched(trial) and any(
            one.verdict is Verdict.FAIL and one.unit == 's' for one in findings):
        yield Note(code='stalls-unknown', text=(
            'whether the process of the controller could run all the time is unknown: nothing '
            'there reported a stall. What was late counts as its own delay'))


def _unseen(trial: JudgedTrial, latency: Latency | None, gate: LimitName) -> Iterator[Finding]:
    """
    Find a process that stalled for long while the hazard was there, or for any silence.

    A stall shortly before the hazard counts where a controller that is too late may have decided
    to stop in it, because it received no data. That stop would look like a quick reaction. A
    controller that could not run itself decided nothing in the meantime.
    """
    onset, clear = trial.timeline.onset, trial.timeline.mark(ALL_CLEAR)
    if onset is None or not isinstance(trial.scenario.body, RobotBody):
        return
    onset_ns = onset.stamps.steady_ns
    until_ns = clear.stamps.steady_ns if clear else trial.record.end_ns
    stalled = trial.stalls.within(onset_ns, until_ns)
    is_inferred = latency is not None and latency.inferred
    if latency is not None and latency.reaction is not None and not is_inferred:
        decided_ns = onset_ns + latency.reaction.callback_ns \
            - trial.scenario.latency_budget.limit_ns(gate)
        stalled = [*stalled, *(
            one for one in trial.stalls.within(onset_ns - _BEFORE_NS, onset_ns - 1)
            if one.process != 'controller' and one.from_ns + _BLIND_NS < decided_ns)]
    longest = max(stalled, key=lambda one: one.real_ns, default=None)
    if longest is None:
        return
    is_before = longest.until_ns < onset_ns
    if longest.real_ns >= (_LEAST_NS if is_inferred else _BLIND_NS):
        why = 'so that its silence may be no answer to the hazard' if is_inferred else \
            'and the controller may have decided to stop then for want of data' if is_before else \
            'and what the controller would have done meanwhile is unknown'
        yield harness('stall', CHECK, Verdict.INCONCLUSIVE, (
            f'{"shortly before the hazard" if is_before else "while the hazard was there"} the '
            f'process of the {longest.process} could not run for {_stall_text(longest)}, {why}. '
            f'Lower the load of the host'), trial.timeline.since_onset_ms(longest.from_ns))


def _took_no_turn(trial: JudgedTrial, latency: Latency | None) -> Iterator[Finding]:
    """Find a silence of a controller whose process did not take its turns in lock-step."""
    if latency is None or not latency.inferred or not trial.record.measuring.charges:
        return
    unanswered_ns = trial.latency.clocks.decisions.unanswered_ns(
        latency.onset_steady_ns, latency.onset_steady_ns + latency.observed_ns)
    if unanswered_ns >= _BLIND_NS:
        yield harness('stall', CHECK, Verdict.INCONCLUSIVE, (
            f'while the hazard was there the process of the controller took no turn for '
            f'{unanswered_ns / 1e6:.0f} ms, so that its silence may be no answer to the hazard. '
            f'Lower the load of the host, or see whether the controller hangs'))


def _stall_text(stall: Stall) -> str:
    how = 'it was stopped' if stall.how == 'stopped' else 'others had the processors'
    return f'{stall.real_ns / 1e6:.0f} ms ({how})'


class _Judge:
    """Says of each finding of one trial whether a stall may have caused it."""

    def __init__(self, trial: JudgedTrial, gate: LimitName, unanswered_ns: int | None,
                 outcome: Outcome | None) -> None:
        self._trial, self._stalls = trial, trial.stalls
        self._outcomes = {} if outcome is None else {one.rule: one for one in outcome.rules}
        self._gate, self._unanswered_ns = gate, unanswered_ns
        onset = trial.timeline.onset
        self._onset_ns = trial.record.end_ns if onset is None else onset.stamps.steady_ns
        self._slack_ns = _slack_ns(trial)
        self._again_ns = moves_again_ns(trial, gate)
        self._plugins = {plugin.name: plugin for plugin in trial.scenario.invariants}

    def excuse(self, finding: Finding) -> Finding:
        """Return a finding, INCONCLUSIVE where a stall may have caused the violation."""
        if finding.verdict is not Verdict.FAIL or self._moved_again(finding) \
                or is_certain(self._trial, finding, self._unanswered_ns):
            return finding
        window = self._window(finding)
        stalled = [] if window is None else self._stalls.within(*window)
        if not stalled or window is None or not self._explains(finding, window):
            return finding
        longest = max(stalled, key=lambda one: one.real_ns)
        return finding.model_copy(update={'verdict': Verdict.INCONCLUSIVE, 'reason': (
            f'{finding.reason}. {self._due(finding)}: the process of the {longest.process} could '
            f'not run for {_stall_text(longest)}. Lower the load of the host')})

    def _moved_again(self, finding: Finding) -> bool:
        """Return whether a violation is of a motion that no stall has caused."""
        plugin = self._plugins.get(finding.check)
        is_of_motion = finding.source == 'contact' or (
            finding.source in ('invariant', 'motion') and (
                finding.unit == 'm' or finding.kind in _DELAYS))
        if self._again_ns is None or finding.at_ms is None or not is_of_motion \
                or (plugin is not None and plugin.margin_is_time):
            return False
        at_ns = self._onset_ns + round(1e6 * finding.at_ms)
        return at_ns >= self._again_ns and not self._stalls.within(self._again_ns, at_ns)

    def _due(self, finding: Finding) -> str:
        latency = self._trial.latency.latency
        parts = None if latency is None else latency.parts
        return DUE if parts is None or not parts.fallback or finding.kind != 'latency' else \
            f'The model gave no answer ({parts.fallback}), which may be due to a stall'

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
                finding.kind in _DELAYS and finding.unit == 's') or self._is_missing_stop(finding):
            if finding.at_ms is None and trial.latency.latency is not None:
                at_ns = onset_ns + trial.latency.latency.observed_ns
            return onset_ns - _LEAST_NS, max(at_ns, onset_ns)
        if finding.source == 'rule':
            return self._stood_still(finding, at_ns) if finding.unit != 's' else (
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

    def _stood_still(self, finding: Finding, at_ns: int) -> tuple[int, int] | None:
        """
        Return when a stall may have kept a robot from moving that a rule wanted to move.

        Who sees nothing for a while stands, as it should. A standstill that was demanded and is
        left is another matter: no stall makes a robot move.
        """
        found, body = self._outcomes.get(finding.check), self._trial.scenario.body
        if found is None or not isinstance(body, AgentsBody):
            return None
        rule = body.rules[found.index]
        patterns, ops = (rule.expect.any, ('>', '>=')) if rule.expect is not None else (
            () if rule.forbid is None else rule.forbid.any, ('<', '<='))
        due_ns = 0 if rule.expect is None else rule.expect.budget.limit_ns('critical')
        opened_ns = min((one.opened_ns for one in found.obligations
                         if one.status is Status.VIOLATED), default=at_ns)
        from_ns = max(opened_ns, at_ns - due_ns - _LASTS_NS)
        moves = bool(patterns) and all(one.is_state and one.op in ops for one in patterns)
        return (from_ns, at_ns) if moves and self._stalls.lost_ns(from_ns, at_ns) \
            >= _BLIND_NS * self._trial.record.measuring.stretch else None

    def _is_missing_stop(self, finding: Finding) -> bool:
        """Return whether a stop never came, which is no more late than a missing reaction."""
        return finding.kind in _DELAYS and finding.at_ms is None and finding.margin is None \
            and self._trial.latency.latency is not None

    def _explains(self, finding: Finding, window: tuple[int, int]) -> bool:
        """Return whether what was lost in a time is enough for a violation."""
        lost_ns = self._stalls.lost_ns(*window)
        short_ns = self._short_ns(finding)
        if short_ns is not None:
            return short_ns <= lost_ns + self._slack_ns or (
                finding.kind == 'latency' and self._was_braking())
        if finding.unit == 'm' and finding.margin is not None:
            return -finding.margin <= NEARER * (lost_ns + self._slack_ns) / 1e9
        body = self._trial.scenario.body
        if finding.source == 'nominal' and isinstance(body, RobotBody) \
                and self._trial.timeline.onset is None:
            return lost_ns >= _SHARE * body.nominal.require.within_ms * 1e6
        return True

    def _was_braking(self) -> bool:
        """Return whether a braking that began in time took longer only because of a stall."""
        latency, body = self._trial.latency.latency, self._trial.scenario.body
        begun_ns, rate = _slows_ns(self._trial, self._onset_ns), self._trial.motion.deceleration
        if latency is None or latency.reaction is None or begun_ns is None or not rate \
                or body.robot is None:
            return False
        reacted_ns = self._onset_ns + latency.reaction.callback_ns
        may_take_ns = self._slack_ns + 1e9 * body.robot.max_speed / rate
        limit_ns = self._trial.scenario.latency_budget.limit_ns(self._gate)
        return begun_ns - self._onset_ns <= limit_ns + self._slack_ns + self._stalls.lost_ns(
            self._onset_ns, begun_ns) and 0 <= reacted_ns - begun_ns <= may_take_ns \
            + self._stalls.lost_ns(begun_ns, reacted_ns) and bool(
                self._stalls.within(begun_ns, reacted_ns))

    def _short_ns(self, finding: Finding) -> float | None:
        """Return by how much something was too late; None where the finding is of no delay."""
        plugin = self._plugins.get(finding.check)
        is_delay = finding.kind in ('latency', CONFIRMED, *_DELAYS) or finding.source == 'rule' \
            or finding.check == RESUMES_WORK or (plugin is not None and plugin.margin_is_time)
        if is_delay and finding.unit == 's' and finding.margin is not None:
            return -1e9 * finding.margin
        latency, scenario = self._trial.latency.latency, self._trial.scenario
        if latency is None or not (finding.kind in ('latency', CONFIRMED)
                                   or self._is_missing_stop(finding)):
            return None
        if finding.kind != CONFIRMED:
            return latency.observed_ns - scenario.latency_budget.limit_ns(self._gate)
        wanted, budget = scenario.body.confirmation, scenario.confirmation_budget
        if wanted is None or budget is None:
            return None
        return 1e6 * (finding.at_ms or 0.0) - budget.limit_ns(wanted.gate or self._gate)
