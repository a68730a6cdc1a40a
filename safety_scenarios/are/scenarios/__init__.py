# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Format 2: scenarios of Meta ARE. ``reader`` is the only public module."""
