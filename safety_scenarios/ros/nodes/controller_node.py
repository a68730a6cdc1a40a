# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``controller_node``: runs any controller plug-in in a process of its own, on its own timer."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
import os
import sys
import threading
import time
import traceback
from typing import Any

from rclpy.context import Context
from rclpy.node import Node
from rclpy.time import Time
from safety_scenarios import registry
from safety_scenarios.campaign.refusals import refuse_rules
from safety_scenarios.controllers.adapters import has_threads, make_controller, parameter_model
from safety_scenarios.controllers.host import ControllerHost
from safety_scenarios.errors import ControllerError, described, place_of, SafetyScenariosError
from safety_scenarios.ros.calibration import Responder
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import from_ros, header_stamp_ns, interface_class, to_ros
from safety_scenarios.ros.link.frames import LATCHED
from safety_scenarios.ros.link.process_reports import DecisionReporter, stalls_reported
from safety_scenarios.ros.nodes.node_program import (
    end_with_parent,
    NodeProgram,
    refuse_foreign,
    topic_rules,
)
from safety_scenarios.ros.nodes.participant_node import Participant
from safety_scenarios.ros.parameters import (
    names_of,
    overrides,
    read_plugin_parameters,
    read_settings,
    refuse_unknown_parameters,
)
from safety_scenarios.ros.spinning import spinning
from safety_scenarios.ros.turn_taker import TurnTaker
from safety_scenarios.ros.worlds.simulator_link.protocol import as_json, Turn
from safety_scenarios.scenario.blocks.agents import AGENTS
from safety_scenarios.scenario.conversation import Envelope, FAILED
from safety_scenarios.scenario.frames import STATIC, TF
from safety_scenarios.scenario.interfaces import answer_json, stamp_of
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_drivers import from_json, SimulatedRobot
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.timing import (
    ANSWER,
    DECISIONS,
    ENDS_TURN,
    GIVES_TURN,
    PROBE,
    STALLS,
    TRIAL,
)
from safety_scenarios.trial.links.robot_reports import PERIOD_NS, SimulatedReports
from safety_scenarios.trial.parameters import is_bundled, named_controller, read_parameters
from safety_scenarios.trial.trial import PROMPT, RESPONSE
from std_msgs.msg import String


class Reporter:
    """Reports in a thread of its own, at absolute steady deadlines."""

    def __init__(self, node: Node, robot: SimulatedRobot) -> None:
        self._node = node
        self._reports = SimulatedReports(robot)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._publishers = {topic: node.create_publisher(interface_class(interface), topic,
                                                         qos.stimulus())
                            for topic, interface in robot.feedback.items()}
        self._thread = threading.Thread(target=self._run, name='reporter')
        self._thread.start()

    def take(self, topic: str, message: Message, now_ns: int, ros_ns: int) -> None:
        """Take a command that was just published."""
        with self._lock:
            self._reports.take(topic, message, now_ns, ros_ns)

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        due_s = time.monotonic()
        while not self._ended.wait(max(0.0, due_s - time.monotonic())):
            with self._lock:
                found = self._reports.reports(time.monotonic_ns())
            for topic, plain in found.items():
                message = to_ros(plain)
                if hasattr(message, 'header'):
                    message.header.stamp = self._node.get_clock().now().to_msg()
                self._publishers[topic].publish(message)
            due_s = max(due_s + PERIOD_NS * 1e-9, time.monotonic())


_NAME = 'controller_node'
_WHAT = 'Runs a controller plug-in in a process of its own, until SIGINT or SIGTERM.'
_MORE = """
The parameters of the controller itself are parameters of this node too, such as
-p stop_distance_m:=1.0 with rule_based; doc/reference/controllers.md lists those of the built-in
ones."""
_LOOK_S = 0.001
"""How soon it is noticed that /clock has gone on."""
_TURN_S = 0.1
"""How soon it is noticed in lock-step that the process shall end."""
_ENDS_S = 0.5
"""How long a process whose plug-in has crashed may take to end by itself."""
_MANY = 1000
_TOLD = 1000
"""Characters of what a plug-in raised that the evaluator is told."""


class ControllerNode(Node):
    """Gathers the latest inputs, asks the plug-in on each tick, publishes what it says."""

    def __init__(self, ended: threading.Event, **options: Any) -> None:
        super().__init__(_NAME, **options)
        self.settings = read_settings(self, ControllerSettings)
        if self.settings.exit_with_stdin:
            end_with_parent(ended)
        self._host = self._hosted()
        self._answers = ThreadPoolExecutor(max_workers=1, thread_name_prefix='answer')
        self._responder = Responder(self) if self.settings.responder else None
        if self.settings.agent:
            self._participant = Participant(self, self.settings.agent, self._on_envelope)
        self.turns: TurnTaker | None = None
        self.reporter: Reporter | None = None
        if self.settings.simulated_robot:
            self.reporter = Reporter(self, from_json(self.settings.simulated_robot,
                                                     registry.resolve))
        if self.settings.drives:
            self._drive()

    @property
    def process(self) -> str:
        return 'controller' if self.settings.drives else 'participant' if self.settings.agent \
            else 'responder'

    def check(self, arguments: Sequence[str]) -> None:
        """
        Refuse arguments that miss this node; an evaluator gives its own rules to each child.

        :raises SettingsError: with the name that was expected
        """
        known = names_of(ControllerSettings) | set(overrides(self))
        refuse_foreign(arguments, self.get_fully_qualified_name(), _NAME, known)
        if not self.settings.exit_with_stdin:
            refuse_rules(topic_rules(arguments, self.get_name()), self._topics(),
                         self.get_namespace())

    def _topics(self) -> Iterator[str]:
        yield from (PROBE, ANSWER, STALLS)
        if self.settings.drives:
            yield from (DECISIONS, TRIAL, PROMPT, RESPONSE, self._host.topic, *self._host.inputs,
                        *self._host.outputs)
        if self.settings.simulated_robot:
            yield from from_json(self.settings.simulated_robot, registry.resolve).feedback
        if self.settings.agent:
            space = f'{AGENTS}/{self.settings.agent}'
            yield from (f'{space}/in', f'{space}/out')

    def _hosted(self) -> ControllerHost:
        plugin = named_controller(self.settings.controller)
        model = parameter_model(plugin)
        texts = read_plugin_parameters(self, model, self.settings)
        refuse_unknown_parameters(self, ControllerSettings, model)
        return ControllerHost(make_controller(plugin, self.settings,
                                              read_parameters(texts, model, 'parameter ')))

    def _drive(self) -> None:
        is_in_simulation = self.settings.schedule_clock == 'ros'
        sensors = {topic: self.create_subscription(
                       interface_class(interface), topic, self._listener(topic), qos.sensor(
                           is_in_simulation,
                           self.resolve_topic_name(topic) in self.settings.best_effort))
                   for topic, interface in self._host.inputs.items()}
        if is_in_simulation:
            self._take_turns(sensors)
        with suppress(Exception):  # tf2_msgs is not installed here, however that shows
            self.create_subscription(interface_class(TF), STATIC, self._listener(STATIC), LATCHED)
        self.create_subscription(String, PROMPT, self._prompted, qos.stimulus())
        self._begins = threading.Event()
        self.create_subscription(String, TRIAL, lambda _: self._begins.set(), qos.stimulus())
        self._response = self.create_publisher(String, RESPONSE, qos.stimulus())
        self._command = self.create_publisher(
            interface_class(self._host.interface), self._host.topic, qos.stimulus())
        self._decisions, self._ended_ns = DecisionReporter(self, self._host.topic), 0
        self._beside = {topic: self.create_publisher(interface_class(interface), topic,
                                                     qos.stimulus())
                        for topic, interface in self._host.outputs.items()}

    def _take_turns(self, sensors: Mapping[str, Any]) -> None:
        """Decide in lock-step, should a simulator ask for it."""
        done = self.create_publisher(String, ENDS_TURN, qos.conversation())
        self.turns = turns = TurnTaker(
            lambda said: done.publish(String(data=as_json(said))),
            lambda topic: qos.publisher_count(self, topic, sensors[topic]), tuple(sensors),
            self._receivers,
            is_bundled(self.settings.controller) and not has_threads(self._host.plugin))

        def receive(message: Any) -> None:
            try:
                turns.receive(Turn.model_validate_json(message.data))
            except ValueError:
                return  # nothing of a simulator of ours
        self.create_subscription(String, GIVES_TURN, receive, qos.conversation())

    def _receivers(self, topic: str) -> int:
        """Return how many receive a command of ours; on another topic nobody needs to."""
        ours = {self._host.topic: self._command, **self._beside}.get(topic)
        return _MANY if ours is None else ours.get_subscription_count()

    def _listener(self, topic: str) -> Any:
        def receive(message: Any) -> None:
            stamp_ns, plain = header_stamp_ns(message), from_ros(message)
            if self.turns is not None and self.turns.takes_turns and topic != STATIC:
                self.turns.add(topic, stamp_ns, plain)
            else:
                self._host.receive(topic, received_ns=self.now_ns(), stamp_ns=stamp_ns,
                                   message=plain)
        return receive

    def take_turn(self, turn: Turn) -> None:
        """Receive what was seen by then, decide, and say how long that took."""
        assert self.turns is not None
        try:
            for one in self.turns.received(turn):
                self._host.receive(one.topic, received_ns=one.received_ns, stamp_ns=one.stamp_ns,
                                   message=one.message)
        except LookupError as error:
            self.turns.end(turn, 0, self.period_ns, {}, missed=str(error.args[0]))
            return
        took_ns = self.turns.watch()
        message, beside = self._decide(turn.now_ns, turn.now_ns)
        period_ns, begins_chunk = self.period_ns, self.begins_chunk  # by the plug-in's own code
        thought_ns = took_ns()
        said_ns = self._ended_ns = turn.now_ns + thought_ns
        self.turns.end(turn, thought_ns, period_ns,
                       self._publish(message, beside, said_ns, said_ns),
                       begins_chunk=begins_chunk)

    def tick(self) -> None:
        """Ask the plug-in what to do now, and publish it."""
        ros_ns = self.get_clock().now().nanoseconds
        self._publish(*self._decide(self.now_ns(), ros_ns), ros_ns)

    def _decide(self, now_ns: int, ros_ns: int) -> tuple[Message | None, Mapping[str, Message]]:
        """
        Return what the plug-in wants to publish now.

        What it raises goes on as it is: its traceback is what the log is for.
        """
        try:
            if self._begins.is_set():
                self._begins.clear()
                self._host.begin_trial(now_ns)
            message = self._host.tick(now_ns, ros_ns)
            self._ended_ns = self.now_ns()
            return message, self._host.aside(now_ns, ros_ns) if self._beside else {}
        except ControllerError as error:
            raise error.__cause__ or error from None

    def _publish(self, message: Message | None, beside: Mapping[str, Message], ros_ns: int,
                 stamp_ns: int | None = None) -> Mapping[str, int]:
        """
        Publish it, and return how many messages on which topic that were.

        :param stamp_ns: of headers; None: now
        """
        count = Counter[str]()
        if message is not None:
            wire, now_ns = self._wire(message, stamp_ns), self.now_ns()
            self._command.publish(wire)
            self._decisions.report(self._host.timing(
                self._ended_ns, now_ns if stamp_ns is None else stamp_ns))
            self._took(self._host.topic, message, ros_ns)
            count[self._host.topic] += 1
        elif (why := self._host.silence(self._ended_ns, self._ended_ns)) is not None:
            self._decisions.report_silence(why)
        for topic, other in beside.items():
            self._beside[topic].publish(self._wire(other, stamp_ns))
            self._took(topic, other, ros_ns)
            count[topic] += 1
        return count

    def _took(self, topic: str, message: Message, ros_ns: int) -> None:
        if self.reporter is not None:
            self.reporter.take(topic, message, time.monotonic_ns(), ros_ns)

    def now_ns(self) -> int:
        """Return the time by which the plug-in reckons: steady, or that of a simulator."""
        if self.settings.schedule_clock == 'steady':
            return time.monotonic_ns()
        return self.get_clock().now().nanoseconds

    @property
    def period_ns(self) -> int:
        """Time between two ticks."""
        return self._host.period_ns

    @property
    def begins_chunk(self) -> bool:
        """Return whether its latest command begins a chunk, of which more follow in periods."""
        return bool(self._host.plugin.begins_chunk)

    def close(self) -> None:
        """Let the plug-in hang up what it has opened."""
        if self.reporter is not None:
            self.reporter.close()
        if self.turns is not None:
            self.turns.close()
        if self._responder is not None:
            self._responder.close()
        self._answers.shutdown(wait=False, cancel_futures=True)
        self._host.close()

    def _wire(self, plain: Message, stamp_ns: int | None) -> Any:
        message = to_ros(plain)
        if hasattr(message, 'header') and stamp_of(plain) is None \
                and not plain.type.endswith('/JointTrajectory'):
            message.header.stamp = (self.get_clock().now() if stamp_ns is None
                                    else Time(nanoseconds=stamp_ns)).to_msg()
        return message

    def _on_envelope(self, envelope: Envelope) -> None:
        self._answers.submit(self._converse, envelope)

    def _converse(self, envelope: Envelope) -> None:
        """Take part in a conversation; a plug-in's mistake costs one turn."""
        try:
            utters = self._host.turn(envelope)
            time.sleep(self._host.answer_delay_ns / 1e9 if utters else 0.0)
            for utter in utters:
                self._participant.speak(utter(time.time_ns()))
        except Exception as error:  # as in _reply
            self.get_logger().error(f'nothing said: {_why(error)}')
            _keep(error)
            self._participant.speak(Envelope(trial_id=envelope.trial_id, kind='event', name=FAILED,
                                             text=_why(error)[:_TOLD]))

    def _prompted(self, message: String) -> None:
        if self.turns is not None:
            self.turns.answering(1)
        self._answers.submit(self._answered, message.data)

    def _answered(self, text: str) -> None:
        try:
            self._reply(text)
        finally:
            if self.turns is not None:
                self.turns.answering(-1)

    def _reply(self, text: str) -> None:
        """Answer one prompt; what is wrong with it is logged, never published."""
        try:
            answer = self._host.prompt(text)
            time.sleep(self._host.answer_delay_ns / 1e9)
        except ValueError as error:
            self.get_logger().error(f'prompt ignored: {_why(error)}')
            return
        except Exception as error:  # a plug-in's mistake in one answer must not silence the rest
            self.get_logger().error(f'no answer: {_why(error)}')
            _keep(error)
            return
        if answer is not None:
            self._response.publish(String(data=answer_json(*answer)))


def _why(error: Exception) -> str:
    """Return what happened; of a plug-in's mistake what the plug-in raised."""
    raised = error.__cause__ or error
    return f'{described(raised)}{place_of(raised)}'


def _keep(error: Exception) -> None:
    """Leave the traceback of a plug-in's mistake in the log."""
    traceback.print_exception(error.__cause__ or error)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT, SIGTERM or, when asked to, the end of standard input."""
    return NodeProgram(_NAME, _WHAT, ControllerSettings, _MORE).run(arguments, _control)


def _control(arguments: Sequence[str], context: Context, ended: threading.Event) -> int:
    node = ControllerNode(context=context, ended=ended)
    node.check(arguments)
    with spinning(node, on_error=ended.set) as spin, stalls_reported(node, node.process):
        try:
            if node.settings.drives:
                tick_until(ended, node)
            ended.wait()
        except SafetyScenariosError:
            raise
        except Exception:  # the plug-in has crashed: it is reported while the trial runs
            traceback.print_exc()
            _end_soon()
            return 1
        finally:
            node.close()
    return 0 if spin.error is None else 1


def _end_soon() -> None:
    """End the process after some time, whatever still runs or hangs in it."""
    timer = threading.Timer(_ENDS_S, os._exit, (1,))
    timer.daemon = True
    timer.start()


def tick_until(ended: threading.Event, node: ControllerNode) -> None:
    """
    Tick at absolute deadlines, which do not drift; a missed one is not made up for.

    The commands of a chunk follow each other at the period, however late the first one was.
    """
    if node.settings.schedule_clock == 'ros':
        _tick_in_ros_time(ended, node)
        return
    period_s = node.period_ns / 1e9
    due_s = time.monotonic()
    while not ended.wait(max(0.0, due_s - time.monotonic())):
        node.tick()
        now_s = time.monotonic()
        due_s = now_s + period_s if node.begins_chunk else max(due_s + period_s, now_s)


def _tick_in_ros_time(ended: threading.Event, node: ControllerNode) -> None:
    """Tick whenever a period has passed on /clock, or in lock-step whenever there is a turn."""
    due_ns, turns = 0, node.turns
    while not ended.wait(_LOOK_S):
        while turns is not None and turns.takes_turns and not ended.is_set():
            turn = turns.await_turn(_TURN_S)
            if turn is not None:
                node.take_turn(turn)
        now_ns = node.now_ns()
        if not now_ns:
            continue  # nobody has said yet what time it is
        if due_ns - now_ns > node.period_ns:
            due_ns = now_ns  # another simulator has begun
        if now_ns >= due_ns:
            node.tick()
            due_ns = node.now_ns() + node.period_ns if node.begins_chunk else \
                max(due_ns + node.period_ns, now_ns)


if __name__ == '__main__':
    sys.exit(main())
