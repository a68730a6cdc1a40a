# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Finding one trial of a campaign's folder, and reading its record as far as it can be read."""

from pathlib import Path

from safety_scenarios.campaign.folder.evidence import evidence_of
from safety_scenarios.campaign.rejudging.trial_in import judged, named
from safety_scenarios.reports.film.recorded_scene import scene_of
from safety_scenarios.reports.film.scene import Scene


def scene_in(folder: Path, name: str) -> Scene:
    """
    Return what a picture of one trial of a campaign shows, by its record.

    :param name: a trial's id or the beginning of one, the id of a scenario for its first trial,
        an index, or ``SCENARIO:INDEX``
    :raises InputError: the folder is not that of a campaign, it has no such trial, or there is
        nothing to be seen in it
    :raises TraceError: nothing of the trial's record can be read
    """
    evidence = evidence_of(folder, has_ended=False)
    planned = named(list(evidence.plan.values()), name)
    record, result, notes = judged(folder, evidence, planned)
    return scene_of(record, result, notes)
