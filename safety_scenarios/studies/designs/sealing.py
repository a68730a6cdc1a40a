# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Arms behind codes: what tells them apart is packed away until somebody opens it.

Sealed is not secret: whoever unpacks the file by hand can read it. That its content was not
changed, and that the report opened it, stands in the folder.
"""

from collections.abc import Mapping
from datetime import datetime, timezone
import json
from pathlib import Path
import shutil
import tarfile

from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.folder import lines_of, TRIALS
from safety_scenarios.errors import in_words, InputError, SettingsError, TraceError
from safety_scenarios.studies.designs.design import Lock, LOCKED
from safety_scenarios.trial.identity import digest

SEALED, BLINDED, OPENED, KEY = 'sealed.tar.gz', 'blinded.json', 'unblinded.json', 'design.key'
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
