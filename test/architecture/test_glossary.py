# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The glossary names only what exists, in order."""

import ast
from pathlib import Path
import re

ROOT = Path(__file__).parents[2]
DOC = ROOT / 'doc' / 'reference'
ROWS = [[cell.strip() for cell in line.strip().strip('|').split('|')]
        for line in (DOC / 'glossary.md').read_text(encoding='utf-8').splitlines()
        if line.startswith('| ') and not line.startswith('| term ')]
TERMS = [term for term, _, _ in ROWS]
WANTED = {'benign variant', 'all-clear', 'saboteur', 'kill matrix', 'killed', 'margin',
          'margin series', 'stimulus', 'onset', 'nominal phase', 'trial', 'campaign',
          'controller under test', 'latency class', 'budget', 'finding', 'verdict', 'participant',
          'link', 'record', 'trace', 'journal', 'mutation testing', 'signal temporal logic (STL)',
          'hardware in the loop (HIL)', 'ISO 10218', 'ISO 13482', 'ISO 13850', 'ISO 13855',
          'ISO/TS 15066', 'IEC 60204-1'}


def classes(wanted):
    """Return the names of those classes of the package that are wanted."""
    found = set()
    for path in (ROOT / 'safety_scenarios').rglob('*.py'):
        text = path.read_text(encoding='utf-8')
        if wanted.isdisjoint(re.findall(r'class (\w+)', text)):
            continue  # a look is quicker than to parse it
        found |= {node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    return found


def test_the_glossary_has_the_terms_that_it_must_have():
    assert set(TERMS) >= WANTED


def test_the_glossary_is_in_alphabetical_order():
    assert [term.lower() for term in TERMS] == sorted({term.lower() for term in TERMS})


def test_every_page_file_and_class_in_the_glossary_exists():
    known = classes({name for _, _, more in ROWS for name in re.findall(r'`([^`]+)`', more)})
    pointers = 0
    for term, _, more in ROWS:
        for page in re.findall(r'\]\(([^)]+)\)', more):
            pointers += 1
            assert (DOC / page.partition('#')[0]).is_file(), f'{term}: {page}'
        for name in re.findall(r'`([^`]+)`', more):
            pointers += 1
            assert (ROOT / name).exists() if '/' in name else name in known, f'{term}: {name}'
    assert pointers >= len(ROWS) - 1


def test_what_the_glossary_refers_to_has_an_entry():
    for term, meaning, more in ROWS:
        for other in re.findall(r'(?<!\*)\*([^*]+)\*', f'{meaning} {more}'):
            known = {*TERMS, *(each.split(' (')[0] for each in TERMS), 'STL'}
            singular = {other, other.removesuffix('s'),
                        re.sub('ies$', 'y', other), re.sub('kills', 'killed', other)}
            assert singular & known, f'{term}: {other}'
