# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Rates, quantiles and comparisons: many ``TrialResult`` in, ``CampaignSummary`` out."""
