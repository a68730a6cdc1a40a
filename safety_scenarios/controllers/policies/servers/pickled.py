# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Pickles of LeRobot, read without running anything that they name, and written without LeRobot.

A pickle names classes and functions. This reader replaces the few that a chunk of actions needs
by its own, and refuses every other name. Tensors are built from the bytes of their storages, so
that PyTorch is not needed either.
"""

from collections.abc import Callable, Mapping, Sequence
import io
import math
import pickle
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.policies.servers.failures import malformed

Array = NDArray[Any]
_HELPERS = 'lerobot.async_inference.helpers'
_PROTOCOL = 3
"""Of what is written: bytes as bytes, and no frames, so that a state can be put into it."""
_MAGIC, _VERSION = 0x1950A86A20F9469CFC6C, 1001
"""Of torch.save before it wrote archives."""
_STORAGES = {'Float': '<f4', 'Double': '<f8', 'Half': '<f2', 'BFloat16': '<u2', 'Long': '<i8',
             'Int': '<i4', 'Short': '<i2', 'Char': '|i1', 'Byte': '|u1', 'Bool': '|u1'}
_MOST_DIMENSIONS, _MOST_VALUES, _MOST_ACTIONS = 8, 10_000_000, 10_000
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
