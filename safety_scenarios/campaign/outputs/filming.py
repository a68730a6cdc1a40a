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
"""Finding one trial of a campaign's folder, and reading its record as far as it can be read."""

from pathlib import Path

from safety_scenarios.campaign.folder.evidence import evidence_of
from safety_scenarios.campaign.rejudging.trial_in import judged, named
from safety_scenarios.film.of_record import scene_of
from safety_scenarios.film.scene import Scene


def scene_in(folder: Path, name: str) -> Scene:
    """
    Return what a picture of one trial of a campaign shows, by its record.

    :param name: a trial's id or the beginning of one, the id of a scenario for its first trial,
        an index, or ``SCENARIO:INDEX``
    :raises InputError: the folder is not that of a campaign, it has no such trial, or there is
        nothing to be seen in it
    :raises TraceError: nothing of the trial's record can be read
    """
    evidence = evidence_of(folder, without_plan=True, has_ended=False)
    planned = named(list(evidence.plan.values()), name)
    record, result, notes = judged(folder, evidence, planned)
    return scene_of(record, result, notes)
