# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Every file has a copyright notice and a licence, as the REUSE specification has it."""

from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.linter
def test_every_file_has_a_copyright_notice_and_a_licence():
    done = subprocess.run([sys.executable, '-m', 'reuse', 'lint'], cwd=ROOT, text=True,
                          capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
