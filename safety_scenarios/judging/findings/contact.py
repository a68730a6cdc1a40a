# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Always judged in a world: the robot touches nobody, and nothing that it drives into."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from safety_scenarios.errors import counted
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.contacts import Contact, described, limit_of, STANDS, unknown
from safety_scenarios.judging.surrogate_measures import nearest
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict

TOUCHES_NOBODY = 'touches nobody'
_found = partial(Finding, check=TOUCHES_NOBODY, kind='contact', source='contact')


def touches_nobody(trial: JudgedTrial) -> Iterator[Finding]:
    """
    Judge every contact of the whole trial, where a world tells of the robot.

    A person may not be touched by a robot that moves, and nothing by one that moves faster than
    ``MOVES``. A robot that stands and is walked into is not at fault, nor is one that retreats
    from there, or still rolls from that push; a force that a stimulus applies is no contact of
    it. A contact that an invariant of the scenario permits is judged by that.
    """
    world = trial.motion.world
    if world is None or world.robot is None:
        if trial.record.measuring.world:
            yield _found(verdict=Verdict.INCONCLUSIVE, reason=(
                f'the world {trial.record.measuring.world} published no state of the robot'))
        return
    found = [one for one in trial.motion.contacts if not any(
        invariant.permits(one) for invariant in trial.scenario.invariants)]
    caused = [one for one in found if one.is_caused]
    if caused:
        yield _caused(trial, max(caused, key=_weight), len(caused))
        return
    why = unknown(trial.timeline, trial.motion.world)
    if why is not None:
        yield _found(verdict=Verdict.INCONCLUSIVE, reason=why)
        return
    for one in found:
        if one.is_caused is None:
            yield _found(verdict=Verdict.INCONCLUSIVE,
                         at_ms=trial.timeline.since_onset_ms(one.begin_ns),
                         reason=f'{one.name} and the robot touched, and it is unknown whether the '
                                f'robot moved')
            return
    if found or trial.motion.contacts:
        yield _found(verdict=Verdict.PASS, reason=_harmless(found, len(trial.motion.contacts)))
        return
    near = nearest(world)
    yield _found(verdict=Verdict.PASS, reason='nothing touched the robot, according to the '
                                              'simulator') \
        if near is None else _found(
            verdict=Verdict.PASS, margin=near.gap, unit='m',
            at_ms=trial.timeline.since_onset_ms(near.at_ns), reason=(
                f'nothing touched the robot: {near.name} came no nearer than {near.gap:.2f} m, '
                f'according to the simulator'))


def _weight(one: Contact) -> tuple[bool, float, float]:
    return one.is_body, one.force or 0.0, one.speed or 0.0


def _caused(trial: JudgedTrial, one: Contact, count: int) -> Finding:
    speed = max(one.before or 0.0, one.pushing or 0.0)
    limit = limit_of(one)
    is_driving_on = (one.before or 0.0) <= limit
    how = f'pushed on at {speed:.2f} m/s against' if is_driving_on \
        else f'drove at {one.before or 0.0:.2f} m/s into'
    more = f'; {counted(count, "such contact")} in all' if count > 1 else ''
    return _found(verdict=Verdict.FAIL, margin=limit - speed, unit='m/s',
                  at_ms=trial.timeline.since_onset_ms(one.begin_ns),
                  reason=f'the robot {how} {described(one)}{more}, according to the simulator')


def _harmless(found: Sequence[Contact], total: int) -> str:
    permitted = total - len(found)
    parts = [f'{counted(permitted, "contact")} that the scenario permits'] if permitted else []
    parts += [_blameless(one) for one in found[:1]]
    more = f' (and {counted(len(found) - 1, "contact")} like it)' if len(found) > 1 else ''
    return '; '.join(parts) + more + ', according to the simulator'


def _blameless(one: Contact) -> str:
    slow = one.excuse or ('it stood' if (one.before or 0.0) <= STANDS
                          else f'it moved at {one.before:.2f} m/s')
    return f'the robot is not at fault: {slow} when {described(one)} and it touched'


def headline(findings: Iterable[Finding], verdict: Verdict) -> Finding:
    """Return the finding that is said first of a trial: of those with its verdict, the gravest."""
    return max((one for one in findings if one.verdict is verdict), key=gravity)


def gravity(finding: Finding) -> int:
    """
    Return how grave a violation is, 0 for most.

    A contact is graver than a force, and both than a late reaction, which may be their cause.
    """
    if finding.verdict is not Verdict.FAIL:
        return 0
    return 2 if finding.source == 'contact' else int(finding.kind == 'force')
