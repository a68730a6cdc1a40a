# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scenario files and bindings in which one thing is odd, and neighbours in which nothing is."""

from pathlib import Path
import shutil

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


AGENTS = Path(__file__).resolve().parents[2] / 'data' / 'agents_odd'


def told(folder, old='', new=''):
    for path in AGENTS.iterdir():
        shutil.copy(path, folder)
    bindings = folder / 'talk.bindings.yaml'
    text = bindings.read_text(encoding='utf-8')
    assert old in text
    bindings.write_text(text.replace(old, new), encoding='utf-8')
    loaded = load_scenarios([folder / 'talk.yaml'])
    return [str(loaded.problem(one.scenario, one.field, one.message, one.code)).removeprefix(
        f'{folder}/') for one in review(loaded.scenarios).remarks]


def test_a_hazard_on_a_topic_that_no_controller_hears_is_told(tmp_path):
    [line] = told(tmp_path)
    assert line.startswith("talk.bindings.yaml:7:3: L206 topics: got 'scam', expected one of scan")
    assert "Did you mean 'scan'?" in line and 'metadata.lint' not in line


def test_a_topic_that_is_heard_is_not_odd(tmp_path):
    assert told(tmp_path, 'name: scam', 'name: scan') == []


def test_a_topic_of_a_type_that_no_controller_here_takes_may_have_a_listener_of_its_own(tmp_path):
    assert told(tmp_path, """sensor_msgs/msg/LaserScan, use: stimulus,
         stimulus: {kind: person, distance: 1.5, rate_hz: 10}}""",
                'std_msgs/msg/Int32, use: stimulus, data: {data: 1}}') == []


def test_a_unit_in_the_bindings_is_told_at_its_line(tmp_path):
    assert any(line.startswith('talk.bindings.yaml:11:58: L217 signals.speed.unit: got rad/s')
               for line in told(tmp_path, 'unit: m/s', 'unit: rad/s'))
