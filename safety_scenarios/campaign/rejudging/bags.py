# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Judging a recording that somebody else made, on a real robot."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from safety_scenarios import registry
from safety_scenarios.campaign.folder.files import files_of, plan_sha256
from safety_scenarios.campaign.folder.folder import digest, RunFolder
from safety_scenarios.campaign.folder.provenance import provenance
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import EXTERNAL, RunSettings
from safety_scenarios.trial.journal import planned_entries
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.trial import TrialRecord
from safety_scenarios.trial.vary import unvaried

LINK = 'bag'
"""What the folder says of where the events came from: over no link of ours."""


def judge_bag(bag: Path, scenario: Scenario, onset: str, settings: RunSettings, *,
              output: Path | None = None,
              definition: Callable[[str], str | None] | None = None) -> TrialResult:
    """
    Judge a recording that somebody else made, on a real robot.

    :param onset: ``TOPIC:FIELD[:REDUCE] <= NUMBER``, when the hazard is there
    :param settings: namespace, remapping, gate and words
    :param output: new folder for all that a campaign of this one trial leaves; None: no files
    :raises InputError: an onset or a scenario that does not fit
    :raises TraceError: no bag, or without what the scenario needs
    """
    from safety_scenarios.trial.mcap.bag import Onset, read_bag
    settings = settings.model_copy(update={
        'controller': EXTERNAL, 'controller_label': bag.stem, 'link': LINK,
        'calibration': 'off', 'output': '' if output is None else str(output)})
    spec = ControllerSpec(name=EXTERNAL, label=bag.stem)
    [trial] = plan([unvaried(scenario)], controller=spec, trials=1, seed=0,
                   prompt=registry.resolve('stimuli', 'prompt')())
    record = read_bag(bag, trial, Onset.parse(onset), full_name=settings.names.full,
                      definition=definition)
    result = evaluate(record, settings.gate, settings.words)
    if output is not None:
        told = provenance(settings, spec, [scenario], {}, planned_entries([trial]))
        _write(output, settings, record, result, {
            **told, 'recording': {'path': str(bag), 'onset': onset, 'sha256': _hashes(bag)}})
    return result


def _write(output: Path, settings: RunSettings, record: TrialRecord, result: TrialResult,
           told: dict[str, Any]) -> None:
    """Write what a campaign of this one trial would have left, so that it can be judged again."""
    spec = ControllerSpec(name=EXTERNAL, label=settings.controller_label)
    with closing(RunFolder(files_of(
            settings, output, controller=spec,
            plan=plan_sha256(planned_entries([record.trial]))))) as folder:
        folder.write_settings(told)
        for sink in folder.sinks(record.trial):
            for event in record.events:
                sink.add(event)
        folder.trial_ended(record, result)
        folder.campaign_ended(summarise(
            [result], controller=spec,
            link=LINK, seed=0, planned=1, interrupted=False))


def _hashes(bag: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a recording."""
    files = [bag] if bag.is_file() else sorted(path for path in bag.rglob('*') if path.is_file())
    return {path.name: digest(path) for path in files}
