# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The run log of hardware in the loop: what was armed, confirmed, lost and withdrawn, and when."""

import json
from pathlib import Path
import threading
import time
from typing import Any, TextIO

NAME = 'hil.jsonl'


class RunLog:
    """
    Writes one line for each thing that happens, whole and at once, from any thread.

    The file is made with its first line: a campaign's folder has to be empty until it begins.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._file: TextIO | None = None
        self._lock = threading.Lock()

    def __call__(self, what: str, **fields: Any) -> None:
        """Write what has happened just now, on the steady and on the system clock."""
        line = {'what': what, 'steady_ns': time.monotonic_ns(), 'system_ns': time.time_ns(),
                **fields}
        with self._lock:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self.path.open('a', encoding='utf-8')
            self._file.write(json.dumps(line, ensure_ascii=False) + '\n')
            self._file.flush()

    def close(self) -> None:
        """Close the file; a later line opens it again."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None
