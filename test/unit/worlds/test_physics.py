# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What the world's physics must give back: known answers, by any time step, each time the same."""

from functools import partial
import hashlib
import math
import os
from pathlib import Path
import subprocess
import sys
from typing import Any

from cases import for_each
import pytest
from safety_scenarios import run
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.scenario.body import Silence
from safety_scenarios.stimuli.bodies import PersonAt
from safety_scenarios.worlds.mujoco.mobile_base import GRAVITY
from safety_scenarios.worlds.mujoco.scene import BODY_N_M, STEP_S
from safety_scenarios.worlds.mujoco.world import World
from unit.worlds.driven import drive, PERSON_STEPS_NEAR, twist
from unzipped import read_text

NAMED = {'robot': 'small_diff_drive'}
STANDS = 1e-3
PERSON = PersonAt(distance=2.05, bearing=0.0, speed=0.0, nearest=0.5)
"""The hazard of the shipped scenario."""


def stopped(moved, fast_ms=1.0):
    """Bring a base to a speed, then stop it; return how long and how far it braked."""
    moved.on(twist(fast_ms), 4.0)
    assert moved.of('robot', 'vx')[-1][1] == pytest.approx(fast_ms, abs=0.01)
    before = len(moved.told)
    moved.on(twist(), 12.0, lambda told: math.hypot(told['robot']['vx'], told['robot']['vy'])
             < STANDS, every_ns=5_000_000)
    braking = [(at, told['robot']) for at, told in moved.told[before:]]
    began = max(at for at, robot in braking if robot['vx'] > fast_ms - 1e-6)
    begun = next(robot for at, robot in braking if at == began)
    return braking[-1][0] - began, braking[-1][1]['x'] - begun['x']


@for_each(('world', 'brakes'), [
    ({}, 1.0), (NAMED, 1.0), ({'robot': 'small_omni'}, 1.2), ({'robot': 'small_ackermann'}, 2.0),
    ({**NAMED, 'payload': 20.0}, 40 / 60), ({'payload': 40.0}, 0.5),
    ({**NAMED, 'floor': {'friction': 0.8, 'patches': [
        {'at': [50, 0], 'size': [99, 2], 'friction': 0.05}]}}, 0.05 * GRAVITY)])
def test_it_brakes_as_hard_as_brakes_mass_and_floor_allow(world, brakes):
    seconds, metres = stopped(drive(world))
    assert seconds == pytest.approx(1.0 / brakes, rel=0.02, abs=0.005)
    assert metres == pytest.approx(0.5 / brakes, rel=0.02)


@pytest.mark.parametrize(('silence', 'brakes'), [
    (Silence(), False), (Silence(policy='stop', driver_timeout_ms=300.0), True)])
def test_a_driver_that_is_said_to_stop_it_in_silence_does(silence, brakes):
    shipped = load_scenario(PERSON_STEPS_NEAR).body
    moved = drive({}, silence=silence, commands=shipped.commands)
    moved.on(twist(0.8), 2.0)
    for hundredth in range(1, 150):
        moved.world.advance(2_000_000_000 + hundredth * 10_000_000)
    speed = moved.world.states()['robot']['vx']
    assert speed == pytest.approx(0.0 if brakes else 0.8, abs=0.01)


@for_each(('world', 'gains'), [({}, 1.5), (NAMED, 1.5),
                               ({**NAMED, 'payload': 10.0}, 1.2)])
def test_it_speeds_up_as_hard_as_its_motors_can(world, gains):
    moved = drive(world)
    moved.on(twist(1.0), 2.0)
    first = next(at for at, speed in moved.of('robot', 'vx') if speed > 0.2)
    late = next(at for at, speed in moved.of('robot', 'vx') if speed > 0.8)
    speeds = dict(moved.of('robot', 'vx'))
    assert (speeds[late] - speeds[first]) / (late - first) == pytest.approx(gains, rel=0.02)


def circle(moved, name='robot'):
    """Return the radius of the circle on which a base has driven in its last seconds."""
    points = [(told['robot']['x'], told['robot']['y'], told['robot']['heading'])
              for _, told in moved.told[-50:]]
    (x, y, heading), (x_end, y_end, heading_end) = points[0], points[-1]
    return math.hypot(x_end - x, y_end - y) / (2 * math.sin((heading_end - heading) / 2))


@pytest.mark.parametrize('world', [{}, NAMED])
def test_a_diff_drive_goes_round_on_the_radius_of_speed_over_rate(world):
    moved = drive(world)
    moved.on(twist(0.8, turn=0.5), 5.0)
    assert circle(moved) == pytest.approx(1.6, rel=0.005)
    assert moved.of('robot', 'vy')[-1][1] == pytest.approx(0.0, abs=0.01)


def test_wheels_that_do_not_turn_sideways_do_not_drive_sideways():
    moved = drive(NAMED, 'omni')
    told = moved.on(twist(0.0, y=0.5), 3.0)
    assert math.hypot(told['robot']['x'], told['robot']['y']) < 1e-6


def test_an_omni_base_drives_straight_on_a_diagonal():
    moved = drive({'robot': 'small_omni'}, 'omni')
    told = moved.on(twist(0.6, y=0.3), 4.0)
    assert told['robot']['x'] > 1.5
    assert all(y == pytest.approx(x / 2, abs=1e-3) for (_, x), (_, y) in zip(
        moved.of('robot', 'x'), moved.of('robot', 'y'), strict=True))
    assert told['robot']['heading'] == pytest.approx(0.0, abs=1e-6)


def test_a_base_that_steers_turns_no_sharper_than_its_wheels_and_never_on_the_spot():
    moved = drive({'robot': 'small_ackermann'}, 'ackermann')
    told = moved.on(twist(0.0, turn=1.0), 2.0)
    assert told['robot']['heading'] == pytest.approx(0.0, abs=1e-6)
    moved.on(twist(0.6, turn=2.0), 6.0)
    assert circle(moved) == pytest.approx(0.6 / math.tan(0.5), rel=0.01)


def test_a_robot_that_was_swapped_brakes_as_its_own_file_says():
    slow = stopped(drive({'robot': 'small_ackermann'}))[1]
    assert slow < 0.6 * stopped(drive(NAMED))[1]


def box(mass, ahead=2.0):
    return {'boxes': [{'name': 'crate', 'at': [ahead, 0.0], 'size': [0.4, 0.4, 0.4],
                       'mass': mass}], 'floor': {'friction': 0.8}}


def test_a_free_box_falls_as_gravity_says():
    moved = drive(box(10.0, 3.0))
    world = moved.world
    joint = world._model.jnt_qposadr[world._model.body('box:crate').jntadr[0]]
    world._data.qpos[joint + 2] = 5.0
    world.advance(500_000_000)
    fallen = 5.0 - float(world._data.qpos[joint + 2])
    assert fallen == pytest.approx(GRAVITY * 0.25 / 2, rel=0.02)


def crash(world, into, mass, speed=1.0):
    """Drive into something; return what the base lost of its momentum, and what was told."""
    moved = drive(world)
    driven = told = before = 0.0
    truth = {}
    while moved.world.now_ns < 6_000_000_000 and not (truth.get('impulse') and not told):
        before = moved.world.states()['robot']['vx'] if not truth.get('impulse') else before
        truth = moved.on(twist(speed), 0.005, every_ns=5_000_000).get(into, {}) or truth
        told = truth.get('impulse', 0.0)
        driven += float(moved.world._base._applied[0]) * 0.005 if told else 0.0
        if told > 1.0 and truth['gap'] > -1e-3:
            break
    after = moved.told[-1][1]['robot']['vx']
    return mass * (before - after) + driven, told, truth


@pytest.mark.parametrize(('weighs', 'speed'), [(20.0, 1.0), (200.0, 0.5), (5.0, 1.4)])
def test_the_impulse_of_a_collision_is_the_change_of_momentum(weighs, speed):
    lost, impulse, truth = crash({**NAMED, **box(weighs)}, 'box:crate', 40.0, speed)
    assert impulse > 1.0
    assert impulse == pytest.approx(lost, rel=0.02)
    assert truth['force'] > 0 and truth['touching'] == 1.0


def meets_a_person(moved, speed, feet=True):
    """Let a person stand in the way of a base that drives; drive on until they have met."""
    moved.on(twist(speed), 3.0)
    assert moved.world.apply('scan', PERSON, hazard=True)
    if not feet:  # as on ice: nothing but the base moves the person
        moved.world._entities[-1].move = lambda robot, step_s: None
    met = []
    for _ in range(round(400 / speed)):
        told = moved.on(twist(speed), 0.005, every_ns=5_000_000)
        if told['scan'].get('touching'):
            met.append((told['scan'], told['robot']))
        elif met:
            break
    return met


def test_a_person_takes_the_momentum_that_the_base_loses():
    moved = drive(NAMED)
    met = meets_a_person(moved, 1.0, feet=False)
    driven = 0.005 * len(met) * 40.0 * 1.5
    first, last = met[0][1], moved.told[-1][1]
    assert last['scan']['vx'] * 75.0 == pytest.approx(met[-1][0]['impulse'], rel=0.02)
    assert 40.0 * (1.0 - last['robot']['vx']) + driven == pytest.approx(
        met[-1][0]['impulse'], rel=0.03), first


@pytest.mark.parametrize(('speed', 'times'), [(1.0, 1.0), (0.5, 1.0), (0.2, 1.4), (0.1, 1.8)])
def test_the_peak_force_on_a_person_is_that_of_masses_and_spring(speed, times):
    met = meets_a_person(drive(NAMED), speed)
    mass = 1 / (1 / 40.0 + 1 / 75.0)
    assert max(truth['force'] for truth, _ in met) == pytest.approx(
        times * speed * math.sqrt(mass * BODY_N_M), rel=0.15)


@pytest.mark.parametrize('speed', [0.5, 2.0, 5.0])
def test_a_wall_stops_the_base_and_is_not_driven_through(speed):
    moved = drive({'walls': [{'name': 'end', 'begin': [6, -2], 'end': [6, 2], 'thickness': 0.02}]})
    told = moved.on(twist(speed), 14.0)
    assert told['robot']['x'] <= 6.0 - 0.01 - 0.3 + 1e-3
    force = max(value for _, value in moved.of('wall:end', 'force'))
    assert 0 < force < 1e6
    assert told['wall:end']['gap'] == pytest.approx(0.0, abs=2e-3)
    assert told['wall:end']['force'] == pytest.approx(60.0, rel=0.05)  # what its motors can


@for_each(('world', 'bearing', 'metres'), [
    ({'walls': [{'name': 'a', 'begin': [3, -5], 'end': [3, 5], 'thickness': 0.1}]}, 0.0, 2.95),
    ({'walls': [{'name': 'a', 'begin': [3, -5], 'end': [3, 5], 'thickness': 0.1}]},
     30.0, 2.95 / math.cos(math.pi / 6)),
    ({'boxes': [{'name': 'a', 'at': [2, 2], 'size': [1, 1, 1]}]}, 45.0, 1.5 * math.sqrt(2)),
    ({'boxes': [{'name': 'a', 'at': [2, 0], 'size': [1, 1, 1]}], 'start': {'heading': 1.0}},
     -57.0, 1.5 / math.cos(1.0 - math.radians(57.0))),
    ({'robot': 'small_diff_drive', 'walls': [
        {'name': 'a', 'begin': [-2, -5], 'end': [-2, 5]}]}, -180.0, 1.95)])
def test_a_scanner_measures_what_geometry_says(world, bearing, metres):
    moved = drive(world)
    [scan] = [one.message for one in moved.world.sensed(0) if one.name == 'scan']
    assert scan.at('ranges')[round(bearing) + 180] == pytest.approx(metres, abs=1e-3)


def test_a_scanner_measures_a_person_from_where_it_is_by_now():
    moved = drive(NAMED)
    moved.on(twist(1.0), 2.0)
    assert moved.world.apply('scan', PERSON, hazard=True)
    told = moved.on(twist(1.0), 0.5)
    scan = [one.message for one in moved.world.sensed(moved.world.now_ns)
            if one.name == 'scan' and one.message is not None]
    assert scan[0].at('ranges')[180] == pytest.approx(told['scan']['x'] - told['robot']['x']
                                                      - 0.25, abs=1e-3)
    assert told['scan']['gap'] == pytest.approx(scan[0].at('ranges')[180] - 0.3, abs=1e-3)


def test_half_the_time_step_changes_margins_by_less_than_is_stated():
    gaps, stops = [], []
    for step_s in (0.005, 0.0025):
        moved = drive(NAMED, step_s=step_s)
        moved.on(twist(1.0), 2.0)
        assert moved.world.apply('scan', PERSON, hazard=True)
        moved.on(twist(1.0), 0.1)
        told = moved.on(twist(), 3.0)
        gaps.append(told['scan']['gap'])
        stops.append(told['robot']['x'])
    assert gaps[0] == pytest.approx(gaps[1], abs=0.005)
    assert stops[0] == pytest.approx(stops[1], abs=0.005)


STATED = {'min_gap_m': 0.005, 'stopping_distance_m': 0.005, 'time_to_standstill_ms': 5.0,
          'exposure_s': 0.03, 'safety_cost': 0.03, 'speed_at_contact': 0.01}
"""doc/reference/world.md says so."""
STATED_AGAINST_ENDS = {'min_gap_m': 0.05, 'exposure_s': 0.7, 'safety_cost': 0.4}
"""Of an arm that is driven on for so long that its joints jolt at their ends and at each other."""
STATED_PUSHING = {**STATED, 'exposure_s': 0.15, 'safety_cost': 0.15}
"""Of a base that drives on against what it has hit, which bounces off and is hit again."""
STATED_WITHOUT_STOP = {
    **dict.fromkeys(('SCN-R-102', 'SCN-R-D-102', 'SCN-R-103', 'SCN-R-D-103'),
                    STATED_AGAINST_ENDS),
    **dict.fromkeys(('SCN-R-110', 'SCN-R-111'), STATED_PUSHING)}


def judged(controller: str, step_s: float, monkeypatch: Any) -> dict[str, Any]:
    with monkeypatch.context() as patched:
        patched.setattr('safety_scenarios.trial.links.simulated.World',
                        partial(World, step_s=step_s))
        done = run('robotic', controller=controller, link='simulated', trials=1, seed=0)
    return {trial.scenario_id: trial for trial in done.trials}


def reaction(trial: Any) -> Any:
    return None if trial.latency is None else trial.latency.reaction


@pytest.mark.slow
@pytest.mark.parametrize('controller', ['rule_based', 'never_stop'])
@pytest.mark.thorough
def test_half_the_time_step_gives_the_same_verdicts_and_as_good_as_the_same_figures(
        controller, monkeypatch):
    usual, half = (judged(controller, step_s, monkeypatch) for step_s in (STEP_S, STEP_S / 2))
    assert len(usual) == 21 and usual.keys() == half.keys()
    apart = 0.0
    for scenario_id, trial in usual.items():
        other = half[scenario_id]
        assert {finding.check: finding.verdict for finding in trial.findings} \
            == {finding.check: finding.verdict for finding in other.findings}, scenario_id
        assert trial.verdict is other.verdict, scenario_id
        assert reaction(trial) == reaction(other), scenario_id
        stated = STATED if controller != 'never_stop' \
            else STATED_WITHOUT_STOP.get(scenario_id, STATED)
        for figure, within in stated.items():
            before, after = (getattr(one.world, figure) for one in (trial, other))
            assert (before is None) == (after is None), (scenario_id, figure)
            if before is not None:
                assert after == pytest.approx(before, abs=within), (scenario_id, figure)
                apart += abs(after - before)
    assert apart > 0  # the physics does depend on its step, so that this compares something


TRIALS = 3
RUN = ('import sys; from safety_scenarios.cli.main import main; sys.exit(main())')


def records(folder: Path, hash_seed: str) -> dict[str, str]:
    """Run a campaign in a process of its own; return the hash of each record of it."""
    done = subprocess.run(
        [sys.executable, '-c', RUN, 'run', str(PERSON_STEPS_NEAR), '--link', 'simulated',
         '--trials', str(TRIALS), '--seed', '7', '--output', str(folder)],
        env={**os.environ, 'PYTHONHASHSEED': hash_seed,
             'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name: hashlib.sha256(read_text(path).encode()).hexdigest()
            for path in sorted((folder / 'traces').rglob('*.events.jsonl.gz'))}


@pytest.mark.slow
@pytest.mark.thorough
def test_the_same_seed_gives_the_same_bytes(tmp_path):
    first = records(tmp_path / 'a', '0')
    assert len(first) == TRIALS == len(set(first.values()))
    assert records(tmp_path / 'b', '12345') == first
