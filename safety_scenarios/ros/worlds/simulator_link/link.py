# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A link to a controller over topics, in a world that another process simulates.

Evaluator, simulator and controller are three processes. What is recorded is stamped in simulated
time, as over the link ``simulated``: a robot, a person and a braking distance know no other. How
it went beside real time is kept, by ``clock`` events, and judged.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
import math
import time

from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.ros.link.clock import RosClock, SimulatedTime
from safety_scenarios.ros.link.link import RosLink
from safety_scenarios.ros.worlds.simulator_link.control import Ready, Stepped, WorldControl
from safety_scenarios.ros.worlds.simulator_link.protocol import CATCHES_UP, Decided, WorldState
from safety_scenarios.scenario.blocks.nominal_calls import Call
from safety_scenarios.scenario.conversation import Envelope
from safety_scenarios.scenario.event import Event, STALL_BEGAN, STALL_ENDED, Stamps
from safety_scenarios.scenario.interfaces import stamped
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Intent, Stimulus
from safety_scenarios.scenario.timing import (
    ENDED,
    GIVEN,
    HELD,
    Measuring,
    METHODS,
    REAL,
    THOUGHT,
    TURN,
)
from safety_scenarios.trial.link import ForwardingLink
from safety_scenarios.trial.plan_data import from_text
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import Trial

_SLICE_S = 0.001
"""Between two looks at what has arrived, while simulated time is awaited."""
_LATE_S = 10.0
"""In lock-step: what one process has received another has within this, unless it got lost."""
CHARGED_MS = 3.0
"""In lock-step: uncertainty (k = 2) of what a decision is charged: a start of a thread, and what
is too short to be charged."""
_CLOCK_NS = 200_000_000
"""After a stall: so long commands wait for the messages on /clock that came with them."""
_HELD_NS = 100_000_000
"""A header stamp older than that is none of a sensor that works."""
_STEP_NS = 50_000_000
"""In lock-step: between two looks at what has arrived, in simulated time."""


class WorldLink(ForwardingLink):
    """
    Lets stimuli happen in a world, and hears commands as any link over ROS does.

    :param inner: hears and speaks, with stamps of real time
    :param clock: ROS time, which the simulator makes
    :param control: of the simulator
    :param timeout_s: how long to wait for the other end
    :param alarm: says why the simulator is gone, None while it lives or if it is not ours
    :param takes_turns: the controller's process takes turns in lock-step; of another one the real
        time counts
    :param answers_alone: it is known to compute nothing between two turns
    """

    rehearses = True
    measuring = Measuring()

    def __init__(self, inner: RosLink, clock: RosClock, control: WorldControl,
                 timeout_s: float, alarm: Callable[[], str | None], takes_turns: bool = False,
                 answers_alone: bool = False) -> None:
        super().__init__(inner)
        self._takes_turns, self._answers_alone = takes_turns, answers_alone
        self._clock, self._control = clock, control
        self._timeout_s, self._alarm = timeout_s, alarm
        self._time = clock.law = SimulatedTime()
        self._last_ns = self._begin_ns = 0
        self._ready: Ready | None = None
        self._held: list[Event] = []
        self._early: list[Event] = []
        """Commands that have not taken effect, as they came."""
        self._effects: dict[tuple[str, int], deque[int]] = {}
        """Topic and source stamp of a command to when it took effect."""
        self._topics = frozenset[str]()
        """Of commands whose time of effect the world says."""
        self._began_ns = 0
        """When the trial began, in system time."""
        self._sent = Counter[str]()
        """Stimuli that no world shows, by topic, since the last step."""
        self._waiting: list[Event] = []
        self.measuring = inner.measuring

    def open(self, trial: Trial) -> None:  # noqa: A003
        """
        Bring up simulator and controller, and let the world begin.

        :raises LinkTimeoutError: one of them is not there
        :raises MeasurementError: the scenario asks for a world that cannot be
        """
        deadline = time.monotonic() + self._timeout_s
        is_new = self._ready is None
        if self._inner.revive():
            is_new = True
            self._clock.forget()
            self._control.forget()
            deadline = time.monotonic() + self._timeout_s
        try:
            self._ready = ready = self._control.reset(trial)
        except InputError as error:  # what this trial asks for; another one may do
            raise MeasurementError(f'the world: {error}') from None
        if self._inner.measuring.rules.lockstep and not ready.lockstep and self._takes_turns:
            raise MeasurementError(
                f'the world: got {self._control.name} that goes at its own pace, with '
                f'clock.lockstep, expected one that waits for the controller. Start '
                f'simulator_node with lockstep:=true, or leave clock.lockstep out')
        self._held.clear()
        self._early.clear()
        self._effects.clear()
        self._sent.clear()
        self._waiting.clear()
        self._time.factor = 0.0 if ready.lockstep else ready.factor
        self._inner.leave_to_world(ready.topics, ready.nodes)
        self._inner.open(trial)
        self._control.await_others(max(deadline, time.monotonic() + 1.0))
        self._inner.refuse_other_times()
        self._measure(ready)
        self._time.begin()
        self._topics, self._began_ns = frozenset(), time.time_ns()
        self._last_ns = self._begin_ns = self._control.begin(is_new)
        self._time.until_ns = self._last_ns if ready.stands else math.inf

    def _measure(self, ready: Ready) -> None:
        inner = self._inner.measuring
        rules, factor = inner.rules, ready.factor or 1.0
        charges = ready.lockstep and self._takes_turns and self._control.charges
        self.measuring = inner.model_copy(update={
            'charges': charges, 'beside': '',
            'answers_alone': ready.lockstep and self._answers_alone,
            'uncertainty_ms': dict.fromkeys(METHODS, CHARGED_MS) if charges
            else inner.uncertainty_ms,
            'sim_time': False, 'schedule_clock': 'steady', 'offset': None,
            'hosts_because': f'{inner.hosts_because}; all stamps are in the simulated time of a '
                             f'world in a process of its own',
            'world': self._control.name, 'lockstep': ready.lockstep, 'pace': factor,
            'rules': rules.model_copy(update={
                'latency_clock': 'ros', 'lockstep': ready.lockstep,
                'rtf_min': rules.rtf_min * min(1.0, factor),
                'rtf_max': rules.rtf_max * factor * CATCHES_UP})})

    def apply(self, topic: str, intent: Intent, *, hazard: bool) -> Stamps | None:
        now_ns = self._control.apply(topic, intent, hazard)
        return None if now_ns is None else _stamps(now_ns)

    def withdraw(self, topic: str) -> None:
        self._control.withdraw(topic)

    def arm(self) -> None:
        self._inner.arm()

    def disarm(self) -> None:
        """Take back what would reach somebody after the trial, and empty the world."""
        try:
            self._inner.disarm()
        finally:
            self._control.end()

    def close(self) -> None:
        """Give up the endpoints."""
        if self._clock.law is self._time:
            self._clock.law = None
        self._inner.close()
        self._control.close()

    def preflight(self) -> Sequence[PreflightRow]:
        """Return what the graph shows of the other end, and how the world's time passes."""
        ready = self._ready
        how = 'nothing was simulated' if ready is None else \
            'in lock-step: what the controller takes is charged to simulated time' \
            if ready.lockstep else f'at {ready.factor:g} of real time'
        if self._inner.measuring.rules.lockstep and ready is not None and not ready.lockstep:
            how += ', because the computing time of this controller is unknown'
        topics = ', '.join(sorted(ready.topics)) if ready else 'nothing'
        return (*self._inner.preflight(), PreflightRow(
            check='world', status='ok',
            detail=f'{self._control.name}, {how}; it publishes {topics}'))

    def mark(self, name: str) -> Event:
        return self._simulated(self._inner.mark(name))

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event | None:
        """
        Publish what no world can show.

        :raises MeasurementError: the world shows something else on its topic
        """
        if self._ready is not None and stimulus.topic in self._ready.topics:
            raise MeasurementError(
                f'{stimulus.topic}: got a stimulus that the world cannot show on a topic that it '
                f'publishes, expected one that it can: both would contradict each other. Use '
                f'world none for this')
        sent = self._inner.send(stimulus, hazard=hazard, scheduled_ns=scheduled_ns)
        if sent is not None:
            self._sent[stimulus.topic] += 1
        return None if sent is None else self._simulated(sent)

    def deliver(self, envelope: Envelope, hearers: Sequence[str]) -> Stamps:
        """Let live agents hear something."""
        return self._time.stamps(self._inner.deliver(envelope, hearers), self._last_ns)

    def call(self, call: Call, symbol: str) -> Event:
        """Ask the stack for something before the hazard."""
        return self._simulated(self._inner.call(call, symbol))

    def overlooked(self) -> Sequence[Event]:
        return [self._simulated(event) for event in self._inner.overlooked()]

    def late_stalls(self) -> Sequence[Event]:
        """Return stalls that were not over at the end; in lock-step nobody waits for that."""
        return [self._simulated(event)
                for event in self._inner.late_stalls(is_awaited=not self._in_lockstep)]

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        """Return what has arrived, or wait for it until ``schedule_ns`` of simulated time."""
        factor = self._ready.factor if self._ready else 1.0
        is_held = self._ready is None or self._ready.stands
        if is_held and not self._in_lockstep and schedule_ns != self._time.until_ns:
            self._time.until_ns = schedule_ns  # what is due then finds the world at that time
            self._control.until(schedule_ns)
        while True:
            if not self._in_lockstep:
                self._time.check()
            now_ns = self._last_ns if self._in_lockstep else self._time.last_ns
            arrived = self._effective(self._timely(self._inner.receive_now()))
            if any(event.kind == 'fault' for event in arrived) and self._alarm() is not None:
                raise MeasurementError(str(self._alarm()))
            held, self._held = self._held, []
            events = sorted([*held, *self._world_events(), *map(self._simulated, arrived)],
                            key=_when)
            if events or now_ns >= schedule_ns:
                return events
            if self._in_lockstep:
                self._step(min(_STEP_NS, schedule_ns - now_ns))
            else:
                time.sleep(min(_SLICE_S, _SLICE_S / 10 + (schedule_ns - now_ns) / 1e9 / factor))

    def _effective(self, arrived: Sequence[Event]) -> Sequence[Event]:
        """Return what has arrived but commands that take effect later; these wait for a step."""
        self._early += (event for event in arrived if self._is_charged(event))
        return [event for event in arrived if not self._is_charged(event)]

    def _is_charged(self, event: Event) -> bool:
        return event.kind == 'command' and event.name in self._topics

    def _timely(self, arrived: Sequence[Event]) -> Sequence[Event]:
        """
        Return what has arrived and is not newer than what was read of /clock by now.

        After a stall of this process two threads read what has waited. When in simulated time a
        command was sent is not known before the other one has read /clock.
        """
        if self._in_lockstep:
            return arrived
        waiting, self._waiting = [*self._waiting, *arrived], []
        now_ns = time.time_ns()
        for place, event in enumerate(waiting):
            sent_ns = event.stamps.source_ns or 0
            if not self._time.has_reached(sent_ns) and now_ns - event.stamps.system_ns < _CLOCK_NS:
                self._waiting = waiting[place:]
                return waiting[:place]
        return waiting

    def _step(self, step_ns: int) -> None:
        """Let time pass, and wait until what the world has received is received here, too."""
        sent, self._sent = dict(self._sent), Counter()
        stepped = self._control.step(step_ns, sent)
        self._last_ns = stepped.now_ns
        self._topics = stepped.topics
        for topic, source_ns, effect_ns in stepped.effects or ():
            if 0 < source_ns < self._began_ns:
                continue  # it was published before the trial, and has come to the world late
            self._effects.setdefault((topic, source_ns), deque()).append(effect_ns)
        self._held += map(_decision, stepped.decided)
        beside = next((one.beside for one in stepped.decided if one.beside), '')
        if beside and not self.measuring.beside:
            self.measuring = self.measuring.model_copy(update={'beside': beside})
        wanted = self._count() + stepped.commands if stepped.effects is None else 0
        deadline = time.monotonic() + _LATE_S
        while True:
            self._sort()
            if not self._effects and self._count() >= wanted:
                return
            if time.monotonic() > deadline:
                self._miss(stepped)
                return
            time.sleep(_SLICE_S / 5)

    def _count(self) -> int:
        """Return how much waits for a step; what a controller reports on itself counts as none."""
        return sum(event.kind != 'timing' for event in self._held)

    def _sort(self) -> None:
        """Take what has arrived; a command counts when it takes effect."""
        arrived, self._early = [*self._early, *self._inner.receive_now()], []
        for event in arrived:
            is_command = self._is_charged(event)
            now_ns = self._effect_ns(event) if is_command else None
            if now_ns is not None:
                self._held.append(event.model_copy(update={
                    'stamps': _stamps(now_ns, event.stamps.header_ns)}))
            elif is_command:
                self._early.append(event)
            else:
                self._held.append(self._simulated(event))

    def _effect_ns(self, command: Event) -> int | None:
        """Return when a command took effect; None: it has not."""
        key = command.name, command.stamps.source_ns or 0
        effects = self._effects.get(key)
        if effects is None:
            return None
        now_ns = effects.popleft()
        if not effects:
            del self._effects[key]
        return now_ns

    def _miss(self, stepped: Stepped) -> None:
        if stepped.effects is not None:
            raise MeasurementError(
                f'the world: got commands in the simulator that did not come here within '
                f'{_LATE_S:g} s, expected them in both. Use a less busy machine')

    @property
    def _in_lockstep(self) -> bool:
        return self._ready is not None and self._ready.lockstep

    def _world_events(self) -> Iterator[Event]:
        """Yield what is true, and when sensors have published; stamped by the world itself."""
        for found in self._control.take():
            if found.fault:
                raise MeasurementError(found.fault)
            yield from _events(found)

    def _simulated(self, event: Event) -> Event:
        """Return an event with stamps in simulated time, its order kept."""
        if event.kind == 'clock':
            stamps = _stamps(event.stamps.ros_ns)
            real_ns = event.stamps.steady_ns - (
                event.stamps.system_ns - (event.stamps.source_ns or event.stamps.system_ns))
            return Event.model_construct(kind='clock', name=event.name, stamps=stamps,
                                         truth={REAL: real_ns / 1e9})
        if event.kind == 'stall':
            return self._stall(event)
        return event.model_copy(update={'stamps': self._moment(event)})

    def _stall(self, event: Event) -> Event:
        """Return a stall from when to when it was in simulated time."""
        stamps, system_ns = self._moment(event), event.stamps.system_ns
        began_ns, ended_ns = (self._time.at(system_ns - round(1e9 * event.truth[name]))
                              for name in (STALL_BEGAN, STALL_ENDED))
        return event.model_copy(update={'stamps': stamps, 'truth': {
            **event.truth, STALL_BEGAN: max(0, stamps.steady_ns - began_ns) / 1e9,
            STALL_ENDED: max(0, stamps.steady_ns - ended_ns) / 1e9}})

    def _moment(self, event: Event) -> Stamps:
        real, source_ns = event.stamps, event.stamps.source_ns
        if self._in_lockstep:  # messages take no time then
            now_ns = self._last_ns if source_ns is None \
                else max(self._begin_ns, self._time.at(source_ns))  # as it ran before
            stamps = _stamps(now_ns, real.header_ns)
        else:
            stamps = self._time.stamps(real, self._last_ns)
            self._last_ns = stamps.steady_ns
        if event.kind == 'feedback' and real.header_ns is not None \
                and abs(stamps.steady_ns - real.header_ns) < _HELD_NS:
            return _stamps(real.header_ns, real.header_ns)  # by the world itself
        return stamps


def _events(found: WorldState) -> Iterator[Event]:
    for topic, t_ns, header_ns in found.sensed:
        yield Event.model_construct(kind='sensed', name=topic, stamps=_stamps(t_ns, header_ns))
    for topic, t_ns, header_ns, interface, text in found.reported:
        message = Message(type=interface, data=from_text(text))
        yield Event.model_construct(
            kind='feedback', name=topic, stamps=_stamps(t_ns, header_ns),
            message=message if header_ns is None else stamped(message, header_ns))
    for name, truth in found.states.items():
        yield Event.model_construct(kind='state', name=name, truth=truth,
                                    stamps=_stamps(found.now_ns))


def _decision(one: Decided) -> Event:
    """Return what the record keeps of a decision."""
    return Event.model_construct(
        kind='decision', name='controller', stamps=_stamps(one.effect_ns),
        truth={THOUGHT: one.thought_ns / 1e9, HELD: one.held_ns / 1e9, TURN: one.turn_ns / 1e9,
               GIVEN: one.given_ns / 1e9, ENDED: one.done_ns / 1e9})


def _when(event: Event) -> int:
    return event.stamps.steady_ns


def _stamps(now_ns: int, header_ns: int | None = None) -> Stamps:
    return Stamps.model_construct(
        steady_ns=now_ns, system_ns=now_ns, ros_ns=now_ns, source_ns=now_ns,
        received_ns=now_ns, header_ns=header_ns)
