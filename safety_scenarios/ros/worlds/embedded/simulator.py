# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A world as a ROS node: its sensors are topics, its time is /clock, and it does what it is asked.

Callbacks only put into a queue what has arrived; the world itself lives in the thread that calls
``run``, which sleeps to absolute deadlines.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import math
import threading
import time
from typing import Any

from rclpy.node import Node
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from safety_scenarios import registry
from safety_scenarios.errors import described, InputError, MeasurementError, SettingsError
from safety_scenarios.ros.controller_process import SimulatorSettings
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import from_raw, interface_class, set_header_stamp, to_ros
from safety_scenarios.ros.measuring_node import WithoutClock
from safety_scenarios.ros.parameters import read_settings, refuse_unknown_parameters
from safety_scenarios.ros.sealing import OPEN, Seal
from safety_scenarios.ros.worlds.embedded.commanders import (
    Arrivals,
    Commanders,
    RobotFrames,
    Turns,
)
from safety_scenarios.ros.worlds.embedded.persistent_world import (
    BEGIN_NS,
    DRIVEN,
    SERVED,
    StandingHost,
)
from safety_scenarios.ros.worlds.simulator_link.protocol import (
    ANSWER,
    Answer,
    as_json,
    ASK,
    Done,
    planned,
    read_request,
    RealTime,
    Request,
    TOLD,
    Turn,
    WorldState,
)
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.interfaces import has_header, stamp_shifted
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_drivers import ODOMETRY
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.settings import SLOWEST
from safety_scenarios.scenario.stimulus import read_intent
from safety_scenarios.scenario.timing import ENDS_TURN, GIVES_TURN
from safety_scenarios.scenario.world import IMAGE
from safety_scenarios.trial.plan_data import to_text
from safety_scenarios.trial.trial import Trial
from safety_scenarios.worlds.mujoco.wires import Sensed
from safety_scenarios.worlds.mujoco.world import World
from std_msgs.msg import String

NAME = 'simulator_node'
_CLOCK_NS = 5_000_000
"""Between two messages on /clock, in simulated time."""
_LEAST_CLOCK_NS = 3_300_000
"""The same in real time: everybody who takes time from it wakes up for each."""
_STANDING_S = 0.02
"""How often the time is told while it stands for the evaluator."""
_TURN_S = 0.05
"""How soon the node notices that it shall end."""
_ASKED = (ASK, SERVED, DRIVEN)
"""What arrives that is no command."""
_REMEMBERED = 100
"""Answers that are given again when somebody asks again, because the first one got lost."""


class SimulatorNode(WithoutClock, Node):
    """
    The node, which makes /clock and does not hear it.

    :raises SettingsError: a parameter that it does not have, or not like this
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(NAME, **options)
        self.settings = read_settings(self, SimulatorSettings)
        refuse_unknown_parameters(self, SimulatorSettings)
        if not self.settings.lockstep and self.settings.real_time_factor < SLOWEST:
            raise SettingsError(
                f'parameter real_time_factor: got {self.settings.real_time_factor:g}, expected '
                f'{SLOWEST:g} to 10. As fast as can be time may pass in lock-step alone: set '
                f'lockstep too')


class Simulator(StandingHost):
    """
    Owns one world at a time, and the time in it: that of an evaluator's trial, or one without.

    :param node: a spinning node, whose callbacks run in another thread
    :param seal: of what travels between it and the evaluator; by default it travels as it is
    """

    def __init__(self, node: SimulatorNode, seal: Seal = OPEN) -> None:
        self._node, self._settings, self._seal = node, node.settings, seal
        factor = self._settings.real_time_factor
        self._arrivals = Arrivals(_ASKED)
        self._commanders = Commanders(node, self._arrivals)
        self._clock = self._node.create_publisher(Clock, '/clock', qos.stimulus())
        self._answers = self._node.create_publisher(String, ANSWER, qos.conversation())
        self._telling = self._node.create_publisher(String, TOLD, qos.conversation())
        self._node.create_subscription(String, ASK, self._receive, qos.conversation())
        self._giving = self._node.create_publisher(String, GIVES_TURN, qos.conversation())
        self._node.create_subscription(String, ENDS_TURN, self._receive_done, qos.conversation())
        self._turns = Turns(self._give, self._arrivals,
                            lambda topic: self._commanders.interface(topic) is not None,
                            self._settings.patience_s)
        self._frames = RobotFrames(node)
        self._publishers: dict[str, tuple[str, Any]] = {}
        self._now_ns = self._clock_ns = BEGIN_NS
        self._tick_ns = max(_CLOCK_NS, round(_LEAST_CLOCK_NS * factor))
        self._pace = RealTime(factor or 1.0, BEGIN_NS, time.monotonic_ns())
        self._step_ns = round(self._settings.step_ms * 1e6)
        self._is_paused = self._settings.lockstep
        self._effects: list[tuple[str, int, int]] = []
        self._said: dict[str, str] = {}
        self._world = None
        self._empty()
        self.offer()

    def _empty(self) -> None:
        if self._world is not None:
            self._world.close()
        self._world = None
        self._trial: Trial | None = None
        self._is_live = self._gives_turns = False
        self._until_ns: float = math.inf
        self._told = 0
        self._odometry = ''
        self._stamps: dict[str, int] = {}
        self._sensed: list[tuple[str, int, int | None]] = []
        self._reported: list[tuple[str, int, int | None, str, str]] = []
        self._heard_there: set[str] = set()

    def run(self, ended: threading.Event) -> None:
        """Let time pass until somebody ends it."""
        while not ended.is_set():
            while (arrived := self._arrivals.take(not self._gives_turns)) is not None:
                self._take(*arrived)
            self.listen()
            if self._answering.is_stepping:
                self._answering.go_on()
                time.sleep(0)  # whoever asks is heard in between
                continue
            if self._is_paused:
                self._publish_clock()  # for who comes while it stands
                self._arrivals.wait(_TURN_S)
                continue
            if self._now_ns >= self._until_ns:
                self._publish_clock()  # as one message may get lost, on which others wait
                self._arrivals.wait(_STANDING_S)
                continue
            next_ns, steady_ns = self._next_ns(), time.monotonic_ns()
            if self._pace.at(steady_ns) < next_ns:
                self._arrivals.wait(min(_TURN_S, (self._pace.due_ns(next_ns) - steady_ns) / 1e9))
                continue
            self._to(next_ns)
            self._pace.reached(next_ns, time.monotonic_ns())

    def _put(self, topic: str, payload: Any) -> None:
        self._arrivals.put(topic, payload)

    def _receive(self, said: Any) -> None:
        text = self._seal.opened(said.data, ASK)
        if text is not None:
            self._put(ASK, text)

    def _next_ns(self) -> int:
        """Return when something is due."""
        if self._world is None or not self._is_live:
            return self._clock_ns
        due_ns = min(self._clock_ns, self._begin_ns + self._world.due_ns)
        return max(self._now_ns, round(min(due_ns, self._until_ns)))

    def _to(self, now_ns: int) -> None:
        """Let time pass until then, and publish what is due by then."""
        self._now_ns = max(self._now_ns, now_ns)
        world = self._world if self._is_live else None
        is_due = world is not None and self._begin_ns + world.due_ns <= self._now_ns
        try:
            if world is not None:
                world.advance(self._now_ns - self._begin_ns)
            if not self._is_paused and (
                    is_due or self._now_ns >= min(self._clock_ns, self._until_ns)):
                self._publish_clock()
            if world is not None and is_due:
                self._publish(world.sensing(self._now_ns - self._begin_ns))
            if self._is_paused:
                self._publish_clock()
        except Exception as error:  # it costs this trial, and no other
            self._give_up(error)

    def _publish_clock(self) -> None:
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(self._now_ns, 1_000_000_000)
        self._clock.publish(message)
        self._clock_ns = self._now_ns + self._tick_ns

    def _publish(self, found: Iterable[Sensed]) -> None:
        states: dict[str, Mapping[str, float]] = {}
        for one in found:
            states |= one.truths
            if one.message is not None:
                self._show(one, one.message)
        if (states or self._sensed or self._reported) and self._trial is not None:
            self._publish_truth(states=states, sensed=tuple(self._sensed),
                                reported=tuple(self._reported))
        self._sensed, self._reported = [], []

    def _show(self, one: Sensed, plain: Message) -> None:
        topic, message, stamp_ns = one.name, to_ros(plain), None
        if has_header(plain):
            if not one.is_held or topic not in self._stamps:
                self._stamps[topic] = stamp_shifted(self._now_ns, one.shift_ns)
            stamp_ns = self._stamps[topic]
            set_header_stamp(message, stamp_ns)
        self._publisher(topic, plain.type).publish(serialize_message(message))
        if self._gives_turns:
            self._turns.show(topic, self._now_ns)
        if plain.type == ODOMETRY and stamp_ns is not None and topic == self._odometry:
            self._frames.moved(plain, stamp_ns)
        if not one.is_report:
            self._sensed.append((topic, self._now_ns, stamp_ns))
        elif topic not in self._heard_there:
            self._reported.append((topic, self._now_ns, stamp_ns, plain.type, to_text(plain.data)))

    def _publish_truth(self, **told: Any) -> None:
        assert self._trial is not None  # else there is nothing to tell of
        self._told += 1
        self._telling.publish(String(data=self._seal.closed(as_json(WorldState.model_construct(
            trial=self._trial.trial_id, now_ns=self._now_ns, count=self._told, **told)), TOLD)))

    def _give_up(self, error: Exception) -> None:
        self._node.get_logger().error(described(error))
        if self._trial is not None:
            self._publish_truth(fault=str(error) if isinstance(error, MeasurementError)
                                else described(error))
        trial, is_standing = self._trial, self.standing is not None
        self._empty()
        self._trial = trial  # whose evaluator may still ask
        if is_standing:
            self._answering.lose(described(error))

    @property
    def trial_id(self) -> str:
        return self._trial.trial_id if self._trial is not None else ''

    def _take(self, topic: str, payload: Any) -> None:
        if topic == ASK:
            self._serve(payload)
            return
        if self.serve(topic, payload):
            return
        self.catch_up()
        self._command(topic, payload)

    def _command(self, topic: str, payload: tuple[bytes, int]) -> None:
        """Let the robot have a command now."""
        interface = self._commanders.interface(topic)
        if interface is None or self._world is None or not self._is_live:
            return
        message, _ = from_raw(payload[0], interface)
        try:
            self._world.command(topic, message, self._now_ns - self._begin_ns, self._now_ns)
        except MeasurementError as error:  # it costs this trial, and no other
            self._give_up(error)

    def _serve(self, text: str) -> None:
        request = read_request(text)
        if isinstance(request, Request) and request.what == 'until':
            if not self._is_foreign(request):
                self._until_ns = request.until_ns
            return
        if isinstance(request, Answer):
            self._answers.publish(String(data=self._seal.closed(as_json(request), ANSWER)))
            return
        said = self._said.get(request.id)
        if said is None:
            said = self._said[request.id] = as_json(self._answer(request))
            while len(self._said) > _REMEMBERED:
                del self._said[next(iter(self._said))]
        self._answers.publish(String(data=self._seal.closed(said, ANSWER)))

    def _answer(self, request: Request) -> Answer:
        self.catch_up()
        now_ns = self._now_ns
        does: Mapping[str, Callable[[Request], Mapping[str, Any]]] = {
            'reset': self._reset, 'look': self._look, 'begin': self._begin,
            'apply': self._apply, 'withdraw': self._withdraw, 'end': self._end,
            'pause': self._pause, 'step': self._step}
        try:
            if request.trial and request.trial == self.given_up:
                if request.what != 'end':
                    raise MeasurementError(f'{request.what}: the trial {request.trial} has ended: '
                                           f'another client has reset the simulation')
                return Answer(id=request.id, now_ns=now_ns)
            if self._is_foreign(request):
                raise MeasurementError(
                    f'{request.what}: got it for the trial {request.trial}, expected '
                    f'{self._trial.trial_id if self._trial else "a reset"}: another evaluator, or '
                    f'a second simulator, is there. Start one of each')
            found = does[request.what](request)
        except Exception as error:  # whatever is asked, the node lives on
            if not isinstance(error, (InputError, MeasurementError)):
                self._node.get_logger().error(described(error))
            return Answer(id=request.id, now_ns=now_ns, is_input=isinstance(error, InputError),
                          error=str(error) or described(error))
        return Answer(**{'id': request.id, 'now_ns': now_ns,
                         'factor': self._settings.real_time_factor or float(not self._gives_turns),
                         'lockstep': self._gives_turns, **found})

    def _is_foreign(self, request: Request) -> bool:
        return request.trial != '' and (
            self._trial is None or request.trial != self._trial.trial_id)

    def _reset(self, request: Request) -> Mapping[str, Any]:
        """Build the world of a trial; it stands still until it is told to begin."""
        self.given_up = ''
        self.take_back()
        self._empty()
        self._is_paused |= self._settings.lockstep
        trial = planned(request, registry.resolve)
        self._world = World(trial.scenario, trial.seed)
        self._trial, ros = trial, trial.scenario.robot_body
        self._gives_turns = self._settings.lockstep and request.turns
        self._turns.reset()
        self._heard_there = {one.topic for one in ros.feedback}
        self._connect(ros)
        return self._look(request)

    def _connect(self, ros: RobotBody) -> None:
        """Have the topics of a new world, and none of those of the one before."""
        assert self._world is not None  # its topics are asked for
        declared = {one.frame for one in ros.frames}
        self._frames.announce((one for one in self._world.frames if one.frame not in declared),
                              self._now_ns)
        topics = {topic: interface for topic, interface in _interfaces(ros).items()
                  if topic in self._world.topics}
        self._odometry = next((topic for topic, interface in topics.items()
                               if interface == ODOMETRY), '')
        for topic in self._publishers.keys() - topics.keys():
            self._node.destroy_publisher(self._publishers.pop(topic)[1])
        for topic, interface in topics.items():
            self._publisher(topic, interface)
        self._commanders.keep(ros.commands)

    def _look(self, request: Request) -> Mapping[str, Any]:
        """Say who is connected, and listen to whoever commands by now."""
        commands = self._commanded
        self._commanders.listen(commands)
        return {'topics': {topic: publisher.get_subscription_count()
                           for topic, (_, publisher) in self._publishers.items()},
                'commands': {one.topic: self._commanders.matched(one.topic) for one in commands},
                'is_ready': not self._gives_turns or self._turns.is_ready(
                    self._sensors(), (one.topic for one in commands)),
                'listeners': self._telling.get_subscription_count()}

    def _sensors(self) -> Iterator[str]:
        """Yield the topics of all that the world shows, and of what the evaluator publishes."""
        yield from self._publishers
        if self._trial is not None:
            yield from _stimuli(self._trial.scenario.robot_body).keys() - self._publishers.keys()

    @property
    def _commanded(self) -> Sequence[CommandTopic]:
        """Return the topics on which the robot of an evaluator's trial is commanded."""
        return self._trial.scenario.body.commands if self._trial else ()

    def _begin(self, request: Request) -> Mapping[str, Any]:
        self._world_of('begin')
        self._begin_ns, self._is_live = self._now_ns, True
        self._until_ns = self._now_ns
        self._effects.clear()
        if self._gives_turns:
            self._turns.begin(self._now_ns, self._step_ns, request.is_new)
        elif self._settings.lockstep:  # whoever takes no turns has the time that really passes
            self._is_paused = False
            self._pace = RealTime(self._settings.real_time_factor or 1.0, self._now_ns,
                                  time.monotonic_ns())
        return {}

    def _apply(self, request: Request) -> Mapping[str, Any]:
        return {'can': self._world_of('apply').apply(
            request.topic, read_intent(request.intent), request.hazard)}

    def _withdraw(self, request: Request) -> Mapping[str, Any]:
        self._world_of('withdraw').withdraw(request.topic)
        return {}

    def _end(self, request: Request) -> Mapping[str, Any]:
        self._empty()
        self._is_paused |= self._settings.lockstep
        return {}

    def _pause(self, request: Request) -> Mapping[str, Any]:
        self._is_paused = True
        return {}

    def _step(self, request: Request) -> Mapping[str, Any]:
        """Let some time pass; what is due to the controller in it comes in its order."""
        until_ns = self._now_ns + request.step_ns
        self._is_paused, self._until_ns = True, math.inf
        for topic, count in request.sent.items():
            self._turns.show(topic, self._now_ns, count)
        while True:
            for effect_ns, topic, payload in self._turns.effective(self._now_ns):
                self._effects.append((topic, payload[1], effect_ns))
                self._command(topic, payload)
            if self._gives_turns and self._turns.is_due(self._now_ns):
                self._turns.take(self._now_ns)
                continue
            if self._now_ns >= until_ns:
                break
            turn_ns = self._turns.next_ns if self._gives_turns else math.inf
            next_ns = max(self._now_ns, round(min(until_ns, self._next_ns(), turn_ns)))
            if self._turns.await_real_time(self._now_ns, next_ns):
                self._to(next_ns)
        effects, self._effects = tuple(self._effects), []
        return {'now_ns': self._now_ns, 'told': self._told, 'effects': effects,
                'decided': self._turns.decided()}

    def _give(self, turn: Turn) -> None:
        self._giving.publish(String(data=as_json(turn)))

    def _receive_done(self, said: Any) -> None:
        try:
            self._turns.take_done(Done.model_validate_json(said.data))
        except ValueError:
            return  # nothing of ours

    def _world_of(self, what: str) -> World:
        if self._world is None:
            raise MeasurementError(f'{what}: got it without a world, expected a reset before it')
        return self._world

    def _publisher(self, topic: str, interface: str) -> Any:
        known = self._publishers.get(topic)
        if known is not None and known[0] != interface:
            self._node.destroy_publisher(known[1])
            known = None
        if known is None:
            known = self._publishers[topic] = interface, self._node.create_publisher(
                interface_class(interface), topic,
                qos.pictures() if interface == IMAGE else qos.stimulus())
        return known[1]


def _interfaces(ros: RobotBody) -> Mapping[str, str]:
    """Return the interface of each topic on which a world may publish."""
    found = _stimuli(ros)
    if ros.world is not None and ros.world.camera is not None:
        found |= ros.world.camera.interfaces
    usual = kind_of(ros.robot).feedback_type(())
    for one in ros.feedback:
        found.setdefault(one.topic, usual if one.message == 'auto' else one.message)
    return found


def _stimuli(ros: RobotBody) -> dict[str, str]:
    """Return the interface of each topic of a stimulus."""
    found: dict[str, str] = {}
    for plugin in (*ros.nominal.stimuli, *ros.stimuli):
        interface = plugin.interface()
        if interface is not None:
            found.setdefault(plugin.topic, interface)
    return found
