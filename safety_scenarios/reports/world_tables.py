# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What worlds told of a campaign, as columns, lines and rows of the console's tables."""

from collections.abc import Iterator, Mapping

from safety_scenarios.errors import counted
from safety_scenarios.scenario.estimate import Estimate
from safety_scenarios.trial.summary import CampaignSummary, ScenarioSummary
from safety_scenarios.trial.world.summary import WorldComparison

COLUMNS = ('min gap m', 'stops within m', 'task s')


def cells(row: ScenarioSummary) -> list[str]:
    """Return what one scenario has in ``COLUMNS``; empty where it was in no world."""
    world = row.world
    if world is None:
        return ['', '', '']
    gap, way = ('-' if value is None else f'{value:.2f}'
                for value in (world.min_gap_m, world.stopping_distance_m))
    if not world.task_s.n:
        return [gap, way, '-']
    took = world.task_s.value
    return [gap, way, 'not done' if took is None else f'{took:.1f}']


def lines(summary: CampaignSummary) -> Iterator[str]:
    """Yield what goes below the table."""
    world = summary.world
    if world is None:
        return
    where = f' ({", ".join(world.worlds)})' if world.worlds else ''
    locked = {'all': ', in lock-step', 'some': ', some of them in lock-step', 'none': ''}
    yield (f'In a world{where}: {counted(world.trials, "trial")}{locked[world.lockstep]}. '
           f'{_quadrants(world.quadrants)}, {world.unknown} unknown.')
    yield (f'Of a trial: exposed to risk {_mean(world.exposure_s)} (by S_p too in '
           f'{world.with_separation} of {counted(world.trials, "trial")}), safety cost '
           f'{_mean(world.safety_cost)}, time lost by standing {_mean(world.time_lost_s)}, '
           f'progress {_mean(world.progress_per_min)}.')
    if world.prediction_gap_m.value is not None and world.prediction_gap_worst_m is not None:
        yield (f'Predicted less true stopping distance: {_mean(world.prediction_gap_m)}, lowest '
               f'{world.prediction_gap_worst_m:.3f} m.')


def rows(found: WorldComparison) -> Iterator[tuple[str, str, str]]:
    """Yield (question, answer, p) of two campaigns against each other."""
    first, second = map(_quadrants, found.quadrants)
    yield 'in a world: the first; the second', f'{first}; {second}', ''
    for what, estimate, p in (
            ('longer exposed to risk', found.exposure_s, found.exposure_p),
            ('higher safety cost', found.safety_cost, found.safety_cost_p),
            ('more time lost by standing', found.time_lost_s, found.time_lost_p)):
        yield (f'{what}, over scenarios: median of medians, s', _mean(estimate),
               f'{p:.3g} (over scenarios)')


def _quadrants(counts: Mapping[str, int]) -> str:
    return ', '.join(f'{count} {name}' for name, count in counts.items())


def _mean(estimate: Estimate) -> str:
    if estimate.value is None:
        return 'unknown'
    ends = '' if estimate.low is None and estimate.high is None else ' [' + ', '.join(
        'unbounded' if end is None else f'{end:.3g}'
        for end in (estimate.low, estimate.high)) + ']'
    return f'{estimate.value:.3g}{ends} {estimate.unit} n={estimate.n}'
