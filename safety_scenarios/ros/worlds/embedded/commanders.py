# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a simulator receives and from whom, and when the controller has its turn in lock-step.

``/tf`` has where odometry says that the base is, with the stamp of each odometry message;
``/tf_static`` has where its sensors are.

Simulated time stands while the controller decides. Then as much of it passes as the controller
took, with what it commanded before: a decision of 400 ms is executed 400 ms later, whatever else
the machine had to do meanwhile.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
import math
import secrets
import threading
import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import interface_class, to_ros
from safety_scenarios.ros.link.frames import is_listened_to, LATCHED, MOVING
from safety_scenarios.ros.spinning import with_info
from safety_scenarios.ros.worlds.simulator_link.protocol import (
    Decided,
    Done,
    LEAST_NS,
    RealTime,
    Turn,
)
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.frames import frames_message, STATIC, TF
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world import MountedFrame

_MISSING = ('tf2_msgs is not installed here: this simulator publishes no /tf and no /tf_static, '
            'so that the node that subscribes there gets none. Install it with ROS, for example '
            'apt install ros-$ROS_DISTRO-tf2-msgs: no wheel of it exists')


class RobotFrames:
    """
    Publishes them where ``tf2_msgs`` is installed; else warns once if a node subscribes to them.

    :param node: a spinning node, whose callbacks run in another thread
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._kind: Any = None
        self._is_warned = False
        self._moving: Any = None
        self._static: Any = None
        self._frames: Sequence[MountedFrame] = ()
        try:
            self._kind = interface_class(TF)
        except Exception:  # not installed here, however that shows
            return
        self._moving = node.create_publisher(self._kind, MOVING, 100)

    def announce(self, frames: Iterable[MountedFrame], now_ns: int) -> None:
        """Publish where the sensors of another robot are, in place of those of the last one."""
        found = tuple(frames)
        self._warn()
        if self._kind is None or found == self._frames:
            return
        if self._static is not None:
            self._node.destroy_publisher(self._static)
            self._static = None
        self._frames = found
        if found:
            self._static = self._node.create_publisher(self._kind, STATIC, LATCHED)
            self._static.publish(to_ros(frames_message(found, now_ns)))

    def moved(self, odometry: Message, stamp_ns: int) -> None:
        """Publish where the base is by its odometry."""
        self._warn()
        if self._moving is not None:
            self._moving.publish(to_ros(Message.model_construct(
                type=TF, data=transform_of(odometry, stamp_ns))))

    def _warn(self) -> None:
        if self._kind is None and not self._is_warned and is_listened_to(self._node):
            self._is_warned = True
            self._node.get_logger().warning(_MISSING)


def transform_of(odometry: Message, stamp_ns: int) -> Mapping[str, Any]:
    """Return the fields of a TFMessage that says what an odometry message says of the place."""
    said = odometry.data
    seconds, nanoseconds = divmod(stamp_ns, 1_000_000_000)
    pose = said['pose']['pose']
    return {'transforms': ({
        'header': {'frame_id': said['header']['frame_id'],
                   'stamp': {'sec': seconds, 'nanosec': nanoseconds}},
        'child_frame_id': said['child_frame_id'],
        'transform': {'translation': pose['position'], 'rotation': pose['orientation']}},)}


class Arrivals:
    """
    Keeps what callbacks bring for the thread that owns the world.

    :param asked: topics of what is no command
    """

    def __init__(self, asked: Collection[str]) -> None:
        self._asked = asked
        self._changed = threading.Condition()
        self._arrived: deque[tuple[str, Any]] = deque()

    def put(self, topic: str, payload: Any) -> None:
        """Take one in, in any thread."""
        with self._changed:
            self._arrived.append((topic, payload))
            self._changed.notify_all()

    def take(self, is_command: bool = True) -> tuple[str, Any] | None:
        """
        Return the first that nobody has taken, None if there is none.

        :param is_command: it may be a command, too
        """
        with self._changed:
            found = next((one for one in self._arrived if is_command or one[0] in self._asked),
                         None)
            if found is not None:
                self._arrived.remove(found)
            return found

    def wait(self, seconds: float) -> None:
        """Wait until there is one."""
        with self._changed:
            if not self._arrived and seconds > 0:
                self._changed.wait(seconds)

    def await_commands(self, wanted: Mapping[str, int], seconds: float) -> bool:
        """
        Wait at most so long until so many commands wait here to be taken; return whether they do.

        :param wanted: topic to their number
        """
        def are_there() -> bool:
            there = Counter(topic for topic, _ in self._arrived)
            return all(there[topic] >= count for topic, count in wanted.items())
        with self._changed:
            return self._changed.wait_for(are_there, seconds)

    def take_commands(self) -> Sequence[tuple[str, Any]]:
        """Return the commands alone; the rest keeps its order."""
        with self._changed:
            found = [one for one in self._arrived if one[0] not in self._asked]
            others = [one for one in self._arrived if one[0] in self._asked]
            self._arrived.clear()
            self._arrived.extend(others)
            return found


class Commanders:
    """
    Hears whoever commands, each in the type and the quality of service of its publisher.

    :param node: a spinning node, whose callbacks run in another thread
    :param arrivals: gets each command: as it was serialised, and the middleware's stamp of when
        it was published (ns; 0 where there is none)
    """

    def __init__(self, node: Node, arrivals: Arrivals) -> None:
        self._node, self._arrivals = node, arrivals
        self._known: dict[str, tuple[str, Any]] = {}

    def interface(self, topic: str) -> str | None:
        """Return the type in which a topic is heard, None if it is not."""
        known = self._known.get(topic)
        return None if known is None else known[0]

    def matched(self, topic: str) -> int:
        """Return how many command on a topic, as far as they are heard."""
        if topic not in self._known:
            return 0
        return qos.publisher_count(self._node, topic, self._known[topic][1])

    def listen(self, commands: Sequence[CommandTopic]) -> None:
        """Hear whoever commands on these topics by now, and nobody who has left."""
        for one in commands:
            publishers = self._node.get_publishers_info_by_topic(
                self._node.resolve_topic_name(one.topic))
            types = {info.topic_type for info in publishers}
            if one.topic in self._known and self._known[one.topic][0] not in types:
                self._forget(one.topic)
            if one.topic not in self._known and len(types) == 1 \
                    and one.message in ('auto', *types):
                self._known[one.topic] = self._subscription(one.topic, types.pop(), publishers)

    def keep(self, commands: Sequence[CommandTopic]) -> None:
        """Hear nobody on other topics than these."""
        for topic in self._known.keys() - {one.topic for one in commands}:
            self._forget(topic)

    def _subscription(self, topic: str, interface: str, publishers: Sequence[Any]) -> tuple[str,
                                                                                            Any]:
        def receive(raw: bytes, info: Any) -> None:
            self._arrivals.put(topic, (raw, (info or {}).get('source_timestamp') or 0))
        return interface, self._node.create_subscription(
            interface_class(interface), topic, with_info(receive), qos.command(publishers),
            raw=True)

    def _forget(self, topic: str) -> None:
        self._node.destroy_subscription(self._known.pop(topic)[1])


_AGAIN_S = 0.5
"""A turn, or its end, that got lost is sent again."""
_ARRIVAL_S = 10.0
"""What was published is received within this, however busy the machine is."""
_SLICE_S = 0.05
"""How soon a paced wait notices that a turn has ended."""


class Turns:
    """
    Gives turns and keeps what was decided until it takes effect.

    :param give: publishes a turn
    :param arrivals: what the controller has commanded
    :param is_received: whether commands on a topic are received here
    :param patience_s: how long time stands for a decision; after that as much passes as really
        does
    """

    def __init__(self, give: Callable[[Turn], None], arrivals: Arrivals,
                 is_received: Callable[[str], bool], patience_s: float) -> None:
        self._give, self._arrivals, self._is_received = give, arrivals, is_received
        self._patience_s = patience_s
        self._changed = threading.Condition()
        self._done: Done | None = None
        self._done_ns = 0
        """Steady time at which the end of the turn came."""
        self._count = 0
        self.due_ns = 0
        """When the controller has its next turn."""
        self._asked: Turn | None = None
        self._given_ns = self._again_ns = 0
        self._beside = ''
        self._pace: RealTime | None = None
        self._shown: dict[str, list[int]] = defaultdict(list)
        self._waiting: list[tuple[int, str, Any]] = []
        self._decided: list[Decided] = []
        self._stage, self._is_ready = '', False

    def reset(self) -> None:
        """Expect the controller of another trial; what it still decides for this one is lost."""
        self._stage, self._is_ready, self._asked = secrets.token_hex(8), False, None
        self._shown.clear()
        self._waiting.clear()
        self._decided.clear()

    def begin(self, now_ns: int, period_ns: int, is_new: bool) -> None:
        """
        Let a trial begin.

        :param period_ns: of the controller
        :param is_new: its process has just been started
        """
        self._arrivals.take_commands()  # of before
        if is_new:
            self._pace, self._beside = None, ''
            self.due_ns = now_ns + period_ns
        if self._pace is not None:
            self._pace = RealTime(1.0, now_ns, time.monotonic_ns())

    def take_done(self, done: Done) -> None:
        """Take the end of a turn, in any thread."""
        with self._changed:
            if done.count == 0:
                self._is_ready |= done.stage == self._stage
            elif self._asked is not None and done.count == self._asked.count \
                    and self._done is None:
                self._done, self._done_ns = done, time.monotonic_ns()
            self._changed.notify_all()

    def is_ready(self, topics: Iterator[str], commands: Iterable[str]) -> bool:
        """
        Ask the controller's process whether it receives these topics, and turns.

        :param commands: topics that it must know to be received
        :return: whether it has answered so far that it does
        """
        if not self._is_ready:
            self._give(Turn(count=0, stage=self._stage, shown=dict.fromkeys(topics, ()),
                            received=tuple(filter(self._is_received, commands))))
        return self._is_ready

    def show(self, topic: str, now_ns: int, count: int = 1) -> None:
        """Take note that so many messages were published for the controller."""
        self._shown[topic] += [now_ns] * count

    @property
    def next_ns(self) -> float:
        """Return when something is to be done here (simulated)."""
        due_ns = math.inf if self._asked is not None else self.due_ns
        return min([due_ns, *(effect_ns for effect_ns, _, _ in self._waiting)])

    def is_due(self, now_ns: int) -> bool:
        """Return whether the controller is to decide now."""
        return self._asked is None and self.due_ns <= now_ns

    def effective(self, now_ns: int) -> Iterator[tuple[int, str, Any]]:
        """Yield time, topic and payload of each command that takes effect by now."""
        while self._waiting and self._waiting[0][0] <= now_ns:
            yield self._waiting.pop(0)

    def decided(self) -> tuple[Decided, ...]:
        """Return the decisions that have ended since asked before."""
        found, self._decided = tuple(self._decided), []
        return found

    def take(self, now_ns: int) -> None:
        """
        Let the controller decide, and wait for it.

        :raises MeasurementError: a message between simulator and controller was lost
        """
        self._count += 1
        self._asked = Turn(count=self._count, stage=self._stage, now_ns=now_ns, shown={
            topic: tuple(times) for topic, times in self._shown.items()})
        self._shown.clear()
        self._done = None
        self._given_ns = time.monotonic_ns()
        if self._beside and self._pace is not None:  # then real time passes anyway
            self._pace.reached(now_ns, self._given_ns)  # what others held up is none of this turn
            self._give_requested(self._asked)
            return
        deadline = time.monotonic() + self._patience_s
        while (left := deadline - time.monotonic()) > 0:
            self._give_requested(self._asked)
            if self._await_done(min(left, _AGAIN_S)):
                self._end(now_ns)
                return
        self._keep_pace(now_ns)

    def await_real_time(self, now_ns: int, next_ns: int) -> bool:
        """
        Let real time pass where a decision takes too long, or the controller computes beside.

        :return: whether simulated time may go on to ``next_ns``
        :raises MeasurementError: a message between simulator and controller was lost
        """
        while True:
            if self._asked is not None:
                if self._await_done(0.0):
                    self._end(now_ns)
                    return False
                if time.monotonic_ns() >= self._again_ns:
                    self._give_requested(self._asked)
            pace = self._pace
            if pace is None:
                return True
            left_s = (pace.due_ns(next_ns) - time.monotonic_ns()) / 1e9
            if left_s <= 0:
                pace.reached(next_ns, time.monotonic_ns())
                return True
            if self._asked is None:
                time.sleep(min(left_s, _SLICE_S))
            else:
                self._await_done(min(left_s, _SLICE_S))

    def _give_requested(self, turn: Turn) -> None:
        self._again_ns = time.monotonic_ns() + round(_AGAIN_S * 1e9)
        self._give(turn)

    def _await_done(self, seconds: float) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._done is not None, seconds)
            return self._done is not None

    def _keep_pace(self, now_ns: int) -> None:
        if self._pace is None:
            self._pace = RealTime(1.0, now_ns, time.monotonic_ns())

    def _end(self, now_ns: int) -> None:
        """Charge a decision that has ended."""
        done, turn, done_ns = self._done, self._asked, self._done_ns
        assert done is not None
        assert turn is not None
        self._done = self._asked = None
        if done.missed:
            raise MeasurementError(
                f"{done.missed}: got no message in the controller's process within "
                f'{_ARRIVAL_S:g} s, expected what the simulator has published there: it got lost. '
                f'Use a less busy machine, or go without clock.lockstep')
        self._await_commands(done)
        thought_ns = done.thought_ns if done.thought_ns >= LEAST_NS else 0
        was_beside, self._beside = self._beside, self._beside or done.beside
        effect_ns = max(now_ns, turn.now_ns + thought_ns) if not was_beside or self._pace is None \
            else max(now_ns, self._pace.at(done_ns))
        if self._beside or done.answering:
            self._keep_pace(now_ns)
        else:
            self._pace = None
        self._waiting += [(effect_ns, *one) for one in self._arrivals.take_commands()]
        period_ns = max(1, done.period_ns)
        self.due_ns = effect_ns + period_ns if done.begins_chunk else \
            max(turn.now_ns + period_ns, effect_ns)
        self._decided.append(Decided(
            turn_ns=turn.now_ns, effect_ns=effect_ns, thought_ns=done.thought_ns,
            held_ns=done.held_ns, given_ns=self._given_ns, done_ns=done_ns, beside=self._beside))

    def _await_commands(self, done: Done) -> None:
        wanted = {topic: count for topic, count in done.commands.items()
                  if self._is_received(topic)}
        if not self._arrivals.await_commands(wanted, _ARRIVAL_S):
            raise MeasurementError(
                f'{", ".join(wanted)}: got no command in the simulator within {_ARRIVAL_S:g} s of '
                f"when the controller's process had published it: it got lost. Use a less busy "
                f'machine, or go without clock.lockstep')
