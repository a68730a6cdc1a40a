# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""When things are due: no drift, nothing twice, and no controller can hold the hazard back."""

from cases import for_each
from safety_scenarios.campaign.plugin_roles import Stimulus
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import Reaction
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.faults import LinkLoss
from safety_scenarios.stimuli.messages import Prompt, RawMessage
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Timeline
from unit.records import hazard, ns, planned, stamps, twist
from unit.scripted import drives, ScriptedLink, START_NS


@for_each('rate_hz', [3.0, 7.0, 30.0, 33.3, 100.0])
def test_the_schedule_does_not_drift(rate_hz):
    trial = planned(hazard(nominal=(Person(topic='scan', distance=6.0, rate_hz=rate_hz),),
                           stimuli=(Person(topic='scan', distance=1.5, rate_hz=rate_hz),)))
    record = run_trial(trial, ScriptedLink(drives))
    onset = Timeline(record).mark('onset')
    assert onset is not None and onset.scheduled_ns is not None
    for hazardous, start_ns in ((False, START_NS), (True, onset.scheduled_ns)):
        due = [event.scheduled_ns or 0 for event in record.of_kind('stimulus')
               if event.hazard is hazardous and (hazardous or event.stamps.steady_ns
                                                 < onset.stamps.steady_ns)]
        assert due == [start_ns + round(count * 1e9 / rate_hz) for count in range(len(due))]


def test_what_is_due_at_the_end_of_a_phase_belongs_to_the_next():
    record = run_trial(planned(hazard()), ScriptedLink(drives))
    onset, all_clear = Timeline(record).mark('onset'), Timeline(record).mark('all_clear')
    assert onset is not None and all_clear is not None
    at_onset = [event for event in record.of_kind('stimulus')
                if event.scheduled_ns == onset.scheduled_ns]
    at_all_clear = [event for event in record.of_kind('stimulus')
                    if event.scheduled_ns == all_clear.stamps.steady_ns]
    assert [event.hazard for event in at_onset] == [True]
    assert [event.hazard for event in at_all_clear] == [False]


def test_a_stimulus_that_is_sent_once_is_sent_once():
    link = ScriptedLink(drives)
    run_trial(planned(hazard(nominal=(Prompt(rate_hz=1.0),))), link)
    assert len([stimulus for _, stimulus in link.sent if stimulus.topic == 'prompt']) == 1


@for_each('delay_ms', [500, 510, 525, 549])
def test_after_a_dropped_beat_the_next_comes_on_time(delay_ms):
    beat = RawMessage(topic='heartbeat', message='std_msgs/msg/Empty', rate_hz=20.0)
    scenario = hazard(nominal=(beat,), stimuli=(
        LinkLoss(topic='heartbeat', rate_hz=20.0, drop=1),))
    link = ScriptedLink(drives)
    run_trial(planned(scenario, onset_delay_ns=ns(delay_ms)), link)
    beats = [t_ms for t_ms, _ in link.sent]
    gaps = sorted({b - a for a, b in zip(beats, beats[1:], strict=False)})
    assert gaps == [50.0, 100.0]


def test_a_late_link_sends_late_and_says_so():
    class Slow(ScriptedLink):

        def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event:
            self.now_ns += ns(30)
            return super().send(stimulus, hazard=hazard, scheduled_ns=scheduled_ns)

    record = run_trial(planned(hazard()), Slow(drives))
    onset = Timeline(record).onset
    assert onset is not None and onset.hazard and onset.scheduled_ns is not None
    assert onset.stamps.steady_ns >= onset.scheduled_ns + ns(30)


def test_a_flood_of_commands_does_not_hold_the_hazard_back():
    class Flooding(ScriptedLink):
        """There is always one more command, whatever the time."""

        def receive_until(self, steady_ns: int) -> list[Event]:
            self.now_ns += ns(1)
            assert self.now_ms < 10_000, 'the trial does not end'
            return [Event(kind='command', name='cmd_vel', message=twist(0.8),
                          stamps=stamps(0).model_copy(update={'steady_ns': self.now_ns}))]

    record = run_trial(planned(hazard()), Flooding())
    onset, end = Timeline(record).onset, Timeline(record).mark('end')
    assert onset is not None and onset.scheduled_ns is not None and end is not None
    assert onset.stamps.steady_ns - onset.scheduled_ns <= ns(5)


JOINTS = ('a', 'b')
ARM = {
    'signals': {'joint_speed': Signal(topic='joint_trajectory', field='points',
                                      reduce='joint_speed', current='joint_states', unit='rad/s',
                                      empty=0.0)},
    'reaction': Reaction(signal='joint_speed', at_most=0.02),
    'commands': ('joint_trajectory',)}
STATES = RawMessage(topic='joint_states', message='sensor_msgs/msg/JointState', rate_hz=50.0,
                    data={'name': JOINTS, 'position': (1.0, -1.0)})


def trajectory(*positions: float) -> Message:
    return Message(type='trajectory_msgs/msg/JointTrajectory', data={
        'header': {}, 'joint_names': JOINTS, 'points': ({
            'positions': positions, 'velocities': (), 'accelerations': (), 'effort': (),
            'time_from_start': {'sec': 0, 'nanosec': 100_000_000}},)})


def test_the_same_command_is_a_motion_once_the_arm_is_elsewhere():
    """One object is commanded all the time, from where it leads to and then from elsewhere."""
    there, off = ({'name': JOINTS, 'position': (x, -1.0)} for x in (1.05, 1.0))
    moved = STATES.model_copy(update={'data': there, 'then': off, 'after_ms': 700.0})
    command = trajectory(1.05, -1.0)
    scenario = hazard(**ARM, nominal=(moved,))
    ros = scenario.body.model_copy(update={
        'robot': RobotModel(kind='arm', max_speed=1.0, joints=JOINTS)})
    record = run_trial(planned(scenario.model_copy(update={'body': ros})), ScriptedLink(
        lambda t_ms, heard: command, topic='joint_trajectory'))
    onset = Timeline(record).onset
    assert onset is not None and onset.scheduled_ns is not None
    assert 1200 <= (onset.scheduled_ns - START_NS) / 1e6 < 1300


@for_each(('states', 'target', 'reached'), [
    ((STATES,), (1.05, -1.0), True), ((STATES,), (1.0, -1.0), False), ((), (1.05, -1.0), False)])
def test_joint_speed_starts_from_the_published_joint_states(states, target, reached):
    link = ScriptedLink(lambda t_ms, heard: trajectory(*target), topic='joint_trajectory')
    scenario = hazard(**ARM, nominal=states)
    arm = RobotModel(kind='arm', max_speed=1.0, joints=JOINTS)
    ros = scenario.body.model_copy(update={'robot': arm})
    record = run_trial(planned(scenario.model_copy(update={'body': ros})), link)
    assert (Timeline(record).mark('onset') is not None) is reached
    values = {value if value is None else round(value, 9)
              for _, value in Signals(record).values('joint_speed')}
    assert values == {None if not states else 0.5 if reached else 0.0}
