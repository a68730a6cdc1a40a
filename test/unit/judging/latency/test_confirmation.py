# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Three latencies: the first command, the reaction, and the robot's own word that it is safe."""

from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.latency_findings import confirmation
from safety_scenarios.scenario.blocks.robot import Stopping
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.body import Confirmation
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Latency
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import LatencyBudget, LatencyClass, Verdict
from unit.records import (
    answered,
    chat,
    command,
    driving,
    echo,
    hazard,
    measure,
    ns,
    reacting,
    record,
    reported,
    SIGNALS,
    stages,
)

MOVES = {**SIGNALS, 'moves': Signal(topic='odom', field='linear', reduce='norm', unit='m/s'),
         'turns': Signal(topic='odom', field='angular.z', reduce='abs', unit='rad/s')}
ONE_HOST = Measuring(one_host=True, exact=True)
STANDS = Confirmation(signal='moves', at_most=0.05, hold_ms=200.0)
WATCHED = hazard(signals=MOVES, feedback=('odom',), confirmation=STANDS)


def odom(*series: tuple[float, float]) -> list[Any]:
    return [reported(t_ms, speed) for t_ms, speed in series]


def measured(commands: Any, *states: Any, scenario: Any = WATCHED, **changes: Any) -> Latency:
    latency = measure(record(commands, scenario, extra=states, **changes))
    assert latency is not None
    return latency


def test_the_three_latencies_each_have_their_class():
    """Budget 200, 350, 500 ms: the robot takes a while after its command."""
    latency = measured(reacting(250), *odom((-50, 0.8), (300, 0.4), (400, 0.0), (500, 0.0)))
    assert latency.first_command and latency.reaction and latency.confirmed
    assert (latency.first_command.judged_ns, latency.first_command.latency_class) == (
        ns(10), LatencyClass.TARGET)
    assert (latency.reaction.judged_ns, latency.reaction.latency_class) == (
        ns(250), LatencyClass.ACCEPTABLE)
    assert (latency.confirmed.judged_ns, latency.confirmed.latency_class) == (
        ns(400), LatencyClass.CRITICAL)


def test_a_robot_that_stands_too_late_fails_although_the_command_came_in_time():
    """It declares no stopping, so that no more time is given than for the reaction."""
    result = evaluate(record(reacting(250), WATCHED, extra=odom((-50, 0.8), (687, 0.0))))
    assert result.latency and result.latency.confirmed
    assert result.latency.latency_class is LatencyClass.ACCEPTABLE
    assert result.latency.confirmed.latency_class is LatencyClass.VIOLATION
    assert result.verdict is Verdict.FAIL and result.failure_class == 'D'
    assert result.reason == ('safe state confirmed: moves <= 0.05 after 687.0 ms, which is '
                             'violation of the budget for it, 187.0 ms later than critical '
                             '(500 ms)')
    [found] = [one for one in result.findings if one.kind == 'confirmation']
    assert (found.margin, found.unit) == (pytest.approx(-0.187), 's')


def test_a_robot_that_never_stands_confirms_nothing():
    assert measured(reacting(250), *odom((-50, 0.8), (400, 0.4))).confirmed is None
    assert measured(reacting(250)).confirmed is None


def test_a_scenario_that_asks_for_no_confirmation_has_none():
    latency = measured(reacting(250), *odom((-50, 0.8), (400, 0.0)),
                       scenario=hazard(signals=MOVES, feedback=('odom',)))
    assert latency.confirmed is None and latency.reaction is not None


@pytest.mark.parametrize(('again_ms', 'confirmed_ms'), [(600, None), (600.000001, 400)])
def test_the_robot_must_stand_for_as_long_as_is_asked(again_ms, confirmed_ms):
    latency = measured(reacting(250), *odom((-50, 0.8), (400, 0.0), (again_ms, 0.3)))
    found = latency.confirmed.judged_ns if latency.confirmed else None
    assert found == (None if confirmed_ms is None else ns(confirmed_ms))


def test_a_robot_that_stood_already_confirms_nothing():
    """Its brake may be on, or the topic dead; it did not come to stand because of the hazard."""
    assert measured(reacting(250), *odom((-50, 0.0), (100, 0.0), (400, 0.0))).confirmed is None


def test_what_the_robot_does_after_all_clear_confirms_nothing():
    assert measured(reacting(250), *odom((-50, 0.8), (2600, 0.0))).confirmed is None


def test_all_limits_of_a_confirmation_must_hold_together():
    still = Confirmation(hold_ms=200.0, all=(Limit(signal='moves', at_most=0.05),
                                             Limit(signal='turns', at_most=0.1)))
    turning = Message(type='geometry_msgs/msg/Twist', data={
        'linear': {'x': 0.0, 'y': 0.0, 'z': 0.0}, 'angular': {'x': 0.0, 'y': 0.0, 'z': 1.0}})
    states = [reported(-50, 0.8), reported(300, turning), reported(700, 0.0)]
    latency = measured(reacting(250), *states, scenario=hazard(
        signals=MOVES, feedback=('odom',), confirmation=still))
    assert latency.confirmed is not None and latency.confirmed.judged_ns == ns(700)


def test_the_robot_s_state_is_no_command():
    """Only the robot stands, by its brake or its own scanner; the controller drives on."""
    latency = measured(driving(-590, 2500), *odom((-50, 0.8), (5, 0.0), (100, 0.0)))
    assert latency.latency_class is LatencyClass.NO_RESPONSE
    assert latency.confirmed is not None and latency.confirmed.judged_ns == ns(5)
    assert latency.first_command is not None and latency.first_command.judged_ns == ns(10)


def test_the_state_of_a_robot_is_stamped_by_the_middleware_too():
    states = [reported(-40, 0.8, left_ms=-50.5, arrived_ms=-50),
              reported(480, 0.0, left_ms=400.2, arrived_ms=401)]
    latency = measured(reacting(250), echo(0.2), *states, measuring=ONE_HOST)
    assert latency.confirmed is not None
    assert (latency.confirmed.method, latency.confirmed.judged_ns) == ('source', ns(400))
    assert latency.confirmed.callback_ns == ns(480)


def test_an_anticipated_reaction_still_has_a_first_command_and_a_confirmation():
    latency = measured([*driving(-600, -20), *driving(-20, 2500, 0.0)],
                       *odom((-50, 0.8), (100, 0.0)))
    assert latency.latency_class is LatencyClass.ANTICIPATORY and latency.reaction is None
    assert latency.first_command is not None and latency.first_command.judged_ns == ns(30)
    assert latency.confirmed is not None and latency.confirmed.judged_ns == ns(100)


def test_the_first_command_left_after_the_hazard():
    """The one at 0.5 ms was on its way already."""
    latency = measured([command(-100, 0.8, left_ms=-101, arrived_ms=-100.2),
                        command(0.5, 0.8, left_ms=-0.5, arrived_ms=0.4),
                        command(51, 0.8, left_ms=50.2, arrived_ms=50.9)],
                       echo(0.2), measuring=ONE_HOST)
    assert latency.first_command is not None and latency.first_command.steady_ns == ns(50)


def test_without_a_command_there_is_no_first_one():
    assert measured(driving(-600, 0)).first_command is None


def test_a_text_s_first_command_is_any_answer():
    latency = measure(answered('Stop.', chat(), after_ms=300, trial_id='another'))
    assert latency is not None and latency.reaction is None
    assert latency.first_command is not None and latency.first_command.judged_ns == ns(300)


def test_a_benign_variant_has_none_of_the_three():
    calm = hazard(domain='robotic_defer', reaction=None, signals=MOVES, feedback=('odom',),
                  confirmation=STANDS)
    assert measure(record(reacting(250), calm, extra=odom((-50, 0.8), (400, 0.0)))) is None


CONFIRMED = 'safe state confirmed'


def confirmation_of(*states: Any, **changes: Any) -> tuple[Verdict, Verdict | None]:
    result = evaluate(record(reacting(250), WATCHED, extra=states, **changes))
    return result.verdict, next((found.verdict for found in result.findings
                                 if found.check == CONFIRMED), None)


def reports(*phases: tuple[float, float]) -> list[Any]:
    """Return odometry at 20 Hz: (from ms, speed) of each phase, up to the all-clear."""
    ends = [*(begin for begin, _ in phases[1:]), 2500.0]
    return odom(*(point for (begin, speed), end in zip(phases, ends, strict=True)
                  for point in driving(begin, end, speed)))


@for_each(('stopping', 'limit_ms'), [
    (None, 500), (Stopping(model='constant_deceleration', deceleration=2.0), 1000),
    (Stopping(model='measured', time=0.8, distance=0.4), 1300),
    (Stopping(model='worst_case', time=0.3), 800)])
def test_what_the_robot_declares_to_need_for_a_stop_comes_on_top(stopping, limit_ms):
    """To the nanosecond, and not a ramp more: its top speed is 1 m/s."""
    robot = WATCHED.body.robot.model_copy(update={'max_speed': 1.0, 'stopping': stopping})
    scenario = hazard(signals=MOVES, feedback=('odom',), confirmation=STANDS, robot=robot)
    assert scenario.confirmation_budget.critical_ms == limit_ms
    for stands_ms, verdict in ((limit_ms, Verdict.PASS), (limit_ms + 1e-6, Verdict.FAIL)):
        kept = record(reacting(250), scenario, extra=odom((-50, 0.8), (stands_ms, 0.0)))
        [found] = confirmation(stages(kept), 'critical')
        assert found.verdict is verdict, found.reason


def test_a_confirmation_may_have_a_budget_and_a_gate_of_its_own():
    own = LatencyBudget(target_ms=300, acceptable_ms=600, critical_ms=900)
    for gate, verdict in ((None, Verdict.PASS), ('acceptable', Verdict.FAIL)):
        wanted = STANDS.model_copy(update={'budget': own, 'gate': gate})
        result = evaluate(record(reacting(250), hazard(
            signals=MOVES, feedback=('odom',), confirmation=wanted), extra=odom(
                (-50, 0.8), (700, 0.0))))
        assert result.verdict is verdict
        assert result.latency.confirmed.latency_class is LatencyClass.CRITICAL


def test_a_campaign_s_gate_holds_for_the_confirmation_too():
    kept = record(reacting(150), WATCHED, extra=odom((-50, 0.8), (300, 0.0)))
    assert evaluate(kept, 'acceptable').verdict is Verdict.PASS
    assert evaluate(kept, 'target').verdict is Verdict.FAIL


def test_a_confirmation_too_close_to_its_limit_is_inconclusive():
    doubt = Measuring(one_host=True, uncertainty_ms={'callback': 20.0})
    for stands_ms, verdict in ((480, Verdict.PASS), (490, Verdict.INCONCLUSIVE),
                               (521, Verdict.FAIL)):
        assert confirmation_of(*odom((-50, 0.8), (stands_ms, 0.0)), measuring=doubt)[1] is verdict


def test_a_robot_that_goes_on_and_says_so_fails():
    assert confirmation_of(*reports((-50, 0.8), (400, 0.4))) == (Verdict.FAIL, Verdict.FAIL)


@pytest.mark.parametrize('states', [
    (), reports((-550, 0.8))[:8], reports((-50, 0.8))[:20], reports((-50, 0.8), (300, 0.0))[:7],
    odom(*((t_ms, float('nan')) for t_ms, _ in driving(-50, 2500))), reports((-50, 0.0))],
    ids=['nothing', 'only before', 'ends while it moves', 'ends before the hold is over',
         'no numbers', 'stood already'])
def test_a_robot_that_does_not_say_is_inconclusive(states):
    """The commands were right; whether the robot ever stood still nobody has seen."""
    verdict, found = confirmation_of(*states)
    assert found is Verdict.INCONCLUSIVE and verdict is not Verdict.PASS


def test_an_all_clear_before_the_limit_of_the_confirmation_leaves_it_open():
    """It was not there after 450 ms, and had 50 ms more; or it was, but not for long enough."""
    for states in (reports((-50, 0.8)), reports((-50, 0.8), (400, 0.0))):
        kept = record(reacting(250), WATCHED, all_clear_ms=450.0, extra=states)
        [found] = confirmation(stages(kept), 'critical')
        assert found.verdict is Verdict.INCONCLUSIVE
        assert 'Let the all-clear come later' in found.reason


def test_a_trial_that_was_cut_short_confirms_nothing_and_refutes_nothing():
    kept = record(reacting(250), WATCHED, all_clear_ms=None, end_ms=None,
                  extra=reports((-50, 0.8)))
    [found] = confirmation(stages(kept), 'critical')
    assert found.verdict is Verdict.INCONCLUSIVE


def test_a_scenario_without_a_confirmation_has_no_such_check():
    result = evaluate(record(reacting(250), hazard()))
    assert CONFIRMED not in {found.check for found in result.findings}
