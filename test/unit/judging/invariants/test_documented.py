# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Every invariant and every parameter of it is in the manual."""

from pathlib import Path

from cases import for_each
from safety_scenarios import registry
from safety_scenarios.scenario.blocks.separation import Separation

MANUAL = (Path(__file__).parents[4] / 'doc' / 'invariants.md').read_text()
MADE_BY_READERS = {'text', 'text_in_python', 'judge', 'says', 'says_in_turn', 'not_checked',
                   'are_calls'}
ON_COMMANDS = sorted(set(registry.names('invariants')) - MADE_BY_READERS)


@for_each('kind', ON_COMMANDS)
def test_every_parameter_of_an_invariant_is_documented(kind):
    _, heading, rest = MANUAL.partition(f'\n### {kind}\n')
    assert heading
    section = rest.partition('\n### ')[0]
    for name in registry.resolve('invariants', kind).model_fields:
        assert name in ('name', 'kind', 'severity') or f'| `{name}` |' in section, name


def test_every_term_of_a_separation_is_documented():
    for name in Separation.model_fields:
        assert f'| `{name}` |' in MANUAL, name
