# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The part of a simulator that has a world without a trial, and lets others own its time."""

import time
from typing import Any

from rclpy.node import Node
from safety_scenarios.errors import InputError, MeasurementError, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.ros.controller_process import SimulatorSettings
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.worlds.embedded.answering import Answering, Call
from safety_scenarios.ros.worlds.embedded.commanders import Commanders
from safety_scenarios.ros.worlds.embedded.services import PACKAGE, Services
from safety_scenarios.ros.worlds.simulator_link.protocol import RealTime
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.worlds.mujoco.persistent_world import Standing, with_reports
from safety_scenarios.worlds.mujoco.scene import STEP_S
from safety_scenarios.worlds.mujoco.world import World
from std_msgs.msg import Bool

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
