# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Who answers the questions that only a judge can decide."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from safety_scenarios.judging.llm_judge.cache import Cache
from safety_scenarios.judging.llm_judge.independence import refuse_own_judge
from safety_scenarios.scenario.judgement import Asks
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import model_under_test
from safety_scenarios.trial.trial import TrialRecord

Ask = Callable[[TrialRecord], TrialRecord]
"""Record to the same with what a judge says about it; must not raise."""


def judge_of(settings: RunSettings, scenarios: Iterable[Scenario], folder: Path,
             controller: Any = None) -> Ask:
    """
    Return who answers the judge's questions; without a judge or a question nobody does.

    :param folder: of the campaign, for answers that no other campaign shares
    :param controller: the one under test, if no plug-in has the name in the settings
    :raises SettingsError: the judge is the model under test, or cannot be asked
    """
    server = settings.judge
    refuse_own_judge(server, model_under_test(settings, controller))
    asked = any(isinstance(invariant, Asks) for scenario in scenarios
                for invariant in scenario.invariants)
    if not server.judge_model or not asked:
        return unasked
    from safety_scenarios.judging.llm_judge.asking import LanguageModelJudge  # needs the extra llm
    cache = Cache.made(server.judge_cache) if server.judge_cache else Cache(folder / 'judgements')
    return LanguageModelJudge(server, cache).judge


def unasked(record: TrialRecord) -> TrialRecord:
    """Return a record as it is: nobody is asked."""
    return record
