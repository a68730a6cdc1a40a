# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One host for every way to run a controller: in a link it is what it is when driven by hand."""

import asyncio
from collections.abc import Mapping
import math
from typing import Any, ClassVar

from examples import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
import numpy
import pytest
from safety_scenarios import registry
from safety_scenarios.campaign.plugin_roles import Stamp, Stimulus
from safety_scenarios.controllers.adapters import (
    configured,
    make_controller,
    takes_real_time,
)
from safety_scenarios.controllers.host import ControllerHost, Patience
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.errors import ControllerError, SettingsError
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.interfaces import has_header, stamped
from safety_scenarios.scenario.message import Command, Message, Observation
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.trial.links.loopback import LoopbackLink
from unit.controllers.observations import beat, box, flag, pose
from unit.linked import begun

BASE = RobotModel(kind='mobile_base', max_speed=1.0)
CONTEXT = ControllerSettings(robot=BASE)
BEGIN_NS, PERIOD_NS = 1_000_000_000, 50_000_000
EPOCH_NS = 1_577_836_800 * 1_000_000_000
ODOMETRY = Message(type='nav_msgs/msg/Odometry', data={'pose': {}})
INPUTS: Mapping[str, tuple[Message, ...]] = {
    'scan': (box(1.0), box(9.0)), 'human_pose': (pose(1.0), pose(3.0), pose(9.0)),
    'estop': (flag(True), flag(False)), 'heartbeat': (beat(),)}
"""Topic to the messages that a test may send on it."""
SEEN = [name for name in registry.BUILT_IN['controllers'] if name != 'llm']


def made(name: str) -> ControllerHost:
    return ControllerHost(make_controller(registry.resolve('controllers', name), CONTEXT))


messages = st.lists(st.tuples(st.integers(0, 20), st.sampled_from(sorted(INPUTS)),
                              st.integers(0, 2)), max_size=12).map(sorted)


@settings(max_examples=up_to(60), deadline=None)
@given(name=st.sampled_from(SEEN), sent=messages)
def test_a_host_in_loopback_is_a_host_driven_by_hand(name, sent):
    """Between two ticks come the same messages at the same times: the same commands come of it."""
    by_hand, link = made(name), LoopbackLink(made(name))
    period_ns, commands, received = by_hand.period_ns, [], []
    now_ns = BEGIN_NS
    due_ns = BEGIN_NS + period_ns
    for period, topic, which in [*sent, (25, 'heartbeat', 0)]:
        until_ns = BEGIN_NS + period * PERIOD_NS + PERIOD_NS // 3
        while due_ns <= until_ns:
            message = by_hand.tick(due_ns, EPOCH_NS + due_ns)
            commands += [] if message is None else [(due_ns, message)]
            due_ns += period_ns
        while events := link.receive_until(until_ns):
            received += [(event.stamps.steady_ns, event.message) for event in events
                         if event.kind == 'command']
        now_ns = max(now_ns, until_ns)
        given_one = INPUTS[topic][which % len(INPUTS[topic])]
        stamp_ns = EPOCH_NS + now_ns if has_header(given_one) else None
        by_hand.receive(topic, given_one if stamp_ns is None else stamped(given_one, stamp_ns),
                        now_ns, stamp_ns)
        link.send(Stimulus(topic, given_one, Stamp.NOW), hazard=False, scheduled_ns=0)
    assert repr(received) == repr(commands)  # NaN does not equal itself


ARM = ControllerSettings(robot=RobotModel(kind='arm', max_speed=1.0, joints=('shoulder',)))


class Turns(ControllerPlugin):
    """Turns the only joint of an arm."""

    def decide(self, observation: Observation) -> Command:
        return Command(velocity=(0.8,))


def shown(position: float, velocity: float) -> Message:
    return Message(type='sensor_msgs/msg/JointState', data={
        'name': ('shoulder',), 'position': (position,), 'velocity': (velocity,)})


def aims(host: ControllerHost, now_ns: int) -> float | None:
    """Return the first position of the trajectory that is spoken, None if nothing is."""
    message = host.tick(now_ns, EPOCH_NS + now_ns)
    return None if message is None else message.at('points')[0]['positions'][0]


def turning(position: float, speed: float, until_ns: int) -> ControllerHost:
    """Return a host whose arm has turned through a position by now."""
    host = ControllerHost(begun(Turns, ARM))
    host.receive('joint_states', shown(position, speed), until_ns - PERIOD_NS, None)
    assert aims(host, until_ns - PERIOD_NS) == pytest.approx(position + 0.05 * (0.8 + speed))
    return host


def test_an_arm_goes_on_from_where_it_was_told_to_be_and_not_from_a_state_of_before():
    host = turning(0.3, 0.8, BEGIN_NS)
    host.receive('joint_states', shown(0.32, 0.8), BEGIN_NS - 10_000_000, None)
    assert aims(host, BEGIN_NS) == pytest.approx(0.3 + 0.04 + 0.08)


def test_an_arm_that_a_new_trial_shows_nearby_begins_from_there():
    """It is nearer to where it would be by now than a late joint state might be."""
    host = turning(0.05, 0.8, BEGIN_NS)
    host.begin_trial(BEGIN_NS)
    assert aims(host, BEGIN_NS) is None  # the state of the trial before is none of this one
    host.receive('joint_states', shown(0.0, 0.0), BEGIN_NS, None)
    assert aims(host, BEGIN_NS + PERIOD_NS) == pytest.approx(0.04)


@pytest.mark.parametrize('silent_ms', [300, 60])
def test_an_arm_begins_anew_after_a_silence_without_a_tick(silent_ms):
    host = turning(0.05, 0.8, BEGIN_NS)
    later_ns = BEGIN_NS - PERIOD_NS + silent_ms * 1_000_000
    host.receive('joint_states', shown(0.0, 0.0), later_ns, None)
    found = aims(host, later_ns)
    assert found == pytest.approx(0.04) if silent_ms == 300 else found > 0.1


class Navigates(ControllerPlugin):
    """Stops when it has seen odometry, which no built-in controller listens to."""

    inputs: ClassVar[Mapping[str, str]] = {  # type: ignore[assignment]
        'odometry': 'nav_msgs/msg/Odometry', 'imu/raw': 'sensor_msgs/msg/Imu'}

    def decide(self, observation: Observation) -> Command:
        return Command(velocity=(0.0 if 'odometry' in observation.readings else 1.0, 0.0))


def test_an_input_beside_the_eight_is_heard_in_loopback_with_its_stamp():
    seen: list[Observation] = []

    class Watches(Navigates):

        def decide(self, observation: Observation) -> Command:
            seen.append(observation)
            return super().decide(observation)
    link = LoopbackLink(ControllerHost(begun(Watches)))
    link.receive_until(BEGIN_NS + 60_000_000)
    for topic, message in (('odometry', ODOMETRY), ('scan', box(1.0)), ('imu/raw', flag(True))):
        link.send(Stimulus(topic, message), hazard=False, scheduled_ns=0)
    [command] = link.receive_until(BEGIN_NS + 100_000_000)
    assert command.message is not None and command.message.at('linear.x') == 0.0
    assert set(seen[-1].readings) == {'odometry'}, 'not what it did not ask for, nor another type'
    reading = seen[-1].readings['odometry']
    assert (reading.age_ns, reading.stamp_age_ns) == (50_000_000, 50_000_000)


@pytest.mark.parametrize(('interface', 'data', 'has'), [
    ('sensor_msgs/msg/LaserScan', {}, True), ('sensor_msgs/msg/JointState', {}, True),
    ('geometry_msgs/msg/PoseStamped', {}, True), ('geometry_msgs/msg/Twist', {}, False),
    ('std_msgs/msg/Bool', {'data': True}, False), ('my_msgs/msg/Own', {'header': {}}, True),
    ('my_msgs/msg/Own', {}, False), ('nav_msgs/msg/Odometry', {}, True)])
def test_which_messages_have_a_header(interface, data, has):
    assert has_header(Message(type=interface, data=data)) is has


@pytest.mark.parametrize('inputs', [
    {'/scan': 'sensor_msgs/msg/LaserScan'}, {'scan': 'LaserScan'}, {'a b': 'x/msg/X'}])
def test_inputs_that_are_none_are_refused(inputs):
    kind: Any = type('Deaf', (ControllerPlugin,), {
        '__module__': __name__, 'inputs': property(lambda self: inputs)})
    with pytest.raises(ControllerError, match='inputs: got .*expected a relative topic name'):
        ControllerHost(begun(kind))


class Raises(ControllerPlugin):

    def decide(self, observation: Observation) -> Command:
        raise ZeroDivisionError('a mistake')

    def answer(self, messages: Any) -> str:
        raise ValueError('another')


@pytest.mark.parametrize('period', [0, 50, 999_999, None])
def test_a_period_after_which_a_trial_would_never_end_is_refused(period):
    """Such as one of 50 ns, by somebody who meant 50 ms."""
    hurried: Any = type('Hurried', (ControllerPlugin,), {
        '__module__': __name__, 'period_ns': property(lambda self: period)})
    with pytest.raises(ControllerError, match=f'period_ns: got {period}, expected at least 1000'):
        _ = ControllerHost(begun(hurried)).period_ns


@pytest.mark.parametrize('delay', [math.nan, math.inf, -1, '5', None, 2e15])
def test_a_delay_that_is_no_time_is_refused(delay):
    """With not a number simulated time went on for ever, and no trial ended."""
    endless: Any = type('Endless', (ControllerPlugin,), {
        '__module__': __name__, 'answer_delay_ns': property(lambda self: delay)})
    with pytest.raises(ControllerError, match='answer_delay_ns: got .*, expected 0 to 10+ ns'):
        _ = ControllerHost(begun(endless)).answer_delay_ns


def test_a_delay_may_be_a_number_of_any_kind_as_a_period_may():
    late: Any = type('Late', (ControllerPlugin,), {
        '__module__': __name__, 'answer_delay_ns': property(lambda self: 0.05e9)})
    assert ControllerHost(begun(late)).answer_delay_ns == 50_000_000


def test_what_a_plug_in_raises_is_a_controller_error_with_its_cause():
    host = ControllerHost(begun(Raises, ControllerSettings(controller='r')))
    with pytest.raises(ControllerError, match='^the controller r failed: ZeroDivisionError: a mis'
                       ) as failed:
        host.tick(0, 0)
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    with pytest.raises(ControllerError, match='^the controller r failed: ValueError: another'):
        host.prompt('{"trial_id": "t", "messages": []}')
    with pytest.raises(ValueError, match='JSONDecodeError|Expecting'):
        host.prompt('no envelope')


@pytest.mark.parametrize('raised', [asyncio.CancelledError, GeneratorExit])
def test_what_is_no_exception_of_its_own_ends_no_campaign(raised):
    def leaves(observation: Observation) -> Command:
        raise raised

    with pytest.raises(ControllerError, match=f'failed: {raised.__name__}'):
        ControllerHost(make_controller(leaves, CONTEXT)).tick(0, 0)


@pytest.mark.parametrize(('limit_ms', 'forgiven'), [(400, 0), (999, 0), (1000, 1), (1999, 1)])
def test_thinking_that_simulated_time_leaves_out_is_an_error(limit_ms, forgiven):
    now_ns = 0

    def thinks(observation: Observation) -> Command:
        nonlocal now_ns
        now_ns += 2_000_000_000
        return Command(velocity=(0.0, 0.0))

    def watch():
        began_ns = now_ns
        return lambda: now_ns - began_ns

    def host(limit_ns: int) -> ControllerHost:
        return ControllerHost(make_controller(thinks, CONTEXT), patience=Patience(watch, limit_ns))
    slow = host(limit_ms * 1_000_000)
    for _ in range(forgiven):
        slow.tick(0, 0)
    with pytest.raises(ControllerError, match='thought for 2000 ms of real time.* Use link ros'):
        slow.tick(0, 0)
    assert host(2_000_000_000).tick(0, 0) is not None, 'the limit itself is not beyond it'


@pytest.mark.parametrize(('robot', 'velocity', 'told'), [
    (BASE, (0.0, 0.0, 0.9), 'got 3 numbers, expected 2'), (BASE, (), 'got 0 numbers, expected 2'),
    (RobotModel(kind='arm', max_speed=1.0, joints=('a', 'b', 'c')), (0.0, 0.0),
     'got 2 numbers, expected 3, one for each joint: a, b, c')])
def test_numbers_that_would_not_be_sent_are_refused(robot, velocity, told):
    host = ControllerHost(make_controller(
        lambda observation: Command(velocity=velocity), ControllerSettings(
            robot=robot, command_type='trajectory_msgs/msg/JointTrajectory' if robot.joints
            else 'geometry_msgs/msg/Twist')))
    with pytest.raises(ControllerError, match=f'decide: velocity: {told}'):
        host.tick(0, 0)


@pytest.mark.parametrize('velocity', [
    [0.5, 0.0], numpy.array([0.5, 0.0]), numpy.array([0.5, 0.0], dtype=numpy.float32)])
def test_arrays_are_velocities(velocity):
    assert Command(velocity=velocity) == Command(velocity=(0.5, 0.0))


@pytest.mark.parametrize('velocity', [['0.5', '0.0'], numpy.array([[0.5, 0.0]]), 0.5, 'ab'])
def test_what_is_no_velocity_is_told_in_one_line(velocity):
    host = ControllerHost(make_controller(lambda observation: Command(velocity=velocity), CONTEXT))
    with pytest.raises(ControllerError, match='Command.velocity.*: got .*expected') as told:
        host.tick(0, 0)
    assert '\n' not in str(told.value) and 'http' not in str(told.value)


def test_a_decision_that_is_no_command_is_named():
    host = ControllerHost(make_controller(lambda observation: 0.5, CONTEXT))
    with pytest.raises(ControllerError, match='decide: got 0.5, expected a Command'):
        host.tick(0, 0)
    host = ControllerHost(make_controller(lambda observation: 'I stop', CONTEXT))
    with pytest.raises(ControllerError, match='A class answers in words by its method answer'):
        host.tick(0, 0)


def test_a_mistake_is_named_with_the_line_that_made_it():
    host = ControllerHost(begun(Raises, ControllerSettings(controller='r')))
    with pytest.raises(ControllerError, match=r' \(test_host\.py:[0-9]+\)$'):
        host.tick(0, 0)


@pytest.mark.parametrize('wanted', ['/scan', 'scan', 'laserScan', ''])
def test_a_topic_is_no_message_type(wanted):
    host = ControllerHost(make_controller(lambda seen: seen.latest(wanted), CONTEXT))
    with pytest.raises(ControllerError, match='expected the name of a message type, such as Las'):
        host.tick(0, 0)


def half_speed(observation: Observation) -> Command:
    return Command(velocity=(0.5, 0.0))


class Plain:
    """A controller without our base."""

    takes_real_time = True
    period_ns = 7_000_000

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    def decide(self, observation: Observation) -> Command:
        return Command(velocity=(self.settings.robot.max_speed, 0.0))

    def answer(self, messages: Any) -> str:
        return str(self.settings.robot.kind)


def velocity(plugin: ControllerPlugin) -> Any:
    decided: Any = plugin.decide(Observation(t_ns=0, readings={}))
    return decided.velocity


def test_a_function_is_a_controller():
    assert velocity(make_controller(half_speed, CONTEXT)) == (0.5, 0.0)
    with pytest.raises(SettingsError, match='cruise: .*Extra inputs'):
        make_controller(half_speed, CONTEXT, {'cruise': 1.0})


def test_a_plain_class_gets_its_settings():
    plugin = make_controller(Plain, CONTEXT)
    assert velocity(plugin) == (CONTEXT.robot.max_speed, 0.0)
    assert plugin.answer(()) == 'mobile_base' and plugin.period_ns == 7_000_000
    assert takes_real_time(Plain) and not takes_real_time(half_speed)


def test_a_plain_class_has_no_parameters_that_its_constructor_does_not_name():
    """It would ignore them, and results would name them."""
    with pytest.raises(SettingsError, match='cruise: .*Extra inputs'):
        make_controller(Plain, CONTEXT, {'cruise': 0.25})


def test_a_plain_object_is_used_as_it_is_and_takes_no_parameters():
    given_one = Plain(CONTEXT)
    assert velocity(make_controller(given_one, CONTEXT)) == (CONTEXT.robot.max_speed, 0.0)
    with pytest.raises(SettingsError, match='is made already'):
        make_controller(given_one, CONTEXT, {'cruise': 1.0})


def test_an_instance_lends_its_parameters_and_not_its_state():
    given_one = RuleBased(stop_distance_m=1.0, cruise=0.5)
    one, two = (make_controller(given_one, CONTEXT) for _ in range(2))
    assert one is not two and one is not given_one and not given_one.model_fields_set - {
        'stop_distance_m', 'cruise'}
    assert isinstance(one, RuleBased) and (one.stop_distance_m, one.cruise) == (1.0, 0.5)
    again = make_controller(given_one, CONTEXT, {'cruise': 0.25})
    assert isinstance(again, RuleBased) and (again.stop_distance_m, again.cruise) == (1.0, 0.25)


@pytest.mark.parametrize('thing', [None, 7, 'rule_based', object(), dict])
def test_what_cannot_be_a_controller_is_named(thing):
    with pytest.raises(SettingsError, match='controller: got .*expected a name, a class'):
        configured(thing, {})
