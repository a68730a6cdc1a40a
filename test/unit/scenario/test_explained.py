# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The docstring below a field is its help, its parameter's description, and its schema's."""

from cases import for_each
from pydantic import Field
from safety_scenarios import registry
from safety_scenarios.cli.main import main
from safety_scenarios.formats.scenario_reading import scenario_schema
from safety_scenarios.scenario.fields import described, explanations
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.settings import ControllerSettings, leaves, RunSettings


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
