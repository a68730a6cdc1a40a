# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A campaign over DDS: domain, node, clock, calibration, and a link for each scenario."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, ExitStack
from importlib.util import find_spec
import os
from pathlib import Path
import secrets
from typing import Any

from rclpy.node import Node
from rclpy.utilities import get_rmw_implementation_identifier
from safety_scenarios.campaign.connect import ros_names
from safety_scenarios.controllers.making import brake_lag
from safety_scenarios.errors import MissingDependencyError, SettingsError
from safety_scenarios.reports.live.feed import Feed
from safety_scenarios.ros.calibration import calibrate_over_ros
from safety_scenarios.ros.clocks.clock import RosClock
from safety_scenarios.ros.controller_process import (
    alarm_of,
    ChildProcess,
    controller_process,
    simulator_process,
)
from safety_scenarios.ros.domain import chosen_domain
from safety_scenarios.ros.graph.witness import Witness
from safety_scenarios.ros.hil.hardware import Hardware, hardware
from safety_scenarios.ros.link.frames import Frames
from safety_scenarios.ros.link.link import RosLink
from safety_scenarios.ros.link.publishing import LiveTopics, PERIOD_S, wants_topics
from safety_scenarios.ros.measuring_node import MeasuringNode
from safety_scenarios.ros.messages.definitions import definition
from safety_scenarios.ros.rosout import RosoutReport
from safety_scenarios.ros.shared_memory import remove_segments
from safety_scenarios.ros.simulator_settings import SimulatorSettings
from safety_scenarios.ros.spinning import ros_context, Spin, spinning
from safety_scenarios.ros.undisturbed import undisturbed
from safety_scenarios.ros.worlds.external.connect import external_control
from safety_scenarios.ros.worlds.simulator_link.control import TopicControl, WorldControl
from safety_scenarios.ros.worlds.simulator_link.link import WorldLink
from safety_scenarios.scenario.blocks.agents import ros_token
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.measuring import Calibration, Measuring, METHODS, UNCALIBRATED_MS
from safety_scenarios.scenario.merge_rule import read_merges
from safety_scenarios.scenario.qos_override import read_overrides
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import ControllerSettings, EXTERNAL, RunSettings
from safety_scenarios.scenario.simulated_robot import simulated_robot, SimulatedRobot, to_json
from safety_scenarios.trial.file_name import log_name
from safety_scenarios.trial.identity import NodeFacts
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.links.controller_settings import controller_settings
from safety_scenarios.trial.links.named_controller import named_controller
from safety_scenarios.trial.session import LinkPlugin, Session

_AWAKE_S = 30.0
"""A simulator of ours that lives may take that long to start on a busy host."""


class OverRos(LinkPlugin):
    """Reaches the controller over DDS: our own child in a free domain, or one that runs."""

    def session(self, stack: ExitStack) -> Session:
        """
        Join the domain, and return how to open a link for each scenario.

        :raises SettingsError: wrong domain, namespace or remapping, or no simulated time to
            schedule by
        :raises UnknownPluginError: no controller has the name
        """
        settings = _of_a_world(self.settings)
        if settings.schedule_clock == 'ros' and not settings.use_sim_time:
            raise SettingsError('schedule_clock: got ros without use_sim_time, expected both: ROS '
                                'time is the system clock then, which may be set at any time')
        if settings.controller != EXTERNAL:
            named_controller(settings.controller)
        segments: set[str] = set()
        scheduling = stack.enter_context(undisturbed(settings.realtime))
        stack.callback(remove_segments, segments)
        domain_id = stack.enter_context(
            chosen_domain(settings.domain_id, EXTERNAL in (settings.controller, settings.world)))
        context = stack.enter_context(
            ros_context(['--ros-args', *ros_names(settings)], domain_id))
        node = MeasuringNode(settings.node_name, context, settings)
        spin = stack.enter_context(spinning(node))
        clock = RosClock()
        if settings.use_sim_time:
            stack.enter_context(clock.running(
                Node(f'{settings.node_name}_clock', context=context)))
        robot = stack.enter_context(hardware(settings, context, node, self.folder)) \
            if settings.hil.enabled else None
        live = LiveTopics(node, clock) if wants_topics(settings) else None
        feeds = [] if live is None else [stack.enter_context(Feed(live, PERIOD_S))]
        opener = _Opener(node, spin, clock, settings, domain_id, self.folder, segments, robot,
                         live)
        stack.callback(opener.close)
        return Session(opener, f'ROS domain {domain_id}', _ros(domain_id),
                       lambda: opener.calibrate(scheduling), definition, opener.nodes,
                       (RosoutReport(node), *feeds))


def _of_a_world(settings: RunSettings) -> RunSettings:
    """
    Return settings whose time is that of the simulator, if there is one.

    :raises MissingDependencyError: MuJoCo is not installed
    """
    if settings.world == 'none':
        return settings
    if settings.world == 'mujoco' and find_spec('mujoco') is None:
        raise MissingDependencyError('the embedded world', 'mujoco',
                                     "pip install 'safety_scenarios[sim]'")
    return settings.model_copy(update={'use_sim_time': True, 'schedule_clock': 'ros'})


def _ros(domain_id: int) -> dict[str, Any]:
    return {'domain_id': domain_id, 'distro': os.environ.get('ROS_DISTRO'),
            'rmw': get_rmw_implementation_identifier(),
            'discovery': os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE')}


class _Opener:
    """Opens the link for one scenario: a controller process, unless one runs already."""

    def __init__(self, node: Node, spin: Spin, clock: RosClock, settings: RunSettings,
                 domain_id: int, folder: Path, segments: set[str],
                 hardware: Hardware | None = None, live: LiveTopics | None = None) -> None:
        self._live = live
        self._node = node
        self._spin = spin
        self._clock = clock
        self._settings = settings
        self._domain_id = domain_id
        self._folder = folder
        self._segments = segments
        self._hardware = hardware
        self._uncertainty_ms: Mapping[str, float] = dict.fromkeys(METHODS, UNCALIBRATED_MS)
        self._floor_ms: Mapping[str, float] = {}
        self._wake_ups_ms: Mapping[str, float] | None = None
        self._busy_ms = 0.0
        self._trials: set[str] = set()
        self._simulator = simulator_process(
            SimulatorSettings(real_time_factor=settings.real_time_factor,
                              lockstep=settings.clock.lockstep, step_ms=settings.period_ms),
            domain_id, list(ros_names(settings)), folder / 'logs' / 'simulator.log', segments) \
            if settings.world == 'mujoco' else None
        self._witness = Witness(node)
        self._frames = Frames(node, clock, settings.static_transforms == 'auto'
                              and settings.controller == EXTERNAL
                              and self._may_publish_frames)

    @property
    def _may_publish_frames(self) -> bool:
        hil = self._settings.hil
        return not hil.enabled or '/tf_static' in hil.publishes

    def nodes(self) -> tuple[Sequence[NodeFacts], Sequence[str]]:
        """Return what external nodes said of themselves."""
        return self._witness.told()

    def close(self) -> None:
        """End the simulator, which lives as long as the campaign."""
        if self._simulator is not None:
            self._simulator.stop()

    def calibrate(self, scheduling: str) -> Calibration | None:
        """Measure the harness itself; what comes out judges every later trial."""
        form = self._settings.calibration
        if form == 'off':
            return None
        token = f'c{secrets.token_hex(4)}'
        own = [part for end in ('probe', 'answer')
               for part in ('-r', f'calibration/{end}:=calibration/{token}/{end}')]
        process = ChildProcess('the responder', 'responder_node', self._domain_id,
                               [*ros_names(self._settings), *own],
                               self._folder / 'logs' / 'calibration.log', self._segments)
        found = calibrate_over_ros(self._node, self._spin, form, process, token,
                                   self._settings.connect_timeout_s,
                                   {**_ros(self._domain_id), 'scheduling': scheduling})
        self._uncertainty_ms = found.uncertainty_ms
        self._wake_ups_ms, self._busy_ms = found.wake_ups_ms, found.busy_ms
        if 'fastrtps' not in get_rmw_implementation_identifier():  # it may stamp only when taken
            self._uncertainty_ms = {**found.uncertainty_ms, 'received': max(
                UNCALIBRATED_MS, found.uncertainty_ms.get('received', 0.0))}
        self._floor_ms = {method: errors[0].value for known in found.delays
                          if not known.delay_ms for method, errors in known.error_ms.items()
                          if errors[0].value is not None}
        return found

    @contextmanager
    def __call__(self, scenario: Scenario) -> Iterator[Link]:
        settings = self._settings
        is_in_world = settings.world != 'none'
        measuring = Measuring(rules=settings.clock, sim_time=settings.use_sim_time,
                              schedule_clock=settings.schedule_clock,
                              uncertainty_ms=dict(self._uncertainty_ms),
                              floor_ms=dict(self._floor_ms), wake_ups_ms=self._wake_ups_ms,
                              busy_ms=self._busy_ms)
        robot = None if is_in_world else self._simulated(scenario)
        if robot is not None:
            measuring = measuring.model_copy(update={
                'simulated': tuple(robot.feedback), 'untold': robot.untold})
        own = list(self._children(scenario, robot))
        children = [*([] if self._simulator is None else [self._simulator]), *own]
        try:
            with closing(RosLink(self._node, self._spin, self._clock, settings.connect_timeout_s,
                                 measuring, settings.hosts, children,
                                 settings.controller == EXTERNAL, self._trials,
                                 settings.declared_topics, robot,
                                 read_overrides(settings.qos_overrides),
                                 self._frames, read_merges(settings.merge),
                                 self._live)) as link:
                if is_in_world:
                    with closing(self._in_world(link, children)) as outer:
                        yield outer
                elif self._hardware is not None:
                    with closing(self._hardware.guarded(link)) as guarded:
                        yield guarded
                else:
                    yield link
                if settings.controller == EXTERNAL:
                    self._witness.look(link.judged())
        finally:
            for child in own:
                child.stop()

    def _in_world(self, link: RosLink, children: Sequence[ChildProcess]) -> WorldLink:
        timeout_s = self._settings.connect_timeout_s
        awake_s = timeout_s if self._simulator is None else max(timeout_s, _AWAKE_S)
        simulator = self._simulator
        control: WorldControl = TopicControl(self._node, awake_s, lambda: alarm_of(children)) \
            if simulator is not None else self._external(children)
        return WorldLink(link, self._clock, control, timeout_s,
                         lambda: None if simulator is None else simulator.alarm())

    def _external(self, children: Sequence[ChildProcess]) -> WorldControl:
        """Return how to move the world that runs already."""
        settings = self._settings
        return external_control(self._node, self._clock, settings, settings.connect_timeout_s,
                                lambda: alarm_of(children))

    def _simulated(self, scenario: Scenario) -> SimulatedRobot | None:
        """
        Return the robot whose state the controller's process reports.

        None where a robot may be there: with an external controller, and in a domain that was
        asked for. In a free one of our own there can be none.
        """
        settings = self._settings
        if settings.controller == EXTERNAL or settings.domain_id >= 0:
            return None
        return simulated_robot(scenario, brake_lag(named_controller(settings.controller)))

    def _children(self, scenario: Scenario,
                  robot: SimulatedRobot | None) -> Iterator[ChildProcess]:
        """Yield the controller under test, if it is ours, and the models that take part."""
        own = controller_settings(self._settings, scenario).model_copy(
            update={'schedule_clock': self._settings.schedule_clock,
                    'responder': self._settings.world == 'none'})
        block = scenario.body if isinstance(scenario.body, AgentsBody) else AgentsBody()
        if own.controller != EXTERNAL:
            yield self._child(scenario, own.model_copy(update={
                'agent': ros_token(block.sut) if block.sut else '',
                'simulated_robot': to_json(robot) if robot and robot.feedback else ''}))
        for agent in block.agents:
            if agent.driver == 'model':
                other = controller_settings(self._settings, scenario, agent.controller)
                yield self._child(scenario, other.model_copy(update={
                    'agent': ros_token(agent.id), 'drives': False, 'responder': False}))

    def _child(self, scenario: Scenario, own: ControllerSettings) -> ChildProcess:
        log = self._folder / log_name(scenario.id, '' if own.drives else own.agent)
        sim_time = f'use_sim_time:={str(self._settings.use_sim_time).lower()}'
        arguments = [*ros_names(self._settings), '-p', sim_time]
        return controller_process(own, self._domain_id, arguments, log, self._segments)
