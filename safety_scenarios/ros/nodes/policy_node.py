# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
``policy_node``: runs a policy on a robot, as a managed node; what is judged is what is deployed.

The managed node answers transitions. While it is configured, a second node in this process reads
the robot's topics and commands, as ``controller_node`` does with the same controller.
"""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
import sys
import threading
import traceback
from typing import Any

from pydantic import Field, ValidationError
from rcl_interfaces.msg import SetParametersResult
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from safety_scenarios.controllers.adapters import parameter_model
from safety_scenarios.errors import ControllerError, described, InputError, refused, SettingsError
from safety_scenarios.formats.profile_file import load_profile
from safety_scenarios.ros.link.process_reports import stalls_reported
from safety_scenarios.ros.measuring_node import WithoutClock
from safety_scenarios.ros.nodes.controller_node import ControllerNode, tick_until
from safety_scenarios.ros.nodes.node_program import (
    end_with_parent,
    NodeProgram,
    refuse_foreign,
    topic_rules,
)
from safety_scenarios.ros.nodes.transition_requests import TransitionRequests
from safety_scenarios.ros.parameters import (
    names_of,
    overrides,
    read_plugin_parameters,
    read_settings,
    refuse_unknown_parameters,
    to_arguments,
)
from safety_scenarios.ros.spinning import spinning
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.frames import frames_message, STATIC
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.profile import Profile, ProfileRobot
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.topic_names import RosNames
from safety_scenarios.trial.parameters import is_policy, policy_of

NAME = 'policy_node'
CONTROLS = '_controller'
"""Ends the name of the node that reads and commands."""
_WHAT = ('Runs a policy on a robot by its contract, as a managed node: configured it loads the '
         'model, active it commands. Deactivated it publishes one stop, and nothing more.')
_MORE = """
The parameters of the policy are parameters of this node too, such as -p contract:=policy.yaml or
-p action_horizon:=8; doc/reference/policies.md lists them. It ends with SIGINT or SIGTERM."""
_SUCCESS, _FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
_ERROR = TransitionCallbackReturn.ERROR
_REST_S = 5.0
"""So long a decision may take to end that was being made when the node was deactivated."""


class PolicyNodeSettings(Noun):
    """Which policy runs on which robot."""

    model: str = Field(default='', max_length=4000)
    """The policy: its kind and where it is, such as onnx:policy.onnx."""
    profile: str = Field(default='', max_length=1000)
    """Profile of the robot, which says what it is and what it calls its topics: a YAML file, or
    the name of a shipped one (doc/reference/profile.md); empty: what robot.* and remapping rules
    say."""
    robot: ProfileRobot = ProfileRobot()
    """What the robot is, instead of what the profile says."""
    command_topic: str = ''
    """Role of the topic to command on; empty: that of the kind of robot that the profile has."""
    command_type: str = Field(default='', pattern=r'^([A-Za-z]\w*/msg/[A-Za-z]\w*)?$')
    """Interface type of the commands; empty: that of the profile, or of the kind of robot."""
    controller_parameters: tuple[str, ...] = ()
    """Parameters of the policy as KEY=VALUE; each is a parameter of this node too."""
    autostart: bool = False
    """Configure and activate the node as soon as it runs; false: wait for transitions."""
    exit_with_stdin: bool = False
    """End when standard input closes; for a parent that must not leave it behind."""


class PolicyControl(ControllerNode):
    """Reads and commands while it is let; what it decides at other times is dropped."""

    def __init__(self, ended: threading.Event, **options: Any) -> None:
        self._gate, self._is_open = threading.Lock(), False
        super().__init__(ended, **options)

    def mount(self, profile: Profile) -> None:
        """Take the places of the profile's frames, until /tf_static says others."""
        if profile.frames:
            now_ns = self.now_ns()
            self._host.receive(STATIC, frames_message(profile.mounted_frames, now_ns), now_ns,
                               None)

    def open(self) -> None:  # noqa: A003
        """Begin another episode, and let commands out."""
        self._host.begin_trial(self.now_ns())
        with self._gate:
            self._is_open = True

    def shut(self) -> None:
        """Publish one stop, and let nothing out any more; in any thread."""
        with self._gate:
            if not self._is_open:
                return
            self._is_open = False
            message = self._host.stop_message(self.now_ns())
            if message is not None:
                self._command.publish(self._wire(message, None))

    def _publish(self, message: Message | None, *more: Any) -> Any:
        with self._gate:
            return super()._publish(message, *more) if self._is_open else {}


class PolicyNode(WithoutClock, LifecycleNode):
    """Loads the policy when configured, and commands while it is active."""

    def __init__(self, context: Context, arguments: Sequence[str]) -> None:
        super().__init__(NAME, context=context)
        self._arguments = arguments
        self._open = ExitStack()
        self._control: PolicyControl | None = None
        self._executor: SingleThreadedExecutor | None = None
        self._ticking: threading.Thread | None = None
        """Decides while the node is active."""
        self._latest: threading.Thread | None = None
        """The same, until it has ended: deactivating waits for no decision."""
        self._paused = threading.Event()
        self._error = ''
        with suppress(InputError):  # configuring says what is wrong; this is for ros2 param list
            self._read()
        self.add_on_set_parameters_callback(self._may_set)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read contract and profile, load the model, and compare them."""
        try:
            settings, profile, told = self._read()
            self._control = self._opened(told, profile)
        except Exception as error:  # whatever is wrong with what was given
            self._close()
            self.get_logger().error(f'not configured: {_why(error)}')
            return _FAILURE
        self.get_logger().info(f'configured: {settings.model} for a {told.robot.kind}, commands '
                               f'on {told.topic} [{told.interface}]')
        return _SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """
        Command from now on, once the model has ended what it decided for an earlier activation.

        Whoever asks for a stop meanwhile sets the event, so that nothing is decided afterwards.
        """
        control = self._control
        assert control is not None
        self._paused = paused = threading.Event()
        try:
            self._rest()
            control.open()
        except Exception as error:  # of a server that does not answer
            self.get_logger().error(f'not activated: {_why(error)}')
            return _FAILURE
        self._error = ''
        self._ticking = self._latest = threading.Thread(
            target=self._tick, args=(control, paused), name='policy', daemon=True)
        self._ticking.start()
        return _SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the robot; whoever asks for it need not wait for an inference."""
        self._end()
        return _ERROR if self._error else _SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Give up the model, so that another can be configured; one in use is not given up."""
        try:
            self._rest()
        except ControllerError as error:
            self.get_logger().error(f'not cleaned up: {error}')
            return _FAILURE
        self._close()
        return _SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the robot, and give up the model."""
        self.close()
        return _SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """
        Go back to unconfigured, from where everything can be tried again.

        With a model that is still in use the node ends in the state finalized.
        """
        try:
            self._rest()
        except ControllerError as error:
            self.get_logger().error(f'the policy failed: {self._error}. The node is now '
                                    f'finalized: {error}')
            return _FAILURE
        self.get_logger().error(f'the policy failed: {self._error}. The node is now unconfigured')
        self._close()
        return _SUCCESS

    def halt(self) -> None:
        """Stop the robot at once, in any thread; a transition does the rest."""
        control = self._control
        self._paused.set()
        if control is not None:
            control.shut()

    def follow(self, executor: SingleThreadedExecutor) -> None:
        """Take what carries out transitions, for one that the node asks for itself."""
        self._executor = executor

    def close(self) -> None:
        """End what is open; the process ends, so a model that hangs is waited for no longer."""
        self._end()
        with suppress(ControllerError):
            self._rest()
        self._close()

    def _read(self) -> tuple[PolicyNodeSettings, Profile, ControllerSettings]:
        """Return what the parameters ask for, the profile, and what the controller is told."""
        known = names_of(PolicyNodeSettings) | set(overrides(self))
        refuse_foreign(self._arguments, self.get_fully_qualified_name(), NAME, known)
        settings = read_settings(self, PolicyNodeSettings, read_only=False)
        if not is_policy(settings.model):
            raise SettingsError(f'parameter model: got {settings.model!r}, expected a policy, '
                                f'such as onnx:policy.onnx')
        policy = policy_of(settings.model, ())
        model = parameter_model(policy)
        texts = read_plugin_parameters(self, model, settings)
        refuse_unknown_parameters(self, PolicyNodeSettings, model)
        profile = load_profile(settings.profile) if settings.profile else Profile()
        robot = _robot(settings, profile, policy_of(settings.model, texts).terms.robot)
        topic = settings.command_topic or _command_role(robot, profile)
        known_topic = profile.topics.get(topic)
        return settings, profile, ControllerSettings(
            controller=settings.model, robot=robot, command_topic=topic,
            command_type=settings.command_type or (known_topic.type if known_topic else ''),
            controller_parameters=texts,
            schedule_clock='ros' if self._has_sim_time(profile) else 'steady',
            best_effort=tuple(profile.role_names.full(role)
                              for role, one in profile.topics.items()
                              if one.qos.reliability == 'best_effort'))

    def _has_sim_time(self, profile: Profile) -> bool:
        given = overrides(self).get('use_sim_time')
        return profile.use_sim_time if given is None else bool(given)

    def _opened(self, told: ControllerSettings, profile: Profile) -> PolicyControl:
        """Return the node that reads and commands, with its thread."""
        space, name = self.get_namespace(), self.get_name()
        names = RosNames(profile.namespace if space == '/' else space,
                         (*topic_rules(self._arguments, name), *profile.remap),
                         profile.role_names.roles)
        control = PolicyControl(
            threading.Event(), context=self.context, use_global_arguments=False, cli_args=[
                '--ros-args', *names.arguments, *to_arguments(told), '-r',
                f'__node:={name}{CONTROLS}', '-p',
                f'use_sim_time:={str(told.schedule_clock == "ros").lower()}'])
        self._open.callback(control.close)
        self._open.enter_context(spinning(control, on_error=self._fail_unheard))
        self._open.enter_context(stalls_reported(control, control.process))
        control.mount(profile)
        return control

    def _tick(self, control: PolicyControl, paused: threading.Event) -> None:
        """Decide and command until the event is set; what fails stops the robot."""
        try:
            tick_until(paused, control)
        except Exception as error:
            traceback.print_exception(error)
            self._fail(_why(error))

    def _fail_unheard(self) -> None:
        self._fail('a message could not be received')

    def _fail(self, reason: str) -> None:
        """Stop the robot, and leave the state active with an error; in any thread."""
        self._error = reason
        self.halt()
        if self._executor is not None:
            self._executor.create_task(self._deactivate)

    def _deactivate(self) -> None:
        if self._ticking is not None:
            self.trigger_deactivate()

    def _end(self) -> None:
        self.halt()
        self._ticking = None

    def _rest(self) -> None:
        """Wait until the thread of the last activation has ended: one thread uses the model."""
        if self._latest is None:
            return
        self._latest.join(_REST_S)
        if self._latest.is_alive():
            raise ControllerError(
                f'the decision that was being made when the node was deactivated: got no end '
                f'within {_REST_S:g} s, expected one. Try again later, or restart this process')
        self._latest = None

    def _close(self) -> None:
        self._control = None
        stack, self._open = self._open, ExitStack()
        stack.close()

    def _may_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        is_open = self._control is not None
        return SetParametersResult(successful=not is_open, reason=(
            'the node is configured with its parameters. Set them while it is unconfigured'
            if is_open else ''))


def _robot(settings: PolicyNodeSettings, profile: Profile, kind: str) -> RobotModel:
    """
    Return the robot of the profile with what the parameters change of it.

    :param kind: of the contract, if neither says one
    """
    values = {'kind': settings.robot.kind or profile.robot.kind or kind,
              **profile.robot.values, **settings.robot.values}
    if 'max_speed' not in values:
        raise SettingsError('parameter robot.max_speed: got nothing, expected the top speed of '
                            'the robot. Set profile, or robot.kind and robot.max_speed')
    try:
        return RobotModel.model_validate(values)
    except ValidationError as error:
        raise SettingsError(refused('robot', error.errors(include_url=False)[0])) from None


def _command_role(robot: RobotModel, profile: Profile) -> str:
    usual = kind_of(robot).command_topic
    known = [role for role in (usual, 'joint_trajectory', 'commands', 'cmd_vel')
             if role in profile.topics]
    return known[0] if known else usual


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, InputError) else described(error)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT, SIGTERM or, when asked to, the end of standard input."""
    return NodeProgram(NAME, _WHAT, PolicyNodeSettings, _MORE).run(arguments, _follow)


def _follow(arguments: Sequence[str], context: Context, ended: threading.Event) -> int:
    node = PolicyNode(context, arguments)
    given = overrides(node)
    if given.get('exit_with_stdin'):
        end_with_parent(ended)
    is_active = not given.get('autostart') or (
        node.trigger_configure() is _SUCCESS and node.trigger_activate() is _SUCCESS)
    with TransitionRequests(node, node.halt).answered() as executor:
        node.follow(executor)
        try:
            if is_active:
                ended.wait()
        finally:
            node.close()
    return 0 if is_active else 2


if __name__ == '__main__':
    sys.exit(main())
