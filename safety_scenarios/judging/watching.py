# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a monitor judges: a window of the recent past of a running robot, again and again.

A record of it holds what was in force when the window began (the last event of each kind and
topic), the mark ``nominal`` where it begins, its events, and the mark ``end``. A record that is
kept of a finding has more of the past before, and continues behind; ``watched_part`` leaves both
out, so that judging it later is judging what was judged live.
"""

from collections.abc import Iterable, Iterator, Sequence

from safety_scenarios.errors import counted
from safety_scenarios.judging.findings import coverage, observation
from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.findings.invariant_findings import checked
from safety_scenarios.judging.findings.rejections import none_taken
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.stream import interleaved, lost
from safety_scenarios.scenario.body import MonitorBody
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding, Verdict
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import EXTERNAL
from safety_scenarios.trial.trial import END, NOMINAL, Trial, TrialRecord

LABEL = 'in_operation'
"""What results call a robot that a monitor watches: nobody tells what drives it."""
HEARD = 'every declared topic is heard'
WHOLE = 'no message was lost'


def spec() -> ControllerSpec:
    """Return what is judged: whatever commands the robot."""
    return ControllerSpec(name=EXTERNAL, label=LABEL)


def watched_trial(scenario: Scenario, number: int) -> Trial:
    """
    Return the trial that the record of a finding is of: nothing is planned in it.

    :param number: of the finding, from 1
    """
    return Trial(trial_id=f'{scenario.id}.{LABEL}.f{number}'.replace('/', '_'),
                 scenario=scenario, controller=LABEL, index=0, seed=0, onset_delay_ns=0,
                 nominal_timeout_ns=0, nominal=(), hazard=(), all_clear_ns=None, end_ns=0,
                 spec=spec())


def in_force(events: Iterable[Event]) -> list[Event]:
    """Return the last event of each kind and topic, in the order in which they came."""
    latest: dict[tuple[str, str], Event] = {}
    for event in events:
        if event.kind not in ('mark', 'fault'):
            key = event.kind, event.name
            latest.pop(key, None)
            latest[key] = event
    return list(latest.values())


def watched_part(record: TrialRecord) -> TrialRecord:
    """Return the part of a monitor's record that was judged."""
    events = record.events
    begin = next((place for place, event in enumerate(events) if event.kind == 'mark'
                  and event.name == NOMINAL), 0)
    end = next((place for place, event in enumerate(events) if event.kind == 'mark'
                and event.name == END), len(events) - 1)
    return record.model_copy(update={
        'events': (*in_force(events[:begin]), *events[begin:end + 1])})


def findings_of(trial: JudgedTrial,
                plugins: Sequence[InvariantPlugin] | None = None) -> list[Finding]:
    """
    Return what the judged part of a record says.

    :param plugins: some of the invariants of its file; None: all of them
    """
    found = [*observation.faults(trial), *observation.numbers(trial), *none_taken(trial),
             *_heard(trial), *_whole(trial)]
    found += checked(trial, plugins, by_load=False)
    return [*found, *coverage.nothing_checked(trial, found)]


def _heard(trial: JudgedTrial) -> Iterator[Finding]:
    """Find a topic from which nothing came during the window."""
    block, begin = trial.scenario.body, trial.timeline.mark(NOMINAL)
    assert isinstance(block, MonitorBody)
    for kind, known in (('command', block.commands), ('feedback', block.feedback),
                        ('sensed', block.inputs)):
        for declared in known:
            events = trial.record.by_topic(kind).get(declared.topic, ())
            if begin is None or not events \
                    or events[-1].stamps.steady_ns < begin.stamps.steady_ns:
                yield harness('observation', HEARD, Verdict.INCONCLUSIVE, (
                    f'{declared.topic}: nothing came during the window'
                    + ('' if events else ', nor before')))


def _whole(trial: JudgedTrial) -> Iterator[Finding]:
    topic = interleaved(trial.record)
    if topic is not None:
        yield harness('observation', 'one publisher commands', Verdict.INCONCLUSIVE,
                      f'{topic}: two publishers took turns, so that nobody knows whose command '
                      f'is in force. Stop one of them, or watch what a multiplexer gives out')
        return
    begin = trial.timeline.mark(NOMINAL)
    for topic, count in lost(trial.record, 0 if begin is None else begin.stamps.steady_ns).items():
        yield harness('observation', WHOLE, Verdict.INCONCLUSIVE,
                      f'{topic}: {counted(count, "command was", "commands were")} lost in '
                      f'transit. Let the controller publish reliably, or lower the load')
