# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From a folder or a glob to the files of scenarios, and names of files without the machine.

Of each package only what the first prefix with it holds counts, as everywhere in ament: an overlay
hides the same package in its underlay.

Nothing that may be a scenario is passed over in silence: a folder that cannot be looked into is a
problem, links are followed, and what is left out for its name is told in a note.

An installed file is ``package://PACKAGE/...`` as in ROS, any other absolute path its last part.
A relative path stays as it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
import errno
from functools import lru_cache
import glob
import os
from pathlib import Path
import re
import sys
import tempfile
from typing import Any, TypeVar

from pydantic import BaseModel
from safety_scenarios.errors import counted, did_you_mean, InputError, Problem
from safety_scenarios.formats.agents.topics import SUFFIXES as BINDINGS
from safety_scenarios.formats.document import file_contents
from safety_scenarios.formats.document.file_contents import names_in, unreadable

PACKAGE = 'safety_scenarios'
PACK_RESOURCE = 'safety_scenarios_pack'


@dataclass(frozen=True)
class Pack:
    """The scenarios of one installed package."""

    package: str
    folder: Path | None
    """None when it cannot be told, or is not there."""
    problem: Problem | None = None
    """Why there is no folder."""


def installed_packs() -> tuple[Pack, ...]:
    """
    Return ours, then those of other packages, each package once.

    A pack is a file ``share/ament_index/resource_index/safety_scenarios_pack/<package>`` whose
    text is the folder, relative to the prefix.
    """
    found = {PACKAGE: Pack(PACKAGE, share_folder() / 'config' / 'scenarios')}
    for prefix in prefixes():
        for entry in _entries(prefix):
            if entry.name not in found:
                found[entry.name] = _pack(prefix, entry)
    return tuple(found.values())


def share_folder() -> Path:
    """
    Return our share folder: beside the source in a checkout, else as the ament index says.

    :raises InputError: the package's data files are not installed
    """
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / 'package.xml').is_file() and (checkout / 'config').is_dir():
        return checkout
    for prefix in prefixes():
        share = prefix / 'share' / PACKAGE
        if (share / 'package.xml').is_file():
            return share
    raise InputError(f'share/{PACKAGE}: not found below {", ".join(map(str, prefixes()))}. '
                     f'Install the package again, or source its setup file')


def prefixes() -> list[Path]:
    """Return where packages are installed, the overlay first; no folder under two names."""
    listed = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    found: dict[str, Path] = {}
    for prefix in (*listed, sys.prefix):
        if prefix:
            found.setdefault(os.path.realpath(prefix), Path(prefix))
    return list(found.values())


def _entries(prefix: Path) -> Iterator[Path]:
    index = prefix / 'share' / 'ament_index' / 'resource_index' / PACK_RESOURCE
    yield from sorted(index / name for name in names_in(index) if not name.startswith('.'))


def _pack(prefix: Path, entry: Path) -> Pack:
    def broken(message: str) -> Pack:
        return Pack(entry.name, None, Problem(str(entry), None, None, '', message))
    try:
        text = entry.read_text(encoding='utf-8').strip()
    except OSError as error:
        return broken(f'cannot be read: {error.strerror}. Install the package {entry.name} again')
    except UnicodeDecodeError:
        return broken('is not UTF-8, expected the name of a folder below the prefix. Install the '
                      f'package {entry.name} again')
    folder = prefix / text
    if not text or '\0' in text:
        return broken('names no folder, expected that of the scenarios, relative to the prefix, '
                      f'such as share/{entry.name}/scenarios. Write it into the file')
    if not folder.is_dir():
        return broken(f'names {folder}, where no folder is, expected that of the scenarios. '
                      f'Install the package {entry.name} again, or correct the name')
    return Pack(entry.name, folder)


SUFFIXES = ('.yaml', '.yml', '.json')
LEFT_OUT = 'N002'
_NEARLY = re.compile(r'\.(ya?ml|json)[~.]', re.IGNORECASE)
"""In a name such as ``x.yaml.txt``, as an editor writes it or somebody who wants it left out."""
_CLOSED = (errno.EACCES, errno.EPERM, errno.ELOOP, errno.EIO)
"""Why a file that is there cannot be looked at."""
_FEW = 5
"""Files that are told one by one."""


@dataclass
class ScenarioFiles:
    """The scenario files of a folder or a glob, in order, and what there is to say of the rest."""

    paths: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """Files of one document a line: what they hold nobody can tell by their names."""
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    def add(self, other: 'ScenarioFiles') -> None:
        """Take up what was found elsewhere."""
        self.paths += other.paths
        self.lines += other.lines
        self.problems += other.problems
        self.warnings += other.warnings
        self.notes += other.notes


def within(folder: Path) -> ScenarioFiles:
    """Return the scenario files of a folder, to the bottom and through links."""
    found, left_out, bindings = ScenarioFiles(), list[str](), list[str]()
    seen, folders, linked = set[str](), [str(folder)], list[str]()
    while folders or linked:
        # Links come last, so that a file has the name of the folder in which it lies.
        place = folders.pop() if folders else linked.pop(0)
        real = os.path.realpath(place)
        if real in seen:
            continue
        seen.add(real)
        try:
            with os.scandir(place) as entries:
                names = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            found.problems.append(_closed(place, error))
            continue
        for entry in names:
            path = str(Path(place) / entry.name)
            kind = _kind(entry)
            if kind == 'folder':
                folders.append(path)
            elif kind == 'link' and _is_above(os.path.realpath(path), real):
                found.notes.append(_note(path, 'is a link back to a folder that holds it, and is '
                                               'not followed'))
            elif kind == 'link':
                linked.append(path)
            elif is_scenario(entry.name):
                found.paths.append(path)
            elif is_lines(path):
                found.lines.append(path)
            elif path.endswith(BINDINGS):
                bindings.append(path)
            elif isinstance(kind, OSError):
                _lost(path, kind, found)
            elif _NEARLY.search(entry.name):
                left_out.append(path)
    found.paths.sort()
    found.lines.sort()
    found.problems.sort(key=lambda problem: problem.path)
    found.warnings += _unused(sorted(bindings), found.paths)
    found.notes += _by_name(str(folder), sorted(left_out))
    return found


def matching(pattern: str) -> ScenarioFiles:
    """Return the scenario files that a glob matches, and those of the folders that it matches."""
    found, left_out = ScenarioFiles(), list[str]()
    for match in sorted(glob.glob(pattern, recursive=True)):
        if os.path.isdir(match):
            found.add(within(Path(match)))
        elif is_scenario(match):
            found.paths.append(match)
        elif is_lines(match):
            found.lines.append(match)
        elif _NEARLY.search(os.path.basename(match)) and not match.endswith(BINDINGS):
            left_out.append(match)
    told = {problem.path for problem in found.problems}
    found.problems += [problem for problem in _closed_on_the_way(pattern)
                       if problem.path not in told]
    found.notes += _by_name(pattern, left_out)
    return found


def is_scenario(path: str) -> bool:
    """
    Return whether a file has the name of a scenario, in whatever letters.

    Bindings count where capitals in their name hide them from their scenario: to read them is to
    say so.
    """
    return path.lower().endswith(SUFFIXES) and not path.endswith(BINDINGS)


def is_lines(path: str) -> bool:
    """Return whether a file has the name of one that holds a document in each line."""
    return path.lower().endswith(file_contents.SUFFIX)


def is_there(target: str) -> bool:
    """Return whether a target is a file, also one that cannot be read, or a link to nothing."""
    try:
        os.stat(target)
    except OSError as error:
        return os.path.lexists(target) or (error.errno in _CLOSED and (
            os.sep in target or is_scenario(target)))
    return True


def _kind(entry: os.DirEntry[str]) -> str | OSError:
    """Return what an entry of a folder is: a folder, a link to one, or a file; or why unknown."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return 'folder'
        if entry.is_symlink():
            entry.stat()
            return 'link' if entry.is_dir() else 'file'
    except OSError as error:
        return error
    return 'file'


def _is_above(folder: str, other: str) -> bool:
    """Return whether one folder is the other, or holds it."""
    return other == folder or other.startswith(folder.rstrip(os.sep) + os.sep)


def _lost(path: str, error: OSError, found: ScenarioFiles) -> None:
    """Tell of what cannot be looked at: without a suffix it may be a folder of scenarios."""
    problem = unreadable(path, error)
    if os.path.splitext(path)[1]:
        found.notes.append(_note(path, problem.message))
    else:
        found.problems.append(problem)


def _closed(path: str, error: OSError) -> Problem:
    return Problem(path, None, None, '', f'the folder cannot be read: {error.strerror}. Allow '
                                         f'reading it, or name only the files that are meant')


def _closed_on_the_way(pattern: str) -> Iterator[Problem]:
    """Yield the folders in which a glob would have to look and cannot: it passes them over."""
    parts = Path(pattern).parts
    for index in range(1, len(parts)):
        above = str(Path(*parts[:index]))
        is_searched = glob.has_magic(parts[index])
        for folder in sorted(glob.glob(above, recursive=True)) if glob.has_magic(above) \
                else [above]:
            if not os.path.isdir(folder):
                continue
            try:
                if is_searched:
                    os.scandir(folder).close()
                os.stat(os.path.join(folder, '.'))
            except OSError as error:
                yield _closed(folder, error)


def _unused(bindings: list[str], scenarios: list[str]) -> Iterator[Problem]:
    """Yield which bindings no scenario uses, as of a name that is nearly right."""
    stems = {os.path.splitext(path)[0] for path in scenarios}
    for path in bindings:
        stem = next(path.removesuffix(suffix) for suffix in BINDINGS if path.endswith(suffix))
        if stem not in stems:
            name = os.path.basename(stem)
            beside = [os.path.basename(other) for other in stems
                      if os.path.dirname(other) == os.path.dirname(stem)]
            yield Problem(path, None, None, '', (
                f'are bindings that no scenario uses: none beside them is called {name}. Rename '
                f'or remove them{"." * bool(beside)}{did_you_mean(name, beside)}').rstrip('.'))


def _by_name(target: str, paths: list[str]) -> Iterator[Problem]:
    if paths:
        more = f' and {len(paths) - _FEW} more' if len(paths) > _FEW else ''
        yield _note(target, f'{counted(len(paths), "file")} left out, whose names do not end in '
                            f'{", ".join(SUFFIXES)}: {", ".join(paths[:_FEW])}{more}')


def no_scenarios(paths: list[str], why: str) -> Problem:
    """Return the note that files of lines are left out, all for one reason."""
    others = paths[1:_FEW]
    more = f' and {len(paths) - _FEW} more' if len(paths) > _FEW else ''
    return _note(paths[0], f'left out{", as are " * bool(others)}{", ".join(others)}{more}: {why}')


def _note(path: str, message: str) -> Problem:
    return Problem(path, None, None, '', message, LEFT_OUT)


_Model = TypeVar('_Model', bound=BaseModel)
_PLACES = re.compile(r'(?:(?<=file://)|(?<![\w:/.~-]))(?:/[^/\s\'"<>|:;,()]+){2,}/?')
"""Absolute paths of two parts at least within a text; a topic may look the same."""
_FIELDS = frozenset(('output', 'junit', 'scenarios', 'sut_artifact', 'cache'))
"""Of settings: they hold paths, whether there is a file or not."""


@lru_cache(maxsize=1024)
def portable_name(path: str) -> str:
    """Return a file's name without where this machine keeps it."""
    if not path.startswith(('/', '~')):
        return '/'.join(part for part in path.split('/') if part != '..') or path
    for name, share in _shares(path):
        if path.startswith(f'{share}/'):
            return f'package://{name}/{path[len(share) + 1:]}'
    return path.rstrip('/').rpartition('/')[2]


def _shares(path: str) -> list[tuple[str, str]]:
    """Return the packages that a path may be in, with their share folders."""
    found = list[tuple[str, str]]()
    try:
        found.append((PACKAGE, str(share_folder())))
    except InputError:
        pass
    for prefix in prefixes():
        below = path.removeprefix(f'{prefix}/share/')
        if below != path:
            name = below.partition('/')[0]
            found.append((name, f'{prefix}/share/{name}'))
    return found


def without_places(text: str) -> str:
    """Return a text, such as a traceback, with the names of files instead of their paths."""
    return _PLACES.sub(lambda found: portable_name(found[0]) if _is_place(found[0])
                       else found[0], text) if '/' in text else text


def _is_place(path: str) -> bool:
    """Return whether a text that looks like a path is none of a topic or a service."""
    own = (os.path.expanduser('~'), os.getcwd(), tempfile.gettempdir())
    if any(path == place or path.startswith(f'{place}/') for place in own if place != '/'):
        return True
    above = os.path.dirname(path.rstrip('/'))
    return os.path.lexists(path) or (above.count('/') > 1 and os.path.isdir(above))


def portable(model: _Model) -> _Model:
    """
    Return settings, or a controller's parameters, with names of files instead of paths.

    The profile of settings stays, because its values are read again.
    """
    changes = {name: _portable(name, value) for name, value in model
               if value is not None and name != 'profile'}
    return model.model_copy(update={name: value for name, value in changes.items()
                                    if value != getattr(model, name)})


def _portable(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if name in _FIELDS or (value.startswith('/') and _is_place(value)):
            return portable_name(value)
        key, equals, rest = value.partition('=')
        return key + equals + portable_name(rest) \
            if rest.startswith('/') and _is_place(rest) else value
    if isinstance(value, BaseModel):
        return portable(value)
    if isinstance(value, Mapping):
        return {key: _portable(str(key), inner) for key, inner in value.items()}
    return tuple(_portable(name, inner) for inner in value) if isinstance(value, tuple) else value
