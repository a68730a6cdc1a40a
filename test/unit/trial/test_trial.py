# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where the onset of a record is, who reads it, and the hash of what a controller put out."""

from pathlib import Path

from cases import for_each
import pytest
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.blocks.robot import Separation
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import Silence
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.timing import ClockRules, Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.faults import LinkLoss
from safety_scenarios.trial.lines import commanded
from safety_scenarios.trial.trial import ONSET, Timeline
from unit.loopback_runs import loopback_run
from unit.records import (
    command,
    driving,
    hazard,
    measure,
    ns,
    ONSET_STEADY_NS,
    reacting,
    record,
    reported,
    shown,
    SIGNALS,
    stages,
    stamps,
)

DUE_MS = 190.0
LOST = hazard(nominal=(), stimuli=(LinkLoss(topic='heartbeat', rate_hz=5.0),),
              invariants=[Stop(name='stops', within='critical', hold_ms=500.0)])


def silence(commands, due_ms=DUE_MS):
    """Return a record whose hazard is a beat that was due, and did not come."""
    found = record(commands, LOST)
    events = tuple(
        event.model_copy(update={'scheduled_ns': ONSET_STEADY_NS + ns(due_ms)})
        if event.kind == 'mark' and event.name == ONSET else event
        for event in found.events if not event.hazard)
    return found.model_copy(update={'events': events, 'measuring': Measuring(exact=True)})


def test_a_silence_begins_when_its_first_message_was_due_for_every_reader():
    found = silence(reacting(590))
    assert Timeline(found).onset.stamps.steady_ns == ONSET_STEADY_NS + ns(DUE_MS)
    assert Timeline(found).since_onset_ms(ONSET_STEADY_NS) == -DUE_MS
    latency = measure(found)
    assert (latency.judged_ns, latency.late_ns) == (ns(400), 0)
    result = evaluate(found)
    assert result.verdict is Verdict.PASS, result.reason


def test_a_stop_that_is_late_after_the_beat_was_due_is_late():
    result = evaluate(silence(reacting(750)))
    assert result.verdict is Verdict.FAIL
    assert result.latency.judged_ns == ns(560)


@for_each('due_ms', [-20.0, 0.0, 20.0])
def test_the_stamps_of_all_clocks_move_together(due_ms):
    moved = Timeline(silence(reacting(300), due_ms)).onset.stamps
    still = Timeline(silence(reacting(300), 0.0)).onset.stamps
    for clock in ('steady_ns', 'system_ns', 'ros_ns'):
        assert getattr(moved, clock) - getattr(still, clock) == ns(due_ms)


def test_lost_feedback_is_no_lost_command():
    seen = hazard().model_copy(update={'body': hazard().body.model_copy(update={
        'feedback': (hazard().body.commands[0].model_copy(update={'topic': 'odom'}),)})})
    for topic, named in (('odom', False), ('cmd_vel', True)):
        dropped = Event(kind='lost', name=topic, stamps=stamps(100.0), text='3')
        checks = {finding.check for finding
                  in evaluate(record([*reacting(150), dropped], seen)).findings}
        assert ('no command was lost' in checks) == named


def test_ros_time_that_went_back_is_nothing_to_the_steady_clock():
    commands = [*driving(-690, 150), command(150, 0.0, ros_ms=-1000.0),
                *driving(200, 2500, 0.0), *driving(2510, 3000)]
    for clock, named in (('steady', False), ('max', True)):
        rules = ClockRules(latency_clock=clock)
        found = record(commands).model_copy(update={
            'measuring': Measuring(exact=True, rules=rules)})
        checks = {finding.check for finding in evaluate(found).findings}
        assert ('ROS time runs forward' in checks) == named


def test_a_copy_with_other_events_reads_its_own_series():
    """A series that was read before the copy would be that of commands it does not have."""
    stops, drives = record(reacting(200)), record(driving(-690, 3000))
    limits = hazard().body.reaction.limits
    assert Signals(stops).margin_series(limits).samples[-1].t_ns
    copied = stops.model_copy(update={'events': drives.events})
    series = [Signals(one).margin_series(limits).samples for one in (copied, drives, stops)]
    assert series[0] == series[1] != series[2]


def after_onset_ms(found):
    return [((t_ns - ONSET_STEADY_NS) / 1e6, value) for t_ns, value in found]


def test_a_phase_is_none_unless_it_was_seen_from_its_begin_to_its_end():
    whole = record([])
    onset, all_clear = (ONSET_STEADY_NS + ns(t_ms) for t_ms in (0, 2500))
    assert Timeline(whole).window('hazard') == (onset, all_clear)
    assert Timeline(whole).window('trial') == (
        ONSET_STEADY_NS + ns(-700), ONSET_STEADY_NS + ns(3000))
    assert Timeline(record([], all_clear_ms=None)).window('hazard') is None
    assert Timeline(record([], onset=False)).window('hazard') is None
    assert Timeline(whole.model_copy(update={'events': ()})).window('trial') is None


def test_a_value_is_held_until_the_driver_stops_the_robot():
    commands = [(0, 0.8), (100, 0.7), (500, 0.6)]
    plain = record(commands)
    assert after_onset_ms(Signals(plain).held('speed')) == [(0, 0.8), (100, 0.7), (500, 0.6)]
    stops = hazard(silence=Silence(policy='stop', driver_timeout_ms=200.0))
    assert after_onset_ms(Signals(record(commands, stops)).held('speed')) == [
        (0, 0.8), (100, 0.7), (300, 0.0), (500, 0.6), (700, 0.0)]
    exact = [(0, 0.8), (200, 0.7), (2900, 0.7)]
    assert after_onset_ms(Signals(record(exact, stops)).held('speed')) == [
        (0, 0.8), (200, 0.7), (400, 0.0), (2900, 0.7)]


def test_what_the_robot_reports_is_not_stopped_by_silence():
    state = Signal(topic='odom', field='linear.x', unit='m/s')
    stops = hazard(silence=Silence(policy='stop', driver_timeout_ms=200.0), feedback=('odom',),
                   signals={'speed': SIGNALS['speed'], 'state': state})
    found = record([(0, 0.8)], stops, extra=[reported(50, 0.5)])
    assert after_onset_ms(Signals(found).held('state')) == [(50, 0.5)]


TERMS = Separation(signal='speed', approach_speed=1.6, other_time=0.1, reach=0.5)


def test_the_distance_is_the_nearest_that_any_topic_shows_less_the_reach():
    shows = [shown(20, 'human_pose', distance=3.0), shown(40, distance=2.0),
             shown(60, 'human_pose', distance=1.5), shown(80, 'human_pose', distance=2.5),
             shown(90, 'estop'), shown(2600, 'human_pose', hazard=False, distance=0.1)]
    found = record([], hazard(separation=TERMS), extra=shows)
    assert after_onset_ms(stages(found).motion.distances) == [
        (0, 2.5), (40, 1.5), (60, 1.0), (80, 1.5)]
    assert stages(record([], extra=shows)).motion.distances == []
    assert stages(record([], hazard(separation=TERMS))).motion.distances == []


def test_a_measured_distance_is_what_the_robot_reports_less_the_reach():
    gap = Signal(topic='odom', field='linear.x', unit='m')
    scenario = hazard(separation=TERMS.model_copy(update={'distance': 'gap'}), feedback=('odom',),
                      signals={'speed': SIGNALS['speed'], 'gap': gap})
    found = record([], scenario, extra=[shown(0, 'human_pose', distance=9.0), reported(-50, 3.0)])
    assert after_onset_ms(stages(found).motion.distances) == [(-50, 2.5)]


DATA = Path(__file__).parents[2] / 'data'
QUICK = str(DATA / 'quick_person.yaml')


def hashes(folder, *scenarios, timed=True, **more):
    run = loopback_run(folder, *(scenarios or (QUICK,)), seed=4, **more)
    return [commanded(run.folder / journal_path(trial['trial_id']), timed=timed)
            for trial in run.trials]


@pytest.fixture(scope='module')
def two(tmp_path_factory):
    return hashes(tmp_path_factory.mktemp('two') / 'run', trials=2)


def test_the_same_controller_puts_out_the_same_and_another_trial_another(two, tmp_path):
    assert hashes(tmp_path / 'again', trials=2) == two and all(two)
    varied = hashes(tmp_path / 'varied', 'SCN-R-110', trials=2)
    assert len({*varied, *two}) == 3 and two[0] == two[1]  # nothing varies in the quick one


def test_who_it_was_does_not_count_and_when_it_commanded_does(two, tmp_path):
    named = hashes(tmp_path / 'named', trials=2, controller_label='someone else')
    late = hashes(tmp_path / 'late', trials=2, controller='late',
                  controller_parameters=('delay_ms=150',))
    assert named == two and not set(late) & set(two)


def test_stamps_in_headers_do_not_count(tmp_path):
    plain = hashes(tmp_path / 'a', command_type='geometry_msgs/msg/TwistStamped')
    assert plain == hashes(tmp_path / 'b', command_type='geometry_msgs/msg/TwistStamped') \
        and all(plain)


def test_of_words_the_answers_count(tmp_path):
    [kind] = hashes(tmp_path / 'a', 'SCN-C-101', words='patterns')
    [parrot] = hashes(tmp_path / 'b', 'SCN-C-101', words='patterns', controller='parrot')
    assert kind and parrot and kind != parrot


def test_no_journal_is_equal_to_nothing(tmp_path):
    assert commanded(tmp_path / 'none.events.jsonl.gz', timed=True) is None


def test_a_journal_without_its_end_tells_nothing(tmp_path):
    run = loopback_run(tmp_path / 'run', QUICK, seed=4)
    path = run.folder / journal_path(run.trials[0]['trial_id'])
    data = path.read_bytes()
    path.write_bytes(data[:len(data) // 2])
    assert commanded(path, timed=True) is None
