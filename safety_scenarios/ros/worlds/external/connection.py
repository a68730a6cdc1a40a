# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The control of a world that runs already, by what the graph shows of it."""

from collections.abc import Callable, Mapping

from rclpy.node import Node
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.worlds.external.adapters import (
    await_world,
    GazeboMover,
    OURS,
    STANDARD,
    StandardMover,
)
from safety_scenarios.ros.worlds.external.entity_control import EntityControl
from safety_scenarios.ros.worlds.external.mover import Mover
from safety_scenarios.ros.worlds.external.stepping import CommandCounter, Stepping
from safety_scenarios.ros.worlds.simulator_link.control import TopicControl, WorldControl
from safety_scenarios.ros.worlds.simulator_link.protocol import ANSWER
from safety_scenarios.trial.link import LinkPlan
from safety_scenarios.trial.links.controller_settings import takes_turns


def external_control(node: Node, clock: RosClock, plan: LinkPlan,
                     timeout_s: float,
                     alarm: Callable[[], str | None] = lambda: None) -> WorldControl:
    """
    Return an adapter for the simulator that is there.

    :param node: a spinning node, whose callbacks run in another thread
    :param alarm: says why nobody will command any more, None while somebody may
    :raises LinkTimeoutError: none is there that anybody could move
    :raises MissingDependencyError: its interfaces are not installed here
    """
    world = plan.ros.external

    def look() -> tuple[Mapping[str, str], bool]:
        services = {name: kinds[0] for name, kinds in node.get_service_names_and_types()}
        return services, node.count_publishers(node.resolve_topic_name(ANSWER)) > 0

    chosen = await_world(look, world.services, timeout_s)
    if chosen.kind == OURS:
        return TopicControl(node, timeout_s, lambda: None, takes_turns(plan))
    mover: Mover = StandardMover(node, chosen.root, world, timeout_s) \
        if chosen.kind == STANDARD else GazeboMover(node, chosen.root, world, timeout_s)
    heard = CommandCounter(node)
    stepping = Stepping(mover, heard, clock.now_ns, lambda: control.observed_until_ns(heard.count),
                        round(plan.controller.period_ms * 1e6), world.patience_s, alarm) \
        if plan.clock.lockstep else None
    control = EntityControl(node, clock, mover, world,
                            plan.ros.real_time_factor or 1.0, timeout_s, stepping)
    return control
