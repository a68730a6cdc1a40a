# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Reading what identifies the controller under test, before the first trial and after the last."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import hashlib
import os
from pathlib import Path
import re
import stat
from typing import NamedTuple

from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.scenario_files import portable_name, without_places
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.identity import Artifact, Identity, NodeFacts, UNIDENTIFIED

IMAGE_DIGEST_VARIABLE = 'SAFETY_SCENARIOS_SUT_IMAGE_DIGEST'
MOST_FILES = 100_000
"""In one folder; more is rather a whole disk than a controller."""
_BLOCK = 1 << 20
_IMAGE_DIGEST = re.compile(r'([^\s@]{1,300}@)?sha256:[0-9a-f]{64}')
"""Of a container image, with its name before it or without."""
_LEFT_OUT = ('__pycache__', '.git')
"""What changes when a program runs, or is looked at."""
_LONGEST_PATH = 4096


class _Touched(NamedTuple):
    """What changes when a file is written to or replaced, even if its content comes back."""

    device: int
    inode: int
    changed_ns: int


@dataclass(frozen=True)
class Identified:
    """What was judged, as it was before the first trial."""

    identity: Identity
    touched: tuple[frozenset[tuple[str, _Touched]], ...]
    """Of each artifact: its files, and when each was last written to."""
    paths: tuple[str, ...] = ()
    """Of each artifact: where it is on this machine, which nothing of a campaign says."""

    def ended(self, nodes: Sequence[NodeFacts] = (), noted: Sequence[str] = ()) -> Identity:
        """
        Look at every artifact again, and return what is known now.

        :param nodes: what external nodes said of themselves
        :param noted: what they said otherwise later
        """
        changed = []
        for artifact, before, path in zip(self.identity.artifacts, self.touched, self.paths,
                                          strict=True):
            try:
                now, touched = _artifact(path, artifact.given_by)
            except SettingsError as error:
                changed.append(f'{artifact.name}: changed during the campaign: '
                               f'{without_places(str(error))}')
                continue
            if now != artifact:
                changed.append(f'{artifact.name}: changed during the campaign: SHA-256 was '
                               f'{artifact.sha256[:12]}..., is {now.sha256[:12]}...')
            elif touched != before:
                changed.append(f'{artifact.name}: was written to or replaced during the campaign; '
                               'that it is the same now does not show what the trials between '
                               'used')
        return self.identity.model_copy(update={
            'nodes': tuple(map(_portable, nodes)), 'noted': tuple(noted), 'compared': True,
            'changed': tuple(changed)})


def identify(settings: RunSettings, spec: ControllerSpec, source: str | None,
             output: Path | None, files: Sequence[str] = ()) -> Identified:
    """
    Return what tells the controller of a campaign from another.

    A parameter of the controller that names a file, such as a checkpoint, counts as an artifact.

    :param source: SHA-256 of the controller's source, None when nobody knows it
    :param output: where the campaign will write, None for nowhere
    :param files: that the controller is made of beside its source, such as a policy's contract
    :raises SettingsError: an artifact that is not there or cannot be read, or no digest
    """
    found, touched = list[Artifact](), list[frozenset[tuple[str, _Touched]]]()
    paths = list[str]()
    for name, given_by in _named(settings, spec, files):
        if output is not None and Path(name).is_dir() and _is_within(output, Path(name)):
            raise SettingsError(f'{given_by}: got {name}, in which the campaign itself writes '
                                f'({output}), expected one that stays the same. Name another '
                                f'--output, or what in it the controller is made of')
        artifact, when = _artifact(name, given_by)
        found.append(artifact)
        touched.append(when)
        paths.append(name)
    digest = _image_digest(settings.sut_image_digest, 'sut_image_digest') or _image_digest(
        os.environ.get(IMAGE_DIGEST_VARIABLE, '').strip(),
        f'environment variable {IMAGE_DIGEST_VARIABLE}')
    known = settings.sut_version or found or digest or source
    return Identified(Identity(
        version=settings.sut_version, image_digest=digest, artifacts=tuple(found),
        source=source, unidentified='' if known else UNIDENTIFIED), tuple(touched), tuple(paths))


def _portable(node: NodeFacts) -> NodeFacts:
    """Return what a node said of itself without where files are on this machine."""
    parameters = node.parameters and {
        name: without_places(value) if isinstance(value, str) else value
        for name, value in node.parameters.items()}
    return node.model_copy(update={'parameters': parameters})


def _named(settings: RunSettings, spec: ControllerSpec,
           files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each path with what names it, once."""
    seen = set()
    for name in settings.sut_artifact:
        if not name.strip():
            raise SettingsError('sut_artifact: got a blank name, expected that of a file or a '
                                'folder. Is a variable empty?')
        if name not in seen:
            seen.add(name)
            yield name, 'sut_artifact'
    for parameter, value in spec.parameters.items():
        if isinstance(value, str) and 0 < len(value) < _LONGEST_PATH and '\0' not in value \
                and os.path.isfile(value) and value not in seen:
            seen.add(value)
            yield value, f'controller.{parameter}'
    for name in files:
        if name not in seen:
            seen.add(name)
            yield name, 'controller'


def _image_digest(digest: str, place: str) -> str:
    if digest and not _IMAGE_DIGEST.fullmatch(digest):
        raise SettingsError(f'{place}: got {digest[:100]!r}, expected sha256: and 64 hexadecimal '
                            f"digits, as docker inspect --format '{{{{.Image}}}}' CONTAINER "
                            f'prints them')
    return digest


def _artifact(name: str, given_by: str) -> tuple[Artifact, frozenset[tuple[str, _Touched]]]:
    """Return what a file or a folder is now."""
    path = Path(name)
    try:
        if not path.is_dir():
            digest, size, touched = _file(path)
            return (Artifact(name=portable_name(name), sha256=digest, size=size,
                             given_by=given_by),
                    frozenset({('', touched)}))
        lines, sizes, when = [], 0, set()
        for relative in _files(path):
            digest, size, touched = _file(path / relative)
            lines.append(f'{digest}  {relative}\n')
            sizes += size
            when.add((relative, touched))
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or error
        where = getattr(error, 'filename', None) or name
        raise SettingsError(f'{given_by}: got {where}, which cannot be read: {reason}. Name a '
                            f'file or a folder that the controller is made of') from None
    if not lines:
        raise SettingsError(f'{given_by}: got {name}, a folder without a file, expected what the '
                            f'controller is made of')
    digest = hashlib.sha256(''.join(lines).encode('utf-8', 'surrogateescape')).hexdigest()
    return Artifact(name=portable_name(name), sha256=digest, size=sizes, files=len(lines),
                    given_by=given_by), frozenset(when)


def _files(folder: Path) -> list[str]:
    """Return the files below a folder, sorted by their relative names."""
    found = []

    def refuse(error: OSError) -> None:
        raise error
    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if name not in _LEFT_OUT]
        for name in folders:
            if os.path.islink(os.path.join(place, name)):
                raise ValueError(f'{os.path.join(place, name)} is a link to a folder. Name that '
                                 f'folder too, and take the link out')
        found += [os.path.relpath(os.path.join(place, name), folder) for name in names]
        if len(found) > MOST_FILES:
            raise ValueError(f'more than {MOST_FILES} files. Name those that matter')
    return sorted(found)


def _file(path: Path) -> tuple[str, int, _Touched]:
    """Return hash, size and what changes with a write."""
    digest, size = hashlib.sha256(), 0
    kind = os.stat(path)
    if not stat.S_ISREG(kind.st_mode):
        raise ValueError(f'{path} is no regular file')
    with path.open('rb') as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
        seen = os.fstat(file.fileno())
    return digest.hexdigest(), size, _Touched(seen.st_dev, seen.st_ino, seen.st_mtime_ns)


def _is_within(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())
