# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The strings of a rule: a bare word, or one of a few forms, parsed by hand.

::

    trigger := ["every "] events ["unless " event {" or " event} ["within " time]]
             | ["every "] "no " event " within " time [" of " event]
             | "at " time | "after " time " of " event
    events  := all {" or " all}
    all     := part {" and " part} [" within " time]
    part    := ["not "] event [" at least " count " times"]
    event   := symbol [" from " agent] | "says:" phrase | "tool:" name [" with " arguments]
             | "signal:" symbol op number
    action  := symbol | "say:" phrase | "publish:" symbol | "set:" symbol "=" number
             | "expect:" deeds [" within " time] [held] | "forbid:" deeds [held]
             | "expect: no " deed " within " time | "expect: nothing for " time
             | "permit:" deed {" or " deed} | "fault:" symbol
             | "end:" ("pass" | "fail" | "stop")
    deeds   := deed {" or " deed} | deed {" and " deed}
    deed    := (symbol | "tool:" name [" with " arguments] | "says:" quoted) [" from " agent]
               [" at least " count " times"]
    held    := [" for " time] [" until " symbol] | [" for " time] " unless " symbol
    arguments := argument {("," | " and ") argument}
    argument  := key ("=" | "<=" | ">=") value
    time    := number ("ms" | "s" | "min")        op := "<" | "<=" | ">" | ">="
    symbol  := a letter, then letters, digits, "_" and "-"

``A does not happen within T [of B]`` is the same as ``no A within T [of B]``. Case and spaces
around the parts don't matter. A phrase is plain text, never a pattern; behind one that is not in
quotes nothing can follow. An action with ``and`` demands each of several things.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
import math
import re
from typing import Literal

from safety_scenarios.formats.agents.cursor import Cursor, MAX_RULE_TEXT
from safety_scenarios.scenario.blocks.agents import Operator


@dataclass(frozen=True)
class ArgumentText:
    """What an argument of a call must be."""

    name: str
    op: Literal['=', '<=', '>=']
    value: str | bool | float


@dataclass(frozen=True)
class ClauseText:
    """Several things that must all have come."""

    parts: tuple['TriggerText', ...]
    within_ns: int | None = None


@dataclass(frozen=True)
class TriggerText:
    """What a trigger says."""

    kind: Literal['symbol', 'at', 'says', 'tool', 'signal', 'any']
    """any: of several clauses."""
    name: str = ''
    """Symbol, phrase, tool or signal."""
    agent: str = ''
    delay_ns: int = 0
    op: Operator | None = None
    value: float | None = None
    args: tuple[ArgumentText, ...] = ()
    times: int = 1
    negated: bool = False
    clauses: tuple[ClauseText, ...] = ()
    unless: tuple['TriggerText', ...] = ()
    """What keeps the rule from firing."""
    unless_ns: int | None = None
    """None: when it has come before; else when it comes within this time."""
    counts_own: bool = False
    """Whether for ``unless`` what the controller under test says unasked counts, too."""
    is_every: bool = False
    """Each occurrence fires, and not only the first."""


@dataclass(frozen=True)
class ActionText:
    """What an action says."""

    kind: Literal['symbol', 'say', 'publish', 'set', 'expect', 'forbid', 'permit', 'fault', 'end']
    name: str
    """Symbol, phrase, key of a topic, or how the run ends."""
    value: float = 0.0
    within_ns: int | None = None
    """expect: how soon."""
    for_ns: int | None = None
    """expect, forbid: how long."""
    until: str = ''
    """expect, forbid: the symbol that releases it."""
    what: Literal['symbol', 'tool', 'says'] = 'symbol'
    """expect, forbid: what ``name`` is."""
    args: tuple[ArgumentText, ...] = ()
    agent: str = ''
    times: int = 1
    unless: str = ''
    """expect: the symbol that takes the demand back before it is met."""
    others: tuple['ActionText', ...] = ()
    """expect, forbid: any of these will do, too."""
    text: str = ''
    """What of the action this is; empty: all of it."""


NOTHING = 'nothing'
"""What a silent controller does: it says nothing and calls nothing."""
_RESERVED = frozenset(('every', 'no', 'not', 'and', 'or', 'unless', 'within', 'with', 'times'))
"""Words of the grammar that were never symbols of this program."""
_COLONS = ('says', 'tool', 'signal', 'say', 'publish', 'set', 'expect', 'forbid', 'permit',
           'fault', 'end')
_TIMED = re.compile(r'(at|after)\s*([-+.\d]|$)')


def parse_trigger(text: str, tools: Sequence[str] = (), agents: Sequence[str] = ()) -> TriggerText:
    """
    Return what a trigger says.

    :param tools: names of several words that may stand in it
    :param agents: the same for ids
    :raises GrammarError: it fits none of the forms
    """
    cursor = Cursor(text)
    found = _Triggers(cursor, tools, agents).whole()
    cursor.finish()
    return found


def parse_actions(text: str, tools: Sequence[str] = (),
                  agents: Sequence[str] = ()) -> tuple[ActionText, ...]:
    """
    Return everything that an action demands; each part knows its own text.

    :raises GrammarError: it fits none of the forms
    """
    cursor = Cursor(text)
    found = _Actions(cursor, tools, agents).all()
    cursor.finish()
    return found


def is_free_text(text: str) -> bool:
    """
    Return whether a text that fits none of the forms is a sentence, and none that breaks off.

    A sentence begins with a letter or a digit, or is blank, and not as one of the forms does.
    """
    said = text.strip().lower()
    if len(text) > MAX_RULE_TEXT or not said.replace('\n', ' ').replace('\t', ' ').isprintable():
        return False
    keyword, colon, _ = said.partition(':')
    return not said or ((said[0].isalnum() or said[0] in '"“\'‘')
                        and not (colon and keyword.strip() in _COLONS)
                        and _TIMED.match(said) is None)


def normal(text: str) -> str:
    """Return free text as bindings name it: small letters, single spaces."""
    return ' '.join(text.lower().split())


def _arguments(cursor: Cursor) -> tuple[ArgumentText, ...]:
    """Return the arguments behind ``with``; none without the word."""
    if not cursor.take_word('with'):
        return ()
    begin, found = cursor.place, [_argument(cursor)]
    while True:
        place = cursor.place
        if cursor.take(','):
            found.append(_argument(cursor))
        elif cursor.take_word('and') and cursor.is_argument():
            found.append(_argument(cursor))
        else:
            cursor.back(place)
            if not all(_can_be([one for one in found if one.name == other.name])
                       for other in found):
                cursor.back(begin)
                cursor.fail('arguments that a call can have, each with one =, or >= and <=')
            return tuple(found)


def _can_be(tests: Sequence[ArgumentText]) -> bool:
    """Return whether a value can pass all tests of one argument."""
    ops = [one.op for one in tests]
    bounds = {one.op: one.value for one in tests if isinstance(one.value, float)}
    return len(set(ops)) == len(ops) and ('=' not in ops or len(ops) == 1) \
        and bounds.get('>=', -math.inf) <= bounds.get('<=', math.inf)


def _argument(cursor: Cursor) -> ArgumentText:
    name, place = cursor.key(), cursor.place
    ops: tuple[Literal['=', '<=', '>='], ...] = ('<=', '>=', '=')
    op = next((op for op in ops if cursor.take(op)), None)
    if op is None or any(cursor.take(more) for more in '=<>'):  # == and => are none
        cursor.back(place)
        cursor.fail('=, <= or >=')
    place, value = cursor.place, cursor.value()
    if op != '=' and not (isinstance(value, float)):
        cursor.back(place)
        cursor.fail('a finite number')
    return ArgumentText(name, op, value)


def _times(cursor: Cursor) -> int:
    """Return how often at least something has to come."""
    place = cursor.place
    if not cursor.take_word('at') or not cursor.take_word('least'):
        cursor.back(place)
        return 1
    found = cursor.count()
    if not (cursor.take_word('times') or cursor.take_word('time')):
        cursor.fail("'times'")
    return found


class _Triggers:
    """Reads a trigger."""

    def __init__(self, cursor: Cursor, tools: Sequence[str], agents: Sequence[str]) -> None:
        self._cursor, self._tools, self._agents = cursor, tools, agents

    def whole(self) -> TriggerText:
        """Return all of it."""
        cursor = self._cursor
        if cursor.take_word('at'):
            return TriggerText('at', delay_ns=cursor.time())
        is_every = cursor.take_two('every')
        if cursor.take_two('no'):
            found = self._absence(self._event())
        elif cursor.take_word('after'):
            delay_ns = cursor.time()
            if not cursor.take_word('of'):
                cursor.fail("'of' and what happens")
            found = replace(self._event(), delay_ns=delay_ns)
            found = self._unless(found, has_time=False)
        else:
            found = self._events()
        return replace(found, is_every=True) if is_every else found

    def _events(self) -> TriggerText:
        clauses = [self._all()]
        first = clauses[0].parts[0]
        if clauses[0] == ClauseText((first,)) and self._cursor.takes('does', 'not', 'happen'):
            return self._absence(first)
        while self._cursor.take_word('or'):
            clauses.append(self._all())
        is_plain = clauses == [ClauseText((first,))] and first.times == 1
        return self._unless(first if is_plain else TriggerText('any', clauses=tuple(clauses)))

    def _all(self) -> ClauseText:
        place, parts = self._cursor.place, [self._part()]
        while self._cursor.take_word('and'):
            parts.append(self._part())
        if all(part.negated for part in parts):
            self._cursor.back(place)
            self._cursor.fail("something that happens, and 'not' only behind 'and'. What does "
                              'not happen within a time is: no A within 5 s of B')
        is_timed = sum(part.times for part in parts if not part.negated) > 1
        return ClauseText(tuple(parts), self._cursor.optional_time('within') if is_timed else None)

    def _part(self) -> TriggerText:
        negated = self._cursor.take_two('not')
        found = replace(self._event(), negated=negated)
        times = 1 if negated else _times(self._cursor)
        return replace(found, times=times) if times != 1 else found

    def _absence(self, absent: TriggerText) -> TriggerText:
        cursor = self._cursor
        if not cursor.take_word('within'):
            cursor.fail("'within' and a time")
        for_ns = cursor.some_time()
        since = self._event() if cursor.take_word('of') else TriggerText('symbol', 'start')
        return replace(since, unless=(absent,), unless_ns=for_ns, counts_own=True)

    def _unless(self, found: TriggerText, has_time: bool = True) -> TriggerText:
        if not self._cursor.take_word('unless'):
            return found
        events = [self._event()]
        while self._cursor.take_word('or'):
            events.append(self._event())
        within_ns = self._cursor.optional_time('within') if has_time else None
        return replace(found, unless=tuple(events), unless_ns=within_ns)

    def _event(self) -> TriggerText:
        cursor = self._cursor
        if cursor.take('says:'):
            quoted = cursor.quoted()
            return TriggerText('says', (cursor.phrase() if quoted is None else quoted).lower(),
                               self._sender() if quoted else '')
        if cursor.take('tool:'):
            name = cursor.name(self._tools)
            args = _arguments(cursor)
            return TriggerText('tool', name, self._sender(), args=args)
        if cursor.take('signal:'):
            name, op = cursor.symbol('the name of a signal'), cursor.operator()
            return TriggerText('signal', name, op=op, value=cursor.number())
        name = cursor.symbol('a symbol, says:, tool: or signal:' if cursor.since(0) else
                             'a symbol, at, after, every, no, says:, tool: or signal:', _RESERVED)
        return TriggerText('symbol', name, self._sender())

    def _sender(self) -> str:
        return self._cursor.name(self._agents) if self._cursor.take_word('from') else ''


class _Actions:
    """Reads an action."""

    def __init__(self, cursor: Cursor, tools: Sequence[str], agents: Sequence[str]) -> None:
        self._cursor, self._tools, self._agents = cursor, tools, agents

    def all(self) -> tuple[ActionText, ...]:  # noqa: A003
        """Return all of it."""
        cursor = self._cursor
        if cursor.take('expect:'):
            return self._expect()
        if cursor.take('forbid:'):
            return self._forbid()
        if cursor.take('permit:'):
            deeds = [replace(one, kind='permit') for one in self._alternatives('permitted')]
            return (replace(deeds[0], others=tuple(deeds[1:]), text=''),)
        return (self._one(),)

    def _one(self) -> ActionText:
        cursor = self._cursor
        if cursor.take('say:'):
            return ActionText('say', cursor.phrase())
        if cursor.take('publish:'):
            return ActionText('publish', cursor.symbol('the key of a topic'))
        if cursor.take('fault:'):
            return ActionText('fault', cursor.symbol('the name of a fault'))
        if cursor.take('set:'):
            name = cursor.symbol('the name of what to set')
            if not cursor.take('='):
                cursor.fail("'='")
            return ActionText('set', name, value=cursor.number())
        if cursor.take('end:'):
            for how in ('pass', 'fail', 'stop'):
                if cursor.take_word(how):
                    return ActionText('end', how)
            cursor.fail('pass, fail or stop')
        return ActionText('symbol', cursor.symbol(
            'a symbol, say:, publish:, set:, expect:, forbid:, permit:, fault: or end:'))

    def _expect(self) -> tuple[ActionText, ...]:
        cursor = self._cursor
        if cursor.take_word(NOTHING):
            nothing = ActionText('forbid', NOTHING)
            if not cursor.take_word('for') and not cursor.take_word('within'):
                cursor.fail("'for' and a time")
            return (replace(nothing, for_ns=cursor.some_time(), until=self._until()),)
        if cursor.take_two('no'):
            return self._absent([self._deed('forbid')])
        deeds, joined = self._deeds('expect')
        if len(deeds) == 1 and cursor.takes('does', 'not', 'happen'):
            return self._absent([replace(deeds[0], kind='forbid')])
        place, within_ns = cursor.place, cursor.optional_time('within')
        for_ns, until, unless = self._held()
        if within_ns is None and (for_ns is not None or until):
            within_ns = cursor.optional_time('within')
        said = replace(deeds[0], text='', within_ns=within_ns, for_ns=for_ns, until=until,
                       unless=unless)
        if joined != 'and':
            return (replace(said, others=tuple(deeds[1:])),)
        tail = cursor.since(place)
        return tuple(replace(said, name=deed.name, what=deed.what, args=deed.args,
                             agent=deed.agent, times=deed.times,
                             text=f'expect: {deed.text} {tail}'.strip()) for deed in deeds)

    def _absent(self, deeds: list[ActionText]) -> tuple[ActionText, ...]:
        if not self._cursor.take_word('within') and not self._cursor.take_word('for'):
            self._cursor.fail("'within' and a time")
        return (replace(deeds[0], for_ns=self._cursor.some_time(), until=self._until(), text=''),)

    def _until(self) -> str:
        """Return the symbol from which on it may be, if there is one."""
        is_told = self._cursor.take_word('until') or self._cursor.take_word('unless')
        return self._cursor.symbol('a symbol') if is_told else ''

    def _forbid(self) -> tuple[ActionText, ...]:
        deeds = self._alternatives('forbidden')
        for_ns, until, unless = self._held()
        return (replace(deeds[0], for_ns=for_ns, until=until or unless,
                        others=tuple(deeds[1:]), text=''),)

    def _alternatives(self, what: str) -> list[ActionText]:
        """Return several things of which any is meant."""
        place = self._cursor.place
        deeds, joined = self._deeds('forbid')
        if joined == 'and':
            self._cursor.back(place)
            self._cursor.fail(f"'or' between what is {what}: it holds for either of them")
        return deeds

    def _held(self) -> tuple[int | None, str, str]:
        """Return for how long, until which symbol, and unless which, something holds."""
        cursor = self._cursor
        for_ns = cursor.optional_time('for')
        if for_ns is None and cursor.take_word('until'):
            return None, cursor.symbol('a symbol'), ''
        if cursor.take_word('unless'):
            return for_ns, '', cursor.symbol('a symbol')
        return for_ns, '', ''

    def _deeds(self, kind: Literal['expect', 'forbid']) -> tuple[list[ActionText], str]:
        """Return what is demanded or forbidden, and by which word it is joined."""
        found = [self._deed(kind)]
        joined = next((word for word in ('or', 'and') if self._cursor.take_word(word)), '')
        while joined:
            found.append(self._deed(kind))
            if not self._cursor.take_word(joined):
                break
        if len(found) == 1:
            found = [replace(found[0], text='')]
        return found, joined

    def _deed(self, kind: Literal['expect', 'forbid']) -> ActionText:
        cursor, place = self._cursor, self._cursor.place
        if cursor.take('tool:'):
            name = cursor.name(self._tools)
            found = ActionText(kind, name, what='tool', args=_arguments(cursor))
        elif cursor.take('says:'):
            quoted = cursor.quoted()
            if quoted is None:
                cursor.fail('words in quotes, such as says: "I stop"')
            found = ActionText(kind, quoted.lower(), what='says')
        else:
            found = ActionText(kind, cursor.symbol('a symbol, tool: or says:', _RESERVED))
            if found.name == NOTHING:
                cursor.back(place)
                cursor.fail("a symbol, tool: or says:. Silence is 'expect: nothing for 5 s'")
        agent = cursor.name(self._agents) if cursor.take_word('from') else ''
        times = _times(cursor)
        if times > 1 and kind == 'forbid':
            cursor.fail("no 'at least' behind forbid:, where one is too many")
        return replace(found, agent=agent, times=times, text=cursor.since(place))
