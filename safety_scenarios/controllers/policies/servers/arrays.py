# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Arrays as the protocols of policy servers write them, and back.

Each of them stands for an array by a map with a mark of its own. All of them are read, whichever
protocol a message came by: openpi, msgpack-numpy, an NPY file in a map, json_numpy.
"""

import base64
from collections.abc import Mapping
import io
import math
from typing import Any

import numpy
from numpy.typing import NDArray

Array = NDArray[Any]
_NUMBERS = 'biuf'
"""Kinds of numpy's types that are read: no objects, which would be code."""
_MOST_DIMENSIONS = 8


def openpi_array(value: Any) -> Any:
    """Write an array as openpi does."""
    if isinstance(value, numpy.ndarray):
        return {b'__ndarray__': True, b'data': value.tobytes(), b'dtype': value.dtype.str,
                b'shape': value.shape}
    return _plain(value)


def msgpack_numpy_array(value: Any) -> Any:
    """Write an array as msgpack-numpy does."""
    if isinstance(value, numpy.ndarray):
        return {b'nd': True, b'type': value.dtype.str, b'kind': b'', b'shape': value.shape,
                b'data': value.tobytes()}
    return _plain(value)


def npy_array(value: Any) -> Any:
    """Write an array as a map with an NPY file."""
    if isinstance(value, numpy.ndarray):
        file = io.BytesIO()
        numpy.save(file, value, allow_pickle=False)
        return {'__ndarray_class__': True, 'as_npy': file.getvalue()}
    return _plain(value)


def json_numpy_array(value: Any) -> Any:
    """Write an array as json_numpy does."""
    if isinstance(value, numpy.ndarray):
        return {'__numpy__': base64.b64encode(value.tobytes()).decode(),
                'dtype': value.dtype.str, 'shape': list(value.shape)}
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, numpy.generic):
        return value.item()
    raise TypeError(f'got {type(value).__name__}, expected an array, a number or a text')


def read_map(found: Mapping[Any, Any]) -> Any:
    """
    Return the array or number that a map stands for; the map itself where it is none.

    :raises ValueError: it is an array that cannot be
    """
    get = _by_either_key(found)
    if get('__ndarray__') is True:
        return _array(get('data'), get('dtype'), get('shape'))
    if get('__npgeneric__') is True:
        return _dtype(get('dtype')).type(get('data'))
    if get('nd') is True:
        return _array(get('data'), get('type'), get('shape'))
    if get('nd') is False:
        return _array(get('data'), get('type'), ())[()]
    if get('__ndarray_class__') is True:
        return _npy(get('as_npy'))
    if isinstance(get('__numpy__'), str):
        data = base64.b64decode(found['__numpy__'], validate=True)
        shape = get('shape')
        whole = _array(data, get('dtype'), shape if isinstance(shape, (list, tuple)) else ())
        return whole if whole.shape else whole[()]
    return found


def _by_either_key(found: Mapping[Any, Any]) -> Any:
    return lambda name: found.get(name, found.get(name.encode()))


def _dtype(name: Any) -> Any:
    text = name.decode('ascii') if isinstance(name, bytes) else name
    if not isinstance(text, str):
        raise ValueError(f'got the dtype {name!r:.40}, expected a text such as <f4')
    try:
        found = numpy.dtype(text)
    except TypeError:
        raise ValueError(f'got the dtype {text!r:.40}, expected one such as <f4') from None
    if found.kind not in _NUMBERS:
        raise ValueError(f'got the dtype {text!r:.40}, expected one of numbers')
    return found


def _array(data: Any, dtype: Any, shape: Any) -> Array:
    if not isinstance(data, (bytes, bytearray)) or not isinstance(shape, (list, tuple)) \
            or len(shape) > _MOST_DIMENSIONS \
            or any(type(size) is not int or size < 0 for size in shape):
        raise ValueError('got an array without bytes or a shape')
    kind = _dtype(dtype)
    if math.prod(shape) * kind.itemsize != len(data):
        raise ValueError(f'got {len(data)} bytes for an array of shape {list(shape)} and dtype '
                         f'{kind}')
    return numpy.frombuffer(data, kind).reshape(shape)


def _npy(data: Any) -> Array:
    """Read an NPY file by its header, which says how large it is before anything is reserved."""
    if not isinstance(data, (bytes, bytearray)):
        raise ValueError('got no NPY file')
    file = io.BytesIO(data)
    version = numpy.lib.format.read_magic(file)
    header: Any = numpy.lib.format.read_array_header_1_0 if version == (1, 0) \
        else numpy.lib.format.read_array_header_2_0
    shape, is_fortran, kind = header(file)
    if kind.kind not in _NUMBERS:
        raise ValueError(f'got the dtype {kind}, expected one of numbers')
    whole = _array(file.read(), kind.str, shape[::-1] if is_fortran else shape)
    return whole.T if is_fortran else whole
