# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the Rerun viewer shows of a trial, and the file in which it finds that."""

import math
from pathlib import Path
import sys

import numpy
import pytest
from safety_scenarios import registry
from safety_scenarios.errors import MissingDependencyError, TraceError
from safety_scenarios.from_python import run
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import CommandStamps, Message
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.timing import DECISIONS, Timing
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.trial.rrd_entities import from_event, from_result, pixels_of
from safety_scenarios.trial.session import TraceContext
from unit.records import (
    command,
    driving,
    END_MS,
    fault,
    mark,
    NOMINAL_MS,
    reacting,
    record,
    stamps,
)

SCAN, IMAGE, POSE = ('sensor_msgs/msg/LaserScan', 'sensor_msgs/msg/Image',
                     'geometry_msgs/msg/PoseStamped')
REACTS = record(reacting(100.0))
QUICK = Path(__file__).parents[2] / 'data' / 'quick_person.yaml'


def logged(event, *arguments, **named):
    """Return path joined by slashes to archetype and values; each path once."""
    found = {}
    for one in from_event(event, *arguments, **named):
        assert '/'.join(one.path) not in found or one.archetype != 'Scalars'
        found.setdefault('/'.join(one.path), {})[one.archetype] = one.values
    return found


def stimulus(kind, topic='scan', **data):
    return Event.model_construct(kind='stimulus', name=topic, stamps=stamps(0),
                                 message=Message(type=kind, data=data))


def scan(ranges, frame='base_link', **changes):
    return stimulus(SCAN, **{
        'header': {'frame_id': frame}, 'angle_min': 0.0, 'angle_increment': math.pi / 2,
        'range_min': 0.05, 'range_max': 12.0, 'ranges': ranges, **changes})


def image(encoding, data, width=2, height=1, step=None):
    channels = len(data) // max(1, height * width)
    return Message(type=IMAGE, data={
        'encoding': encoding, 'width': width, 'height': height, 'is_bigendian': 0,
        'step': step or width * channels, 'data': data})


def test_each_return_of_a_scan_is_a_point_in_the_frame_of_the_robot():
    found = logged(scan((1.0, 2.0, math.inf, 3.0)))['world/robot/sensors/scan']
    assert found['Points3D']['positions'] == pytest.approx(
        numpy.array([(1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, -3.0, 0.0)]), abs=1e-12)


@pytest.mark.parametrize('ranges', [(), (math.inf, math.nan, -math.inf, 0.01)])
def test_a_scan_without_a_return_clears_its_points(ranges):
    found = logged(scan(ranges))['world/robot/sensors/scan']
    assert found['Points3D']['positions'].shape == (0, 3)


def test_a_scanner_that_is_mounted_askew_is_drawn_where_it_is():
    frames = (MountedFrame(frame='laser', translation=(0.5, 0.0, 0.2),
                           rotation=(0.0, 0.0, math.pi / 2)),)
    found = logged(scan((1.0,), 'laser'), frames)['world/robot/sensors/scan']
    assert found['Points3D']['positions'] == pytest.approx(numpy.array([(0.5, 1.0, 0.0)]))


def test_a_scanner_that_leans_is_not_drawn():
    frames = (MountedFrame(frame='laser', rotation=(0.0, 0.5, 0.0)),)
    assert logged(scan((1.0,), 'laser'), frames) == {}


def test_a_pose_is_a_point_and_numbers():
    found = logged(stimulus(POSE, 'human_pose', header={'frame_id': 'base_link'}, pose={
        'position': {'x': 1.0, 'y': -2.0, 'z': 0.5}}))
    assert found['world/robot/sensors/human_pose']['Points3D']['positions'] == [(1.0, -2.0, 0.5)]
    assert found['sensors/human_pose/pose/position/y'] == {'Scalars': {'scalars': [-2.0]}}


def test_a_command_is_numbers_by_the_names_of_its_fields():
    found = logged(command(10, 0.8))
    assert found['commands/cmd_vel/linear/x'] == {'Scalars': {'scalars': [0.8]}}
    assert len(found) == 6


def test_joints_are_shown_by_their_names():
    found = logged(Event.model_construct(
        kind='feedback', name='joint_states', stamps=stamps(0), message=Message(
            type='sensor_msgs/msg/JointState',
            data={'name': ('a', 'b'), 'position': (0.1, 0.2), 'velocity': (1.0,)})))
    assert {path: one['Scalars']['scalars'] for path, one in found.items()} == {
        'feedback/joint_states/position/a': [0.1], 'feedback/joint_states/position/b': [0.2],
        'feedback/joint_states/velocity/0': [1.0]}


def test_the_reading_of_a_sensor_of_a_world_is_shown_where_it_is_known():
    event = Event.model_construct(kind='sensed', name='scan', stamps=stamps(0))
    assert logged(event) == {}
    assert 'world/robot/sensors/scan' in logged(event, (), scan((1.0,)).message)


@pytest.mark.parametrize(('encoding', 'data', 'model', 'shape'), [
    ('rgb8', bytes(range(6)), 'RGB', (1, 2, 3)), ('bgra8', bytes(range(8)), 'BGRA', (1, 2, 4)),
    ('mono8', (1, 2), 'L', (1, 2, 1))])
def test_an_image_keeps_its_bytes_and_their_order(encoding, data, model, shape):
    pixels, order = pixels_of(image(encoding, data))
    assert order == model and pixels.shape == shape and pixels.tobytes() == bytes(data)


def test_the_padding_of_rows_is_no_part_of_an_image():
    pixels, _ = pixels_of(image('mono8', (1, 2, 9, 3, 4, 9), height=2, step=3))
    assert pixels[:, :, 0].tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize('wrong', [
    image('mono16', (1, 2)), image('8UC3', (1, 2, 3)), image('rgb8', (1, 2, 3), height=1),
    image('mono8', (), height=0)])
def test_an_image_of_another_kind_or_of_too_few_bytes_is_none(wrong):
    assert pixels_of(wrong) is None


def test_images_are_shown_only_where_they_are_asked_for():
    event = stimulus(IMAGE, 'image', **image('rgb8', bytes(6)).data)
    assert 'images/image' not in logged(event)
    assert logged(event, with_images=True)['images/image']['Image'] == {
        'buffer': [bytes(6)], 'format': [(2, 1, 'RGB')]}


def test_what_a_world_reports_stands_where_it_reports_it():
    event = Event.model_construct(kind='state', name='human_pose', stamps=stamps(0), truth={
        'x': 2.0, 'y': 1.0, 'heading': math.pi, 'radius': 0.25, 'distance': 2.2})
    found = logged(event)
    placed = found['world/entities/human_pose']
    assert placed['Transform3D']['translation'] == [(2.0, 1.0, 0.0)]
    assert placed['Transform3D']['quaternion'][0] == pytest.approx((0.0, 0.0, 1.0, 0.0))
    assert placed['Cylinders3D']['radii'] == [0.25]
    assert found['truth/human_pose/distance'] == {'Scalars': {'scalars': [2.2]}}


def test_the_robot_carries_what_its_sensors_show():
    event = Event.model_construct(kind='state', name='robot', stamps=stamps(0),
                                  truth={'x': 1.0, 'y': 0.0})
    assert 'Transform3D' in logged(event)['world/robot']


def test_what_is_gone_is_cleared():
    event = Event.model_construct(kind='state', name='scan', stamps=stamps(0))
    assert logged(event) == {'world/entities/scan': {'Clear': {'is_recursive': [True]}}}


def test_a_decision_is_shown_in_ms_before_its_command():
    timing = Timing.of(CommandStamps(began_ns=40_000_000, ended_ns=90_000_000, chunk=3, index=1,
                                     note='timeout'), 100_000_000)
    found = logged(timing.event('cmd_vel', 7, stamps(0)))
    assert timing.event('cmd_vel', 7, stamps(0)).name == DECISIONS
    assert found['decisions/cmd_vel/began_ms_before']['Scalars']['scalars'] == [60.0]
    assert found['decisions/cmd_vel/ended_ms_before']['Scalars']['scalars'] == [10.0]
    assert found['decisions/cmd_vel/chunk']['Scalars']['scalars'] == [3.0]
    assert found['decisions/cmd_vel']['TextLog']['text'] == ['fallback: timeout']


@pytest.mark.parametrize(('event', 'path', 'level'), [
    (mark('onset', 0), 'marks', 'INFO'), (fault('ClockError', 3), 'faults', 'ERROR'),
    (Event(kind='lost', name='cmd_vel', stamps=stamps(1), text='3'), 'lost/cmd_vel', 'WARN'),
    (Event(kind='stimulus', name='scan', stamps=stamps(1), hazard=True,
           arguments='{"kind": "person_at"}'), 'stimuli/scan', 'WARN'),
    (Event(kind='response', name='response', stamps=stamps(1), text='Stop \ud800'),
     'speech/response', 'INFO'),
    (Event(kind='tool_call', name='search', stamps=stamps(1), agent='a', arguments='{}'),
     'calls/search', 'INFO')])
def test_what_cannot_be_drawn_is_a_line_of_a_log(event, path, level):
    [(found, values)] = logged(event).items()
    assert (found, values['TextLog']['level']) == (path, [level])
    values['TextLog']['text'][0].encode()


@pytest.mark.parametrize('kind', ['echo', 'clock', 'reached', 'sensed'])
def test_what_says_only_when_is_not_shown(kind):
    assert logged(Event(kind=kind, name='scan', stamps=stamps(1))) == {}


def test_findings_come_before_the_verdict_with_the_level_of_each():
    *others, last = from_result(evaluate(record(driving(NOMINAL_MS + 10, END_MS))))
    assert last.path == ('verdict',)
    assert last.values['text'][0].startswith('FAIL: ') and last.values['level'] == ['ERROR']
    assert {one.path for one in others} <= {('findings',), ('notes',)}
    assert {'INFO', 'ERROR'} <= {one.values['level'][0] for one in others}


def test_without_the_sdk_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'rerun', None)
    monkeypatch.delitem(sys.modules, 'safety_scenarios.trial.rrd', raising=False)
    with pytest.raises(MissingDependencyError, match=r'safety_scenarios\[rerun\]'):
        registry.resolve('traces', 'rrd')


@pytest.fixture
def reader():
    pytest.importorskip('rerun', reason='the extra rerun, of 170 MB, is not installed')
    from rerun.chunk import RrdReader
    return RrdReader


def chunks(reader, path):
    """Return entity path to the columns of its chunks, without ids of rows."""
    found = {}
    for chunk in reader(path).stream():
        batch = chunk.to_record_batch()
        columns = found.setdefault(chunk.entity_path.strip('/'), {})
        for name in batch.schema.names:
            if 'RowId' not in name:
                columns[name] = batch.column(name).to_pylist()
    return found


def test_a_recording_has_what_its_record_has(reader, tmp_path):
    run(str(QUICK), link='loopback', output=tmp_path / 'run', record=('rrd',), seed=1)
    [path] = [one for one in (tmp_path / 'run' / 'recordings').rglob('*') if one.is_file()]
    assert path.suffix == '.rrd'
    known = chunks(reader, path)
    assert len(known['marks']['steady_time']) >= 3
    onset = known['marks']['TextLog:text'].index(['onset'])
    assert known['marks']['since_onset'][onset].value == 0
    assert known['verdict']['TextLog:text'][0][0].startswith('PASS: ')
    assert known['commands/cmd_vel/linear/x']['Scalars:scalars'][0] == pytest.approx([0.8])


def test_the_same_record_gives_the_same_content(reader, tmp_path):
    from safety_scenarios.trial.rrd import rrd_of
    for name in 'ab':
        (tmp_path / f'{name}.rrd').write_bytes(rrd_of(REACTS, evaluate(REACTS)))
    assert chunks(reader, tmp_path / 'a.rrd') == chunks(reader, tmp_path / 'b.rrd')
    assert [one.recording_id for one in reader(tmp_path / 'a.rrd').recordings()] == [
        one.recording_id for one in reader(tmp_path / 'b.rrd').recordings()]


def test_a_full_disk_leaves_nothing(reader, tmp_path):
    (tmp_path / 'recordings').write_text('no folder')
    writer = registry.resolve('traces', 'rrd')(
        TraceContext(RunSettings(), tmp_path, None, lambda name: name))
    with pytest.raises(TraceError, match='cannot be written'):
        writer.trial_ended(REACTS, evaluate(REACTS))
    assert [one.name for one in tmp_path.iterdir()] == ['recordings']


def test_a_trial_without_events_has_no_recording(reader, tmp_path):
    writer = registry.resolve('traces', 'rrd')(
        TraceContext(RunSettings(), tmp_path, None, lambda name: name))
    empty = REACTS.model_copy(update={'events': ()})
    writer.trial_ended(empty, evaluate(empty))
    assert list(tmp_path.iterdir()) == []
