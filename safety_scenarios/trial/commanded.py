# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a controller put out in a trial, as one hash."""

import hashlib
import json
from pathlib import Path
import re
from typing import Any

from safety_scenarios.trial.gzip_lines import lines_in

_OUTPUTS = ('command', 'response', 'say', 'tool_call')
_LEFT_OUT = ('trial_id', 'scheduled_ns')
"""Of an event: who was judged is in the id of a trial."""
_HEAD = re.compile(rb'\["(\w+)",(?:null|"[^"\\]*"),\[(null|-?\d+)')
_STAMP = 'stamp'


def commanded(path: Path, *, timed: bool) -> str | None:
    """
    Return the SHA-256 of all commands and answers in a trial's journal, in order.

    None where there is none, or where the journal cannot be read: nothing is equal to that.
    Header stamps are left out.

    :param timed: with the time of each since the first event of the trial, which is the same
        in every repetition where time is simulated
    """
    found, count = hashlib.sha256(), 0
    now_ns, begin_ns = 0, -1
    before: dict[str, Any] = {}
    try:
        for number, line in enumerate(lines_in(path)):
            if not number:
                continue
            head = _HEAD.match(line)
            value: Any = None if head else json.loads(line)
            if isinstance(value, dict):  # the last line: the trial has ended
                return found.hexdigest() if count else None
            kind, steady = (head[1].decode(), head[2]) if head else (value[0], value[2][0])
            now_ns += 0 if steady in (None, b'null') else int(steady)
            begin_ns = now_ns if begin_ns < 0 else begin_ns
            if kind not in _OUTPUTS:
                continue
            _, name, _, rest, *message = json.loads(line)
            if message and message[0] != 'same':
                before[name] = _unstamped(message[0])
            count += 1
            found.update(json.dumps([
                kind, name, now_ns - begin_ns if timed else None,
                {key: inner for key, inner in rest.items() if key not in _LEFT_OUT},
                before.get(name) if message else None]).encode())
    except (OSError, ValueError, TypeError, LookupError):
        pass
    return None


def _unstamped(value: Any) -> Any:
    """Return a message without the stamps in its headers."""
    if isinstance(value, dict):
        return {key: _unstamped(inner) for key, inner in value.items() if key != _STAMP}
    return [_unstamped(inner) for inner in value] if isinstance(value, list) else value
