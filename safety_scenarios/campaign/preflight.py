# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is found on the other end before any hazard is published."""

from dataclasses import dataclass
from pathlib import Path

from safety_scenarios.campaign.open_session import preflight_of
from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.policy_refusals import with_policy
from safety_scenarios.campaign.refusals import refuse_unreachable
from safety_scenarios.campaign.trials import reached
from safety_scenarios.errors import SafetyScenariosError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.run import INTERRUPTED, run_trial
from safety_scenarios.trial.summary import Preflight, PreflightRow


@dataclass(frozen=True)
class Wiring:
    """What a preflight of its own found."""

    found: tuple[Preflight, ...]
    planned: int
    """Scenarios that were to be looked at."""

    @property
    def exit_code(self) -> int:
        """0 when nothing is wrong and every controller moves, else 3."""
        wrong = any(row.status == 'error' for rows in self.found for row in rows.rows)
        return 3 if wrong or len(self.found) < self.planned else 0


def preflight(settings: RunSettings, folder: Path) -> Wiring:
    """
    Return what is on the other end, by the nominal phase of each scenario and no hazard.

    :param folder: for the controllers' logs
    :raises InputError: wrong settings or scenarios
    """
    plan = plan_campaign(settings.model_copy(update={'trials': 1, 'warmup': 0}),
                         load_scenarios(settings.scenarios, settings.regex).scenarios,
                         with_unbound=False)
    refuse_unreachable(plan.setup.link.controller)
    found: list[Preflight] = []
    with reached(plan.setup, folder) as session:
        for trial in plan.trials:
            try:
                with session.open_link(trial.scenario) as link:
                    record = run_trial(trial, link, with_hazard=False)
                    if any(event.name == INTERRUPTED for event in record.of_kind('fault')):
                        break
                    rows = preflight_of(link, record)
            except SafetyScenariosError as error:
                rows = Preflight(scenario_id=trial.scenario.id, rows=(
                    PreflightRow(check='connection', status='error', detail=str(error)),))
            found.append(rows)
    return Wiring(tuple(with_policy(found, plan.scenarios, plan.setup.link)),
                  len(plan.trials))
