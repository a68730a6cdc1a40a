# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE itself, for the tests that ask it, and a place where pages are tried."""

import os
from pathlib import Path
import sys

from contract import environments
from pages import ROOT
import pytest


@pytest.fixture(scope='session')
def are_python() -> Path:
    """Build ARE's environment once, in build/, and give its interpreter."""
    python = environments.are_python()
    assert python != Path(sys.executable)
    return python


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """Stand in an empty folder, in which commands of the shell are those of this package."""
    folder, programs = tmp_path / 'page', tmp_path / 'bin'
    folder.mkdir()
    programs.mkdir()
    for name, code in (('safety-scenarios', ''), ('python3', ''),
                       ('python', ''), ('pytest', '-m pytest')):
        target = programs / name
        code = '-c "import sys; from safety_scenarios.cli.main import main; sys.exit(main())"' \
            if name == 'safety-scenarios' else code
        target.write_text(f'#!/bin/sh\nexec {sys.executable} {code} "$@"\n')
        target.chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setenv('PATH', f'{programs}:{os.environ["PATH"]}')
    monkeypatch.setenv('PYTHONPATH', f'{ROOT}:{os.environ.get("PYTHONPATH", "")}')
    monkeypatch.setattr(sys, 'path', [str(folder), *sys.path])
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in (getattr(sys.modules[name], '__file__', None) or ''):
            del sys.modules[name]
