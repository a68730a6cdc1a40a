# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Taking the arguments of this process out of sight, as any process can read ``/proc``."""

from collections.abc import Sequence
import ctypes
from itertools import pairwise
from pathlib import Path
import sys
from tempfile import gettempdir

_START, _END = 45, 46
"""Of the fields of /proc/self/stat after the name in parentheses: where the arguments are."""
_LAUNCH = 'launch_params_'
_LONGEST = 1 << 21
"""Bytes; the kernel takes no longer command line."""


def remove_launch_files(arguments: Sequence[str]) -> None:
    """
    Remove the files by which ``ros2 launch`` gives this node its parameters, once they are read.

    It writes them for this process alone, into the temporary folder, and never removes them.
    """
    for flag, value in pairwise(arguments):
        path = Path(value)
        if flag == '--params-file' and path.name.startswith(_LAUNCH) \
                and path.parent == Path(gettempdir()):
            path.unlink(missing_ok=True)


def hide_arguments(shown: str) -> bool:
    """
    Let ``/proc/PID/cmdline``, and with it ``ps``, show a name instead of the command line.

    It names scenarios and seed, and the controller under test is a process of the same user.
    Whoever started this process, such as a shell or a launch file, has its own.

    :param shown: what is shown instead, as far as there is room
    :return: whether that was possible: only Linux says where the arguments are
    """
    if not sys.platform.startswith('linux'):
        return False
    try:
        fields = Path('/proc/self/stat').read_text(encoding='utf-8', errors='replace')
        start, end = (int(fields.rpartition(')')[2].split()[one]) for one in (_START, _END))
    except (OSError, ValueError, IndexError):
        return False
    if not 0 < start < end < start + _LONGEST:  # 0 where the kernel hides addresses
        return False
    ctypes.memset(start, 0, end - start)
    text = shown.encode()[:end - start - 1]
    ctypes.memmove(start, text, len(text))
    return True
