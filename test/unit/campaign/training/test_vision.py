# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The way of a vision policy: pictures of the embedded world, a small network, a file, trials."""

import ctypes.util
from pathlib import Path
from typing import Any, ClassVar

import numpy
import pytest
from safety_scenarios import ControllerPlugin, run
from safety_scenarios.controllers.policies.contract import PolicyContract
from safety_scenarios.controllers.policies.inputs import PolicyInputs
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.message import Command, Observation, Reading
from safety_scenarios.scenario.verdict import Verdict
import yaml

onnx = pytest.importorskip('onnx', reason='writes the policy for this test')
neural = pytest.importorskip('sklearn.neural_network', reason='fits the policy for this test')
pytest.importorskip('onnxruntime', reason='the extra policy is not installed')
pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.skipif(
    not any(map(ctypes.util.find_library, ('EGL', 'OSMesa'))), reason='nothing here can draw')]

HEIGHT, WIDTH = 18, 24
LIES_AHEAD, LIES_BESIDE = 'SCN-R-222', 'SCN-R-D-222'
TRAINED, JUDGED = 3, 3
"""Trials of each scenario, with other seeds."""
CONTRACT = f"""
robot: mobile_base
rate_hz: 20
inputs:
  image: {{role: image, size: [{HEIGHT}, {WIDTH}], std: 255.0}}
outputs:
  action: {{quantity: velocity}}
"""
CRUISE = 0.6


class Teacher(ControllerPlugin):
    """Drives by the tracker of people, and keeps what the camera saw with whom it stopped for."""

    pictures: ClassVar[list[Any]] = []
    labels: ClassVar[list[bool]] = []
    inputs: ClassVar[dict[str, str]] = {
        'image': 'sensor_msgs/msg/Image', 'human_pose': 'geometry_msgs/msg/PoseStamped'}

    def decide(self, observation: Observation) -> Command | None:
        seen, person = (observation.readings.get(name) for name in ('image', 'human_pose'))
        if seen is None or person is None:
            return Command(velocity=(CRUISE, 0.0))
        x, y = (person.message.at(f'pose.position.{axis}') for axis in 'xy')
        is_ahead = 0.0 < x < 4.0 and abs(y) < 1.2
        self.pictures.append(scaled(seen.message))
        self.labels.append(is_ahead)
        return Command(velocity=(0.0 if is_ahead else CRUISE, 0.0))


def scaled(image: Any) -> Any:
    """Return a picture as the contract gives it to the model."""
    contract = PolicyContract.model_validate(yaml.safe_load(CONTRACT))
    seen = Observation(t_ns=0, readings={'image': Reading(message=image, age_ns=0)})
    arrays = PolicyInputs(contract, RobotModel(kind='mobile_base', max_speed=1.0)).arrays(seen)
    assert arrays is not None
    return arrays['image'].ravel()


def campaign(scenario: str, controller: Any, seed: int, trials: int, **more: Any) -> Any:
    return run(scenario, controller=controller, link='simulated', seed=seed, trials=trials,
               isolate=False, outputs=(), **more)


def save(path: Path, model: Any) -> None:
    """Write a classifier as a policy: no motion where somebody is ahead."""
    helper, FLOAT = onnx.helper, onnx.TensorProto.FLOAT
    (first, second), (one, two) = model.coefs_, model.intercepts_
    values = {'w1': first, 'b1': one, 'w2': second, 'b2': two, 'zero': numpy.zeros(1),
              'go': numpy.array([[CRUISE, 0.0]]), 'stop': numpy.zeros((1, 2))}
    graph = helper.make_graph(
        [helper.make_node('Flatten', ['image'], ['flat']),
         helper.make_node('Gemm', ['flat', 'w1', 'b1'], ['linear']),
         helper.make_node('Relu', ['linear'], ['hidden']),
         helper.make_node('Gemm', ['hidden', 'w2', 'b2'], ['score']),
         helper.make_node('Greater', ['score', 'zero'], ['is_ahead']),
         helper.make_node('Where', ['is_ahead', 'stop', 'go'], ['action'])], 'vision',
        [helper.make_tensor_value_info('image', FLOAT, [1, 3, HEIGHT, WIDTH])],
        [helper.make_tensor_value_info('action', FLOAT, [1, 2])],
        [onnx.numpy_helper.from_array(numpy.asarray(value, 'float32'), name)
         for name, value in values.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)],
                                ir_version=8), str(path))


def test_a_policy_that_sees_by_the_camera_alone_stops_for_who_lies_ahead(tmp_path):
    Teacher.pictures.clear()
    Teacher.labels.clear()
    for scenario in (LIES_AHEAD, LIES_BESIDE):
        campaign(scenario, Teacher, 100, TRAINED)
    pictures, labels = numpy.array(Teacher.pictures), numpy.array(Teacher.labels)
    assert labels.any() and not labels.all()
    model = neural.MLPClassifier((32,), random_state=0, max_iter=300, alpha=1e-3)
    model.fit(pictures, labels)
    save(tmp_path / 'policy.onnx', model)
    (tmp_path / 'policy.yaml').write_text(CONTRACT)
    found = {scenario: campaign(scenario, f'onnx:{tmp_path / "policy.onnx"}', 5, JUDGED)
             for scenario in (LIES_AHEAD, LIES_BESIDE)}
    reacted = [one.latency is not None and one.latency.reaction is not None
               for one in found[LIES_AHEAD].trials]
    passed = {scenario: sum(one.verdict is Verdict.PASS for one in results.trials)
              for scenario, results in found.items()}
    assert sum(reacted) == JUDGED
    assert passed[LIES_AHEAD] >= 2 and passed[LIES_BESIDE] >= 2, passed
