# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Which files beside an ONNX file hold its weights, from the bytes of the file.

The fields are those of ``onnx.proto``: a tensor names its file in an entry ``location`` of
``external_data``, wherever in the model the tensor is.
"""

from collections.abc import Iterator, Mapping

_PARTS: Mapping[str, Mapping[int, str]] = {
    'model': {7: 'graph', 20: 'training', 25: 'function'},
    'training': {1: 'graph', 2: 'graph'},
    'graph': {1: 'node', 5: 'tensor', 15: 'sparse'},
    'function': {7: 'node', 11: 'attribute'},
    'node': {5: 'attribute'},
    'attribute': {5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph', 22: 'sparse', 23: 'sparse'},
    'sparse': {1: 'tensor', 2: 'tensor'},
    'tensor': {13: 'entry'},
    'entry': {1: 'key', 2: 'value'}}
"""Message of ``onnx.proto`` to its fields that lead to tensors, by their numbers."""
_LOCATION = b'location'
_SIZES = {1: 8, 5: 4}
"""Wire type of protobuf to the size of such a field (bytes)."""
_VARINT, _TEXT, _GROUPS = 0, 2, (3, 4)
_MOST_BITS = 70
"""A varint has at most ten bytes."""


def external_locations(data: bytes) -> set[bytes]:
    """
    Return the names of the files with weights of an ONNX file; none of what is not ONNX.

    :param data: content of the ONNX file
    """
    found: set[bytes] = set()
    left = [('model', memoryview(data))]
    while left:
        message, view = left.pop()
        parts = [(_PARTS[message][number], part) for number, part in _fields(view)
                 if number in _PARTS[message]]
        if message == 'entry':
            if any(name == 'key' and part == _LOCATION for name, part in parts):
                found |= {bytes(part) for name, part in parts if name == 'value'}
        else:
            left.extend(parts)
    return found


def _fields(view: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield number and content of each field with a length, as far as this is protobuf."""
    place = 0
    try:
        while place < len(view):
            tag, place = _varint(view, place)
            kind = tag & 7
            if kind == _TEXT:
                size, place = _varint(view, place)
                if size > len(view) - place:
                    return
                yield (tag & 0xffff_ffff) >> 3, view[place:place + size]
                place += size
            elif kind == _VARINT:
                _, place = _varint(view, place)
            elif kind in _SIZES:
                place += _SIZES[kind]
            elif kind not in _GROUPS:  # what is in a group is read as if it were beside it
                return
    except IndexError:
        return


def _varint(view: memoryview, place: int) -> tuple[int, int]:
    """
    Return a number of protobuf, and where it ends.

    :raises IndexError: it does not end
    """
    number = 0
    for shift in range(0, _MOST_BITS, 7):
        byte = view[place]
        place += 1
        number |= (byte & 0x7f) << shift
        if byte < 0x80:
            return number, place
    raise IndexError
