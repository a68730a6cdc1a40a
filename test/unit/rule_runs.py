# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Runs of rules that never ran, written down as lists of events in ms after their start."""

from collections.abc import Iterable, Sequence
from typing import Any

from safety_scenarios.scenario.blocks.agents import (
    Agent,
    Effect,
    Expect,
    Forbid,
    Pattern,
    Role,
    Rule,
    Say,
    Tool,
    Trigger,
)
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Obligation, Outcome
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import LatencyBudget
from safety_scenarios.trial.rules.engine import Caused, Rules
from safety_scenarios.trial.trial import END, NOMINAL, ONSET, TrialRecord
from unit.records import chat, command, EXACT, mark, ns, ONSET_STEADY_NS, planned, SIGNALS, stamps

ALICE, BOT = 'a1', 'a2'
BUDGET = LatencyBudget(target_ms=500.0, acceptable_ms=1000.0, critical_ms=2000.0)
START = Trigger(any=(Pattern(kind='start'),))
TRIAL = planned(chat()).trial_id


def said(*words: str, by: str | None = None, no: tuple[str, ...] = ()) -> Pattern:
    """Return the pattern of a saying with one of these words."""
    return Pattern(kind='say', agents=(by,) if by else None, any_word=words, no_word=no)


def speed(op: Any, value: float) -> Pattern:
    return Pattern(kind='signal', name='speed', op=op, value=value)


GREETED, ANSWERED = said('hello', by=ALICE), said('hello', 'welcome', by=BOT)


def when(*patterns: Pattern, after_ms: float = 0.0, named: str = '') -> Trigger:
    return Trigger(any=patterns, delay_ns=ns(after_ms), after=named)


def expects(*patterns: Pattern, on: Trigger | None = None, repeat: int = 1,
            budget: LatencyBudget = BUDGET) -> Rule:
    """Return a rule that demands something; upon Alice's greeting, unless told otherwise."""
    return Rule(trigger_text='greet', action_text='expect', trigger=on or when(GREETED),
                expect=Expect(any=patterns or (ANSWERED,), budget=budget), repeat=repeat)


def forbids(*patterns: Pattern, for_ms: float | None = None, on: Trigger | None = None,
            repeat: int = 1) -> Rule:
    return Rule(trigger_text='greet', action_text='forbid', trigger=on or when(GREETED),
                forbid=Forbid(any=patterns, for_ns=None if for_ms is None else ns(for_ms)),
                repeat=repeat)


def does(*effects: Effect, on: Trigger, repeat: int = 1) -> Rule:
    """Return a rule with effects only."""
    return Rule(trigger_text='t', action_text='effect', trigger=on, effects=effects, repeat=repeat)


def utters(text: str, symbol: str | None = None) -> Say:
    """Return that the harness speaks for Alice."""
    return Say(agent=ALICE, text=text, symbol=symbol)


def block(*rules: Rule, **changes: Any) -> AgentsBody:
    """Return Alice, whom the harness plays, and Bot, the controller under test, for 5 s."""
    return AgentsBody(**{
        'roles': (Role(name='user'), Role(name='assistant')),
        'agents': (Agent(id=ALICE, name='Alice', role='user'),
                   Agent(id=BOT, name='Bot', role='assistant', driver='sut')),
        'tools': (Tool(name='search', allow=('assistant',)), Tool(name='kill', allow=('user',))),
        'sut': BOT, 'rules': rules, 'signals': SIGNALS, **changes})


def says(t_ms: float, agent: str, text: str, **changes: Any) -> Event:
    """Return a saying; Bot's carries the trial's id, as it should."""
    return Event(**{'kind': 'say', 'name': f'agents/{agent}/out', 'stamps': stamps(t_ms),
                    'agent': agent, 'text': text,
                    'trial_id': TRIAL if agent == BOT else None, **changes})


def calls(t_ms: float, tool: str, agent: str | None = BOT, **changes: Any) -> Event:
    return Event(**{'kind': 'tool_call', 'name': tool, 'stamps': stamps(t_ms), 'agent': agent,
                    'arguments': '{}', 'trial_id': TRIAL, **changes})


def greets(t_ms: float, **changes: Any) -> Event:
    """Return Alice's greeting."""
    return says(t_ms, ALICE, 'Hello everyone', **changes)


def answers(t_ms: float, **changes: Any) -> Event:
    """Return Bot's answer."""
    return says(t_ms, BOT, 'Welcome, Alice!', **changes)


def driving(*samples: tuple[float, float | None]) -> list[Event]:
    """Return commands as (ms, m/s)."""
    return [command(t_ms, value) for t_ms, value in samples]


def run(rules: AgentsBody | Rule, *events: Event, end_ms: float = 5000.0,
        is_complete: bool = True, uncertainty_ms: float = 0.0, one_host: bool = False) -> Outcome:
    made = Rules(rules if isinstance(rules, AgentsBody) else block(rules), TRIAL,
                 ns(uncertainty_ms), one_host=one_host)
    made.begin(ONSET_STEADY_NS)
    for event in events:
        made.feed(event)
    return made.finish(ONSET_STEADY_NS + ns(end_ms), is_complete)


def only(outcome: Outcome) -> Obligation:
    found = [one for rule in outcome.rules for one in rule.obligations]
    assert len(found) == 1, found
    return found[0]


def statuses(outcome: Outcome) -> list[str]:
    """Return the status of each rule, in words."""
    return [rule.status.value for rule in outcome.rules]


def record_of(rules: AgentsBody, events: Iterable[Event], end_ms: float | None = 5000.0,
              measuring: Measuring = EXACT) -> TrialRecord:
    """Return the record of a run; without an end it broke off."""
    scenario = chat().model_copy(update={'body': rules})
    closing = [] if end_ms is None else [mark(END, end_ms)]
    return TrialRecord(trial=planned(scenario, hazard=()), measuring=measuring, events=(
        mark(NOMINAL, 0.0), mark(ONSET, 0.0).model_copy(update={'scheduled_ns': None}), *events,
        *closing))


class World:
    """
    Plays rules as the harness does, in simulated time, and keeps what happens.

    :param incoming: what comes by itself, in order of time
    """

    def __init__(self, rules: AgentsBody, incoming: Sequence[Event]) -> None:
        self.rules = Rules(rules, TRIAL)
        self.block, self.incoming = rules, list(incoming)
        self.events: list[Event] = []
        self.end_ms = 0.0

    def play(self, until_ms: float = 5000.0) -> TrialRecord:
        self._apply(self.rules.begin(ONSET_STEADY_NS), 0.0)
        lines = [says(line.at_ns / 1e6, line.say.agent, line.say.text, symbol=line.say.symbol)
                 for line in self.block.script]
        todo = sorted([*self.incoming, *lines], key=lambda event: event.stamps.steady_ns)
        now_ms = 0.0
        while self.rules.ended is None:
            next_ms = _ms(todo[0].stamps.steady_ns) if todo else until_ms
            due_ns = self.rules.due_ns
            if due_ns is not None and _ms(due_ns) <= min(next_ms, until_ms):
                now_ms = _ms(due_ns)
                self._apply(self.rules.advance(due_ns), now_ms)
            elif todo and next_ms <= until_ms:
                now_ms = next_ms
                self._take(todo.pop(0), now_ms)
            else:
                now_ms = until_ms
                break
        self.end_ms = now_ms
        return record_of(self.block, self.events, now_ms)

    def _take(self, event: Event, t_ms: float) -> None:
        self.events.append(event)
        self._apply(self.rules.feed(event), t_ms)

    def _apply(self, caused: Sequence[Caused], t_ms: float) -> None:
        queue = list(caused)
        while queue:
            one = queue.pop(0)
            assert isinstance(one.effect, Say)
            event = says(t_ms, one.effect.agent, one.effect.text, symbol=one.effect.symbol,
                         depth=one.depth)
            self.events.append(event)
            queue += self.rules.feed(event)

    @property
    def outcome(self) -> Outcome:
        """Return what it came to, live."""
        return self.rules.finish(ONSET_STEADY_NS + ns(self.end_ms), True)


def _ms(t_ns: int) -> float:
    return (t_ns - ONSET_STEADY_NS) / 1e6
