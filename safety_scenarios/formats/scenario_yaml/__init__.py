# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Format 1: one decision in words, with an optional ``ros:`` block. ``reader`` is its door."""
