# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Results to documents: files for tools, a table for people.

A new report is one module here: an ``Observer`` of a campaign (such as ``console_report``), or a
function of results that ``outputs`` calls. What every campaign has is a line in ``registry.py``.
"""
