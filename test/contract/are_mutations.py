# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE files with one thing changed, the same ones each time."""

from collections.abc import Iterator, Sequence
import copy
import json
from pathlib import Path
import random
from typing import Any

VALUES = (None, 5, 1.5, -1, 0, True, False, '', 'x', '5', '1.5', 'true', [], {}, [1], ['x'],
          {'a': 1}, '{{task}}', 'AGENT', 'task')
LOGS = ({'log_type': 'thought', 'timestamp': 1.0, 'content': 'hm'},
        {'log_type': 'tool_call', 'timestamp': 1.0, 'tool_name': 'f', 'tool_arguments': '{}'},
        {'log_type': 'subagent', 'timestamp': 1.0, 'group_id': 'g', 'children': []})
_WAYS = ('set', 'set', 'set', 'remove', 'twice', 'case', 'rename')
Path_ = tuple[str | int, ...]


def short(path: Path) -> dict[str, Any]:
    """Return a file with few completed events, and some logs: a mutation each is as telling."""
    data: dict[str, Any] = json.loads(path.read_text(encoding='utf-8'))
    done = data.get('completed_events') or []
    return {**data, 'completed_events': done if len(done) < 6 else [*done[:3], *done[-2:]],
            'world_logs': [json.dumps(log) for log in LOGS]}


def mutations(bases: Sequence[Path], count: int,
              seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (what was done, file): every kind of place is as likely as any other."""
    chance, whole = random.Random(seed), [short(path) for path in bases]
    while count:
        index = chance.randrange(len(bases))
        data = copy.deepcopy(whole[index])
        shapes: dict[Path_, list[Path_]] = {}
        for path in _paths(data):
            shapes.setdefault(tuple('*' if isinstance(step, int) else step for step in path),
                              []).append(path)
        path = chance.choice(shapes[chance.choice(sorted(shapes))])
        told = _changed(data, path, chance)
        if told:
            count -= 1
            yield f'{bases[index].name}: {".".join(map(str, path))}: {told}', data


def _paths(data: Any, above: Path_ = ()) -> Iterator[Path_]:
    entries = data.items() if isinstance(data, dict) else enumerate(
        data if isinstance(data, list) else ())
    for key, value in entries:
        yield (*above, key)
        yield from _paths(value, (*above, key))


def _changed(data: Any, path: Path_, chance: random.Random) -> str:
    """Change one thing and return what; empty: it would be as before."""
    *above, last = path
    for step in above:
        data = data[step]
    way, old, new = chance.choice(_WAYS), data[last], copy.deepcopy(chance.choice(VALUES))
    if above == ['world_logs'] and way in ('set', 'case'):  # a log is an object in a text
        log = json.loads(old)
        log[chance.choice([*log, 'note'])] = new
        data[last] = json.dumps(log)
    elif way == 'set' and not (type(new) is type(old) and new == old):
        data[last] = new
    elif way == 'remove':
        del data[last]
    elif way == 'twice' and isinstance(data, list):
        data.insert(last, copy.deepcopy(old))
    elif way == 'case' and isinstance(old, str) and old != old.swapcase():
        data[last] = old.swapcase()
    elif way == 'rename' and isinstance(data, dict):
        data[f'{last}x'] = data.pop(last)
    else:
        return ''
    return f'{way} {new!r}'
