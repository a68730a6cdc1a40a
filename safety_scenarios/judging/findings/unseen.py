# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether any sensor of the robot ever showed the hazard: else nothing can be an answer to it."""

from collections.abc import Sequence

from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.result import CONFIRMED, Finding, Verdict
from safety_scenarios.trial.trial import ALL_CLEAR
from safety_scenarios.trial.world.ground_truth import Entity, UNSEEN

SHOWN = 'a sensor showed the hazard'
_ASKS = ('latency', CONFIRMED, 'stop', 'slow')
"""Kinds of findings that ask for an answer to the hazard."""


def nobody_could_see(trial: JudgedTrial, findings: Sequence[Finding]) -> list[Finding]:
    """
    Return findings without a FAIL for no answer to what no sensor showed, and say that it is so.

    What touched the robot, and whatever else it did, stays as it was judged. In a benign variant
    nothing is to be answered.
    """
    names = _never_seen(trial)
    if not names:
        return list(findings)
    what = ', '.join(names)
    return [*(one.model_copy(update={
        'verdict': Verdict.INCONCLUSIVE, 'reason': f'{one.reason}; no sensor showed the hazard'})
        if one.verdict is Verdict.FAIL and one.kind in _ASKS else one for one in findings),
        harness('observation', SHOWN, Verdict.INCONCLUSIVE, (
            f'no sensor of the robot ever showed {what}, as the world tells, so that nothing can '
            f'be an answer to it. Look for what hides it or blinds the sensors, their heights and '
            f'ranges'))]


def _never_seen(trial: JudgedTrial) -> list[str]:
    """Return what hazards put into the world, if no sensor showed any of it; empty: one did."""
    world = trial.motion.world
    if world is None or trial.scenario.is_benign:
        return []
    placed = {name: one.at_ns for one in world.placed if one.is_hazard for name in one.names}
    if not placed or not {plugin.topic for plugin in trial.record.trial.hazard} <= placed.keys():
        return []  # something else may have told of it
    clear = trial.timeline.mark(ALL_CLEAR)  # what was shown before the hazard is shown again then
    until_ns = clear.stamps.steady_ns if clear else trial.record.end_ns
    entities = [(world.entities.get(name), at_ns) for name, at_ns in placed.items()]
    return sorted(placed) if all(entity is not None and _is_unseen(entity, at_ns, until_ns)
                                 for entity, at_ns in entities) else []


def _is_unseen(entity: Entity, since_ns: int, until_ns: int) -> bool:
    """Return whether the last that is told of an entity in a time is that nobody saw it."""
    told = [telling for t_ns, telling in zip(entity.times_ns.tolist(), entity.told.truths)
            if since_ns <= t_ns < until_ns and telling]
    return bool(told) and told[-1].get(UNSEEN, 0.0) >= 0.5
