# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What doc/python.md shows works as it is printed there."""

from pathlib import Path
import re

import pytest

pytestmark = pytest.mark.slow
PAGE = Path(__file__).resolve().parents[2] / 'doc' / 'python.md'
BLOCKS = re.findall(r'^```python\n(.*?)^```$', PAGE.read_text(encoding='utf-8'), re.M | re.S)
TESTS = [block for block in BLOCKS if block.startswith('# test_')]
EXAMPLES = [block for block in BLOCKS if not block.startswith('# test_')]
pytest_plugins = ('pytester',)


def test_the_page_has_its_examples():
    assert len(EXAMPLES) >= 7 and len(TESTS) == 1
    assert PAGE.read_text(encoding='utf-8').count('```python') == len(BLOCKS)


@pytest.mark.parametrize('example', EXAMPLES, ids=[str(one) for one in range(len(EXAMPLES))])
def test_an_example_runs(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # where it stands in the page, for what reads the source of its classes there, as pydantic does
    above = PAGE.read_text(encoding='utf-8').partition(example)[0].count('\n')
    exec(compile('\n' * above + example, str(PAGE), 'exec'), {'__name__': 'example'})


@pytest.mark.slow
def test_the_test_file_passes(pytester):
    pytester.makepyfile(test_my_robot=TESTS[0])
    pytester.runpytest_subprocess().assert_outcomes(passed=3)
