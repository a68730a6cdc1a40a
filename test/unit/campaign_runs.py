# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Trials over links that a test brings along, as a campaign runs them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from safety_scenarios.campaign.engines.choice import Loop
from safety_scenarios.campaign.observed import Campaign, ObservedCampaign
from safety_scenarios.campaign.open_session import Ask, OpenSession, unasked
from safety_scenarios.campaign.plan import plan_campaign, TrialTask
from safety_scenarios.campaign.run import run_tasks
from safety_scenarios.campaign.statistics.sequential import Decide, undecided
from safety_scenarios.scenario.settings import JudgedBy, RunSettings
from safety_scenarios.trial.session import Observer, OpenLink
from safety_scenarios.trial.trial import Trial

_AS_SET = JudgedBy()
_SETUP = plan_campaign(RunSettings(link='loopback'), ()).setup


def run_trials(trials: Iterable[Trial], open_link: OpenLink, observers: Sequence[Observer] = (),
               by: JudgedBy = _AS_SET, decide: Decide = undecided,
               judge: Ask = unasked) -> Campaign:
    """Run trials in order, over the link of each scenario."""
    setup = replace(_SETUP, judged_by=by)
    campaign = ObservedCampaign(observers, decide=decide)
    session = OpenSession(open_link, judge=judge, sinks=campaign.sinks)
    run_tasks([TrialTask(setup, trial) for trial in trials], Loop(lambda task: session), campaign)
    return campaign
