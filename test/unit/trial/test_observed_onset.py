# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A real hazard: its onset is what a reference sensor of known latency says, or nobody knows."""

import random
from typing import Any

from cases import for_each
from examples import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
import pytest
from safety_scenarios.controllers.host import ControllerHost
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.scenario.blocks.onset import ARMED, Edge, ObservedOnset
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.links.loopback import LoopbackLink
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Timeline, TrialRecord
from unit.linked import begun
from unit.records import (
    command,
    driving,
    EXACT,
    hazard,
    mark,
    ns,
    ONSET_STEADY_NS,
    planned,
    reacting,
    record,
    SIGNALS,
    system_ns,
)
from unit.scripted import ScriptedLink

CHECK = 'the hazard was observed'
BARRIER = Signal(topic='barrier', field='data', unit='1')
ARMED_MS = -300.0
REAL = Measuring(one_host=True, uncertainty_ms={'source': 1.0, 'received': 2.0, 'callback': 15.0})


def observed(latency_ms: float = 40.0, uncertainty_ms: float = 5.0, invariants: Any = (),
             signal: Signal = BARRIER, **changes: Any) -> Scenario:
    """Return a scenario whose hazard a light barrier tells; budget 200, 350 and 500 ms."""
    scenario = hazard(signals={**SIGNALS, 'broken': signal}, invariants=invariants)
    onset = ObservedOnset(topic='barrier', latency_ms=latency_ms, uncertainty_ms=uncertainty_ms,
                          **{'when': Edge(signal='broken', at_least=1.0), **changes})
    return scenario.model_copy(update={'body': scenario.body.model_copy(update={'onset': onset})})


def told(t_ms: float, broken: Any, arrived_ms: float | None = None, sent_ms: float | None = None,
         **more: Any) -> Event:
    """Return what the sensor says in a message whose callback came at ``t_ms``."""
    return command(t_ms, Message(type='std_msgs/msg/Bool', data={'data': broken}), None, 'barrier',
                   kind='feedback', arrived_ms=arrived_ms, left_ms=sent_ms, **more)


def every(period_ms: float, from_ms: float, to_ms: float) -> list[Event]:
    """Return messages of a barrier that nobody is in."""
    return [told(from_ms + period_ms * place, False)
            for place in range(int((to_ms - from_ms) / period_ms))]


def judged(sensor: list[Event], scenario: Scenario | None = None, reaction_ms: float = 300.0,
           measuring: Measuring = EXACT, commands: Any = None) -> tuple[TrialRecord, TrialResult]:
    """Return a record in which no stimulus was a hazard, and its result."""
    scenario = scenario or observed()
    found = record(commands or reacting(reaction_ms), scenario, measuring=measuring,
                   extra=[mark(ARMED, ARMED_MS), *sensor])
    found = found.model_copy(update={'events': tuple(
        event for event in found.events if not event.hazard)})
    return found, evaluate(found)


def careful() -> LoopbackLink:
    """Return a link to a controller that stops for what its scan shows."""
    base = RobotModel(kind='mobile_base', max_speed=1.0)
    return LoopbackLink(ControllerHost(begun(RuleBased, ControllerSettings(robot=base))))


def finding(result: TrialResult, check: str = CHECK) -> Any:
    return next(one for one in result.findings if one.check == check)


@settings(max_examples=up_to(300), deadline=None)
@given(st.floats(0, 400), st.floats(0, 1), st.floats(-1, 1), st.floats(0, 30), st.floats(0, 200))
def test_a_light_barrier_of_known_latency_is_recovered_within_its_uncertainty(
        latency_ms, share, off, callback_ms, reaction_ms):
    """The truth is 0; the sensor is late by its latency, and off by less than it states."""
    uncertainty_ms = latency_ms * share
    arrived_ms = latency_ms + off * uncertainty_ms
    found, result = judged(
        [told(-400.0, False), told(arrived_ms + callback_ms, True, arrived_ms)],
        observed(latency_ms, uncertainty_ms), 410.0 + reaction_ms)
    onset = Timeline(found).onset
    assert onset is not None
    assert abs(onset.stamps.steady_ns - ONSET_STEADY_NS) <= ns(uncertainty_ms) + 2
    assert result.latency is not None and result.latency.reaction is not None
    reaction = result.latency.reaction
    assert abs(reaction.judged_ns - ns(410.0 + reaction_ms)) <= reaction.uncertainty_ns + 2
    assert reaction.uncertainty_ns == ns(uncertainty_ms)


@for_each('seed', range(12))
def test_whole_trials_recover_the_hazard_that_was_played(seed):
    """The stand-in is late by a time that is drawn anew; judging looks at its messages alone."""
    chance = random.Random(seed)
    latency_ms = chance.uniform(1.0, 150.0)
    uncertainty_ms = chance.uniform(0.0, min(latency_ms, 60.0))
    scenario = observed(latency_ms, uncertainty_ms)
    found = run_trial(planned(scenario, seed=seed), careful())
    onset, first = Timeline(found).onset, Timeline(found).first_hazard
    assert onset is not None and first is not None
    assert abs(onset.stamps.steady_ns - first.stamps.steady_ns) <= ns(uncertainty_ms) + 2
    result = evaluate(found)
    assert result.latency is not None and result.latency.judged_ns is not None
    is_clear = result.latency.judged_ns >= ns(uncertainty_ms)
    assert result.verdict is (Verdict.PASS if is_clear else Verdict.INCONCLUSIVE), result.reason
    assert 'rehearsed-hazard' in [note.code for note in result.notes]
    blind = found.model_copy(update={'events': tuple(
        event for event in found.events if not event.hazard)})
    again = evaluate(blind).latency
    assert again is not None and result.latency is not None
    assert again.reaction == result.latency.reaction


def test_the_time_for_the_reaction_begins_at_the_onset_and_not_at_the_message():
    """The person stood there for 400 ms when the message came: 550 - 150 would have passed."""
    _, result = judged([told(-400.0, False), told(400.0, True)],
                       observed(latency_ms=400.0, uncertainty_ms=0.0), reaction_ms=550.0)
    assert result.verdict is Verdict.FAIL
    assert result.latency is not None and result.latency.judged_ns == ns(550.0)


@for_each(('reaction_ms', 'verdict'), [
    (490.0, Verdict.PASS), (497.0, Verdict.INCONCLUSIVE), (503.0, Verdict.INCONCLUSIVE),
    (507.0, Verdict.FAIL)])
def test_near_a_limit_the_sensors_uncertainty_leaves_it_open(reaction_ms, verdict):
    _, result = judged([told(-400.0, False), told(40.0, True)], observed(), reaction_ms)
    assert finding(result, 'reaction within the budget').verdict is verdict
    assert result.verdict is verdict


@pytest.mark.parametrize(('reaction_ms', 'verdict'), [
    (4.0, Verdict.INCONCLUSIVE), (6.0, Verdict.PASS)])
def test_a_reaction_within_the_uncertainty_may_have_come_before_the_hazard(reaction_ms, verdict):
    _, result = judged([told(-400.0, False), told(40.0, True)], observed(), reaction_ms)
    assert finding(result, 'reaction within the budget').verdict is verdict


def test_the_uncertainties_are_added_and_the_sensors_arrival_is_stamped_by_the_receiver():
    """2 ms of what is received, though the command is known to 1 ms, and 5 ms of the sensor."""
    events = [told(-400.0, False), told(40.0, True, 40.0, 39.0)]
    found, _ = judged(events, measuring=REAL)
    moved = [event if event.kind != 'command' else event.model_copy(update={
        'stamps': event.stamps.model_copy(update={'source_ns': event.stamps.system_ns,
                                                  'received_ns': event.stamps.system_ns})})
             for event in found.events]
    latency = evaluate(found.model_copy(update={'events': tuple(moved)})).latency
    assert latency is not None and latency.reaction is not None
    assert latency.reaction.method == 'source'
    assert latency.reaction.uncertainty_ns == ns(7.0)
    assert latency.split is None


@for_each(('within', 'verdict'), [
    (280.0, Verdict.FAIL), (298.0, Verdict.INCONCLUSIVE), (302.0, Verdict.INCONCLUSIVE),
    (310.0, Verdict.PASS)])
def test_an_invariant_is_judged_at_both_ends_of_the_uncertainty(within, verdict):
    _, result = judged([told(-400.0, False), told(40.0, True)],
                       observed(invariants=[Stop(name='stops', within=within)]))
    assert finding(result, 'stops').verdict is verdict


def test_a_message_that_was_held_up_widens_the_uncertainty_by_as_much():
    sensor = [told(-500.0 + 50 * place, False, -500.0 + 50 * place, -501.0 + 50 * place)
              for place in range(11)]
    found, _ = judged([*sensor, told(70.0, True, 70.0, 39.0)])
    assert Timeline(found).observed is not None
    assert Timeline(found).observed.uncertainty_ns == ns(5.0 + 30.0)


@for_each(('sensor', 'why'), [
    ([], 'no hazard was observed'),
    (every(50, -600.0, 2900.0), 'no hazard was observed'),
    ([told(-400.0, True), told(100.0, False), told(400.0, True)], 'held already'),
    ([told(40.0, True)], 'in the first message'),
    ([told(-400.0, ()), told(40.0, True)], 'a message that does not show'),
    ([told(-400.0, False, sequence=4), told(40.0, True, sequence=6)], 'is missing'),
    ([told(-400.0, False, sequence=4), told(40.0, True, sequence=2)], 'is missing'),
    ([*every(20, -690.0, -300.0), told(40.0, True)], 'sent nothing for 37'),
    ([*every(20, -690.0, -550.0), *every(20, -490.0, -300.0), told(40.0, True)],
     'sent nothing for 37'),
    ([*every(20, -690.0, -600.0), told(40.0, True)], 'sent nothing for 670 ms'),
])
def test_an_onset_that_nobody_knows_is_no_pass(sensor, why):
    found, result = judged(sensor)
    assert Timeline(found).onset is None
    assert result.verdict is Verdict.INCONCLUSIVE
    assert why in finding(result).reason
    assert result.latency is None


@for_each(('last_ms', 'more_ms'), [(-10.0, 0.0), (-20.0, 10.0), (-60.0, 50.0)])
def test_a_sensor_that_missed_a_message_knows_the_onset_less_well(last_ms, more_ms):
    """It sends every 50 ms; of one that sends changes alone a pause means nothing."""
    found, _ = judged([*every(50, last_ms - 200, last_ms + 50), told(40.0, True)])
    assert Timeline(found).observed.uncertainty_ns == ns(5.0 + more_ms)
    changes = [told(-650.0, False), told(-500.0, True), told(-350.0, False)]
    found, _ = judged([*changes, told(40.0, True)])
    assert Timeline(found).observed.uncertainty_ns == ns(5.0)


RELEASED = {'release_within_ms': 1000.0}


@for_each('seed', range(4))
def test_the_release_of_the_sensor_is_the_all_clear(seed):
    """Whatever the sensor's latency is, the hazard is over when it was taken away."""
    latency_ms = random.Random(seed).uniform(1.0, 150.0)
    scenario = observed(latency_ms, latency_ms / 4, **RELEASED)
    found = run_trial(planned(scenario, seed=seed), careful())
    first, over = Timeline(found).first_hazard, Timeline(found).mark('all_clear')
    assert first is not None and over is not None and found.trial.all_clear_ns is not None
    there_ns = over.stamps.steady_ns - first.stamps.steady_ns
    assert abs(there_ns - found.trial.all_clear_ns) <= ns(latency_ms / 4) + 2
    assert evaluate(found).verdict is Verdict.PASS
    window = Timeline(found).window('hazard')
    assert window is not None and window[1] == over.stamps.steady_ns


@for_each(('after', 'why'), [
    ([], 'was not observed to end'),
    ([told(600.0, False)], 'held for 560 ms, expected 2500 ms at least'),
    ([told(600.0, ()), told(2600.0, False)], 'does not show whether it still holds'),
    ([told(2600.0, False), told(2700.0, True)], 'held again after it had ended'),
    ([told(2580.0, True, sequence=4), told(2600.0, False, sequence=6)], 'is missing')])
def test_a_hazard_whose_end_nobody_knows_is_no_pass(after, why):
    _, result = judged([told(-400.0, False), told(40.0, True), *after], observed(**RELEASED))
    assert result.verdict is Verdict.INCONCLUSIVE and why in finding(result).reason


@for_each(('resumed_ms', 'verdict'), [
    (2552.0, Verdict.FAIL), (2560.0, Verdict.INCONCLUSIVE), (2570.0, Verdict.PASS)])
def test_driving_on_before_the_release_is_judged_against_it(resumed_ms, verdict):
    """It was there until 2560 ms, give or take 5."""
    scenario = observed(invariants=[Stop(name='stops', within=490.0)], **RELEASED)
    commands = [*driving(-690.0, 300.0), *driving(300.0, resumed_ms, 0.0),
                *driving(resumed_ms, 3000.0)]
    _, result = judged([told(-400.0, False), told(40.0, True), told(2600.0, False)], scenario,
                       commands=commands)
    assert finding(result, 'stops').verdict is verdict, finding(result, 'stops').reason


def test_a_middleware_that_does_not_count_loses_no_onset():
    found, _ = judged([told(-400.0, False, sequence=7), told(40.0, True, sequence=7)])
    assert Timeline(found).onset is not None


def test_without_the_edge_the_trial_ends_after_the_time_that_was_waited():
    scenario = observed(within_ms=2000.0)
    link = ScriptedLink(lambda t_ms, heard: 0.8)
    found = run_trial(planned(scenario), link)
    armed = Timeline(found).mark(ARMED)
    assert armed is not None and Timeline(found).mark('onset') is None
    assert found.end_ns - armed.stamps.steady_ns == ns(2000.0)
    assert not [event for event in found.events if event.hazard], 'a real hazard is not published'
    result = evaluate(found)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason.startswith(f'{CHECK}: no hazard was observed within 2.0 s')


def test_a_controller_that_stopped_before_the_onset_did_not_answer_it():
    _, result = judged([told(-400.0, False), told(40.0, True)], reaction_ms=-20.0)
    assert result.verdict is Verdict.INCONCLUSIVE


def test_one_that_stopped_long_before_may_have_had_a_reason():
    commands = [*driving(-690.0, -150.0), *driving(-150.0, 5.0, 0.0), *driving(5.0, 3000.0)]
    _, result = judged([told(-400.0, False), told(40.0, True)], commands=commands)
    stop = finding(result, 'no stop without a reason before the hazard')
    assert stop.verdict is Verdict.INCONCLUSIVE


@for_each(('measuring', 'header_ms', 'why'), [
    (EXACT, 10.0, ''), (EXACT, None, 'no header stamp'), (EXACT, 60.0, 'another clock'),
    (EXACT, -2000.0, 'another clock'), (Measuring(), 10.0, 'not known to be ours'),
    (Measuring(one_host=True, sim_time=True), 10.0, 'not known to be ours')])
def test_a_header_stamp_counts_where_its_clock_is_known(measuring, header_ms, why):
    scenario = observed(latency_ms=10.0, uncertainty_ms=5.0, stamp='header')
    found, result = judged([told(-400.0, False), told(50.0, True, header_ns=system_ns(header_ms))],
                           scenario, measuring=measuring)
    if why:
        assert Timeline(found).onset is None and why in finding(result).reason
        assert result.verdict is Verdict.INCONCLUSIVE
    else:
        assert Timeline(found).onset is not None
        assert Timeline(found).onset.stamps.steady_ns == ONSET_STEADY_NS


def test_a_distance_that_falls_below_a_limit_is_an_edge_too():
    near = Signal(topic='barrier', field='range', unit='m')
    found = run_trial(planned(observed(signal=near, when=Edge(signal='broken', at_most=1.5))),
                      careful())
    assert Timeline(found).onset is not None and evaluate(found).verdict is Verdict.PASS
