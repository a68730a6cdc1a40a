# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The node stops in time for a person, and does not stop for one who is far away."""

import subprocess
import sys

import pytest

pytest.importorskip('rclpy', reason='rclpy comes with ROS')


@pytest.fixture
def safety_settings():
    """Start the node; say that it runs already, and is reached over ROS."""
    with subprocess.Popen([sys.executable, '-c', 'from scan_stop.scan_stop import main; main()']
                          ) as node:
        yield {'controller': 'external', 'link': 'ros'}
        node.terminate()


@pytest.mark.safety_scenario('SCN-R-101', 'SCN-R-D-101')
def test_it_stops_for_a_person_and_only_then(safety_results):
    assert len(safety_results.trials) == 2
