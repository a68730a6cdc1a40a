# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Short names of the settings that people type most often.

Options of ``safety-scenarios run`` and arguments of the launch files have these names. Every other
setting is given by its dotted name: ``--set NAME=VALUE``, ``set:=NAME=VALUE``.
"""

from collections.abc import Mapping

SHORT_NAMES: Mapping[str, str] = {
    'scenarios': 'scenarios',
    'tag': 'selection.tag',
    'domain': 'selection.domain',
    'severity': 'selection.severity',
    'controller': 'controller',
    'base_url': 'server.base_url',
    'model': 'server.model',
    'judge_model': 'judge.model',
    'trials': 'trials',
    'seed': 'seed',
    'jobs': 'jobs',
    'shard': 'shard',
    'gate': 'gate',
    'words': 'words',
    'profile': 'profile',
    'link': 'link',
    'world': 'world.kind',
    'real_time_factor': 'real_time_factor',
    'namespace': 'namespace',
    'remap': 'remap',
    'domain_id': 'domain_id',
    'use_sim_time': 'use_sim_time',
    'calibration': 'calibration',
    'output': 'output',
    'record': 'record',
    'junit': 'junit',
}
"""Short name to the dotted name of its setting, in the order in which they are shown."""
NO_OPTIONS = frozenset({'base_url', 'judge_model', 'real_time_factor', 'use_sim_time'})
"""Short names that launch files have and ``safety-scenarios run`` has not."""
