# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is found on the other end before any hazard is published."""

from dataclasses import dataclass
from pathlib import Path

from safety_scenarios.are.apps_world import apps_of
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.campaign.selecting import asked_for
from safety_scenarios.campaign.trials import planned
from safety_scenarios.errors import SafetyScenariosError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.findings.wiring import motion_elsewhere
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.latency.stream import stream_rows
from safety_scenarios.judging.motion.signals import Signals
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.links.controller_settings import spec_of
from safety_scenarios.trial.preflight import Preflight, PreflightRow
from safety_scenarios.trial.run import INTERRUPTED, run_trial
from safety_scenarios.trial.session import Connect
from safety_scenarios.trial.trial import TrialRecord


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


def preflight(settings: RunSettings, connect: Connect, folder: Path) -> Wiring:
    """
    Return what is on the other end, by the nominal phase of each scenario and no hazard.

    :param folder: for the controllers' logs
    :raises InputError: wrong settings or scenarios
    """
    scenarios = asked_for(load_scenarios(settings.scenarios, settings.regex).scenarios, settings)
    refuse_unrunnable(scenarios, settings)
    once = settings.model_copy(update={'trials': 1, 'warmup': 0})
    found: list[Preflight] = []
    with apps_of(settings) as apps, apps.connecting(connect)(settings, folder) as session:
        trials = planned(once, apps.known(scenarios), spec_of(once))
        for trial in trials:
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
    return Wiring(tuple(found), len(trials))


def preflight_of(link: Link, record: TrialRecord) -> Preflight:
    """Return what the link and a scenario's first record found; a fault is a row of its own."""
    trial = record.trial
    faults = [PreflightRow(check='connection', status='error', detail=event.text or '')
              for event in record.of_kind('fault') if event.name != INTERRUPTED]
    if not faults and trial.scenario.body.kind == 'robot' and not _is_moving(record):
        faults.append(PreflightRow(check='moving', status='error', detail=(
            'the controller did not get moving in the nominal phase')))
    faults += [PreflightRow(check='other motion', status='error', detail=found.reason)
               for found in motion_elsewhere(JudgedTrial.of(record))]
    return Preflight(scenario_id=trial.scenario.id,
                     rows=(*faults, *link.preflight(), *stream_rows(record)))


def _is_moving(record: TrialRecord) -> bool:
    """Return whether some command met what the nominal phase requires."""
    ros = record.trial.scenario.ros
    return ros is not None and Signals(record).margin_series([ros.nominal.require]).ever_holds
