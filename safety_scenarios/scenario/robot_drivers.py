# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which driver is behind a topic that a scenario commands on, and the robot that is simulated."""

from collections.abc import Callable, Iterator, Mapping, Sequence
import json
import math
from typing import Any, Literal

import numpy
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.body import RobotBody, ScenarioBody, Silence
from safety_scenarios.scenario.driver import Commanded, DriverPlugin, Execution, Follower, Start
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.robot_kind import kind_of, RobotKind
from safety_scenarios.scenario.scenario import Scenario

Resolve = Callable[[str, str], Any]
"""(kind, name) to plug-in class."""

BY_INTERFACE: Literal['by_interface'] = 'by_interface'


class ByInterface(DriverPlugin):
    """Of a topic whose type is known only once it is received: the driver of that type."""

    kind: Literal['by_interface'] = BY_INTERFACE
    choices: Mapping[str, DriverPlugin]
    """Interface type to its driver."""

    @property
    def lenient(self) -> 'ByInterface':
        return self.model_copy(update={'choices': {
            interface: driver.lenient for interface, driver in self.choices.items()}})

    def may_reject(self, interface: str) -> bool:
        return interface in self.choices and self.choices[interface].may_reject(interface)

    def rejects(self, command: Commanded) -> str:
        chosen = self.choices.get(command.message.type)
        return '' if chosen is None else chosen.rejects(command)

    def follow(self, start: Start) -> Follower | None:
        """Return that of the first command's type, as ``execute`` goes by it."""
        known = {interface: one for interface, driver in self.choices.items()
                 if (one := driver.follow(start)) is not None}
        return _First(known) if known else None

    def execute(self, commands: Sequence[Commanded], start: Start, until_ns: int) -> Execution:
        """Return what the driver of the first command's type makes of all of them."""
        chosen = self.choices.get(commands[0].message.type) if commands else None
        return nothing(self.kind, len(commands)) if chosen is None \
            else chosen.execute(commands, start, until_ns)


class _First(Follower):
    """Follows as the driver of the first command's type."""

    def __init__(self, choices: Mapping[str, Follower]) -> None:
        self._choices = choices
        self._chosen: Follower | None = None
        self._is_chosen = False

    def take(self, command: Commanded) -> None:
        """Execute a command from now on; of a type that nobody knows nothing is."""
        if not self._is_chosen:
            self._chosen, self._is_chosen = self._choices.get(command.message.type), True
        if self._chosen is not None:
            self._chosen.take(command)

    def state(self, t_ns: int) -> Mapping[str, tuple[float, float]]:
        return {} if self._chosen is None else self._chosen.state(t_ns)

    def lasts_ns(self, t_ns: int) -> float:
        return math.inf if self._chosen is None else self._chosen.lasts_ns(t_ns)


def nothing(driver: str, count: int) -> Execution:
    """Return that nobody knows what becomes of the commands: no set-point, no rejection."""
    return Execution(driver=driver, axes=(), times_ns=numpy.empty(0, numpy.int64),
                     velocity=numpy.empty((0, 0)), position=None, between='hold',
                     accepted=numpy.ones(count, bool))


def with_drivers(scenario: Scenario, resolve: Resolve) -> Scenario:
    """
    Return a scenario in which each commanded topic has its driver, as far as one is known.

    A driver that the file declares says what silence means, where ``ros.silence`` does not.
    """
    body = scenario.body
    if body.robot is None or not body.commands:
        return scenario
    commands = tuple(_with_driver(topic, body, resolve) for topic in body.commands)
    changed: dict[str, Any] = {'commands': commands}
    if isinstance(body, RobotBody) and body.silence == Silence():
        timeouts = {topic.driver.timeout_ns if topic.driver else None for topic in commands}
        [*only] = timeouts
        if len(only) == 1 and only[0] is not None:
            changed['silence'] = Silence(policy='stop', driver_timeout_ms=only[0] / 1e6)
    return scenario.model_copy(update={'body': body.model_copy(update=changed)})


def contradictions(ros: RobotBody) -> Iterator[str]:
    """Yield what ``silence`` and a declared driver's timeout say against each other."""
    policy, said_ms = ros.silence.policy, ros.silence.driver_timeout_ms
    for topic in ros.commands:
        driver = topic.driver
        if driver is None or driver.assumed or 'timeout_s' not in type(driver).model_fields:
            continue
        timeout_ms = None if driver.timeout_ns is None else driver.timeout_ns / 1e6
        if (policy == 'stop' and said_ms != timeout_ms) or (
                policy == 'unsafe' and timeout_ms is not None):
            known = 'never' if timeout_ms is None else f'after {timeout_ms:g} ms'
            said = f'stop after {said_ms:g} ms' if policy == 'stop' and said_ms else policy
            yield (f'got {said}, and the driver {driver.kind} of {topic.topic} stops the robot '
                   f'{known}. Leave silence out: the driver defines it')


def _with_driver(topic: CommandTopic, body: ScenarioBody, resolve: Resolve) -> CommandTopic:
    robot = body.robot
    assert robot is not None
    signals = [signal for signal in body.signals.values() if signal.topic == topic.topic]
    driver, kind = topic.driver, kind_of(robot)
    if driver is None and topic.message != 'auto':
        driver = _default(topic.message, kind, signals, resolve)
    elif driver is None:
        known = {interface: _default(interface, kind, signals, resolve)
                 for interface in kind.driver_types}
        driver = ByInterface(assumed=True, choices={
            interface: _with_joints(one, robot.joints) for interface, one in known.items()
            if one is not None})
    return topic if driver is None else topic.model_copy(
        update={'driver': _with_joints(driver, robot.joints)})


def _with_joints(driver: DriverPlugin, joints: tuple[str, ...]) -> DriverPlugin:
    """Return a driver that knows its robot's joints."""
    return driver.model_copy(update={'joints': joints}) \
        if driver.is_joint_space and joints and not getattr(driver, 'joints', joints) else driver


def _default(interface: str, kind: RobotKind, signals: Sequence[Signal],
             resolve: Resolve) -> DriverPlugin | None:
    """Return the conforming driver of an interface; None: unknown."""
    named = kind.driver(interface, signals)
    if named is None:
        return None
    name, parameters = named
    found: DriverPlugin = resolve('drivers', name)(**parameters, assumed=True)
    return found


ODOMETRY, JOINT_STATE = 'nav_msgs/msg/Odometry', 'sensor_msgs/msg/JointState'
STAMPED = 'geometry_msgs/msg/TwistStamped'


class SimulatedRobot(Noun):
    """Moves as the drivers execute what is commanded, and brakes no harder than it declares."""

    robot: RobotModel
    drivers: Mapping[str, DriverPlugin]
    """Command topic to the driver behind it."""
    feedback: Mapping[str, str]
    """Topic to the interface type of what it reports there."""
    silence_ns: int | None = None
    """How long after the last command its driver stops it, where ``ros.silence`` says so."""
    brake_lag_ns: int = 0
    """So much later than its driver it slows down: one that does not keep what it declares."""
    untold: Mapping[str, str] = {}
    """Feedback topic to why nobody can work out what would come on it."""

    def __str__(self) -> str:
        brakes, how = self.robot.deceleration(), 'without delay'
        if kind_of(self.robot).drives:
            how = f'{how}, as robot.stopping is not declared' if brakes is None \
                else f'braking at {brakes:.3g} m/s^2 as it declares'
        kinds = ', '.join(dict.fromkeys(one.kind for one in self.drivers.values()))
        return (f'{", ".join(self.feedback)}: worked out from the commands, as the driver {kinds} '
                f'executes them, {how}. No robot was measured')


def simulated_robot(scenario: Scenario, brake_lag: float = 0.0) -> SimulatedRobot | None:
    """
    Return the robot whose reports a scenario listens to, None where it listens to none.

    :param brake_lag: how much too late it brakes, as a share of the confirmation's critical limit
    """
    block = scenario.body
    if block.robot is None or not block.feedback:
        return None
    drivers = {one.topic: one.driver for one in block.commands
               if one.driver is not None and one.driver.follow({}) is not None}
    feedback: dict[str, str] = {}
    untold: dict[str, str] = {}
    kind = kind_of(block.robot)
    for one in block.feedback:
        interface = one.message if one.message != 'auto' else kind.feedback_type(
            signal.field for signal in block.signals.values() if signal.topic == one.topic)
        if interface not in kind.feedback_types:
            untold[one.topic] = (f'got {interface or "no interface type"}, and of a '
                                 f'{block.robot.kind} only '
                                 f'{" or ".join(kind.feedback_types) or "nothing"} can be worked '
                                 f'out')
        elif not drivers:
            untold[one.topic] = ('no driver is known that executes what is commanded. Declare '
                                 'driver under commands')
        elif kind.has_joints and not block.robot.joints:
            untold[one.topic] = 'its joints have no names. List them in robot.joints'
        else:
            feedback[one.topic] = interface
    budget = scenario.confirmation_budget or scenario.latency_budget
    silence = block.silence.driver_timeout_ms
    return SimulatedRobot(robot=block.robot, drivers=drivers, feedback=feedback, untold=untold,
                          brake_lag_ns=round(brake_lag * budget.critical_ms * 1e6),
                          silence_ns=None if silence is None else round(silence * 1e6))


def to_json(robot: SimulatedRobot) -> str:
    """Return a robot as text, for the process that reports as it."""
    return json.dumps({
        **robot.model_dump(mode='json', exclude={'drivers', 'untold'}),
        'drivers': {topic: _plain(driver) for topic, driver in robot.drivers.items()}})


def from_json(text: str, resolve: Callable[[str, str], Any]) -> SimulatedRobot:
    """
    Return the robot that a text describes.

    :param resolve: (kind, name) to plug-in class
    :raises ValueError: the text is no such robot
    """
    data = json.loads(text)
    drivers = {topic: _driver(one, resolve) for topic, one in data.pop('drivers').items()}
    robot = RobotModel.model_validate_json(json.dumps(data.pop('robot')))
    return SimulatedRobot(robot=robot, drivers=drivers, **data)


def _plain(driver: DriverPlugin) -> dict[str, Any]:
    if isinstance(driver, ByInterface):
        return {'kind': driver.kind, 'assumed': driver.assumed, 'choices': {
            interface: _plain(one) for interface, one in driver.choices.items()}}
    return driver.model_dump(mode='json')


def _driver(data: dict[str, Any], resolve: Callable[[str, str], Any]) -> DriverPlugin:
    if data['kind'] == BY_INTERFACE:
        return ByInterface(assumed=data['assumed'], choices={
            interface: _driver(one, resolve) for interface, one in data['choices'].items()})
    found: DriverPlugin = resolve('drivers', data['kind']).model_validate_json(json.dumps(data))
    return found
