# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One trial of a campaign, run again: as it was, or with a value that was drawn moved.

Seed, controller and settings are those of the campaign. What is planned now must be what was
planned then, to the last value, before anything is moved: else the replay is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
import json
import math
from pathlib import Path
import shlex
from typing import Any

from safety_scenarios import registry
from safety_scenarios.campaign.folder.evidence import Evidence, evidence_of
from safety_scenarios.campaign.folder.files import new_in_runs, plan_sha256, write_whole
from safety_scenarios.campaign.folder.provenance import source_sha256
from safety_scenarios.campaign.plan import CampaignPlan, plan_campaign
from safety_scenarios.campaign.rejudging.changes import parsed
from safety_scenarios.campaign.rejudging.stored_trials import judged, named
from safety_scenarios.campaign.run import run_campaign
from safety_scenarios.campaign.statistics.proportions import what_came_of
from safety_scenarios.errors import did_you_mean, InputError, SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.formats.scenario_files import portable_name
from safety_scenarios.scenario.blocks.vary import Draw
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario, Selection
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.matrix.file import matrix_around
from safety_scenarios.studies.search.space import ONSET, PHASE
from safety_scenarios.trial.links.isolated_controller import removed_if_refused
from safety_scenarios.trial.plan import fixed
from safety_scenarios.trial.plan_data import planned_entries
from safety_scenarios.trial.session import Beginning, Observer
from safety_scenarios.trial.trial import NOMINAL, PlannedTrial, Timeline, Trial, TrialRecord

REPLAY = 'replay.json'
"""File in the folder of a replay: what it is a replay of."""
_SAME_NS = 1_000
"""Commands that are no farther apart come at the same time."""


@dataclass(frozen=True)
class Played:
    """A trial, judged by its record."""

    folder: Path
    record: TrialRecord
    result: TrialResult
    notes: Sequence[str]
    """What is wrong with the record."""


@dataclass(frozen=True)
class Moved:
    """A value that was drawn, and what it is in the replay."""

    name: str
    before: Any
    after: Any
    unit: str | None = None
    note: str = ''
    """That the scenario would not have drawn it; empty: it may have."""


@dataclass(frozen=True)
class Difference:
    """Where the commands of two trials part."""

    after_s: float
    """Since the onset, or since the beginning without one; below 0: before it."""
    since: str
    topic: str
    first: str
    second: str


@dataclass(frozen=True)
class Replay:
    """A trial and its replay."""

    before: Played
    after: Played
    moved: tuple[Moved, ...]
    notes: tuple[str, ...]
    is_repeatable: bool
    """Whether times are simulated, so that the same trial comes out the same."""
    link: str

    @property
    def is_same(self) -> bool:
        """Return whether both came out alike to the last digit."""
        return what_came_of(self.before.result, self.link) == \
            what_came_of(self.after.result, self.link)

    @property
    def difference(self) -> Difference | None:
        """Return where the commands part; None: nowhere."""
        return first_difference(self.before.record, self.after.record)


def replay(folder: Path, name: str, changes: Sequence[str] = (), *, output: Path | None = None,
           files: Sequence[str] = (), on_hardware: bool = False) -> Replay:
    """
    Run a trial of a campaign again.

    :param name: a number in the list of ``show``, the trial's id or the beginning of one,
        ``SCENARIO:INDEX``, or the id of a scenario for its first trial
    :param changes: ``NAME=VALUE`` of what was drawn
    :param output: new folder; None: below runs
    :param files: scenario files instead of those that the campaign was run with
    :param on_hardware: whether a campaign on a real robot may be repeated
    :raises InputError: it cannot be replayed, or a change does not fit; nothing was run then
    :raises TraceError: nothing of the trial's record can be read
    """
    evidence = evidence_of(folder, has_ended=False)
    planned = named(list(evidence.plan.values()), name)
    settings = _settings(folder, evidence, planned, output, on_hardware=on_hardware)
    before = Played(folder, *judged(folder, evidence, planned))
    scenario = _scenario(settings, planned, files)
    if scenario.origin is not None and before.record.trial.scenario.origin is not None:
        scenario = scenario.model_copy(update={'origin': before.record.trial.scenario.origin})
    own_folder, source = Path(settings.output), folder.resolve()
    others = (matrix_around(source) or source,)  # the other arms of a matrix met the same trials
    with removed_if_refused(own_folder):
        plan = plan_campaign(settings, [scenario], folder=own_folder, before=others)
        _refuse_another(planned, plan, evidence)
        moved = tuple(_moves(scenario, plan.trials[0], changes))
        if moved:
            plan = _with_moved(plan_campaign(settings, [_moved(scenario, moved)],
                                             folder=own_folder, before=others), moved)
    plan = _ReplayPlan(
        **{one.name: getattr(plan, one.name) for one in fields(plan)},
        replayed=_command(folder, planned, moved))
    run_campaign(plan, [_Origin(folder, planned, before, moved)])
    assert plan.folder is not None
    again = evidence_of(plan.folder)
    [own] = again.plan.values()
    return Replay(before, Played(plan.folder, *judged(plan.folder, again, own)), moved,
                  (*_notes(evidence, plan), *(one.note for one in moved if one.note)),
                  plan.setup.link_plugin.is_repeatable, settings.link)


@dataclass(frozen=True)
class _ReplayPlan(CampaignPlan):
    """The plan of a replay, which another command runs again than a campaign's."""

    replayed: str = ''

    @property
    def command(self) -> str:
        return self.replayed


def _command(folder: Path, planned: PlannedTrial, moved: Sequence[Moved]) -> str:
    words = ['safety-scenarios', 'trial', 'replay', portable_name(str(folder)), planned.trial_id]
    for one in moved:
        words += ['--set', f'{one.name}={json.dumps(one.after)}']
    return shlex.join(words)


class _Origin(Observer):
    """Writes what a campaign is a replay of, into its folder."""

    def __init__(self, folder: Path, planned: PlannedTrial, before: Played,
                 moved: Sequence[Moved]) -> None:
        self._told = {
            'campaign': folder.resolve().name, 'trial': planned.trial_id, 'seed': planned.seed,
            'plan_sha256': planned.sha256, 'record': before.record.chain,
            'verdict': before.result.verdict.value,
            'moved': {one.name: {'before': one.before, 'after': one.after} for one in moved}}

    def campaign_began(self, beginning: Beginning) -> None:
        if beginning.folder is not None:
            write_whole(beginning.folder / REPLAY, json.dumps(self._told, indent=2))


def _settings(folder: Path, evidence: Evidence, planned: PlannedTrial, output: Path | None, *,
              on_hardware: bool) -> RunSettings:
    """Return the settings of a campaign for one trial of it, or refuse what cannot be run."""
    run = evidence.settings.run
    if run.link not in registry.names('links'):
        raise SettingsError(f'{folder}: link: got {run.link}, expected one of '
                            f'{", ".join(sorted(registry.names("links")))}: nothing can be run '
                            f'over it again. Use show to look at the trial')
    if run.hil.enabled and not on_hardware:
        raise SettingsError(f'{folder}: hil.enabled: got true: a replay publishes a hazard to a '
                            f'real robot. Add --on-hardware if it may; every interlock holds as '
                            f'in the campaign')
    if planned.index < 0:
        raise SettingsError(f'{planned.trial_id}: is a warm-up trial, which counts in nothing. '
                            f'Name another trial')
    place = output or new_in_runs('replay-')
    return run.model_copy(update={
        'selection': Selection(), 'only': (f'{planned.scenario_id}:{planned.index}',), 'warmup': 0,
        'output': str(place), 'junit': '', 'outputs': (), 'jobs': 1, 'engine': 'local',
        'shard': ''})


def _scenario(settings: RunSettings, planned: PlannedTrial, files: Sequence[str]) -> Scenario:
    """Return the scenario of a trial from its file, which must be the one that was run."""
    names = tuple(files) or settings.scenarios
    try:
        found = [one for one in load_scenarios(names, settings.regex).scenarios
                 if one.id == planned.scenario_id]
    except InputError as error:
        raise InputError(f'{planned.scenario_id}: the scenario of the trial was not found in '
                         f'{", ".join(names)}: {error}. Name its file by --scenario') from None
    if not found:
        raise InputError(f'{planned.scenario_id}: got no scenario of this id in '
                         f'{", ".join(names)}, expected that of the trial. Name its file by '
                         f'--scenario')
    sha256 = None if found[0].origin is None else found[0].origin.sha256
    if sha256 != planned.scenario_sha256:
        raise InputError(f'{planned.scenario_id}: got a file with SHA-256 {str(sha256)[:12]}, '
                         f'expected {str(planned.scenario_sha256)[:12]}: it has changed since the '
                         f'campaign. Name the file of then by --scenario')
    return found[0]


def _refuse_another(planned: PlannedTrial, plan: CampaignPlan, evidence: Evidence) -> None:
    """Refuse where what is planned now is not what was planned then."""
    [found] = planned_entries([plan.trials[0].model_copy(update={'trial_id': planned.trial_id})])
    unlike = planned.unlike(found) or (
        '' if found.sha256 == planned.sha256 else
        f'got another plan (SHA-256 {found.sha256[:12]}), expected {planned.sha256[:12]}')
    if unlike:
        raise InputError(f'{planned.trial_id}: cannot be planned as it was: {unlike}. It was run '
                         f'by version {evidence.settings.version} with profile '
                         f'{evidence.settings.run.profile or "(none)"}: use the same')


def _moves(scenario: Scenario, trial: Trial, changes: Sequence[str]) -> Iterator[Moved]:
    """Yield what is moved, each name once."""
    known = scenario.body.vary
    is_hazard = isinstance(scenario.body, RobotBody)
    names = sorted({*known, *((ONSET, PHASE) if is_hazard else ())})
    given = set[str]()
    for text in changes:
        _, name, value = parsed(text)
        if name not in names:
            raise SettingsError(f'--set: got {name!r}, expected one of what {scenario.id} draws: '
                                f'{", ".join(names) or "nothing"}.{did_you_mean(name, names)}')
        if name in given:
            raise SettingsError(f'--set: got {name} twice, expected each once')
        given.add(name)
        yield _move(scenario, trial, name, value)


def _move(scenario: Scenario, trial: Trial, name: str, value: Any) -> Moved:
    draw = scenario.body.vary.get(name)
    if draw is not None:
        value = _as_drawn(draw, value, name)
        return Moved(name, trial.drawn.get(name), value, draw.unit, _outside(draw, name, value))
    number = _number(name, value)
    if name == PHASE:
        if not 0.0 <= number <= 1.0:
            raise SettingsError(f'--set {name}: got {number:g}, expected a share of the '
                                f"controller's period from 0 to 1")
        return Moved(name, trial.onset_phase, number)
    if number < 0.0:
        raise SettingsError(f'--set {name}: got {number:g}, expected milliseconds, 0 or more')
    assert isinstance(scenario.body, RobotBody)
    first, last = scenario.body.nominal.duration_ms
    note = '' if first <= number <= last else (
        f'{name} {number:g} ms is outside of what the scenario draws ({first:g} to {last:g} ms)')
    return Moved(name, trial.onset_delay_ns / 1e6, number, 'ms', note)


def _as_drawn(draw: Draw, value: Any, name: str) -> Any:
    """Return a value of the kind that is drawn."""
    if draw.extent is not None:
        return _number(name, value)
    for one in draw.choice or ():
        if value == one or choice_text(value) == choice_text(one):
            return one
    if draw.keeps is not None:
        known = ', '.join(dict.fromkeys(f'[{", ".join(one)}]' for one in draw.choice or ()))
        raise SettingsError(f'--set {name}: got {choice_text(value):.60}, expected one of {known}')
    return value


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise SettingsError(f'--set {name}: got {value!r:.60}, expected a number')
    return float(value)


def _outside(draw: Draw, name: str, value: Any) -> str:
    """Return that a scenario would not draw a value; empty: it may."""
    unit = f' {draw.unit}' if draw.unit else ''
    if draw.extent is None:
        if value in (draw.choice or ()):
            return ''
        declared = ', '.join(map(choice_text, dict.fromkeys(draw.choice or ())))
    else:
        ranges = draw.ranges or (() if draw.range is None else (draw.range,))
        if any(low <= value <= high for low, high in ranges):
            return ''
        declared = ', '.join(f'{low:g} to {high:g}{unit}' for low, high in dict.fromkeys(ranges))
    return (f'{name} {choice_text(value)}{unit} is outside of what the scenario draws '
            f'({declared}): its budget and checks were written for that')


def _moved(scenario: Scenario, moved: Sequence[Moved]) -> Scenario:
    """Return the scenario with the moved values in it; whatever else is drawn is as before."""
    values = {one.name: one.after for one in moved}
    drawn = {name: value for name, value in values.items() if name in scenario.body.vary}
    found = scenario
    for name, value in drawn.items():
        try:
            found = fixed(found, {name: value})
        except InputError as error:
            raise SettingsError(f'--set {name}: {error}. Name a value that fits') from None
    if ONSET in values and ONSET not in scenario.body.vary:
        body = found.body
        assert isinstance(body, RobotBody)
        nominal = body.nominal.model_copy(update={'duration_ms': (values[ONSET], values[ONSET])})
        found = found.model_copy(update={'body': body.model_copy(update={'nominal': nominal})})
    return found


def _with_moved(plan: CampaignPlan, moved: Sequence[Moved]) -> CampaignPlan:
    """Return the plan whose one trial tells what was moved in it."""
    [trial] = plan.trials
    values = {one.name: one.after for one in moved}
    known = trial.scenario.body.vary.keys() | values.keys()
    trial = trial.model_copy(update={
        'drawn': {name: value for name, value in sorted({**trial.drawn, **values}.items())
                  if name in known and name not in (ONSET, PHASE)},
        **({'onset_phase': values[PHASE]} if PHASE in values else {})})
    entries = tuple(planned_entries([trial]))
    return replace(plan, trials=(trial,), entries=entries,
                   setup=replace(plan.setup, plan_sha256=plan_sha256(entries)))


def _notes(evidence: Evidence, plan: CampaignPlan) -> Iterator[str]:
    """Yield what of the controller is not as it was."""
    settings = evidence.settings
    readable = plan.setup.link.controller.readable
    if readable:
        yield f'the controller could read the files of the campaigns: {readable}'
    found = source_sha256(plan.controller)
    if found != settings.source:
        yield (f'the source of the controller has changed since the campaign: SHA-256 '
               f'{str(found)[:12]}, it was {str(settings.source)[:12]}')
    if settings.sut is not None:
        was = {one.name: one.sha256 for one in settings.sut.artifacts}
        now = {one.name: one.sha256 for one in plan.identified.identity.artifacts}
        yield from (f'{name} has changed since the campaign' for name in sorted(was)
                    if now.get(name) != was[name])


def first_difference(first: TrialRecord, second: TrialRecord) -> Difference | None:
    """Return where the commands of two trials part, in time since their onsets; None: nowhere."""
    zeros, since = _zeros(first, second)
    sides = [record.of_kind('command') for record in (first, second)]
    for one, other in zip(*sides):
        times = [event.stamps.steady_ns - zero for event, zero in zip((one, other), zeros)]
        if one.name != other.name or _content(one) != _content(other):
            field, values = _differing(one, other)
            return Difference(min(times) / 1e9, since, f'{one.name}{field}', *values)
        if abs(times[0] - times[1]) > _SAME_NS:
            return Difference(min(times) / 1e9, since, one.name, *(
                f'at {time / 1e9:.3f} s' for time in times))
    if len(sides[0]) != len(sides[1]):
        shorter, longer = sorted((0, 1), key=lambda place: len(sides[place]))
        next_one = sides[longer][len(sides[shorter])]
        texts = ['no command', 'no command']
        texts[longer] = 'a command'
        return Difference((next_one.stamps.steady_ns - zeros[longer]) / 1e9, since,
                          str(next_one.name), *texts)
    return None


def _zeros(first: TrialRecord, second: TrialRecord) -> tuple[list[int], str]:
    timelines = [Timeline(first), Timeline(second)]
    onsets = [timeline.onset for timeline in timelines]
    if all(onset is not None for onset in onsets):
        return [onset.stamps.steady_ns for onset in onsets if onset is not None], 'the onset'
    marks = [timeline.mark(NOMINAL) or next(iter(timeline.record.events), None)
             for timeline in timelines]
    return [0 if mark is None else mark.stamps.steady_ns for mark in marks], 'the beginning'


def _content(event: Event) -> Any:
    return event.text if event.message is None else _plain(event.message.data)


def _plain(data: Any) -> Any:
    """Return the data of a command without its stamps, which are another clock's."""
    if isinstance(data, Mapping):
        return {name: _plain(inner) for name, inner in data.items() if name != 'stamp'}
    return data


def _differing(one: Event, other: Event) -> tuple[str, tuple[str, str]]:
    """Return the first field that differs, and both values."""
    first, second = _content(one), _content(other)
    path = ''
    while isinstance(first, Mapping) and isinstance(second, Mapping):
        name = next((name for name in (*first, *second)
                     if first.get(name) != second.get(name)), None)
        if name is None:
            break
        path, first, second = f'{path}.{name}', first.get(name), second.get(name)
    return path.replace('.', ' ', 1), (_short(first), _short(second))


def choice_text(value: Any) -> str:
    """Return a value that was drawn as text."""
    if isinstance(value, (tuple, list)):
        return ' + '.join(map(choice_text, value))
    return f'{value:g}' if isinstance(value, float) else str(value)


def _short(value: Any) -> str:
    return f'{value:.4g}' if isinstance(value, float) else str(value)[:60]
