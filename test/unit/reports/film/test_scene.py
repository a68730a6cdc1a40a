# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What a picture shows is what the record and its result say, to the last digit."""

import json
import math

import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.reports.film.axes import around, nearest_points, View
from safety_scenarios.reports.film.pages import MOMENTS, moments
from safety_scenarios.reports.outputs.stored_trials import scene_in
from safety_scenarios.reports.scene.trial_scene import build_scene
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation, Stopping
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.world import Box, Wall, WorldBlock
from safety_scenarios.stimuli.bodies import Obstacle
from safety_scenarios.trial.trial import TrialRecord
from unit.loopback_runs import loopback_run
from unit.records import command, hazard, mark, planned, stamps
from unit.reports.film.plane_world import DEEP, RADIUS, RATE
from unzipped import events_in

NEAR, BESIDE = 'SCN-R-101', 'SCN-R-D-104'
PERSON = 0.25
OTHER_TIME, MARGINS = 0.13, 0.215
"""Of that scenario's ros.separation: s, and intrusion and uncertainty in m."""


def result_in(folder, scenario):
    lines = (folder / 'trials.jsonl').read_text().splitlines()
    [found] = [line for line in map(json.loads, lines) if line['scenario_id'] == scenario]
    return found


def truths_in(folder, scenario, name):
    """Yield (ms after the first event, truth) as the journal has it, read without our reader."""
    [journal] = folder.glob(f'traces/{scenario}/*.events.jsonl.gz')
    for kind, entity, stamps_, rest, *_ in events_in(journal):
        if kind == 'state' and entity == name:
            yield stamps_[0], rest['truth']


def presence_s_in(folder, scenario):
    """Return from onset to all-clear as the journal has it."""
    [journal] = folder.glob(f'traces/{scenario}/*.events.jsonl.gz')
    marks = {name: stamps_[0] for kind, name, stamps_, *_ in events_in(journal) if kind == 'mark'}
    return (marks['all_clear'] - marks['onset']) / 1e9


@pytest.mark.parametrize('controller', ['rule_based', 'late', 'never_stop'])
def test_the_figures_are_those_of_the_result_and_of_the_world(worlds, controller):
    scene, result = scene_in(worlds[controller], NEAR), result_in(worlds[controller], NEAR)
    assert scene.verdict.value == result['verdict'] and scene.reason == result['reason']
    reaction = result['latency']['reaction']
    assert scene.figures.reaction_ms == (reaction and reaction['judged_ns'] / 1e6)
    assert scene.figures.reaction_s == (reaction and reaction['steady_ns'] / 1e9)
    onset_ns = result['latency']['onset_steady_ns']
    told = [(min(truth['gap'], truth['nearest']), t_ns) for name in ('scan', 'human_pose')
            for t_ns, truth in truths_in(worlds[controller], NEAR, name)]
    gap, at_ns = min(told)
    assert scene.figures.least.gap == gap == result['world']['min_gap_m']
    assert scene.figures.least.gap == min(frame.gap for frame in scene.frames
                                          if frame.gap is not None)
    assert scene.figures.least.t_s == pytest.approx((at_ns - onset_ns) / 1e9, abs=1e-9)
    assert not scene.notes and not scene.is_predicted
    assert scene.source == 'according to the simulator'


def test_the_way_to_standstill_is_that_of_the_formula(worlds):
    scene = scene_in(worlds['late'], NEAR)
    reacted, stood = scene.at(scene.figures.reaction_s), scene.at(scene.standstill_s)
    assert reacted.robot.speed == pytest.approx(0.8, abs=0.011)
    way = stood.robot.x - reacted.robot.x
    assert way == pytest.approx(reacted.robot.speed**2 / 2 / RATE, abs=0.011)
    assert reacted.gap - scene.figures.least.gap == pytest.approx(way, abs=0.001)
    assert scene.figures.least.t_s == pytest.approx(scene.standstill_s, abs=0.05)


def test_s_p_is_that_of_the_true_speed_and_phases_are_those_of_the_marks(worlds):
    scene = scene_in(worlds['late'], NEAR)
    for frame in scene.frames:
        speed = frame.robot.speed
        assert frame.required == pytest.approx(
            speed * OTHER_TIME + speed**2 / 2 + MARGINS, abs=1e-9)
        assert frame.phase == ('nominal' if frame.t_s < 0 else 'hazard'
                               if frame.t_s < scene.all_clear_s else 'after')
    assert scene.all_clear_s == pytest.approx(presence_s_in(worlds['late'], NEAR))
    assert scene.has_onset
    fastest = max(scene.frames, key=lambda frame: frame.robot.speed)
    ring = around(scene, fastest.robot, fastest.required)
    assert {round(math.dist(point, (fastest.robot.x, 0.0)), 9) for point in ring} \
        == {round(RADIUS + fastest.required, 9)}


def test_who_is_shown_to_two_sensors_is_one_body_and_the_gap_is_between_the_drawn_edges(worlds):
    scene = scene_in(worlds['rule_based'], NEAR)
    shown = [frame for frame in scene.frames if frame.bodies]
    assert len(shown) >= len(scene.frames) - 2
    for frame in shown:
        [body] = frame.bodies
        start, end = nearest_points(scene, frame)
        assert math.dist(start, end) == pytest.approx(body.gap, abs=1e-9)
        assert math.hypot(body.x - frame.robot.x, body.y - frame.robot.y) \
            == pytest.approx(body.gap + RADIUS + PERSON, abs=1e-9)


def test_a_box_is_as_wide_as_what_was_shown_then(worlds):
    scene = scene_in(worlds['rule_based'], BESIDE)
    assert scene.is_benign and scene.called('hazard') == 'harmless event'
    assert scene.figures.reaction == '' and scene.figures.reaction_s is None
    shown = [frame for frame in scene.frames if frame.bodies]
    assert {frame.phase for frame in shown} == {'nominal', 'hazard', 'after'}
    for frame in shown:
        [body] = frame.bodies
        xs, ys = zip(*body.corners, strict=True)
        assert max(xs) - min(xs) == pytest.approx(DEEP, abs=1e-6)
        assert max(ys) - min(ys) == pytest.approx(0.6 if frame.phase == 'hazard' else 4.0)
        start, end = nearest_points(scene, frame)
        assert math.dist(start, end) == pytest.approx(body.gap, abs=1e-6)


@pytest.mark.parametrize('controllers', [('late',), ('rule_based', 'late'), ('never_stop',)])
def test_the_moments_of_a_strip_have_onset_reaction_and_least_gap(worlds, controllers):
    scenes = [scene_in(worlds[name], NEAR) for name in controllers]
    found = moments(scenes)
    assert len(found) == MOMENTS and list(found) == sorted(set(found))
    assert scenes[-1].first.t_s == pytest.approx(min(found, key=abs), abs=0.02)
    assert min(abs(scenes[-1].figures.least.t_s - t_s) for t_s in found) < 0.02
    if scenes[-1].figures.reaction_s is not None:
        assert min(abs(scenes[-1].figures.reaction_s - t_s) for t_s in found) < 0.02


def told(t_ms, **entities):
    return [Event(kind='state', name=name.replace('__', ':'), stamps=stamps(t_ms), truth=truth)
            for name, truth in entities.items()]


def record(scenario, *events):
    return TrialRecord(trial=planned(scenario), events=tuple(
        event for some in events for event in (some if isinstance(some, list) else [some])))


def seen(scenario, *events):
    found = record(scenario, *events)
    return build_scene(found, evaluate(found))


PLACE = {'x': 0.0, 'y': 0.0, 'heading': 0.0}


def test_walls_and_boxes_of_the_scene_are_drawn_and_are_no_gap():
    block = WorldBlock(walls=(Wall(name='left', begin=(-1, 1), end=(5, 1), glass=True),
                              Wall(name='aisle', begin=(-3, -1), end=(1, -1), along=True)),
                       boxes=(Box(name='fixed', at=(3, 0), size=(1.2, 0.8, 0.2), heading=0.5),
                              Box(name='loose', at=(2, 0), size=(0.4, 0.6, 0.2), mass=5.0)))
    scenario = hazard()
    scenario = scenario.model_copy(update={'body': scenario.body.model_copy(
        update={'world': block})})
    scene = seen(scenario, mark('nominal', -500), told(
        -100, robot={**PLACE, 'vx': 0.5, 'vy': 0.0}, wall__left={**PLACE, 'gap': 0.7},
        wall__aisle={'x': 7.0, 'y': -1.0, 'heading': 0.0, 'gap': 0.7},
        box__loose={'x': 2.5, 'y': 0.0, 'heading': math.pi / 2, 'gap': 0.1},
        person__eve={'x': 4.0, 'y': 0.0, 'gap': 3.0, 'body': 1.0, 'radius': 0.2},
        robot__two={'x': -3.0, 'y': 0.0, 'gap': 2.2, 'radius': 0.4}))
    [frame] = scene.frames
    assert frame.gap == 2.2
    assert scene.figures.least is None, 'as in the result: it was told once, and then no more'
    assert {body.name: body.kind for body in frame.bodies} == {
        'wall:left': 'thing', 'wall:aisle': 'thing', 'box:loose': 'thing', 'person:eve': 'person',
        'robot:two': 'robot'}
    [aisle] = [body for body in frame.bodies if body.name == 'wall:aisle']
    xs, ys = zip(*aisle.corners, strict=True)
    assert (min(xs), max(xs), sum(ys) / 4) == pytest.approx((5.0, 9.0, -1.0))
    assert aisle.called == 'wall' and aisle.radius is None
    [loose] = [body for body in frame.bodies if body.name == 'box:loose']
    xs, ys = zip(*loose.corners, strict=True)
    assert (min(xs), max(xs)) == pytest.approx((2.2, 2.8))
    assert (min(ys), max(ys)) == pytest.approx((-0.2, 0.2))
    wall, fixed = scene.scenery
    assert wall.is_glass and sorted(wall.corners)[0] == pytest.approx((-1.0, 0.95))
    assert not fixed.is_glass and math.dist(fixed.corners[0], fixed.corners[2]) \
        == pytest.approx(math.hypot(1.2, 0.8))


def test_an_arm_has_its_tool_and_s_p_lies_about_all_of_it():
    scenario = hazard(robot=RobotModel(kind='arm', max_speed=1.0, joints=('a',), stopping=Stopping(
        model='half_time', time=0.4)), separation=Separation(
            signal='speed', approach_speed=1.6, other_time=0.1, metres_per_unit=0.5))
    scene = seen(scenario, mark('nominal', -500), told(-100, robot={
        **PLACE, 'tool.x': 0.6, 'tool.y': 0.0, 'tool.z': 0.4, 'tool.speed': 0.5}))
    [frame] = scene.frames
    assert frame.robot.tool == (0.6, 0.0) and frame.robot.speed == 0.5
    assert frame.required == pytest.approx(1.6 * 0.5 + 0.5 * 0.1 + 0.5 * 0.4 / 2)
    ring = around(scene, frame.robot, frame.required)
    xs, ys = zip(*ring, strict=True)
    assert (min(xs), max(xs)) == pytest.approx((-frame.required, 0.6 + frame.required))
    assert (min(ys), max(ys)) == pytest.approx((-frame.required, frame.required))


def test_without_an_onset_zero_is_the_beginning():
    scene = seen(hazard(), mark('nominal', -500), told(-100, robot=PLACE))
    assert not scene.has_onset and scene.frames[0].t_s == pytest.approx(0.4)
    assert scene.frames[0].phase == 'nominal' and scene.figures.least is None
    assert View.bounds([scene]).right > View.bounds([scene]).left


def test_without_a_world_places_are_reckoned_and_it_says_so(tmp_path):
    run = loopback_run(tmp_path / 'run', NEAR, BESIDE, controller='late')
    scene = scene_in(run.folder, NEAR)
    assert scene.is_predicted and 'prediction from the commands on cmd_vel' in scene.source
    assert ('no simulator: places are computed from commands, the gaps are no measurement'
            in scene.notes)
    [finding] = [one for one in result_in(run.folder, NEAR)['findings']
                 if one['check'] == 'keeps its protective distance']
    assert scene.verdict is Verdict.FAIL and scene.figures.least.gap < 1.5
    hazards = [frame for frame in scene.frames if frame.phase == 'hazard']
    assert len({(body.x, body.y) for frame in hazards for body in frame.bodies}) == 1
    assert any(frame.gap < frame.required for frame in hazards if frame.robot.speed > 0.5) \
        is (finding['margin'] <= 0)
    box = scene_in(run.folder, BESIDE)
    assert {body.kind for frame in box.frames for body in frame.bodies} == {'thing'}


def test_a_box_that_a_driving_robot_comes_near_to_stands_where_it_was_shown():
    trial = hazard(stimuli=(Obstacle(topic='scan', distance=2.0, width=1.0, speed=0.8,
                                     rate_hz=20.0),))
    events = [mark('nominal', -1000), mark('onset', 0),
              *(command(t_ms, 0.8) for t_ms in range(-900, 1000, 50)),
              *(Event(kind='stimulus', name='scan', stamps=stamps(t_ms), hazard=True,
                      truth={'distance': 2.0 - 0.8 * t_ms / 1e3}) for t_ms in range(0, 1000, 50))]
    scene = seen(trial, sorted(events, key=lambda event: event.stamps.steady_ns))
    shown = [frame for frame in scene.frames if frame.bodies]
    assert len({round(frame.bodies[0].x, 9) for frame in shown}) == 1
    assert shown[0].gap - shown[-1].gap == pytest.approx(
        shown[-1].robot.x - shown[0].robot.x, abs=1e-6)


@pytest.mark.parametrize(('scenario', 'why'), [
    ('SCN-R-102', 'it is unknown where the arm was'), ('SCN-C-001', 'no robot moves in it')])
def test_what_cannot_be_seen_is_refused(tmp_path, scenario, why):
    run = loopback_run(tmp_path / 'run', *([scenario] if '-R-' in scenario else ['clinical']),
                       words='patterns')
    name = scenario if '-R-' in scenario else run.trials[0]['trial_id']
    with pytest.raises(InputError, match=why):
        scene_in(run.folder, name)
