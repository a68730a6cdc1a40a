# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the host of a policy adds to a decision over onnxruntime alone, in this process.

Run it alone: ``python bench/policy.py``. It needs the extra policy, and onnx for the models.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
import time
from typing import Any

from figures import Figure, spread, table
import numpy as np
import onnx
from onnx import helper, numpy_helper
import onnxruntime
from safety_scenarios.controllers.policies.policy import policy_class
from safety_scenarios.reports.console_report import show
from safety_scenarios.scenario.interfaces import laser_scan
from safety_scenarios.scenario.message import Message, Observation, Reading
from safety_scenarios.scenario.settings import ControllerSettings

ADDED_MS = 0.3
IMAGE_HZ = 30.0
SIDE = 224
VECTOR = """
robot: mobile_base
inputs:
  observation:
    - {role: scan, rays: 72, clip: [0.05, 6], std: 6}
    - {role: human_pose, fields: [pose.position.x, pose.position.y], frame: base_link}
outputs: {action: {quantity: velocity}}
"""
IMAGE = f"""
robot: mobile_base
inputs: {{image: {{role: image, size: [{SIDE}, {SIDE}], mean: 127.5, std: 127.5}}}}
outputs: {{action: {{quantity: velocity}}}}
"""
METHOD = 'CPU time of a decision, in turns with onnxruntime alone on the same numbers; one thread'


def save(folder: Path, name: str, shape: list[int], contract: str) -> Path:
    """Write a model that makes two numbers of all its inputs, with its contract."""
    size = int(np.prod(shape))
    weights = np.random.default_rng(1).standard_normal((size, 64)).astype(np.float32) / size
    last = np.full((64, 2), 0.1, np.float32)
    graph = helper.make_graph(
        [helper.make_node('Flatten', [name], ['flat']),
         helper.make_node('MatMul', ['flat', 'weights'], ['hidden']),
         helper.make_node('Relu', ['hidden'], ['active']),
         helper.make_node('MatMul', ['active', 'last'], ['action'])], 'policy',
        [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, *shape])],
        [helper.make_tensor_value_info('action', onnx.TensorProto.FLOAT, [1, 2])],
        [numpy_helper.from_array(weights, 'weights'), numpy_helper.from_array(last, 'last')])
    path = folder / f'{name}.onnx'
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)],
                                ir_version=8), path)
    path.with_suffix('.yaml').write_text(contract, encoding='utf-8')
    return path


def observed(count: int, message: Message, role: str) -> list[Observation]:
    """Return that many observations of a message that has just come."""
    pose = Message(type='geometry_msgs/msg/PoseStamped', data={
        'header': {'frame_id': 'base_link'}, 'pose': {
            'position': {'x': 3.0, 'y': 0.5, 'z': 0.0},
            'orientation': {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}}})
    readings = {role: Reading.model_construct(message=message, age_ns=1, stamp_age_ns=1),
                'human_pose': Reading.model_construct(message=pose, age_ns=1, stamp_age_ns=1)}
    return [Observation.model_construct(t_ns=index, readings=readings) for index in range(count)]


def added(path: Path, message: Message, role: str, shape: tuple[int, ...],
          count: int) -> tuple[list[float], list[float]]:
    """Return what decisions of the host took, and the model alone, in turns (ms)."""
    controller = policy_class('onnx', str(path))()
    controller.begin(ControllerSettings(schedule_clock='ros'))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options)
    given: dict[str, Any] = {path.stem: np.zeros((1, *shape), np.float32)}
    host, alone = [], []
    for observation in observed(count, message, role):
        begin_s = time.thread_time()
        session.run(None, given)
        middle_s = time.thread_time()
        controller.decide(observation)
        host.append((time.thread_time() - middle_s) * 1e3)
        alone.append((middle_s - begin_s) * 1e3)
    controller.close()
    return host, alone


def policies(count: int) -> list[Figure]:
    """Return the figures of a policy with a scanner, and of one with images."""
    found = []
    scan = Message(type='sensor_msgs/msg/LaserScan', data=laser_scan('laser_link', 10.0, ()))
    picture = np.random.default_rng(1).integers(0, 255, (SIDE, SIDE, 3), np.uint8)
    image = Message(type='sensor_msgs/msg/Image', data={
        'header': {'frame_id': 'camera'}, 'height': SIDE, 'width': SIDE, 'encoding': 'rgb8',
        'is_bigendian': 0, 'step': 3 * SIDE, 'data': picture.tobytes()})
    with TemporaryDirectory() as folder:
        vector = save(Path(folder), 'observation', [74], VECTOR)
        host, alone = added(vector, scan, 'scan', (74,), count)
        for name, share in (('p50', 0.5), ('p99', 0.99)):
            found.append(Figure(
                f'scanner and tracker: added to a decision, {name}',
                float(np.quantile(host, share) - np.quantile(alone, share)), 'ms', count, METHOD,
                at_most=ADDED_MS if name == 'p99' else None))
        pictures = save(Path(folder), 'image', [3, SIDE, SIDE], IMAGE)
        host, _ = added(pictures, image, 'image', (3, SIDE, SIDE), count // 10)
        found += spread(f'image of {SIDE} x {SIDE}: a decision', host, 'ms', METHOD,
                        (None, 1e3 / IMAGE_HZ))
    return found


if __name__ == '__main__':
    show(table('Policies', policies(5000)))
