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

"""All of an ARE file but its events: version, definition, annotation, apps, logs."""

from collections.abc import Iterator, Mapping
import json
from typing import Any

from safety_scenarios.errors import did_you_mean
from safety_scenarios.formats.document.fields import as_number, Fields
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
    """Return when the scenario starts (epoch); checks its other numbers too."""
    for name in ('seed', 'run_number', 'time_increment_in_seconds', 'duration'):
        number = as_number(block.get(name))
        is_whole = name == 'duration' or (number is not None and number.is_integer())
        if block.get(name) is not None and (number is None or not is_whole):
            fields.deviates((*path, name), f'got {show(block[name])}, expected a '
                            f'{"" if name == "duration" else "whole "}number; ARE refuses it. '
                            f'Correct it')
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


def hints(fields: Fields, path: Path, block: Mapping[str, Any]) -> None:
    """Check the hints, which go to the metadata as they are."""
    if 'hints' in block and block['hints'] is None:
        fields.deviates((*path, 'hints'), 'got nothing, expected a list; ARE refuses it. '
                                          'Remove the key')
    for place, hint in fields.mappings(block, path, 'hints'):
        kind = hint.get('hint_type')
        if kind not in _HINT_TYPES:
            fields.deviates((*place, 'hint_type'), f'got {show(kind)}, expected one of '
                            f'{", ".join(_HINT_TYPES)}; ARE refuses it. Correct it')
        for key in ('content', 'associated_event_id'):
            if not isinstance(hint.get(key), str):
                fields.deviates((*place, key), f'got {show(hint.get(key))}, expected text; ARE '
                                               f'refuses it. Fill it in')


def annotation(fields: Fields, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what people said about the scenario."""
    place: Path = ('metadata', 'annotation')
    found = fields.mapping(metadata, ('metadata',), 'annotation')
    decision = found.get('validation_decision')
    if decision not in (None, '', *_DECISIONS):
        fields.deviates((*place, 'validation_decision'), f'got {show(decision)}, expected one of '
                        f'{", ".join(_DECISIONS)}; ARE ignores it.{_capital(decision, _DECISIONS)}'
                        .rstrip())
    if 'date' in found and as_number(found['date']) is None:
        fields.deviates((*place, 'date'), f'got {show(found["date"])}, expected epoch seconds; '
                                          f'ARE refuses it. Correct it')
    return found


def apps(fields: Fields, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the apps that events may use."""
    names = []
    for place, app in fields.mappings(data, (), 'apps'):
        name, class_name = app.get('name'), app.get('class_name')
        if not isinstance(name, str):
            fields.deviates((*place, 'name'), f'got {show(name)}, expected text; ARE refuses it. '
                                              f'Fill it in')
            continue
        names.append(name)
        if isinstance(class_name, str) and '.' in class_name:
            fields.deviates((*place, 'class_name'), f'got {show(class_name)}, as documented; ARE '
                            f'itself leaves the app out. '
                            f'Write {show(class_name.rpartition(".")[2])}')
        elif class_name is not None and not isinstance(class_name, str):
            fields.deviates((*place, 'class_name'), f'got {show(class_name)}, expected text; ARE '
                                                    f'refuses it. Correct it')
        if not isinstance(app.get('app_state'), (Mapping, type(None))):
            fields.deviates((*place, 'app_state'), f'got {show(app["app_state"])}, expected a '
                                                   f'mapping; ARE refuses it. Correct it')
    return tuple(names)


def recordings(fields: Fields, data: Mapping[str, Any], completed: int) -> dict[str, int]:
    """
    Return how many completed events and log lines there are; they are no part of a scenario.

    :param completed: completed events that could be read
    """
    logs = fields.sequence(data, (), 'world_logs')
    for index, line in enumerate(logs):
        _world_log(fields, ('world_logs', index), line)
    if completed:
        fields.unmapped(('completed_events',), f'got {completed} entries of a recording, which is '
                        f'no part of the scenario; not run. safety-scenarios evaluate FILE '
                        f'judges it')
    if logs:
        fields.unmapped(('world_logs',), f'got {len(logs)} entries of a log, which is no part of '
                                         f'the scenario; not used')
    return {'completed_events': completed, 'world_logs': len(logs)}


def _world_log(fields: Fields, place: Path, line: Any) -> None:
    if not isinstance(line, str):
        fields.deviates(place, f'got {show(line)}, expected JSON in a text; ARE refuses it. '
                               f'Put it in quotes')
        return
    try:
        log = json.loads(line)
    except (ValueError, RecursionError):
        log = None
    if not isinstance(log, dict) or not isinstance(log.get('log_type'), str):
        fields.deviates(place, 'got a text that is no JSON object with a log_type; ARE refuses '
                               'it. Correct it')


def _capital(got: Any, known: tuple[str, ...]) -> str:
    by_lower = {name.lower(): name for name in known}
    text = got.lower() if isinstance(got, str) else ''
    return f' Write {by_lower[text]!r}' if text in by_lower \
        else did_you_mean(got, known) if isinstance(got, str) else ''
