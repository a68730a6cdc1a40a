# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Joint states that the harness publishes: they follow what the driver executes."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from safety_scenarios.scenario.driver import DriverPlugin, Follower
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.stimulus import Stimulus
from safety_scenarios.trial.record.executed_commands import commanded, JOINT_STATE

_USUAL = 'joint_states'


class Following:
    """
    Moves the arm that a scenario shows on its topic of joint states.

    A stimulus there says where the arm is at first. From the first command on, its joints are
    where the driver has got them, because a controller that looks at an arm which never moves
    would command the first step for ever. Where the robot itself reports its joints there is no
    such stimulus, and nothing to do.
    """

    def __init__(self, scenario: Scenario) -> None:
        block = scenario.ros or scenario.agents
        has_joints = block is not None and block.robot is not None \
            and kind_of(block.robot).has_joints
        self._drivers: dict[str, DriverPlugin] = {
            one.topic: one.driver for one in (block.commands if block and has_joints else ())
            if one.driver is not None and one.driver.follow({}) is not None}
        self._shown = {_USUAL, *(signal.current for signal in block.signals.values()
                                 if signal.current)} if block and self._drivers else set()
        self.moves = bool(self._drivers)
        """Whether there is an arm to follow."""
        self._start: dict[str, float] = {}
        self._followers: dict[str, Follower] = {}

    def heard(self, event: Event, one_host: bool) -> None:
        """Take a command, as ``executing.commanded`` does."""
        driver = self._drivers.get(event.name) if event.kind == 'command' else None
        if driver is None or event.message is None:
            return
        follower = self._followers.get(event.name) or driver.follow(self._start)
        if follower is None:
            return
        self._followers[event.name] = follower
        with suppress(ValueError):  # rejected: it goes on as before
            follower.take(commanded(event, event.message, driver, one_host))

    def sent(self, event: Event) -> None:
        """Take a stimulus: it shows where the joints are, until they are commanded."""
        if event.name not in self._shown or self._followers or event.message is None \
                or event.message.type != JOINT_STATE:
            return
        data = event.message.data
        self._start |= dict(zip(data.get('name', ()), data.get('position', ()), strict=False))

    def follows(self, stimulus: Stimulus) -> bool:
        """Return whether a stimulus shows joints that have moved."""
        return bool(self._followers) and stimulus.topic in self._shown \
            and stimulus.message.type == JOINT_STATE

    def shown(self, stimulus: Stimulus, clock: Callable[[], int]) -> Stimulus:
        """
        Return a stimulus, one of joint states with the joints where they are by now.

        :param clock: the steady time now, asked for only where joints have moved
        """
        if not self.follows(stimulus):
            return stimulus
        steady_ns = clock()
        now = {name: state for follower in self._followers.values()
               for name, state in follower.state(steady_ns).items()}
        if not now:
            return stimulus
        data = stimulus.message.data
        names, moved = data.get('name', ()), dict(data)
        for place, field in enumerate(('position', 'velocity')):
            told = data.get(field, ())
            if len(told) == len(names):
                moved[field] = tuple(now[name][place] if name in now else value
                                     for name, value in zip(names, told, strict=True))
        return replace(stimulus, message=Message.model_construct(type=JOINT_STATE, data=moved))
