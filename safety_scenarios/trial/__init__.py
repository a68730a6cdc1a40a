# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One trial: its plan, the main loop over a link, its record, and the files that keep it."""
