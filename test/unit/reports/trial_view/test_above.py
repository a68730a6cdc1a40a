# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the page draws of the bodies in a scene."""

from dataclasses import replace

from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.reports.scene.scene import Body
from safety_scenarios.reports.scene.trial_scene import build_scene
from safety_scenarios.reports.trial_view.terminal import ASCII, lanes
from safety_scenarios.reports.trial_view.timeline import corners
from safety_scenarios.reports.trial_view.view import _path, above
from unit.records import driving, END_MS, NOMINAL_MS, record

PERSON = Body('human_pose', 'person', 6.0, 0.0, 0.0, radius=0.25)
DRONE = Body('human_pose', 'thing', 2.0, 0.0, 0.0, radius=0.3, label='drone')


def test_a_body_looks_as_the_hazard_does_whatever_was_on_its_topic_before():
    path = _path('human_pose', [PERSON, PERSON, PERSON, DRONE, DRONE], 3)
    assert (path['kind'], path['label'], path['radius']) == ('thing', 'drone', 0.3)
    assert path['x'] == [6.0, 6.0, 6.0, 2.0, 2.0]


def test_what_is_gone_at_the_onset_looks_as_it_did_before():
    path = _path('human_pose', [PERSON, PERSON, None], 2)
    assert (path['kind'], path['radius']) == ('person', 0.25) and 'label' not in path


def test_a_short_dip_of_the_speed_is_drawn_on_the_page():
    """Of 185 moments 56 are kept: a dip of 60 ms fell between them."""
    found = record(driving(NOMINAL_MS + 10, END_MS, 0.8, 50.0))
    scene = build_scene(found, evaluate(found))
    dip = len(scene.frames) // 2 + 1
    for place in range(dip, dip + 10):
        frames = [frame._replace(robot=frame.robot._replace(
            speed=0.0 if frame is scene.frames[-1] else 0.5 if place <= at < place + 3 else 0.8))
            for at, frame in enumerate(scene.frames)]
        told = above(replace(scene, frames=tuple(frames)))
        assert told['speed'].count(0.5) >= 2 and len(told['t']) < len(frames)
        assert told['speed'].count(0.8) > 10 and 0.0 in told['speed']


def test_corners_are_few_where_nothing_happens_and_never_too_many():
    times = list(range(1000))
    assert corners([0.8] * 1000, times, 0.03, 60) == [0, 999]
    ramp = [0.8] * 300 + [0.8 - 0.008 * step for step in range(100)] + [None] * 10 + [0.0] * 590
    assert len(corners(ramp, times, 0.03, 60)) <= 6
    assert len(corners([time % 2 for time in times], times, 0.03, 60)) == 60
    assert corners([None] * 3, [0, 1, 2], 0.03, 60) == ()


def test_a_short_dip_is_seen_in_the_terminal_and_so_is_a_short_peak():
    def lane(*values):
        view = {'window': [0, 10_000], 'phases': (), 'stimuli': (), 'words': (), 'moments': (),
                'truth': None, 'zero': 'onset', 'commands': [
                    {'name': 'speed', 'unit': 'm/s', 't': [50 * at for at in range(len(values))],
                     'v': values}]}
        return next(cells for name, cells, _ in lanes(view, 20, ASCII) if name == 'speed')
    dip, peak = ([low] * 100 + [high] + [low] * 99 for low, high in ((0.8, 0.1), (0.1, 0.8)))
    assert lane(*dip).count('#') == lane(*peak).count('.') == 19
