# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Both keep the contracts of every output and of every trace writer."""

from safety_scenarios.plugin_contract.campaign_plugins import OutputContract, TraceContract

SHORT = {'link': 'loopback', 'seed': 6}  # a trial of eleven seconds, in simulated time


class TestTable(OutputContract):
    name = 'md_table'
    settings = SHORT


class TestCommands(TraceContract):
    name = 'command_csv'
    settings = SHORT
