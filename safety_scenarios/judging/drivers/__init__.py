# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What turns commands into motion: one driver a file, as its source decides, for each distribution.

A driver is a ``DriverPlugin``; a new one is a file here and a line in ``registry.py``.
"""
