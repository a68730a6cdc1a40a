# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""README and the pages show what the program prints, and each test that they name is there."""

import ast
from functools import cache
from importlib import util
import json
from pathlib import Path
import re

from cases import for_each
from PIL import Image
from safety_scenarios.studies.selftest.kill_matrix import SABOTEURS

ROOT = Path(__file__).resolve().parents[2]


def script(path):
    spec = util.spec_from_file_location(path.stem, path)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_and_the_numbers_of_the_readme_are_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv('SAFETY_SCENARIOS_REPORT')
    picture = script(ROOT / 'bench' / 'picture.py')
    page = picture.campaign()
    with Image.open(picture.PICTURE) as drawn:
        assert drawn.text['Description'] == picture.said(page).encode('ascii', 'replace').decode(
        ), 'doc/report.png is out of date: python bench/picture.py makes it again'
    assert picture.PICTURE.stat().st_size < 150_000
    _, _, below = (ROOT / 'README.md').read_text(encoding='utf-8').partition('(doc/report.png)')
    told = re.findall(r'\d+\.\d+', below.partition('\n## ')[0])
    written = page.read_text(encoding='utf-8').partition('<script')[0]
    assert len(told) >= 6 and set(told) <= set(re.findall(r'\d+\.\d+', written))


def test_the_readme_leads_to_the_manual_and_that_to_every_page():
    readme = (ROOT / 'README.md').read_text(encoding='utf-8')
    assert '(doc/index.md)' in readme and '(doc/reference/index.md)' in readme
    manual = (ROOT / 'doc' / 'index.md').read_text(encoding='utf-8')
    pages = sorted(path.name for path in (ROOT / 'doc' / 'manual').glob('*.md'))
    assert len(pages) > 10
    assert [name for name in pages if f'(manual/{name})' not in manual] == []
    assert [name for name in pages if f'manual/{name.removesuffix(".md")}\n' not in manual] == []


def test_the_readme_is_read_in_five_minutes():
    assert len((ROOT / 'README.md').read_text(encoding='utf-8').split()) <= 900


def test_the_number_of_saboteurs_is_that_of_the_self_test():
    readme = ' '.join((ROOT / 'README.md').read_text(encoding='utf-8').split())
    assert f'wrong on purpose, {len(SABOTEURS)} of them' in readme


EXAMPLES = ROOT / 'examples' / 'launch_testing'


@for_each(('page', 'language', 'names'), [
    ('ros.md', 'xml', ['robot_test.launch.xml']),
    ('ros.md', 'yaml', ['robot_test.launch.yaml'])])
def test_an_example_on_the_page_is_its_file(page, language, names):
    text = (ROOT / 'doc' / 'reference' / page).read_text(encoding='utf-8')
    shown = re.findall(rf'^```{language}\n(.*?)^```$', text, re.M | re.S)
    files = [(EXAMPLES / name).read_text(encoding='utf-8') for name in names]
    for name, file in zip(names, files, strict=True):
        without_licence = re.sub(r'\A(#.*\n)+\n', '', file)
        assert without_licence in shown, f'{name} differs from doc/reference/{page}'


def test_every_example_is_shown():
    shown = (ROOT / 'doc' / 'reference' / 'ros.md').read_text(encoding='utf-8')
    assert all(path.name in shown for path in EXAMPLES.iterdir()
               if path.is_file() and path.name != 'README.md')


PAGE = (ROOT / 'test' / 'formats.md').read_text(encoding='utf-8')
ROWS = [tuple(cell.strip() for cell in line.strip('|').split(' | '))
        for line in PAGE.splitlines() if line.startswith('| ') and not line.startswith('| row ')]
_TEST = re.compile(r'`([\w/]+\.py)::(test_\w+)`')
FORMAT_1 = (
    'id name domain description messages latency_budget safety_invariants constraint rubric '
    'expected_action severity tags metadata pattern judge_criterion regex contains not_contains '
    'judge time_pressure consequence_of_delay target_ms acceptable_ms critical_ms role content '
    'check_type').split()
"""Every key and word of the document."""


def are_keys():
    """Return every key of the models of ARE that the document shows."""
    schema = json.loads((ROOT / 'test' / 'data' / 'are_exported_trace.schema.json').read_text())
    shown = ('ExportedAction', 'ExportedActionArg', 'ExportedApp', 'ExportedEvent', 'ExportedHint',
             'ExportedOracleEvent', 'ExportedTraceAnnotationMetadata',
             'ExportedTraceDefinitionMetadata', 'ExportedTraceSimulationMetadata')
    return {*schema['properties'], *(key for name in shown
                                     for key in schema['$defs'][name]['properties'])}


def agent_keys(schema):
    """Return every key of the published schema of agent files."""
    found = set(schema.get('properties', ()))
    for inner in (*schema.get('properties', {}).values(), *filter(None, [schema.get('items')])):
        found |= agent_keys(inner)
    return found


def words(title):
    """Return the words of the rows, and of what they do, of one format."""
    part = PAGE.split(f'## {title}')[1].split('\n## ')[0]
    rows = [line for line in part.splitlines() if line.startswith('| ')]
    return {word for row in rows for word in re.findall(r'\w+', '|'.join(row.split('|')[:3]))}


@cache
def written_in(path):
    tree = ast.parse((ROOT / 'test' / path).read_text(encoding='utf-8'))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@for_each('row', ROWS, ids=lambda row: row[0])
def test_no_row_is_silent_and_each_test_that_it_names_is_there(row):
    assert len(row) == 3 and row[1]
    named = _TEST.findall(row[2])
    assert named and row[2].count('::') == len(named)
    for path, name in named:
        assert name in written_in(path), f'{path} has no {name}'


@for_each(('title', 'keys'), [
    ('Format 1', FORMAT_1), ('Format 2', are_keys()),
    ('Format 3', agent_keys(json.loads(
        (ROOT / 'test' / 'data' / 'agents' / 'schema.json').read_text())))])
def test_no_key_of_a_document_is_missing(title, keys):
    assert len(keys) > 10 and not set(keys) - words(title)
