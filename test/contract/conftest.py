# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE itself, for the tests that ask it."""

from pathlib import Path
import sys

from contract import are_environment
import pytest


@pytest.fixture(scope='session')
def are_python() -> Path:
    """Build ARE's environment once, in build/, and give its interpreter."""
    python = are_environment.are_python()
    assert python != Path(sys.executable)
    return python
