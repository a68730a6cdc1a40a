# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Faults on the way of messages, as pure functions of a seed and of what comes in.

``timing`` decides when a message arrives, ``content`` changes what it says, ``chain`` puts several
of them in a row. Nothing in here has a clock, waits, or knows where messages come from.
"""
