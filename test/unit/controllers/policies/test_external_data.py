# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Each file from which onnxruntime reads weights is among the files of a model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cases import for_each
import numpy
from onnx import helper, ModelProto, numpy_helper, TensorProto
import onnxruntime
from safety_scenarios.controllers.policies.model_files import external_locations, OnnxModel

TWO = numpy.float32([2.0])
LONG = f'{"d" * 100}/{"w" * 100}.bin'
OPSET = helper.make_opsetid('', 17)
ADD = helper.make_node('Add', ['x', 'w'], ['y'])
GIVEN = numpy_helper.from_array(TWO, 'w')
PLACES = numpy_helper.from_array(numpy.int64([0]), 'places')


def outside(name: str, values: Any = TWO, **entries: str) -> TensorProto:
    """Return a tensor whose values are in a file."""
    tensor = helper.make_tensor('w', helper.np_dtype_to_tensor_dtype(values.dtype),
                                values.shape, values.tobytes(), raw=True)
    tensor.ClearField('raw_data')
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {'location': name, **entries}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


def model(nodes: Sequence[Any], weights: Sequence[Any] = (), **more: Any) -> ModelProto:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in 'xy')
    graph = helper.make_graph(nodes, 'policy', [x], [y], weights,
                              sparse_initializer=more.pop('sparse', ()))
    return helper.make_model(graph, ir_version=8, opset_imports=[
        OPSET, helper.make_opsetid('own', 1)], **more)


def branches(name: str) -> ModelProto:
    """Return a model whose weights are those of a branch of it."""
    z = [helper.make_tensor_value_info('z', TensorProto.FLOAT, [1])]
    return model([
        helper.make_node('Constant', [], ['is_so'],
                         value=numpy_helper.from_array(numpy.array(True))),
        helper.make_node(
            'If', ['is_so'], ['y'], then_branch=helper.make_graph(
                [helper.make_node('Add', ['x', 'w'], ['z'])], 'then', [], z, [outside(name)]),
            else_branch=helper.make_graph(
                [helper.make_node('Identity', ['x'], ['z'])], 'else', [], z))])


def functions(name: str) -> ModelProto:
    """Return a model whose weights are those of a function."""
    return model([helper.make_node('F', ['x'], ['y'], domain='own')], functions=[
        helper.make_function('own', 'F', ['x'], ['y'], [constant(name), ADD], [OPSET])])


def constant(name: str) -> Any:
    return helper.make_node('Constant', [], ['w'], value=outside(name))


def swapped(name: str) -> bytes:
    """Return a model whose entry has its value before its key."""
    size = bytes([len(name)])
    text, key = b'\x12' + size + name.encode(), b'\n\x08location'
    return model([ADD], [outside(name)]).SerializeToString().replace(key + text, text + key)


@for_each(('write', 'name', 'content'), [
    (lambda name: model([ADD], [outside(name)]), 'w.bin', TWO.tobytes()),
    (lambda name: model([ADD], [outside(name)]), LONG, TWO.tobytes()),
    (lambda name: model([ADD], [outside(name, offset='2', length='4')]), 'w.bin',
     b'ab' + TWO.tobytes()),
    (lambda name: model([ADD], [outside(f'{name}\0x')]), 'w.bin', TWO.tobytes()),
    (lambda name: model([constant(name), ADD]), 'w.bin', TWO.tobytes()),
    (lambda name: model([ADD], sparse=[helper.make_sparse_tensor(
        outside(name), PLACES, [1])]), 'w.bin', TWO.tobytes()),
    (lambda name: model([ADD], sparse=[helper.make_sparse_tensor(
        GIVEN, outside(name, numpy.int64([0])), [1])]), 'w.bin', bytes(8)),
    (branches, 'w.bin', TWO.tobytes()), (functions, 'w.bin', TWO.tobytes()),
    (swapped, 'w.bin', TWO.tobytes()),
    (lambda name: model([ADD], [outside(name)]).SerializeToString() + b'\xa3\x06\xa4\x06',
     'w.bin', TWO.tobytes())])  # an unknown field, which protobuf leaves out
def test_weights_are_found_wherever_onnxruntime_finds_them(
        tmp_path: Path, write: Callable[[str], Any], name: str, content: bytes):
    written = write(name)
    file, weights = tmp_path / 'policy.onnx', tmp_path / name
    file.write_bytes(written if isinstance(written, bytes) else written.SerializeToString())
    weights.parent.mkdir(exist_ok=True)
    weights.write_bytes(content)
    session = onnxruntime.InferenceSession(str(file), providers=['CPUExecutionProvider'])
    assert session.run(None, {'x': numpy.float32([1.0])})[0].tolist() == [3.0]
    assert OnnxModel.files(str(file)) == (file, weights)


def test_a_name_that_no_file_can_have_is_no_file(tmp_path):
    file = tmp_path / 'policy.onnx'
    file.write_bytes(model([ADD], [outside('w' * 400)]).SerializeToString())
    assert OnnxModel.files(str(file)) == (file,)


def test_of_a_file_that_is_cut_off_or_not_onnx_nothing_is_named():
    whole = model([ADD], [outside('w.bin')]).SerializeToString()
    assert external_locations(whole) == {b'w.bin'}
    for data in (b'', b'\xff' * 40, b'no ONNX at all', whole[:-20]):
        assert external_locations(data) == set()
