# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A folder that several test processes share, and that only one of them builds."""

from collections.abc import Callable
import fcntl
from pathlib import Path
import shutil

STAMP = 'complete.txt'


def built_once(folder: Path, wanted: str, build: Callable[[Path], None]) -> None:
    """
    Build a folder unless it is there already; who comes while it is built waits for it.

    The stamp is written last. A build that was killed, or that was made for something else, has no
    stamp or another one, and is removed and built again. The lock goes with its process, however
    that ends.

    :param wanted: all that the content depends on; another text means another build
    :param build: fills the folder, which does not exist when it is called; what it raises is
        raised, and leaves the folder without a stamp
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    stamp = folder / STAMP
    with folder.with_name(f'{folder.name}.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_text(encoding='utf-8') != wanted:
            shutil.rmtree(folder, ignore_errors=True)
            build(folder)
            stamp.write_text(wanted, encoding='utf-8')
