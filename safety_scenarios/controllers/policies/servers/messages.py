# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Messages of policy servers as bytes: msgpack or JSON, with arrays in them.

Each protocol writes an array as a map with a mark of its own. All of them are read, whichever
protocol a message came by: openpi, msgpack-numpy, an NPY file in a map, json_numpy.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
import io
import json
import math
from typing import Any

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.policies.servers.failures import malformed, server_error
from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.scenario.json_text import map_of_pairs

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


_NESTED = 3
"""So often may a text of JSON be in a text of JSON."""


def packed(message: Any, array: Callable[[Any], Any]) -> bytes:
    """
    Write a message as msgpack.

    :param array: writes an array as a map
    """
    found: bytes = _msgpack().packb(message, default=array)
    return found


def unpacked(data: bytes | str) -> Any:
    """
    Read a message of msgpack, with the arrays in it.

    :raises InferenceError: it is none
    """
    if isinstance(data, str):
        raise server_error(data)
    msgpack = _msgpack()
    try:
        return msgpack.unpackb(data, object_pairs_hook=_read_pairs, strict_map_key=False)
    except Exception as error:  # what msgpack and numpy make of bytes from outside has no end
        raise malformed(f'no message of msgpack: {_reason(error)}') from error


def to_json(message: Any) -> bytes:
    """Write a message as JSON, with arrays as json_numpy has them."""
    return json.dumps(message, default=json_numpy_array).encode()


def from_json(data: bytes) -> Any:
    """
    Read a message of JSON, with the arrays in it; also one that is a text inside of JSON.

    :raises InferenceError: it is none
    """
    found: Any = data
    for _ in range(_NESTED):
        try:
            found = json.loads(found, object_pairs_hook=_read_pairs)
        except Exception as error:
            if isinstance(found, str) and isinstance(error, json.JSONDecodeError):
                raise server_error(found) from None  # some answer a plain text, with status 200
            raise malformed(f'no JSON: {_reason(error)}') from error
        if not isinstance(found, str):
            return found
    raise malformed('text inside of text inside of text')


def _read_pairs(pairs: Sequence[tuple[Any, Any]]) -> Any:
    return read_map(map_of_pairs(pairs))


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _msgpack() -> Any:
    try:
        import msgpack
    except ImportError as error:
        raise MissingDependencyError('a policy behind a server', 'msgpack',
                                     "pip install 'safety_scenarios[servers]'") from error
    return msgpack
