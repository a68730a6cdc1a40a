# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Training a small policy: what it learns from, and its files."""

import sys

from cases import for_each
import numpy
import onnx
import onnxruntime
import pytest
import safety_scenarios
from safety_scenarios.campaign.training.imitation import Effort, FIRST_TRIAL_SEED, NEEDED, train
from safety_scenarios.campaign.training.network import (
    fitted,
    Layers,
    Network,
    sense_slope,
    speed_slope,
)
from safety_scenarios.campaign.training.policy_files import (
    contract_file,
    onnx_bytes,
    POLICIES,
    sha256,
    TEST_SEED,
    write_policy,
)
from safety_scenarios.campaign.training.samples import mirrored, Samples, scene_samples, Teacher
from safety_scenarios.controllers.policies.contract import load_contract
from safety_scenarios.errors import MissingDependencyError, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.message import Message, Observation, Reading
from safety_scenarios.scenario.settings import ControllerContext

LITTLE = Effort(scenes=60, trials=1, rounds=1, epochs=2, weight=1)
SCENARIO = {'base': 'SCN-R-101', 'arm': 'SCN-R-103'}


def contract_of(name):
    return load_contract(contract_file(name))


def content(name, seed):
    contract = contract_of(name)
    trained = train(contract, load_scenarios([SCENARIO[name]]).scenarios, seed, LITTLE)
    return onnx_bytes(trained.network, contract.action_name, {'seed': 'not said'})


@pytest.mark.slow
@for_each('name', POLICIES)
def test_a_seed_gives_one_file_and_another_seed_another(name):
    first = content(name, 1)
    assert sha256(content(name, 1)) == sha256(first)
    assert sha256(content(name, 2)) != sha256(first)


def random_network(name, chance):
    samples = scene_samples(contract_of(name), 300, chance)
    inputs = list(samples.inputs)
    sizes = {key: value.shape[1] for key, value in samples.inputs.items()}
    speed = fitted(Layers.random((sizes[inputs[0]], 32, 16, 2), chance),
                   samples.inputs[inputs[0]], samples.steps, speed_slope, 20, chance)
    if name == 'base':
        return Network((0.4, 0.4), inputs[0], speed), samples
    sense = fitted(Layers.random((sizes[inputs[1]], 32, 6), chance),
                   samples.inputs[inputs[1]], samples.senses, sense_slope, 20, chance)
    return Network((0.4, 0.4), inputs[0], speed, inputs[1], sense), samples


@for_each('name', POLICIES)
def test_the_file_computes_what_the_network_computes(name):
    network, samples = random_network(name, numpy.random.default_rng(5))
    session = onnxruntime.InferenceSession(
        onnx_bytes(network, 'action', {}), providers=['CPUExecutionProvider'])
    wanted = network.actions(samples.inputs)
    assert wanted.min() < wanted.max()
    for row in range(len(wanted)):
        [[action]] = session.run(['action'], {
            key: value[row:row + 1] for key, value in samples.inputs.items()})
        assert numpy.abs(action - wanted[row]).max() <= 1e-6


def test_a_stop_is_exactly_zero_and_a_cruise_exactly_steady():
    layers = Layers((numpy.array([[1.0, 1.0]], numpy.float32),),
                    (numpy.array([0.0, -1.0], numpy.float32),))
    network = Network((0.4, 0.4), 'x', layers)
    rows = numpy.array([[-3.0], [0.0], [1.0], [2.0], [9.0]], numpy.float32)
    assert network.actions({'x': rows})[:, 0].tolist() == pytest.approx([0, 0, 0.4, 0.8, 0.8])
    assert network.actions({'x': rows[:1]})[0, 0] == 0.0


def test_a_network_learns_where_the_reference_stops():
    chance = numpy.random.default_rng(0)
    distances = chance.uniform(0, 5, (4000, 1)).astype(numpy.float32)
    wanted = numpy.concatenate([distances > 2.5, distances > 4], axis=1).astype(numpy.float32)
    layers = fitted(Layers.random((1, 32, 16, 2), chance), distances, wanted, speed_slope, 150,
                    chance)
    network = Network((0.4, 0.4), 'd', layers)
    rows = numpy.array([[0.5], [2.3], [2.8], [3.7], [4.4]], numpy.float32)
    assert network.actions({'d': rows})[:, 0].tolist() == pytest.approx([0, 0, 0.4, 0.4, 0.8])


def reading(kind, data, age_ns=0):
    return Reading(message=Message(type=kind, data=data), age_ns=age_ns, stamp_age_ns=age_ns)


def person(distance, age_ns=0):
    return reading('geometry_msgs/msg/PoseStamped', {
        'header': {'frame_id': 'base_link'},
        'pose': {'position': {'x': distance, 'y': 0.0, 'z': 0.0}}}, age_ns)


def teacher():
    return Teacher(contract_of('base'), ControllerContext(
        robot=RobotModel(kind='mobile_base', max_speed=1.0)))


def test_the_reference_labels_each_thing_that_is_seen_once():
    taught = teacher()
    for distance in (6.0, 6.0, 3.0, 2.0):
        taught.label(Observation(t_ns=0, readings={'human_pose': person(distance)}))
    assert taught.samples.steps.tolist() == [[1, 1], [1, 0], [0, 0]]


def test_who_has_seen_nothing_stands_and_what_is_stale_is_not_learned():
    taught = teacher()
    speed = reading('nav_msgs/msg/Odometry', {'twist': {'twist': {
        'linear': {'x': 0.0, 'y': 0.0, 'z': 0.0}, 'angular': {'x': 0.0, 'y': 0.0, 'z': 0.0}}}})
    assert not any(taught.label(Observation(t_ns=0, readings={'odom': speed})).velocity)
    assert len(taught.samples) == 1
    taught.label(Observation(t_ns=0, readings={'human_pose': person(6.0, 400_000_000)}))
    assert len(taught.samples) == 1


def test_samples_are_joined_in_order():
    one, other = (Samples({'x': numpy.full((2, 1), value)}, numpy.zeros((2, 2)),
                          numpy.zeros((2, 0))) for value in (1.0, 2.0))
    assert Samples.joined([one, other]).inputs['x'].ravel().tolist() == [1, 1, 2, 2]


def test_a_mirror_turns_left_into_right_and_back():
    contract = contract_of('base')
    taught = teacher()
    found = taught.label(Observation(t_ns=0, readings={'human_pose': reading(
        'geometry_msgs/msg/PoseStamped', {'header': {'frame_id': 'base_link'}, 'pose': {
            'position': {'x': 3.0, 'y': 1.0, 'z': 0.0}}})}))
    assert any(found.velocity)
    once = mirrored(taught.samples, contract)
    before, after = taught.samples.inputs['observation'], once.inputs['observation']
    changed = numpy.flatnonzero((before != after).any(axis=0))
    assert len(changed) == 1 and after[0, changed[0]] == -before[0, changed[0]]
    assert numpy.array_equal(mirrored(once, contract).inputs['observation'], before)
    rays = numpy.arange(80, dtype=numpy.float32)[None]
    turned = mirrored(Samples({'observation': rays}, once.steps, once.senses), contract)
    assert turned.inputs['observation'][0, :72].tolist() == list(range(72))[::-1]


def test_trials_for_judging_are_none_of_those_for_training():
    assert TEST_SEED < FIRST_TRIAL_SEED


def test_a_folder_with_files_is_left_alone(tmp_path):
    (tmp_path / 'mine.txt').write_text('mine')
    with pytest.raises(SettingsError, match='new or an empty folder'):
        write_policy('base', 0, tmp_path, LITTLE)
    assert [path.name for path in tmp_path.iterdir()] == ['mine.txt']


@pytest.mark.parametrize('missing', NEEDED)
def test_a_missing_package_is_named_with_the_extra_before_anything_is_trained(
        missing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingDependencyError, match=(
            rf'{missing}, which is not installed.*' r"pip install 'safety_scenarios\[train\]'")):
        write_policy('base', 0, tmp_path / 'out', LITTLE)
    assert not (tmp_path / 'out').exists()


MOST_BYTES = 1_000_000
HAZARD = {'base': 'SCN-R-101', 'arm': 'SCN-R-102'}
BENIGN = {'base': 'SCN-R-D-101', 'arm': 'SCN-R-D-102'}


@for_each('name', POLICIES)
def test_the_card_of_a_shipped_policy_has_the_hashes_of_its_files(name):
    contract = contract_file(name)
    model, card = contract.with_suffix('.onnx'), contract.with_suffix('.md').read_text()
    assert model.stat().st_size <= MOST_BYTES
    assert f'| SHA-256 of the model | `{sha256(model.read_bytes())}` |' in card
    assert f'| SHA-256 of the contract | `{sha256(contract.read_bytes())}` |' in card


@for_each('name', POLICIES)
def test_a_shipped_model_names_the_contract_that_it_was_trained_with(name):
    contract = contract_file(name)
    model = onnx.load(contract.with_suffix('.onnx'))
    known = {one.key: one.value for one in model.metadata_props}
    assert known['contract_sha256'] == sha256(contract.read_bytes())


@pytest.mark.slow
@for_each('name', POLICIES)
def test_a_shipped_policy_stops_for_a_person_and_for_nothing_else(name):
    policy = contract_file(name).with_suffix('.onnx')
    ended = safety_scenarios.run(HAZARD[name], BENIGN[name], controller=f'onnx:{policy}',
                                 link='loopback', trials=2, seed=3)
    assert ended.verdict.value == 'PASS', ended.explain()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_policy_that_stops_for_want_of_what_a_lost_link_takes_away_has_reacted():
    found = safety_scenarios.run('SCN-R-106', controller='learned', link='loopback', trials=4,
                                 seed=7)
    lost = {tuple(trial.drawn['fails']) for trial in found.trials}
    assert {('scan',), ('human_pose',)} & lost
    assert {trial.verdict.value for trial in found.trials} == {'PASS'}


def test_a_training_leaves_a_model_its_contract_and_its_card_and_nothing_else(tmp_path):
    lines = []
    digest = write_policy('arm', 4, tmp_path / 'arm', LITTLE, lines.append, test_trials=1)
    files = {path.name: path.read_bytes() for path in (tmp_path / 'arm').iterdir()}
    assert sorted(files) == ['card.md', 'policy.onnx', 'policy.yaml']
    assert sha256(files['policy.onnx']) == digest
    card = files['card.md'].decode()
    assert digest in card and '| random scenes | 60 |' in card
    assert '## Limits' in card and 'Person near arm' in card
    assert 'Hand reaches' in card and 'scenarios of `worlds`' in lines[-1]
