# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An arm that stood a single time where it turned back: a rest, or a stop for no reason."""

from collections.abc import Iterator

from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.findings.nominal import MOMENT_NS
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.required import longest_rest_ns, required, rests
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict

_CHECK = 'rests at each end of its path'


def single_rest(trial: JudgedTrial) -> Iterator[Finding]:
    """
    Yield INCONCLUSIVE where an arm rested once in the whole trial.

    Its rests are forgiven. Whoever works with rests has more of them; a controller that stops for
    a moment and for no reason may by chance do it where the arm turns back.
    """
    ros = trial.scenario.body
    if not isinstance(ros, RobotBody) or not longest_rest_ns(trial.motion):
        return
    require = ros.nominal.require
    try:
        series = required(trial.motion, require)
    except LookupError:
        return  # reported as what cannot be read
    found = [(begin_ns, end_ns) for begin_ns, end_ns in rests(
        trial.motion, require, series, (0, trial.record.end_ns))
        if end_ns - begin_ns > MOMENT_NS]
    if len(found) == 1:
        [(begin_ns, end_ns)] = found
        yield harness('nominal', _CHECK, Verdict.INCONCLUSIVE, (
            f'{require} was not met for {(end_ns - begin_ns) / 1e6:.0f} ms where the arm turned '
            f'back, and only once in the trial: it may be a stop for no reason'),
            trial.timeline.since_onset_ms(begin_ns))
