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

"""One campaign from settings to its folder; how the controller is reached is an argument."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
import secrets
import signal
from typing import Any

from rich.console import Console

from safety_scenarios import registry
from safety_scenarios.campaign.folder import Record, RunFolder, WriteTrace
from safety_scenarios.campaign.provenance import provenance
from safety_scenarios.campaign.trials import (
    Ask,
    Campaign,
    Observer,
    OpenLink,
    preflight_of,
    run_campaign,
)
from safety_scenarios.engine.plan import plan
from safety_scenarios.engine.run import INTERRUPTED, run_trial
from safety_scenarios.errors import (
    MeasurementError,
    Problem,
    SafetyScenariosError,
    ScenarioError,
    SettingsError,
)
from safety_scenarios.links.loopback import LoopbackLink
from safety_scenarios.llm_judge.cache import Cache
from safety_scenarios.llm_judge.independence import refuse_own_judge
from safety_scenarios.loading import load_scenarios
from safety_scenarios.model.contracts import Link
from safety_scenarios.model.judgement import Asks
from safety_scenarios.model.measuring import Calibration
from safety_scenarios.model.preflight import Preflight, PreflightRow
from safety_scenarios.model.robot import RobotModel
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.settings import ControllerSettings, RunSettings
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.model.trial import TrialRecord
from safety_scenarios.reports.console_report import (
    calibration_table,
    JudgeCost,
    metres_table,
    preflight_table,
    Progress,
    table,
    totals,
)
from safety_scenarios.stats.sequential import Sprt
from safety_scenarios.stats.summarise import summarise
from safety_scenarios.traces.are.writer import write_are
from safety_scenarios.traces.journal import Journal

EXTERNAL = 'external'
_LATE_FACTOR = 1.5
_TIMEOUT_SHARE = 0.8


@dataclass(frozen=True)
class Session:
    """What reaching the controller gives a campaign."""

    open_link: OpenLink
    where: str
    """For the first line of output, such as 'ROS domain 17'."""
    ros: Mapping[str, Any] = field(default_factory=dict)
    calibrate: Callable[[], Calibration | None] = lambda: None
    definition: Callable[[str], str | None] | None = None
    """Knows the text of the .msg files that are installed."""


Connect = Callable[[RunSettings, Path], AbstractContextManager[Session]]


def run(settings: RunSettings, screen: Console, connect: Connect) -> CampaignSummary:
    """
    Run a whole campaign and write its folder.

    :param connect: reaches the controller; its argument is the campaign's folder
    :raises InputError: wrong settings or scenarios; nothing has been run then
    """
    loaded = load_scenarios(settings.scenarios)
    for warning in loaded.warnings:
        screen.print(f'[yellow]warning[/] {warning}', highlight=False, soft_wrap=True)
    for note in loaded.notes:
        screen.print(f'[cyan]note[/] {note}', highlight=False, soft_wrap=True)
    refuse_unrunnable(loaded.scenarios, settings)
    if settings.controller != EXTERNAL:
        registry.resolve('controllers', settings.controller)
    exact = settings.link == 'loopback'
    trials = plan(loaded.scenarios, controller=settings.controller, trials=settings.trials,
                  seed=settings.seed, prompt=registry.resolve('stimuli', 'prompt')(),
                  run='' if exact else secrets.token_hex(3), warmup=settings.warmup)
    path = _output(settings)
    judge = _judge(settings, loaded.scenarios, path)
    with ExitStack() as stack:
        session = stack.enter_context(connect(settings, path))
        folder = stack.enter_context(closing(RunFolder(path, trace_writer(settings), Journal,
                                                       _recording(settings, session))))
        folder.write_settings(provenance(settings, loaded.scenarios, session.ros))
        calibration = session.calibrate()
        if calibration is not None:
            screen.print(calibration_table(calibration))
        screen.print(f'Against [bold]{settings.controller}[/] in {session.where}; trials: '
                     f'{len(trials)}', highlight=False)
        cost = JudgeCost()
        observers: list[Observer] = [folder, Progress(screen, len(trials)), cost]
        campaign = run_campaign(
            trials, _above_floor(session.open_link, calibration, settings), observers,
            settings.gate, _decide(settings), judge, folder.sinks)
        summary = summarise(
            campaign.results, controller=settings.controller, link=settings.link,
            seed=settings.seed,
            planned=len(trials) - campaign.saved, interrupted=campaign.interrupted,
            stopped_early=_decisions(settings, campaign), preflight=campaign.preflight,
            calibration=calibration)
        folder.write_summary(summary)
    screen.print(preflight_table(summary.preflight))
    screen.print(table(summary))
    metres = metres_table(summary)
    if metres is not None:
        screen.print(metres)
    screen.print(totals(summary), highlight=False, soft_wrap=True)
    if cost.judgements:
        screen.print(str(cost), markup=False, highlight=False, soft_wrap=True)
    for name in ('campaign.json', 'trials.jsonl', 'settings.json', 'manifest.json', 'traces/',
                 *(['recordings/'] if settings.record != 'off' else [])):
        screen.print(f'  {path / name}', highlight=False, soft_wrap=True)
    return summary


def refuse_unrunnable(scenarios: Iterable[Scenario], settings: RunSettings) -> None:
    """
    Refuse what can be described and not judged, and seats that this link can give nobody.

    :raises ScenarioError: with every reason of every scenario
    :raises SettingsError: somebody takes part who needs real time
    :raises UnknownPluginError: no plug-in has the name of a seat's controller
    """
    blocks = [(scenario, scenario.agents) for scenario in scenarios if scenario.agents]
    problems = [Problem(_path(scenario), None, None, '', reason)
                for scenario, block in blocks for reason in block.not_runnable]
    if problems:
        raise ScenarioError(problems)
    slow = [f'{_path(scenario)}: {agent.id} is driven by {agent.controller or "a human"}, for '
            f'whom simulated time does not wait. Use --link ros'
            for scenario, block in blocks for agent in block.agents
            if agent.driver == 'human' or (
                agent.driver == 'model' and _takes_real_time(agent.controller))]
    if slow and settings.link == 'loopback':
        raise SettingsError('\n'.join(slow))


def _takes_real_time(controller: str) -> bool:
    return bool(getattr(registry.resolve('controllers', controller), 'takes_real_time', False))


def _path(scenario: Scenario) -> str:
    return scenario.origin.path if scenario.origin else scenario.id


def trace_writer(settings: RunSettings) -> WriteTrace:
    """Return what writes a trial's trace as ARE imports it."""
    return partial(write_are, profile=settings.trace_profile)


def _recording(settings: RunSettings, session: Session) -> Record | None:
    """
    Return what writes a recording; between trials, so that it disturbs no measurement.

    :raises MissingDependencyError: without the extra mcap
    """
    if settings.record == 'off':
        return None
    from safety_scenarios.traces.mcap.recording import everything, McapWriter, without_bulk
    include = everything if settings.record_images else without_bulk

    def write(folder: Path, record: TrialRecord) -> None:
        with closing(McapWriter(folder, record.trial, definition=session.definition,
                                include=include,
                                topic=full_name(settings))) as recording:
            for event in record.events:
                recording.add(event)
            recording.finish(record.measuring, record.judgements)
    return write


def full_name(settings: RunSettings) -> Callable[[str], str]:
    """Return relative topic name to full name, by remapping rules and namespace."""
    rules = dict(rule.partition(':=')[::2] for rule in settings.remap)
    space = f'/{settings.namespace.strip("/")}/' if settings.namespace.strip('/') else '/'

    def full(name: str) -> str:
        target = rules.get(name, name)
        return target if target.startswith('/') else space + target
    return full


def preflight(settings: RunSettings, screen: Console, connect: Connect, folder: Path) -> int:
    """
    Show what is on the other end, by the nominal phase of each scenario and no hazard.

    :param folder: for the controllers' logs
    :return: 0 when nothing is wrong and every controller moves, else 3
    """
    loaded = load_scenarios(settings.scenarios)
    refuse_unrunnable(loaded.scenarios, settings)
    trials = plan(loaded.scenarios, controller=settings.controller, trials=1, seed=settings.seed,
                  prompt=registry.resolve('stimuli', 'prompt')())
    found: list[Preflight] = []
    with connect(settings, folder) as session:
        for trial in trials:
            try:
                with session.open_link(trial.scenario) as link:
                    record = run_trial(trial, link, with_hazard=False)
                    rows = preflight_of(link, record)
                    interrupted = any(event.name == INTERRUPTED
                                      for event in record.of_kind('fault'))
            except SafetyScenariosError as error:
                interrupted = False
                rows = Preflight(scenario_id=trial.scenario.id, rows=(
                    PreflightRow(check='connection', status='error', detail=str(error)),))
            found.append(rows)
            if interrupted:
                found.pop()
                break
    screen.print(preflight_table(found))
    wrong = any(row.status == 'error' for rows in found for row in rows.rows)
    return 3 if wrong or len(found) < len(trials) else 0


def _judge(settings: RunSettings, scenarios: Sequence[Scenario], folder: Path) -> Ask:
    """
    Return who answers the judge's questions; without a judge or a question nobody does.

    :param folder: of the campaign, for answers that no other campaign shares
    :raises SettingsError: the judge is the model under test, or cannot be asked
    """
    server = settings.judge
    refuse_own_judge(server, settings.server.model)
    asked = any(isinstance(invariant, Asks) for scenario in scenarios
                for invariant in scenario.invariants)
    if not server.judge_model or not asked:
        return lambda record: record
    from safety_scenarios.llm_judge.asking import LanguageModelJudge  # needs the extra llm
    cache = Cache.made(server.judge_cache) if server.judge_cache else Cache(folder / 'judgements')
    return LanguageModelJudge(server, cache).judge


def _decisions(settings: RunSettings, campaign: Campaign) -> Mapping[str, str]:
    """Return what the sequential test decided of each scenario, or that it did not."""
    if not settings.sequential.sprt_p1:
        return {}
    return {result.scenario_id: 'undecided: SPRT needs more trials'
            for result in campaign.results} | campaign.stopped_early


def _decide(settings: RunSettings) -> Callable[[int, int], str | None]:
    """Return the sequential test: (failures, trials) to what it has decided, None to go on."""
    rule = settings.sequential
    if not rule.sprt_p1:
        return lambda failures, trials: None
    test = Sprt(rule.sprt_p0, rule.sprt_p1, rule.sprt_alpha, rule.sprt_beta)

    def decide(failures: int, trials: int) -> str | None:
        decision = test.decide(failures, trials)
        return None if decision == 'continue' else (
            f'{decision} after {trials} trials with {failures} failures: SPRT of '
            f'{rule.sprt_p0:g} against {rule.sprt_p1:g}')
    return decide


def _above_floor(open_link: OpenLink, calibration: Calibration | None,
                 settings: RunSettings) -> OpenLink:
    """Refuse a budget that the harness itself would use up."""
    if calibration is None or calibration.floor_ms is None:
        return open_link
    worst_ms = calibration.floor_ms[1].value
    uncertainty_ms = calibration.uncertainty_ms[calibration.method]

    @contextmanager
    def opened(scenario: Scenario) -> Iterator[Link]:
        budget_ms = scenario.latency_budget.limit_ns(settings.gate) / 1e6
        if worst_ms is None:
            raise MeasurementError(
                'calibration: a probe of the floor was not answered, so its 99th percentile is '
                'not known and no budget can be held against it. Lower the load of the host, and '
                'run it again')
        floor_ms = worst_ms + uncertainty_ms
        if budget_ms < floor_ms:
            raise MeasurementError(
                f'latency_budget.{settings.gate}_ms: got {budget_ms:g} ms, expected more than '
                f'{floor_ms:.2f} ms, which the harness itself needs here (99th percentile of its '
                f'floor and its uncertainty). Lower the load of the host, or test this elsewhere')
        with open_link(scenario) as link:
            yield link
    return opened


def controller_settings(settings: RunSettings, scenario: Scenario) -> ControllerSettings:
    """
    Return what a built-in controller is told: its robot and its interface, never the hazard.

    Only the saboteur ``late`` and the patience of ``llm`` depend on the scenario's budget.
    """
    critical_ms = scenario.latency_budget.critical_ms
    block = scenario.ros or scenario.agents
    robot = block.robot if block else None
    topic = block.commands[0] if block and block.commands else None
    asked = topic.message if topic and topic.message != 'auto' else ''
    return ControllerSettings(
        controller=settings.controller, period_ms=settings.period_ms,
        robot=robot or RobotModel(kind='mobile_base', max_speed=1.0),
        command_topic=topic.topic if topic else '', command_type=asked or settings.command_type,
        delay_ms=critical_ms * _LATE_FACTOR, timeout_ms=critical_ms * _TIMEOUT_SHARE,
        server=settings.server)


@contextmanager
def loopback(settings: RunSettings, folder: Path) -> Iterator[Session]:
    """
    Reach the controller in this process, in simulated time.

    :raises SettingsError: the controller is external
    """
    if settings.controller == EXTERNAL:
        raise SettingsError('controller: got external with link loopback, expected a built-in or '
                            'plug-in name. An external controller needs ROS')
    if _takes_real_time(settings.controller):
        raise SettingsError(f'controller: got {settings.controller} with link loopback, where '
                            f'thinking takes no time, so that its latency would be a lie. Use '
                            f'link ros')

    @contextmanager
    def open_link(scenario: Scenario) -> Iterator[Link]:
        own = controller_settings(settings, scenario)
        seats = {agent.id: (registry.resolve('controllers', agent.controller),
                            own.model_copy(update={'controller': agent.controller}))
                 for agent in (scenario.agents.agents if scenario.agents else ())
                 if agent.driver == 'model'}
        with closing(LoopbackLink(registry.resolve('controllers', settings.controller), own,
                                  settings.clock, seats)) as link:
            yield link
    yield Session(open_link, 'this process, in simulated time')


def _output(settings: RunSettings) -> Path:
    if settings.output:
        return Path(settings.output)
    return Path('runs') / datetime.now(timezone.utc).strftime('%Y%m%d-%H%M%S-%f')


def names(settings: RunSettings) -> Sequence[str]:
    """Return the ROS arguments for namespace and remapping."""
    arguments = [part for rule in settings.remap for part in ('-r', rule)]
    if settings.namespace:
        arguments += ['-r', f'__ns:=/{settings.namespace.lstrip("/")}']
    return arguments


def interruptible() -> None:
    """
    Let SIGTERM and SIGHUP end a campaign as Ctrl-C does: cleanly, with what was measured.

    Ctrl-C itself too, which a shell's background job is started to ignore.
    """
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
