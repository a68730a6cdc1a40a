# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The silence of a sensor of a world is a hazard only if that sensor ever published."""

import pytest
import safety_scenarios as ss
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.observation import SENSORS
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.faults import LinkLoss
from unit.records import EXACT, hazard, ns, ONSET_STEADY_NS, reacting, record, stamps

IN_WORLD = EXACT.model_copy(update={'world': 'gazebo'})
PERSON = Person(topic='scan', distance=1.5, rate_hz=20.0)
TRACKED = Person(topic='human_pose', distance=1.5, rate_hz=20.0)


def applied(topic: str = 'scan') -> Event:
    """Return that a hazard was let happen in a world."""
    return Event(kind='stimulus', name=topic, stamps=stamps(0.0), hazard=True, arguments='{}',
                 scheduled_ns=ONSET_STEADY_NS)


def sensed(t_ms: float, topic: str = 'scan') -> Event:
    """Return that a sensor of the world published."""
    return Event(kind='sensed', name=topic, stamps=stamps(t_ms))


def found(plugin, *events: Event, measuring=IN_WORLD) -> list:
    """Return what is found of the sensors of a good controller's trial."""
    judged = evaluate(record(reacting(150), hazard(stimuli=(plugin,)), extra=events,
                             hazard_at=applied(plugin.topic), measuring=measuring))
    return [finding for finding in judged.findings if finding.check == SENSORS]


@pytest.mark.parametrize('plugin', [LinkLoss(topic='scan'), PERSON])
@pytest.mark.parametrize('events', [(), (sensed(300.0),), (sensed(-300.0, 'points'),)])
def test_a_sensor_that_was_silent_before_the_hazard_is_an_error(plugin, events):
    [finding] = found(plugin, *events)
    assert finding.verdict is Verdict.ERROR
    assert finding.reason.startswith('not connected: scan: its sensor published nothing before')


@pytest.mark.parametrize('plugin', [LinkLoss(topic='scan'), PERSON])
def test_a_sensor_that_published_before_the_hazard_is_one(plugin):
    assert not found(plugin, sensed(-300.0))


def test_a_tracker_may_have_had_nobody_to_show():
    assert not found(TRACKED)


def test_without_a_world_the_harness_is_the_sensor():
    assert not found(LinkLoss(topic='scan'), measuring=EXACT)


@pytest.mark.parametrize('cut_ms', [50.0, 200.0, 600.0])
def test_a_trial_that_a_second_evaluator_cut_short_is_an_error_and_no_fail(cut_ms):
    whole = record([(at_ms, 0.5) for at_ms in range(-690, 2990, 20)])
    second = Event(kind='fault', name='MeasurementError', text='a second evaluator',
                   stamps=stamps(cut_ms))
    judged = evaluate(whole.model_copy(update={'events': (*(
        event for event in whole.events
        if event.stamps.steady_ns < ONSET_STEADY_NS + ns(cut_ms)), second)}))
    assert judged.verdict is Verdict.ERROR and 'a second evaluator' in judged.reason


class ReadsTheScanner(RuleBased):
    """The reference without a person tracker."""

    @property
    def inputs(self):
        return {name: kind for name, kind in super().inputs.items() if name != 'human_pose'}


def test_who_cannot_react_to_a_topic_that_it_does_not_read_is_told_so():
    results = ss.run('SCN-R-101', controller=ReadsTheScanner, link='loopback', seed=3, trials=6,
                     isolate=False)
    failed = [one for one in results.trials if one.verdict is Verdict.FAIL]
    assert failed and all(
        'shown on human_pose alone, which the controller does not read' in one.reason
        and 'say absent: [human_pose]' in one.reason for one in failed)
