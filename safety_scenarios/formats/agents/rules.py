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

"""The rules of an agent file: from their strings and the meaning of their symbols to patterns."""

from collections.abc import Sequence
from typing import cast, Literal

from safety_scenarios.formats.agents.bindings import Bindings, EffectBlock, PatternBlock
from safety_scenarios.formats.agents.file import AgentFile, same_name
from safety_scenarios.formats.agents.grammar import (
    ActionText,
    GrammarError,
    parse_action,
    parse_trigger,
    TriggerText,
)
from safety_scenarios.formats.agents.remarks import FOREIGN_TOPIC, Remarks, RULE_TEXT, UNBOUND
from safety_scenarios.formats.agents.symbols import (
    built_in,
    Cast,
    DEFAULT_BUDGET,
    Meaning,
    MOTIONS,
)
from safety_scenarios.formats.agents.topics import Topics
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path
from safety_scenarios.model.agents import (
    ALL_CLEAR_SYMBOL,
    Argument,
    Effect,
    End,
    Expect,
    Forbid,
    Pattern,
    Permit,
    Publish,
    Rule,
    Say,
    Trigger,
)
from safety_scenarios.model.budget import LatencyBudget

_START = Pattern(kind='start')


class _Unbound(Exception):
    """A name that nothing gives a meaning: the rule can be described, and not be run."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        super().__init__(f'{why}. The rule is unbound and never passes')


class _Contradiction(Exception):
    """A rule that says what cannot be meant."""

    def __init__(self, message: str, code: str = RULE_TEXT) -> None:
        self.code = code
        super().__init__(message)


class Rules:
    """Gives each string of a rule its meaning."""

    def __init__(self, file: AgentFile, bindings: Bindings, cast: Cast, topics: Topics,
                 remarks: Remarks, side: Remarks) -> None:
        self._file = file
        self._bindings = bindings
        self._cast = cast
        self._topics = topics
        self._remarks = remarks
        self._side = side
        self._authored = {line.symbol for line in bindings.script or ()} \
            | set(bindings.topics) | set(bindings.faults) | set(bindings.sets) \
            | {effect.symbol for symbol in bindings.symbols.values() for effect in symbol.do or ()}
        self._bound = {name: self._own(name) for name in bindings.symbols}
        self._known: dict[str, Meaning | None] = {}

    def all(self) -> tuple[Rule, ...]:  # noqa: A003
        """Return every rule of the file; what is wrong with one is told."""
        return tuple(self._rule(index) for index in range(len(self._file.rules)))

    def _rule(self, index: int) -> Rule:
        texts = self._file.rules[index]
        rule = Rule(trigger_text=texts.trigger, action_text=texts.action)
        path, unbound, found = ('rules', index), list[str](), dict[str, object]()
        for key, text, read in (('trigger', texts.trigger, self._trigger_of),
                                ('action', texts.action, self._action_of)):
            try:
                found.update(read(text))
            except GrammarError as error:
                self._remarks.refuse((*path, key), str(error), RULE_TEXT)
            except _Contradiction as error:
                self._remarks.refuse((*path, key), str(error), error.code)
            except _Unbound as error:
                self._remarks.warn((*path, key), str(error), UNBOUND)
                unbound.append(error.name)
        if unbound:
            found['trigger'] = None
        found['repeat'] = found.pop('by_trigger', None) or found.pop('by_action', None) or 1
        found.pop('by_action', None)
        return rule.model_copy(update={**found, 'unbound': tuple(unbound)})

    def _trigger_of(self, text: str) -> dict[str, object]:
        parsed = parse_trigger(text)
        repeat = None
        if parsed.kind == 'symbol':
            meaning = self._meaning(parsed.name)
            repeat = meaning.repeat if meaning else None
        trigger = Trigger(any=self._when(parsed), delay_ns=parsed.delay_ns)
        return {'trigger': trigger, 'by_trigger': repeat}

    def _when(self, parsed: TriggerText) -> tuple[Pattern, ...]:
        if parsed.kind == 'at':
            return (_START,)
        if parsed.kind == 'says':
            return (Pattern(kind='say', any_word=(parsed.name,)),)
        if parsed.kind == 'tool':
            tools = [tool.name for tool in self._file.tools]
            return (Pattern(kind='tool_call', name=_one(parsed.name, tools, 'tool')),)
        if parsed.kind == 'signal':
            if parsed.name not in self._bindings.signals:
                raise _Unbound(f'signal:{parsed.name}', f'got the signal {show(parsed.name)}, '
                               f'which no bindings define')
            return (Pattern(kind='signal', name=parsed.name, op=parsed.op, value=parsed.value),)
        meaning = self._meaning(parsed.name)
        patterns = meaning.when or meaning.expect or meaning.forbid if meaning else ()
        if parsed.name in self._authored:
            patterns = (*patterns, Pattern(kind='symbol', name=parsed.name))
        if not patterns:
            raise _Unbound(parsed.name, _no_meaning(parsed.name, 'when'))
        return self._from(parsed, patterns, meaning) if parsed.agent else patterns

    def _from(self, parsed: TriggerText, patterns: Sequence[Pattern],
              meaning: Meaning | None) -> tuple[Pattern, ...]:
        agent = _one(parsed.agent, [one.id for one in self._file.agents], 'agent')
        is_free = meaning is not None and meaning.any_sender
        found = tuple(
            pattern.model_copy(update={'agents': (agent,)}) for pattern in patterns
            if pattern.kind in ('say', 'tool_call', 'symbol')
            and (is_free or pattern.agents is None or agent in pattern.agents))
        if not found:
            raise _Contradiction(f'got {parsed.name} from {show(agent)}, which by its meaning '
                                 f'never comes from there. Correct one of the two')
        return found

    def _action_of(self, text: str) -> dict[str, object]:
        parsed = parse_action(text)
        if parsed.kind in ('symbol', 'expect', 'forbid', 'permit'):
            return self._by_symbol(parsed)
        return {'effects': (self._effect(parsed),)}

    def _by_symbol(self, parsed: ActionText) -> dict[str, object]:
        name = parsed.name
        meaning = self._meaning(name)
        kind = parsed.kind if parsed.kind != 'symbol' else meaning.bare if meaning else ''
        if meaning is None or not kind:
            raise _Unbound(name, _no_meaning(name, 'expect, forbid or do'))
        told: dict[str, object] = {'by_action': meaning.repeat}
        if kind == 'effects':
            if not meaning.effects:
                raise _Unbound(name, f'got {show(name)} as an action, which somebody has to say, '
                               f'and the harness plays {len(self._cast.scripted)} agents and not '
                               f'one. Say in the bindings what to do')
            return {**told, 'effects': meaning.effects,
                    'is_all_clear': name == ALL_CLEAR_SYMBOL}
        patterns = meaning.expect if kind == 'expect' else meaning.forbid
        if name not in self._bound and name in MOTIONS and self._topics.has_robot:
            raise _Unbound(name, f'got {show(name)} with bindings to a robot: what it says does '
                           f'not show what it does. Define it by a signal')
        if not patterns:
            raise _Unbound(name, f'got {show(name)} behind {kind}:, which is not seen by the '
                           f'words of the controller under test. Say in the bindings by what')
        if kind == 'permit':
            return {**told, 'permit': Permit(any=patterns)}
        is_told = bool(parsed.until) or parsed.for_ns is not None
        until = self._when(TriggerText('symbol', parsed.until)) if parsed.until else ()
        for_ns = parsed.for_ns if is_told else meaning.for_ns
        if kind == 'forbid':
            return {**told, 'forbid': Forbid(any=patterns, for_ns=for_ns, until=until)}
        if (is_told or for_ns is not None) and not meaning.contrary \
                and not any(pattern.is_state for pattern in patterns):
            raise _Contradiction(f'got {show(name)} for a time, which is an event: it happens and '
                                 f'is over, expected a state, which a signal tells, or a saying '
                                 f'with contrary. Leave the time out')
        return {**told, 'expect': Expect(
            any=patterns, budget=_shortened(meaning.budget, parsed.within_ns), for_ns=for_ns,
            until=until if is_told else meaning.until, contrary=meaning.contrary)}

    def _effect(self, parsed: ActionText) -> Effect:
        name = parsed.name
        if parsed.kind == 'end':
            return End(how=cast(Literal['pass', 'fail', 'stop'], name))
        if parsed.kind == 'say':
            return self._say(name, None, None)
        if parsed.kind == 'publish':
            return self._publish(name, name)
        if parsed.kind == 'fault':
            found = self._topics.faults.get(name)
        else:
            found = self._topics.set_to(name, parsed.value)
        if found is None:
            raise _Unbound(f'{parsed.kind}:{name}', f'got {parsed.kind}: {name}, which no '
                                                    f'bindings define')
        return Publish(stimulus=found, symbol=name)

    def _publish(self, key: str, symbol: str) -> Publish:
        if self._topics.is_observed(key):
            raise _Contradiction(f'got the topic {show(key)}, which the harness only observes, '
                                 f'expected one with use: stimulus', FOREIGN_TOPIC)
        if key not in self._topics.published:
            raise _Unbound(f'publish:{key}', f'got the topic {show(key)}, which no bindings '
                                             f'define')
        return Publish(stimulus=self._topics.published[key], symbol=symbol)

    def _say(self, text: str, agent: str | None, symbol: str | None) -> Say:
        speaker = agent or self._cast.speaker
        if speaker is None:
            raise _Unbound('say:', f'got something to say and {len(self._cast.scripted)} agents '
                           f'for whom the harness speaks. Name one in the bindings')
        if speaker not in self._cast.scripted:
            raise _Contradiction(f'got {show(speaker)}, for whom the harness does not speak, '
                                 f'expected one of: {", ".join(self._cast.scripted) or "nobody"}')
        return Say(agent=speaker, text=text, symbol=symbol)

    def _meaning(self, name: str) -> Meaning | None:
        if name in self._bound:
            return self._bound[name]
        if name not in self._known:
            self._known[name] = built_in(name, self._cast)
        return self._known[name]

    def _own(self, name: str) -> Meaning:
        """Return what the bindings say that a symbol means."""
        block, path = self._bindings.symbols[name], ('symbols', name)
        effects = tuple(effect for index, one in enumerate(block.do or ())
                        for effect in self._bound_effect((*path, 'do', index), one))
        bare = 'expect' if block.expect else 'forbid' if block.forbid else \
            'effects' if block.do else ''
        when = self._patterns((*path, 'when'), block.when or (), is_demand=False)
        expect = self._patterns((*path, 'expect'), block.expect or (), is_demand=True)
        forbid = self._patterns((*path, 'forbid'), block.forbid or (), is_demand=True)
        told = expect or forbid or tuple(
            pattern for pattern in when if self._is_demandable(pattern))
        return Meaning(
            when=when, expect=told, forbid=forbid or told, effects=effects, bare=bare,
            budget=block.within_ms.budget if block.within_ms else DEFAULT_BUDGET,
            for_ns=round(block.for_ms * 1e6) if block.for_ms else None, repeat=block.repeat,
            contrary=self._patterns((*path, 'contrary'), block.contrary or (), is_demand=True))

    def _bound_effect(self, path: Path, block: EffectBlock) -> tuple[Effect, ...]:
        try:
            if block.say is not None:
                return (self._say(block.say, block.agent, block.symbol),)
            if block.publish is not None:
                return (self._publish(block.publish, block.symbol or block.publish),)
            if block.end is not None:
                return (End(how=block.end),)
            kind: Literal['set', 'fault'] = 'fault' if block.set is None else 'set'
            return (self._effect(ActionText(kind, block.set or block.fault or '',
                                            value=block.to or 0.0)),)
        except (_Contradiction, _Unbound) as error:
            code = error.code if isinstance(error, _Contradiction) else ''
            self._side.refuse(path, str(error), code)
            return ()

    def _patterns(self, path: Path, blocks: Sequence[PatternBlock],
                  is_demand: bool) -> tuple[Pattern, ...]:
        found = []
        for index, block in enumerate(blocks):
            place = (*path, index)
            agents = self._senders(place, block, is_demand)
            if block.kind == 'signal' and block.name not in self._bindings.signals:
                self._side.refuse((*place, 'name'), f'got {show(block.name)}, expected one of the '
                                  f'signals: {", ".join(self._bindings.signals) or "none"}')
            if block.kind == 'tool_call' and block.name not in [
                    tool.name for tool in self._file.tools]:
                self._side.refuse((*place, 'name'), f'got {show(block.name)}, which is no tool of '
                                                    f'the scenario')
            pattern = Pattern(kind=block.kind, agents=agents, any_word=block.any_word,
                              no_word=block.no_word, name=block.name, op=block.op,
                              value=block.value,
                              args=tuple(Argument(name=name, **test.model_dump())
                                         for name, test in block.args.items()))
            if is_demand and not self._is_demandable(pattern):
                self._side.refuse(place, 'got what the harness does itself, expected something '
                                         'that the controller under test or the robot does')
            found.append(pattern)
        return tuple(found)

    def _senders(self, path: Path, block: PatternBlock, is_demand: bool) -> \
            tuple[str, ...] | None:
        if block.kind not in ('say', 'tool_call'):
            return None
        if block.sender is None:
            return tuple(filter(None, [self._cast.sut])) if is_demand else None
        ids = [agent.id for agent in self._file.agents]
        for name in block.sender:
            if name != 'sut' and name not in ids:
                self._side.refuse((*path, 'from'), f'got {show(name)}, expected sut or the id of '
                                                   f'an agent: {", ".join(ids) or "none"}')
        own = [self._cast.sut if name == 'sut' else name for name in block.sender]
        return tuple(filter(None, own))

    def _is_demandable(self, pattern: Pattern) -> bool:
        """Whether nobody but live agents or the robot can do it: the rest would prove nothing."""
        if pattern.kind == 'signal':
            return True
        return pattern.kind in ('say', 'tool_call') and pattern.agents is not None \
            and set(pattern.agents) <= set(self._cast.live)


def _one(name: str, known: Sequence[str], what: str) -> str:
    """Return the known name that is meant; case counts only where two differ by nothing else."""
    found = same_name(name, known)
    if not found:
        raise _Unbound(f'{what}:{name}', f'got the {what} {show(name)}, which the scenario does '
                                         f'not have')
    if len(found) > 1:
        raise _Contradiction(f'got the {what} {show(name)}, expected one of {", ".join(found)} '
                             f'as it is written there')
    return found[0]


def _no_meaning(name: str, keys: str) -> str:
    return (f'got the symbol {show(name)}, to which neither the bindings nor this program give a '
            f'meaning here. Add it to symbols, with {keys}')


def _shortened(budget: LatencyBudget, time_ns: int | None) -> LatencyBudget:
    """Return a budget whose last limit is another; the others stay, as far as it allows."""
    if time_ns is None:
        return budget
    critical_ms = time_ns / 1e6
    return LatencyBudget(target_ms=min(budget.target_ms, critical_ms),
                         acceptable_ms=min(budget.acceptable_ms, critical_ms),
                         critical_ms=critical_ms)
