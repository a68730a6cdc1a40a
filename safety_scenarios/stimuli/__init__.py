# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the harness publishes: scenario parameters and a seed in, timed messages out.

A new stimulus is one module with a ``StimulusPlugin`` and one line in ``registry``.
"""
