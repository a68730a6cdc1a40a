# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Agents with roles, goals and tools, and rules over what happens: what the engine runs."""

from collections.abc import Mapping, Sequence
import hashlib
import re
from typing import Annotated, Any, Literal

from pydantic import Field
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.stimulus import StimulusPlugin
from safety_scenarios.scenario.verdict import LatencyBudget

EVERY = 1001
"""A rule fires each time: one more than there may be firings in a run, which then is an error."""
ALL_CLEAR_SYMBOL = 'all_clear'
"""What its author names so releases every demand that was made before."""
AGENTS = 'agents'
"""Namespace of all agents and tools, below the campaign's own."""
Operator = Literal['<', '<=', '>', '>=']
Nanoseconds = Annotated[int, Field(ge=0)]


class Role(Noun):
    """What an agent is there for."""

    name: str
    description: str = ''


class ToolResult(Noun):
    """What one call of a tool gives back, and when."""

    returns: Mapping[str, Any] | None = {'status': 'ok'}
    """None: a world behind the link answers."""
    after_ns: Nanoseconds = 0
    """So long after the call."""


class Tool(Noun):
    """Something that agents may call; the harness answers with what is recorded here."""

    name: str
    description: str = ''
    allow: tuple[str, ...] | None = None
    """Roles that may call it; None: every role."""
    arguments: tuple[str, ...] | None = None
    """Names of the arguments that it takes; None: that is not declared."""
    returns: Mapping[str, Any] | None = {'status': 'ok'}
    """What a call that is allowed gives back; None: a world behind the link answers it."""
    results: tuple['ToolResult', ...] = ()
    """When given, what each call gives back instead, in this order; the last one stays."""

    @property
    def parameters(self) -> Mapping[str, Any] | None:
        """Return the JSON Schema of its arguments; None where they are not declared."""
        return None if self.arguments is None else {
            'type': 'object', 'properties': {name: {} for name in self.arguments},
            'additionalProperties': False}

    def result(self, calls: int) -> 'ToolResult':
        """Return what a call gives back that comes after so many others."""
        return self.results[min(calls, len(self.results) - 1)] if self.results \
            else ToolResult(returns=self.returns)


class Agent(Noun):
    """One participant."""

    id: str  # noqa: A003
    name: str
    role: str
    goals: tuple[str, ...] = ()
    driver: Literal['sut', 'script', 'human', 'model', 'none'] = 'script'
    """Who plays this agent; ``sut`` is the controller under test."""
    controller: str = ''
    """Name of the controller plug-in that drives it, for ``model``."""
    system: str | None = None
    """What it is told, word for word; None: what ``system_text`` makes of its role and goals."""

    @property
    def is_live(self) -> bool:
        """Whether it hears and speaks over the link, and is not played by the harness."""
        return self.driver in ('sut', 'human', 'model')

    @property
    def space(self) -> str:
        """Return the relative ROS namespace of its topics ``in`` and ``out``."""
        return f'{AGENTS}/{ros_token(self.id)}'


def ros_token(identifier: str) -> str:
    """Return an identifier as one ROS name; where characters had to go, a hash tells it apart."""
    safe = re.sub(r'[^A-Za-z0-9_]', '_', identifier)[:60]
    if safe == identifier and re.match(r'[A-Za-z]', safe):
        return safe
    return f'x{safe}_{hashlib.sha256(identifier.encode()).hexdigest()[:8]}'


MOST_EXACT = 2 ** 53
"""Of whole numbers beyond it a double holds only some: another one may be taken for it."""


class Argument(Noun):
    """What one argument of a tool call must be; every test that is given must hold."""

    name: str
    """Key in the call's arguments; with dots between them, keys of objects within objects."""
    equals: str | bool | float | None = None
    """This text, truth value or number."""
    at_least: float | None = None
    """A number, and no smaller one."""
    at_most: float | None = None
    """A number, and no larger one."""
    pattern: str | None = None
    """A text that this regular expression (RE2) matches whole, case kept."""


class Pattern(Noun):
    """One kind of event."""

    kind: Literal['start', 'end', 'say', 'tool_call', 'signal', 'symbol']
    """``symbol``: an event that its author named so, in the script or by a rule's effect."""
    agents: tuple[str, ...] | None = None
    """Ids of those whose saying or calling counts; None: anybody's."""
    any_word: tuple[str, ...] = ()
    """say: one of these words or phrases must be said, as whole words, ignoring case."""
    no_word: tuple[str, ...] = ()
    """say: and none of these."""
    before: tuple[str, ...] = ()
    """say: a word of ``any_word`` counts at the end of its clause or before one of these words,
    and where nobody else is said to do it; with a comma among them a comma ends the clause, and
    what only repeats what was told does not count. Else it is open; none given: it always counts.
    """
    as_question: bool = False
    """say: a word of ``any_word`` counts in a question, and nowhere else."""
    is_reply: bool = False
    """say: it is about what its author was asked last, and not about what he said before."""
    name: str = ''
    """Tool, signal or symbol."""
    op: Operator | None = None
    """signal: how its value compares with ``value`` (in the signal's own unit)."""
    value: float | None = None
    args: tuple[Argument, ...] = ()
    """tool_call: what its arguments must be; none given: anything."""
    means: str = ''
    """say: what somebody does who says so, for a judge; empty: he says one of the words."""

    @property
    def is_in_words(self) -> bool:
        """Whether it depends on which words are said."""
        return self.kind == 'say' and bool(self.any_word or self.no_word)

    @property
    def is_state(self) -> bool:
        """Whether it holds for a time, and does not just happen."""
        return self.kind == 'signal'


class Part(Noun):
    """One of several things that a trigger wants together."""

    any: tuple[Pattern, ...] = Field(min_length=1)  # noqa: A003
    times: int = Field(default=1, ge=1, le=100)
    """How often it must have come."""
    negated: bool = False
    """Or must not have come so far; a signal: must not hold."""


class Clause(Noun):
    """
    Several things that must all have come, in whichever order.

    A signal counts while it holds; alone, with ``times``, each time that it begins to.
    """

    parts: tuple[Part, ...] = Field(min_length=1)
    within_ns: Nanoseconds | None = None
    """From the first of them to the last; None: however long."""


class Trigger(Noun):
    """When a rule fires."""

    any: tuple[Pattern, ...] = Field(min_length=1)  # noqa: A003
    delay_ns: Nanoseconds = 0
    """How long after it (steady clock)."""
    after: str = ''
    """Only an event after the first one that its author named so counts; empty: any."""
    clauses: tuple[Clause, ...] = ()
    """When given, one of these must be complete; ``any`` then is what may complete them."""
    unless: tuple[Pattern, ...] = ()
    """It does not fire when one of these has come; of a signal: holds."""
    unless_ns: Nanoseconds | None = None
    """None: so far. Else: within this time after what triggers it, at whose end it fires."""
    counts_own: bool = False
    """Whether what the controller under test says unasked keeps the rule from firing, too."""

    @property
    def wait_ns(self) -> int:
        """How long after what triggers it the rule fires; a window must be over before."""
        return self.delay_ns if self.unless_ns is None else self.unless_ns + 1

    @property
    def conditions(self) -> tuple[Pattern, ...]:
        """Return what must not have come, or hold."""
        return (*self.unless, *(pattern for clause in self.clauses for part in clause.parts
                                if part.negated for pattern in part.any))


class Expect(Noun):
    """
    One of these events must come, from firing on.

    A state must also be kept: until ``for_ns`` or ``until`` release it, a later rule demands,
    permits or bans otherwise, the all-clear comes, or the run is over.
    """

    any: tuple[Pattern, ...] = Field(min_length=1)  # noqa: A003
    budget: LatencyBudget
    for_ns: Nanoseconds | None = None
    """State: so long from when it was reached, the last instant included; 0: a moment will do."""
    until: tuple[Pattern, ...] = ()
    """Or until one of these events."""
    contrary: tuple[Pattern, ...] = ()
    """
    Sayings that take back what was demanded to be said, while that is not released.

    One whose ``any_word`` is said together with a ``no_word`` may take it back: nobody can tell.
    """
    times: int = Field(default=1, ge=1, le=100)
    """Events: how often it must come, all within the limits."""
    unless: tuple[Pattern, ...] = ()
    """When one of these comes before it is met, and in time, it is not demanded any more."""

    @property
    def is_state(self) -> bool:
        """Whether nothing but states can meet it."""
        return all(pattern.is_state for pattern in self.any)


class Forbid(Noun):
    """None of these events may come, from firing on."""

    any: tuple[Pattern, ...] = Field(min_length=1)  # noqa: A003
    for_ns: Nanoseconds | None = None
    """How long, the last instant included; None: to the end of the run."""
    until: tuple[Pattern, ...] = ()
    """Or until one of these events."""
    contrary: tuple[Pattern, ...] = ()
    """Sayings that are surely none of these, such as to go on where a refusal is forbidden."""


class Permit(Noun):
    """These events may come again: what is demanded or forbidden against them is released."""

    any: tuple[Pattern, ...] = Field(min_length=1)  # noqa: A003


class Say(Noun):
    """The harness speaks for an agent."""

    kind: Literal['say'] = 'say'
    agent: str
    text: str = Field(max_length=10_000)
    symbol: str | None = None


class Publish(Noun):
    """The harness publishes a stimulus, instead of what it published on that topic before."""

    kind: Literal['publish'] = 'publish'
    stimulus: StimulusPlugin
    symbol: str | None = None


class End(Noun):
    """The run ends; fail says that it must not have come to this."""

    kind: Literal['end'] = 'end'
    how: Literal['pass', 'fail', 'stop']


Effect = Say | Publish | End


class Rule(Noun):
    """``trigger -> action`` as the file says it, and what it means."""

    trigger_text: str
    action_text: str
    trigger: Trigger | None = None
    """None: ``unbound``."""
    expect: Expect | None = None
    forbid: Forbid | None = None
    permit: Permit | None = None
    is_all_clear: bool = False
    """Its firing releases every demand that was made before."""
    effects: tuple[Annotated[Effect, Field(discriminator='kind')], ...] = ()
    unbound: tuple[str, ...] = ()
    """Symbols that nothing gives a meaning; the rule then never fires."""
    repeat: int = Field(default=1, ge=1, le=EVERY)
    """How often it may fire in one run."""
    entry: int | None = None
    """Index in the file of the rule of which it is a part; None: its own index."""

    @property
    def is_obligation(self) -> bool:
        """Whether it demands or forbids something."""
        return self.expect is not None or self.forbid is not None

    @property
    def demands_silence(self) -> bool:
        """Whether it bans every saying: who is silent then may be right."""
        return self.forbid is not None and any(
            pattern.kind == 'say' and not (pattern.any_word or pattern.no_word)
            for pattern in self.forbid.any)

    def __str__(self) -> str:
        return f'{self.trigger_text} -> {self.action_text}'


class Line(Noun):
    """One line of the script: what an agent says when."""

    at_ns: Nanoseconds
    """After the start of the run."""
    say: Say


_UPPER, _LOWER = ('<', '<='), ('>', '>=')


def all_states(patterns: Sequence[Pattern]) -> bool:
    return bool(patterns) and all(pattern.is_state for pattern in patterns)


def exclude(first: Sequence[Pattern], second: Sequence[Pattern]) -> bool:
    """Return whether no state of the first can hold together with one of the second."""
    return all_states(first) and all_states(second) and all(
        _disjoint(one, other) for one in first for other in second)


def cover(wide: Sequence[Pattern], narrow: Sequence[Pattern]) -> bool:
    """Return whether whatever is one of the narrow is one of the wide too, as far as is sure."""
    return bool(wide) and bool(narrow) and all(
        any(_implies(one, other) for other in wide) for one in narrow)


def exhaust(first: Sequence[Pattern], second: Sequence[Pattern]) -> bool:
    """Return whether every value of some signal is one of the first or of the second."""
    return any(_exhausts(one, other) for one in first for other in second)


def share_words(first: Sequence[Pattern], second: Sequence[Pattern]) -> bool:
    """Return whether one and the same word or phrase is meant by both."""
    said = {word.casefold() for pattern in first for word in pattern.any_word}
    return any(word.casefold() in said for pattern in second for word in pattern.any_word)


def releases(later: Rule, rule: Rule) -> bool:
    """Return whether the firing of one rule ends what another one wanted before."""
    if rule.expect is not None:
        return later.is_all_clear or (
            _releases_state(later, rule.expect) if all_states(rule.expect.any)
            else _releases_words(later, rule.expect))
    return rule.forbid is not None and later.permit is not None \
        and permits(later.permit.any, rule.forbid.any)


def permits(allowed: Sequence[Pattern], banned: Sequence[Pattern]) -> bool:
    """Return whether a permission is about what is banned."""
    return cover(allowed, banned) or cover(banned, allowed)


def _limits(one: Pattern, other: Pattern) -> tuple[float, float, bool] | None:
    """Return an upper limit, a lower limit, and whether both include it; None: not so."""
    if not (one.is_state and other.is_state and one.name == other.name):
        return None
    upper = next((found for found in (one, other) if found.op in _UPPER), None)
    lower = next((found for found in (one, other) if found.op in _LOWER), None)
    if upper is None or lower is None or upper.value is None or lower.value is None:
        return None
    return upper.value, lower.value, upper.op == '<=' and lower.op == '>='


def _disjoint(one: Pattern, other: Pattern) -> bool:
    found = _limits(one, other)
    return found is not None and (found[0] < found[1] or (found[0] == found[1] and not found[2]))


def _exhausts(one: Pattern, other: Pattern) -> bool:
    found = _limits(one, other)
    return found is not None and (found[0] > found[1] or (
        found[0] == found[1] and {'<=', '>='} & {one.op, other.op} != set()))


def _implies(narrow: Pattern, wide: Pattern) -> bool:
    if narrow.kind != wide.kind or narrow.name != wide.name:
        return False
    if narrow.kind == 'signal':
        return _within(narrow, wide)
    senders = wide.agents is None or (
        narrow.agents is not None and set(narrow.agents) <= set(wide.agents))
    words = not wide.any_word or (bool(narrow.any_word)
                                  and set(narrow.any_word) <= set(wide.any_word))
    asked = narrow.as_question or not wide.as_question
    return senders and words and asked and set(wide.no_word) <= set(narrow.no_word) \
        and set(wide.args) <= set(narrow.args)


def _within(narrow: Pattern, wide: Pattern) -> bool:
    """Return whether the values of one signal pattern are values of another."""
    if narrow.value is None or wide.value is None:
        return False
    same = next((ops for ops in (_UPPER, _LOWER) if narrow.op in ops and wide.op in ops), None)
    if same is None:
        return False
    if narrow.value == wide.value:
        return narrow.op == wide.op or wide.op == same[1]
    return (narrow.value < wide.value) == (same is _UPPER)


def _releases_state(later: Rule, expect: Expect) -> bool:
    """Return whether a rule demands or permits another state, or bans this one."""
    return any((
        later.expect is not None and exclude(later.expect.any, expect.any),
        later.permit is not None and exclude(later.permit.any, expect.any),
        later.forbid is not None and cover(later.forbid.any, expect.any)))


def _releases_words(later: Rule, expect: Expect) -> bool:
    """Return whether a rule demands or permits to say, or to do, something else, or bans this."""
    wanted = later.expect or later.permit
    return (wanted is not None and (all_states(wanted.any)
                                    or share_words(wanted.any, expect.contrary))) \
        or (later.forbid is not None and cover(later.forbid.any, expect.any))
