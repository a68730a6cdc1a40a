# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Taking the arguments of this process out of sight, as any process can read ``/proc``."""

import ctypes
from pathlib import Path
import sys

_START, _END = 45, 46
"""Of the fields of /proc/self/stat after the name in parentheses: where the arguments are."""
_LONGEST = 1 << 21
"""Bytes; the kernel takes no longer command line."""


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
