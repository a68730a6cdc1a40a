# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""JSON that others wrote: what each reader would read alike, or a refusal."""

from collections.abc import Sequence
import json
from typing import Any


def read_json(text: str | bytes | bytearray) -> Any:
    """
    Return the value of a JSON text.

    :raises ValueError: it is none, it is nested too deeply, or a key occurs twice: then one reader
        takes the first value and another one the last
    """
    try:
        return json.loads(text, object_pairs_hook=map_of_pairs)
    except RecursionError:
        raise ValueError('values are inside each other too deeply') from None


def each_key_once(text: bytes) -> bytes:
    """
    Return a JSON text that can be read in one way only, for a model to validate.

    :raises ValueError: as ``read_json`` does
    """
    read_json(text)
    return text


def map_of_pairs(pairs: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    """
    Return a map.

    :raises ValueError: a key occurs twice
    """
    found = dict[Any, Any]()
    for key, value in pairs:
        if key in found:
            raise ValueError(f'got the key {key!r} twice, expected it once')
        found[key] = value
    return found
