# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The programs: what ``ros2 run`` and the harness start, and what they share."""
