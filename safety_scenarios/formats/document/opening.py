# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A file's bytes: never more than can be read as a scenario, and never from a pipe that waits."""

import os
from pathlib import Path
import stat

from safety_scenarios.errors import Problem, UnreadableError
from safety_scenarios.formats.document import foreign, json_document, positions

_KINDS = {stat.S_IFDIR: 'a folder', stat.S_IFIFO: 'a pipe', stat.S_IFSOCK: 'a socket',
          stat.S_IFCHR: 'a device', stat.S_IFBLK: 'a device'}


def raw_of(path: str) -> bytes | Problem:
    """
    Return the bytes of a file that may be a scenario; else the problem, and what it is instead.

    The size is known before a byte is read, so a recording of many gigabytes costs no memory.
    """
    most = json_document.MAX_BYTES \
        if path.lower().endswith(('.json', '.jsonl')) else positions.MAX_BYTES
    try:
        # Without the flag it would wait for somebody to write into a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, 'rb') as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return _irregular(path, status.st_mode)
            raw = file.read(most + 1)
    except OSError as error:
        return unreadable(path, error)
    told = foreign.by_beginning(path, raw)
    if told is not None:
        return Problem(path, None, None, '', told)
    if len(raw) <= most:
        return raw
    return Problem(path, 1, 1, '', f'got {max(status.st_size, len(raw))} bytes, expected at most '
                                   f'{most}. Make the file smaller')


def unreadable(path: str, error: OSError) -> Problem:
    """Return what to say of a file or folder that cannot be opened, and of a link to nothing."""
    if not os.path.islink(path):
        return Problem(path, None, None, '', f'cannot be read: {error.strerror}')
    try:
        target = os.readlink(path)
    except OSError:
        target = 'nobody knows what'
    return Problem(path, None, None, '', f'cannot be read: {error.strerror}. It is a link to '
                                         f'{target}: mend or remove it')


def _irregular(path: str, mode: int) -> Problem:
    kind = _KINDS.get(stat.S_IFMT(mode), 'no regular file')
    return Problem(path, None, None, '', f'cannot be read: it is {kind}, expected a regular file. '
                                         f'Save the scenario to a file')


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
