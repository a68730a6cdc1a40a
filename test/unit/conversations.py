# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Scenarios with agents made by hand, and plug-ins that talk, for tests of the player."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

from safety_scenarios.controllers.rule_based import motion
from safety_scenarios.scenario.blocks.agents import (
    Agent,
    Expect,
    Line,
    Pattern,
    Role,
    Rule,
    Say,
    Trigger,
)
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import ChatMessage, Command, Observation
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.scenario.verdict import LatencyBudget
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Timeline, Trial, TrialRecord
from unit.linked import linked
from unit.records import chat, ns

BUDGET = LatencyBudget(target_ms=500.0, acceptable_ms=1000.0, critical_ms=2000.0)
ALICE = Agent(id='a1', name='Alice', role='user', goals=('greet everyone',))
BOT = Agent(id='a2', name='Bot', role='assistant', driver='sut')
ROLES = (Role(name='user', description='Human participant'),
         Role(name='assistant', description='Helpful AI assistant'))


def line(at_ms: float, text: str, agent: str = 'a1', symbol: str | None = None) -> Line:
    return Line(at_ns=ns(at_ms), say=Say(agent=agent, text=text, symbol=symbol))


def said(*words: str, by: str | None = None) -> Pattern:
    """Return that somebody says one of some words."""
    return Pattern(kind='say', any_word=words, agents=None if by is None else (by,))


def named(symbol: str) -> Pattern:
    return Pattern(kind='symbol', name=symbol)


def rule(trigger: Pattern, *effects: Any, delay_ms: float = 0.0, **more: Any) -> Rule:
    return Rule(trigger_text='when', action_text='then', effects=effects,
                trigger=Trigger(any=(trigger,), delay_ns=ns(delay_ms)), **more)


def expects(trigger: Pattern, *answers: Pattern, budget: LatencyBudget = BUDGET) -> Rule:
    return rule(trigger, expect=Expect(any=answers, budget=budget))


GREETED = expects(said('hello', by='a1'), said('hello', 'welcome', by='a2'))


def block(*rules: Rule, **changes: Any) -> AgentsBody:
    """Return Alice, who greets after 100 ms, and Bot, which is the controller under test."""
    return AgentsBody(**{
        'roles': ROLES, 'agents': (ALICE, BOT), 'sut': 'a2', 'rules': rules,
        'script': (line(100, 'Hello everyone'),), 'duration_ms': 3000.0, **changes})


def talk(agents: AgentsBody, **changes: Any) -> Scenario:
    return chat(**{'id': 'talk', 'domain': 'agents', 'body': agents,
                   'latency_budget': BUDGET, **changes})


def trial_of(agents: AgentsBody, seed: int = 0, **changes: Any) -> Trial:
    [trial] = plan([talk(agents)], controller='c', trials=1, seed=seed, prompt=Prompt())
    return trial.model_copy(update=changes)


class Talker:
    """Answers by a function of the last message, and keeps what it was asked."""

    def __init__(self, settings: ControllerSettings) -> None:
        self.settings = settings
        self.asked: list[Sequence[ChatMessage]] = []
        self.seen: list[Observation] = []
        self.closed = 0

    def decide(self, observation: Observation) -> Command | None:
        self.seen.append(observation)
        return motion(self.settings.robot, 0.5)

    def answer(self, messages: Sequence[ChatMessage]) -> str | None:
        self.asked.append(messages)
        return self.reply(messages[-1].content)

    def close(self) -> None:
        self.closed += 1

    def reply(self, text: str) -> str | None:
        return 'Welcome, Alice' if 'Hello' in text else None


class Slow(Talker):
    """Says the same 700 ms later."""

    answer_delay_ns = ns(700)


class Mute(Talker):

    def reply(self, text: str) -> None:
        return None


class Echo(Talker):
    """Has always something to say."""

    def reply(self, text: str) -> str:
        return 'Hello again'


def turns(take: Callable[[Turn], Sequence[Utterance]]) -> type[Talker]:
    """Return a plug-in that decides for itself what to do in its turn."""
    class Turning(Talker):

        def converse(self, turn: Turn) -> Sequence[Utterance]:
            self.asked.append(turn.messages)
            return take(turn)
    return Turning


class Played:
    """One trial that was played in this process."""

    def __init__(self, trial: Trial, kind: Any = Talker, again: int = 0,
                 participants: Mapping[str, Any] = {}, **settings: Any) -> None:
        made: list[Talker] = []

        def make(given: ControllerSettings, plugin: Any = kind) -> Any:
            made.append(plugin(given))
            return made[-1]
        own = ControllerSettings(**settings)
        with closing(linked(make, own, {
                agent_id: lambda given, plugin=plugin: make(given, plugin)
                for agent_id, plugin in participants.items()})) as link:
            for _ in range(again):
                run_trial(trial, link)
            self.record: TrialRecord = run_trial(trial, link)
        self.controller, *self.others = made

    @property
    def onset_ns(self) -> int:
        onset = Timeline(self.record).mark('onset')
        assert onset is not None
        return onset.stamps.steady_ns

    def ms(self, event: Event) -> float:
        """Return when something happened, after the start of the run."""
        return (event.stamps.steady_ns - self.onset_ns) / 1e6

    @property
    def said(self) -> list[tuple[float, str | None, str | None]]:
        """Return (ms, agent, text) of all sayings."""
        return [(self.ms(event), event.agent, event.text) for event in self.record.of_kind('say')]

    @property
    def faults(self) -> list[str | None]:
        return [event.text for event in self.record.of_kind('fault')]
