# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Where a controller fails: search, boundary maps, rare failures, and how much was looked at.

Each method is a pure function of a callable; ``failures`` makes one of a scenario. A new way to
search is a class with ``ask`` and ``tell`` and one line in ``samplers``.
"""
