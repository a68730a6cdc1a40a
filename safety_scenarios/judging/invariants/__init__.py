# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What must hold: a trial's record in, one ``Finding`` out.

A new invariant is one module with an ``InvariantPlugin`` and one line in ``registry``. It *is* its
parameter model: the scenario file is validated by its fields.
"""
