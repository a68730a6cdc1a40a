# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The folder of one campaign; each file is whole or absent, each line is written as it happens.

A trial's journal is written while it runs, its trace and its recording when it has ended, and its
line in ``trials.jsonl`` last: whoever has a line has everything. The manifest is written when the
folder is closed, so that it holds what outputs have written into it.
"""

from collections.abc import Mapping, Sequence
import fcntl
import hashlib
import json
import os
from pathlib import Path
import time
from typing import Any

from pydantic import ValidationError
from safety_scenarios.campaign.folder.files import TrialFiles, unwritten, write_whole
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.event import EventSink
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.trial.observer import Observer
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import Trial, TrialRecord

_SYNC_S = 1.0
"""A lost process loses nothing; a lost machine at most this long of finished trials."""
TRIALS, SUMMARY, SETTINGS, MANIFEST = ('trials.jsonl', 'campaign.json', 'settings.json',
                                       'manifest.json')
VIEWS = 'views.jsonl'
"""What is drawn of each trial, kept while the campaign runs."""
PAGE, PAGE_DATA = 'report.html', 'report_data'
"""A view of the folder, which may be made again at any time: no part of the evidence."""
_BLOCK = 1 << 20
"""Bytes hashed at a time: a recording need not fit into memory."""


class RunFolder(Observer):
    """
    Writes everything that a campaign leaves.

    :param files: writes those of each trial; their folder must not exist yet, or be empty
    :param resume: go on in a folder that a crash left, instead
    :raises SettingsError: the folder is in use or cannot be written
    """

    def __init__(self, files: TrialFiles, *, resume: bool = False) -> None:
        self.folder = folder = files.folder
        self._files = files
        self._synced_s = 0.0
        self._has_ended = False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not resume and any(folder.iterdir()):
                raise SettingsError(f'output: got {folder}, which is not empty; expected a new or '
                                    f'empty folder. Name another one')
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

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Write ``settings.json``: effective settings, versions and scenario hashes."""
        write_whole(self.folder / SETTINGS, json.dumps(
            settings, indent=2, ensure_ascii=False))

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
        self._files.write(record, result)
        try:
            self._trials.write(result.model_dump_json() + '\n')
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
        os.fsync(self._trials.fileno())
        self._synced_s = time.monotonic()

    def close(self) -> None:
        """
        Close what is open, and write the manifest if the campaign has ended.

        :raises TraceError: the disk is full, or the folder is gone
        """
        self._files.close()
        try:
            if self._has_ended:
                write_whole(self.folder / MANIFEST, json.dumps(hashes(self.folder), indent=2))
        finally:
            self._trials.close()


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file but logs, page, and the manifest with its signatures."""
    found = {}
    for path in sorted(folder.rglob('*')):
        name = path.relative_to(folder).as_posix()
        is_beside = name.startswith(MANIFEST) and '/' not in name
        is_view = name == PAGE or name.startswith(('logs/', f'{PAGE_DATA}/'))
        if path.is_file() and not is_beside and not is_view:
            found[name] = digest(path)
    return found


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


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, however large it is."""
    found = hashlib.sha256()
    with path.open('rb') as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


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
