# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether something else than what is judged commanded the robot, or showed it a world."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy
from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.findings.stall_findings import is_certain, never_reacted_ns
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.stream import interleaved
from safety_scenarios.judging.motion.contacts import STANDS
from safety_scenarios.judging.motion.standstill import demanded
from safety_scenarios.judging.motion.track import Track
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.event import Event, LISTENS, OTHER_COMMANDER, STALL_BEGAN
from safety_scenarios.scenario.message_types import motion_in
from safety_scenarios.scenario.result import Finding, Note
from safety_scenarios.scenario.verdict import LimitName, Verdict
from safety_scenarios.trial.executed_commands import driver_of
from safety_scenarios.trial.run import INTERRUPTED
from safety_scenarios.trial.trial import ALL_CLEAR, TrialRecord

ELSEWHERE = 'motion is commanded on declared topics only'
UNDECLARED_OUTPUTS = 'undeclared-outputs'
UNTOLD = 'the controller does not receive reports of the harness'
BESIDE = 'motion is commanded where it is judged'
DROPPED = 'no motion that only an assumed driver rejects'
ALONE = 'only the harness publishes stimuli'
_STEP_NS, _MOMENT_NS = 10_000_000, 100_000_000
"""How closely motion on two topics is compared, and how long it may differ: at once, and at top
speed in all."""
_OWN = 'the controller under test published there too, so that it saw two worlds'


def motion_elsewhere(trial: JudgedTrial) -> Iterator[Finding]:
    """
    Find the first motion on each topic of a motion type that is not declared.

    Also each topic on which the harness reports, and the controller listens.
    """
    shown = _stimulus_topics(trial)
    for topic, events in trial.record.by_topic('undeclared').items():
        for event in () if topic in shown else events:
            if event.symbol == LISTENS:
                yield harness('wiring', UNTOLD, Verdict.INCONCLUSIVE,
                              f'{topic}: {event.text}, and may have reacted to that. Let it not '
                              f'subscribe there',
                              trial.timeline.since_onset_ms(event.stamps.steady_ns))
                break
            motion = _motion(trial, event)
            if motion is not None:
                yield harness('wiring', ELSEWHERE, Verdict.INCONCLUSIVE,
                              f'{topic}: {motion}, so that the robot may have moved by something '
                              f'that was not judged. Name it by declared_topics if it does not '
                              f'move the robot that is judged, declare a topic under commands in '
                              f'the scenario, or let the controller do without it',
                              trial.timeline.since_onset_ms(event.stamps.steady_ns))
                break


def motion_beside(trial: JudgedTrial) -> Iterator[Finding]:
    """
    Find motion from the hazard on that is commanded on a declared topic, and that no check reads.

    Checks of speeds, distances and braking look at the topics of the reaction and of
    ``nominal.require``. Another topic may command as much as these, and no more.
    """
    ros, onset = trial.scenario.body, trial.timeline.onset
    if not isinstance(ros, RobotBody) or onset is None:
        return
    limits = (ros.nominal.require, *(ros.reaction.limits if ros.reaction else ()))
    judged = {ros.signals[limit.signal].topic for limit in limits if limit.signal in ros.signals}
    tracks = {track.topic: track for track in trial.motion.tracks}
    read = {signal.topic for signal in ros.signals.values()}
    found = partial(harness, 'wiring', BESIDE, Verdict.INCONCLUSIVE)
    begin_ns = onset.stamps.steady_ns
    grid = numpy.arange(begin_ns, trial.record.end_ns, _STEP_NS)
    own = [tracks[topic] for topic in sorted(judged & tracks.keys())]
    for topic, events in trial.record.by_topic('command').items():
        if topic in judged or not own:
            continue
        advice = 'Declare only the topic that its driver obeys, or name the other by ' \
                 'declared_topics if it does not move the robot that is judged'
        if topic in tracks:
            excess = _excess(tracks[topic], own, grid)
            is_more, way = excess > STANDS, float(excess.sum()) * _STEP_NS / 1e9
            if _longest(is_more) * _STEP_NS > _MOMENT_NS \
                    or way > ros.robot.max_speed * _MOMENT_NS / 1e9:
                for_ms = int(is_more.sum()) * _STEP_NS / 1e6
                yield found(f'{topic} commanded more motion than {", ".join(sorted(judged))}, '
                            f'which is judged, for {for_ms:.0f} ms. {advice}')
        elif topic not in read:
            moved = next((event for event in events if event.stamps.steady_ns >= begin_ns
                          and _motion(trial, event) is not None), None)
            if moved is not None:
                yield found(f'{topic}: {_motion(trial, moved)}, and no signal reads it. {advice}',
                            trial.timeline.since_onset_ms(moved.stamps.steady_ns))


def _excess(other: Track, own: list[Track], grid: numpy.ndarray) -> numpy.ndarray:
    """Return how much faster a topic commands than those that are judged; unknown: without end."""
    alike = [track for track in own if track.is_base is other.is_base]
    speed = other.at(other.fastest, grid)
    least = numpy.max([track.at(track.fastest, grid) for track in alike or own], axis=0)
    # the speeds of a base and of joints do not compare
    found = speed - least if alike else numpy.where(least <= STANDS, speed, 0.0)
    return numpy.asarray(numpy.where(numpy.isnan(found), numpy.inf, found).clip(0.0))


def _longest(holds: numpy.ndarray) -> int:
    """Return how many times in a row it holds at most."""
    edges = numpy.flatnonzero(numpy.diff(numpy.concatenate(([False], holds, [False]))))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def motion_dropped(trial: JudgedTrial) -> Iterator[Finding]:
    """
    Find commands to move, when the robot must stand, that a driver rejects which is only assumed.

    Another driver of the same interface would have executed them. It must stand from the reaction
    on, which else would be none, or not that early.
    """
    ros, onset, clear = trial.scenario.body, trial.timeline.onset, trial.timeline.mark(ALL_CLEAR)
    if not isinstance(ros, RobotBody) or ros.reaction is None or onset is None or clear is None \
            or demanded(trial.scenario, ros.reaction.limits, is_stop=True) is None:
        return
    latency, due_ns = trial.latency.latency, trial.scenario.latency_budget.limit_ns('critical')
    if latency is not None and latency.reaction is not None:
        due_ns = min(due_ns, latency.reaction.callback_ns)
    due_ns += onset.stamps.steady_ns
    for topic, events in trial.record.by_topic('command').items():
        execution, driver = trial.signals.find_execution(topic), driver_of(trial.scenario, topic)
        if execution is None or driver is None or not driver.assumed:
            continue
        sent = [event for event in events if event.message is not None]
        for one in execution.rejections:
            event = sent[one.place]
            if due_ns <= event.stamps.steady_ns <= clear.stamps.steady_ns and \
                    event.message is not None and motion_in(event.message) is not None:
                yield harness(
                    'wiring', DROPPED, Verdict.INCONCLUSIVE, f'{topic}: {_motion(trial, event)}, '
                    f'which the assumed driver rejects: {one.reason}. Another driver may execute '
                    f'it. Declare the driver of the robot at ros.commands',
                    trial.timeline.since_onset_ms(event.stamps.steady_ns))
                break


def other_publishers(trial: JudgedTrial) -> Iterator[Finding]:
    """Find who else published on the topic of a stimulus."""
    found = trial.record.by_topic('undeclared')
    for topic in _stimulus_topics(trial) & found.keys():
        yield harness('wiring', ALONE, Verdict.INCONCLUSIVE,
                      f'{topic}: {found[topic][0].text or _OWN}. Stop that, remap one of '
                      f'the two, or name the topic by declared_topics if both show the same')


def _stimulus_topics(trial: JudgedTrial) -> set[str]:
    """Return the topics of stimuli: what is named after one is no command of the controller."""
    return {plugin.topic for plugin in (*trial.record.trial.nominal, *trial.record.trial.hazard)
            if not plugin.on_commands}


def output_notes(trial: JudgedTrial) -> Iterator[Note]:
    """Name what else the controller publishes or calls, though nothing of it is known to move."""
    found = [events[0].text or name for name, events in trial.record.by_topic('output').items()]
    if found:
        yield Note(code=UNDECLARED_OUTPUTS, text=(
            f'the controller under test also publishes or calls what is not declared, and not '
            f'known by its type to move a robot: '
            f'{"; ".join(sorted(found))}'))


def _motion(trial: JudgedTrial, event: Event) -> str | None:
    if event.message is None:
        return event.text or 'no subscriber received what was published'
    moves = motion_in(event.message)
    return None if moves is None else \
        f'the controller under test commanded {moves} there ({event.message.type}), ' \
        f'{_when(trial, event)}'


def _when(trial: JudgedTrial, event: Event) -> str:
    onset = trial.timeline.since_onset_ms(event.stamps.steady_ns)
    if onset is not None:
        return f'{onset:.0f} ms after onset' if onset >= 0 else f'{-onset:.0f} ms before onset'
    passed_ns = event.stamps.steady_ns - trial.record.events[0].stamps.steady_ns
    return f'{passed_ns / 1e6:.0f} ms after the trial began'


def decided_alone(trial: JudgedTrial, findings: Sequence[Finding], gate: LimitName,
                  again: Callable[[TrialRecord], Sequence[Finding]]) -> list[Finding]:
    """
    Return findings without a FAIL that another publisher's commands may have caused.

    What fails by what was commanded before that one came stays.

    :param again: the findings of another record of the same trial
    """
    from_ns = _mixed_from_ns(trial.record)
    if from_ns is None or not any(one.verdict is Verdict.FAIL for one in findings):
        return list(findings)
    before = _until(trial.record, from_ns)
    failed = {one.check: one for one in _failures(before, gate, again)} if before.events else {}
    at_ms = trial.timeline.since_onset_ms(from_ns)
    when = 'before the hazard' if at_ms is None or at_ms < 0 else f'{at_ms:.0f} ms after onset'
    return [one if one.verdict is not Verdict.FAIL else failed.get(one.check, one.model_copy(
        update={'verdict': Verdict.INCONCLUSIVE, 'reason': (
            f'{one.reason}. Whose command caused it is unknown: another publisher may have '
            f'commanded from {when} on')})) for one in findings]


def _mixed_from_ns(record: TrialRecord) -> int | None:
    """Return from when (steady ns) commands may be of another publisher; None: none is."""
    found = [event.stamps.steady_ns - round(1e9 * event.truth.get(STALL_BEGAN, 0.0))
             for event in record.of_kind('fault', OTHER_COMMANDER)]
    mixed = interleaved(record)
    return min(found if mixed is None else [*found, mixed[1]], default=None)


def _until(record: TrialRecord, until_ns: int) -> TrialRecord:
    """Return the record of a trial that was interrupted then."""
    events = [event for event in record.events if event.stamps.steady_ns < until_ns]
    events += [] if not events else [
        event for event in record.of_kind('stall') if event.stamps.steady_ns >= until_ns
        and event.stamps.steady_ns - round(1e9 * event.truth.get(STALL_BEGAN, 0.0)) < until_ns]
    over = [Event(kind='fault', name=INTERRUPTED, stamps=events[-1].stamps)] if events else []
    return record.model_copy(update={'events': (*events, *over)})


def _failures(record: TrialRecord, gate: LimitName,
              again: Callable[[TrialRecord], Sequence[Finding]]) -> list[Finding]:
    """Return what fails in a part of a record, and a reaction that is missing for too long."""
    trial, findings = JudgedTrial.of(record), again(record)
    never_ns = never_reacted_ns(trial, gate)
    late = (one.model_copy(update={'verdict': Verdict.FAIL}) for one in findings
            if one.verdict is Verdict.INCONCLUSIVE and one.kind == 'latency')
    return [*(one for one in findings if one.verdict is Verdict.FAIL),
            *(one for one in late if is_certain(trial, one, never_ns) and one.at_ms is None)]
