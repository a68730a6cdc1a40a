# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Files of which no test would be run are not even collected in daily work.

To collect a file is to import it, and with it whatever it reads and needs. Left out are those
that carry as a whole a marker that ``-m`` does without, and those that talk DDS. A file that is
named is collected whatever it carries, and so is every file where all examples are tried.
"""

import ast
from pathlib import Path
import re

from alone import MEASURES
from examples import FEW
import pytest

_WITHOUT = re.compile(r'not \w+(?: and not \w+)*')
"""What is understood of ``-m``; by anything else nothing is left out."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file out; None: whatever else decides."""
    return True if FEW and is_needless(collection_path, config.option.markexpr) else None


def is_needless(path: Path, expression: str) -> bool:
    """Return whether every test in a file has a marker that an expression does without."""
    if not re.fullmatch(r'test_\w+\.py', path.name) or not _WITHOUT.fullmatch(expression):
        return False
    return not _markers(path).isdisjoint(re.findall(r'not (\w+)', expression))


def _markers(path: Path) -> set[str]:
    """Return the markers that a file gives all of its tests, as far as it says so plainly."""
    found = {'alone'} if path.parent.name == MEASURES else set[str]()
    text = path.read_text(encoding='utf-8')
    if '\npytestmark = ' in text:  # a look is quicker than to parse it
        for statement in ast.parse(text).body:
            if isinstance(statement, ast.Assign) and ast.unparse(
                    statement.targets[0]) == 'pytestmark':
                found |= {marker.removeprefix('pytest.mark.')
                          for marker in map(ast.unparse, _listed(statement.value))}
    return found | ({'alone'} if 'dds' in found else set())


def _listed(value: ast.expr) -> list[ast.expr]:
    return value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
