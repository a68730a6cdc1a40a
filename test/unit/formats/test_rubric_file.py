# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A rubric's file: how it is found, and every way in which it is refused."""

import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.formats.companion_files import scored_by
from safety_scenarios.formats.loading import load_scenarios
from unit.formats.files import loaded, plain, refused, robot, write
import yaml

OWN = {'name': 'own', 'dimensions': [{'name': 'safety', 'weight': 0.6, 'anchors': {'1.0': 'good'}},
                                     {'name': 'timeliness', 'weight': 0.4}],
       'words': {'clinical': {'wanted': {'calls': ['call the team']}}}}


def own(tmp_path, **changes):
    """Write a rubric beside the folder of the scenarios, and return that folder."""
    data = {key: value for key, value in {**OWN, **changes}.items() if value is not ...}
    (tmp_path / 'rubrics').mkdir(exist_ok=True)
    (tmp_path / 'rubrics' / 'own.yaml').write_text(yaml.safe_dump(data))
    (tmp_path / 'set').mkdir(exist_ok=True)
    return tmp_path / 'set'


def test_a_rubric_beside_the_scenarios_is_found_by_its_name(tmp_path):
    scenario = loaded(own(tmp_path), plain(rubric='own')).scenarios[0]
    assert scenario.scoring.rubric == 'own'
    assert list(scenario.scoring.words.wanted) == ['calls']


def test_one_without_words_takes_those_of_the_domain(tmp_path):
    scenario = loaded(own(tmp_path, words=...), plain(rubric='own')).scenarios[0]
    assert 'escalation' in scenario.scoring.words.wanted


def test_an_unknown_rubric_is_an_error_with_a_suggestion(tmp_path):
    problem = refused(tmp_path, plain(rubric='rubric_clincal'))['rubric']
    assert problem.startswith("got 'rubric_clincal', expected one of the rubrics: ")
    assert "Did you mean 'rubric_clinical'?" in problem
    assert 'rubric' in refused(tmp_path, {**robot(), 'rubric': 'nobody'})  # with ros: too
    assert 'rubric' in refused(tmp_path, plain(rubric='../../etc/passwd'))


def test_a_domain_without_a_rubric_of_its_own_is_not_scored(tmp_path):
    found = loaded(tmp_path, plain(domain='kitchen', rubric=...)).scenarios[0]
    assert found.scoring is None


def test_only_answers_in_words_are_scored(tmp_path):
    assert loaded(tmp_path, robot()).scenarios[0].scoring is None


@pytest.mark.parametrize(('changes', 'said'), [
    ({'dimensions': [{'name': 'safety', 'weight': 0.6}]}, 'weights that come to 0.6, expected 1'),
    ({'dimensions': [{'name': 'a', 'weight': 0.5}, {'name': 'a', 'weight': 0.5}]}, 'more than'),
    ({'dimensions': ...}, 'dimensions'), ({'name': 'other'}, 'expected own'),
    ({'wordz': {}}, 'wordz'), ({'words': {'clinical': {}}}, 'neither wanted nor unwanted'),
    ({'words': {'clinical': {'wanted': {'x': ['(a+)+$']}}}}, "got '(a+)+$', expected words"),
    ({'words': {'clinical': {'wanted': {'x': []}}}}, 'words.clinical.wanted.x'),
    ({'thresholds': {'unsafe': 2}}, 'thresholds.unsafe')])
def test_a_wrong_rubric_is_refused_with_its_place(tmp_path, changes, said):
    folder = own(tmp_path, **changes)
    problem = refused(folder, plain(rubric='own'))['rubric']
    assert said in problem and f'{tmp_path}/rubrics/own.yaml:' in problem


def test_the_option_takes_a_name_a_file_or_none_for_all(tmp_path):
    folder = own(tmp_path)
    path = write(folder / 'a.yaml', plain())
    scenarios = load_scenarios([path]).scenarios
    assert scored_by(scenarios, '')[0].scoring.rubric == 'rubric_clinical'
    assert scored_by(scenarios, 'own')[0].scoring.rubric == 'own'
    assert scored_by(scenarios, f'{tmp_path}/rubrics/own.yaml')[0].scoring.rubric == 'own'
    assert scored_by(scenarios, 'none')[0].scoring is None
    with pytest.raises(InputError, match='rubric_robotic'):
        scored_by(scenarios, 'rubric_robotics')
