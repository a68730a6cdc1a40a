# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A campaign while it runs: what is seen of it, apart from where that is shown.

``feed`` takes events and results out of the campaign's way, ``picture`` has the scene of the trial
that runs, also as JSON and as shapes for RViz and Foxglove; an
``Output`` shows it. To add one, write another ``Output``.
"""
