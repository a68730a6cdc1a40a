# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Of SDF that is read which this world can have, and nothing of it is left out in silence."""

from cases import for_each
import pytest
from safety_scenarios.ros.worlds.embedded.poses import ContentError, FormatError, read_sdf
from safety_scenarios.ros.worlds.external.bodies import models_of
from safety_scenarios.scenario.world_body import ADULT_M, Solid
from safety_scenarios.stimuli.bodies import ObstacleAt, PersonAt

BOX = models_of(ObstacleAt(distance=1, lateral=0, width=1.2, height=0.5, closing_speed=0,
                           nearest=1), True)[0].sdf(
    'box', 'robot', 'ignition')


def test_shapes_of_our_adapter_arrive_as_they_are():
    person = models_of(PersonAt(distance=2, bearing=0, speed=0, nearest=1), False)[0]
    name, shape = read_sdf(person.sdf('person', 'robot', 'gz'))
    assert name == 'person'
    assert shape == person.solid == Solid('cylinder', 0.5, 0.5, ADULT_M, 0.0, False)
    assert read_sdf(BOX)[1] == Solid('box', 0.4, 1.2, 0.5, 0.0, True)


@for_each(('old', 'new', 'kind'), [
    ('<static>true', '<static>false', ContentError),
    ('</link>', '</link><link name="more"/>', ContentError),
    ('<link name="body">', '<joint name="hinge"/><link name="body">', ContentError),
    ('<link name="body">', '<link name="body"><pose>1 0 0 0 0 0</pose>', ContentError),
    ('0 0 0.25 0 0 0', '0 0 0.25 0.1 0 0', ContentError),
    ('0 0 0.25 0 0 0', '0 0 0.1 0 0 0', ContentError),
    ('0.4 1.2 0.5', '0.4 1.2', ContentError), ('0.4 1.2 0.5', '0.4 nan 0.5', ContentError),
    ('0.4 1.2 0.5', '0.4 1.2 -0.5', ContentError), ('0.4 1.2 0.5', '0.4 1e9 0.5', ContentError),
    ('<visual name="look">', '<visual name="other"><geometry><sphere/></geometry></visual>'
     '<visual name="look">', ContentError),
    ('</sdf>', '', ValueError), ('sdf', 'robot', FormatError),
    ('<sdf', '<!DOCTYPE sdf [<!ENTITY a "b">]><sdf', ValueError)])
def test_anything_else_is_refused(old, new, kind):
    assert old in BOX
    with pytest.raises(ValueError, match='expected') as refused:
        read_sdf(BOX.replace(old, new))
    assert type(refused.value) is kind
