# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From an ARE file with tools to agents and rules: what is told, and which calls are expected."""

from collections.abc import Sequence
from typing import Any

from safety_scenarios.are.scenarios.nouns import AreEvent, AreFile, TO_USER
from safety_scenarios.are.scenarios.scenario import DEFAULT_CRITICAL_MS
from safety_scenarios.are.scenarios.schedule import ends_turn, Saying, Schedule
from safety_scenarios.are.scenarios.several_turns import Playing
from safety_scenarios.are.scenarios.tools import (
    expected,
    is_call,
    source_of,
    TOLERANCE_NS,
    tool_name,
    tools_of,
)
from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats._turns import ANSWER, CONTROLLER
from safety_scenarios.formats.document.fields import Fields
from safety_scenarios.formats.document.reading import Resolve
from safety_scenarios.scenario.blocks.agents import Expect, Pattern, Rule, Trigger
from safety_scenarios.scenario.blocks.apps import AppWorld
from safety_scenarios.scenario.blocks.budget import LatencyBudget, MAX_MS
from safety_scenarios.scenario.body import AgentsBody

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
        """Return what a ``Scenario`` is made from."""
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
                    f'passes. Name one{did_you_mean(named, list(self._turn.at_ns))}'))
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
