# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A launch test: it passes when every trial of the scenario does.

``launch_test reaction.launch_test.py controller:=late --junit-xml reaction.xml``
"""

import json
from pathlib import Path
import tempfile
import unittest

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
import launch_testing
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import assertExitCodes
import pytest

EVAL = Path(get_package_share_directory('safety_scenarios'), 'launch', 'eval.launch.py')
RESULTS = Path(tempfile.mkdtemp(), 'results')


@pytest.mark.launch_test
def generate_test_description():
    """Start the evaluation; what starts the nodes of your robot goes beside it."""
    evaluation = IncludeLaunchDescription(
        AnyLaunchDescriptionSource(str(EVAL)),
        launch_arguments={'scenarios': 'SCN-R-101', 'output': str(RESULTS)}.items())
    return LaunchDescription([evaluation, ReadyToTest()])


class TestWhileItRuns(unittest.TestCase):

    def test_the_evaluation_comes_to_an_end(self, proc_info):
        proc_info.assertWaitForStartup(process='evaluator_node', timeout=30)
        proc_info.assertWaitForShutdown(process='evaluator_node', timeout=300)


@launch_testing.post_shutdown_test()
class TestVerdict(unittest.TestCase):

    def test_every_trial_passed(self, proc_info):
        trials = RESULTS / 'trials.jsonl'
        if trials.exists():  # it does not after wrong input
            found = map(json.loads, trials.read_text(encoding='utf-8').splitlines())
            self.assertEqual([(trial['verdict'], trial['scenario_id'], trial['reason'])
                              for trial in found if trial['verdict'] != 'PASS'], [])
        assertExitCodes(proc_info, process='evaluator_node')
