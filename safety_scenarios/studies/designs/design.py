# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The file of a design, its lock before the first trial, and arms behind codes.

A lock freezes it with everything that its answer depends on: arms, settings, scenarios, trials.

Sealed is not secret: whoever unpacks the file by hand can read it. That its content was not
changed, and that the report opened it, stands in the folder.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
import hashlib
import json
import os
from pathlib import Path
import secrets
import shutil
import tarfile
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator, ValidationError
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.folder import lines_of, SEALED, TRIALS
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.errors import in_words, InputError, refuse, SettingsError, TraceError
from safety_scenarios.formats.document.file_contents import bytes_of, read_noun
from safety_scenarios.formats.scenario_files import portable
from safety_scenarios.scenario.noun import Label, Noun
from safety_scenarios.scenario.untrusted_text import each_key_once
from safety_scenarios.studies.designs.claim import read_claim
from safety_scenarios.studies.matrix.file import ArmName, freeze, MatrixFile, read_matrix, resolved
from safety_scenarios.studies.matrix.run import MatrixPlan, plan_matrix
from safety_scenarios.trial.identity import digest
from safety_scenarios.trial.trial import PlannedTrial

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


BLINDED, OPENED, KEY = 'blinded.json', 'unblinded.json', 'design.key'
_KEPT = (SEALED, BLINDED, OPENED, LOCKED)


def seal(folder: Path, lock: Lock, key: Path) -> Mapping[str, int]:
    """
    Pack away everything in the folder of a matrix but its lock, and return trials by code.

    :param key: the key of codes, which goes in too
    :raises TraceError: the disk is full, or the folder is gone
    """
    try:
        shutil.copyfile(key, folder / KEY)
        done = {code: _trials(folder / code) for code in lock.codes}
        names = sorted(path for path in folder.iterdir() if path.name not in _KEPT)
        with tarfile.open(folder / SEALED, 'x:gz', compresslevel=1) as archive:
            for path in names:
                archive.add(path, path.name)
        write_whole(folder / BLINDED, json.dumps({
            'design': lock.sha256, 'trials': done, 'sealed_sha256': digest(folder / SEALED)},
            indent=2))
        for path in names:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    except OSError as error:
        raise TraceError(f'{folder}: cannot be sealed: {error.strerror or error}') from error
    return done


def _trials(folder: Path) -> int:
    try:
        return len(lines_of((folder / TRIALS).read_text(encoding='utf-8')))
    except OSError:
        return 0


def is_sealed(folder: Path) -> bool:
    """Return whether the arms in a folder are behind codes still."""
    return (folder / SEALED).is_file() and not (folder / OPENED).exists()


def trials_by_code(folder: Path) -> Mapping[str, int]:
    """
    Return how many trials of each code were run.

    :raises SettingsError: it cannot be read
    """
    try:
        found = json.loads((folder / BLINDED).read_text(encoding='utf-8'))
        return {str(code): int(count) for code, count in found['trials'].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(f'{folder / BLINDED}: cannot be read: '
                            f'{in_words(error):.200}') from None


def unseal(folder: Path) -> None:
    """
    Unpack what was sealed, and note that and when.

    :raises InputError: it was changed since, or cannot be unpacked
    """
    found = _unpack(folder)
    write_whole(folder / OPENED, json.dumps({
        'at': datetime.now(timezone.utc).isoformat(timespec='seconds'),
        'sealed_sha256': found}, indent=2))


def go_on(folder: Path) -> None:
    """
    Unpack a run that was cut off, so that it can be resumed; it is sealed again after that.

    :raises InputError: it was changed since, or cannot be unpacked
    """
    _unpack(folder)
    for name in (SEALED, BLINDED, KEY):
        (folder / name).unlink()


def _unpack(folder: Path) -> str:
    """Unpack what was sealed, and return its SHA-256."""
    try:
        known = json.loads((folder / BLINDED).read_text(encoding='utf-8'))['sealed_sha256']
        found = digest(folder / SEALED)
        if found != known:
            raise InputError(f'{folder / SEALED}: got SHA-256 {found[:12]}..., expected '
                             f'{str(known)[:12]}... as in {BLINDED}: it was changed after the run')
        with tarfile.open(folder / SEALED, 'r:gz') as archive:
            archive.extractall(folder, filter='data')
        return found
    except (OSError, ValueError, KeyError, TypeError, tarfile.TarError) as error:
        raise InputError(f'{folder}: cannot be opened: {in_words(error):.300}') from None


_LETTERS, _DIGITS = 'BCDFGHJKLMNPQRSTVWXZ', '23456789'
_ABOVE = ('console', 'outputs', 'junit', 'jobs', 'engine')
"""Settings of the command line that change no trial."""
_PRIVATE = 0o600


def lock_design(file: Path) -> Lock:
    """
    Freeze a design, and write its lock and the key of codes beside it.

    :raises InputError: design or matrix cannot be carried out, or the design is locked already
    """
    path = lock_path(file)
    if path.exists():
        raise SettingsError(f'--lock: {path} is there already, expected a design that is not '
                            f'locked yet: a lock is never replaced. Copy the design under another '
                            f'name for another question')
    design = read_design(file)
    matrix, plan = _planned(design, file)
    missing = [name for name in (design.better, design.than) if name not in matrix.arms]
    if missing:
        raise SettingsError(f'{file}: got arm {missing[0]}, expected one of '
                            f'{", ".join(matrix.arms)}, which the matrix has')
    is_real = plan.first.setup.recorded.hil.enabled
    codes: Mapping[str, str] = {}
    key: dict[str, Any] = {}
    if design.blind or (design.blind is None and is_real):
        codes = _codes(matrix)
        key = {'codes': dict(codes), 'nonce': secrets.token_hex(32)}
    matrix = freeze(matrix.model_copy(update={'order': plan.matrix.order, 'sha256': ''}))
    lock = Lock(
        design=design, matrix=matrix, scenarios=_scenarios(plan), arms=_arms(plan),
        trials=len(plan.first.trials), version=versions()['safety_scenarios'],
        locked_at=datetime.now(timezone.utc).isoformat(timespec='microseconds'),
        key=digest_of(key) if key else None, codes=tuple(sorted(codes.values())))
    lock = lock.model_copy(update={'sha256': lock.digest})
    if key:
        _write_private(key_path(file), json.dumps(key, indent=2))
    write_whole(path, lock.model_dump_json(indent=2))
    return lock


def _planned(design: Design, file: Path) -> tuple[MatrixFile, MatrixPlan]:
    matrix = read_matrix(file.parent / design.matrix)[0]
    frozen, arms = resolved(matrix)
    return frozen, plan_matrix(frozen, arms, file.parent / f'.{file.name}.no_folder')


def _codes(matrix: MatrixFile) -> dict[str, str]:
    """Return arm to its code; which is whose nothing but the key tells."""
    known = [f'{letter}{digit}' for letter in _LETTERS for digit in _DIGITS]
    secrets.SystemRandom().shuffle(known)
    return dict(zip(matrix.arms, known[:len(matrix.arms)], strict=True))


def _scenarios(plan: MatrixPlan) -> dict[str, str | None]:
    return {one.id: one.origin.sha256 if one.origin else None for one in plan.first.scenarios}


def _arms(plan: MatrixPlan) -> dict[str, LockedArm]:
    return {arm.name: LockedArm(configuration=configuration_of(arm.effective.shown),
                                plan=trials_digest(arm.plan.entries)) for arm in plan.arms}


def configuration_of(shown: Mapping[str, str]) -> dict[str, str]:
    """Return what tells an arm from others, without the label that a code may be."""
    return {name: value for name, value in shown.items() if name != 'controller_label'}


def settings_unlike(lock: Lock, arm: str, got: Mapping[str, Any]) -> Iterator[str]:
    """
    Yield the settings of an arm's campaign that are not those of its lock.

    :param got: as ``settings.json`` has them
    :raises InputError: those of the lock cannot be worked out here
    """
    expected = next(one.settings for one in resolved(lock.matrix)[1] if one.name == arm)
    data = portable(expected).model_dump(mode='json')
    yield from (name for name in sorted(data.keys() & got.keys()) if data[name] != got[name]
                and name not in (*_ABOVE, 'output', 'controller_label', 'design', 'warmup',
                                 'profile', 'controller_parameters'))


def trials_digest(entries: Any) -> str:
    """
    Return the hash of the trials of an arm, whatever they are called.

    What a seed draws follows from the scenario and the version, which the lock has too.
    """
    rows: list[tuple[str, int, int, str | None]] = [
        (one.scenario_id, one.index, one.seed, one.scenario_sha256)
        for one in entries if isinstance(one, PlannedTrial)]
    return digest_of(sorted(rows))


def locked_plan(file: Path, above: Mapping[str, Any], folder: Path) -> \
        tuple[Lock, MatrixPlan, Mapping[str, str]]:
    """
    Return the lock of a design, what it does, and arm to code.

    :param above: what the command line sets
    :raises InputError: names everything that is not as it was locked
    """
    lock = read_lock(lock_path(file))
    changed = [f'design.{name}' for name in _unlike(
        lock.design.model_dump(), read_design(file).model_dump())]
    set_here = [name for name in above if name not in _ABOVE]
    matrix = read_matrix(file.parent / lock.design.matrix)[0]
    now = matrix if matrix.seed >= 0 else matrix.model_copy(update={'seed': lock.matrix.seed})
    again = resolved(now)[0].model_copy(update={'order': lock.matrix.order, 'sha256': ''})
    changed += [f'matrix.{name}' for name in _unlike(
        lock.matrix.model_dump(exclude={'sha256'}), again.model_dump(exclude={'sha256'}))]
    errors = [SettingsError(f'{name}: got another value than the design was locked with, expected '
                            f'that of {lock_path(file)}. Undo the change, or lock another design '
                            f'under another name') for name in changed]
    errors += [SettingsError(f'--{name.replace("_", "-")}: got it with --design, expected it in '
                             f'the design: the command line sets nothing that was locked')
               for name in set_here]
    refuse(errors)
    codes = _read_key(lock, file)
    coded = lock.matrix
    if codes:
        arms = {codes[name]: entry.model_copy(update={
            'set': {**entry.set, 'controller_label': codes[name]}})
            for name, entry in lock.matrix.arms.items()}
        coded = freeze(lock.matrix.model_copy(update={
            'arms': dict(sorted(arms.items())), 'sha256': ''}))
    frozen, found = resolved(coded, {**above, 'design': lock.sha256})
    plan = plan_matrix(frozen, found, folder)
    refuse(_other(lock, plan, codes, file))
    return lock, plan, codes


def _unlike(expected: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[str]:
    return (name for name in expected if expected[name] != got.get(name))


def _read_key(lock: Lock, file: Path) -> Mapping[str, str]:
    """Return arm to code, by the sealed key; empty where arms are not blinded."""
    if lock.key is None:
        return {}
    try:
        data = json.loads(key_path(file).read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise SettingsError(f'{key_path(file)}: cannot be read: {in_words(error):.200}. It is '
                            f'the key of codes that plan --lock wrote') from None
    return opened_key(lock, data, str(key_path(file)))


def opened_key(lock: Lock, data: Any, where: str) -> Mapping[str, str]:
    """
    Return arm to code.

    :raises InputError: it is not the key that the lock has the hash of
    """
    if digest_of(data) != lock.key:
        raise InputError(f'{where}: got another key than the one that the lock has the hash of '
                         f'({str(lock.key)[:12]}...): it was changed or swapped. Which arm is '
                         f'which cannot be determined')
    return {str(name): str(code) for name, code in data['codes'].items()}


def _other(lock: Lock, plan: MatrixPlan, codes: Mapping[str, str],
           file: Path) -> Iterator[SettingsError]:
    """Yield everything that the plan has otherwise than the lock."""
    def error(name: str, got: Any, expected: Any) -> SettingsError:
        return SettingsError(f'{name}: got {got}, expected {expected} as in {lock_path(file)}: it '
                             f'was changed after the design was locked. Undo the change, or lock '
                             f'another design')
    version = versions()['safety_scenarios']
    if version != lock.version:
        yield error('version of safety_scenarios', version, lock.version)
    scenarios = _scenarios(plan)
    for name in sorted(lock.scenarios.keys() | scenarios.keys()):
        got, expected = (str(one.get(name, 'no such scenario'))[:16]
                         for one in (scenarios, lock.scenarios))
        if got != expected:
            yield error(f'scenario {name}', got, expected)
    names = {code: arm for arm, code in codes.items()}
    for name, arm in _arms(plan).items():
        arm_name = names.get(name, name)
        locked = lock.arms.get(arm_name)
        if locked is None:
            yield error(f'arm {arm_name}', 'an arm', 'none')
            continue
        was, now = locked.configuration, arm.configuration
        for key in sorted(was.keys() | now.keys()):
            if was.get(key) != now.get(key):
                yield error(f'arm {arm_name}: {key}', now.get(key, 'nothing'),
                            was.get(key, 'nothing'))
        if locked.plan != arm.plan:
            yield error(f'arm {arm_name}: trials', arm.plan[:12], locked.plan[:12])


def _write_private(path: Path, text: str) -> None:
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE)
        with os.fdopen(file, 'w', encoding='utf-8') as opened:
            opened.write(text + '\n')
    except OSError as error:
        raise SettingsError(f'{path}: cannot be written: {error.strerror}. Put the design into a '
                            f'folder that can') from None
