# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From a file's text to a ``Scenario``, one reader a format.

A new format is a module with ``NAME``, ``recognises`` and ``read``, and one line in ``registry``.
"""
