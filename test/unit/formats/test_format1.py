# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Format 1 and its schema: where document, loader, schema and files disagree, and what we do."""

from copy import deepcopy
import json
import math
from pathlib import Path
import random
from typing import Any

from examples import some
import fast_yaml
from jsonschema import Draft202012Validator
import pytest
from safety_scenarios.cli.listing import schema_of
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from safety_scenarios.judging.invariants.statements import Judge
from safety_scenarios.judging.invariants.text import Text
from unit.formats.files import (
    CONTAINS,
    holder,
    load,
    loaded,
    places,
    plain,
    refused,
    warned,
    write,
)


def test_urgent_is_a_time_pressure(tmp_path):
    constraint = {**plain()['constraint'], 'time_pressure': 'urgent'}
    assert load(tmp_path, plain(constraint=constraint)).constraint.time_pressure == 'urgent'


@pytest.mark.parametrize('pressure', ['soon', '', None, 3])
def test_a_time_pressure_outside_the_four_is_refused(tmp_path, pressure):
    constraint = {**plain()['constraint'], 'time_pressure': pressure}
    assert 'constraint.time_pressure' in refused(tmp_path, plain(constraint=constraint))


def test_a_custom_domain_is_accepted_with_a_warning(tmp_path):
    found = loaded(tmp_path, plain(domain='maritime'))
    assert found.scenarios[0].domain == 'maritime'
    assert 'maritime' in warned(found)['domain']


@pytest.mark.parametrize('domain', ['clinical', 'robotic', 'clinical_defer', 'robotic_defer'])
def test_the_four_domains_give_no_warning(tmp_path, domain):
    assert not loaded(tmp_path, plain(domain=domain)).warnings


@pytest.mark.parametrize(('domain', 'restraint'), [
    ('clinical', False), ('robotic', False), ('clinical_defer', True), ('robotic_defer', True),
    ('maritime_defer', True)])
def test_defer_means_restraint(tmp_path, domain, restraint):
    assert load(tmp_path, plain(domain=domain)).is_benign is restraint


@pytest.mark.parametrize('name', ['SCN-C-D-001', 'SCN-LB-SEPTIC_SHOCK', 'x', 'a/b c'])
def test_an_id_may_have_any_shape(tmp_path, name):
    assert load(tmp_path, plain(id=name)).id == name


def test_a_whole_number_is_an_id(tmp_path):
    assert load(tmp_path, plain(id=7)).id == '7'


@pytest.mark.parametrize('name', ['', None, [], True])
def test_an_id_that_is_no_name_is_refused(tmp_path, name):
    assert 'id' in refused(tmp_path, plain(id=name))


def test_invariants_rubric_and_severity_are_optional(tmp_path):
    found = load(tmp_path, plain(safety_invariants=..., rubric=..., severity=...))
    assert (found.safety_invariants, found.rubric, found.severity) == ((), 'rubric_clinical', 1.0)


def test_a_file_that_checks_nothing_says_so(tmp_path):
    for invariants in (..., [], None):
        assert 'nothing is checked' in warned(
            loaded(tmp_path, plain(safety_invariants=invariants)))['']


@pytest.mark.parametrize('key', [
    'id', 'name', 'domain', 'description', 'messages', 'latency_budget', 'constraint',
    'expected_action'])
def test_the_other_keys_are_required(tmp_path, key):
    assert refused(tmp_path, plain(**{key: ...}))[key].startswith('missing')


@pytest.mark.parametrize(('domain', 'rubric'), [
    ('clinical', 'rubric_clinical'), ('clinical_defer', 'rubric_clinical'),
    ('robotic', 'rubric_robotic'), ('robotic_defer', 'rubric_robotic')])
def test_the_default_rubric_is_that_of_the_domain(tmp_path, domain, rubric):
    assert load(tmp_path, plain(domain=domain, rubric=...)).rubric == rubric


def test_a_given_rubric_is_kept(tmp_path):
    assert load(tmp_path, plain(domain='robotic', rubric='rubric_clinical')).rubric == \
        'rubric_clinical'


def test_contains_ignores_case(tmp_path):
    check = load(tmp_path, plain()).safety_invariants[0]
    assert isinstance(check, Text)
    assert check.holds('please CALL THE TEAM')


def test_contains_minds_case_where_our_extension_asks_for_it(tmp_path):
    exact = {**CONTAINS, 'case_sensitive': True}
    check = load(tmp_path, plain(safety_invariants=[exact])).safety_invariants[0]
    assert isinstance(check, Text)
    assert check.holds('Call the team') and not check.holds('call the team')


def test_the_judge_is_asked_its_criterion(tmp_path):
    block = {'name': 'j', 'description': 'It is kind.', 'check_type': 'judge'}
    asked, unasked = load(tmp_path, plain(safety_invariants=[
        {**block, 'judge_criterion': 'Is it kind?'}, block])).safety_invariants
    assert isinstance(asked, Judge) and isinstance(unasked, Judge)
    assert asked.judge_criterion == 'Is it kind?'
    assert unasked.judge_criterion is None


@pytest.mark.parametrize('severity', [-0.01, 1.01, 7, math.nan, math.inf, True, '1.0'])
def test_a_severity_outside_zero_to_one_is_refused(tmp_path, severity):
    assert 'severity' in refused(tmp_path, plain(severity=severity))
    block = {**CONTAINS, 'severity': severity}
    assert 'safety_invariants[0].severity' in refused(tmp_path, plain(safety_invariants=[block]))


@pytest.mark.parametrize('severity', [0, 0.0, 0.85, 1, 1.0])
def test_a_severity_from_zero_to_one_is_kept(tmp_path, severity):
    found = load(tmp_path, plain(severity=severity,
                                 safety_invariants=[{**CONTAINS, 'severity': severity}]))
    assert found.severity == found.safety_invariants[0].severity == severity


@pytest.mark.parametrize('target', [0, -500, math.nan, math.inf, True, '500', None])
def test_a_budget_that_is_no_positive_number_is_refused(tmp_path, target):
    budget = {**plain()['latency_budget'], 'target_ms': target}
    assert 'latency_budget.target_ms' in refused(tmp_path, plain(latency_budget=budget))


@pytest.mark.parametrize('budget', [(1000, 500, 2000), (500, 2000, 1000), (2000, 1000, 500)])
def test_a_budget_out_of_order_is_refused(tmp_path, budget):
    keys = ('target_ms', 'acceptable_ms', 'critical_ms')
    problems = refused(tmp_path, plain(latency_budget=dict(zip(keys, budget, strict=True))))
    assert 'target_ms <= acceptable_ms <= critical_ms' in problems['latency_budget']


def test_a_budget_too_long_to_wait_for_is_refused(tmp_path):
    budget = {**plain()['latency_budget'], 'critical_ms': 1e308}
    assert refused(tmp_path, plain(latency_budget=budget))


def test_three_equal_limits_are_a_budget(tmp_path):
    budget = {'target_ms': 5, 'acceptable_ms': 5, 'critical_ms': 5.0}
    assert load(tmp_path, plain(latency_budget=budget)).latency_budget.critical_ms == 5.0


@pytest.mark.parametrize(('key', 'default'), [
    ('safety_invariants', ()), ('rubric', 'rubric_clinical'), ('severity', 1.0), ('tags', ()),
    ('metadata', {})])
def test_null_means_the_default_and_warns(tmp_path, key, default):
    found = loaded(tmp_path, plain(**{key: None}))
    assert getattr(found.scenarios[0], key) == default
    assert key in warned(found)


@pytest.mark.parametrize(('key', 'default'), [
    ('severity', 1.0), ('pattern', None), ('judge_criterion', None)])
def test_null_in_an_invariant_means_the_default(tmp_path, key, default):
    check = load(tmp_path, plain(safety_invariants=[{**CONTAINS, key: None}])).safety_invariants[0]
    assert getattr(check, key) == default


def test_a_folder_gives_its_yaml_and_yml_files_to_the_bottom(tmp_path):
    (tmp_path / 'deep').mkdir()
    write(tmp_path / 'b.yaml', plain(id='B'))
    write(tmp_path / 'deep' / 'a.yml', plain(id='A'))
    write(tmp_path / 'notes.txt', 'not a scenario')
    assert [found.id for found in load_scenarios([str(tmp_path)]).scenarios] == ['B', 'A']


def test_an_id_given_twice_is_refused_with_both_files(tmp_path):
    write(tmp_path / 'a.yaml', plain(id=7))
    write(tmp_path / 'b.yml', plain(id='7'))
    with pytest.raises(ScenarioError, match=r"(?s)b\.yml: id: '7' is also the id of .*a\.yaml"):
        load_scenarios([str(tmp_path)])


def test_a_file_named_twice_is_one_scenario(tmp_path):
    path = write(tmp_path / 'a.yaml', plain())
    assert len(load_scenarios([path, path]).scenarios) == 1


def test_a_key_given_twice_is_refused_with_its_line(tmp_path):
    problems = refused(tmp_path, 'name: a\nseverity: 1.0\nmessages: []\nseverity: 0.1\n')
    assert 'twice, first in line 2' in problems['severity']


def test_a_key_given_twice_deep_inside_is_refused(tmp_path):
    problems = refused(tmp_path, 'messages: []\nmetadata:\n  a: {b: 1, b: 2}\n')
    assert 'twice' in problems['metadata.a.b']


@pytest.mark.parametrize('pattern', ['(', '[z-a]', 'a**', '(?=stop)', r'(a)\1', '(?<!no )stop'])
def test_a_bad_regular_expression_is_refused_with_file_name_and_place(tmp_path, pattern):
    block = {'name': 'finds it', 'description': 'd', 'check_type': 'regex', 'pattern': pattern}
    with pytest.raises(ScenarioError) as error:
        load(tmp_path, plain(safety_invariants=[CONTAINS, block]))
    problem = error.value.problems[0]
    assert problem.path.endswith('scenario.yaml') and problem.line is not None
    assert problem.field == 'safety_invariants[1]'
    assert "'finds it'" in problem.message and repr(pattern) in problem.message


def test_an_unknown_check_type_is_refused(tmp_path):
    block = {**CONTAINS, 'check_type': 'equals'}
    assert 'expected one of regex, contains, not_contains, judge' in refused(
        tmp_path, plain(safety_invariants=[block]))['safety_invariants[0].check_type']


def test_a_file_is_read_by_its_path_object(tmp_path):
    write(tmp_path / 'a.yaml', plain())
    assert load_scenario(tmp_path / 'a.yaml').id == 'SCN-C-001'


CONFIG = Path(__file__).resolve().parents[3] / 'config' / 'scenarios'
SCENARIOS = [fast_yaml.load(path.read_text(encoding='utf-8')) for path in (
    *sorted((CONFIG / 'clinical').glob('*.yaml')),
    *sorted((CONFIG / 'robotic').glob('*.yaml')))]
ODD = (None, [], {}, [None], 'text', 0, -1.5, True, [[]], {'a': 1})
TOP = ('messages', 'constraint', 'expected_action', 'safety_invariants', 'rubric', 'severity',
       'tags', 'metadata', 'hazards', 'requirements', 'clauses')
LABELS: tuple[Any, ...] = (
    None, [], 'REQ-1', ['REQ-1', 2], {}, [{'a': 1}], [None], '', [''], 1, True, [1.5])
VALIDATOR = Draft202012Validator(schema_of('scenario'))


def loads(folder: Path, data: Any) -> bool:
    path = folder / 'a.json'
    path.write_text(json.dumps(data), encoding='utf-8')
    try:
        load_scenarios([str(path)])
    except InputError:
        return False
    return True


def put(data: Any, way: tuple[Any, ...], value: Any) -> Any:
    changed = deepcopy(data)
    holder(changed, way)[way[-1]] = value
    return changed


@pytest.mark.parametrize('key', TOP)
@pytest.mark.parametrize('place', [0, -1], ids=['clinical', 'robotic'])
def test_a_key_without_a_value_is_the_same_to_both(tmp_path, key, place):
    data = {**SCENARIOS[place], key: None}
    assert VALIDATOR.is_valid(data) is loads(tmp_path, data)


@pytest.mark.parametrize('key', ['hazards', 'requirements', 'clauses'])
@pytest.mark.parametrize('value', LABELS, ids=str)
def test_labels_are_the_same_to_both(tmp_path, key, value):
    data = {**SCENARIOS[0], key: value}
    assert VALIDATOR.is_valid(data) is loads(tmp_path, data)


def test_what_the_reader_takes_the_schema_takes(tmp_path):
    chance = random.Random(5)
    for data in some(SCENARIOS):
        assert VALIDATOR.is_valid(data)
        drawn = str(data.get('ros', {}).get('vary'))  # whose values replace what stands there
        for way in chance.sample(list(places(data)), 12):
            if str(way[-1]) in drawn:
                continue
            changed = put(data, way, chance.choice(ODD))
            if not VALIDATOR.is_valid(changed):
                assert not loads(tmp_path, changed), (way, changed)


@pytest.mark.parametrize(('way', 'value'), [
    (('ros', 'nominal', 'duration_ms'), 0), (('ros', 'nominal', 'duration_ms'), [500, 900]),
    (('ros', 'nominal', 'duration_ms'), [900]), (('ros', 'nominal', 'duration_ms'), 'long'),
    (('ros', 'nominal', 'changes', 0, 'lasts_ms'), 700),
    (('ros', 'nominal', 'changes', 0, 'begins_ms'), [900])],
    ids=str)
def test_a_range_may_be_one_number_to_both(tmp_path, way, value):
    data = put(SCENARIOS[-1], way, value)
    assert VALIDATOR.is_valid(data) is loads(tmp_path, data)


@pytest.mark.parametrize('content', ['text', [], [{'type': 'text', 'text': 'a'}], ['a'], None, 3],
                         ids=str)
def test_a_message_may_come_in_parts_to_both(tmp_path, content):
    data = put(SCENARIOS[0], ('messages', 0, 'content'), content)
    assert VALIDATOR.is_valid(data) is loads(tmp_path, data)
