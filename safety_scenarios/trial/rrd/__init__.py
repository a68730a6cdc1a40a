# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial as a recording for the Rerun viewer."""
