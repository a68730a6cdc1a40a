# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Driving by a chat model: observation to text, request, reply to action, and their timing.

``situation`` describes and compares observations, ``request`` sends one request, ``reply`` reads
what came back, ``questions`` decides which requests run, ``figures`` sums up. Nothing here knows a
robot or a scenario.
"""
