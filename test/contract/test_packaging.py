# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What users install: by pip, by pip in place, and by colcon."""

import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import venv
from xml.etree import ElementTree
import zipfile

from examples import FEW
import pytest

pytestmark = pytest.mark.environment
ROOT = Path(__file__).resolve().parents[2]
SOME, FLOOR = (('stimuli', 'judging/motion'), 100) if FEW else (
    ('scenario', 'stimuli', 'judging/drivers', 'judging/motion'), 300)
"""What colcon test is given to run here, and at least how many tests these are: a table is one."""
FILES = [path for path in (ROOT / 'config' / 'scenarios').rglob('*.yaml')
         if not path.name.endswith('.bindings.yaml')]
SHIPPED, FOLDERS = str(len(FILES)), sorted({path.parent.name for path in FILES})


@pytest.fixture(scope='module')
def source(tmp_path_factory) -> Path:
    """Copy the files of the repository, without what building leaves behind."""
    target = tmp_path_factory.mktemp('ws') / 'src' / 'safety_scenarios'
    leave = shutil.ignore_patterns('.git', '.venv', 'build', 'install', 'log', 'runs',
                                   '*.egg-info', '__pycache__', '.*_cache', '.hypothesis')
    shutil.copytree(ROOT, target, ignore=leave, symlinks=True)
    return target


def call(*command, **options):
    """Run a command and return what it printed; a failure shows it."""
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, timeout=600, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


def without_ament() -> dict[str, str]:
    """Return the environment without any other install, with the tested setuptools."""
    hidden = ('AMENT_PREFIX_PATH', 'PYTHONPATH', 'COLCON_PREFIX_PATH')
    pins = (ROOT / 'test' / 'constraints.txt').as_uri()
    return {key: value for key, value in os.environ.items() if key not in hidden} | {
        'PIP_CONSTRAINT': pins, 'PIP_BUILD_CONSTRAINT': pins}


def outside(python, folder, **variables):
    """Ask an installed package, from another folder, where it finds itself."""
    code = ('from safety_scenarios.formats.loading import share_folder, load_scenarios\n'
            f'found = load_scenarios({FOLDERS}).scenarios\n'
            'print(share_folder(), len(found))')
    return call(python, '-c', code, cwd=folder, env=without_ament() | variables).split()


@pytest.fixture(scope='module')
def wheel(source, tmp_path_factory) -> Path:
    """Build what is uploaded and installed, once."""
    folder = tmp_path_factory.mktemp('wheel')
    call(sys.executable, '-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check',
         '--no-deps', '--wheel-dir', folder, source, env=without_ament())
    [found] = folder.glob('*.whl')
    return found


@pytest.mark.parametrize('how', [
    'wheel', pytest.param('editable', marks=pytest.mark.thorough)])
@pytest.mark.thorough
def test_pip_installs_share_index_and_ros2_run_files(source, wheel, tmp_path, how):
    folder = tmp_path / 'venv'
    venv.create(folder)
    site = next((folder / 'lib').glob('python*/site-packages'))
    ours = next(Path(path) for path in sys.path if path.endswith('site-packages'))
    (site / 'ours.pth').write_text(f'{ours}\n')
    what = [wheel] if how == 'wheel' else ['--editable', source]
    call(sys.executable, '-m', 'pip', '--python', folder / 'bin' / 'python', 'install', '--quiet',
         '--disable-pip-version-check', '--no-deps', '--force-reinstall', *what,
         env=without_ament())
    assert (folder / 'share/ament_index/resource_index/packages/safety_scenarios').is_file()
    assert (folder / 'share/safety_scenarios/launch/eval.launch.py').is_file()
    for name in ('evaluator_node', 'controller_node', 'relay_node',
                 'monitor_node', 'joint_drive_node', 'policy_node', 'simulator_node'):
        assert os.access(folder / 'lib' / 'safety_scenarios' / name, os.X_OK)
        assert os.access(folder / 'bin' / name, os.X_OK)
    share, count = outside(folder / 'bin' / 'python', tmp_path)
    assert count == SHIPPED
    assert share == str(source if how == 'editable' else folder / 'share/safety_scenarios')
    version = ElementTree.parse(source / 'package.xml').findtext('version')
    shown = call(folder / 'bin' / 'safety-scenarios', '--version', env=without_ament())
    assert version in shown


@pytest.mark.thorough
def test_the_wheel_holds_the_package_and_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {'safety_scenarios/ros/nodes/evaluator_node.py',
            'safety_scenarios/py.typed'} <= set(names)
    [entries] = [name for name in names if name.endswith('.dist-info/entry_points.txt')]
    assert '[pytest11]\nsafety_scenarios = safety_scenarios.pytest_plugin' in zipfile.ZipFile(
        wheel).read(entries).decode()
    assert not [name for name in names if 'test' in Path(name).parts or name.endswith('.pyc')]


@pytest.mark.slow
def test_colcon_builds_installs_and_tests_the_package(source):
    workspace = source.parents[1]
    colcon = Path(sys.executable).with_name('colcon')
    environment = without_ament() | {'COLCON_DEFAULTS_FILE': os.devnull,
                                     'COLCON_HOME': str(workspace / 'colcon')}
    call(colcon, '--log-base', 'log', 'build', '--event-handlers', 'console_direct+',
         cwd=workspace, env=environment)
    assert [path.name for path in (workspace / 'install').iterdir() if path.is_dir()] == [
        'safety_scenarios'], 'examples are built where they are copied to'
    prefix = workspace / 'install' / 'safety_scenarios'
    assert (prefix / 'share/ament_index/resource_index/packages/safety_scenarios').is_file()
    for name in ('evaluator_node', 'controller_node', 'relay_node',
                 'monitor_node', 'joint_drive_node', 'policy_node', 'simulator_node',
                 'safety-scenarios'):
        assert os.access(prefix / 'lib' / 'safety_scenarios' / name, os.X_OK)
    assert os.access(prefix / 'bin' / 'safety-scenarios', os.X_OK)
    site = next((prefix / 'lib').glob('python*/site-packages'))
    assert not (prefix / 'lib' / 'safety_scenarios.bundle').exists(), 'nothing is missing here'
    assert (prefix / 'share/safety_scenarios/environment/bundle.dsv').is_file()
    share, count = outside(sys.executable, workspace, AMENT_PREFIX_PATH=str(prefix),
                           PYTHONPATH=str(site))
    assert (share, count) == (str(prefix / 'share/safety_scenarios'), SHIPPED)
    call(colcon, '--log-base', 'log', 'test', '--event-handlers', 'console_direct+',
         '--return-code-on-test-failure', '--pytest-args',
         '-m', 'not dds and not slow and not linter',
         *(f'test/unit/{folder}' for folder in SOME), cwd=workspace, env=environment)
    counted = call(colcon, 'test-result', '--all', cwd=workspace, env=environment)
    found = re.search(r'Summary: (\d+) tests, 0 errors, 0 failures, (\d+) skipped', counted)
    assert found, counted
    assert int(found[1]) - int(found[2]) >= FLOOR
