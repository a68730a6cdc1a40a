# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The scenario with agents that ARE runs: what is told, what triggers a rule, what is expected of it.

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
from itertools import pairwise
from operator import attrgetter

from safety_scenarios.are.traces.agents import (
    demand,
    event_type,
    expect_id,
    fires_ns,
    firing_id,
    happened,
    is_planned,
    line_id,
)
from safety_scenarios.are.traces.kept import as_json, escaped
from safety_scenarios.are.traces.profiles import Profile, to_agent
from safety_scenarios.scenario.blocks.agents import Line, Say
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.result import TrialResult, Verdict
from safety_scenarios.trial.timeline import Timeline
from safety_scenarios.trial.trial import TrialRecord

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


def goes_on(plan: Iterable[Planned]) -> Mapping[str, Planned]:
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
