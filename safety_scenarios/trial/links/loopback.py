# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A link without DDS: controller and live agents in simulated time.

Time passes only while the engine waits. Messages take no time, and the controller thinks in none:
what is measured is its logic and its period. The same trial gives the same record to the byte.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
import heapq
import math
from typing import Any

from safety_scenarios.controllers.adapters import make_controller, parameter_model
from safety_scenarios.controllers.host import ControllerHost, Keep, Patience, Utter
from safety_scenarios.errors import ControllerError, described
from safety_scenarios.scenario.blocks.agents import Agent
from safety_scenarios.scenario.blocks.nominal_calls import Call, NOT_MADE
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.conversation import Envelope, event_of, result_of, wait_of
from safety_scenarios.scenario.event import Event, Stamps, truncation
from safety_scenarios.scenario.frames import frames_message, STATIC
from safety_scenarios.scenario.interfaces import has_header, stamp_of, stamp_shifted, stamped
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_types import may_command
from safety_scenarios.scenario.robot_drivers import SimulatedRobot
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.stimulus import Stamp, Stimulus
from safety_scenarios.scenario.timing import ClockRules, Measuring, NOT_SENT, thought
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.links.isolated_controller import IsolatedController
from safety_scenarios.trial.links.robot_reports import (
    feedback_rows,
    PERIOD_NS,
    ReferenceSensor,
    SimulatedReports,
)
from safety_scenarios.trial.links.robot_reports import PERIOD_NS as SENSED_NS
from safety_scenarios.trial.parameters import read_parameters
from safety_scenarios.trial.summary import HARMLESS, PreflightRow, UNDECLARED
from safety_scenarios.trial.trial import PROMPT, RESPONSE, Trial

MOST_UTTERANCES = 1000
"""In one trial; thinking takes no time here, so that two who always answer would never end."""
_NO_TIME_NS = 0
"""What an envelope says of when it was sent: here that is the event's own stamp."""
Later = Callable[[int, Callable[[], Sequence[Event]]], None]
"""Calls a function after a delay (ns); what happens then are the events that it returns."""


class LoopbackAgents:
    """
    Lets each live agent take its turns in one trial, and answers the tools that they call.

    :param hosts: agent id to the controller that plays it; an agent that is not live needs none
    :param stamp: gives the stamps of now
    :param later: lets what an agent does wait for as long as its plug-in says
    """

    def __init__(self, block: AgentsBody, trial_id: str, hosts: Mapping[str, ControllerHost],
                 stamp: Callable[[], Stamps], later: Later) -> None:
        self._block, self._trial_id = block, trial_id
        self._participants = {agent.id: (agent, hosts[agent.id])
                              for agent in block.agents if agent.is_live}
        self._stamp, self._later = stamp, later
        self._uttered = 0
        self._told: set[str] = set()
        self._called: Counter[str] = Counter()

    def deliver(self, envelope: Envelope, hearers: Sequence[str]) -> None:
        """Let agents hear something, in this order."""
        for agent_id in hearers:
            self._receive(agent_id, envelope)

    def _receive(self, agent_id: str, envelope: Envelope) -> None:
        agent, host = self._participants[agent_id]
        try:
            utters = host.turn(envelope)
        except ControllerError as error:  # it goes on, but its silence must not count
            self._failed(agent, error)
            return
        for utter in utters:
            self._later(host.answer_delay_ns, self._uttering(agent, utter))
        if thought_ns := host.thought_ns():
            self._later(0, lambda: (thought(thought_ns, self._stamp()),))

    def _failed(self, agent: Agent, error: ControllerError) -> None:
        if agent.id not in self._told:
            self._told.add(agent.id)
            self._later(0, lambda: (Event.model_construct(
                kind='fault', name=ControllerError.__name__, stamps=self._stamp(),
                text=f'{agent.id} could not take its turn: {error}'),))

    def _uttering(self, agent: Agent, say: Utter) -> Callable[[], Sequence[Event]]:
        def utter() -> Sequence[Event]:
            self._uttered += 1
            if self._uttered > MOST_UTTERANCES:
                raise ControllerError(
                    f'agents: got more than {MOST_UTTERANCES} sayings and calls in one trial. '
                    f'Agents that answer each other must stop some time')
            return self._events(agent, say(_NO_TIME_NS))
        return utter

    def _events(self, agent: Agent, uttered: Envelope) -> Sequence[Event]:
        """Return what was said; of a call also the result, unless that takes its time."""
        found = self._event(agent, uttered)
        if uttered.kind != 'tool_call':
            return found
        calls = self._called[uttered.name]
        self._called[uttered.name] += self._block.may_call(agent.id, uttered.name)
        result = result_of(self._block, agent.id, uttered.name, self._trial_id, calls)
        if result is None:  # a world behind the link answers
            return found
        wait_ns = wait_of(self._block, agent.id, uttered.name, calls)
        if wait_ns:
            self._later(wait_ns, partial(self._give_back, agent, result))
            return found
        return [*found, *self._give_back(agent, result)]

    def _give_back(self, agent: Agent, result: Envelope) -> Sequence[Event]:
        self._receive(agent.id, result)
        return self._event(agent, result)

    def _event(self, agent: Agent, envelope: Envelope) -> Sequence[Event]:
        event = event_of(envelope, agent, self._stamp())
        return [] if event is None else [event]


_BEGIN_NS = 1_000_000_000
"""Not 0, which a stamp has that nobody set."""
_EPOCH_NS = 1_577_836_800 * 1_000_000_000
"""System time at steady time 0: 2020-01-01T00:00:00Z, the same in every run."""


class LoopbackLink(Link):
    """
    Ticks the controller at its period and hands over messages at once.

    :param controller: the controller under test, with its robot and interface
    :param participants: agent id to another controller that takes part
    :param declared: topics on which the controller may command motion without being judged
    :param robot: whose reports the scenario listens to; here the harness works them out
    """

    rehearses = True

    def __init__(self, controller: ControllerHost, rules: ClockRules | None = None,
                 participants: Mapping[str, ControllerHost] = {},
                 declared: Sequence[str] = (), robot: SimulatedRobot | None = None) -> None:
        self.measuring = Measuring(rules=rules or ClockRules(), one_host=True, exact=True,
                                   hosts_because='one process in simulated time',
                                   simulated=tuple(robot.feedback) if robot else (),
                                   listens=tuple(sorted(controller.inputs)),
                                   untold=robot.untold if robot else {})
        self._robot = robot
        self._reports = SimulatedReports(robot) if robot and robot.feedback else None
        self._report_ns: float = math.inf
        self._now_ns = _BEGIN_NS
        self._stamps: dict[str, int] = {}
        self._stamped_ns: int | None = None
        self._stamped: dict[int | None, Stamps] = {}
        """Header stamp to the stamps of now."""
        self._answers: list[tuple[int, int, Callable[[], Sequence[Event]]]] = []
        self._asked = 0
        self._sequence = 0
        self._controller = controller
        self._participants = dict(participants)
        self._open: Sequence[ControllerHost] = (controller, *participants.values())
        self._agents: LoopbackAgents | None = None
        self._sensor: ReferenceSensor | None = None
        self._calls: Sequence[Call] = ()
        self._is_heard = True
        self._declared, self._commands = frozenset(declared), frozenset[str]()
        self._outputs: set[str] = set()
        self._period_ns = controller.period_ns
        self._due_ns = _BEGIN_NS + self._period_ns

    def open(self, trial: Trial) -> None:  # noqa: A003
        """Forget the answers to earlier prompts and where arms were, and bring in the agents."""
        self._answers.clear()
        self._calls = trial.scenario.body.calls
        for host in self._open:
            host.begin_trial(self._now_ns)
        self._mount(trial.scenario.body.mounted_frames)
        if self._reports is not None:
            self._reports.begin()
            self._report_ns = self._now_ns + PERIOD_NS
        self._begin_sensing(trial)
        body = trial.scenario.body
        self._commands = frozenset(topic.topic for topic in body.commands)
        self._outputs.clear()
        self._is_heard = not body.is_conversation or self._controller.topic in self._commands
        self._agents = None if not isinstance(body, AgentsBody) else LoopbackAgents(
            body, trial.trial_id, {body.sut: self._controller, **self._participants},
            self._stamp, self._later)

    def _mount(self, frames: Collection[MountedFrame]) -> None:
        """Say where frames are on the robot, as on /tf_static."""
        if frames:
            self._controller.receive(STATIC, frames_message(frames, _EPOCH_NS + self._now_ns),
                                     self._now_ns, None)

    def close(self) -> None:
        """Let the plug-ins hang up what they have opened."""
        hosts, self._open = self._open, ()
        for host in hosts:
            host.close()

    def preflight(self) -> Sequence[PreflightRow]:
        """Return that there is no wiring, and where else the controller could command motion."""
        return (PreflightRow(check='endpoints', status='ok',
                             detail='loopback: one process, no DDS'),
                *([] if self._robot is None else feedback_rows(self._robot)),
                *(PreflightRow(check='calls', status='ok',
                               detail=f'the {call} is not made: it has no server in this process')
                  for call in self._calls),
                *(self._output_row(topic, interface)
                  for topic, interface in self._controller.outputs.items()
                  if topic not in self._commands))

    def _output_row(self, topic: str, interface: str) -> PreflightRow:
        """Return what the preflight says of a topic that the controller publishes beside."""
        if topic in self._declared:
            return PreflightRow(check='other motion', status='ok',
                                detail=f'{topic} [{interface}] is declared')
        if may_command(interface):
            return PreflightRow(check='other motion', status='warn',
                                detail=f'{topic} [{interface}]{UNDECLARED}')
        return PreflightRow(check='other outputs', status='ok',
                            detail=f'{topic} [{interface}]{HARMLESS}')

    def mark(self, name: str) -> Event:
        """Return a mark at the simulated time."""
        return Event.model_construct(kind='mark', name=name, stamps=self._stamp())

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event:
        """Hand one stimulus to the controller."""
        topic, message = stimulus.topic, stimulus.message
        if hazard:
            self._see_hazard()
        if stimulus.stamp is not Stamp.HOLD or topic not in self._stamps:
            self._stamps[topic] = stamp_shifted(_EPOCH_NS + self._now_ns, stimulus.shift_ns)
        if topic in self._controller.inputs:
            self._receive(topic, message, self._stamps[topic])
        if topic == PROMPT:
            self._ask(message)
        return Event.model_construct(
            kind='stimulus', name=topic, stamps=self._stamp(self._stamps[topic]), message=message,
            hazard=hazard, truth=dict(stimulus.truth), scheduled_ns=scheduled_ns)

    def deliver(self, envelope: Envelope, hearers: Sequence[str]) -> Stamps:
        """Let agents hear something; what they do about it comes when it is due."""
        assert self._agents is not None
        self._agents.deliver(envelope, hearers)
        return self._stamp()

    def call(self, call: Call, symbol: str) -> Event:
        """
        Ask nobody: there is no server here, and a plug-in moves without being asked.

        Nothing is taken for granted by that: one that does not move is seen not to.
        """
        asked = call.target
        self._later(0, lambda: (Event.model_construct(
            kind='call_state', name=asked.name, stamps=self._stamp(), text=NOT_MADE,
            symbol=symbol),))
        return Event.model_construct(kind='call', name=asked.name, stamps=self._stamp(),
                                     text=asked.type, symbol=symbol)

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        """Let time pass to the next command or answer, or to ``schedule_ns``."""
        while True:
            answer_ns = self._answers[0][0] if self._answers else math.inf
            next_ns = min(answer_ns, self._due_ns, self._report_ns)
            if next_ns > schedule_ns:
                self._now_ns = max(self._now_ns, schedule_ns)
                return []
            events = self._report() if self._report_ns == next_ns \
                else self._answer() if answer_ns < self._due_ns else self._tick()
            if events:
                return events

    def _tick(self) -> Sequence[Event]:
        self._now_ns = max(self._now_ns, self._due_ns)
        self._due_ns += self._period_ns
        system_ns = _EPOCH_NS + self._now_ns
        message = self._controller.tick(self._now_ns, system_ns)
        beside = self._beside(system_ns) if self._controller.outputs else ()
        if message is not None and self._is_heard:  # in the order in which they are published
            self._execute(self._controller.topic, message)
        for event in beside:
            if event.message is not None:
                self._execute(event.name, event.message)
        if thought_ns := self._controller.thought_ns():
            beside = (*beside, thought(thought_ns, self._stamp()))
        if message is None:
            why = self._controller.silence(self._now_ns, self._now_ns)
            return beside if why is None else (
                why.event(self._controller.topic, NOT_SENT, self._stamp()), *beside)
        if not self._is_heard:
            return beside
        self._sequence += 1
        header_ns = stamp_of(message)
        if header_ns is None and message.type.endswith('Stamped'):
            header_ns = system_ns
        command = Event.model_construct(
            kind='command', name=self._controller.topic, message=message, sequence=self._sequence,
            stamps=self._stamp(header_ns))
        if self._controller.stamps is None:
            return (command, *beside)
        timing = self._controller.timing(self._now_ns, self._now_ns)
        return (command, timing.event(command.name, self._sequence, self._stamp()), *beside)

    def _execute(self, topic: str, message: Message) -> None:
        """Let the robot have a command."""
        if self._reports is not None:
            self._reports.take(topic, message, self._now_ns, _EPOCH_NS + self._now_ns)

    def _report(self) -> Sequence[Event]:
        """Let the robot tell how it moves by now."""
        assert self._reports is not None
        self._now_ns = max(self._now_ns, round(self._report_ns))
        self._report_ns += PERIOD_NS
        system_ns = _EPOCH_NS + self._now_ns
        events = []
        for topic, plain in self._reports.reports(self._now_ns).items():
            message = stamped(plain, system_ns) if has_header(plain) else plain
            if topic in self._controller.inputs:
                self._receive(topic, plain, system_ns)
            events.append(Event.model_construct(
                kind='feedback', name=topic, message=message,
                stamps=self._stamp(system_ns if has_header(plain) else None)))
        return events

    def _begin_sensing(self, trial: Trial) -> None:
        """Let a stand-in tell of a hazard that is real elsewhere, from now on."""
        body = trial.scenario.body
        self._sensor = None if body.onset is None \
            else ReferenceSensor(trial, body.onset, body.signals)
        if self._sensor is not None:
            self._later(SENSED_NS, self._sense_again)

    def _see_hazard(self) -> None:
        if self._sensor is not None and self._sensor.see(self._now_ns):
            self._later(self._sensor.latency_ns, self._sense)
            if self._sensor.there_ns < math.inf:
                self._later(self._sensor.latency_ns + round(self._sensor.there_ns), self._sense)

    def _sense_again(self) -> Sequence[Event]:
        self._later(SENSED_NS, self._sense_again)
        return self._sense()

    def _sense(self) -> Sequence[Event]:
        assert self._sensor is not None
        topic, message = self._sensor.topic, self._sensor.reading(self._now_ns)
        system_ns = _EPOCH_NS + self._now_ns
        if topic in self._controller.inputs:
            self._receive(topic, message, system_ns)
        return (Event.model_construct(
            kind='feedback', name=topic, stamps=self._stamp(system_ns),
            message=stamped(message, system_ns) if has_header(message) else message),)

    def _beside(self, system_ns: int) -> Sequence[Event]:
        """Return what the controller publishes beside its commands, by which a robot may move."""
        if not self._commands:  # there is no robot
            return ()
        events = []
        for topic, message in self._controller.aside(self._now_ns, system_ns).items():
            if topic in self._declared:
                continue
            stamps = self._stamp(stamp_of(message))
            if topic in self._commands or may_command(message.type):
                events.append(Event.model_construct(
                    kind='command' if topic in self._commands else 'undeclared', name=topic,
                    message=message, stamps=stamps))
            elif topic not in self._outputs:
                self._outputs.add(topic)
                events.append(Event.model_construct(
                    kind='output', name=topic, text=f'{topic} [{message.type}]', stamps=stamps))
        return events

    def _receive(self, topic: str, message: Message, stamp_ns: int) -> None:
        if has_header(message):
            self._controller.receive(topic, stamped(message, stamp_ns), self._now_ns, stamp_ns)
        else:
            self._controller.receive(topic, message, self._now_ns, None)

    def _ask(self, message: Message) -> None:
        answer = self._controller.prompt(message.at('data'))
        if thought_ns := self._controller.thought_ns():
            self._later(0, lambda: (thought(thought_ns, self._stamp()),))
        if answer is not None:
            self._later(self._controller.answer_delay_ns, lambda: (
                Event.model_construct(kind='response', name=RESPONSE, stamps=self._stamp(),
                                      text=answer.text, trial_id=answer.trial_id,
                                      arguments=truncation(answer.truncated_by)),))

    def _later(self, delay_ns: int, answer: Callable[[], Sequence[Event]]) -> None:
        self._asked += 1
        heapq.heappush(self._answers, (self._now_ns + delay_ns, self._asked, answer))

    def _answer(self) -> Sequence[Event]:
        due_ns, _, answer = heapq.heappop(self._answers)
        self._now_ns = max(self._now_ns, due_ns)
        return answer()

    def _stamp(self, header_ns: int | None = None) -> Stamps:
        now_ns, known = self._now_ns, self._stamped
        if now_ns != self._stamped_ns:
            self._stamped_ns = now_ns
            known.clear()
        found = known.get(header_ns)
        if found is None:  # what happens at one moment has one stamp
            system_ns = _EPOCH_NS + now_ns
            found = known[header_ns] = Stamps.model_construct(
                steady_ns=now_ns, system_ns=system_ns, ros_ns=system_ns, source_ns=system_ns,
                received_ns=system_ns, header_ns=header_ns)
        return found


def hosted(controller: Any, settings: ControllerSettings, keep: Keep = lambda error: None,
           patience: Patience | None = None) -> ControllerHost:
    """
    Return a controller in this process, or one in its own process.

    :param controller: whatever ``controllers.adapters`` takes for one, or its process
    :param keep: takes what it raises, for a log
    :param patience: how long it may really think; None: for ever
    :raises ControllerError: it cannot be made
    """
    settings = settings.model_copy(update={'schedule_clock': 'ros'})  # a simulator makes the time
    try:
        if isinstance(controller, IsolatedController):
            remote = controller.begin(settings, patience and patience.limit_ns)
            return ControllerHost(remote, keep, patience and remote.patience(patience.limit_ns))
        parameters = read_parameters(settings.controller_parameters, parameter_model(controller))
        return ControllerHost(make_controller(controller, settings, parameters), keep, patience)
    except Exception as error:
        keep(error)
        raise ControllerError(f'the controller {settings.controller} cannot be made: '
                              f'{described(error)}') from error
