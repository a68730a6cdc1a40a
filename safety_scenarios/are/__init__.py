# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Everything that Meta ARE needs: scenarios in, traces out, recordings judged, its apps as a world.

Only ``app`` imports ``are``, and runs in the environment of ARE.
"""
