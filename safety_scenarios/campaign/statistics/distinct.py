# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How many trials a campaign really has: those that came out alike are one.

Every bound takes trials for independent. To repeat what does not vary, such as a deterministic
controller in simulated time, shows nothing new, however often it is done; so whatever bounds
anything counts trials here. Other words are another trial, though they may be judged alike.
Counts, medians and extremes stay those of all trials.
"""

from collections.abc import Iterable

from safety_scenarios.scenario.estimate import Estimate
from safety_scenarios.scenario.result import TrialResult

_SIMULATED = ('loopback', 'simulated')
"""Links over which a trial is as long as it was planned."""


def distinct(results: Iterable[TrialResult], link: str) -> list[TrialResult]:
    """
    Return the trials that differ in anything, in order: of those that came out alike the first.

    :param link: over which they were run; measured times are never alike, reckoned ones are
    """
    found: dict[str, TrialResult] = {}
    for result in results:
        found.setdefault(what_came_of(result, link), result)
    return list(found.values())


def what_came_of(result: TrialResult, link: str) -> str:
    """
    Return everything that tells two trials of a campaign apart but their number and seed.

    In simulated time a trial is as long as it was planned: that tells nothing of the controller.
    """
    latency = None if result.latency is None else result.latency.judged_ns
    return repr((result.scenario_id, result.verdict, latency, result.is_measured,
                 sorted(result.drawn.items(), key=str), result.scores, result.said,
                 None if link in _SIMULATED else result.duration_ms,
                 [(finding.check, finding.verdict, finding.margin, finding.at_ms, finding.reason)
                  for finding in result.findings]))


def no_narrower(of_all: Estimate, of_distinct: Estimate, *, is_bound: bool = False) -> Estimate:
    """
    Return the number that all trials give, with no narrower interval than the distinct ones carry.

    An end is given only where both have one, and then it is the wider of the two.

    :param of_distinct: the same statistic of the distinct trials alone
    :param is_bound: the number is nothing but the upper end of its interval, and goes with it
    """
    if of_all.n == of_distinct.n:
        return of_all
    lows, highs = [of_all.low, of_distinct.low], [of_all.high, of_distinct.high]
    low = None if None in lows else min(end for end in lows if end is not None)
    high = None if None in highs else max(end for end in highs if end is not None)
    return of_all.model_copy(update={
        'value': high if is_bound else of_all.value, 'low': low, 'high': high,
        'n': of_distinct.n, 'method': f'{of_distinct.method}; {only(of_distinct.n, of_all.n)}'})


def only(count: int, of: int) -> str:
    """Return in words how many trials count; empty where all of them do."""
    if count == of:
        return ''
    return f'of {of} trials {count} {"differs" if count == 1 else "differ"} in what is judged, ' \
           f'and only {"that one counts" if count == 1 else "those count"}'
