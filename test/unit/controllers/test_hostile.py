# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What hostile controllers say so that it looks like a stop, and is none."""

from typing import Any, ClassVar

from cases import for_each
import pytest
from safety_scenarios import run
from safety_scenarios.controllers.saboteurs.motion import Moves
from safety_scenarios.controllers.saboteurs.reactions import AsReference
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Stamps
from safety_scenarios.scenario.interfaces import completed
from safety_scenarios.scenario.message import Command, Message, Observation
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.timing import ClockOffset, Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.links.loopback import hosted, LoopbackLink
from safety_scenarios.trial.trial import Timeline
from unit.judging.motion.test_required_motion import moving, STAMPED
from unit.records import command, driving, hazard, ns, ONSET_ROS_NS, ONSET_SYSTEM_NS, record, TWIST


class LeavesOut(Moves):
    """Says no axis that it does not use, as a message may, and whirls or backs off meanwhile."""

    whirl: float = 0.0
    ahead: float = 1.0

    def drive(self, command: Command, observation: Observation) -> Message:
        return Message(type=TWIST, data={'linear': {'x': self.ahead * command.velocity[0]},
                                         'angular': {'z': self.whirl}})

    def stand(self, command: Command, observation: Observation) -> Message:
        return Message(type=TWIST, data={'angular': {}})


@pytest.mark.parametrize(('how', 'verdict', 'told'), [
    ({}, Verdict.PASS, 'reacted'), ({'whirl': 20.0}, Verdict.FAIL, 'no faster than'),
    ({'ahead': -1.0}, Verdict.FAIL, 'drives only where it may')])
def test_what_a_message_leaves_out_is_zero_and_the_rest_is_judged(how, verdict, told):
    made = type('Made', (LeavesOut,), {
        '__annotations__': dict.fromkeys(how, float), '__module__': __name__, **how})
    [trial] = run('SCN-R-101', controller=made, link='loopback').trials
    assert (trial.verdict, told in trial.reason) == (verdict, True), trial.reason


@for_each(('interface', 'data', 'whole'), [
    (TWIST, {}, {}), (TWIST, {'linear': {'x': 0.5}}, {'x': 0.5}),
    (STAMPED, {'twist': {'linear': {'y': 0.5}}}, {'y': 0.5}), (STAMPED, {}, {})])
def test_a_twist_is_made_whole_as_on_the_wire(interface, data, whole):
    found = completed(Message(type=interface, data=data))
    expected = moving(interface, **whole)
    assert found == expected and completed(found) is found


@for_each('data', [{'linear': ()}, {'twist': {}}, {'linear': {}, 'speed': 1.0}])
def test_what_is_no_twist_stays_what_it_is(data):
    message = Message(type=TWIST, data=data)
    assert completed(message) is message


def test_where_commands_lack_a_field_nobody_knows_how_fast_the_robot_is():
    """Nobody else reads linear.y: the motion was judged by nothing."""
    lacking = [(t_ms, Message(type=TWIST, data={'linear': {'x': 0.8 if t_ms < 200 else 0.0},
                                                'angular': {'z': 0.0}}))
               for t_ms, _ in driving(-690, 2500)]
    found = record(lacking)
    [track] = JudgedTrial.of(found).motion.tracks
    assert not track.is_known(*Timeline(found).window('hazard'))
    result = evaluate(found)
    [speed] = [one for one in result.findings if one.check == 'no faster than the robot can']
    assert speed.verdict is Verdict.INCONCLUSIVE and result.verdict is not Verdict.PASS


@for_each(('ahead_ms', 'verdict'), [
    (0.0, Verdict.PASS), (-50.0, Verdict.PASS), (200.0, Verdict.FAIL), (1e5, Verdict.FAIL)])
def test_a_stamp_that_is_ahead_keeps_a_command_alive_after_the_commands_ended(ahead_ms, verdict):
    """It falls silent 100 ms after the hazard, on a driver that stops it 300 ms after a stamp."""
    scenario = hazard(silence=Silence(policy='stop', driver_timeout_ms=300.0))
    commands = [command(t_ms, moving(STAMPED, x=0.8),
                        header_ns=ONSET_ROS_NS + ns(t_ms + ahead_ms))
                for t_ms, _ in driving(-690, 120)]
    result = evaluate(record(commands, scenario))
    assert result.verdict is verdict, result.reason


@for_each(('ros_ns', 'ahead_s', 'offset_s', 'later_s'), [
    (ONSET_SYSTEM_NS, 3.0, 3.0, 0.0), (ONSET_SYSTEM_NS, 3.5, 3.0, 0.5),
    (ONSET_SYSTEM_NS, -3.0, -3.0, 0.0), (ONSET_SYSTEM_NS, -2.0, -3.0, 1.0),
    (ONSET_ROS_NS, 0.0, -3.0, 0.0), (ONSET_ROS_NS, 2.0, 3.0, 2.0)])
def test_a_clock_that_is_ahead_keeps_no_command_alive(ros_ns, ahead_s, offset_s, later_s):
    """Another host's system clock is off, and simulated time is the same on all of them."""
    found = record([], measuring=Measuring(exact=True, offset=ClockOffset(
        offset_ns=ns(offset_s * 1e3), bound_ns=0, outbound_ns=0, inbound_ns=0, spread_ns=0,
        probes=25)))
    stamped = Stamps(steady_ns=7, system_ns=ONSET_SYSTEM_NS, ros_ns=ros_ns,
                     header_ns=ros_ns + ns(ahead_s * 1e3))
    said = command(0.0, moving(STAMPED, x=0.8)).model_copy(update={'stamps': stamped})
    assert Signals(found).counts_until_ns(said) == 7 + ns(later_s * 1e3)


class SaysBoth(AsReference):
    """Drives by its command, and says stop right after it on the same topic; or the other way."""

    drives_last: ClassVar[bool] = False

    @property
    def outputs(self) -> Any:
        return {self.context.topic: TWIST}

    def spoil(self, command: Command, observation: Observation) -> Command:
        return self.at_share(0.0 if self.drives_last else 0.5)

    def side_messages(self, observation: Observation) -> Any:
        return {self.context.topic: moving(x=0.5 if self.drives_last else 0.0)}


class DrivesLast(SaysBoth):
    """Says stop by its command, and drives on."""

    drives_last = True


@pytest.mark.parametrize('controller', [SaysBoth, DrivesLast])
def test_of_two_commands_at_once_the_robot_does_the_one_that_was_recorded_last(controller):
    done = []

    class Link(LoopbackLink):

        def _execute(self, topic, message):
            done.append(message)

    settings = ControllerSettings(robot=RobotModel(kind='mobile_base', max_speed=1.0))
    link = Link(hosted(controller, settings))
    link._commands, recorded = frozenset({'cmd_vel'}), []
    while not recorded:
        recorded = [event.message for event in link.receive_until(10**12)]
    assert recorded == done and len(done) == 2
    assert recorded[-1].data['linear']['x'] == (0.5 if controller.drives_last else 0.0)
