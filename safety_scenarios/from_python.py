# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``safety_scenarios.run``: a campaign as one call, and what it came to."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import logging
import os
from pathlib import Path
from typing import Any, TYPE_CHECKING

from pydantic import ValidationError
from safety_scenarios.campaign import run as campaign
from safety_scenarios.campaign.plugin_roles import Controller
from safety_scenarios.campaign.statistics.quantiles import confirmed_class, confirmed_ms, judged_ms
from safety_scenarios.controllers.adapters import Decide, parameter_model
from safety_scenarios.errors import (
    counted,
    escaped_controls,
    MissingDependencyError,
    Problem,
    refused,
    SettingsError,
)
from safety_scenarios.formats.profile_file import merged, with_profile
from safety_scenarios.reports.outputs.columns import Campaign, Table, TABLES
from safety_scenarios.reports.outputs.rows import rows_of
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.fields import (
    is_given,
    kind_of_group,
    nested,
    setting_at,
    SHORT_NAMES,
    suggestion,
)
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.links.isolated_controller import (
    IsolatedController,
    removed_if_refused,
)
from safety_scenarios.trial.parameters import is_bundled, to_text
from safety_scenarios.trial.session import Beginning, Observer, open_outputs, OutputContext
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import TrialRecord

if TYPE_CHECKING:
    import pandas

_MOST_TRIALS = 20
_DTYPES = {'text': 'string', 'int': 'Int64', 'float': 'Float64', 'bool': 'boolean'}


@dataclass(frozen=True, repr=False)
class CampaignResults:
    """All trials of one ``run``, and what they come to."""

    summary: CampaignSummary
    """Verdict, rates and latencies, each number with its interval."""
    trials: tuple[TrialResult, ...]
    """In the order in which they were run, warm-up included."""
    folder: Path | None
    """Where traces and results are; None: nothing was written."""
    warnings: tuple[Problem, ...] = ()
    """What is odd about the scenario files."""

    @property
    def verdict(self) -> Verdict:
        """Return the worst of all trials; INCONCLUSIVE when a planned trial was not completed."""
        return self.summary.verdict

    @property
    def exit_code(self) -> int:
        """0 every trial PASS; 1 some FAIL; 3 some INCONCLUSIVE or ERROR and no FAIL."""
        return self.summary.exit_code

    def explain(self) -> str:
        """Return every finding that kept a trial from PASS, as the text of an assertion."""
        wrong = [trial for trial in self.trials
                 if trial.verdict is not Verdict.PASS and not trial.warmup]
        lines = [str(self)]
        for trial in wrong[:_MOST_TRIALS]:
            lines.append(f'{trial.scenario_id} ({trial.scenario_name}), trial {trial.index + 1}: '
                         f'{trial.verdict.value}{_confirmed_text(trial)}')
            lines += [f'  {_line(finding)}' for finding in _bad(trial)]
            lines += [f'  {line}' for line in trial.scenario.lines] if trial.scenario else []
        if len(wrong) > _MOST_TRIALS:
            lines.append(f'and {len(wrong) - _MOST_TRIALS} more trials that did not pass')
        return '\n'.join(lines)

    def to_dataframe(self, table: Table = 'trials') -> 'pandas.DataFrame':
        """
        Return a table as ``safety-scenarios export`` writes it, by default a row for each trial.

        What an empty cell is there is ``pandas.NA`` here, such as a number that nobody measured.

        :param table: trials, findings or samples
        :raises SettingsError: there is no such table
        :raises MissingDependencyError: without pandas
        """
        if table not in TABLES:
            raise SettingsError(f'table: got {table!r}, expected one of {", ".join(TABLES)}')
        try:
            import pandas
        except ImportError:
            raise MissingDependencyError('to_dataframe', 'pandas', 'pip install pandas') from None
        columns = TABLES[table]
        frame = pandas.DataFrame(list(rows_of(table, self.as_tables())), dtype='object',
                                 columns=[column.name for column in columns])
        return frame.astype({column.name: _DTYPES[column.type] for column in columns})

    def as_tables(self) -> Campaign:
        """Return what the rows of the tables are made of."""
        return Campaign('' if self.folder is None
                        else escaped_controls(self.folder.resolve().name),
                        self.summary.link, self.trials)

    def __str__(self) -> str:
        """Return one line."""
        summary = self.summary
        verdicts = ', '.join(f'{count} {name}' for name, count in summary.verdicts.items())
        return (f'{summary.verdict.value} against {summary.controller}: {summary.completed} of '
                f'{counted(summary.planned, "trial")} completed ({verdicts or "none"}), '
                f'{summary.by_patterns} passed with words read by patterns only, '
                f'seed {summary.seed}'
                f'{", in the process of the harness" if summary.is_in_harness else ""}'
                f'{", its files in reach of the controller" if summary.readable else ""}')

    def __repr__(self) -> str:
        """Return one line instead of every number."""
        return f'<CampaignResults: {self}>'


def _confirmed_text(trial: TrialResult) -> str:
    """Return both latencies of a trial in which the robot was asked to confirm."""
    if not trial.asks_for_confirmation or trial.latency is None:
        return ''
    took, stood = judged_ms(trial), confirmed_ms(trial)
    return (f'; reaction {trial.latency.latency_class.value}'
            + ('' if took is None else f' {took:.1f} ms')
            + f', confirmed {confirmed_class(trial) or "not known"}'
            + ('' if stood is None else f' {stood:.1f} ms'))


def _bad(trial: TrialResult) -> Iterator[Finding]:
    for finding in trial.findings:
        if finding.verdict not in (None, Verdict.PASS):
            yield finding


def _line(finding: Finding) -> str:
    margin = '' if finding.margin is None else \
        f' (margin {finding.margin:.4g} {finding.unit or ""})'.replace(' )', ')')
    verdict = finding.verdict.value if finding.verdict else ''
    return f'{verdict} {finding.check}: {finding.reason}{margin}'


GivenController = str | type[Any] | ControllerPlugin | Controller | Decide


@contextmanager
def given(controller: GivenController, isolate: bool,
          output: Path | None = None) -> Iterator[tuple[str, Any]]:
    """
    Give the name that the results will bear, and the controller; None for that of a plug-in.

    What is not the harness's own is given as its process, which ends with the context.

    :param controller: the name of a plug-in, for which nothing else is needed; or whatever
        ``controllers.adapters`` takes for a controller
    :param isolate: False to leave it in this process
    :param output: folder of the campaign, which is hidden from that process
    :raises SettingsError: it is nothing of that kind
    :raises ControllerError: its process could not be started
    """
    if isinstance(controller, str):
        yield controller, None
        return
    parameter_model(controller)
    named = controller if hasattr(controller, '__qualname__') else type(controller)
    name = f'{named.__module__}:{named.__qualname__}'
    if not isolate or is_bundled(name, controller):
        yield name, controller
        return
    with removed_if_refused(output), IsolatedController(
            thing=controller, hidden=() if output is None else (output,)) as process:
        yield name, process


_OUTPUTS = 'page', 'junit'
"""A call from Python prints nothing."""


def run(*scenarios: str | os.PathLike[str] | Scenario, controller: GivenController = 'rule_based',
        output: str | os.PathLike[str] | None = None, observers: Sequence[Observer] = (),
        **settings: Any) -> CampaignResults:
    """
    Run scenarios against a controller and return what they came to; a FAIL raises nothing.

    :param scenarios: files, folders, globs, ids, installed folders such as ``robotic``, or
        ``Scenario`` objects; none: robotic
    :param controller: the name of a plug-in or ``external``; in loopback also a class or an
        object with ``decide(observation)`` or ``answer(messages)``, or a function of an
        ``Observation`` that returns a ``Command``; it runs in a process of its own, unless
        ``isolate=False``
    :param output: a new folder for traces, results and ``report.html``; None: nothing is written
        to the disk
    :param observers: are told about each trial as it ends
    :param settings: any other setting of ``safety-scenarios run``, such as ``link='loopback'``,
        ``trials=20`` or ``seed=1``; ``set={'judge.model': 'x'}`` gives settings by their dotted
        names; ``outputs`` is here by default ``('page', 'junit')``
    :raises InputError: wrong settings or scenarios; nothing has been run then
    :raises SafetyScenariosError: the campaign could not be carried out
    :raises KeyboardInterrupt: as soon as what was measured is in ``output``
    """
    kept, log = _Results(), logging.getLogger(__name__)
    with given(controller, settings.get('isolate', True) is not False,
               None if output is None else Path(output)) as (label, thing):
        names, objects = _requested_scenarios(scenarios)
        chosen = _settings({
            'outputs': _OUTPUTS, **settings, 'controller': label,
            'output': '' if output is None else os.fspath(output),
            **({'scenarios': names} if names else {})})
        with open_outputs(OutputContext(chosen, log.info, log.warning)) as opened:
            summary = campaign.run(chosen, [kept, *opened, *observers],
                                   scenarios=objects or None, controller=thing,
                                   files=output is not None)
    if summary.interrupted:
        raise KeyboardInterrupt
    return CampaignResults(summary, tuple(summary.as_in_files(kept.results)), kept.folder,
                           tuple(kept.warnings))


class _Results(Observer):
    """Keeps the results, and lets go of the records."""

    reads_events = False

    def __init__(self) -> None:
        self.results: list[TrialResult] = []
        self.warnings: list[Problem] = []
        self.folder: Path | None = None

    def scenarios_read(self, warnings: Sequence[Problem], notes: Sequence[Problem]) -> None:
        self.warnings += warnings

    def campaign_began(self, beginning: Beginning) -> None:
        self.folder = beginning.folder

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        self.results.append(result)


def _requested_scenarios(scenarios: Sequence[Any]) -> tuple[tuple[str, ...], tuple[Scenario, ...]]:
    """Return what is asked for: names, of ``Scenario`` objects their ids, and those objects."""
    objects = tuple(one for one in scenarios if isinstance(one, Scenario))
    if not objects:
        for one in scenarios:
            if not isinstance(one, (str, os.PathLike)):
                raise SettingsError(f'scenarios: got {one!r:.200}, expected names, paths or '
                                    f'Scenario objects, each an argument of its own')
        return tuple(map(os.fspath, scenarios)), ()
    ids = [scenario.id for scenario in objects]
    if len(objects) < len(scenarios):
        raise SettingsError('scenarios: got Scenario objects and names, expected one or the '
                            'other. Load the names with load_scenarios')
    for identifier in ids:
        if ids.count(identifier) > 1:
            raise SettingsError(f'scenarios: got {ids.count(identifier)} with the id '
                                f'{identifier}, expected one. Give each an id of its own')
    return tuple(ids), objects


def _settings(values: Mapping[str, Any]) -> RunSettings:
    """Return the settings; a keyword is a field or a short name, ``set`` holds dotted names."""
    paths = {**SHORT_NAMES, **{name: name for name, field in RunSettings.model_fields.items()
                               if is_given(field)}}
    dotted: dict[str, Any] = {}
    for name, value in values.items():
        if name not in paths and name != 'set':
            known = sorted({*paths, 'set'} - {'scenarios'})
            raise SettingsError(f'{name}: got an unknown keyword, expected one of '
                                f'{", ".join(known)}.{suggestion(name, known, _BY_SET)}')
        if name != 'set':
            place = kind_of_group(RunSettings, paths[name]) if isinstance(value, str) \
                else paths[name]
            dotted[place] = tuple(value) if isinstance(value, list) else value
    named, below = _by_dotted_names(values.get('set', {})), nested(dotted)
    if _PARAMETERS in named:
        named[_PARAMETERS] = (*below.get(_PARAMETERS, ()), *named[_PARAMETERS])
    own = with_profile(merged(below, named))
    try:
        return RunSettings.model_validate(own)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SettingsError(refused('.'.join(map(str, first['loc'])) or 'settings', first)) \
            from None


_BY_SET = ' Any other setting of doc/reference/settings.md goes in set={NAME: VALUE}'


_OF_CONTROLLER, _PARAMETERS = 'controller.', 'controller_parameters'
"""How the name of a parameter of the controller begins, and the setting that holds them."""


def _by_dotted_names(values: object) -> dict[str, Any]:
    """Return what ``set`` says, nested as the settings are."""
    if not isinstance(values, Mapping):
        raise SettingsError(f'set: got {values!r:.200}, expected a mapping of dotted names to '
                            f'values, such as judge.model to the name of a model')
    found: dict[str, Any] = {}
    for name, value in values.items():
        if str(name).startswith(_OF_CONTROLLER):
            found[_PARAMETERS] = (*found.get(_PARAMETERS, ()), to_text(
                str(name).removeprefix(_OF_CONTROLLER), value))
            continue
        dotted = kind_of_group(RunSettings, str(name))
        setting_at(RunSettings, dotted, 'set: ')
        found[dotted] = tuple(value) if isinstance(value, list) else value
    return nested(found)
