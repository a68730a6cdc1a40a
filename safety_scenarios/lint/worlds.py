# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""L226: a world whose task is no work."""

from collections.abc import Iterator
import math

from safety_scenarios.lint._remark import Remark
from safety_scenarios.scenario.scenario import Scenario


def check(scenario: Scenario) -> Iterator[Remark]:
    """Yield the remarks on the world of a robot scenario."""
    world = scenario.body.world
    if world is None or not world.route:
        return
    start = world.start.x, world.start.y
    farthest = max(math.dist(start, point) for point in world.route)
    if farthest <= world.goal_radius:
        yield Remark('L226', scenario, ('ros', 'world', 'route'), (
            f'got a route that goes no farther than {farthest:g} m from the start, and a point '
            f'counts as passed within {world.goal_radius:g} m: the task is done before it begins. '
            f'Let it end farther away, or lower goal_radius'))
