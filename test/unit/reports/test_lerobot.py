# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Campaigns as LeRobot datasets: structure, types, times and statistics of every file."""

import json
from pathlib import Path

import numpy
import pytest
from safety_scenarios import registry
from safety_scenarios.cli.main import main
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.from_python import run
from safety_scenarios.reports.outputs.episodes import (
    action_of,
    Episode,
    episode_of,
    feature_of,
    NEVER,
    recorded,
)
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Command, Message
from safety_scenarios.trial.journal import read_journal
from unit.records import answered, chat, command, reacting, record, stamps, twist

pytest.importorskip('pyarrow', reason='the extra table is not installed')
from pyarrow import parquet  # noqa: E402, I100
from safety_scenarios.reports.outputs.lerobot import statistics  # noqa: E402, I100

DATA = Path(__file__).parents[2] / 'data'
POLICY = DATA.parents[1] / 'config' / 'policies' / 'base.onnx'
FPS = 20
BASE = 'lerobot_mobile_base'


def exported(campaign, output):
    """Return the folder of the dataset of a campaign's base."""
    assert main(['export', str(campaign), '--format', 'lerobot', '--output', str(output)]) == 0
    return output / BASE


@pytest.fixture(scope='module')
def campaign(tmp_path_factory):
    """Run two trials of two scenarios without a world."""
    folder = tmp_path_factory.mktemp('runs') / 'campaign'
    run('SCN-R-101', 'SCN-R-106', link='loopback', trials=2, seed=1, output=folder)
    return folder


@pytest.fixture(scope='module')
def dataset(campaign, tmp_path_factory):
    return exported(campaign, tmp_path_factory.mktemp('datasets'))


def loaded(dataset, name):
    return json.loads((dataset / name).read_text())


def table(dataset, name):
    return parquet.read_table(dataset / name)


def frames(dataset):
    return table(dataset, 'data/chunk-000/file-000.parquet')


def episodes(dataset):
    return table(dataset, 'meta/episodes/chunk-000/file-000.parquet').to_pylist()


def column(dataset, name):
    """Return a feature as frames x values."""
    return numpy.array(frames(dataset).column(name).to_pylist())


def test_it_is_of_format_3_and_has_one_episode_for_each_trial(dataset):
    info = loaded(dataset, 'meta/info.json')
    assert info['codebase_version'] == 'v3.0' and info['robot_type'] == 'mobile_base'
    assert (info['total_episodes'], info['total_tasks'], info['fps']) == (4, 2, FPS)
    assert info['splits'] == {'train': '0:4'} and info['video_path'] is None
    assert info['total_frames'] == len(frames(dataset)) > 1000
    rows = episodes(dataset)
    assert [row['episode_index'] for row in rows] == [0, 1, 2, 3]
    assert {row['verdict'] for row in rows} == {'PASS'}
    assert {row['trial_id'].partition('.')[0] for row in rows} == {'SCN-R-101', 'SCN-R-106'}


def test_each_feature_has_the_type_and_shape_that_are_declared(dataset):
    features = loaded(dataset, 'meta/info.json')['features']
    schema = frames(dataset).schema
    assert set(schema.names) == set(features)
    for name, feature in features.items():
        [length] = feature['shape']
        found = schema.field(name).type
        assert str(found.value_type if length > 1 else found) == feature['dtype'].replace(
            'float32', 'float')
        assert length == 1 or found.list_size == length == len(feature['names'])
    assert features['action']['names'] == ['linear.x', 'linear.y', 'angular.z']
    assert features['observation.scan']['shape'] == [180]
    assert features['observation.human_pose']['names'][0] == 'human_pose.pose.position.x'


def test_times_are_frames_by_their_rate_and_begin_with_each_episode(dataset):
    number = column(dataset, 'frame_index')
    assert column(dataset, 'timestamp').astype(numpy.float32).tolist() == (
        number / FPS).astype(numpy.float32).tolist()
    assert column(dataset, 'index').tolist() == list(range(len(number)))
    for row in episodes(dataset):
        own = slice(row['dataset_from_index'], row['dataset_to_index'])
        assert number[own].tolist() == list(range(row['length']))
        assert set(column(dataset, 'episode_index')[own]) == {row['episode_index']}


def test_the_task_is_the_name_of_the_scenario(dataset):
    pandas = pytest.importorskip('pandas', reason='the extra test is not installed')
    tasks = pandas.read_parquet(dataset / 'meta' / 'tasks.parquet')
    assert tasks.task_index.tolist() == [0, 1]
    for row in episodes(dataset):
        [task] = row['tasks']
        place = column(dataset, 'task_index')[row['dataset_from_index']]
        assert tasks.iloc[place].name == task
        assert read(dataset, row).trial.scenario.name == task


def read(dataset, row):
    """Return the record of an episode."""
    return read_journal(CAMPAIGNS[dataset] / 'traces' / row['scenario_id'] /
                        f'{row["trial_id"]}.events.jsonl.gz', registry.resolve)


CAMPAIGNS: dict = {}


@pytest.fixture(autouse=True)
def _known(campaign, dataset):
    CAMPAIGNS[dataset] = campaign


def test_a_frame_has_the_latest_command_and_reading_by_then(dataset):
    row = episodes(dataset)[0]
    found = read(dataset, row)
    commands = found.of_kind('command')
    poses = [event for event in found.of_kind('stimulus', 'human_pose') if event.message]
    place = row['length'] // 2
    now_ns = commands[0].stamps.steady_ns + round(place * 1e9 / FPS)
    at = row['dataset_from_index'] + place
    last = [event for event in commands if event.stamps.steady_ns <= now_ns][-1]
    assert column(dataset, 'action')[at][0] == pytest.approx(last.message.at('linear.x'))
    pose = [event for event in poses if event.stamps.steady_ns <= now_ns][-1]
    assert column(dataset, 'observation.human_pose')[at][0] == pytest.approx(
        pose.message.at('pose.position.x'), abs=1e-5)
    ages = loaded(dataset, 'meta/info.json')['features']['observation.age']['names']
    assert column(dataset, 'observation.age')[at][ages.index('human_pose')] == pytest.approx(
        (now_ns - pose.stamps.steady_ns) / 1e9, abs=1e-6)


def test_statistics_are_those_of_all_frames(dataset):
    stats = loaded(dataset, 'meta/stats.json')
    assert set(stats) == set(loaded(dataset, 'meta/info.json')['features'])
    for name in ('action', 'observation.scan', 'timestamp', 'index'):
        values = column(dataset, name).reshape(len(frames(dataset)), -1).astype(float)
        assert stats[name]['count'] == [len(values)]
        for key, expected in (('min', values.min(0)), ('max', values.max(0)),
                              ('mean', values.mean(0)), ('std', values.std(0)),
                              ('q01', numpy.quantile(values, 0.01, axis=0)),
                              ('q99', numpy.quantile(values, 0.99, axis=0))):
            assert stats[name][key] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_an_episode_has_its_own_statistics(dataset):
    row = episodes(dataset)[1]
    own = column(dataset, 'action')[row['dataset_from_index']:row['dataset_to_index']]
    assert row['stats/action/mean'] == pytest.approx(own.mean(0), rel=1e-5, abs=1e-6)
    assert row['stats/action/count'] == [row['length']]


def test_statistics_of_pictures_are_of_each_colour_from_0_to_1():
    pictures = numpy.zeros((2, 4, 6, 3), numpy.uint8)
    pictures[..., 1] = 255
    found = statistics([pictures])
    assert found['mean'] == [[[0.0]], [[1.0]], [[0.0]]] and found['count'] == [2]


def test_the_same_campaign_gives_the_same_bytes(campaign, dataset, tmp_path):
    again = exported(campaign, tmp_path)
    assert {path.relative_to(again): path.read_bytes() for path in again.rglob('*.*')
            if path.is_file()} == {
        path.relative_to(dataset): path.read_bytes() for path in dataset.rglob('*.*')
        if path.is_file()}


@pytest.mark.thorough
def test_a_dataset_that_is_there_is_replaced_and_nothing_else(campaign, tmp_path):
    found = exported(campaign, tmp_path)
    (found / 'data' / 'old.parquet').write_bytes(b'')
    exported(campaign, tmp_path)
    assert not (found / 'data' / 'old.parquet').exists()
    (tmp_path / 'other' / BASE).mkdir(parents=True)
    (tmp_path / 'other' / BASE / 'mine.txt').write_text('kept')
    assert main(['export', str(campaign), '--format', 'lerobot', '--output',
                 str(tmp_path / 'other')]) != 0
    assert [one.name for one in (tmp_path / 'other').rglob('*.*')] == ['mine.txt']


def test_a_campaign_without_commands_is_refused(tmp_path, capsys):
    run(str(DATA.parents[1] / 'config/scenarios/clinical/opioid_infusion.yaml'), link='loopback',
        words='patterns', output=tmp_path / 'run')
    assert main(['export', str(tmp_path / 'run'), '--format', 'lerobot', '--output',
                 str(tmp_path / 'out')]) == 2
    assert 'got no trial in which a robot was commanded' in capsys.readouterr().err


class Dies:
    """A controller that dies before its first command in the first trial."""

    has_died = False

    def decide(self, observation):
        """Drive, but in the first trial; each trial has another object."""
        if not self.has_died:
            type(self).has_died = True
            raise RuntimeError('planted')
        return Command(velocity=(0.3, 0.0))


def test_a_trial_without_commands_takes_no_other_one_with_it(tmp_path):
    results = run('SCN-R-101', controller=Dies, isolate=False, link='loopback', trials=3, seed=1,
                  output=tmp_path / 'campaign')
    assert [one.verdict.value == 'ERROR' for one in results.trials] == [True, False, False]
    found = episodes(exported(tmp_path / 'campaign', tmp_path / 'out'))
    assert [one['trial_id'] for one in found] == [one.trial_id for one in results.trials[1:]]


def test_a_policy_names_the_features(tmp_path):
    pytest.importorskip('onnxruntime', reason='the extra policy is not installed')
    pytest.importorskip('mujoco', reason='the extra sim is not installed')
    run('SCN-R-201', link='simulated', controller=f'onnx:{POLICY}', output=tmp_path / 'run',
        seed=1)
    found = exported(tmp_path / 'run', tmp_path / 'out')
    features = loaded(found, 'meta/info.json')['features']
    assert features['observation']['shape'] == [80]
    assert features['observation']['names'][:1] == ['scan.ray_0']
    seen = column(found, 'observation')
    assert len(numpy.unique(seen[:, :72], axis=0)) > 10  # the scanner of the world is in it


def image(number):
    return Event.model_construct(
        kind='stimulus', name='image', stamps=stamps(number * 100.0 - 600), message=Message(
            type='sensor_msgs/msg/Image', data={
                'encoding': 'rgb8', 'width': 4, 'height': 2, 'step': 12, 'is_bigendian': 0,
                'data': bytes([number * 10] * 24)}))


CONTRACT = PolicyContract.model_validate({
    'robot': 'mobile_base', 'outputs': {'action': {'quantity': 'velocity'}},
    'inputs': {'cam/front': {'role': 'image', 'size': [2, 4], 'dtype': 'uint8'},
               'speed': {'role': 'odom', 'fields': ['twist.twist.linear.x'], 'missing': 0.0}}})


def test_images_are_frames_in_rgb_whatever_order_the_policy_reads():
    trial = recorded(record(reacting(100.0), extra=map(image, range(20))))
    episode = episode_of(trial, CONTRACT, FPS)
    assert isinstance(episode, Episode) and list(episode.images) == ['cam.front']
    pictures = episode.images['cam.front']
    assert pictures.shape == (len(episode), 2, 4, 3) and pictures.dtype == numpy.uint8
    assert pictures[0, 0, 0, 0] < pictures[-1, 0, 0, 0] == 190


def test_what_never_came_is_older_than_anything():
    trial = recorded(record(reacting(100.0), extra=map(image, range(20))))
    episode = episode_of(trial, CONTRACT, FPS)
    assert set(episode.vectors['observation.age'][:, 1]) == {NEVER}
    assert set(episode.vectors['speed'].ravel()) == {0.0}


def test_an_episode_begins_when_every_input_is_known():
    trial = recorded(record(reacting(100.0), extra=[image(10)]))
    whole = episode_of(recorded(record(reacting(100.0), extra=[image(0)])), CONTRACT, FPS)
    late = episode_of(trial, CONTRACT, FPS)
    assert len(late) == len(whole) - 20  # it came 1 s later


def test_without_an_input_there_is_no_episode():
    assert episode_of(recorded(record(reacting(100.0))), CONTRACT, FPS) == 'image: no message yet'


def test_a_trial_without_a_robot_has_no_episode():
    assert recorded(answered('Stop', chat())) == 'no robot was commanded'


@pytest.mark.parametrize(('message', 'names', 'values'), [
    (twist(0.5, 0.25), ('linear.x', 'linear.y', 'angular.z'), [0.5, 0.0, 0.25]),
    (Message(type='trajectory_msgs/msg/JointTrajectory', data={
        'joint_names': ('a', 'b'), 'points': (
            {'positions': (1.0, 2.0), 'velocities': (0.5, -0.5)},
            {'positions': (1.5, 1.5), 'velocities': (0.0, 0.0)})}),
     ('a.velocities', 'b.velocities'), [0.5, -0.5]),
    (Message(type='trajectory_msgs/msg/JointTrajectory', data={
        'joint_names': ('a',), 'points': ({'positions': (1.0,), 'velocities': ()},)}),
     ('a.positions',), [1.0]),
    (Message(type='std_msgs/msg/Float64MultiArray', data={'data': (1.0, 2.0)}),
     ('data.0', 'data.1'), [1.0, 2.0])])
def test_an_action_is_what_a_command_says(message, names, values):
    found, array = action_of(message)
    assert found == names and array.tolist() == values and array.dtype == numpy.float32


@pytest.mark.parametrize(('name', 'feature'), [
    ('scan', 'scan'), ('observation/image', 'observation.image'),
    ('action', 'observation.action')])
def test_the_name_of_an_input_fits_a_dataset(name, feature):
    assert feature_of(name) == feature


def test_a_command_of_another_form_does_not_become_a_frame():
    other = command(50, Message(type='std_msgs/msg/Empty', data={}))
    assert len(recorded(record([*reacting(100.0), other])).commands) == len(
        recorded(record(reacting(100.0))).commands)


def test_pictures_become_a_film_of_as_many_frames(tmp_path):
    ffmpeg = pytest.importorskip('imageio_ffmpeg', reason='the extra film is not installed')
    from safety_scenarios.reports.film.encoding import encode_mp4
    pictures = [numpy.full((16, 32, 3), number * 20, numpy.uint8) for number in range(10)]
    encode_mp4(pictures, (32, 16), tmp_path / 'film.mp4', FPS)
    assert ffmpeg.count_frames_and_secs(str(tmp_path / 'film.mp4')) == (10, 0.5)
