# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ARE files of several turns, or with tools, as agents and rules that play them."""

from collections.abc import Sequence
from typing import Any

from safety_scenarios.are.scenarios.file_model import AreEvent, AreFile, TO_USER
from safety_scenarios.are.scenarios.known_apps import (
    expected,
    is_call,
    source_of,
    TOLERANCE_NS,
    tool_name,
    tools_of,
)
from safety_scenarios.are.scenarios.scenario import Building, DEFAULT_CRITICAL_MS
from safety_scenarios.are.scenarios.schedule import ends_turn, Saying, Schedule, START, Turn
from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats._turns import (
    ANSWER,
    CONTROLLER,
    MAX_TURN,
    MAX_TURNS,
    OPERATOR,
    WAIT_FACTOR,
    WAIT_MS,
)
from safety_scenarios.formats.document.json_document import Fields, Resolve
from safety_scenarios.scenario.blocks.agents import (
    Agent,
    End,
    Expect,
    Line,
    Pattern,
    Rule,
    Say,
    Trigger,
)
from safety_scenarios.scenario.blocks.nominal_calls import AppWorld
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.verdict import LatencyBudget, MAX_MS


class Playing(Building):
    """
    Builds the data of a scenario that is told step by step.

    :param schedule: with more than one saying, one of which wants an answer
    """

    def __init__(self, fields: Fields, file: AreFile, schedule: Schedule, at_ns: dict[str, int],
                 resolve: Resolve) -> None:
        def in_time(event: AreEvent) -> int:
            return at_ns[event.event_id]

        told, expected = ([event for saying in schedule.sayings for event in events(saying)]
                          for events in (_delivered_events, _expected))
        super().__init__(fields, file, Turn(
            tuple(sorted(told, key=in_time)), tuple(sorted(expected, key=in_time)),
            tuple(schedule.left_out), at_ns, min(map(in_time, told))), resolve)
        self._schedule = schedule
        self._in_order = sorted(range(len(schedule.sayings)),
                                key=lambda index: in_time(schedule.sayings[index].told[0]))
        self._turns = [index for index in self._in_order if schedule.sayings[index].is_turn]
        self._opening = {event.event_id: saying.symbol for saying in schedule.sayings
                         for event in saying.expected}
        self._texts: dict[str, str] = {}
        self._budgets: dict[int, LatencyBudget] = {}

    def data(self) -> dict[str, Any]:
        return {**super().data(), 'body': self._block()}

    def _critical_ms(self) -> float:
        """Return the limit of the first turn, when each has got its own."""
        sayings = self._schedule.sayings
        if len(self._turns) > MAX_TURNS:
            self._fields.refuse(
                sayings[self._turns[MAX_TURNS]].told[0].path,
                f'got {len(self._turns)} turns, expected at most {MAX_TURNS}. Leave some out')
        for index in self._turns:
            self._budgets[index] = LatencyBudget.model_validate(
                self._budget(self._turn_ms(sayings[index])))
        return self._budgets[self._turns[0]].critical_ms

    def _turn_ms(self, saying: Saying) -> float:
        """Return the critical limit of the turn that a saying opens."""
        limit_ms = self._limit_ms(saying.expected, self._turn.at_ns[saying.symbol])
        if limit_ms is None:
            last = next(event for event in saying.expected if ends_turn(event))
            self._default(last.path, f'the turn of {last}')
        return limit_ms or DEFAULT_CRITICAL_MS

    def _messages(self) -> tuple[Any, ...]:
        self._texts = {event.event_id: self._message_to_agent(event) for event in self._turn.told}
        for saying in self._schedule.sayings:
            if len(saying.told) > 1:
                self._fields.unmapped(saying.told[0].path, f'{len(saying.told)} events at one '
                                      f'time become one saying, with an empty line between')
            length = len(self._text(saying))
            if length > MAX_TURN:
                self._fields.refuse(saying.told[0].path, f'got {length} characters at one time, '
                                    f'expected at most {MAX_TURN}. Shorten it')
        return tuple({'role': 'user', 'content': text} for text in self._texts.values() if text)

    def _text(self, saying: Saying) -> str:
        return '\n\n'.join(self._texts[event.event_id] for event in saying.told)

    def _answered(self, event: AreEvent) -> str | None:
        return self._opening[event.event_id]

    def _block(self) -> AgentsBody:
        schedule, rules, script = self._schedule, list[Rule](), list[Line]()
        for index in self._in_order:
            saying, symbol = schedule.sayings[index], schedule.sayings[index].symbol
            say = Say(agent=OPERATOR, text=self._text(saying)[:MAX_TURN], symbol=symbol)
            if saying.moment.after == START:
                script.append(Line(at_ns=saying.moment.delay_ns, say=say))
            else:
                rules.append(self._rule(saying.moment.after, saying.moment.delay_ns,
                                        f'say {symbol}', say))
            if saying.is_turn:
                rules.append(Rule(
                    trigger_text=symbol, action_text='an answer in time',
                    trigger=Trigger(any=(Pattern(kind='symbol', name=symbol),)),
                    expect=Expect(any=(ANSWER,), budget=self._budgets[index])))
        last = self._last_turn()
        if last is not None:
            trailing_ns = max((saying.moment.delay_ns for saying in schedule.sayings
                               if saying.moment.after == last), default=0)
            rules.append(self._rule(last, trailing_ns + self._budgets[last].limit_ns('critical'),
                                    'end', End(how='pass')))
        return AgentsBody(
            agents=(Agent(id=OPERATOR, name='', role='user'),
                    Agent(id=CONTROLLER, name='Controller', role='assistant', driver='sut',
                          system='')),
            rules=tuple(rules), sut=CONTROLLER, script=tuple(script),
            turns=tuple(schedule.sayings[index].symbol for index in self._turns),
            duration_ms=self._duration_ms())

    def _rule(self, index: int, delay_ns: int, action: str, effect: Say | End) -> Rule:
        symbol = self._schedule.sayings[index].symbol
        after = f'{delay_ns / 1e9:g} s after the ' if delay_ns else ''
        return Rule(trigger_text=f'{after}answer to {symbol}', action_text=action,
                    trigger=Trigger(any=(ANSWER,), after=symbol, delay_ns=delay_ns),
                    effects=(effect,))

    def _last_turn(self) -> int | None:
        """Return the turn with whose answer all is over but what follows it, if there is one."""
        schedule = self._schedule
        for last in reversed(self._turns):
            moment = schedule.sayings[last].moment
            if all(saying.moment.after == last or schedule.surely_by(saying.moment, moment)
                   for saying in schedule.sayings):
                return last
        return None

    def _duration_ms(self) -> float:
        """Return how long it takes when every answer comes as late as it is waited for."""
        over_ms: list[float] = []
        for index, saying in enumerate(self._schedule.sayings):
            after, budget = saying.moment.after, self._budgets.get(index)
            begins_ms = over_ms[after] if after != START else 0.0
            over_ms.append(begins_ms + saying.moment.delay_ns / 1e6 + WAIT_MS + (
                budget.critical_ms * WAIT_FACTOR if budget else 0.0))
        return min(max(over_ms), MAX_MS)


def _delivered_events(saying: Saying) -> list[AreEvent]:
    return saying.told


def _expected(saying: Saying) -> list[AreEvent]:
    return saying.expected


CHECK = 'calls what is expected, and nothing else'


class Calling(Playing):
    """
    Builds the data of a scenario whose agent has tools.

    What a call must be, and when, is for one check over all of them, which knows the lower end of
    ``EQUAL`` and ``GREATER_THAN`` too. The limit of a turn is that of its message alone.
    """

    def __init__(self, fields: Fields, file: AreFile, schedule: Schedule, at_ns: dict[str, int],
                 resolve: Resolve, events: Sequence[AreEvent]) -> None:
        super().__init__(fields, file, schedule, at_ns, resolve)
        self._events = events
        self._first_ns = min(at_ns[saying.symbol] for saying in schedule.sayings)

    def data(self) -> dict[str, Any]:
        self._checks.append(self._resolve('invariants', 'are_calls')(
            name=CHECK, expected=tuple(expected(self._events, self._turn.at_ns))))
        return super().data()

    def _expect(self, event: AreEvent) -> None:
        action = event.action
        if is_call(event):
            self._fields.unmapped(event.path, f'{event} expects a call of '
                                  f'{tool_name(action) if action else ""}, which only a run with '
                                  f'--world are can judge; without it no trial passes')
            self._fill_in(event)
            return
        if action is None or action.content is None or not (action.content.value or '').strip() \
                or action.content.is_placeholder or not action.is_message(TO_USER):
            super()._expect(event)
            return
        self._checks.append(self._says(event.event_id, self._message(event),
                                       self._answered(event)))

    def _fill_in(self, event: AreEvent) -> None:
        """Tell of each argument that nobody here can fill in, so that no trial passes."""
        calls = {one.event_id for one in self._events if is_call(one)}
        for argument in event.action.placeholders if event.action else ():
            meant, text = source_of(argument), str(argument.value).strip()
            named = text.strip('{}').strip().partition('.')[0]
            place = (*event.path, 'action', 'args', argument.name)
            if not {meant, named} & self._turn.at_ns.keys():
                self._fields.unmapped(place, (
                    f'{event} expects {argument.name}={text}, which names no event, so no trial '
                    f'passes. Name one.{did_you_mean(named, list(self._turn.at_ns))}'.rstrip('.')))
            elif meant not in calls:
                self._fields.unmapped(place, (
                    f"{event} expects {argument.name}={text}, which ARE's judge takes from its "
                    f'own run of the plan. Only {{{{EVENT}}}} of a call that is expected before '
                    f'is known here, so no trial passes'))
            elif meant not in self._before(event):
                self._fields.unmapped(place, (
                    f'{event} expects {argument.name}={text}, and does not depend on {meant!r}: '
                    f'where that comes later, no trial passes. Add it to dependencies'))

    def _before(self, event: AreEvent) -> set[str]:
        """Return the ids of all that an event depends on, to the root."""
        by_id = {one.event_id: one for one in self._events}
        found, ahead = set[str](), list(event.dependencies)
        while ahead:
            name = ahead.pop()
            if name in by_id and name not in found:
                found.add(name)
                ahead += by_id[name].dependencies
        return found

    def _critical_ms(self) -> float:
        if self._turns:
            return super()._critical_ms()
        self._default(('events',), 'the file')
        return DEFAULT_CRITICAL_MS

    def _turn_ms(self, saying: Saying) -> float:
        """Return the limit of a turn's message, which grows by what its calls may take."""
        calls = sum(map(is_call, saying.expected))
        limit_ms = self._limit_ms([one for one in saying.expected if ends_turn(one)],
                                  self._turn.at_ns[saying.symbol])
        return super()._turn_ms(saying) + calls * DEFAULT_CRITICAL_MS \
            if limit_ms is None else limit_ms

    def _block(self) -> AgentsBody:
        block = super()._block()
        tools, known = tools_of(self._events)
        sayings = self._schedule.sayings
        rules = [self._any_call(saying) for saying in sayings
                 if not saying.is_turn and any(map(is_call, saying.expected))]
        return block.model_copy(update={
            'tools': tools, 'rules': (*block.rules, *rules),
            'duration_ms': min(MAX_MS, max(block.duration_ms, self._waited_ms())),
            'apps': AppWorld(tools=known, begins_s=self._first_ns / 1e9, told={
                saying.symbol: tuple(event.event_id for event in saying.told)
                for saying in sayings})})

    def _any_call(self, saying: Saying) -> Rule:
        """Demand that something comes of what is told, where no message is expected."""
        names = dict.fromkeys(tool_name(event.action)
                              for event in saying.expected if event.action and is_call(event))
        limit_ms = self._waited_ms()
        return Rule(
            trigger_text=saying.symbol, action_text='a call, or an answer',
            trigger=Trigger(any=(Pattern(kind='symbol', name=saying.symbol),)),
            expect=Expect(any=(ANSWER, *(Pattern(kind='tool_call', agents=(CONTROLLER,), name=one)
                                         for one in names)),
                          budget=LatencyBudget.model_validate(self._budget(limit_ms))))

    def _waited_ms(self) -> float:
        """Return how long a run has to go on until the last call is too late for ARE's judge."""
        due_ns = [self._turn.at_ns[event.event_id] - self._first_ns + TOLERANCE_NS
                  for event in self._events if is_call(event)]
        return min(MAX_MS, max(due_ns, default=0) / 1e6)
