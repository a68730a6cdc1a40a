# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The part of a simulator that has a world without a trial, and lets others own its time."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
import importlib
import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.errors import described, InputError, MeasurementError, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.ros.controller_process import SimulatorSettings
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.worlds.embedded.commanders import Commanders
from safety_scenarios.ros.worlds.embedded.poses import fill_state
from safety_scenarios.ros.worlds.embedded.simulation_services import (
    Answering,
    Call,
    FEATURES,
    FORMATS,
    Reply,
)
from safety_scenarios.ros.worlds.simulator_link.protocol import RealTime
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.worlds.mujoco.persistent_world import Standing, with_reports
from safety_scenarios.worlds.mujoco.scene import STEP_S
from safety_scenarios.worlds.mujoco.world import World
from std_msgs.msg import Bool

PACKAGE = 'simulation_interfaces'
SERVICES: Mapping[str, str] = {
    'spawn_entity': 'SpawnEntity', 'delete_entity': 'DeleteEntity', 'get_entities': 'GetEntities',
    'get_entities_states': 'GetEntitiesStates', 'get_entity_state': 'GetEntityState',
    'set_entity_state': 'SetEntityState', 'reset_simulation': 'ResetSimulation',
    'step_simulation': 'StepSimulation', 'get_simulation_state': 'GetSimulationState',
    'set_simulation_state': 'SetSimulationState',
    'get_simulator_features': 'GetSimulatorFeatures'}
"""Name below that of the node to interface."""


class Services:
    """
    Hands each request over, and sends its answer when that is there.

    A callback returns at once, so that nobody who asks holds back a command; answers leave from a
    thread of their own, as the middleware may wait for a client that has gone meanwhile.

    :param node: a spinning node, whose callbacks run in another thread
    :param take: takes each request, in the thread of the callbacks
    """

    def __init__(self, node: Node, take: Callable[[Call], None]) -> None:
        self._node, self._take = node, take
        self._sender = ThreadPoolExecutor(1, 'answers')
        self.offered: list[str] = []
        """Names of those that are there."""
        try:
            interfaces = importlib.import_module(f'{PACKAGE}.srv')
        except ImportError:
            return
        for name, kind in SERVICES.items():
            if hasattr(interfaces, kind):
                self._offer(name, getattr(interfaces, kind))

    def close(self) -> None:
        """Send no more answers."""
        self._sender.shutdown(cancel_futures=True)

    def _offer(self, name: str, interface: Any) -> None:
        try:
            service: Any = self._node.create_service(
                interface, f'~/{name}', lambda request, response: (request, response))
        except Exception as error:  # its library is missing, or of another distribution
            self._node.get_logger().warning(
                f'~/{name} is not offered: {PACKAGE} cannot be used here: {described(error)}')
            return
        send = service.send_response

        def hand_over(pair: tuple[Any, Any], header: Any) -> None:
            request, response = pair
            self._take(Call(name, request, partial(self._answer, send, response, header)))
        service.send_response = hand_over  # what an executor calls with what the callback gave
        self.offered.append(name)

    def _answer(self, send: Callable[[Any, Any], None], response: Any, header: Any,
                reply: Reply) -> None:
        fill(response, reply)
        with suppress(RuntimeError):  # the node is about to end
            self._sender.submit(self._send, send, response, header)

    def _send(self, send: Callable[[Any, Any], None], response: Any, header: Any) -> None:
        try:
            send(response, header)
        except Exception as error:  # who asked has gone, or the node has
            if self._node.context.ok():
                self._node.get_logger().warning(f'an answer was not sent: {described(error)}')


def fill(response: Any, reply: Reply) -> None:
    """Write what is answered into the response, as far as that has fields for it."""
    if hasattr(response, 'features'):
        response.features.features = list(FEATURES)
        response.features.spawn_formats = list(FORMATS)
        response.features.custom_info = reply.text
        return
    response.result.result, response.result.error_message = reply.code, reply.text
    if hasattr(response, 'entity_name'):
        response.entity_name = reply.name
    if hasattr(response, 'entities'):
        response.entities = [name for name, _, _ in reply.entities]
    if hasattr(response, 'states'):
        kind = importlib.import_module(f'{PACKAGE}.msg').EntityState
        response.states = [kind() for _ in reply.entities]
        for state, (_, place, moved) in zip(response.states, reply.entities, strict=True):
            fill_state(state, reply.stamp_ns, place, moved)
    elif hasattr(response, 'state') and hasattr(response.state, 'state'):
        response.state.state = reply.state
    elif hasattr(response, 'state') and reply.entities:
        fill_state(response.state, reply.stamp_ns, *reply.entities[0][1:])


BEGIN_NS = 1_000_000_000
"""Not 0, which a clock has that has not begun."""
DRIVE = 'drive_enable'
SERVED, DRIVEN = ' served', ' driven'
"""No topic has such a name."""
"""What is handed to the thread of the world: a request for a service; that the drive may drive."""
USUAL = 'SCN-R-101'
"""Its base and its scanner are there where no other scenario was named."""
_LOOK_S = 0.2
"""So often somebody new who commands is looked for."""
_STEP_NS = round(STEP_S * 1e9)


class StandingHost:
    """
    What ``Answering`` asks for, in the thread that owns the world.

    Whoever inherits has the world of a trial, too, and lets time pass.
    """

    _node: Node
    _settings: SimulatorSettings
    _world: World | None
    _is_live: bool
    _is_paused: bool
    _now_ns: int
    _clock_ns: int
    _begin_ns: int
    _until_ns: float
    _pace: RealTime
    _stamps: dict[str, int]
    _commanders: Commanders

    def offer(self) -> None:
        """Offer the services, where their interfaces are installed."""
        self._scenario: Scenario | None = None
        self._look_s = 0.0
        self._is_held = False
        self.given_up = ''
        self._may_drive = True
        self._answering = Answering(self)
        self._services = Services(self._node, lambda call: self._put(SERVED, call))
        if self._services.offered:
            self._node.create_subscription(Bool, DRIVE, lambda said: self._put(DRIVEN, said.data),
                                           qos.conversation())
        else:
            self._node.get_logger().info(f'{PACKAGE} is not installed here: its services are not '
                                         f'offered')
        if self._settings.scenario:
            self._scenario = scenario_of(self._settings.scenario)

    def close(self) -> None:
        """Answer nobody any more, and give up the world."""
        self._services.close()
        self._empty()

    def serve(self, topic: str, payload: Any) -> bool:
        """Take what others than evaluators want; return whether it is that."""
        if topic == SERVED:
            call: Call = payload
            self._answering.take(call)
        elif topic == DRIVEN:
            self._may_drive = payload
            if self.standing is not None:
                self.catch_up()
                self.standing.let_drive(is_enabled=payload)
        else:
            return False
        return True

    @property
    def trial_id(self) -> str:
        """Return which trial of an evaluator runs now; empty: none does."""
        raise NotImplementedError

    @property
    def standing(self) -> Standing | None:
        """Return the world without a trial; None: it is not there."""
        return self._world if isinstance(self._world, Standing) else None

    @property
    def stamp_ns(self) -> int:
        """Return the time at which everything is where the world has it (ns)."""
        return self._now_ns if self._world is None else self._begin_ns + self._world.now_ns

    @property
    def is_paused(self) -> bool:
        """Whether time stands."""
        return self._is_paused

    def catch_up(self) -> None:
        """Let the time pass that has passed."""
        if not self._is_paused:
            self._to(min(self._pace.at(time.monotonic_ns()), self._next_ns() - 1))

    def stand_up(self) -> Standing:
        """
        Have a new world without a trial, in place of whatever was there.

        :raises InputError: its scenario asks for what cannot be
        """
        if self._scenario is None:
            self._scenario = scenario_of(self._settings.scenario or USUAL)
        world = Standing(self._scenario)
        self._empty()
        self._world = world
        try:
            self._connect(world.scenario.robot_body)
        except Exception:
            self._empty()
            raise
        self._begin_ns, self._is_live = self._now_ns, True
        self._look_s = 0.0
        world.let_drive(is_enabled=self._may_drive)
        return world

    def play(self) -> None:
        """
        Let time pass.

        :raises InputError: it passes in lock-step alone
        """
        if self._settings.lockstep:
            raise InputError('got the state playing in lock-step, in which time passes when it '
                             'is asked to, expected steps. Or start this node without lockstep')
        self._is_paused = self._is_held = False
        self._pace = RealTime(self._settings.real_time_factor, self._now_ns, time.monotonic_ns())

    def pause(self) -> None:
        """Let no time pass."""
        self._is_paused = self._is_held = True

    def take_back(self) -> None:
        """Let time pass as an evaluator expects it, and whoever waits for steps know it."""
        if self.standing is not None:
            self._answering.lose('')
        if self._is_held and not self._settings.lockstep:
            self.play()

    def make_steps(self, count: int) -> None:
        """Let so many steps of the physics pass, as fast as can be."""
        world = self._world
        assert world is not None  # nobody waits for steps of none
        until_ns = self._begin_ns + world.now_ns + count * _STEP_NS
        self._is_paused = False  # in between time passes as ever, on /clock too
        while self._world is world and (next_ns := self._next_ns()) < until_ns:
            self._to(next_ns)
        self._to(until_ns)
        self._is_paused = True
        self._publish_clock()

    def rewind(self) -> None:
        """Let it be the time at which this process began."""
        world = self._world
        self._now_ns = self._clock_ns = BEGIN_NS
        self._begin_ns = BEGIN_NS if world is None else BEGIN_NS - world.now_ns
        self._stamps.clear()
        self._pace = RealTime(self._settings.real_time_factor or 1.0, BEGIN_NS,
                              time.monotonic_ns())
        self._publish_clock()

    def give_up_trial(self, text: str) -> None:
        """Let the trial of an evaluator end, and say why."""
        self.given_up = self.trial_id
        self._give_up(MeasurementError(text))

    def listen(self) -> None:
        """Hear whoever commands by now, where nobody asks who does."""
        world, now = self.standing, time.monotonic()
        if world is None or now < self._look_s:
            return
        self._look_s = now + _LOOK_S
        self._commanders.listen(world.scenario.body.commands)

    def _put(self, topic: str, payload: Any) -> None:
        raise NotImplementedError

    def _empty(self) -> None:
        raise NotImplementedError

    def _connect(self, ros: RobotBody) -> None:
        raise NotImplementedError

    def _next_ns(self) -> int:
        raise NotImplementedError

    def _to(self, now_ns: int) -> None:
        raise NotImplementedError

    def _publish_clock(self) -> None:
        raise NotImplementedError

    def _give_up(self, error: Exception) -> None:
        raise NotImplementedError


def scenario_of(target: str) -> Scenario:
    """
    Return the scenario that a file, or an id, names.

    :raises InputError: it names none, or several, or one that is wrong
    """
    found = load_scenarios([target]).scenarios
    if len(found) != 1:
        raise SettingsError(f'parameter scenario: got {target!r}, which names {len(found)} '
                            f'scenarios, expected one file or one id')
    with_reports(found[0])
    return found[0]
