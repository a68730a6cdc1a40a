# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Every relative link on a page leads to a file that exists, and to a heading of it."""

from functools import cache
from pathlib import Path
import re

from cases import for_each
import pytest

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
