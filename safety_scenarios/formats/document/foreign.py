# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Files that are given where a scenario is expected, each by its own name, and what to do with it.

What a campaign writes must never be taken for a scenario, whatever keys it happens to have; what
other tools write is looked at only when no format knows the file.
"""

from collections.abc import Mapping
import json
from typing import Any, NamedTuple

_BEGINNING = 200
"""Bytes in which a file of text shows that it is no text, or what kind of."""


class _Kind(NamedTuple):
    keys: frozenset[str]
    """All of them are in every file of the kind."""
    what: str
    advice: str


def _kind(keys: str, what: str, advice: str) -> _Kind:
    return _Kind(frozenset(keys.split()), what, advice)


_AGAIN = 'safety-scenarios evaluate FOLDER judges a campaign again by its records'
_OURS = (
    _kind('trial_id scenario_id verdict findings', 'the results of trials', _AGAIN),
    _kind('journal trial', 'the journal of a trial', _AGAIN),
    _kind('planned completed verdict exit_code', 'the summary of a campaign', _AGAIN),
    _kind('settings started versions', 'the settings of a campaign that was run',
          'Name the scenarios that it lists'),
    _kind('settings.json trials.jsonl', 'the manifest of a campaign',
          'safety-scenarios verify FOLDER checks it'),
    _kind('scenario_id response', 'answers to scenarios',
          'safety-scenarios grade FILE --scenarios DIR says what they come to'),
)
"""By keys that no scenario has together."""
_BINDINGS_KEYS = frozenset({'sut', 'participants', 'seats', 'symbols', 'topics', 'signals',
                            'tools', 'script', 'faults', 'sets'})
_PARAMETERS = ('ROS parameters', 'Give them to a node with --params-file')
_LAUNCH = ('a launch file', 'Start it with ros2 launch')
_OTHERS = (
    _kind('launch', *_LAUNCH),
    _kind('rosbag2_bagfile_information', 'the description of a bag',
          'A scenario plays a bag under ros.stimuli'),
    _kind('$schema', 'a JSON Schema', 'Editors check scenarios by it'),
    _kind('model base joints', 'a robot of the simulator', 'Name a scenario that uses it'),
    _kind('provenance regions', 'limits of contact', 'Name a scenario'),
    _kind('dimensions', 'a rubric', 'A scenario names it under rubric'),
    _kind('Panels', 'a configuration of rviz', 'Open it with rviz2 -d'),
    _kind('services', 'a compose file', 'Name the scenarios alone'),
    _kind('jobs on', 'a workflow of a CI', 'Name the scenarios alone'),
)
_MAGIC = ((b'\x89MCAP', 'a recording in MCAP', _AGAIN),
          (b'SQLite format 3', 'a database, such as a bag of ROS',
           'A scenario plays a bag under ros.stimuli'),
          (b'PK\x03\x04', 'a ZIP archive', 'Unpack it, and name the folder'),
          (b'\x1f\x8b', 'an archive packed with gzip', 'Unpack it, and name what was in it'),
          (b'(\xb5/\xfd', 'a file packed with zstd', 'Unpack it, and name what was in it'))


def by_beginning(path: str, raw: bytes) -> str | None:
    """Return why bytes that are no YAML and no JSON are no scenario, None for all others."""
    for magic, what, advice in _MAGIC:
        if raw.startswith(magic):
            return _told(what, advice)
    head = raw[:_BEGINNING].removeprefix(b'\xef\xbb\xbf').lstrip()
    name = path.lower()
    if name.endswith('.launch.py') or (b'<launch' in head and head.startswith(b'<')):
        return _told(*_LAUNCH)
    if name.endswith('.py'):
        return _told('a Python program', 'Name a scenario, or a folder of them')
    if head.startswith(b'<'):
        return _told('XML', 'Name a scenario, or a folder of them')
    first = raw.partition(b'\n')[0]
    if name.endswith('.jsonl') and first.startswith(b'{'):
        try:
            return ours(json.loads(first))
        except (ValueError, RecursionError):
            return None
    return None


def ours(data: Any) -> str | None:
    """Return why data that a campaign has written is no scenario, None for all others."""
    return _among(_OURS, data)


def others(data: Any) -> str | None:
    """Return what data is that no format knows, where that can be told, else None."""
    found = _among(_OTHERS, data)
    if found is None and isinstance(data, Mapping):
        if any(isinstance(block, Mapping) and 'ros__parameters' in block
               for block in data.values()) or 'ros__parameters' in data:
            return _told(*_PARAMETERS)
        if 'version' in data and _BINDINGS_KEYS & data.keys():
            return _told('the bindings of a scenario, by their keys',
                         'Call them X.bindings.yaml, beside the scenario X.yaml, and name that')
        inside = data.get('scenarios', data.get('scenario'))
        if isinstance(inside, (tuple, Mapping)) and inside:
            return _told('scenarios below a key', 'Write each into a file of its own, without '
                                                  'that key')
    return found


def _among(kinds: tuple[_Kind, ...], data: Any) -> str | None:
    first = data[0] if isinstance(data, tuple) and data else data
    if not isinstance(first, Mapping):
        return None
    return next((_told(kind.what, kind.advice) for kind in kinds if kind.keys <= first.keys()),
                None)


def _told(what: str, advice: str) -> str:
    return f'got {what}, expected a scenario. {advice}'
