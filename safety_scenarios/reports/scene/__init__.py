# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Where everything is in a trial, moment by moment, as plain data that every picture is drawn from.

``scene`` has the nouns. ``builder`` takes the events of a trial one by one and returns the frame
of any moment: a live view feeds it each event as it comes. ``trial_scene`` feeds it a whole record
and adds what its result says, for films and pages; in a trial without a world the robot is where
its commands would have moved it. Nothing here draws. To add a picture, draw a ``Scene`` or a
``Frame``.
"""
