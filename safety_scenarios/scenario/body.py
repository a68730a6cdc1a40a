# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario is about: a robot, a monitored robot, a chat or agents."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator
from safety_scenarios.scenario.blocks.agents import Agent, Line, Publish, Role, Rule, Tool
from safety_scenarios.scenario.blocks.nominal_calls import AppWorld, Call, CommandTopic
from safety_scenarios.scenario.blocks.onset import BagBlock, ObservedOnset
from safety_scenarios.scenario.blocks.robot import RobotModel, Separation
from safety_scenarios.scenario.blocks.signal import Limit, Signal
from safety_scenarios.scenario.blocks.vary import Draw, used
from safety_scenarios.scenario.frames import Scanner
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.noun import MOST, Noun
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.scenario.verdict import (
    LatencyBudget,
    LimitName,
    MAX_MS,
    Milliseconds,
    RangeMs,
)
from safety_scenarios.scenario.world import MountedFrame, refuse_circle, WorldBlock

NOT_IN_MONITORS = ('level', 'nominal', 'stimuli', 'all_clear', 'frames', 'reaction',
                   'confirmation', 'vary', 'world')
"""Keys of ``ros`` that say what a trial publishes, and how that is to be answered."""


def _as_file(value: Any) -> Any:
    if value is not None and not isinstance(value, (str, Mapping, BagBlock)):
        raise ValueError(f'got {value!r:.60}, expected the path of a bag, or a mapping with file')
    return {'file': value} if isinstance(value, str) else value


def _or_file(schema: dict[str, Any]) -> None:
    schema['anyOf'] = [*schema['anyOf'], {'type': 'string', 'minLength': 1}]


class Requirement(Limit):
    """A limit that has to be met before the hazard is published."""

    within_ms: Milliseconds = 3000.0
    """How long the controller may take to get moving."""


class Change(Noun):
    """Something harmless before the hazard, so that a change alone tells nothing."""

    stimuli: tuple[StimulusPlugin, ...] = Field(min_length=1, max_length=MOST)
    """Each takes the topic of a nominal stimulus for that time, as the hazard does."""
    begins_ms: RangeMs
    """After 'is moving', drawn uniformly from the trial's seed (ms)."""
    lasts_ms: RangeMs
    """How long it is shown, drawn uniformly (ms). A trial leaves out a change that would end
    later than 500 ms before the hazard, or that would overlap with another."""


class Nominal(Noun):
    """Before the hazard: proves that the controller is alive and moving."""

    duration_ms: RangeMs = (500.0, 900.0)
    """Time between 'is moving' and onset, drawn uniformly from the trial's seed (ms)."""
    require: Requirement
    """Not met: INCONCLUSIVE, because a robot at rest passes everything."""
    stimuli: tuple[StimulusPlugin, ...] = Field(default=(), max_length=MOST)
    """Published from the start of the trial to its end, unless the hazard takes their topic."""
    bag: Annotated[BagBlock | None, BeforeValidator(_as_file)] = Field(
        default=None, json_schema_extra=_or_file)
    """A recording that is played beside them; the reader makes a stimulus of each topic of it."""
    calls: tuple[Call, ...] = Field(default=(), max_length=MOST)
    """Action goals and service calls that get the stack moving, one after the other."""
    changes: tuple[Change, ...] = Field(default=(), max_length=MOST)
    """What changes before the hazard and is no reason to stop."""

    @property
    def published(self) -> tuple[StimulusPlugin, ...]:
        """Return what is published before the hazard, what changes there included."""
        return (*self.stimuli, *(one for change in self.changes for one in change.stimuli))

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
    resume_within_ms: Milliseconds | None = None
    """After it: by when the robot must meet ``nominal.require`` again, and then go on meeting it;
    None: whether it goes on is not judged."""

    @model_validator(mode='after')
    def _resumes_while_observed(self) -> 'AllClear':
        if self.resume_within_ms is not None and self.resume_within_ms >= self.observe_ms:
            raise ValueError(f'resume_within_ms: got {self.resume_within_ms:g}, expected less '
                             f'than observe_ms, {self.observe_ms:g}: who resumes work must be '
                             f'seen to go on. Observe for longer')
        return self


class Condition(Noun):
    """One limit, or several that must hold together."""

    signal: str | None = None
    at_most: float | None = None
    at_least: float | None = None
    all: tuple[Limit, ...] = Field(default=(), max_length=MOST)  # noqa: A003
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


class ScenarioBody(Noun):
    """
    What a scenario is about, and the answers to what everything else asks of it.

    What a kind of body does not have is None or empty, so that no caller asks for the kind first.
    """

    kind: ClassVar[Literal['robot', 'monitor', 'chat', 'agents']]
    is_in_words: ClassVar[bool] = True
    """Whether the controller under test answers, and does not just command a robot."""
    is_conversation: ClassVar[bool] = False
    """Whether it is played by turns and rules, and judged by the rules."""

    robot: RobotModel | None = None
    commands: tuple[CommandTopic, ...] = ()
    """On which the controller under test commands the robot."""
    feedback: tuple[CommandTopic, ...] = ()
    """On which the robot reports its state."""
    signals: Mapping[str, Signal] = {}
    # only a robot's body sets and writes these
    onset: ObservedOnset | None = Field(default=None, exclude=True)
    reaction: Reaction | None = Field(default=None, exclude=True)
    confirmation: Confirmation | None = Field(default=None, exclude=True)
    separation: Separation | None = Field(default=None, exclude=True)
    silence: Silence = Field(default=Silence(), exclude=True)
    frames: tuple[MountedFrame, ...] = Field(default=(), exclude=True)
    vary: Mapping[str, Draw] = Field(default={}, exclude=True)
    world: WorldBlock | None = Field(default=None, exclude=True)
    invariants: tuple[InvariantPlugin, ...] = Field(default=(), exclude=True)

    @property
    def is_chat(self) -> bool:
        """Whether it is a chat, whose answers a rubric scores."""
        return False

    def played(self) -> 'ScenarioBody':
        """Return it as one trial plays it, whose values have been drawn."""
        return self

    @property
    def hazard(self) -> tuple[StimulusPlugin, ...]:
        """Return what the harness may publish as the hazard; of a chat the prompt is added."""
        return ()

    @property
    def published(self) -> tuple[StimulusPlugin, ...]:
        """Return what the harness publishes around a robot, before the hazard and as it."""
        return ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """Return the action goals and service calls that get the stack moving."""
        return ()

    @property
    def mounted_frames(self) -> tuple[MountedFrame, ...]:
        """Return where frames are on the robot: those of ``frames`` and of scanners."""
        return self.frames

    @property
    def needs_world(self) -> bool:
        """Whether only a link with a world can show it, or report the robot's motion in it."""
        return False

    @property
    def separation_terms(self) -> tuple[Separation, RobotModel] | None:
        """Return what a required distance is computed from; None if one of both is missing."""
        if self.separation is None or self.robot is None or self.robot.stopping is None:
            return None
        return self.separation, self.robot


class ChatBody(ScenarioBody):
    """A controller answers a single prompt."""

    kind = 'chat'

    @property
    def is_chat(self) -> bool:
        return True


class RobotBody(ScenarioBody):
    """The ``ros:`` key: topics in, topics out, and what must hold."""

    kind: ClassVar[Literal['robot', 'monitor']] = 'robot'
    is_in_words = False

    level: Literal['sensor', 'object', 'text'] = 'sensor'
    """Abstraction level at which the hazard is shown."""
    robot: RobotModel
    nominal: Nominal
    stimuli: tuple[StimulusPlugin, ...] = Field(min_length=1, max_length=MOST)
    """The hazard (or, in a benign variant, the harmless event), from onset."""
    onset: ObservedOnset | None = None
    """Where the hazard is real: the sensor that marks its onset. What ``stimuli`` show is then
    played only where no real hazard can come, as over link loopback."""
    all_clear: AllClear
    commands: tuple[CommandTopic, ...] = Field(min_length=1, max_length=MOST)
    """On which the controller under test commands the robot."""
    feedback: tuple[CommandTopic, ...] = Field(default=(), max_length=MOST)
    """On which the robot reports its state, such as odom."""
    frames: tuple[MountedFrame, ...] = Field(default=(), max_length=MOST)
    """Where on the robot the frames are that stimuli name; published on /tf_static unless the
    robot publishes them. A frame without a place is at the origin of a base."""
    signals: Mapping[str, Signal] = Field(min_length=1, max_length=MOST)
    reaction: Reaction | None = None
    """None in a benign variant, where no reaction is the right one."""
    confirmation: Confirmation | None = None
    """On signals of feedback topics: when the robot itself has reached the safe state."""
    silence: Silence = Silence()
    separation: Separation | None = None
    """What turns a latency into metres; the invariant ``separation`` and the budget need it."""
    invariants: tuple[InvariantPlugin, ...] = Field(default=(), max_length=MOST)
    vary: Mapping[str, Annotated[Draw, AfterValidator(used)]] = Field(
        default={}, max_length=100)
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
        refuse_circle({known.frame: known.parent for known in frames})
        return frames

    @property
    def hazard(self) -> tuple[StimulusPlugin, ...]:
        return self.stimuli

    @property
    def mounted_frames(self) -> tuple[MountedFrame, ...]:
        known = {one.frame for one in self.frames}
        found = {scanner.frame: scanner.mounted for plugin in self.published
                 if isinstance(scanner := getattr(plugin, 'scanner', None), Scanner)}
        return (*self.frames, *(mounted for name, mounted in found.items()
                                if mounted is not None and name not in known))

    @property
    def published(self) -> tuple[StimulusPlugin, ...]:
        return (*self.nominal.published, *self.stimuli)

    @property
    def calls(self) -> tuple[Call, ...]:
        return self.nominal.calls

    @property
    def needs_world(self) -> bool:
        return any(plugin.on_commands for plugin in self.stimuli) or (
            self.world is not None and self.world.required)


class MonitorBody(RobotBody):
    """
    The ``ros:`` key of a monitor file; what else a trial needs is not asked for, and not read.

    Nothing is published, so there is no hazard, no onset and no latency: what must hold during the
    hazard of a trial must hold all the time here.
    """

    kind = 'monitor'

    monitor: Literal[True]
    """Says that this is a monitor file."""
    inputs: tuple[CommandTopic, ...] = ()
    """Sensors of the robot that the invariant ``fresh`` asks for; only their stamps are read."""
    nominal: Nominal = Nominal(require=Requirement(signal='-', at_least=0.0))
    stimuli: tuple[StimulusPlugin, ...] = ()
    all_clear: AllClear = AllClear(at_ms=1.0)
    invariants: tuple[InvariantPlugin, ...] = Field(min_length=1)
    """What must hold, each judged over the last seconds, again and again."""

    @model_validator(mode='after')
    def _one_role_each(self) -> 'MonitorBody':
        for name in ('commands', 'feedback', 'inputs'):
            topics = [known.topic for known in getattr(self, name)]
            twice = next((topic for topic in topics if topics.count(topic) > 1), None)
            if twice is not None:
                raise ValueError(f'{name}: got {twice} twice, expected each topic once. Remove '
                                 f'one of the two')
        both = {known.topic for known in self.commands} & {
            known.topic for known in (*self.feedback, *self.inputs)}
        if both:
            raise ValueError(f'got {", ".join(sorted(both))} under commands and again under '
                             f'feedback or inputs, expected it once: a command does not show '
                             f'what the robot did or sensed')
        return self


class AgentsBody(ScenarioBody):
    """
    Several agents talk, call tools and command, and rules say what must come of it.

    It is a format-3 file and its bindings, every name in it resolved, or a chat of several turns.
    """

    kind = 'agents'
    is_conversation = True

    roles: tuple[Role, ...] = ()
    agents: tuple[Agent, ...] = ()
    tools: tuple[Tool, ...] = ()
    rules: tuple[Rule, ...] = ()
    sut: str = ''
    """Id of the agent that is played by the controller under test; empty: none."""
    script: tuple[Line, ...] = ()
    """In order of time."""
    stale_ms: Milliseconds = 500.0
    """A signal's value is known for this long after its last sample."""
    stimuli: tuple[StimulusPlugin, ...] = ()
    """Published from the start of the run."""
    duration_ms: Milliseconds = 5000.0
    """How long the run goes on, unless a rule ends it."""
    pace: float = 1.0
    """Times of the script, of ``at`` and of the whole run come so many times later."""
    turns: tuple[str, ...] = ()
    """A chat of several turns: the symbols of the sayings that want one answer each, in order."""
    not_runnable: tuple[str, ...] = ()
    """What keeps it from being run: it can be described and not judged."""
    apps: AppWorld | None = None
    """The world that the tools are of, if there is one: a call of what it lacks is a mistake
    there, and nothing forbidden."""

    def agent(self, agent_id: str) -> Agent | None:
        return next((agent for agent in self.agents if agent.id == agent_id), None)

    @property
    def is_chat(self) -> bool:
        return bool(self.turns)

    def played(self) -> 'AgentsBody':
        """Return it with its pace in every time that counts from the start of the run."""
        def later(rule: Rule) -> Rule:
            trigger = rule.trigger
            if trigger is None or any(pattern.kind != 'start' for pattern in trigger.any):
                return rule
            return rule.model_copy(update={'trigger': trigger.model_copy(update={
                'delay_ns': round(trigger.delay_ns * self.pace)})})
        return self if self.pace == 1.0 else self.model_copy(update={
            'script': tuple(line.model_copy(update={'at_ns': round(line.at_ns * self.pace)})
                            for line in self.script),
            'rules': tuple(map(later, self.rules)),
            'duration_ms': min(MAX_MS, self.duration_ms * self.pace), 'pace': 1.0})

    @property
    def hazard(self) -> tuple[StimulusPlugin, ...]:
        """Everything that the harness may publish: from the start, and what a rule causes."""
        return (*self.stimuli, *(effect.stimulus for rule in self.rules for effect in rule.effects
                                 if isinstance(effect, Publish)))

    def entry(self, index: int) -> int:
        """Return the index in the file of a rule, of which several may be parts of one."""
        found = self.rules[index].entry
        return index if found is None else found

    def may_call(self, agent_id: str, tool_name: str) -> bool:
        """Return whether an agent may call a tool; one that is not declared only among apps."""
        agent = self.agent(agent_id)
        tool = next((tool for tool in self.tools if tool.name == tool_name), None)
        if tool is None:
            return agent is not None and self.apps is not None
        return agent is not None and (tool.allow is None or agent.role in tool.allow)

    @property
    def system_text(self) -> str:
        """Return what the controller under test is told: role, goals, the others, its tools."""
        return system_text(self, self.sut)


AnyBody = RobotBody | MonitorBody | ChatBody | AgentsBody


def system_text(block: AgentsBody, agent_id: str) -> str:
    """
    Return what one agent is told: its own words, else about itself and the others by a template.

    :raises LookupError: there is no such agent
    """
    agent = block.agent(agent_id)
    if agent is None:
        raise LookupError(f'got the agent {agent_id!r}, expected one of '
                          f'{", ".join(one.id for one in block.agents)}')
    if agent.system is not None:
        return agent.system
    said = {role.name: role.description for role in block.roles}
    tools = [tool for tool in block.tools if block.may_call(agent.id, tool.name)]
    return '\n'.join([
        f'You are {agent.name} ({agent.id}). Your role: {_described(agent.role, said)}.',
        *_listed('Your goals:', agent.goals),
        *_listed('With you are:', [f'{one.name} ({one.id}), {_described(one.role, said)}'
                                   for one in block.agents if one.id != agent.id]),
        *_listed('Tools that you may call:', [_described(tool.name, {tool.name: tool.description})
                                              for tool in tools])])


def _described(name: str, descriptions: Mapping[str, str]) -> str:
    text = ' '.join(descriptions.get(name, '').split()).rstrip('.')
    return f'{name}: {text}' if text else name


def _listed(title: str, items: Sequence[str]) -> list[str]:
    return [title, *(f'- {" ".join(item.split())}' for item in items)] if items else []
