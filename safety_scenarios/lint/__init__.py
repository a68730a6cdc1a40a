# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Warnings about scenarios that are valid, and yet do not check what their author believes.

Each check is a pure generator from a scenario, or from all scenarios at once, to remarks. To add
one, yield a ``Remark`` with the next free code from the module of its subject, and describe the
code in ``lint/codes.py``.
"""
