# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A small suite over loopback, run once for all tests of a process."""

from contextlib import contextmanager
from pathlib import Path
import shutil

from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.suites.run import Arm, run_suite
from safety_scenarios.suites.suite import freeze_suite

TEXT = """name: small
trials: 1
robots: [mobile_base, arm]
set: {link: loopback, words: patterns, gate: critical}
harder: {near: least, far: least}
"""
IDS = 'SCN-R-101', 'SCN-R-D-101'


def small_suite(folder: Path, ids=IDS, text=TEXT):
    """Write and freeze a suite, and return it."""
    path = folder / 'small.yaml'
    path.write_text(text)
    return freeze_suite(path, ids)


@contextmanager
def nobody(settings):
    """Observe no campaign."""
    yield ()


def arms(*controllers):
    """Return arms by the names of built-in controllers."""
    return [Arm(name.rpartition(':')[2], RunSettings(
        link='loopback', words='patterns', controller=name, calibration='off', outputs=(),
        isolate=False)) for name in controllers]


def run_small(folder: Path, *controllers, suite=None, ids=IDS, **more):
    """Run a small suite into a folder, and return that."""
    folder.mkdir(parents=True, exist_ok=True)
    suite = suite or small_suite(folder.parent, ids)
    run_suite(suite, arms(*controllers), folder, nobody, **more)
    return folder


def copied(folder: Path, to: Path) -> Path:
    """Return a copy that a test may change."""
    return Path(shutil.copytree(folder, to / 'copy'))
