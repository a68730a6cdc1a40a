# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What turns commands into motion: drivers of ros2_controllers, as their source decides.

A driver is a ``DriverPlugin``; a new one is a file here and a line in ``registry.py``.
"""
