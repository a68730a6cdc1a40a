# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""``evaluator_node``: runs a campaign over ROS topics; the command line runs the same code."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, ExitStack
from datetime import datetime, timezone
from pathlib import Path
import secrets
import signal
import sys
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter
from rich.console import Console

from safety_scenarios import registry
from safety_scenarios.engine.campaign import Observer, run_campaign
from safety_scenarios.engine.plan import file_name, plan
from safety_scenarios.errors import InputError
from safety_scenarios.loading import load_scenarios
from safety_scenarios.model.robot import RobotModel
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.settings import ControllerSettings, RunSettings
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.reports.console_report import console, Progress, table, totals
from safety_scenarios.reports.run_folder import RunFolder
from safety_scenarios.ros.controller_process import ControllerProcess, remove_segments
from safety_scenarios.ros.domain import chosen_domain
from safety_scenarios.ros.link import RosLink
from safety_scenarios.ros.parameters import read_settings
from safety_scenarios.ros.provenance import provenance
from safety_scenarios.ros.spinning import ros_context, Spin, spinning
from safety_scenarios.stats.summarise import summarise
from safety_scenarios.traces.are_trace import to_are, to_json

EXTERNAL = 'external'
NODE_NAME = 'evaluator_node'
_LATE_FACTOR = 1.5
_TIMEOUT_SHARE = 0.8


def run(settings: RunSettings, screen: Console) -> CampaignSummary:
    """
    Run a whole campaign and write its folder.

    :raises InputError: wrong settings or scenarios; nothing has been run then
    """
    loaded = load_scenarios(settings.scenarios)
    for warning in loaded.warnings:
        screen.print(f'[yellow]warning[/] {warning}', highlight=False, soft_wrap=True)
    if settings.controller != EXTERNAL:
        registry.resolve('controllers', settings.controller)
    trials = plan(loaded.scenarios, controller=settings.controller, trials=settings.trials,
                  seed=settings.seed, prompt=registry.resolve('stimuli', 'prompt')(),
                  run=secrets.token_hex(3))
    killed: set[str] = set()
    with ExitStack() as stack:
        stack.callback(remove_segments, killed)
        domain_id = stack.enter_context(
            chosen_domain(settings.domain_id, settings.controller == EXTERNAL))
        context = stack.enter_context(
            ros_context(['--ros-args', *_names(settings)], domain_id))
        folder = stack.enter_context(closing(RunFolder(
            _output(settings), lambda record, result: to_json(to_are(record, result)))))
        folder.write_settings(provenance(settings, loaded.scenarios, domain_id))
        node = Node(NODE_NAME, context=context, parameter_overrides=[
            Parameter('use_sim_time', value=settings.use_sim_time)])
        spin = stack.enter_context(spinning(node))
        screen.print(f'Against [bold]{settings.controller}[/] in ROS domain {domain_id}; trials: '
                     f'{len(trials)}', highlight=False)
        observers: list[Observer] = [folder, Progress(screen, len(trials))]
        opener = _Opener(node, spin, settings, domain_id, folder.folder, killed)
        results, interrupted = run_campaign(trials, opener, observers, settings.gate)
        summary = summarise(results, controller=settings.controller, seed=settings.seed,
                            planned=len(trials), interrupted=interrupted)
        folder.write_summary(summary)
    screen.print(table(summary))
    screen.print(totals(summary), highlight=False, soft_wrap=True)
    for name in ('campaign.json', 'trials.jsonl', 'settings.json', 'traces/'):
        screen.print(f'  {folder.folder / name}', highlight=False, soft_wrap=True)
    return summary


class _Opener:
    """Opens the link for one scenario: a controller process, unless one runs already."""

    def __init__(self, node: Node, spin: Spin, settings: RunSettings, domain_id: int,
                 folder: Path, killed: set[str]) -> None:
        self._node = node
        self._spin = spin
        self._settings = settings
        self._domain_id = domain_id
        self._folder = folder
        self._killed = killed

    @contextmanager
    def __call__(self, scenario: Scenario) -> Iterator[RosLink]:
        timeout_s = self._settings.connect_timeout_s
        if self._settings.controller == EXTERNAL:
            with closing(RosLink(self._node, self._spin, timeout_s)) as link:
                yield link
            return
        log = self._folder / 'logs' / f'{file_name(scenario.id)}.log'
        sim_time = f'use_sim_time:={str(self._settings.use_sim_time).lower()}'
        process = ControllerProcess(
            controller_settings(self._settings, scenario), self._domain_id,
            [*_names(self._settings), '-p', sim_time], log, self._killed)
        try:
            with closing(RosLink(self._node, self._spin, timeout_s, process.ensure_running,
                                 process.alarm)) as link:
                yield link
        finally:
            process.stop()


def controller_settings(settings: RunSettings, scenario: Scenario) -> ControllerSettings:
    """
    Return what a built-in controller is told: its robot and its interface, never the hazard.

    Only the saboteur ``late`` and the patience of ``llm`` depend on the scenario's budget.
    """
    critical_ms = scenario.latency_budget.critical_ms
    topic = scenario.ros.commands[0] if scenario.ros else None
    asked = topic.message if topic and topic.message != 'auto' else ''
    return ControllerSettings(
        controller=settings.controller, period_ms=settings.period_ms,
        robot=scenario.ros.robot if scenario.ros else RobotModel(kind='mobile_base',
                                                                 max_speed=1.0),
        command_topic=topic.topic if topic else '', command_type=asked or settings.command_type,
        delay_ms=critical_ms * _LATE_FACTOR, timeout_ms=critical_ms * _TIMEOUT_SHARE,
        server=settings.server)


def _names(settings: RunSettings) -> list[str]:
    arguments = [part for rule in settings.remap for part in ('-r', rule)]
    if settings.namespace:
        arguments += ['-r', f'__ns:=/{settings.namespace.lstrip("/")}']
    return arguments


def _output(settings: RunSettings) -> Path:
    if settings.output:
        return Path(settings.output)
    return Path('runs') / datetime.now(timezone.utc).strftime('%Y%m%d-%H%M%S-%f')


def interruptible() -> None:
    """Let SIGTERM and SIGHUP end a campaign as Ctrl-C does: cleanly, with what was measured."""
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings from ROS parameters, run the campaign, return its exit code."""
    arguments = sys.argv if arguments is None else arguments
    interruptible()
    try:
        return run(_settings(arguments), console()).exit_code
    except InputError as error:
        Console(stderr=True).print(f'error: {error}', markup=False, highlight=False,
                                   soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 3
    except Exception as error:  # not a verdict: never exit code 1, which says that a trial failed
        Console(stderr=True).print(f'error: {error}', markup=False, highlight=False,
                                   soft_wrap=True)
        return 3


def _settings(arguments: Sequence[str]) -> RunSettings:
    """Read the parameters in a short-lived node: the domain to run in is one of them."""
    rules = [rule for flag, rule in zip(arguments, arguments[1:], strict=False)
             if flag in ('-r', '--remap') and not rule.startswith('__')]
    with ros_context(arguments, None) as context:
        reader = Node(NODE_NAME, context=context)
        try:
            settings = read_settings(
                reader, RunSettings, namespace=reader.get_namespace().lstrip('/'),
                use_sim_time=bool(reader.get_parameter('use_sim_time').value))
        finally:
            reader.destroy_node()
    return settings.model_copy(update={'remap': (*settings.remap, *rules)})


if __name__ == '__main__':
    sys.exit(main())
