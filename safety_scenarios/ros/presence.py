# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Topics to which each acting node of this package subscribes, by which it is found in the graph.

They are relative to the namespace of the node, and say nothing about a campaign.
"""

EVALUATOR = 'evaluator/presence'
"""Nothing is ever published there."""
SIMULATOR, RELAY = 'simulator/ask', 'relay/ask'
"""Where these are asked for something."""
