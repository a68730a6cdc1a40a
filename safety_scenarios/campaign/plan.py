# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From settings to the trials of a campaign."""

from collections.abc import Iterable
import secrets

from safety_scenarios import registry
from safety_scenarios.campaign.connect import connection
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.trial import Trial


def run_of(settings: RunSettings) -> str:
    """
    Return what ends the ids of a campaign's trials.

    Nothing where no answer can come late from an earlier campaign, as in simulated time.
    """
    return '' if connection(settings).is_repeatable else secrets.token_hex(3)


def planned(settings: RunSettings, scenarios: Iterable[Scenario], spec: ControllerSpec,
            run: str = '') -> tuple[Trial, ...]:
    """
    Return the trials that the settings ask for.

    :param run: ends the trials' ids, as in ``plan``
    """
    return plan(scenarios, controller=spec, trials=settings.trials,
                seed=settings.seed, prompt=registry.resolve('stimuli', 'prompt')(), run=run,
                warmup=settings.warmup)
