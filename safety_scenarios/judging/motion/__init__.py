# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From what a robot's drivers execute to how it moves: its axes, its fastest point, how it brakes.

``track`` reads the motion of a record, ``standing`` says when that is a standstill, ``braking``
where it begins, ``course`` where the robot would be; ``feedback`` is what the robot itself
reports, ``told`` what the world of a link tells, ``contacts`` what it touched there. All of it is
pure.
"""
