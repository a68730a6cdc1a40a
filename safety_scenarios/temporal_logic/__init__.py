# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Signal temporal logic: what must hold of signals over time, and by how much.

``parser`` turns text into a ``formula``; ``evaluation`` judges a whole ``trace`` of samples,
or a window of a robot in operation, and names the predicate and the sample that decided. Semantics
are in ``formula`` and ``trace``. A new operator is a node in ``formula``, a name in ``parser``,
and two rules in ``evaluation``.
"""
