# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What is left out where it would change nothing: beams into the void, steps at rest, pushes."""

from itertools import count
import math

import mujoco
import numpy
from numpy.testing import assert_allclose
from safety_scenarios.judging.drivers.twist_commands import Rolling
from safety_scenarios.registry import resolve
from safety_scenarios.scenario.frames import ALL_AROUND
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.scenario.world import Senses
from safety_scenarios.scenario.world_body import Figure, Walk
from safety_scenarios.worlds.mujoco import mobile_base as base
from safety_scenarios.worlds.mujoco import physics
from safety_scenarios.worlds.mujoco import world as whole_world
from safety_scenarios.worlds.mujoco.entities import GLASS, UNSEEN
from safety_scenarios.worlds.mujoco.robot_sensors import Lidar
from safety_scenarios.worlds.mujoco.world import World
from unit.worlds.driven import drive, twist

RANGE_M = 12.0


def scene(seed: int) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return a few things or many around a robot, some above the scanner and some not seen."""
    random = numpy.random.default_rng(seed)
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[50, 50, 0.1])
    spec.worldbody.add_body(name='robot').add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[0.3, 0.2, 0], pos=[0, 0, 0.2])
    kinds = (mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER,
             mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_SPHERE) * 2
    for kind in kinds[seed % 8:]:
        spec.worldbody.add_geom(
            type=kind, size=random.uniform(0.1, 0.8, 3), group=int(random.choice([0, 1, UNSEEN])),
            pos=[*random.uniform(-9, 9, 2), random.uniform(-0.2, 1.2)],
            euler=random.uniform(-180, 180, 3))
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def met(seed: int) -> int:
    """Look at a scene as MuJoCo does with all beams, and return how many of them met something."""
    model, data = scene(seed)
    x, y, heading = numpy.random.default_rng(seed).uniform(-7, 7, 3).tolist()
    body = model.body('robot').id
    lidar = Lidar(model, data, 1, body, 'laser', 20.0, Senses(range_max=RANGE_M),
                  numpy.random.default_rng(0))
    found = lidar.message(x, y, heading).at('ranges')
    angles = heading + ALL_AROUND.angles
    beams = numpy.stack([numpy.cos(angles), numpy.sin(angles), 0 * angles], axis=1)
    hit, ranges = numpy.zeros(ALL_AROUND.rays, numpy.int32), numpy.zeros(ALL_AROUND.rays)
    mujoco.mj_multiRay(model, data, numpy.array([x, y, 0.2]), beams.reshape(-1),
                       numpy.array([1, 1, 0, 0, 0, 0], numpy.uint8), True, body, hit, ranges,
                       None, ALL_AROUND.rays, RANGE_M)
    ranges[(ranges < 0.05) | (ranges > RANGE_M)] = numpy.inf
    assert_allclose(found, ranges, rtol=1e-9)
    return int(numpy.isfinite(ranges).sum())


def test_no_beam_is_left_out_that_meets_something():
    assert sum(map(met, range(240))) > 240 * 10


def test_a_scan_of_a_scene_in_which_nothing_moved_is_the_one_before_it():
    model, data = scene(1)
    lidar = Lidar(model, data, 1, model.body('robot').id, 'laser', 20.0, Senses(),
                  numpy.random.default_rng(0))
    first = lidar.message(0.0, 0.0, 0.0)
    assert lidar.message(0.0, 0.0, 0.0) is first
    seen = int(numpy.flatnonzero(model.geom_group == 1)[0])
    model.geom_pos[seen] = 1.5, 0.0, 0.2
    mujoco.mj_kinematics(model, data)
    assert lidar.message(0.0, 0.0, 0.0) != first


def test_a_scan_shows_what_is_seen_by_now():
    def scanner() -> Lidar:
        return Lidar(model, data, 1, model.body('robot').id, 'laser', 20.0, Senses(),
                     numpy.random.default_rng(0))
    model, data = scene(24)
    first, shown = scanner(), set()
    for group in (UNSEEN, 1, GLASS, 2, 0):  # as things come and go
        model.geom_group[2:] = group
        scan = first.message(0.0, 0.0, 0.0)
        assert scan == scanner().message(0.0, 0.0, 0.0)
        shown.add(scan.at('ranges'))
    assert len(shown) == 3  # nothing, all of them, and where beams meet glass squarely


def test_a_noisy_scan_is_drawn_anew_though_nothing_moved():
    model, data = scene(1)
    lidar = Lidar(model, data, 1, model.body('robot').id, 'laser', 20.0,
                  Senses(range_noise=0.01), numpy.random.default_rng(0))
    assert lidar.message(0.0, 0.0, 0.0) != lidar.message(0.0, 0.0, 0.0)


WALL = {'walls': [{'name': 'back', 'begin': [-2.0, -3.0], 'end': [-2.0, 3.0]}]}


PERSON = {'kind': 'person', 'distance': 4.0, 'rate_hz': 20.0}
SETS_OFF = resolve('stimuli', 'person')(**PERSON, topic='scan', walks=Walk(
    speed=1.0, by=((4.0, 1.0),), after_s=0.8))
FALLS = resolve('stimuli', 'person')(**PERSON, topic='human_pose', figure=Figure(
    posture='falls', after_s=0.3))


def driven():
    """Return what is true as a base drives, stands, backs into a wall, and its driver stops it."""
    world = drive(WALL, stimuli=(SETS_OFF, FALLS))
    for speed, seconds in ((0.8, 1.0), (0.0, 2.0), (-0.8, 4.0), (0.0, 2.0), (0.8, 0.5)):
        world.on(twist(speed), seconds)
    world.on(twist(), 2.0)
    for one in (SETS_OFF, FALLS):  # and it stands while somebody comes, and does something later
        assert world.world.apply(one.topic, one.intent(StimulusContext('', (), None)), True)
        world.on(twist(), 3.0)
        world.world.withdraw(one.topic)
        world.on(twist(), 0.5)
    for _ in range(20):  # without a command: its driver stops it after half a second
        world.world.advance(world.world.now_ns + 50_000_000)
        world.told.append((world.world.now_ns * 1e-9, world.world.states()))
    world.on(twist(0.8), 0.5)
    return world.told


def test_what_is_left_out_changes_nothing(monkeypatch):
    taken, pushed = count(), count()

    def step(*arguments):
        next(taken)
        mujoco_step(*arguments)
    mujoco_step = mujoco.mj_step
    monkeypatch.setattr(physics.mujoco, 'mj_step', step)
    found, some = driven(), next(taken)
    monkeypatch.setattr(Rolling, 'lasts_ns', lambda self, t_ns: t_ns)
    monkeypatch.setattr(base, '_PUSHED', lambda *values: str(next(pushed)).encode())
    monkeypatch.setattr(physics.Physics, 'step', lambda self, steps, *, stands: step(
        self._model, self._data, steps) is None)
    monkeypatch.setattr(World, '_place', lambda self: (
        mujoco.mj_kinematics(self._model, self._data), self._truth.moved()))
    monkeypatch.setattr(whole_world, '_SETTLED', math.inf)  # each report is worked out anew
    assert driven() == found
    assert next(taken) - some > 1.2 * some


def test_what_swings_back_within_some_steps_does_not_rest():
    model = mujoco.MjModel.from_xml_string("""
        <mujoco><option timestep="1" gravity="0 0 0" integrator="Euler"/><worldbody><body>
        <joint type="slide" axis="1 0 0" stiffness="2"/>
        <geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>""")
    data = mujoco.MjData(model)
    data.qpos[0] = 1.0
    swinging = physics.Physics(model, data)
    places = []
    for steps in (4, 4, 4, 1, 1, 1, 1, 4):  # it is back after four
        swinging.step(steps, stands=True)
        places.append(data.qpos.item(0))
    assert places == [1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 1.0]


def test_a_base_that_was_put_somewhere_is_pushed_anew():
    world = drive({})
    world.on(twist(), 1.0)
    world.world._base.put((1.0, 2.0, 0.5), (0.5, 0.0, 0.0))
    told = world.on(twist(), 0.1)
    assert 0.0 < told['robot']['vx'] < 0.5
