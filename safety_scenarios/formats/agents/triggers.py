# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What triggers of an agent file mean: from their texts and the meaning of symbols to patterns."""

from collections.abc import Callable, Collection, Sequence

from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.agents.bindings import Bindings
from safety_scenarios.formats.agents.file import AgentFile, same_name
from safety_scenarios.formats.agents.remarks import RULE_TEXT
from safety_scenarios.formats.agents.symbols import Meaning
from safety_scenarios.formats.agents.texts import ArgumentText, ClauseText, TriggerText
from safety_scenarios.formats.document.messages import show
from safety_scenarios.scenario.blocks.agents import Argument, Clause, Part, Pattern, Trigger

_START = Pattern(kind='start')


class Unbound(Exception):
    """A name that nothing gives a meaning: the rule can be described, and not be run."""

    def __init__(self, name: str, why: str, near: str = '') -> None:
        self.name = name
        super().__init__(f'{why}. The rule is unbound and never passes.{near}'
                         if near else f'{why}. The rule is unbound and never passes')


class Contradiction(Exception):
    """A rule that says what cannot be meant."""

    def __init__(self, message: str, code: str = RULE_TEXT) -> None:
        self.code = code
        super().__init__(message)


class Triggers:
    """
    Gives a trigger its meaning.

    :param meaning: what a symbol means, None for one that means nothing
    :param authored: names of what the script, the rules and the bindings let happen
    :param words: every word that has a meaning, for suggestions
    """

    def __init__(self, file: AgentFile, bindings: Bindings,
                 meaning: Callable[[str], Meaning | None], authored: Collection[str | None],
                 words: Callable[[], Sequence[str]]) -> None:
        self._file, self._bindings = file, bindings
        self._meaning, self._authored, self._words = meaning, authored, words

    def trigger(self, parsed: TriggerText) -> Trigger:
        """
        Return what a trigger means.

        :raises Unbound: something in it means nothing
        :raises Contradiction: it cannot be meant
        """
        unless = tuple(pattern for one in parsed.unless for pattern in self.when(one))
        clauses = tuple(self._clause(clause) for clause in parsed.clauses)
        if clauses and all(len(clause.parts) == 1 and clause.parts[0].times == 1
                           for clause in clauses):  # plain alternatives
            found = tuple(pattern for clause in clauses for pattern in clause.parts[0].any)
            clauses = ()
        elif clauses:
            found = tuple(dict.fromkeys(
                pattern for clause in clauses for part in clause.parts if not part.negated
                for pattern in part.any))
        else:
            found = self.when(parsed)
        return Trigger(any=found, delay_ns=parsed.delay_ns, clauses=clauses, unless=unless,
                       unless_ns=parsed.unless_ns, counts_own=parsed.counts_own)

    def _clause(self, clause: ClauseText) -> Clause:
        return Clause(within_ns=clause.within_ns, parts=tuple(
            Part(any=self.when(one), times=one.times, negated=one.negated)
            for one in clause.parts))

    def when(self, parsed: TriggerText) -> tuple[Pattern, ...]:
        """Return the events of which one is meant; raises as ``trigger`` does."""
        if parsed.kind == 'at':
            return (_START,)
        if parsed.kind == 'says':
            return (Pattern(kind='say', any_word=(parsed.name,), agents=self._agents(parsed)),)
        if parsed.kind == 'tool':
            return (self.call(parsed.name, parsed.args, self._agents(parsed)),)
        if parsed.kind == 'signal':
            signals = self._bindings.signals
            if parsed.name not in signals:
                raise Unbound(f'signal:{parsed.name}', f'got the signal {show(parsed.name)}, '
                              f'which no bindings define', did_you_mean(parsed.name, signals))
            return (Pattern(kind='signal', name=parsed.name, op=parsed.op, value=parsed.value),)
        meaning = self._meaning(parsed.name)
        patterns = meaning.when or meaning.expect or meaning.forbid if meaning else ()
        if parsed.name in self._authored:
            patterns = (*patterns, Pattern(kind='symbol', name=parsed.name))
        if not patterns and meaning is not None and meaning.effects:
            raise Unbound(parsed.name, f'got {show(parsed.name)} as a trigger, which is something '
                          f'to do. Name what it does, by as in its do, or say by when what it is')
        if not patterns:
            raise Unbound(parsed.name, no_meaning(parsed.name, 'when'),
                          did_you_mean(parsed.name, self._words()))
        return self._from(parsed, patterns, meaning) if parsed.agent else patterns

    def call(self, tool: str, args: Sequence[ArgumentText],
             agents: tuple[str, ...] | None) -> Pattern:
        """Return the pattern of a call of a tool."""
        name = one_of(tool, [entry.name for entry in self._file.tools], 'tool')
        return Pattern(kind='tool_call', name=name, agents=agents,
                       args=tuple(_argument(arg) for arg in args))

    def agent(self, name: str) -> str:
        """Return the id of the agent that is meant."""
        return one_of(name, [one.id for one in self._file.agents], 'agent')

    def _agents(self, parsed: TriggerText) -> tuple[str, ...] | None:
        return (self.agent(parsed.agent),) if parsed.agent else None

    def _from(self, parsed: TriggerText, patterns: Sequence[Pattern],
              meaning: Meaning | None) -> tuple[Pattern, ...]:
        agent = self.agent(parsed.agent)
        is_free = meaning is not None and meaning.any_sender
        found = tuple(
            pattern.model_copy(update={'agents': (agent,)}) for pattern in patterns
            if pattern.kind in ('say', 'tool_call', 'symbol')
            and (is_free or pattern.agents is None or agent in pattern.agents))
        if not found:
            raise Contradiction(f'got {parsed.name} from {show(agent)}, which by its meaning '
                                f'never comes from there. Correct one of the two')
        return found


def _argument(arg: ArgumentText) -> Argument:
    if arg.op == '=':
        return Argument(name=arg.name, equals=arg.value)
    assert isinstance(arg.value, float)
    return Argument(name=arg.name, at_least=arg.value if arg.op == '>=' else None,
                    at_most=arg.value if arg.op == '<=' else None)


def one_of(name: str, known: Sequence[str], what: str) -> str:
    """Return the known name that is meant; case counts only where two differ by nothing else."""
    found = same_name(name, known)
    if not found:
        raise Unbound(f'{what}:{name}', f'got the {what} {show(name)}, which the scenario does '
                                        f'not have', did_you_mean(name, known) or (
                                            f' It has {", ".join(known):.200}' if known else ''))
    if len(found) > 1:
        raise Contradiction(f'got the {what} {show(name)}, expected one of {", ".join(found)} '
                            f'as it is written there')
    return found[0]


def not_there(what: str, is_named: bool) -> str:
    """Return what to say of something that is to happen, and that the bindings do not give."""
    return f'got {what}, whose entry in the bindings has an error' if is_named else \
        f'got {what}, which no bindings define'


def no_meaning(name: str, keys: str) -> str:
    """Return what to say of a symbol without a meaning, and which keys would give it one."""
    return (f'got the symbol {show(name)}, to which neither the bindings nor this program give a '
            f'meaning here. Add it to symbols, with {keys}')
