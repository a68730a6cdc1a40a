# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A controller in the user's own code, named MODULE:NAME: found and made, or told why not."""

import json
import os
from pathlib import Path
import subprocess
import sys
from typing import Any

import pytest
from safety_scenarios import registry
from safety_scenarios.campaign.folder.provenance import Repositories
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError, UnknownPluginError
from safety_scenarios.trial.parameters import is_bundled, named_controller

SCENARIO = 'SCN-R-101'
POLICY = '''
from pathlib import Path
from typing import Optional
from safety_scenarios import Command, ControllerPlugin


class Policy:
    """Drives, and does not look."""

    def __init__(self, checkpoint: Path, gain: float = 0.5, device=object(),
                 model_path: Optional[str] = None, **more):
        self.gain = gain if Path(checkpoint).name == 'best.pt' else 0.0

    def decide(self, observation):
        return Command(velocity=(self.gain, 0.0))


class Told:
    """Takes the settings beside a parameter of its own."""

    def __init__(self, settings, gain=0.5):
        self.top, self.gain = settings.robot.max_speed, gain

    def decide(self, observation):
        return Command(velocity=(self.gain * self.top, 0.0))


class Based(ControllerPlugin):
    """Says its parameters as our base does."""

    limit_m: float = 2.0


class Fails:
    """Makes a mistake of its own."""

    def decide(self, observation):
        return {}['left_arm']


class Taken:
    """Has a parameter that no controller can have."""

    def __init__(self, context_: int = 0, period_ns: int = 5):
        pass

    def decide(self, observation):
        pass


def stand(observation):
    return Command(velocity=(0.0, 0.0))


NUMBER = 3
'''


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    """Stand in a folder with a package of the user's, as somebody who has not installed it."""
    package = tmp_path / 'own_policies'
    package.mkdir()
    (package / '__init__.py').touch()
    (package / 'policy.py').write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'path', [path for path in sys.path if path])
    yield tmp_path
    for name in [name for name in sys.modules if name.partition('.')[0].startswith('own_')]:
        del sys.modules[name]


def run(*arguments: str, output: Path) -> int:
    return main(['run', SCENARIO, '--link', 'loopback', '--output', str(output), *arguments])


def test_a_class_of_the_current_folder_runs_with_its_parameters(repository, tmp_path):
    code = run('--controller', 'own_policies.policy:Policy', '--set',
               'controller.checkpoint=runs/best.pt', '--set', 'controller.gain=0.8',
               output=tmp_path / 'o')
    assert code == 1  # it drives, and does not look
    told = json.loads((tmp_path / 'o' / 'settings.json').read_text())['controller']
    assert told['name'] == told['class'] == 'own_policies.policy:Policy'
    assert told['parameters'] == {'checkpoint': 'runs/best.pt', 'gain': 0.8}
    assert len(told['sha256']) == 64
    assert main(['evaluate', str(tmp_path / 'o')]) == 1


def test_a_checkpoint_makes_another_controller(repository, tmp_path, capsys):
    assert run('--controller', 'own_policies.policy:Policy', '--set',
               'controller.checkpoint=last.pt', output=tmp_path / 'o') == 3  # it never gets moving
    assert 'own_policies.policy:Policy(checkpoint=last.pt)' in capsys.readouterr().out


@pytest.mark.parametrize('name', ['Told', 'Based', 'stand'])
def test_whatever_may_be_a_controller_is_found_by_its_name(repository, name):
    assert named_controller(f'own_policies.policy:{name}').__name__ == name


def test_a_class_that_takes_the_settings_takes_its_parameters_too(repository, tmp_path):
    assert run('--controller', 'own_policies.policy:Told', '--set', 'controller.gain=0.4',
               output=tmp_path / 'o') == 1


@pytest.mark.parametrize(('argument', 'told'), [
    ('checkpoint=a gain=fast', "controller.gain: got 'fast'"), ('device=cpu', 'unknown parameter'),
    ('chekpoint=a', "Did you mean 'checkpoint'"), ('gain=1', 'checkpoint: got nothing'),
    ('controller.gain=1', 'unknown parameter'), ('token=a', 'got a secret')])
def test_an_argument_that_does_not_fit_is_told(repository, tmp_path, capsys, argument, told):
    told_as = [part for text in argument.split() for part in ('--set', f'controller.{text}')]
    assert run('--controller', 'own_policies.policy:Policy', *told_as, output=tmp_path / 'o') == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / 'o').exists()


@pytest.mark.parametrize(('name', 'told'), [
    ('own_policies.policy:Polcy', "has Based, Fails, Policy, .*Did you mean 'Policy'"),
    ('own_policies.polcy:Policy', 'there is no own_policies.polcy in .*set PYTHONPATH'),
    ('own_policy.policy:Policy', "there is no own_policy in .*Did you mean 'own_policies'"),
    ('own_policies/policy.py:Policy', 'dots for slashes'), ('own_policies.policy:', 'expected'),
    ('own_policies.policy:NUMBER', 'got 3, expected a name, a class'),
    ('own_policies.policy:Taken', 'got the parameter period_ns, expected another name'),
    ('own_broken:X', r'own_broken.py:2: cannot be imported: ZeroDivisionError'),
    ('own_needs.py:X', 'without .py. Write own_needs:X'),
    ('own_needs:X', r'own_needs.py:1: needs the module nowhere_at_all, which is not installed'),
    ('own_field:X', r'own_field.py:2: cannot be imported: PydanticUserError'),
    ('own_syntax:X', r'own_syntax.py:1: cannot be imported'),
    ('own_exits:X', 'it asked to exit with 0')])
def test_what_cannot_be_found_or_imported_is_told_with_its_place(repository, name, told):
    (repository / 'own_broken.py').write_text('a = 1\n1 / 0\n')
    (repository / 'own_needs.py').write_text('import nowhere_at_all\n')
    (repository / 'own_field.py').write_text(
        'from safety_scenarios import ControllerPlugin\nclass X(ControllerPlugin):\n    n = 0\n')
    (repository / 'own_syntax.py').write_text('def f(:\n')
    (repository / 'own_exits.py').write_text('import sys\nsys.exit(0)\n')
    with pytest.raises(SettingsError, match=told):
        named_controller(name)


def test_a_dot_for_the_colon_gets_a_hint():
    with pytest.raises(UnknownPluginError, match='MODULE:NAME'):
        named_controller('own_policies.policy.Policy')


def test_nothing_in_the_current_folder_hides_what_is_installed(repository):
    (repository / 'json.py').write_text('1 / 0')
    (repository / 'yaml.py').write_text('1 / 0')
    code = ('from safety_scenarios.trial.parameters import named_controller as n\n'
            'n("own_policies.policy:Policy"); import yaml, json; print(yaml.__file__)')
    shown = subprocess.run([sys.executable, '-P', '-c', code], capture_output=True, text=True,
                           check=True)
    assert str(repository) not in shown.stdout


def test_a_plug_ins_traceback_is_kept_in_loopback_and_its_mistake_told_in_words(
        repository, tmp_path, capsys):
    assert run('--controller', 'own_policies.policy:Fails', output=tmp_path / 'o') == 3
    assert 'ControllerError' not in capsys.readouterr().out
    kept = (tmp_path / 'o' / 'logs' / f'{SCENARIO}.log').read_text()
    assert 'Traceback' in kept and "in decide\n    return {}['left_arm']" in kept
    assert main(['campaign', 'verify', str(tmp_path / 'o')]) == 0


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(['git', '-C', str(folder), '-c', 'user.email=a@b', '-c', 'user.name=a',
                    *arguments], check=True, capture_output=True)


def repositories_of(*files: Path, not_added: bool = True) -> list[dict[str, Any]]:
    return Repositories(files).of(files, not_added=not_added)


def test_the_repositories_are_those_of_the_files_and_not_of_the_caller(repository, tmp_path,
                                                                       monkeypatch):
    own, foreign = repository / 'own_policies' / 'policy.py', tmp_path / 'foreign'
    foreign.mkdir()
    assert repositories_of(own) == []
    for folder in (repository, foreign):
        git(folder, 'init')
        git(folder, 'add', '.')
        git(folder, 'commit', '--allow-empty', '-m', 'first')
    monkeypatch.chdir(foreign)
    monkeypatch.setenv('GIT_DIR', str(foreign / '.git'))  # as in a hook
    [found] = repositories_of(own, own.parent / '__init__.py')
    assert found['root'] == repository.name and not found['changed']
    (own.parent / 'new.yaml').touch()
    assert repositories_of(own.parent / 'new.yaml')[0]['changed']
    assert repositories_of(own.parent / 'new.yaml', not_added=False) == []
    (repository / '.gitignore').write_text('.venv\n')
    (repository / '.venv').mkdir()
    (repository / '.venv' / 'installed.py').touch()
    assert repositories_of(repository / '.venv' / 'installed.py') == []
    own.write_text('changed')
    assert repositories_of(own)[0]['changed']


def test_each_file_is_told_of_its_own_repository_though_git_is_asked_once(
        repository, tmp_path_factory):
    own, inner = repository / 'own_policies' / 'policy.py', repository / 'inner'
    odd, ignored = inner / ':[a] b' / 'x.py', inner / 'built' / 'x.py'
    for path in (odd, ignored):
        path.parent.mkdir(parents=True)
        path.touch()
    (inner / '.gitignore').write_text('built\n')
    for folder in (repository, inner):
        git(folder, 'init')
        git(folder, 'add', '.')
        git(folder, 'commit', '-m', 'first')
    (inner / 'new.py').touch()
    files = [own, odd, ignored, inner / 'new.py', tmp_path_factory.mktemp('none') / 'x.py']
    known = Repositories(files)
    assert [(found['root'], found['changed']) for found in known.of(files)] == [
        (repository.name, False), (inner.name, True)]
    assert [(found['root'], found['changed']) for found in known.of([odd])] == [
        (inner.name, False)]
    assert known.of([ignored]) == known.of(files[4:]) == []
    assert known.of([inner / 'new.py'], not_added=False) == []
    assert known.of([own])[0]['commit'] != known.of([odd])[0]['commit']


def test_a_repository_is_found_however_many_files_are_asked_about(tmp_path):
    files = [tmp_path / ' first.yaml', Path(os.fsdecode(bytes(tmp_path) + b'/\xff.yaml'))]
    for path in files:
        path.touch()
    git(tmp_path, 'init')
    git(tmp_path, 'add', '.')
    git(tmp_path, 'commit', '-m', 'first')
    many = [tmp_path / f'{number:0250}' for number in range(9000)]  # no command can be so long
    for known in (Repositories(files), Repositories([*files, *many])):
        for path in files:
            [found] = known.of([path])
            assert (found['root'], found['changed']) == (tmp_path.name, False)
        assert known.of(many[:2], not_added=False) == []


def test_a_kind_of_policy_of_another_package_runs_code_of_its_author(monkeypatch):
    model = f"safety_scenarios.{registry.BUILT_IN['policies']['onnx']}"
    monkeypatch.setattr(registry, '_entries', lambda kind: (('theirs', model),))
    assert is_bundled('onnx:a.onnx') and not is_bundled('theirs:a')


def test_of_an_installed_module_that_cannot_be_imported_its_own_line_is_named(
        tmp_path, monkeypatch):
    place = tmp_path / 'lib' / 'python3.11' / 'site-packages'
    place.mkdir(parents=True)
    (place / 'own_installed.py').write_text('a = 1\nraise RuntimeError(a)\n')
    monkeypatch.syspath_prepend(place)
    with pytest.raises(SettingsError, match=r'own_installed.py:2: cannot be imported'):
        named_controller('own_installed:X')
