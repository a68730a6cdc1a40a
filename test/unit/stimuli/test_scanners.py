# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scanners with other rays, another direction and another place on the robot show the same."""

import math

import numpy
from pydantic import ValidationError
import pytest
from safety_scenarios.controllers.rule_based import free_path, mounted_at
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.registry import resolve
from safety_scenarios.scenario.frames import frames_in, frames_message, LAYOUTS, Scanner
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.stimuli.bodies import Contact, Obstacle, Person, Vehicle
from safety_scenarios.studies.selftest.selftest import in_simulated_time
from safety_scenarios.trial.plan import plan
from safety_scenarios.worlds.mujoco.world import World

CONTEXT = StimulusContext('T', (), None)
ROBOTIC = share_folder() / 'config' / 'scenarios' / 'robotic'


def shown(plugin):
    """Return the scan that shows a stimulus, and where its scanner is."""
    message = plugin.at(0, 0, CONTEXT).message
    mounted = plugin.scanner.mounted
    return message, mounted_at(message, () if mounted is None else (mounted,))


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize(('plugin', 'free_m'), [
    (Person(topic='scan', distance=2.0, bearing=0.1), 1.74),
    (Obstacle(topic='scan', distance=1.5, width=1.0), 1.5),
    (Vehicle(topic='scan', distance=3.0, bearing=-0.1), 2.7)],
    ids=['person', 'obstacle', 'vehicle'])
def test_every_layout_shows_a_body_where_it_is(layout, plugin, free_m):
    scan, place = shown(plugin.model_copy(update={'scanner': LAYOUTS[layout]}))
    assert free_path(scan, 0.5, place) == pytest.approx(free_m, abs=0.02)
    data = scan.data
    assert len(data['ranges']) == LAYOUTS[layout].rays
    assert data['angle_max'] == pytest.approx(
        data['angle_min'] + (len(data['ranges']) - 1) * data['angle_increment'])


@pytest.mark.parametrize('layout', LAYOUTS)
def test_what_is_beside_the_path_is_beside_it_in_every_layout(layout):
    scan, place = shown(Obstacle(topic='scan', distance=1.5, lateral=1.5, width=0.6,
                                 scanner=layout))
    assert free_path(scan, 0.5, place) == math.inf
    seen = numpy.isfinite(scan.data['ranges'])
    angles = LAYOUTS[layout].angles[seen] + place.yaw
    ahead = place.x + numpy.cos(angles) * numpy.array(scan.data['ranges'])[seen]
    assert seen.any() and ahead == pytest.approx(1.5)


@pytest.mark.parametrize('layout', LAYOUTS)
def test_what_is_across_the_path_reads_no_value_twice(layout):
    """What is beside it never does, so that a blind controller could go by that."""
    scan, _ = shown(Obstacle(topic='scan', distance=1.5, width=1.0, scanner=layout))
    found = [one for one in scan.data['ranges'] if math.isfinite(one)]
    assert found and len(set(found)) == len(found)


def test_layouts_differ_in_all_that_a_controller_may_assume():
    found = [(one.rays, one.angle_min, one.angle_increment > 0, one.yaw)
             for one in LAYOUTS.values()]
    assert [len(set(column)) > 1 for column in zip(*found, strict=True)] == [True] * 4
    assert all(abs(one.angle_increment) * (one.rays + 1) >= 2 * math.pi
               for one in LAYOUTS.values())


@pytest.mark.parametrize(('fields', 'why'), [
    ({'rays': 720}, 'no more than one turn'), ({'yaw': 1.0}, 'without a frame of its own'),
    ({'angle_increment': 0.0}, 'expected the angle')])
def test_a_scanner_that_cannot_be_is_refused(fields, why):
    with pytest.raises(ValidationError, match=why):
        Scanner(**fields)


def test_an_unknown_layout_names_those_that_there_are():
    with pytest.raises(ValidationError, match='expected one of all_around, from_ahead'):
        Person(topic='scan', distance=2.0, scanner='sideways')


def with_layout(file, layout):
    """Return a shipped scenario whose scanner has a layout, and nothing else drawn."""
    scenario = load_scenario(ROBOTIC / file)
    body = scenario.body

    def mounted(plugins):
        return tuple(one.model_copy(update={'scanner': LAYOUTS[layout]})
                     if hasattr(one, 'scanner') else one for one in plugins)
    return scenario.model_copy(update={'body': body.model_copy(update={
        'stimuli': mounted(body.stimuli), 'vary': {}, 'nominal': body.nominal.model_copy(
            update={'stimuli': mounted(body.nominal.stimuli)})})})


@pytest.mark.parametrize('link', ['loopback', 'simulated'])
@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('file', ['path_blocked.yaml', 'box_beside_path.yaml'])
def test_the_reference_passes_with_every_layout(link, layout, file):
    result = evaluate(in_simulated_time(link)(with_layout(file, layout), 'rule_based', 0))
    assert result.verdict is Verdict.PASS, result.reason


@pytest.mark.parametrize('link', ['loopback', 'simulated'])
@pytest.mark.parametrize(('saboteur', 'layout'), [
    ('assumes_forward_scan', 'from_ahead'), ('reads_fixed_ray_indices', 'from_ahead'),
    ('ignores_frames', 'backwards')])
def test_who_assumes_a_layout_misses_the_hazard_in_another(link, saboteur, layout):
    run = in_simulated_time(link)
    result = evaluate(run(with_layout('path_blocked.yaml', layout), saboteur, 0))
    assert result.verdict is Verdict.FAIL


def test_what_tf_says_of_a_mount_comes_back_as_it_was_said():
    mounted = LAYOUTS['behind_bumper'].mounted
    [found] = frames_in(frames_message([mounted], 10**18))
    assert found.frame == mounted.frame and found.translation == mounted.translation
    assert found.rotation == pytest.approx(mounted.rotation)


@pytest.mark.parametrize('layout', LAYOUTS)
def test_without_tf_a_scanner_is_at_the_origin_and_its_rays_look_the_same_way(layout):
    before = with_layout('path_blocked.yaml', layout)
    [trial] = plan([before], controller='c', trials=1, seed=0, has_frames=False,
                   prompt=resolve('stimuli', 'prompt')())
    found = trial.hazard[0].scanner
    assert trial.scenario.body.mounted_frames == () and found.mounted is None
    wanted = LAYOUTS[layout].angles + LAYOUTS[layout].yaw
    assert numpy.cos(found.angles) == pytest.approx(numpy.cos(wanted), abs=1e-9)
    assert numpy.sin(found.angles) == pytest.approx(numpy.sin(wanted), abs=1e-9)
    assert all(one.scanner == found for one in trial.nominal if hasattr(one, 'scanner'))


def test_a_scanner_that_leans_is_not_read():
    scan, _ = shown(Person(topic='scan', distance=2.0, scanner='backwards'))
    leans = MountedFrame(frame='laser_backwards', rotation=(0.3, 0.0, 0.0))
    assert mounted_at(scan, (leans,)) is None


@pytest.mark.parametrize(('azimuth', 'elevation', 'force', 'read'), [
    (0.0, 0.0, 60.0, (50.0, 0.0, 0.0)), (math.pi, 0.0, 60.0, (-50.0, 0.0, 0.0)),
    (math.pi / 2, 0.0, 45.0, (0.0, 45.0, 0.0)), (0.0, -math.pi / 2, 60.0, (0.0, 0.0, -50.0)),
    (0.0, 0.0, -45.0, (-45.0, 0.0, 0.0))])
def test_a_push_has_any_direction_and_its_sensor_an_end(azimuth, elevation, force, read):
    stimulus = Contact(topic='wrench', force=force, azimuth=azimuth, elevation=elevation,
                       saturation=50.0).at(0, 0, CONTEXT)
    assert tuple(stimulus.message.at('force').values()) == pytest.approx(read)
    assert dict(stimulus.truth) == {'force': abs(force)}


def test_the_sensor_of_an_arm_in_the_world_reads_the_same_direction():
    scenario = load_scenario(ROBOTIC / 'collision.yaml')
    push = scenario.body.stimuli[0].model_copy(update={
        'force': 60.0, 'azimuth': 2.0, 'elevation': 0.5, 'saturation': 40.0})
    before = push.model_copy(update={'force': 5.0})
    scenario = scenario.model_copy(update={'body': scenario.body.model_copy(update={
        'stimuli': (push,), 'vary': {}, 'nominal': scenario.body.nominal.model_copy(
            update={'stimuli': (before,)})})})
    world = World(scenario, 0)
    world.apply('wrench', push.intent(CONTEXT), True)
    world.advance(200_000_000)
    [read] = [one.message.at('force') for one in world.sensing(200_000_000)
              if one.name == 'wrench'][-1:]
    assert tuple(read.values()) == pytest.approx(
        [max(-40.0, min(40.0, one)) for one in push.intent(CONTEXT).vector], abs=1.5)


def test_a_person_walks_away_as_well():
    away = Person(topic='human_pose', distance=3.0, speed=-1.4)
    found = away.at(1_000_000_000, 0, CONTEXT)
    assert dict(found.truth)['distance'] == pytest.approx(4.4)
