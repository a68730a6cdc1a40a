# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From a record to findings: a module for each part that finds something, named in ``source``.

``harness`` makes those of the harness itself; ``judging.evaluate`` puts all of them together.
"""
