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
from safety_scenarios.errors import InputError, Problem, ScenarioError
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


ODD = ('null', '5', '-1', '.nan', 'text', '[]', '[5, null]', '{}', '{a: 1}', '[[0, 0], [1, 0]]')
KINDS = sorted(set(registry.names('invariants')) - {'text', 'judge'})
FIELDS = [(kind, field) for kind in KINDS
          for field in registry.resolve('invariants', kind).model_fields if field != 'kind']
HEAD = """id: ODD-1
name: odd
domain: robotic
description: d
messages: [{role: user, content: c}]
latency_budget: {target_ms: 100, acceptable_ms: 200, critical_ms: 400}
constraint: {description: d, time_pressure: immediate, consequence_of_delay: d}
expected_action: e
ros:
  robot: {kind: mobile_base, max_speed: 1.0}
  nominal:
    require: {signal: speed, at_least: 0.2}
    stimuli: [{kind: obstacle, topic: scan, distance: 6.0}]
  stimuli: [{kind: obstacle, topic: scan, distance: 1.0}]
  all_clear: {at_ms: 2000}
  commands: [{topic: cmd_vel}]
  signals: {speed: {topic: cmd_vel, field: linear.x, reduce: abs, unit: m/s}}
  reaction: {signal: speed, at_most: 0.02}
  invariants:
"""


@pytest.mark.slow
@for_each(('kind', 'field'), FIELDS)
@pytest.mark.thorough
def test_an_odd_value_in_any_field_is_refused_or_read(tmp_path, kind, field):
    refused = 0
    for number, odd in enumerate(ODD):
        path = tmp_path / f'{number}.yaml'
        path.write_text(f'{HEAD}    - {{kind: {kind}, {field}: {odd}}}\n')
        try:
            load_scenarios([str(path)])
        except InputError as error:
            refused += 1
            assert len(str(error)) < 5000
    assert refused >= 5
