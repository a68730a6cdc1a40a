# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A launch test for pytest: it passes when every trial of the scenario does.

``pytest test_reaction.py --junit-xml reaction.xml``
"""

import asyncio
import json
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
import launch_pytest
from launch_pytest.actions import ReadyToTest
import pytest

EVAL = Path(get_package_share_directory('safety_scenarios'), 'launch', 'eval.launch.py')


@pytest.fixture
def results(tmp_path):
    return tmp_path / 'results'


@launch_pytest.fixture
def evaluation(results):
    """Start the evaluation; what starts the nodes of your robot goes beside it."""
    return LaunchDescription([
        IncludeLaunchDescription(
            AnyLaunchDescriptionSource(str(EVAL)),
            launch_arguments={'scenarios': 'SCN-R-101', 'output': str(results)}.items()),
        ReadyToTest()])


@pytest.mark.launch(fixture=evaluation)
async def test_every_trial_passes(launch_service, results):
    launch_ended = asyncio.shield(launch_service.task)
    code = await asyncio.wait_for(launch_ended, timeout=300)
    trials = results / 'trials.jsonl'
    if trials.exists():  # it does not after wrong input
        found = map(json.loads, trials.read_text(encoding='utf-8').splitlines())
        assert [(trial['verdict'], trial['scenario_id'], trial['reason'])
                for trial in found if trial['verdict'] != 'PASS'] == []
    assert code == 0
