# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Format 3: agents, tools and rules between them. ``reader`` is the only public module."""
