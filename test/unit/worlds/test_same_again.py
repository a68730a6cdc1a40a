# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The same seed gives the same bytes: twice, in another process, whatever Python's hash seed."""

import hashlib
import os
from pathlib import Path
import subprocess
import sys

import pytest
from unit.worlds.driven import PERSON_STEPS_NEAR
from unzipped import read_text

TRIALS = 3
RUN = ('import sys; from safety_scenarios.cli.main import main; sys.exit(main())')


def records(folder: Path, hash_seed: str) -> dict[str, str]:
    """Run a campaign in a process of its own; return the hash of each record of it."""
    done = subprocess.run(
        [sys.executable, '-c', RUN, 'run', str(PERSON_STEPS_NEAR), '--link', 'simulated',
         '--trials', str(TRIALS), '--seed', '7', '--output', str(folder)],
        env={**os.environ, 'PYTHONHASHSEED': hash_seed,
             'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name: hashlib.sha256(read_text(path).encode()).hexdigest()
            for path in sorted((folder / 'traces').rglob('*.events.jsonl.gz'))}


@pytest.mark.slow
@pytest.mark.thorough
def test_the_same_seed_gives_the_same_bytes(tmp_path):
    first = records(tmp_path / 'a', '0')
    assert len(first) == TRIALS == len(set(first.values()))
    assert records(tmp_path / 'b', '12345') == first
