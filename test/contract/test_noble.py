# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The package builds and runs with the Python packages of Ubuntu 24.04, after rosdep alone."""

import hashlib
import json
import os
from pathlib import Path
import shutil
import subprocess

from contract.environments import noble_python, without_inherited
from contract.test_packaging import ROOT, source  # noqa: F401
from once import built_once, STAMP
import pytest
from ros.campaigns import brief, trials_in, unmeasured

pytestmark = [pytest.mark.environment, pytest.mark.thorough]
WORKSPACE = ROOT / 'build' / 'noble-workspace'
"""Shared by the tests that are alone and those beside them: building it takes a minute."""
SHIPPED = len(list((ROOT / 'config/scenarios/robotic').glob('*.yaml')))


@pytest.fixture(scope='module')
def python() -> Path:
    """Build the environment once, in build/, and give its interpreter."""
    return noble_python()


@pytest.fixture(scope='module')
def run(python, source):  # noqa: F811
    """Build with colcon, and give what runs a shell command where the result is sourced."""
    hidden = ('AMENT_PREFIX_PATH', 'COLCON_PREFIX_PATH', 'ROS_DOMAIN_ID')
    variables = {key: value for key, value in without_inherited().items()
                 if key not in hidden} | {
        'PATH': f'{python.parent}:/usr/bin:/bin', 'COLCON_HOME': str(WORKSPACE / 'colcon'),
        'COLCON_DEFAULTS_FILE': os.devnull, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}

    def run(command: str, expected: int = 0, **more: str) -> str:
        done = subprocess.run(['/bin/sh', '-c', command], cwd=WORKSPACE, env=variables | more,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=600, check=False)
        assert done.returncode == expected, done.stdout
        return done.stdout

    def build(folder: Path) -> None:
        shutil.copytree(source, folder / 'src' / source.name, symlinks=True)
        run('colcon --log-base log build --event-handlers console_direct+')

    if (WORKSPACE / 'away').exists():  # a test was killed before it put this back
        (WORKSPACE / STAMP).unlink(missing_ok=True)
    built_once(WORKSPACE, f'{python} {digest(source)}', build)
    return lambda command, **more: run(f'. install/setup.sh && {command}', **more)


def digest(folder: Path) -> str:
    """Return one hash of the names and contents of all files in a folder."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob('*') if path.is_file()):
        content = path.read_bytes()
        found.update(f'{path.relative_to(folder)} {len(content)} '.encode() + content)
    return found.hexdigest()


@pytest.mark.slow
def test_it_builds_and_runs_with_what_ubuntu_24_04_ships(run, tmp_path):
    """The command is found, and the setup file puts what was bundled on the path."""
    found = run('command -v safety-scenarios').strip()
    assert found.endswith('/install/safety_scenarios/bin/safety-scenarios')
    assert run('python -c "import pydantic; print(pydantic.__file__)"').strip() == str(
        WORKSPACE / 'install/safety_scenarios/lib/safety_scenarios.bundle/pydantic/pydantic'
        / '__init__.py')
    summary = json.loads(run(
        f'safety-scenarios run robotic --link loopback --words patterns '
        f'--output {tmp_path}/loopback > /dev/null; '
        f'cat {tmp_path}/loopback/campaign.json'))
    assert summary['verdicts'] == {'PASS': SHIPPED} and summary['completed'] == SHIPPED
    versions = json.loads((tmp_path / 'loopback/settings.json').read_text('utf-8'))['versions']
    assert versions['numpy'] == '1.26.4' and versions['google-re2']
    assert versions['pydantic'].split('.')[0] == '2'


@pytest.mark.slow
@pytest.mark.dds
def test_it_measures_over_dds_with_what_ubuntu_24_04_ships(run, tmp_path):
    files = ' '.join(brief(tmp_path / 'scenarios', 'SCN-R-101', 'SCN-R-103'))
    for attempt in range(3):  # a machine that stalls is told by the product, and is no fault of it
        shown = run(f'safety-scenarios run {files} --calibration off --output '
                    f'{tmp_path}/{attempt} 2>&1 || true')
        if not any(map(unmeasured, trials_in(tmp_path / str(attempt)))):
            break
    assert '2 of 2 trials: 2 PASS' in shown


def test_without_the_bundle_one_sentence_says_what_is_missing_and_how_to_fix_it(run):
    folder = 'install/safety_scenarios/lib/safety_scenarios.bundle'
    run(f'mv {folder} away')
    try:
        shown = run('safety-scenarios scenario list; test $? -eq 2')
    finally:
        run(f'mv away {folder}')
    assert shown.startswith(
        'error: safety_scenarios needs pydantic>=2.6, got 1.10.14 of pydantic.')
    assert 'colcon build' in shown and 'virtual environment' in shown
    assert 'Traceback' not in shown and shown.count('\n') == 1
