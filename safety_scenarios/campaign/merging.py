# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From the shards of a campaign to the folder that one machine would have left."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
import json
from pathlib import Path
import shutil
from typing import Any

from safety_scenarios.campaign.folder.evidence import Evidence, evidence_of
from safety_scenarios.campaign.folder.files import journal_path, RECORDINGS, trace_path, TrialFiles
from safety_scenarios.campaign.folder.folder import (
    ended,
    lines_of,
    no_campaign,
    REPAIRS,
    repairs_of,
    RunFolder,
    SETTINGS,
    Settings,
    VIEWS,
)
from safety_scenarios.campaign.rejudging.rejudge import flaw_lines, rejudge
from safety_scenarios.campaign.rejudging.stored_trials import DAMAGED
from safety_scenarios.campaign.resuming import refuse_other, terms
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.campaign.workload import numbers
from safety_scenarios.errors import SettingsError, TraceError
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.untrusted_text import read_json
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.lines import compressed, read_gzip
from safety_scenarios.trial.summary import CampaignSummary, Preflight
from safety_scenarios.trial.trial import as_in_files, PlannedTrial

_LOGS = 'logs'


@dataclass(frozen=True)
class Shard:
    """One shard that has ended."""

    folder: Path
    evidence: Evidence
    summary: CampaignSummary

    @property
    def settings(self) -> Settings:
        """Return what it was run with."""
        return self.evidence.settings


def merge(folders: Sequence[Path], output: Path) -> CampaignSummary:
    """
    Write the campaign that shards make together.

    :param output: a new folder
    :raises SettingsError: a shard is missing, there twice, or of another campaign
    :raises TraceError: a shard is not as its campaign left it
    """
    for folder in folders:
        if output.resolve().is_relative_to(folder.resolve()):
            raise SettingsError(f'output: got {output}, which is in the shard {folder}, whose '
                                f'files would change. Name a folder outside of every shard')
    shards = [_read(folder) for folder in folders]
    first = shards[0]
    for other in shards[1:]:
        _refuse_other_campaign(first, other)
    _refuse_incomplete(shards)
    plan = first.settings.plan or ()
    owner = {trial_id: shard for shard in shards for trial_id in shard.evidence.plan}
    with closing(RunFolder(TrialFiles(output, []))) as out:
        out.write_settings(_settings(shards))
        results = list[TrialResult]()
        for planned in plan:
            shard = owner[planned.trial_id]
            result = shard.evidence.lines[planned.trial_id].result
            out.add(result, _copied(shard.folder, output, planned.trial_id))
            results.append(result)
        _copy_views(shards, output, plan)
        results = as_in_files(first.settings.scenarios, results)
        for shard in shards:
            _copy_logs(shard.folder, output)
            _copy_repairs(shard.folder, output)
        run = first.settings.run
        summary = summarise(
            results, controller=first.settings.controller, link=run.link, seed=run.seed,
            planned=len(plan), interrupted=False, latency_law=run.latency_law,
            preflight=tuple(_preflight(results, owner)), sut=_identity(shards),
            command=first.summary.command,
            is_in_harness=any(shard.summary.is_in_harness for shard in shards),
            is_chosen=run.is_chosen).model_copy(
                update={'repaired': repairs_of(output), 'skipped': run.selection.skip,
                        'readable': next(filter(None, (
                            shard.summary.readable for shard in shards)), '')})
        out.campaign_ended(summary)
    return summary


def _read(folder: Path) -> Shard:
    """Return a shard whose every result is what its record gives."""
    if not (folder / SETTINGS).exists():
        raise no_campaign(folder)
    summary = ended(folder)
    if summary is None or summary.interrupted:
        raise SettingsError(f'{folder}: did not end. Go on with it by run --resume {folder}')
    found = rejudge(folder)
    if found.flaws:
        raise TraceError(f'{folder}: is not as its campaign left it: '
                         f'{"; ".join(flaw_lines(found.flaws, 8))}')
    return Shard(folder, evidence_of(folder), summary)


def _refuse_other_campaign(first: Shard, other: Shard) -> None:
    """Refuse a shard of another campaign."""
    one, two = (dict(terms(shard.settings.run)) | {
        'version': shard.settings.version, 'source of the controller': shard.settings.source,
        'controller': shard.settings.controller.model_dump(mode='json'),
        'identity of the controller (sut)': shard.settings.sut,
        'number of shards': numbers(shard.settings.run.shard)[1]} for shard in (first, other))
    refuse_other(other.folder, one, two)
    if first.settings.plan != other.settings.plan:
        odd = next(mine.trial_id for mine, yours in zip(
            (*(other.settings.plan or ()), None), (*(first.settings.plan or ()), None),
            strict=False) if mine != yours and mine is not None)
        raise SettingsError(f'{other.folder}: plan: {odd} is not planned as in {first.folder}: '
                            f'its scenario differs. Run all shards with the same files')


def _refuse_incomplete(shards: Sequence[Shard]) -> None:
    """Refuse shards that are not the whole, or more than that."""
    _, count = numbers(shards[0].settings.run.shard)
    found = Counter(numbers(shard.settings.run.shard)[0] for shard in shards)
    missing = [f'{number}/{count}' for number in range(1, count + 1) if not found[number]]
    doubled = [f'{number}/{count}' for number, times in sorted(found.items()) if times > 1]
    if missing or doubled:
        raise SettingsError('merge: ' + ', '.join(
            f'got {what} {" ".join(names)}' for what, names in (
                ('no shard', missing), ('twice shard', doubled)) if names)
            + f', expected each of 1/{count} to {count}/{count} once')


def _settings(shards: Sequence[Shard]) -> Mapping[str, Any]:
    """Return what the settings of the whole say: those of a shard, and where each was run."""
    data = [read_json((shard.folder / SETTINGS).read_bytes()) for shard in shards]
    whole: dict[str, Any] = {**data[0], 'settings': {**data[0]['settings'], 'shard': ''}}
    whole['started'] = min(str(one.get('started', '')) for one in data)
    whole['shards'] = [{'shard': one['settings'].get('shard', ''), 'started': one.get('started'),
                        'host': one.get('host'), 'git': one.get('git')} for one in data]
    return whole


def _copied(source: Path, target: Path, trial_id: str) -> Mapping[str, str]:
    """Copy the files of a trial; the manifest of the whole hashes them when it is written."""
    for name in (journal_path(trial_id), trace_path(trial_id)):
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, target / name)
    recording = source / RECORDINGS / trial_id
    if recording.is_dir():
        shutil.copytree(recording, target / RECORDINGS / trial_id)
    return {}


def _copy_views(shards: Sequence[Shard], output: Path, plan: Sequence[PlannedTrial]) -> None:
    """Write what is drawn of the trials, in their order, each scenario before its first one."""
    lines, about = dict[str, str](), dict[str, str]()
    for shard in shards:
        if not (shard.folder / VIEWS).is_file():
            return
        for line in lines_of(read_gzip(shard.folder / VIEWS)[0].decode()):
            found = json.loads(line)
            if 'about' in found:
                about.setdefault(str(found['scenario_id']), line)
            else:
                lines[str(found['trial_id'])] = line
    with (output / VIEWS).open('xb') as file:
        for trial in plan:
            if trial.trial_id in lines:
                head = about.pop(trial.scenario_id, '')
                text = ''.join(f'{one}\n' for one in (head, lines[trial.trial_id]) if one)
                file.write(compressed(text.encode()))


def _copy_logs(source: Path, target: Path) -> None:
    for path in sorted((source / _LOGS).glob('*.log')):
        (target / _LOGS).mkdir(exist_ok=True)
        with (target / _LOGS / path.name).open('ab') as file:
            file.write(path.read_bytes())


def _copy_repairs(source: Path, target: Path) -> None:
    """Add what was repaired in a shard, and the files that were set aside then."""
    if (source / REPAIRS).is_file():
        with (target / REPAIRS).open('ab') as file:
            file.write((source / REPAIRS).read_bytes())
    if (source / DAMAGED).is_dir():
        shutil.copytree(source / DAMAGED, target / DAMAGED, dirs_exist_ok=True)


def _preflight(results: Sequence[TrialResult], owner: Mapping[str, Shard]) -> Iterator[Preflight]:
    """Yield of each scenario what its first trial showed of the wiring."""
    known = set[str]()
    for result in results:
        if result.scenario_id in known:
            continue
        known.add(result.scenario_id)
        yield from (one for one in owner[result.trial_id].summary.preflight
                    if one.scenario_id == result.scenario_id)


def _identity(shards: Sequence[Shard]) -> Identity | None:
    """Return what was judged, with whatever changed on any of the machines."""
    found = shards[0].summary.sut
    if found is None:
        return None
    every = [shard.summary.sut for shard in shards if shard.summary.sut is not None]
    return found.model_copy(update={
        'compared': all(one.compared for one in every),
        'changed': tuple(dict.fromkeys(text for one in every for text in one.changed)),
        'noted': tuple(dict.fromkeys(text for one in every for text in one.noted))})
