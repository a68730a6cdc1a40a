# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The edge to ROS 2: the only folder that imports ``rclpy``.

Nodes are thin: they stamp, convert and enqueue; what is judged is judged in ``judging``.
A campaign comes in by ``session``; the modules beside it are what several of the folders need.
"""
