# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Journals in the hands of somebody who changes them."""

from pathlib import Path

from safety_scenarios.trial.lines import Chain
from unzipped import read_text, write_text


def chain_anew(path: Path) -> None:
    """Write a chain of hashes that fits the lines of a journal: anybody can."""
    chain = Chain()
    *lines, last = read_text(path).encode().splitlines(keepends=True)
    for line in lines:
        chain.add(line)
    bare = last.rpartition(b',"chain":')[0] + b'}\n'
    write_text(path, (b''.join(lines) + chain.end(bare)[0]).decode())
