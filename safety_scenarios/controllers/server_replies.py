# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What every client of a model's server reads alike: JSON, numbers, waiting times, and keys."""

from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
import math
import os
import re
from typing import Any

from safety_scenarios.errors import SafetyScenariosError, SettingsError

LONGEST_REPLY = 64 << 20
"""Bytes of one reply, uncompressed, also of a policy's server. An answer has a few thousand."""
_MIB = 1 << 20
_MOST_COUNTED = 10 ** 12
"""No reply has so many tokens."""
_NAMES_KEY = re.compile(r'(^|_)(KEY|TOKEN|SECRET|PASSWORD)$', re.IGNORECASE)
"""Name of an environment variable with a key, such as OPENAI_API_KEY or GR00T_API_TOKEN."""
_SHORTEST_KEY = 12
"""Characters of a key that is a secret. Shorter ones, such as EMPTY, may be words of an answer."""
_HIDDEN = '***'


class ReplyTooLargeError(SafetyScenariosError):
    """A reply has more bytes than any answer."""

    def __init__(self) -> None:
        super().__init__(f'more than {LONGEST_REPLY // _MIB} MiB')


class ReplyBody:
    """Gathers the pieces of a reply, which are uncompressed."""

    def __init__(self) -> None:
        self.data = bytearray()

    def add(self, piece: bytes) -> None:
        """
        Take the next piece.

        :raises ReplyTooLargeError: it is too much
        """
        self.data += piece
        if len(self.data) > LONGEST_REPLY:
            raise ReplyTooLargeError


def token_count(value: Any) -> int | None:
    """Return a number of tokens as a server reports it; None for what cannot be one."""
    return value if type(value) is int and 0 <= value < _MOST_COUNTED else None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return how long a server asks to wait (s), by a number or a date; None: it does not."""
    value = headers.get('retry-after', '').strip()
    try:
        seconds = float(value)
        return None if math.isnan(seconds) else max(0.0, seconds)
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=timezone.utc)
    return max(0.0, (until - datetime.now(timezone.utc)).total_seconds())


def api_key(*variables: str) -> str:
    """
    Return the key in the first environment variable that is set; ``none``: none is.

    :raises SettingsError: no HTTP header can carry it
    """
    for name in variables:
        key = os.environ.get(name, '').strip()
        if key and not (key.isascii() and key.isprintable()):
            raise SettingsError(f'{name}: got characters that no HTTP header can carry, expected '
                                f'printable ASCII. Set the environment variable again')
        if key:
            return key
    return 'none'


def without_keys(text: str) -> str:
    """Return a text of a server with every key that it may have been sent replaced by ``***``."""
    for name, key in os.environ.items():
        if _NAMES_KEY.search(name) and len(key.strip()) >= _SHORTEST_KEY:
            text = text.replace(key.strip(), _HIDDEN)
    return text
