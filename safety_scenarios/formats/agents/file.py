# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The fields of an agent file as its schema has them, and whether its rules fit in time.

Looked at are the rules whose times are known from each other: by the script, by ``at``, by what a
rule publishes at a known time, or because they have the same trigger. Of the others nothing is
said.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
import re
from typing import Any, Literal

from pydantic import BaseModel, ValidationError
from safety_scenarios.errors import UNSEEN
from safety_scenarios.formats.document.json_document import Reading
from safety_scenarios.formats.document.messages import describe
from safety_scenarios.formats.document.positions import Document, Path
from safety_scenarios.scenario.blocks.agents import (
    cover,
    End,
    exclude,
    exhaust,
    Expect,
    Forbid,
    Pattern,
    Permit,
    permits,
    releases,
    Rule,
)
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.noun import Noun

MAX_TOLD = 100
"""Problems, and warnings, of one reading; a file of 90 000 mistakes is told sooner."""
RULE_TEXT, SIZE, UNBOUND, FOREIGN_TOPIC = 'F307', 'F308', 'F309', 'F310'
CONTRADICTION, GAP, SWALLOWED = 'F311', 'F312', 'F313'
_CONTROL = re.compile(r'[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]')


@dataclass(frozen=True)
class Remarks:
    """What is told about one document of a reading."""

    document: Document
    reading: Reading

    def refuse(self, path: Path, message: str, code: str = '', at_key: bool = False) -> None:
        """Tell what cannot be read as it is."""
        told = len(self.reading.problems)
        if told == MAX_TOLD:
            message = f'is not the last mistake: only {MAX_TOLD} are told. Correct those first'
        if told <= MAX_TOLD:
            self.reading.problems.append(
                self.document.problem(self._as_written(path), message, at_key, code))

    def warn(self, path: Path, message: str, code: str = '') -> None:
        """Tell what can be read, and is odd."""
        if len(self.reading.warnings) < MAX_TOLD:
            self.reading.warnings.append(self.document.problem(path, message, code=code))

    def line(self, path: Path) -> int | None:
        """Return the line in which something stands."""
        return self.document.problem(self._as_written(path), '').line

    def refuse_fields(self, prefix: Path, error: ValidationError, model: type[BaseModel]) -> None:
        """Tell every field that a model refuses."""
        found = describe(error.errors(include_url=False), model)
        for path, sentence, at_key in islice(found, MAX_TOLD + 1):
            self.refuse((*prefix, *path), sentence, at_key=at_key)

    def name(self, path: Path, text: str) -> None:
        """Refuse a name that is too long, or holds what nobody sees: it may look like another."""
        self.text(path, text, MAX_NAME, UNSEEN)

    def text(self, path: Path, text: str, longest: int,
             refused: re.Pattern[str] = _CONTROL) -> None:
        """Refuse a text that is too long or holds control characters."""
        found = refused.search(text)
        if len(text) > longest:
            self.refuse(path, f'got {len(text)} characters, expected at most {longest}. '
                              f'Shorten it', SIZE)
        elif found:
            self.refuse(path, f'got the control character U+{ord(found[0]):04X} at column '
                              f'{found.start() + 1} of the text, expected none. Remove it', SIZE)

    def count(self, path: Path, got: int, most: int, what: str) -> None:
        """Refuse too many of something."""
        if got > most:
            self.refuse(path, f'got {got} {what}, expected at most {most}. Split the file', SIZE)

    def _as_written(self, path: Path) -> Path:
        """Return a path without the index of a list that the file left out, having one entry."""
        found: Path = ()
        value: Any = self.document.data
        for step in path:
            if isinstance(step, int) and not isinstance(value, tuple):
                continue
            found = (*found, step)
            if isinstance(value, tuple) and isinstance(step, int) and step < len(value):
                value = value[step]
            elif isinstance(value, Mapping):
                value = value.get(step)
            else:
                value = ()
        return found


MAX_NAME, MAX_TEXT, MAX_DESCRIPTION, MAX_FILE_TEXT = 200, 10_000, 1000, 100_000
"""Characters of an id or a name; of a goal; of what describes a role or a tool; of the file's."""
MAX_AGENTS, MAX_GOALS, MAX_RULES = 100, 100, 1000
"""Agents, and as many roles and tools; goals of one agent; rules."""
DUPLICATE = 'F303'


class RoleEntry(Noun):
    """A role."""

    name: str
    """What agents call it."""
    description: str = ''
    """What it is for."""


class ToolEntry(Noun):
    """A tool."""

    name: str
    """What agents call it."""
    description: str = ''
    """What it does."""


class AgentEntry(Noun):
    """An agent."""

    id: str  # noqa: A003
    """What rules and bindings call it."""
    name: str
    """What the others call it."""
    role: str
    """One of the roles."""
    goals: tuple[str, ...] = ()
    """What it wants."""


class RuleEntry(Noun):
    """A rule."""

    trigger: str
    """What must happen."""
    action: str
    """What must follow."""


class AgentFile(Noun):
    """An agent file: it accepts what the schema accepts, and nothing else."""

    description: str
    """What happens."""
    roles: tuple[RoleEntry, ...] = ()
    tools: tuple[ToolEntry, ...] = ()
    agents: tuple[AgentEntry, ...]
    """Who takes part."""
    rules: tuple[RuleEntry, ...] = ()


def check(file: AgentFile, remarks: Remarks) -> None:
    """Refuse what the schema cannot say: too much, double names, control characters."""
    remarks.text(('description',), file.description, MAX_FILE_TEXT)
    for key in ('roles', 'tools', 'agents', 'rules'):
        most = MAX_RULES if key == 'rules' else MAX_AGENTS
        remarks.count((key,), len(getattr(file, key)), most, key)
    if remarks.reading.problems:
        return
    both: tuple[tuple[str, Sequence[RoleEntry | ToolEntry]], ...] = (
        ('roles', file.roles), ('tools', file.tools))
    for key, named in both:
        for index, entry in enumerate(named):
            remarks.name((key, index, 'name'), entry.name)
            remarks.text((key, index, 'description'), entry.description, MAX_DESCRIPTION)
        _double((key,), 'name', [entry.name for entry in named], remarks)
    for index, agent in enumerate(file.agents):
        _agent(('agents', index), agent, remarks)
    _double(('agents',), 'id', [agent.id for agent in file.agents], remarks)


def _agent(path: Path, agent: AgentEntry, remarks: Remarks) -> None:
    remarks.name((*path, 'id'), agent.id)
    if agent.id == '*':
        remarks.refuse((*path, 'id'), "got '*', which means everybody. Name the agent", DUPLICATE)
    remarks.name((*path, 'name'), agent.name)
    remarks.name((*path, 'role'), agent.role)
    remarks.count((*path, 'goals'), len(agent.goals), MAX_GOALS, 'goals')
    for index, goal in enumerate(agent.goals[:MAX_GOALS]):
        remarks.text((*path, 'goals', index), goal, MAX_TEXT)


def _double(path: Path, key: str, names: Sequence[str], remarks: Remarks) -> None:
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in first:
            remarks.refuse((*path, index, key), f'got {name!r}, which is also the {key} of '
                           f'{path[0]}[{first[name]}]. Give each its own', DUPLICATE)
        first.setdefault(name, index)


def same_name(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that a rule may mean: the same, else the same but for case."""
    names = list(known)
    return [name] if name in names else [one for one in names if one.lower() == name.lower()]


_START = 'start'
_NEVER = 2 ** 63
"""Later than any time of a run (ns)."""
_Anchor = tuple[object, ...] | str
_Kind = Literal['demand', 'ban', 'permission']


@dataclass(frozen=True)
class _Duty:
    """What one rule wants, from when to when; times in ns after its anchor."""

    index: int
    rule: Rule
    kind: _Kind
    patterns: tuple[Pattern, ...]
    begin_ns: int
    due_ns: int
    """Up to when a demand has to be met; of the others the begin."""
    end_ns: int
    """When it surely is over, should nothing release it before; ``_NEVER``: nothing but that."""
    meaning: int
    """The same for those that want the same, at whatever times."""


@dataclass(frozen=True, slots=True)
class _Relation:
    """What one duty means for another one, whatever their times."""

    contradicts: bool
    """Nobody can do both at once."""
    is_related: bool
    """One demands and the other bans, the same or its opposite."""
    continues: bool
    """The first keeps from doing what the second keeps from."""
    permits: bool
    """The first permits what the second keeps from."""
    releases: bool
    """The first, coming later, ends the second."""


class _Relations:
    """Looks at two meanings once, however many rules have them."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], _Relation] = {}

    def of(self, one: _Duty, other: _Duty) -> _Relation:
        """Return what the first means for the second."""
        key = one.meaning, other.meaning
        if key not in self._known:
            self._known[key] = _relation(one, other)
        return self._known[key]


def _relation(one: _Duty, other: _Duty) -> _Relation:
    first, second, kinds = one.patterns, other.patterns, (one.kind, other.kind)
    opposed = exclude(first, second)
    return _Relation(
        contradicts=(kinds == ('demand', 'demand') and opposed)
        or (kinds == ('demand', 'ban') and cover(second, first))
        or (kinds == ('ban', 'ban') and exhaust(first, second)),
        is_related=(kinds == ('demand', 'ban') and (opposed or cover(second, first)))
        or (kinds == ('ban', 'demand') and (opposed or cover(first, second))),
        continues=(kinds == ('ban', 'ban') and cover(first, second))
        or (kinds == ('demand', 'demand') and cover(second, first))
        or (set(kinds) == {'demand', 'ban'} and opposed),
        permits=one.kind == 'permission' and (
            permits(first, second) if other.kind == 'ban' else opposed),
        releases=releases(one.rule, other.rule))


def check_duties(block: AgentsBody, remarks: Remarks, gaps: bool = True) -> None:
    """
    Refuse rules that contradict each other.

    :param gaps: warn of those between a demand and a ban as well
    """
    times, meanings = _symbol_times(block), dict[object, int]()
    groups: dict[_Anchor, dict[object, _Duty]] = {}
    for index, rule in enumerate(block.rules):
        for anchor, duty in _duties(index, rule, times, meanings):
            same = (duty.meaning, duty.begin_ns, duty.due_ns, duty.end_ns)
            groups.setdefault(anchor, {}).setdefault(same, duty)
    is_released = {index for index, rule in enumerate(block.rules) if rule.forbid and any(
        later.permit and permits(later.permit.any, rule.forbid.any) for later in block.rules)}
    relations = _Relations()
    for duties in groups.values():
        for topic in _by_topic(list(duties.values())):
            _refuse_contradictions(topic, relations, is_released, remarks, block)
            for earlier, later, gap_ns in _gaps(topic, relations) if gaps else ():
                remarks.warn(('rules', block.entry(later.index), 'action'), (
                    f'got a gap of {gap_ns / 1e6:g} ms between {_named(earlier)} in line '
                    f'{_line(earlier, block, remarks)} and {_named(later)}: in it neither '
                    f'holds, so anything may happen. Let the first last until the '
                    f'second begins, by for or until, or say that it is meant by permit:'), GAP)


def _refuse_contradictions(duties: Sequence[_Duty], relations: _Relations,
                           is_released: set[int], remarks: Remarks,
                           block: AgentsBody) -> None:
    for pair in combinations(duties, 2):
        if not any(relations.of(one, other).contradicts and _at_once(one, other, is_released)
                   for one, other in (pair, pair[::-1])):
            continue
        first, second = sorted(pair, key=lambda duty: duty.index)
        remarks.refuse(('rules', block.entry(second.index), 'action'), (
            f'got {_named(second)}, which contradicts {_named(first)} in line '
            f'{_line(first, block, remarks)}: both at the same time are impossible. '
            f'Correct one of the two'), CONTRADICTION)


def _at_once(one: _Duty, other: _Duty, is_released: set[int]) -> bool:
    """Return whether two that contradict each other hold at the same time."""
    if other.kind == 'demand':
        return one.begin_ns == other.begin_ns  # else the later one releases the other
    if one.kind == 'demand':
        return other.begin_ns <= one.begin_ns and other.end_ns >= one.due_ns \
            and other.index not in is_released
    return max(one.begin_ns, other.begin_ns) < min(one.end_ns, other.end_ns) \
        and not {one.index, other.index} & is_released


def _gaps(duties: Sequence[_Duty], relations: _Relations) -> Iterator[tuple[_Duty, _Duty, int]]:
    """Yield a demand and a ban, either first, and for how long neither holds in between (ns)."""
    in_order = sorted(duties, key=lambda duty: duty.begin_ns)
    ends: dict[int, int] = {}
    for one in in_order:
        if one.kind == 'permission' or one.end_ns == _NEVER:
            continue
        later = next((other for other in in_order if other.begin_ns > one.end_ns
                      and relations.of(one, other).is_related), None)
        if later is None or any(one.begin_ns <= duty.begin_ns <= later.begin_ns
                                and relations.of(duty, one).permits for duty in duties):
            continue
        ends = ends or {duty.index: _end_ns(duty, duties, relations) for duty in duties}
        from_ns = _covered_to(one, [(duty.begin_ns, ends[duty.index]) for duty in in_order
                                    if duty is not one and (relations.of(duty, one).continues or (
                                        duty.kind == one.kind and duty is not later
                                        and relations.of(duty, later).is_related))])
        if from_ns < later.begin_ns:
            yield one, later, later.begin_ns - from_ns


def _covered_to(one: _Duty, others: Sequence[tuple[int, int]]) -> int:
    """
    Return up to when others go on with what one of them keeps from.

    :param others: begin and end, in order of begin
    """
    t_ns = one.end_ns
    for begin_ns, end_ns in others:
        if begin_ns > t_ns:
            break
        t_ns = max(t_ns, end_ns)
    return t_ns


def _end_ns(duty: _Duty, duties: Sequence[_Duty], relations: _Relations) -> int:
    """Return when something is over, by itself or released by another."""
    return min([duty.end_ns, *(other.begin_ns for other in duties if other.begin_ns
                               > duty.begin_ns and relations.of(other, duty).releases)])


def _duties(index: int, rule: Rule, times: Mapping[str, int],
            meanings: dict[object, int]) -> Iterator[tuple[_Anchor, _Duty]]:
    """Yield what a rule wants when it fires first, with what its times count from."""
    if rule.trigger is None or rule.unbound or (rule.expect and rule.expect.unless):
        return  # what something else may lift contradicts nothing for sure
    anchor, begin_ns = _when(rule, times)
    wants: tuple[tuple[_Kind, Expect | Forbid | Permit | None], ...] = (
        ('demand', rule.expect), ('ban', rule.forbid), ('permission', rule.permit))
    for kind, want in wants:
        if want is None:
            continue
        due_ns, end_ns = begin_ns, _NEVER
        if isinstance(want, Expect):
            due_ns += want.budget.limit_ns('critical')
        if isinstance(want, (Expect, Forbid)):
            end_ns = min(_NEVER if want.for_ns is None else begin_ns + want.for_ns,
                         _until(want.until, anchor, begin_ns, times))
        means = (kind, want.any, want.contrary if isinstance(want, Expect) else ())
        yield anchor, _Duty(index, rule, kind, want.any, begin_ns, due_ns, end_ns,
                            meanings.setdefault(means, len(meanings)))


def _when(rule: Rule, times: Mapping[str, int]) -> tuple[_Anchor, int]:
    assert rule.trigger is not None
    known = _first_time(rule, times)
    trigger = rule.trigger
    own = (trigger.clauses or trigger.any, trigger.unless, trigger.unless_ns)
    return (own, trigger.delay_ns) if known is None else (_START, known)


def _until(patterns: Iterable[Pattern], anchor: _Anchor, begin_ns: int,
           times: Mapping[str, int]) -> int:
    """Return when something is released by name, as far as that is known; else never."""
    found = [times[pattern.name] for pattern in patterns
             if pattern.kind == 'symbol' and pattern.name in times]
    return min([t_ns for t_ns in found if t_ns > begin_ns], default=_NEVER) \
        if anchor == _START else _NEVER


def _first_time(rule: Rule, times: Mapping[str, int]) -> int | None:
    """Return when after the start a rule fires first, None when nobody can tell before."""
    if rule.trigger is None or rule.unbound or rule.trigger.after \
            or rule.trigger.clauses or rule.trigger.unless:
        return None
    if any(pattern.kind == 'start' for pattern in rule.trigger.any):
        return rule.trigger.delay_ns
    named = [pattern.name for pattern in rule.trigger.any if pattern.kind == 'symbol']
    if len(named) < len(rule.trigger.any) or not set(named) <= set(times):
        return None
    return min(times[name] for name in named) + rule.trigger.delay_ns


def _symbol_times(block: AgentsBody) -> Mapping[str, int]:
    """Return when what an author has named happens first, where that is known (ns)."""
    times: dict[str, int] = {}
    for line in block.script:
        if line.say.symbol is not None:
            times[line.say.symbol] = min(line.at_ns, times.get(line.say.symbol, _NEVER))
    todo = [rule for rule in block.rules if any(
        getattr(effect, 'symbol', None) for effect in rule.effects)]
    for _ in range(len(todo)):
        left = []
        for rule in todo:
            t_ns = _first_time(rule, times)
            if t_ns is None:
                left.append(rule)
                continue
            for effect in rule.effects:
                if not isinstance(effect, End) and effect.symbol is not None:
                    times[effect.symbol] = min(t_ns, times.get(effect.symbol, _NEVER))
        if len(left) == len(todo):
            break
        todo = left
    return times


def _by_topic(duties: Sequence[_Duty]) -> Iterable[list[_Duty]]:
    """Return those that can have to do with each other: over a signal, a tool or words."""
    found: dict[tuple[str, str], list[_Duty]] = {}
    for duty in duties:
        for key in dict.fromkeys((pattern.kind, pattern.name) for pattern in duty.patterns):
            found.setdefault(key, []).append(duty)
    return found.values()


def _line(duty: _Duty, block: AgentsBody, remarks: Remarks) -> int | None:
    return remarks.line(('rules', block.entry(duty.index), 'action'))


def _named(duty: _Duty) -> str:
    return f'{" ".join(str(duty.rule).split())!r}'
