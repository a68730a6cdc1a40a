# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the commands and the feedback of a trial carry, signal by signal, and what drivers take."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from statistics import median

import numpy
from numpy.typing import NDArray
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.driver import Execution
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.trial.executed_commands import (
    Column,
    commanded,
    counts_when_sent,
    driver_of,
    execute,
    executed_speed,
    read,
    Rows,
    unexecuted,
)
from safety_scenarios.trial.margins import MarginSeries, Sample
from safety_scenarios.trial.trial import TrialRecord

_PERIODIC = 3
"""Fewer messages have no period."""
_Carried = tuple[NDArray[numpy.int64], Sequence[Message], Rows]
"""The times and messages on a topic, and what was unpacked of them so far."""


class Signals:
    """
    The signals of one record, each read once.

    :param takes_all: read also what a driver rejects that was not declared: another takes it
    """

    def __init__(self, record: TrialRecord, takes_all: bool = False) -> None:
        self.record, self.takes_all = record, takes_all
        self._executed: dict[str, Execution | None] = {}
        self._asked: dict[str, Execution | None] = {}
        self._counting: dict[str, Sequence[int]] = {}
        self._columns: dict[Signal, Column] = {}
        self._carried: dict[str, _Carried] = {}
        self._series: dict[tuple[Limit, ...], MarginSeries] = {}

    def executed(self, topic: str) -> Execution | None:
        """Return what the driver behind a topic makes of its commands; None without a driver."""
        if topic not in self._executed:
            record = self.record
            driver = driver_of(record.trial.scenario, topic)
            if driver is not None and self.takes_all and driver.assumed:
                driver = driver.lenient
            self._executed[topic] = None if driver is None else execute(
                driver, record.events, topic, record.end_ns, record.measuring.one_host)
        return self._executed[topic]

    def find_execution(self, topic: str) -> Execution | None:
        """Return what a driver executes, None where it can reject nothing: that costs nothing."""
        if topic not in self._asked:
            driver = driver_of(self.record.trial.scenario, topic)
            self._asked[topic] = self.executed(topic) if driver is not None and any(
                driver.may_reject(interface)
                for interface in self.record.index.types(topic)) else None
        return self._asked[topic]

    def effective_ns(self, event: Event) -> int:
        """Return since when (steady ns) a message counts: a command when its driver takes it."""
        return self.all_effective_ns(event.name, [event])[0]

    def all_effective_ns(self, topic: str, messages: Sequence[Event]) -> list[int]:
        """Return the same of each of some messages on a topic."""
        driver = driver_of(self.record.trial.scenario, topic)
        one_host = self.record.measuring.one_host
        if driver is None or not counts_when_sent(driver, one_host):
            return [event.stamps.steady_ns for event in messages]
        return [event.stamps.steady_ns if event.kind != 'command' or event.message is None
                else commanded(event, event.message, driver, one_host).t_ns for event in messages]

    def counts_until_ns(self, command: Event) -> int:
        """Return the steady time from which a driver may count a silence after a command."""
        offset = self.record.measuring.offset
        return command.stamps.counts_until_ns(0 if offset is None else offset.offset_ns)

    @property
    def guesses_rejections(self) -> bool:
        """Whether commands do not count because of a driver that was not declared."""
        return not self.takes_all and any(
            self._is_assumed(topic) and len(self._places(topic)) < len(
                self.record.index.carriers(topic)) for topic in self.record.by_topic('command'))

    def _is_assumed(self, topic: str) -> bool:
        driver = driver_of(self.record.trial.scenario, topic)
        return driver is not None and driver.assumed

    def counting(self, topic: str) -> Sequence[Event]:
        """Return the commands and feedback on a topic but for commands the driver rejects."""
        return [self.record.events[place] for place in self._places(topic)]

    def _places(self, topic: str) -> Sequence[int]:
        """Return the places of these in the record: before a rejected one lives on."""
        found = self._counting.get(topic)
        if found is None:
            found = self._counting[topic] = self._accepted(topic)
        return found

    def _accepted(self, topic: str) -> Sequence[int]:
        places, events = self.record.index.carriers(topic), self.record.events
        execution = self.find_execution(topic)
        if execution is None or not execution.rejections \
                or (self.takes_all and self._is_assumed(topic)):
            return places
        commands = [place for place in places if events[place].kind == 'command']
        messages = [message for place in commands
                    if (message := events[place].message) is not None]
        rejected = {commands[one] for one in unexecuted(execution, messages)}
        return [place for place in places if place not in rejected]

    def _is_executed(self, signal: Signal) -> bool:
        """Whether a signal is read from what the driver executes, and not from messages."""
        execution = self.find_execution(signal.topic) if signal.reduce == 'joint_speed' else None
        return execution is not None and execution.position is not None

    def columns(self, signals: Sequence[Signal]) -> Sequence[Column]:
        """
        Return signals that the file need not name, each as one array, read once.

        :raises LookupError: the commands have no such field; the first of the record is reported
        """
        columns = [self._column(signal) for signal in signals]
        failed = [(self._places(signal.topic)[column.failed[0]], column.failed[1])
                  for signal, column in zip(signals, columns, strict=True) if column.failed]
        if failed:
            raise min(failed, key=lambda one: one[0])[1].with_traceback(None)
        return columns

    def _column(self, signal: Signal) -> Column:
        found = self._columns.get(signal)
        if found is None and self._is_executed(signal):
            execution = self.find_execution(signal.topic)
            assert execution is not None
            found = self._columns[signal] = executed_speed(execution)
        if found is None:
            times, messages, rows = self._carried_on(signal.topic)
            currents = None if signal.current is None else self._currents(signal)
            found = self._columns[signal] = read(signal, times, messages, currents, rows)
        return found

    def _carried_on(self, topic: str) -> _Carried:
        found = self._carried.get(topic)
        if found is None:
            events = self.counting(topic)
            messages = [event.message for event in events if event.message is not None]
            times = numpy.array([event.stamps.steady_ns for event in events], numpy.int64)
            found = self._carried[topic] = times, messages, {}
        return found

    def _currents(self, signal: Signal) -> Sequence[Message | None]:
        """Return the latest message on a signal's ``current`` topic, at each of its commands."""
        found: list[Message | None] = []
        current: Message | None = None
        carriers = set(self._places(signal.topic))
        for place, event in enumerate(self.record.events):
            if event.message is None:
                continue
            if event.name == signal.current:
                current = event.message
            if place in carriers:
                found.append(current)
        return found

    def values(self, name: str) -> Sequence[tuple[int, float | None]]:
        """
        Return a signal's values as (steady ns, value), one for each command on its topic.

        :raises LookupError: the commands have no such field
        """
        return self.columns(self._named([name]))[0].pairs

    def held(self, name: str) -> Sequence[tuple[int, float | None]]:
        """
        Return a signal's values as (steady ns, value), each held until the next.

        As ``values``, and 0 from when by ``ros.silence`` the driver has stopped the robot.

        :raises LookupError: the commands have no such field
        """
        stopped = [(t_ns, zeros[name]) for t_ns, zeros, _ in self._stopped_by_driver([name])]
        values = self.values(name)
        return values if not stopped and self.record.index.is_in_order \
            else sorted([*values, *stopped], key=itemgetter(0))

    def margin_series(self, limits: Sequence[Limit]) -> MarginSeries:
        """
        Return how limits hold together over the trial: the smallest margin, held between samples.

        Unknown (None) as long as one of the signals has no value. Where ``ros.silence`` says that
        the driver stops the robot, its signals are 0 from the driver's timeout after the last
        command on their topic to the next one.

        :raises LookupError: the commands have no such field
        """
        key = tuple(limits)
        found = self._series.get(key)
        if found is None:
            found = self._series[key] = self._held_together(limits)
        return found

    def _held_together(self, limits: Sequence[Limit]) -> MarginSeries:
        names = [limit.signal for limit in limits]
        signals = self._named(names)
        columns = self.columns(signals)
        stopped = list(self._stopped_by_driver(names))
        sources = {(one.topic, self._is_executed(one)) for one in signals}
        if not stopped and self.record.index.is_in_order and len(sources) == 1:
            return MarginSeries.of(limits, columns)
        latest: dict[str, float | None] = {}
        samples: list[Sample] = []
        for steady_ns, found, inferred in sorted([*self._read(names), *stopped],
                                                 key=itemgetter(0)):
            latest |= found
            margins = [(limit.margin(latest.get(limit.signal)), limit.signal) for limit in limits]
            known = [(margin, signal) for margin, signal in margins if margin is not None]
            margin, signal = min(known) if len(known) == len(margins) else (None, '')
            samples.append(Sample(steady_ns, margin, signal, inferred))
        return MarginSeries(samples)

    def quiet(self, names: Sequence[str], until_ns: int) -> tuple[int, float] | None:
        """
        Return (steady ns, ns): the last command that carries a signal, and the median period.

        Of several command topics it is the one that has been silent for most of its own periods.
        Only commands before ``until_ns`` count; None for fewer than three, which have no period.
        """
        body = self.record.trial.scenario.body
        topics = {body.signals[name].topic for name in names} \
            if isinstance(body, RobotBody) else set()
        found = []
        for topic in sorted(topics):
            times = [event.stamps.steady_ns for event in self.record.index.topics('command').get(
                topic, ()) if event.stamps.steady_ns < until_ns]
            if len(times) >= _PERIODIC:
                found.append((times[-1], median(
                    later - earlier for earlier, later in pairwise(times))))
        return max(found, key=lambda one: (until_ns - one[0]) / max(1, one[1]), default=None)

    def _stopped_by_driver(self, names: Sequence[str]) -> \
            Iterator[tuple[int, dict[str, float | None], bool]]:
        body = self.record.trial.scenario.body
        if body.silence.driver_timeout_ms is None:
            return
        timeout_ns = round(body.silence.driver_timeout_ms * 1e6)
        for topic in {body.signals[name].topic for name in names}:
            zeros: dict[str, float | None] = {
                name: 0.0 for name in names if body.signals[name].topic == topic}
            commands = self.record.index.topics('command').get(topic, ())
            ends = [event.stamps.steady_ns for event in commands[1:]] + [self.record.end_ns]
            for event, next_ns in zip(commands, ends):
                last_ns = self.counts_until_ns(event)
                if next_ns - last_ns > timeout_ns:
                    yield last_ns + timeout_ns, zeros, True

    def _named(self, names: Sequence[str]) -> list[Signal]:
        body = self.record.trial.scenario.body
        if not isinstance(body, RobotBody):
            raise LookupError(f'signal {names[0]!r}: a text scenario has no signals')
        return [body.signals[name] for name in names]

    def _read(self, names: Sequence[str]) -> Iterator[tuple[int, dict[str, float | None], bool]]:
        """Yield (steady ns, values) of each message that carries one of the signals, in order."""
        signals = dict(zip(names, self._named(names), strict=True))
        columns = dict(zip(names, self.columns(list(signals.values())), strict=True))
        rows: list[tuple[int, int, dict[str, float | None]]] = []
        for name, signal in signals.items():
            if self._is_executed(signal):
                rows += [(-1, t_ns, {name: value}) for t_ns, value in columns[name].pairs]
        for topic in dict.fromkeys(signal.topic for signal in signals.values()):
            carried = [name for name, signal in signals.items()
                       if signal.topic == topic and not self._is_executed(signal)]
            if not carried:
                continue
            told = zip(*(columns[name].known_values for name in carried), strict=True)
            rows += [(place, t_ns, dict(zip(carried, values, strict=True)))
                     for place, t_ns, values in zip(
                         self._places(topic), columns[carried[0]].times.tolist(), told,
                         strict=True)]
        rows.sort(key=itemgetter(0))
        for _, t_ns, found in rows:
            yield t_ns, found, False
