# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
``lifecycle_evaluator_node``: a campaign as a managed node, brought up and down by its states.

Transitions are answered by a thread of their own; the campaign runs in the main thread, as that of
``evaluator_node`` does, and its stimuli and commands have nodes and threads that these here have
no part in. The thread sleeps until somebody asks for a transition.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
import queue
import sys
import threading
import time
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rich.console import Console
from safety_scenarios.campaign.connect import connection
from safety_scenarios.campaign.folder.folder import MANIFEST
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.campaign.run import run as run_campaign
from safety_scenarios.campaign.selecting import asked_for
from safety_scenarios.campaign.signals import interruptible
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.reports.console_report import console
from safety_scenarios.reports.plain_text import speak_plainly
from safety_scenarios.ros.hil.interlocks.run_log import RunLog
from safety_scenarios.ros.link.stopped_link import Stop, stoppable
from safety_scenarios.ros.measuring_node import WithoutClock
from safety_scenarios.ros.nodes.evaluator_node import given_settings, say
from safety_scenarios.ros.nodes.node_arguments import usage, wants_help
from safety_scenarios.ros.parameters import names_of, NOT_PARAMETERS
from safety_scenarios.ros.spinning import ros_context
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import spec_of
from safety_scenarios.trial.observer import Beginning, Observer, open_outputs, OutputContext
from safety_scenarios.trial.trial import TrialRecord

NAME = 'lifecycle_evaluator_node'
_MEASURES_AS = RunSettings.model_fields['node_name'].default
"""Name of the node that publishes stimuli and hears commands while a campaign runs."""
_WHAT = ('Runs safety scenarios as evaluator_node does, when its lifecycle says so: configure '
         'checks them, activate runs them.')
_MORE = """
Exit codes: as of evaluator_node, the worst of all campaigns; 3 when none was run."""
_SUCCESS, _ERROR = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.ERROR
_WORST_FIRST = (1, 2, 3, 0)
"""Exit codes: a failed trial is not made good by a campaign that came later."""
_REFUSED, _NOTHING_RUN = 2, 3
_REPLY_S = 0.5
"""After a shutdown: so long the answer to whoever asked for it may take to leave."""
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


class LifecycleEvaluator(WithoutClock, LifecycleNode):
    """
    Checks scenarios when configured, and runs the campaign while it is active.

    :ivar work: takes what the main thread has to run; None: the process shall end

    :param arguments: of the process
    """

    def __init__(self, context: Context, arguments: Sequence[str]) -> None:
        super().__init__(NAME, context=context)
        self.work: queue.SimpleQueue[Callable[[], int] | None] = queue.SimpleQueue()
        self._codes: set[int] = set()
        self._is_refused = False
        self._arguments = arguments
        self._settings: RunSettings | None = None
        self._scenarios: Sequence[Scenario] = ()
        self._stop = Stop()
        self._folder: Path | None = None
        self._idle = threading.Event()
        self._idle.set()
        self._error = ''
        self._bond: Any = None
        self._is_configured = self._is_active = False
        self._activated = 0
        with suppress(InputError):  # configuring says what is wrong; this is for ros2 param list
            self._read()
        self.add_on_set_parameters_callback(self._may_set)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the settings, load the scenarios, and refuse what could not be judged."""
        try:
            settings = self._read()
            loaded = load_scenarios(settings.scenarios, settings.regex)
            scenarios = asked_for(loaded.scenarios, settings)
            refuse_unrunnable(scenarios, settings, with_unbound=True)
            spec = spec_of(settings)
            connection(settings)
        except Exception as error:
            self._note(_REFUSED if isinstance(error, InputError) else _NOTHING_RUN)
            return self._failed(str(error))
        for warning in loaded.warnings:
            self.get_logger().warning(str(warning))
        self._settings, self._scenarios = settings, scenarios
        self._is_configured = True
        self.get_logger().info(f'configured: {len(scenarios)} scenarios, '
                               f'{settings.trials} trials of each, against {spec.label}')
        return _SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let the main thread run the campaign; whoever asked for it need not wait for that."""
        self._is_active = True
        self._activated += 1
        self._stop.forget()
        self._idle.clear()
        self._bond = _bonded(self)
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
        self.get_logger().error(f'last state: {state.label}; now unconfigured, as told: {reason}')
        _record_error(self._folder, state.label, reason)
        self._folder = None
        self._forget()
        return _SUCCESS

    @property
    def exit_code(self) -> int:
        """As of ``evaluator_node``, the worst of all campaigns; 3 when none was run."""
        codes = self._codes | ({_REFUSED} if self._is_refused else set())
        return min(codes or {_NOTHING_RUN}, key=_WORST_FIRST.index)

    def ended(self, activated: int) -> None:
        """
        Leave the state active after a campaign that nobody stopped; in the node's thread.

        :param activated: what the campaign has returned; another one may have begun since
        """
        if self._is_active and activated == self._activated:
            self.trigger_deactivate()

    def _run(self) -> int:
        """Run the campaign, in the main thread; return for which activation that was."""
        assert self._settings is not None
        activated = self._activated
        code = _NOTHING_RUN
        between = _StopBetween(self._stop)
        try:
            log = self.get_logger()
            with open_outputs(OutputContext(self._settings, log.info, log.warning)) as observers:
                summary = run_campaign(
                    self._settings, [*observers, between],
                    stoppable(connection(self._settings), self._stop), scenarios=self._scenarios)
            code = summary.exit_code
            told = (f'campaign: {summary.verdict.value}: {summary.completed} of '
                    f'{summary.planned} trials, exit code {code}')
            if code == 0:
                self.get_logger().info(told)
            else:
                self.get_logger().error(told)
            if summary.interrupted and not self._stop.is_asked:
                raise KeyboardInterrupt
        except InputError as error:
            code, self._error = _REFUSED, str(error)
        except KeyboardInterrupt:  # before its first trial, or by a signal
            if not self._stop.is_asked:
                raise
        except Exception as error:  # not a verdict
            self._error = f'the campaign could not go on: {error}'
        finally:
            self._folder = between.folder
            self._note(code)
            self._idle.set()
        return activated

    def _read(self) -> RunSettings:
        return given_settings(self, self._arguments, NAME, _MEASURES_AS, read_only=False)

    def _may_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        return SetParametersResult(
            successful=not self._is_configured, reason='the node is configured with its '
            'parameters. Set them while it is unconfigured' if self._is_configured else '')

    def _forget(self) -> None:
        self._settings, self._scenarios, self._is_configured = None, (), False

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
        self.get_logger().error(reason)
        return _ERROR


def _record_error(folder: Path | None, state: str, reason: str) -> None:
    """Write the last state into the run log of a campaign that was not brought to its end."""
    if folder is None or not folder.is_dir() or (folder / MANIFEST).exists():
        return
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


@contextmanager
def _answering(node: LifecycleEvaluator) -> Iterator[SingleThreadedExecutor]:
    """Answer for a node in a thread until the block ends."""
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)

    def answer() -> None:
        with suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=answer, name='transitions')
    thread.start()
    try:
        yield executor
    finally:
        executor.shutdown()
        thread.join()
        node.destroy_node()


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow transitions until a shutdown or a signal; return the worst campaign's exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    speak_plainly((sys.stdout, sys.stderr))
    interruptible()
    try:
        if wants_help(arguments, names_of(RunSettings)):
            say(console(), usage(NAME, _WHAT, RunSettings, NOT_PARAMETERS, _MORE))
            return 0
        with ros_context(arguments, None) as context:
            node = LifecycleEvaluator(context, arguments)
            with _answering(node) as executor, suppress(KeyboardInterrupt):
                while (run := node.work.get()) is not None:
                    executor.create_task(node.ended, run())
                time.sleep(_REPLY_S)
            return node.exit_code
    except InputError as error:
        say(Console(stderr=True), '\n'.join(error.lines))
        return 2


if __name__ == '__main__':
    sys.exit(main())
