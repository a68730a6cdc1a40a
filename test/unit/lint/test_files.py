# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Scenario files in which one thing is odd, and their neighbours in which nothing is.

``test/data/lint/expected.txt`` holds the lines that a user reads, sorted by file or folder; a name
that begins with ``clean`` has none.
"""

from pathlib import Path

from cases import for_each
import pytest
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.lint.review import review

DATA = Path(__file__).resolve().parents[2] / 'data' / 'lint'
LINES = (DATA / 'expected.txt').read_text(encoding='utf-8').splitlines()
NAMES = sorted(path.name for path in DATA.iterdir() if path.name != 'expected.txt')
ODD = [name for name in NAMES if not name.startswith('clean')]


def warnings(name: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what ``validate`` warns of, for a file or folder named as seen from its folder."""
    monkeypatch.chdir(DATA)
    loaded = load_scenarios([name])
    return [*map(str, loaded.warnings), *(
        str(loaded.problem(remark.scenario, remark.field, remark.message, remark.code))
        for remark in review(loaded.scenarios).remarks)]


@for_each('name', ODD)
def test_what_is_odd_is_told_with_its_place(name, monkeypatch):
    expected = [line for line in LINES if line.startswith((f'{name}:', f'{name}/'))]
    assert expected and warnings(name, monkeypatch) == expected


@for_each('name', ODD)
def test_a_file_is_named_after_its_code(name):
    codes = {line.split(': ')[1].partition(' ')[0] for line in LINES if line.startswith(name)}
    assert codes == {name.partition('_')[0]}


@for_each('name', [name for name in NAMES if name not in ODD])
def test_its_neighbour_is_clean(name, monkeypatch):
    assert warnings(name, monkeypatch) == []


def test_every_code_has_an_example():
    assert {name.partition('_')[0] for name in ODD} == {
        f'L{number}' for number in (*range(101, 109), *range(110, 119), *range(121, 125))}
