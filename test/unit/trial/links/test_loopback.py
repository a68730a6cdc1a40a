# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A controller in this process: simulated time, messages that take none, no chance."""

from collections.abc import Callable, Sequence
from contextlib import closing, contextmanager
import json
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.campaign.plugin_roles import Stamp, Stimulus
from safety_scenarios.controllers.host import Patience
from safety_scenarios.controllers.rule_based import motion
from safety_scenarios.errors import ControllerError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.interfaces import completed, stamp_of, stamped
from safety_scenarios.scenario.message import ChatMessage, Command, Message, Observation
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.links.loopback import hosted, LoopbackLink
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from unit.linked import linked
from unit.loopback_runs import run_trials
from unit.records import chat, hazard, ns, planned

BEGIN_NS = 10**9
BASE = RobotModel(kind='mobile_base', max_speed=1.0)
ARM = RobotModel(kind='arm', max_speed=1.0, joints=('one', 'two'))
EMPTY = Message(type='std_msgs/msg/Empty', data={})
STATES = Message(type='sensor_msgs/msg/JointState', data={
    'header': {}, 'name': ('two', 'one'), 'position': (2.0, 1.0), 'velocity': (), 'effort': ()})
POSE = Message(type='geometry_msgs/msg/PoseStamped', data={
    'pose': {'position': {'x': 1.0, 'y': 0.0, 'z': 0.0}}})


class Told:
    """Does what a function says, and keeps what it was shown."""

    def __init__(self, settings: ControllerSettings) -> None:
        self.settings = settings
        self.seen: list[Observation] = []
        self.asked: list[Sequence[ChatMessage]] = []
        self.closed = 0

    def decide(self, observation: Observation) -> Command | None:
        self.seen.append(observation)
        return motion(self.settings.robot, 0.8)

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        self.asked.append(messages)
        return f'answer {len(self.asked)}'

    def close(self) -> None:
        self.closed += 1


class Careful(Told):
    """Stops as soon as the scan is of something near."""

    def decide(self, observation: Observation) -> Command | None:
        [scan] = [*observation.latest('/LaserScan')] or [None]
        near = scan is not None and min(scan.message.data['ranges']) < 3.0
        return motion(self.settings.robot, 0.0 if near else 0.8)


def made(kind: type[Told] = Told, **settings: Any) -> tuple[LoopbackLink, Told]:
    """Return a link and the controller inside."""
    kept: list[Told] = []

    def make(given: ControllerSettings) -> Told:
        kept.append(kind(given))
        return kept[-1]
    link = linked(make, ControllerSettings(**{'robot': BASE, **settings}))
    return link, kept[0]


def at_ms(event: Event) -> float:
    return (event.stamps.steady_ns - BEGIN_NS) / 1e6


def until(link: LoopbackLink, t_ms: float) -> list[Event]:
    """Return everything that comes until then, as the engine asks for it."""
    found: list[Event] = []
    while events := link.receive_until(BEGIN_NS + ns(t_ms)):
        found += events
    return found


def send(link: LoopbackLink, topic: str, message: Message, stamp: Stamp = Stamp.NOW) -> Event:
    return link.send(Stimulus(topic, message, stamp), hazard=False, scheduled_ns=0)


def ask(link: LoopbackLink, trial_id: str = 'T') -> Event:
    return send(link, 'prompt', Message(type='std_msgs/msg/String', data={'data': json.dumps(
        {'trial_id': trial_id, 'messages': [{'role': 'user', 'content': 'What now?'}]})}))


def test_time_passes_only_while_the_engine_waits():
    link, _ = made()
    assert link.mark('a').stamps == link.mark('b').stamps == send(
        link, 'heartbeat', EMPTY).stamps.model_copy(update={'header_ns': None})
    link.receive_until(BEGIN_NS + ns(20))
    assert at_ms(link.mark('c')) == 20


def test_waiting_for_what_is_past_takes_no_time():
    link, _ = made()
    until(link, 70)
    assert link.receive_until(BEGIN_NS + ns(10)) == []
    assert at_ms(link.mark('now')) == 70


@for_each('period_ms', [1, 20, 50, 33.5])
def test_the_controller_ticks_at_its_period(period_ms):
    link, _ = made(period_ms=period_ms)
    found = until(link, 200)
    assert [at_ms(event) for event in found] == pytest.approx(
        [period_ms * k for k in range(1, 1 + int(200 / period_ms))])
    assert [event.sequence for event in found] == list(range(1, 1 + len(found)))


def test_one_command_comes_at_a_time():
    link, _ = made()
    assert [[at_ms(event) for event in link.receive_until(BEGIN_NS + ns(120))]
            for _ in range(3)] == [[50], [100], []]


def test_every_clock_says_the_same():
    link, _ = made()
    [event] = link.receive_until(BEGIN_NS + ns(50))
    stamps = event.stamps
    assert stamps.system_ns == stamps.ros_ns == stamps.source_ns == stamps.received_ns
    mark = link.mark('m').stamps
    assert mark.system_ns - mark.steady_ns == stamps.system_ns - stamps.steady_ns


def test_a_stimulus_is_seen_at_the_next_tick_with_its_age():
    link, controller = made()
    until(link, 130)
    send(link, 'human_pose', POSE)
    until(link, 200)
    assert [[*seen.readings] for seen in controller.seen] == [[], [], ['human_pose'],
                                                              ['human_pose']]
    ages = [seen.readings['human_pose'] for seen in controller.seen[2:]]
    assert [reading.age_ns for reading in ages] == [ns(20), ns(70)]
    assert [reading.stamp_age_ns for reading in ages] == [ns(20), ns(70)]
    assert ages[0].message.at('position') == POSE.at('pose.position')


def test_a_stimulus_with_a_header_is_seen_with_its_stamp_as_on_the_wire():
    link, controller = made()
    sent = send(link, 'human_pose', POSE)
    held = send(link, 'human_pose', POSE, Stamp.HOLD)
    until(link, 60)
    [seen] = controller.seen
    assert stamp_of(seen.readings['human_pose'].message) == held.stamps.header_ns
    assert sent.stamps.header_ns == held.stamps.header_ns
    assert sent.message == POSE


class Speaking(Told):
    """Returns whole messages."""

    said = Message(type='geometry_msgs/msg/TwistStamped', data={
        'header': {'frame_id': 'x'}, 'twist': {'linear': {'x': 7.0}}})

    def decide(self, observation: Observation) -> Message:
        return self.said


class Stamping(Speaking):
    """Returns them with a stamp of its own."""

    said = stamped(Speaking.said, 42)


def test_a_controller_may_speak_in_messages_and_what_lacks_a_stamp_is_stamped_now():
    link, _ = made(Speaking, command_type='geometry_msgs/msg/TwistStamped')
    [event] = link.receive_until(BEGIN_NS + ns(50))
    assert event.message == completed(Speaking.said), 'what it leaves out is 0 on the wire'
    assert event.stamps.header_ns == event.stamps.ros_ns


def test_a_stamp_that_a_controller_wrote_is_kept():
    link, _ = made(Stamping, command_type='geometry_msgs/msg/TwistStamped')
    [event] = link.receive_until(BEGIN_NS + ns(50))
    assert event.stamps.header_ns == 42


def test_a_message_of_another_interface_ends_the_trial():
    link, _ = made(Speaking)
    with pytest.raises(ControllerError, match='expected geometry_msgs/msg/Twist'):
        link.receive_until(BEGIN_NS + ns(50))


def test_a_controller_may_ask_for_a_period_of_its_own():
    link, _ = made(type('Eager', (Told,), {'period_ns': ns(4)}), period_ms=50)
    assert [at_ms(event) for event in until(link, 13)] == [4, 8, 12]


def test_frozen_data_is_new_and_stamped_old():
    link, controller = made()
    sent = [send(link, 'human_pose', POSE)]
    until(link, 40)
    sent.append(send(link, 'human_pose', POSE, Stamp.HOLD))
    until(link, 50)
    [reading] = controller.seen[0].readings.values()
    assert (reading.age_ns, reading.stamp_age_ns) == (ns(10), ns(50))
    assert sent[0].stamps.header_ns == sent[1].stamps.header_ns


def test_a_message_without_a_header_has_no_stamp():
    link, controller = made()
    send(link, 'heartbeat', EMPTY)
    until(link, 50)
    assert controller.seen[0].readings['heartbeat'].stamp_age_ns is None


def test_a_topic_that_is_no_input_or_has_another_type_is_not_heard():
    link, controller = made()
    send(link, 'human_pose', EMPTY)
    send(link, 'lidar', POSE)
    until(link, 50)
    assert controller.seen[0].readings == {}


@for_each(('settings', 'topic', 'interface'), [
    ({}, 'cmd_vel', 'geometry_msgs/msg/Twist'),
    ({'robot': ARM}, 'joint_trajectory', 'trajectory_msgs/msg/JointTrajectory'),
    ({'command_type': 'geometry_msgs/msg/TwistStamped', 'command_topic': 'go'}, 'go',
     'geometry_msgs/msg/TwistStamped')])
def test_commands_have_the_topic_and_type_that_are_asked_for(settings, topic, interface):
    link, _ = made(**settings)
    send(link, 'joint_states', STATES)
    [event] = link.receive_until(BEGIN_NS + ns(50))
    assert event.message is not None and (event.name, event.message.type) == (topic, interface)
    assert (event.stamps.header_ns is not None) is interface.endswith('Stamped')


def test_an_arm_starts_from_its_joint_states():
    link, _ = made(robot=ARM)
    send(link, 'joint_states', STATES)
    [event] = link.receive_until(BEGIN_NS + ns(50))
    assert event.message is not None
    point, _ = event.message.at('points')
    assert point['positions'] == pytest.approx((1.04, 2.04))  # from rest to 0.8 rad/s in 0.1 s
    assert point['velocities'] == pytest.approx((0.8, 0.8))


def test_an_arm_goes_on_along_its_own_trajectory_while_its_joint_states_stay():
    link, _ = made(robot=ARM)
    send(link, 'joint_states', STATES)
    first, second = until(link, 100)
    assert first.message is not None and second.message is not None
    point, _ = second.message.at('points')
    # half of the way to 0.8 rad/s after 0.05 s, and the rest in 0.1 s
    assert point['positions'] == pytest.approx((1.07, 2.07))


@pytest.mark.parametrize('heard', [(), ('one',)])
def test_an_arm_of_which_a_joint_is_unknown_is_told_nothing(heard):
    link, controller = made(robot=ARM)
    if heard:
        send(link, 'joint_states', Message(type=STATES.type, data={
            **STATES.data, 'name': heard, 'position': (1.0,) * len(heard)}))
    assert until(link, 200) == [] and len(controller.seen) == 4


class Quiet(Told):

    def decide(self, observation: Observation) -> None:
        super().decide(observation)

    def answer(self, messages: Sequence[ChatMessage]) -> None:
        super().answer(messages)


def test_a_controller_that_says_nothing_sends_nothing_and_ticks_on():
    link, controller = made(Quiet)
    ask(link)
    assert until(link, 200) == []
    assert (len(controller.seen), len(controller.asked)) == (4, 1)


def test_an_answer_comes_at_once_with_the_id_of_its_trial():
    link, controller = made()
    until(link, 60)
    ask(link, 'T7')
    [answer] = link.receive_until(BEGIN_NS + ns(99))
    assert (answer.kind, answer.name, answer.text, answer.trial_id, at_ms(answer)) == (
        'response', 'response', 'answer 1', 'T7', 60)
    assert [message.content for message in controller.asked[0]] == ['What now?']


class Slow(Told):
    answer_delay_ns = ns(120)


def test_an_answer_waits_for_its_delay_while_the_controller_ticks_on():
    link, _ = made(Slow)
    until(link, 10)
    ask(link)
    assert [(event.kind, at_ms(event)) for event in until(link, 300)] == [
        ('command', 50), ('command', 100), ('response', 130), ('command', 150), ('command', 200),
        ('command', 250), ('command', 300)]


def test_an_answer_comes_at_its_delay_and_not_before():
    link, _ = made(Slow)
    ask(link)
    assert 'response' not in [event.kind for event in until(link, 119.999999)]
    assert [event.kind for event in until(link, 120)] == ['response']


def test_answers_keep_the_order_of_their_prompts():
    link, _ = made(Slow)
    for trial_id in ('A', 'B'):
        ask(link, trial_id)
    until(link, 30)
    ask(link, 'C')
    answers = [event for event in until(link, 300) if event.kind == 'response']
    assert [(event.trial_id, event.text, at_ms(event)) for event in answers] == [
        ('A', 'answer 1', 120), ('B', 'answer 2', 120), ('C', 'answer 3', 150)]


def test_an_answer_to_an_earlier_trial_is_forgotten():
    link, _ = made(Slow)
    ask(link)
    link.open(planned(chat()))
    assert 'response' not in [event.kind for event in until(link, 300)]


class Failing(Told):

    def decide(self, observation: Observation) -> Command | None:
        if len(self.seen) >= 5:
            raise ZeroDivisionError('a mistake')
        return super().decide(observation)

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        raise ZeroDivisionError('a mistake')


def test_a_controller_that_raises_is_an_error_of_its_trial():
    link, _ = made(Failing)
    record = run_trial(planned(hazard()), link)
    result = evaluate(record)
    assert result.verdict is Verdict.ERROR
    assert 'ZeroDivisionError: a mistake' in result.reason
    assert len(record.of_kind('command')) == 5


def test_a_controller_that_raises_when_asked_is_an_error_that_names_the_mistake():
    link, _ = made(Failing, period_ms=10_000)
    result = evaluate(run_trial(planned(chat(STOP)), link))
    assert result.verdict is Verdict.ERROR
    assert 'ZeroDivisionError: a mistake' in result.reason


def test_an_answer_that_took_too_long_in_real_time_is_an_error():
    took_ns = []

    class Pondering(Told):

        def answer(self, messages: Sequence[ChatMessage]) -> str | None:
            took_ns.append(10**10)
            return 'an answer'
    link = LoopbackLink(hosted(Pondering, ControllerSettings(robot=BASE), patience=Patience(
        lambda: lambda: took_ns.pop() if took_ns else 0, 10**9)))
    result = evaluate(run_trial(planned(chat(STOP)), link))
    assert result.verdict is Verdict.ERROR and 'thought for 10000 ms' in result.reason


class Unmakeable(Told):

    def __init__(self, settings: ControllerSettings) -> None:
        raise RuntimeError('no weights')


STOP = Text(name='says something', description='d', check_type='regex', pattern=r'answer \d')


def test_a_controller_that_cannot_be_made_is_an_error_and_the_other_scenarios_go_on():
    with pytest.raises(ControllerError, match='RuntimeError: no weights'):
        hosted(Unmakeable, ControllerSettings(robot=BASE))

    kinds = iter((Unmakeable, Careful))

    @contextmanager
    def open_link(scenario):
        with closing(LoopbackLink(hosted(next(kinds), ControllerSettings(robot=BASE)))) as link:
            yield link
    trials = plan((hazard(id='A'), hazard(id='B')), controller='c', trials=2, seed=0,
                  prompt=Prompt())
    campaign = run_trials(trials, open_link, ())
    assert [(result.scenario_id, result.verdict.value) for result in campaign.results] == [
        ('A', 'ERROR'), ('A', 'ERROR'), ('B', 'PASS'), ('B', 'PASS')]
    assert 'no weights' in campaign.results[0].reason


def test_a_plug_in_that_has_something_to_close_is_closed():
    link, controller = made()
    link.close()
    assert controller.closed == 1
    linked(NothingToClose, ControllerSettings(robot=BASE)).close()


class NothingToClose:

    def __init__(self, settings: ControllerSettings) -> None:
        """Take nothing."""

    def decide(self, observation: Observation) -> None:
        """Return nothing."""

    def answer(self, messages: Sequence[ChatMessage]) -> None:
        """Return nothing."""


def judged(kind: type[Told], **changes: Any) -> Any:
    return evaluate(run_trial(planned(hazard(), **changes), made(kind)[0]))


@for_each(('phase', 'after_ms'), [
    (0.0, 50.0), (0.2, 40.0), (0.5, 25.0), (0.9, 5.0)])
def test_what_is_measured_is_the_period_of_the_controller(phase, after_ms):
    """Thinking takes no time; the hazard waits for the next tick."""
    result = judged(Careful, onset_phase=phase)
    assert result.verdict is Verdict.PASS and result.latency and result.latency.reaction
    assert result.latency.judged_ns == ns(after_ms)
    assert result.latency.reaction.method == 'source'
    assert result.latency.reaction.uncertainty_ns == 0
    assert result.latency.fallback is None and result.notes == ()


def test_a_controller_that_drives_on_fails():
    assert judged(Told).verdict is Verdict.FAIL


@pytest.mark.parametrize(('delay_ms', 'verdict'), [(500, 'PASS'), (500.000001, 'FAIL')])
def test_a_text_s_latency_is_its_delay_exactly(delay_ms, verdict):
    slow: Callable[..., Any] = type('S', (Told,), {'answer_delay_ns': ns(delay_ms)})
    result = evaluate(run_trial(planned(chat(STOP)), made(slow)[0]), words='patterns')
    assert result.latency is not None and result.latency.judged_ns == ns(delay_ms)
    assert result.verdict is Verdict(verdict)


def test_the_same_trial_gives_the_same_record():
    first, second = (run_trial(planned(hazard(), onset_phase=0.3), made(Careful)[0])
                     for _ in range(2))
    assert first.model_dump_json() == second.model_dump_json()
    other = run_trial(planned(hazard(), onset_phase=0.31), made(Careful)[0])
    assert other.events != first.events


def test_the_link_says_that_there_is_no_wiring():
    link, _ = made()
    assert [(row.check, row.status) for row in link.preflight()] == [('endpoints', 'ok')]
    assert link.measuring.one_host and not link.measuring.uncertainty_ms
