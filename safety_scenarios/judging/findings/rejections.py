# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Commands that the driver rejects: each is named, and a robot that got none was not commanded."""

from collections.abc import Iterator
from functools import partial

from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.driver import Execution
from safety_scenarios.scenario.result import Finding, Note, Verdict
from safety_scenarios.trial.record.executed_commands import driver_of

REJECTED = 'the driver takes commands'
_found = partial(harness, 'observation')


def none_taken(trial: JudgedTrial) -> Iterator[Finding]:
    """Find a topic on which the driver rejects whatever was commanded: the robot did nothing."""
    for topic, execution in _with_rejections(trial):
        if not execution.accepted.any():
            yield _found(REJECTED, Verdict.INCONCLUSIVE,
                         f'{_rejections(trial, topic, execution)}. So nothing was commanded. '
                         f'If the robot has another driver, declare it at ros.commands')


def rejection_notes(trial: JudgedTrial) -> Iterator[Note]:
    """Tell what was rejected, and that what was commanded before it went on."""
    for topic, execution in _with_rejections(trial):
        if execution.accepted.any():
            yield Note(code='rejected', text=f'{_rejections(trial, topic, execution)}; what was '
                                             f'executed before went on')


def _with_rejections(trial: JudgedTrial) -> Iterator[tuple[str, Execution]]:
    for topic in trial.record.by_topic('command'):
        execution = trial.signals.asked(topic)
        if execution is not None and execution.rejections:
            yield topic, execution


def _rejections(trial: JudgedTrial, topic: str, execution: Execution) -> str:
    first, driver = execution.rejections[0], driver_of(trial.scenario, topic)
    since_ms = trial.timeline.since_onset_ms(first.t_ns)
    when = '' if since_ms is None else f' {since_ms:.0f} ms after onset' if since_ms >= 0 \
        else f' {-since_ms:.0f} ms before onset'
    which = f'{execution.driver}, {driver.distro}' if driver else execution.driver
    return (f'{topic}: the driver ({which}) rejects {len(execution.rejections)} of '
            f'{len(execution.accepted)} commands, the first{when}: {first.reason} '
            f'({first.source})')
