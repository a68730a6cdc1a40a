# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Published formulas as pure functions in SI units.

Evidence about the controller under test, never a claim of conformity with a standard. A new
formula names its source and its validity, refuses what is no quantity (``_inputs``), and has known
answers in ``test/data/standards_vectors.json``.
"""
