# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The rules of a scenario with agents: triggers, demands and bans, as pure as judging.

``engine`` is fed what happens and says what it causes; ``obligations`` says what became of each
rule.
"""
