# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The folder of a campaign: what is written, read, verified and signed in it."""
