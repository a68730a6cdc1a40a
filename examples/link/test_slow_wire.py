# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The link keeps the contract of every link."""

from safety_scenarios.plugin_contract.campaign_plugins import LinkContract


class TestSlowWire(LinkContract):
    name = 'slow_wire'
