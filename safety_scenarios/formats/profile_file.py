# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Files of robot profiles: reading them, and their values below those that somebody has set."""

from collections.abc import Iterator, Mapping
import os
from pathlib import Path
import re
from typing import Any

from pydantic import ValidationError
from safety_scenarios import registry
from safety_scenarios.errors import did_you_mean, InputError, Problem, ScenarioError
from safety_scenarios.formats.document.file_contents import (
    blank_problems,
    raise_problems,
    read_mapping,
)
from safety_scenarios.formats.document.messages import describe, show
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.positions import Path as Place
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.formats.scenario_reading import any_plugin
from safety_scenarios.scenario.driver import DriverPlugin
from safety_scenarios.scenario.fields import Explained, flat
from safety_scenarios.scenario.profile import Profile
from safety_scenarios.scenario.settings import RunSettings

_SUFFIXES = ('.yaml', '.yml')
_PARAMETERS = 'ros__parameters'
_NAMED = re.compile(r'([a-z][^\s:]*): ')
"""The key at the beginning of a sentence about several keys."""
_ELSEWHERE = {
    'scenarios': 'Name scenarios on the command line', 'controller': 'Give --controller',
    'trials': 'Give --trials', 'footprint': 'Write it under world, or radius under robot',
    'publishes': 'Write it under hil', 'qos': 'Write it under topics.ROLE',
    'kind': 'Write it under robot', 'max_speed': 'Write it under robot',
    'joints': 'Write it under robot', 'radius': 'Write it under robot',
    'stopping': 'Write it under robot', 'name': 'Write it under robot'}
"""Keys that are no key of a profile, and where they belong."""


def profile_names() -> tuple[str, ...]:
    """Return the names of the profiles that come with the package."""
    return tuple(sorted(path.stem for path in _folder().glob('*.yaml')))


def profile_path(name: str) -> Path:
    """
    Return the file of a profile.

    :param name: its path, or the name of a shipped one
    :raises InputError: there is none
    """
    if name.lower().endswith(_SUFFIXES) or os.sep in name or os.path.isfile(name):
        return Path(name)
    path = _folder() / f'{name}.yaml'
    if path.is_file():
        return path
    known = profile_names()
    raise InputError(f'profile: got {name!r}, expected the path of a YAML file, or one of '
                     f'{", ".join(known)}.{did_you_mean(name, known)}')


def load_profile(name: str) -> Profile:
    """
    Read a profile.

    :param name: its path, or the name of a shipped one
    :raises ScenarioError: every problem of the file, each with line and column
    :raises InputError: there is no such profile
    """
    _, document = read_mapping(profile_path(name), 'robot, topics and driver')
    data = dict(document.data)
    raise_problems([*blank_problems(
        document, 'It was not seen when the profile was written: fill it in')])
    problems = [*_check_file_kind(data, document)]
    problems += [] if problems else _wrong_driver(data, document)
    if any(one.field == 'driver' or one.field.startswith('driver.') for one in problems):
        data.pop('driver')
    try:
        profile = Profile.model_validate(data)
    except ValidationError as error:
        raise ScenarioError([*problems, *(
            document.problem(*_with_advice(place, sentence, at_key), at_key)
            for place, sentence, at_key in describe(error.errors(include_url=False), Profile)
        )] if not any(one.field == '' for one in problems) else problems) from None
    if problems:
        raise ScenarioError(problems)
    return profile


def with_profile(values: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return values of settings on top of those of the profile that they name.

    :param values: what was set, nested as the model is; nothing that is only a default
    :raises InputError: the profile cannot be read
    """
    name = values.get('profile')
    if not isinstance(name, str) or not name:
        return dict(values)
    world = values.get('world')
    own = {**values, 'world': {'kind': world}} if isinstance(world, str) else values
    return merged(load_profile(name).model_dump(exclude_unset=True), own)


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested values in which those of the second mapping count."""
    found = dict(below)
    for name, value in above.items():
        inner = found.get(name)
        found[name] = merged(inner, value) if isinstance(inner, Mapping) \
            and isinstance(value, Mapping) else value
    return found


def sources_of(settings: RunSettings) -> dict[str, Any]:
    """Return dotted name to value and source of each value that is not the default."""
    default = dict(flat(RunSettings().model_dump(mode='json')))
    try:
        below = dict(flat(load_profile(settings.profile).model_dump(mode='json'))) \
            if settings.profile else {}
    except InputError:  # it was read before, and may be gone by now
        below = {}
    of_profile = f'profile {os.path.basename(settings.profile)}'
    found = {}
    for name, value in flat(settings.model_dump(mode='json')):
        is_default = default.get(name) == value
        if name != 'profile' and not (is_default and below.get(name, value) == value):
            source = of_profile if name in below and below[name] == value else 'override'
            found[name] = {'value': value, 'source': source}
    return found


def profile_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a profile with all known drivers."""
    schema = Profile.model_json_schema(schema_generator=Explained)
    definitions = schema['$defs']
    about = schema['properties']['driver'].get('description', '')
    definitions['DriverPlugin'] = any_plugin('drivers', definitions, 'kind')
    schema['properties']['driver'] = {'$ref': '#/$defs/DriverPlugin', 'description': about}
    return {'$schema': 'https://json-schema.org/draft/2020-12/schema', **schema,
            'title': 'safety_scenarios profile file'}


def _folder() -> Path:
    return share_folder() / 'config' / 'profiles'


def _check_file_kind(data: Mapping[str, Any], document: Document) -> Iterator[Problem]:
    """Refuse what is no profile at all."""
    if any(isinstance(block, Mapping) and _PARAMETERS in block for block in data.values()):
        yield document.problem((), f'got a file of ROS parameters, expected a profile. Move the '
                                   f'values below {_PARAMETERS} to the top, as groups: '
                                   f'"hil: {{enabled: true}}" for hil.enabled')
    elif 'ros' in data or 'latency_budget' in data:
        yield document.problem((), 'got a scenario, expected a profile. Name it as a scenario, '
                                   'and the robot by --profile')


def _wrong_driver(data: Mapping[str, Any], document: Document) -> Iterator[Problem]:
    """Yield what is wrong with the driver, each at its own place."""
    block = data.get('driver')
    if not isinstance(block, Mapping) or not block:
        return
    names = registry.names('drivers')
    kind = block.get('kind')
    if not isinstance(kind, str) or kind not in names:
        yield document.problem(('driver', 'kind'), (
            f'got {show(kind)}, expected the kind of a driver: one of {", ".join(sorted(names))}.'
            f'{did_you_mean(str(kind), names)}'))
        return
    plugin: type[DriverPlugin] = registry.resolve('drivers', kind)
    try:
        plugin.model_validate(dict(block))
    except ValidationError as error:
        for place, sentence, at_key in describe(error.errors(include_url=False), plugin):
            yield document.problem(('driver', *place), sentence, at_key)


def _with_advice(place: Place, sentence: str, at_key: bool) -> tuple[Place, str]:
    """Return a place and a sentence about it, with where an unknown key belongs."""
    named = None if place else _NAMED.match(sentence)
    if named:
        return tuple(named[1].split('.')), sentence[named.end():]
    if place and place[-1] == '[key]':
        return place[:-1], (f'got {place[-2]!r}, expected a role as scenarios name it, such as '
                            f'scan. Write its name on the robot under topic'
                            if place[0] == 'topics' else sentence)
    advice = _ELSEWHERE.get(str(place[-1])) if at_key else None
    return place, sentence if advice is None or not sentence.startswith('unknown key') else \
        f'{sentence.removesuffix(" Remove it").rstrip(".")}. {advice}'
