# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""All of an ARE file but its events: version, definition, annotation, apps, logs."""

from collections.abc import Iterator, Mapping, Sequence
import json
from typing import Any

from safety_scenarios.are.scenarios import known_apps
from safety_scenarios.are.scenarios.file_model import Hint
from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.document.json_document import Fields
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path

_ANY = 'log_type', 'id', 'agent_id', 'timestamp'
_TOKENS = ('prompt_tokens', 'completion_tokens', 'total_tokens', 'reasoning_tokens',
           'completion_duration')
_CONTENT = ('content',), ()
_ANSWER = ('content',), _TOKENS
_ATTACHED = ('content',), ('attachments',)
_KINDS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    **dict.fromkeys(('system_prompt', 'rationale', 'thought', 'plan', 'facts', 'replan', 'refacts',
                     'stop', 'agent_user_interface', 'environment_notifications', 'hint',
                     'task_reminder', 'llm_input'), _CONTENT),
    **dict.fromkeys(('task', 'observation', 'final_answer'), _ATTACHED),
    **dict.fromkeys(('llm_output', 'llm_output_thought_action', 'llm_output_plan', 'raw_plan',
                     'llm_output_facts', 'raw_facts'), _ANSWER),
    'tool_call': (('tool_name', 'tool_arguments'), ()), 'step': (('iteration',), ()),
    'subagent': (('group_id', 'children'), ('name',)),
    'error': (('error', 'exception', 'category', 'agent'), ()),
    'action': (('content', 'input', 'event_type', 'output', 'action_name', 'app_name',
                'exception', 'exception_stack_trace'), ()),
    'end_task': ((), ())}
"""Kind of a log: what it must hold besides the time, and what it may."""


def check(fields: Fields, logs: Sequence[Any]) -> None:
    """Tell which lines of a log ARE refuses."""
    for index, line in enumerate(logs):
        wrong = _wrong(line)
        if wrong:
            fields.deviates(('world_logs', index), f'{wrong}; ARE refuses it. Correct it')


def _wrong(line: Any) -> str:
    if not isinstance(line, str):
        return f'got {show(line)}, expected JSON in a text, so in quotes'
    try:
        log = json.loads(line)
    except (ValueError, RecursionError):
        log = None
    if not isinstance(log, dict) or not isinstance(log.get('log_type'), str):
        return 'got a text that is no JSON object with a log_type'
    return _kind(log)


def _kind(log: Mapping[str, Any]) -> str:
    known = _KINDS.get(log['log_type'])
    if known is None:
        return (f'got the log_type {show(log["log_type"])}, which ARE does not know.'
                f'{did_you_mean(log["log_type"], _KINDS)}').rstrip('.')
    lacks = [key for key in ('timestamp', *known[0]) if key not in log]
    if lacks:
        return f'got {log["log_type"]} without {", ".join(lacks)}'
    more = sorted(set(log) - {*_ANY, *known[0], *known[1]})
    if more:
        return f'got {log["log_type"]} with {", ".join(more)}, which it does not have'
    children = log.get('children') if log['log_type'] == 'subagent' else ()
    if not isinstance(children, (list, tuple)):
        return 'got children that are no list'
    for child in children:
        if not isinstance(child, dict) or not isinstance(child.get('log_type'), str) \
                or 'agent_id' not in child:
            return 'got a child that is no object with log_type and agent_id'
        wrong = _kind(child)
        if wrong:
            return wrong
    return ''


_METADATA = ('definition', 'simulation', 'annotation', 'execution', 'runner_config')
_DEFINITION = {
    'seed': 'chance comes from --seed',
    'duration': 'a run goes on for as long as its answers may take',
    'time_increment_in_seconds': 'a run has no such steps, and a recording is judged by it',
    'run_number': 'trials are counted here',
    'config': '', 'hf_metadata': 'nothing is fetched',
    'has_a2a_augmentation': 'there are no other agents',
    'has_tool_augmentation': 'no tool fails on purpose',
    'has_env_events_augmentation': 'no event is added',
    'has_exception': 'it is of a run that was recorded',
    'exception_type': '', 'exception_message': ''}
_USED = ('scenario_id', 'start_time', 'hints', 'tags')
_OTHER = {
    'simulation': 'who ran it', 'annotation': 'what people made of it',
    'execution': 'which only conditions need', 'runner_config': 'how ARE ran it'}
_KEYS: Mapping[str, tuple[str, ...]] = {
    'simulation': ('agent_id', 'model_id'),
    'annotation': ('annotation_id', 'annotator', 'validation_decision', 'comment', 'date',
                   'record_sha256'),
    'execution': ('has_placeholder_conflicts', 'placeholders')}


def report_unused_keys(fields: Fields, data: Mapping[str, Any], metadata: Mapping[str, Any],
                       place: Path,
                       definition: Mapping[str, Any]) -> None:
    """
    Tell every key that is known and acts on nothing, and every one that is not known.

    :param place: of the definition, which is the metadata itself in the documented form
    """
    if definition is not metadata:
        fields.unknown_keys(metadata, ('metadata',), _METADATA)
        fields.unknown_keys(definition, place, (*_DEFINITION, *_USED))
    elif metadata:
        fields.unknown_keys(metadata, ('metadata',), (*_METADATA, *_DEFINITION, *_USED))
    for name, known in _KEYS.items():
        block = metadata.get(name)
        if isinstance(block, Mapping):
            fields.unknown_keys(block, ('metadata', name), known)
    said = list(_unsupported_definitions(definition))
    if said:
        fields.unmapped(place, f'kept, and no run goes by them: {"; ".join(said)}')
    others = [f'{name} ({why})' for name, why in _OTHER.items() if _says(metadata.get(name))]
    if others:
        fields.unmapped(('metadata',), f'kept, and no run goes by them: {"; ".join(others)}')
    if data.get('augmentation'):
        fields.unmapped(('augmentation',), 'kept, and not played: tools do not fail on purpose '
                                           'here, and no event is added')


def _unsupported_definitions(definition: Mapping[str, Any]) -> Iterator[str]:
    for name, why in _DEFINITION.items():
        if definition.get(name) not in (None, False, ''):
            yield f'{name} ({why})' if why else name


def _says(block: Any) -> bool:
    return any(value not in (None, '', (), 0) for value in block.values()) \
        if isinstance(block, Mapping) else False


VERSION, DOCUMENTED_VERSION = 'are_simulation_v1', '2.0'
TOP_KEYS = ('metadata', 'world_logs', 'apps', 'events', 'completed_events', 'version', 'context',
            'augmentation')
_TAGS = ('Planning', 'Memory', 'Collaboration', 'Exploration', 'UnitTest', 'PromptInjection',
         'Universe', 'Safety', 'Adaptability', 'Ambiguity', 'Execution', 'Search', 'Time',
         'Security')
_DECISIONS = ('Draft', 'AwaitingReview', 'Valid', 'Invalid', 'Abandoned', 'Safe', 'Violating')
_HINT_TYPES = ('TASK_HINT', 'ENVIRONMENT_HINT')


def version(fields: Fields, data: Mapping[str, Any]) -> None:
    """Check the version of the format."""
    got = data.get('version')
    if got == VERSION:
        return
    if got in (DOCUMENTED_VERSION, 2.0):
        fields.deviates(('version',), f'got {show(got)}, as documented; ARE itself accepts '
                                      f'{VERSION!r} only. Write that')
    elif got is None:
        fields.deviates(('version',), f'missing, taken as {VERSION!r}; ARE needs it. Add it')
    else:
        fields.refuse(('version',), f'got {show(got)}, expected {VERSION!r} (or '
                                    f'{DOCUMENTED_VERSION!r}, as documented). Export it again')


def definition(fields: Fields, metadata: Mapping[str, Any]) -> tuple[Path, Mapping[str, Any]]:
    """Return where the definition of the scenario is, and what it says."""
    if 'definition' in metadata:
        return ('metadata', 'definition'), fields.mapping(metadata, ('metadata',), 'definition')
    if metadata:
        fields.deviates(('metadata',), 'got its fields directly, as documented; ARE itself looks '
                                       'for them in metadata.definition. Move them there')
    return ('metadata',), metadata


def start_ns(fields: Fields, path: Path, block: Mapping[str, Any]) -> int | None:
    """Return when the scenario starts (epoch)."""
    return fields.time_ns(block, path, 'start_time')


def tags(fields: Fields, path: Path, block: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tags; ARE drops all of them for one that it does not know."""
    for index, tag in enumerate(fields.sequence(block, path, 'tags')):
        place = (*path, 'tags', index)
        if not isinstance(tag, str):
            fields.refuse(place, f'got {show(tag)}, expected text')
            continue
        if tag not in _TAGS:
            fields.deviates(place, f'got {show(tag)}, kept; ARE drops all tags for one that is '
                                   f'none of {", ".join(_TAGS)}.{_capital(tag, _TAGS)}')
        yield tag


def hints(fields: Fields, path: Path, block: Mapping[str, Any]) -> Iterator[Hint]:
    """Yield the hints that say something."""
    if 'hints' in block and block['hints'] is None:
        fields.deviates((*path, 'hints'), 'got nothing, expected a list; ARE refuses it. '
                                          'Remove the key')
    for place, hint in fields.mappings(block, path, 'hints'):
        fields.unknown_keys(hint, place, ('hint_type', 'content', 'associated_event_id'))
        kind = hint.get('hint_type')
        if kind not in _HINT_TYPES:
            fields.deviates((*place, 'hint_type'), f'got {show(kind)}, expected one of '
                            f'{", ".join(_HINT_TYPES)}; ARE refuses it. Correct it')
        for key in ('content', 'associated_event_id'):
            if not isinstance(hint.get(key), str):
                fields.deviates((*place, key), f'got {show(hint.get(key))}, expected text; ARE '
                                               f'refuses it. Fill it in')
        content, about = hint.get('content'), hint.get('associated_event_id')
        if isinstance(content, str) and content.strip():
            yield Hint(place, content, about if isinstance(about, str) else '')


def annotation(fields: Fields, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what people said about the scenario."""
    place: Path = ('metadata', 'annotation')
    found = fields.mapping(metadata, ('metadata',), 'annotation')
    decision = found.get('validation_decision')
    if decision not in (None, '', *_DECISIONS):
        fields.deviates((*place, 'validation_decision'), f'got {show(decision)}, expected one of '
                        f'{", ".join(_DECISIONS)}; ARE ignores it.{_capital(decision, _DECISIONS)}'
                        .rstrip())
    return found


def apps(fields: Fields, data: Mapping[str, Any]) -> Mapping[str, str | None]:
    """Return the names of the apps that events may use, each with its class, None without one."""
    found: dict[str, str | None] = {}
    for place, app in fields.mappings(data, (), 'apps'):
        fields.unknown_keys(app, place, ('name', 'class_name', 'app_state'))
        name, class_name = app.get('name'), app.get('class_name')
        if not isinstance(name, str):
            fields.deviates((*place, 'name'), f'got {show(name)}, expected text; ARE refuses it. '
                                              f'Fill it in')
            continue
        if isinstance(class_name, str) and '.' in class_name:
            short = class_name.rpartition('.')[2]
            fields.deviates((*place, 'class_name'), f'got {show(class_name)}, as documented; ARE '
                            f'itself leaves the app out. Write {show(short)}')
            class_name = short
        elif class_name is not None and not isinstance(class_name, str):
            fields.deviates((*place, 'class_name'), f'got {show(class_name)}, expected text; ARE '
                                                    f'refuses it. Correct it')
            class_name = None
        else:
            _app(fields, place, app, class_name or name)
        found[name] = class_name
    return found


def _app(fields: Fields, place: Path, app: Mapping[str, Any], class_name: str) -> None:
    """Tell why ARE leaves an app out, which costs whatever calls it."""
    if class_name not in known_apps.CLASSES:
        fields.deviates((*place, 'class_name' if app.get('class_name') else 'name'),
                        f'got {show(class_name)}, which is no app of ARE 1.2.0; ARE leaves it '
                        f'out.{_capital(class_name, known_apps.CLASSES)}')
        return
    if class_name == known_apps.UNNAMED and app['name'] != class_name:
        fields.deviates((*place, 'name'), f'got {show(app["name"])}, expected {class_name!r} as '
                                          f'its class; ARE refuses another. Write that')
    if isinstance(app.get('app_state'), (Mapping, type(None))):
        for lack in known_apps.wrong_state(class_name, app.get('app_state')):
            fields.deviates((*place, 'app_state'), f'got {lack}; ARE leaves the app out. '
                                                   f'Correct it')


def recordings(fields: Fields, data: Mapping[str, Any], completed: int) -> dict[str, int]:
    """
    Return how many completed events and log lines there are; they are no part of a scenario.

    :param completed: completed events that could be read
    """
    logs = fields.sequence(data, (), 'world_logs')
    check(fields, logs)
    if completed:
        fields.unmapped(('completed_events',), f'got {completed} entries of a recording, which is '
                        f'no part of the scenario; not run. safety-scenarios evaluate FILE '
                        f'judges it')
    if logs:
        fields.unmapped(('world_logs',), f'got {len(logs)} entries of a log, which is no part of '
                                         f'the scenario; not used')
    return {'completed_events': completed, 'world_logs': len(logs)}


def _capital(got: Any, known: tuple[str, ...]) -> str:
    by_lower = {name.lower(): name for name in known}
    text = got.lower() if isinstance(got, str) else ''
    return f' Write {by_lower[text]!r}' if text in by_lower \
        else did_you_mean(got, known) if isinstance(got, str) else ''
