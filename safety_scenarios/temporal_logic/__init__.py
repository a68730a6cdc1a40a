# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Signal temporal logic: what must hold of signals over time, and by how much.

``parser`` turns text into a ``formula``; ``offline`` judges a whole ``trace`` of samples, and
names the predicate and the sample that decided; ``online`` says what a window of a robot in
operation shows of it. Semantics are in ``formula`` and ``trace``. A new operator is a node in
``formula``, a name in ``parser``, and a rule in each of the other two.
"""
