# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What one step of a process costs; nothing but the standard library, for any interpreter."""

from collections.abc import Callable
import gc
from pathlib import Path
import time
from typing import TypeVar

Result = TypeVar('Result')


def measured(step: Callable[[], Result]) -> tuple[Result, float, int]:
    """Return the result, its processor time (s), and by how much it raised the peak (bytes)."""
    gc.collect()
    Path('/proc/self/clear_refs').write_text('5', encoding='ascii')  # the peak begins again here
    before, begin_s = _peak(), time.process_time()
    result = step()
    return result, time.process_time() - begin_s, _peak() - before


def _peak() -> int:
    status = Path('/proc/self/status').read_text(encoding='ascii')
    return int(status.partition('VmHWM:')[2].split()[0]) * 1024
