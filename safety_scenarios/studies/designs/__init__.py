# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Experiments planned before the first trial: claims, locked designs, gates, bisection."""
