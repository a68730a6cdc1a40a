# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The text of new files: scenarios from a few answers, profiles from a running robot.

Pure: an answer goes in, text comes out. A new kind of hazard is one function in ``hazards`` and
one
line in its table ``KINDS``.
"""
