# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How the parts of a reaction add up, and what failure-free operation can and cannot show.

Source: the timing terms of ISO 13849-1, IEC 62061 and IEC 61508. A scenario test gives evidence
about times; it never gives a performance level or a safety integrity level.
"""

from collections.abc import Sequence
import math

from safety_scenarios.errors import InputError
from safety_scenarios.standards._inputs import check_not_negative, check_positive


def reaction_time(*, sensor: float, transport: float, logic: float, output: float,
                  stopping: float = 0.0) -> float:
    """
    Return the sum of a chain's parts (s).

    :param stopping: from the output to standstill; with it the sum is the overall stopping time
    :raises InputError: a negative or non-finite part
    """
    check_not_negative(sensor=sensor, transport=transport, logic=logic, output=output,
                       stopping=stopping)
    return sensor + transport + logic + output + stopping


def worst_case_reaction(stages: Sequence[tuple[float, float]]) -> float:
    """
    Return the worst case (s) of a chain whose stages run periodically and unsynchronised.

    Each stage can just have missed its input, so that the input waits a whole period: the sum of
    periods and execution times. A mean latency is far below it.

    :param stages: (period, execution time) of each (s)
    :raises InputError: no stages, or a negative or non-finite time
    """
    if not stages:
        raise InputError('stages: got none, expected at least one (period, execution time)')
    for place, (period, execution) in enumerate(stages):
        check_not_negative(**{f'stages[{place}].period': period,
                              f'stages[{place}].execution': execution})
    return math.fsum(time for stage in stages for time in stage)


def diagnostics_in_time(*, interval: float, fault_reaction: float,
                        process_safety_time: float) -> bool:
    """
    Return whether a continuous-mode diagnostic finds and answers a fault in time (inclusive).

    :param interval: between two diagnostic tests (s)
    :param fault_reaction: from detection to the safe state (s)
    :param process_safety_time: from the fault to the harm (s)
    :raises InputError: a negative or non-finite time
    """
    check_not_negative(interval=interval, fault_reaction=fault_reaction,
                       process_safety_time=process_safety_time)
    return interval + fault_reaction <= process_safety_time


def failure_free_hours(failures_per_hour: float, confidence: float = 0.95) -> float:
    """
    Return how many hours without any failure show that a failure rate is lower.

    At rates that standards ask for this is a lifetime or more: testing cannot show them.

    :param failures_per_hour: the rate (1/h)
    :param confidence: of the claim
    :raises InputError: a rate not > 0, or a confidence outside (0, 1)
    """
    check_positive(failures_per_hour=failures_per_hour)
    if not 0.0 < confidence < 1.0:
        raise InputError(f'confidence: got {confidence}, expected a number > 0 and < 1')
    return -math.log1p(-confidence) / failures_per_hour
