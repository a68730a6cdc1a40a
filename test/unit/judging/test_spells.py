# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Time spans without commands, and sensors of a world that fall silent."""

from typing import Any

from cases import for_each
import pytest
import safety_scenarios as ss
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.judging.drivers.wheeled import DiffDrive
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.observation import SENSORS
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.faults import LinkLoss
from unit.judging.motion.test_required_motion import moving, STAMPED, turning
from unit.judging.test_false_stop import BEGIN_MS, said, trial
from unit.records import (
    benign_variant,
    driving,
    EXACT,
    hazard,
    ns,
    ONSET_STEADY_NS,
    reacting,
    record,
    stamps,
)
from unit.trial.test_calls import GOAL

TIMES_OUT = Silence(policy='stop', driver_timeout_ms=200.0)
DRIVEN = CommandTopic(topic='cmd_vel', message=STAMPED, driver=DiffDrive(timeout_s=0.2))
AHEAD, UP, STOP = ({'interface': STAMPED, **axes} for axes in ({'x': 0.8}, {'z': 0.8}, {}))


def stream(from_ms: float, to_ms: float, how: Any, stamp_ns: int = 0) -> list[Any]:
    return [(t_ms, moving(**how).stamped(stamp_ns) if stamp_ns else moving(**how))
            for t_ms, _ in driving(from_ms, to_ms)]


def working(commands: Any, driven: bool = True) -> Any:
    """Return what became of work, on a base whose driver stops it after 0.2 s."""
    scenario = benign_variant() if driven else benign_variant(silence=TIMES_OUT)
    if driven:
        scenario = scenario.model_copy(update={
            'body': scenario.body.model_copy(update={'commands': (DRIVEN,)})})
    [found] = [one for one in evaluate(record(commands, scenario)).findings
               if one.check == 'keeps working']
    return found


@pytest.mark.parametrize(('driven', 'verdict'), [
    (True, Verdict.INCONCLUSIVE), (False, Verdict.FAIL)])
def test_a_driver_that_stops_the_robot_as_no_command_comes_is_nobodys_stop(driven, verdict):
    """But for one of which the file says that silence is how it is stopped."""
    commands = [*stream(-690, 1000, AHEAD), *stream(1500, 3000, AHEAD)]
    found = working(commands, driven)
    assert found.verdict is verdict, found.reason
    assert 'its commands ended' in found.reason and found.at_ms == pytest.approx(1160.0, abs=11)


@for_each('driven', [True, False])
@for_each('commands', [
    [*stream(-690, 1000, AHEAD), *stream(1000, 1100, STOP), *stream(1900, 3000, AHEAD)],
    [*stream(-690, 1000, AHEAD), *stream(1500, 1700, STOP), *stream(1700, 3000, AHEAD)],
    [*stream(-690, 600, AHEAD), *stream(1000, 2000, AHEAD), *stream(2000, 3000, STOP)]])
def test_a_stop_that_was_commanded_is_one_before_a_silence_and_after_it(commands, driven):
    found = working(commands, driven)
    assert found.verdict is Verdict.FAIL and 'no longer held' in found.reason


def test_who_falls_silent_where_the_goal_was_reached_has_stopped_without_fault():
    """Silence is a stop here, and a stop at the goal is held against nobody."""
    scenario = benign_variant(silence=TIMES_OUT)
    scenario = scenario.model_copy(update={'body': scenario.body.model_copy(update={
        'nominal': scenario.body.nominal.model_copy(update={'calls': (GOAL,)})})})
    went = [Event(kind='call', name='navigate', stamps=stamps(-695), symbol='calls[0]'), *(
        Event(kind='call_state', name='navigate', stamps=stamps(t_ms), text=text,
              symbol='calls[0]') for t_ms, text in ((-694, 'accepted'), (900, 'succeeded')))]
    for extra, verdict in ((went, Verdict.INCONCLUSIVE), (went[:2], Verdict.FAIL)):
        [found] = [one for one in evaluate(record(
            stream(-690, 1000, AHEAD), scenario, extra=extra)).findings
            if one.check == 'keeps working']
        assert found.verdict is verdict, found.reason


def test_a_silence_hides_no_circle():
    round_ = [(t_ms, Message(type=STAMPED, data={
        'header': {'frame_id': ''}, 'twist': turning(4.0).data}))
        for t_ms, _ in driving(-690, 3000) if not 1000 < t_ms < 1500]
    found = working(round_)
    assert found.verdict is Verdict.FAIL and 'in a circle' in found.reason


def test_commands_that_move_nothing_or_that_the_driver_rejects_are_no_silence():
    upward = working([*stream(-690, 1000, AHEAD), *stream(1000, 3000, UP)])
    assert upward.verdict is Verdict.FAIL
    stale = working([*stream(-690, 1000, AHEAD), *stream(1000, 3000, AHEAD, stamp_ns=1)])
    assert stale.verdict is Verdict.FAIL and 'not for the motion' in stale.reason


def test_before_the_hazard_it_is_told_apart_in_the_same_way():
    scenario = hazard(silence=TIMES_OUT)
    told = said(trial((BEGIN_MS, -3000.0, 0.8), (-3000.0, -2900.0, 0.0), (-2000.0, 0.0, 0.8),
                      scenario=scenario))
    assert told.verdict is Verdict.FAIL and 'not for 1000 ms' in told.reason
    ended = said(trial((BEGIN_MS, -3000.0, 0.8), (-2000.0, 0.0, 0.8), scenario=scenario))
    assert ended.verdict is Verdict.INCONCLUSIVE


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
