# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What is found wherever within their bounds a real hazard began and ended, and what is left open.

A reference sensor tells of both within a bound. Whatever is judged from the one or to the other is
judged at the ends of the bounds too, and what would come out otherwise there is INCONCLUSIVE. So
is what passes only by a driver that nobody declared, or only in one of two times.
"""

from collections.abc import Callable, Iterable, Sequence

from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.result import Finding, Latency
from safety_scenarios.scenario.verdict import Verdict


def wherever(trial: JudgedTrial,
             findings_of: Callable[[JudgedTrial], Iterable[Finding]]) -> list[Finding]:
    """
    Return what is found of a trial, open where it depends on what nobody knows that well.

    :param findings_of: gives at most one finding of each name
    """
    found = _within_bounds(trial, findings_of)
    for why, other in trial.otherwise.items():
        found = passing_both(found, list(findings_of(other)), why)
    return found


def passing_both(found: Sequence[Finding], otherwise: Sequence[Finding],
                 why: str) -> list[Finding]:
    """
    Return findings without a PASS that would be a FAIL in a trial which may have been as well.

    :param otherwise: the findings of that one
    :param why: it is not known which of them it was
    """
    failed = {one.check: one for one in otherwise if one.verdict is Verdict.FAIL}
    names = {one.check for one in found}
    return [*(one if one.verdict is not Verdict.PASS or one.check not in failed
              else _doubted(failed[one.check], why) for one in found),
            *(_doubted(one, why) for check, one in failed.items() if check not in names)]


def _doubted(failed: Finding, why: str) -> Finding:
    return failed.model_copy(update={'verdict': Verdict.INCONCLUSIVE, 'is_false_stop': False,
                                     'reason': f'{why} it would be {_told(failed)}'})


def _within_bounds(trial: JudgedTrial,
                   findings_of: Callable[[JudgedTrial], Iterable[Finding]]) -> list[Finding]:
    found = list(findings_of(trial))
    ends = [{one.check: one for one in findings_of(other)} for other in trial.around_onset]
    if not ends:
        return found
    names = {one.check for one in found}
    elsewhere = {check: one for some in ends for check, one in some.items()
                 if check not in names and one.verdict not in (None, Verdict.PASS)}
    return [*(certain(one, [some.get(one.check) for some in ends]) for one in found),
            *(_open(one, '', f'it would be {_told(one)}') for one in elsewhere.values())]


def certain(found: Finding, around: Sequence[Finding | None]) -> Finding:
    """
    Return a finding as it is if it would be the same wherever in its bound the onset was.

    :param around: the same at the ends; None: nothing was found there, which spoils no PASS
    """
    if found.verdict in (Verdict.INCONCLUSIVE, Verdict.ERROR):
        return found
    for other in around:
        if other is None and found.verdict is Verdict.FAIL:
            return _open(found, found.reason, 'nothing would be found')
        if other is not None and other.verdict is not found.verdict:
            return _open(found, found.reason, f'it would be {_told(other)}')
    return found


def reacts_wherever(trial: JudgedTrial,
                    findings_of: Callable[[JudgedTrial], Iterable[Finding]]) -> list[Finding]:
    """
    Return what is found of a latency, open where it depends on the bounds whether there is one.

    That a latency is off by the bound of the onset is part of its uncertainty already; whether a
    reaction, or a standstill that the robot confirms, comes and holds in time at all is not.
    """
    found, latency = list(findings_of(trial)), trial.latency.latency
    if latency is None or not found:
        return found
    ends = [(measured, {one.check: one for one in findings_of(other)})
            for other in trial.around_onset if (measured := other.latency.latency) is not None]
    return [certain(one, [some[one.check] for measured, some in ends if one.check in some
                          and _is_there(one, measured) is not _is_there(one, latency)])
            for one in found]


def _is_there(found: Finding, latency: Latency) -> bool:
    return (latency.reaction if found.kind == 'latency' else latency.confirmed) is not None


def _told(found: Finding) -> str:
    return f'{found.verdict.value if found.verdict else "not evaluated"}: {found.reason}'


def _open(found: Finding, reason: str, otherwise: str) -> Finding:
    before = f'{reason}; ' if reason else ''
    return found.model_copy(update={'verdict': Verdict.INCONCLUSIVE, 'reason': (
        f'{before}too close to decide, because with the onset at the end of its uncertainty '
        f'{otherwise}')})
