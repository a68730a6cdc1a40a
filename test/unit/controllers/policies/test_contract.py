# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A contract that cannot be meant is refused when it is read, at its line."""

from typing import Any

from cases import for_each
import pytest
from safety_scenarios.controllers.policies.contract import (
    contract_of,
    load_contract,
    PolicyContract,
    StateInput,
)
from safety_scenarios.errors import InputError, ScenarioError

SCAN = {'role': 'scan', 'rays': 4, 'clip': [0.0, 10.0]}
PERSON = {'role': 'human_pose', 'fields': ['pose.position.x']}
ODOM = {'role': 'odom', 'fields': ['twist.twist.linear.x', 'twist.twist.angular.z']}
JOINTS = {'role': 'joint_states', 'joints': 'position'}
IMAGE = {'role': 'image', 'size': [8, 8], 'dtype': 'uint8'}


def contract(part: dict[str, Any], **output: Any) -> PolicyContract:
    return PolicyContract.model_validate({
        'robot': 'mobile_base', 'inputs': {'x': part},
        'outputs': {'action': {'quantity': 'velocity', **output}}})


@for_each('part', [
    SCAN, PERSON, {**PERSON, 'fields': ['position.x', 'header.stamp.sec']}, ODOM, JOINTS, IMAGE,
    {**SCAN, 'unit': 'mm', 'clip': [0.0, 10_000.0]}, {**PERSON, 'unit': 'cm'},
    {**ODOM, 'unit': 'm/s'}, {**JOINTS, 'unit': 'deg'}, {**SCAN, 'dtype': 'uint8'},
    {'role': 'mine', 'type': 'my_msgs/msg/Mine', 'fields': ['a.b[0].c'], 'unit': 'km/h'},
    {'role': 'joint_states', 'fields': ['position[0]'], 'unit': 'deg'}], ids=str)
def test_what_can_be_meant_is_read(part):
    contract(part)


@for_each(('part', 'why'), [
    ({**PERSON, 'fields': ['pose.position.why']}, 'geometry_msgs/msg/Point has x, y, z'),
    ({**PERSON, 'fields': ['pose.positoin.x']}, "Did you mean 'position'"),
    ({**PERSON, 'fields': ['header.frame_id']}, 'expected the path of one number'),
    ({**PERSON, 'fields': ['pose.position']}, 'expected the path of one number'),
    ({**PERSON, 'fields': ['pose.position.x.y']}, 'expected the path of one number'),
    ({'role': 'heartbeat', 'fields': ['data']}, 'std_msgs/msg/Empty has none'),
    ({**JOINTS, 'role': 'human_pose'}, 'got the field position'),
    ({**SCAN, 'unit': 'deg'}, 'got unit deg for scan'),
    ({**PERSON, 'unit': 'm/s'}, 'got unit m/s for human_pose'),
    ({**ODOM, 'unit': 'deg/s'}, 'got unit deg/s for odom'),
    ({**IMAGE, 'unit': 'm'}, 'got unit m for image'),
    ({'role': 'scan', 'age': True, 'unit': 'm'}, 'got unit m for scan'),
    ({**SCAN, 'std': -1.5}, 'got std -1.5, expected a number > 0'),
    ({**PERSON, 'std': 0}, 'got std 0, expected a number > 0'),
    ({**SCAN, 'std': 1e-300}, 'std 1e-300 with dtype float32'),
    ({**PERSON, 'std': 1e-300, 'dtype': 'float64'}, None),
    ({**PERSON, 'dtype': 'uint8'}, 'got dtype uint8 without clip'),
    ({**SCAN, 'unit': 'mm', 'clip': [0.0, 10_000.0], 'dtype': 'uint8'}, 'does not fit'),
    ({**SCAN, 'mean': 5.0, 'dtype': 'uint8'}, 'does not fit'),
    ({**SCAN, 'clip': 10 ** 400}, 'clip'), ({**SCAN, 'std': 10 ** 400}, 'std'),
    ({**IMAGE, 'mean': 128.0}, 'does not fit'),
    ({**PERSON, 'fields': ['']}, "got '', expected a field path"),
    ({**IMAGE, 'size': [4096, 4096], 'history': 2}, 'Reduce history or size'),
    ({**SCAN, 'rays': 10_000, 'history': 1000}, None)], ids=str)
def test_what_cannot_be_meant_is_refused(part, why):
    if why is None:
        contract(part)
        return
    with pytest.raises(ValueError, match=why):
        contract(part)


@for_each(('std', 'got'), [([1.0, -1.0], '-1'), (0.0, '0'), ([0.0, 0.0], '0')])
def test_a_negative_scale_of_an_action_is_refused_and_one_that_makes_all_alike(std, got):
    with pytest.raises(ValueError, match=f'got std {got}, expected a number > 0, and none < 0'):
        contract(SCAN, std=std)


def test_a_value_of_an_action_that_never_changes_may_have_the_scale_zero():
    contract(SCAN, std=[1.0, 0.0])


def test_a_clip_of_an_action_with_the_greater_value_first_is_refused():
    """It would make every action the same."""
    with pytest.raises(ValueError, match='got clip .*, expected the least value first'):
        contract(SCAN, clip=[1.0, 0.0])


@for_each('shape', [[-1], [0], [2, 0], [10 ** 9, 10 ** 9], [1] * 100, [True], []], ids=str)
def test_a_state_that_no_memory_holds_is_refused(shape):
    with pytest.raises(ValueError, match='shape'):
        StateInput.model_validate({'output': 'state', 'shape': shape})


@for_each('rate_hz', [0, 1e-9, 1e-300, -1, 1001])
def test_a_rate_at_which_no_policy_acts_is_refused(rate_hz):
    with pytest.raises(ValueError, match='rate_hz'):
        PolicyContract.model_validate({**contract(SCAN).model_dump(), 'rate_hz': rate_hz})


def test_messages_name_no_types_of_python(tmp_path):
    path = tmp_path / 'policy.yaml'
    path.write_text("""
robot: arm
inputs: {x: {role: human_pose, fields: [pose.position.x], missing: .nan}}
outputs: {action: {quantity: velocity}}
""")
    with pytest.raises(ScenarioError) as caught:
        load_contract(path)
    assert 'missing: got nan, expected a finite number, or a list' in str(caught.value)
    assert 'float' not in str(caught.value) and 'tuple' not in str(caught.value)
    path.write_text(path.read_text().replace(', missing: .nan', ''))
    with pytest.raises(ScenarioError, match='expected robot: mobile_base, or another quantity'):
        load_contract(path)


def test_a_server_without_a_contract_is_named_as_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match='got http://gpu-box:8000/act without a contract'):
        contract_of('http://gpu-box:8000/act')
