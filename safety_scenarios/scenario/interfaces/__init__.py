# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Interface types of ROS as plain data: how commands are written, and what moves a robot.

``robot_interfaces`` is where another interface for a robot's driver is added.
"""
