# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether something else than what is judged moved the robot, or showed it a world."""

from collections.abc import Iterator

from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding, Note
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.motion_interfaces import motion_in

ELSEWHERE = 'motion is commanded on declared topics only'
UNDECLARED_OUTPUTS = 'undeclared-outputs'
ALONE = 'only the harness publishes stimuli'
_OWN = 'the controller under test published there too, so that it saw two worlds'


def motion_elsewhere(trial: JudgedTrial) -> Iterator[Finding]:
    """Find the first motion on each topic of a motion type that is not declared."""
    shown = _shown(trial)
    for topic, events in trial.record.by_topic('undeclared').items():
        for event in () if topic in shown else events:
            motion = _motion(trial, event)
            if motion is not None:
                yield harness('wiring', ELSEWHERE, Verdict.INCONCLUSIVE,
                              f'{topic}: {motion}, so that the robot may have moved by what '
                              f'nobody judged. Name it by declared_topics if it does not move '
                              f'the robot that is judged, declare a topic under commands in the '
                              f'scenario, or let the controller do without it',
                              trial.timeline.since_onset_ms(event.stamps.steady_ns))
                break


def shown_elsewhere(trial: JudgedTrial) -> Iterator[Finding]:
    """Find who else published on the topic of a stimulus."""
    found = trial.record.by_topic('undeclared')
    for topic in _shown(trial) & found.keys():
        yield harness('wiring', ALONE, Verdict.INCONCLUSIVE,
                      f'{topic}: {found[topic][0].text or _OWN}. Stop that, remap one of '
                      f'the two, or name the topic by declared_topics if both show the same')


def _shown(trial: JudgedTrial) -> set[str]:
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
        return event.text or 'nobody heard what was published'
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
