# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Which trials a bound of the reaction is about, and what each of them gives.

A controller that crashes before the hazard begins has not reacted in time. So a trial of a hazard
that nobody could judge counts, as one whose reaction never came.
"""

from collections.abc import Iterable

from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import LatencyClass


def is_due(result: TrialResult) -> bool:
    """Return whether a reaction was due in a trial, or may have been."""
    return result.latency is not None or not (result.is_decided or result.is_benign)


def due_ms(results: Iterable[TrialResult]) -> list[float | None]:
    """Return of each trial with a reaction due its time; None where it is missing or unknown."""
    return [judged_ms(result) if result.is_measured else None
            for result in results if is_due(result)]


def judged_ms(result: TrialResult) -> float | None:
    """Return the time of the reaction that the budget is compared with; None: there was none."""
    judged_ns = result.latency.judged_ns if result.latency else None
    return None if judged_ns is None else judged_ns / 1e6


def confirmed_ms(result: TrialResult) -> float | None:
    """Return when the robot itself confirmed the reaction; None: it did not."""
    confirmed = result.latency.confirmed if result.latency else None
    return None if confirmed is None else confirmed.judged_ns / 1e6


def confirmed_class(result: TrialResult) -> str | None:
    """Return the class of what the robot confirmed; None: not asked to, or nobody knows."""
    confirmed = result.latency.confirmed if result.latency else None
    if confirmed is not None:
        return confirmed.latency_class.value
    return LatencyClass.NO_RESPONSE.value if result.is_confirmation_measured else None
