# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
