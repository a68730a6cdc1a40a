# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The file of a design: a question, and by which test it will be answered, before the first trial.

A lock freezes it with everything that its answer depends on: arms, settings, scenarios, trials.
"""

from collections.abc import Mapping
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator, ValidationError
from safety_scenarios.errors import in_words, InputError, SettingsError
from safety_scenarios.formats.document.file_contents import bytes_of, read_noun
from safety_scenarios.scenario.noun import Label, Noun
from safety_scenarios.scenario.untrusted_text import each_key_once
from safety_scenarios.studies.designs.claim import read_claim
from safety_scenarios.studies.matrix.file import ArmName, MatrixFile

LOCKED = 'design.lock'
"""The lock, in the folder of the matrix and in that of each arm."""
_MOST_BYTES = 4 << 20
Hash = Annotated[str, Field(pattern=r'^[0-9a-f]{64}$')]
Outcome = Literal['failures', 'missed hazards', 'false stops', 'reaction']


class Design(Noun):
    """A question about the arms of a matrix, and the test that answers it."""

    question: Annotated[Label, Field(min_length=1, max_length=500)]
    """In words, as the report repeats it."""
    matrix: str = Field(min_length=1, max_length=4000)
    """The matrix file with arms, scenarios, trials and seed; relative to this file."""
    better: ArmName
    """Arm that is expected to be better, or not worse."""
    than: ArmName
    """Arm that it is compared with."""
    outcome: Outcome = 'failures'
    """What is compared, by pairs of trials in the same world: failures, missed hazards or false
    stops (fewer are better), or who reacts first."""
    margin: float = Field(default=0.0, ge=0.0, lt=1.0)
    """0: better is to be shown (superiority). Else: not worse by more than this share of trials
    (non-inferiority)."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1.0)
    """One-sided, of the answer."""
    claims: tuple[Annotated[str, Field(max_length=200)], ...] = Field(default=(), max_length=20)
    """Acceptance limits of the better arm, as plan --claim takes them: all have to be shown, too,
    each at its own confidence."""
    stop: Literal['planned', 'any'] = 'planned'
    """planned: after all trials, the interval of a fixed number. any: the run may be ended early.
    Then only complete rounds count (one trial of each scenario), so nothing can be said before the
    last scenario has begun. The answer is that of the first eighth, quarter, half or all of the
    rounds, with a quarter of the error each, so that it holds at any stop."""
    blind: bool | None = None
    """Name arms by codes until the answer is opened; left out: on a real robot (hil)."""

    @model_validator(mode='after')
    def _can_be_answered(self) -> 'Design':
        if self.better == self.than:
            raise ValueError(f'got {self.better} as better and as than, expected two arms')
        if self.margin and self.outcome == 'reaction':
            raise ValueError('got a margin with the outcome reaction, expected none: who reacts '
                             'first has no share of failures')
        for text in self.claims:
            try:
                claim = read_claim(text, 'claims')
            except SettingsError as error:
                raise ValueError(str(error)) from None
            if claim.subject == 'difference of failures':
                raise ValueError(f"claims: got '{text}', expected a claim about one arm; a "
                                 f'difference is what margin is for')
        return self


class LockedArm(Noun):
    """One arm, as it was when the design was locked."""

    configuration: Mapping[str, str]
    """Controller, parameters, hashes of files and settings."""
    plan: Hash
    """Of its trials: scenarios, indices, seeds and what is drawn."""


class Lock(Noun):
    """A design with everything that its answer depends on, frozen before the first trial."""

    format: Literal['safety_scenarios.lock/1'] = 'safety_scenarios.lock/1'  # noqa: A003
    design: Design
    matrix: MatrixFile
    """With the seed, every arm written out."""
    scenarios: Mapping[str, Hash | None]
    """Id to SHA-256 of its file; None: of no file."""
    arms: Mapping[str, LockedArm]
    trials: int
    """In each arm."""
    version: str | None
    """Of safety_scenarios."""
    locked_at: str
    """UTC."""
    key: Hash | None = None
    """Of the sealed key of codes; None: the arms are not blinded."""
    codes: tuple[str, ...] = ()
    """Names of the arms until the key is opened, sorted."""
    sha256: str = ''
    """Of everything above."""

    @property
    def digest(self) -> str:
        """Return the SHA-256 of everything but the hash itself."""
        return digest_of(self.model_dump(mode='json', exclude={'sha256'}))


def digest_of(data: Any) -> str:
    """Return the SHA-256 of JSON data in one form: sorted keys, no blank."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(',', ':'),
                                     ensure_ascii=False).encode()).hexdigest()


def read_design(path: Path) -> Design:
    """
    Return what a design file says.

    :raises InputError: it cannot be read, or every problem in it with its line
    """
    return read_noun(path, Design, 'question, matrix, better and than')[0]


def lock_path(design: Path) -> Path:
    """Return where the lock of a design file is."""
    return design.with_name(f'{design.name}.lock')


def key_path(design: Path) -> Path:
    """Return where the key of codes is, apart from the lock."""
    return design.with_name(f'{design.name}.key')


def read_lock(path: Path) -> Lock:
    """
    Return a lock whose hash is that of what it says.

    :raises InputError: it cannot be read, or was changed
    """
    try:
        found = Lock.model_validate_json(each_key_once(bytes_of(path, _MOST_BYTES)))
    except (OSError, ValidationError, ValueError) as error:
        raise InputError(f'{path}: cannot be read as a lock: {in_words(error):.300}. Lock the '
                         f'design with safety-scenarios plan --lock FILE') from None
    if found.sha256 != found.digest:
        raise InputError(f'{path}: got the hash {found.sha256[:12] or "none"}..., expected '
                         f'{found.digest[:12]}... of its content: it was changed after the '
                         f'design was locked. It can answer no question')
    return found
