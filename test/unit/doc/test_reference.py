# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The generated pages of the reference are what models and docstrings say today."""

from functools import cache
from importlib import util
from pathlib import Path
import re
import sys

from cases import for_each
from safety_scenarios import registry
from safety_scenarios.cli.main import command_at, commands, main
from safety_scenarios.lint.codes import CODES
from safety_scenarios.scenario.fields import explanations

DOC = Path(__file__).parents[3] / 'doc'


@cache
def generate():
    """Return ``doc/generate.py`` as a module; it is slow, and nobody needs it to collect tests."""
    spec = util.spec_from_file_location('generate', DOC / 'generate.py')
    found = util.module_from_spec(spec)
    sys.modules['generate'] = found
    spec.loader.exec_module(found)
    return found


@cache
def written(name):
    """Return a page as the program writes it."""
    return generate().PAGES[name]()


def test_each_page_is_what_the_program_writes():
    for name in generate().PAGES:
        kept = (DOC / 'reference' / f'{name}.md').read_text(encoding='utf-8')
        assert written(name).splitlines() == kept.splitlines(), 'out of date: run make reference'


def test_every_command_and_option_is_on_the_page():
    page = written('command_line')
    for name, _ in commands():
        command, _ = command_at(name.split())
        section = page.partition(f'\n## safety-scenarios {name}\n')[2].partition('\n## ')[0]
        for parameter in command.params:
            shown = [one for one in parameter.opts if one.startswith('--')]
            assert all(f'{one}' in section for one in shown if not parameter.hidden), name


@for_each('kind', sorted(registry.BUILT_IN['invariants']))
def test_every_parameter_of_a_check_has_a_meaning(kind):
    if kind in generate()._READ_ONLY:
        return
    section = written('checks').partition(f'\n## {kind}\n')[2].partition('\n## ')[0]
    model = registry.resolve('invariants', kind)
    told = explanations(model)
    for name in set(model.model_fields) - {'name', 'kind', 'severity'}:
        assert f'| `{name}` |' in section and told.get(name), name


def test_every_controller_is_on_the_page():
    for name in registry.BUILT_IN['controllers']:
        assert f'| `{name}` |' in written('controllers'), name


def test_every_code_of_a_warning_has_a_meaning_and_is_given_somewhere():
    sources = [path.read_text(encoding='utf-8')
               for path in (DOC.parent / 'safety_scenarios').rglob('*.py')
               if path.name != 'codes.py']
    assert set(re.findall(r'\bL[1-3]\d{2}\b', ''.join(sources))) == CODES.keys()


def test_each_scenario_has_a_page_on_the_site():
    pages = dict(generate().scenario_pages())
    assert 'Person steps near' in pages['SCN-R-101'] and len(pages) > 80
    assert all(text.count('## What happens, and what is checked') == 1
               for name, text in pages.items() if name != 'index')


PAGE = Path(__file__).parents[3] / 'doc' / 'reference' / 'settings.md'


def test_the_page_in_the_manual_is_what_the_command_prints(capsys):
    assert main(['scenario', 'schema', 'settings', '--markdown']) == 0
    assert PAGE.read_text(encoding='utf-8') == capsys.readouterr().out
