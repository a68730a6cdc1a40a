# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``import safety_scenarios``: these names and no others, at once and without ROS."""

import inspect
import subprocess
import sys
from types import ModuleType

from cases import for_each
import pytest
import safety_scenarios
from safety_scenarios.errors import missing_ros

NAMES = {
    # what is done
    'run', 'evaluate', 'plan', 'run_trial', 'load_scenario', 'load_scenarios', 'rejudge', 'verify',
    # what plug-ins are made of
    'InvariantPlugin', 'StimulusPlugin', 'Intent', 'ControllerPlugin', 'Controller', 'LinkPlugin',
    'Session', 'Link', 'LinkPlan', 'ForwardingLink', 'Loopback', 'LoopbackLink', 'Observer',
    'OutputContext', 'TraceContext', 'DriverPlugin', 'RobotKind', 'BodyIntent', 'Body', 'Solid',
    'Motion',
    # what is said, and heard
    'Observation', 'Reading', 'Command', 'CommandStamps', 'Message', 'ChatMessage', 'Turn',
    'Utterance', 'Stimulus', 'StimulusContext',
    # what is run
    'Scenario', 'Trial', 'RunSettings', 'ControllerSpec', 'ControllerContext',
    'ControllerSettings', 'Beginning',
    # what comes of it
    'CampaignResults', 'CampaignSummary', 'TrialRecord', 'JudgedTrial', 'TrialResult', 'Event',
    'Stamps',
    'Finding', 'Verdict', 'LatencyClass', 'Rejudged',
    # what goes wrong
    'SafetyScenariosError', 'InputError', 'ScenarioError', 'SettingsError', 'UnknownPluginError',
    'MissingDependencyError', 'MeasurementError', 'ControllerError'}


def python(code: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_the_public_names_are_these_and_no_others():
    assert set(safety_scenarios.__all__) == NAMES
    assert set(dir(safety_scenarios)) == NAMES
    known = {name for name, value in vars(safety_scenarios).items()
             if not name.startswith('_') and not isinstance(value, ModuleType)}
    assert known - {'import_module', 'Any', 'TYPE_CHECKING'} <= NAMES


def test_type_checkers_are_told_the_same_names_from_the_same_modules():
    source = inspect.getsource(safety_scenarios)
    for module, names in safety_scenarios._WHERE.items():
        for name in names:
            line = f'from safety_scenarios.{module} import {name} as {name}'
            assert source.count(f'    {line}\n') == 1
    assert source.count(' import ') - 3 == len(NAMES)


@for_each('name', sorted(NAMES))
def test_every_public_name_says_what_it_is(name):
    assert getattr(safety_scenarios, name).__doc__.strip()


def test_a_name_that_is_none_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'runn'"):
        safety_scenarios.runn  # noqa: B018


def test_the_import_loads_nothing_until_a_name_is_used():
    loaded, _ = python(
        'import collections.abc, sys, typing\nbefore = set(sys.modules)\nimport safety_scenarios\n'
        'print(*sorted(name for name in set(sys.modules) - before))')
    assert loaded.split() == ['safety_scenarios', 'safety_scenarios.dependencies']


def test_without_ros_three_lines_run_a_scenario_and_the_command_says_what_to_install():
    shown, told = python(
        'import sys\nsys.modules["rclpy"] = None\n'
        'import safety_scenarios as ss\n'
        'results = ss.run("SCN-R-101", controller="late", link="loopback")\n'
        'print(results.verdict.value)\n'
        'from safety_scenarios.cli.main import main\n'
        'print(main(["run", "SCN-C-101"]))')
    assert shown == 'FAIL\n2\n'
    assert 'pip install ros-jazzy-rclpy' in told and 'Traceback' not in told


def test_ros_that_is_there_but_cannot_be_loaded_is_not_called_missing():
    told = str(missing_ros(ImportError(
        'librcl.so: cannot open shared object file\nThe C extension failed to be imported',
        name='_rclpy_pybind11'), 'The relay'))
    assert 'file), which is there, but cannot be loaded. Run: source' in told
    assert 'which is not installed' in str(missing_ros(ModuleNotFoundError(
        "No module named 'rclpy'", name='rclpy'), 'The relay'))


def test_a_star_import_brings_the_public_names_and_nothing_else():
    found: dict[str, object] = {}
    exec('from safety_scenarios import *', found)
    assert set(found) - {'__builtins__'} == NAMES
