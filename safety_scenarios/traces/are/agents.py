# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Agents, tools and rules in an ARE trace: the runnable scenario, and what happened.

The script is a chain of messages to the agent, at their times. Each expect rule is an AGENT event,
no later than its critical budget after what triggers it, as far as the script tells when that is;
it depends on the last message before that. In the portable profile the next message depends on
it, because ARE lets nothing overtake a message to the user; between two of those stands an empty
message, for a turn of its own. What is forbidden cannot be planned in ARE, which knows no absence;
it stands in the task, as every rule does.

ARE cannot keep dependencies of completed events; ``after`` in the text of a firing and of what
became of it is the id of the event that triggered it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
import heapq
from operator import attrgetter
from typing import Any

from safety_scenarios.model.agents import AgentsBlock, End, Pattern, Rule, Say
from safety_scenarios.model.event import Event
from safety_scenarios.model.outcome import Outcome, RuleOutcome, Status
from safety_scenarios.model.result import TrialResult, Verdict
from safety_scenarios.model.trial import ONSET, TrialRecord
from safety_scenarios.traces.are.kept import as_json, escaped, kept
from safety_scenarios.traces.are.profiles import Profile, to_agent

NOT_LISTED = 'env_expansion'
"""In an event's id: ARE's mark of events that it added to a scenario; its judge skips them."""
_DONE = 'command', 'response', 'say', 'tool_call'


@dataclass(frozen=True)
class Planned:
    """One event of the runnable scenario."""

    event_id: str
    event_type: str
    call: str
    at_ns: int
    """After the task; of an AGENT event the latest."""
    after: str = ''
    """The event before it, on which it depends."""
    after_s: float = 0.0


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


def described(block: AgentsBlock) -> Mapping[str, Any]:
    """Return who takes part, with which tools and under which rules, for the task's text."""
    return {'sut': block.sut, 'roles': [role.model_dump() for role in block.roles],
            'agents': [agent.model_dump() for agent in block.agents],
            'tools': [tool.model_dump(mode='json') for tool in block.tools],
            'rules': [{'trigger': rule.trigger_text, 'action': rule.action_text,
                       'unbound': rule.unbound} for rule in block.rules]}


def planned(block: AgentsBlock, words: Profile) -> Iterator[Planned]:
    """Yield the script and the expected events in order of time; the task is before them."""
    cause, cause_ns, before, before_ns = 'task', 0, 'task', 0
    for one in _timetable(block, words):
        if one.event_type == 'AGENT':
            if before != cause:  # a turn has one message to the user
                text = escaped(as_json({'turn': one.event_id}))
                turn = f'before_{one.event_id}.{NOT_LISTED}'
                yield Planned(turn, 'ENV', words.shown('turn', text), before_ns, before)
                cause, cause_ns = turn, before_ns
            yield replace(one, after=cause, after_s=(one.at_ns - cause_ns) / 1e9)
        else:
            yield replace(one, after=before, after_s=(one.at_ns - before_ns) / 1e9)
            cause, cause_ns = one.event_id, one.at_ns
        if one.event_type != 'AGENT' or words.ends_turns:
            before, before_ns = one.event_id, one.at_ns


def ends_s(block: AgentsBlock, words: Profile) -> float:
    """Return when the last planned event is due (s after the task)."""
    return max((one.at_ns / 1e9 for one in _timetable(block, words)), default=0.0)


def _timetable(block: AgentsBlock, words: Profile) -> list[Planned]:
    """Return what the harness says, and the expected events at their latest."""
    found = []
    for place, line in enumerate(block.script):
        if line.say.agent == block.sut:
            continue
        text = escaped(as_json({'agent': line.say.agent, 'text': line.say.text,
                                'symbol': line.say.symbol}))
        kind = _event_type(block, line.say.agent)
        found.append(Planned(f'line{place}', kind, to_agent(text) if kind == 'USER' else
                             words.shown('say', text), line.at_ns))
    for index, rule in enumerate(block.rules):
        if rule.expect is not None and rule.trigger is not None:
            found.append(Planned(
                f'expect{index}', 'AGENT', words.reacted(_demand(rule)),
                _fires_ns(block, rule) + round(rule.expect.budget.critical_ms * 1e6)))
    return sorted(found, key=lambda one: (one.at_ns, one.event_type == 'AGENT'))


def _fires_ns(block: AgentsBlock, rule: Rule, above: tuple[Rule, ...] = ()) -> int:
    """
    Return when the script makes a rule fire first (ns after the start).

    0 where only the controller can tell.
    """
    if rule.trigger is None or rule in above:
        return 0
    times = [line.at_ns for line in block.script if line.say.agent != block.sut
             and any(_triggers(line.say, pattern) for pattern in rule.trigger.any)]
    names = {pattern.name for pattern in rule.trigger.any if pattern.kind == 'symbol'}
    times += [_fires_ns(block, other, (*above, rule)) for other in block.rules
              if any(effect.symbol in names for effect in other.effects
                     if not isinstance(effect, End))]
    return min(times, default=0) + rule.trigger.delay_ns


def _triggers(say: Say, pattern: Pattern) -> bool:
    """Return whether a line is likely to be meant; only for the plan, no verdict is made of it."""
    if pattern.agents is not None and say.agent not in pattern.agents:
        return False
    text = say.text.casefold()
    return (pattern.kind == 'symbol' and pattern.name == say.symbol) or (
        pattern.kind == 'say' and not any(word.casefold() in text for word in pattern.no_word)
        and (not pattern.any_word or any(word.casefold() in text for word in pattern.any_word)))


def happened(record: TrialRecord, result: TrialResult, block: AgentsBlock, words: Profile,
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
    for one in heapq.merge(_seen(record, result, block, words, most), ruled,
                           key=attrgetter('steady_ns')):
        if isinstance(one, Happened):
            if one.steady_ns in wanted:
                seen.setdefault(one.steady_ns, []).append(one)
            yield one
        else:
            after = next((cause.event_id for cause in seen.get(one.trigger_ns, ())
                          if _may_cause(cause.event, one.rule)), None)
            text = escaped(as_json({**one.value, 'after': after}))
            yield Happened(f'{one.event_id}.{NOT_LISTED}', 'ENV', one.steady_ns,
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


def _seen(record: TrialRecord, result: TrialResult, block: AgentsBlock, words: Profile,
          most: int) -> Iterator[Happened]:
    """Yield the events of the record."""
    told = set[int]()
    for number, (event, text, _) in enumerate(kept(record, result, record.onset, most)):
        kind = 'ENV'
        if event.kind in _DONE:
            kind = 'AGENT' if event.agent is None else _event_type(block, event.agent)
        place = _place(event, block, told)
        event_id = f'e{number}' if kind == 'AGENT' else f'e{number}.{NOT_LISTED}'
        if place is not None:
            told.add(place)
            event_id = f'line{place}'
        call = to_agent(text) if kind == 'USER' else words.commanded(event, text) \
            if kind == 'AGENT' else words.shown(event.name or event.kind, text)
        yield Happened(event_id, kind, event.stamps.steady_ns, call,
                       'READ' if kind == 'AGENT' else 'WRITE', text, event=event)


def _ruled(record: TrialRecord, result: TrialResult, outcome: Outcome, block: AgentsBlock,
           words: Profile) -> Iterator[_Ruled | Happened]:
    """Yield each firing, what became of each obligation, and the events that were expected."""
    failed = None if result.verdict is Verdict.PASS else f'{result.verdict.value}: {result.reason}'
    for found in outcome.rules:
        place, rule, delay_ns = found.index, block.rules[found.index], _delay_ns(block, found)
        for count, fired_ns in enumerate(found.fired_ns):
            yield _Ruled(f'rule{place}.fired{count}', fired_ns, fired_ns - delay_ns, rule, {
                'kind': 'rule', 'rule': found.rule, 'firing': count, 'steady_ns': fired_ns})
        for count, one in enumerate(found.obligations):
            yield _Ruled(f'rule{place}.decided{count}',
                         record.end_ns if one.at_ns is None else one.at_ns,
                         one.opened_ns - delay_ns, rule, {
                             'kind': 'obligation', 'rule': found.rule, 'firing': count,
                             **one.model_dump(mode='json')})
            if rule.expect is not None and count == 0 and one.latency_ns is not None:
                yield Happened(f'expect{place}', 'AGENT', one.opened_ns + one.latency_ns,
                               words.reacted(_demand(rule)), 'WRITE', '', failed)


def _delay_ns(block: AgentsBlock, found: RuleOutcome) -> int:
    trigger = block.rules[found.index].trigger
    return trigger.delay_ns if trigger else 0


def _demand(rule: Rule) -> str:
    return escaped(as_json({'expected': rule.action_text}))


def _event_type(block: AgentsBlock, agent_id: str) -> str:
    """Return whose event a saying or a call is: the controller's, a user's, or of the rest."""
    agent = block.agent(agent_id)
    if agent_id == block.sut:
        return 'AGENT'
    return 'USER' if agent is not None and agent.role == 'user' else 'ENV'


def _place(event: Event, block: AgentsBlock, told: set[int]) -> int | None:
    """Return which line of the script an event is, None if it is none or an answer of ours."""
    if event.kind != 'say' or event.depth or event.agent == block.sut:
        return None
    return next((place for place, line in enumerate(block.script) if place not in told
                 and (line.say.agent, line.say.text) == (event.agent, event.text)), None)
