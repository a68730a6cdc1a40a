# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Wrong draws are refused when a file is read, at their place, whatever seed would show them."""

from pathlib import Path
from typing import Any

from cases import for_each
from pydantic import Field
import pytest
from safety_scenarios import registry
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.formats.scenario_yaml.reader import read
from safety_scenarios.stimuli.bodies import Person
from steps import calls

VARIED = Path(__file__).parents[2] / 'data' / 'vary' / 'varied.yaml'
NEAR = 'near: {range: [2.05, 2.45], unit: m,'


def refused(tmp_path: Path, old: str, new: str, text: str = VARIED.read_text()) -> str:
    """Return what is said of the file with one part of it changed."""
    assert text.count(old) >= 1
    path = tmp_path / 'changed.yaml'
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    return str(caught.value)


@for_each(('old', 'new', 'message'), [
    (NEAR, 'near: {range: [2.45, 2.05], unit: m,', 'expected least < most. Swap the two'),
    (NEAR, 'near: {range: [2.1, 2.1], unit: m,', 'expected least < most'),
    (NEAR, 'near: {range: [.nan, 2.1], unit: m,', 'finite'),
    (NEAR, 'near: {range: [2.05], unit: m,', 'ros.vary.near.range'),
    (NEAR, 'near: {range: [2.05, 2.45], choice: [2.1, 2.2], unit: m,', 'one of them'),
    (NEAR, 'near: {unit: m,', 'one of them'),
    (NEAR, 'near: {choice: [2.1], unit: m,', 'at least 2'),
    (NEAR, 'near: {range: [2050, 2450], unit: mm,', 'got mm, expected m, the unit of'),
    (NEAR, 'near: {range: [2050, 2450], unit: m,', 'expected a number <= 12 (m)'),
    (NEAR, 'near: {range: [-1.0, 2.45], unit: m,', 'expected a number > 0 (m)'),
    (NEAR, "near: {choice: [2.1, '2.2'], unit: m,", 'expected a number (m)'),
    (NEAR, 'near: {rnage: [2.05, 2.45], unit: m,', "Did you mean 'range'?"),
    ('ros.stimuli[0].distance', 'ros.stimuli[2].distance', '[2] is not there, expected 0 to 1'),
    ('ros.stimuli[0].distance', 'ros.stimuli[-1].distance', '[-1] is not there'),
    ('ros.stimuli[0].distance', 'ros.stimuli[0].distanse', "'distanse' is unknown"),
    ('ros.stimuli[0].distance', 'ros.stimuli[*].distance', 'may not differ'),
    ('ros.stimuli[0].distance', 'ros.stimuli[0].topic', 'may not differ'),
    ('ros.stimuli[0].distance', 'ros.stimuli[0].rate_hz', 'may not differ'),
    ('ros.stimuli[0].distance', 'ros.stimuli[0].kind', 'may not differ'),
    ('"ros.stimuli[0].distance"', '"ros.stimuli[0]"', 'such as .distance'),
    ('[ros.all_clear.at_ms]', '["ros.nominal.stimuli[0]"]', 'such as .distance'),
    ('[ros.all_clear.at_ms]', '["ros.invariants[0]"]', 'such as .'),
    ('ros.stimuli[0].distance', 'ros.robot.max_speed', 'expected a field of ros.stimuli'),
    ('ros.stimuli[0].distance', 'latency_budget.critical_ms', 'expected a field of ros.stimuli'),
    ('ros.stimuli[0].distance', 'ros.nominal.duration_ms', 'drawn from ros.nominal.duration_ms'),
    ('ros.stimuli[0].distance', '__class__', 'expected a field of ros.stimuli'),
    ('ros.stimuli[0].distance', 'ros.stimuli[0].distance + 1', 'expressions are not supported'),
    ('"ros.stimuli[0].bearing"', '"ros.stimuli[0].distance"', "which 'near' sets too"),
    ('[scan], [human_pose],', '[scann], [human_pose],', "Did you mean 'scan'?"),
    ('[scan], [human_pose],', '[], [human_pose],', 'at least one topic'),
    ('[scan], [human_pose],', 'scan, human_pose,', 'expected a list of at least one topic'),
    ('[[scan], [human_pose], [scan, human_pose]]', '[[scan], [scan]]', 'is never shown'),
    ('keeps: ros.stimuli', 'keeps: ros.nominal.stimuli', "expected 'ros.stimuli'"),
    ('keeps: ros.stimuli', 'unit: m', 'a draw that nothing uses'),
    ('choice: [2000, 3000]', 'choice: [600, 3000]', 'could not be seen to hold'),
    ('choice: [2000, 3000]', 'choice: [3000, 600, 3000]', 'could not be seen to hold'),
    ('choice: [2000, 3000]', 'choice: [2, 3]', 'In seconds? Then write 2000'),
    ('range: [-0.2, 0.2]', 'range: [-12, 12]', 'In degrees? Then write -0.2094'),
    ('  vary:', '  varies:', "Did you mean 'vary'?"),
    ('range: [2.05, 2.45]', 'range: [2.05, 99]', 'with near = 99.0: ros.stimuli[0].distance'),
    ('sets: [ros.all_clear.at_ms]', 'sets: []', 'a draw that nothing uses'),
    ('sets: [ros.all_clear.at_ms]', 'sets: ros.all_clear.at_ms', 'expected a list'),
    ('      - {kind: person, topic: human_pose, distance: 6.0, rate_hz: 20}\n', '',
     'would give the hazard away')])
def test_a_wrong_draw_is_refused(tmp_path, old, new, message):
    said = refused(tmp_path, old, new)
    assert message in said
    assert 'Traceback' not in said and 'changed.yaml:' in said


def test_the_place_of_a_wrong_draw_is_told(tmp_path):
    line = next(number for number, text in enumerate(VARIED.read_text().splitlines(), 1)
                if text.startswith('    near:'))
    said = refused(tmp_path, NEAR, 'near: {range: [2.05, 40.0], unit: m,')
    assert f'changed.yaml:{line}:11: ros.vary.near: with near = 40.0' in said


def test_a_range_that_only_its_middle_breaks_is_refused(tmp_path):
    """A number of people is whole at both ends of the range, and not between them."""
    said = refused(tmp_path, 'near: {range: [2.05, 2.45], unit: m, sets: ["ros.stimuli[0].distan'
                   'ce", "ros.stimuli[1].distance"]}',
                   'people: {range: [1, 3], sets: ["ros.stimuli[0].count"]}')
    assert 'a whole number' in said


def test_a_pair_of_extremes_that_only_together_are_wrong_is_refused(tmp_path):
    """The longest hold fits before the late all-clear, and not before the early one."""
    said = refused(tmp_path, 'side: {range: [-0.2, 0.2], unit: rad, sets: ["ros.stimuli[0].bearin'
                   'g", "ros.stimuli[1].bearing"]}',
                   'hold: {choice: [1000.0, 1600.0], sets: ["ros.invariants[0].hold_ms"]}',
                   VARIED.read_text().replace('at_ms: 2000', 'at_ms: 3000'))
    assert 'with hold = 1600.0, all_clear = 2000: ' in said
    assert 'could not be seen to hold' in said


def test_a_file_that_was_read_before_takes_a_fifth_of_the_work_and_says_the_same(tmp_path):
    path = tmp_path / 'new.yaml'
    path.write_text(f'{VARIED.read_text()}# never read before: {tmp_path}\n')
    found = []
    first, again = (calls(lambda: found.append(load_scenario(path))) for _ in range(2))
    assert again < first / 5 and found[0] == found[1]


def test_what_is_wrong_with_a_draw_is_told_however_often_a_file_is_read(tmp_path):
    wrong = NEAR, 'near: {range: [2.05, 40.0], unit: m,'
    assert refused(tmp_path, *wrong) == refused(tmp_path, *wrong)


def test_a_draw_that_was_right_by_other_plug_ins_is_looked_at_again():
    class Near(Person):
        distance: float = Field(gt=0, le=2.4)

    def resolve(kind: str, name: str) -> Any:
        return Near if (kind, name) == ('stimuli', 'person') else registry.resolve(kind, name)
    load_scenario(VARIED)
    raw = VARIED.read_bytes().replace(b'distance: 6.0', b'distance: 2.1')
    problems = {one: read('v.yaml', raw, Document('v.yaml', raw), one).problems
                for one in (registry.resolve, resolve)}
    assert problems[registry.resolve] == []
    assert 'near = 2.45' in problems[resolve][0].message
