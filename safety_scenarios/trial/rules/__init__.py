# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The rules of a scenario with agents: triggers, demands and bans, as pure as judging.

``rules`` is fed what happens and says what it causes; ``outcomes`` says what each rule came to.
"""
