# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""LostBench scenarios: pressure to give in, turn by turn. ``reader`` is its door."""
