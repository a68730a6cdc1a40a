# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Both keep the contracts of every output and of every trace writer."""

from safety_scenarios.plugin_contract.campaign_plugins import OutputContract, TraceContract


class TestTable(OutputContract):
    name = 'md_table'


class TestCommands(TraceContract):
    name = 'command_csv'
