# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From what a robot's drivers execute to how it moves: its axes, its fastest point, how it brakes.

``signals`` reads commands and feedback, ``track`` the motion that they ask for, ``standstill``
defines when a robot stands; ``reported_motion`` is what the robot itself and the world of a link
report, ``contacts`` what it touched. ``motion`` holds all of it of one trial, each part computed
once, and when its braking begins. ``path`` and ``required_motion`` read that. All of it is
pure.
"""
