# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Settings by dotted name and text; a docstring below a field is its help and description."""

from collections.abc import Mapping
from typing import Literal

from cases import for_each
from pydantic import Field
import pytest
from safety_scenarios import registry
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.scenario_reading import scenario_schema
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.fields import (
    described,
    explanations,
    names_of,
    read_assignments,
    setting_at,
)
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.settings import ControllerSettings, leaves, RunSettings


class Topic(Noun):
    topic: str = ''
    depth: int = Field(default=10, ge=1)


class Frame(Noun):
    frame: str
    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Server(Noun):
    model: str = ''
    timeout_s: float = 30.0


class Model(Noun):
    trials: int = 1
    controller: str = 'rule_based'
    controller_parameters: tuple[str, ...] = ()
    judge: Server = Server()
    robot: RobotModel | None = None
    topics: Mapping[str, Topic] = {}
    frames: tuple[Frame, ...] = ()
    gate: Literal['target', 'critical'] = 'critical'
    sim: bool = False
    remap: tuple[str, ...] = ()


def read(*texts):
    return read_assignments(Model, texts)


@for_each(('text', 'expected'), [
    ('trials=3', {'trials': 3}), ('judge.model=a b = c', {'judge': {'model': 'a b = c'}}),
    ('judge.timeout_s=2', {'judge': {'timeout_s': 2.0}}),
    ('judge.model=', {'judge': {'model': ''}}),
    ('robot.stopping.time=0.5', {'robot': {'stopping': {'time': 0.5}}}),
    ('topics.scan.topic=/tb4/scan', {'topics': {'scan': {'topic': '/tb4/scan'}}}),
    ('topics.scan.depth=5', {'topics': {'scan': {'depth': 5}}}),
    ('sim=off', {'sim': False}), ('gate=target', {'gate': 'target'}),
    ('remap=a:=b c:=d', {'remap': ('a:=b', 'c:=d')}), ('remap=', {'remap': ()}),
    ('remap=[a b, "c, d", off]', {'remap': ('a b', 'c, d', 'off')}),
    ('frames=[{frame: laser, translation: [0, 0, 0.3]}]',
     {'frames': ({'frame': 'laser', 'translation': (0.0, 0.0, 0.3)},)}),
    ('controller.stop_distance_m=1.0', {'controller_parameters': ('stop_distance_m=1.0',)})])
def test_a_text_becomes_what_its_setting_wants(text, expected):
    found = read(text)
    assert found == expected
    if 'robot' not in found:
        Model.model_validate(found)


@for_each(('text', 'words'), [
    ('trials=three', "--set trials: got 'three', expected a whole number"),
    ('trials', 'got no value, expected NAME=VALUE'), ('sim=maybe', 'expected true or false'),
    ('trails=3', "Did you mean 'trials'"), ('judge_model=x', "Did you mean 'judge.model'"),
    ('timeout_s=3', "Did you mean 'judge.timeout_s'"),
    ('judge=x', 'the name of a group.*judge.mod'),
    ('topics.scan.tpic=/x', "Did you mean 'topics.scan.topic'"),
    ('robot.stoping.time=1', "Did you mean 'robot.stopping.time'"),
    ('topics.scan=/x', 'expected that of one value: topics.scan.topic'),
    ('remap=[a, "b', 'closed'), ('zzz=1', 'lists all names')])
def test_a_wrong_text_is_an_error_that_says_what_is_right(text, words):
    with pytest.raises(SettingsError, match=words):
        read(text)


def test_one_name_has_one_value():
    assert read('trials=3', 'trials=3') == {'trials': 3}
    with pytest.raises(SettingsError, match="got '3' and '4', expected one value"):
        read('trials=3', 'trials=4')


def test_every_value_has_a_name_and_every_name_its_value():
    names = names_of(Model)
    assert {'trials', 'judge.model', 'robot.stopping.time', 'topics.*.topic'} <= set(names)
    assert all(setting_at(Model, name).name == name for name in names)


@for_each('model', [RunSettings, ControllerSettings, *(
    registry.resolve('controllers', name) for name in registry.names('controllers'))])
def test_each_option_and_parameter_has_its_help(model):
    fields = leaves(described(model))
    assert not ['.'.join(path) for path, field in fields if not field.description]


class First(Noun):
    """Has two fields."""

    told: int
    """Of the first, over
    two lines."""
    untold: int = 0
    said: int = Field(default=0, description='in the field')
    """Below the field."""


class Second(First):
    """Tells one anew."""

    told: int
    """Of the second."""


def test_a_field_has_the_docstring_of_the_class_that_says_it_last():
    assert explanations(First) == {'told': 'Of the first, over\ntwo lines.',
                                   'said': 'in the field'}
    assert explanations(Second)['told'] == 'Of the second.'


def test_the_schema_of_a_scenario_explains_what_is_nested_and_what_plug_ins_add():
    known = scenario_schema()['$defs']
    for name, field in (('AllClear', 'at_ms'), ('stimuli.person', 'distance'),
                        ('invariants.stop', 'hold_ms'), ('Stopping', 'deceleration')):
        assert known[name]['properties'][field]['description'], (name, field)


def test_a_description_tells_what_the_world_makes_harder(capsys):
    assert main(['scenario', 'describe', 'SCN-R-213', 'SCN-R-D-110']) == 0
    told = capsys.readouterr().out
    assert 'World (not without one): floor.friction 0.085 to 0.15' in told
    assert 'no jolts (bound): speed for every command of the time from onset to the all-clear ' \
        '(changes by at most 1 m/s in a second)' in told


def test_a_description_names_the_parameters_of_its_checks_and_its_title_once(capsys):
    assert main(['scenario', 'describe', 'SCN-R-101', 'nobody_in_the_way']) == 0
    told = capsys.readouterr().out
    assert 'stays until the all-clear (and never into reverse)' in told
    assert 'Robot: mobile_base, max_speed 1 m/s, stopping.model ' in told
    assert 'of the whole trial (or the top speed of the profile)' in told
    assert 'What: A colleague beside the path greets Tug' in told
