# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Policies behind a server, by the protocols that people run.

``server`` is what all of them share: a name for each failure, the cold start, one deadline for
each answer, and a new connection after a failure. ``messages`` are what they send. A protocol is a
``ServerModel`` here, beside those over the same transport, and one line in ``registry``.
"""
