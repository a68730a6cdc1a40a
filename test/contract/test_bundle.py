# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is bundled, how it comes onto the path, and the error where it is missing."""

import hashlib
import importlib.util
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
import zipfile

from cases import for_each
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
import pytest
from safety_scenarios import dependencies as needs
from safety_scenarios.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / 'resource' / 'bundle' / 'requirements.txt'
PYTHONS = ('3.10', '3.11', '3.12', '3.13', '3.14')
EVERY = (needs.PYDANTIC, needs.TYPING, needs.RE2)


def by_path(path):
    spec = importlib.util.spec_from_file_location('by_path', ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FILL = by_path('resource/bundle/fill.py')


def listed(python: str) -> dict[str, tuple[Requirement, int]]:
    found: dict[str, tuple[Requirement, int]] = {}
    current = ''
    for block in FILL.listed([need.name for need in EVERY] + [
            name for need in EVERY for name in need.brings]).replace(' \\\n', '\n').split('\n'):
        if block.startswith(' '):
            assert block.startswith('    --hash=sha256:') and len(block) == 18 + 64
            if current:
                found[current] = (found[current][0], found[current][1] + 1)
        elif block:
            one = Requirement(block)
            applies = one.marker is None or one.marker.evaluate({'python_version': python})
            current = canonicalize_name(one.name) if applies else ''
            if current:
                assert current not in found
                found[current] = (one, 0)
    return found


@for_each('python', PYTHONS)
def test_each_python_has_exactly_one_version_of_all_that_may_be_missing(python):
    found = listed(python)
    wanted = {need.name for need in EVERY} | {'pydantic-core', 'annotated-types'}
    assert wanted <= set(found) <= wanted | {'typing-inspection'}
    for name, compiled in (('pydantic-core', True), ('google-re2', True), ('pydantic', False)):
        one, hashes = found[name]
        [specifier] = one.specifier
        assert specifier.operator == '=='
        # two machines for each Python that the line is for; one wheel where nothing is compiled
        pythons = [each for each in PYTHONS
                   if one.marker is None or one.marker.evaluate({'python_version': each})]
        assert hashes == (2 * len(pythons) if compiled else 1)


@for_each('python', PYTHONS)
def test_what_is_bundled_is_what_the_package_asks_for(python):
    asked = {canonicalize_name(one.name): one for one in map(Requirement, map(str, EVERY[::2]))}
    for name, one in asked.items():
        [specifier] = listed(python)[name][0].specifier
        assert one.specifier.contains(specifier.version)


def test_the_list_is_read_whole_so_that_nothing_in_it_is_of_no_use():
    names = [name for need in EVERY for name in (need.name, *need.brings)]
    text = LIST.read_text(encoding='utf-8')
    kept = ''.join(line for line in text.splitlines(keepends=True) if not line.startswith('#'))
    assert FILL.listed(names) == kept


def wheel(folder: Path, name: str, version: str) -> Path:
    """Write a wheel of one module, which tells its version."""
    folder.mkdir(parents=True, exist_ok=True)
    module = name.replace('-', '_')
    path = folder / f'{module}-{version}-py3-none-any.whl'
    info = f'{module}-{version}.dist-info'
    with zipfile.ZipFile(path, 'w') as file:
        file.writestr(f'{module}.py', f'__version__ = VERSION = {version!r}\n')
        file.writestr(f'{info}/METADATA',
                      f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n')
        file.writestr(f'{info}/WHEEL',
                      'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        file.writestr(f'{info}/RECORD', '')
    return path


@pytest.fixture
def farm(tmp_path, monkeypatch):
    """Serve one wheel from a folder and no network, and list its hash."""
    path = wheel(tmp_path / 'wheels', 'google-re2', '1.1')
    line = f'google-re2==1.1 \\\n    --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}'
    (tmp_path / 'list.txt').write_text(f'# a comment\n{line}\n')
    monkeypatch.setattr(FILL, 'LIST', tmp_path / 'list.txt')
    monkeypatch.setenv('PIP_NO_INDEX', '1')
    monkeypatch.setenv('PIP_FIND_LINKS', str(path.parent))
    monkeypatch.setenv('PIP_CONSTRAINT', str(tmp_path / 'of another install.txt'))
    return path


def test_a_farm_without_a_network_serves_the_wheels_and_licences_are_kept(farm, tmp_path):
    folder = tmp_path / 'bundle'
    assert FILL.fill(folder, [needs.RE2]) == {}
    target = folder / 'google-re2'
    assert (target / 'google_re2.py').is_file()
    assert (target / 'google_re2-1.1.dist-info' / 'METADATA').is_file()
    farm.unlink()  # what is there from the same list is not asked for again
    assert FILL.fill(folder, [needs.RE2]) == {}
    assert FILL.fill(folder, []) == {} and not folder.exists()


def test_a_wheel_of_another_hash_is_not_bundled_and_leaves_nothing(farm, tmp_path):
    farm.write_bytes(farm.read_bytes() + b'\0')
    [(need, why)] = FILL.fill(tmp_path / 'bundle', [needs.RE2]).items()
    assert need is needs.RE2 and 'ERROR' in why
    assert not (tmp_path / 'bundle').exists()


def installed(folder: Path, **versions: str) -> Path:
    """Return a copy of what matters of the package, beside modules of these versions."""
    package = folder / 'safety_scenarios'
    (package / 'scenario').mkdir(parents=True)
    for name in ('__init__.py', 'dependencies.py', 'errors.py', 'pytest_plugin.py', 'registry.py',
                 'scenario/noun.py'):
        (package / name).write_text((ROOT / 'safety_scenarios' / name).read_text('utf-8'))
    (package / 'scenario' / '__init__.py').write_text('')
    for name, version in versions.items():
        with zipfile.ZipFile(wheel(folder / 'wheels', name.replace('_', '-'), version)) as file:
            file.extractall(folder)
    return folder


def shown_by(folder: Path, code: str) -> str:
    """Run code where no other package is than those; return what it prints, or its last line."""
    done = subprocess.run([sys.executable, '-I', '-S', '-c',
                           f'import sys; sys.path.insert(0, {str(folder)!r})\n{code}'], text=True,
                          capture_output=True, check=False, timeout=60)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


OLD = {'pydantic': '1.10.14', 'typing_extensions': '4.10.0'}


@pytest.mark.parametrize('code', [
    'import safety_scenarios; safety_scenarios.run', 'import safety_scenarios.scenario.noun'])
@pytest.mark.parametrize(('versions', 'got'), [
    (OLD, '1.10.14 of pydantic'), ({}, 'none of pydantic, none of typing-extensions')])
def test_a_version_that_is_too_old_or_missing_says_how_to_fix_it(tmp_path, code, versions, got):
    shown = shown_by(installed(tmp_path, **versions), code)
    assert f'MissingDependencyError: safety_scenarios needs pydantic>=2.6, got {got}. ' in shown
    assert 'Source the setup file of the workspace' in shown and needs.BUILD in shown
    assert shown.endswith("in a virtual environment: pip install 'pydantic>=2.6'")


def test_who_only_loads_our_pytest_plug_in_needs_nothing(tmp_path):
    code = f'sys.path.append({str(Path(pytest.__file__).parents[1])!r})\n' \
        'import safety_scenarios.pytest_plugin, pydantic\nprint(pydantic.VERSION)'
    assert shown_by(installed(tmp_path, **OLD), code) == '1.10.14'


def test_it_is_an_error_that_the_user_can_fix():
    from safety_scenarios.errors import MissingDependencyError
    assert issubclass(MissingDependencyError, InputError)


@pytest.mark.parametrize('path', ['resource/package.dsv', 'resource/environment/bundle.dsv'])
def test_the_hooks_put_each_folder_of_the_bundle_on_the_path(path):
    """Colcon reads the one that ``colcon.pkg`` names, and a prefix of ament ``package.dsv``."""
    lines = {line.split(';') == ['prepend-non-duplicate-if-exists', 'PYTHONPATH',
                                 f'{needs.FOLDER}/{need.name}']
             for line, need in zip((ROOT / path).read_text('utf-8').splitlines(),
                                   (needs.RE2, needs.TYPING, needs.PYDANTIC), strict=True)}
    assert lines == {True}
    [hook] = json.loads((ROOT / 'colcon.pkg').read_text('utf-8'))['hooks']
    assert hook == 'share/safety_scenarios/environment/bundle.dsv'


@pytest.mark.slow
def test_a_package_of_debian_without_its_bundle_is_not_built(tmp_path):
    """Who installs it would see no warning. A pydantic that is too old hides the one there is."""
    (tmp_path / 'pydantic-1.10.14.dist-info').mkdir()
    (tmp_path / 'pydantic-1.10.14.dist-info' / 'METADATA').write_text(
        'Metadata-Version: 2.1\nName: pydantic\nVersion: 1.10.14\n')
    source = tmp_path / 'source'
    shutil.copytree(ROOT, source, ignore=lambda folder, names: [
        name for name in names if folder == str(ROOT) and name not in (
            'setup.py', 'package.xml', 'README.md', 'resource', 'safety_scenarios', 'setup.cfg')])
    done = subprocess.run(
        [sys.executable, 'setup.py', 'install_data', '--root', str(tmp_path / 'root'),
         '--install-dir', str(tmp_path / 'root')],  # which alone does not follow from the other
        cwd=source, text=True, capture_output=True, check=False, timeout=120,
        env={**os.environ, 'PYTHONPATH': str(tmp_path), 'PIP_NO_INDEX': '1',
             'PIP_FIND_LINKS': str(tmp_path)})
    assert done.returncode == 1
    assert 'safety_scenarios: error: ' in done.stderr and 'could not be bundled' in done.stderr
