# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Driving by a chat model: observation to text, request, reply to action, and their timing.

``questions`` describes and compares observations and decides which requests run, ``request`` sends
one and sums them up, ``reply`` reads what came back. Nothing here knows a robot or a scenario.
"""
