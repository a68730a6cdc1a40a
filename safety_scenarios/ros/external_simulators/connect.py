# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The control of a world that runs already, by what the graph shows of it."""

from collections.abc import Callable, Mapping

from rclpy.node import Node
from safety_scenarios.model.settings import RunSettings
from safety_scenarios.ros.clocks.clock import RosClock
from safety_scenarios.ros.external_simulators.choice import await_world, OURS, STANDARD
from safety_scenarios.ros.external_simulators.commands_heard import CommandsHeard
from safety_scenarios.ros.external_simulators.entity_control import EntityControl
from safety_scenarios.ros.external_simulators.gazebo import GazeboMover
from safety_scenarios.ros.external_simulators.mover import Mover
from safety_scenarios.ros.external_simulators.simulation_interfaces import StandardMover
from safety_scenarios.ros.external_simulators.stepping import Stepping
from safety_scenarios.ros.simulator_link.control import TopicControl, WorldControl
from safety_scenarios.ros.simulator_link.protocol import ANSWER


def external_control(node: Node, clock: RosClock, settings: RunSettings,
                     timeout_s: float,
                     alarm: Callable[[], str | None] = lambda: None) -> WorldControl:
    """
    Return an adapter for the simulator that is there.

    :param node: a spinning node, whose callbacks run in another thread
    :param alarm: says why nobody will command any more, None while somebody may
    :raises LinkTimeoutError: none is there that anybody could move
    :raises MissingDependencyError: its interfaces are not installed here
    """
    world = settings.external

    def look() -> tuple[Mapping[str, str], bool]:
        services = {name: kinds[0] for name, kinds in node.get_service_names_and_types()}
        return services, node.count_publishers(node.resolve_topic_name(ANSWER)) > 0

    chosen = await_world(look, world.world_services, timeout_s)
    if chosen.kind == OURS:
        return TopicControl(node, timeout_s, lambda: None)
    mover: Mover = StandardMover(node, chosen.root, world, timeout_s) \
        if chosen.kind == STANDARD else GazeboMover(node, chosen.root, world, timeout_s)
    heard = CommandsHeard(node)
    stepping = Stepping(mover, heard, clock.now_ns, lambda: control.seen_ns(heard.count),
                        round(settings.period_ms * 1e6), world.world_patience_s, alarm) \
        if settings.clock.lockstep else None
    control = EntityControl(node, clock, mover, world,
                            settings.real_time_factor or 1.0, timeout_s, stepping)
    return control
