# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A new contract says what a model makes plain, leaves the rest open, and loads once filled in."""

from pathlib import Path
import socket

from cases import for_each
import jsonschema
import pytest
from safety_scenarios.cli.listing import schema_of
from safety_scenarios.cli.main import main
from safety_scenarios.controllers.policies.contract import load_contract
from safety_scenarios.controllers.policies.contract_text import contract_text, RobotFacts
from safety_scenarios.controllers.policies.model import Tensor
from safety_scenarios.errors import InputError
from safety_scenarios.formats.document.positions import Document, MAX_BYTES
from unit.controllers.policies.onnx_models import stops_near
import yaml

ACTION = {'action': Tensor((1, 16, 2), 'float32')}
BASE, ARM = RobotFacts('mobile_base'), RobotFacts('arm', ('a', 'b', 'c', 'd', 'e', 'f'))


def read(inputs, outputs=ACTION, robot=BASE):
    return yaml.safe_load(contract_text('m', inputs, outputs, robot).text)


@for_each(('name', 'tensor', 'robot', 'expected'), [
    ('scan', Tensor((1, 360), 'float32'), BASE,
     {'role': 'scan', 'rays': 360, 'clip': [0.0, '???']}),
    ('lidar_ranges', Tensor((None, None), 'float32'), BASE,
     {'role': 'scan', 'rays': '???', 'clip': [0.0, '???']}),
    ('human_pose', Tensor((1, 2), 'float32'), BASE,
     {'role': 'human_pose', 'fields': ['pose.position.x', 'pose.position.y'],
      'frame': 'base_link'}),
    ('odom', Tensor((1, 2), 'float64'), BASE,
     {'role': 'odom', 'fields': ['twist.twist.linear.x', 'twist.twist.angular.z'],
      'dtype': 'float64'}),
    ('qpos', Tensor((1, 6), 'float32'), ARM, {'role': 'joint_states', 'joints': 'position'}),
    ('joint_velocity', Tensor((6,), 'float32'), ARM,
     {'role': 'joint_states', 'joints': 'velocity'}),
    ('wrench', Tensor((1, 6), 'float32'), ARM,
     {'role': 'wrench', 'fields': [f'wrench.{part}.{axis}' for part in ('force', 'torque')
                                   for axis in 'xyz']}),
    ('observation.images.top', Tensor((1, 3, 96, 128), 'float32'), ARM,
     {'role': 'image', 'size': [96, 128], 'layout': 'chw', 'std': 255.0}),
    ('rgb', Tensor((224, 224, 3), 'uint8'), ARM,
     {'role': 'image', 'size': [224, 224], 'layout': 'hwc', 'dtype': 'uint8'}),
    ('camera', Tensor((1, 2, 1, 64, 64), 'uint8'), ARM,
     {'role': 'image', 'size': [64, 64], 'layout': 'chw', 'channels': 'mono', 'history': 2,
      'dtype': 'uint8'}),
    ('goal', Tensor((1, 2), 'float32'), BASE, {'role': '???', 'fields': ['???', '???']}),
    ('qpos', Tensor((1, 9), 'float32'), ARM, {'role': '???', 'fields': ['???']}),
    ('sequence', Tensor((1, 5, 7), 'float32'), BASE, {'role': '???', 'fields': ['???']}),
])
def test_a_role_is_named_where_name_and_shape_make_it_plain(name, tensor, robot, expected):
    assert read({name: tensor}, robot=robot)['inputs'] == {name: expected}


def test_texts_and_recurrent_state_have_places_of_their_own():
    found = read({'scan': Tensor((1, 8), 'float32'), 'instruction': Tensor((1,), 'str'),
                  'hidden_in': Tensor((1, 64), 'float32')},
                 {'hidden_out': Tensor((1, 64), 'float32'), **ACTION})
    assert list(found['inputs']) == ['scan'] and found['prompts'] == {'instruction': '???'}
    assert found['states'] == {'hidden_in': {'output': 'hidden_out', 'shape': [1, 64]}}
    assert list(found['outputs']) == ['action']


@for_each(('inputs', 'outputs', 'states'), [
    (('h0', 'c0'), ('hn', 'cn'), {'h0': 'hn', 'c0': 'cn'}),  # as the documentation of PyTorch
    (('h_0',), ('h_n',), {'h_0': 'h_n'}),
    (('input',), ('output',), {}),
])
def test_recurrent_state_is_known_by_name_and_shape(inputs, outputs, states):
    size = Tensor((1, 1, 8), 'float32')
    found = read({'scan': Tensor((1, 8), 'float32'), **dict.fromkeys(inputs, size)},
                 {**ACTION, **dict.fromkeys(outputs, size)})
    assert {name: one['output'] for name, one in found.get('states', {}).items()} == states


@for_each('name', ['on', 'off', 'yes', 'No', 'null', 'true', 'nan', '~', '1.0', '1e5', 'y', 'a b',
                   'a\nrobot: arm', 'a: b', '{a}', '"a"\\', 'x # y', '\x7f',
                   'größe', '🤖', 'w' * 300])
def test_any_name_of_a_model_is_read_as_it_is(name):
    one, text = Tensor((1, 2), 'float32'), Tensor((1,), 'str')
    made = contract_text('m', {name: one, f'{name} text': text, 'h_in': Tensor((9,), '')},
                         {name + '_action': one, 'h_out': Tensor((9,), ''), name: one},
                         BASE).text
    for found in (yaml.safe_load(made), Document('policy.yaml', made.encode()).data):
        assert found['states'].keys() == {'h_in', name}
        assert found['states'][name]['output'] == name
        assert [*found['prompts']] == [f'{name} text'] and found['robot'] == 'mobile_base'
        assert [*found['outputs']] == [name + '_action']
    alone = contract_text('m', {name: one}, {'action': one, f'{name}2': one}, BASE).text
    assert [*Document('policy.yaml', alone.encode()).data['inputs']] == [name]


def test_the_contract_of_a_model_with_words_of_yaml_as_names_is_written(
        tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stops_near(tmp_path / 'policy.onnx', [[0.8, 0.0]] * 4, name='on', output='off')
    assert main(['new', 'policy', 'policy.onnx']) == 0
    assert 'inputs.on.fields, outputs.off.quantity' in capsys.readouterr().out


@for_each(('output', 'shape', 'robot', 'kind', 'expected'), [
    ('cmd_vel', (1, 2), RobotFacts(), 'mobile_base', {'quantity': 'velocity', 'unit': 'm/s'}),
    ('action', (1, 50, 7), ARM, 'arm', {'quantity': '???'}),
    ('joint_delta', (1, 50, 7), ARM, 'arm',
     {'quantity': 'joint_delta', 'unit': 'rad', 'columns': [0, 1, 2, 3, 4, 5]}),
    ('target_positions', (50, 6), ARM, 'arm', {'quantity': 'joint_position', 'unit': 'rad'}),
    ('output', (1, 4), RobotFacts(), '???', {'quantity': '???'}),
])
def test_the_action_is_what_robot_and_name_say(output, shape, robot, kind, expected):
    found = read({'goal': Tensor((1, 2), 'float32')}, {output: Tensor(shape, 'float32')}, robot)
    assert found['robot'] == kind
    made = found['outputs'][output]
    assert {key: made.get(key) for key in expected} == expected


def test_a_model_that_declares_nothing_leaves_everything_open(tmp_path):
    made = contract_text('m', None, None, RobotFacts())
    path = tmp_path / 'policy.yaml'
    path.write_text(made.text)
    with pytest.raises(InputError, match=r'policy.yaml:\d+:\d+: .*got \?\?\?'):
        load_contract(path)
    assert {'robot', 'inputs', 'outputs.actions.quantity', 'rate_hz'} <= {*made.blanks}


def test_a_new_contract_is_refused_until_it_is_filled_in(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stops_near(tmp_path / 'policy.onnx', [[0.8, 0.0]] * 4, name='scan', shape=(1, 8))
    assert main(['new', 'policy', 'policy.onnx']) == 0
    told = capsys.readouterr().out
    assert 'Fill in inputs.scan.clip, rate_hz' in told
    run = ['run', 'SCN-R-110', '--link', 'loopback', '--controller', 'onnx:policy.onnx',
           '--output', 'results']
    assert main(run) == 2
    assert 'policy.yaml:6:43: inputs.scan.clip[1]: got ???' in capsys.readouterr().err
    path = tmp_path / 'policy.yaml'
    text = path.read_text().replace('[0.0, "???"]', '[0.0, 10.0]').replace('"???"', '20')
    path.write_text(text)
    assert load_contract(path).action_horizon == 4
    jsonschema.Draft202012Validator(schema_of('policy')).validate(yaml.safe_load(text))
    assert main(['new', 'policy', 'policy.onnx']) == 2
    assert 'exists already' in capsys.readouterr().err


def test_the_contract_of_a_server_that_sends_pickles_is_written_without_one(
        tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip('grpc', reason='the extra lerobot is not installed')
    assert main(['new', 'policy', 'lerobot:127.0.0.1:9']) == 0
    told = capsys.readouterr().out
    assert 'was not opened, because it needs pickles' in told
    assert '--set controller.contract=policy.yaml --set controller.allow_pickle=true' in told
    assert {*yaml.safe_load((tmp_path / 'policy.yaml').read_text())['server']} == {
        'policy_type', 'pretrained_name_or_path', 'actions_per_chunk'}


def test_a_server_that_is_not_there_is_reported_at_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip('websockets', reason='the extra servers is not installed')
    with socket.socket() as bound:  # nothing listens on it, and nothing else can
        bound.bind(('127.0.0.1', 0))
        assert main(['new', 'policy', f'openpi:ws://127.0.0.1:{bound.getsockname()[1]}']) == 2
    assert 'nothing listens there (refused), expected a server' in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_the_robot_that_a_contract_was_written_for_is_the_one_of_the_next_command(
        tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stops_near(tmp_path / 'my policy.onnx', [[0.8, 0.0]], name='scan', shape=(1, 8))
    assert main(['new', 'policy', 'my policy.onnx', '--profile', 'turtlebot4']) == 0
    assert " --profile turtlebot4 --controller 'onnx:my policy.onnx'" in capsys.readouterr().out


def test_what_is_no_model_is_refused(capsys):
    assert main(['new', 'policy', 'policy.txt']) == 2
    told = capsys.readouterr().err
    assert 'expected the file of a model' in told and 'PyTorch' not in told
    assert main(['new', 'policy', 'policy.pt']) == 2
    assert 'name it torchscript:policy.pt' in capsys.readouterr().err
    for name, hint in (('ws://127.0.0.1:8000', 'its protocol comes first: openpi:ws://'),
                       ('openai:http://127.0.0.1:8080/v1#m', 'A chat model needs no contract')):
        assert main(['new', 'policy', name]) == 2
        assert hint in capsys.readouterr().err
    assert main(['new', 'policy', 'onnx:nowhere.onnx']) == 2
    assert 'there is none in' in capsys.readouterr().err


@pytest.mark.parametrize('path', ['/dev/zero', 'large.yaml'])
def test_a_contract_without_end_is_refused_before_it_is_read(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path('large.yaml').write_bytes(b'# ' + b'x' * (MAX_BYTES + 1))
    with pytest.raises(InputError, match='/dev/zero|Make the file smaller'):
        load_contract(path)
