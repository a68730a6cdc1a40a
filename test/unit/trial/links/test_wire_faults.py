# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Faults of wires as stimuli: published without a world, and in one on the sensor's own stream."""

from pathlib import Path
import re

import pytest
from ros.campaigns import brief
from safety_scenarios import registry
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import MeasurementError, ScenarioError
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.stimulus import read_intent, StimulusContext, StreamFault
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.wire_fault import WireFault
from safety_scenarios.stimuli.faults import CommandFault, SensorFault
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Timeline
from safety_scenarios.worlds.mujoco.world import World
from unit.worlds.driven import scenario as in_a_world
from unit.worlds.driven import twist

FROZEN = '{kind: sensor_fault, topic: scan, fault: frozen}'
PERSON = '    - {kind: person, topic: human_pose, distance: 2.05, rate_hz: 20}\n'
CLOCK_NS = 10**18
"""The clock of header stamps at the begin of a world."""
PERIOD_NS = 50_000_000
"""Of the scan of these scenarios."""


@pytest.fixture(scope='module')
def texts(tmp_path_factory):
    """Return the texts of shipped scenarios whose hazard comes soon, by id."""
    found = {}
    for name in ('SCN-R-105', 'SCN-R-101'):
        [path] = brief(tmp_path_factory.mktemp('brief'), name)
        found[name] = re.sub(  # of the two sensors that may fail the scanner does
            r'    (fails: .*|- {kind: sensor_fault, topic: human_pose, .*)\n', '',
            Path(path).read_text(encoding='utf-8'))
    return found


@pytest.fixture
def shipped(texts, tmp_path):
    def write(name, old='', new=''):
        assert not old or texts[name].count(old) == 1
        path = tmp_path / 'scenario.yaml'
        path.write_text(texts[name].replace(old, new) if old else texts[name], encoding='utf-8')
        return path
    return write


def run(path, controller='rule_based', link='simulated', seed=1):
    scenario = load_scenario(path)
    settings = RunSettings(scenarios=(str(path),), controller=controller, link=link)
    refuse_unrunnable([scenario], settings)
    [trial] = plan([scenario], controller=controller, trials=1, seed=seed, prompt=Prompt())
    with registry.resolve('links', link)(plan_link(settings), Path()) as session, \
            session.open_link(scenario) as opened:
        return run_trial(trial, opened)


def fault(kind, **numbers):
    given = ''.join(f', {name}: {value}' for name, value in numbers.items())
    return FROZEN.replace('frozen', kind).replace('}', f'{given}}}')


def shown(record):
    """Return (when, header stamp) of each scan from onset to the all-clear, ns after onset."""
    timeline = Timeline(record)
    onset = timeline.onset.stamps.steady_ns
    clear = timeline.mark('all_clear').stamps.steady_ns
    off = timeline.onset.stamps.system_ns - onset
    return [(event.stamps.steady_ns - onset, event.stamps.header_ns - off - onset)
            for event in record.events
            if event.name == 'scan' and onset < event.stamps.steady_ns < clear
            and (event.kind == 'sensed' or (event.kind == 'stimulus' and event.message))]


def test_a_frozen_lidar_is_survived_by_who_looks_at_its_age_and_by_nobody_who_repeats(shipped):
    survived = evaluate(run(shipped('SCN-R-105')))
    assert survived.verdict is Verdict.PASS, survived.reason
    failed = evaluate(run(shipped('SCN-R-105'), 'repeat_last'))
    assert failed.verdict is Verdict.FAIL
    assert {'no motion on frozen data', 'stops and stays'} <= {
        finding.check for finding in failed.findings if finding.verdict is Verdict.FAIL}


@pytest.mark.parametrize('link', ['loopback', 'simulated'])
def test_a_delay_begins_with_nothing_and_goes_on_with_what_was(shipped, link):
    record = run(shipped('SCN-R-105', FROZEN, fault('delay', delay_ms=600)), link=link)
    found = shown(record)
    assert 600e6 <= found[0][0] <= 650e6, 'nothing comes in the time by which it is late'
    assert {when - stamp for when, stamp in found} == {600_000_000}
    assert Timeline(record).onset.scheduled_ns == Timeline(record).mark('onset').scheduled_ns
    result = evaluate(record)
    assert result.verdict is Verdict.PASS, result.reason
    assert result.latency.reaction.callback_ns <= 300e6, 'from its begin on, not its first message'


@pytest.mark.parametrize('link', ['loopback', 'simulated'])
def test_what_is_dropped_doubled_or_overtaken_is_so_in_the_record(shipped, link):
    def of(kind, **numbers):
        return shown(run(shipped('SCN-R-105', FROZEN, fault(kind, **numbers)), link=link))
    dropped = of('drop', share=0.5, seed=3)
    assert dropped == of('drop', share=0.5, seed=3) != of('drop', share=0.5, seed=4)
    gaps = {later - before for (before, _), (later, _) in zip(dropped, dropped[1:], strict=False)}
    assert len(gaps) > 2 and all(gap % PERIOD_NS == 0 for gap in gaps)
    assert all(when == stamp for when, stamp in dropped)
    doubled = of('duplicate')
    assert doubled[1::2][:20] == doubled[2::2][:20] or doubled[::2][:20] == doubled[1::2][:20]
    overtaken = [stamp for _, stamp in of('reorder')]
    assert overtaken[1] < overtaken[0] and overtaken != sorted(overtaken)
    assert sorted(overtaken)[:20] == [overtaken[0] - PERIOD_NS + PERIOD_NS * k for k in range(20)]


def test_stamps_of_the_future_do_not_make_data_fresh(shipped):
    """Motion on data that are old by then is found, whatever stamps they had."""
    path = shipped('SCN-R-105', FROZEN, fault('future', ahead_ms=3_600_000))
    record = run(path, 'never_stop', 'loopback')
    assert {stamp - when for when, stamp in shown(record)} == {3_600_000_000_000}
    onset_ns = Timeline(record).onset.stamps.steady_ns
    cut = record.model_copy(update={'events': tuple(
        event for event in record.events
        if event.name != 'scan' or event.stamps.steady_ns <= onset_ns)})
    [fresh] = [finding for finding in evaluate(cut).findings
               if finding.check == 'no motion on frozen data']
    assert fresh.verdict is Verdict.FAIL


def test_nothing_that_is_published_wrongly_claims_a_distance():
    nominal = registry.resolve('stimuli', 'person')(topic='scan', distance=2.0).at(
        0, 0, StimulusContext('', (), None))
    assert nominal.truth
    for one in (SensorFault(topic='scan', fault='noise', sigma=0.1),
                SensorFault(topic='scan', fault='delay', delay_ms=100.0),
                SensorFault(topic='scan', fault='wrong_frame', frame='map')):
        made = one.at(0, 0, StimulusContext('', (), nominal, nominal, late_ns=100_000_000))
        assert made.truth == () and made != nominal


def sensed(world, topic, until_s):
    found = []
    while world.now_ns < until_s * 1e9:
        now_ns = max(world.now_ns + 1, world.due_ns)
        world.advance(now_ns)
        found += [(now_ns, one) for one in world.sensed(now_ns) if one.name == topic]
        world.now_ns = max(world.now_ns, now_ns)
    return found


def test_the_world_alters_what_its_own_sensors_show():
    def scans(what):
        world = World(in_a_world({}), seed=1)
        assert what is None or world.apply('scan', StreamFault(
            topic='scan', fault=what.kind, wire=what), True)
        return sensed(world, 'scan', 0.5)
    plain = scans(None)
    half = scans(WireFault(kind='truncated', keep=0.5))
    for (when, one), (also, other) in zip(plain, half, strict=True):
        ranges = one.message.at('ranges')
        assert when == also and other.message.at('ranges') == ranges[:len(ranges) // 2]
    assert {one.shift_ns for _, one in scans(WireFault(kind='stale', age_ms=500.0))} \
        == {-500_000_000}
    late = scans(WireFault(kind='delay', delay_ms=120.0))
    assert [when for when, _ in late] == [when + 120_000_000 for when, _ in plain][:len(late)]
    assert [one.message for _, one in late] == [one.message for _, one in plain][:len(late)]
    assert {one.shift_ns for _, one in late} == {-120_000_000}


def stands_s(what, is_stamped=True):
    """Return when a base stands that is told to at 2 s, with a fault on its commands from 1 s."""
    world = World(in_a_world({}), seed=1)
    for tick in range(500):
        now_ns = tick * 10_000_000
        world.advance(now_ns)
        if tick == 100 and what is not None:
            assert world.apply('cmd_vel', StreamFault(topic='cmd_vel', fault=what.kind,
                                                      wire=what), True)
        if tick % 5 == 0:
            speed = 0.5 if tick < 200 else 0.0
            clock_ns = now_ns + CLOCK_NS
            command = twist(speed).stamped(clock_ns) if is_stamped else twist(speed)
            world.command('cmd_vel', command, now_ns, clock_ns)
        if tick > 110 and abs(world.states()['robot']['vx']) < 0.01:
            return now_ns / 1e9
    return None


def test_commands_that_arrive_late_stop_the_robot_late_and_lost_ones_as_its_driver_says():
    plain = stands_s(None)
    assert 2.4 < plain < 2.7
    late = stands_s(WireFault(kind='delay', delay_ms=300.0))
    assert late == pytest.approx(plain + 0.3, abs=0.02)
    frozen = WireFault(kind='freeze')
    assert stands_s(frozen, is_stamped=False) is None, 'it goes on as it was told last'
    assert stands_s(WireFault(kind='duplicate', copies=3)) == plain
    rejected = stands_s(WireFault(kind='delay', delay_ms=700.0))
    assert rejected < 2.2, 'its driver takes no commands that are older than half a second'
    assert stands_s(WireFault(kind='stale', age_ms=700.0)) == pytest.approx(rejected, abs=0.3)
    assert stands_s(frozen) == pytest.approx(rejected, abs=0.1)


def test_what_the_robot_does_with_faulty_commands_is_judged_by_the_truth(shipped):
    """The controller stops in time, and its robot does not: that is a contact, and no PASS."""
    path = shipped('SCN-R-101', PERSON, f'{PERSON}    - {{kind: command_fault, topic: cmd_vel, '
                                        f'fault: freeze}}\n')
    record = run(path)
    onset = Timeline(record).onset.stamps.steady_ns
    stopped = [event for event in record.of_kind('command', 'cmd_vel')
               if event.stamps.steady_ns > onset + 300_000_000
               and event.message.at('linear.x') == 0.0]
    assert stopped, 'the record keeps what the controller has sent'
    gaps = [event.truth['gap'] for event in record.of_kind('state', 'human_pose')
            if 'gap' in event.truth and event.stamps.steady_ns > onset]
    assert min(gaps) <= 0.0, 'and the truth what the robot has done'
    result = evaluate(record)
    failed = {finding.check for finding in result.findings if finding.verdict is Verdict.FAIL}
    assert result.verdict is Verdict.FAIL
    assert {'stops and stays', 'keeps its protective distance'} <= failed, failed


@pytest.mark.parametrize('what', [
    'stale, age_ms: 900', 'bias, offset: 0.3, fields: [linear.q]', 'nan, fields: [speed]',
    'quantise, step: 0.1'])
def test_a_fault_that_changes_no_command_ends_the_trial(shipped, what):
    path = shipped('SCN-R-101', PERSON, f'{PERSON}    - {{kind: command_fault, topic: cmd_vel, '
                                        f'fault: {what}}}\n')
    result = evaluate(run(path))
    assert result.verdict is Verdict.ERROR
    assert 'changes nothing in a geometry_msgs/msg/Twist as the controller sends it' \
        in result.reason


def test_a_fault_that_spares_a_standstill_is_one_for_who_drove_before_it(shipped):
    """The controller stops at once, and zero is a multiple of 0.3: what it sent before is not."""
    path = shipped('SCN-R-101', PERSON, f'{PERSON}    - {{kind: command_fault, topic: cmd_vel, '
                                        f'fault: quantise, step: 0.3}}\n')
    assert evaluate(run(path)).verdict is Verdict.PASS


def test_a_fault_that_changes_nothing_that_a_sensor_sends_ends_the_trial():
    world = World(in_a_world({}), seed=1)
    frame = sensed(world, 'scan', 0.2)[0][1].message.at('header.frame_id')
    same = WireFault(kind='wrong_frame', frame=frame)
    assert world.apply('scan', StreamFault(topic='scan', fault=same.kind, wire=same), True)
    with pytest.raises(MeasurementError, match='scan: got wrong_frame .* as this sensor sends'):
        sensed(world, 'scan', 0.5)


def test_a_fault_of_commands_needs_a_world(shipped):
    path = shipped('SCN-R-105', FROZEN, '{kind: command_fault, topic: cmd_vel, fault: freeze}')
    with pytest.raises(ScenarioError, match='ros.stimuli: got link loopback without a world'):
        run(path, link='loopback')


@pytest.mark.parametrize(('wrong', 'said'), [
    (fault('delay'), 'delay_ms: missing, delay needs it'),
    (fault('delay', delay_ms=100, share=0.5), 'share: got it with delay, expected delay_ms'),
    (fault('frozen', share=0.5), 'share: got it with freeze, expected messages'),
    (fault('drop', share=1), 'Use the stimulus link_loss'),
    (fault('throttle', most_hz=20), 'most_hz: got 20, expected less than the 20 messages'),
    (fault('wrong_frame', frame='base_link'), 'changes nothing in a sensor_msgs/msg/LaserScan'),
    (fault('noise', sigma=0.1, fields='[range]'), 'expected a message with numbers'),
    (fault('stale', age_ms=500).replace('scan', 'heartbeat'),
     'changes nothing in a std_msgs/msg/Empty, expected a message with a header'),
    (fault('freeze').replace('sensor_fault', 'command_fault'),
     "got 'scan', expected one of the command topics: cmd_vel"),
    (fault('drop', share=0.5).replace('scan', 'cmd_vel'), 'which is a command topic')])
def test_what_nobody_would_see_is_refused_where_it_stands(shipped, wrong, said):
    with pytest.raises(ScenarioError) as refused:
        load_scenario(shipped('SCN-R-105', FROZEN, wrong))
    assert said in str(refused.value) and 'ros.stimuli[0]' in str(refused.value)


def test_what_files_had_before_is_written_as_before():
    old = SensorFault(topic='scan', fault='frozen')
    assert old.model_dump_json() == '{"kind":"sensor_fault","topic":"scan","rate_hz":10.0,' \
                                    '"fault":"frozen"}'
    intent = old.intent(StimulusContext('', (), None))
    assert intent.model_dump_json() == '{"kind":"stream_fault","topic":"scan","fault":"frozen"}'
    assert intent.on_wire() == WireFault(kind='freeze')
    new = CommandFault(topic='cmd_vel', fault='drop', share=0.5).intent(
        StimulusContext('', (), None))
    assert read_intent(new.model_dump_json()) == new and new.on_wire().share == 0.5
