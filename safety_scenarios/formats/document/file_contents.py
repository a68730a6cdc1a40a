# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The bytes of a file, bounded; files of other kinds, refused by name; YAML files of one noun.

What a campaign writes must never be taken for a scenario, whatever keys it happens to have; what
other tools write is looked at only when no format knows the file.

A row ``{"trace_id": "x.json"}``, as in the ``output.jsonl`` of ``are-benchmark``, stands for that
file, relative to the folder of the index.

A field of a YAML file that is left to be filled in is a problem of that file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
import gzip
import json
import os
from pathlib import Path
import stat
from typing import Any, NamedTuple, TypeVar
import zlib

from pydantic import ValidationError
from safety_scenarios.errors import Problem, ScenarioError, UnreadableError
from safety_scenarios.formats.document import json_document, positions
from safety_scenarios.formats.document.messages import describe, show
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.positions import Path as Place
from safety_scenarios.scenario.noun import Noun

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
          'safety-scenarios campaign verify FOLDER checks it'),
    _kind('scenario_id response', 'answers to scenarios',
          'safety-scenarios scenario grade FILE --scenarios DIR computes its scores'),
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
    _kind('robot topics', 'the profile of a robot',
          'safety-scenarios scenario describe --profile FILE lists the scenarios that fit it'),
    _kind('provenance regions', 'limits of contact', 'Name a scenario'),
    _kind('system actions', 'a prompt for a language model that drives',
          'Name it by --set controller.prompt=FILE'),
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
            return _wrong_file_text(what, advice)
    head = raw[:_BEGINNING].removeprefix(b'\xef\xbb\xbf').lstrip()
    name = path.lower()
    if name.endswith('.launch.py') or (b'<launch' in head and head.startswith(b'<')):
        return _wrong_file_text(*_LAUNCH)
    if name.endswith('.py'):
        return _wrong_file_text('a Python program', 'Name a scenario, or a folder of them')
    if head.startswith(b'<'):
        return _wrong_file_text('XML', 'Name a scenario, or a folder of them')
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
            return _wrong_file_text(*_PARAMETERS)
        if 'version' in data and _BINDINGS_KEYS & data.keys():
            return _wrong_file_text('the bindings of a scenario, by their keys',
                                    'Call them X.bindings.yaml, beside the scenario X.yaml, and '
                                    'name that')
        inside = data.get('scenarios', data.get('scenario'))
        if isinstance(inside, (tuple, Mapping)) and inside:
            return _wrong_file_text('scenarios below a key',
                                    'Write each into a file of its own, without that key')
    return found


def _among(kinds: tuple[_Kind, ...], data: Any) -> str | None:
    first = data[0] if isinstance(data, tuple) and data else data
    if not isinstance(first, Mapping):
        return None
    return next(
        (_wrong_file_text(kind.what, kind.advice) for kind in kinds if kind.keys <= first.keys()),
        None)


def _wrong_file_text(what: str, advice: str) -> str:
    return f'got {what}, expected a scenario. {advice}'


_KINDS = {stat.S_IFDIR: 'a folder', stat.S_IFIFO: 'a pipe', stat.S_IFSOCK: 'a socket',
          stat.S_IFCHR: 'a device', stat.S_IFBLK: 'a device'}


_GZIP = '.json.gz'


def raw_of(path: str) -> bytes | Problem:
    """
    Return the bytes of a file that may be a scenario; else the problem, and what it is instead.

    One that ends in ``.json.gz`` is decompressed.

    The size is known before a byte is read, so a recording of many gigabytes costs no memory.
    """
    most = json_document.MAX_BYTES \
        if path.lower().endswith(('.json', '.jsonl', _GZIP)) else positions.MAX_BYTES
    try:
        # Without the flag it would wait for somebody to write into a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, 'rb') as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return _irregular(path, status.st_mode)
            with gzip.open(file) if path.lower().endswith(_GZIP) else file as opened:
                raw = opened.read(most + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        return Problem(path, None, None, '', f'cannot be read: its compression is damaged: '
                                             f'{error}')
    except OSError as error:
        return unreadable(path, error)
    told = by_beginning(path, raw)
    if told is not None:
        return Problem(path, None, None, '', told)
    if len(raw) <= most:
        return raw
    return Problem(path, 1, 1, '', f'got {max(status.st_size, len(raw))} bytes, expected at most '
                                   f'{most}. Make the file smaller')


def bytes_of(path: Path, most: int = 1 << 26) -> bytes:
    """
    Return the bytes of a file, which may be a pipe; a device such as /dev/zero has no end.

    :raises OSError: it cannot be read
    :raises ValueError: it holds more
    """
    with path.open('rb') as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise ValueError(f'got more than {most} bytes, expected at most that many')
    return found


def unreadable(path: str, error: OSError) -> Problem:
    """Return what to say of a file or folder that cannot be opened, and of a link to nothing."""
    if not os.path.islink(path):
        return Problem(path, None, None, '', f'cannot be read: {error.strerror}')
    try:
        target = os.readlink(path)
    except OSError:
        target = 'an unreadable place'
    return Problem(path, None, None, '', f'cannot be read: {error.strerror}. It is a link to '
                                         f'{target}: correct or remove it')


def _irregular(path: str, mode: int) -> Problem:
    kind = _KINDS.get(stat.S_IFMT(mode), 'no regular file')
    return Problem(path, None, None, '', f'cannot be read: it is {kind}, expected a regular file. '
                                         f'Save it to a file')


def names_in(folder: Path) -> list[str]:
    """
    Return the names in a folder; of one that is not there none.

    :raises UnreadableError: it cannot be read, or not be looked into
    """
    try:
        names = os.listdir(folder)
        for name in names[:1]:
            os.lstat(folder / name)  # a folder may be listed that nothing can be read from
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UnreadableError(f'{folder}: cannot be read: {error.strerror}. Change its '
                              f'permissions, or run as a user who may read it') from None
    return names


SUFFIX = '.jsonl'
_INDEX = 'trace_id'


def documents(path: str) -> Iterator[tuple[str, bytes | Problem]]:
    """
    Yield (place, bytes) of each document that a file of lines holds, or names.

    The place of a line is ``PATH:LINE``, that of a file which a line names its own path.
    """
    raw = raw_of(path)
    if isinstance(raw, Problem):
        yield path, raw
        return
    is_empty = True
    for number, line in enumerate(raw.split(b'\n'), 1):
        if not line.strip():
            continue
        is_empty = False
        named = _named(line)
        if named is None:
            yield f'{path}:{number}', line
        elif named:
            other = os.path.join(os.path.dirname(path), named)
            yield other, raw_of(other)
        else:
            yield path, Problem(path, number, 1, _INDEX, (
                'got no path, expected that of an ARE file: the run left no trace. Remove the '
                'line'))
    if is_empty:
        yield path, Problem(path, 1, 1, '', 'got no line, expected a JSON document in each. Fill '
                                            'it in, or delete the file')


def file_of(place: str) -> str:
    """Return the file in which a document lies, by its place as ``documents`` gives it."""
    path, _, number = place.rpartition(':')
    return path if path.lower().endswith(SUFFIX) and number.isdecimal() else place


def raw_at(place: str) -> bytes | Problem:
    """Return the bytes of a document by its place, as ``documents`` gives it, or of a file."""
    path, number = file_of(place), place.rpartition(':')[2]
    if path == place:
        return raw_of(place)
    raw = raw_of(path)
    if isinstance(raw, Problem):
        return raw
    lines = raw.split(b'\n')
    if not 0 < int(number) <= len(lines):
        return Problem(path, None, None, '', f'got {len(lines)} lines, expected at least {number}')
    return lines[int(number) - 1]


def why_none(path: str, refusals: Sequence[Callable[[Any], str | None]]) -> str | None:
    """
    Return why no line of a file is a scenario, None if one is, or may be.

    :param refusals: of each format, why data is none of it; None: it is
    """
    found = list(documents(path))
    whole = found[0][1]
    if len(found) == 1 and isinstance(whole, Problem) and file_of(found[0][0]) == found[0][0]:
        return None if whole.message.startswith('cannot be read') else whole.message
    lines: list[Any] = []
    for place, raw in found:
        if isinstance(raw, Problem) or file_of(place) == place:  # it is a row of an index
            return None
        try:
            lines.append(json.loads(raw))
        except (ValueError, RecursionError):
            continue
        if ours(lines[-1]) is None and any(why(lines[-1]) is None for why in refusals):
            return None
    told = next((told for line in lines if (told := ours(line) or others(line))), None)
    return told or 'got lines of which none is a scenario, expected one of ARE in each'


def _named(line: bytes) -> str | None:
    """Return the file that a row of an index names, empty if it names none; None: no index."""
    if len(line) > 100_000 or b'"' + _INDEX.encode() + b'"' not in line:
        return None
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or _INDEX not in row:
        return None
    return row[_INDEX] if isinstance(row[_INDEX], str) else ''


BLANK = '???'
"""What is to be filled in."""


def blank_problems(document: Document, why: str) -> Iterator[Problem]:
    """
    Yield each value or key that was not filled in, with its line and column.

    :param why: it was left open, and what to do
    """
    for place in _blanks(document.data):
        yield document.problem(place, f'got {BLANK}, expected a value. {why}')


def _blanks(data: Any, place: Place = ()) -> Iterator[Place]:
    if data == BLANK:
        yield place
    elif isinstance(data, Mapping):
        for name, value in data.items():
            if name == BLANK:
                yield (*place, name)
            yield from _blanks(value, (*place, str(name)))
    elif isinstance(data, (list, tuple)):
        for index, value in enumerate(data):
            yield from _blanks(value, (*place, index))


_M = TypeVar('_M', bound=Noun)


def read_noun(path: Path, model: type[_M], keys: str, worded: Callable[
        [Place, str], tuple[Place, str]] = lambda *found: found) -> tuple[_M, Document]:
    """
    Return what a file says, and the file as plain data that knows its places.

    :param keys: what it has to hold, for messages
    :param worded: place and sentence of a problem to those that are shown
    :raises InputError: it cannot be read, or every problem in it with its line and field
    """
    _, document = read_mapping(path, keys)
    raise_problems([*blank_problems(document, 'Fill it in')])
    try:
        return model.model_validate(document.data), document
    except ValidationError as error:
        raise_problems([document.problem(*worded(place, sentence), at_key)
                        for place, sentence, at_key
                        in describe(error.errors(include_url=False), model)])
        raise


def read_mapping(path: Path, keys: str) -> tuple[bytes, Document]:
    """
    Return the bytes of a file, and the mapping in it as plain data that knows its places.

    :param keys: what it has to hold, for messages
    :raises ScenarioError: it cannot be read, or every problem in it with its line and field
    """
    raw = raw_of(str(path))
    if isinstance(raw, Problem):
        raise ScenarioError([raw])
    document = Document.of(str(path), raw)
    raise_problems(list(document.problems))
    if not isinstance(document.data, Mapping):
        raise_problems([document.problem((), f'got {show(document.data)}, expected a mapping with '
                                             f'{keys}')])
    return raw, document


def raise_problems(problems: list[Problem]) -> None:
    """
    Refuse a file with problems.

    :raises ScenarioError: with each of them, if there are any
    """
    if problems:
        raise ScenarioError(problems)
