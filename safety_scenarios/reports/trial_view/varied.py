# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Degradation as the page draws it: one plot at a time, over a number that a reader chooses."""

from collections.abc import Mapping, Sequence
from typing import Any

from safety_scenarios.campaign.degradation import Degradation, Step
from safety_scenarios.errors import counted
from safety_scenarios.reports.trial_view.display_text import on_one_line, rounded
from safety_scenarios.scenario.estimate import Estimate

_PLOTS, _SERIES = 60, 24
"""At most so many plots, and lines in one of them."""


def varied(found: Sequence[Degradation]) -> Sequence[Mapping[str, Any]]:
    """
    Return plots: [{title parameter scenario series notes}].

    ``series`` are [{name steps}], steps [{low high trials passed ms n}]; ``passed`` and ``ms`` are
    [value, low, high], each None where there is no number, ``n`` counts trials that differ.
    """
    return [_plot(one) for one in found[:_PLOTS]]


def _plot(one: Degradation) -> Mapping[str, Any]:
    parameter = on_one_line(one.parameter, 80)
    notes = [f'The campaigns differ in {on_one_line(", ".join(one.besides), 300)} too, so '
             f'that the effect cannot be attributed to one of them.'] if one.besides else []
    if len(one.series) > _SERIES:
        notes.append(f'{counted(len(one.series) - _SERIES, "more scenario")} in campaign.json.')
    return {
        'title': f'{on_one_line(one.scenario, 100)} over {parameter}' if one.scenario
        else f'Campaigns over {parameter}',
        'parameter': parameter, 'scenario': on_one_line(one.scenario, 100), 'notes': notes,
        'series': [{'name': on_one_line(line.name, 120), 'steps': [
            _step(step) for step in line.steps]} for line in one.series[:_SERIES]]}


def _step(step: Step) -> Mapping[str, Any]:
    return {'low': rounded(step.low, 4), 'high': rounded(step.high, 4), 'trials': step.trials,
            'passed': _numbers(step.passed), 'ms': _numbers(step.median_ms), 'n': step.passed.n}


def _numbers(found: Estimate) -> Sequence[float | int | None]:
    return [rounded(value, 4) for value in (found.value, found.low, found.high)]
