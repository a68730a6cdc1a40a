# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An arm in another simulator: goes to its start, is pushed against, tells what it senses."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
import json
import math
import time
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from safety_scenarios.errors import InputError, LinkTimeoutError, MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import from_ros, header_stamp_ns
from safety_scenarios.ros.link.graph import Graph, UNNAMED
from safety_scenarios.ros.worlds.external.adapters import interfaces
from safety_scenarios.ros.worlds.external.mover import (
    ArmBook,
    ArmTruth,
    joint_errors,
    Joints,
    named,
    Pushing,
)
from safety_scenarios.ros.worlds.simulator_link.protocol import WorldState
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.stimulus import ContactForce, Intent, JointsAt, StimulusContext
from safety_scenarios.scenario.world import WorldSettings
from safety_scenarios.trial.plan_data import to_text
from safety_scenarios.trial.trial import Trial
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

JOINT_STATE, WRENCH = 'sensor_msgs/msg/JointState', 'geometry_msgs/msg/WrenchStamped'
_DEPTH = 1000
_KEPT = 5000
"""Tellings that nobody has read yet: some seconds of them all."""
_LOOK_S = 0.005
_AGAIN_S = 1.0
"""Where to go is said again after so long: the other side may have come late."""
_NEAR = 0.02
"""A joint that is this near to its place (rad), and this slow (rad/s), is there."""
_NEARER = 0.01
"""Joints come nearer by as much at least, or are stuck (rad)."""
_FREE_N = 4.0
"""A sensor that tells less feels nothing."""
_REPORT_NS = 10_000_000
"""Between two joint states that are recorded; the controller hears all of them."""
_CELL = ('Start the cell with its arm: ros2 launch safety_scenarios gazebo.launch.py scene:=cell, '
         'or bridge the topics of yours (doc/manual/gazebo.md)')


class ArmInWorld:
    """
    What a trial with an arm needs beside bodies.

    :param node: a spinning node, whose callbacks run in another thread
    :param now_ns: simulated time
    """

    def __init__(self, node: Node, world: WorldSettings, now_ns: Callable[[], int]) -> None:
        self._node, self._world, self._now_ns = node, world, now_ns
        self._graph, self._book = Graph(node), ArmBook()
        self._arrived: deque[tuple[Callable[[Any], None], Any]] = deque(maxlen=_KEPT)
        self._pushing = Pushing()
        self._reports: deque[tuple[str, int, int, str, str]] = deque()
        self._gone: list[str] = []
        self._told_ns = self._reported_ns = self._driven_ns = self._taken = 0
        self._ahead: int | None = None
        self._wrench: tuple[str, Any] | None = None
        self._goal: Mapping[str, float] = {}
        self.truth = ArmTruth(self._book, {}, (), 0.0)
        often = QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.RELIABLE)
        self._push = node.create_publisher(Float64, world.push, qos.conversation())
        self._posture = node.create_publisher(JointTrajectory, world.posture, qos.conversation())
        self._often = often
        self._subscriptions = [
            node.create_subscription(JointState, world.joints, self._later(
                self._joints), often),
            node.create_subscription(String, world.driven, self._later(
                self._driven), qos.conversation()),
            node.create_subscription(interfaces('tf2_msgs')[1].TFMessage, world.poses,
                                     self._later(self._links), often)]

    def prepare(self, trial: Trial, deadline: float, timeout_s: float) -> Mapping[str, str]:
        """
        See that the simulator tells what the trial needs; return topic to the node that does.

        :raises LinkTimeoutError: something of it is told by nobody
        :raises InputError: the scenario has another arm
        """
        ros = trial.scenario.robot_body  # whoever has none is refused before
        self._pushing, self._gone = Pushing(), []
        self._reports.clear()
        topics = {self._world.joint_states: JOINT_STATE}
        goal: Mapping[str, float] | None = None
        for plugin, intent in _intents(trial):
            if isinstance(intent, ContactForce):
                if plugin.interface() != WRENCH:
                    raise InputError(
                        f'{plugin.topic}: got {plugin.interface()}, expected {WRENCH}: an arm '
                        f'in a simulator has a sensor at its flange and no bumper. Use world '
                        f'mujoco for this one, or another topic')
                topics[plugin.topic] = WRENCH
            elif isinstance(intent, JointsAt):
                if plugin.topic != self._world.joint_states:
                    raise InputError(
                        f'{plugin.topic}: got joint states there, expected them on '
                        f'{self._world.joint_states}, where the simulator publishes them. Name '
                        f'the topic by world.joint_states')
                goal = goal or dict(zip(intent.names, intent.positions, strict=True))
        nodes = {topic: self._publisher(topic, interface, deadline, timeout_s)
                 for topic, interface in topics.items()}
        joints = self._await_joints(deadline, timeout_s)
        self._listen(next((topic for topic, kind in topics.items() if kind == WRENCH), ''))
        self.truth = ArmTruth(self._book, named(ros.robot.joints, joints.names),
                              self._world.links, self._world.thickness)
        self._goal = self._start(goal, joints)
        return nodes

    def _start(self, goal: Mapping[str, float] | None, joints: Joints) -> Mapping[str, float]:
        if goal is None:
            home = [float(text) for text in self._world.home.split()]
            if len(home) != len(joints.names):
                raise InputError(
                    f'world.home: got {len(home)} numbers, expected one for each joint that '
                    f'the simulator publishes: {", ".join(joints.names)}. Correct it')
            return dict(zip(joints.names, home, strict=True))
        unknown = sorted(set(goal) - set(joints.names))
        if unknown:
            raise InputError(
                f'joint states: got {", ".join(unknown)}, expected joints that the simulator '
                f'publishes: {", ".join(joints.names)}: what it publishes is not renamed. Let the '
                f'scenario name them, or the world be one with that arm')
        return goal

    def place(self) -> None:
        """
        Let nothing push, and the joints be at their start.

        :raises MeasurementError: they do not get there
        """
        patience_s = self._world.patience_s
        self._push.publish(Float64(data=0.0))
        deadline, again = time.monotonic() + patience_s, 0.0
        left, since_ns = math.inf, self._now_ns()
        while True:
            now, joints = time.monotonic(), self._book.joints
            if now >= again:
                self._ask_to_go()
                again = now + _AGAIN_S
            self.receive()
            away = self._wrong(since_ns)
            if not away:
                return
            if joints is not None:
                far = max((abs(at - self._goal[name]) for name, at in zip(
                    joints.names, joints.positions, strict=True) if name in self._goal),
                    default=0.0)
                if far < left - _NEARER:
                    left, deadline = far, now + patience_s
            if now > deadline:
                raise MeasurementError(
                    f'{self._world.joints}: got {"; ".join(away)}, for '
                    f'{patience_s:g} s after that was asked for on {self._world.posture}, '
                    f'expected the arm at rest at its start. Do its drives listen there '
                    f'(joint_drive_node), or does it touch anything?')
            time.sleep(_LOOK_S)

    def _wrong(self, since_ns: int) -> list[str]:
        """Return what is not yet as it is to be at the begin of a trial."""
        joints = self._book.joints
        if joints is None or joints.stamp_ns <= since_ns:
            return ['nothing new']
        found = list(joint_errors(joints, self._goal, _NEAR))
        if self._wrench is not None:
            told = self._book.forces_after(since_ns)
            if not told or told[-1][1] > _FREE_N:
                found.append(f'{told[-1][1]:.1f} N on {self._wrench[0]} with nothing that pushes'
                             if told else f'nothing on {self._wrench[0]}')
        return found

    def begin(self, now_ns: int) -> None:
        """Forget what was before a trial."""
        self.receive()
        while len(self._reports) > 1:  # where the joints are at first is known before they move
            self._reports.popleft()
        self._ahead = None
        self._told_ns = self._reported_ns = now_ns

    def apply(self, topic: str, intent: Intent, hazard: bool, now_ns: int) -> bool:
        """Let something push against the tool; False: nothing in a simulator can do it."""
        if isinstance(intent, JointsAt):
            return not hazard  # they are there already
        if not isinstance(intent, ContactForce) or self._wrench is None \
                or topic != self._wrench[0]:
            return False
        self._pushing.ask(topic, intent.force, now_ns)
        self._push.publish(Float64(data=float(intent.force)))
        return True

    def withdraw(self, topic: str) -> None:
        """Let nothing push any more, if this did."""
        if self._pushing.withdraw(topic):
            self._gone.append(topic)
            self._push.publish(Float64(data=0.0))

    def end(self) -> None:
        """Let nothing push; nobody waits for that."""
        self._pushing = Pushing()
        self._push.publish(Float64(data=0.0))

    def readings(self, trial_id: str, now_ns: int) -> Iterator[WorldState]:
        """
        Yield the force that is measured while something pushes, and the joint states.

        :raises MeasurementError: the force is not what was asked for
        """
        self.receive()
        told = self._book.forces_after(self._told_ns)
        self._pushing.check(told, now_ns)
        if told:
            self._told_ns = told[-1][0]
        for stamp_ns, force in told if self._pushing.topic else ():
            yield WorldState.model_construct(
                trial=trial_id, now_ns=stamp_ns, sensed=(), reported=(),
                states={self._pushing.topic: {'force': force}})
        if self._gone:
            gone, self._gone = dict.fromkeys(self._gone, dict[str, float]()), []
            yield WorldState.model_construct(trial=trial_id, now_ns=now_ns, states=gone, sensed=(),
                                             reported=())
        if self._reports:
            reports = tuple(self._reports)
            self._reports.clear()
            yield WorldState.model_construct(trial=trial_id, now_ns=now_ns, states={}, sensed=(),
                                             reported=reports)

    def observed_until_ns(self, heard: int) -> int:
        """
        Return up to when joints and links are told, and the drives have done their part.

        :param heard: commands that we have heard so far; 0 as long as the drives have not
        """
        self.receive()
        if not self._driven_ns:
            return self._book.observed_until_ns
        if self._ahead is None:
            self._ahead = self._taken - heard
        if self._taken - self._ahead < heard:
            return 0
        return min(self._book.observed_until_ns, self._driven_ns)

    def receive(self) -> None:
        """Write into the book what has been told since."""
        while self._arrived:
            take, message = self._arrived.popleft()
            take(message)

    def close(self) -> None:
        """Give up the endpoints."""
        for publisher in (self._push, self._posture):
            self._node.destroy_publisher(publisher)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        if self._wrench is not None:
            self._node.destroy_subscription(self._wrench[1])

    def _later(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        return lambda message: self._arrived.append((take, message))

    def _joints(self, said: Any) -> None:
        stamp_ns, count = header_stamp_ns(said) or 0, len(said.name)
        if len(said.position) != count:
            return
        speeds = tuple(said.velocity) if len(said.velocity) == count else (math.nan,) * count
        self._book.put_joints(Joints(stamp_ns, tuple(said.name), tuple(said.position), speeds))
        if stamp_ns >= self._reported_ns + _REPORT_NS:
            self._reported_ns = stamp_ns
            message = from_ros(said)
            self._reports.append((self._world.joint_states, stamp_ns, stamp_ns,
                                  message.type, to_text(message.data)))

    def _driven(self, said: Any) -> None:
        with suppress(ValueError, TypeError, KeyError):  # else it is nothing of ours
            told = json.loads(said.data)
            self._driven_ns, self._taken = int(told['now_ns']), int(told['taken'])

    def _force(self, said: Any) -> None:
        force = said.wrench.force
        self._book.put_force(header_stamp_ns(said) or 0, math.hypot(force.x, force.y, force.z))

    def _links(self, said: Any) -> None:
        robot, found = self._world.robot, {}
        for one in said.transforms:
            model, _, link = one.child_frame_id.replace('::', '/').partition('/')
            if model == robot and link:
                place = one.transform.translation
                found[link] = place.x, place.y, place.z
        if found.keys() >= set(self._world.links):
            self._book.put_links(header_stamp_ns(said.transforms[0]) or 0, found)

    def _listen(self, topic: str) -> None:
        if self._wrench is not None and self._wrench[0] != topic:
            self._node.destroy_subscription(self._wrench[1])
            self._wrench = None
        if topic and self._wrench is None:
            self._wrench = topic, self._node.create_subscription(
                WrenchStamped, topic, self._later(self._force), self._often)

    def _ask_to_go(self) -> None:
        self._posture.publish(JointTrajectory(
            joint_names=list(self._goal), points=[JointTrajectoryPoint(
                positions=[float(place) for place in self._goal.values()])]))

    def _publisher(self, topic: str, interface: str, deadline: float, timeout_s: float) -> str:
        """Return the name of the node that publishes on a topic."""
        while True:
            infos = [info for info in self._graph.publishers(topic)
                     if not self._graph.is_own(info) and info.topic_type == interface]
            if infos and all(info.node_name != UNNAMED for info in infos):
                break
            if time.monotonic() > deadline:
                raise LinkTimeoutError(
                    self._node.resolve_topic_name(topic),
                    f'an arm in the simulator that publishes {interface}', timeout_s,
                    self._graph.discovered(topic, {}), f'{_CELL}.')
            time.sleep(_LOOK_S)
        if len(infos) > 1:
            raise MeasurementError(
                f'{self._node.resolve_topic_name(topic)}: got {len(infos)} publishers, '
                f'{", ".join(sorted(info.node_name for info in infos))}, expected the simulator '
                f'alone: the controller would see two arms. Stop the others')
        return str(infos[0].node_name)

    def _await_joints(self, deadline: float, timeout_s: float) -> Joints:
        """Wait until joints and links tell where they are."""
        self._book.clear()
        self._driven_ns = 0
        while True:
            self.receive()
            if self._book.joints is not None and self._book.links:
                return self._book.joints
            if time.monotonic() > deadline:
                topic, what = (self._world.poses, 'the links ' + ', '.join(
                    self._world.links)) if self._book.joints is not None else (
                    self._world.joints, 'joints')
                raise LinkTimeoutError(
                    self._node.resolve_topic_name(topic),
                    f'{what} of the robot {self._world.robot!r}', timeout_s,
                    'none of that', f'{_CELL}.')
            time.sleep(_LOOK_S)


def _intents(trial: Trial) -> Iterator[tuple[Any, Intent | None]]:
    context = StimulusContext(trial.trial_id, trial.scenario.messages, None)
    for plugin in (*trial.harmless, *trial.hazard):
        yield plugin, plugin.intent(context)


def refuse_other_robot(ros: RobotBody, posture: str, listeners: Callable[[str], int]) -> None:
    """
    See that no arm stands where a base is to drive.

    :param posture: topic of the drives of an arm
    :param listeners: how many others listen to a topic
    :raises InputError: one does
    """
    commands = [one.topic for one in ros.commands]
    if kind_of(ros.robot).drives and listeners(posture) and not any(map(listeners, commands)):
        raise InputError(
            f'ros.robot.kind: got {ros.robot.kind}, expected arm: somebody listens to {posture}, '
            f'as the drives of an arm do, and nobody to {", ".join(commands)}. Start the hall '
            f'with its base: ros2 launch safety_scenarios gazebo.launch.py scene:=hall')
