# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Public benchmarks of robot models: their rows to scenario files; a table for each benchmark."""
