# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A world of another simulator, moved by its entity services and told by its poses."""

from collections.abc import Collection, Iterator, Mapping, Sequence
import time

from rclpy.node import Node
from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.worlds.external.arm import ArmInWorld, refuse_other_robot, WRENCH
from safety_scenarios.ros.worlds.external.bodies import BodyPath, fall_of, models_of, refuse_scene
from safety_scenarios.ros.worlds.external.mover import Mover
from safety_scenarios.ros.worlds.external.scenery import Scene
from safety_scenarios.ros.worlds.external.sensors import misread, Relayed, SCAN, Sensors
from safety_scenarios.ros.worlds.external.stage import missing, Stage
from safety_scenarios.ros.worlds.external.stepping import Stepping
from safety_scenarios.ros.worlds.external.truth import Disturbed, TrackedBody, Truth
from safety_scenarios.ros.worlds.simulator_link.control import Ready, Stepped
from safety_scenarios.ros.worlds.simulator_link.protocol import WorldState
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.stimulus import (
    ContactForce,
    Intent,
    JointsAt,
    Silence,
    StimulusContext,
    StreamFault,
)
from safety_scenarios.scenario.world import WorldBlock, WorldSettings
from safety_scenarios.scenario.world_body import disc, Placed, read_footprint
from safety_scenarios.trial.trial import Trial
from std_msgs.msg import Bool


def bodies_of_trial(trial: Trial) -> dict[tuple[bool, str], list[TrackedBody]]:
    """
    Return what the intents of a trial put there; equal ones put it there once.

    :return: by whether it belongs to the hazard, and the intent as JSON
    """
    context = StimulusContext(trial.trial_id, trial.scenario.messages, None)
    intents: dict[tuple[bool, str], tuple[Intent, bool]] = {}
    for hazard, plugins in ((False, trial.harmless), (True, trial.hazard)):
        for plugin in plugins:
            intent = plugin.intent(context)
            if intent is not None:
                key = hazard, intent.model_dump_json()
                was_seen = intents[key][1] if key in intents else False
                intents[key] = intent, was_seen or plugin.interface() == SCAN
    found: dict[tuple[bool, str], list[TrackedBody]] = {}
    for key, (intent, is_seen) in intents.items():
        bodies = [TrackedBody('', model, BodyPath(body, is_kept=not key[0]),
                              is_glass=body.is_glass and is_seen, fall=fall_of(body, is_seen))
                  for body, model in zip(intent.bodies(), models_of(intent, is_seen),
                                         strict=True)]
        if bodies:
            found[key] = bodies
    return found


def failures_of_trial(trial: Trial, topics: Collection[str]) -> set[str]:
    """
    Return the topics of sensors of the world that are to fail.

    :param topics: those that the world publishes
    """
    context = StimulusContext(trial.trial_id, trial.scenario.messages, None)
    return {plugin.topic for plugin in (*trial.harmless, *trial.hazard) if plugin.topic in topics
            and isinstance(plugin.intent(context), StreamFault | Silence)}


_MOVE_NS = 50_000_000
"""Bodies are moved 20 times a second, in simulated time."""
_LATE_NS = 250_000_000
"""What appears later than this after it was asked for came too late to be judged."""
_THERE_M = 0.3
"""Who moves is there when a pose is this near to where it was put."""
_OFF_M = 0.3
"""A scanner that returns nothing within the gap to a body, the robot's radius and this does not
show it: noise, a mount beyond the outline, and the way of a robot between two scans."""
_SILENT_S = 0.8
"""A simulator that tells nothing for so long has ended: /clock counts as dead a little later."""
_SETTLE_S = 1.0
"""Endpoints that see each other may need so long until messages pass."""


class EntityControl:
    """
    What ``WorldControl`` asks for, by the services of a mover.

    :param node: a spinning node, whose callbacks run in another thread
    :param clock: simulated time
    :param world: names, sizes and patience
    :param factor: simulated seconds in a real one that the world is expected to make
    :param timeout_s: how long to wait for the simulator to be there
    :param stepping: lets time pass in lock-step; None: the world goes at its own pace
    """

    def __init__(self, node: Node, clock: RosClock, mover: Mover, world: WorldSettings,
                 factor: float, timeout_s: float, stepping: Stepping | None = None) -> None:
        self._stepping = stepping
        self._node, self._clock, self._mover, self._world = node, clock, mover, world
        self._factor, self._timeout_s = factor, timeout_s
        self.name, self.charges = mover.name, False
        self._stage, self._sensors = Stage(mover, world), Sensors(node, clock.now_ns)
        self._relayed = Relayed(node, clock.now_ns, timeout_s)
        self._disturbed = Disturbed(mover.book, world.robot)
        self._drive = node.create_publisher(Bool, world.drive_enable, qos.conversation()) \
            if world.drive_enable else None
        self._arms: ArmInWorld | None = None
        self._arm: ArmInWorld | None = None
        self._trial: Trial | None = None
        self._truth: Truth | None = None
        self._scene: Scene | None = None
        self._known: dict[tuple[bool, str], list[TrackedBody]] = {}
        self._shown: dict[str, list[TrackedBody]] = {}
        self._topics: frozenset[str] = frozenset()
        self._moved_ns = 0
        self._heard = (0, 0.0)

    def forget(self) -> None:
        """Expect another process from now on."""
        self._mover.book.clear()

    def reset(self, trial: Trial) -> Ready:
        """Get ready for a trial: the robot stands at its start, and what will be shown waits."""
        self._trial = self._truth = None
        ros = trial.scenario.robot_body  # whoever has none is refused before
        refuse_scene(ros, has_arms=self._mover.tells_links)
        outline = self._world.footprint
        self._footprint = read_footprint(outline) if outline else disc(ros.robot.footprint)
        self._block = ros.world or WorldBlock()
        start = self._block.start.x, self._block.start.y, self._block.start.heading
        self._scene = scene = Scene(self._stage, self._mover, self._disturbed, self._footprint,
                                    self._block, start)
        self._known, self._shown = bodies_of_trial(trial), {}
        found = self._all()
        bodies = [*(one.body for one in found), *scene.extend(found)]
        deadline = time.monotonic() + self._timeout_s
        self._mover.await_services(deadline, steps=self._stepping is not None)
        refuse_other_robot(ros, self._world.posture, self._sensors.listeners)
        self._stage.ask(self._mover.run(is_running=True))
        self._stage.await_robot(deadline, self._timeout_s)
        self._relayed.clear()
        self._drives(is_enabled=False)
        self._topics = self._sensors.prepare(trial, deadline, self._timeout_s)
        nodes = self._sensors.nodes | self._prepare_arm(trial, deadline)
        self._relayed.prepare(failures_of_trial(trial, self._topics))
        names = self._stage.furnish(bodies)
        for one, name in zip(found, names, strict=False):
            one.name = name
        scene.name(names[len(found):])
        if self._arm is None:
            self._stage.place_robot(start)
        else:
            self._stage.refuse_elsewhere(start)
            self._arm.place()
        self._trial = trial  # from here on there is something to be taken away
        self._relayed.misread(misread(trial, self._topics), self._block.senses, trial.seed)
        scene.place_entities(self._clock.now_ns())
        self._sensors.await_messages(self._topics, self._timeout_s)
        if self._arm is not None:
            self._stage.ask(self._mover.run(is_running=False))  # nobody commands while it waits
        return Ready(self._topics, self._factor, lockstep=self._stepping is not None,
                     nodes=nodes, stands=False)

    def observed_until_ns(self, heard: int) -> int:
        """
        Take in what has come; return up to when everything is told and done (ns).

        :param heard: how many commands we have heard, which the drives of an arm have to, too
        """
        self._mover.receive()
        last_ns = self._mover.book.last_ns
        return last_ns if self._arm is None else min(last_ns, self._arm.observed_until_ns(heard))

    def await_others(self, deadline: float) -> None:
        """Wait until the controller hears the world, and the robot hears the controller."""
        assert self._trial is not None
        self._sensors.await_listeners(self._trial, self._topics, deadline, self._timeout_s)
        if self._arm is not None and self._stepping is None:
            self._stage.let_time_pass(self._clock.now_ns)

    def begin(self, is_new: bool) -> int:
        """Let the robot drive; return the time of the world (ns)."""
        if is_new and (self._arm is None or self._stepping is not None):
            time.sleep(_SETTLE_S)
        self._stage.check()
        self._stage.await_poses(one.name for one in self._all() if one.topics)
        now_ns = self._clock.now_ns() if self._stepping is None or self._trial is None \
            else self._stepping.begin(self._trial.scenario.body.commands)
        self._truth = Truth(self._mover.book, self._world.robot, self._footprint,
                            self._block, now_ns, self._mover.feels,
                            None if self._arm is None else self._arm.truth)
        if self._arm is not None:
            self._arm.begin(now_ns)
        tuple(self._mover.felt())
        self._disturbed.begin(now_ns)
        assert self._scene is not None  # as the world was reset
        self._scene.begin(now_ns)
        self._sensors.begin()
        self._moved_ns = now_ns
        self._heard = self._mover.book.last_ns, time.monotonic()
        self._drives(is_enabled=True)
        return now_ns

    def apply(self, topic: str, intent: Intent, hazard: bool) -> int | None:
        """Return the time right before it was asked for (ns); None: it cannot be shown there."""
        now_ns, scene = self._clock.now_ns(), self._scene
        if hazard and scene is not None:
            scene.hazard_comes(now_ns, lambda: self._robot(now_ns))
        if isinstance(intent, StreamFault | Silence):
            return self._relayed.fail(topic, intent) if topic in self._topics else None
        if self._arm is not None and isinstance(intent, ContactForce | JointsAt):
            return now_ns if self._arm.apply(topic, intent, hazard, now_ns) else None
        found = self._known.get((hazard, intent.model_dump_json()))
        if found is None or topic not in self._topics or scene is None:
            return None
        robot = self._robot(now_ns)
        assert self._truth is not None  # it has told where the robot is
        self._take_away(topic)
        for one in found:
            if not one.topics:
                one.asked_ns, one.since_ns, one.told, one.is_seen = now_ns, None, None, False
                place = one.course.begin(robot, now_ns)
                scene.appears(one, now_ns, robot)
                apart = self._truth.apart(one.body.footprint, robot, place)
                if apart < 0:
                    raise MeasurementError(
                        f'the world: got what appears on {topic} {-apart:.2f} m inside the robot, '
                        f'expected it beside the robot. Let it appear farther away than both are '
                        f'wide')
                self._stage.ask(self._mover.put(one.name, place))
                self._disturbed.put(one.name, place, is_new=True)
            one.topics.add(self._reported_name(topic, one, found))
        self._shown[topic] = found
        return now_ns

    def withdraw(self, topic: str) -> None:
        """Take back what was applied on a topic."""
        self._relayed.clear(topic)
        self._take_away(topic)
        if self._arm is not None:
            self._arm.withdraw(topic)

    def step(self, step_ns: int, sent: Mapping[str, int]) -> Stepped:
        """
        Let this much time pass and no more.

        :raises MeasurementError: the simulator was not asked for lock-step, or does not do it
        """
        if self._stepping is None:
            raise MeasurementError('step: this world runs at its own pace')
        return Stepped(*self._stepping.step(step_ns))

    def until(self, now_ns: int) -> None:
        """Go on: such a world does not wait for anybody."""

    def pause(self) -> None:
        """Let no time pass."""
        self._stage.ask(self._mover.run(is_running=False))

    def end(self) -> None:
        """Let the robot stand and everything wait far away; nobody waits for that."""
        if self._trial is None:
            return
        self._drives(is_enabled=False)
        if self._arm is not None:
            self._arm.end()
        for one in self._all():
            if one.topics:
                one.topics.clear()
                self._stage.park(one.name)
        if self._scene is not None:
            self._scene.hide()
        self._shown.clear()
        self._trial = self._truth = None
        if self._stepping is not None:
            self._stepping.end()
        self._relayed.end()

    def take(self) -> Iterator[WorldState]:
        """
        Yield what has become true since asked before; and move what moves.

        :raises MeasurementError: something does not do what it was asked to
        """
        trial, truth = self._trial, self._truth
        if trial is None or truth is None:
            return
        self._stage.check()
        if self._stepping is None:  # else each step sees to it
            self._check_reports()
        now_ns = self._clock.now_ns()
        for name in self._mover.felt():
            if name:
                self._stage.spent.add(name)
            truth.feel(name)
        self._confirm(now_ns)
        assert self._scene is not None  # as a trial is on
        self._scene.let_fall(now_ns)
        self._disturbed.check((*self._scene.there(), *(
            (one.name, one.since_ns) for one in self._all()
            if one.topics and one.since_ns is not None)))
        self._move(now_ns, truth)
        self._track()
        self._look()
        sensed = tuple(self._sensors.readings())
        if sensed:
            yield WorldState.model_construct(trial=trial.trial_id, now_ns=now_ns, states={},
                                             sensed=sensed, reported=())
        if self._arm is not None:
            yield from self._arm.readings(trial.trial_id, now_ns)
        for stamp_ns, states in truth.new_states({one.name: one for one in self._all()}):
            yield WorldState.model_construct(trial=trial.trial_id, now_ns=stamp_ns, states=states,
                                             sensed=(), reported=())

    def close(self) -> None:
        """Give up the endpoints."""
        self._sensors.close()
        self._relayed.close()
        if self._stepping is not None:
            self._stepping.close()
        if self._arms is not None:
            self._arms.close()
        self._mover.close()
        if self._drive is not None:
            self._node.destroy_publisher(self._drive)

    def _prepare_arm(self, trial: Trial, deadline: float) -> frozenset[str]:
        """Get hold of the arm, if the scenario has one; return the nodes that tell of it."""
        ros = trial.scenario.body
        self._arm = None
        if not isinstance(ros, RobotBody) or not kind_of(ros.robot).has_joints:
            return frozenset()
        if self._arms is None:
            self._arms = ArmInWorld(self._node, self._world, self._clock.now_ns)
        self._arm = self._arms
        told = self._arm.prepare(trial, deadline, self._timeout_s)
        self._topics |= told.keys()
        for topic in told.keys() - {self._world.joint_states}:
            self._sensors.listen(topic, WRENCH)
        return frozenset(told.values())

    def _all(self) -> list[TrackedBody]:
        scenery = () if self._scene is None else self._scene.scenery
        return [*scenery, *(one for found in self._known.values() for one in found)]

    def _take_away(self, topic: str) -> None:
        found = self._shown.pop(topic, ())
        gone = []
        for one in found:
            name = self._reported_name(topic, one, found)
            one.topics.discard(name)
            gone.append(name)
            if not one.topics:
                self._stage.park(one.name)
                if self._scene is not None:
                    self._scene.leaves(one)
        if self._truth is not None:
            self._truth.leave(gone, self._clock.now_ns())

    @staticmethod
    def _reported_name(topic: str, one: TrackedBody, found: Sequence[TrackedBody]) -> str:
        place = next(place for place, other in enumerate(found) if other is one)
        return topic if place == 0 else f'{topic}#{place + 1}'

    def _robot(self, now_ns: int) -> Placed:
        self._mover.receive()
        if self._arm is not None:
            self._arm.receive()
        place = None if self._truth is None else self._truth.robot(now_ns)
        if place is None or not self._mover.book.is_there(self._world.robot):
            raise MeasurementError(
                f'{self._world.poses}: the robot no longer publishes its position')
        return place

    def _check_reports(self) -> None:
        """See that the simulator still tells where things are."""
        last_ns, now = self._mover.book.last_ns, time.monotonic()
        if last_ns != self._heard[0]:
            self._heard = last_ns, now
        elif now - self._heard[1] > _SILENT_S:
            raise MeasurementError(
                f'{self._world.poses}: the simulator has sent no message for {_SILENT_S:g} s. '
                f'Has it ended, or been paused? Start it again: the next trial waits for it')

    def _confirm(self, now_ns: int) -> None:
        """See that what was put somewhere is there, and soon."""
        late: dict[str, Placed] = {}
        for one in self._all():
            if not one.topics or one.since_ns is not None:
                continue
            wanted = one.course.place
            for stamp_ns in self._mover.book.stamps_after(one.name, one.asked_ns):
                place = self._mover.book.at(one.name, stamp_ns)
                if place is not None and max(abs(place[0] - wanted[0]),
                                             abs(place[1] - wanted[1])) <= _THERE_M:
                    one.since_ns = stamp_ns
                    break
            took_ns = (one.since_ns or now_ns) - one.asked_ns
            if took_ns > (_LATE_NS if one.since_ns else self._world.patience_s * 1e9):
                if one.since_ns:
                    raise MeasurementError(
                        f'the model {one.name!r}: it appeared {took_ns / 1e6:.0f} ms of simulated '
                        f'time after it was asked to, expected at most {_LATE_NS / 1e6:.0f} ms: a '
                        f'latency would begin too early. Lower the load of the host')
                late[one.name] = wanted
        if late:
            raise MeasurementError(missing(self._world, late))

    def _move(self, now_ns: int, truth: Truth) -> None:
        """Move whoever goes a way, if it is time to."""
        if now_ns - self._moved_ns < _MOVE_NS or self._stage.is_behind:
            return
        scene = self._scene
        moving = [one for one in self._all() if one.topics and one.course.moves]
        if scene is None or not (moving or scene.has_glass):
            return
        self._moved_ns = now_ns - (now_ns - self._moved_ns) % _MOVE_NS
        robot = self._robot(now_ns)
        for one in moving:
            before = one.course.place
            place = one.course.go_on(robot, now_ns, lambda there, one=one:  # type: ignore
                                     truth.apart(one.body.footprint, robot, there) > 0.0
                                     and scene.is_free(one, there))
            if place != before:
                self._stage.ask(self._mover.put(one.name, place))
                self._disturbed.put(one.name, place)
        scene.move(now_ns, robot)

    def _look(self) -> None:
        """Note what the sensors have shown by now."""
        for topic, found in self._shown.items():
            for one in found:
                if not one.is_seen and one.since_ns is not None and one.told is not None:
                    one.is_seen = self._sensors.shows(
                        topic, one.since_ns, one.told[1] + self._footprint.radius + _OFF_M)

    def _track(self) -> None:
        """Let trackers see whom they are to see."""
        last = self._mover.book.last(self._world.robot)
        if last is None:
            return
        stamp_ns, robot = last
        people: dict[str, Placed] = {}
        for topic, found in self._shown.items():
            near = [(one.course.distance(place[1], robot), place[1]) for one in found
                    if one.body.is_tracked and one.since_ns is not None
                    and (place := self._mover.book.last(one.name)) is not None]
            if near:
                people[topic] = min(near)[1]
        self._sensors.track(robot, stamp_ns, people)

    def _drives(self, *, is_enabled: bool) -> None:
        if self._drive is not None:
            self._drive.publish(Bool(data=is_enabled))
