# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether the trial was observed well enough, over which network, and if commands were taken."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from safety_scenarios.errors import counted, described, InterlockError
from safety_scenarios.formats.scenario_files import without_places
from safety_scenarios.judging.findings.harness import CLOCK_ERROR, harness
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.network import as_sent, Gap, gaps, is_blind
from safety_scenarios.judging.latency.stream import interleaved, lost
from safety_scenarios.scenario.blocks.onset import ARMED
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.driver import Execution
from safety_scenarios.scenario.event import OTHER_COMMANDER
from safety_scenarios.scenario.result import CONFIRMED, Finding, Note, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.executed_commands import driver_of
from safety_scenarios.trial.run import INTERRUPTED
from safety_scenarios.trial.trial import ALL_CLEAR, END, ONSET, TrialRecord
from safety_scenarios.trial.world_truth import Entity, UNSEEN

CARRIED = 'the network carried what was sent'
_ONE = 'If it is one host, set hosts=one'
_network_finding = partial(harness, 'network')


def judged_over_network(trial: JudgedTrial, findings: list[Finding], is_inferred: bool,
                        again: Callable[[TrialRecord], Verdict]) -> list[Finding]:
    """
    Return the findings that count of a trial between two hosts.

    What came late is judged twice: as it arrived and as it left. Where the two differ, nobody
    knows which of them the robot would have done: its driver may be on either side. What never
    came cannot be judged at all. A network that has held up messages for long one way may have
    held up the hazard the other way: then only what passes both times counts, and no silence
    counts for a stop. What would have been found otherwise stays readable.

    :param is_inferred: the reaction is inferred from silence
    :param again: the verdict of another record of the same trial
    """
    found = list(gaps(trial.timeline))
    if not found:
        return findings
    worst = max(found, key=lambda gap: (gap.kind != 'late' and is_blind(gap), gap.length_ns))
    arrived = Verdict.worst(one.verdict for one in findings if one.verdict is not None)
    if worst.kind != 'late' and is_blind(worst):
        return _unjudged(trial, worst, findings, _blind(worst))
    late = max((gap for gap in found if gap.kind == 'late'), key=lambda gap: gap.length_ns,
               default=None)
    if late is None:
        return findings
    left = again(as_sent(trial.record))
    if left is not arrived:
        return _unjudged(trial, late, findings, f'{_late(late)}. The trial is {arrived.value} as '
                         f'the messages arrived, and {left.value} as they left the other host')
    if is_blind(late) and (is_inferred or arrived is Verdict.FAIL):
        return _unjudged(trial, late, findings, f'{_late(late)}, and how late the hazard came '
                         f'there is unknown')
    return findings


def _unjudged(trial: JudgedTrial, gap: Gap, findings: Sequence[Finding],
              why: str) -> list[Finding]:
    first = _network_finding(CARRIED, Verdict.INCONCLUSIVE, why,
                             trial.timeline.since_onset_ms(gap.from_ns))
    return [first, *(one if one.verdict is None else one.model_copy(update={
        'verdict': None, 'reason': f'not judged because of the network; it would be '
                                   f'{one.verdict.value}: {one.reason}'}) for one in findings)]


def _blind(gap: Gap) -> str:
    length = f'{gap.length_ns / 1e6:.0f} ms'
    if gap.kind == 'lost':
        return (f'{gap.topic}: {counted(gap.count, "message was", "messages were")} lost between '
                f'two hosts, and it is unknown what the controller did for {length}. {_ONE}')
    if gap.kind == 'unreached':
        return (f'for {length} nothing reached the other host, so that the time at which the '
                f'hazard was seen there is unknown. {_ONE}')
    return (f'{gap.topic}: for {length} nothing was received from the other host, and a network '
            f'that is cut looks the same as a controller that stops sending. {_ONE}; otherwise '
            f'let the robot report its state from there (ros.feedback)')


def _late(gap: Gap) -> str:
    return f'{gap.topic}: a message came {gap.length_ns / 1e6:.0f} ms later than others do'


REJECTED = 'the driver takes commands'
_found = partial(harness, 'observation')


def all_rejected(trial: JudgedTrial) -> Iterator[Finding]:
    """Find a topic on which the driver rejects whatever was commanded: the robot did nothing."""
    for topic, execution in _with_rejections(trial):
        if not execution.accepted.any():
            yield _found(REJECTED, Verdict.INCONCLUSIVE,
                         f'{_rejections(trial, topic, execution)}. So nothing was commanded. '
                         f'If the robot has another driver, declare it at ros.commands')


def without_rejected(trial: JudgedTrial, findings: Sequence[Finding]) -> list[Finding]:
    """
    Return findings without a FAIL for no answer or no work by commands that no driver takes.

    If that driver was declared, they stay: else the robot may have another, which takes them.
    """
    drivers = [driver_of(trial.scenario, topic) for topic, execution in _with_rejections(trial)
               if not execution.accepted.any()]
    if not any(driver is not None and driver.assumed for driver in drivers):
        return list(findings)
    return [one.model_copy(update={'verdict': Verdict.INCONCLUSIVE, 'is_false_stop': False,
                                   'reason': f'{one.reason}; the driver was not declared'})
            if one.verdict is Verdict.FAIL and (one.kind in _ASKS or one.is_false_stop) else one
            for one in findings]


def rejection_notes(trial: JudgedTrial) -> Iterator[Note]:
    """Tell what was rejected, and that what was commanded before it went on."""
    for topic, execution in _with_rejections(trial):
        if execution.accepted.any():
            yield Note(code='rejected', text=(
                f'{_rejections(trial, topic, execution)}. It executed the other '
                f'{int(execution.accepted.sum())}; after a rejected one it continued what it had '
                f'executed last, if anything'))


def _with_rejections(trial: JudgedTrial) -> Iterator[tuple[str, Execution]]:
    for topic in trial.record.by_topic('command'):
        execution = trial.signals.find_execution(topic)
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


SHOWN = 'a sensor showed the hazard'
_ASKS = ('latency', CONFIRMED, 'stop', 'slow')
"""Kinds of findings that ask for an answer to the hazard."""


def without_unseen_hazards(trial: JudgedTrial, findings: Sequence[Finding]) -> list[Finding]:
    """
    Return findings without a FAIL for no answer to what no sensor showed, and say that it is so.

    What touched the robot, and whatever else it did, stays as it was judged. In a benign variant
    nothing is to be answered.
    """
    names = _unseen_hazards(trial)
    if not names:
        return list(findings)
    what = ', '.join(names)
    return [*(one.model_copy(update={
        'verdict': Verdict.INCONCLUSIVE, 'reason': f'{one.reason}; no sensor showed the hazard'})
        if one.verdict is Verdict.FAIL and one.kind in _ASKS else one for one in findings),
        harness('observation', SHOWN, Verdict.INCONCLUSIVE, (
            f'no sensor of the robot ever showed {what}, according to the simulator, so that '
            f'nothing can be an answer to it. Look for what hides it or blinds the sensors, their '
            f'heights and ranges'))]


def _unseen_hazards(trial: JudgedTrial) -> list[str]:
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


ANY_NUMBER = 'every command is a number'
HAZARD_OBSERVED = 'the hazard was observed'
COULD_BE_RUN = 'the trial could be run'
IS_BOUND = 'everything in it is bound'
RECORD_KEPT = 'its record can be relied on'
SENSORS = 'every sensor of the world published'
_TRACKER = 'geometry_msgs/msg/PoseStamped'
ON_TIME = 'stimuli left on time'
"""Without it the host was too busy: nothing is found out about the controller."""
_MAX_LATE_MS = 50.0
"""One period of a sensor at 20 Hz: a message that is later than this is as good as lost."""
_BEFORE_NS = 1_000_000_000
"""A stimulus that was late a second before the onset no longer disturbs the reaction."""
INTERLOCK = InterlockError.__name__
ONE_COMMANDER = 'one publisher commands'
_FAULTS = {INTERRUPTED: 'the trial was not interrupted',
           OTHER_COMMANDER: ONE_COMMANDER,
           'ControllerError': 'the controller kept working',
           'LinkTimeoutError': 'the controller was connected',
           INTERLOCK: 'every interlock held',
           'MeasurementError': 'the trial could be measured',
           'LiveDataError': 'the stimulus was shown in the live data',
           'TraceError': 'the record could be written and read'}
"""Name of a fault, as the record has it, to the check that it is a finding of."""
_OPEN = (INTERRUPTED, INTERLOCK, 'LiveDataError')
"""Faults of nobody who is judged, nor of the harness: what would have been is open."""
_UNEXPECTED = 'nothing unexpected happened'


def was_run(result: TrialResult) -> bool:
    """Return whether a trial was run, even if its record is lost: a sequential test counts it."""
    return not {finding.check for finding in result.findings} & {COULD_BE_RUN, IS_BOUND}


def has_record(result: TrialResult) -> bool:
    """Return whether a trial was run, and its record is there to be read."""
    return was_run(result) and all(finding.check != RECORD_KEPT for finding in result.findings)


def is_interrupted(result: TrialResult) -> bool:
    """Return whether a trial ended because the user wanted the campaign to end."""
    return any(finding.check == _FAULTS[INTERRUPTED] and finding.verdict is not Verdict.PASS
               for finding in result.findings)


def not_run(error: BaseException) -> Finding:
    """Return why a trial could not even begin."""
    return _found(COULD_BE_RUN, Verdict.ERROR, without_places(described(error)))


def record_lost(where: str) -> Finding:
    """Return that the record of a trial was damaged or missing, and where the rest of it is."""
    return _found(RECORD_KEPT, Verdict.ERROR,
                  f'it was run, and its record is damaged or missing: see {where}')


def unbound(reason: str) -> Finding:
    """Return why nobody can tell what a scenario means here."""
    return _found(IS_BOUND, Verdict.INCONCLUSIVE, without_places(reason))


def faults(trial: JudgedTrial) -> Iterator[Finding]:
    """Yield what went wrong in the harness or the link, and what is missing in the record."""
    for event in trial.record.of_kind('fault'):
        if event.name == CLOCK_ERROR:
            continue
        verdict = Verdict.INCONCLUSIVE if event.name in _OPEN else Verdict.ERROR
        yield _found(_FAULTS.get(event.name, _UNEXPECTED), verdict, event.text or '',
                     trial.timeline.since_onset_ms(event.stamps.steady_ns))
    if not trial.record.events:
        yield _found('the record is not empty', Verdict.INCONCLUSIVE, 'nothing was recorded')
    elif not trial.record.of_kind('fault') and trial.timeline.mark(END) is None:
        yield _found('the record has its end', Verdict.INCONCLUSIVE,
                     'it ends before the trial did')
    elif not trial.record.of_kind('fault') and isinstance(trial.scenario.body, RobotBody) \
            and trial.timeline.onset is not None and trial.timeline.mark(ALL_CLEAR) is None:
        yield _found('the record has its all-clear', Verdict.INCONCLUSIVE,
                     'it ends before the hazard was over, so that the rest of it is unknown')
    yield from _hazard_observed(trial)
    yield from _hazard_not_published(trial)
    yield from _sensors_published(trial)
    yield from _on_time(trial)


def losses(trial: JudgedTrial) -> Iterator[Finding]:
    """Find lost commands: one of them may be the one that moved the robot."""
    mixed = interleaved(trial.record)
    if mixed is not None:
        topic, from_ns = mixed
        if not any(trial.record.of_kind('fault', OTHER_COMMANDER)):
            yield _found(ONE_COMMANDER, Verdict.ERROR,
                         f'{topic}: two publishers took turns, so it is not clear whose commands '
                         f'would be judged. Stop one of them',
                         trial.timeline.since_onset_ms(from_ns))
        return
    onset = trial.timeline.onset
    if onset is None:
        return
    for topic, count in lost(trial.record, onset.stamps.steady_ns).items():
        yield _found('no command was lost', Verdict.INCONCLUSIVE,
                     f'{topic}: {counted(count, "command was", "commands were")} lost in '
                     f'transit. Let the controller publish reliably, or lower the load')


def _hazard_observed(trial: JudgedTrial) -> Iterator[Finding]:
    """Find a real hazard whose beginning nobody knows: nothing can be an answer to it."""
    watch, armed = trial.timeline.onset_watch, trial.timeline.mark(ARMED)
    declared = trial.scenario.body.onset
    if watch is None or armed is None or declared is None:
        return
    observed = trial.timeline.observed
    watch.ended(trial.record.measuring)  # what is wrong with the release is known by then
    if watch.problem:
        yield _found(HAZARD_OBSERVED, Verdict.INCONCLUSIVE, watch.problem)
    elif observed is None:
        waited_ms = (trial.record.end_ns - armed.stamps.steady_ns) / 1e6
        yield _found(HAZARD_OBSERVED, Verdict.INCONCLUSIVE, (
            f'no hazard was observed within {waited_ms / 1e3:.1f} s: {declared.when} did not '
            f'come to hold on {declared.topic}'))
    elif watch.reports_end and watch.release is None:
        yield _found(HAZARD_OBSERVED, Verdict.INCONCLUSIVE, (
            f'the hazard was not observed to end: {declared.when} still held on '
            f'{declared.topic} when the trial was over (onset.release_within_ms)'))
    else:
        yield _found(HAZARD_OBSERVED, Verdict.PASS, (
            f'{declared.when} came to hold on {declared.topic}, so that onset is known within '
            f'± {observed.uncertainty_ns / 1e6:.2f} ms'))


def _hazard_not_published(trial: JudgedTrial) -> Iterator[Finding]:
    """Find a hazard that was not shown: whatever came did not answer it."""
    if trial.timeline.mark(ONSET) is None or trial.scenario.body.is_conversation \
            or trial.record.trial.is_observed \
            or any(plugin.is_silence for plugin in trial.record.trial.hazard) \
            or any(event.name in _OPEN for event in trial.record.of_kind('fault')):
        return
    if trial.timeline.first_hazard is None:
        yield _found('the hazard was shown', Verdict.ERROR, 'none of its messages was sent')


def _sensors_published(trial: JudgedTrial) -> Iterator[Finding]:
    """
    Find a sensor of a world that published nothing, such as a relay that gets nothing itself.

    Its silence is no hazard that was shown. A tracker shows nobody where nobody is: what it never
    showed is found by the truth.
    """
    record, onset = trial.record, trial.timeline.onset
    if onset is None or not record.measuring.world:
        return
    begin_ns = onset.stamps.steady_ns
    nominal = {plugin.topic for plugin in record.trial.nominal}
    for plugin in record.trial.hazard:
        topic, events = plugin.topic, record.by_topic('stimulus').get(plugin.topic, ())
        if plugin.on_commands or plugin.interface() == _TRACKER \
                or not any(event.arguments for event in events):
            continue  # the harness published it itself, or nobody may have been there
        shown = [event.stamps.steady_ns for event in record.by_topic('sensed').get(topic, ())]
        if topic in nominal:  # its silence may be the hazard, but not before it
            shown = [at_ns for at_ns in shown if at_ns <= begin_ns]
        if not shown:
            yield _found(SENSORS, Verdict.ERROR, (
                f'not connected: {topic}: its sensor published nothing'
                f'{" before the hazard" if topic in nominal else ""}, so that its silence shows '
                f'nothing. See whether the bridge or the relay that publishes there gets messages '
                f'itself'))


def _on_time(trial: JudgedTrial) -> Iterator[Finding]:
    """Find a stimulus that came late: a fault of its own, to which a controller may react."""
    onset, all_clear = trial.timeline.onset, trial.timeline.mark(ALL_CLEAR)
    if onset is None:
        return
    until_ns = all_clear.stamps.steady_ns if all_clear else trial.record.end_ns
    late = [(trial.record.measuring.late_ns(event), event.name)
            for event in (*trial.record.of_kind('stimulus'), *trial.record.of_kind('say'))
            if event.scheduled_ns is not None
            and onset.stamps.steady_ns - _BEFORE_NS <= event.stamps.steady_ns <= until_ns]
    late_ns, topic = max(late, default=(0, ''))
    if late_ns > _MAX_LATE_MS * 1e6:
        yield _found(ON_TIME, Verdict.INCONCLUSIVE,
                     f'{topic} was sent {late_ns / 1e6:.0f} ms late. Lower the load on the host')


def numbers(trial: JudgedTrial) -> Iterator[Finding]:
    """Find the first command that carries NaN or infinity."""
    before = None
    for event in trial.record.of_kind('command'):
        if event.message is before:  # looked at already
            continue
        before = event.message
        path = before.non_finite() if before else None
        if path is not None:
            yield _found(ANY_NUMBER, Verdict.FAIL, f'{event.name} carried {path}',
                         trial.timeline.since_onset_ms(event.stamps.steady_ns))
            return
