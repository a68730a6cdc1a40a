# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Contacts in a world, and whether a world or the feedback did as it was commanded."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy
from safety_scenarios.errors import counted
from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.contacts import (
    Contact,
    described,
    limit_of,
    MOVES,
    STANDS,
    unknown,
)
from safety_scenarios.judging.motion.reported_motion import (
    before_hazard,
    BEFORE_NS,
    Following,
    following,
    is_embedded,
    own_motion,
)
from safety_scenarios.judging.motion.track import Floats, Track
from safety_scenarios.judging.surrogate_measures import nearest
from safety_scenarios.scenario.result import CONFIRMED, Finding, Note
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import NOMINAL, ONSET, TrialRecord

TOUCHES_NOBODY = 'touches nobody'
_contact_finding = partial(Finding, check=TOUCHES_NOBODY, kind='contact', source='contact')


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
            yield _contact_finding(verdict=Verdict.INCONCLUSIVE, reason=(
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
        yield _contact_finding(verdict=Verdict.INCONCLUSIVE, reason=why)
        return
    for one in found:
        if one.is_caused is None:
            yield _contact_finding(
                verdict=Verdict.INCONCLUSIVE, at_ms=trial.timeline.since_onset_ms(one.begin_ns),
                reason=f'{one.name} and the robot touched, and it is unknown whether the robot '
                       f'moved')
            return
    if found or trial.motion.contacts:
        yield _contact_finding(verdict=Verdict.PASS,
                               reason=_harmless(found, len(trial.motion.contacts)))
        return
    near = nearest(world)
    yield _contact_finding(verdict=Verdict.PASS, reason='nothing touched the robot, according to '
                           'the simulator') \
        if near is None else _contact_finding(
            verdict=Verdict.PASS, margin=near.gap, unit='m',
            at_ms=trial.timeline.since_onset_ms(near.at_ns), reason=(
                f'nothing touched the robot: the nearest body ({near.name}) came no nearer than '
                f'{near.gap:.2f} m, according to the simulator'))


def _weight(one: Contact) -> tuple[bool, float, float]:
    return one.is_body, one.force or 0.0, one.speed or 0.0


def _caused(trial: JudgedTrial, one: Contact, count: int) -> Finding:
    speed = max(one.before or 0.0, one.pushing or 0.0)
    limit = limit_of(one)
    is_driving_on = (one.before or 0.0) <= limit
    how = f'pushed on at {speed:.2f} m/s against' if is_driving_on \
        else f'drove at {one.before or 0.0:.2f} m/s into'
    more = f'; {counted(count, "such contact")} in all' if count > 1 else ''
    return _contact_finding(
        verdict=Verdict.FAIL, margin=limit - speed, unit='m/s',
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


AS_COMMANDED = 'the robot moves as it is commanded'
_WINDOW_NS = BEFORE_NS
_STRIDE_NS, _GRID_NS = 250_000_000, 20_000_000
_LAG_NS, _LASTS_NS = 200_000_000, 40_000_000
"""How late a robot may follow its commands, and for how long it may exceed what they allow."""
_SLACK = 0.25
"""Share of the fastest that was commanded, by which it may."""
_BRAKES_S = 2.0
"""How long a robot may brake that does not declare how hard it does (s)."""
_CHECK = ('Check that its drive takes the commands that are judged: topic, type, bridge, '
          'controller, brakes')
_found = partial(harness, 'wiring', AS_COMMANDED)


def moves_as_commanded(trial: JudgedTrial) -> Iterator[Finding]:
    """
    Find a robot that does something else than it is commanded, in a world or by its feedback.

    Judged would be another robot, or none. One that stood from the first command to the hazard
    is wired wrong (ERROR); of one that moves at a fraction, elsewhere, or on after it was
    commanded to stop it is open what a right one would have done. On a slippery floor and under a
    load that the scenario declares, a robot may move otherwise.
    """
    whole = trial.motion.whole
    if trial.motion.world is None:
        yield from _by_feedback(trial)
        return
    if trial.motion.set_aside is not None and whole is None:
        yield _found(Verdict.INCONCLUSIVE, trial.motion.set_aside)
        return
    if whole is None or _declares_slip(trial):
        return
    found = before_hazard(trial.timeline, trial.motion.in_world, whole)
    others = [] if is_embedded(trial.timeline) else list(_wrong(trial, whole))
    if found is not None and not found.is_as_commanded:
        never = found.is_standing and not is_embedded(trial.timeline) and all(
            one.is_standing for one, _ in others)
        yield _found(Verdict.ERROR if never else Verdict.INCONCLUSIVE, (
            f'in the last second before the hazard {found}, {whole.source}. {_CHECK}'))
    elif others:
        one, from_ns = others[0]
        yield _found(Verdict.INCONCLUSIVE, f'{one}, {whole.source}. {_CHECK}',
                     trial.timeline.since_onset_ms(from_ns))
    elif trial.motion.set_aside is not None:
        yield _found(Verdict.INCONCLUSIVE, trial.motion.set_aside)
    elif not is_embedded(trial.timeline):
        yield from _runs_on(trial, whole)


def without_the_world(trial: JudgedTrial, findings: Sequence[Finding],
                      again: Callable[[TrialRecord], Sequence[Finding]]) -> list[Finding]:
    """
    Return findings without those that a robot is to blame for which did not do as commanded.

    What fails by the commands alone, whatever the world reports, stays; in the embedded world,
    whose robot is no other than ours, everything does.

    :param again: the findings of another record of the same trial
    """
    if not any(one.check == AS_COMMANDED and one.verdict is not None for one in findings) \
            or trial.motion.world is None or is_embedded(trial.timeline):
        return list(findings)
    commands = trial.record.model_copy(update={'events': tuple(
        event for event in trial.record.events if event.kind != 'state')})
    failed = {one.check for one in again(commands) if one.verdict is Verdict.FAIL}
    return [one if one.verdict is not Verdict.FAIL or (
        one.check in failed and one.kind != CONFIRMED) else one.model_copy(
        update={'verdict': None, 'reason': f'not judged because the robot did not do as it was '
                                           f'commanded; it would be FAIL: {one.reason}'})
            for one in findings]


def set_aside_notes(trial: JudgedTrial) -> Iterator[Note]:
    """Tell of feedback that is not judged, and why."""
    for topic, reason in trial.motion.feedback.incomplete.items():
        yield Note(code='set-aside', text=f'the motion on {topic} is not judged: {reason}')


def _declares_slip(trial: JudgedTrial) -> bool:
    """Return whether the scenario's floor or load is there to keep the robot from its commands."""
    world = trial.scenario.body.world
    return is_embedded(trial.timeline) and world is not None and bool(
        world.payload or world.floor.patches or world.floor.friction < 0.8)


def _by_feedback(trial: JudgedTrial) -> Iterator[Finding]:
    for topic, found in trial.motion.feedback.astray.items():
        yield _found(Verdict.INCONCLUSIVE, f'in the last second before the hazard {found}, '
                                           f'measured on {topic}. {_CHECK}')
        return


def _wrong(trial: JudgedTrial, whole: Track) -> Iterator[tuple[Following, int]]:
    """Yield each window of sustained motion in which the robot did not do as commanded."""
    begin, end_ns = trial.timeline.mark(NOMINAL) or trial.timeline.mark(ONSET), _last(trial)
    if begin is None:
        return
    is_own = own_motion(trial.motion.in_world, whole)
    for from_ns in range(begin.stamps.steady_ns, end_ns - _WINDOW_NS + 1, _STRIDE_NS):
        to_ns = from_ns + _WINDOW_NS
        times = numpy.arange(from_ns, to_ns + 1, _GRID_NS)
        if float(_commanded(trial.motion.tracks, times).min()) <= 2 * MOVES:
            continue
        found = following(whole, trial.motion.tracks, from_ns, to_ns, is_own)
        if found is not None and not found.is_as_commanded:
            yield found, from_ns


def _last(trial: JudgedTrial) -> int:
    """Return until when (steady ns) nothing touched the robot, and commands reached it."""
    last_ns = min((one.begin_ns for one in trial.motion.contacts), default=trial.record.end_ns)
    onset = trial.timeline.onset
    if onset is not None and any(one.on_commands for one in trial.record.trial.hazard):
        return min(last_ns, onset.stamps.steady_ns)
    return last_ns


def _runs_on(trial: JudgedTrial, whole: Track) -> Iterator[Finding]:
    """Find a robot that is faster than its commands and its declared braking leave it."""
    robot, begin = trial.motion.robot, trial.timeline.mark(NOMINAL) or trial.timeline.mark(ONSET)
    if robot is None or begin is None or not trial.motion.tracks:
        return
    rate = trial.motion.deceleration or robot.max_speed / _BRAKES_S
    times = numpy.arange(begin.stamps.steady_ns, _last(trial), _GRID_NS)
    if not len(times):
        return
    less = rate * (times - times[0]) / 1e9
    asked = numpy.maximum(_commanded(trial.motion.tracks, times),
                          _commanded(trial.motion.tracks, times - _LAG_NS))
    allowed = numpy.maximum.accumulate(asked + less) - less
    speeds = whole.at(whole.fastest, times + 1)
    beyond = speeds > numpy.maximum(allowed, 0.0) + max(2 * MOVES, _SLACK * float(asked.max()))
    lasted = 0
    for place in numpy.flatnonzero(beyond).tolist():
        lasted = lasted + 1 if place and beyond[place - 1] else 1
        if lasted > _LASTS_NS // _GRID_NS:
            yield _found(Verdict.INCONCLUSIVE, (
                f'it moved at {speeds[place]:.2f} {whole.unit} where its commands and its '
                f'declared braking leave {max(allowed[place], 0.0):.2f}, {whole.source}. '
                f'{_CHECK}'), trial.timeline.since_onset_ms(int(times[place])))
            return


def _commanded(tracks: Sequence[Track], times: numpy.typing.NDArray[numpy.int64]) -> Floats:
    """Return how fast the robot is commanded to move at some times."""
    return numpy.asarray(numpy.max([track.at(track.fastest, times + 1) for track in tracks],
                                   axis=0)) if tracks else numpy.zeros(len(times))
