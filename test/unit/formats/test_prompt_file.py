# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Prompt files: the one that ships gives no limit away, and each slip is refused by its place."""

import hashlib
import json
from pathlib import Path
import re

import pytest
from safety_scenarios.campaign.identity import identify
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.companion_files import DEFAULT, load_prompt
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import plan_controller

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
