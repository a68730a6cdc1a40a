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

"""
Fast DDS's segments of shared memory: whose they are, and how nobody leaves one behind.

A participant owns a segment of its own and some ports, and maps the ports of those it sends to.
Whoever unmaps a port last removes it; one that was killed never does, so that the ports of all it
has sent to stay, too, though their owners end as they should. The names of some ports
(``fastrtps_port7005``) are those of the machine, whatever the domain.
"""

from collections.abc import Iterable
from contextlib import suppress
import fcntl
import os
from pathlib import Path

_FOLDER = '/dev/shm/'
_NAMES = ('fastrtps_', 'fastdds_')
_LOCK = '_el'
"""Behind the name of a segment: the file that its owner, and nobody else, holds open."""


def owned_segments(pid: int) -> set[str]:
    """Return the segments that a process keeps alive."""
    owned = set()
    with suppress(OSError):  # it has ended meanwhile, or is somebody else's
        for link in Path(f'/proc/{pid}/fd').iterdir():
            name = os.readlink(link).removeprefix(_FOLDER)
            if name.startswith(_NAMES) and name.endswith(_LOCK):
                owned.add(name.removesuffix(_LOCK))
    return owned


def abandoned(among: Iterable[str] | None = None, but: int = 0) -> set[str]:
    """
    Return the segments that are there, and that no living process owns or sends to.

    :param among: names; None: whatever is there
    :param but: a process that does not count
    """
    there = {_segment(name) for name in os.listdir(_FOLDER) if _segment(name).startswith(_NAMES)}
    found = there if among is None else there & set(among)
    if found:
        for entry in Path('/proc').iterdir():
            if entry.name.isdigit() and int(entry.name) != but:
                found -= owned_segments(int(entry.name)) | _mapped(int(entry.name))
    return found


def remove_segments(segments: Iterable[str]) -> None:
    """
    Remove segments, but for those that a living process owns or sends to.

    Only for when the evaluator has left DDS: before, it still sends through the ports of one that
    was killed, which a new controller then takes over.
    """
    for name in abandoned(segments):
        lock = Path(_FOLDER, name + _LOCK)
        with suppress(OSError), lock.open('ab') as held:  # somebody else's, or just taken over
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if name in abandoned({name}, but=os.getpid()):  # from here on nobody takes it over
                for file in (name, f'sem.{name}_mutex', lock.name):
                    Path(_FOLDER, file).unlink(missing_ok=True)


def _mapped(pid: int) -> set[str]:
    try:
        lines = Path(f'/proc/{pid}/maps').read_text(encoding='utf-8', errors='replace')
    except OSError:
        return set()
    return {_segment(line.partition(_FOLDER)[2]) for line in lines.splitlines()
            if _FOLDER in line and not line.endswith('(deleted)')}


def _segment(file: str) -> str:
    """Return the segment to which a file belongs."""
    return file.removeprefix('sem.').removesuffix('_mutex').removesuffix(_LOCK)
