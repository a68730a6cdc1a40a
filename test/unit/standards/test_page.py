# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""doc/standards.md: every formula is there, and every number on it is what the code computes."""

import ast
import doctest
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / 'doc' / 'standards.md'


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
