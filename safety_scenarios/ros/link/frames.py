# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Frames that stimuli name and nobody else publishes, on ``/tf_static`` (REP 105).

All of it happens between trials: the robot's own frames are listened to for a second before a
scenario's first trial, and nobody listens or publishes while one is running.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
import time
from typing import Any

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.convert import from_ros, interface_class, to_ros
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.frames import frames_in, frames_message, STATIC, TF
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.scenario.world import BASE, MountedFrame
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import Trial

MOVING = '/tf'
_LISTEN_S = 1.0
"""A latched message comes as soon as its publisher is found; a moving frame comes at 10 Hz."""
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
_MISSING = ('tf2_msgs is not installed here, so that {} cannot be looked up or published: a '
            'controller that transforms its input drops it, unless the robot publishes it. '
            'Install it with ROS, for example apt install ros-$ROS_DISTRO-tf2-msgs: no wheel of '
            'it exists')


class Frames:
    """
    Publishes what is missing, and leaves alone what the robot publishes.

    :param node: a spinning node, whose callbacks run in another thread
    :param clock: ROS time
    :param is_wanted: whether there may be a robot whose frames are published at all
    """

    def __init__(self, node: Node, clock: RosClock, is_wanted: bool) -> None:
        self._node, self._clock, self._is_wanted = node, clock, is_wanted
        self._publisher: Any = None
        self._published: dict[str, MountedFrame] = {}
        self._looked_for = ''
        self._robots: set[str] = set()
        """Frames that others published when it was looked last."""
        self.rows: Sequence[PreflightRow] = ()

    def announce(self, trial: Trial) -> None:
        """
        Look for the frames of a scenario, once before each is named first, and publish the rest.

        Ours are published anew each time, because a frame that the robot has begun to publish
        meanwhile is its own.
        """
        if not self._is_wanted:
            return
        body, named = trial.scenario.body, named_frames(trial)
        declared = {known.frame: known for known in body.mounted_frames}
        is_known = all(name in self._robots or self._published.get(name) == declared.get(
            name, MountedFrame(frame=name)) for name in named)
        if self._looked_for == trial.scenario.id and is_known:
            return
        self._looked_for = trial.scenario.id
        if not named:
            self.rows = ()
            return
        try:
            kind = interface_class(TF)
        except Exception:  # not installed here, however that shows
            self.rows = (_row('warn', _MISSING.format(', '.join(sorted(named)))),) \
                if is_listened_to(self._node) else ()
            return
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
            self._publisher = None
        robots = self._robots = self._published_frames(kind)
        is_base = isinstance(body, RobotBody) and kind_of(body.robot).drives
        scanners = {scanner.frame for plugin in body.published
                    if (scanner := getattr(plugin, 'scanner', None)) is not None}
        chosen, self.rows = missing_frames(named, robots, declared, is_base, scanners)
        self._published = {name: known for name, known in (self._published | chosen).items()
                           if name not in robots}
        if self._published:
            self._publisher = self._node.create_publisher(kind, STATIC, LATCHED)
            self._publisher.publish(to_ros(frames_message(
                self._published.values(), self._clock.now_ns())))

    def _published_frames(self, kind: Any) -> set[str]:
        """Return the frames that others publish."""
        heard: set[str] = set()

        def receive(message: Any) -> None:
            heard.update(known.child_frame_id for known in message.transforms)

        subscriptions = [self._node.create_subscription(kind, topic, receive, profile)
                         for topic, profile in ((STATIC, LATCHED), (MOVING, 100))]
        time.sleep(_LISTEN_S)
        for subscription in subscriptions:
            self._node.destroy_subscription(subscription)
        return set(heard)


def is_listened_to(node: Node) -> bool:
    """Return whether a node subscribes to transforms."""
    return any(map(node.count_subscribers, (MOVING, STATIC)))


def static_frames(node: Node) -> Sequence[MountedFrame]:
    """
    Return the places of frames that are on ``/tf_static``; takes a second.

    Nothing where nobody publishes there, or tf2_msgs is not installed here.
    """
    try:
        kind = interface_class(TF)
    except Exception:  # not installed here, however that shows
        return ()
    heard: dict[str, MountedFrame] = {}
    subscription = node.create_subscription(kind, STATIC, lambda message: heard.update(
        {known.frame: known for known in frames_in(from_ros(message))}), LATCHED)
    time.sleep(_LISTEN_S)
    node.destroy_subscription(subscription)
    return tuple(heard.values())


def unreadable() -> str:
    """Return why ``/tf_static`` cannot be read here; empty if it can."""
    try:
        interface_class(TF)
    except Exception:  # not installed here, however that shows
        return '. The package tf2_msgs is not installed here, so that /tf_static cannot be read'
    return ''


def named_frames(trial: Trial) -> set[str]:
    """Return the frames that the headers of a trial's stimuli name, but the robot's own."""
    found = set()
    context = StimulusContext(trial.trial_id, trial.scenario.messages, None)
    for plugin in (*trial.nominal, *(() if trial.is_observed else trial.hazard)):
        if plugin.interface() is None:
            continue
        stimulus = plugin.at(0, 0, context)
        datas = [getattr(plugin, 'then', None), stimulus.message.data if stimulus else None]
        for data in datas:
            header = data.get('header') if isinstance(data, Mapping) else None
            if isinstance(header, Mapping):
                found.add(str(header.get('frame_id', '')))
    return found - {'', BASE}


def missing_frames(named: set[str], robots: set[str], declared: Mapping[str, MountedFrame],
                   is_base: bool, scanners: Set[str] = frozenset(),
                   ) -> tuple[dict[str, MountedFrame], Sequence[PreflightRow]]:
    """
    Return what is to be published of the frames that stimuli name, and what was found of each.

    :param named: by stimuli
    :param robots: that others publish
    :param declared: in the scenario, by name
    :param is_base: the robot is a base, on which a frame without a place may be at the origin;
        that of an arm's tool moves, and a guess would be wrong
    :param scanners: frames of scanners, whose scans show everything as seen from there
    """
    chosen: dict[str, MountedFrame] = {}
    rows: list[PreflightRow] = []
    for name in sorted(named):
        if name in robots:
            rows.append(_row('ok', f'{name}: the robot publishes it, so that nothing is added'))
            continue
        if name not in declared and not is_base:
            rows.append(_row('warn', f'{name}: it has no publisher, and its place on an arm '
                                     f'cannot be guessed. Declare it under ros.frames'))
            continue
        for known in (*_chain(name, declared, robots), *(
                _chain(BASE, declared, robots) if {BASE} & declared.keys() - robots else ())):
            chosen[known.frame] = known
        mounted = chosen[name]
        where = ', '.join(f'{value:g}' for value in mounted.translation)
        told = (f'{name}: published on {STATIC}, at ({where}) m in {mounted.parent}'
                + ('' if name in declared else ', as the scenario declares no other'))
        is_aside = mounted.is_aside and name not in scanners
        rows.append(_row('warn' if is_aside else 'ok', told + (
            f'; the distances in the scenario are read in {name}, so that they are others in '
            f'{mounted.parent}' if is_aside else '')))
    return chosen, rows


def _chain(name: str, declared: Mapping[str, MountedFrame], robots: set[str]) -> \
        Iterator[MountedFrame]:
    """Yield a frame and those of its declared parents that nobody publishes."""
    yield declared[name] if name in declared else MountedFrame(frame=name)
    seen = {name}
    while name in declared and (name := declared[name].parent) not in (*robots, *seen):
        seen.add(name)
        if name in declared:
            yield declared[name]


def _row(status: Any, detail: str) -> PreflightRow:
    return PreflightRow(check='frames', status=status, detail=detail)
