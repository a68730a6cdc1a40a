# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a campaign's folder says of its trials, held against its manifest, plan and records.

The plan in ``settings.json`` says which trials there are; a line, a record or a file that it does
not know is none of them, however good it looks.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from safety_scenarios.campaign.folder.files import (
    CHAIN,
    journal_path,
    RECORDINGS,
    trace_path,
    TRACE_SUFFIX,
    TRACES,
)
from safety_scenarios.campaign.folder.folder import (
    hashes,
    MANIFEST,
    no_campaign,
    refuse_pipes,
    SETTINGS,
    Settings,
    settings_of,
    TRIALS,
)
from safety_scenarios.errors import escaped_line, in_words, SettingsError
from safety_scenarios.scenario.blocks.traceability import Traceability
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.untrusted_text import read_json
from safety_scenarios.trial.journal import SUFFIX, UNFINISHED
from safety_scenarios.trial.lines import break_in, lines_in
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import as_in_files, PlannedTrial


def verify(folder: Path) -> Sequence[str]:
    """
    Return what is not as it was when the campaign ended: changed, missing and new files.

    :raises SettingsError: the folder has no manifest
    """
    refuse_pipes(folder)
    if not (folder / MANIFEST).exists() and not (folder / SETTINGS).exists():
        raise no_campaign(folder)
    try:
        known = read_json((folder / MANIFEST).read_bytes())
        if not isinstance(known, dict):
            raise ValueError('got something else than names and hashes')
    except (OSError, ValueError) as error:
        raise SettingsError(f'{folder / MANIFEST}: cannot be read: {in_words(error):.200}. A '
                            f'campaign that did not end has none: run campaign repair') from None
    found = hashes(folder)
    links = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob('*'))
             if path.is_symlink()]
    changed = {name for name in known.keys() & found.keys() if known[name] != found[name]}
    missing, new = known.keys() - found.keys(), found.keys() - known.keys()
    return [escaped_line(text) for text in (  # a name of a file may look like a verdict
        *(f'{name}: is a symbolic link, so that what it holds is not in this folder'
          for name in links),
        *(f'{name}: changed{_break_in(folder, name)}' for name in sorted(changed)
          if not _is_of_any(name, changed)),
        *(f'{name}: missing' for name in sorted(missing) if not _is_of_any(name, missing)),
        *(f'{name}: not of this campaign' for name in sorted(new) if not _is_of_any(name, new)))]


def _is_of_any(name: str, journals: Container[str]) -> bool:
    """Return whether it is the chain of hashes of one of some journals, which says it all."""
    return name.endswith(CHAIN) and name.removesuffix(CHAIN) in journals


def _break_in(folder: Path, name: str) -> str:
    """Return at which line the chain of hashes of a changed journal is broken, in words."""
    if not name.endswith(SUFFIX):
        return ''
    found = break_in(lines_in(folder / name))
    return ', with a chain of hashes of its own' if found is None else \
        f', the chain of hashes is broken at line {found[0]}, {found[1]}'


_FIRST = ('verdict', 'exit_code', 'planned', 'completed', 'verdicts', 'interrupted')
"""Of a summary: what matters in any folder, and is told first."""
_MOST = 10
_LONGEST = 80


def other_than_found(told: CampaignSummary, found: CampaignSummary, *,
                     entirely: bool) -> Iterator[str]:
    """
    Yield what a summary tells otherwise than the records give it.

    :param told: as it stands in the folder
    :param entirely: every number of it; False where something else is wrong with the folder, or
        another version wrote it
    """
    got, expected = (json.loads(one.model_dump_json()) for one in (told, found))
    names = [*_FIRST, *(expected.keys() | got.keys()).difference(_FIRST)] if entirely else _FIRST
    different = [text for name in names for text in _different(
        name, got.get(name), expected.get(name))]
    yield from different[:_MOST]
    if len(different) > _MOST:
        yield f'got {len(different) - _MOST} more values, expected others'


def unlike_settings(settings: Settings, result: TrialResult) -> str:
    """Return what ``settings.json`` says of a trial's scenario that its record does not."""
    if settings.scenarios.get(result.scenario_id) is None:
        return ''  # it came from no file, so nothing is said of it
    named = settings.traceability.get(result.scenario_id, Traceability())
    if named == result.traceability:
        return ''
    return (f'scenarios: {result.scenario_id}: got {_labels(named)}, expected '
            f'{_labels(result.traceability)} by the record of {result.trial_id}')


def _labels(named: Traceability) -> str:
    return ', '.join(f'{kind} {label}' for kind, label in named.labels)[:_LONGEST] or 'no label'


def _different(place: str, got: Any, expected: Any) -> Iterator[str]:
    """Yield each number or text that differs, with where it stands."""
    if isinstance(got, Mapping) and isinstance(expected, Mapping):
        for name in sorted(got.keys() | expected.keys()):
            yield from _different(f'{place}.{name}', got.get(name), expected.get(name))
    elif isinstance(got, list) and isinstance(expected, list) and len(got) == len(expected):
        for number, (one, other) in enumerate(zip(got, expected, strict=True)):
            yield from _different(f'{place}[{number}]', one, other)
    elif got != expected:
        yield f'got {place} {str(got)[:_LONGEST]}, expected {str(expected)[:_LONGEST]}'


_NO_PLAN = 'holds no plan, so that the set of trials is unknown. Run the campaign again'


@dataclass(frozen=True)
class Flaw:
    """One thing in a folder that is not as the campaign must have left it."""

    place: str
    """The file, with its line where there is one."""
    message: str
    """What, got, expected."""
    trial_id: str | None = None
    """The trial that cannot pass by it; None: no trial of the campaign alone."""
    is_unfinished: bool = False
    """An interruption leaves it, and ``run --resume`` completes it."""

    def __str__(self) -> str:
        return escaped_line(f'{self.place}: {self.message}')


@dataclass(frozen=True)
class Line:
    """What one line of ``trials.jsonl`` says."""

    number: int
    text: str
    result: TrialResult

    @property
    def place(self) -> str:
        """Return the file and the line."""
        return f'{TRIALS}:{self.number}'


@dataclass(frozen=True)
class Evidence:
    """What a folder holds before anything is judged."""

    settings: Settings
    plan: Mapping[str, PlannedTrial]
    """Trial id to what was planned."""
    lines: Mapping[str, Line]
    """Trial id to the first line of it."""
    flaws: tuple[Flaw, ...]


def evidence_of(folder: Path, *, has_ended: bool = True) -> Evidence:
    """
    Return what a folder holds, and everything about it that cannot be right.

    :param has_ended: False for a folder whose manifest is still to be written
    :raises SettingsError: the folder is not that of a campaign
    """
    settings = settings_of(folder)
    flaws = list(_changed(folder)) if has_ended else []
    lines = list(_lines(folder, flaws))
    if settings.plan is None:
        flaws.append(Flaw(SETTINGS, _NO_PLAN))
    planned = settings.plan or ()
    flaws += _odd_plan(settings, planned)
    plan = {one.trial_id: one for one in as_in_files(settings.scenarios, settings.own_plan)}
    found = _belonging(lines, plan, flaws)
    flaws += _foreign(folder, plan)
    return Evidence(settings, plan, found, tuple(flaws))


def _changed(folder: Path) -> Iterator[Flaw]:
    try:
        found = verify(folder)
    except SettingsError as error:
        yield Flaw(MANIFEST, str(error).partition(': ')[2] or str(error))
        return
    for text in found:
        name, _, what = text.rpartition(': ')
        yield Flaw(name, f'{what}, by the manifest', _trial_of(name))


def _trial_of(name: str) -> str | None:
    """Return the id of the trial that a file belongs to by its name, None for no trial's."""
    folder, _, rest = name.removesuffix(CHAIN).partition('/')
    if folder == RECORDINGS:
        return rest.partition('/')[0]
    if folder != TRACES:
        return None
    name = name.removesuffix(CHAIN).rpartition('/')[2].removesuffix(UNFINISHED)
    return name.removesuffix(SUFFIX) if name.endswith(SUFFIX) else name.removesuffix(TRACE_SUFFIX)


def _lines(folder: Path, flaws: list[Flaw]) -> Iterator[Line]:
    """Yield the lines that say something."""
    try:
        texts = (folder / TRIALS).read_bytes().split(b'\n')
    except OSError as error:
        raise SettingsError(f'{folder / TRIALS}: cannot be read: {error.strerror}. Name the '
                            f'folder of a campaign') from None
    for number, data in enumerate(texts, 1):
        if not data:
            continue
        try:
            text = data.decode()
            yield Line(number, text, TrialResult.model_validate_json(text))
        except (ValidationError, UnicodeDecodeError) as error:
            flaws.append(Flaw(f'{TRIALS}:{number}', f'cannot be read: {in_words(error):.200}. If '
                                                    f'a crash cut it, run campaign repair'))


def _odd_plan(settings: Settings, planned: Sequence[PlannedTrial]) -> Iterator[Flaw]:
    """Find what no plan of these settings can be."""
    if settings.sut is not None and settings.sut.source != settings.source:
        yield Flaw(SETTINGS, f'controller: got source SHA-256 {str(settings.source)[:12]}, '
                             f'expected {str(settings.sut.source)[:12]} as in sut')
    if not planned:
        yield Flaw(SETTINGS, 'got a plan without a trial, expected one at least')
    indices: dict[str, list[int]] = {name: [] for name in settings.scenarios}
    ids = set[str]()
    for trial in planned:
        if trial.trial_id in ids:
            yield Flaw(SETTINGS, f'plan: got {trial.trial_id} twice, expected each trial once',
                       trial.trial_id)
        if not trial.sha256:
            yield Flaw(SETTINGS, f'plan: got {trial.trial_id} without the SHA-256 of its plan, '
                                 f'expected one', trial.trial_id)
        if trial.controller != settings.controller.label:
            yield Flaw(SETTINGS, f'plan: {trial.trial_id}: got controller {trial.controller}, '
                                 f'expected {settings.controller.label} as the controller of the '
                                 f'campaign is called', trial.trial_id)
        sha256 = settings.scenarios.get(trial.scenario_id, trial.scenario_sha256)
        if trial.scenario_sha256 != sha256:
            yield Flaw(SETTINGS, f'scenarios: {trial.scenario_id}: got SHA-256 '
                                 f'{str(sha256)[:12]}, expected {str(trial.scenario_sha256)[:12]} '
                                 f'as in the plan of {trial.trial_id}', trial.trial_id)
        ids.add(trial.trial_id)
        indices.setdefault(trial.scenario_id, []).append(trial.index)
    only = set(settings.run.only)
    for name, found in indices.items():
        expected = [*range(-settings.run.warmup, 0), *(
            index for index in range(settings.run.trials)
            if not only or f'{name}:{index}' in only)]
        if sorted(found) != expected:
            yield Flaw(SETTINGS, f'plan: {name}: got {len(found)} trials with the indices '
                                 f'{sorted(found)[:20]}, expected {len(expected)} with '
                                 f'{expected[:20]}')


def _belonging(lines: Sequence[Line], plan: Mapping[str, PlannedTrial],
               flaws: list[Flaw]) -> Mapping[str, Line]:
    found: dict[str, Line] = {}
    for line in lines:
        result = line.result
        planned = plan.get(result.trial_id)
        if planned is None:
            flaws.append(Flaw(line.place, f'got a result of {result.trial_id}, expected one of a '
                                          f'planned trial. It is not counted'))
            continue
        first = found.setdefault(result.trial_id, line)
        if first is not line:
            flaws.append(Flaw(line.place, f'got a second result of {result.trial_id}, expected '
                                          f'only that in line {first.number}. It is not counted',
                              result.trial_id))
            continue
        unlike = planned.unlike(planned.model_copy(update={
            'scenario_id': result.scenario_id, 'index': result.index, 'seed': result.seed,
            'controller': result.controller}))
        if result.warmup != (planned.index < 0):
            unlike = f'got warmup {result.warmup}, expected {planned.index < 0}'
        if unlike:
            flaws.append(Flaw(line.place, f'{result.trial_id} is not as it was planned: {unlike}',
                              result.trial_id))
    return found


def _foreign(folder: Path, plan: Mapping[str, PlannedTrial]) -> Iterator[Flaw]:
    """Find records that belong to no planned trial, or have no end."""
    known = {path for name in plan for path in (journal_path(name), trace_path(name))}
    for path in sorted((folder / TRACES).rglob('*')):
        name = path.relative_to(folder).as_posix()
        if name.removesuffix(UNFINISHED) in known and name.endswith(UNFINISHED):
            yield Flaw(name, 'is unfinished: its trial never ended. Run campaign repair',
                       _trial_of(name), is_unfinished=True)
        elif not path.is_dir() and name not in known:
            yield Flaw(name, 'belongs to no planned trial. It is not counted')
    for path in sorted((folder / RECORDINGS).glob('*')):
        if path.name not in plan:
            yield Flaw(path.relative_to(folder).as_posix(), 'belongs to no planned trial. It is '
                                                            'not counted')
