# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Every parameter of a built-in controller is in the manual, and its example runs as it stands."""

from pathlib import Path
import re
import subprocess
import sys

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.controllers.adapters import parameter_model
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.trial.parameters import known_parameters

pytestmark = pytest.mark.slow
MANUAL = (Path(__file__).parents[3] / 'doc' / 'controllers.md').read_text()
ROW = re.compile(r'^\| `(\w+)` \| `(\w+)` \| ([^|]+) \|([^|]*)\| [^|]+ \|$', re.MULTILINE)
ENTRY_POINTS = re.compile(r"```toml\n\[project\.entry-points\.'(.+)'\]\n(\w+) = '(.+)'\n```")


def documented(name: str) -> dict[str, str]:
    """Return parameter to default, as the manual's table says it of one controller."""
    return {parameter: default for controller, parameter, default, _ in ROW.findall(MANUAL)
            if controller == name}


@for_each('name', registry.BUILT_IN['controllers'])
def test_every_parameter_of_a_controller_is_documented_with_its_default(name):
    model = parameter_model(registry.resolve('controllers', name))
    listed = documented(name) | (documented('rule_based') if issubclass(model, RuleBased) else {})
    assert listed == {parameter: str(field.default) or 'empty'
                      for parameter, field in known_parameters(model).items()}


def test_the_manual_names_the_saboteurs_that_are_not_made_of_the_reference():
    others = {name for name in registry.BUILT_IN['controllers']
              if not issubclass(registry.resolve('controllers', name), RuleBased)}
    assert others == {'always_stop', 'never_stop', 'parrot', 'learned', 'llm', 'blind_clock',
                      'blind_counter', 'random'}
    assert ('The saboteurs but `always_stop`, `never_stop`, `parrot`, `blind_clock`, '
            '`blind_counter` and `random` take') in ' '.join(MANUAL.split())


@pytest.fixture(scope='module')
def package(tmp_path_factory):
    """Install the example of the manual as another package: its file and its entry point."""
    folder = tmp_path_factory.mktemp('package')
    [code] = [code for code in re.findall(r'```python\n(.+?)```', MANUAL, re.DOTALL)
              if '(ControllerPlugin)' in code]
    [(group, name, target)] = ENTRY_POINTS.findall(MANUAL)
    (folder / f'{target.partition(":")[0]}.py').write_text(code)
    info = folder / 'careful-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: careful\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(f'[{group}]\n{name} = {target}\n')
    return folder


def run(package: Path, *arguments: str) -> 'subprocess.CompletedProcess[str]':
    code = (f'import sys; sys.path.insert(0, {str(package)!r})\n'
            f'from safety_scenarios.cli.main import main; sys.exit(main({list(arguments)!r}))')
    return subprocess.run([sys.executable, '-W', 'error::UserWarning', '-c', code],
                          capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(('parameters', 'label', 'exit_code'), [
    ((), 'careful', 0), (('limit_m=3.0',), 'careful(limit_m=3.0)', 0),
    (('limit_m=0.5', 'hold_ms=100'), 'careful(limit_m=0.5, hold_ms=100.0)', 1)])
def test_the_example_of_the_manual_is_a_controller_with_parameters(
        package, tmp_path, parameters, label, exit_code):
    """With this seed both sensors show the person, 2.24 m ahead; it reads the tracker alone."""
    done = run(package, 'run', 'SCN-R-101', '--link', 'loopback', '--controller', 'careful',
               '--seed', '1',
               '--output', str(tmp_path / 'run'),
               *(part for text in parameters for part in ('--set', f'controller.{text}')))
    assert done.returncode == exit_code, done.stdout + done.stderr
    assert f'Against {label} in' in done.stdout


def test_a_wrong_parameter_of_the_example_is_told_with_those_that_there_are(package):
    done = run(package, 'run', 'SCN-R-101', '--link', 'loopback', '--controller', 'careful',
               '--set', 'controller.limit=2.0')
    assert done.returncode == 2
    assert 'controller.limit: got an unknown parameter, expected one of hold_ms, limit_m. ' \
           "Did you mean 'limit_m'?" in done.stderr
