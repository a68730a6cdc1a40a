# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios as tasks of Inspect AI: imported when Inspect asks for them, never by ours."""
