# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Standard streams that may be lost, as behind ``| head``, and lines for a terminal."""

import errno
import io
import os
import sys
from typing import Any

import click
from safety_scenarios.errors import escaped_controls


class _Lasting(io.FileIO):
    """
    Writes to a descriptor, and to the null device from the first write that fails.

    :param lost: why nothing has arrived from the beginning
    """

    def __init__(self, descriptor: int, lost: OSError | None) -> None:
        super().__init__(descriptor, 'w', closefd=False)
        self.lost = lost

    def write(self, data: Any, /) -> int:
        """Write bytes; child processes lose the stream together with this one."""
        try:
            return super().write(data)
        except OSError as error:
            self.lost = error
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            return memoryview(data).nbytes


def make_streams_last() -> None:
    """
    Let standard output and standard error take whatever is written, also after they are lost.

    A descriptor that was closed is opened first: the next file would get its number, and
    whatever is printed. Streams that somebody has replaced, such as pytest, remain.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # the lowest free number is the one that is given
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    for name in ('stdout', 'stderr'):
        old, first = getattr(sys, name), getattr(sys, f'__{name}__')
        if old is not first:
            continue
        lost = OSError(errno.EBADF, os.strerror(errno.EBADF)) if old is None else None
        raw = _Lasting(('stdout', 'stderr').index(name) + 1, lost)
        setattr(sys, name, io.TextIOWrapper(
            io.BufferedWriter(raw), encoding='utf-8' if old is None else old.encoding,
            errors='strict' if old is None else old.errors,
            line_buffering=old is not None and old.line_buffering,
            write_through=name == 'stderr' or (old is not None and old.write_through)))


def lost_output() -> OSError | None:
    """Return why not all that was printed on standard output has arrived, None if it has."""
    raw = getattr(getattr(sys.stdout, 'buffer', None), 'raw', None)
    if not isinstance(raw, _Lasting):
        return None
    sys.stdout.flush()
    return raw.lost


def echo(text: str, *, err: bool = False) -> None:
    """Print a text with a line break, and with escapes for what is not seen in it."""
    click.echo(escaped_controls(text), err=err)
