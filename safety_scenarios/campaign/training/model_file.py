# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A network as an ONNX file: the same network gives the same bytes."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy
from safety_scenarios.campaign.training.network import Layers, Network
from safety_scenarios.errors import MissingDependencyError

_OPSET, _IR_VERSION = 17, 8
"""Read by onnxruntime 1.12 and newer."""
_NAME = 'safety_scenarios'


def onnx_bytes(network: Network, output: str, metadata: Mapping[str, str]) -> bytes:
    """
    Return the content of an ONNX file.

    :param output: name of the action
    :param metadata: goes into the file, such as the hash of the contract
    :raises MissingDependencyError: without the extra train
    """
    onnx = onnx_package()
    helper, nodes, constants = onnx.helper, [], []

    def constant(name: str, values: Any) -> str:
        constants.append(onnx.numpy_helper.from_array(
            numpy.ascontiguousarray(values, dtype=numpy.float32), name))
        return name

    def layers(prefix: str, source: str, part: Layers) -> str:
        for place, (weight, bias) in enumerate(zip(part.weights, part.biases, strict=True)):
            summed = f'{prefix}_{place}'
            nodes.append(helper.make_node('Gemm', [
                source, constant(f'{summed}_weight', weight), constant(f'{summed}_bias', bias)],
                [summed]))
            source = summed
            if place < len(part.weights) - 1:
                nodes.append(helper.make_node('Relu', [summed], [f'{summed}_relu']))
                source = f'{summed}_relu'
        return source

    def clipped(source: str, least: float, name: str) -> str:
        nodes.append(helper.make_node('Clip', [
            source, constant(f'{name}_least', least), constant(f'{name}_most', 1.0)], [name]))
        return name

    units = clipped(layers('speed', network.speed_input, network.speed), 0.0, 'units')
    share = output if network.sense is None else 'share'
    steps = numpy.array(network.steps)[:, None]
    nodes.append(helper.make_node('MatMul', [units, constant('steps', steps)], [share]))
    if network.sense is not None:
        senses = clipped(layers('sense', network.sense_input, network.sense), -1.0, 'senses')
        nodes.append(helper.make_node('Mul', [share, senses], [output]))
    graph = helper.make_graph(
        nodes, _NAME, [_vector(onnx, name, size) for name, size in _inputs(network)],
        [_vector(onnx, output, 1 if network.sense is None else len(network.sense.biases[-1]))],
        constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', _OPSET)],
                              ir_version=_IR_VERSION, producer_name=_NAME)
    helper.set_model_props(model, dict(sorted(metadata.items())))
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def onnx_package() -> Any:
    """
    Return the package onnx.

    :raises MissingDependencyError: it is not installed
    """
    try:
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise MissingDependencyError('training a policy', 'onnx',
                                     "pip install 'safety_scenarios[train]'") from error
    return onnx


def _inputs(network: Network) -> Iterator[tuple[str, int]]:
    yield network.speed_input, len(network.speed.weights[0])
    if network.sense is not None:
        yield network.sense_input, len(network.sense.weights[0])


def _vector(onnx: Any, name: str, size: int) -> Any:
    return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, size])
