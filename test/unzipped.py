# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Journals and traces as text, as somebody reads or changes them with other programs."""

from collections.abc import Iterator
import gzip
import json
from pathlib import Path
from typing import Any
import zlib

from safety_scenarios.trial.lines import Chain


def read_text(path: Path) -> str:
    """Return the text of a file that ends in .gz, also of one that a crash cut."""
    return zlib.decompressobj(31).decompress(path.read_bytes()).decode()


def content(path: Path) -> bytes:
    """Return what a file holds, however it was packed."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == '.gz' else data


def write_text(path: Path, text: str) -> None:
    """Write a file that ends in .gz."""
    path.write_bytes(gzip.compress(text.encode()))


def events_in(journal: Path) -> Iterator[list[Any]]:
    """Yield each event of a journal with its times since the epoch of each clock (ns)."""
    before = [0] * 6
    for line in read_text(journal).splitlines()[1:]:
        event = json.loads(line)
        if not isinstance(event, list):
            return
        times = [None if after is None else old + after
                 for old, after in zip(before, event[2], strict=True)]
        before = [old if new is None else new for old, new in zip(before, times, strict=True)]
        yield [*event[:2], times, *event[3:]]


def chain_anew(path: Path) -> None:
    """Write a chain of hashes that fits the lines of a journal: anybody can."""
    chain = Chain()
    *lines, last = read_text(path).encode().splitlines(keepends=True)
    for line in lines:
        chain.add(line)
    bare = last.rpartition(b',"chain":')[0] + b'}\n'
    write_text(path, (b''.join(lines) + chain.end(bare)[0]).decode())
