# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What drivers execute of the commands of a record, and signals of it as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
import math

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Execution
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message, parse_path
from safety_scenarios.scenario.noun import lead, Shape
from safety_scenarios.scenario.scenario import Scenario

_AT_ONCE = 4096
"""Messages unpacked together: enough that each costs next to nothing, few in memory."""
Rows = dict[int, NDArray[numpy.void]]
"""Messages unpacked together, by the identity of the first of them."""
_DTYPES = {'d': '<f8', 'q': '<i8', '?': '?'}


@dataclass(frozen=True, slots=True)
class Column:
    """A signal's value in each message that carries it, in the order of the record."""

    times: NDArray[numpy.int64]
    """Steady ns."""
    values: NDArray[numpy.float64]
    unknown: NDArray[numpy.bool_] | None
    """Where the message does not tell, None if each does. A NaN that is known was sent."""
    failed: tuple[int, Exception] | None = None
    """How many messages could be read, and why not the next; nothing then counts."""

    @property
    def known_values(self) -> list[float | None]:
        """Return the values, None where the message does not tell."""
        values: list[float | None] = self.values.tolist()
        for place in () if self.unknown is None else numpy.flatnonzero(self.unknown).tolist():
            values[place] = None
        return values

    @property
    def pairs(self) -> list[tuple[int, float | None]]:
        """(steady ns, value) of each."""
        return list(zip(self.times.tolist(), self.known_values, strict=True))


def read(signal: Signal, times: NDArray[numpy.int64], messages: Sequence[Message],
         currents: Sequence[Message | None] | None = None, rows: Rows | None = None) -> Column:
    """
    Return ``signal.value`` of each message.

    :param times: steady ns of each
    :param currents: the latest message on the signal's ``current`` topic, if it has one
    :param rows: the messages unpacked, if another signal did so before; kept for the next one
    """
    is_one = len(messages) <= _AT_ONCE
    values = numpy.empty(len(messages))
    unknown: list[int] = []
    for begin in range(0, len(messages), _AT_ONCE):
        some = messages[begin:begin + _AT_ONCE]
        # who commands the same again sends the same object, with which several parts may begin
        found = _at_once(signal, some, rows if is_one and rows is not None else {})
        if found is not None:
            if is_one:
                return Column(times, found, None)
            values[begin:begin + _AT_ONCE] = found
            continue
        for place, message in enumerate(some, begin):
            try:
                value = signal.value(message, currents[place] if currents else None)
            except Exception as error:  # whatever it is, it is told where the signal is asked for
                return Column(times, values, None, (place, error))
            if value is None:
                unknown.append(place)
            values[place] = math.nan if value is None else value
    if not unknown:
        return Column(times, values, None)
    flags = numpy.zeros(len(messages), bool)
    flags[unknown] = True
    return Column(times, values, flags)


def _at_once(signal: Signal, messages: Sequence[Message],
             unpacked: Rows) -> NDArray[numpy.float64] | None:
    """Return the values where all messages have one shape, and the signal only numbers of it."""
    shape = messages[0].shape
    places = None if shape is None or signal.reduce == 'joint_speed' \
        else _places(shape, parse_path(signal.field))
    if shape is None or places is None:
        return None
    rows = unpacked.get(id(messages[0]))
    if rows is None and any(message.shape is not shape for message in messages):
        return None
    is_one, several = places
    if not is_one and len(several) > 1 and signal.reduce in ('none', 'abs'):
        return None
    if rows is None:
        rows = numpy.frombuffer(b''.join([message.packed for message in messages]), _dtype(shape))
        unpacked.clear()
        unpacked[id(messages[0])] = rows
    columns = [rows[f'f{place}'].astype(float) for place in several]
    if signal.reduce == 'none' or (is_one and signal.reduce in ('min', 'max')):
        return columns[0]
    found = _reduced(signal.reduce, columns)
    if len(columns) == 1:
        return found
    found[numpy.isnan(columns).any(axis=0)] = math.nan
    return found


def _reduced(how: str, columns: Sequence[NDArray[numpy.float64]]) -> NDArray[numpy.float64]:
    """Return the columns as one; as Python's functions do it, to the bit."""
    if how == 'norm' and len(columns) > 1:
        return numpy.array(list(map(math.hypot, *[column.tolist() for column in columns])))
    if how in ('abs', 'norm', 'max_abs'):
        columns = [numpy.abs(column) for column in columns]
    found = columns[0].copy()
    for column in columns[1:]:
        found = numpy.where(column < found if how == 'min' else column > found, column, found)
    return found


@lru_cache(maxsize=1024)
def _places(shape: Shape, steps: tuple[str | int, ...]) -> tuple[bool, tuple[int, ...]] | None:
    """Return whether a field is one number, and its places; None if it is no number or vector."""
    found = lead(shape, steps)
    if found is None or found[1]:
        return None
    is_one = isinstance(found[0], int)
    places = (found[0],) if isinstance(found[0], int) else tuple(place for _, place in found[0])
    numbers = range(len(shape.codes))
    return (is_one, places) if places and all(place in numbers for place in places) else None


@lru_cache(maxsize=1024)
def _dtype(shape: Shape) -> numpy.dtype[numpy.void]:
    return numpy.dtype([(f'f{place}', _DTYPES[code]) for place, code in enumerate(shape.codes)])


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


def is_rejected(driver: DriverPlugin | None, event: Event) -> bool:
    """
    Return whether the driver ignores a command whatever came before; what it did before goes on.

    One that is not finite counts, as in ``unexecuted``.
    """
    message = event.message
    return driver is not None and message is not None and driver.may_reject(message.type) \
        and message.non_finite() is None and bool(driver.rejects(Commanded(
            event.stamps.steady_ns, event.stamps.ros_ns, message)))


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
    return {one.place for one in execution.rejections if messages[one.place].non_finite() is None}


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
