# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
``evaluator_node``: runs campaigns over ROS topics, as a managed node.

It configures and activates itself, and ends with the exit code of its one campaign, unless the
parameter ``autostart`` is false: then transitions bring it up and down.

Transitions are received and carried out by two threads of their own, which sleep until one is
requested (``transition_requests``). The campaign runs in the main thread, and its stimuli and
commands have nodes and threads of their own.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
import queue
import sys
import threading
import time
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.context import Context
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from safety_scenarios.campaign.folder.folder import MANIFEST
from safety_scenarios.campaign.open_session import connection
from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.process import hide_arguments, interruptible, remove_launch_files
from safety_scenarios.campaign.run import run as run_campaign
from safety_scenarios.errors import counted, InputError, interrupted
from safety_scenarios.formats.loading import load_scenarios, ScenarioSet
from safety_scenarios.reports.console_report import print_text, teller, warn
from safety_scenarios.reports.plain_text import speak_plainly
from safety_scenarios.ros.hil.hardware import RunLog
from safety_scenarios.ros.link.stopped_link import Stop, stoppable
from safety_scenarios.ros.measuring_node import given_overrides, WithoutClock
from safety_scenarios.ros.nodes.node_program import (
    refuse_foreign,
    topic_rules,
    usage,
    wants_help,
)
from safety_scenarios.ros.nodes.transition_requests import TransitionRequests
from safety_scenarios.ros.parameters import (
    fitting,
    names_of,
    NOT_PARAMETERS,
    overrides,
    read_settings,
    refuse_unknown_parameters,
    with_values,
)
from safety_scenarios.ros.spinning import ros_context
from safety_scenarios.scenario.fields import ANY_PATH
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import EvaluatorSettings, RunSettings
from safety_scenarios.trial.links.controller_settings import plan_controller
from safety_scenarios.trial.parameters import to_text, WHERE
from safety_scenarios.trial.session import Beginning, Observer, open_outputs, OutputContext
from safety_scenarios.trial.trial import TrialRecord

NAME = RunSettings.model_fields['node_name'].default
"""Name of the node that publishes stimuli and hears commands while a campaign runs."""
MANAGED = 'lifecycle_'
"""Before that name: the managed node, which is in the ROS graph all the time."""
_WHAT = ('Runs safety scenarios against a controller and judges it, as safety-scenarios run '
         'does.')
_MORE = """
Exit codes: 0 every trial PASS; 1 some FAIL; 2 wrong input or usage; 3 some INCONCLUSIVE or ERROR
and no FAIL. With autostart false: the worst of all campaigns; 3 when none was run."""
_SUCCESS, _ERROR = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.ERROR
_FAILURE = TransitionCallbackReturn.FAILURE
_WORST_FIRST = (1, 2, 3, 0)
"""Exit codes: a failed trial is not made good by a campaign that came later."""
_REFUSED, _NOTHING_RUN = 2, 3
_REPLY_S = 0.5
"""After a shutdown: so long the answer to whoever asked for it may take to leave."""
_LEAVE_S, _LOOK_S = 5.0, 0.01
"""After the campaign of a node that starts itself: so long it may take to become inactive."""
_BOND = 'bond'
"""The topic on which nav2's lifecycle manager expects one."""


class _StopBetween(Observer):
    """
    Ends a campaign before its next trial, as Ctrl-C would, once that is asked for.

    :ivar folder: of the campaign, None before it has one
    """

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self.folder: Path | None = None

    def campaign_began(self, beginning: Beginning) -> None:
        self.folder = beginning.folder
        self._stop.look()

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        self._stop.look()


class Evaluator(WithoutClock, LifecycleNode):
    """
    Checks scenarios when configured, and runs the campaign while it is active.

    :ivar work: takes what the main thread has to run; None: the process shall end

    :param settings: of the one campaign that it runs by itself; None: parameters say what to run,
        and transitions when
    """

    def __init__(self, context: Context, arguments: Sequence[str],
                 settings: RunSettings | None = None) -> None:
        if settings is None:
            super().__init__(MANAGED + NAME, context=context)
        else:
            super().__init__(MANAGED + settings.node_name, context=context,
                             namespace=settings.namespace, use_global_arguments=False)
        self.work: queue.SimpleQueue[Callable[[], int] | None] = queue.SimpleQueue()
        self._codes: set[int] = set()
        self._is_refused = False
        self._arguments, self._given = arguments, settings
        self._settings: RunSettings | None = None
        self._loaded: ScenarioSet | None = None
        self._stop = Stop()
        self._folder: Path | None = None
        self._idle = threading.Event()
        self._idle.set()
        self._error = ''
        self._bond: Any = None
        self._is_configured = self._is_active = self._is_left = False
        self._activated = 0
        with suppress(InputError):  # configuring says what is wrong; this is for ros2 param list
            self._read()
        self.add_on_set_parameters_callback(self._may_set)
        if settings is None:
            self.get_logger().info('unconfigured; waits for the transition configure')

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the settings, load the scenarios, and refuse what could not be judged."""
        settings = None
        try:
            settings = self._read()
            loaded = load_scenarios(settings.scenarios, settings.regex)
            plan = plan_campaign(settings, loaded.scenarios)
        except Exception as error:
            self._note(_REFUSED if isinstance(error, InputError) else _NOTHING_RUN)
            if settings is not None:
                _end_outputs(settings, error)
            return self._failed('\n'.join(error.lines) if isinstance(error, InputError)
                                else str(error))
        self._settings, self._loaded = settings, loaded
        self._is_configured = True
        self.get_logger().info(
            f'configured: {counted(len(plan.scenarios), "scenario")}, '
            f'{counted(settings.trials, "trial")} of each, '
            f'against {plan.controller.label}'
            + ('; waits for the transition activate' if self._given is None else ''))
        return _SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the main thread run the campaign; whoever asked for it need not wait for that."""
        self._idle.clear()
        if self._is_left:
            self._idle.set()
            return _FAILURE
        self._is_active = True
        self._activated += 1
        self._stop.forget()
        self._bond = _bonded(self) if self._given is None else None
        self.work.put(self._run)
        return _SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """
        Disarm at once, and end the campaign: nothing leaves from now on, in mid-trial too.

        The trial that was running is INCONCLUSIVE, and so is what was not run. A campaign that has
        ended deactivates the node itself, and one that could not be run is an error.
        """
        self._end_campaign()
        return self._failed(self._error) if self._error else _SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget settings and scenarios, so that others can be configured."""
        self._forget()
        return _SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Disarm at once, end the campaign, and then the process."""
        self._end_campaign()
        self.work.put(None)
        return _SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Go back to unconfigured, from where everything can be tried again."""
        reason, self._error = self._error, ''
        self.get_logger().error(f'{reason}\nThe last state was {state.label}, the node is now '
                                f'unconfigured')
        _record_error(self._folder, state.label, reason)
        self._folder = None
        self._forget()
        return _SUCCESS

    @property
    def exit_code(self) -> int:
        """Return the worst of all campaigns; 3 when none was run."""
        codes = self._codes | ({_REFUSED} if self._is_refused else set())
        return min(codes or {_NOTHING_RUN}, key=_WORST_FIRST.index)

    def start(self) -> None:
        """Configure and activate the node, before anybody can ask it for a transition."""
        if self.trigger_configure() is not _SUCCESS or self.trigger_activate() is not _SUCCESS:
            self.work.put(None)

    def ended(self, activated: int) -> None:
        """
        Leave the state active after a campaign that nobody stopped; in the node's thread.

        :param activated: what the campaign has returned; another one may have begun since
        """
        if self._is_active and activated == self._activated:
            self.trigger_deactivate()

    def stop(self) -> None:
        """
        Let nothing leave any more, and end the campaign, if one runs; in any thread.

        The node becomes inactive when the campaign has ended. Activating it begins anew.
        """
        self._stop.ask()

    def leave(self) -> None:
        """Run no campaign any more: the main thread has left, and no transition waits for it."""
        self._is_left = True
        self._idle.set()

    def _run(self) -> int:
        """Run the campaign, in the main thread; return for which activation that was."""
        settings, loaded = self._settings, self._loaded
        assert settings is not None and loaded is not None
        activated = self._activated
        code = _NOTHING_RUN
        between = _StopBetween(self._stop)
        try:
            with open_outputs(OutputContext(
                    settings, teller(settings.console), warn)) as observers:
                for observer in observers:
                    observer.scenarios_read(loaded.warnings, loaded.notes)
                summary = run_campaign(
                    settings, [*observers, between],
                    stoppable(connection(settings.link), self._stop), scenarios=loaded.scenarios)
                code = summary.exit_code  # also if a signal ends what the outputs do with it
            told = (f'campaign: {summary.verdict.value}: {summary.completed} of '
                    f'{summary.planned} trials, exit code {code}')
            if code == 0:
                self.get_logger().info(told)
            else:
                self.get_logger().error(told)
            if summary.interrupted and not self._stop.is_requested:
                self.work.put(None)
        except InputError as error:
            code, self._error = _REFUSED, str(error)
        except KeyboardInterrupt:  # before its first trial, or by a signal
            if not self._stop.is_requested:
                raise
        except Exception as error:  # not a verdict
            self._error = f'the campaign could not go on: {error}'
        finally:
            self._folder = between.folder
            self._note(_NOTHING_RUN if self._error and code == 0 else code)
            self._idle.set()
        return activated

    def _read(self) -> RunSettings:
        return self._given or given_settings(self, self._arguments, MANAGED + NAME,
                                             self._measures_as, read_only=False)

    @property
    def _measures_as(self) -> str:
        """Return the name of the node that measures, which is never that of this one."""
        return MANAGED + NAME if self.get_name() == NAME else NAME

    def _may_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        return SetParametersResult(
            successful=not self._is_configured, reason='the node is configured with its '
            'parameters. Set them while it is unconfigured' if self._is_configured else '')

    def _forget(self) -> None:
        self._settings, self._loaded, self._is_configured = None, None, False

    def _end_campaign(self) -> None:
        self._is_active = False
        if self._bond is not None:
            self._bond.shutdown()
            self._bond = None
        self._stop.ask()
        self._idle.wait()

    def _note(self, code: int) -> None:
        """Keep what came of a campaign; wrong input that was corrected counts no more."""
        self._is_refused = code == _REFUSED
        if not self._is_refused:
            self._codes.add(code)

    def _failed(self, reason: str) -> TransitionCallbackReturn:
        self._error = reason
        return _ERROR


def _record_error(folder: Path | None, state: str, reason: str) -> None:
    """Write the last state into the run log of a campaign that was not brought to its end."""
    if folder is None or not folder.is_dir() or (folder / MANIFEST).exists():
        return
    with suppress(OSError):  # it is in the log of the node, too
        log = RunLog(folder)
        try:
            log('error', state=state, reason=reason)
        finally:
            log.close()


def _bonded(node: LifecycleNode) -> Any:
    """Return a started bond with whoever manages the node; None where bondpy is not installed."""
    try:
        from bondpy.bondpy import Bond  # optional: nav2's lifecycle manager brings it
    except ImportError:
        return None
    bond = Bond(topic=_BOND, id=node.get_name(), node=node)
    bond.start()
    return bond


def _end_outputs(settings: RunSettings, error: Exception) -> None:
    """Let outputs say why there is no campaign: a JUnit file of an earlier one must not stay."""
    with suppress(Exception), open_outputs(
            OutputContext(settings, teller(settings.console), warn)):
        raise error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one campaign, or follow transitions until a shutdown; return the worst exit code."""
    if arguments is None:
        arguments = sys.argv[1:]
        hide_arguments(NAME)
    speak_plainly((sys.stdout, sys.stderr))
    interruptible()
    try:
        if wants_help(arguments, names_of(EvaluatorSettings)):
            print_text(usage(NAME, _WHAT, EvaluatorSettings, NOT_PARAMETERS, _MORE))
            return 0
        settings = _settings(arguments)
        with ros_context(arguments, None) as context:
            if settings is not None:  # a managed node reads them when it is configured
                remove_launch_files(arguments)
            return _follow(Evaluator(context, arguments, settings), settings is not None)
    except InputError as error:
        warn('\n'.join(error.lines))
        return _REFUSED
    except KeyboardInterrupt as stop:
        warn(interrupted(stop))
        return _NOTHING_RUN
    except Exception as error:  # not a verdict: never exit code 1, which says that a trial failed
        warn(f'error: {error}')
        return _NOTHING_RUN


def _follow(node: Evaluator, autostart: bool) -> int:
    """Run a campaign whenever the node is activated, until a shutdown; return the exit code."""
    if autostart:
        node.start()
    with TransitionRequests(node, node.stop).answered() as executor:
        try:
            while (run := node.work.get()) is not None:
                task = executor.create_task(node.ended, run())
                if autostart:
                    until_s = time.monotonic() + _LEAVE_S
                    while not task.done() and time.monotonic() < until_s:
                        time.sleep(_LOOK_S)
                    return node.exit_code
            if not autostart:
                time.sleep(_REPLY_S)
        except KeyboardInterrupt as stop:
            warn(interrupted(stop))
        finally:
            node.leave()
    return node.exit_code


def _settings(arguments: Sequence[str]) -> RunSettings | None:
    """
    Read the parameters in a short-lived node: the domain to run in is one of them.

    :return: None: with ``autostart`` false they are read when the node is configured
    """
    with ros_context(arguments, None) as context:
        reader = Node(NAME, context=context)
        try:
            if not fitting('autostart', overrides(reader).get('autostart', True), bool):
                return None
            return given_settings(reader, arguments, NAME, reader.get_name())
        finally:
            reader.destroy_node()


def given_settings(node: Node, arguments: Sequence[str], first_name: str, node_name: str, *,
                   read_only: bool = True) -> RunSettings:
    """
    Return the settings that a node's parameters and a process' arguments ask for.

    :param first_name: the node's name before it was remapped
    :param node_name: of the node that will measure
    :param read_only: whether the parameters can only be given when the node is started
    :raises SettingsError: a parameter is wrong or unknown, or something misses this node
    """
    name, space = node.get_name(), node.get_namespace()
    refuse_foreign(arguments, node.get_fully_qualified_name(), first_name,
                   names_of(EvaluatorSettings))
    given = overrides(node)
    of_node: dict[str, Any] = {} if space == '/' else {'namespace': space.lstrip('/')}
    if 'use_sim_time' in given:
        of_node['use_sim_time'] = bool(node.get_parameter('use_sim_time').value)
    settings = read_settings(node, EvaluatorSettings, read_only, node_name=node_name, **of_node)
    refuse_unknown_parameters(node, EvaluatorSettings, more=(f'{WHERE}{ANY_PATH}',),
                              elsewhere=_controller_parameters(settings.controller))
    own = [to_text(known.removeprefix(WHERE), value) for known, value in given.items()
           if known.startswith(WHERE)]
    return with_values(
        settings.campaign, remap=(*settings.remap, *topic_rules(arguments, name)),
        qos_overrides=(*settings.qos_overrides, *given_overrides(node)),
        controller_parameters=(*settings.controller_parameters, *own))


def _controller_parameters(controller: str) -> dict[str, str]:
    """Return what to do about a parameter of the controller, which is none of the evaluator."""
    try:
        known = plan_controller(RunSettings(controller=controller)).facts.known
    except InputError:  # said later
        return {}
    return {name: f'It is one of the controller {controller}: set {WHERE}{name}' for name in known}


if __name__ == '__main__':
    sys.exit(main())
