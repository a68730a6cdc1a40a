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

"""The folder of one campaign; each file is whole or absent, each line is written as it happens."""

from collections.abc import Callable, Mapping
import json
import os
from pathlib import Path
import time
from typing import Any

from pydantic import ValidationError

from safety_scenarios.errors import SettingsError, TraceError
from safety_scenarios.model.result import TrialResult
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.model.trial import Trial, TrialRecord

_SYNC_S = 1.0
"""A lost process loses nothing; a lost machine at most this long of finished trials."""
WriteTrace = Callable[[TrialRecord, TrialResult], str]


class RunFolder:
    """
    Writes ``settings.json``, ``trials.jsonl``, ``campaign.json`` and a trace for each trial.

    :param folder: must not exist yet, or be empty
    :param trace: record and result to the text of the trace file
    :raises SettingsError: the folder is in use or cannot be written
    """

    def __init__(self, folder: Path, trace: WriteTrace) -> None:
        self.folder = folder
        self._trace = trace
        self._synced_s = 0.0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise SettingsError(f'output: got {folder}, which is not empty; expected a new or '
                                    f'empty folder. Name another one')
            self._trials = (folder / 'trials.jsonl').open('x', encoding='utf-8')
        except OSError as error:
            raise SettingsError(f'output: got {folder}, which cannot be written: '
                                f'{error.strerror}') from error

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Write ``settings.json``: effective settings, versions and scenario hashes."""
        self._write('settings.json', json.dumps(settings, indent=2, ensure_ascii=False))

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """
        Write the trace, then the line that says the trial is complete.

        :raises TraceError: the disk is full, or the folder is gone
        """
        self._write(self.trace_path(record.trial), self._trace(record, result))
        try:
            self._trials.write(result.model_dump_json() + '\n')
            self._trials.flush()
            if time.monotonic() - self._synced_s > _SYNC_S:
                self._sync()
        except OSError as error:
            raise _unwritten(self.folder / 'trials.jsonl', error) from error

    def write_summary(self, summary: CampaignSummary) -> None:
        """Write ``campaign.json``, when all that it counts is on the disk."""
        self._sync()
        self._write('campaign.json', summary.model_dump_json(indent=2))

    def _sync(self) -> None:
        os.fsync(self._trials.fileno())
        self._synced_s = time.monotonic()

    def close(self) -> None:
        """Close ``trials.jsonl``."""
        self._trials.close()

    def trace_path(self, trial: Trial) -> str:
        """Return a trial's trace file, relative to the folder."""
        scenario = trial.trial_id.partition('.')[0]
        return f'traces/{scenario}/{trial.trial_id}.json'

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(path.name + '.part')
            unfinished.write_text(text + '\n', encoding='utf-8')
            os.replace(unfinished, path)
        except OSError as error:
            raise _unwritten(path, error) from error


def read_trials(folder: Path) -> list[TrialResult]:
    """
    Return the results in a campaign's folder, or in a ``trials.jsonl``.

    :raises SettingsError: there are none, or they were not written by this version
    """
    path = folder / 'trials.jsonl' if folder.is_dir() else folder
    try:
        lines = path.read_text(encoding='utf-8').splitlines()
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


def _unwritten(path: Path, error: OSError) -> TraceError:
    return TraceError(f'{path}: cannot be written: {error.strerror}. Everything before it is '
                      f'complete')
