# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""All of an ARE file but its events: version, definition, annotation, apps, logs."""

from collections.abc import Iterator, Mapping
from typing import Any

from safety_scenarios.are.scenarios import known_apps, world_logs
from safety_scenarios.are.scenarios.nouns import Hint
from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.document.fields import Fields
from safety_scenarios.formats.document.messages import show
from safety_scenarios.formats.document.positions import Path

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
    world_logs.check(fields, logs)
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
