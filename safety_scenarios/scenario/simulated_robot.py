# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The robot that reports its state where there is none: what it is made of."""

from collections.abc import Callable, Mapping
import json
from typing import Any

from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.driver import DriverPlugin
from safety_scenarios.scenario.driving import BY_INTERFACE, ByInterface
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.scenario import Scenario

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
    block = scenario.ros or scenario.agents
    if block is None or block.robot is None or not block.feedback:
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
    silence = scenario.ros.silence.driver_timeout_ms if scenario.ros else None
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
