# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The kinds of robots that come with the package, one file each.

A new kind is a subclass of ``scenario.robot_kind.RobotKind`` here and one line in ``registry``, or
an entry point ``safety_scenarios.robots`` of another package. Kinds do not import each other.
"""
