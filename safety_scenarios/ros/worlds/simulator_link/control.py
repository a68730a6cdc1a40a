# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How the evaluator moves a world that lives in another process."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
import secrets
import threading
import time
from typing import Any, Protocol

from rclpy.node import Node
from safety_scenarios.errors import InputError, LinkTimeoutError, MeasurementError
from safety_scenarios.ros.controller_process import SIMULATOR_NODE
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.sealing import OPEN, Seal
from safety_scenarios.ros.spinning import Inbox
from safety_scenarios.ros.worlds.simulator_link.protocol import (
    ANSWER,
    Answer,
    as_json,
    ASK,
    Decided,
    Request,
    reset,
    Tellings,
    TOLD,
    WorldState,
)
from safety_scenarios.scenario.stimulus import Intent
from safety_scenarios.scenario.timing import GIVES_TURN
from safety_scenarios.trial.trial import Trial
from std_msgs.msg import String

_AGAIN_S = 0.3
"""A first request may be sent before the other side has matched our answers."""
_LOOK_S = 0.05
"""Between two looks at who is connected."""
_STEP_S = 620.0
"""A step in lock-step waits for the controller, at most as long as the simulator's patience."""
_LATE_S, _SLICE_S = 10.0, 0.0002
_PATIENCE_S = 10.0
"""A world answers within milliseconds; one that takes longer is stuck, or its host is."""


@dataclass(frozen=True)
class Ready:
    """What a world is like that is ready for a trial."""

    topics: frozenset[str]
    """On which it publishes; nobody else is to."""
    factor: float
    lockstep: bool
    nodes: frozenset[str] = frozenset()
    """Names of the nodes that publish there."""
    stands: bool = True
    """It stands at the time that it was told by ``until``, and waits for the evaluator."""


@dataclass(frozen=True)
class Stepped:
    """What has come of a step in lock-step."""

    now_ns: int
    """Simulated time after it."""
    commands: int = 0
    """How many the world has taken in it, where it does not say which."""
    effects: tuple[tuple[str, int, int], ...] | None = None
    """Topic of each command that took effect, its source stamp (0: none), and when it did
    (simulated, ns); None: the world does not say, and they took effect when they came."""
    topics: frozenset[str] = frozenset()
    """Of which the world says when each command took effect."""
    decided: tuple[Decided, ...] = ()


class WorldControl(Protocol):
    """
    What is asked of a world in another process, be it the embedded one or another simulator.

    All of it raises ``MeasurementError`` when the world does not answer, or cannot do it.
    """

    name: str
    """What the world is, as the record names it."""
    charges: bool
    """In lock-step it lets as much time pass as a decision took, where a process takes turns."""

    def forget(self) -> None:
        """Expect another process from now on."""

    def reset(self, trial: Trial) -> Ready:
        """Get ready for a trial, and stand still."""

    def await_others(self, deadline: float) -> None:
        """Wait until the controller hears the world and is heard by it (monotonic time)."""

    def begin(self, is_new: bool) -> int:
        """Let the world live, maybe with a new controller; return its time (ns)."""

    def apply(self, topic: str, intent: Intent, hazard: bool) -> int | None:
        """Return the time right before it happened (ns); None: it cannot be shown there."""

    def withdraw(self, topic: str) -> None:
        """Take back what was applied on a topic."""

    def step(self, step_ns: int, sent: Mapping[str, int]) -> Stepped:
        """
        Let this much time pass and no more.

        :param sent: topics of stimuli that the evaluator has published since the step before, and
            how many: the controller receives them before it decides
        """

    def until(self, now_ns: int) -> None:
        """Go on at the pace of the world, and stand at this time (ns) until told otherwise."""

    def pause(self) -> None:
        """Let no time pass but by ``step``."""

    def end(self) -> None:
        """Show nothing until the next trial."""

    def take(self) -> Iterator[WorldState]:
        """Yield what the world has told since asked before."""

    def close(self) -> None:
        """Give up what it holds."""


class TopicControl:
    """
    The embedded world in ``simulator_node``.

    :param node: a spinning node, whose callbacks run in another thread
    :param timeout_s: how long to wait for the simulator to be there
    :param alarm: says why it is gone, None while it lives
    :param turns: the controller's process takes turns in lock-step
    :param seal: of what travels; by default it travels as it is
    """

    name = 'mujoco'
    charges = True

    def __init__(self, node: Node, timeout_s: float, alarm: Callable[[], str | None],
                 turns: bool = False, seal: Seal = OPEN) -> None:
        self._seal = seal
        self._node, self._timeout_s, self._alarm = node, timeout_s, alarm
        self._turns = turns
        self._count, self._token = 0, secrets.token_hex(4)
        self._answered = threading.Condition()
        self._answers: dict[str, Answer] = {}
        self._told = Inbox()
        self._tellings = Tellings('')
        self._received = 0
        self._trial_id = ''
        self._received_by_world = frozenset[str]()
        self._needs: tuple[set[str], set[str]] = set(), set()
        self._asks = node.create_publisher(String, ASK, qos.conversation())
        self._subscriptions = [
            node.create_subscription(String, ANSWER, self._receive, qos.conversation()),
            node.create_subscription(String, TOLD, self._take_state, qos.conversation())]
        self._is_connected = False

    def _receive(self, said: Any) -> None:
        text = self._seal.opened(said.data, ANSWER)
        if text is None:
            return
        try:
            answer = Answer.model_validate_json(text)
        except ValueError:
            return  # nothing of ours
        with self._answered:
            self._answers[answer.id] = answer
            self._answered.notify()

    def _take_state(self, said: Any) -> None:
        text = self._seal.opened(said.data, TOLD)
        if text is not None:
            self._told.put(text)
            self._received += 1

    def forget(self) -> None:
        """Expect another process from now on."""
        self._is_connected = False

    def reset(self, trial: Trial) -> Ready:
        """Get ready for a trial, and stand still."""
        self._trial_id = ''
        if not self._is_connected:
            self._ask('look', timeout_s=self._timeout_s)
            self._is_connected = True
        self._trial_id = trial.trial_id
        answer = self._done(reset(self._next_id(), trial, self._turns),
                            max(_PATIENCE_S, self._timeout_s))
        self._told.clear()
        self._tellings = Tellings(trial.trial_id)
        self._received = 0
        self._needs = ({plugin.topic for plugin in trial.hazard},
                       {one.topic for one in trial.scenario.body.commands})
        return Ready(frozenset(answer.topics), answer.factor, answer.lockstep,
                     frozenset({SIMULATOR_NODE}))

    def await_others(self, deadline: float) -> None:
        """Wait until somebody hears one of the hazard's topics, and until somebody commands."""
        shown, commanded = self._needs
        while True:
            seen = self._ask('look', timeout_s=max(_PATIENCE_S, deadline - time.monotonic()))
            self._received_by_world = frozenset(
                topic for topic, count in seen.commands.items() if count)
            hazard = [seen.topics[topic] for topic in shown & seen.topics.keys()]
            deaf = [topic for topic in commanded if not seen.commands.get(topic)]
            if (not hazard or any(hazard)) and not (
                    commanded and len(deaf) == len(commanded)) and seen.listeners \
                    and seen.is_ready:
                return
            if time.monotonic() > deadline and not seen.listeners:
                raise LinkTimeoutError(
                    self._node.resolve_topic_name(TOLD), 'a simulator that we can hear',
                    self._timeout_s, 'one that answers, but without a subscriber there',
                    'Let both run in one domain with the same discovery settings.')
            if time.monotonic() > deadline and not seen.is_ready:
                raise LinkTimeoutError(
                    self._node.resolve_topic_name(GIVES_TURN),
                    "a controller's process that takes turns", self._timeout_s,
                    'no answer to a turn, or a sensor that it does not receive',
                    'Use a less busy machine, a longer connect_timeout_s, or go without '
                    'clock.lockstep.')
            if time.monotonic() > deadline:
                topic = min(deaf) if len(deaf) == len(commanded) else min(shown)
                raise LinkTimeoutError(
                    self._node.resolve_topic_name(topic), 'a controller that is connected with '
                    'the simulator', self._timeout_s, _counts_text(seen.topics, seen.commands),
                    'Let it listen to what the world shows and command what it executes, or '
                    'remap the topics.')
            time.sleep(_LOOK_S)

    def begin(self, is_new: bool) -> int:
        """Let the world live, maybe with a new controller; return its time (ns)."""
        return self._ask('begin', is_new=is_new).now_ns

    def apply(self, topic: str, intent: Intent, hazard: bool) -> int | None:
        """Return the time right before it happened (ns); None: it cannot be shown there."""
        answer = self._ask('apply', topic=topic, intent=intent.model_dump_json(), hazard=hazard)
        return answer.now_ns if answer.can else None

    def withdraw(self, topic: str) -> None:
        """Take back what was applied on a topic."""
        self._ask('withdraw', topic=topic)

    def step(self, step_ns: int, sent: Mapping[str, int]) -> Stepped:
        """Let this much time pass and no more."""
        answer = self._ask('step', step_ns=step_ns, sent=sent, timeout_s=_STEP_S)
        deadline = time.monotonic() + _LATE_S
        while self._received < answer.told and time.monotonic() < deadline:
            time.sleep(_SLICE_S)  # what was told before the answer may come a little after it
        return Stepped(answer.now_ns, effects=answer.effects, topics=self._received_by_world,
                       decided=answer.decided)

    def until(self, now_ns: int) -> None:
        """Go on at the pace of the world, and stand at this time (ns) until told otherwise."""
        self._asks.publish(String(data=self._seal.closed(as_json(Request(
            id=self._next_id(), what='until', trial=self._trial_id, until_ns=now_ns)), ASK)))

    def pause(self) -> None:
        """Let no time pass but by ``step``."""
        self._ask('pause')

    def end(self) -> None:
        """Show nothing until the next trial."""
        if self._trial_id and self._alarm() is None:
            self._ask('end')
        self._trial_id = ''

    def take(self) -> Iterator[WorldState]:
        """
        Yield what the world has told; what belongs to an earlier trial is passed over.

        :raises MeasurementError: something of it was lost
        """
        yield from self._tellings.read(map(str, self._told.take()))

    def close(self) -> None:
        """Give up the endpoints."""
        self._node.destroy_publisher(self._asks)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _next_id(self) -> str:
        self._count += 1
        return f'{self._token}-{self._count}'

    def _ask(self, what: Any, timeout_s: float = _PATIENCE_S, **named: Any) -> Answer:
        return self._done(Request(id=self._next_id(), what=what, trial=self._trial_id, **named),
                          timeout_s)

    def _done(self, request: Request, timeout_s: float) -> Answer:
        text = as_json(request)
        deadline, again = time.monotonic() + timeout_s, 0.0
        while True:
            with self._answered:
                answer = self._answers.pop(request.id, None)
                if answer is None:
                    self._answers.clear()
            if answer is not None:
                break
            reason, now = self._alarm(), time.monotonic()
            if reason is not None:
                raise MeasurementError(f'not connected: {reason}')
            if now > deadline:
                raise LinkTimeoutError(
                    self._node.resolve_topic_name(ASK), 'an answer of a simulator_node to '
                    f'{request.what!r}', timeout_s,
                    f'{self._asks.get_subscription_count()} that listen there',
                    'Start one in this domain, or let --world mujoco do it.')
            if now >= again:
                self._asks.publish(String(data=self._seal.closed(text, ASK)))
                again = now + _AGAIN_S
            with self._answered:
                if request.id not in self._answers:
                    self._answered.wait(min(_LOOK_S, deadline - now))
        if answer.error:
            raise (InputError if answer.is_input else MeasurementError)(answer.error)
        return answer


def _counts_text(topics: Mapping[str, int], commands: Mapping[str, int]) -> str:
    heard = ', '.join(f'{topic}: {count} listen' for topic, count in topics.items())
    given = ', '.join(f'{topic}: {count} command' for topic, count in commands.items())
    return f'{heard or "no sensors"}; {given or "no commands"}'
