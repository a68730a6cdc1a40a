# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The rules of an agent file: from their strings and the meaning of their symbols to patterns."""

from collections.abc import Callable, Sequence
from typing import cast, Literal

from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.agents.bindings import Bindings, EffectBlock, PatternBlock
from safety_scenarios.formats.agents.cursor import GrammarError
from safety_scenarios.formats.agents.file import (
    AgentFile,
    FOREIGN_TOPIC,
    Remarks,
    RULE_TEXT,
    UNBOUND,
)
from safety_scenarios.formats.agents.grammar import (
    ActionText,
    is_free_text,
    normal,
    NOTHING,
    parse_actions,
    parse_trigger,
    TriggerText,
)
from safety_scenarios.formats.agents.symbols import (
    built_in,
    Cast,
    Contradiction,
    DEFAULT_BUDGET,
    Meaning,
    MOTIONS,
    NAMES,
    no_meaning,
    not_there,
    shortened,
    Triggers,
    Unbound,
)
from safety_scenarios.formats.agents.topics import Topics
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path
from safety_scenarios.scenario.blocks.agents import (
    ALL_CLEAR_SYMBOL,
    Argument,
    Effect,
    End,
    EVERY,
    Expect,
    Forbid,
    Pattern,
    Permit,
    Publish,
    Rule,
    Say,
)

FORMS = ('says', 'tool', 'signal', 'say', 'publish', 'set', 'expect', 'forbid', 'permit', 'fault',
         'end', NOTHING)
"""Words of the grammar, for suggestions."""
BLANK_TEXT = '(a blank text)'
"""Name of what means nothing in a rule that says nothing."""


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
        self._known: dict[str, Meaning | None] = {}
        self._tool_names = [tool.name for tool in file.tools]
        self._ids = [agent.id for agent in file.agents]
        self._bound = {name: self._own(name) for name in bindings.symbols}
        self._reading = Triggers(file, bindings, self._meaning, self._authored, self._words)

    def all(self) -> tuple[Rule, ...]:  # noqa: A003
        """Return every rule of the file; what is wrong with one is told."""
        found: list[Rule] = []
        is_split = False
        for index in range(len(self._file.rules)):
            parts = self._entry(index)
            is_split = is_split or len(parts) > 1
            found += [part.model_copy(update={'entry': index}) if is_split else part
                      for part in parts]
        return tuple(found)

    def _entry(self, index: int) -> list[Rule]:
        """Return what one entry of the file demands: a rule for each thing joined by and."""
        texts, path = self._file.rules[index], ('rules', index)
        trigger: dict[str, object] = {}
        unbound = self._read((*path, 'trigger'), texts.trigger,
                             lambda: trigger.update(self._trigger_of(texts.trigger)))
        parts: list[ActionText] = []
        free = self._read((*path, 'action'), texts.action, lambda: parts.extend(
            [ActionText('symbol', normal(texts.action))] if normal(texts.action) in self._bound
            else parse_actions(texts.action, self._tool_names, self._ids)))
        if not parts:
            return [Rule(trigger_text=texts.trigger, action_text=texts.action,
                         unbound=(*unbound, *free))]
        return [self._part(index, part, trigger, unbound) for part in parts]

    def _part(self, index: int, part: ActionText, trigger: dict[str, object],
              unbound: tuple[str, ...]) -> Rule:
        texts, found = self._file.rules[index], dict(trigger)
        unbound += self._read(('rules', index, 'action'), texts.action,
                              lambda: found.update(self._meaning_of(part)))
        if unbound:
            found['trigger'] = None
        found['repeat'] = found.pop('by_trigger', None) or found.pop('by_action', None) or 1
        found.pop('by_action', None)
        rule = Rule(trigger_text=texts.trigger, action_text=part.text or texts.action)
        return rule.model_copy(update={**found, 'unbound': unbound})

    def _read(self, path: Path, text: str, read: Callable[[], object]) -> tuple[str, ...]:
        """Read something of a rule; tell what is wrong, and return what has no meaning."""
        try:
            read()
        except GrammarError as error:
            if not is_free_text(text):
                self._remarks.refuse(path, str(error), RULE_TEXT)
                return ()
            shown = ' '.join(text.split()) or BLANK_TEXT
            word = text.partition(':')[0].split() or ['']
            self._remarks.warn(path, f'got free text, which this program gives no meaning '
                               f'({error}). The rule is unbound and never passes.'
                               f'{did_you_mean(word[0].lower(), self._words())}', UNBOUND)
            return (shown,)
        except Contradiction as error:
            self._remarks.refuse(path, str(error), error.code)
        except Unbound as error:
            self._remarks.warn(path, str(error), UNBOUND)
            return (error.name,)
        return ()

    def _words(self) -> list[str]:
        """Return every word that has a meaning in a rule."""
        return sorted({*NAMES, *self._bound, *filter(None, self._authored), *FORMS})

    def _trigger_of(self, text: str) -> dict[str, object]:
        parsed = TriggerText('symbol', normal(text)) if normal(text) in self._bound \
            else parse_trigger(text, self._tool_names, self._ids)
        repeat = None
        if parsed.kind == 'symbol':
            meaning = self._meaning(parsed.name)
            repeat = meaning.repeat if meaning else None
        return {'trigger': self._reading.trigger(parsed),
                'by_trigger': EVERY if parsed.is_every else repeat}

    def _meaning_of(self, parsed: ActionText) -> dict[str, object]:
        if parsed.kind in ('expect', 'forbid'):
            return self._wanted(parsed)
        if parsed.kind in ('symbol', 'permit'):
            return self._by_symbol(parsed)
        return {'effects': (self._effect(parsed),)}

    def _by_symbol(self, parsed: ActionText) -> dict[str, object]:
        if parsed.kind == 'permit':
            return self._permitted(parsed)
        name = parsed.name
        meaning = self._meaning(name)
        kind = meaning.bare if meaning else ''
        if meaning is None or not kind:
            raise Unbound(name, no_meaning(name, 'expect, forbid or do'),
                          did_you_mean(name, self._words()))
        if kind == 'effects':
            if not meaning.effects:
                raise Unbound(name, f'got {show(name)} as an action, which somebody has to say, '
                              f'and the harness plays {len(self._cast.scripted)} agents and not '
                              f'one. Say in the bindings what to do')
            return {'by_action': meaning.repeat, 'effects': meaning.effects,
                    'is_all_clear': name == ALL_CLEAR_SYMBOL}
        return self._wanted(ActionText('expect' if kind == 'expect' else 'forbid', name))

    def _permitted(self, parsed: ActionText) -> dict[str, object]:
        """Return what may happen again."""
        patterns, meaning = self._deeds(parsed, 'forbid')
        for other in parsed.others:
            patterns += self._deeds(other, 'forbid')[0]
        return {'by_action': meaning.repeat, 'permit': Permit(any=patterns)}

    def _wanted(self, parsed: ActionText) -> dict[str, object]:
        """Return a demand or a ban."""
        kind: Literal['expect', 'forbid'] = 'expect' if parsed.kind == 'expect' else 'forbid'
        patterns, meaning = self._deeds(parsed, kind)
        for other in parsed.others:
            patterns += tuple(one for one in self._deeds(other, kind)[0] if one not in patterns)
        if parsed.others:  # what belongs to one of several is not that of all
            meaning = Meaning(budget=meaning.budget, repeat=meaning.repeat)
        told: dict[str, object] = {'by_action': meaning.repeat}
        is_told = bool(parsed.until) or parsed.for_ns is not None
        until = self._named(parsed.until)
        for_ns = parsed.for_ns if is_told else meaning.for_ns
        if kind == 'forbid':
            return {**told, 'forbid': Forbid(any=patterns, for_ns=for_ns, until=until,
                                             contrary=meaning.contrary)}
        unless, has_state = self._named(parsed.unless), any(one.is_state for one in patterns)
        if (is_told or for_ns is not None) and not meaning.contrary and not has_state:
            raise Contradiction(f'got {show(parsed.name)} for a time, which is an event: it '
                                f'happens and is over, expected a state, which a signal tells, '
                                f'or a saying with contrary. Leave the time out')
        if parsed.times > 1 and has_state:
            raise Contradiction(f'got {show(parsed.name)} at least {parsed.times} times, which '
                                f'is a state: it is kept and not counted. Say for how long')
        if has_state:
            until += unless
        return {**told, 'expect': Expect(
            any=patterns, budget=shortened(meaning.budget, parsed.within_ns), for_ns=for_ns,
            until=until if is_told or unless else meaning.until, contrary=meaning.contrary,
            times=parsed.times, unless=unless)}

    def _named(self, symbol: str) -> tuple[Pattern, ...]:
        return self._reading.when(TriggerText('symbol', symbol)) if symbol else ()

    def _deeds(self, parsed: ActionText,
               kind: Literal['expect', 'forbid']) -> tuple[tuple[Pattern, ...], Meaning]:
        """Return the events of one deed, and what else its symbol says of it."""
        name, meaning = parsed.name, Meaning()
        if parsed.what == 'symbol' and (name != NOTHING or name in self._bound):
            found = self._meaning(name)
            if found is None:
                raise Unbound(name, no_meaning(name, 'expect, forbid or do'),
                              did_you_mean(name, self._words()))
            meaning = found
            patterns = meaning.expect if kind == 'expect' else meaning.forbid
            if name not in self._bound and name in MOTIONS and self._topics.has_robot:
                raise Unbound(name, f'got {show(name)} with bindings to a robot: what it says '
                              f'does not show what it does. Define it by a signal')
            if not patterns:
                raise Unbound(name, f'got {show(name)} behind {parsed.kind}:, which is not seen '
                              f'by the words of the controller under test. Say in the bindings '
                              f'by what')
        else:
            patterns = self._done(parsed)
        return (self._by(parsed.agent, name, patterns) if parsed.agent else patterns), meaning

    def _done(self, parsed: ActionText) -> tuple[Pattern, ...]:
        """Return what the controller under test does: a call, certain words, or anything."""
        if not self._cast.sut and not parsed.agent:
            raise Unbound(parsed.name, f'got {show(parsed.name)} with no agent that is the '
                          f'controller under test. Name one by sut in the bindings')
        own = tuple(filter(None, [self._cast.sut]))
        if parsed.what == 'tool':
            return (self._reading.call(parsed.name, parsed.args, own),)
        if parsed.what == 'says':
            return (Pattern(kind='say', agents=own, any_word=(parsed.name,)),)
        return (Pattern(kind='say', agents=own),
                *(Pattern(kind='tool_call', agents=own, name=tool.name)
                  for tool in self._file.tools))

    def _by(self, name: str, what: str, patterns: Sequence[Pattern]) -> tuple[Pattern, ...]:
        """Return what another agent is to do; only one that speaks for itself can be asked."""
        agent = self._reading.agent(name)
        if agent not in self._cast.live:
            raise Contradiction(f'got {what} from {show(agent)}, for whom the harness speaks: it '
                                f'would prove nothing, expected one of: '
                                f'{", ".join(self._cast.live) or "nobody"}')
        found = tuple(pattern.model_copy(update={'agents': (agent,)}) for pattern in patterns
                      if pattern.kind in ('say', 'tool_call'))
        if not found:
            raise Contradiction(f'got {what} from {show(agent)}, which is told by a signal and '
                                f'not by an agent. Leave from out')
        return found

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
            blocks = self._bindings.faults if parsed.kind == 'fault' else self._bindings.sets
            raise Unbound(f'{parsed.kind}:{name}',
                          not_there(f'{parsed.kind}: {name}', name in blocks))
        return Publish(stimulus=found, symbol=name)

    def _publish(self, key: str, symbol: str) -> Publish:
        if self._topics.is_observed(key):
            raise Contradiction(f'got the topic {show(key)}, which the harness only observes, '
                                f'expected one with use: stimulus', FOREIGN_TOPIC)
        if key not in self._topics.published:
            raise Unbound(f'publish:{key}', not_there(f'the topic {show(key)}',
                                                      key in self._bindings.topics))
        return Publish(stimulus=self._topics.published[key], symbol=symbol)

    def _say(self, text: str, agent: str | None, symbol: str | None) -> Say:
        speaker = agent or self._cast.speaker
        if speaker is None:
            raise Unbound('say:', f'got something to say and {len(self._cast.scripted)} agents '
                          f'for whom the harness speaks. Name one in the bindings')
        if speaker not in self._cast.scripted:
            raise Contradiction(f'got {show(speaker)}, for whom the harness does not speak, '
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
        when, expect, forbid = (
            tuple(one.model_copy(update={'means': block.means or ''}) if one.is_in_words else one
                  for one in self._patterns((*path, place), getattr(block, place) or (),
                                            is_demand=place != 'when'))
            for place in ('when', 'expect', 'forbid'))
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
        except (Contradiction, Unbound) as error:
            code = error.code if isinstance(error, Contradiction) else ''
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
                              no_word=block.no_word, as_question=block.as_question,
                              name=block.name, op=block.op, value=block.value,
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
