# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From the commands of a record to what its drivers execute of them."""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Execution
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.trial.record.columns import Column

_LATEST_NS = 1_000_000_000
"""Beyond this the clocks differ, whatever anybody says of hosts."""
_TURNS_NS = 100_000_000
JOINT_STATE = 'sensor_msgs/msg/JointState'


def driver_of(scenario: Scenario, topic: str) -> DriverPlugin | None:
    """Return the driver behind a topic on which the robot is commanded, None where none is."""
    return next((one.driver for one in scenario.body.commands if one.topic == topic), None)


def commanded(event: Event, message: Message, driver: DriverPlugin, one_host: bool) -> Commanded:
    """
    Return a command as its driver gets it.

    A trajectory says where joints shall be how long after it was sent. If it reached the harness
    late, because the machine was busy, it did not reach the driver late: on one host its time is
    when it was sent, by the middleware's stamp.
    """
    stamps, late_ns = event.stamps, 0
    if counts_when_sent(driver, one_host) and stamps.source_ns is not None:
        late_ns = min(max(0, stamps.system_ns - stamps.source_ns), _LATEST_NS)
    return Commanded(stamps.steady_ns - late_ns, stamps.ros_ns - late_ns, message)


def counts_when_sent(driver: DriverPlugin | None, one_host: bool) -> bool:
    """Whether a command counts from when it was sent, and not from when it came."""
    return one_host and driver is not None and driver.is_joint_space


def execute(driver: DriverPlugin, events: Sequence[Event], topic: str, until_ns: int,
            one_host: bool) -> Execution:
    """
    Return what a driver executes of the commands on one topic of a record.

    :param events: of the whole record: where the joints are at first is read from them too
    :param one_host: whether the commands' own time can be told on the harness's clock
    """
    commands = [commanded(event, event.message, driver, one_host)
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
    """
    Return the largest speed of any joint at each set-point as a signal's column.

    A joint that turns back is for a moment at rest, and that is no standstill: what is slower
    than all around it for less than ``_TURNS_NS`` is as fast as what is around it.
    """
    times, fastest = execution.times_ns, execution.fastest
    unknown = numpy.isnan(fastest)
    known = numpy.where(unknown, numpy.inf, fastest)
    found = -_largest_near(times, -_largest_near(times, known))
    unknown |= numpy.isinf(found) & ~numpy.isinf(fastest)
    return Column(times, numpy.where(unknown, numpy.nan, found),
                  unknown if unknown.any() else None)


def _largest_near(times: NDArray[numpy.int64],
                  values: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """Return for each sample the largest of those within half of ``_TURNS_NS``."""
    found = values.copy()
    for shift in range(1, len(times)):
        near = times[shift:] - times[:-shift] <= _TURNS_NS // 2
        if not near.any():
            break
        found[:-shift][near] = numpy.maximum(found[:-shift], values[shift:])[near]
        found[shift:][near] = numpy.maximum(found[shift:], values[:-shift])[near]
    return found


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
