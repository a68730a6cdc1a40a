# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the evaluator tells ROS tools while it runs: diagnostics, verdicts, events and markers.

None of it is for a robot. A node that commands the robot and listens to one of these topics would
be told what it must not know, or would stop because of a verdict: nothing is published there while
it is judged, and the preflight says so. The same where a scenario uses the topic itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import math
import time
from typing import Any

from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from rclpy import qos
from rclpy.duration import Duration as Span
from safety_scenarios.judging.monitoring import Level, Watch
from safety_scenarios.reports.live.feed import Output
from safety_scenarios.reports.live.picture import (
    event_fields,
    FRAME,
    Picture,
    printable,
    result_fields,
    Shape,
    shapes_of,
    summary_fields,
    to_text,
)
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.graph import full_node_name, Graph, UNNAMED
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import LatencyClass, Verdict
from safety_scenarios.trial.session import Beginning
from safety_scenarios.trial.summary import CampaignSummary, PreflightRow
from safety_scenarios.trial.trial import Trial
from std_msgs.msg import ColorRGBA, String
from visualization_msgs.msg import Marker, MarkerArray

_LONGEST = 300
"""Characters of a message that tools still show."""


class Diagnostics:
    """
    Publishes what has changed at once, and all of it once a second.

    :param publisher: of DiagnosticArray
    :param node_name: stands before each name
    :param hardware_id: the id of the monitor file
    """

    def __init__(self, publisher: Any, node_name: str, hardware_id: str) -> None:
        self._publisher = publisher
        self._node_name, self._hardware_id = node_name, hardware_id
        self._told: dict[str, Any] = {}

    def publish(self, statuses: Mapping[str, DiagnosticStatus], stamp_ns: int,
                everything: bool) -> bool:
        """Publish statuses; return whether the level of one has changed."""
        changed = [name for name, status in statuses.items()
                   if self._told.get(name) != status.level]
        self._told |= {name: statuses[name].level for name in changed}
        names = list(statuses) if everything else changed
        if names:
            message = DiagnosticArray(status=[statuses[name] for name in names])
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(
                stamp_ns, 1_000_000_000)
            self._publisher.publish(message)
        return bool(changed)

    def status(self, name: str, level: Level, message: str, **values: Any) -> DiagnosticStatus:
        """Return one status; what is None is left out."""
        return DiagnosticStatus(
            name=f'{self._node_name}: {name}', level=bytes([level]), message=message[:_LONGEST],
            hardware_id=self._hardware_id, values=[
                KeyValue(key=key, value=str(value)) for key, value in values.items()
                if value is not None])


def invariant_statuses(watch: Watch, places: Mapping[str, str],
                       diagnostics: Diagnostics) -> Iterator[tuple[str, DiagnosticStatus]]:
    """
    Yield the status of each invariant, and of what else was found.

    :param places: name of a check to the folder of its last finding
    """
    for name, known in watch.watched.items():
        found = known.finding
        yield name, diagnostics.status(
            name, known.level,
            f'{known.doubt}; {found.reason}' if known.doubt else found.reason,
            verdict=None if found.verdict is None else found.verdict.value,
            margin=None if found.margin is None else f'{found.margin:.4g}', unit=found.unit,
            severity=f'{found.severity:g}', violations=known.violations,
            record=places.get(name))


DIAGNOSTICS, VERDICT, EVENT, MARKERS = '/diagnostics', '~/verdict', '~/event', '~/markers'
PERIOD_S = 0.2
"""Between two pictures."""
_ALL_S = 1.0
"""Between two publications of all diagnostics (REP 107)."""
_KEPT = 200
"""Verdicts and events that who comes late still gets."""
_LIFETIME_S = 2
"""A marker whose publisher has died stays no longer."""
_ACKNOWLEDGED_S = 0.5
"""So long the last messages may take to arrive before their publishers are gone."""
_KINDS = {'cylinder': Marker.CYLINDER, 'box': Marker.CUBE, 'arrow': Marker.ARROW,
          'sphere': Marker.SPHERE, 'text': Marker.TEXT_VIEW_FACING}
_LEVELS = {Verdict.PASS: Level.OK, Verdict.INCONCLUSIVE: Level.WARN, Verdict.ERROR: Level.ERROR,
           Verdict.FAIL: Level.ERROR}


class LiveTopics(Output):
    """
    Publishes on four topics of a node.

    :param node: whose ``create_live_publisher`` makes the publishers
    :param clock: ROS time
    """

    def __init__(self, node: Any, clock: RosClock) -> None:
        self._node, self._clock, self._graph = node, clock, Graph(node)
        latched = qos.QoSProfile(depth=_KEPT, durability=qos.DurabilityPolicy.TRANSIENT_LOCAL)
        self._publishers = {
            DIAGNOSTICS: node.create_live_publisher(DiagnosticArray, DIAGNOSTICS, 10),
            VERDICT: node.create_live_publisher(String, VERDICT, latched),
            EVENT: node.create_live_publisher(String, EVENT, latched),
            MARKERS: node.create_live_publisher(MarkerArray, MARKERS, 10)}
        self._mute: Mapping[str, str] = {}
        self._diagnostics = Diagnostics(self._publishers[DIAGNOSTICS], node.get_name(), '')
        self._scenarios: Diagnostics | None = None
        self._statuses: dict[str, DiagnosticStatus] = {}
        self._drawn = set[tuple[str, int]]()
        self._all_s = 0.0
        self._is_changed = False
        self._planned = self._ended = 0
        self._verdicts: dict[str, int] = {}
        self._worst: Verdict | None = None
        self._latest: dict[str, Any] = {}

    def look(self, trial: Trial, judged: Iterable[tuple[str, Any]]) -> None:
        """
        Find out on which topics nothing may be published in a trial.

        :param judged: topic and publisher of every command, saying and answer
        """
        own = {known: self._node.resolve_topic_name(known) for known in self._publishers}
        used = {self._node.resolve_topic_name(topic) for topic in _topics(trial)}
        infos = [info for _, info in judged]
        names = {full_node_name(info) for info in infos if info.node_name != UNNAMED}
        processes = set(map(self._graph.processes.key, infos))
        mute = {}
        for known, full in own.items():
            listeners = [info for info in self._graph.subscribers_of(full)
                         if full_node_name(info) in names
                         or self._graph.processes.key(info) in processes]
            if full in used:
                mute[known] = (f'{full}: the scenario uses it, so that no diagnostics and no '
                               f'verdicts are published there')
            elif listeners:
                who = ', '.join(sorted(set(map(full_node_name, listeners))))
                mute[known] = (f'{full}: {who}, which is judged, listens there, so that nothing '
                               f'is published: it would receive what it must not know')
        self._mute = mute

    @property
    def rows(self) -> Sequence[PreflightRow]:
        """Return the topics that are left alone, and why."""
        return [PreflightRow(check='live topics', status='warn', detail=detail)
                for detail in self._mute.values()]

    def began(self, beginning: Beginning) -> None:
        """Say that nothing has ended yet."""
        self._planned = beginning.planned
        self._scenarios = Diagnostics(self._publishers[DIAGNOSTICS], self._node.get_name(),
                                      printable(beginning.controller.label, 200))
        self._publish_campaign()

    def happened(self, trial: Trial, event: Event, since_ns: int) -> None:
        self._publish(EVENT, String(data=to_text(event_fields(trial, event, since_ns))))

    def show(self, picture: Picture) -> None:
        """Publish the markers, and keep the numbers for the diagnostics."""
        if MARKERS not in self._mute and self._publishers[MARKERS].get_subscription_count():
            self._draw(tuple(shapes_of(picture)))
        trial = picture.trial
        self._set_status('trial', self._diagnostics.status(
            'trial', Level.OK, printable(f'{trial.scenario.id}: {picture.phase}'),
            phase=picture.phase,
            trial=trial.trial_id, scenario=trial.scenario.id,
            **{f'{name}': f'{value:.4f}' for name, value in (
                ('distance_m', picture.distance), ('required_m', picture.required),
                ('speed', picture.speed)) if value is not None}, **self._latest))

    def clear(self) -> None:
        """Take every marker away, those too that somebody else's crash has left."""
        self._drawn = set()
        self._publish(MARKERS, MarkerArray(markers=[Marker(action=Marker.DELETEALL)]))
        self._set_status('trial', self._diagnostics.status('trial', Level.OK, 'between trials',
                                                           **self._latest))

    def judged(self, result: TrialResult, ended: int, planned: int) -> None:
        """Publish a verdict, and what it means for its scenario."""
        said = result_fields(result, ended, planned)
        self._publish(VERDICT, String(data=to_text(said)))
        self._ended, self._planned = ended, planned
        if result.warmup:
            return self._publish_campaign()
        numbers = {key: f'{said[key]:.4f}' for key in ('latency_ms', 'uncertainty_ms', 'margin')
                   if said[key] is not None}
        self._latest = {key: value for key, value in numbers.items() if key != 'margin'}
        self._verdicts[result.verdict.value] = self._verdicts.get(result.verdict.value, 0) + 1
        self._worst = Verdict.worst([result.verdict, *([self._worst] if self._worst else [])])
        assert self._scenarios is not None
        self._set_status(result.scenario_id, self._scenarios.status(
            result.scenario_id, _level(result),
            printable(f'{result.verdict.value}: {result.reason}'),
            verdict=result.verdict.value, trial=result.trial_id, index=result.index + 1,
            latency_class=said['latency_class'], margin_unit=said['margin_unit'], **numbers))
        return self._publish_campaign()

    def turn(self, dropped: int) -> None:
        """Publish the diagnostics that have changed, and all of them once a second."""
        is_due = time.monotonic() - self._all_s >= _ALL_S
        if not (is_due or self._is_changed) or DIAGNOSTICS in self._mute or not self._statuses:
            return
        if is_due:
            self._all_s = time.monotonic()
            if dropped:
                self._publish_campaign(dropped)
        self._is_changed = False
        self._diagnostics.publish(self._statuses, self._clock.now_ns(), is_due)

    def ended(self, summary: CampaignSummary) -> None:
        """Publish what the campaign came to, as a last verdict."""
        self._publish(VERDICT, String(data=to_text(summary_fields(summary))))
        self._worst = summary.verdict
        self._publish_campaign()
        self._all_s = 0.0

    def close(self) -> None:
        """Let the last messages arrive; the node gives up the publishers."""
        self.turn(0)
        for publisher in self._publishers.values():
            publisher.wait_for_all_acked(Span(seconds=_ACKNOWLEDGED_S))

    def _draw(self, shapes: Sequence[Shape]) -> None:
        drawn, self._drawn = self._drawn, {(shape.group, shape.number) for shape in shapes}
        gone = [Marker(ns=group, id=number, action=Marker.DELETE)
                for group, number in sorted(drawn - self._drawn)]
        self._publish(MARKERS, MarkerArray(markers=[*gone, *map(_marker, shapes)]))

    def _publish_campaign(self, dropped: int = 0) -> None:
        counts = ', '.join(f'{count} {name}' for name, count in self._verdicts.items())
        self._set_status('campaign', self._diagnostics.status(
            'campaign', Level.OK if self._worst is None else _LEVELS[self._worst],
            f'{self._ended} of {self._planned} trials: {counts or "none yet"}',
            ended=self._ended, planned=self._planned, dropped=dropped,
            **{verdict.value: self._verdicts.get(verdict.value, 0) for verdict in Verdict}))

    def _set_status(self, name: str, status: DiagnosticStatus) -> None:
        before = self._statuses.get(name)
        self._is_changed |= before is None or before.level != status.level
        self._statuses[name] = status

    def _publish(self, known: str, message: Any) -> None:
        if known not in self._mute:
            self._publishers[known].publish(message)


def _level(result: TrialResult) -> Level:
    """Return OK for target and acceptable, WARN for critical and for what could not be told."""
    late = result.latency is not None and result.latency.latency_class is LatencyClass.CRITICAL
    return Level.WARN if result.verdict is Verdict.PASS and late else _LEVELS[result.verdict]


def _topics(trial: Trial) -> Iterator[str]:
    """Yield every topic that a trial publishes or judges."""
    yield from (plugin.topic for plugin in (*trial.nominal, *trial.hazard))
    ros = trial.scenario.body
    if isinstance(ros, RobotBody):
        yield from (known.topic for known in ros.commands)
        yield from (signal.topic for signal in ros.signals.values())


def _marker(shape: Shape) -> Marker:
    """Return a shape as a marker at the robot's latest place, which stamp 0 stands for."""
    marker = Marker(
        ns=shape.group, id=shape.number, type=_KINDS[shape.kind], action=Marker.ADD,
        pose=Pose(position=Point(x=shape.x, y=shape.y, z=shape.z),
                  orientation=Quaternion(z=math.sin(shape.heading / 2),
                                         w=math.cos(shape.heading / 2))),
        scale=Vector3(x=shape.size[0], y=shape.size[1], z=shape.size[2]),
        color=ColorRGBA(r=shape.colour[0], g=shape.colour[1], b=shape.colour[2],
                        a=shape.colour[3]),
        lifetime=Duration(sec=_LIFETIME_S), frame_locked=True, text=shape.text)
    marker.header.frame_id = FRAME
    return marker
