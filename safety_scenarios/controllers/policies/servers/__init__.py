# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Policies behind a server: one module for each protocol that people run.

``connection`` keeps every wait within a deadline, ``failures`` gives each failure its name, and
``server`` is what all of them share: the cold start, one deadline for each answer, and a new
connection after a failure. ``arrays``, ``messages`` and ``websocket`` are what they send. A
protocol is one module here with a ``ServerModel``, and one line in ``registry``.
"""
