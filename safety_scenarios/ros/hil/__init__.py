# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A robot that is really there: its interlocks are asked before anything leaves."""
