# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Running a matrix, and reading what one has left."""

from collections.abc import Callable, Sequence

from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.run import run_campaign
from safety_scenarios.studies.matrix.file import write_matrix
from safety_scenarios.studies.matrix.plan import MatrixPlan, PlannedArm
from safety_scenarios.studies.matrix.summarise import ArmDone, summarise
from safety_scenarios.studies.matrix.summary import MatrixSummary
from safety_scenarios.trial.session import Observer

SUMMARY = 'matrix.json'


class Kept(Observer):
    """Keeps results."""

    def __init__(self):
        self.results = []

    def trial_ended(self, record, result):
        self.results.append(result)


def run_matrix(plan: MatrixPlan, observers: Callable[[PlannedArm], Sequence[Observer]]) -> MatrixSummary:
    plan.folder.mkdir(parents=True, exist_ok=True)
    write_matrix(plan.matrix, plan.folder)
    done = {}
    for arm in plan.arms:
        kept = Kept()
        summary = run_campaign(arm.plan, [kept, *observers(arm)])
        done[arm.name] = ArmDone(arm.plan.folder, kept.results, summary, arm.effective.shown)
    found = summarise(plan.matrix, done)
    write_whole(plan.folder / SUMMARY, found.model_dump_json(indent=2))
    return found
