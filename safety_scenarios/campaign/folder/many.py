# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Many campaigns in one folder: what each says of itself, whether it still runs, and what is broken.

Nothing is judged again here, which takes long: what a campaign wrote is shown if its manifest
still agrees, and ``evaluate`` is there for more.

``safety-scenarios evaluate`` judges such a folder again, from the record in it, as any campaign's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timezone
import fcntl
import json
from pathlib import Path
import re
import shutil
import time
from typing import Any, Literal

from pydantic import ValidationError
from safety_scenarios.campaign.folder.files import files_of, new_in_runs, plan_sha256, write_whole
from safety_scenarios.campaign.folder.folder import (
    ended,
    lines_of,
    MANIFEST,
    no_campaign,
    refuse_pipes,
    RunFolder,
    SEALED,
    SETTINGS,
    Settings,
    settings_of,
    SUMMARY,
    TRIALS,
)
from safety_scenarios.campaign.folder.provenance import provenance
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.errors import (
    escaped_controls,
    in_words,
    Problem,
    SafetyScenariosError,
    SettingsError,
)
from safety_scenarios.formats.document.file_contents import raw_of
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.sliding_window import LABEL, spec, watched_trial
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import EXTERNAL, MonitorSettings, RunSettings
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.untrusted_text import read_json
from safety_scenarios.trial.identity import digest
from safety_scenarios.trial.plan_data import planned_entries
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import TrialRecord

State = Literal['ended', 'running', 'cut off', 'broken', 'judged again']
"""
cut off: it neither ended nor runs, and ``campaign repair`` completes it.

judged again: ``evaluate --output`` wrote it; without records, plan and manifest it shows nothing
by itself.
"""
_YOUNG_S = 2.0
"""A campaign locks its file right after making it; nobody looks at the lock before."""
_ONES_OWN = ('traces', 'recordings', 'logs')


@dataclass(frozen=True)
class Listed:
    """One campaign as it stands in its folder."""

    folder: Path
    name: str
    """Its path below the folder that was looked through."""
    state: State
    problem: str = ''
    """Why it is broken or cut off."""
    started: str = ''
    """When, as it was written: ISO 8601 with its offset; empty where nobody knows."""
    controller: str = ''
    settings: Settings | None = None
    summary: CampaignSummary | None = None
    """Only of one that has ended and that its manifest agrees with."""
    results: tuple[TrialResult, ...] = field(default=(), repr=False)
    """Of trials that count, as far as they can be read; none of a campaign that is broken."""

    @property
    def when(self) -> str:
        """Return when it began, to the minute in UTC; empty where nobody knows."""
        try:
            began = datetime.fromisoformat(self.started)
        except ValueError:
            return self.started
        return began.astimezone(timezone.utc).strftime('%Y-%m-%d %H:%M')

    @property
    def planned(self) -> int | None:
        """Return how many trials there should be, warm-up left out; None where nobody knows."""
        if self.settings is None or self.settings.plan is None:
            return None
        return sum(trial.index >= 0 for trial in self.settings.own_plan)


def campaigns_in(folder: Path) -> Sequence[Listed]:
    """
    Return the campaigns in a folder, the oldest first; of a campaign's own folder, that one.

    :raises SettingsError: the folder cannot be read
    """
    found = [_listed(place, folder) for place in places_in(folder)]
    return sorted(found, key=lambda one: (one.started, one.name))


def places_in(folder: Path) -> Sequence[Path]:
    """
    Return the folders of campaigns, each once: by its own name, or by a link from elsewhere.

    A link is followed wherever it leads, such as to another disk. One to what is found anyhow, as
    ``latest`` is, or back to where it came from, adds nothing; one that leads nowhere neither.

    :raises SettingsError: the folder cannot be read
    """
    try:
        return list(_places(folder))
    except OSError as error:
        raise SettingsError(f'{error.filename}: cannot be read: {error.strerror}. Name a folder '
                            f'of campaigns') from None


def arms_in(folder: Path) -> Sequence[Path]:
    """
    Return the campaigns that a folder stands for: itself, or the arms of a matrix in their order.

    The order is that of ``matrix.yaml``, if the folder has one, else that of the names.

    :raises SettingsError: there is no campaign in it
    """
    if (folder / SETTINGS).exists() or (folder / TRIALS).exists():
        return [folder]
    try:
        found = sorted(below for below in folder.iterdir() if (below / SETTINGS).exists())
    except OSError as error:
        raise SettingsError(f'{error.filename}: cannot be read: {error.strerror}. Name the folder '
                            f'of a campaign or of a matrix') from None
    if not found and (folder / SEALED).exists():
        raise no_campaign(folder)
    if not found:
        raise SettingsError(f'{folder}: got no campaign in it ({SETTINGS}), expected one, or one '
                            f'in each of its folders. Name the folder of a campaign or a matrix')
    order = _arms_of(folder / 'matrix.yaml')
    return sorted(found, key=lambda one: (
        order.index(one.name) if one.name in order else len(order), one.name))


def _arms_of(path: Path) -> Sequence[str]:
    if not path.exists():
        return ()
    raw = raw_of(str(path))
    if isinstance(raw, Problem):
        raise SettingsError(str(raw))
    arms = Document.of(str(path), raw).data
    arms = arms.get('arms') if isinstance(arms, Mapping) else None
    return list(map(str, arms)) if isinstance(arms, Mapping) else ()


def started_in(place: Path) -> str:
    """
    Return when a campaign began, as it was written.

    :raises SettingsError: nothing says so
    """
    try:
        return str(read_json(_text(place / SETTINGS)).get('started', ''))
    except (ValueError, AttributeError) as error:
        raise SettingsError(f'{place / SETTINGS}: cannot be read: '
                            f'{in_words(error):.200}') from None


def is_running(folder: Path) -> bool:
    """
    Tell whether a campaign writes into a folder now.

    It holds a lock on its results as long as it lives, however it ends.
    """
    path = folder / TRIALS
    try:
        if (folder / MANIFEST).exists():
            return False
        if time.time() - path.stat().st_mtime < _YOUNG_S and not path.stat().st_size:
            return True
        with path.open('rb') as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def results_so_far(text: str) -> Iterator[TrialResult]:
    """
    Yield what whole lines of results say; half a line at the end is still being written.

    :raises SettingsError: a whole line cannot be read
    """
    for number, line in enumerate(lines_of(text[:text.rfind('\n') + 1]), 1):
        try:
            yield TrialResult.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise SettingsError(f'{TRIALS}:{number}: {".".join(map(str, first["loc"]))}: '
                                f'{first["msg"]}') from None


def follow(folder: Path, wait: Callable[[], None]) -> Iterator[TrialResult]:
    """
    Yield each result of a campaign as it is written, until nobody writes any more.

    :param wait: called when there is nothing new
    :raises SettingsError: the results cannot be read
    """
    read = 0
    while True:
        running = is_running(folder)  # asked first, so that what it wrote last is not missed
        try:
            with (folder / TRIALS).open('rb') as file:
                file.seek(read)
                data = file.read()
        except FileNotFoundError:
            data = b''
        except OSError as error:
            raise SettingsError(f'{folder / TRIALS}: cannot be read: {error.strerror}') from None
        whole = data[:data.rfind(b'\n') + 1]
        read += len(whole)
        yield from results_so_far(whole.decode(errors='replace'))
        if not running:
            return
        wait()


def _places(folder: Path) -> Iterator[Path]:
    """Yield the campaigns below a folder; what links lead to comes last, if it is not known."""
    known, links = set[Path](), [folder]
    while links:
        place = links.pop(0)
        if place is folder or place.is_dir():
            yield from _places_below(place, known, links)


def _places_below(folder: Path, known: set[Path], links: list[Path]) -> Iterator[Path]:
    """
    Yield the campaigns below a folder without following links.

    :param known: where every folder really is that was looked at
    """
    really = folder.resolve()
    if really in known:
        return
    known.add(really)
    if (folder / SETTINGS).exists() or (folder / TRIALS).exists():
        yield folder
        return
    for below in sorted(folder.iterdir()):
        if below.name in _ONES_OWN:
            continue
        if below.is_symlink():
            links.append(below)
        elif below.is_dir():
            yield from _places_below(below, known, links)


def _listed(place: Path, top: Path) -> Listed:
    name = escaped_controls(place.relative_to(top).as_posix() if place != top
                            else place.resolve().name)
    if _is_judged_again(place):
        return Listed(folder=place, name=name, state='judged again',
                      problem='evaluate wrote it, and it has no records of its own')
    started, results, settings, summary = '', list[TrialResult](), None, None
    problem, state, running = '', 'ended', False
    try:
        refuse_pipes(place)
        running = is_running(place)
        started = started_in(place)
        settings = settings_of(place)
        results += [result for result in results_so_far(_text(place / TRIALS))
                    if not result.warmup]
        summary = ended(place)
        problem = '' if running else '; '.join(_changed(place, summary))
        state = 'broken' if problem else 'ended'
    except SafetyScenariosError as error:
        problem, state = str(error).removeprefix(f'{place}/'), 'broken'
    if running:
        problem, state = problem if settings else '', 'running'
    elif state == 'ended' and summary is None:
        problem, state = 'it did not end: run campaign repair', 'cut off'
    return Listed(
        folder=place, name=name, state=state, problem=problem,  # type: ignore[arg-type]
        started=started, controller=settings.controller.label if settings else '',
        settings=settings, results=() if state == 'broken' else tuple(results),
        summary=summary if state == 'ended' else None)


def _is_judged_again(place: Path) -> bool:
    return (place / SUMMARY).exists() and not any(
        (place / name).exists() for name in (SETTINGS, MANIFEST, *_ONES_OWN))


def _changed(place: Path, summary: CampaignSummary | None) -> Iterator[str]:
    """Yield what of the small files is not as the campaign left it."""
    if summary is None:
        return
    try:
        known = read_json(_text(place / MANIFEST))
        if not isinstance(known, Mapping):
            raise ValueError('got something else than names and hashes')
    except (SettingsError, ValueError) as error:
        yield f'{MANIFEST} cannot be read: {in_words(error):.200}'
        return
    for name in (SETTINGS, TRIALS, SUMMARY):
        if known.get(name) != digest(place / name):
            yield f'{name} was changed since'


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise SettingsError(f'{path}: cannot be read: {reason}') from None


def least_margins(results: Sequence[TrialResult]) -> Mapping[str, float]:
    """Return the least margin in each unit: one in metres says nothing about one in seconds."""
    found: dict[str, float] = {}
    for result in results:
        for finding in result.findings:
            if finding.margin is not None and finding.verdict is not None:
                unit = finding.unit or '1'
                found[unit] = min(finding.margin, found.get(unit, finding.margin))
    return dict(sorted(found.items()))


LINK = 'monitor'
"""What the folder says of where the events came from: nothing was published."""
FINDINGS, MONITOR = 'findings.jsonl', 'monitor.json'
_LONGEST_NAME = 60


class MonitorRun:
    """
    The folder of one run of a monitor.

    :ivar folder: of the run

    :param settings: where it lies, and how much is kept
    :param ros: domain, distribution and middleware
    :raises SettingsError: the folder is not empty, or cannot be written
    """

    def __init__(self, settings: MonitorSettings, scenario: Scenario,
                 ros: Mapping[str, Any]) -> None:
        self.folder = _new(settings.output)
        self._scenario = scenario
        path = scenario.origin.path if scenario.origin else settings.file
        self._settings = RunSettings(
            scenarios=(path,), controller=EXTERNAL, controller_label=LABEL, link=LINK,
            calibration='off', use_sim_time=settings.use_sim_time, namespace=settings.namespace,
            node_name=settings.node_name)
        self._told = provenance(self._settings, spec(), [scenario], ros)
        self._monitor = settings.model_dump(mode='json')

    def place(self, number: int, finding: Finding) -> Path:
        """Return where the record of a finding is, or will be."""
        name = re.sub(r'\W+', '_', finding.check.lower()).strip('_')[:_LONGEST_NAME]
        return self.folder / 'findings' / f'{number:04d}.{name or "finding"}'

    def note(self, entry: Mapping[str, Any]) -> None:
        """
        Append a line to the list of all findings.

        :raises OSError: the disk is full, or the folder is gone
        """
        with (self.folder / FINDINGS).open('a', encoding='utf-8') as file:
            file.write(json.dumps(entry, ensure_ascii=False) + '\n')

    def write(self, number: int, finding: Finding, events: Sequence[Event],
              measuring: Measuring) -> TrialResult:
        """
        Write the record of a finding, and what it comes to when it is judged.

        :raises TraceError: the disk is full, or the folder is gone
        """
        trial = watched_trial(self._scenario, number)
        record = TrialRecord(trial=trial, events=tuple(events), measuring=measuring)
        by = self._settings
        result = evaluate(record, by.gate, by.words, by.subject)
        place = self.place(number, finding)
        settings = self._settings.model_copy(update={'output': str(place)})
        entries = list(planned_entries([trial]))
        unfinished = place.with_name(place.name + '.part')
        with closing(RunFolder(files_of(settings, unfinished, controller=spec(),
                                        plan=plan_sha256(entries)))) as folder:
            folder.write_settings({
                **self._told, 'settings': settings.model_dump(mode='json'),
                'monitor': self._monitor, 'plan': [entry.model_dump() for entry in entries]})
            for sink in folder.sinks(trial):
                for event in events:
                    sink.add(event)
            folder.trial_ended(record, result)
            folder.campaign_ended(summarise([result], controller=spec(), link=LINK, seed=0,
                                            planned=1, interrupted=False))
        unfinished.rename(place)
        return result

    def end(self, summary: Mapping[str, Any]) -> None:
        """
        Write what the whole run came to.

        :raises TraceError: the disk is full, or the folder is gone
        """
        write_whole(self.folder / MONITOR, json.dumps(
            {**summary, 'settings': self._monitor, 'versions': self._told['versions']},
            indent=2, ensure_ascii=False))


def _new(output: str) -> Path:
    folder = Path(output) if output else new_in_runs('monitor-')
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise SettingsError(f'output: got {folder}, which is not empty; expected a new or '
                                f'empty folder. Name another one')
        if not shutil.disk_usage(folder).free:
            raise SettingsError(f'output: got {folder}, on a full disk. Name another one')
    except OSError as error:
        raise SettingsError(f'output: got {folder}, which cannot be written: '
                            f'{error.strerror}') from error
    return folder
