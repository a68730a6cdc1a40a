# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Calibrate over DDS: our own responder in a process of its own, our own link."""

from collections.abc import Mapping
from contextlib import closing
from typing import Any, Literal

from rclpy.node import Node
from safety_scenarios import registry
from safety_scenarios.campaign.calibrate import (
    calibrate,
    calibration_trial,
    DELAYS_MS,
    PROBES_EACH,
    RATE_HZ,
)
from safety_scenarios.campaign.folder.provenance import host, versions
from safety_scenarios.ros.clocks.clock import RosClock
from safety_scenarios.ros.controller_process import ChildProcess
from safety_scenarios.ros.link.link import RosLink
from safety_scenarios.ros.spinning import EXECUTOR, Spin
from safety_scenarios.scenario.measuring import Calibration, ClockRules, Measuring
from safety_scenarios.trial.run import run_trial

_FIRST_BEFORE = 1_000_000
"""Numbers of the probes before the onset, far from those that are measured."""


def calibrate_over_ros(node: Node, spin: Spin, form: Literal['short', 'full'],
                       process: ChildProcess, token: str, timeout_s: float,
                       facts: Mapping[str, Any]) -> Calibration:
    """
    Send probes of known delay to a responder and return what the harness made of them.

    :param process: the responder, not yet running
    :param token: part of the topics' names, so that nobody else answers; the responder knows it
    :param facts: what else decides how well is measured, such as the middleware
    :raises MeasurementError: the responder could not be reached
    """
    topic = f'calibration/{token}/probe'
    probe = registry.resolve('stimuli', 'probe')
    delays = DELAYS_MS[form]
    trial = calibration_trial(
        probe(topic=topic, rate_hz=RATE_HZ, first=_FIRST_BEFORE),
        probe(topic=topic, rate_hz=RATE_HZ, delays_ms=delays), f'calibration/{token}/answer',
        PROBES_EACH[form] * len(delays), max(delays))
    measuring = Measuring(rules=ClockRules(latency_clock='steady'))
    try:
        with closing(RosLink(node, spin, RosClock(), timeout_s, measuring,
                             children=(process,))) as link:
            record = run_trial(trial, link)
    finally:
        process.stop()
    return calibrate(record, {**host(), 'executor': EXECUTOR, **facts, 'versions': versions()})
