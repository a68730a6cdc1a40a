# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What two campaigns came to against each other, as rows of text for tables of any kind."""

from collections.abc import Iterator

from safety_scenarios.campaign.comparison import Comparison
from safety_scenarios.errors import counted
from safety_scenarios.reports import world_tables
from safety_scenarios.scenario.estimate import Estimate


def rows(found: Comparison) -> Iterator[tuple[str, str, str]]:
    """Yield (question, answer, p); p is empty where nothing was tested."""
    yield ('fails more often, over scenarios: share not passed',
           with_interval(found.failures_difference), f'{found.failures_p:.3g} (over scenarios)')
    yield ('scenarios in which the second is better, worse',
           f'{found.scenarios_better}, {found.scenarios_worse}'
           + (f' ({" ".join(found.worse)})' if found.worse else ''), '')
    yield ('passed: both, only first, only second, neither',
           f'{found.both_passed}, {found.only_first_passed}, {found.only_second_passed}, '
           f'{found.neither_passed}', '')
    yield ('later, over scenarios: median of medians, ms',
           with_interval(found.median_difference_ms), f'{found.latency_p:.3g} (over scenarios)')
    if found.confirmed is not None:
        yield ('the robot confirms later, over scenarios: median of medians, ms',
               with_interval(found.confirmed.median_difference_ms),
               f'{found.confirmed.p:.3g} (over scenarios)')
    if found.world is not None:
        yield from world_tables.rows(found.world)
    yield ("not passed: Cohen's h; latency: Cohen's d",
           f'{_value(found.failures_h)}; {_value(found.latency_d)}', '')
    for row in found.alone:
        yield (f'{row.scenario_id} alone: only first, only second passed',
               f'{row.only_first_passed}, {row.only_second_passed} n={row.pairs}'
               + ('' if row.distinct in (None, row.pairs) else f' ({row.distinct} that differ)'),
               f'{row.p:.3g} (McNemar, Holm; of this scenario)')


def notes(found: Comparison) -> Iterator[str]:
    """Yield what goes below the table."""
    if any(found.undecided):
        yield (f'not passed because INCONCLUSIVE or ERROR: {found.undecided[0]} of the first, '
               f'{found.undecided[1]} of the second')
    if found.unpaired:
        yield f'{counted(found.unpaired, "trial is", "trials are")} in one of the two only'
    if found.latency_pairs < found.pairs:
        yield (f'latencies are of the {counted(found.latency_pairs, "pair")} that could both be '
               f'measured')
    yield from found.notes


def with_interval(estimate: Estimate) -> str:
    """Return a number with its interval and its n; without a number why there is none."""
    if estimate.value is None:
        return f'none ({estimate.method})'
    ends = ['-inf' if estimate.low is None else f'{estimate.low:.3g}',
            'inf' if estimate.high is None else f'{estimate.high:.3g}']
    return f'{estimate.value:.3g} [{ends[0]}, {ends[1]}] n={estimate.n}'


def _value(estimate: Estimate) -> str:
    return f'none ({estimate.method})' if estimate.value is None else f'{estimate.value:.3g}'
