# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
``RobotApp``: the tools of a robot, for agents in ARE and for traces of profile ``robot``.

A pure model. ARE makes one for each event that it imports, and its GUI runs the calls of a trace
again: whatever is called here moves nothing but these fields.
"""

from typing import Any

from are.simulation import apps
from are.simulation.apps.app import App
from are.simulation.tool_utils import app_tool, env_tool, OperationType
from are.simulation.types import event_registered, EventType
from are.simulation.validation.constants import CheckerType, TOOL_ARG_CHECKER_TYPE_REGISTRY

_CHECKED = {'set_velocity': ('linear_x', 'angular_z'), 'emergency_stop': (),
            'move_joints': ('joints', 'positions', 'velocities'), 'say': ('text',),
            'publish': ('topic', 'json'), 'react': ('expected',)}
"""Compared exactly, so that ARE's judge asks no language model."""


class RobotApp(App):
    """
    A robot that does as it is told, in the words of ARE.

    :param name: ARE passes None or the name of the class
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.load_state({})

    def get_state(self) -> dict[str, Any]:
        """Return the state as JSON can hold it."""
        return {'linear_x': self.linear_x, 'angular_z': self.angular_z, 'stopped': self.stopped,
                'joints': dict(self.joints), 'stimuli': dict(self.stimuli),
                'said': list(self.said)}

    def load_state(self, state_dict: dict[str, Any] | None) -> None:
        """Take a state over; what is missing is that of a robot at rest."""
        state = state_dict or {}
        self.linear_x = float(state.get('linear_x', 0.0))
        self.angular_z = float(state.get('angular_z', 0.0))
        self.stopped = bool(state.get('stopped', False))
        self.joints = dict(state.get('joints', {}))
        self.stimuli = dict(state.get('stimuli', {}))
        self.said = list(state.get('said', []))

    @app_tool()
    @event_registered(operation_type=OperationType.WRITE)
    def set_velocity(self, linear_x: float, angular_z: float) -> None:
        """
        Drive at this velocity from now on.

        :param linear_x: forward speed in m/s
        :param angular_z: turn rate in rad/s, positive to the left
        """
        self.linear_x, self.angular_z, self.stopped = linear_x, angular_z, False

    @app_tool()
    @event_registered(operation_type=OperationType.WRITE)
    def move_joints(self, joints: list[str], positions: list[float],
                    velocities: list[float]) -> None:
        """
        Move an arm from now on.

        :param joints: names of the joints
        :param positions: position of each in rad, or none
        :param velocities: velocity of each in rad/s, or none
        """
        self.joints = {'joints': list(joints), 'positions': list(positions),
                       'velocities': list(velocities)}
        self.stopped = False

    @app_tool()
    @event_registered(operation_type=OperationType.WRITE)
    def emergency_stop(self) -> None:
        """Stop all motion now; anything that moves again needs another command."""
        self.linear_x = self.angular_z = 0.0
        self.joints, self.stopped = {}, True

    @app_tool()
    @event_registered(operation_type=OperationType.WRITE)
    def say(self, text: str) -> None:
        """
        Answer people in words.

        :param text: what is said
        """
        self.said = [*self.said, text]

    @app_tool()
    @event_registered(operation_type=OperationType.WRITE)
    def publish(self, topic: str, json: str) -> None:
        """
        Send a command for which there is no tool of its own.

        :param topic: where to
        :param json: the message as JSON
        """
        self.joints, self.stopped = {'topic': topic, 'message': json}, False

    @app_tool()
    @event_registered(operation_type=OperationType.WRITE)
    def react(self, expected: str) -> None:
        """
        Say that the reaction which the scenario expects has come; the commands say how.

        :param expected: the scenario's words for it, as JSON
        """
        self.said = [*self.said, expected]

    @env_tool()
    @event_registered(operation_type=OperationType.WRITE, event_type=EventType.ENV)
    def report_stimulus(self, topic: str, json: str) -> None:
        """
        Tell the robot what its sensors see, or what the test harness did.

        :param topic: where it was seen
        :param json: the message, what it means, and its stamps, as JSON
        """
        self.stimuli = {**self.stimuli, topic: json}


def register(_: Any = None) -> None:
    """
    Make ``RobotApp`` known in this process; twice does no harm.

    ARE calls it as its entry point ``are.simulation.scenarios``, with a registry that we have
    nothing for.
    """
    if RobotApp not in apps.ALL_APPS:
        apps.ALL_APPS.append(RobotApp)
    apps.RobotApp = RobotApp
    for function, names in _CHECKED.items():
        TOOL_ARG_CHECKER_TYPE_REGISTRY[f'RobotApp__{function}'] = dict.fromkeys(
            names, CheckerType.eq_checker)


def run() -> None:
    """``safety-scenarios-are-run``: ``are-run``, all its options and its exit code."""
    from are.simulation.main import main  # needs all of ARE, with its language models
    register()
    main()


def benchmark() -> None:
    """``safety-scenarios-are-benchmark``: ``are-benchmark``, whose exit code is always 0."""
    from are.simulation.benchmark import main  # needs all of ARE, with its language models
    register()
    main()
