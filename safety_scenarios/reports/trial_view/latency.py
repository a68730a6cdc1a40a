# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The latency of a trial with its interval, its clock and its budget, and what it costs."""

from collections.abc import Mapping
from typing import Any

from safety_scenarios.reports.trial_view.display_text import on_one_line, rounded
from safety_scenarios.scenario.measuring import Measuring
from safety_scenarios.scenario.result import Elapsed, Latency, TrialResult
from safety_scenarios.trial.trial import TrialRecord

_CLOCKS = {'steady': 'the steady clock', 'ros': 'ROS time',
           'max': 'the steady clock or ROS time, whichever shows more'}


def latency_of(record: TrialRecord, result: TrialResult) -> Mapping[str, Any] | None:
    """Return the part of a view that is called ``latency``, None where none was asked for."""
    found, measuring = result.latency, record.measuring
    if found is None:
        return None
    budget, reaction = record.trial.scenario.latency_budget, found.reaction
    told: dict[str, Any] = {
        'ms': None, 'low_ms': None, 'high_ms': None, 'class': found.latency_class.value,
        'clock': 'simulated time, which is exact' if measuring.exact
        else _CLOCKS[measuring.rules.judge],
        'budget_ms': [budget.target_ms, budget.acceptable_ms, budget.critical_ms],
        'observed_ms': rounded(found.observed_ns / 1e6, 1),
        'sentence': _sentence(found, measuring)}
    if reaction is not None:
        told |= {'ms': _ms(reaction), 'at': round(reaction.steady_ns / 1e6),
                 'low_ms': rounded((reaction.judged_ns - reaction.uncertainty_ns) / 1e6, 2),
                 'high_ms': rounded((reaction.judged_ns + reaction.uncertainty_ns) / 1e6, 2)}
    if found.first_command is not None:
        told['first_command_ms'] = _ms(found.first_command)
    if found.confirmed is not None:
        told['confirmed_ms'] = _ms(found.confirmed)
        told['confirmed_class'] = found.confirmed.latency_class.value
    if found.stop is not None:
        told['stands_ms'] = rounded(found.stop.stands_ns / 1e6, 1)
        told['way'], told['way_unit'] = rounded(found.stop.way, 3), found.stop.unit
        told['stands_source'] = on_one_line(found.stop.source, 200)
    if found.split is not None:
        told['split_ms'] = [rounded(part / 1e6, 2) for part in (
            found.split.outbound_ns, found.split.controller_ns, found.split.inbound_ns)]
    return told


def _sentence(found: Latency, measuring: Measuring) -> str:
    reaction = found.reaction
    if reaction is None:
        return (f'{found.latency_class.value.replace("_", " ")}: no reaction in the '
                f'{found.observed_ns / 1e6:.0f} ms that were observed')
    within = ', exact' if measuring.exact and not reaction.uncertainty_ns else \
        f' ± {reaction.uncertainty_ns / 1e6:.2f} ms (k = 2)'
    clock = 'simulated time' if measuring.exact else _CLOCKS[measuring.rules.judge]
    return (f'{reaction.judged_ns / 1e6:.1f} ms{within}, {found.latency_class.value}; by {clock}'
            + ('' if measuring.exact else f', stamps: {reaction.method}')
            + ('; the reaction is the end of the commands' if found.inferred else ''))


def cost_of(result: TrialResult) -> Mapping[str, Any] | None:
    """Return what the latency asks for in metres, None where nothing tells how to reckon it."""
    cost = result.separation
    return None if cost is None else {
        'latency_ms': rounded(cost.latency_ms, 1), 'speed': rounded(cost.speed, 3),
        'required': rounded(cost.required, 3), 'available': rounded(cost.available, 3),
        'left': rounded(cost.margin, 3), 'per_100_ms': rounded(cost.per_second / 10, 3)}


def _ms(elapsed: Elapsed) -> float | None:
    return rounded(elapsed.judged_ns / 1e6, 2)
