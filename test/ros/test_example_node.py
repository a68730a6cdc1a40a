# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The node of ``examples/controller_node`` passes its own test; one that stops late does not."""

import os
from pathlib import Path
import subprocess
import sys

import pytest
from ros.campaigns import brief, environment

pytestmark = [pytest.mark.dds, pytest.mark.slow]
EXAMPLE = Path(__file__).parents[2] / 'examples' / 'controller_node'
NAMED = "'SCN-R-101', 'SCN-R-D-101'"


def own_test(folder: Path, domain: int, stop_m: str) -> subprocess.CompletedProcess[str]:
    """Run the test of the example, with scenarios that take seconds, and with a parameter."""
    text = (EXAMPLE / 'test' / 'test_reaction.py').read_text(encoding='utf-8')
    assert text.count(NAMED) == text.count('main()') == 1
    ids = [name.strip("'") for name in NAMED.split(', ')]
    short = ', '.join(map(repr, brief(folder / 'scenarios', *ids)))
    test = folder / 'test_reaction.py'
    test.write_text(text.replace(NAMED, short).replace("main()'", (
        f"main()', '--ros-args', '-p', 'stop_m:={stop_m}'")), encoding='utf-8')
    path = os.pathsep.join(filter(None, [str(EXAMPLE), os.environ.get('PYTHONPATH')]))
    return subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-c', os.devnull,
         '--rootdir', folder, test], cwd=folder, capture_output=True, text=True, timeout=300,
        env=environment(domain) | {'PYTHONPATH': path}, check=False)


def test_the_node_passes_its_own_test(tmp_path, domain):
    done = own_test(tmp_path, domain, '2.5')
    assert done.returncode == 0 and '1 passed' in done.stdout, done.stdout + done.stderr


@pytest.mark.thorough
def test_a_node_that_stops_too_late_fails_it(tmp_path, domain):
    done = own_test(tmp_path, domain, '0.5')
    assert done.returncode == 1 and 'SCN-R-101' in done.stdout, done.stdout + done.stderr
    assert 'reaction within the budget' in done.stdout, done.stdout
