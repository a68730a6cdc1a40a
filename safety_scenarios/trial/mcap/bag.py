# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A recording that somebody else made, on a real robot, as the record of a trial.

Nothing was published by us: the hazard begins when a declared predicate on a recorded topic comes
true, and ends when it is false again or after the scenario's all-clear. Where the recording does
not tell when that was, it is refused. Times are those at which the recorder received the messages,
so that latencies carry the uncertainty of no calibration. Added is by how much the onset may have
been earlier than its message was recorded: by its header, and by the pause before it. Added is
also by how much the recorder's clock may have been set back, where one topic lags. A bag with
/clock is of a simulated robot, and is judged by both times as a trial over ROS is.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
import math
from operator import itemgetter
from pathlib import Path
import re
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import ClockError, in_words, SettingsError, TraceError
from safety_scenarios.scenario.blocks.onset import ARMED, Edge, Observed, ObservedOnset, OnsetWatch
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.timing import Measuring, UNCALIBRATED_MS
from safety_scenarios.trial.mcap.bag_files import BagFiles, Channel
from safety_scenarios.trial.mcap.cdr import Codec, UnfitError
from safety_scenarios.trial.trial import ALL_CLEAR, END, NOMINAL, ONSET, Trial, TrialRecord

_ONSET = re.compile(r'([^:\s]{1,200}):([^:<>=\s]{1,200})(?::([a-z_]{1,20}))?\s{0,9}'
                    r'(<=|>=|<|>)\s{0,9}(\S{1,40})')
_SAME_CLOCK_NS = 1_000_000_000
"""Headers that are all farther than this from the recorder's time are of another clock."""
_CLOCK, _CLOCK_TYPE = '/clock', 'rosgraph_msgs/msg/Clock'
_SILENT_NS = 1_000_000_000
"""Nothing tells the pace of a simulation that has published no time for longer."""
_LONG_AGO_NS = 10**17
"""1973: no clock of a computer says less, but simulated time does."""


@dataclass(frozen=True)
class Onset:
    """When the hazard is there: a limit on a field of a recorded topic."""

    topic: str
    signal: Signal
    when: Edge

    @staticmethod
    def parse(text: str) -> 'Onset':
        """
        Return ``TOPIC:FIELD[:REDUCE] <= NUMBER``, such as ``/scan:ranges:min <= 1.5``.

        :raises SettingsError: the text is none
        """
        match = _ONSET.fullmatch(text.strip())
        try:
            if match is None:
                raise ValueError('it has another form')
            signal = Signal.model_validate({'topic': match[1], 'field': match[2],
                                            'reduce': match[3] or 'none', 'unit': '1'})
            return Onset(match[1], signal, _edge(signal.field, match[4], float(match[5])))
        except (ValueError, ValidationError) as error:
            raise SettingsError(f'--onset: got {text!r}, expected TOPIC:FIELD[:REDUCE] <= NUMBER '
                                f'such as /scan:ranges:min <= 1.5 '
                                f'({in_words(error):.200})') from None

    def holds(self, message: Message) -> bool | None:
        """
        Return whether the hazard is there; None: the message does not tell.

        :raises SettingsError: the message has no such field
        """
        try:
            margin = self.when.margin(self.signal.value(message))
        except LookupError as error:
            raise SettingsError(f'--onset: {error.args[0]}') from None
        return None if margin is None else margin >= 0

    def watch(self) -> OnsetWatch:
        """Return what looks for the hazard's beginning and end, as for one that a sensor tells."""
        return OnsetWatch(ObservedOnset.model_construct(
            topic=self.topic, when=self.when, latency_ms=0.0, uncertainty_ms=0.0,
            release_within_ms=0.0), {self.when.signal: self.signal})


def _edge(name: str, compare: str, limit: float) -> Edge:
    """Return a limit that includes itself, of one that may not."""
    if '=' not in compare:
        limit = math.nextafter(limit, math.inf if compare == '>' else -math.inf)
    return Edge(signal=name, **{'at_most' if '<' in compare else 'at_least': limit})


def read_bag(path: Path, trial: Trial, onset: Onset, *,
             full_name: Callable[[str], str]) -> TrialRecord:
    """
    Return the record of a trial that a bag holds.

    :param path: folder or file of a rosbag2, in MCAP or SQLite
    :param trial: what it is judged by
    :param full_name: the scenario's relative topic name to the name in the bag
    :raises TraceError: no bag, a topic of the scenario that is not in it, or no onset in it
    """
    ros = trial.scenario.body
    if not isinstance(ros, RobotBody):
        raise SettingsError(f'--scenario: {trial.scenario.id} is a text scenario, expected one '
                            f'with a ros: block to judge a bag by')
    names = _names(ros, full_name)
    _refuse_reaction(onset, names, ros, full_name)
    events: list[Event] = []
    try:
        files = BagFiles(path)
        if files.disorder:
            raise TraceError(files.disorder)
        _check_topics({channel.topic for channel in files.channels}, names, onset)
        wanted, ticks = {onset.topic, *names}, list[tuple[int, int]]()
        codecs = {channel: _codec(channel) for channel in files.channels
                  if channel.topic in wanted or _is_clock(channel)}
        for channel, at_ns, raw in files.messages(codecs):
            if _is_clock(channel):
                said = codecs[channel].decode(raw)['clock']
                ticks.append((at_ns, said['sec'] * 1_000_000_000 + said['nanosec']))
                continue
            message = Message.model_construct(type=channel.type, data=codecs[channel].decode(raw))
            kind, name = names.get(channel.topic, ('stimulus', channel.topic))
            events.append(Event(kind=kind, name=name, stamps=_stamps(at_ns), message=message))
        _refuse_simulated_recorder(ticks)
    except (TraceError, UnfitError) as error:
        raise TraceError(f'{path}: {error}') from None
    events.sort(key=lambda event: event.stamps.steady_ns)
    hazard = _hazard(path, events, onset, names, ros)
    off_ms = UNCALIBRATED_MS + (hazard.observed.uncertainty_ns + files.set_back_ns) / 1e6
    critical_ms = trial.scenario.latency_budget.critical_ms
    if off_ms >= critical_ms:
        raise TraceError(
            f'{path}: {onset.topic}: the message that shows the hazard was recorded late, or '
            f'after a pause, or one topic lags behind another, so that the latency is known '
            f'within {off_ms:.0f} ms alone, expected less than critical_ms {critical_ms:g}: '
            f'nothing could pass')
    return TrialRecord(
        trial=trial, events=tuple(_with_clock([*_marked(events, hazard)],
                                              sorted(ticks, key=itemgetter(0)))),
        measuring=Measuring(uncertainty_ms={'callback': off_ms}, sim_time=bool(ticks)))


def _is_clock(channel: Channel) -> bool:
    return (channel.topic, channel.type) == (_CLOCK, _CLOCK_TYPE)


def _refuse_simulated_recorder(ticks: Iterable[tuple[int, int]]) -> None:
    """
    Refuse a recorder that took its own times from /clock.

    :param ticks: the recorder's time of each message on /clock, and what it said (ns)
    """
    if any(at_ns < _LONG_AGO_NS and abs(at_ns - said_ns) < _SAME_CLOCK_NS
           for at_ns, said_ns in ticks):
        raise TraceError(f'the times of the recorder are those of {_CLOCK}, so that it is unknown '
                         f'how long anything really took. Record it without --use-sim-time')


def _with_clock(events: Sequence[Event], ticks: Sequence[tuple[int, int]]) -> Sequence[Event]:
    """Return events in the ROS time of /clock, with its messages; as they are without any."""
    if not ticks:
        return events
    at_ns, told = [at for at, _ in ticks], list[Event]()
    for place, (now_ns, said_ns) in enumerate(ticks):
        told.append(Event(kind='clock', name=_CLOCK, stamps=_stamps(now_ns)))
        back_ns = ticks[max(0, place - 1)][1] - said_ns
        if back_ns > 0:
            told.append(Event(
                kind='fault', name=ClockError.__name__, stamps=_stamps(now_ns),
                text=f'{_CLOCK} went back by {back_ns / 1e6:.1f} ms. Was the simulation reset, or '
                     f'did two nodes publish it?'))
    first, *others = events
    from_ns, until_ns = first.stamps.steady_ns, others[-1].stamps.steady_ns
    told = [event for event in told if from_ns <= event.stamps.steady_ns <= until_ns]
    for earlier_ns, later_ns in pairwise((from_ns, *(
            event.stamps.steady_ns for event in told if event.kind == 'clock'), until_ns)):
        if later_ns - earlier_ns > _SILENT_NS:
            told.append(Event(
                kind='fault', name=ClockError.__name__, stamps=_stamps(later_ns),
                text=f'{_CLOCK} was silent for {(later_ns - earlier_ns) / 1e9:.1f} s, expected '
                     f'at most {_SILENT_NS / 1e9:g} s. Record all of it'))
    return [event.model_copy(update={'stamps': event.stamps.model_copy(update={
        'ros_ns': ticks[max(0, bisect_right(at_ns, event.stamps.steady_ns) - 1)][1]})})
        for event in (first, *sorted([*told, *others], key=lambda one: one.stamps.steady_ns))]


def _refuse_reaction(onset: Onset, names: Mapping[str, Any], ros: RobotBody,
                     full_name: Callable[[str], str]) -> None:
    """Refuse an onset on a topic that shows the reaction: its time would begin with its end."""
    shown = {full_name(ros.signals[limit.signal].topic)
             for condition in (ros.reaction, ros.confirmation) if condition is not None
             for limit in condition.limits}
    if names.get(onset.topic, ('',))[0] == 'command' or onset.topic in shown:
        raise SettingsError(f'--onset: got {onset.topic}, which shows what the robot does, '
                            f'expected a topic that shows the hazard. Name that of a sensor')


def _names(ros: RobotBody, full_name: Callable[[str], str]) -> dict[str, tuple[Any, str]]:
    """Return full name to (kind of event, name in the scenario)."""
    found: dict[str, tuple[Any, str]] = {
        full_name(signal.current): ('stimulus', signal.current)
        for signal in ros.signals.values() if signal.current is not None}
    found |= {full_name(topic.topic): ('feedback', topic.topic) for topic in ros.feedback}
    return found | {full_name(topic.topic): ('command', topic.topic) for topic in ros.commands}


def _codec(channel: Channel) -> Codec:
    try:
        return channel.codec()
    except TraceError as error:
        raise TraceError(f'{channel.topic}: {error}') from None


def _check_topics(there: set[str], names: Mapping[str, Any], onset: Onset) -> None:
    missing = sorted({onset.topic, *names} - there)
    if missing:
        raise TraceError(f'got no topic {missing[0]}, expected one of '
                         f'{", ".join(sorted(there)) or "none, for the bag is empty"}. Use '
                         f'--remap FROM:=TO if it has another name')


@dataclass(frozen=True)
class _Hazard:
    """When the hazard was there."""

    topic: str
    """That of the onset, as the events name it."""
    observed: Observed
    begin_ns: int
    clear_ns: int
    """Seen to be gone, at the latest when the scenario lets it be gone."""


def _hazard(path: Path, events: Sequence[Event], onset: Onset, names: Mapping[str, Any],
            ros: RobotBody) -> _Hazard:
    if not events:
        raise TraceError(f'{path}: holds no message on the topics of the scenario')
    topic = names.get(onset.topic, (None, onset.topic))[1]
    told = [event.model_copy(update={'kind': 'feedback', 'name': onset.topic})
            for event in events if event.name == topic and event.message is not None]
    watch, is_armed, latest_ns = onset.watch(), False, math.inf
    for event in _with_sent(told):
        if event.message is None or event.stamps.steady_ns > latest_ns:
            continue
        watch.take(event)
        if not is_armed and onset.holds(event.message) is False:
            is_armed = True  # what was there when the recording began is no onset
            watch.take(Event(kind='mark', name=ARMED, stamps=event.stamps))
        if watch.edge is not None:
            latest_ns = watch.edge.stamps.steady_ns + round(ros.all_clear.at_ms * 1e6)
    observed = watch.observed(Measuring())
    if watch.problem:
        raise TraceError(f'{path}: {watch.problem.partition(". ")[0]}. Choose another --onset, or '
                         f'an earlier ros.all_clear')
    if observed is None:
        raise TraceError(f'{path}: {onset.when} on {onset.topic} never came to hold after it did '
                         f'not: there is no onset')
    begin_ns = observed.onset.stamps.steady_ns
    clear_ns = begin_ns + round(ros.all_clear.at_ms * 1e6)
    if watch.release is not None:
        clear_ns = min(clear_ns, watch.release.stamps.steady_ns)
    return _Hazard(topic, observed, begin_ns, clear_ns)


def _with_sent(told: Sequence[Event]) -> Sequence[Event]:
    """Return messages with the stamps of their headers, if those are of the recorder's clock."""
    sent = [_header_ns(event.message) for event in told if event.message is not None]
    ages_ns = [abs(event.stamps.steady_ns - sent_ns) for event, sent_ns in zip(
        told, sent, strict=True) if sent_ns is not None]
    if len(ages_ns) < len(told) or min(ages_ns, default=0) > _SAME_CLOCK_NS:
        return told
    return [event.model_copy(update={'stamps': event.stamps.model_copy(update={
        'source_ns': sent_ns, 'received_ns': event.stamps.steady_ns})})
        for event, sent_ns in zip(told, sent, strict=True)]


def _header_ns(message: Message) -> int | None:
    header = message.data.get('header')
    stamp = header.get('stamp') if isinstance(header, Mapping) else None
    sec, nanosec = (stamp.get('sec'), stamp.get('nanosec')) if isinstance(stamp, Mapping) \
        else (None, None)
    return sec * 1_000_000_000 + nanosec if isinstance(sec, int) and isinstance(nanosec, int) \
        else None


def _marked(events: Sequence[Event], hazard: _Hazard) -> Iterator[Event]:
    """Yield the events with the marks of the phases where they belong."""
    marks = {NOMINAL: events[0].stamps.steady_ns, ONSET: hazard.begin_ns}
    if hazard.clear_ns <= events[-1].stamps.steady_ns:
        marks[ALL_CLEAR] = hazard.clear_ns
    waiting = sorted(marks.items(), key=lambda mark: mark[1])
    for event in events:
        while waiting and waiting[0][1] <= event.stamps.steady_ns:
            name, at_ns = waiting.pop(0)
            yield Event(kind='mark', name=name, stamps=_stamps(at_ns), scheduled_ns=at_ns)
        shows = event.name == hazard.topic
        is_hazard = shows and event.kind == 'stimulus' and \
            hazard.begin_ns <= event.stamps.steady_ns < hazard.clear_ns
        yield event.model_copy(update={'hazard': True}) if is_hazard else event
        if shows and event.kind != 'stimulus' and event.stamps.steady_ns == hazard.begin_ns:
            yield event.model_copy(update={'kind': 'stimulus', 'hazard': True})
    yield Event(kind='mark', name=END, stamps=events[-1].stamps)


def _stamps(at_ns: int) -> Stamps:
    """Return the recorder's time as every clock there is."""
    return Stamps(steady_ns=at_ns, system_ns=at_ns, ros_ns=at_ns)
