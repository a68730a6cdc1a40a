# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What evaluator and ``simulator_node`` send each other, and how fast time passes.

A request has an id, which its answer repeats; whoever gets no answer in time asks no more. What
the world tells by itself goes out on a topic of its own, in the order in which it happened. In
lock-step the simulator gives the controller's process one turn after another.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import Field, ValidationError
from safety_scenarios.errors import in_words, InputError, MeasurementError, TraceError
from safety_scenarios.ros.link.graph import ASK_SIMULATOR, SIMULATOR, SIMULATOR_TELLS
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.trial.plan_data import plan_of, plan_text, Resolve
from safety_scenarios.trial.trial import Trial

_PATIENCE_NS = 5_000_000
"""A simulator this late catches up at once."""
CATCHES_UP = 1.1
"""What it is later than that, it makes up for at no more than this times its factor, or at real
time where that is faster: nobody has to think faster afterwards than he was told."""
_MOST_NS = 1_000_000_000
"""What a host has taken beyond that is lost."""


class RealTime:
    """
    Simulated time at a factor of real time.

    :param factor: simulated seconds in a real one
    :param begin_ns: simulated
    :param now_ns: steady clock
    """

    def __init__(self, factor: float, begin_ns: int, now_ns: int) -> None:
        self.factor = factor
        self._begin_ns, self._began_ns = begin_ns, now_ns
        self._reached_ns = now_ns
        self._behind_ns = 0

    def due_ns(self, simulated_ns: int) -> int:
        return self._began_ns + round((simulated_ns - self._begin_ns) / self.factor)

    def at(self, now_ns: int) -> int:
        """Return the simulated time that is due at a steady time."""
        return self._begin_ns + round((now_ns - self._began_ns) * self.factor)

    def reached(self, simulated_ns: int, now_ns: int) -> None:
        """Take note of what was reached when: whoever is far behind catches up bit by bit."""
        late_ns = now_ns - self.due_ns(simulated_ns)
        passed_ns, self._reached_ns = now_ns - self._reached_ns, now_ns
        if late_ns > _PATIENCE_NS:
            self._began_ns += late_ns
            self._behind_ns = min(_MOST_NS, self._behind_ns + late_ns)
        elif self._behind_ns:
            faster = max(1.0, CATCHES_UP * self.factor) / self.factor
            made_up_ns = min(self._behind_ns, round(passed_ns * (faster - 1.0)))
            self._began_ns -= made_up_ns
            self._behind_ns -= made_up_ns


ASK, ANSWER, TOLD = ASK_SIMULATOR, SIMULATOR, SIMULATOR_TELLS
"""Topics on which requests, their answers and what is true travel."""
LEAST_NS = 2_000_000
"""A decision that took less is not charged: a robot would not show it, and the same trial comes to
the same then. It is within the stated uncertainty."""
LONGEST = 4_000_000
"""Characters of a request: a scenario with a recording in it is long, and nothing is longer."""
What = Literal['reset', 'look', 'begin', 'apply', 'withdraw', 'end', 'pause', 'step', 'until']


class Request(Noun):
    """One thing that a simulator is asked to do."""

    id: str = Field(min_length=1, max_length=100)  # noqa: A003
    what: What
    """
    reset: get ready for a trial, and stand still; look: who is connected; begin: let the world
    live; apply, withdraw: a stimulus happens, or is taken back; end: be empty until the next
    reset; pause: let no time pass; step: let ``step_ns`` pass, and no more; until: go on to
    ``until_ns`` and stand there, which nobody answers.
    """
    trial: str = Field(default='', max_length=500)
    """Id of the trial that is meant, so that two evaluators do not move one world; after reset."""
    plan: str = Field(default='', max_length=LONGEST)
    """Of ``reset``: the trial as it was planned."""
    turns: bool = False
    """Of ``reset``: the controller's process takes turns in lock-step. One that does not has the
    real time that passes."""
    topic: str = Field(default='', max_length=500)
    """Of ``apply`` and ``withdraw``: which stimulus."""
    intent: str = Field(default='', max_length=LONGEST)
    """Of ``apply``: the intent as JSON."""
    hazard: bool = False
    is_new: bool = False
    """Of ``begin``: the controller has just been started, so that its periods count from now."""
    step_ns: int = Field(default=0, ge=0, le=3_600_000_000_000)
    sent: Mapping[str, int] = {}
    """Of ``step``: topics of stimuli that the evaluator itself has published before it, and how
    many."""
    until_ns: int = Field(default=0, ge=0, le=2**62)


class Turn(Noun):
    """
    What a simulator gives the controller's process: the right to decide once.

    The first of a trial, with the count 0, is none: it asks whether everything is connected.
    """

    count: int = Field(ge=0)
    stage: str = Field(default='', max_length=100)
    """Something that is another in each trial, and says nothing of it."""
    now_ns: int = 0
    """Simulated time, which stands until the turn has ended."""
    shown: Mapping[str, tuple[int, ...]] = {}
    """Topic of each sensor to when it has published since the turn before (simulated, ns), so that
    all of it is received before the controller decides; with the count 0: to nothing."""
    received: tuple[str, ...] = ()
    """With the count 0: topics of commands that evaluator and simulator receive."""


class Done(Noun):
    """How a turn has ended."""

    count: int = Field(ge=0)
    stage: str = Field(default='', max_length=100)
    thought_ns: int = Field(default=0, ge=0, le=2**62)
    """What the controller took, without what the kernel did not let it run."""
    held_ns: int = Field(default=0, ge=0, le=2**62)
    """How long threads of its process were ready to run and did not, since the turn before."""
    period_ns: int = Field(default=0, ge=0, le=2**62)
    """When it wants its next turn."""
    begins_chunk: bool = False
    """Its command begins a chunk: the next turn comes a period after the command, however long it
    thought."""
    commands: Mapping[str, int] = {}
    """Topic to how many commands it has published there in this turn."""
    beside: str = Field(default='', max_length=500)
    """What of it may compute between two turns; empty: nothing that could be seen."""
    answering: bool = False
    """It is about to answer in words, for which time does not stand."""
    missed: str = Field(default='', max_length=500)
    """Topic of a sensor of which a message did not come."""


class Decided(Noun):
    """One decision of the controller, and what it was charged for it."""

    turn_ns: int
    """Simulated time of the turn."""
    effect_ns: int
    """Simulated time at which what was decided took effect."""
    thought_ns: int
    held_ns: int
    given_ns: int
    """Steady time at which the turn was given."""
    done_ns: int
    """Steady time at which it had ended."""
    beside: str = ''


class Answer(Noun):
    """What became of a request."""

    id: str = Field(max_length=100)  # noqa: A003
    error: str = ''
    """Why nothing was done; empty: it was done."""
    is_input: bool = False
    """Whether the error is one of the scenario's, which its author can mend."""
    now_ns: int = 0
    """Simulated time right before it was done."""
    can: bool = True
    """Of ``apply``: whether this world can show it."""
    topics: Mapping[str, int] = {}
    """Topics that it publishes, with how many listen to each; after ``reset`` and ``look``."""
    commands: Mapping[str, int] = {}
    """Topics that it executes, with how many command on each."""
    listeners: int = 0
    """How many hear what the world tells."""
    is_ready: bool = True
    """Whether a controller's process that takes turns receives them, and every sensor."""
    told: int = 0
    """After ``step``: how often the world has told something of the trial by then."""
    effects: tuple[tuple[str, int, int], ...] = ()
    """After ``step``: topic of each command that took effect in it, its source stamp (0: none),
    and the simulated time (ns)."""
    decided: tuple[Decided, ...] = ()
    """After ``step``: the decisions that ended in it."""
    factor: float = 1.0
    lockstep: bool = False


class WorldState(Noun):
    """What is true at one moment, and which sensors have published since the moment before."""

    trial: str
    """Id of the trial to which it belongs."""
    now_ns: int
    """Simulated time."""
    count: int
    """Of what was told of the trial so far, this included, so that a loss is noticed."""
    states: Mapping[str, Mapping[str, float]] = {}
    """Entity to its truth; an empty one is there no more."""
    sensed: tuple[tuple[str, int, int | None], ...] = ()
    """Topic, simulated time, header stamp (ns)."""
    reported: tuple[tuple[str, int, int | None, str, str], ...] = ()
    """What the robot reports of itself on topics that are no ``feedback`` of the scenario: topic,
    time, header stamp (ns), interface, and the message as plain data."""
    fault: str = ''
    """Why this world has come to an end; empty: it has not."""


def read_request(text: str) -> Request | Answer:
    """Return the request in a text, or the answer that says why there is none."""
    if len(text) > LONGEST:
        return Answer(id='', error=f'got {len(text)} characters, expected at most {LONGEST}')
    try:
        return Request.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = '.'.join(map(str, first['loc'])) or 'the request'
        return Answer(id=_id_in(text), error=f'{place}: {first["msg"]}, got '
                                             f'{str(first["input"]):.80}')


def _id_in(text: str) -> str:
    """Return the id of a request that is wrong otherwise, so that its sender need not wait."""
    try:
        return _Named.model_validate_json(text).id
    except ValidationError:
        return ''


class _Named(Noun, extra='ignore'):
    id: str = Field(max_length=100)  # noqa: A003


def planned(request: Request, resolve: Resolve) -> Trial:
    """
    Return the trial of a ``reset``.

    :raises InputError: it is none
    """
    try:
        return plan_of(request.plan, resolve)
    except TraceError as error:
        raise InputError(f'reset: {in_words(error)}') from None


def reset(id: str, trial: Trial, turns: bool) -> Request:  # noqa: A002
    """
    Return the request to get ready for a trial.

    :param turns: the controller's process takes turns in lock-step
    :raises InputError: the scenario is too long
    """
    text = plan_text(trial)
    if len(text) > LONGEST:
        raise InputError(f'{trial.scenario.id}: got a plan of {len(text)} characters, expected at '
                         f'most {LONGEST}. Record less, or use link simulated')
    return Request(id=id, what='reset', plan=text, turns=turns)


def parse_world_state(text: str) -> WorldState | None:
    """Return what the world has told, None if it is nothing of ours."""
    try:
        return WorldState.model_validate_json(text)
    except ValidationError:
        return None


class Tellings:
    """
    What a world tells of one trial, in order and with nothing missing.

    :param trial_id: of the trial; what is told of another one is passed over
    """

    def __init__(self, trial_id: str) -> None:
        self._trial_id = trial_id
        self._count = 0

    def read(self, texts: Iterable[str]) -> Iterator[WorldState]:
        """
        Yield what is told of the trial.

        :raises MeasurementError: something is missing, such as a contact
        """
        for text in texts:
            found = parse_world_state(text)
            if found is None or found.trial != self._trial_id:
                continue
            self._count += 1
            if found.count != self._count:
                raise MeasurementError(
                    f'{TOLD}: got message {found.count} of this trial, expected {self._count}: '
                    f'what the simulator sent in between was lost. Let no other simulator run, '
                    f'or use a less busy machine')
            yield found


def as_json(noun: Noun, **more: Any) -> str:
    """Return a noun of this protocol as text."""
    return noun.model_dump_json(exclude_defaults=True, **more)
