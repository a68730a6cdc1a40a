# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Judging what is there already: campaigns, recordings, answers; no robot."""
