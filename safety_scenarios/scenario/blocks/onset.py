# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A hazard whose onset a reference sensor reports, and recorded messages."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from pydantic import Field, model_validator
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import Noun, TopicName
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import MAX_MS, Milliseconds

AtEnd = Literal['hold', 'loop']
"""hold: the last message of each topic goes on, at its mean rate; loop: all begin again."""


class BagBlock(Noun):
    """What of a bag is played; a text in its place is ``file`` alone."""

    file: str = Field(min_length=1, max_length=4096)
    """A file (.mcap, .db3) or the folder of a rosbag2, relative to the scenario file."""
    topics: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Names in the bag; left out, all that the scenario leaves to the harness."""
    remap: Mapping[str, TopicName] = {}
    """Name in the bag to the topic of the scenario; others lose the slash they begin with."""
    start_ms: float = Field(default=0.0, ge=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})
    """What was recorded earlier is left out (ms after the first message of the played topics)."""
    length_ms: Milliseconds | None = None
    """How much is played; left out, all to the bag's end."""
    at_end: AtEnd = 'hold'
    """What comes when the bag is over before the trial is."""


@dataclass(frozen=True)
class RecordedTopic:
    """The messages of one topic of a bag."""

    name: str
    """In the bag."""
    type: str  # noqa: A003
    times_ns: Sequence[int]
    """Since the beginning of what is played, in ascending order."""
    messages: Sequence[Message]
    """Without the stamps in their headers: those are written when they are sent."""

    @property
    def rate_hz(self) -> float | None:
        """How many a second on average, None where that says nothing."""
        lasted_ns = self.times_ns[-1] - self.times_ns[0]
        return (len(self.times_ns) - 1) * 1e9 / lasted_ns if lasted_ns else None


@dataclass(frozen=True)
class Recording:
    """What a bag holds of what was asked for."""

    topics: Sequence[RecordedTopic]
    left_out: Mapping[str, str]
    """Name in the bag of what is not played, to the reason."""
    round_ns: int
    """To their end, and on to where the topic that ends last would go on: a loop begins there."""
    sha256: str
    """Of the file; of a folder, of the names and hashes of its files."""


ARMED = 'armed'
"""Mark from which on the reference sensor is waited for."""
_FEWEST = 3
"""So many gaps between the same readings are those of a stream."""
_PAUSE, _PAUSE_NS = 3.0, 100_000_000
"""A sensor was silent that sent nothing for more than so many of its usual gaps, and so long."""
_OLDEST_HEADER_NS = 1_000_000_000
"""A header stamp that is older than this when it arrives is of another clock."""


class Edge(Limit):
    """What the reference sensor says as soon as the hazard is there, and not before."""

    @model_validator(mode='before')
    @classmethod
    def _is_limit(cls, data: Any) -> Any:
        if isinstance(data, (str, bool, int, float)):
            raise ValueError(f"got {data!r}, expected a limit on a signal of the sensor's topic, "
                             f'such as {{signal: broken, at_least: 1}}; of a truth value true is '
                             f'1 and false 0')
        return data


class ObservedOnset(Noun):
    """
    The ``ros.onset`` key: which sensor sees the real hazard begin, and how well.

    Onset is the moment at which the message of the sensor arrived that first shows ``when``, less
    ``latency_ms``. Only a change counts: a message that does not satisfy ``when``, followed by
    one that does. A sensor that satisfies it from its first message on shows no onset.
    """

    topic: TopicName
    """Topic of the reference sensor, such as light_barrier; of no command or stimulus."""
    message: str = Field(default='auto', pattern=r'^(auto|[A-Za-z]\w*/msg/[A-Za-z]\w*)$')
    """Interface type, such as std_msgs/msg/Bool; auto: whatever the graph shows."""
    when: Edge
    """Limit on a signal of that topic, which holds as soon as the hazard is there."""
    latency_ms: float = Field(ge=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})
    """From the hazard to the arrival of the message that shows it, or with ``stamp: header`` to
    the stamp in its header (ms)."""
    uncertainty_ms: float = Field(ge=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})
    """By how much that may be off at most, the sensor's own period included (ms). A longer pause
    before the message adds to it, or leaves the onset unknown."""
    within_ms: Milliseconds = 60_000.0
    """How long the hazard is waited for."""
    release_within_ms: Milliseconds | None = None
    """The hazard is over when the sensor shows it no more: ``all_clear.at_ms`` after onset at the
    earliest, and so long after that at the latest. None: it is over at ``all_clear.at_ms``."""
    stamp: Literal['received', 'header'] = 'received'
    """header: by the stamp in the message's header, where its clock is known to be ours."""

    @model_validator(mode='after')
    def _check_type(self) -> 'ObservedOnset':
        if self.uncertainty_ms > self.latency_ms and self.stamp == 'received':
            raise ValueError(f'got uncertainty_ms {self.uncertainty_ms:g} above latency_ms '
                             f'{self.latency_ms:g}, expected at most as much: no message arrives '
                             f'before the event that it reports. Take the middle of the shortest '
                             f'and the longest latency, and half of the difference')
        return self

    @property
    def latency_ns(self) -> int:
        return round(self.latency_ms * 1e6)

    @property
    def uncertainty_ns(self) -> int:
        """Return by how much that may be off."""
        return round(self.uncertainty_ms * 1e6)


@dataclass(frozen=True, slots=True)
class Observed:
    """The onset that a reference sensor told."""

    onset: Event
    """What it sent, with its stamps moved back to when the hazard began."""
    uncertainty_ns: int
    """By how much that may be off."""


class OnsetWatch:
    """
    Looks for the edge, during a trial and in its record alike: it is fed every event in order.

    :param least_ns: the hazard has to be there for so long, where its end is observed too
    :ivar edge: the message that first showed the hazard
    :ivar release: the first one after it that showed it no more, where that is asked for
    :ivar problem: why there can be no onset, whatever comes

    A sensor that sends the same again and again is silent when it does not: the hazard may have
    come, or gone, as early as its next message was due. That is added to the uncertainty. Of one
    that sends nothing but changes, a pause means nothing.
    """

    def __init__(self, wanted: ObservedOnset, signals: Mapping[str, Signal],
                 least_ns: int = 0) -> None:
        self._wanted, self._least_ns = wanted, least_ns
        self.release: Event | None = None
        self._signal = signals[wanted.when.signal]
        self._is_armed = False
        self._last: tuple[Event, bool | None] | None = None
        self._gaps: deque[int] = deque(maxlen=50)
        self._edge_off_ns = self._release_off_ns = 0
        self._transits: deque[int] = deque(maxlen=50)
        self.edge: Event | None = None
        self.problem = ''

    @property
    def is_over(self) -> bool:
        """Whether nothing more need be waited for."""
        return self.edge is not None or bool(self.problem)

    def take(self, event: Event) -> bool:
        """Take one event, and return whether nothing more need be waited for."""
        is_told = event.kind == 'feedback' and event.name == self._wanted.topic
        if not self.is_over:
            if event.kind == 'mark' and event.name == ARMED:
                self._arm()
            elif is_told:
                self._receive(event)
        elif is_told and self.reports_end and not self.problem:
            self._receive_end(event)
        return self.is_over

    @property
    def reports_end(self) -> bool:
        """Whether the sensor also says when the hazard is over."""
        return self._wanted.release_within_ms is not None

    @property
    def has_ended(self) -> bool:
        """Whether the hazard is over, or nobody can know when it was."""
        return self.release is not None or bool(self.problem)

    def observed(self, measuring: Measuring) -> Observed | None:
        """Return the onset; None if there was no edge, or ``problem`` says why it tells none."""
        edge = self.edge
        if edge is None or self.problem:
            return None
        self.problem = self._foreign(edge, measuring)
        if self.problem:
            return None
        return Observed(edge.model_copy(update={'stamps': self._moved(edge.stamps)}),
                        self._wanted.uncertainty_ns + self._edge_off_ns)

    def ended(self, measuring: Measuring) -> Stamps | None:
        """Return when the hazard was over; None: it was not, or nobody knows when."""
        release = self.release
        if release is None or self.problem:
            return None
        late_ns = self._late_ns(release.stamps)
        self.problem = self._foreign(release, measuring)
        if not self.problem and late_ns > self._wanted.uncertainty_ns:
            self.problem = (
                f'{self._wanted.topic}: the message by which the hazard was over came '
                f'{late_ns / 1e6:.1f} ms later than others, so that its time is unknown. '
                f'Lower the load of hosts and network, or have the sensor stamp what it sends')
        return None if self.problem else self._moved(release.stamps)

    @property
    def release_uncertainty_ns(self) -> int:
        """Return by how much it may be off when the hazard was over; 0: nobody observes that."""
        return 0 if self.release is None \
            else self._wanted.uncertainty_ns + self._release_off_ns

    def _late_ns(self, stamps: Stamps) -> int:
        """Return how much longer than others a message was under way that is stamped here."""
        if self._wanted.stamp != 'received' or not self._transits \
                or stamps.source_ns is None or stamps.received_ns is None:
            return 0
        return max(0, round(stamps.received_ns - stamps.source_ns - median(self._transits)))

    def _moved(self, stamps: Stamps) -> Stamps:
        """Return the stamps of a message moved back to what it tells of."""
        seen_ns = stamps.received_ns or stamps.system_ns
        if self._wanted.stamp == 'header' and stamps.header_ns is not None:
            seen_ns = stamps.header_ns
        back_ns = stamps.system_ns - seen_ns + self._wanted.latency_ns
        return stamps.later(-back_ns).model_copy(update={
            'source_ns': None, 'received_ns': None, 'header_ns': None})

    def _arm(self) -> None:
        self._is_armed = True
        if self._last is not None and self._last[1]:
            self.problem = (f'{self._where} held already when the hazard was waited for, so that '
                            f'its beginning is unknown. Take away what the sensor sees')

    def _receive(self, event: Event) -> None:
        holds = self._holds(event)
        before, self._last = self._last, (event, holds)
        if self._is_armed and holds:
            self.edge = event
            self.problem = self._untold(event, before)
            self._edge_off_ns = self._off_ns(event, before)
            return
        stamps = event.stamps
        if before is not None and before[1] == holds:
            gap_ns = stamps.steady_ns - before[0].stamps.steady_ns
            if gap_ns > 0:  # one message may be recorded twice
                self._gaps.append(gap_ns)
        if stamps.received_ns is not None and stamps.source_ns is not None:
            self._transits.append(stamps.received_ns - stamps.source_ns)

    def _receive_end(self, event: Event) -> None:
        """Take what the sensor says once it has shown the hazard."""
        holds = self._holds(event)
        before, self._last = self._last, (event, holds)
        if self.release is not None:
            if holds:
                self.problem = (f'{self._where} held again after it had ended, so that the '
                                f'end of the hazard is unknown. Keep away from the sensor then')
        elif holds is False:
            assert self.edge is not None  # it is heard after the edge alone
            self.release = event
            there_ns = event.stamps.steady_ns - self.edge.stamps.steady_ns
            if there_ns < self._least_ns:
                self.problem = (
                    f'{self._where} held for {there_ns / 1e6:.0f} ms, expected '
                    f'{self._least_ns / 1e6:.0f} ms at least (all_clear.at_ms): the hazard was '
                    f'gone before it could be judged. Leave it there for longer')
            else:
                self.problem = self._untold(event, before)
                self._release_off_ns = self._off_ns(event, before)
        elif holds is None and not self.problem:
            self.problem = (f'{self._where}: a message came that does not show whether it still '
                            f'holds, so that the end of the hazard is unknown')

    def _holds(self, event: Event) -> bool | None:
        assert event.message is not None
        try:
            margin = self._wanted.when.margin(self._signal.value(event.message))
        except LookupError as error:
            self.problem = (f'{self._wanted.topic}: cannot read the signal '
                            f'{self._wanted.when.signal!r}: {error.args[0]}')
            return None
        return None if margin is None else margin >= 0

    def _untold(self, edge: Event, before: tuple[Event, bool | None] | None) -> str:
        """Return why the first message that shows the hazard does not tell when it began."""
        if before is None:
            return (f'{self._where} held in the first message that the sensor sent, so that '
                    f'its beginning is unknown. Let it send before the hazard too')
        if before[1] is None:
            return f'{self._where} held after a message that does not show whether it does'
        counts = before[0].sequence, edge.sequence
        if None not in counts and counts[0] != counts[1] and counts[1] != (counts[0] or 0) + 1:
            # a count that stands still is none: some middlewares give no other
            return (f'{self._wanted.topic}: the message right before the edge is missing, or '
                    f'another publisher takes turns with the sensor')
        gap_ns = edge.stamps.steady_ns - before[0].stamps.steady_ns
        if len(self._gaps) >= _FEWEST and gap_ns > max(_PAUSE * median(self._gaps), _PAUSE_NS):
            return (f'{self._wanted.topic}: the sensor sent nothing for {gap_ns / 1e6:.0f} ms '
                    f'before the edge, after a message every '
                    f'{median(self._gaps) / 1e6:.0f} ms')
        return ''

    def _off_ns(self, edge: Event, before: tuple[Event, bool | None] | None) -> int:
        """Return by how much an edge may be late: on its way, or as messages before it failed."""
        late_ns = self._late_ns(edge.stamps)
        if before is None or len(self._gaps) < _FEWEST:
            return late_ns
        gap_ns = edge.stamps.steady_ns - before[0].stamps.steady_ns
        return max(late_ns, round(gap_ns + self._late_ns(before[0].stamps) - median(self._gaps)))

    def _foreign(self, edge: Event, measuring: Measuring) -> str:
        """Return why a header stamp cannot be taken."""
        if self._wanted.stamp == 'received':
            return ''
        stamps, topic = edge.stamps, self._wanted.topic
        if stamps.header_ns is None:
            return f'{topic}: got no header stamp, expected one. Use stamp: received'
        if measuring.sim_time or not (measuring.one_host or measuring.exact):
            return (f'{topic}: the clock of its header stamp is not known to be ours '
                    f'({measuring.hosts_because}). Use stamp: received')
        age_ns = (stamps.received_ns or stamps.system_ns) - stamps.header_ns
        if not 0 <= age_ns <= _OLDEST_HEADER_NS:
            return (f'{topic}: its header stamp was {age_ns / 1e6:.1f} ms old when it arrived, '
                    f'expected 0 to {_OLDEST_HEADER_NS / 1e6:g}: it is of another clock. Use '
                    f'stamp: received')
        return ''

    @property
    def _where(self) -> str:
        return f'{self._wanted.topic}: {self._wanted.when}'


def watched(wanted: ObservedOnset, signals: Mapping[str, Signal],
            events: Iterable[Event], least_ns: int = 0) -> OnsetWatch:
    """Return what a watch makes of the events of a record."""
    watch = OnsetWatch(wanted, signals, least_ns)
    for event in events:
        if watch.take(event) and not watch.reports_end:
            break
    return watch
