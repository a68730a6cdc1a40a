# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The folder of one campaign: written whole, and read again.

A trial's journal is written while it runs, its trace and its recording when it has ended, and its
line in ``trials.jsonl`` last: whoever has a line has everything. The manifest is written when the
folder is closed, so that it holds what outputs have written into it.
"""

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
import errno
import fcntl
import hashlib
import json
import os
from pathlib import Path
import stat
import time
from typing import Any

from pydantic import ValidationError
from safety_scenarios.campaign.folder.files import (
    hashed,
    sync_names,
    TrialFiles,
    unwritten,
    write_whole,
)
from safety_scenarios.campaign.workload import part_of
from safety_scenarios.errors import counted, in_words, SettingsError, TraceError
from safety_scenarios.formats.scenario_files import without_places
from safety_scenarios.scenario.blocks.traceability import Traceability
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.untrusted_text import read_json
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import PlannedTrial, Trial, TrialRecord

_PRIVATE = 0o700
_FEW = 4
"""Folders that a message names."""
_SYNC_S = 1.0
"""A lost process loses nothing; a lost machine at most this long of finished trials."""
SEALED = 'sealed.tar.gz'
"""In place of the campaigns of a blinded design, which are in it."""
TRIALS, SUMMARY, SETTINGS, MANIFEST = ('trials.jsonl', 'campaign.json', 'settings.json',
                                       'manifest.json')
STATEMENT = f'{MANIFEST}.signed'
SIGNATURE = f'{STATEMENT}.sig'
_SIGNED = frozenset({MANIFEST, STATEMENT, SIGNATURE,
                     *(f'{MANIFEST}.{suffix}' for suffix in (
                         'sig', 'asc', 'gpg', 'minisig', 'p7s', 'sigstore', 'tsr', 'ots'))})
"""The manifest, and signatures and time stamps of it, of others' tools too."""
REPAIRS = 'repairs.jsonl'
"""What repair has done to the folder, line by line; no other file tells that for ever."""
VIEWS = 'views.jsonl.gz'
"""What is drawn of each trial, kept while the campaign runs."""
PAGE, PAGE_DATA = 'report.html', 'report_data'
"""A view of the folder, which may be made again at any time: no part of the evidence."""
_LOGS = 'logs'


def begin_folder(folder: Path) -> None:
    """
    Make a folder, unless it is there and empty.

    :raises SettingsError: it is in use, or cannot be made
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise SettingsError(f'output: got {folder}, which is not empty; expected a new or '
                                f'empty folder. Name another one')
    except OSError as error:
        raise SettingsError(f'output: got {folder}, which cannot be written: '
                            f'{error.strerror}') from error


class RunFolder(Observer):
    """
    Writes everything that a campaign leaves.

    While it runs, no other user can look into the folder: plan and events are in it.

    :param files: writes those of each trial; their folder must not exist yet, or be empty
    :param resume: go on in a folder that a crash left, instead
    :raises SettingsError: the folder is in use or cannot be written
    """

    def __init__(self, files: TrialFiles, *, resume: bool = False) -> None:
        self.folder = folder = files.folder
        self._files = files
        self._synced_s = 0.0
        self._known: dict[str, str] = {}
        self._unsynced: set[Path] = set()
        self._lines = None if resume else hashlib.sha256()
        self._has_ended = False
        try:
            if not resume:
                begin_folder(folder)
            self._mode = stat.S_IMODE(folder.stat().st_mode)
            self._trials = (folder / TRIALS).open('a' if resume else 'x', encoding='utf-8')
        except OSError as error:
            raise SettingsError(f'output: got {folder}, which cannot be written: '
                                f'{error.strerror}') from error
        try:
            fcntl.flock(self._trials, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._trials.close()
            raise SettingsError(f'{folder}: a campaign is still running in it. Wait for its '
                                f'end') from None
        with suppress(OSError):  # a file system without such rights
            folder.chmod(_PRIVATE)

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Write ``settings.json``: effective settings, versions and scenario hashes."""
        write_whole(self.folder / SETTINGS, json.dumps(settings, indent=2, ensure_ascii=False))
        self._known |= hashed(self.folder, SETTINGS)

    def sinks(self, trial: Trial) -> Sequence[EventSink]:
        """
        Return what takes a trial's events while it runs.

        :raises TraceError: the disk is full, or the folder is gone
        """
        return self._files.sinks(trial)

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """
        Write the trial's files, then its line: the trial is complete.

        :raises TraceError: the disk is full, or the folder is gone
        """
        self.add(result, self._files.write(record, result))

    def add(self, result: TrialResult, written: Mapping[str, str]) -> None:
        """
        Write the line of a trial whose files are written: the trial is complete.

        :param written: names of its files to their hashes
        :raises TraceError: the disk is full, or the folder is gone
        """
        self._known |= written
        self._unsynced |= {(self.folder / name).parent for name in written}
        line = result.model_dump_json() + '\n'
        try:
            if self._lines is None:  # what a crash left is tidied by now
                self._lines = hashlib.sha256((self.folder / TRIALS).read_bytes())
            self._lines.update(line.encode())
            self._trials.write(line)
            self._trials.flush()
            if time.monotonic() - self._synced_s > _SYNC_S:
                self._sync()
        except OSError as error:
            raise unwritten(self.folder / TRIALS, error) from error

    def campaign_ended(self, summary: CampaignSummary) -> None:
        """Write ``campaign.json``, when all that it counts is on the disk."""
        self._sync()
        write_whole(self.folder / SUMMARY, summary.model_dump_json(indent=2))
        self._has_ended = True

    def _sync(self) -> None:
        """Let the disk take the names of records, each of which it has, and then the lines."""
        place = self.folder / TRIALS
        for folder in self._unsynced:
            sync_names(folder)
        self._unsynced.clear()
        try:
            os.fsync(self._trials.fileno())
            if not os.path.samestat(os.fstat(self._trials.fileno()), place.stat()):
                raise OSError(errno.ESTALE, 'it was replaced by another file')
        except OSError as error:
            raise unwritten(place, error) from error
        self._synced_s = time.monotonic()

    def close(self) -> None:
        """
        Close what is open, and write the manifest if the campaign has ended; once.

        The files of trials were hashed when they were written, so that this takes no longer at
        the end of a long campaign. Of ``trials.jsonl`` it has the hash of what was written, so
        that a line that something else changed meanwhile is found.

        :raises TraceError: the disk is full, or the folder is gone
        """
        self._files.close()
        for path in sorted((self.folder / 'logs').glob('*.log')):
            _remove_places(path)
        try:
            if self._has_ended:
                self._has_ended = False
                if self._lines is not None:
                    self._known[TRIALS] = self._lines.hexdigest()
                found = {**hashes(self.folder, self._known), **self._known}
                write_whole(self.folder / MANIFEST, json.dumps(found, indent=2, sort_keys=True))
        finally:
            with suppress(OSError):
                self.folder.chmod(self._mode)
            try:
                self._trials.close()
            except OSError as error:  # a line that could not be written is tried once more
                raise unwritten(self.folder / TRIALS, error) from error


def _remove_places(path: Path) -> None:
    """Leave names in a log, which holds tracebacks, instead of the paths of this machine."""
    before = path.read_bytes().decode('utf-8', 'surrogateescape')
    after = without_places(before)
    if after != before:
        write_whole(path, after.encode('utf-8', 'surrogateescape'))


def hashes(folder: Path, leave_out: Container[str] = ()) -> dict[str, str]:
    """
    Return the SHA-256 of every file but logs, page, and the manifest with its signatures.

    Of a journal the head of its chain of hashes stands there too.

    :param leave_out: names of files that need not be read
    """
    found = dict[str, str]()
    for above, _, names in os.walk(folder):
        below = os.path.relpath(above, folder)
        for name in sorted(names if below == '.' else (f'{below}/{name}' for name in names)):
            is_view = name == PAGE or name.startswith((f'{_LOGS}/', f'{PAGE_DATA}/'))
            if name not in _SIGNED and not is_view and name not in leave_out \
                    and (folder / name).is_file():
                found |= hashed(folder, name)
    return found


def not_covered(folder: Path) -> tuple[str, ...]:
    """Return what is in a folder whose hash no manifest has."""
    return tuple(f'{name}/' if (folder / name).is_dir() else name
                 for name in (PAGE, PAGE_DATA, _LOGS) if (folder / name).exists())


def note_repair(folder: Path, done: Sequence[str]) -> None:
    """
    Note what was repaired, behind what was repaired before.

    :raises TraceError: the disk is full, or the folder is gone
    """
    try:
        with (folder / REPAIRS).open('a', encoding='utf-8') as file:
            file.write(json.dumps({
                'at': datetime.now(timezone.utc).isoformat(timespec='seconds'),
                'done': list(done)}) + '\n')
    except OSError as error:
        raise unwritten(folder / REPAIRS, error) from error


def repairs_of(folder: Path) -> tuple[str, ...]:
    """Return what was ever repaired in a folder; a line that cannot be read says so."""
    try:
        lines = lines_of((folder / REPAIRS).read_text(encoding='utf-8', errors='replace'))
    except OSError:
        return ()
    found: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            said = read_json(line)
            found += [f'{said["at"]}: {text}' for text in said['done']]
        except (ValueError, LookupError, TypeError):
            found.append(f'{REPAIRS}:{number} cannot be read')
    return tuple(found)


def refuse_pipes(folder: Path) -> None:
    """
    Refuse a folder with what is neither a file nor a folder: who reads a pipe waits for ever.

    :raises SettingsError: there is a pipe, a socket or a device in it, or a link to one
    """
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return  # whoever reads it says what is wrong
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            refuse_pipes(Path(entry))
        elif not entry.is_file(follow_symlinks=False) and os.path.exists(entry) \
                and not os.path.isfile(entry) and not os.path.isdir(entry):
            raise SettingsError(f'{entry.path}: is a pipe, a socket or a device, expected a file: '
                                f'a campaign leaves nothing else. Take it out')


def lines_of(text: str) -> list[str]:
    """Return the lines of a JSON Lines text; what a controller said may hold other separators."""
    return [line for line in text.split('\n') if line]


def read_trials(folder: Path) -> list[TrialResult]:
    """
    Return the results in a campaign's folder, or in a ``trials.jsonl``, as they stand there.

    Nobody has compared them with their records: to judge by them is what ``rejudge`` is for.

    :raises SettingsError: there are none, or they were not written by this version
    """
    path = folder / TRIALS if folder.is_dir() else folder
    try:
        lines = lines_of(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f'{path}: cannot be read: {error}. Name the folder of a run') \
            from error
    results = []
    for number, line in enumerate(lines, 1):
        try:
            results.append(TrialResult.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = '.'.join(map(str, first['loc']))
            raise SettingsError(f'{path}:{number}: {place}: {first["msg"]}. Was it written by '
                                f'this version?') from None
    return results


@dataclass(frozen=True)
class Settings:
    """What of a campaign's ``settings.json`` judging needs."""

    run: RunSettings
    raw: Mapping[str, Any]
    """The same as it stands there, with what this version adds left out."""
    controller: ControllerSpec
    source: str | None
    """SHA-256 of the controller's source; None when nobody knows it."""
    scenarios: Mapping[str, str | None]
    """Id to SHA-256 of those that came from files."""
    plan: tuple[PlannedTrial, ...] | None
    """None where it was taken out of the file."""
    version: str | None
    """Of this package, when the campaign was run."""
    onset: str = ''
    """When the hazard is there, if a recording of somebody else was judged."""
    sut: Identity | None = None
    """What told the controller from others before the first trial."""
    traceability: Mapping[str, Traceability] = field(default_factory=dict)
    """Id to what a scenario is evidence for, of those that came from files."""

    @property
    def own_plan(self) -> tuple[PlannedTrial, ...]:
        """Return the trials of this folder, as they are run: those of its shard, if it is one."""
        return part_of(self.run, self.plan or (), lambda planned: planned.scenario_id)


def no_campaign(folder: Path) -> SettingsError:
    """Return that a folder is not that of a campaign, with those in it that are."""
    inside = sorted(path.parent for levels in ('*', '*/*')
                    for path in folder.glob(f'{levels}/{SETTINGS}'))
    if not inside and (folder / SEALED).exists():
        return SettingsError(f'{folder}: got the run of a blinded design, whose campaigns are in '
                             f'{SEALED}, expected a campaign. safety-scenarios report {folder} '
                             f'--unblind opens it')
    if not inside:
        return SettingsError(f'{folder}: got no campaign in it (no {SETTINGS}), expected one. '
                             f'Name the folder of a campaign')
    return SettingsError(
        f'{folder}: got a folder of {counted(len(inside), "campaign")}, expected one campaign. '
        f'Name {", ".join(map(str, inside[:_FEW]))}{", ..." if len(inside) > _FEW else ""}')


def settings_of(folder: Path) -> Settings:
    """
    Return what a campaign was run with.

    :raises SettingsError: the folder is not that of a campaign
    """
    path = folder / SETTINGS
    refuse_pipes(folder)
    if not path.exists():
        raise no_campaign(folder)
    try:
        data = read_json(path.read_bytes())
        if not isinstance(data, dict):
            raise ValueError('got no object of JSON, expected one with settings')
        return Settings(RunSettings.model_validate_json(json.dumps(data['settings'])),
                        data['settings'], _spec(data),
                        data.get('controller', {}).get('sha256'),
                        {str(found['id']): found.get('sha256') for found in data['scenarios']},
                        None if 'plan' not in data else tuple(
                            PlannedTrial.model_validate(found) for found in data['plan']),
                        data.get('versions', {}).get('safety_scenarios'),
                        onset=str(data.get('recording', {}).get('onset', '')),
                        sut=None if 'sut' not in data else
                        Identity.model_validate_json(json.dumps(data['sut'])),
                        traceability={str(found['id']): Traceability.model_validate_json(
                            json.dumps(found.get('traceability') or {}))
                            for found in data['scenarios']})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingsError(f'{path}: cannot be read: {in_words(error):.300}. Name the folder of '
                            f'a campaign') from None


def _spec(data: Mapping[str, Any]) -> ControllerSpec:
    """Return which controller it was."""
    known = {'name': data['settings']['controller'], **data.get('controller', {})}
    return ControllerSpec.model_validate(
        {name: known[name] for name in ControllerSpec.model_fields if name in known})


def ended(folder: Path) -> CampaignSummary | None:
    """
    Return the summary that the campaign wrote, None if it never came to that.

    :raises TraceError: it cannot be read
    """
    path = folder / SUMMARY
    if not path.exists():
        return None
    try:
        return CampaignSummary.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise TraceError(f'{path}: cannot be read: {in_words(error):.300}') from None
