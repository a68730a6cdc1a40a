# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``ros2 scenarios`` is the command line of this package, with its exit codes."""

from pathlib import Path
import subprocess
import sys

import pytest

pytest.importorskip('ros2cli', reason='ros2cli is not installed')
ROOT = Path(__file__).parents[2]
POINTS = '[ros2cli.command]\nscenarios = safety_scenarios.ros.scenarios_command:ScenariosCommand\n'


@pytest.fixture
def ros2(tmp_path):
    """Return what runs ros2 with the entry point that an installed package has."""
    info = tmp_path / 'ours-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(POINTS)
    code = (f'import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]\n'
            'from ros2cli.cli import main; sys.exit(main(argv=sys.argv[1:]))')

    def run(*arguments):
        return subprocess.run([sys.executable, '-c', code, *arguments], capture_output=True,
                              text=True, timeout=120, check=False, cwd=tmp_path)
    return run


def test_setup_names_the_command_that_is_tried_here():
    assert "'ros2cli.command': [f'scenarios = {NAME}.ros.scenarios_command:ScenariosCommand']" \
        in (ROOT / 'setup.py').read_text(encoding='utf-8')


@pytest.mark.parametrize(('arguments', 'code', 'text'), [
    (('help',), 0, 'Usage: safety-scenarios'),
    (('--version',), 0, 'safety-scenarios, version '),
    (('scenario', 'list', '--tag', 'bedside'), 0, 'SCN-C-'),
    (('run', 'SCN-R-101', '--link', 'loopback', '--controller', 'never_stop'), 1, 'FAIL'),
    (('run', 'no_such_scenario'), 2, 'no_such_scenario')])
def test_it_does_what_the_program_does(ros2, arguments, code, text):
    done = ros2('scenarios', *arguments)
    assert done.returncode == code and text in done.stdout + done.stderr
