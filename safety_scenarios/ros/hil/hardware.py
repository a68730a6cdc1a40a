# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A robot that is really there: its interlocks, what they listen to, and the guard."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
import json
from pathlib import Path
import threading
import time
from typing import Any, TextIO

from rclpy.context import Context
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from safety_scenarios.campaign.folder.signing import read_plan
from safety_scenarios.campaign.hil_refusals import releases, why_a_command
from safety_scenarios.errors import described, InterlockError, MeasurementError
from safety_scenarios.ros.hil.guard import Guard, Readiness
from safety_scenarios.ros.hil.guarded_link import GuardedLink, unlisted
from safety_scenarios.ros.hil.interlock import Alone, Interlock, MS, PreflightGreen, Word
from safety_scenarios.ros.hil.people import (
    AreaClear,
    Asker,
    AtTerminal,
    ByPlan,
    ByService,
    Confirmation,
    DeadMan,
    Distance,
)
from safety_scenarios.ros.hil.robot_state import (
    Battery,
    Home,
    Protective,
    Speed,
    Travel,
)
from safety_scenarios.ros.link.convert import interface_class, type_name
from safety_scenarios.ros.link.graph import full_node_name
from safety_scenarios.ros.measuring_node import OWN
from safety_scenarios.ros.spinning import spinning
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.trial.link import Link, LinkPlan
from std_srvs.srv import SetBool, Trigger

NAME = 'hil.jsonl'


class RunLog:
    """
    Writes one line for each thing that happens, whole and at once, from any thread.

    The file is made with its first line: a campaign's folder has to be empty until it begins.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._file: TextIO | None = None
        self._lock = threading.Lock()

    def __call__(self, what: str, **fields: Any) -> None:
        """Write what has happened just now, on the steady and on the system clock."""
        line = {'what': what, 'steady_ns': time.monotonic_ns(), 'system_ns': time.time_ns(),
                **fields}
        with self._lock:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self.path.open('a', encoding='utf-8')
            self._file.write(json.dumps(line, ensure_ascii=False) + '\n')
            self._file.flush()

    def close(self) -> None:
        """Close the file; a later line opens it again."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


_LIVE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Whatever the publisher offers; what came late or came before counts for nothing."""
_KEPT = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                   durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass(frozen=True)
class Subscription:
    """One topic to listen to: what it says goes to whom."""

    word: Word
    take: Callable[[Any, int], None]


class Listening:
    """
    Subscribes to each topic in the type that the graph shows, once somebody publishes there.

    :param node: a spinning node of its own
    :param heard: with its topic, as the profile names it; two may be on one
    :param alone: is told who commands
    """

    def __init__(self, node: Node, heard: Sequence[tuple[str, Subscription]],
                 alone: Alone) -> None:
        self._node, self._heard, self._alone = node, heard, alone
        self._subscriptions: dict[Word, tuple[str, Any]] = {}
        self.commands: Sequence[str] = ()
        """Topics on which the robot is commanded in this trial."""
        self._lock = threading.Lock()

    def follow(self, commands: Sequence[str]) -> None:
        """Look from now on at who publishes on these topics."""
        self.commands = commands

    def look(self) -> None:
        """Look at the graph: who publishes for the interlocks, and who commands."""
        with self._lock:
            self._look()

    def _look(self) -> None:
        for topic, heard in self._heard:
            found = self._publishers(topic)
            has_changed = heard.word.saw(
                (bytes(info.endpoint_gid).hex() for info in found), time.monotonic_ns())
            if has_changed and heard.word.is_kept and heard.word in self._subscriptions:
                self._node.destroy_subscription(self._subscriptions.pop(heard.word)[1])
            types = {info.topic_type for info in found}
            if len(types) == 1:
                self._listen(topic, heard, types.pop())
        self._alone.saw({
            self._node.resolve_topic_name(topic): [
                f'{full_node_name(info)}#{bytes(info.endpoint_gid).hex()}'
                for info in self._publishers(topic)]
            for topic in self.commands}, time.monotonic_ns())

    def _publishers(self, topic: str) -> Sequence[Any]:
        return self._node.get_publishers_info_by_topic(self._node.resolve_topic_name(topic))

    def _listen(self, topic: str, heard: Subscription, interface: str) -> None:
        known = self._subscriptions.get(heard.word)
        if known is not None and known[0] == interface:
            return
        try:
            kind = interface_class(interface)
        except MeasurementError as error:
            heard.word.unread = f'a type that can be read: {error}'
            return
        if known is not None:
            self._node.destroy_subscription(known[1])

        def receive(message: Any) -> None:
            heard.take(message, time.monotonic_ns())
        self._subscriptions[heard.word] = interface, self._node.create_subscription(
            kind, topic, receive, _KEPT if heard.word.is_kept else _LIVE)


CONFIRM = 'hil/confirm'
"""Service by which an operator confirms a scenario."""
_TICK_S = 0.01
_LOOK_TICKS = 10
"""The graph is looked at ten times a second."""
_OF_CALIBRATION = 'calibration'
"""Above the topics on which the harness measures itself."""


class _Steady:
    """The steady clock of this process."""

    now_ns = staticmethod(time.monotonic_ns)
    sleep = staticmethod(time.sleep)


class Hardware:
    """
    All interlocks of one robot, for all trials of a campaign.

    :param node: of its own, which spins
    :param measuring: the node that publishes stimuli
    """

    def __init__(self, node: Node, measuring: Node, plan: LinkPlan, log: RunLog) -> None:
        self._node, self._measuring = node, measuring
        self._hil, self._names = plan.ros.hil, plan.names
        hil = self._hil
        system_ns = time.time_ns if hil.stamp_tolerance_s else None
        words = {name: Word(node.resolve_topic_name(topic),
                            None if age_ms == 0 else round(age_ms * MS),
                            round(hil.stamp_tolerance_s * 1e9), system_ns)
                 for name, (topic, age_ms) in _topics(hil).items()}
        deadman = DeadMan(words['deadman'], round(hil.deadman_timeout_ms * MS),
                          hil.deadman_rate_hz)
        self._deadman, self._confirmation, self._alone = deadman, Confirmation(), Alone()
        self._preflight = PreflightGreen()
        feedback = words['feedback']
        early: list[Interlock] = [self._confirmation, deadman,
                                  Speed(feedback, hil.speed_cap, hil.turn_cap)]
        early += [known for known in (
            Travel(feedback, hil.travel_cap_m),
            Distance(words['distance'], hil.distance_min_m, hil.distance_max_m),
            Protective(words['protective'], frozenset(map(int, hil.protective_modes))),
            Battery(words['battery'], hil.battery_floor),
            AreaClear(words['area'])) if known.name not in hil.without]
        self._guard = Guard([*early, self._preflight, self._alone], time.monotonic_ns, log)
        self._listening = Listening(node, [
            (topic,
             Subscription(words[name], partial(self._receive, deadman.take if name == 'deadman'
                                               else words[name].take)))
            for name, (topic, _) in _topics(hil).items() if name not in hil.without], self._alone)
        home = Home(feedback, hil.reset_within_m, hil.reset_within_rad)
        self._readiness = Readiness(
            hil, self._guard, early, self._confirmation, deadman, home, self._asker(),
            self._send_back if hil.reset_service else None, _Steady(),
            measuring.get_logger().info)

    def _receive(self, take: Callable[[Any, int], None], message: Any, now_ns: int) -> None:
        take(message, now_ns)
        self._guard.check_now()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch in a thread of its own while the block lasts."""
        ended = threading.Event()

        def watch() -> None:
            ticks, told = 0, ''
            while not ended.wait(_TICK_S):
                self._deadman.awake(time.monotonic_ns())
                if ticks % _LOOK_TICKS == 0:
                    try:
                        self._listening.look()
                    except Exception as error:  # what is not looked at any more goes stale
                        if told != described(error):
                            told = described(error)
                            self._guard.write_log('no look', why=told)
                ticks += 1
                self._guard.watch()
        thread = threading.Thread(target=watch, name='interlocks', daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._guard.end()
            ended.set()
            thread.join()

    def guarded(self, inner: Link) -> GuardedLink:
        return GuardedLink(inner, self._guard, self._readiness, self._alone, self._preflight, self)

    def follow(self, commands: Sequence[str]) -> None:
        """Look from now on at who publishes on these topics of commands."""
        self._listening.follow(commands)

    def look(self) -> None:
        """Look at the graph now."""
        self._listening.look()

    def full_name(self, topic: str) -> str:
        """Return what a topic is really called, after every remapping."""
        return str(self._measuring.resolve_topic_name(topic))

    def refuse_unlisted(self) -> None:
        """
        Refuse a publisher of ours on a topic that the profile does not list, by what there is.

        :raises InterlockError: names it
        """
        full, hil = self._names.unmapped, self._hil
        own = f'{self._measuring.resolve_topic_name(_OF_CALIBRATION)}/'
        ours = [(publisher.topic_name, type_name(publisher.msg_type()))
                for publisher in self._measuring.publishers
                if publisher not in getattr(self._measuring, 'live', ())
                and publisher.topic_name not in OWN and not publisher.topic_name.startswith(own)]
        named = set(map(full, hil.commands)) | {
            self._measuring.resolve_topic_name(topic)
            for topic in self._listening.commands}
        released = set(map(full, hil.releases))
        why = unlisted(ours, map(full, hil.publishes), lambda topic, interface: (
            why_a_command(topic, interface, named)
            or ('a stop is released there' if releases(topic, released) else None)))
        if why is not None:
            raise InterlockError(why)

    def _asker(self) -> Asker:
        if self._hil.confirm == 'plan':
            return ByPlan(read_plan(self._hil).scenarios)
        if self._hil.confirm == 'terminal':
            return AtTerminal()
        asker = ByService(self._node.resolve_service_name(CONFIRM), self._refuse)
        self._node.create_service(SetBool, CONFIRM, asker.called)
        return asker

    def _refuse(self) -> str:
        """Take a no of the operator that nobody has asked for now, in the thread that listens."""
        refused = self._confirmation.refuse()
        if refused:
            self._guard.write_log('confirmation', scenario=refused, yes=False,
                                  by=self._hil.confirm)
            self._guard.check_now()
        return refused

    def _send_back(self, look: Callable[[], None]) -> str | None:
        """
        Ask the user's service to bring the robot back; return what it said against that.

        :param look: looks at the interlocks, and raises once one is lost
        """
        hil = self._hil
        client = self._node.create_client(Trigger, hil.reset_service)
        try:
            return _answered(client, hil.ready_s, look)
        finally:
            self._node.destroy_client(client)


def _answered(client: Any, timeout_s: float, look: Callable[[], None]) -> str | None:
    deadline = time.monotonic() + timeout_s
    while not client.service_is_ready():
        look()
        if time.monotonic() > deadline:
            return 'got no service std_srvs/srv/Trigger of that name, expected one. Start it'
        time.sleep(_TICK_S)
    look()
    future = client.call_async(Trigger.Request())
    while not future.done():
        look()
        if time.monotonic() > deadline:
            return (f'got no answer within {timeout_s:g} s, expected one. The robot may still '
                    f'move, and the harness cannot stop it')
        time.sleep(_TICK_S)
    said = future.result()
    return None if said.success else f'got no success ({said.message}), expected success'


def _topics(hil: HilSettings) -> Mapping[str, tuple[str, float]]:
    """Return each word to its topic and the age (ms) that it may have."""
    return {'deadman': (hil.deadman_topic, hil.deadman_timeout_ms),
            'feedback': (hil.feedback_topic, hil.age_ms),
            'distance': (hil.distance_topic, hil.age_ms),
            'protective': (hil.protective_topic, hil.protective_age_ms),
            'battery': (hil.battery_topic, hil.battery_age_ms),
            'area': (hil.area_topic, hil.age_ms)}


@contextmanager
def hardware(plan: LinkPlan, context: Context, measuring: Node,
             folder: Path) -> Iterator[Hardware]:
    """Listen and watch while the block lasts."""
    log = RunLog(folder)
    node = Node(f'{plan.ros.node_name}_interlocks', context=context,
                enable_rosout=False, start_parameter_services=False)
    with spinning(node):
        found = Hardware(node, measuring, plan, log)
        with found.watched():
            try:
                yield found
            finally:
                log.close()
