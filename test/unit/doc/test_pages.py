# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The pages: their links lead somewhere, and the generated ones are those of the code."""

from functools import cache
from importlib import util
from pathlib import Path
import re
import sys

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.cli.main import command_at, commands, main
from safety_scenarios.lint.codes import CODES
from safety_scenarios.scenario.fields import explanations

ROOT = Path(__file__).parents[3]
PAGES = sorted([ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', ROOT / 'bench' / 'README.md',
                ROOT / 'test' / 'formats.md', *(ROOT / 'doc').glob('*.md'),
                *(ROOT / 'doc' / 'manual').glob('*.md'),
                *(ROOT / 'doc' / 'reference').glob('*.md')])
_LINK = re.compile(r'\]\(([^)\s]+)\)')
_CODE = re.compile(r'^(```|~~~).*?^\1|`[^`\n]*`', re.MULTILINE | re.DOTALL)


@cache
def anchors(path: Path) -> frozenset[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    found: dict[str, int] = {}
    names = set()
    fenced = False
    for line in path.read_text(encoding='utf-8').splitlines():
        fenced ^= line.startswith('```')
        if heading := re.match(r'#{1,6} (.+)', '' if fenced else line):
            text = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', heading[1]).strip().lower()
            name = re.sub(r'[^\w\- ]', '', text).replace(' ', '-')
            count = found.setdefault(name, 0)
            found[name] += 1
            names.add(f'{name}-{count}' if count else name)
    return frozenset(names)


def broken(page: Path) -> list[str]:
    """Return the links of a page that lead nowhere."""
    text = _CODE.sub('', page.read_text(encoding='utf-8'))
    wrong = []
    for link in _LINK.findall(text):
        if re.match(r'[a-z]+:', link):
            continue
        path, _, anchor = link.partition('#')
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == '.md'
                                   and anchor not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.skipif(not (ROOT / 'doc' / 'manual' / 'suite.md').is_file(), reason='no manual yet')
@for_each('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_leads_nowhere(page):
    assert not broken(page)


def test_a_wrong_file_and_a_wrong_anchor_are_found(tmp_path):
    (tmp_path / 'other.md').write_text('# A `word` (here)\n## Twice\n## Twice\n```\n# no\n```\n')
    page = tmp_path / 'page.md'
    page.write_text('[a](other.md#a-word-here) [b](other.md#twice-1) [c](gone.md) [d](#own)\n'
                    '[e](other.md#no) `[f](code.md)` [g](https://example.org/x)\n# Own\n')
    assert broken(page) == ['gone.md', 'other.md#no']


def test_all_pages_are_looked_at():
    assert len(PAGES) > 20


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
