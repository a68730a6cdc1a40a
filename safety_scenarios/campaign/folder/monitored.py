# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a monitor keeps: for each finding the folder of a campaign of one trial, and a list of all.

``safety-scenarios evaluate`` judges such a folder again, from the record in it, as any campaign's.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
import json
from pathlib import Path
import re
import shutil
from typing import Any

from safety_scenarios.campaign.folder.files import files_of, new_in_runs, plan_sha256, write_whole
from safety_scenarios.campaign.folder.folder import RunFolder
from safety_scenarios.campaign.folder.provenance import provenance
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.errors import SettingsError
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.sliding_window import LABEL, spec, watched_trial
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Finding, TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import EXTERNAL, MonitorSettings, RunSettings
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.trial.journal import planned_entries
from safety_scenarios.trial.trial import TrialRecord

LINK = 'monitor'
"""What the folder says of where the events came from: nothing was published."""
FINDINGS, MONITOR = 'findings.jsonl', 'monitor.json'
_LONGEST_NAME = 60


class Kept:
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
