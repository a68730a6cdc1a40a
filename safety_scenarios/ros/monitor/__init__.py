# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``monitor_node`` from inside: hears a running robot, and publishes diagnostics."""
