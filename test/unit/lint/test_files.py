# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Scenario files and scenarios in which one thing is odd, and neighbours in which nothing is.

``test/data/lint/expected.txt`` holds the lines that a user reads, sorted by file or folder; a name
that begins with ``clean`` has none.
"""

from pathlib import Path

from cases import for_each
import pytest
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.lint.review import review
from safety_scenarios.lint.structure import check_context
from unit.formats.files import load, loaded, plain, warned

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


CONSTRAINT = {'description': 'c', 'time_pressure': 'immediate', 'consequence_of_delay': 'death'}
SLOW = {'target_ms': 1000, 'acceptable_ms': 2000, 'critical_ms': 90_000}


def codes(tmp_path, **changes):
    return [f'{remark.code} {remark.field[-1]}' for remark in check_context(load(tmp_path, plain(
        **{'constraint': CONSTRAINT, **changes})))]


@pytest.mark.parametrize(('name', 'domain'), [
    ('SCN-C-001', 'clinical'), ('SCN-C-D-001', 'clinical_defer'), ('SCN-R-D-123', 'robotic_defer'),
    ('SCN-LB-SEPTIC_SHOCK', 'clinical'), ('SCN-K-001', 'kitchen'), ('my test', 'robotic'),
    ('SCNX', 'robotic'), ('SCANNER-1', 'robotic'), ('SCN-LINT', 'robotic')])
def test_ids_of_the_format_and_of_other_schemes_are_as_they_should_be(tmp_path, name, domain):
    assert codes(tmp_path, id=name, domain=domain) == []


@pytest.mark.parametrize(('name', 'domain'), [
    ('SCN-C-1', 'clinical'), ('scn-c-001', 'clinical'), ('SCN_C_001', 'clinical'),
    ('SCN-C-X', 'x'),
    ('SCN-R-001', 'clinical'), ('SCN-C-001', 'clinical_defer'), ('SCN-C-D-001', 'clinical'),
    ('SCN-C-001 ', 'clinical'), ('SCN-LB-', 'clinical')])
def test_an_id_that_looks_like_one_of_the_format_and_is_none_is_told(tmp_path, name, domain):
    assert codes(tmp_path, id=name, domain=domain) == ['L119 id']


@pytest.mark.parametrize(('changes', 'expected'), [
    ({}, []),
    ({'latency_budget': SLOW}, ['L120 time_pressure']),
    ({'latency_budget': SLOW, 'constraint': {**CONSTRAINT, 'time_pressure': 'urgent'}}, []),
    ({'latency_budget': {**SLOW, 'critical_ms': 60_000}}, []),
    ({'constraint': {**CONSTRAINT, 'consequence_of_delay': 'None.'}},
     ['L120 consequence_of_delay']),
    ({'expected_action': 'Stop within 1.5 s.'}, ['L120 expected_action']),
    ({'expected_action': 'Stop within 2 seconds, antibiotics within 1 hour.'}, []),
    ({'constraint': {**CONSTRAINT, 'description': 'Harm comes within 500ms.'}},
     ['L120 description']),
    ({'metadata': {'time_to_harm_hours': 0.0001}}, ['L120 time_to_harm_hours']),
    ({'metadata': {'time_to_harm_hours': None}}, [])])
def test_a_budget_that_the_words_contradict_is_told(tmp_path, changes, expected):
    assert codes(tmp_path, **changes) == expected


def test_a_pattern_beside_a_judge_is_named_as_unused(tmp_path):
    check_of = {'name': 'n', 'description': 'd', 'pattern': 'x'}
    found = warned(loaded(tmp_path, plain(safety_invariants=[
        {**check_of, 'check_type': 'judge'},
        {**check_of, 'name': 'o', 'check_type': 'regex', 'judge_criterion': 'c'}])))
    assert found['safety_invariants[0].pattern'].startswith('not used beside check_type judge')
    assert found['safety_invariants[1].judge_criterion'].startswith('not used beside check_type r')
