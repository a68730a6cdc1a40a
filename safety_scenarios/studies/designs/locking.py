# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Locking a design before its first trial, and holding a run to its lock."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
import json
import os
from pathlib import Path
import secrets
from typing import Any

from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.errors import in_words, InputError, refuse, SettingsError
from safety_scenarios.formats.scenario_files import portable
from safety_scenarios.studies.designs.design import (
    Design,
    digest_of,
    key_path,
    Lock,
    lock_path,
    LockedArm,
    read_design,
    read_lock,
)
from safety_scenarios.studies.matrix.arms import resolved
from safety_scenarios.studies.matrix.file import freeze, MatrixFile, read_matrix
from safety_scenarios.studies.matrix.plan import MatrixPlan, plan_matrix
from safety_scenarios.trial.trial import PlannedTrial

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
