# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""doc/reference/policies.md leaves nothing out."""

from pathlib import Path
import re

from cases import for_each
from safety_scenarios.controllers.policies.contract import (
    ActionOutput,
    InputPart,
    PolicyContract,
)
from safety_scenarios.controllers.policies.policy import PolicyController

PAGE = (Path(__file__).resolve().parents[4] / 'doc' / 'reference' / 'policies.md').read_text(
    encoding='utf-8')


def rows(heading: str) -> set[str]:
    """Return what the first column of the table below a heading names."""
    below = re.split(r'^#+ ', PAGE.partition(f'# {heading}\n')[2], maxsplit=1, flags=re.M)[0]
    return {name for line in below.splitlines() if line.startswith('| `')
            for name in re.findall(r'`(\w+)`', line.split('|')[1])}


@for_each(('heading', 'model'), [('The contract', PolicyContract), ('An input', InputPart),
                                 ('The output', ActionOutput)])
def test_the_tables_name_every_key(heading, model):
    assert rows(heading) == set(model.model_fields)


def test_the_table_names_every_parameter():
    assert rows('Parameters') == set(PolicyController.model_fields)
