# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What doc/policies.md shows works as it is printed there, and it leaves nothing out."""

from pathlib import Path
import re
import shlex

from cases import for_each
from safety_scenarios.cli.main import main
from safety_scenarios.controllers.policies.contract import (
    ActionOutput,
    InputPart,
    load_contract,
    PolicyContract,
)
from safety_scenarios.controllers.policies.policy import PolicyController

PAGE = (Path(__file__).resolve().parents[4] / 'doc' / 'policies.md').read_text(encoding='utf-8')
CODE, TERMS = (re.search(f'^```{language}\n(.*?)^```$', PAGE, re.M | re.S)[1]
               for language in ('python', 'yaml'))
NEW, RUN, SLOWER = (shlex.split(line)[1:]
                    for line in re.findall(r'^\$ (safety-scenarios .*)$', PAGE, re.M)[:3])


def rows(heading: str) -> set[str]:
    """Return what the first column of the table below a heading names."""
    below = re.split(r'^#+ ', PAGE.partition(f'# {heading}\n')[2], maxsplit=1, flags=re.M)[0]
    return {name for line in below.splitlines() if line.startswith('| `')
            for name in re.findall(r'`(\w+)`', line.split('|')[1])}


def test_the_five_minutes_of_the_manual_end_as_they_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(CODE, 'doc/policies.md', 'exec'), {'__name__': 'example'})
    assert main(NEW) == 0
    assert 'Fill in inputs.scan.clip, rate_hz' in capsys.readouterr().out
    assert main(RUN) == 2
    Path('policy.yaml').write_text(TERMS, encoding='utf-8')
    assert load_contract('policy.yaml').action_horizon == 4
    assert main(RUN) == 0, capsys.readouterr().out
    assert main([*SLOWER, '--output', 'slower']) == 1


@for_each(('heading', 'model'), [('The contract', PolicyContract), ('An input', InputPart),
                                 ('The output', ActionOutput)])
def test_the_tables_name_every_key(heading, model):
    assert rows(heading) == set(model.model_fields)


def test_the_table_names_every_parameter():
    assert rows('Parameters') == set(PolicyController.model_fields)
