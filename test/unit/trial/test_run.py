# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The main loop over a scripted link: what is sent and recorded, and when a link is armed."""

import math

from cases import for_each
import pytest
from safety_scenarios.campaign.plugin_roles import Stamp
from safety_scenarios.errors import ControllerError, LinkTimeoutError, MeasurementError, TraceError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.conversation import Envelope
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.bodies import Person
from safety_scenarios.stimuli.faults import LinkLoss, SensorFault
from safety_scenarios.stimuli.messages import RawMessage
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Timeline, TrialRecord
from unit.conversations import block, GREETED, trial_of
from unit.records import chat, hazard, ns, planned, stamps, twist
from unit.scripted import careful, drives, ScriptedLink, START_NS

BEAT = RawMessage(topic='heartbeat', message='std_msgs/msg/Empty', rate_hz=20.0)
ONSET_MS, CLEAR_MS, END_MS = 550.0, 3050.0, 3550.0


def ran(controller=drives, link: ScriptedLink | None = None, **changes) -> TrialRecord:
    return run_trial(planned(hazard(**changes)), link or ScriptedLink(controller))


def at_ms(event: Event) -> float:
    return (event.stamps.steady_ns - START_NS) / 1e6


def marks(record: TrialRecord) -> list[tuple[str, float]]:
    return [(event.name, at_ms(event)) for event in record.of_kind('mark')]


def stimuli(record: TrialRecord, from_ms: float, to_ms: float, topic: str) -> list[Event]:
    return [event for event in record.of_kind('stimulus', topic)
            if from_ms <= at_ms(event) < to_ms]


def test_the_phases_come_in_order_and_on_time():
    assert marks(ran()) == [('nominal', 0.0), ('onset', ONSET_MS), ('all_clear', CLEAR_MS),
                            ('end', END_MS)]


def test_onset_waits_for_the_controller_to_move():
    record = ran(lambda t_ms, heard: 0.8 if t_ms >= 1000 else 0.0)
    assert Timeline(record).mark('onset') is not None
    assert dict(marks(record))['onset'] == 1500.0


def test_the_first_moving_command_of_a_batch_counts():
    batch = [[Event(kind='command', name='cmd_vel', message=twist(speed),
                    stamps=stamps(0).model_copy(update={'steady_ns': START_NS + ns(t_ms)}))
              for t_ms, speed in ((10, 0.0), (20, 0.8), (60, 0.8), (90, 0.8), (95, 0.8))]]

    class Batching(ScriptedLink):

        def receive_until(self, steady_ns):
            if batch and steady_ns >= START_NS + ns(100):
                self.now_ns = START_NS + ns(100)
                return batch.pop()
            return super().receive_until(steady_ns)

    record = ran(link=Batching())
    assert dict(marks(record))['onset'] == 520.0


def test_a_stall_that_is_reported_after_the_end_is_recorded_with_the_time_at_which_it_began():
    class Stalled(ScriptedLink):

        def late_stalls(self):
            at_ns = self.now_ns + ns(300)
            return [Event(kind='stall', name='controller', text='stopped', truth={
                'began': began_s, 'ended': 0.1, 'lost': 0.4}, stamps=stamps(0).model_copy(
                    update={'steady_ns': at_ns})) for began_s in (0.5, 0.3, 0.2)]

    record = ran(link=Stalled(drives))
    end, stall = record.events[-2:]
    assert (end.name, stall.kind, stall.stamps) == ('end', 'stall', end.stamps)
    assert stall.truth == pytest.approx({'began': 0.2, 'ended': -0.2, 'lost': 0.4})


def test_the_hazard_replaces_the_nominal_stimulus_on_its_topic():
    record = ran(nominal=(Person(topic='scan', distance=6.0, rate_hz=20.0), BEAT))
    during = stimuli(record, ONSET_MS, CLEAR_MS, 'scan')
    assert len(during) == 50
    assert all(event.hazard and event.truth == {'distance': 1.5} for event in during)


def test_the_nominal_stimulus_returns_after_all_clear():
    record = ran()
    around = [*stimuli(record, 0, ONSET_MS, 'scan'), *stimuli(record, CLEAR_MS, END_MS, 'scan')]
    assert len(around) == 21
    assert all(not event.hazard and event.truth == {'distance': 6.0} for event in around)
    gaps = [(b.scheduled_ns or 0) - (a.scheduled_ns or 0)
            for a, b in zip(around, around[1:], strict=False)]
    assert {gap % ns(50) for gap in gaps} == {0}


def test_the_other_nominal_stimuli_go_on_all_the_time():
    record = ran(nominal=(Person(topic='scan', distance=6.0, rate_hz=20.0), BEAT))
    beats = record.of_kind('stimulus', 'heartbeat')
    assert [at_ms(event) for event in beats] == [50.0 * count for count in range(71)]
    assert not any(event.hazard for event in beats)


def test_a_hazard_on_a_topic_of_its_own_ends_with_all_clear():
    record = ran(nominal=(BEAT,))
    assert len(record.of_kind('stimulus', 'scan')) == 50
    assert all(ONSET_MS <= at_ms(event) < CLEAR_MS for event in record.of_kind('stimulus', 'scan'))


def test_a_frozen_sensor_holds_its_stamp():
    link = ScriptedLink(drives)
    ran(link=link, stimuli=(SensorFault(topic='scan', fault='frozen', rate_hz=20.0),))
    held = {stimulus.stamp is Stamp.HOLD for t_ms, stimulus in link.sent
            if ONSET_MS <= t_ms < CLEAR_MS}
    fresh = {stimulus.stamp for t_ms, stimulus in link.sent if not ONSET_MS <= t_ms < CLEAR_MS}
    assert (held, fresh) == ({True}, {Stamp.NOW})


def test_a_frozen_sensor_repeats_its_last_picture():
    walking = Person(topic='scan', distance=9.0, speed=1.0, rate_hz=20.0)
    record = ran(nominal=(walking,),
                 stimuli=(SensorFault(topic='scan', fault='frozen', rate_hz=20.0),))
    last = stimuli(record, 0, ONSET_MS, 'scan')[-1]
    pictures = [event.message for event in stimuli(record, ONSET_MS, CLEAR_MS, 'scan')]
    assert len(pictures) == 50
    assert all(picture == last.message for picture in pictures)


def test_a_lost_link_is_silent_until_all_clear():
    record = ran(nominal=(BEAT,), stimuli=(LinkLoss(topic='heartbeat', rate_hz=20.0),))
    assert not stimuli(record, ONSET_MS, CLEAR_MS, 'heartbeat')
    assert len(stimuli(record, 0, ONSET_MS, 'heartbeat')) == 11
    assert len(stimuli(record, CLEAR_MS, END_MS, 'heartbeat')) == 10
    assert Timeline(record).onset == Timeline(record).mark('onset')


def test_a_dropped_message_is_one_message():
    record = ran(nominal=(BEAT,), stimuli=(LinkLoss(topic='heartbeat', rate_hz=20.0, drop=1),))
    assert [at_ms(event) for event in stimuli(record, 450, 701, 'heartbeat')] == [
        450.0, 500.0, 600.0, 650.0, 700.0]
    assert Timeline(record).onset == Timeline(record).mark('onset')


@for_each('speed', [0.0, 0.29, math.nan, None])
def test_a_controller_at_rest_is_shown_no_hazard(speed):
    record = ran(lambda t_ms, heard: speed)
    assert marks(record) == [('nominal', 0.0), ('end', 3000.0)]
    assert not any(event.hazard for event in record.events)


def test_the_harness_hears_how_the_controller_reacts():
    speeds = {at_ms(event): event.message.at('linear.x')
              for event in ran(careful).of_kind('command') if event.message}
    assert {speed for t_ms, speed in speeds.items() if t_ms < ONSET_MS} == {0.8}
    assert {speed for t_ms, speed in speeds.items() if 600 <= t_ms <= CLEAR_MS} == {0.0}
    assert {speed for t_ms, speed in speeds.items() if t_ms > CLEAR_MS + 50} == {0.8}


@for_each('error', [
    MeasurementError('deaf'), LinkTimeoutError('/x', 'a publisher', 1.0, 'nobody', 'Start it.'),
    ControllerError('crashed')])
def test_what_keeps_the_harness_from_observing_is_recorded(error):
    def failing(t_ms, heard):
        if t_ms > 1000:
            raise error
        return 0.8

    for link in (ScriptedLink(failing), ScriptedLink(on_open=error)):
        record = ran(link=link)
        assert [(event.name, event.text) for event in record.of_kind('fault')] == [
            (type(error).__name__, str(error))]
        assert record.events[-1].kind == 'fault' and Timeline(record).mark('end') is None


def test_ctrl_c_keeps_what_was_measured():
    def interrupted(t_ms, heard):
        if t_ms > 1000:
            raise KeyboardInterrupt
        return 0.8

    record = ran(interrupted)
    assert [event.name for event in record.of_kind('fault')] == ['interrupted']
    assert len(record.of_kind('command')) == 20
    assert Timeline(record).mark('onset') is not None


def test_a_command_without_the_signal_s_field_is_a_fault_that_says_so():
    stray = Message(type='std_msgs/msg/String', data={'data': 'go'})
    record = ran(lambda t_ms, heard: stray)
    assert "'speed'" in (record.of_kind('fault')[0].text or '')


def test_every_sink_gets_every_event_as_it_happens():
    class Sink(list):
        add = list.append

    sinks = (Sink(), Sink())
    record = run_trial(planned(hazard()), ScriptedLink(careful), sinks)
    assert tuple(sinks[0]) == tuple(sinks[1]) == record.events


def test_a_prompt_is_sent_once_and_a_second_after_the_answer_the_trial_ends():
    link = ScriptedLink(answers=[(550, 'late', 'another'), (600, 'Stop.', 'T.c.s0.t0'),
                                 (1599, 'Go.', 'T.c.s0.t0'), (1601, 'Or not.', 'T.c.s0.t0')])
    record = run_trial(planned(chat()), link)
    assert marks(record) == [('nominal', 0.0), ('onset', 500.0), ('end', 1600.0)]
    assert len(link.sent) == 1
    assert Timeline(record).answer is not None and Timeline(record).answer.text == 'Stop.'
    assert [event.text for event in Timeline(record).responses] == ['Stop.', 'Go.']


def test_a_second_answer_is_not_waited_for_beyond_the_end():
    link = ScriptedLink(answers=[(1900, 'Stop.', 'T.c.s0.t0')])
    assert marks(run_trial(planned(chat()), link))[-1] == ('end', 2000.0)


def test_without_an_answer_the_trial_ends_on_time():
    record = run_trial(planned(chat()), ScriptedLink(answers=[(600, 'Stop.', None)]))
    assert marks(record)[-1] == ('end', 2000.0)
    assert Timeline(record).answer is None


@pytest.mark.parametrize('scenario', [hazard(), chat()])
def test_a_preflight_ends_with_the_nominal_phase(scenario):
    link = ScriptedLink(drives)
    record = run_trial(planned(scenario), link, with_hazard=False)
    assert [name for name, _ in marks(record)] == ['nominal', 'end']
    assert not any(event.hazard for event in record.events)
    assert 'prompt' not in {stimulus.topic for _, stimulus in link.sent}


MISSING = LinkTimeoutError('/cmd_vel', 'a publisher', 10.0, 'nothing', 'Start it.')


class Locked(ScriptedLink):
    """Notes what is asked of it and in which order; ``fails`` says what goes wrong where."""

    def __init__(self, controller=careful, fails=None, **more):
        super().__init__(controller, **more)
        self.calls = []
        self.fails = fails or {}

    def _call(self, name):
        self.calls.append(name)
        if name in self.fails:
            raise self.fails[name]

    def arm(self):
        self._call('arm')

    def disarm(self):
        self._call('disarm')

    def mark(self, name: str) -> Event:
        self.calls.append(name)
        return super().mark(name)

    def deliver(self, envelope: Envelope, hearers) -> Stamps:
        return self._stamps()


def armed(link, trial=None, **more):
    return run_trial(trial or planned(hazard()), link, **more)


def test_it_is_armed_after_the_nominal_phase_and_disarmed_after_the_end():
    link = Locked()
    armed(link)
    assert link.calls == ['nominal', 'arm', 'onset', 'all_clear', 'end', 'disarm']


@pytest.mark.parametrize('trial', [planned(chat()), trial_of(block(GREETED))],
                         ids=['chat', 'agents'])
def test_so_it_is_where_words_are_the_hazard(trial):
    link = Locked()
    armed(link, trial)
    assert link.calls == ['nominal', 'arm', 'onset', 'end', 'disarm']


@pytest.mark.parametrize(('link', 'more'), [
    (Locked(lambda t_ms, heard: 0.0), {}), (Locked(), {'with_hazard': False})],
    ids=['never moved', 'preflight'])
def test_without_a_hazard_it_is_never_armed(link, more):
    armed(link, **more)
    assert link.calls == ['nominal', 'end', 'disarm']


def fails(t_ms, heard):
    if t_ms > 1000:
        raise ZeroDivisionError('by zero')
    return 0.8


def interrupts(t_ms, heard):
    if t_ms > 1000:
        raise KeyboardInterrupt
    return 0.8


@pytest.mark.parametrize(('controller', 'name'), [
    (fails, 'ZeroDivisionError'), (interrupts, 'interrupted')])
def test_whatever_happens_during_the_hazard_it_is_disarmed(controller, name):
    link = Locked(controller)
    record = armed(link)
    assert link.calls == ['nominal', 'arm', 'onset', name, 'disarm']
    assert [event.name for event in record.of_kind('fault')] == [name]


def test_it_is_disarmed_even_if_it_could_not_be_opened():
    link = Locked(on_open=MISSING)
    armed(link)
    assert link.calls == ['LinkTimeoutError', 'disarm']


def test_what_cannot_be_armed_gets_no_hazard():
    link = Locked(fails={'arm': MeasurementError('the interlock does not answer')})
    record = armed(link)
    assert link.calls == ['nominal', 'arm', 'MeasurementError', 'disarm']
    assert not any(event.hazard for event in record.events)
    assert evaluate(record).verdict is Verdict.ERROR


def test_what_cannot_be_disarmed_spoils_the_trial():
    link = Locked(fails={'disarm': MeasurementError('the interlock does not answer')})
    record = armed(link)
    assert [event.text for event in record.of_kind('fault')] == ['the interlock does not answer']
    assert evaluate(armed(Locked())).verdict is Verdict.PASS
    assert evaluate(record).verdict is Verdict.ERROR


def test_a_full_disk_that_ends_the_campaign_still_disarms():
    class Full:

        def add(self, event):
            if event.kind != 'mark':
                raise TraceError('the disk is full')

    link = Locked()
    with pytest.raises(TraceError, match='the disk is full'):
        armed(link, sinks=[Full()])
    assert link.calls[-1] == 'disarm'


def test_a_link_that_needs_none_of_it_says_nothing_about_it():
    link = Link()
    assert link.arm() is link.disarm() is link.close() is None
    assert link.preflight() == () and link.open(planned(hazard())) is None
    with pytest.raises(MeasurementError, match='got a scenario with agents'):
        link.deliver(Envelope.model_validate({'trial_id': 't', 'kind': 'say', 'text': ''}), [])


class Insisted(Locked):
    """Ctrl-C comes a second time, in the middle of disarming."""

    def disarm(self):
        super().disarm()
        if self.calls.count('disarm') == 1:
            raise KeyboardInterrupt


def test_a_second_interrupt_leaves_nothing_armed():
    link = Insisted()
    record = armed(link)
    assert link.calls.count('disarm') == 2
    assert [event.name for event in record.of_kind('fault')] == ['interrupted']
