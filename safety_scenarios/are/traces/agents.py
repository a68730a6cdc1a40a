# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Scenarios with agents in an ARE trace: what was planned, and what happened.

ARE cannot keep dependencies of completed events; ``after`` in the text of a firing and of what
became of it is the id of the event that triggered it.

Each expect rule is an AGENT event, no later than its critical budget after the ENV event of its
firing. In the portable profile it is a message to the user, which ends a turn of ARE's: nothing of
its turn may come after it, and ARE's judge compares turn by turn. In which order the controller
answers what overlaps is its own choice, so the order in the plan of a trial is the one in which it
did; what did not come stands where it was due. A firing whose turn is over when its answer is due
goes on in the next one, as an event of its own with the time that is left.

Of a PASS nothing is planned that did not come, such as the answer to what never happened.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
import heapq
from itertools import pairwise
from operator import attrgetter
from typing import Any

from safety_scenarios.are.traces.kept_events import (
    as_json,
    escaped,
    Profile,
    selected_events,
    to_agent,
)
from safety_scenarios.scenario.blocks.agents import End, Line, Pattern, Publish, Rule, Say
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import Outcome, RuleOutcome, Status, TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.trial import ONSET, Timeline, TrialRecord

NOT_LISTED = 'env_expansion'
"""In an event's id: ARE's mark of events that it added to a scenario; its judge skips them."""
_DONE = 'command', 'response', 'say', 'tool_call'


@dataclass(frozen=True)
class Happened:
    """One completed event."""

    event_id: str
    event_type: str
    steady_ns: int
    call: str
    operation: str
    text: str
    """All about it, as escaped JSON."""
    exception: str | None = None
    event: Event | None = None
    """What of the record it is."""


def described(block: AgentsBody) -> Mapping[str, Any]:
    """Return who takes part, with which tools and under which rules, for the task's text."""
    return {'sut': block.sut, 'roles': [role.model_dump() for role in block.roles],
            'agents': [agent.model_dump() for agent in block.agents],
            'tools': [tool.model_dump(mode='json', exclude=None if tool.results else {'results'})
                      for tool in block.tools],
            'rules': [{'trigger': rule.trigger_text, 'action': rule.action_text,
                       'unbound': rule.unbound} for rule in block.rules]}


def line_id(place: int) -> str:
    return f'line{place}'


def expect_id(place: int) -> str:
    return f'expect{place}'


def firing_id(rule: Rule, place: int, count: int) -> str:
    """Return the id of a firing; ARE's judge skips those that are not planned."""
    marked = '' if count == 0 and is_planned(rule) else f'.{NOT_LISTED}'
    return f'rule{place}.fired{count}{marked}'


def is_planned(rule: Rule) -> bool:
    """Return whether the first firing is an event of the scenario that ARE runs."""
    return rule.trigger is not None and (
        rule.expect is not None or any(isinstance(effect, Publish) for effect in rule.effects))


def fires_ns(block: AgentsBody, rule: Rule, above: tuple[Rule, ...] = ()) -> int:
    """
    Return when the script makes a rule fire first (ns after the start).

    0 where only the controller can tell.
    """
    if rule.trigger is None or rule in above:
        return 0
    times = [line.at_ns for line in block.script if line.say.agent != block.sut
             and any(_triggers(line.say, pattern) for pattern in rule.trigger.any)]
    names = {pattern.name for pattern in rule.trigger.any if pattern.kind == 'symbol'}
    times += [fires_ns(block, other, (*above, rule)) for other in block.rules
              if any(effect.symbol in names for effect in other.effects
                     if not isinstance(effect, End))]
    return min(times, default=0) + rule.trigger.wait_ns


def _triggers(say: Say, pattern: Pattern) -> bool:
    """Return whether a line is likely to be meant; only for the plan, no verdict is made of it."""
    if pattern.agents is not None and say.agent not in pattern.agents:
        return False
    text = say.text.casefold()
    return (pattern.kind == 'symbol' and pattern.name == say.symbol) or (
        pattern.kind == 'say' and not any(word.casefold() in text for word in pattern.no_word)
        and (not pattern.any_word or any(word.casefold() in text for word in pattern.any_word)))


def happened(record: TrialRecord, result: TrialResult, block: AgentsBody, words: Profile,
             most: int) -> Iterator[Happened]:
    """
    Yield what was kept and what the rules made of it, in order of time.

    :param most: bound on the messages that are kept only because they differ
    """
    outcome = result.outcome or Outcome(status=Status.NOT_TRIGGERED)
    wanted = {fired_ns - _delay_ns(block, found) for found in outcome.rules
              for fired_ns in found.fired_ns}
    seen: dict[int, list[Happened]] = {}
    ruled = sorted(_ruled(record, result, outcome, block, words), key=attrgetter('steady_ns'))
    for one in heapq.merge(_record_events(record, result, block, words, most), ruled,
                           key=attrgetter('steady_ns')):
        if isinstance(one, Happened):
            if one.steady_ns in wanted:
                seen.setdefault(one.steady_ns, []).append(one)
            yield one
        else:
            after = next((cause.event_id for cause in seen.get(one.trigger_ns, ())
                          if _may_cause(cause.event, one.rule)), None)
            text = escaped(as_json({**one.value, 'after': after}))
            yield Happened(one.event_id, 'ENV', one.steady_ns,
                           words.shown('rule', text), 'WRITE', text)


def _may_cause(event: Event | None, rule: Rule) -> bool:
    """Return whether an event is of the kind that triggers a rule."""
    patterns = rule.trigger.any if rule.trigger else ()
    return event is not None and any(
        (pattern.kind == event.kind and (pattern.agents is None or event.agent in pattern.agents)
         and pattern.name in ('', event.name))
        or (pattern.kind == 'symbol' and pattern.name == event.symbol)
        or (pattern.kind == 'start' and event.kind == 'mark' and event.name == ONSET)
        or (pattern.kind == 'signal' and event.kind in ('command', 'feedback'))
        for pattern in patterns)


@dataclass(frozen=True)
class _Ruled:
    """A firing, or what became of it."""

    event_id: str
    steady_ns: int
    trigger_ns: int
    """Steady time of the event that triggered it."""
    rule: Rule
    value: Mapping[str, Any]


def _record_events(record: TrialRecord, result: TrialResult, block: AgentsBody, words: Profile,
                   most: int) -> Iterator[Happened]:
    """Yield the events of the record."""
    told = set[int]()
    for number, (event, text, _) in enumerate(selected_events(record, result,
                                                              Timeline(record).onset, most)):
        kind = 'ENV'
        if event.kind in _DONE:
            kind = 'AGENT' if event.agent is None else event_type(block, event.agent)
        place = _place(event, block, told)
        event_id = f'e{number}' if kind == 'AGENT' else f'e{number}.{NOT_LISTED}'
        if place is not None:
            told.add(place)
            event_id = line_id(place)
        call = to_agent(text) if kind == 'USER' else words.commanded(event, text) \
            if kind == 'AGENT' else words.shown(event.name or event.kind, text)
        yield Happened(event_id, kind, event.stamps.steady_ns, call,
                       'READ' if kind == 'AGENT' else 'WRITE', text, event=event)


def _ruled(record: TrialRecord, result: TrialResult, outcome: Outcome, block: AgentsBody,
           words: Profile) -> Iterator[_Ruled | Happened]:
    """Yield each firing, what became of each obligation, and the events that were expected."""
    failed = None if result.verdict is Verdict.PASS else f'{result.verdict.value}: {result.reason}'
    for found in outcome.rules:
        place, rule, delay_ns = found.index, block.rules[found.index], _delay_ns(block, found)
        for count, fired_ns in enumerate(found.fired_ns):
            yield _Ruled(firing_id(rule, place, count), fired_ns, fired_ns - delay_ns, rule, {
                'kind': 'rule', 'rule': found.rule, 'firing': count, 'steady_ns': fired_ns})
        for count, one in enumerate(found.obligations):
            yield _Ruled(f'rule{place}.decided{count}.{NOT_LISTED}',
                         record.end_ns if one.at_ns is None else one.at_ns,
                         one.opened_ns - delay_ns, rule, {
                             'kind': 'obligation', 'rule': found.rule, 'firing': count,
                             **one.model_dump(mode='json')})
            if rule.expect is not None and count == 0 and one.latency_ns is not None:
                yield Happened(expect_id(place), 'AGENT', one.opened_ns + one.latency_ns,
                               words.reacted(demand(rule)), 'WRITE', '', failed)


def _delay_ns(block: AgentsBody, found: RuleOutcome) -> int:
    trigger = block.rules[found.index].trigger
    return trigger.wait_ns if trigger else 0


def demand(rule: Rule) -> str:
    return escaped(as_json({'expected': rule.action_text}))


def event_type(block: AgentsBody, agent_id: str) -> str:
    """Return whose event a saying or a call is: the controller's, a user's, or of the rest."""
    agent = block.agent(agent_id)
    if agent_id == block.sut:
        return 'AGENT'
    return 'USER' if agent is not None and agent.role == 'user' else 'ENV'


def _place(event: Event, block: AgentsBody, told: set[int]) -> int | None:
    """Return which line of the script an event is, None if it is none or an answer of ours."""
    if event.kind != 'say' or event.depth or event.agent == block.sut:
        return None
    return next((place for place, line in enumerate(block.script) if place not in told
                 and (line.say.agent, line.say.text) == (event.agent, event.text)), None)


_LEAST_NS = 1_000
"""An answer is planned at least this much later than its trigger; no budget is as short."""


@dataclass(frozen=True)
class Planned:
    """One event of the runnable scenario."""

    event_id: str
    event_type: str
    call: str
    at_ns: int
    """After the task; of an AGENT event the latest."""
    after: str
    """The event on which it depends."""
    after_s: float
    goes_on: bool = False
    """Whether it stands for a firing in an earlier turn; completed right after ``after``."""


@dataclass(frozen=True)
class _Step:
    """What is to be planned, in the order of the plan."""

    event_id: str
    at_ns: int
    """After the start: when it came, or should have; of an expectation no later than it is due."""
    event_type: str
    call: str
    due_ns: int | None = None
    """Of an expectation: how long after its firing at the latest."""
    firing: str = ''
    """Of an expectation: the id of its firing."""


def planned(record: TrialRecord, result: TrialResult, block: AgentsBody, words: Profile,
            most: int) -> tuple[Planned, ...]:
    """
    Return the events of the scenario behind its task, in order of time.

    :param most: as for ``happened``
    """
    start = Timeline(record).onset or next(iter(record.events), None)
    base_ns = start.stamps.steady_ns if start is not None else 0
    came = {one.event_id: one.steady_ns - base_ns
            for one in happened(record, result, block, words, most)}
    steps = list(_steps(block, words, came, result.verdict is Verdict.PASS))
    if result.verdict is Verdict.PASS:
        order = {event_id: place for place, event_id in enumerate(came)}
        steps.sort(key=lambda step: order[step.event_id])
    else:
        steps.sort(key=attrgetter('at_ns'))
    return tuple(_chained(steps, words))


def continuations(plan: Iterable[Planned]) -> Mapping[str, Planned]:
    """Return the events that let a firing go on in the next turn, by what each comes behind."""
    return {one.event_id: other for one, other in pairwise(plan) if other.goes_on}


def ends_s(plan: Iterable[Planned]) -> float:
    """Return when the last planned event is due (s after the task)."""
    return max((one.at_ns / 1e9 for one in plan), default=0.0)


def _steps(block: AgentsBody, words: Profile, came: Mapping[str, int],
           passed: bool) -> Iterator[_Step]:
    """Yield the lines, the firings and what is expected; those that came before the others."""
    for place, line in enumerate(block.script):
        if line.say.agent != block.sut and (line_id(place) in came or not passed):
            yield _line(block, words, place, line)
    for place, rule in enumerate(block.rules):
        firing = firing_id(rule, place, 0)
        if not is_planned(rule) or (passed and firing not in came):
            continue
        fired_ns = came.get(firing, fires_ns(block, rule))
        text = escaped(as_json({'kind': 'rule', 'rule': rule.trigger_text}))
        yield _Step(firing, fired_ns, 'ENV', words.shown('rule', text))
        if rule.expect is None or (passed and expect_id(place) not in came):
            continue
        limit_ns = max(round(rule.expect.budget.critical_ms * 1e6), _LEAST_NS)
        due_ns = fired_ns + limit_ns
        at_ns = max(fired_ns, min(came.get(expect_id(place), due_ns), due_ns))
        yield _Step(expect_id(place), at_ns, 'AGENT', words.reacted(demand(rule)), limit_ns,
                    firing)


def _line(block: AgentsBody, words: Profile, place: int, line: Line) -> _Step:
    said: Say = line.say
    text = escaped(as_json({'agent': said.agent, 'text': said.text, 'symbol': said.symbol}))
    kind = event_type(block, said.agent)
    return _Step(line_id(place), line.at_ns, kind,
                 to_agent(text) if kind == 'USER' else words.shown('say', text))


def _chained(steps: Iterable[_Step], words: Profile) -> Iterator[Planned]:
    """Yield the steps, each with what it depends on."""
    last, last_ns = 'task', 0
    began: dict[str, tuple[int, int]] = {}  # firing: planned at, came at
    in_turn = set[str]()
    previous_ns = 0
    for step in steps:
        if step.due_ns is None:
            at_ns = max(step.at_ns, last_ns)
            yield Planned(step.event_id, step.event_type, step.call, at_ns, last,
                          (at_ns - last_ns) / 1e9)
            began[step.event_id] = at_ns, step.at_ns
            in_turn.add(step.event_id)
            last, last_ns = step.event_id, at_ns
        else:
            cause, left_ns = step.firing, step.due_ns
            cause_ns, fired_ns = began[cause]
            if words.ends_turns and cause not in in_turn:
                cause, cause_ns = f'before_{step.event_id}', last_ns
                left_ns = max(fired_ns + step.due_ns - previous_ns, _LEAST_NS)
                text = escaped(as_json({'kind': 'goes_on', 'firing': step.firing}))
                yield Planned(cause, 'ENV', words.shown('rule', text), cause_ns, last, 0.0, True)
                last = cause
            due_ns = cause_ns + left_ns
            if words.ends_turns:
                due_ns = max(due_ns, last_ns)
            yield Planned(step.event_id, 'AGENT', step.call, due_ns, cause,
                          (due_ns - cause_ns) / 1e9)
            if words.ends_turns:
                last, last_ns = step.event_id, due_ns
                in_turn.clear()
        previous_ns = step.at_ns
