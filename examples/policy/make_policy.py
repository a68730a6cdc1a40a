# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

import numpy
from onnx import helper, numpy_helper, save, TensorProto

cruise = numpy.tile(numpy.float32([0.4, 0.0]), (1, 4, 1))
graph = helper.make_graph(
    [helper.make_node('ReduceMin', ['scan'], ['nearest'], keepdims=0),
     helper.make_node('Greater', ['nearest', 'limit'], ['is_free']),
     helper.make_node('Where', ['is_free', 'cruise', 'stop'], ['action'])],
    'policy',
    [helper.make_tensor_value_info('scan', TensorProto.FLOAT, [1, 8])],
    [helper.make_tensor_value_info('action', TensorProto.FLOAT, [1, 4, 2])],
    [numpy_helper.from_array(numpy.float32(3.0), 'limit'),
     numpy_helper.from_array(cruise, 'cruise'), numpy_helper.from_array(0 * cruise, 'stop')])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8),
     'policy.onnx')
