# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What is made of campaigns that have ended: pages, tables, films, evidence.

Here it is gathered from their folders; how it looks is up to the rest of ``reports``.
"""
