# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What tells one build of a controller from another, and one trial's replies from another's."""

from collections.abc import Iterator, Mapping
import hashlib
import json
from pathlib import Path
import re
from typing import Any

from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.trial.trial import TrialRecord

_BLOCK = 1 << 20
"""Bytes hashed at a time: a recording need not fit into memory."""


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, however large it is."""
    found = hashlib.sha256()
    with path.open('rb') as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def file_name(identifier: str) -> str:
    """Return an identifier as a file name; where characters had to go, a hash tells it apart."""
    safe = re.sub(r'[^A-Za-z0-9_-]', '_', identifier)[:80]
    return safe if safe == identifier else \
        f'{safe}-{hashlib.sha256(identifier.encode()).hexdigest()[:8]}'


def log_name(scenario_id: str, participant: str = '') -> str:
    """
    Return the log of a scenario's controller, relative to the campaign's folder.

    :param participant: another agent whose controller it is
    """
    return f'logs/{file_name(scenario_id)}{"." + participant if participant else ""}.log'


UNIDENTIFIED = ('nothing identifies what was judged. Give sut_version, sut_artifact or '
                'sut_image_digest, so that this result can be distinguished from that of another '
                'build')


class Artifact(Noun):
    """A file, or all files below a folder, that the controller is made of."""

    name: str
    """As it was given."""
    sha256: str
    """Of the file; of a folder that of the lines that sha256sum prints of its sorted files."""
    size: int
    """Bytes, of all files together."""
    files: int = 1
    """How many there are."""
    given_by: str
    """The setting, or the parameter of the controller, that names it."""


class NodeFacts(Noun):
    """What a node that commands the robot said of itself, over ROS."""

    name: str
    """With its namespace."""
    interfaces: Mapping[str, str]
    """Topic to type, with the hash of the type's definition where the middleware tells it."""
    parameters: Mapping[str, Any] | None = None
    """Name to value; what may be a secret is masked. None: it did not say."""
    note: str = ''
    """Why something is missing."""


class Identity(Noun):
    """Everything that is known of what was judged."""

    version: str = ''
    """As its user says."""
    image_digest: str = ''
    """Of the container image that it runs in, as its user says."""
    artifacts: tuple[Artifact, ...] = ()
    source: str | None = None
    """SHA-256 of the source of its class; None when nobody knows it, and in earlier versions."""
    unidentified: str = ''
    """The warning that nothing of all this is known; empty when something is."""
    nodes: tuple[NodeFacts, ...] = ()
    """External nodes on the command topics, by their own word."""
    compared: bool = False
    """Whether the artifacts were looked at again after the last trial."""
    changed: tuple[str, ...] = ()
    """What was not the same any more while or after the campaign ran."""
    noted: tuple[str, ...] = ()
    """What a node said otherwise later; that decides nothing."""

    @property
    def at_start(self) -> 'Identity':
        """Return what was known before the first trial."""
        return Identity(version=self.version, image_digest=self.image_digest,
                        artifacts=self.artifacts, source=self.source,
                        unidentified=self.unidentified)

    @property
    def doubts(self) -> Iterator[str]:
        """Yield why nobody can say that all trials were of the same thing."""
        yield from self.changed
        if self.artifacts and not self.compared:
            yield ('the artifacts of what was judged were not checked again after the last '
                   'trial, so that it is unknown whether they changed')

    @property
    def lines(self) -> Iterator[str]:
        """Yield what there is to say, one thing a line."""
        if self.version:
            yield f'version {self.version}'
        if self.image_digest:
            yield f'image {self.image_digest}'
        for artifact in self.artifacts:
            many = '' if artifact.files == 1 else f', {artifact.files} files'
            yield (f'{artifact.name} (SHA-256 {artifact.sha256[:12]}..., {artifact.size} bytes'
                   f'{many})')


_DIGITS = 16
_SAID = {'response', 'say', 'tool_call'}


def fingerprint(record: TrialRecord) -> str | None:
    """
    Return what equal answers and calls, in the same order, have in common; None: it said nothing.

    Two trials in which it said something else are two, though both may be judged alike.
    """
    body, trial_id = record.trial.scenario.body, record.trial.trial_id
    sut = body.sut if isinstance(body, AgentsBody) else None
    said = [(event.kind, event.name, event.text, event.arguments) for event in record.events
            if event.kind in _SAID and event.trial_id in (None, trial_id)
            and (event.kind == 'response' or event.agent == sut)]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:_DIGITS] if said else None
