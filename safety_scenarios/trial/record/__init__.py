# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a trial's record is looked through by: executed commands, and margins to limits."""
