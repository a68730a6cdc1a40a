# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Text that others wrote: JSON that each reader reads alike, and patterns that cannot hang."""

from collections.abc import Sequence
import json
from typing import Any
import unicodedata

from safety_scenarios.dependencies import BUILD, RE2
from safety_scenarios.errors import MissingDependencyError


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


try:
    import re2
except ImportError as error:
    raise MissingDependencyError(
        'a text invariant', str(RE2), advice='Build again with a network and python3-pip, which '
        f'bundles it: {BUILD}; or, in a virtual environment: pip install {RE2}') from error

MAX_PATTERN = 10_000
"""Characters of one pattern."""
MAX_PROGRAM = 10_000
"""Bounds the time for one answer; RE2's own measure."""
_MAX_MEMORY = 8 << 20
"""Of one compiled pattern: repetitions such as x{1000} must not fill the memory."""


def compile_pattern(pattern: str, *, case_sensitive: bool = False) -> Any:
    """
    Return a compiled regular expression: linear time, no look-around, no back-references.

    :raises ValueError: the text is none
    """
    options = re2.Options()
    options.case_sensitive = case_sensitive
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    options.never_capture = True  # groups are tracked at every character, and nobody reads them
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else 'invalid'
        text = reason.decode() if isinstance(reason, bytes) else reason
        raise ValueError(f'got the pattern {pattern!r}, expected an RE2 regular expression: '
                         f'{text}. Look-around and back-references are not supported') from None
    if compiled.programsize > MAX_PROGRAM:
        raise ValueError(f'got a pattern of {compiled.programsize} steps, expected at most '
                         f'{MAX_PROGRAM}. Lower its counts, such as {{0,40}}')
    return compiled


def readable_pattern(pattern: str) -> str:
    """
    Return a pattern for texts that were read: its letters and digits in their one way to write.

    Only single letters and digits change, such as a subscript two: no sign of the pattern does.
    """
    return pattern if pattern.isascii() else ''.join(
        other if len(other := unicodedata.normalize('NFKC', char)) == 1 and other.isalnum()
        else char for char in unicodedata.normalize('NFC', pattern))


def place_of(compiled: Any, text: str, begin: int, end: int) -> tuple[int, int] | None:
    """Return the place of the first match between two others; None: there is none."""
    match = compiled.search(text, begin, end)
    return None if match is None else match.span()
