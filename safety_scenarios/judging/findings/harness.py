# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the harness finds about its own observation and evidence, and whether its clocks hold."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from safety_scenarios.errors import ClockError
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.clocks import Clocks
from safety_scenarios.scenario.result import Finding, Latency, Source, TrialResult
from safety_scenarios.scenario.rounding import apart
from safety_scenarios.scenario.verdict import Verdict


def harness(source: Source, check: str, verdict: Verdict, reason: str,
            at_ms: float | None = None) -> Finding:
    """
    Return such a finding.

    :param source: of the module that found it
    :param at_ms: after onset, steady clock
    """
    return Finding(check=check, kind='harness', verdict=verdict, reason=reason, at_ms=at_ms,
                   source=source)


WHOLE = 'the evidence is whole'


def doubted(result: TrialResult, doubts: Sequence[str]) -> TrialResult:
    """
    Return a result that cannot be a PASS any more.

    :param doubts: what is wrong with its files, at least one
    """
    finding = harness('evidence', WHOLE, Verdict.INCONCLUSIVE, '; '.join(doubts))
    verdict = Verdict.worst([result.verdict, Verdict.INCONCLUSIVE])
    reason = f'{finding.check}: {finding.reason}' if verdict is Verdict.INCONCLUSIVE \
        else result.reason
    return result.model_copy(update={'findings': (*result.findings, finding), 'verdict': verdict,
                                     'reason': reason})


CLOCK_ERROR = ClockError.__name__
PAUSE_NS = 100_000_000
"""Shorter pauses of a clock or a stream are the host's."""
_PAUSE_TICKS = 10
"""A /clock that ticks slowly is no pause: ten of its own ticks are."""
_GIVEN_NS = 20_000_000
"""What a controller may gain while a simulator is held up: a share of the shortest budgets."""
_GIVEN_SHARE = 0.1
"""The same of a long reaction, as much as the factor may be off; either is part of the
uncertainty."""
_ADVICE = ('Let the simulator keep real time, or run trials with another clock.rtf_min and '
           'clock.rtf_max, or with clock.latency_clock=steady')
_ALONE_ADVICE = 'Lower the load of the host, or go without clock.lockstep'
UNEVEN = frozenset((
    '/clock runs evenly', 'simulated time runs evenly', 'real-time factor in range',
    'no time beside decisions'))
"""Checks of a clock that runs, but unevenly: a controller that had enough time is still judged."""
_found = partial(harness, 'clock')


def clock_findings(trial: JudgedTrial, latency: Latency | None) -> Iterator[Finding]:
    """Say why no time of this trial, and so nothing that happened in it, can be judged."""
    clocks = trial.latency.clocks
    rules = trial.record.measuring.rules
    for event in trial.record.of_kind('fault', CLOCK_ERROR):
        yield _found('the clock can be trusted', Verdict.INCONCLUSIVE, event.text or '',
                     trial.timeline.since_onset_ms(event.stamps.steady_ns))
    pace = trial.record.measuring.pace
    if not trial.record.events or (rules.judge == 'steady' and pace is None):
        return
    first, last = trial.record.events[0].stamps, trial.record.events[-1].stamps
    if clocks.step_ns and not trial.record.measuring.sim_time:
        return  # ROS time is system time, and left out of what is judged
    if last.ros_ns <= first.ros_ns and not trial.record.of_kind('fault'):
        yield _found('ROS time runs', Verdict.INCONCLUSIVE,
                     'the ROS clock stood still during the trial; is /clock published?')
    elif (trial.record.measuring.sim_time or pace is not None) and clocks.rtf is None \
            and not rules.lockstep and not trial.record.of_kind('fault'):
        yield _found('ROS time runs', Verdict.INCONCLUSIVE,
                     'fewer than two messages on /clock during the trial, so its speed is unknown')
    elif not rules.lockstep:
        yield from _real_time_factor(trial, clocks, latency)
    else:
        yield from _beside_decisions(trial, clocks, latency)


def _beside_decisions(trial: JudgedTrial, clocks: Clocks,
                      latency: Latency | None) -> Iterator[Finding]:
    """Look for real time that a controller had beside what its decisions were charged."""
    measuring, onset = trial.record.measuring, trial.timeline.onset
    if onset is None or trial.scenario.is_benign:
        return  # whoever need not react has no use for it
    if measuring.pace is not None and not (measuring.charges or measuring.answers_alone):
        yield _found('the time of decisions counts', Verdict.INCONCLUSIVE,
                     'this simulator waited for the controller and charged nothing for that, so '
                     'that it may have taken any time to decide. Go without clock.lockstep')
    onset_ns = onset.stamps.steady_ns
    took_ns = trial.record.events[-1].stamps.steady_ns - onset_ns
    if latency is not None:
        onset_ns = latency.onset_steady_ns
        took_ns = latency.reaction.callback_ns if latency.reaction else latency.observed_ns
    limit_ns = max(_GIVEN_NS, _GIVEN_SHARE * took_ns)
    free_ns = clocks.given_ns(onset_ns, onset_ns + took_ns)
    if free_ns > limit_ns:
        yield _found('no time beside decisions', Verdict.INCONCLUSIVE,
                     f'the controller had {free_ns / 1e6:.0f} ms of real time more than it was '
                     f'charged between hazard and reaction, and may have computed on beside its '
                     f'decisions. {_ALONE_ADVICE}')
    held_ns = clocks.decisions.held_ns(onset_ns, onset_ns + took_ns) if measuring.beside else 0
    if held_ns > limit_ns:
        yield _found('a processor for who computes beside', Verdict.INCONCLUSIVE,
                     f'threads of the controller waited {held_ns / 1e6:.0f} ms for a processor '
                     f'between hazard and reaction, and {measuring.beside} may have decided. '
                     f'{_ALONE_ADVICE}')


def _real_time_factor(trial: JudgedTrial, clocks: Clocks,
                      latency: Latency | None) -> Iterator[Finding]:
    """Look at the whole trial, and at the time from onset to the reaction on its own."""
    rules = trial.record.measuring.rules
    spans = [('the trial', clocks.rtf)]
    if latency is not None:
        onset_ns = latency.onset_steady_ns
        took_ns = latency.reaction.callback_ns if latency.reaction else latency.observed_ns
        factor, pause_ns = clocks.pauses(onset_ns, onset_ns + took_ns)
        spans.append(('the reaction', factor))
        if pause_ns > max(PAUSE_NS, _PAUSE_TICKS * clocks.tick_ns):
            yield _found('/clock runs evenly', Verdict.INCONCLUSIVE,
                         f'/clock stood still for {pause_ns / 1e6:.0f} ms between hazard and '
                         f'reaction')
        given_ns = clocks.given_ns(onset_ns, onset_ns + took_ns)
        if given_ns > max(_GIVEN_NS, _GIVEN_SHARE * took_ns):
            yield _found('simulated time runs evenly', Verdict.INCONCLUSIVE,
                         f'the simulator gave the controller {given_ns / 1e6:.0f} ms of real time '
                         f'more than passed in its own between hazard and reaction. '
                         f'{_pace_advice(trial)}')
    for span, factor in spans:
        if factor is not None and not rules.keeps_real_time(factor):
            near = rules.rtf_min if factor < rules.rtf_min else rules.rtf_max
            yield _found('real-time factor in range', Verdict.INCONCLUSIVE,
                         f'/clock ran at {apart(factor, near, ".3f")} of real time during {span}, '
                         f'expected {rules.rtf_min:g} to {rules.rtf_max:g}. '
                         + (_ADVICE if trial.record.measuring.pace is None
                            else _pace_advice(trial)))
            return


def _pace_advice(trial: JudgedTrial) -> str:
    """Return how a simulator keeps its pace; below real time latencies would be too short."""
    measuring = trial.record.measuring
    ways = ['Lower the load of the host']
    if (measuring.pace or 1.0) > 1.0:
        ways.append('lower real_time_factor, but not below 1, where latencies are too short')
    if not measuring.takes_no_turns:
        ways.append('set clock.lockstep=true')
    return ', or '.join(ways)


def went_back(trial: JudgedTrial, latency: Latency | None) -> Iterator[Finding]:
    """Find a reaction that came before its hazard by ROS time."""
    reaction = latency.reaction if latency is not None and latency.judged_ns is not None else None
    if reaction is not None and reaction.ros_ns is not None and reaction.ros_ns < 0 \
            and trial.record.measuring.rules.judge != 'steady':
        yield _found('ROS time runs forward', Verdict.INCONCLUSIVE,
                     f'ROS time went back by {-reaction.ros_ns / 1e6:.1f} ms during the '
                     f'reaction')


def without_clock(broken: list[Finding], findings: list[Finding],
                  is_certain: Callable[[Finding], bool] = lambda _: False) -> list[Finding]:
    """
    With a broken clock nothing else is judged; what it would have been stays readable.

    :param is_certain: whether a violation is one at any pace; it counts if the clock is uneven
    """
    if not broken:
        return findings
    is_uneven = all(one.check in UNEVEN for one in broken)
    return broken + [finding if finding.verdict is None or (is_uneven and is_certain(finding))
                     else finding.model_copy(update={
                         'verdict': None, 'reason': f'not judged because of the clock; it would '
                                                    f'be {finding.verdict.value}: '
                                                    f'{finding.reason}'})
                     for finding in findings]


def besides(verdict: Verdict, broken: list[Finding], findings: list[Finding]) -> str:
    """
    Return what else went wrong where the clock was broken; or what a FAIL is said instead of.

    An ERROR may be why, such as a controller that crashed at the hazard. Empty: nothing.
    """
    errors = [finding for finding in findings if finding.verdict is Verdict.ERROR]
    return ''.join(f'. Besides, {error.check}: {error.reason}' for error in errors[:1]) \
        if broken or verdict is Verdict.FAIL else ''
