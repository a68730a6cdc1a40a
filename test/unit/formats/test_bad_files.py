# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Broken scenario files: one mistake each, and the one line that a user reads for it.

The lines are in ``test/data/bad/expected.txt``, sorted by file name; ``{invariants}`` stands for
the names of all built-in ones.
"""

from pathlib import Path

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.errors import Problem, ScenarioError
from safety_scenarios.formats.loading import load_scenarios

DATA = Path(__file__).resolve().parents[2] / 'data'
BAD = DATA / 'bad'
LINES = [line.replace('{invariants}', ', '.join(sorted(registry.names('invariants'))))
         for line in (BAD / 'expected.txt').read_text(encoding='utf-8').splitlines()]
FILES = sorted(path.name for path in BAD.iterdir() if path.name != 'expected.txt')


def named(line: str) -> str:
    """Return the file that an expected line is about."""
    return line.partition(':')[0]


def problems(folder: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Problem, ...]:
    """Return why a file or folder, named as seen from ``folder``, is refused."""
    monkeypatch.chdir(folder)
    with pytest.raises(ScenarioError) as error:
        load_scenarios([target])
    return error.value.problems


def test_there_are_at_least_thirty_mistakes():
    assert len(FILES) >= 30


def test_every_bad_file_has_its_line_and_every_line_its_file():
    assert [named(line) for line in LINES] == FILES


@for_each('line', LINES, ids=named)
def test_one_mistake_is_told_in_one_line(line, monkeypatch):
    assert [str(problem) for problem in problems(BAD, named(line), monkeypatch)] == [line]


@for_each('line', LINES, ids=named)
def test_the_line_points_into_the_file(line):
    _, row, column, _ = line.split(':', 3)
    text = (BAD / named(line)).read_bytes().decode('utf-8', 'replace')
    rows = text.split('\n')
    assert 1 <= int(row) <= len(rows)
    assert 1 <= int(column) <= len(rows[int(row) - 1]) + 1


def test_three_mistakes_are_told_at_once_in_the_order_of_the_file(monkeypatch):
    found = problems(DATA, 'three_mistakes.yaml', monkeypatch)
    assert [(problem.line, problem.column, problem.field) for problem in found] == [
        (7, 17, 'latency_budget'), (17, 14, 'ros.stimuli[0].kind'),
        (23, 22, 'ros.reaction.signal')]


def test_an_id_in_two_files_of_a_folder_is_refused_with_both_files(monkeypatch):
    problem, = problems(DATA, 'same_id', monkeypatch)
    assert problem.field == 'id'
    assert 'SAME-001' in problem.message
    assert 'same_id/first.yaml' in str(problem)
    assert 'same_id/second.yaml' in str(problem)
