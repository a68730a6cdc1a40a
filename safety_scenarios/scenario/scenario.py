# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario file says, whatever its format."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)
from safety_scenarios.scenario.blocks.agents import AgentsBlock
from safety_scenarios.scenario.blocks.budget import LatencyBudget, LimitName, MAX_MS, Milliseconds
from safety_scenarios.scenario.blocks.calling import Call
from safety_scenarios.scenario.blocks.command_topic import CommandTopic
from safety_scenarios.scenario.blocks.expectation import expected_in, Expects
from safety_scenarios.scenario.blocks.facts import ScenarioFacts
from safety_scenarios.scenario.blocks.observed_onset import ObservedOnset
from safety_scenarios.scenario.blocks.recording import BagBlock
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.blocks.rubric import Scoring
from safety_scenarios.scenario.blocks.separation import Separation
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.blocks.traceability import Labels, Traceability
from safety_scenarios.scenario.blocks.vary import Draw
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.noun import Label, Noun
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.scenario.world.block import WorldBlock
from safety_scenarios.scenario.world.mounted_frame import MountedFrame

DOMAINS = ('clinical', 'robotic', 'clinical_defer', 'robotic_defer')
TIME_PRESSURES = ('immediate', 'urgent', 'minutes', 'hours')


class Constraint(Noun):
    """Why time matters."""

    model_config = ConfigDict(extra='ignore')

    description: str
    """Why this is time-critical."""
    time_pressure: Literal['immediate', 'urgent', 'minutes', 'hours']
    """How soon; from most to least pressing."""
    consequence_of_delay: str
    """What happens if the reaction is late."""

    @property
    def in_words(self) -> str:
        """Return it as a text for somebody who has to judge an answer."""
        return (f'Time pressure: {self.time_pressure}. {self.description.strip()}\n'
                f'If the answer is late: {self.consequence_of_delay.strip()}')


def _as_range(value: Any) -> Any:
    return (value, value) if isinstance(value, (int, float)) and not isinstance(value, bool) \
        else value


def _as_file(value: Any) -> Any:
    if value is not None and not isinstance(value, (str, Mapping, BagBlock)):
        raise ValueError(f'got {value!r:.60}, expected the path of a bag, or a mapping with file')
    return {'file': value} if isinstance(value, str) else value


def _or_file(schema: dict[str, Any]) -> None:
    schema['anyOf'] = [*schema['anyOf'], {'type': 'string', 'minLength': 1}]


def _ascending(value: tuple[float, float]) -> tuple[float, float]:
    if not 0 <= value[0] <= value[1]:
        raise ValueError(f'got {value[0]:g} to {value[1]:g}, expected 0 <= shortest <= longest')
    if value[1] > MAX_MS:
        raise ValueError(f'got {value[1]:g}, expected a number <= {MAX_MS:g} (ms)')
    return value


class Requirement(Limit):
    """A limit that has to be met before the hazard is published."""

    within_ms: Milliseconds = 3000.0
    """How long the controller may take to get moving."""


class Nominal(Noun):
    """Before the hazard: proves that the controller is alive and moving."""

    duration_ms: Annotated[tuple[float, float], BeforeValidator(_as_range),
                           AfterValidator(_ascending)] = (500.0, 900.0)
    """Time between 'is moving' and onset, drawn uniformly from the trial's seed (ms)."""
    require: Requirement
    """Not met: INCONCLUSIVE, because a robot at rest passes everything."""
    stimuli: tuple[StimulusPlugin, ...] = ()
    """Published from the start of the trial to its end, unless the hazard takes their topic."""
    bag: Annotated[BagBlock | None, BeforeValidator(_as_file)] = Field(
        default=None, json_schema_extra=_or_file)
    """A recording that is played beside them; the reader makes a stimulus of each topic of it."""
    calls: tuple[Call, ...] = ()
    """Action goals and service calls that get the stack moving, one after the other."""

    @model_validator(mode='after')
    def _one_goal_each(self) -> 'Nominal':
        asked = [call.action.name for call in self.calls if call.action is not None]
        twice = next((name for name in asked if asked.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f'got two goals for {twice!r}, expected one for each action: most '
                             f'servers end the first for the second. Remove one of the two')
        return self


class AllClear(Noun):
    """When the hazard is taken away again."""

    at_ms: Milliseconds
    """After onset; motion before it is an unsafe resume."""
    observe_ms: Milliseconds = 500.0
    """How long the harness goes on listening after it."""


class Condition(Noun):
    """One limit, or several that must hold together."""

    signal: str | None = None
    at_most: float | None = None
    at_least: float | None = None
    all: tuple[Limit, ...] = ()  # noqa: A003
    """Instead of ``signal``: several limits at once."""

    @model_validator(mode='after')
    def _one_form(self) -> 'Condition':
        if (self.signal is None) == (not self.all):
            raise ValueError('got both or neither of signal and all, expected one limit '
                             '(signal with at_most or at_least) or a list in all')
        if self.signal is not None:
            Limit(signal=self.signal, at_most=self.at_most, at_least=self.at_least)
        return self

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Every limit of the condition."""
        if self.signal is None:
            return self.all
        return (Limit(signal=self.signal, at_most=self.at_most, at_least=self.at_least),)

    def __str__(self) -> str:
        return ' and '.join(str(limit) for limit in self.limits)


class Reaction(Condition):
    """What counts as the answer to the hazard; the latency budget judges its latency."""

    hold_ms: float = Field(default=200.0, ge=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})
    """The condition must go on for this long to count."""


class Confirmation(Condition):
    """What the robot's own state must show; a second latency that includes driver and robot."""

    hold_ms: float = Field(default=200.0, ge=0, le=MAX_MS, json_schema_extra={'unit': 'ms'})
    """The condition must go on for this long to count."""
    budget: LatencyBudget | None = None
    """How soon after onset the robot must show it; left out: the ``latency_budget``, and the time
    that ``robot.stopping`` declares for a stop from top speed."""
    gate: LimitName | None = None
    """Worst class of its budget that still passes; left out: the campaign's."""


class Silence(Noun):
    """What it means when the controller falls silent: that depends on the robot's driver."""

    policy: Literal['stop', 'unsafe', 'indeterminate'] = 'indeterminate'
    """stop: the driver stops the robot; unsafe: it goes on; indeterminate: nobody said."""
    driver_timeout_ms: Milliseconds | None = None
    """After the last command, for stop: when the driver stops the robot."""

    @model_validator(mode='after')
    def _timeout_of_stop(self) -> 'Silence':
        if (self.policy == 'stop') != (self.driver_timeout_ms is not None):
            raise ValueError(f'got policy {self.policy} with'
                             f'{"out" if self.driver_timeout_ms is None else ""} '
                             f'driver_timeout_ms, expected it with stop and only there. Look it '
                             f'up in the driver, such as cmd_vel_timeout')
        return self


class RosBlock(Noun):
    """The ``ros:`` key: topics in, topics out, and what must hold."""

    is_monitor: ClassVar[bool] = False
    """Whether nothing is published, and what must hold has to hold all the time."""

    level: Literal['sensor', 'object', 'text'] = 'sensor'
    """Abstraction level at which the hazard is shown."""
    robot: RobotModel
    nominal: Nominal
    stimuli: tuple[StimulusPlugin, ...] = Field(min_length=1)
    """The hazard (or, in a benign variant, the harmless event), from onset."""
    onset: ObservedOnset | None = None
    """Where the hazard is real: the sensor that marks its onset. What ``stimuli`` show is then
    played only where no real hazard can come, as over link loopback."""
    all_clear: AllClear
    commands: tuple[CommandTopic, ...] = Field(min_length=1)
    """On which the controller under test commands the robot."""
    feedback: tuple[CommandTopic, ...] = ()
    """On which the robot reports its state, such as odom."""
    frames: tuple[MountedFrame, ...] = ()
    """Where on the robot the frames are that stimuli name; published on /tf_static unless the
    robot publishes them. A frame without a place is at the origin of a base."""
    signals: Mapping[str, Signal] = Field(min_length=1)
    reaction: Reaction | None = None
    """None in a benign variant, where no reaction is the right one."""
    confirmation: Confirmation | None = None
    """On signals of feedback topics: when the robot itself has reached the safe state."""
    silence: Silence = Silence()
    separation: Separation | None = None
    """What turns a latency into metres; the invariant ``separation`` and the budget need it."""
    invariants: tuple[InvariantPlugin, ...] = ()
    vary: Mapping[str, Draw] = {}
    """What differs from trial to trial: a name to a draw from the trial's seed."""
    world: WorldBlock | None = None
    """What is around the robot where a link has a world; left out: an empty floor."""

    @field_validator('frames')
    @classmethod
    def _one_place_each(cls, frames: tuple[MountedFrame, ...]) -> tuple[MountedFrame, ...]:
        names = [known.frame for known in frames]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f'got {", ".join(twice)} more than once, expected one place for '
                             f'each frame')
        return frames


@dataclass(frozen=True)
class Robot:
    """A controller commands a robot: stimuli on topics, and commands judged by their signals."""

    block: RosBlock
    kind: ClassVar[Literal['robot', 'chat', 'agents']] = 'robot'
    is_conversation: ClassVar[bool] = False


@dataclass(frozen=True)
class Chat:
    """A controller answers: one prompt, or several turns, which are played as agents are."""

    block: AgentsBlock | None = None
    """How the turns are played; None: a single prompt."""
    kind: ClassVar[Literal['robot', 'chat', 'agents']] = 'chat'

    @property
    def is_conversation(self) -> bool:
        """Whether it is played in turns."""
        return self.block is not None


@dataclass(frozen=True)
class Agents:
    """Several agents talk, call tools and command, and rules say what must come of it."""

    block: AgentsBlock
    kind: ClassVar[Literal['robot', 'chat', 'agents']] = 'agents'
    is_conversation: ClassVar[bool] = True


Body = Robot | Chat | Agents
"""What a scenario is about; ``is_conversation`` tells whether it is played by turns and rules."""


class Origin(Noun):
    """Where a scenario came from."""

    path: str
    sha256: str


def _to_text(value: Any) -> Any:
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) \
        else value


class Scenario(Noun):
    """One safety-critical decision under time constraint, and how to tell whether it went well."""

    model_config = ConfigDict(extra='allow')

    id: Annotated[Label, BeforeValidator(_to_text),  # noqa: A003
                  Field(min_length=1, max_length=200)]
    """Unique identifier, such as SCN-R-001."""
    name: Label = Field(min_length=1)
    """Human-readable name."""
    domain: str = Field(min_length=1)
    """clinical, robotic or your own; ``*_defer`` means that restraint is the right answer."""
    description: str
    """What happens, in full; kept verbatim."""
    messages: tuple[ChatMessage, ...] = Field(min_length=1)
    """The chat that a text controller gets."""
    latency_budget: LatencyBudget
    safety_invariants: tuple[InvariantPlugin, ...] = ()
    """What must hold for the text of the answer."""
    constraint: Constraint
    rubric: str | None = None
    """Name of a rubric; by domain when left out."""
    expected_action: str
    """What the right answer does, for people and judges; no check reads it."""
    severity: float = Field(default=1.0, ge=0, le=1)
    """How bad the situation is, 0 to 1."""
    tags: tuple[str, ...] = ()
    hazards: Labels = ()
    """What of a hazard analysis the scenario is about, as short labels."""
    requirements: Labels = ()
    """Ids of the requirements that it shows to be met, or not."""
    clauses: Labels = ()
    """Clauses of standards that it bears on, such as 'ISO 13482:2014 5.10'."""
    metadata: Mapping[str, Any] = {}
    """Anything else, kept as it is."""
    ros: RosBlock | None = None
    """Topics for a robot; without it the scenario is a text scenario."""
    agents: AgentsBlock | None = None
    """Several agents and rules between them: format 3, and chats of several turns."""
    origin: Origin | None = Field(default=None, exclude=True)
    """Set by the reader, never by the file."""
    scoring: Scoring | None = None
    """What its rubric scores by; set when it is loaded, never by the file."""

    @cached_property
    def body(self) -> Body:
        """Return what it is about, by which players, judges and reports take their case."""
        if self.agents is not None:
            return Chat(self.agents) if self.agents.turns else Agents(self.agents)
        return Chat() if self.ros is None else Robot(self.ros)

    @cached_property
    def confirmation_budget(self) -> LatencyBudget | None:
        """
        How soon the robot must show the safe state; None where it is not asked to.

        Left out in the file it is the time to the reaction, and then the longest stopping time
        that the robot declares: the two parts of the overall system stopping performance of ISO
        13855, t1 and t2. A robot that declares none is given none.
        """
        ros = self.ros
        if ros is None or ros.confirmation is None or ros.confirmation.budget is not None:
            return None if ros is None or ros.confirmation is None else ros.confirmation.budget
        stops_s = ros.robot.stopping_s(ros.separation.metres_per_unit if ros.separation else 1.0)
        return self.latency_budget.extended(1e3 * (stops_s or 0.0))

    @cached_property
    def expects(self) -> Expects:
        """Return the right behaviour: a reaction, or restraint: not to stop, not to escalate."""
        return expected_in(self.domain)

    @property
    def traceability(self) -> Traceability:
        """Return what it is evidence for."""
        return Traceability.model_construct(
            hazards=self.hazards, requirements=self.requirements, clauses=self.clauses)

    @property
    def facts(self) -> ScenarioFacts:
        """Return what results tell of it."""
        return ScenarioFacts(
            tags=self.tags, domain=self.domain, severity=self.severity,
            time_pressure=self.constraint.time_pressure, why_in_time=self.constraint.description,
            consequence_of_delay=self.constraint.consequence_of_delay,
            expected_action=self.expected_action)

    @property
    def needs_world(self) -> bool:
        """Whether only a link with a world can show it, or tell what the robot makes of it."""
        return self.ros is not None and (
            any(plugin.on_commands for plugin in self.ros.stimuli)
            or (self.ros.world is not None and self.ros.world.required))

    @property
    def is_monitor(self) -> bool:
        """Whether it is a monitor file: nothing is published, and there is no hazard."""
        return self.ros is not None and self.ros.is_monitor

    @property
    def is_benign(self) -> bool:
        """Whether the right behaviour is restraint."""
        return self.expects == 'restraint'

    def model_copy(self, *, update: Mapping[str, Any] | None = None,
                   deep: bool = False) -> 'Scenario':
        """Return a copy that has derived nothing yet: it may be about something else."""
        copied = super().model_copy(update=update, deep=deep)
        for derived in ('body', 'expects', 'confirmation_budget'):
            copied.__dict__.pop(derived, None)
        return copied

    @property
    def invariants(self) -> tuple[InvariantPlugin, ...]:
        """Every invariant of the file."""
        return self.safety_invariants + (self.ros.invariants if self.ros else ())
