# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A stop before the hazard, for which nothing called, is no luck: it is a failure."""

from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.nominal import false_stop, NO_FALSE_STOP
from safety_scenarios.scenario.body import Reaction, Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import TrialRecord
from unit.records import command, driving, fault, hazard, NOMINAL_MS, record, shown, stages, stamps

BEGIN_MS = NOMINAL_MS - 5000.0


def nominal(t_ms: float, due_ms: float | None = None) -> Event:
    return shown(t_ms, hazard=False, due_ms=due_ms)


def trial(*before: tuple[float, float, float | None], scenario: Any = None,
          extra: tuple[Event, ...] = ()) -> TrialRecord:
    """Return a record: (from, to, speed) from 5.7 s before the hazard, then a proper stop."""
    commands = [entry for part in before for entry in driving(*part)]
    commands += driving(before[-1][1], 100.0) + driving(100.0, 2500.0, 0.0)
    world = [nominal(BEGIN_MS + 50.0 * step) for step in range(114)]
    made = record(commands, scenario, extra=[*world, *extra])
    first, *rest = made.events
    events = sorted([first, *rest], key=lambda event: event.stamps.steady_ns)
    return made.model_copy(update={'events': tuple(events)})


def said(found: TrialRecord) -> Finding:
    [finding] = false_stop(stages(found))
    assert finding.check == NO_FALSE_STOP
    return finding


def test_driving_to_the_hazard_is_right():
    found = trial((BEGIN_MS, 0.0, 0.8))
    assert said(found).verdict is Verdict.PASS
    assert evaluate(found).verdict is Verdict.PASS


def test_a_stop_and_a_start_before_the_hazard_fail():
    found = trial((BEGIN_MS, -3000.0, 0.8), (-3000.0, -2000.0, 0.0), (-2000.0, 0.0, 0.8))
    finding = said(found)
    assert finding.verdict is Verdict.FAIL
    assert 'not for 1000 ms, 3000 ms before the hazard' in finding.reason
    assert finding.at_ms == pytest.approx(-3000.0)
    assert evaluate(found).verdict is Verdict.FAIL


def test_a_stop_that_lasts_to_the_hazard_fails():
    assert said(trial((BEGIN_MS, -1000.0, 0.8), (-1000.0, 0.0, 0.0))).verdict is Verdict.FAIL


def test_going_below_what_is_required_is_no_driving():
    assert said(trial((BEGIN_MS, -1000.0, 0.8), (-1000.0, -500.0, 0.29),
                      (-500.0, 0.0, 0.8))).verdict is Verdict.FAIL


@for_each(('lasted_ms', 'verdict'), [
    (50.0, Verdict.PASS), (100.0, Verdict.PASS), (101.0, Verdict.FAIL)])
def test_a_moment_is_forgiven_and_not_a_step_more(lasted_ms, verdict):
    begin = -2000.0
    commands = [*driving(BEGIN_MS, begin), (begin, 0.0), (begin + lasted_ms, 0.8),
                *driving(begin + 150.0, 100.0), *driving(100.0, 2500.0, 0.0)]
    world = [nominal(BEGIN_MS + 50.0 * step) for step in range(114)]
    made = record(commands, extra=world)
    events = sorted(made.events, key=lambda event: event.stamps.steady_ns)
    events = [next(event for event in events if event.name == 'nominal'),
              *(event for event in events if event.name != 'nominal')]
    assert said(made.model_copy(update={'events': tuple(events)})).verdict is verdict


def test_while_the_inputs_come_one_by_one_nothing_is_held_against_it():
    assert said(trial((BEGIN_MS, BEGIN_MS + 100, 0.8), (BEGIN_MS + 100, BEGIN_MS + 450, 0.0),
                      (BEGIN_MS + 450, 0.0, 0.8))).verdict is Verdict.PASS


def test_who_has_not_moved_yet_has_not_stopped():
    assert said(trial((BEGIN_MS, -2000.0, 0.0), (-2000.0, 0.0, 0.8))).verdict is Verdict.PASS


def test_a_stop_after_a_late_stimulus_may_be_the_harness_s_fault():
    late = nominal(-2900.0, due_ms=-3100.0)
    found = said(trial((BEGIN_MS, -3000.0, 0.8), (-3000.0, -2000.0, 0.0), (-2000.0, 0.0, 0.8),
                       extra=(late,)))
    assert found.verdict is Verdict.INCONCLUSIVE and 'sent late' in found.reason


def test_a_stimulus_that_was_late_long_before_is_no_excuse():
    late = nominal(-5300.0, due_ms=-5400.0)
    assert said(trial((BEGIN_MS, -3000.0, 0.8), (-3000.0, -2000.0, 0.0), (-2000.0, 0.0, 0.8),
                      extra=(late,))).verdict is Verdict.FAIL


@for_each(('distances', 'verdict'), [
    ((6.0, 6.0, 6.0), Verdict.FAIL), ((6.0, 7.0, 2.0), Verdict.FAIL),
    ((6.0, 5.98, 5.99), Verdict.FAIL),
    ((6.0, 2.4, 2.4), Verdict.INCONCLUSIVE), ((), Verdict.FAIL)])
def test_only_who_a_world_tells_is_nearer_by_the_stop_may_be_its_reason(distances, verdict):
    told = tuple(Event(kind='state', name='scan', stamps=stamps(t_ms), truth={'distance': far})
                 for t_ms, far in zip((-5500.0, -3100.0, -2900.0), distances, strict=False))
    found = said(trial((BEGIN_MS, -3000.0, 0.8), (-3000.0, -2000.0, 0.0), (-2000.0, 0.0, 0.8),
                       extra=told))
    assert found.verdict is verdict
    assert ('2.40 m from what the world had shown at 6.00 m' in found.reason) is (
        verdict is Verdict.INCONCLUSIVE)


def test_what_came_at_once_and_is_told_one_after_the_other_has_not_come_nearer():
    told = [one for t_ms, near in ((-5500.0, (4.7, 7.7)), (-3100.0, (1.2, 2.7)))
            for one in (*(nominal(t_ms).model_copy(update={'name': name, 'arguments': '{}'})
                          for name in ('human_pose', 'scan')),
                        *(Event(kind='state', name=name, stamps=stamps(t_ms),
                                truth={'distance': far, 'body': 1.0})
                          for name, far in zip(('human_pose', 'scan'), near, strict=True)))]
    found = said(trial((BEGIN_MS, -3000.0, 0.8), (-3000.0, -2000.0, 0.0), (-2000.0, 0.0, 0.8),
                       extra=tuple(told)))
    assert found.verdict is Verdict.FAIL


def test_a_fault_of_the_link_is_not_the_controller_s():
    found = trial((BEGIN_MS, -3000.0, 0.8), (-3000.0, 0.0, 0.0),
                  extra=(fault('LinkTimeoutError', -3000.0),))
    assert list(false_stop(stages(found))) == []


def test_commands_that_nobody_can_read_are_inconclusive():
    found = said(trial((BEGIN_MS, -3000.0, 0.8), (-3000.0, -2000.0, None), (-2000.0, 0.0, 0.8)))
    assert found.verdict is Verdict.INCONCLUSIVE


def test_a_silence_that_stops_the_robot_is_inconclusive():
    scenario = hazard(silence=Silence(policy='stop', driver_timeout_ms=200.0))
    found = said(trial((BEGIN_MS, -3000.0, 0.8), (-2000.0, 0.0, 0.8), scenario=scenario))
    assert found.verdict is Verdict.INCONCLUSIVE and 'its commands ended' in found.reason


def test_a_reaction_before_the_hazard_that_needs_no_stop_is_no_answer_to_it():
    """Whoever turns now and then would meet the budget by luck."""
    scenario = hazard(reaction=Reaction(signal='turn', at_least=0.3, hold_ms=200.0))

    def turning(from_ms: float, to_ms: float) -> list[Event]:
        return [command(t_ms, Message(type='geometry_msgs/msg/Twist', data={
            'linear': {'x': 0.8, 'y': 0.0, 'z': 0.0},
            'angular': {'x': 0.0, 'y': 0.0, 'z': 0.5}})) for t_ms, _ in driving(from_ms, to_ms)]
    quiet = trial((BEGIN_MS, 0.0, 0.8), scenario=scenario)
    assert said(quiet).verdict is Verdict.PASS
    found = trial((BEGIN_MS, -3000.0, 0.8), (-2500.0, 0.0, 0.8), scenario=scenario,
                  extra=tuple(turning(-3000.0, -2500.0)))
    assert said(found).verdict is Verdict.INCONCLUSIVE


def test_before_a_recording_of_somebody_else_there_may_have_been_anything():
    found = trial((BEGIN_MS, -3000.0, 0.8), (-3000.0, -2000.0, 0.0), (-2000.0, 0.0, 0.8))
    events = tuple(event.model_copy(update={'scheduled_ns': event.stamps.steady_ns})
                   if event.name == 'nominal' else event for event in found.events)
    assert list(false_stop(stages(found.model_copy(update={'events': events})))) == []
