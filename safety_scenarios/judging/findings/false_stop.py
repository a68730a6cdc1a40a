# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether the controller stopped before there was anything to stop for."""

from collections.abc import Iterator
from functools import partial

from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.findings.spells import commands_ended, Spell, spells
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.required import required
from safety_scenarios.scenario.body import Nominal, RobotBody
from safety_scenarios.scenario.result import Finding, Verdict
from safety_scenarios.trial.calling import agreed_ns, ended_by
from safety_scenarios.trial.record.margins import MarginSeries, Sample
from safety_scenarios.trial.trial import NOMINAL, ONSET
from safety_scenarios.trial.world.distances import told_distances
from safety_scenarios.trial.world.ground_truth import Clock, told_by

NO_FALSE_STOP = 'no stop without a reason before the hazard'
MOMENT_NS = 100_000_000
"""A shorter spell is forgiven: one odd command at 20 Hz is no stop, and no reaction of a default
``hold_ms`` can be made of such spells."""
SETTLING_NS = 500_000_000
"""After the first stimulus nothing is held against the controller: its inputs come one by one."""
_LATE_NS = 50_000_000
"""A stimulus this late is one that a good controller may miss."""
_PATIENCE_NS = 1_000_000_000
"""How long before a stop a late stimulus may be its reason."""
_NEARER_M = 0.1
"""What keeps its place ahead of a robot that speeds up and brakes is as near as ever (m)."""
_found = partial(harness, 'nominal')


def false_stop(trial: JudgedTrial) -> Iterator[Finding]:
    """
    Judge the time from the first motion to the hazard: nothing calls for a stop there.

    A controller that stops all the same, and happens to move again when the hazard comes, knows
    the time and not the world. Judged are spells longer than ``MOMENT_NS`` in which what
    ``nominal.require`` asks for is known not to hold, after it once held and ``SETTLING_NS`` after
    the first stimulus. Spells of silence, of values that nobody can tell, and after a stimulus
    that left late are nobody's fault for certain: INCONCLUSIVE. So is a stop in a world in which
    the robot has come nearer to somebody than the scenario put it, and a reaction that was shown
    before the hazard and broke no requirement, such as a turn now and then.
    """
    ros, onset, begin_ns = trial.scenario.body, trial.timeline.onset, _begin_ns(trial)
    if not isinstance(ros, RobotBody) or onset is None or begin_ns is None \
            or trial.record.of_kind('fault'):
        return
    from_ns, until_ns = begin_ns + SETTLING_NS, onset.stamps.steady_ns
    try:
        moves = required(trial.motion, ros.nominal.require)
        reacted = trial.signals.margin_series(ros.reaction.limits) if ros.reaction else None
    except LookupError:
        return  # told as what nobody could read
    moved = _from_first_motion(moves, from_ns, until_ns)
    if not moved:
        return
    found = [_judged(trial, ros.nominal, spell, until_ns)
             for spell in spells(moved, until_ns) if spell.lasted_ns > MOMENT_NS]
    shown = None if reacted is None else reacted.first_held(
        moved[0].t_ns, MOMENT_NS + 1, until_ns - 1)
    if shown is not None:
        found.append(_found(NO_FALSE_STOP, Verdict.INCONCLUSIVE, (
            f'{ros.reaction} held {(until_ns - shown.t_ns) / 1e6:.0f} ms before the hazard, so '
            f'that it is no answer to it'), (shown.t_ns - until_ns) / 1e6))
    yield max(found, key=lambda finding: finding.verdict.rank if finding.verdict else -1,
              default=_found(NO_FALSE_STOP, Verdict.PASS, f'{ros.nominal.require} held from the '
                                                          f'first motion to the hazard'))


def _from_first_motion(moves: MarginSeries, from_ns: int, until_ns: int) -> list[Sample]:
    """Return the samples in force from the first that holds, and none before ``from_ns``."""
    before = moves.before(from_ns)
    if before is not None and before.holds and moves.first_broken(
            from_ns, until_ns - 1) is None:
        return [before] if from_ns < until_ns else []  # as nearly always; there may be millions
    samples = [*([before] if before is not None else []), *(
        sample for sample in moves.within(from_ns, until_ns) if sample.t_ns < until_ns)]
    first = next((place for place, sample in enumerate(samples) if sample.holds), len(samples))
    return samples[first:] if from_ns < until_ns else []


def _begin_ns(trial: JudgedTrial) -> int | None:
    """
    Return when the world was there in which nothing calls for a stop, None if that was not ours.

    Before the hazard of somebody else's recording there may have been anything; and before a goal
    was accepted there was nothing to drive for.
    """
    onset, begin = trial.timeline.mark(ONSET), trial.timeline.mark(NOMINAL)
    if onset is None or begin is None or begin.scheduled_ns is not None:
        return None
    first = next(iter(trial.record.of_kind('stimulus')), None)
    shown = first if trial.record.trial.nominal and first is not None else begin
    return max(shown.stamps.steady_ns, agreed_ns(trial.record) or 0)


def _judged(trial: JudgedTrial, nominal: Nominal, spell: Spell, onset_ns: int) -> Finding:
    begin_ns, end_ns = spell.begin_ns, spell.end_ns
    what = (f'{nominal.require} was met and then not for {spell.lasted_ns / 1e6:.0f} ms, '
            f'{(onset_ns - begin_ns) / 1e6:.0f} ms before the hazard')
    found = partial(_found, NO_FALSE_STOP, at_ms=(begin_ns - onset_ns) / 1e6)
    if spell.is_open:
        return found(Verdict.INCONCLUSIVE, f'{what}, as far as the commands tell')
    if commands_ended(trial, nominal.require, spell):
        return found(Verdict.INCONCLUSIVE, f'{what}, because its commands ended')
    late = _late_stimulus(trial, begin_ns)
    if late is not None:
        return found(Verdict.INCONCLUSIVE, f'{what}, after {late} had been sent late. Lower the '
                                           f'load on the host')
    ended = ended_by(trial.record, end_ns)
    if ended is not None:
        return found(Verdict.INCONCLUSIVE, f'{what}, and the goal for {ended.name} was '
                                           f'{ended.text} by then')
    nearer = _nearer(trial, begin_ns)
    if nearer is not None:
        first, now = nearer
        return found(Verdict.INCONCLUSIVE, f'{what}, {now:.2f} m from what the world had shown '
                                           f'at {first:.2f} m')
    if trial.record.trial.is_observed and trial.timeline.first_hazard is None:
        return found(Verdict.INCONCLUSIVE, f'{what}, and what called for it where the hazard is '
                                           f'real nobody knows')
    return found(Verdict.FAIL, f'{what}, though nothing called for a stop')


def _late_stimulus(trial: JudgedTrial, stop_ns: int) -> str | None:
    """Return the topic of a stimulus that left so late that it may be why the robot stopped."""
    begun = trial.timeline.mark(ONSET)
    for event in trial.record.of_kind('stimulus'):
        sent_ns = event.stamps.steady_ns
        if begun is not None and sent_ns >= begun.stamps.steady_ns:
            break
        due_ns = sent_ns - trial.record.measuring.late_ns(event)
        if sent_ns - due_ns > _LATE_NS and due_ns <= stop_ns <= sent_ns + _PATIENCE_NS:
            return event.name
    return None


def _nearer(trial: JudgedTrial, stop_ns: int) -> tuple[float, float] | None:
    """Return (at first, now) of how far the nearest is, if a world tells that it came nearer."""
    before = [event for event in trial.record.events if event.stamps.steady_ns <= stop_ns]
    told = told_distances(told_by(before, Clock.steady()))
    known = [distance for _, distance in told or () if distance is not None]
    return (known[0], known[-1]) if known and known[-1] < known[0] - _NEARER_M else None
