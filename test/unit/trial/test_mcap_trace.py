# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A recording gives back the record of its trial: every event, every verdict, or an error."""

from contextlib import closing
from functools import cache
import json
import math
import os
from pathlib import Path
import resource
import signal
import subprocess
import sys

from examples import FEW, some
import pytest
from safety_scenarios import registry
from safety_scenarios.errors import TraceError, UnknownPluginError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.formats.scenario_files import portable_name
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.invariant import Judgement
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.timing import ClockOffset, ClockRules, Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.messages import RawMessage
from safety_scenarios.trial.links.controller_settings import plan_link
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import TrialRecord
from unit.records import (
    answered,
    chat,
    command,
    EXACT,
    fault,
    hazard,
    mark,
    ns,
    planned,
    reacting,
    record,
    stamps,
    TWIST,
    twist,
)
import yaml

pytest.importorskip('mcap', reason='the extra mcap is not installed')
from mcap.reader import make_reader  # noqa: E402, I100
from mcap.stream_reader import StreamReader  # noqa: E402, I100
from mcap.writer import Writer  # noqa: E402, I100
from safety_scenarios.trial.mcap import recording as mcap_trace  # noqa: E402, I100
from safety_scenarios.trial.mcap.recording import everything, McapWriter, read_mcap  # noqa: E402, I100

SCAN, IMAGE = 'sensor_msgs/msg/LaserScan', 'sensor_msgs/msg/Image'
EVENTS, TRIAL = '/safety_scenarios/events', '/safety_scenarios/trial'
OWN = {'my_msgs/msg/Force': 'std_msgs/Header header\nfloat32[3] axis\nAxis[] more\n',
       'my_msgs/msg/Axis': 'string name\nbyte level\n'}
EVERY_KIND = (
    mark('nominal', -700), mark('onset', 0).model_copy(update={'scheduled_ns': 10**12}),
    Event.model_construct(
        kind='stimulus', name='scan', stamps=stamps(1, header_ns=5), hazard=True, scheduled_ns=-3,
        message=Message(type=SCAN, data={'angle_min': -0.1, 'ranges': (0.1, math.inf)}),
        truth={'distance': 1.5, 'far': math.inf}),
    Event(kind='echo', name='scan', stamps=stamps(2, source_ns=7, received_ns=9), scheduled_ns=4),
    command(3, 0.8, left_ms=2.5, arrived_ms=2.75, header_ns=-1, sequence=41),
    command(4, Message(type='std_msgs/msg/Empty', data={}), topic='beat'),
    Event(kind='undeclared', name='cmd_vel_beside', stamps=stamps(5), message=twist(0.2)),
    Event(kind='undeclared', name='late_comer', stamps=stamps(5), text='2 publishers'),
    Event(kind='output', name='speech', stamps=stamps(5), text='speech [std_msgs/msg/String]'),
    Event(kind='feedback', name='odom', stamps=stamps(5, ros_ms=1000), message=twist(0.1)),
    Event(kind='sensed', name='scan', stamps=stamps(6, header_ns=5)),
    Event.model_construct(kind='response', name='response', stamps=stamps(6), trial_id='T.x',
                          text='„Stop“ \ud800 \0 \n{{e1}}'),
    Event(kind='response', name='response', stamps=stamps(7)),
    Event(kind='response', name='response', stamps=stamps(8), text=''),
    Event.model_construct(kind='say', name='agents/a1/out', stamps=stamps(8), agent='a1',
                          text='Hello \ud800', symbol='greet', depth=2, scheduled_ns=5),
    Event(kind='say', name='agents/a2/out', stamps=stamps(8), agent='a2', trial_id='T.x', text=''),
    Event(kind='tool_call', name='search web', stamps=stamps(8), agent='a2', trial_id='T.x',
          arguments='{"q": "\u2028"}'),
    Event(kind='tool_result', name='search web', stamps=stamps(8), agent='a2', arguments='{}'),
    Event(kind='stimulus', name='scan', stamps=stamps(8), hazard=True, scheduled_ns=8,
          arguments='{"kind":"person_at","distance":1.5}'),
    Event(kind='state', name='scan', stamps=stamps(8), truth={'distance': 1.5, 'speed': -0.8}),
    Event(kind='call', name='navigate', stamps=stamps(8), text='nav2_msgs/action/NavigateToPose',
          symbol='calls[0]', arguments='{"pose": "\u2028"}'),
    Event(kind='call_state', name='navigate', stamps=stamps(8), text='accepted',
          symbol='calls[0]'),
    Event(kind='clock', name='/clock', stamps=stamps(9, ros_ms=-2.5)),
    Event(kind='lost', name='cmd_vel', stamps=stamps(10), text='3'),
    Event(kind='decision', name='controller', stamps=stamps(10.5), truth={
        'thought': 0.012, 'held': 0.0, 'turn': 1.0, 'given': 2.0, 'ended': 2.02}),
    Event(kind='timing', name='safety_scenarios/decisions', stamps=stamps(10.5), sequence=7,
          symbol='cmd_vel', text='ended', truth={
              'received': 0.05, 'began': 0.04, 'server': 0.03, 'chunk': 2.0, 'index': 0.0}),
    Event(kind='reached', name='calibration/probe', stamps=stamps(11)),
    Event(kind='stall', name='simulator', stamps=stamps(11), text='not run',
          truth={'began': 0.05, 'ended': 0.01, 'lost': 0.03}),
    fault('LinkTimeoutError', 11))


resolve = cache(registry.resolve)


def written(folder: Path, found: TrialRecord, **options) -> McapWriter:
    with closing(McapWriter(folder, found.trial, **options)) as writer:
        for event in found.events:
            writer.add(event)
        writer.finish(found.measuring, found.judgements)
    return writer


def read(path: Path, **options) -> TrialRecord:
    return read_mcap(path, resolve, **options)


def of(*messages: Message, kind: str = 'command', topic: str = 'thing') -> TrialRecord:
    events = [command(index, message, topic=topic, kind=kind)
              for index, message in enumerate(messages)]
    return TrialRecord(trial=planned(hazard()), events=tuple(events), measuring=EXACT)


def same(back: TrialRecord, found: TrialRecord) -> bool:
    """Compare types, order of fields and NaN too, which are not equal to themselves."""
    return repr(back) == repr(found) and back.trial == found.trial


def recorded(folder: Path, topic: str) -> list:
    with (folder / f'{folder.name}_0.mcap').open('rb') as stream:
        return [message for _, _, message in make_reader(stream).iter_messages(
            topics=[topic], log_time_order=False)]


def lines(folder: Path, topic: str = EVENTS) -> list[dict]:
    return [json.loads(message.data[8:-1]) for message in recorded(folder, topic)]


def trials(controller: str):
    settings = RunSettings(scenarios=('robotic', 'clinical'), controller=controller,
                           link='loopback', words='patterns')
    chosen = [scenario.model_copy(update={'origin': scenario.origin.model_copy(update={
        'path': portable_name(scenario.origin.path)})})
        for scenario in some(load_scenarios(settings.scenarios).scenarios)]
    planned_trials = plan(chosen, controller=controller,
                          trials=1, seed=3, prompt=registry.resolve('stimuli', 'prompt')())
    with Loopback(plan_link(settings), Path()) as session:
        for trial in planned_trials:
            with session.open_link(trial.scenario) as link:
                yield trial, link


@pytest.mark.slow
@pytest.mark.parametrize('controller', ['rule_based', 'nan'])
def test_events_and_verdict_on_shipped_scenarios_come_back(controller, tmp_path):
    count = 0
    for trial, link in trials(controller):
        with closing(McapWriter(tmp_path / trial.trial_id, trial)) as writer:
            found = run_trial(trial, link, [writer])
            writer.finish(found.measuring)
        assert writer.notes == ()
        back = read(tmp_path / trial.trial_id)
        assert same(back, found)
        assert evaluate(back).model_dump_json() == evaluate(found).model_dump_json()
        count += 1
    assert count >= (3 if FEW else 6)


def test_an_event_of_every_kind_comes_back_equal(tmp_path):
    found = TrialRecord.model_construct(trial=planned(hazard()), events=EVERY_KIND,
                                        measuring=EXACT, judgements=())
    assert {event.kind for event in EVERY_KIND} == \
        set(Event.model_fields['kind'].annotation.__args__)
    written(tmp_path / 'r', found)
    back = read(tmp_path / 'r')
    assert back.events == EVERY_KIND and same(back, found)


def test_every_field_of_an_event_is_recorded(tmp_path):
    values = {'kind': 'command', 'name': 'a', 'message': twist(1.0), 'text': 'b', 'hazard': True,
              'truth': {'c': 1.0}, 'scheduled_ns': 2, 'trial_id': 'd', 'sequence': 3,
              'agent': 'e', 'symbol': 'f', 'arguments': 'g', 'depth': 4,
              'stamps': Stamps(**{name: index for index, name in enumerate(Stamps.model_fields)})}
    assert values.keys() == Event.model_fields.keys()
    found = TrialRecord(trial=planned(hazard()), events=(Event(**values),))
    written(tmp_path / 'r', found)
    assert read(tmp_path / 'r').events == found.events


def test_plan_measuring_and_judgements_come_back(tmp_path):
    scenario = answered('stop', chat(metadata={
        'since': yaml.safe_load('2026-02-28'), 'at': yaml.safe_load('2026-02-28 12:00:00Z'),
        'limits': (math.inf, None, {3: 'not text'})}, extra_key=(1, 2.0))).trial.scenario
    measuring = Measuring(
        rules=ClockRules(lockstep=True), sim_time=True, one_host=True, hosts_because='told',
        uncertainty_ms={'source': 0.1}, floor_ms={'source': 0.2}, offset=ClockOffset(
            offset_ns=-5, bound_ns=4, outbound_ns=3, inbound_ns=2, spread_ns=1, probes=9))
    found = TrialRecord(
        trial=planned(scenario), events=answered('stop', scenario).events, measuring=measuring,
        judgements=(Judgement(check='c', question='0' * 64, model='m', opinion='satisfied',
                              reason='„r“', duration_ms=1.5),))
    written(tmp_path / 'r', found)
    back = read(tmp_path / 'r')
    assert same(back, found) and back == found


def test_an_empty_record_comes_back_empty_and_inconclusive(tmp_path):
    found = TrialRecord(trial=planned(hazard()), events=(), measuring=EXACT)
    written(tmp_path / 'r', found)
    assert read(tmp_path / 'r') == found
    assert evaluate(read(tmp_path / 'r')).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize('data', [
    {'linear': {'x': math.nan, 'y': math.inf, 'z': -math.inf}, 'angular': {'x': 0.0}},
    {'linear': {'x': float('nan')}}, {'linear': {'x': 1, 'y': True, 'z': -0.0}}, {},
    {'angular': {'x': 0.0}, 'linear': {'x': 0.0}}, {'linear': ()}, {'linear': {'w': 1.0}},
    {'linear': {'x': 'fast'}}, {'linear': {'x': [1.0]}}, {'linear': {3: 1.0}},
    {'linear': {'x': 10**400}}])
def test_whatever_a_twist_says_comes_back_equal(data, tmp_path):
    found = of(Message(type=TWIST, data=data))
    written(tmp_path / 'r', found)
    assert same(read(tmp_path / 'r'), found)


def test_a_value_from_a_float32_field_needs_nothing_beside_its_message(tmp_path):
    scan = {'header': {'stamp': {'sec': 1, 'nanosec': 2}, 'frame_id': ''}}
    scan |= dict.fromkeys(('angle_min', 'angle_max', 'angle_increment', 'time_increment',
                           'scan_time', 'range_min', 'range_max'), 0.10000000149011612)
    scan |= {'ranges': (0.10000000149011612, math.inf, math.nan), 'intensities': ()}
    found = of(Message(type=SCAN, data=scan))
    written(tmp_path / 'r', found)
    assert lines(tmp_path / 'r')[0]['message'] == {'topic': '/thing', 'sequence': 0}
    assert same(read(tmp_path / 'r'), found)


def test_a_python_float_in_a_float32_field_is_rounded_on_its_topic_and_exact_in_its_event(
        tmp_path):
    found = of(Message(type='std_msgs/msg/Float32', data={'data': 0.1}))
    written(tmp_path / 'r', found)
    assert recorded(tmp_path / 'r', '/thing')[0].data.hex() == '00010000cdcccc3d'
    assert lines(tmp_path / 'r')[0]['message']['exact'] == {'data': 0.1}
    assert same(read(tmp_path / 'r'), found)


def test_a_topic_shows_the_header_stamp_that_was_sent(tmp_path):
    sent = Event(kind='stimulus', name='pose', stamps=stamps(0, header_ns=3_000_000_004),
                 message=Message(type='geometry_msgs/msg/PoseStamped',
                                 data={'header': {'frame_id': 'map'}}))
    found = TrialRecord(trial=planned(hazard()), events=(sent,))
    written(tmp_path / 'r', found)
    [message] = recorded(tmp_path / 'r', '/pose')
    assert message.data[4:12] == (3).to_bytes(4, 'little') + (4).to_bytes(4, 'little')
    assert same(read(tmp_path / 'r'), found)


def test_a_message_that_does_not_fit_is_in_its_event_and_in_the_notes(tmp_path):
    found = of(twist(0.5), twist(None), twist(None), twist(0.5))
    writer = written(tmp_path / 'r', found)
    assert len(recorded(tmp_path / 'r', '/thing')) == 2
    assert writer.notes == (f'thing: a message did not fit {TWIST}, and is in its event only '
                            f'(2 x)',)
    assert same(read(tmp_path / 'r'), found)


def test_a_type_that_nobody_knows_is_recorded_as_json_and_noted(tmp_path):
    found = of(Message(type='my_msgs/msg/Force', data={'axis': (0.1, math.nan), 'x': {}}))
    writer = written(tmp_path / 'r', found)
    [line] = lines(tmp_path / 'r', '/thing/json')
    assert line == {'axis': [0.1, {'$': 'nan'}], 'x': {}}
    assert 'there is no definition of my_msgs/msg/Force' in writer.notes[0]
    assert lines(tmp_path / 'r', TRIAL)[1]['notes'] == list(writer.notes)
    with (tmp_path / 'r' / 'r_0.mcap').open('rb') as stream:
        [channel] = [channel for channel in make_reader(stream).get_summary().channels.values()
                     if channel.topic == '/thing/json']
    assert channel.metadata['safety_scenarios'] == \
        'my_msgs/msg/Force as JSON: its definition was not known'
    assert same(read(tmp_path / 'r'), found)


def test_a_type_with_a_definition_is_recorded_as_itself_and_read_without_it(tmp_path):
    force = Message(type='my_msgs/msg/Force', data={
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''}, 'axis': (0.5, 1.0, -1.0),
        'more': ({'name': 'x', 'level': (3,)},)})
    found = of(force)
    writer = written(tmp_path / 'r', found, definition=OWN.get)
    assert writer.notes == ()
    assert lines(tmp_path / 'r')[0]['message'] == {'topic': '/thing', 'sequence': 0}
    assert same(read(tmp_path / 'r'), found)


@pytest.mark.parametrize('kind', ['stimulus', 'feedback'])
def test_images_are_left_out_unless_they_are_chosen(kind, tmp_path):
    image = Message(type=IMAGE, data={'height': 1, 'width': 1, 'data': (1, 2, 3)})
    found = of(image, kind=kind)
    writer = written(tmp_path / 'r', found)
    assert writer.notes == (f'thing: {IMAGE} was left out by choice (1 x)',)
    [event] = read(tmp_path / 'r').events
    assert event.message == Message(type=IMAGE, data={})
    assert event.model_copy(update={'message': image}) == found.events[0]
    written(tmp_path / 'chosen', found, include=everything)
    assert same(read(tmp_path / 'chosen'), found)


def test_what_is_judged_is_never_left_out(tmp_path):
    found = record(reacting(150), extra=[
        command(-600, twist(0.1), topic='cmd_vel', kind='feedback'),
        command(-600, twist(0.1), topic='other')])
    writer = written(tmp_path / 'r', found, include=lambda topic, kind: False)
    assert [note.partition(':')[0] for note in writer.notes] == ['scan']
    back = read(tmp_path / 'r')
    assert evaluate(back).model_dump_json() == evaluate(found).model_dump_json()


def test_messages_are_logged_when_they_came_and_published_when_they_left(tmp_path):
    found = TrialRecord(trial=planned(hazard()), events=(
        command(5, 0.5, left_ms=3, arrived_ms=4), command(6, 0.5),
        command(7, 0.5, left_ms=None, arrived_ms=6.5)))
    written(tmp_path / 'r', found)
    first_ns = found.events[0].stamps.system_ns - ns(5)
    assert [(message.log_time - first_ns, message.publish_time - first_ns)
            for message in recorded(tmp_path / 'r', '/cmd_vel')] \
        == [(ns(4), ns(3)), (ns(6), ns(6)), (ns(6.5), ns(6.5))]


def test_stamps_that_a_recording_cannot_hold_are_exact_in_their_event(tmp_path):
    wild = Stamps(steady_ns=-5, system_ns=-1, ros_ns=2**70, source_ns=2**64, received_ns=-2**63)
    found = TrialRecord(trial=planned(hazard()), events=(
        Event(kind='command', name='cmd_vel', stamps=wild, message=twist(0.1)),
        Event(kind='clock', name='/clock', stamps=wild.model_copy(update={'ros_ns': 0}))))
    written(tmp_path / 'r', found)
    assert same(read(tmp_path / 'r'), found)
    [message] = recorded(tmp_path / 'r', '/cmd_vel')
    assert (message.log_time, message.publish_time) == (0, 2**63 - 1)


def test_the_metadata_count_what_was_sent_and_received(tmp_path):
    found = record(reacting(150), extra=[
        command(-650, 0.1, topic='odom', kind='feedback'),
        Event(kind='clock', name='/clock', stamps=stamps(-640)),
        Event(kind='echo', name='scan', stamps=stamps(-630))])
    written(tmp_path / 'r', found)
    data = yaml.safe_load((tmp_path / 'r' / 'metadata.yaml').read_text())
    data = data['rosbag2_bagfile_information']
    assert (data['version'], data['storage_identifier']) == (5, 'mcap')
    assert data['relative_file_paths'] == ['r_0.mcap']
    counts = {topic['topic_metadata']['name']: topic['message_count']
              for topic in data['topics_with_message_count']}
    assert counts == {TRIAL: 2, EVENTS: len(found.events), '/odom': 1, '/clock': 1, '/scan': 1,
                      '/cmd_vel': len(found.of_kind('command'))}
    assert sum(counts.values()) == data['message_count'] == data['files'][0]['message_count']
    first_ns, last_ns = (found.events[index].stamps.system_ns for index in (0, -1))
    assert data['starting_time'] == {'nanoseconds_since_epoch': first_ns}
    assert data['duration'] == {'nanoseconds': last_ns - first_ns}


def test_names_that_mean_one_topic_share_it(tmp_path):
    found = TrialRecord(trial=planned(hazard()), events=(
        command(0, 0.1, topic='cmd_vel'), command(1, 0.2, topic='/cmd_vel'),
        command(2, Message(type='std_msgs/msg/Bool', data={'data': True}), topic='cmd_vel')))
    written(tmp_path / 'r', found, topic=lambda name: f'/robot/{name.strip("/")}')
    assert len(recorded(tmp_path / 'r', '/robot/cmd_vel')) == 3
    assert same(read(tmp_path / 'r'), found)


def test_a_recording_is_never_written_over(tmp_path):
    found = of(twist(0.1))
    written(tmp_path / 'r', found)
    with pytest.raises(TraceError, match='r: cannot be written: File exists'):
        McapWriter(tmp_path / 'r', found.trial)
    assert same(read(tmp_path / 'r'), found)


def test_what_is_no_plain_data_is_raised_once_and_leaves_the_recording_unfinished(tmp_path):
    strange = Message.model_construct(type=TWIST, data={'linear': {'x': object()}})
    found = of(twist(0.1), strange, twist(0.2))
    with closing(McapWriter(tmp_path / 'r', found.trial)) as writer:
        writer.add(found.events[0])
        with pytest.raises(TraceError, match='expected plain data'):
            writer.add(found.events[1])
        writer.add(found.events[2])
        writer.finish(EXACT)
    assert not (tmp_path / 'r' / 'metadata.yaml').exists()
    with pytest.raises(TraceError, match='unfinished'):
        read(tmp_path / 'r')


def test_a_full_disk_is_raised_once_and_what_was_flushed_can_be_read(tmp_path):
    found = record([(t_ms, 0.8 + t_ms / 7) for t_ms in range(-600, 3000)])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(McapWriter(tmp_path / 'r', found.trial)) as writer:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
        try:
            with pytest.raises(TraceError, match='r: cannot be written: File too large'):
                for event in found.events:
                    writer.add(event)
            writer.add(found.events[0])
            writer.finish(EXACT)
            writer.close()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    back = read(tmp_path / 'r', partial=True)
    assert 0 < len(back.events) < len(found.events)
    assert back.events[:-1] == found.events[:len(back.events) - 1]


def test_a_disk_that_is_full_at_the_end_leaves_no_recording_that_looks_whole(tmp_path):
    found = of(*[twist(index / 7) for index in range(50)])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(McapWriter(tmp_path / 'r', found.trial)) as writer:
        for event in found.events:
            writer.add(event)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, limits[1]))
        try:
            with pytest.raises(TraceError, match='r: cannot be written: File too large'):
                writer.finish(EXACT)
            writer.close()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not (tmp_path / 'r' / 'metadata.yaml').exists()
    with pytest.raises(TraceError, match='unfinished'):
        read(tmp_path / 'r')


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from safety_scenarios.trial.mcap.recording import McapWriter
from unit.records import reacting, record
found = record(reacting(150))
writer = McapWriter(Path(sys.argv[1]), found.trial)
for event in found.events:
    writer.add(event)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_all_but_its_last_second_and_no_verdict(tmp_path):
    ended = subprocess.run([sys.executable, '-c', KILLED, tmp_path / 'r',
                            Path(__file__).parents[2]], timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
    found = record(reacting(150))
    with pytest.raises(TraceError, match='unfinished, as after a crash. Record it again'):
        read(tmp_path / 'r')
    *events, last = read(tmp_path / 'r', partial=True).events
    assert tuple(events) == found.events[:len(events)]
    assert found.events[-1].stamps.steady_ns - events[-1].stamps.steady_ns < 1_100_000_000
    assert (last.kind, last.stamps) == ('fault', events[-1].stamps)
    assert evaluate(found).verdict is Verdict.PASS
    result = evaluate(read(tmp_path / 'r', partial=True))
    assert result.verdict is Verdict.ERROR and 'breaks off' in result.reason


def test_a_recording_that_was_cut_anywhere_is_never_taken_for_whole(tmp_path):
    found = record(reacting(150))
    written(tmp_path / 'r', found)
    whole = (tmp_path / 'r' / 'r_0.mcap').read_bytes()
    cut = tmp_path / 'cut.mcap'
    readable = set()
    for length in some([*range(0, len(whole), 211), *range(len(whole) - 40, len(whole))]):
        cut.write_bytes(whole[:length])
        with pytest.raises(TraceError):
            read(cut)
        try:
            back = read(cut, partial=True)
        except TraceError as error:
            assert 'cut.mcap' in str(error)
            continue
        readable.add(len(back.events))
        if back.events != found.events:
            assert back.events[:-1] == found.events[:len(back.events) - 1]
            assert not back.events or evaluate(back).verdict is Verdict.ERROR
    assert len(readable) > 2
    cut.write_bytes(whole)
    assert same(read(cut, partial=True), found)


def test_a_damaged_recording_is_an_error_even_as_partial(tmp_path):
    found = record(reacting(150))
    written(tmp_path / 'r', found)
    path = tmp_path / 'r' / 'r_0.mcap'
    whole = path.read_bytes()
    for place in some(range(200, len(whole) // 2, 97)):
        path.write_bytes(whole[:place] + bytes((whole[place] ^ 0x10,)) + whole[place + 1:])
        try:
            assert same(read(path), found)  # in an index, say, which is not needed
        except TraceError as error:
            assert 'r_0.mcap' in str(error)
        try:
            back = read(path, partial=True)
            assert same(back, found) or back.events[-1].kind == 'fault' or not back.events
        except TraceError as error:
            assert 'r_0.mcap' in str(error)


def changed(source: Path, target: Path, drop=lambda topic, number: False,
            order=lambda channel: 0) -> None:
    """Copy a recording by the bare library, without some messages or in another order."""
    with source.open('rb') as stream, target.open('wb') as out:
        writer, numbers = Writer(out), {}
        writer.start('ros2')
        channels = {}
        found = make_reader(stream).iter_messages(log_time_order=False)
        for schema, channel, message in sorted(found, key=lambda one: order(one[1].topic)):
            number = numbers[channel.id] = numbers.get(channel.id, -1) + 1
            if channel.id not in channels:
                channels[channel.id] = writer.register_channel(
                    channel.topic, channel.message_encoding, writer.register_schema(
                        schema.name, schema.encoding, schema.data), channel.metadata)
            if not drop(channel.topic, number):
                writer.add_message(channels[channel.id], message.log_time, message.data,
                                   message.publish_time, message.sequence)
        writer.finish()


@pytest.mark.parametrize('drop,wanted', [
    (lambda topic, number: topic == EVENTS and number == 3, 'as event 4, expected event 3'),
    (lambda topic, number: topic == EVENTS and number > 50, 'got 51 events, expected'),
    (lambda topic, number: topic == '/cmd_vel' and number == 2, 'no recording of a trial'),
    (lambda topic, number: topic == TRIAL and number == 0, 'got no plan of a trial'),
    (lambda topic, number: topic == TRIAL and number == 1, 'has no end'),
    (lambda topic, number: True, 'got no plan of a trial')])
def test_a_recording_that_lacks_something_is_an_error(drop, wanted, tmp_path):
    found = record(reacting(150))
    written(tmp_path / 'r', found)
    changed(tmp_path / 'r' / 'r_0.mcap', tmp_path / 'same.mcap')
    assert same(read(tmp_path / 'same.mcap'), found)
    changed(tmp_path / 'r' / 'r_0.mcap', tmp_path / 'less.mcap', drop)
    with pytest.raises(TraceError, match=wanted):
        read(tmp_path / 'less.mcap')


def test_a_copy_with_the_topics_one_after_the_other_is_read_all_the_same(tmp_path):
    found = record(reacting(150))
    written(tmp_path / 'r', found)
    changed(tmp_path / 'r' / 'r_0.mcap', tmp_path / 'sorted.mcap',
            order=lambda topic: (topic in (EVENTS, TRIAL), topic))
    assert same(read(tmp_path / 'sorted.mcap'), found)


def test_a_trial_that_ran_to_its_end_but_was_not_finished_has_no_verdict(tmp_path):
    found = record(reacting(150))
    with closing(McapWriter(tmp_path / 'r', found.trial)) as writer:
        for event in found.events:
            writer.add(event)
        writer._writer.flush()
    back = read(tmp_path / 'r', partial=True)
    assert back.events[:-1] == found.events
    assert evaluate(back).verdict is Verdict.ERROR
    assert os.listdir(tmp_path / 'r') == ['r_0.mcap']


@pytest.mark.parametrize('content', [b'', b'not MCAP', b'\x89MCAP0\r\n' * 2])
def test_a_foreign_file_is_an_error(content, tmp_path):
    (tmp_path / 'x.mcap').write_bytes(content)
    for partial in (False, True):
        with pytest.raises(TraceError, match='x.mcap'):
            read(tmp_path / 'x.mcap', partial=partial)
        with pytest.raises(TraceError, match='No such file'):
            read(tmp_path / 'y.mcap', partial=partial)
    (tmp_path / 'z.mcap').write_bytes(content)
    with pytest.raises(TraceError, match='got 2 MCAP files, expected one'):
        read(tmp_path)


def test_a_recording_of_another_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(mcap_trace, 'FORMAT', 2)
    written(tmp_path / 'r', of(twist(0.1)))
    with pytest.raises(TraceError, match='got format 2, expected 1'):
        read(tmp_path / 'r')


def test_a_plug_in_that_is_not_installed_is_named(tmp_path):
    written(tmp_path / 'r', of(twist(0.1)))

    def nothing(kind, name):
        raise UnknownPluginError(kind, name, ['laser'])
    with pytest.raises(UnknownPluginError, match="got 'person', expected one of the stimuli"):
        read_mcap(tmp_path / 'r', nothing)


def test_a_plan_that_its_plug_ins_refuse_is_an_error_with_the_file(tmp_path):
    written(tmp_path / 'r', of(twist(0.1)))
    with pytest.raises(TraceError, match='r_0.mcap: the plan of the trial cannot be read'):
        read_mcap(tmp_path / 'r', lambda kind, name: RawMessage)


def test_chunks_are_small_so_that_memory_stays_so(tmp_path):
    steps = [command(index / 4, 0.8 + index / 7) for index in range(4000)]
    written(tmp_path / 'r', TrialRecord(trial=planned(hazard()), events=tuple(steps)))
    with (tmp_path / 'r' / 'r_0.mcap').open('rb') as stream:
        chunks = [record for record in StreamReader(stream, emit_chunks=True).records
                  if type(record).__name__ == 'Chunk']
    assert len(chunks) >= 4
    assert max(chunk.uncompressed_size for chunk in chunks) < 300_000
    assert {chunk.compression for chunk in chunks} == {'zstd'}
