# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One scene of a moment: what films and pages draw of a record is what a live view draws of it."""

import math
from types import SimpleNamespace
from typing import Literal

from matplotlib.patches import Patch
import pytest
from safety_scenarios import registry
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.reports.film.pages import draw_page
from safety_scenarios.reports.live.picture import BODIES, LiveTrial, shapes_of
from safety_scenarios.reports.scene.builder import SceneBuilder
from safety_scenarios.reports.scene.trial_scene import build_scene
from safety_scenarios.reports.trial_view.view import view_of
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation, Stopping
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.stimulus import BodyIntent, StimulusPlugin
from safety_scenarios.scenario.world_body import Body, Solid
from safety_scenarios.stimuli.bodies import Obstacle, Person, Vehicle
from safety_scenarios.trial.trial import Timeline, TrialRecord
from unit.records import command, hazard, mark, planned, shown, stamps

TRUCK = Vehicle(topic='scan', distance=3.0, bearing=0.5, radius=0.6, height=1.2, mass=500.0)
LEFT = 3.0 * math.cos(0.5), 3.0 * math.sin(0.5)
"""Where it is as seen from the robot (m)."""


class BalloonAt(BodyIntent):
    """A balloon hangs over the floor; an intent as another package has it."""

    kind: Literal['balloon_at'] = 'balloon_at'

    def bodies(self):
        return [Body(Solid('cylinder', 0.8, 0.8, 0.5, above=2.0), self.distance, 0.0,
                     look='thing', label='balloon')]


class Balloon(StimulusPlugin):
    """What shows it."""

    kind: Literal['balloon'] = 'balloon'

    def interface(self):
        return 'sensor_msgs/msg/LaserScan'

    def intent(self, context):
        return BalloonAt(distance=4.0)


@pytest.fixture
def balloon(monkeypatch):
    """Install the intent by an entry point."""
    found = [SimpleNamespace(name='balloon_at', value=f'{__name__}:BalloonAt')]
    monkeypatch.setattr(registry, 'entry_points', lambda group: found if
                        group == 'safety_scenarios.intents' else [])
    registry._entries.cache_clear()
    yield Balloon(topic='scan')
    registry._entries.cache_clear()


def state(t_ms, name, **truth):
    return Event(kind='state', name=name, stamps=stamps(t_ms), truth=truth)


def applied(t_ms, plugin):
    return Event(kind='stimulus', name=plugin.topic, stamps=stamps(t_ms), hazard=True,
                 arguments=plugin.intent(None).model_dump_json())


def open_loop(plugin, distance, until_ms=1000):
    """Return the record of a robot that stands while a stimulus shows the same all the time."""
    return TrialRecord(trial=planned(hazard(stimuli=(plugin,), nominal=())), events=(
        mark('nominal', -500.0), command(-400.0, 0.0), mark('onset', 0.0),
        *(shown(float(t_ms), distance=distance) for t_ms in range(0, until_ms, 50)),
        mark('end', until_ms)))


def in_world(plugin, **truth):
    """Return the record of a robot that stands at (1, 2) and looks along y."""
    return TrialRecord(trial=planned(hazard(stimuli=(plugin,), nominal=())), events=(
        mark('nominal', -500.0), mark('onset', 0.0), applied(0.0, plugin),
        *(event for t_ms in (10.0, 20.0, 30.0) for event in (
            state(t_ms, 'robot', x=1.0, y=2.0, heading=math.pi / 2, vx=0.0, vy=0.0, radius=0.3),
            state(t_ms, plugin.topic, **truth))),
        mark('end', 40.0)))


def live_shapes(record):
    """Return the bodies that a live view draws at the end of a record."""
    live = LiveTrial()
    live.begin(record.trial)
    for event in record.events[:-1]:
        live.take(event)
    return [shape for shape in shapes_of(live.picture()) if shape.group == 'bodies']


def film(record):
    """Return the last frame of a film with a body in it."""
    frames = build_scene(record, evaluate(record)).frames
    return next(frame for frame in reversed(frames) if frame.bodies)


def page(record):
    return view_of(record, evaluate(record))['truth']['bodies']


def legend(record):
    """Return what the signs of a film are called."""
    figure = draw_page([build_scene(record, evaluate(record))]).figure
    return {sign.get_text() for axes in figure.axes if (box := axes.get_legend()) is not None
            for sign in box.get_texts()
            if any(isinstance(handle, Patch) for handle in box.legend_handles)}


def test_a_vehicle_is_drawn_live_at_its_bearing_and_as_large_as_it_is():
    [shape] = live_shapes(open_loop(TRUCK, 3.0))
    assert (shape.kind, shape.size[:2]) == ('cylinder', (1.2, 1.2))
    assert (shape.x, shape.y) == pytest.approx(LEFT)
    assert shape.z + shape.size[2] / 2 == pytest.approx(1.2), 'its upper side'
    assert shape.colour == BODIES['robot']


def test_a_vehicle_of_a_world_is_drawn_live_as_seen_from_the_robot():
    [shape] = live_shapes(in_world(TRUCK, x=1.0, y=5.0, heading=0.0, radius=0.6, body=0.0,
                                   distance=3.0, gap=2.1))
    assert (shape.x, shape.y) == pytest.approx((3.0, 0.0)) and shape.size[:2] == (1.2, 1.2)
    assert shape.colour == BODIES['robot']


def test_a_vehicle_is_in_film_and_page_where_it_is_in_the_live_view():
    record = open_loop(TRUCK, 3.0)
    [body], [drawn] = film(record).bodies, page(record)
    assert (body.x, body.y) == pytest.approx(LEFT) and body.radius == 0.6
    assert body.gap == pytest.approx(3.0 - 0.6 - record.trial.scenario.body.robot.footprint)
    assert (drawn['kind'], drawn['label'], drawn['radius']) == ('robot', 'vehicle', 0.6)
    assert 'vehicle' in legend(record)


def test_a_box_is_drawn_live_as_wide_as_it_is_and_turned_as_it_stands():
    box = Obstacle(topic='scan', distance=2.0, lateral=1.0, width=3.0, height=0.4)
    [shape] = live_shapes(open_loop(box, 2.0))
    assert (shape.kind, shape.size[1], shape.heading) == ('box', pytest.approx(3.0), 0.0)
    assert (shape.x - shape.size[0] / 2, shape.y) == pytest.approx((2.0, 1.0)), 'its face'
    [shape] = live_shapes(in_world(box, x=1.0, y=5.0, heading=0.0, body=0.0, distance=2.8))
    assert shape.heading == pytest.approx(-math.pi / 2) and shape.size[1] == pytest.approx(3.0)


def test_people_stand_side_by_side_live_as_the_scanner_sees_them():
    first, second = live_shapes(open_loop(Person(topic='scan', distance=2.0, count=2), 2.0))
    assert math.dist((first.x, first.y), (second.x, second.y)) == pytest.approx(0.7)
    assert math.hypot(second.x, second.y) == pytest.approx(2.0) and second.y > 0.0


@pytest.mark.parametrize('is_in_world', [False, True])
def test_a_body_of_another_package_is_drawn_everywhere(balloon, is_in_world):
    record = in_world(balloon, x=1.0, y=6.0, heading=0.0, body=0.0, distance=4.0, gap=3.3) \
        if is_in_world else open_loop(balloon, 4.0)
    [shape], [body], [drawn] = live_shapes(record), film(record).bodies, page(record)
    assert (shape.x, shape.y, shape.z) == pytest.approx((4.0, 0.0, 2.25)), 'over the floor'
    assert shape.size == pytest.approx((0.8, 0.8, 0.5))
    assert (body.called, body.radius, body.above) == ('balloon', 0.4, 2.0)
    assert (drawn['kind'], drawn['label'], drawn['radius']) == ('thing', 'balloon', 0.4)
    assert 'balloon' in legend(record)


def test_a_body_whose_package_is_missing_is_a_thing_where_the_world_reports_it(
        balloon, monkeypatch):
    record = in_world(balloon, x=1.0, y=6.0, heading=0.0, body=0.0, distance=4.0, gap=3.3)
    monkeypatch.setattr(registry, 'entry_points', lambda group: [])
    registry._entries.cache_clear()
    [shape], [body] = live_shapes(record), film(record).bodies
    assert (body.kind, body.called, body.radius) == ('thing', 'thing', None)
    assert (shape.x, shape.y) == pytest.approx((4.0, 0.0))


def test_event_by_event_and_as_a_whole_a_world_is_the_same_scene():
    record = in_world(TRUCK, x=1.0, y=5.0, heading=0.0, radius=0.6, distance=3.0, gap=2.1)
    zero_ns = Timeline(record).onset.stamps.steady_ns
    builder, fed = SceneBuilder(record.trial, zero_ns=zero_ns), []
    for event in record.events:
        builder.take(event)
        if event.name == 'scan' and event.kind == 'state':
            fed.append(builder.frame())
    assert tuple(fed) == build_scene(record, evaluate(record)).frames


def test_what_a_world_reports_no_more_is_gone_with_its_next_report():
    record = in_world(TRUCK, x=1.0, y=5.0, heading=0.0, radius=0.6, distance=3.0, gap=2.1)
    builder = SceneBuilder(record.trial)
    for event in (*record.events[:-1], state(40.0, 'robot', x=1.0, y=2.0)):
        builder.take(event)
    assert len(builder.frame().bodies) == 1, 'the rest of this moment may still come'
    builder.take(mark('end', 50.0))
    assert not builder.frame().bodies


def test_at_an_unknown_speed_gap_and_s_p_are_unknown_and_the_trial_is_still_drawn():
    scenario = hazard(stimuli=(TRUCK,), nominal=(), robot=RobotModel(
        kind='mobile_base', max_speed=1.0, stopping=Stopping(model='worst_case', time=0.5)),
        separation=Separation(signal='speed', approach_speed=1.6, other_time=0.1))
    record = open_loop(TRUCK, 3.0).model_copy(update={'trial': planned(scenario)})
    assert film(record).required is not None and film(record).gap is not None
    unknown = record.model_copy(update={'events': tuple(
        command(-400.0, math.nan) if event.kind == 'command' else event
        for event in record.events)})
    assert film(unknown).required is None and film(unknown).gap is None
    assert draw_page([build_scene(unknown, evaluate(unknown))]).width > 0
