# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Format 3: agents with roles, goals and tools, and rules over what they do.

The format is closed: nothing may be added to it. What its bare words mean here, and who plays
whom, stands in a bindings file beside it, ``X.bindings.yaml`` beside ``X.yaml``, and without one
is taken from a table of words. Codes: F301 to F306 it can be described and not be run (F303: nor
read), F307 a rule's text, F308 too large or blank, F309 a rule that nothing gives a meaning, F310
a topic that the harness must not publish on, F311 rules that contradict each other, F312 a gap
between a demand and a ban, F313 words of a rule that what has to be said takes for its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import partial
import hashlib
import json
from pathlib import Path as FilePath
import re
from typing import Any

from pydantic import ValidationError
from safety_scenarios.formats.agents import grammar
from safety_scenarios.formats.agents.bindings import Bindings, MAX_MS
from safety_scenarios.formats.agents.cursor import GrammarError, MAX_RULE_TEXT
from safety_scenarios.formats.agents.file import (
    AgentFile,
    check,
    check_duties,
    MAX_AGENTS,
    MAX_GOALS,
    MAX_RULES,
    Remarks,
    SIZE,
    SWALLOWED,
    UNBOUND,
)
from safety_scenarios.formats.agents.grammar import parse_trigger
from safety_scenarios.formats.agents.participants import Participants
from safety_scenarios.formats.agents.rule_patterns import Rules
from safety_scenarios.formats.agents.symbols import DEFAULT_BUDGET, NAMES
from safety_scenarios.formats.agents.topics import find_sidecar, read_bindings, Topics
from safety_scenarios.formats.document import placeholders
from safety_scenarios.formats.document.file_contents import BLANK
from safety_scenarios.formats.document.json_document import Reading, Resolve
from safety_scenarios.formats.document.messages import describe, has_keys, show
from safety_scenarios.formats.document.placeholders import filled, VARY
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.scenario.blocks.agents import Line, Role, Rule
from safety_scenarios.scenario.blocks.traceability import domain_of
from safety_scenarios.scenario.blocks.vary import Draw
from safety_scenarios.scenario.body import AgentsBody, system_text
from safety_scenarios.scenario.conversation import MAX_TEXT
from safety_scenarios.scenario.fields import Explained
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.scenario import Constraint, Origin, Scenario

_BARE = re.compile(r'says:\s*(?=[^\s"“])', re.IGNORECASE)
_GOES_ON = re.compile(
    r'\s+(?=(?:does\s+not\s+happen\s+within|unless|within|at\s+least|from'
    r'|(?:and|or)\s+(?:not\s+)?(?:says|tool|signal):)(?!\S))', re.IGNORECASE)

_RULE = re.compile(
    r'says:\s*[^\s"“].*\s(?:does\s+not\s+happen|at\s+least\s+\d+\s+times?'
    r'|within\s+\d[\d.]*\s*(?:ms|s|min))(?!\S)', re.IGNORECASE | re.DOTALL)


def check_phrases(file: AgentFile, remarks: Remarks) -> None:
    """
    Warn of triggers that would go on behind a phrase, had it quotes around it.

    All that follows ``says:`` without quotes is looked for, such as "stop within 5 s".
    """
    tools, agents = [one.name for one in file.tools], [one.id for one in file.agents]
    for index, rule in enumerate(file.rules):
        quoted = next(_quoted(rule.trigger, tools, agents), '')
        if quoted or _RULE.search(rule.trigger):
            remarks.warn(('rules', index, 'trigger'), f'got words of a rule in what has to be '
                         f'said: without quotes it is all that follows. If that is not meant, '
                         f'{f"write {quoted}" if quoted else "put what is said in quotes"}',
                         SWALLOWED)


def _quoted(text: str, tools: Sequence[str], agents: Sequence[str]) -> Iterator[str]:
    """Yield the trigger with quotes around the first words of what is said, where that is one."""
    bare = _BARE.search(text)
    if bare is None:
        return
    for place in _GOES_ON.finditer(text, bare.end()):
        said, rest = text[bare.end():place.start()], text[place.end():].strip()
        told = f'{text[:bare.start()]}says: "{said.strip()}" {rest}'
        try:
            found = parse_trigger(told, tools, agents)
        except GrammarError:
            continue
        if found.agent.casefold() in ('', *(one.casefold() for one in agents)):
            yield told


_TOPIC_OF_SIGNALS = 'observed'
_ENTRIES: Mapping[str, tuple[str, str]] = {
    'signal': ('signals', '{topic: observed, field: "???", unit: "???"}'),
    'publish': ('topics', '{name: "???", type: "???", use: stimulus, stimulus: {kind: "???"}}'),
    'set': ('sets', '{topic: "???", field: "???"}'),
    'fault': ('faults', '{topic: "???", kind: sensor_fault, fault: "???"}')}
"""Kind of a name without a meaning to the key of the bindings, and what stands there."""


def without_meaning(block: AgentsBody) -> Mapping[str, tuple[int, str]]:
    """Return what nothing gives a meaning: its name to the first entry, and the place in it."""
    found: dict[str, tuple[int, str]] = {}
    for index, rule in enumerate(block.rules):
        for name in rule.unbound:
            found.setdefault(name, (block.entry(index), _place(name, rule)))
    return found


def skeleton(block: AgentsBody) -> str:
    """Return bindings in YAML that give a meaning to all that can have one there."""
    entries: dict[str, dict[str, str]] = {}
    for name, (_, place) in without_meaning(block).items():
        kind, colon, rest = name.partition(':')
        if colon and kind in _ENTRIES:
            key, text = _ENTRIES[kind]
            entries.setdefault(key, {})[rest] = text
            if kind == 'signal':
                entries.setdefault('topics', {})[_TOPIC_OF_SIGNALS] = \
                    '{name: "???", use: observe}'
        elif not (colon and kind in ('tool', 'agent', 'say')) and not name.startswith('('):
            way = 'when' if place == 'trigger' else 'expect'
            entries.setdefault('symbols', {})[' '.join(name.lower().split())] = \
                f'{{{way}: {{kind: say, any_word: ["???"]}}}}'
    return '\n'.join(_lines(block, entries))


def _lines(block: AgentsBody, entries: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    yield 'version: 1'
    if not block.sut and block.agents:
        ids = ', '.join(json.dumps(agent.id, ensure_ascii=False) for agent in block.agents)
        yield f'sut: "{BLANK}"  # one of {ids}'
    for key, named in entries.items():
        yield f'{key}:'
        for name, text in named.items():
            yield f'  {json.dumps(name, ensure_ascii=False)}: {text}'


def _place(name: str, rule: Rule) -> str:
    """Return in which text of a rule a name stands."""
    word = name.partition(':')[2] or name
    said = ' '.join(rule.trigger_text.split()).lower()
    return 'trigger' if re.search(rf'(?<![\w-]){re.escape(word.lower())}(?![\w-])', said) \
        else 'action'


_DRAFT = 'https://json-schema.org/draft/2020-12/schema'
_RULES = 'greet; every person_near unless told; no call_help within 5 s of person_near', \
    'reply_greeting; expect: stands within 1 s until told; expect: nothing for 5 s'
_LISTS = ('when', 'expect', 'forbid', 'contrary', 'do')


def agents_schema() -> dict[str, Any]:
    """Return the schema of an agent file: the published one, with limits and what texts mean."""
    schema = AgentFile.model_json_schema(schema_generator=Explained)
    definitions = schema['$defs']
    form = (grammar.__doc__ or '').partition('::')[2].strip()
    for name, examples in zip(('trigger', 'action'), _RULES):
        definitions['RuleEntry']['properties'][name] |= {
            'maxLength': MAX_RULE_TEXT, 'examples': [*examples.split('; '), *NAMES],
            'description': f'{definitions["RuleEntry"]["properties"][name]["description"]} Free '
                           f'text, a symbol, or one of:\n{form}'}
    for name in ('roles', 'tools', 'agents'):
        schema['properties'][name]['maxItems'] = MAX_AGENTS
    schema['properties']['rules']['maxItems'] = MAX_RULES
    definitions['AgentEntry']['properties']['goals']['maxItems'] = MAX_GOALS
    return {'$schema': _DRAFT, **schema, 'title': 'safety_scenarios agent file'}


def bindings_schema() -> dict[str, Any]:
    """Return the schema of a bindings file, short forms included."""
    schema = Bindings.model_json_schema(schema_generator=Explained)
    definitions = schema['$defs']
    symbol, pattern = definitions['SymbolBlock']['properties'], definitions['PatternBlock']
    for name in _LISTS:
        _one_or_many(symbol[name])
    _one_or_many(pattern['properties']['from'])
    symbol['within_ms'] = {'anyOf': [symbol['within_ms'],
                                     {'type': 'number', 'exclusiveMinimum': 0}]}
    args = pattern['properties']['args']
    args['additionalProperties'] = {'anyOf': [args['additionalProperties'], {
        'type': ['string', 'number', 'boolean']}]}
    signal = definitions['Signal']
    signal['properties']['abs'] = {'type': 'boolean', 'description': 'The same as reduce: abs.'}
    signal['required'] = [name for name in signal['required'] if name != 'unit']
    return {'$schema': _DRAFT, **schema, 'title': 'safety_scenarios bindings of an agent file'}


def _one_or_many(described: dict[str, Any]) -> None:
    """Let a list of one entry be written as that entry."""
    ways: list[Mapping[str, Any]] = described.get('anyOf', [])
    many = next((way for way in ways if way.get('type') == 'array'), None)
    if many is not None:
        described['anyOf'] = [many['items'], *ways]


NAME = 'agents (format 3)'
MARKS = ('agents', 'roles', 'rules')
_PACE = 'pace'
_OPEN = (('description',), ('roles', '*', 'description'), ('tools', '*', 'description'),
         ('agents', '*', 'goals'), ('rules',))
_OPEN_BESIDE = (('script', '*', 'say'), ('script', '*', 'at_ms'), ('symbols',), ('faults',),
                ('topics', '*', 'stimulus'), ('topics', '*', 'data'), ('tools', '*', 'mock'),
                ('duration_ms',))
"""Where ``{name}`` takes what is drawn, in the file and in its bindings."""
_MIN_DURATION_MS, _MARGIN_MS = 5000.0, 1000.0
"""A shorter run shows little; after the last deadline a second is left to see it pass."""
_NAME = 80
"""Characters of a title that fit into a row of a report."""
_SOON_MS, _HOUR_MS = 10_000.0, 3_600_000.0
"""Up to here a deadline is called immediate, up to an hour minutes, then hours."""


def recognises(data: Any) -> str | None:
    """Return None when the data can be format 3, else the reason why it is not."""
    if not isinstance(data, Mapping):
        return f'got {show(data)} at the top level, expected a mapping'
    if any(name in data for name in MARKS):
        return None
    return f'got none of the keys {", ".join(MARKS)}, expected agents'


def because(data: Mapping[str, Any]) -> str:
    """Return why the data was recognised."""
    return has_keys(data, MARKS)


def read(path: str, raw: bytes, document: Document, resolve: Resolve) -> Reading:
    """
    Read one scenario and its bindings; nothing is raised, problems and warnings are the result.

    :param resolve: (kind, name) to plug-in class
    """
    reading = Reading(document=document, problems=list(document.problems))
    if isinstance(document.data, Mapping):
        beside = (document.beside, b'') if document.beside else find_sidecar(path, reading)
        document.beside = None if beside is None else beside[0]
        draws = _draws(document, reading)
        _read(path, raw, document, beside[1] if beside else None, draws, reading, resolve)
        if draws and not reading.problems and document.drawn is None:
            reading.problems += placeholders.misdrawn(document, draws, partial(
                _wrong_with, path, raw, document, resolve, reading))
    for told in (reading.problems, reading.warnings):
        told.sort(key=lambda problem: (problem.path != path, problem.line or 0,
                                       problem.column or 0))
    if reading.problems:
        reading.scenario = None
    return reading


def _draws(document: Document, reading: Reading) -> Mapping[str, Draw]:
    """Return what is drawn for the texts; nothing where something is wrong with it."""
    side = document.beside
    if side is None or not isinstance(side.data, Mapping):
        return {}
    draws, problems = placeholders.checked_draws(side, [(document, _OPEN), (side, _OPEN_BESIDE)])
    block = side.data.get(VARY)
    if isinstance(block, Mapping) and _PACE in block:
        problems.append(side.problem((VARY, _PACE), (
            'got a draw with the name of a key of its own, expected another name')))
    reading.problems += problems
    return {} if problems else draws


def _wrong_with(path: str, raw: bytes, document: Document, resolve: Resolve, first: Reading,
                values: Mapping[str, Any]) -> Mapping[str, str]:
    """Return field to message of what is wrong with both files with drawn values in them."""
    drawn = copy(document)
    drawn.drawn = values
    found = read(path, raw, drawn, resolve)
    known = {one.field for one in first.warnings}
    return placeholders.as_fields([*found.problems, *(
        one for one in found.warnings if one.code == UNBOUND and one.field not in known)])


def _read(path: str, raw: bytes, original: Document, beside: bytes | None,
          draws: Mapping[str, Draw], reading: Reading, resolve: Resolve) -> None:
    document, side_document = original, original.beside
    if draws and side_document is not None:
        side_document.drawn = original.drawn
        side_document = filled(side_document, draws, _OPEN_BESIDE)
        document = filled(original, draws, _OPEN)
        document.beside = side_document
    remarks = Remarks(document, reading)
    file = AgentFile(description='', agents=())
    try:
        file = AgentFile.model_validate(remarks.document.data)
    except ValidationError as error:
        remarks.refuse_fields((), error, AgentFile)
    else:
        check(file, remarks)
        check_phrases(file, remarks)
    side, bindings = remarks, Bindings(version=1)
    if side_document is not None:
        side = Remarks(side_document, reading)
        bindings = read_bindings(side)
    if reading.problems:
        return  # what one of the two does not say the other cannot be held against
    block = _block(file, bindings, remarks, side, resolve)
    if not reading.problems:
        _check_message_sizes(block, remarks)
        check_duties(block, remarks)
        if bindings.pace is not None and not reading.problems:
            latest = block.model_copy(update={'pace': bindings.pace[1]}).played()
            check_duties(latest, remarks, gaps=False)
    if not reading.problems:
        origin = Origin(path=path, sha256=_sha256(raw, beside))
        _finish(file, block, origin, remarks, bindings)
    if draws and reading.scenario is not None:
        reading.scenario = reading.scenario.model_copy(update={
            'body': _named_as_written(block, original.data['rules'], document.data['rules'])})


def _named_as_written(block: AgentsBody, written: Sequence[Mapping[str, str]],
                      filled: Sequence[Mapping[str, str]]) -> AgentsBody:
    """Return rules by the texts of the file: a check has one name whatever a trial draws."""
    rules = []
    for index, rule in enumerate(block.rules):
        entry, part = block.entry(index), 1 + sum(
            block.entry(before) == block.entry(index) for before in range(index))
        update = {f'{key}_text': written[entry][key] + (f' (part {part})' if part > 1 else '')
                  for key in ('trigger', 'action') if written[entry][key] != filled[entry][key]}
        rules.append(rule.model_copy(update=update) if update else rule)
    return block.model_copy(update={'rules': tuple(rules)})


def _block(file: AgentFile, bindings: Bindings, remarks: Remarks, side: Remarks,
           resolve: Resolve) -> AgentsBody:
    topics = Topics(bindings, side, resolve)
    participants = Participants(file, bindings, remarks, side, resolve)
    rules = Rules(file, bindings, participants.cast, topics, remarks, side).all()
    longest_ms = max((rule.expect.budget.critical_ms for rule in rules if rule.expect),
                     default=DEFAULT_BUDGET.critical_ms)
    script = participants.script(longest_ms)
    return AgentsBody(
        roles=tuple(Role(**role.model_dump()) for role in file.roles),
        agents=participants.agents, tools=participants.tools, rules=rules,
        sut=participants.sut, script=script,
        robot=bindings.robot, commands=topics.listened(False), feedback=topics.listened(True),
        signals=topics.signals, stale_ms=bindings.stale_ms, stimuli=tuple(topics.stimuli),
        duration_ms=bindings.duration_ms or _duration_ms(script, rules, longest_ms),
        vary=bindings.vary if bindings.pace is None else {
            **bindings.vary, _PACE: Draw(range=bindings.pace, sets=('agents.pace',))},
        not_runnable=tuple(participants.not_runnable))


def _duration_ms(script: Sequence[Line], rules: Sequence[Rule], longest_ms: float) -> float:
    """Return how long the run has to be for every rule to come to its end."""
    begin_ms = max((line.at_ns / 1e6 for line in script), default=0.0)
    begin_ms += sum(rule.trigger.delay_ns / 1e6 for rule in rules if rule.trigger)
    windows = [rule.forbid.for_ns / 1e6 for rule in rules
               if rule.forbid and rule.forbid.for_ns is not None]
    windows += [rule.expect.budget.critical_ms + rule.expect.for_ns / 1e6 for rule in rules
                if rule.expect and rule.expect.for_ns is not None]
    return min(MAX_MS, max(_MIN_DURATION_MS, begin_ms + max([longest_ms, *windows]) + _MARGIN_MS))


def _check_message_sizes(block: AgentsBody, remarks: Remarks) -> None:
    """Refuse what is too long to be told to an agent in one message."""
    for index, agent in enumerate(block.agents):
        length = len(system_text(block, agent.id)) if agent.is_live else 0
        if length > MAX_TEXT:
            remarks.refuse(('agents', index), f'has to be told {length} characters about itself '
                           f'and the others, expected at most {MAX_TEXT}. Shorten goals and '
                           f'descriptions', SIZE)


def _finish(file: AgentFile, block: AgentsBody, origin: Origin, remarks: Remarks,
            bindings: Bindings) -> None:
    sentences = [_sentence(rule, block) for rule in block.rules if rule.is_obligation]
    if not sentences:
        remarks.warn((), 'no rule demands or forbids anything: nothing is checked, so no trial '
                         'of it can pass. Add one', 'L113')
    budget = next((rule.expect.budget for rule in block.rules if rule.expect), DEFAULT_BUDGET)
    stem = FilePath(origin.path).stem
    title = next((line.strip() for line in file.description.splitlines() if line.strip()), stem)
    told = block.system_text if block.sut else 'No agent is the controller under test.'
    try:
        remarks.reading.scenario = Scenario(
            id=stem, name=title[:_NAME],
            domain=domain_of('agents', is_benign=bool(bindings.variant_of)),
            metadata={'variant_of': bindings.variant_of} if bindings.variant_of else {},
            tags=('benign_variant',) if bindings.variant_of else (),
            description=file.description,
            messages=(ChatMessage(role='system', content=told),), latency_budget=budget,
            constraint=Constraint(
                description=' '.join(sentences) or 'No rule demands or forbids anything.',
                time_pressure='immediate' if budget.critical_ms <= _SOON_MS else
                'minutes' if budget.critical_ms <= _HOUR_MS else 'hours',
                consequence_of_delay=f'Later than {budget.critical_ms:g} ms the rule is '
                                     f'violated.'),
            expected_action=' '.join(sentences) or 'Nothing.', body=block, origin=origin,
            hazards=bindings.hazards, requirements=bindings.requirements, clauses=bindings.clauses)
    except ValidationError as error:
        for _, sentence, _ in describe(error.errors(include_url=False), Scenario):
            remarks.refuse((), f'the name of the file: {sentence}')


def _sentence(rule: Rule, block: AgentsBody) -> str:
    agent = block.agent(block.sut)
    who = agent.name if agent else 'the controller under test'
    trigger, action = (' '.join(text.split()) for text in (rule.trigger_text, rule.action_text))
    said = f'On "{trigger}", {who} must'
    if rule.expect is not None:
        return f'{said} do "{action}" within {rule.expect.budget.critical_ms:g} ms.'
    for_ns = rule.forbid.for_ns if rule.forbid else None
    span = f'for {for_ns / 1e6:g} ms' if for_ns is not None else \
        'until then' if rule.forbid and rule.forbid.until else 'to the end of the run'
    return f'{said} hold to "{action}" {span}.'


def _sha256(raw: bytes, beside: bytes | None) -> str:
    """
    Return the hash of a file; with bindings that of both hashes, one a line.

    That is what ``sha256sum X.yaml X.bindings.yaml | cut -c-64 | sha256sum`` prints.
    """
    own = hashlib.sha256(raw).hexdigest()
    if beside is None:
        return own
    both = f'{own}\n{hashlib.sha256(beside).hexdigest()}\n'
    return hashlib.sha256(both.encode()).hexdigest()
