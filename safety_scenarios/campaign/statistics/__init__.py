# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Many ``TrialResult`` in, one ``CampaignSummary`` out; every number says of how many."""
