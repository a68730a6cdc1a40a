# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The trials of a campaign's folder: found, shown, and the films of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safety_scenarios.campaign.folder.evidence import evidence_of
from safety_scenarios.campaign.folder.files import journal_path
from safety_scenarios.campaign.rejudging.rejudge import flaw_lines, rejudge
from safety_scenarios.campaign.rejudging.stored_trials import judged, named
from safety_scenarios.judging.findings.harness import doubted
from safety_scenarios.reports.failures import urgency_of
from safety_scenarios.reports.film.files import films_beside
from safety_scenarios.reports.scene.scene import Scene
from safety_scenarios.reports.scene.trial_scene import build_scene
from safety_scenarios.reports.trial_view.terminal import Row
from safety_scenarios.reports.trial_view.view import view_of
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.trial.journal import unfinished
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import PlannedTrial


@dataclass(frozen=True)
class Listed:
    """All trials of a folder, and what is wrong with it."""

    rows: Sequence[Row]
    controller: str
    flaws: Sequence[str]
    """Each names the file; no trial that one is about is a PASS here."""
    summary: CampaignSummary
    """What the trials come to by their records."""
    results: Sequence[TrialResult] = ()
    """By their records, without warm-up."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Those of the campaign, as ``settings.json`` has them."""


def trials_in(folder: Path) -> Listed:
    """
    Return the planned trials of a campaign, judged again from their records.

    Of a trial without a record the line is shown, with what is wrong with it.

    :raises InputError: the folder is not that of a campaign
    """
    evidence, found = evidence_of(folder, has_ended=False), rejudge(folder)
    doubts: dict[str | None, list[str]] = {}
    for flaw in found.flaws:
        doubts.setdefault(flaw.trial_id, []).append(str(flaw))
    judged = {trial.after.trial_id: trial.after for trial in found}
    rows = []
    for number, planned in enumerate(evidence.plan.values(), 1):
        line = evidence.lines.get(planned.trial_id)
        result = judged.get(planned.trial_id)
        if result is None and line is not None:
            result = doubted(line.result, doubts.get(planned.trial_id) or [
                'it could not be judged again'])
        rows.append(_row(folder, number, planned, result))
    return Listed(rows, evidence.settings.controller.label, flaw_lines(found.flaws),
                  found.summary, [trial.after for trial in found if not trial.after.warmup],
                  {'settings': evidence.settings.raw})


def view_in(folder: Path, name: str) -> Mapping[str, Any]:
    """
    Return the view of one trial of a campaign, judged again from its record.

    :param name: its number in the list, its id or the beginning of one, the id of a scenario for
        its first trial, or ``SCENARIO:INDEX``
    :raises InputError: the folder is not that of a campaign, or it has no such trial
    :raises TraceError: nothing of the trial's record can be read
    """
    evidence = evidence_of(folder, has_ended=False)
    planned = named(list(evidence.plan.values()), name)
    record, result, notes = judged(folder, evidence, planned)
    film = films_beside(folder).get(planned.trial_id)
    return view_of(record, result, notes, None if film is None else str(film))


def scene_in(folder: Path, name: str) -> Scene:
    """
    Return what a picture of one trial of a campaign shows, by its record.

    :param name: as for ``view_in``
    :raises InputError: the folder is not that of a campaign, it has no such trial, or there is
        nothing to be seen in it
    :raises TraceError: nothing of the trial's record can be read
    """
    evidence = evidence_of(folder, has_ended=False)
    planned = named(list(evidence.plan.values()), name)
    record, result, notes = judged(folder, evidence, planned)
    return build_scene(record, result, notes)


def _row(folder: Path, number: int, planned: PlannedTrial, result: TrialResult | None) -> Row:
    if result is None:
        path = folder / journal_path(planned.trial_id)
        why = 'its record is there, and no result: run campaign repair' if path.exists() else \
            'it has begun, and not ended' if unfinished(path).exists() else 'it was not run'
        return Row(number, planned.trial_id, planned.scenario_id, planned.trial_id, None, why,
                   warmup=planned.index < 0)
    return Row(number, planned.trial_id, planned.scenario_id, result.scenario_name,
               result.verdict, result.reason, urgency_of(result), result.warmup)
