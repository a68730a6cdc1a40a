# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The interfaces that tests of other simulators need are built, beside other tests."""

import os
import subprocess
import sys

from interfaces_built import interfaces_folder, PACKAGES

_SEND = """
import rclpy
from ros_gz_interfaces.srv import SetEntityPose
from simulation_interfaces.srv import SpawnEntity
from tf2_msgs.msg import TFMessage
from rclpy.serialization import deserialize_message, serialize_message
asked = SetEntityPose.Request()
asked.entity.name, asked.pose.position.x = 'robot', 1.5
again = deserialize_message(serialize_message(asked), SetEntityPose.Request)
print(again.entity.name, again.pose.position.x, SpawnEntity.__name__, TFMessage.__name__)
"""


def test_the_interfaces_carry_their_fields():
    """In a process that gets them by its path, as ROS installs them."""
    folder = interfaces_folder()
    assert {path.name for path in folder.iterdir()} > set(PACKAGES)
    done = subprocess.run([sys.executable, '-c', _SEND], text=True, capture_output=True,
                          env={**os.environ, 'PYTHONPATH': str(folder)}, timeout=120, check=False)
    assert done.stdout.split() == ['robot', '1.5', 'SpawnEntity', 'TFMessage'], done.stderr
