# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A record becomes findings and a verdict: what drivers execute, motion, latency, invariants."""
