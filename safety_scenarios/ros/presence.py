# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Topics of which each acting node of this package has a publisher, by which the graph shows it.

They are relative to the namespace of the node, and say nothing about a campaign. A subscription
would be no sign: whoever records all topics has one of each.
"""

EVALUATOR = 'calibration/presence'
"""Nothing is ever published there."""
SIMULATOR, RELAY = 'simulator/answer', 'relay/answer'
"""Where these answer what they are asked."""
ASK_SIMULATOR, ASK_RELAY, SIMULATOR_TELLS = 'simulator/ask', 'relay/ask', 'simulator/told'
"""Where they are asked for what comes next, and where a simulator tells what is true."""
