# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The events of the last seconds of a running robot, and what a monitor judges of them.

A record of it holds what was in force when the window began (the last event of each kind and
topic), the mark ``nominal`` where it begins, its events, and the mark ``end``. A record that is
kept of a finding has more of the past before, and continues behind; ``watched_part`` leaves both
out, so that judging it later is judging what was judged live.

It never waits, reads no clock and knows nothing of ROS: whoever feeds it says what time it is.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from safety_scenarios.errors import counted
from safety_scenarios.judging.findings import invariant_findings, observation
from safety_scenarios.judging.findings.harness import harness
from safety_scenarios.judging.findings.invariant_findings import checked
from safety_scenarios.judging.findings.observation import all_rejected, ONE_COMMANDER
from safety_scenarios.judging.findings.stall_findings import NEARER
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.stalls import EVALUATOR, LEAST_NS
from safety_scenarios.judging.latency.stream import interleaved, lost
from safety_scenarios.scenario.body import MonitorBody
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import EXTERNAL, MonitorSettings
from safety_scenarios.scenario.timing import ClockRules, Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import END, NOMINAL, Trial, TrialRecord

LABEL = 'in_operation'
"""What results call a robot that a monitor watches: nobody tells what drives it."""
_READ_BY_NS = 100_000_000
"""So long after a monitor could not run all that came meanwhile has been read."""
HEARD = 'messages arrive on every declared topic'
WHOLE = 'no message was lost'


def spec() -> ControllerSpec:
    """Return what is judged: whatever commands the robot."""
    return ControllerSpec(name=EXTERNAL, label=LABEL)


def watched_trial(scenario: Scenario, number: int) -> Trial:
    """
    Return the trial that the record of a finding is of: nothing is planned in it.

    :param number: of the finding, from 1
    """
    return Trial(trial_id=f'{scenario.id}.{LABEL}.f{number}'.replace('/', '_'),
                 scenario=scenario, controller=LABEL, index=0, seed=0, onset_delay_ns=0,
                 nominal_timeout_ns=0, nominal=(), hazard=(), all_clear_ns=None, end_ns=0,
                 spec=spec())


def in_force(events: Iterable[Event]) -> list[Event]:
    """Return the last event of each kind and topic, in the order in which they came."""
    latest: dict[tuple[str, str], Event] = {}
    for event in events:
        if event.kind not in ('mark', 'fault'):
            key = event.kind, event.name
            latest.pop(key, None)
            latest[key] = event
    return list(latest.values())


def watched_part(record: TrialRecord) -> TrialRecord:
    """Return the part of a monitor's record that was judged."""
    events = record.events
    begin = next((place for place, event in enumerate(events) if event.kind == 'mark'
                  and event.name == NOMINAL), 0)
    end = next((place for place, event in enumerate(events) if event.kind == 'mark'
                and event.name == END), len(events) - 1)
    return record.model_copy(update={
        'events': (*in_force(events[:begin]), *events[begin:end + 1])})


def findings_of(trial: JudgedTrial,
                plugins: Sequence[InvariantPlugin] | None = None) -> list[Finding]:
    """
    Return what the judged part of a record says.

    :param plugins: some of the invariants of its file; None: all of them
    """
    found = [*observation.faults(trial), *observation.numbers(trial), *all_rejected(trial),
             *_silent_topics(trial), *_whole(trial)]
    found += _without_own_stalls(trial, checked(trial, plugins, by_load=False))
    return [*found, *invariant_findings.nothing_checked(trial, found)]


def _without_own_stalls(trial: JudgedTrial, found: Sequence[Finding]) -> Sequence[Finding]:
    """
    Return findings without a FAIL that only shows when the monitor itself could not run.

    It reads late and all at once what came meanwhile. What one message shows by itself stays.
    """
    begin = trial.timeline.mark(NOMINAL)
    stalls = [] if begin is None else trial.stalls.of(EVALUATOR).within(
        begin.stamps.steady_ns - _READ_BY_NS, trial.record.end_ns)
    if not stalls:
        return found
    lost_ns, plugins = max(one.lost_ns for one in stalls), {
        plugin.name: plugin for plugin in trial.scenario.invariants}

    def may_be_ours(one: Finding) -> bool:
        plugin = plugins[one.check]
        if plugin.margin_is_time and one.unit == 's':
            return -1e9 * (one.margin or 0.0) <= lost_ns + LEAST_NS
        if one.unit == 'm' and one.margin is not None:
            return -1e9 * one.margin <= NEARER * (lost_ns + LEAST_NS)
        return plugin.margin_is_time or plugin.reach_s(trial.scenario) != 0.0 \
            or len(reads(plugin, trial.scenario)) > 1
    return [one if one.verdict is not Verdict.FAIL or not may_be_ours(one) else one.model_copy(
        update={'verdict': Verdict.INCONCLUSIVE, 'reason': (
            f'{one.reason}. The monitor itself could not run for {lost_ns / 1e6:.0f} ms. Lower '
            f'the load of the host')}) for one in found]


def _silent_topics(trial: JudgedTrial) -> Iterator[Finding]:
    """Find a topic from which nothing came during the window."""
    block, begin = trial.scenario.body, trial.timeline.mark(NOMINAL)
    assert isinstance(block, MonitorBody)
    for kind, known in (('command', block.commands), ('feedback', block.feedback),
                        ('sensed', block.inputs)):
        for declared in known:
            events = trial.record.by_topic(kind).get(declared.topic, ())
            if begin is None or not events \
                    or events[-1].stamps.steady_ns < begin.stamps.steady_ns:
                yield harness('observation', HEARD, Verdict.INCONCLUSIVE, (
                    f'{declared.topic}: nothing came during the window'
                    + ('' if events else ', nor before')))


def _whole(trial: JudgedTrial) -> Iterator[Finding]:
    mixed = interleaved(trial.record)
    if mixed is not None:
        yield harness('observation', ONE_COMMANDER, Verdict.INCONCLUSIVE,
                      f'{mixed[0]}: two publishers took turns, so that it is unknown whose '
                      f'command is in force. Stop one of them, or watch the output of a '
                      f'multiplexer')
        return
    begin = trial.timeline.mark(NOMINAL)
    for topic, count in lost(trial.record, 0 if begin is None else begin.stamps.steady_ns).items():
        yield harness('observation', WHOLE, Verdict.INCONCLUSIVE,
                      f'{topic}: {counted(count, "command was", "commands were")} lost in '
                      f'transit. Let the controller publish reliably, or lower the load')


def reads(plugin: InvariantPlugin, scenario: Scenario) -> frozenset[str]:
    """Return the topics that an invariant reads; all there are of one that does not say."""
    ros = scenario.robot_body
    signals = {value for name in plugin.names_signals
               if isinstance(value := getattr(plugin, name, None), str)}
    signals |= set(getattr(plugin, 'signals', ()))
    topics = {value for name in ('topic', 'current')
              if isinstance(value := getattr(plugin, name, None), str)}
    for name in plugin.names_stimuli:
        named = getattr(plugin, name, None)
        topics |= set(named if isinstance(named, tuple) else (named,)) - {None}
    if getattr(plugin, 'kind', '') == 'separation' and ros.separation is not None:
        signals |= {ros.separation.signal, ros.separation.distance or ros.separation.signal}
    for name in signals & ros.signals.keys():
        topics |= {ros.signals[name].topic} | {ros.signals[name].current or
                                               ros.signals[name].topic}
    return frozenset(topics) or frozenset(topic for _, topic in declared(scenario))


_NS, _MB = 1e9, 1e6
_LAST = 2
"""Messages of each topic that a verdict reaches back to at least: with one there is no gap."""
Key = tuple[str, str]
"""Kind and name of an event."""


@dataclass(frozen=True)
class Cut:
    """What is judged of a window, up to now."""

    record: TrialRecord
    inside: int
    """How many of the window's last events are between its marks."""


class Window:
    """
    What has been heard lately.

    :ivar heard: kind and topic to when the last events of it came (steady ns), the last one last
    :ivar size: bytes of the events in the window

    :param settings: how long it is, and how large it may be
    :param began: when the monitor began to listen
    """

    def __init__(self, scenario: Scenario, settings: MonitorSettings, began: Stamps) -> None:
        self._trial = watched_trial(scenario, 1)
        self._length_ns = round(settings.window_s * _NS)
        self._kept_ns = round(max(settings.before_s, settings.window_s) * _NS)
        self._most = settings.max_memory_mb * _MB
        self._most_kept = settings.max_record_mb * _MB / 2
        self._awaited = set(declared(scenario))
        self._began_ns = began.steady_ns
        self._inside: deque[Event] = deque()
        self._before: dict[Key, Event] = {}
        """What was in force when the window began."""
        self._older: deque[Event] = deque()
        self._older_size = 0
        self._shortened_ns: int | None = None
        self.heard: dict[Key, deque[int]] = {}
        self.size = 0
        self.measuring = Measuring(
            rules=ClockRules(latency_clock='steady'), sim_time=settings.use_sim_time,
            hosts_because='a monitor measures no latency')

    def add(self, event: Event) -> None:
        """Take one event; in the order in which they came."""
        self._inside.append(event)
        self.size += event.size
        key = event.kind, event.name
        if event.kind != 'fault':
            self.heard.setdefault(key, deque(maxlen=_LAST)).append(event.stamps.steady_ns)
        self._awaited.discard(key)
        while self.size > self._most and len(self._inside) > 1:
            self._shortened_ns = event.stamps.steady_ns
            self._leave()

    @property
    def is_complete(self) -> bool:
        """Whether everything that is declared was heard at least once."""
        return not self._awaited

    def advance(self, now_ns: int, judged_ns: int) -> None:
        """
        Let go what is older than the window.

        :param judged_ns: up to when everything has been judged (steady); what came later stays
        """
        begin_ns = min(now_ns, judged_ns) - self._length_ns
        while self._inside and self._inside[0].stamps.steady_ns < begin_ns:
            self._leave()
        if self._shortened_ns is not None and now_ns - self._shortened_ns > self._length_ns:
            self._shortened_ns = None

    def begin_ns(self, reach_ns: int, topics: Collection[str], judged_ns: int) -> int:
        """
        Return where a verdict of now has to begin (steady ns).

        :param reach_ns: so much it looks back, from up to where everything was judged
        :param topics: that it reads: the last messages on each are in it, if the window has them
        :param judged_ns: up to when everything has been judged
        """
        found = [judged_ns - reach_ns, *(
            times[0] for (_, topic), times in self.heard.items() if topic in topics)]
        return max(self._began_ns, judged_ns - self._length_ns, min(found))

    def judged(self, begin_ns: int, now: Stamps) -> Cut:
        """
        Return what is to be judged now.

        :param begin_ns: where it begins (steady)
        :param now: not before the last event
        """
        inside: list[Event] = []
        latest: dict[Key, Event] = {}
        for event in reversed(self._inside):
            if event.stamps.steady_ns >= begin_ns and not latest:
                inside.append(event)
                continue
            if event.kind != 'fault':
                latest.setdefault((event.kind, event.name), event)
            if len(latest) == len(self.heard):
                break
        else:
            for key, event in reversed(self._before.items()):
                latest.setdefault(key, event)
        inside.reverse()
        begin = _mark(NOMINAL, _moved(inside[0].stamps if inside else now, begin_ns))
        events = (*reversed(latest.values()), begin, *inside, *self._shortened(now),
                  _mark(END, now))
        return Cut(TrialRecord.model_construct(
            trial=self._trial, events=events, measuring=self.measuring, judgements=()),
            len(inside))

    def to_keep(self, cut: Cut) -> Sequence[Event]:
        """Return what was judged a moment ago, after as much of the past as is kept."""
        kept = {id(event) for event in self._older}
        first = len(self._inside) - cut.inside
        marks = [place for place, event in enumerate(cut.record.events) if event.kind == 'mark']
        return (*(event for event in self._before.values() if id(event) not in kept),
                *self._older, *islice(self._inside, first), *cut.record.events[marks[0]:])

    def _shortened(self, now: Stamps) -> Sequence[Event]:
        if self._shortened_ns is None:
            return ()
        return (Event.model_construct(kind='fault', name='MeasurementError', stamps=now, text=(
            f'the window holds {self._most / _MB:g} MB of events and no more, so that it was '
            f'cut. Raise max_memory_mb, or lower window_s or the rates of the topics')),)

    def _leave(self) -> None:
        event = self._inside.popleft()
        self.size -= event.size
        if event.kind != 'fault':
            key = event.kind, event.name
            self._before.pop(key, None)
            self._before[key] = event
        self._older.append(event)
        self._older_size += event.size
        while self._older and (
                self._older_size > self._most_kept or self._older[0].stamps.steady_ns
                < event.stamps.steady_ns - self._kept_ns):
            self._older_size -= self._older.popleft().size


def declared(scenario: Scenario) -> Sequence[Key]:
    """Return kind and topic of everything that a monitor file listens to."""
    block = scenario.body
    assert isinstance(block, MonitorBody)
    return [(kind, known.topic) for kind, topics in (
        ('command', block.commands), ('feedback', block.feedback), ('sensed', block.inputs))
        for known in topics]


def _mark(name: str, stamps: Stamps) -> Event:
    return Event.model_construct(kind='mark', name=name, stamps=stamps)


def _moved(near: Stamps, steady_ns: int) -> Stamps:
    """Return the stamps of another moment near one."""
    less_ns = near.steady_ns - steady_ns
    return Stamps.model_construct(steady_ns=steady_ns, system_ns=near.system_ns - less_ns,
                                  ros_ns=near.ros_ns - less_ns)
