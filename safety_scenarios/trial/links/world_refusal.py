# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the embedded world refuses of a scenario, before anybody runs it."""

from contextlib import closing

from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.scenario.world.block import WorldBlock

Place = tuple[str | int, ...]


def refused(scenario: Scenario, seed: int = 0) -> tuple[Place, str] | None:
    """
    Return where and why no trial of a scenario can begin, or its stimuli cannot appear.

    Stimuli are tried without the scene, as the robot will be elsewhere when they come. None: all
    of it can be, it asks for no world, nobody can tell without drawing, or MuJoCo is not there,
    which is told when it is run.
    """
    ros = scenario.body
    if not isinstance(ros, RobotBody) or ros.world is None or ros.world.camera is not None:
        return None
    try:
        from safety_scenarios.worlds.mujoco.robots import check_robot
        from safety_scenarios.worlds.mujoco.world import World
    except (AttributeError, ImportError, RuntimeError):
        return None
    try:
        check_robot(scenario)
        World(scenario, seed).close()
    except InputError as error:
        return ('ros', 'world'), str(error).removeprefix('ros.world: ')
    if not kind_of(ros.robot).drives:
        return None
    bare = scenario.model_copy(update={'body': ros.model_copy(
        update={'world': _without_scene(ros.world)})})
    with closing(World(bare, seed)) as world:
        return _not_to_appear(world, scenario, ros)


def _without_scene(block: WorldBlock) -> WorldBlock:
    return block.model_copy(update={'walls': (), 'boxes': ()})


def _not_to_appear(world: object, scenario: Scenario, ros: RobotBody) -> tuple[Place, str] | None:
    from safety_scenarios.worlds.mujoco.world import World
    assert isinstance(world, World)
    context = StimulusContext('', scenario.messages, None)
    phases = [(False, ('ros', 'nominal', 'stimuli'), ros.nominal.stimuli), *(
        (False, ('ros', 'nominal', 'changes', place, 'stimuli'), change.stimuli)
        for place, change in enumerate(ros.nominal.changes)),
        (True, ('ros', 'stimuli'), ros.stimuli)]
    for is_hazard, path, plugins in phases:
        for index, plugin in enumerate(plugins):
            intent = plugin.intent(context)
            if intent is None or not intent.bodies():
                continue
            try:
                world.apply(plugin.topic, intent, is_hazard)
            except MeasurementError as error:
                return (*path, index), str(error)
    return None
