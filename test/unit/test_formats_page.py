# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The page of all rows of the formats: none is missing, none is silent, each test is there."""

import ast
from functools import cache
import json
from pathlib import Path
import re

from cases import for_each

ROOT = Path(__file__).resolve().parents[2]
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
