# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an invariant must be able to do, and the questions that only a judge can answer."""

from collections.abc import Iterable, Mapping, Sequence
import hashlib
import json
import math
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from pydantic import Field, model_validator
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.noun import Label, Noun
from safety_scenarios.scenario.result import Finding
from safety_scenarios.scenario.verdict import Verdict

Opinion = Literal['violated', 'satisfied', 'abstain']
Words = Literal['judge', 'patterns']
"""Who has to have read the words of a trial before they count."""


class Question(Noun):
    """Whether one answer satisfies one criterion, with all that may be read to decide it."""

    criterion: str
    """What has to be decided, in words."""
    answer: str
    """What the controller under test said, without its reasoning: untrusted."""
    situation: str = ''
    """Context: what happens in the scenario."""
    chat: Sequence[ChatMessage] = ()
    """Context: what the controller was told."""
    expected: str = ''
    """Context: what a right answer does."""
    in_time: str = ''
    """Context: how pressing it is, and what a delay costs."""

    @property
    def sha256(self) -> str:
        """Hash of everything in the question: a judgement belongs to no other."""
        text = json.dumps(self.model_dump(), sort_keys=True)
        return hashlib.sha256(text.encode('ascii')).hexdigest()


class Judgement(Noun):
    """What the judge said to one question, or why it said nothing."""

    check: str
    """Name of the invariant that asked."""
    question: str = Field(pattern='^[0-9a-f]{64}$')
    """Hash of the question."""
    model: str
    """Name of the judge at its server."""
    opinion: Opinion | None
    """None: no answer; ``error`` says why."""
    reason: str = ''
    """In the judge's words."""
    error: str | None = None
    """What went wrong; never text of the server, which may repeat what it was sent."""
    prompt_tokens: int | None = Field(default=None, ge=0)
    """As the server counts; None when it does not."""
    completion_tokens: int | None = Field(default=None, ge=0)
    duration_ms: float = Field(ge=0)
    """How long it took to ask, on the clock of this host (ms)."""
    cached: bool = False
    """Found in the cache: tokens and duration are those of when it was asked."""

    @model_validator(mode='after')
    def _one_outcome(self) -> 'Judgement':
        if (self.opinion is None) != (self.error is not None):
            raise ValueError(f'got opinion {self.opinion!r} with error {self.error!r}, expected '
                             f'exactly one of them')
        return self


class Cost(Noun):
    """What asking took; what the cache answered costs nothing."""

    asked: int
    """Questions that went to the server."""
    cached: int
    prompt_tokens: int | None
    """As far as the server counts; None when it never does."""
    completion_tokens: int | None
    duration_ms: float

    @staticmethod
    def of(judgements: Sequence[Judgement]) -> 'Cost':
        """Return the sum over judgements."""
        asked = [judgement for judgement in judgements if not judgement.cached]
        return Cost(asked=len(asked), cached=len(judgements) - len(asked),
                    prompt_tokens=_sum(judgement.prompt_tokens for judgement in asked),
                    completion_tokens=_sum(judgement.completion_tokens for judgement in asked),
                    duration_ms=sum((judgement.duration_ms for judgement in asked), 0.0))


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


@runtime_checkable
class Asks(Protocol):
    """An invariant that needs a judge."""

    name: str

    def question(self, trial: Any) -> Question | None:
        """Return what it has to know of a ``JudgedTrial``; None when there is nothing to ask."""


@runtime_checkable
class AsksOften(Asks, Protocol):
    """An invariant that needs a judge for each of several answers."""

    def questions(self, trial: Any) -> Sequence[Question]:
        """Return what it has to know of a ``JudgedTrial``, each question once."""


@runtime_checkable
class AsksAboutOne(Asks, Protocol):
    """An invariant that can ask a judge about any one answer."""

    def about(self, trial: Any, answer: Any) -> Question:
        """Return what it has to know of one ``Event`` of a ``JudgedTrial``."""

    def check_answer(self, trial: Any, answer: Any) -> Any:
        """Return the ``Finding`` about it."""


@runtime_checkable
class ReadByPattern(Protocol):
    """An invariant that reads words by a pattern, whose meaning a judge can be asked instead."""

    name: str
    is_demand: bool
    """It demands words; it does not forbid them."""

    def readings(self, trial: Any) -> Sequence[Question]:
        """Return what a judge is to be asked of the answers of a ``JudgedTrial``."""


SPEEDS = 'm/s', 'rad/s'
"""Units of a speed."""
SignalUnits = Mapping[str, tuple[str, ...]]
"""Field of a plug-in that names a signal to the units that it may have."""


class InvariantPlugin(Noun):
    """Base of every invariant: its fields are its parameters in the scenario file."""

    name: Label = Field(min_length=1, max_length=500)
    """What must hold, in words."""
    severity: float = Field(default=1.0, ge=0, le=1)
    """Weight of a violation, 0 to 1."""

    names_signals: ClassVar[tuple[str, ...]] = ('signal',)
    """Fields that name one of the scenario's signals; checked when the file is read."""
    names_feedback: ClassVar[tuple[str, ...]] = ()
    """Those of them that only the robot's own state can tell, never a command; checked too."""
    units: ClassVar[SignalUnits] = {}
    """Fields that name a signal to the units that it may have; checked too."""
    names_stimuli: ClassVar[tuple[str, ...]] = ()
    """Fields that name topics on which stimuli are published; checked too."""
    margin_is_time: ClassVar[bool] = False
    """Whether its margin in s is of a time that a busy host can have lengthened: what is too late
    by no more than that is INCONCLUSIVE."""

    wording: ClassVar[Mapping[str, str]] = {}
    """A parameter that the first sentence leaves out to how a description says it, ``{}`` for its
    value."""

    is_about_words: ClassVar[bool] = False
    """Whether it reads what was said or called, whatever took how long: no stall excuses it."""

    holds_always: ClassVar[bool] = False
    """Whether it can be asked of a robot in operation (doc/manual/hardware.md)."""

    forbids_stopping: ClassVar[bool] = False
    """Whether it fails for nothing but a stop or a refusal that nothing called for, which in a
    benign variant is a false stop."""

    def check(self, trial: Any) -> Finding:
        """
        Judge one trial.

        :param trial: a ``judging.judged_trial.JudgedTrial``, which holds the record and the stages
            computed from it: timeline, signals, motion, latency; nothing else may be read, so that
            judging is repeatable
        """
        raise NotImplementedError

    def reach_s(self, scenario: Any) -> float | None:
        """
        Return how much of the past, before a moment and after it, decides about that moment (s).

        What was in force before is always known. A monitor so need not judge its whole window
        again with each message.

        :return: None: as much as there is in the window
        """
        return None

    def stops(self) -> tuple[Limit, ...] | None:
        """
        Return the limits that it calls a stop: then all of the motion is judged as a standstill.

        :return: None if it demands no stop; none at all, if it means the scenario's reaction
        """
        return None

    def permits(self, contact: Any) -> bool:
        """
        Return whether it allows a contact in a world, which then nobody else calls a violation.

        :param contact: a ``judging.motion.contacts.Contact``
        """
        return False

    def lateral_limit(self) -> float | None:
        """Return how far off its route it lets the robot drive (m); None: it demands no course."""
        return None

    def finding(self, verdict: Verdict, reason: str, margin: float | None = None,
                unit: str | None = None, at_ms: float | None = None) -> Finding:
        """
        Return a finding of this invariant.

        :param margin: an infinite one or NaN is no number, and left out
        :param at_ms: ms after onset, steady clock
        """
        finite = margin if margin is not None and math.isfinite(margin) else None
        return Finding(check=self.name, kind=getattr(self, 'kind', 'invariant'), verdict=verdict,
                       reason=reason, margin=finite, unit=unit, at_ms=at_ms,
                       severity=self.severity, source='invariant')
