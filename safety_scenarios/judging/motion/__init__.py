# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From what a robot's drivers execute to how it moves: its axes, its fastest point, how it brakes.

``signals`` reads commands and feedback, ``track`` the motion that they ask for, ``standstill``
defines when a robot stands, ``braking`` when its braking begins; ``feedback`` is what the robot
itself reports, ``simulated_motion`` what the world of a link tells, ``contacts`` what it touched.
``motion`` holds all of it of one trial, each part computed once. ``path`` and ``required``
read that. All of it is pure.
"""
