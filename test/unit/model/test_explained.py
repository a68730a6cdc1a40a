# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The docstring below a field is its help, its parameter's description, and its schema's."""

from cases import for_each
from pydantic import Field
from safety_scenarios import registry
from safety_scenarios.model.explained import explanations
from safety_scenarios.model.noun import Noun
from safety_scenarios.model.settings import ControllerSettings, leaves, RunSettings
from safety_scenarios.scenario_schema import scenario_schema


@for_each('model', [RunSettings, ControllerSettings, *(
    registry.resolve('controllers', name) for name in registry.names('controllers'))])
def test_each_option_and_parameter_has_its_help(model):
    assert not ['.'.join(path) for path, field in leaves(model) if not field.description]


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
