# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Campaigns side by side: whether they were judged alike, and each one against the first.

Everything in the settings counts unless it is known to leave judging alone, so that a setting
that is new here counts too.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
import gzip
import json
from pathlib import Path
from typing import Any
import zlib

from safety_scenarios.campaign.comparison import Comparison
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.campaign.folder.folder import Settings, settings_of
from safety_scenarios.campaign.rejudging.rejudge import Progress, results_of, summary_of
from safety_scenarios.campaign.statistics.compare import Arm, compare_arms, paired
from safety_scenarios.campaign.statistics.paired import Margin
from safety_scenarios.errors import counted, in_words, SettingsError
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.matrix.arm_comparison import outputs
from safety_scenarios.studies.matrix.file import arm_name
from safety_scenarios.studies.matrix.summary import EqualOutputs
from safety_scenarios.trial.summary import CampaignSummary

_LEAVES_JUDGING_ALONE = frozenset({
    'scenarios', 'controller', 'controller_parameters', 'controller_label', 'trials', 'warmup',
    'only', 'seed', 'output', 'outputs', 'console', 'jobs', 'engine', 'ray', 'shard',
    'namespace', 'node_name', 'remap', 'domain_id',
    'connect_timeout_s', 'realtime', 'command_type', 'period_ms', 'trace_profile',
    'trace_without_apps', 'record', 'record_images', 'server', 'latency_law', 'sut_version',
    'design', 'sut_artifact', 'sut_image_digest', 'junit', 'live_topics', 'judge.timeout_s',
    'judge.cache', 'judge.allow_same_model'})
"""Who is judged, on which trials, and what is written; seeds are compared trial by trial."""


@dataclass(frozen=True)
class Campaign:
    """One of the campaigns that are compared."""

    name: str
    results: Sequence[TrialResult]
    """By their records."""
    summary: CampaignSummary
    against: Comparison | None = None
    """How it compares with the first one; None of the first itself."""
    pairs: Sequence[tuple[TrialResult, TrialResult]] = field(default=())
    """Its trials beside those of the first, which comes first."""
    warning: str = ''
    """Why the comparison may be void: that both put out the same in every trial."""


@dataclass(frozen=True)
class _Side:
    folder: Path
    results: Sequence[TrialResult]
    hashes: Mapping[str, str | None]
    """Scenario id to the SHA-256 of its file."""


def refuse_incomparable(first: Path, second: Path, before: Sequence[TrialResult],
                        after: Sequence[TrialResult]) -> None:
    """
    Refuse two campaigns whose verdicts do not mean the same.

    :param before: the trials in ``first``, both judged by this version
    :raises SettingsError: names each difference, or what of it cannot be told
    """
    settings = settings_of(first), settings_of(second)
    found = [*_setting_differences(*settings), *_scenario_differences(
        _Side(first, before, settings[0].scenarios), _Side(second, after, settings[1].scenarios))]
    if found:
        raise SettingsError(f'{first} and {second} are not comparable: {"; ".join(found)}. Run '
                            f'both alike')


def judging_settings(run: RunSettings) -> dict[str, Any]:
    """Return every setting by its dotted name, but for those that leave judging alone."""
    return {name: value for name, value in _flat(run.model_dump(mode='json')).items()
            if not _LEAVES_JUDGING_ALONE & {name, name.partition('.')[0]}}


def _setting_differences(before: Settings, after: Settings) -> Iterator[str]:
    was, now = judging_settings(before.run), judging_settings(after.run)
    for name in sorted(was.keys() | now.keys()):
        if was.get(name) != now.get(name) and not _both_calibrated(name, was, now) \
                and not name.startswith('selection.'):  # which trials there are, is compared
            yield f'{name} is {was.get(name)!r} in the first, {now.get(name)!r} in the second'
    if before.onset != after.onset:
        yield f'--onset is {before.onset!r} in the first, {after.onset!r} in the second'


def _both_calibrated(name: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    return name == 'calibration' and 'off' not in (was.get(name), now.get(name))


def _flat(data: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in data.items():
        found |= _flat(value, f'{prefix}{name}.') if isinstance(value, Mapping) \
            else {prefix + name: value}
    return found


def _scenario_differences(first: _Side, second: _Side) -> Iterator[str]:
    """Yield what differs about the scenarios that both have: their files, or else their plans."""
    common = {result.scenario_id for result in first.results} & {
        result.scenario_id for result in second.results}
    for name in sorted(common):
        of = [side.hashes.get(name) for side in (first, second)]
        if of == [None, None]:
            of = [_plan(side, name) for side in (first, second)]
        if None in of:
            yield (f'{name}: it is unknown whether it is the same scenario in both, because a '
                   f'folder has neither the hash of its file nor a journal of it')
        elif of[0] != of[1]:
            yield (f'{name} is not the same scenario in both: its budgets, limits or checks may '
                   f'differ ({_short(of[0])} and {_short(of[1])})')


def _plan(side: _Side, scenario_id: str) -> str | None:
    """Return a scenario as a trial's journal has it, of one that came from no file."""
    for result in side.results:
        path = side.folder / journal_path(result.trial_id)
        if result.scenario_id == scenario_id and path.exists():
            try:
                with gzip.open(path, 'rt', encoding='utf-8') as file:
                    scenario = json.loads(file.readline())['trial']['scenario']
            except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
                raise SettingsError(f'{path}: cannot be read: {in_words(error):.300}') from None
            return json.dumps({**scenario, 'origin': None}, sort_keys=True)
    return None


def _short(text: str | None) -> str:
    return f'SHA-256 {text[:12]}' if text and not text.startswith('{') else 'no file'


def side_by_side(folders: Sequence[Path], margins: Sequence[Margin] = (),
                 progress: Progress = nullcontext) -> Sequence[Campaign]:
    """
    Return the first campaign, and each other one against it, judged again from their records.

    :param margins: by how much others may be worse than the first
    :param progress: shows how far the judging of each is
    :raises SettingsError: a folder is none of a campaign, or cannot be compared with the first
    :raises TraceError: a folder cannot be relied on
    """
    results = [results_of(folder, progress) for folder in folders]
    return beside_each_other(folders, results, [
        summary_of(folder, mine) for folder, mine in zip(folders, results, strict=True)], margins)


def beside_each_other(folders: Sequence[Path], results: Sequence[Sequence[TrialResult]],
                      summaries: Sequence[CampaignSummary],
                      margins: Sequence[Margin] = ()) -> Sequence[Campaign]:
    """
    Return the same of campaigns whose results and summaries are known already.

    :raises SettingsError: one cannot be compared with the first
    """
    names = campaign_names(folders, results)
    first, link = results[0], summaries[0].link
    for folder, mine in list(zip(folders, results, strict=True))[1:]:
        refuse_incomparable(folders[0], folder, first, mine)
    early = [{row.scenario_id for row in summary.scenarios if row.stopped_early is not None}
             for summary in summaries]
    flaws = [flaw_of(summary) for summary in summaries]
    found = compare_arms(first, [
        Arm(mine, early[0] | stopped, '; '.join(filter(None, (flaws[0], flaw))))
        for mine, stopped, flaw in list(zip(results, early, flaws, strict=True))[1:]],
        link, margins)
    return [Campaign(names[0], first, summaries[0]), *(
        Campaign(name, mine, summary, against, paired(first, mine)[0],
                 _alike((names[0], folders[0], first), (name, folder, mine), link))
        for name, folder, mine, summary, against in zip(
            names[1:], folders[1:], results[1:], summaries[1:], found, strict=True))]


def _alike(first: tuple[str, Path, Sequence[TrialResult]],
           second: tuple[str, Path, Sequence[TrialResult]], link: str) -> str:
    """Return that both campaigns put out the same in every trial; empty: they do not."""
    equal = 0
    for pair in paired(first[2], second[2])[0]:
        [before], [after] = (outputs(folder, [one], link).values()
                             for one, (_, folder, _) in zip(pair, (first, second), strict=True))
        if before is not None and after is not None:
            if before != after:  # one trial shows it: the others need not be read
                return ''
            equal += 1
    found = EqualOutputs(first=first[0], second=second[0], equal=equal, of=equal)
    return f'{found}: did what was changed reach the controller?' if found.is_suspicious else ''


def flaw_of(summary: CampaignSummary) -> str:
    """Return why the trials of a campaign can show nothing to hold; empty if they can."""
    if summary.shard:
        return f'it is shard {summary.shard} of a campaign. Merge all shards first'
    if summary.is_chosen:
        return 'its trials were named one by one (only). Run all trials'
    missing = summary.planned - summary.completed
    if missing > 0 or summary.interrupted:
        return f'{counted(max(missing, 0), "planned trial")} of a campaign not run'
    doubts = summary.sut.doubts if summary.sut is not None else ()
    return '; '.join(doubts)


def campaign_names(folders: Sequence[Path],
                   results: Sequence[Sequence[TrialResult]]) -> Sequence[str]:
    """Return the folders' names, with the controllers where these are not the same."""
    labels = [' '.join(sorted({result.controller for result in side})) for side in results]
    names = [folder.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in folders]
    return [name if len(set(labels)) == 1 or name in (label, arm_name(label))
            else f'{name}: {label}'
            for name, label in zip(names, labels, strict=True)]
