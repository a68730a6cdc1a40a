# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Messages of policy servers as bytes: msgpack, JSON, arrays, and pickles that run nothing.

Each protocol writes an array as a map with a mark of its own. All of them are read, whichever
protocol a message came by: openpi, msgpack-numpy, an NPY file in a map, json_numpy.

A pickle names classes and functions. This reader replaces the few that a chunk of actions needs
by its own, and refuses every other name. Tensors are built from the bytes of their storages, so
that PyTorch is not needed either.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
import io
import json
import math
import pickle
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.policies.servers.server import malformed, server_error
from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.scenario.untrusted_text import map_of_pairs

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


_HELPERS = 'lerobot.async_inference.helpers'
_PROTOCOL = 3
"""Of what is written: bytes as bytes, and no frames, so that a state can be put into it."""
_MAGIC, _VERSION = 0x1950A86A20F9469CFC6C, 1001
"""Of torch.save before it wrote archives."""
_STORAGES = {'Float': '<f4', 'Double': '<f8', 'Half': '<f2', 'BFloat16': '<u2', 'Long': '<i8',
             'Int': '<i4', 'Short': '<i2', 'Char': '|i1', 'Byte': '|u1', 'Bool': '|u1'}
_MOST_VALUES, _MOST_ACTIONS = 10_000_000, 10_000
_COUNT_BYTES = 8


class Actions(NamedTuple):
    """A chunk, as a server of LeRobot computed it from one observation."""

    timestamp: float
    """Of the observation, as it was sent with it."""
    timestep: int
    """Of the first action."""
    actions: Array
    """Horizon x values."""


class _Storage(NamedTuple):
    values: Array
    is_bfloat: bool


def dataclass_pickle(name: str, state: Mapping[str, Any]) -> bytes:
    """
    Return an object of one of LeRobot's dataclasses as a pickle.

    :param name: of the class
    :param state: name of a field to its value
    """
    whole = pickle.dumps(dict(state), _PROTOCOL)
    header, inner = whole[:2], whole[2:-1]  # without its protocol and its end
    return header + pickle.GLOBAL + f'{_HELPERS}\n{name}\n'.encode() + pickle.EMPTY_TUPLE \
        + pickle.NEWOBJ + inner + pickle.BUILD + pickle.STOP


def read_actions(data: bytes) -> Actions:
    """
    Read a pickled list of TimedAction.

    :raises InferenceError: it is none, or names anything else than tensors and arrays
    """
    try:
        return _as_actions(_Reader(io.BytesIO(data)).load())
    except Exception as error:  # what a pickle from outside can raise has no end
        raise malformed(f'no pickled chunk of actions: '
                        f'{str(error) or type(error).__name__}') from error


def _as_actions(found: Any) -> Actions:
    if not isinstance(found, list) or not 0 < len(found) <= _MOST_ACTIONS:
        raise ValueError('got no list of actions')
    states = [vars(one) if type(one).__name__ == 'TimedAction' else {} for one in found]
    if not all({'timestamp', 'timestep', 'action'} <= {*state} for state in states):
        raise ValueError('got something else than TimedAction in the list')
    timestamp, timestep = states[0]['timestamp'], states[0]['timestep']
    if type(timestamp) is not float or not math.isfinite(timestamp) or type(timestep) is not int:
        raise ValueError('got a TimedAction without timestamp or timestep')
    if [state['timestep'] for state in states] != [*range(timestep, timestep + len(states))]:
        raise ValueError('got timesteps that do not follow each other')
    rows = [_as_array(state['action']).ravel() for state in states]
    if len({len(row) for row in rows}) != 1:
        raise ValueError('got actions of several lengths')
    return Actions(timestamp, timestep, numpy.stack(rows))


def _as_array(value: Any) -> Array:
    found = value.array() if type(value).__name__ == 'NumpyArray' else value
    if not isinstance(found, numpy.ndarray) or found.dtype.kind not in 'biuf':
        raise ValueError('got an action that is no tensor and no array of numbers')
    return found


class _Reader(pickle.Unpickler):
    """
    Reads one pickle.

    What it gives for a name is made anew each time: a pickle can set attributes of it.
    """

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for a name of a chunk of actions."""
        if (module, name) == ('torch.storage', '_load_from_bytes'):
            return lambda data: _storage(data)
        if (module, name) == ('torch._utils', '_rebuild_tensor_v2'):
            return lambda *arguments: _tensor(*arguments)
        if (module, name) == ('collections', 'OrderedDict'):
            return dict
        if module.startswith('lerobot.') and name == 'TimedAction':
            return type('TimedAction', (), {})
        found = _numpy_stand_in(module, name)
        if found is None:
            raise pickle.UnpicklingError(f'it names {module}.{name}, which is not read')
        return found


def _numpy_stand_in(module: str, name: str) -> Any:
    if module in ('numpy.core.multiarray', 'numpy._core.multiarray') and name == '_reconstruct':
        return lambda *arguments: _numpy_array()()
    if (module, name) == ('numpy', 'ndarray'):
        return type('ndarray', (), {})
    if (module, name) == ('numpy', 'dtype'):
        return lambda text, *flags: _numpy_dtype()(text)
    if (module, name) == ('_codecs', 'encode'):
        return lambda text, codec: str(text).encode('latin1')
    return None


def _numpy_dtype() -> Callable[[Any], Any]:
    class NumpyDtype:

        def __init__(self, text: Any) -> None:
            self.text, self.order = text, '<'

        def __setstate__(self, state: Any) -> None:
            self.order = state[1] if state[1] in ('<', '>') else ''
    return NumpyDtype


def _numpy_array() -> Callable[[], Any]:
    class NumpyArray:

        def __setstate__(self, state: Any) -> None:
            self._state = state

        def array(self) -> Array:
            _, shape, dtype, is_fortran, data = self._state
            kind = numpy.dtype(f'{dtype.order}{dtype.text}')
            sizes = _sizes(shape)
            if kind.kind not in 'biuf' or math.prod(sizes) * kind.itemsize != len(data):
                raise ValueError('got an array without its bytes')
            found = numpy.frombuffer(data, kind)
            return found.reshape(sizes, order='F' if is_fortran else 'C')
    return NumpyArray


def _sizes(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, tuple) or len(shape) > _MOST_DIMENSIONS \
            or any(type(size) is not int or size < 0 for size in shape) \
            or math.prod(shape) > _MOST_VALUES:
        raise ValueError(f'got the shape {shape!r:.60}')
    return shape


class _StorageReader(pickle.Unpickler):
    """Reads one of the pickles in which torch.save described a storage."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the name of the type of numbers."""
        kind = name.removesuffix('Storage')
        if module not in ('torch', 'torch.storage') or kind not in _STORAGES:
            raise pickle.UnpicklingError(f'it names {module}.{name}, which is not read')
        return type(kind, (), {})

    def persistent_load(self, pid: Any) -> Any:
        """Return type, key and count of a storage."""
        what, kind, key, _, count, _ = pid
        if what != 'storage' or type(count) is not int or not 0 <= count <= _MOST_VALUES:
            raise ValueError('got a storage without type and size')
        return kind.__name__, key, count


def _storage(data: Any) -> _Storage:
    """Return the numbers of a storage that torch.save has written."""
    if not isinstance(data, bytes):
        raise ValueError('got a storage without bytes')
    file = io.BytesIO(data)
    magic, version, _, (kind, key, count), keys = (_StorageReader(file).load() for _ in range(5))
    if (magic, version, keys) != (_MAGIC, _VERSION, [key]):
        raise ValueError('got a storage in another form than that of torch.save')
    dtype = numpy.dtype(_STORAGES[kind])
    written = int.from_bytes(file.read(_COUNT_BYTES), 'little')
    values = file.read()
    if written != count or len(values) != count * dtype.itemsize:
        raise ValueError('got a storage without its bytes')
    return _Storage(numpy.frombuffer(values, dtype), kind == 'BFloat16')


def _tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> Array:
    """Return a tensor, which is a view of a storage."""
    sizes = _sizes(shape)
    if not isinstance(storage, _Storage) or not isinstance(strides, tuple) \
            or len(strides) != len(sizes) or type(offset) is not int or offset < 0 \
            or any(type(step) is not int or step < 0 for step in strides):
        raise ValueError('got a tensor without storage, shape or strides')
    last = offset + _last(sizes, strides)
    if math.prod(sizes) and last >= len(storage.values):
        raise ValueError('got a tensor that is larger than its storage')
    width = storage.values.itemsize
    found = numpy.lib.stride_tricks.as_strided(
        storage.values[offset:], sizes, [step * width for step in strides]).copy()
    return (found.astype('<u4') << 16).view('<f4') if storage.is_bfloat else found


def _last(sizes: Sequence[int], strides: Sequence[int]) -> int:
    return sum((size - 1) * step for size, step in zip(sizes, strides, strict=True))
