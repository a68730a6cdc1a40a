# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Messages of policy servers as bytes: msgpack or JSON, with arrays in them."""

from collections.abc import Callable, Sequence
import json
from typing import Any

from safety_scenarios.controllers.policies.servers.arrays import json_numpy_array, read_map
from safety_scenarios.controllers.policies.servers.failures import malformed, server_error
from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.scenario.json_text import map_of_pairs

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
