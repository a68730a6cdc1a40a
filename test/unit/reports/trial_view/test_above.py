# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the page draws of the bodies in a scene."""

from safety_scenarios.reports.scene.scene import Body
from safety_scenarios.reports.trial_view.above import _path

PERSON = Body('human_pose', 'person', 6.0, 0.0, 0.0, radius=0.25)
DRONE = Body('human_pose', 'thing', 2.0, 0.0, 0.0, radius=0.3, label='drone')


def test_a_body_looks_as_the_hazard_does_whatever_was_on_its_topic_before():
    path = _path('human_pose', [PERSON, PERSON, PERSON, DRONE, DRONE], 3)
    assert (path['kind'], path['label'], path['radius']) == ('thing', 'drone', 0.3)
    assert path['x'] == [6.0, 6.0, 6.0, 2.0, 2.0]


def test_what_is_gone_at_the_onset_looks_as_it_did_before():
    path = _path('human_pose', [PERSON, PERSON, None], 2)
    assert (path['kind'], path['radius']) == ('person', 0.25) and 'label' not in path
