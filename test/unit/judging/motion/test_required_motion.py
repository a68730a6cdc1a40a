# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A number in a command that moves nothing is no motion, whatever a signal reads of it."""

from typing import Any

import safety_scenarios as ss
from safety_scenarios.controllers.saboteurs.reactions import AsReference
from safety_scenarios.judging.drivers.wheeled import DiffDrive
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.no_stop import Defer, NoSpuriousStop
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.message import Command, Message, Observation
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.verdict import Verdict
from unit.records import (
    ALL_CLEAR_MS,
    benign_variant,
    driving,
    END_MS,
    hazard,
    NOMINAL_MS,
    reacting,
    record,
    stages,
    TWIST,
)

STAMPED = 'geometry_msgs/msg/TwistStamped'


def moving(interface: str = TWIST, **axes: float) -> Message:
    data: Any = {'linear': {'x': 0.0, 'y': 0.0, 'z': 0.0} | axes,
                 'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}}
    return Message(type=interface, data=data if interface == TWIST else {
        'header': {'frame_id': ''}, 'twist': data})


def turning(rate: float) -> Message:
    return Message(type=TWIST, data=dict(moving(x=0.8).data) | {
        'angular': {'x': 0.0, 'y': 0.0, 'z': rate}})


def stopping_at(stop_ms: float, **how: Any) -> list[Any]:
    return [*((t_ms, moving(**how)) for t_ms, _ in driving(NOMINAL_MS + 10, stop_ms)),
            *((t_ms, moving(how.get('interface', TWIST)))
              for t_ms, _ in driving(stop_ms, ALL_CLEAR_MS))]


def verdicts(commands: Any, scenario: Scenario) -> tuple[str, str]:
    result = evaluate(record(commands, scenario))
    return result.verdict.value, result.reason


def with_driver(scenario: Scenario, driver: Any) -> Scenario:
    topic = CommandTopic(topic='cmd_vel', message=STAMPED, driver=driver)
    return scenario.model_copy(update={
        'body': scenario.body.model_copy(update={'commands': (topic,)})})


def test_a_base_that_is_told_to_drive_upward_stands_before_the_hazard():
    assert verdicts(stopping_at(200, x=0.8), hazard())[0] == 'PASS'
    verdict, reason = verdicts(stopping_at(200, z=0.8), hazard())
    assert (verdict, 'held when the hazard came, but not for the motion' in reason) == (
        'INCONCLUSIVE', True)
    assert verdicts(stopping_at(200, x=0.1, z=0.8), hazard())[0] == 'INCONCLUSIVE'


def test_in_a_benign_variant_a_base_that_stands_so_does_no_work():
    def works(commands: Any) -> Verdict | None:
        [found] = [one for one in evaluate(record(commands, benign_variant())).findings
                   if one.check == 'keeps working']
        return found.verdict

    assert works(stopping_at(END_MS, x=0.8)) is Verdict.PASS
    assert works(stopping_at(END_MS, z=0.8)) is Verdict.FAIL
    switching = [*stopping_at(0, x=0.8)[:14], *(
        (t_ms, moving(z=0.8)) for t_ms, _ in driving(0, END_MS))]
    assert works(switching) is Verdict.FAIL


def test_in_a_benign_variant_a_base_may_slow_down_as_far_as_its_file_says():
    def works(at_least: float, speed: float) -> Verdict | None:
        least = NoSpuriousStop(name='goes on', signal='speed', at_least=at_least)
        [found] = [one for one in evaluate(record(
            reacting(200.0, speed), benign_variant(invariants=[least]))).findings
            if one.check == 'keeps working']
        return found.verdict

    assert works(0.2, 0.25) is Verdict.PASS
    assert works(0.2, 0.15) is Verdict.FAIL
    assert works(0.3, 0.25) is Verdict.FAIL
    assert works(0.5, 0.4) is Verdict.PASS, 'the check of the file tells that'
    assert works(1e-6, 0.05) is Verdict.FAIL, 'no file lets creeping count as work'


def test_an_axis_that_a_declared_driver_does_not_have_moves_nothing():
    scenario = with_driver(hazard(), DiffDrive())
    ahead, left = ({'interface': STAMPED, axis: 0.8} for axis in 'xy')
    assert verdicts(stopping_at(200, **ahead), scenario)[0] == 'PASS'
    assert verdicts(stopping_at(200, **left), scenario)[0] == 'INCONCLUSIVE'


def test_who_stands_or_turns_in_a_circle_on_the_rails_has_not_cleared_them():
    defer = Defer(name='d', signal='speed', at_least=0.2, protected_ms=1000.0, at_most=0.05,
                  within_ms=500.0)

    def judged(on_rails: Message) -> Verdict | None:
        return defer.check(stages(record([
            *stopping_at(0, x=0.8)[:14],
            *((t_ms, on_rails) for t_ms, _ in driving(0, 1100, every_ms=20)),
            *((t_ms, moving()) for t_ms, _ in driving(1100, ALL_CLEAR_MS))]))).verdict

    assert judged(moving(x=0.8)) is judged(turning(0.5)) is Verdict.PASS
    assert judged(moving(z=0.8)) is judged(turning(6.3)) is Verdict.FAIL


class Climbs(AsReference):
    """The reference, but for what it drives by."""

    def spoil(self, command: Command, observation: Observation) -> Command | Message:
        return moving(z=command.velocity[0])


def test_among_agents_who_says_that_it_drives_drives():
    judged = [ss.run('nobody_in_the_way', controller=controller, link='loopback', words='patterns')
              for controller in ('rule_based', Climbs)]
    assert [one.verdict.value for one in judged] == ['PASS', 'FAIL']
    assert 'a motion is one: speed >=' in judged[1].explain()
