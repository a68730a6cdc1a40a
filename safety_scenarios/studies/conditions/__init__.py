# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Under which conditions trials fail: thresholds, values and pairs of them, and their effects."""
