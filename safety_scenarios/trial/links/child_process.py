# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What every process needs that is started here: where it prints, and how its end is noticed."""

import os
import subprocess

_STDERR = 2


def error_output() -> int:
    """
    Return the standard error, as the standard output of a new process.

    What a controller prints is a remark: standard output holds what was asked for, such as JSON.
    """
    try:
        os.fstat(_STDERR)
    except OSError:  # it was closed
        return subprocess.DEVNULL
    return _STDERR


def end_of(pid: int) -> int:
    """
    Return a descriptor that can be read as soon as a child has ended; -1: this kernel has none.

    The child's socket does not show that: a process that the child has started may hold it.
    """
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1
