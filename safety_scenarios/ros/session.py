# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A campaign over DDS: domain, node, clock, calibration, and a link for each scenario."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, ExitStack
from importlib.util import find_spec
import os
from pathlib import Path
import secrets
import time
from typing import Any

from rclpy.node import Node
from rclpy.utilities import get_rmw_implementation_identifier
from safety_scenarios.errors import InputError, MissingDependencyError, SettingsError
from safety_scenarios.reports.live.feed import Feed
from safety_scenarios.ros.calibration import calibrate_over_ros
from safety_scenarios.ros.controller_process import (
    alarm_of,
    ChildProcess,
    controller_process,
    simulator_process,
    SimulatorSettings,
)
from safety_scenarios.ros.hil.hardware import Hardware, hardware
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.convert import definition
from safety_scenarios.ros.link.frames import Frames
from safety_scenarios.ros.link.link import RosLink
from safety_scenarios.ros.link.other_nodes import JoinedDomain, Witness
from safety_scenarios.ros.link.publishing import LiveTopics, PERIOD_S
from safety_scenarios.ros.measuring_node import MeasuringNode, RosoutReport
from safety_scenarios.ros.middleware import chosen_domain, is_fast_dds
from safety_scenarios.ros.sealing import OPEN, Seal
from safety_scenarios.ros.spinning import ros_context, Spin, spinning, undisturbed
from safety_scenarios.ros.worlds.external.connection import external_control
from safety_scenarios.ros.worlds.simulator_link.control import TopicControl, WorldControl
from safety_scenarios.ros.worlds.simulator_link.link import WorldLink
from safety_scenarios.scenario.blocks.agents import ros_token
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.robot_drivers import simulated_robot, SimulatedRobot, to_json
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import ControllerSettings, EXTERNAL
from safety_scenarios.scenario.timing import (
    Calibration,
    DECISIONS,
    Measuring,
    METHODS,
    UNCALIBRATED_MS,
)
from safety_scenarios.scenario.topic_names import input_names, published_topics
from safety_scenarios.trial.identity import log_name, NodeFacts
from safety_scenarios.trial.link import Link, LinkPlan
from safety_scenarios.trial.links.controller_settings import (
    answers_alone,
    controller_settings,
    may_take_turns,
    takes_turns,
)
from safety_scenarios.trial.parameters import is_bundled
from safety_scenarios.trial.session import LinkPlugin, Session

_AWAKE_S = 30.0
"""A process of ours that lives may take that long to start on a busy host."""


class OverRos(LinkPlugin):
    """Reaches the controller over DDS: our own child in a free domain, or one that runs."""

    @classmethod
    def refusals(cls, plan: LinkPlan) -> Iterator[InputError]:
        """Yield what the embedded world lacks, and settings of a clock without effect."""
        if plan.world == 'none' and plan.ros.real_time_factor != 1:
            yield SettingsError(
                f'real_time_factor: got {plan.ros.real_time_factor:g} with world none, expected '
                f'1: without a simulator time cannot be made faster. Leave it out, or use world '
                f'mujoco')
        if plan.world == 'mujoco' and find_spec('mujoco') is None:
            yield MissingDependencyError('the embedded world', 'mujoco',
                                         "pip install 'safety_scenarios[sim]'")
        if plan.world == 'mujoco' and find_spec('cryptography') is None:
            yield MissingDependencyError(
                'the embedded world over ROS', 'cryptography',
                'apt install python3-cryptography, or pip install cryptography')
        if plan.world == 'mujoco' and plan.clock.lockstep and plan.controller.is_external:
            yield SettingsError(
                'clock.lockstep: got true with controller external and world mujoco, expected '
                'false: the simulator gives turns to controllers of this harness alone, so that '
                'time would pass as without it. Leave clock.lockstep out')
        if plan.ros.schedule_clock == 'ros' and not plan.ros.use_sim_time:
            yield SettingsError('schedule_clock: got ros without use_sim_time, expected both: ROS '
                                'time is the system clock then, which may be set at any time')

    def session(self, stack: ExitStack) -> Session:
        """
        Join the domain, and return how to open a link for each scenario.

        :raises SettingsError: wrong domain, namespace or remapping
        """
        plan, ros = self.plan, self.plan.ros
        scheduling = stack.enter_context(undisturbed(ros.realtime))
        domain_id = stack.enter_context(chosen_domain(
            ros.domain_id, plan.controller.is_external or plan.world == 'external'))
        context = stack.enter_context(
            ros_context(['--ros-args', *plan.names.arguments], domain_id))
        node = MeasuringNode(ros.node_name, context, plan)
        spin = stack.enter_context(spinning(node))
        clock = RosClock()
        if ros.use_sim_time:
            stack.enter_context(clock.running(Node(f'{ros.node_name}_clock', context=context)))
        robot = stack.enter_context(hardware(plan, context, node, self.folder)) \
            if ros.hil.enabled else None
        live = LiveTopics(node, clock) if ros.has_live_topics else None
        feeds = [] if live is None else [stack.enter_context(Feed(live, PERIOD_S))]
        opener = _Opener(node, spin, clock, plan, domain_id, self.folder, robot, live)
        stack.callback(opener.close)
        return Session(opener, f'ROS domain {domain_id}', _ros(domain_id),
                       lambda: opener.calibrate(scheduling), definition, opener.nodes,
                       (RosoutReport(node), *feeds))


def _ros(domain_id: int) -> dict[str, Any]:
    return {'domain_id': domain_id, 'distro': os.environ.get('ROS_DISTRO'),
            'rmw': get_rmw_implementation_identifier(),
            'discovery': os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE')}


class _Opener:
    """Opens the link for one scenario: a controller process, unless one runs already."""

    def __init__(self, node: Node, spin: Spin, clock: RosClock, plan: LinkPlan,
                 domain_id: int, folder: Path, hardware: Hardware | None = None,
                 live: LiveTopics | None = None) -> None:
        self._live = live
        self._node = node
        self._spin = spin
        self._clock = clock
        self._plan = plan
        self._domain_id = domain_id
        self._folder = folder
        self._hardware = hardware
        self._uncertainty_ms: Mapping[str, float] = dict.fromkeys(METHODS, UNCALIBRATED_MS)
        self._floor_ms: Mapping[str, float] = {}
        self._wake_ups_ms: Mapping[str, float] | None = None
        self._busy_ms = 0.0
        self._trials: set[str] = set()
        self._seal = Seal.fresh() if plan.world == 'mujoco' else OPEN
        self._simulator = simulator_process(
            SimulatorSettings(real_time_factor=plan.ros.real_time_factor,
                              lockstep=plan.clock.lockstep,
                              step_ms=plan.controller.period_ms),
            domain_id, list(plan.names.arguments), folder / 'logs' / 'simulator.log',
            self._seal) \
            if plan.world == 'mujoco' else None
        self._ending: list[ChildProcess] = []
        self._domain = JoinedDomain(
            is_ours=not plan.controller.is_external and plan.ros.domain_id < 0
            and plan.world != 'external', joined_s=time.monotonic())
        self._witness = Witness(node)
        self._frames = Frames(node, clock, plan.ros.publishes_frames)

    def nodes(self) -> tuple[Sequence[NodeFacts], Sequence[str]]:
        """Return what external nodes said of themselves."""
        return self._witness.node_facts()

    def close(self) -> None:
        """End the simulator, which lives as long as the campaign, and what is still ending."""
        if self._simulator is not None:
            self._simulator.end()
            self._ending.append(self._simulator)
        self._await_ended()

    def _await_ended(self) -> None:
        """
        Wait for the processes of the scenario before, and kill what does not end.

        After the last scenario that waits until the files of the campaign are written.
        """
        while self._ending:
            self._ending.pop().stop()

    def calibrate(self, scheduling: str) -> Calibration | None:
        """Measure the harness itself; what comes out judges every later trial."""
        form = self._plan.ros.calibration
        if form == 'off' or (self._plan.world == 'mujoco' and takes_turns(self._plan)):
            return None  # in lock-step no message takes any time
        token = f'c{secrets.token_hex(4)}'
        own = [part for end in ('probe', 'answer')
               for part in ('-r', f'calibration/{end}:=calibration/{token}/{end}')]
        process = ChildProcess('the responder', 'responder_node', self._domain_id,
                               [*self._plan.names.arguments, *own],
                               self._folder / 'logs' / 'calibration.log')
        found = calibrate_over_ros(self._node, self._spin, form, process, token,
                                   self._plan.ros.connect_timeout_s,
                                   {**_ros(self._domain_id), 'scheduling': scheduling})
        self._uncertainty_ms = found.uncertainty_ms
        self._wake_ups_ms, self._busy_ms = found.wake_ups_ms, found.busy_ms
        if not is_fast_dds():  # it may stamp only when taken
            self._uncertainty_ms = {**found.uncertainty_ms, 'received': max(
                UNCALIBRATED_MS, found.uncertainty_ms.get('received', 0.0))}
        self._floor_ms = {method: errors[0].value for known in found.delays
                          if not known.delay_ms for method, errors in known.error_ms.items()
                          if errors[0].value is not None}
        return found

    @contextmanager
    def __call__(self, scenario: Scenario) -> Iterator[Link]:
        plan, ros = self._plan, self._plan.ros
        is_in_world = plan.world != 'none'
        measuring = Measuring(rules=plan.clock, sim_time=ros.use_sim_time,
                              schedule_clock=ros.schedule_clock,
                              uncertainty_ms=dict(self._uncertainty_ms),
                              floor_ms=dict(self._floor_ms), wake_ups_ms=self._wake_ups_ms,
                              busy_ms=self._busy_ms,
                              takes_no_turns=is_in_world and not may_take_turns(plan.controller))
        robot = None if is_in_world else self._simulated(scenario)
        if robot is not None:
            measuring = measuring.model_copy(update={
                'simulated': tuple(robot.feedback), 'untold': robot.untold})
        self._await_ended()
        own = list(self._children(scenario, robot))
        children = [*([] if self._simulator is None else [self._simulator]), *own]
        try:
            with closing(RosLink(self._node, self._spin, self._clock, ros.connect_timeout_s,
                                 measuring, ros.hosts, children,
                                 plan.controller.is_external, self._trials,
                                 plan.declared_topics, robot, ros.overrides,
                                 self._frames, ros.merges, self._live,
                                 self._domain, self._needed(scenario))) as link:
                if is_in_world:
                    with closing(self._in_world(link, children)) as outer:
                        yield outer
                elif self._hardware is not None:
                    with closing(self._hardware.guarded(link)) as guarded:
                        yield guarded
                else:
                    yield link
                if plan.controller.is_external:
                    self._witness.look(link.judged())
        finally:
            for child in own:
                child.end()
            self._ending += own

    def _needed(self, scenario: Scenario) -> Mapping[str, str]:
        """Return topic to interface type of what the controller commands nothing without."""
        needed = dict(one.partition(':')[::2] for one in self._plan.controller.facts.needed_topics)
        names = input_names(needed, published_topics(scenario))
        return {names[role]: interface for role, interface in needed.items()}

    def _in_world(self, link: RosLink, children: Sequence[ChildProcess]) -> WorldLink:
        timeout_s = self._plan.ros.connect_timeout_s
        awake_s = timeout_s if self._simulator is None else max(timeout_s, _AWAKE_S)
        simulator = self._simulator
        turns = takes_turns(self._plan)
        control: WorldControl = TopicControl(
            self._node, awake_s, lambda: alarm_of(children), turns, self._seal) \
            if simulator is not None else self._external(children)
        return WorldLink(link, self._clock, control, timeout_s,
                         lambda: None if simulator is None else simulator.alarm(), turns,
                         turns and answers_alone(self._plan.controller))

    def _external(self, children: Sequence[ChildProcess]) -> WorldControl:
        """Return how to move the world that runs already."""
        return external_control(self._node, self._clock, self._plan,
                                self._plan.ros.connect_timeout_s, lambda: alarm_of(children))

    def _simulated(self, scenario: Scenario) -> SimulatedRobot | None:
        """
        Return the robot whose state the controller's process reports.

        None where a robot may be there: with an external controller, and in a domain that was
        asked for. In a free one of our own there can be none.
        """
        plan = self._plan
        if plan.controller.is_external or plan.ros.domain_id >= 0:
            return None
        return simulated_robot(scenario, plan.controller.facts.brake_lag)

    def _children(self, scenario: Scenario,
                  robot: SimulatedRobot | None) -> Iterator[ChildProcess]:
        """Yield the controller under test, if it is ours, and the models that take part."""
        own = controller_settings(self._plan.controller, scenario).model_copy(
            update={'schedule_clock': self._plan.ros.schedule_clock,
                    'responder': self._plan.world == 'none'})
        block = scenario.body if isinstance(scenario.body, AgentsBody) else AgentsBody()
        if own.controller != EXTERNAL:
            yield self._child(scenario, own.model_copy(update={
                'agent': ros_token(block.sut) if block.sut else '',
                'simulated_robot': to_json(robot) if robot and robot.feedback else ''})).awaited(
                    lambda: bool(self._node.get_publishers_info_by_topic(DECISIONS)),
                    _AWAKE_S + self._plan.controller.facts.starts_within_s)
        for agent in block.agents:
            if agent.driver == 'model':
                other = controller_settings(self._plan.controller, scenario, agent.controller)
                yield self._child(scenario, other.model_copy(update={
                    'agent': ros_token(agent.id), 'drives': False, 'responder': False}))

    def _child(self, scenario: Scenario, own: ControllerSettings) -> ChildProcess:
        log = self._folder / log_name(scenario.id, '' if own.drives else own.agent)
        sim_time = f'use_sim_time:={str(self._plan.ros.use_sim_time).lower()}'
        arguments = [*self._plan.names.arguments, '-p', sim_time]
        own = own.model_copy(update={'best_effort': tuple(
            one.topic for one in self._plan.ros.overrides
            if (one.endpoint, one.value) == ('publisher', 'best_effort'))})
        under_test = self._plan.controller
        return controller_process(
            own, self._domain_id, arguments, log, None if is_bundled(own.controller) else (
                under_test.hidden, under_test.is_isolated and not under_test.readable))
