# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Who answers the questions that only a judge can decide."""

from collections.abc import Callable, Sequence
from pathlib import Path

from safety_scenarios.judging.llm_judge.prompt import Cache, refuse_own_judge
from safety_scenarios.judging.words_of_rules import demands_words
from safety_scenarios.scenario.invariant import Asks, Words
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.servers import JudgeServer
from safety_scenarios.trial.trial import TrialRecord

Ask = Callable[[TrialRecord], TrialRecord]
"""Record to the same with what a judge says about it; must not raise."""


def plan_judge(server: JudgeServer, scenarios: Sequence[Scenario],
               model_under_test: str, words: Words) -> JudgeServer | None:
    """
    Return the judge that these scenarios ask; None without a judge or without a question.

    :param words: patterns: about the words of rules and patterns nobody is asked
    :raises SettingsError: the judge is the model under test
    """
    refuse_own_judge(server, model_under_test)
    asked = any(isinstance(invariant, Asks) for scenario in scenarios
                for invariant in scenario.invariants) or (words == 'judge' and any(
                    demands_words(scenario) for scenario in scenarios))
    return server if server.model and asked else None


def judge_of(server: JudgeServer | None, folder: Path, words: Words) -> Ask:
    """
    Return what answers the judge's questions.

    :param folder: of the campaign, for answers that no other campaign shares
    :param words: patterns: about the words of rules and patterns nobody is asked
    :raises SettingsError: the judge cannot be asked
    """
    if server is None:
        return unasked
    from safety_scenarios.judging.llm_judge.asking import LanguageModelJudge  # needs the extra llm
    cache = Cache.made(server.cache) if server.cache else Cache(folder / 'judgements')
    return LanguageModelJudge(server, cache, reads_words=words == 'judge').judge


def unasked(record: TrialRecord) -> TrialRecord:
    """Return a record as it is: nobody is asked."""
    return record
