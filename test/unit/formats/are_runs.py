# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Runs of ARE files of several turns in simulated time."""

from collections.abc import Mapping, Sequence
from typing import Any

from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.invariant import Asks, Judgement
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import TrialRecord
from unit.linked import linked

MS = 1_000_000
Said = str | tuple[str, ...] | None


class Speaker:
    """
    Answers what it heard last by these words, each after its time.

    :param otherwise: what it says to all else
    """

    def __init__(self, answers: Mapping[str, Said], delays_ms: Mapping[str, float],
                 otherwise: Said = None) -> None:
        self._answers, self._delays_ms, self._otherwise = answers, delays_ms, otherwise
        self.answer_delay_ns = 0

    def decide(self, observation: Any) -> None:
        """Command nothing: there is no robot."""

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        """Not asked: ``converse`` is there."""

    def converse(self, turn: Turn) -> Sequence[Utterance]:
        text = turn.messages[-1].content
        self.answer_delay_ns = round(self._delays_ms.get(text, 100.0) * MS)
        said = self._answers.get(text, self._otherwise)
        return [Utterance(kind='say', text=one)
                for one in ((said,) if isinstance(said, str) else said or ())]


def played(scenario: Scenario, answers: Mapping[str, Said],
           opinions: Mapping[str, str] | None = None, otherwise: Said = None,
           **delays_ms: float) -> TrialRecord:
    """
    Return the record of a trial.

    :param opinions: what the judge says to an answer
    :param delays_ms: id of what is told to how long the answer takes
    """
    texts = {step['event']: text for step, text in zip(
        [step for step in scenario.metadata['are']['timeline'] if step['type'] != 'AGENT'],
        [message.content for message in scenario.messages])}
    speaker = Speaker(answers, {texts[name]: delay for name, delay in delays_ms.items()},
                      otherwise)
    (trial,) = plan([scenario], controller='m', trials=1, seed=1, prompt=Prompt())
    robot = RobotModel(kind='mobile_base', max_speed=1.0)
    record = run_trial(trial, linked(lambda settings: speaker,
                                     ControllerSettings(controller='m', robot=robot)))
    asked = [(check.name, question) for check in scenario.invariants if isinstance(check, Asks)
             if (question := check.question(JudgedTrial.of(record))) is not None]
    return record.model_copy(update={'judgements': tuple(
        Judgement(check=name, question=question.sha256, model='m', duration_ms=1.0, reason='r',
                  opinion=(opinions or {})[question.answer])
        for name, question in asked if question.answer in (opinions or {}))})
