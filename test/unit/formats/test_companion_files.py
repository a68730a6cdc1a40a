# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Companion files, for rubrics and prompts: how they are found, and each slip is refused."""

import hashlib
import json
from pathlib import Path
import re

import pytest
from safety_scenarios.campaign.identity import identify
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.companion_files import DEFAULT, load_prompt, scored_by
from safety_scenarios.formats.loading import load_scenarios, share_folder
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import plan_controller
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
    ({'dimensions': [{'name': 'Safety', 'weight': 1.0}]}, "expected 'safety', which is scored"),
    ({'thresholds': {'unsafe': 2}}, 'thresholds.unsafe')])
def test_a_wrong_rubric_is_refused_with_its_place(tmp_path, changes, said):
    folder = own(tmp_path, **changes)
    problem = refused(folder, plain(rubric='own'))['rubric']
    assert said in problem and f'{tmp_path}/rubrics/own.yaml:' in problem


def test_word_lists_of_a_misspelt_domain_are_refused_and_those_of_another_one_are_not(tmp_path):
    words = OWN['words']['clinical']
    problem = refused(own(tmp_path, words={'Clinical': words}), plain(rubric='own'))['rubric']
    assert "got the domain 'Clinical', expected 'clinical'" in problem
    for name in 'clinical_defer', 'ward_7':
        [scenario] = loaded(own(tmp_path, words={name: words}), plain(rubric='own')).scenarios
        assert scenario.scoring.words is None


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


MINE = """\
system: Drive.
actions:
  go: 0.8
  turn: {velocity: [0.2, 0.5], description: Turn left.}
  halt: {share: 0}
call: tools
describe: {corridor_m: 0.4, topics: [scan]}
"""
SLIPS = {
    'a misspelt key': (('system:', 'sytem:'), '1:1', "Did you mean 'system'?"),
    'no system': (('system: Drive.\n', ''), '1:1', 'system: missing'),
    'a name with a blank': (('  go:', '  go on:'), '3:10', "got the name 'go on', expected"),
    'a share in words': (('0.8', 'fast'), '3:7', 'expected a share of the top speed'),
    'a share above 1': (('0.8', '1.5'), '3:7', 'expected a number <= 1'),
    'two motions': (('{share: 0}', '{share: 0, velocity: [0]}'), '5:9', 'either share or'),
    'no motion': (('{share: 0}', '{}'), '5:9', 'either share or'),
    'a velocity in words': (('[0.2, 0.5]', '[a, 0.5]'), '4:21', "got 'a', expected a number"),
    'another way to call': (('call: tools', 'call: tool'), '6:7', "Did you mean 'tools'?"),
    'a corridor of nothing': (('0.4', '0'), '7:24', 'expected a number > 0'),
    'no mapping': ((MINE, 'Drive.'), '1:1', 'expected a mapping with system and actions'),
}


def test_a_prompt_is_read_with_numbers_and_lists_as_short_forms(tmp_path: Path) -> None:
    (tmp_path / 'mine.yaml').write_text(MINE)
    prompt = load_prompt(str(tmp_path / 'mine.yaml'))
    assert {name: (action.share, action.velocity) for name, action in prompt.actions.items()} == {
        'go': (0.8, None), 'turn': (None, (0.2, 0.5)), 'halt': (0.0, None)}
    assert (prompt.call, prompt.reason, prompt.describe.topics) == ('tools', True, ('scan',))


@pytest.mark.parametrize('slip', SLIPS)
def test_a_slip_is_refused_with_its_place_before_anything_runs(slip: str, tmp_path: Path) -> None:
    (before, after), place, advice = SLIPS[slip]
    path = tmp_path / 'mine.yaml'
    assert before in MINE
    path.write_text(MINE.replace(before, after, 1))
    with pytest.raises(ScenarioError, match=re.escape(advice)) as refused:
        plan_controller(RunSettings(controller='llm',
                                    controller_parameters=('model=m', f'prompt={path}')))
    assert f'{path}:{place}: ' in str(refused.value)


def test_a_name_that_does_not_ship_is_refused_with_those_that_do() -> None:
    with pytest.raises(InputError, match='expected the path of a YAML file, or one of '
                                         "language_model. Did you mean 'language_model'"):
        load_prompt('languag_model')


def test_the_prompt_that_ships_gives_no_limit_away() -> None:
    prompt = load_prompt(DEFAULT)
    words = ' '.join([prompt.system, *(one.description for one in prompt.actions.values())])
    assert not re.search(r'\d|half a|quarter|metre|newton|second', words.lower())
    assert {name: action.share for name, action in prompt.actions.items()} == {
        'continue': 0.8, 'slow': 0.4, 'stop': 0.0}


def test_label_and_hash_of_a_prompt_file_stand_in_the_results(tmp_path: Path) -> None:
    path = tmp_path / 'mine.yaml'
    path.write_text(MINE)
    settings = RunSettings(controller='llm', controller_parameters=('model=m', f'prompt={path}'))
    spec = plan_controller(settings).spec
    assert spec.parameters == {'model': 'm', 'prompt': str(path)}
    [artifact] = identify(settings, spec, None, None).identity.artifacts
    assert artifact.given_by == 'controller.prompt'
    assert artifact.sha256 == hashlib.sha256(MINE.encode()).hexdigest()
    assert plan_controller(RunSettings(controller='llm', controller_parameters=(
        'model=m', 'fallback=rule_based'))).spec.label == 'llm(model=m, fallback=rule_based)'


def test_the_example_of_the_manual_can_be_read(tmp_path: Path) -> None:
    manual = (share_folder() / 'doc' / 'reference' / 'policies.md').read_text(encoding='utf-8')
    [example] = [one for one in re.findall(r'```yaml\n(.+?)```', manual, re.DOTALL)
                 if one.startswith('system:')]
    (tmp_path / 'mine.yaml').write_text(example)
    prompt = load_prompt(str(tmp_path / 'mine.yaml'))
    assert json.loads(prompt.model_dump_json())['actions']['turn_left']['velocity'] == [0.2, 0.5]
