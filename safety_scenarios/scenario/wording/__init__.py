# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What was said, read before any pattern looks at it: as letters, and clause by clause.

``reading`` makes a text what a person sees; ``clauses`` finds where it says that something is not
so, ``triggers`` holds the words that show it, and ``hearing`` looks for a pattern in the rest. To
teach it another way of saying no, add words to ``triggers`` and sentences to its tests.
"""
