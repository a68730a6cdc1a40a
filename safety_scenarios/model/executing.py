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

"""From the commands of a record to what its drivers execute of them."""

from collections.abc import Sequence

import numpy

from safety_scenarios.model.columns import Column
from safety_scenarios.model.driver import Commanded, DriverPlugin, Execution
from safety_scenarios.model.event import Event
from safety_scenarios.model.message import Message
from safety_scenarios.model.scenario import Scenario

JOINT_STATE = 'sensor_msgs/msg/JointState'


def driver_of(scenario: Scenario, topic: str) -> DriverPlugin | None:
    """Return the driver behind a topic on which the robot is commanded, None where none is."""
    block = scenario.ros or scenario.agents
    return next((one.driver for one in (block.commands if block else ()) if one.topic == topic),
                None)


def execute(driver: DriverPlugin, events: Sequence[Event], topic: str,
            until_ns: int) -> Execution:
    """
    Return what a driver executes of the commands on one topic of a record.

    :param events: of the whole record: where the joints are at first is read from them too
    """
    commands = [Commanded(event.stamps.steady_ns, event.stamps.ros_ns, event.message)
                for event in events if event.kind == 'command' and event.name == topic
                and event.message is not None]
    start = start_of(events, topic) if driver.is_joint_space else {}
    return driver.execute(commands, start, until_ns)


def unexecuted(execution: Execution, messages: Sequence[Message]) -> set[int]:
    """
    Return which commands on a topic count as never sent: those that the driver rejects.

    One that is not finite stays: what a driver does of it is another in each distribution, so
    what the robot does is unknown and not what it did before.

    :param messages: of the commands, in order
    """
    return {one.place for one in execution.rejections
            if messages[one.place].non_finite() is None}


def executed_speed(execution: Execution) -> Column:
    """Return the largest speed of any joint at each set-point as a signal's column."""
    fastest = execution.fastest
    unknown = numpy.isnan(fastest)
    return Column(execution.times_ns, fastest, unknown if unknown.any() else None)


def start_of(events: Sequence[Event], topic: str) -> dict[str, float]:
    """
    Return where each joint is at the first command on a topic, by the latest JointState then.

    Before that nothing has moved the robot, so one that comes later tells nothing.
    """
    found: dict[str, float] = {}
    for event in events:
        if event.kind == 'command' and event.name == topic:
            break
        message = event.message
        if message is not None and message.type == JOINT_STATE \
                and event.kind in ('stimulus', 'feedback'):
            data = message.data
            found |= dict(zip(data.get('name', ()), data.get('position', ()), strict=False))
    return found
