# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Small policies in ONNX files, with their contracts, and campaigns against them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx import helper, numpy_helper, TensorProto
import yaml

FLOAT, DOUBLE, UINT8, INT64 = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.UINT8,
                               TensorProto.INT64)
FLOAT16, BFLOAT16, INT32, BOOL = (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.INT32,
                                  TensorProto.BOOL)
TEXT = TensorProto.STRING
SIZE = int | str | None
"""A dimension; a text or None: any size."""


def save(path: Path, nodes: Sequence[Any], inputs: Mapping[str, tuple[int, Sequence[SIZE]]],
         outputs: Mapping[str, tuple[int, Sequence[SIZE]]],
         constants: Mapping[str, Any] = {}, weights: str = '', opset: int = 13) -> Path:
    """
    Write a graph; inputs and outputs are name to (type, shape).

    :param weights: name of a file for the constants; empty: they are in the graph
    """
    graph = helper.make_graph(
        nodes, 'policy',
        [helper.make_tensor_value_info(name, *one) for name, one in inputs.items()],
        [helper.make_tensor_value_info(name, *one) for name, one in outputs.items()],
        [numpy_helper.from_array(numpy.asarray(value), name)
         for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)])
    model.ir_version = 8
    onnx.save_model(model, str(path), save_as_external_data=bool(weights),
                    location=weights or None, size_threshold=0)
    return path


def stops_near(path: Path, actions: Any, *, name: str = 'person', shape: Sequence[SIZE] = (1, 1),
               limit: float = 2.5, output: str = 'action', kind: int = FLOAT,
               out_shape: Sequence[SIZE] = (), far: float = numpy.inf, blind: float = 0.0,
               more: Mapping[str, tuple[int, Sequence[SIZE]]] = {}, weights: str = '',
               opset: int = 13) -> Path:
    """
    Write a policy that stops while the least value of its input is below a limit.

    :param actions: horizon x values, while nothing is near
    :param blind: each value of the actions while something is near
    :param out_shape: declared for the output instead of its shape, which then only a run shows
    :param far: above this it stops too
    :param more: inputs that it does not use
    """
    values = numpy.asarray(actions, 'float32')[None]
    nodes = [
        helper.make_node('Cast', [name], ['real'], to=FLOAT),
        helper.make_node('ReduceMin', ['real'], ['nearest'], keepdims=0),
        helper.make_node('Greater', ['nearest', 'limit'], ['is_free']),
        helper.make_node('Less', ['nearest', 'far'], ['is_seen']),
        helper.make_node('And', ['is_free', 'is_seen'], ['goes']),
        helper.make_node('Where', ['goes', 'values', 'stops'],
                         ['fixed' if out_shape else output])]
    if out_shape:
        nodes += [helper.make_node('Mul', ['nearest', 'zero'], ['nothing']),
                  helper.make_node('Cast', ['nothing'], ['whole'], to=INT64),
                  helper.make_node('Add', ['whole', 'ones'], ['repeats']),
                  helper.make_node('Tile', ['fixed', 'repeats'], [output])]
    return save(path, nodes, {name: (kind, shape), **more},
                {output: (FLOAT, out_shape or values.shape)},
                {'limit': numpy.float32(limit), 'far': numpy.float32(far), 'values': values,
                 'zero': numpy.float32(0), 'ones': numpy.int64([1] * values.ndim),
                 'stops': numpy.full_like(values, blind)}, weights, opset)


def contract(path: Path, **changes: Any) -> Path:
    """Write the contract of a base that reads how far ahead a person is."""
    values = {
        'robot': 'mobile_base',
        'inputs': {'person': {'role': 'human_pose', 'fields': ['pose.position.x']}},
        'outputs': {'action': {'quantity': 'velocity', 'unit': 'm/s'}}, 'rate_hz': 20, **changes}
    path.write_text(yaml.safe_dump({key: value for key, value in values.items()
                                    if value is not None}), encoding='utf-8')
    return path
