# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Known answers: every published or independently computed vector, none left out."""

import ast
import doctest
import json
from pathlib import Path
import sys

from cases import for_each
import pytest
from unit.standards.vectors import CHECKS, ELSEWHERE, REFUTED

TEST = Path(__file__).resolve().parents[2]
VECTORS = json.loads((TEST / 'data' / 'standards_vectors.json').read_text(encoding='utf-8'))


@for_each('name', sorted(CHECKS))
def test_the_formula_gives_the_known_answer(name):
    tolerance, compute = CHECKS[name]
    expected = VECTORS[name]
    expected = float(expected) if expected == 'inf' else expected
    assert compute() == pytest.approx(expected, abs=tolerance, rel=0.0)


def test_a_calculator_known_to_be_wrong_is_not_agreed_with():
    """It multiplies what has to be added: K T C 1.2 and not (K T + C) 1.2."""
    _, right = CHECKS['13855 mfgcalcs right']
    assert 1600.0 * 0.35 * 8.0 * (30.0 - 14.0) * 1.2 == VECTORS['mfgcalcs wrong']
    assert right() < VECTORS['mfgcalcs wrong'] / 100.0


@for_each('place', sorted(set(ELSEWHERE.values())))
def test_what_is_tested_elsewhere_is_tested_there(place):
    path, _, name = place.partition('::')
    tree = ast.parse((TEST / path).read_text(encoding='utf-8'))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_no_vector_is_left_unused(capsys):
    assert sorted([*CHECKS, *ELSEWHERE, *REFUTED]) == sorted(VECTORS)
    with capsys.disabled():
        sys.stdout.write(f'\n{len(VECTORS)} vectors: {len(CHECKS)} of standards, '
                         f'{len(ELSEWHERE)} tested beside their own code, '
                         f'{len(REFUTED)} refuted\n')


ROOT = Path(__file__).parents[3]
PAGE = ROOT / 'doc' / 'reference' / 'standards.md'


def test_every_worked_number_is_that_of_the_code():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.failed == 0 and found.attempted >= 50


def test_every_formula_is_on_the_page():
    page = PAGE.read_text(encoding='utf-8')
    names = [node.name for path in (ROOT / 'safety_scenarios' / 'standards').glob('[!_]*.py')
             for node in ast.parse(path.read_text(encoding='utf-8')).body
             if isinstance(node, ast.FunctionDef) and not node.name.startswith('_')]
    assert len(names) >= 30
    assert [name for name in names if name not in page] == []
