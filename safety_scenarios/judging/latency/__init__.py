# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How long it took: a trial's record in, a ``Latency`` out.

``pairing`` decides which command answers which stimulus, on which clock.
"""
