# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Lock-step with another simulator, and how many commands the controller has given.

That a request for steps succeeds means that it was queued; that they were made is seen on /clock
alone. So is whether somebody else lets time pass.
"""

from collections.abc import Callable, Sequence
import threading
import time
from typing import Any, Protocol

from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import interface_class
from safety_scenarios.ros.link.graph import Graph
from safety_scenarios.ros.worlds.external.mover import Mover, ServiceCall
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic

_TURN_S = 0.05
"""How soon it is noticed that nobody will command any more."""


class Commands(Protocol):
    """What is heard of the controller."""

    @property
    def count(self) -> int:
        """Return how many commands have come so far."""

    @property
    def is_deaf(self) -> bool:
        """Whether nobody is known who commands."""

    def more_than(self, count: int, seconds: float) -> bool:
        """Wait until more than that many have come; return whether they have."""

    def listen(self, commands: Sequence[CommandTopic]) -> None:
        """Hear whoever commands on these topics by now, and nobody who has left."""


def await_command(commands: Commands, topics: Sequence[CommandTopic], count: int,
                  patience_s: float, alarm: Callable[[], str | None] = lambda: None) -> None:
    """
    Wait until more commands have come, or the patience is over.

    Then the graph is asked: who has left it is waited for no more, until somebody comes again.

    :param topics: on which the robot is commanded
    :param count: of the commands that had come when the turn before was over
    :param patience_s: in real time
    :param alarm: says why nobody will command any more, None while somebody may
    :raises MeasurementError: says so, too
    """
    if commands.is_deaf:
        commands.listen(topics)
    if commands.is_deaf:
        return
    deadline = time.monotonic() + patience_s
    while not commands.more_than(count, min(_TURN_S, patience_s)):
        reason = alarm()
        if reason is not None:
            raise MeasurementError(f'not connected: {reason}')
        if time.monotonic() > deadline:
            commands.listen(topics)
            return


class CommandCounter:
    """
    Counts what is commanded, so that time can stand until a controller has done so.

    :param node: a spinning node, whose callbacks run in another thread
    """

    def __init__(self, node: Node) -> None:
        self._node, self._graph = node, Graph(node)
        self._subscriptions: dict[tuple[str, str], Any] = {}
        self._changed = threading.Condition()
        self._count = 0

    @property
    def count(self) -> int:
        """Return how many have come so far."""
        return self._count

    @property
    def is_deaf(self) -> bool:
        """Whether nobody is known who commands, so that there is nothing to wait for."""
        return not self._subscriptions

    def listen(self, commands: Sequence[CommandTopic]) -> None:
        """Hear whoever commands now on these topics, and nobody else."""
        found: dict[tuple[str, str], list[Any]] = {}
        for one in commands:
            for info in self._graph.publishers(one.topic):
                if one.message in ('auto', info.topic_type):
                    found.setdefault((one.topic, info.topic_type), []).append(info)
        for key in self._subscriptions.keys() - found.keys():
            self._node.destroy_subscription(self._subscriptions.pop(key))
        for (topic, interface), publishers in found.items():
            if (topic, interface) not in self._subscriptions:
                self._subscriptions[topic, interface] = self._node.create_subscription(
                    interface_class(interface), topic, self._take, qos.command(publishers),
                    raw=True)

    def more_than(self, count: int, seconds: float) -> bool:
        """Wait at most so long until more than that many have come; return whether they have."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while self._count <= count and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            return self._count > count

    def close(self) -> None:
        """Give up the endpoints."""
        for subscription in self._subscriptions.values():
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()

    def _take(self, raw: bytes) -> None:
        with self._changed:
            self._count += 1
            self._changed.notify()


_LOOK_S = 0.0005
"""Between two looks at /clock."""
_QUIET_S = 0.1
"""A clock that does not advance for so long stands."""
_SLICE_NS = 20_000_000
"""At most so much time passes at once: a period of the poses from which the truth comes."""
_LATE_S = 0.2
"""Poses of a step that have not come by then are lost; the next ones will do."""
_DRIVEN_S = 1.0
"""The drives of an arm that have not answered to a command by then have not heard it."""
_ARRIVAL_S = 0.004
"""How long what a simulator published last takes through its bridge, and more; and a command."""


class CommandSubscriptions(Commands, Protocol):
    """What is heard of the controller, by endpoints that somebody has to give up."""

    def close(self) -> None:
        """Give up the endpoints."""


class Stepping:
    """
    Lets no more than a period of the controller pass without a command of it.

    :param now_ns: what /clock has said last (ns)
    :param seen_ns: takes in what poses have come, and returns the newest stamp of them (ns); of an
        arm that of joints and drives, too, and 0 as long as a command has not reached these
    :param period_ns: of the controller
    :param patience_s: how long the simulator, or a command, is waited for
    :param alarm: says why nobody will command any more, None while somebody may
    """

    def __init__(self, mover: Mover, commands: CommandSubscriptions, now_ns: Callable[[], int],
                 seen_ns: Callable[[], int], period_ns: int, patience_s: float,
                 alarm: Callable[[], str | None]) -> None:
        self._mover, self._commands = mover, commands
        self._now_ns, self._seen_ns = now_ns, seen_ns
        self._period_ns, self._patience_s, self._alarm = period_ns, patience_s, alarm
        self._stands_ns = self._due_ns = self._one_ns = 0
        self._heard = 0
        self._topics: Sequence[CommandTopic] = ()
        self._is_on = False

    def begin(self, commands: Sequence[CommandTopic]) -> int:
        """
        Let time stand, and find out how long a step is; return the time then (ns).

        :param commands: of which one is waited for in each period
        :raises MeasurementError: it does not stand, or makes no steps
        """
        self._is_on = True
        self._topics = commands
        self._commands.listen(commands)
        self._done(self._mover.run(is_running=False))
        self._stands_ns = self._stood()
        for _ in range(2):  # it may have been paused within a step: the first one ends that
            before_ns = self._stands_ns
            self._done(self._mover.steps(1))
            self._reached(before_ns + 1)
            self._stands_ns = self._stood()
        self._one_ns = self._stands_ns - before_ns
        self._due_ns = self._stands_ns + self._period_ns
        self._heard = self._commands.count
        return self._stands_ns

    def step(self, step_ns: int) -> tuple[int, int]:
        """
        Let this much time pass, to the next whole step; return the time then, and commands heard.

        :raises MeasurementError: somebody else lets time pass, or the simulator does not
        """
        self._refuse_others()
        before = self._commands.count
        until_ns = self._stands_ns - (-step_ns // self._one_ns) * self._one_ns
        while self._stands_ns < until_ns:
            self._to(self._next_ns(until_ns))
            if self._commands.count == self._heard and self._stands_ns >= self._due_ns:
                await_command(self._commands, self._topics, self._heard, self._patience_s,
                              self._alarm)
            if self._commands.count != self._heard or self._stands_ns >= self._due_ns:
                self._due_ns = self._stands_ns + self._period_ns
            if self._commands.count != self._heard:
                self._heard = self._commands.count
                self._await_effects(self._stands_ns, _DRIVEN_S)
                time.sleep(_ARRIVAL_S)  # the bridge carries it, and nobody says when it has
        return self._stands_ns, self._commands.count - before

    def end(self) -> None:
        """Let time pass by itself again, for whoever comes next."""
        if self._is_on:
            self._is_on = False
            deadline = time.monotonic() + _LATE_S
            while self._now_ns() < self._stands_ns and time.monotonic() < deadline:
                time.sleep(_LOOK_S)  # what was begun pauses at its end, whatever comes before it
            self._mover.run(is_running=True)

    def close(self) -> None:
        """Give up the endpoints."""
        self._commands.close()

    def _next_ns(self, until_ns: int) -> int:
        """Return how far to go at once: alone into the step in which the controller has a turn."""
        now_ns, one_ns = self._stands_ns, self._one_ns
        turn_ns = now_ns - (-max(0, self._due_ns - now_ns) // one_ns) * one_ns
        before_ns = turn_ns - one_ns
        most_ns = now_ns + max(one_ns, _SLICE_NS - _SLICE_NS % one_ns)
        return min(until_ns, most_ns, before_ns if before_ns > now_ns else now_ns + one_ns)

    def _to(self, until_ns: int) -> None:
        """Make steps, and see that they were made and what came of them."""
        before_ns, self._stands_ns = self._stands_ns, until_ns
        self._done(self._mover.steps((until_ns - before_ns) // self._one_ns))
        self._reached(until_ns)
        self._refuse_others()
        self._await_effects(until_ns, _LATE_S)
        if until_ns + self._one_ns >= self._due_ns:  # what is decided by arrives before the time
            time.sleep(_ARRIVAL_S)

    def _await_effects(self, until_ns: int, patience_s: float) -> None:
        """Wait until what came of a step is known here, and drives that tell have done theirs."""
        deadline = time.monotonic() + patience_s
        while self._seen_ns() <= until_ns - _SLICE_NS and time.monotonic() < deadline:
            time.sleep(_LOOK_S)

    def _refuse_others(self) -> None:
        now_ns = self._now_ns()
        if now_ns != self._stands_ns:
            raise MeasurementError(
                f'lock-step: got {now_ns / 1e9:.4f} s on /clock, expected '
                f'{self._stands_ns / 1e9:.4f} s, to which the simulator was stepped: another '
                f'client lets its time pass, or it makes other steps than it is asked for. Leave '
                f'its pause alone, or go without clock.lockstep')

    def _done(self, asked: ServiceCall) -> None:
        deadline = time.monotonic() + self._patience_s
        while not asked.is_answered:
            if time.monotonic() > deadline:
                raise MeasurementError(f'{asked.what}: got no answer for {self._patience_s:g} s, '
                                       f'expected one. Is the simulator, or its bridge, gone?')
            time.sleep(_LOOK_S)
        if asked.failure():
            raise MeasurementError(f'{asked.what}: {asked.failure()}')

    def _reached(self, until_ns: int) -> None:
        deadline = time.monotonic() + self._patience_s
        while self._now_ns() < until_ns:
            if time.monotonic() > deadline:
                raise MeasurementError(
                    f'lock-step: got {self._now_ns() / 1e9:.4f} s on /clock '
                    f'{self._patience_s:g} s after steps were asked for, expected '
                    f'{until_ns / 1e9:.4f} s. Does the simulator make steps while it is paused?')
            time.sleep(_LOOK_S)

    def _stood(self) -> int:
        """Wait until the clock stands; return where (ns)."""
        deadline = time.monotonic() + self._patience_s
        last_ns, since = self._now_ns(), time.monotonic()
        while time.monotonic() - since < _QUIET_S:
            time.sleep(_LOOK_S)
            now_ns = self._now_ns()
            if now_ns == last_ns:
                continue
            last_ns, since = now_ns, time.monotonic()
            if since > deadline:
                raise MeasurementError(
                    f'lock-step: got a /clock that continues for {self._patience_s:g} s after the '
                    f'simulator was paused, expected it to stand. Go without clock.lockstep')
        return last_ns
