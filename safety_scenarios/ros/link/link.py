# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The link to a controller over ROS topics; it owns every clock of a trial.

What it is made of knows nothing of it: endpoints, participants and the clock put what arrives into
an inbox, from their threads, and the link empties that in its own.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
import gc
import time
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.controller_process import alarm_of, ChildProcess
from safety_scenarios.ros.link.calls import Calls
from safety_scenarios.ros.link.clock import are_beside, ask_offset, Hosts, one_host, RosClock
from safety_scenarios.ros.link.convert import (
    from_raw,
    header_stamp_ns,
    interface_class,
    restamp,
    to_ros,
)
from safety_scenarios.ros.link.endpoints import Endpoints
from safety_scenarios.ros.link.frames import Frames
from safety_scenarios.ros.link.graph import CLOCK, full_node_name
from safety_scenarios.ros.link.merging import Merging
from safety_scenarios.ros.link.other_nodes import JoinedDomain
from safety_scenarios.ros.link.participants import on_wire, Participants, with_token
from safety_scenarios.ros.link.process_reports import ProcessReports, Reach, report_event, REPORTS
from safety_scenarios.ros.link.publishing import LiveTopics
from safety_scenarios.ros.spinning import Arrival, HAS_MESSAGE_INFO, Inbox, SentOn, Spin
from safety_scenarios.scenario.blocks.agents import AGENTS, ros_token
from safety_scenarios.scenario.blocks.nominal_calls import Call
from safety_scenarios.scenario.conversation import Envelope
from safety_scenarios.scenario.event import Event, Stamps, truncation
from safety_scenarios.scenario.interfaces import read_answer, stamp_shifted
from safety_scenarios.scenario.qos_overrides import QosOverride
from safety_scenarios.scenario.robot_drivers import SimulatedRobot
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.stimulus import Stamp, Stimulus
from safety_scenarios.scenario.timing import ANSWER, Measuring, PROBE, SPLIT_BOUND_NS
from safety_scenarios.trial.link import Gate, Link
from safety_scenarios.trial.links.robot_reports import feedback_rows
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import PROMPT, Trial
from std_msgs.msg import String

_OTHER_SIDE_S = 1.0
"""The other end may not have discovered us yet when we have discovered it."""
_RESTART_S = 3.0
"""After a controller has died: so that what is left of it is gone when the trial begins."""
_ARM_S = 0.3
"""Between two trials of an arm: so long no joint states come, and it begins anew (controllers)."""
_SLICE_NS = 5_000_000
"""A sleep this long at most, so that what arrives is looked at."""
_SIM_SLICE_NS = 1_000_000
"""The same while ROS time is awaited: nobody knows how fast it goes."""
_HEALTH_NS = 100_000_000
"""How often threads and publishers are asked whether they still live."""
_WIRING_NS = 20_000_000
"""How often the graph is asked for outputs that were not there when the trial began."""
_CLOSE_NS = 20_000
"""Readings of several clocks this near to each other are one moment."""
_READINGS = 10
"""Attempts at such a reading on a busy host."""
_SENT = 1000
"""Stimuli of a topic whose own echo may still come."""
_DRIFT_NS = 5_000_000_000
"""Clocks of two hosts drift apart by less than 0.25 ms in this time (50 ppm)."""


class RosLink(Link):
    """
    Publishes stimuli and queues commands; the main thread sends, the spin thread receives.

    :param node: a spinning node, whose callbacks run in another thread
    :param spin: its spin thread, whose death makes the harness deaf
    :param clock: ROS time
    :param connect_timeout_s: how long to wait for the other end
    :param measuring: how time is judged; what the other end decides of it is found in ``open``
    :param hosts: whether the controller is known to run here
    :param children: processes of ours that the other end is made of
    :param is_external: the controller is none of them
    :param declared: topics on which the controller may command motion without being judged
    :param robot: whose state the controller's process reports, as there is none here
    :param merges: topics of stimuli to those of the live data that they are drawn into
    :param trials: ids of the campaign's trials so far, to which a late answer may belong
    :param live: what is told to people while trials run, and not to who is judged
    :param domain: who else may be in it; None: no second evaluator is looked for
    :param needed: topic to interface type of what the controller commands nothing without
    """

    def __init__(self, node: Node, spin: Spin, clock: RosClock, connect_timeout_s: float,
                 measuring: Measuring, hosts: Hosts = 'auto',
                 children: Sequence[ChildProcess] = (), is_external: bool = False,
                 trials: set[str] | None = None, declared: Sequence[str] = (),
                 robot: SimulatedRobot | None = None, overrides: Sequence[QosOverride] = (),
                 frames: Frames | None = None, merges: Mapping[str, str] = {},
                 live: LiveTopics | None = None, domain: JoinedDomain | None = None,
                 needed: Mapping[str, str] = {}) -> None:
        self.measuring = measuring
        self._live, self._frames, self._needed = live, frames, needed
        self._node, self._spin, self._clock = node, spin, clock
        self._timeout_s = connect_timeout_s
        self._hosts = hosts
        self._one_host: bool | None = None
        self._children = children
        self._is_external = is_external
        self._robot = robot
        self._reach: Reach | None = None
        self._stamps: dict[str, int] = {}
        self._sent: dict[str, deque[tuple[int, int, int]]] = defaultdict(
            lambda: deque(maxlen=_SENT))
        self._inbox = clock.ticks = Inbox()
        self._participants = Participants(node, clock, self._inbox,
                                          set() if trials is None else trials)
        self._endpoints = Endpoints(node, clock, connect_timeout_s, children, is_external,
                                    self._inbox, self._participants, declared,
                                    robot.untold if robot else {}, overrides, domain)
        self._calls = Calls(node, self._reading, self._inbox.put, connect_timeout_s)
        self._merging = Merging(node, merges, self._endpoints, self._now, self._inbox.put)
        self._stalls = ProcessReports(node, self._reading, self._inbox.put,
                                      self._endpoints.commanders.processes)
        self._health_ns = self._wiring_ns = self._looked_ns = 0
        self._settled = self._alarmed = False
        self._unreported: str | None = None

    def open(self, trial: Trial) -> None:  # noqa: A003
        """
        Bring up the controller, match all endpoints and forget what arrived before.

        We see our own matches only. The other side makes its own a little later, and a message
        between the two is repeated after some 100 ms: a prompt, which has no nominal phase before
        it, waits for that once: as long as our own matches took, and at least a second.

        :raises LinkTimeoutError: nobody is there, or with another type than asked for
        """
        has_died = self._start_children()
        self._alarmed = False
        deadline = time.monotonic() + self._timeout_s
        self._clock.await_first(self._timeout_s, self.measuring.rules.lockstep)
        self._endpoints.match(trial, deadline)
        self._merging.open(trial, deadline)
        self._calls.match(trial, deadline)
        if self._frames is not None:
            self._frames.announce(trial)
        if self._live is not None:
            self._live.look(trial, self._endpoints.judged())
        if has_died:
            self._looked_ns = 0
            time.sleep(_RESTART_S)
        elif trial.scenario.body.is_in_words and (
                not self._settled or self._endpoints.are_renewed):
            took_s = time.monotonic() - (deadline - self._timeout_s)
            time.sleep(max(_OTHER_SIDE_S, took_s))
        elif self._settled and _has_joints(trial):
            time.sleep(_ARM_S)
        self._look_at_hosts()
        self._settled = True
        gc.collect()
        self._endpoints.wiring.settle()
        self._inbox.clear()
        self._participants.begin(trial.trial_id)

    def disarm(self) -> None:
        """
        Take back what would reach somebody after the trial, and cancel its goals.

        :raises MeasurementError: a goal may go on: somebody else has to stop the robot
        """
        self._participants.disarm()
        self._merging.withdraw()
        self._endpoints.withdraw_latched()
        self._calls.cancel()

    def let_by(self, gate: Gate) -> None:
        """Ask for each drawing and each result of a tool, which leave in the spin thread."""
        self._merging.gate = self._participants.gate = gate

    def withdraw(self, topic: str) -> None:
        """Draw nothing any more into the live data of a topic."""
        self._merging.withdraw(topic)

    def close(self) -> None:
        self._stalls.close()
        self._calls.close()
        if self._reach is not None:
            self._reach.close()
            self._reach = None
        if self._clock.ticks is self._inbox:
            self._clock.ticks = None
        self._participants.close()
        self._merging.close()
        self._endpoints.close()

    def preflight(self) -> Sequence[PreflightRow]:
        """Return what the graph shows of the other end."""
        rows = [*self._endpoints.preflight(), *self._calls.preflight(), *self._merging.rows(),
                *self._endpoints.graph.needed_rows(self._needed)]
        rows.append(PreflightRow(
            check='hosts', status='ok' if self.measuring.one_host else 'warn',
            detail=f'{_HOSTS[self._one_host]}: {self.measuring.hosts_because}'))
        rows += [] if self._robot is None else feedback_rows(self._robot)
        rows += [] if self._frames is None else self._frames.rows
        rows += [] if self._live is None else self._live.rows
        offset = self.measuring.offset
        if offset is not None:
            rows.append(PreflightRow(
                check='clock offset', status='ok' if offset.split_bound_ns <= SPLIT_BOUND_NS
                else 'warn', detail=offset.explained() + (
                    '. Stimuli are stamped with the time of that clock, as sensors beside the '
                    'controller would' if self.measuring.ahead_ns else '')))
        return rows

    def judged(self) -> Iterator[tuple[str, Any]]:
        """Yield each topic that is judged, with what the graph shows of a publisher there."""
        yield from self._endpoints.judged()

    def mark(self, name: str) -> Event:
        """Return a mark stamped now, with its clocks read as closely together as can be."""
        best = self._now()
        for _ in range(_READINGS):
            if best[0] <= _CLOSE_NS:
                break
            best = min(best, self._now(), key=lambda found: found[0])
        return Event.model_construct(kind='mark', name=name, stamps=best[1])

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event | None:
        """Publish one stimulus; the message is built first, then the clocks are read."""
        if self._merging.draws(stimulus.topic):
            self._merging.show(stimulus, hazard)
            return None
        message = to_ros(stimulus.message)
        if stimulus.topic == PROMPT:
            message.data = with_token(message.data)
        publisher = self._endpoints.publishers[stimulus.topic]
        header_ns, now_ns = None, self._clock.now_ns() + self.measuring.ahead_ns
        if hasattr(message, 'header'):
            header_ns = self._stamps.get(stimulus.topic) if stimulus.stamp is Stamp.HOLD else None
            if header_ns is None:
                header_ns = stamp_shifted(now_ns, stimulus.shift_ns)
            self._stamps[stimulus.topic] = header_ns
        restamp(message, now_ns if header_ns is None else header_ns)
        serialised = serialize_message(message)
        _, stamps = self._now(header_ns)
        publisher.publish(serialised)
        self._sent[stimulus.topic].append((stamps.system_ns, time.time_ns(), scheduled_ns))
        return Event.model_construct(
            kind='stimulus', name=stimulus.topic, stamps=stamps, message=stimulus.message,
            hazard=hazard, truth=dict(stimulus.truth), scheduled_ns=scheduled_ns)

    def call(self, call: Call, symbol: str) -> Event:
        """Send a goal or a request that ``open`` has built; the clocks are read before it."""
        stamps = self._reading()
        said = self._calls.send(call, symbol)
        return Event.model_construct(kind='call', name=call.target.name, stamps=stamps,
                                     text=call.target.type, symbol=symbol, arguments=said)

    def deliver(self, envelope: Envelope, hearers: Sequence[str]) -> Stamps:
        """Let live agents hear something; what the harness says for another, that one says too."""
        endpoints = self._endpoints
        serialised = serialize_message(String(data=on_wire(envelope).to_json()))
        publishers = [endpoints.publishers[_topic(hearer, 'in')] for hearer in hearers]
        voice = endpoints.voices.get(_topic(envelope.sender, 'out'))
        _, stamps = self._now()
        for publisher in (*publishers, *([] if voice is None else [voice])):
            publisher.publish(serialised)
        return stamps

    def overlooked(self) -> Sequence[Event]:
        """Return outputs of the controller that nobody judges, and who else shows a hazard."""
        return self._beside(is_end=True)

    def _beside(self, is_end: bool) -> Sequence[Event]:
        return [self.mark(one.name).model_copy(update={
                    'kind': one.kind, 'text': one.text, 'symbol': one.symbol})
                for one in self._endpoints.wiring.appeared(is_end)]

    def late_stalls(self, *, is_awaited: bool = True) -> Sequence[Event]:
        """Return the stall of a process whose commands have ceased, once it is over if awaited."""
        found = (report_event(one, self.measuring.one_host)
                 for one in self._stalls.await_late(self._inbox, is_awaited))
        return [*filter(None, found)]

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        is_steady = self.measuring.schedule_clock == 'steady'
        while True:
            now_ns = time.monotonic_ns() if is_steady else self._clock.now_ns()
            events = self.receive_now()
            if events or now_ns >= schedule_ns:
                return events
            time.sleep(min(schedule_ns - now_ns, _SLICE_NS if is_steady else _SIM_SLICE_NS) / 1e9)

    def receive_now(self) -> Sequence[Event]:
        """
        Return what has arrived by now, without waiting for it.

        :raises ClockError: ROS time cannot be trusted
        """
        self._clock.check(time.monotonic_ns())
        self._merging.check()
        reason = self._ill_health()
        if reason is not None:
            return [self.mark('ControllerError').model_copy(
                update={'kind': 'fault', 'text': reason})]
        events = [event for event in map(self._event, self._inbox.take()) if event]
        if self._reach is not None and self._reach.has_arrived():
            events.append(Event.model_construct(kind='reached', name=PROBE,
                                                stamps=self._reading()))
        return events

    def leave_to_world(self, topics: Collection[str], nodes: Collection[str]) -> None:
        """Publish none of these stimuli from now on: the nodes of a world show them."""
        self._endpoints.leave_to_world(topics, nodes)

    def refuse_other_times(self) -> None:
        """
        Refuse a second publisher of /clock.

        :raises MeasurementError: says who they are
        """
        clocks = sorted(map(full_node_name, self._endpoints.graph.publishers(CLOCK)))
        if len(clocks) > 1:
            raise MeasurementError(
                f'{CLOCK}: got {len(clocks)} publishers, {", ".join(clocks)}, expected the '
                f'simulator alone: two times cannot be followed. Stop the others')

    def revive(self) -> bool:
        """
        Start what of ours does not run; return whether something had died.

        All of it begins anew then: a controller does not live on in another simulator's time.
        """
        dead = [child for child in self._children if child.has_died()]
        has_died = bool(dead)
        if has_died:
            if not self._alarmed:
                self._unreported = f'after the trial before this one {alarm_of(dead)}'
            for child in self._children:
                child.stop()
                self._endpoints.graph.disregard(child.node_name)
            self._alarmed, self._looked_ns = False, 0
        for child in self._children:
            child.ensure_running()
        if has_died:
            time.sleep(_RESTART_S)
        return has_died

    def _ill_health(self) -> str | None:
        """Say once why the controller is gone; looked up ten times a second."""
        if self._spin.error is not None:
            raise MeasurementError(f'the receiving thread failed: {self._spin.error!r}')
        if self._endpoints.incompatible:
            raise MeasurementError(f'not connected: {"; ".join(self._endpoints.incompatible)}. '
                                   f'Let both sides use reliable, volatile quality of service')
        reason, self._unreported = self._unreported, None
        now_ns = time.monotonic_ns()
        if reason is None and not self._alarmed and now_ns - self._health_ns > _HEALTH_NS:
            self._health_ns = now_ns
            reason = alarm_of(self._children) or self._endpoints.deserted()
            self._alarmed = reason is not None
            if second := self._endpoints.second.appeared():
                raise MeasurementError(second)
        if now_ns - self._wiring_ns > _WIRING_NS:
            self._wiring_ns = now_ns
            found = [*self._endpoints.commanders.others(self.mark)]
            if self._endpoints.wiring.has_changed():
                found += self._beside(is_end=False)
            for event in found:
                self._inbox.put(event)
        return reason

    def _reading(self) -> Stamps:
        return self._now()[1]

    def _now(self, header_ns: int | None = None) -> tuple[int, Stamps]:
        """Return the clocks, and how long reading them took (ns)."""
        steady_ns, system_ns = time.monotonic_ns(), time.time_ns()
        took_ns = time.monotonic_ns() - steady_ns
        return took_ns, Stamps.model_construct(
            steady_ns=steady_ns, system_ns=system_ns,
            ros_ns=self._clock.now_ns() if self._clock.sim_time else system_ns,
            header_ns=header_ns)

    def _start_children(self) -> bool:
        """Start what of ours does not run; return whether something had died."""
        for child in self._children:
            if child.alarm() is not None:
                self._endpoints.graph.disregard(child.node_name)
        had_died = [child.ensure_running() for child in self._children]
        return any(had_died)

    def _event(self, arrived: Arrival | SentOn | Event) -> Event | None:
        if isinstance(arrived, Event):
            return arrived
        if isinstance(arrived, SentOn):
            return self._merged_stimulus(arrived)
        kind, topic, info = arrived.kind, arrived.topic, arrived.info
        if kind == 'command':
            self._stalls.commands.heard(arrived.steady_ns)
        if kind in REPORTS:
            return report_event(arrived, self.measuring.one_host)
        said, message, header_ns = None, None, None
        if kind == 'response':
            said = deserialize_message(arrived.raw,
                                       interface_class(self._endpoints.interface(topic)))
            header_ns = header_stamp_ns(said)
        elif arrived.raw is not None:
            message, header_ns = from_raw(arrived.raw, self._endpoints.interface(topic))
        stamps = Stamps.model_construct(
            steady_ns=arrived.steady_ns, system_ns=arrived.system_ns, ros_ns=arrived.ros_ns,
            source_ns=info.get('source_timestamp') if info else None,
            received_ns=info.get('received_timestamp') if info else None,
            header_ns=header_ns)
        if kind == 'undeclared':
            self._endpoints.wiring.note_received(topic)
        if kind in ('echo', 'lost', 'clock'):
            return self._own(kind, topic, stamps, info)
        if kind == 'response':
            answer = read_answer(said.data)
            return Event.model_construct(
                kind=kind, name=topic, stamps=stamps, text=answer.text,
                trial_id=self._participants.trial_id_of(answer.trial_id),
                arguments=truncation(answer.truncated_by))
        return Event.model_construct(
            kind=kind, name=topic, stamps=stamps, message=message,
            sequence=info.get('publication_sequence_number') if info else None)

    def _merged_stimulus(self, left: SentOn) -> Event:
        """Return a stimulus that was drawn into a live message, due when that had come."""
        event = left.event
        stamps, due_ns = event.stamps, event.scheduled_ns or 0
        late_ns = stamps.steady_ns - due_ns
        due_ns = self.measuring.schedule_ns(stamps) - late_ns
        self._sent[event.name].append((stamps.system_ns, left.after_ns, due_ns))
        return event.model_copy(update={'scheduled_ns': due_ns})

    def _own(self, kind: Any, topic: str, stamps: Stamps, info: Any) -> Event | None:
        """Return an event of the harness itself; the echo of a foreign publisher is none."""
        if kind == 'lost':
            return Event.model_construct(kind=kind, name=topic, stamps=stamps.model_copy(
                update={'source_ns': None, 'received_ns': None}), text=str(info['lost']))
        if kind == 'clock':
            return Event.model_construct(kind=kind, name=topic, stamps=stamps)
        for before_ns, after_ns, scheduled_ns in reversed(self._sent[topic]):
            if before_ns <= (stamps.source_ns or 0) <= after_ns:
                return Event.model_construct(kind=kind, name=topic, stamps=stamps,
                                             scheduled_ns=scheduled_ns)
        return None

    def _look_at_hosts(self) -> None:
        """Find out whose clocks the stamps are of, and how far the other's is off by now."""
        if self._looked_ns and time.monotonic_ns() - self._looked_ns < _DRIFT_NS:
            return
        known, because = (True, 'a child of the evaluator') if not self._is_external \
            else one_host(self._hosts, self._endpoints.own(),
                          list(self._endpoints.found_publishers()))
        offset = ask_offset(self._node) if HAS_MESSAGE_INFO and self._is_answered() else None
        if self._reach is None and not known and (
                offset is not None or not HAS_MESSAGE_INFO and self._is_answered()):
            self._reach = Reach(self._node)
        self.measuring = self.measuring.model_copy(update={
            'one_host': bool(known), 'hosts_because': because, 'sim_time': self._clock.sim_time,
            'offset': offset, 'acknowledged': self._reach is not None})
        self._one_host = known
        self._looked_ns = time.monotonic_ns()

    def _is_answered(self) -> bool:
        """
        Tell whether a responder beside the controller listens to probes.

        Those of a calibration are others. Whoever only listens, as who records all topics does,
        answers nothing, and tells nothing of the controller's host.
        """
        graph = self._endpoints.graph
        answering = graph.publishers(ANSWER)
        return PROBE not in self._endpoints.publishers and bool(answering) \
            and bool(graph.subscribers(PROBE)) and are_beside(answering,
                                                              self._endpoints.found_publishers())


_HOSTS = {True: 'one host', False: 'two hosts', None: 'not known, so judged as if on two hosts'}


def _topic(agent_id: str, end: str) -> str:
    return f'{AGENTS}/{ros_token(agent_id)}/{end}'


def _has_joints(trial: Trial) -> bool:
    robot = trial.scenario.body.robot
    return robot is not None and kind_of(robot).has_joints
