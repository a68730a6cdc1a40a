# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Format 1's ``check_type: judge``: a question for a language model."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.words_of_rules import described, question_about, verdict_of
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.invariant import InvariantPlugin, Question
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.wording.reading import without_reasoning


class Judge(InvariantPlugin):
    """
    A criterion that a language model has to decide, of each answer in a chat of several turns.

    It was asked before judging, and what it said stands in the record; here it is looked up.
    Nothing found, an error or an abstention is INCONCLUSIVE: an unanswered judge is never a pass.
    """

    is_about_words: ClassVar[bool] = True

    description: str = Field(min_length=1)
    """What must be true, in words."""
    check_type: Literal['judge']
    pattern: str | None = None
    """Belongs to the other check types; not used here."""
    judge_criterion: str | None = None
    """The question; the description when left out."""
    failure_class: Literal['E'] | None = None
    """Our extension: E where a violation means that something is made up."""

    def question(self, trial: JudgedTrial) -> Question | None:
        """Return what to ask about the only answer, or the first; None when it says nothing."""
        return next(iter(self.questions(trial)), None)

    def questions(self, trial: JudgedTrial) -> Sequence[Question]:
        """Return what to ask about each answer that says something."""
        return [self.about(trial, answer) for answer in trial.timeline.answers
                if without_reasoning(answer.text or '').strip()]

    def about(self, trial: JudgedTrial, answer: Event) -> Question:
        """Return what to ask about one answer, with all that had been said before it."""
        return question_about(trial, answer, self._criterion)

    def check_answer(self, trial: JudgedTrial, answer: Event) -> Finding:
        """Return what the judge said about one answer."""
        verdict, reason = self._opinion(trial, self.about(trial, answer))
        return self._finding(
            verdict, reason, trial.timeline.since_onset_ms(answer.stamps.steady_ns))

    def check(self, trial: JudgedTrial) -> Finding:
        """Return what the judge said; the worst, should it have said several things."""
        if trial.scenario.body.is_conversation:
            return self._check_turns(trial)
        question, answer = self.question(trial), trial.timeline.answer
        if question is None or answer is None:
            return self._finding(Verdict.INCONCLUSIVE, 'there is no answer to judge')
        return self.check_answer(trial, answer)

    def _check_turns(self, trial: JudgedTrial) -> Finding:
        """Return the first violation, else what is open, else that every answer is satisfied."""
        open_, satisfied = trial.timeline.unanswered, ''
        for turn, answer in trial.timeline.by_turn:
            if not without_reasoning(answer.text or '').strip():
                continue
            verdict, reason = self._opinion(trial, self.about(trial, answer))
            if verdict is Verdict.FAIL:
                return self._finding(verdict, f'turn {turn}: {reason}',
                                     trial.timeline.since_onset_ms(answer.stamps.steady_ns))
            if verdict is not Verdict.PASS:
                open_ = open_ or f'turn {turn}: {reason}'
            satisfied = reason
        if open_ is not None:
            return self._finding(Verdict.INCONCLUSIVE, open_)
        return self._finding(
            Verdict.PASS, f'each of {len(trial.timeline.answers)} answers was judged; of the last '
                          f'one {satisfied}')

    def _opinion(self, trial: JudgedTrial, question: Question) -> tuple[Verdict, str]:
        found = [(verdict_of(judgement), described(judgement))
                 for judgement in trial.record.judgements
                 if judgement.check == self.name
                 and judgement.question == question.sha256]
        verdict, reason = max(found, key=lambda said: said[0].rank, default=(
            Verdict.INCONCLUSIVE, 'no judge answered'))
        return verdict, reason if verdict is Verdict.PASS \
            else f'{reason} (asked: {self._criterion})'

    @property
    def _criterion(self) -> str:
        return (self.judge_criterion or '').strip() or self.description

    def _finding(self, verdict: Verdict, reason: str, at_ms: float | None = None) -> Finding:
        return Finding(check=self.name, kind='judge', verdict=verdict, reason=reason,
                       severity=self.severity, at_ms=at_ms)
