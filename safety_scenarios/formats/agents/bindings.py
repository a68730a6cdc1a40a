# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The fields of a bindings file: what the words of an agent file mean here, and who plays whom."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    field_validator,
    FiniteFloat,
    model_validator,
)
from safety_scenarios.scenario.blocks.agents import MOST_EXACT, Operator
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.blocks.traceability import Labels
from safety_scenarios.scenario.blocks.vary import ascending, Draw
from safety_scenarios.scenario.noun import Noun, TopicName
from safety_scenarios.scenario.untrusted_text import compile_pattern, MAX_PATTERN
from safety_scenarios.scenario.verdict import LatencyBudget, Milliseconds

MAX_MS = 86_400_000.0
"""One day."""
Word = Annotated[str, Field(min_length=1, max_length=200, pattern=r'\w')]
Words = Annotated[tuple[Word, ...], Field(max_length=200)]
Text = Annotated[str, Field(max_length=10_000, pattern=r'\S')]


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, (str, Mapping)) else value


def _limits(value: Any) -> Any:
    """Return one limit as three: the default ones, as far as it allows."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {'target': min(500.0, value), 'acceptable': min(1000.0, value), 'critical': value}
    return value


class Within(Noun):
    """How fast is fast enough."""

    target: Milliseconds
    """Ideal response time."""
    acceptable: Milliseconds
    """Later than ideal, and still good."""
    critical: Milliseconds
    """Later than this is a violation."""

    @model_validator(mode='after')
    def _ordered(self) -> 'Within':
        if not self.target <= self.acceptable <= self.critical:
            raise ValueError(f'got {self.target:g}, {self.acceptable:g}, {self.critical:g} ms, '
                             f'expected target <= acceptable <= critical. Sort the three')
        return self

    @property
    def budget(self) -> LatencyBudget:
        return LatencyBudget(target_ms=self.target, acceptable_ms=self.acceptable,
                             critical_ms=self.critical)


class ArgumentBlock(Noun):
    """What one argument of a call must be; every test that is given must hold."""

    equals: str | bool | FiniteFloat | None = None
    """This text, truth value or number."""
    at_least: FiniteFloat | None = None
    """A number, and no smaller one."""
    at_most: FiniteFloat | None = None
    """A number, and no larger one."""
    pattern: Annotated[str, Field(max_length=MAX_PATTERN)] | None = None
    """A text that this regular expression (RE2) matches whole, case kept."""

    @field_validator('equals', 'at_least', 'at_most', mode='before')
    @classmethod
    def _is_exact(cls, value: Any) -> Any:
        if isinstance(value, int) and abs(value) > MOST_EXACT:
            raise ValueError(f'got {value}, expected a whole number up to {MOST_EXACT}')
        return value

    @model_validator(mode='after')
    def _can_be_met(self) -> 'ArgumentBlock':
        bounds = [bound for bound in (self.at_least, self.at_most) if bound is not None]
        kinds = [self.equals is not None, self.pattern is not None, bool(bounds)]
        if sum(kinds) != 1:
            raise ValueError('got none, or several, of equals, pattern and bounds, expected one: '
                             'equals, or pattern, or at_least and at_most')
        if bounds != sorted(bounds):
            raise ValueError(f'got at_least {self.at_least:g} above at_most {self.at_most:g}, '
                             f'which no number meets')
        if self.pattern is not None:
            compile_pattern(self.pattern, case_sensitive=True)
        return self


def _tested(value: Any) -> Any:
    """Return a plain value as the test that it is equal."""
    return {'equals': value} if isinstance(value, (str, int, float)) else value


_FIELDS_OF = {'say': ('sender', 'any_word', 'no_word', 'as_question'),
              'tool_call': ('sender', 'name', 'args'),
              'signal': ('name', 'op', 'value'), 'start': (), 'end': ()}


class PatternBlock(Noun):
    """One kind of event."""

    kind: Literal['say', 'tool_call', 'signal', 'start', 'end']
    """What happens."""
    sender: Annotated[tuple[str, ...], BeforeValidator(_listed),
                      Field(min_length=1)] | None = Field(default=None, alias='from')
    """say, tool_call: id of the agent, or a list of them; sut: the controller under test."""
    any_word: Words = ()
    """say: one of these words or phrases is said; left out: anything."""
    no_word: Words = ()
    """say: and none of these."""
    as_question: bool = False
    """say: any_word counts in a question, and nowhere else; false: in a question it is open."""
    name: str = Field(default='', max_length=200)
    """tool_call, signal: of which tool or signal."""
    op: Operator | None = None
    """signal: how it compares with value."""
    value: float | None = None
    """signal: in its own unit."""
    args: Annotated[Mapping[str, Annotated[ArgumentBlock, BeforeValidator(_tested)]],
                    Field(max_length=100)] = {}
    """tool_call: key of the call's arguments (dots for objects within objects) to its test."""

    @model_validator(mode='after')
    def _fits_its_kind(self) -> 'PatternBlock':
        fields = _FIELDS_OF[self.kind]
        given = self.model_fields_set - {'kind'}
        needed = {'name', 'op', 'value'} & set(fields)
        missing = {name for name in needed if getattr(self, name) is None} | (needed - given)
        odd = sorted(given - set(fields)) or sorted(missing)
        if odd:
            names = ', '.join(fields).replace('sender', 'from') or 'nothing else'
            told = ', '.join(f'{name}: null' if name in missing else name
                             for name in sorted(given)).replace('sender', 'from')
            raise ValueError(f'got {told or "none"} with kind {self.kind}, expected {names}')
        if 'any_word' in given and not self.any_word:
            raise ValueError('got an empty any_word, which anything that is said would meet, '
                             'expected one word or more. Leave it out where anything counts')
        if self.as_question and not self.any_word:
            raise ValueError('got as_question without any_word, expected words of the question')
        unwanted = {word.casefold() for word in self.no_word}
        if self.any_word and unwanted.issuperset(word.casefold() for word in self.any_word):
            raise ValueError(f'got every word of any_word in no_word too, which no saying meets: '
                             f'{", ".join(self.any_word)}. Remove one of the two')
        return self


Patterns = Annotated[tuple[PatternBlock, ...], BeforeValidator(_listed), Field(min_length=1)]


class EffectBlock(Noun):
    """One thing that the harness does."""

    say: Text | None = None
    """What is said."""
    agent: str | None = None
    """say: by whom; may be left out when the harness plays one agent only."""
    publish: str | None = None
    """Key of a topic."""
    set: str | None = None  # noqa: A003
    """Key of ``sets``."""
    to: float | None = None
    """set: the number."""
    fault: str | None = None
    """Key of ``faults``."""
    end: Literal['pass', 'fail', 'stop'] | None = None
    """How the run ends."""
    symbol: Annotated[str, Field(max_length=200)] | None = Field(default=None, alias='as')
    """say, publish: what the event is called, for other rules."""

    @model_validator(mode='after')
    def _one_effect(self) -> 'EffectBlock':
        given = [name for name in ('say', 'publish', 'set', 'fault', 'end')
                 if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f'got {" and ".join(given) or "none"}, expected one of say, publish, '
                             f'set, fault and end')
        if (self.to is None) != (self.set is None):
            raise ValueError('got one of set and to, expected both or neither')
        if self.agent is not None and self.say is None:
            raise ValueError(f'got agent with {given[0]}, expected it with say')
        if self.symbol is not None and given[0] not in ('say', 'publish'):
            raise ValueError(f'got as with {given[0]}, expected it with say or publish')
        return self


class SymbolBlock(Noun):
    """What a symbol means: an event, a demand, a ban, or something to do."""

    when: Patterns | None = None
    """As a trigger: one of these events."""
    expect: Patterns | None = None
    """As an action: one of these must follow."""
    within_ms: Annotated[Within, BeforeValidator(_limits)] | None = None
    """expect: how soon; default 500, 1000, 2000."""
    forbid: Patterns | None = None
    """As an action: none of these may follow."""
    for_ms: Milliseconds | None = None
    """
    expect, forbid: for how long; default until something releases it, or to the end of the run.
    """
    contrary: Patterns | None = None
    """expect, when: sayings that take back what was demanded to be said."""
    do: Annotated[tuple[EffectBlock, ...], BeforeValidator(_listed),
                  Field(min_length=1, max_length=20)] | None = None
    """As an action: what the harness does."""
    means: Text | None = None
    """
    say: what somebody does who says so, as a clause such as 'the answer warns of the step'.

    A judge is asked that; without it, whether the answer says one of the words in substance.
    """
    repeat: int | None = Field(default=None, ge=1, le=100)
    """How often a rule with this symbol may fire in one run; default once."""

    @model_validator(mode='after')
    def _means_something(self) -> 'SymbolBlock':
        given = [name for name in ('expect', 'forbid', 'do') if getattr(self, name) is not None]
        if len(given) > 1 or not (given or self.when):
            raise ValueError(f'got {" and ".join(given) or "no meaning"}, expected when, or one '
                             f'of expect, forbid and do, or when and one of them')
        if self.within_ms is not None and self.expect is None:
            raise ValueError('got within_ms without expect')
        if self.for_ms is not None and self.forbid is None and self.expect is None:
            raise ValueError('got for_ms without expect or forbid')
        if self.contrary is not None and (
                (self.expect or self.when) is None
                or any(one.kind != 'say' for one in self.contrary)):
            raise ValueError('got contrary without expect or when, or of another kind than say, '
                             'expected sayings that take back what is demanded')
        return self


class ParticipantBlock(Noun):
    """How an agent is driven that is not the controller under test."""

    driver: Literal['script', 'human', 'model', 'none']
    """script: by the harness; human, model: live; none: it stays silent."""
    controller: str | None = None
    """model: name of the controller plug-in."""

    @model_validator(mode='after')
    def _model_has_one(self) -> 'ParticipantBlock':
        if (self.controller is None) == (self.driver == 'model'):
            raise ValueError(f'got driver {self.driver} with'
                             f'{"out" if self.controller is None else ""} controller, expected '
                             f'controller with model and only there')
        return self


class TopicBlock(Noun):
    """A topic that the harness publishes on or listens to."""

    name: TopicName
    """A relative ROS topic name, without a slash in front: it lies below the run's namespace."""
    type: str = Field(default='auto',  # noqa: A003
                      pattern=r'^(auto|[A-Za-z]\w*/msg/[A-Za-z]\w*)$')
    """Interface type such as std_msgs/msg/Bool; auto, for observe: whatever the graph shows."""
    use: Literal['stimulus', 'observe']
    """stimulus: the harness publishes on it; observe: it listens."""
    stimulus: Mapping[str, Any] | None = None
    """stimulus: a stimulus plug-in and its parameters, without topic."""
    data: Mapping[str, Any] | None = None
    """stimulus: or a constant message, field to value; what is left out keeps its default."""
    feedback: bool = False
    """observe: the robot itself publishes on it, not its controller."""

    @model_validator(mode='after')
    def _fits_its_use(self) -> 'TopicBlock':
        if self.use == 'observe' and (self.stimulus, self.data) != (None, None):
            raise ValueError('got stimulus or data with use: observe, expected neither')
        if self.stimulus is not None and self.data is not None:
            raise ValueError('got both stimulus and data, expected one of them')
        if self.use == 'stimulus' and (self.feedback or self.type == 'auto'):
            raise ValueError('got feedback, or no type, with use: stimulus, expected the '
                             'interface type and no feedback')
        return self


class ResultBlock(Noun):
    """What one call of a tool gives back."""

    returns: Mapping[str, Any] = {'status': 'ok'}
    """Any JSON object."""
    fails: Text | None = None
    """Instead: why it fails; the caller gets {"status": "failed", "reason": this}."""
    after_ms: float = Field(default=0.0, ge=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})
    """How long the caller waits for it."""

    @model_validator(mode='after')
    def _one_result(self) -> 'ResultBlock':
        if self.fails is not None and 'returns' in self.model_fields_set:
            raise ValueError('got both returns and fails, expected one of them')
        return self

    @property
    def given(self) -> Mapping[str, Any]:
        """Return what the caller gets."""
        return self.returns if self.fails is None else {'status': 'failed', 'reason': self.fails}


class MockBlock(ResultBlock):
    """What a tool gives back: to the first call, and to later ones."""

    then: Annotated[tuple[ResultBlock, ...], Field(max_length=100)] = ()
    """What later calls get, one after the other; the last one stays. None given: the same."""


class ToolBlock(Noun):
    """How a tool behaves here."""

    mock: MockBlock = MockBlock()
    """What it gives back."""
    allow: tuple[str, ...] | None = None
    """Roles that may call it; left out: every role."""
    arguments: Annotated[tuple[str, ...], Field(max_length=100)] | None = None
    """Names of the arguments that it takes, ``[]`` for none: a call with another one never passes.
    Left out: only a rule that names arguments limits them."""


_Pace = Annotated[float, Field(ge=1, le=10)]
"""No time may come earlier than it is written: limits and delays stay as they are."""


class LineBlock(Noun):
    """One line of the script."""

    at_ms: float = Field(ge=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})
    """When, after the start of the run."""
    agent: str
    """Id of the one who says it."""
    say: Text
    """What is said."""
    symbol: Annotated[str, Field(max_length=200)] | None = Field(default=None, alias='as')
    """What it is called, for rules."""


class SetBlock(Noun):
    """What ``set:`` changes."""

    topic: str
    """Key of a topic."""
    field: str = Field(pattern=r'^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$', max_length=200)
    """Names of fields with dots between them, such as data or pose.position.x."""


class Bindings(Noun):
    """A bindings file."""

    version: Literal[1]
    """1."""
    sut: str | None = None
    """Id of the agent that is played by the controller under test."""
    participants: Mapping[str, ParticipantBlock] = {}
    symbols: Mapping[str, SymbolBlock] = {}
    topics: Mapping[str, TopicBlock] = {}
    signals: Mapping[str, Signal] = {}
    tools: Mapping[str, ToolBlock] = {}
    script: Annotated[tuple[LineBlock, ...], Field(max_length=1000)] | None = None
    """None: the agents that the harness plays say their goals."""
    robot: RobotModel | None = None
    stale_ms: Milliseconds = 500.0
    duration_ms: Milliseconds | None = None
    """None: long enough for the script, the delays and the demands."""
    pace: Annotated[tuple[_Pace, _Pace], AfterValidator(ascending)] | None = None
    """Least and most, from 1 to 10. Each trial draws how many times later all comes that has a
    time of its own: the lines of the script, rules with ``at``, and the end. Delays after an event
    and limits stay. None: the same times in each trial, which a controller may know."""
    vary: Mapping[str, Draw] = {}
    """What differs from trial to trial: ``{name}`` in the texts of both files takes it."""
    stimuli: tuple[str, ...] = ()
    """Keys of the topics that are published from the start."""
    faults: Mapping[str, Mapping[str, Any]] = {}
    """Name to a stimulus plug-in with its parameters; topic is a key of ``topics``."""
    sets: Mapping[str, SetBlock] = {}
    variant_of: Labels = ()
    """Scenarios of which it is the benign variant: there it is wrong to stop or to refuse."""
    hazards: Labels = ()
    """Of a hazard analysis, as short labels."""
    requirements: Labels = ()
    """Ids of requirements."""
    clauses: Labels = ()
    """Of standards, such as 'ISO 13482:2014 5.10'."""
