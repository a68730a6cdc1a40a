# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""doc/reference/standards.md has every formula, and every number is what the code computes."""

import ast
import doctest
from pathlib import Path

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
