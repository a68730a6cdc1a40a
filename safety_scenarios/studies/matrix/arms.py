# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From the file of a matrix, and what the command line adds, to the settings of each arm."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
import re
from typing import Any

from pydantic import ValidationError
from safety_scenarios.campaign.folder.files import counts_for_terms
from safety_scenarios.errors import InputError, refuse, refused, SettingsError
from safety_scenarios.formats.profile_file import merged, with_profile
from safety_scenarios.scenario.fields import flat, read_assignments
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.matrix.file import (
    ArmEntry,
    freeze,
    MatrixFile,
    MOST_ARMS,
    OWN_KEYS,
    text_of,
    Value,
)

_PARAMETERS = 'controller_parameters'
_NOT_IN_NAMES = re.compile(r'[^A-Za-z0-9_.+-]+')
_LONGEST = 100


@dataclass(frozen=True)
class Arm:
    """One controller with its settings."""

    name: str
    settings: RunSettings
    at: Mapping[str, Value]
    """Where on each axis it is."""
    counts: bool = True
    """Whether its verdict counts for the exit code."""

    @property
    def row(self) -> str:
        """Return the arms that differ from this one in nothing but axes, by one name."""
        return self.name.partition(',')[0] if self.at else self.name


def of_controllers(names: Sequence[str], scenarios: Sequence[str]) -> MatrixFile:
    """
    Return the matrix of some controllers, as ``--controller A --controller B`` asks for it.

    :raises SettingsError: one controller is named twice
    """
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f'--controller: got {name} twice, expected it once: two arms that '
                                f'are equal show no difference')
    arms: dict[str, ArmEntry] = {}
    for name in names:
        arms[_free(_as_name(name), arms)] = ArmEntry(controller=name)
    return MatrixFile(scenarios=tuple(scenarios), arms=arms)


def written_out(matrix: MatrixFile) -> MatrixFile:
    """
    Return the matrix with an arm for each combination of the axes.

    :raises SettingsError: there are too many, or fewer than two
    """
    if matrix.is_frozen:
        return matrix
    arms: dict[str, ArmEntry] = {}
    count = max(1, len(matrix.arms))
    for values in matrix.axes.values():
        count *= len(values)
    if not 2 <= count <= MOST_ARMS:
        raise SettingsError(f'matrix: got {count} arms, expected 2 to {MOST_ARMS}. '
                            + ('Add an arm or an axis' if count < 2 else
                               'Take values out of the axes, or run several matrices'))
    for name, entry in (matrix.arms or {'': ArmEntry()}).items():
        for values in product(*matrix.axes.values()):
            at = dict(zip(matrix.axes, values, strict=True))
            full = ','.join(filter(None, (name, *_coordinates(at))))[:_LONGEST]
            arms[_free(full, arms)] = entry.model_copy(update={
                'set': {**entry.set, **at}, 'at': at})
    return matrix.model_copy(update={'arms': arms})


def _coordinates(at: Mapping[str, Value]) -> Iterator[str]:
    """Yield the place on each axis as a part of a name, as short as it is clear."""
    for name, value in at.items():
        last = name.rpartition('.')[2]
        is_clear = sum(one.rpartition('.')[2] == last for one in at) == 1
        text = _as_name(text_of(value)) or 'none'
        yield text if name == 'controller' else f'{last if is_clear else name}={text}'


def _as_name(text: str) -> str:
    """Return a text as the name of a folder: of a file its last part."""
    return _NOT_IN_NAMES.sub('_', text.rstrip('/').rpartition('/')[2]).strip('_.+-')[:60]


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name that no other arm has."""
    name = name or 'arm'
    if name not in taken:
        return name
    return next(f'{name}-{number}' for number in range(2, len(taken) + 3)
                if f'{name}-{number}' not in taken)


def resolved(matrix: MatrixFile,
             above: Mapping[str, Any] = {}) -> tuple[MatrixFile, Sequence[Arm]]:
    """
    Return the frozen matrix and its arms, with everything that the command line set.

    :param above: what the command line sets, nested as the settings are; it counts above what
        the file sets for all arms, and an arm must not set it too
    :raises InputError: every setting that does not fit
    """
    matrix = written_out(matrix)
    common = _common(matrix, above)
    errors: list[InputError] = []
    arms: list[Arm] = []
    seeded = _validated(common, 'matrix').seeded()
    common = {**common, 'seed': seeded.seed}
    for name, entry in matrix.arms.items():
        try:
            _refuse_both(name, entry, above)
            arms.append(Arm(name, _settings(name, entry, common), entry.at, entry.counts))
        except InputError as error:
            errors.append(error)
    refuse(errors)
    texts = {name: value for name, value in _told(above).items()
             if counts_for_terms(name) and name not in OWN_KEYS}
    whole = matrix.model_copy(update={
        'scenarios': seeded.scenarios, 'trials': seeded.trials, 'seed': seeded.seed,
        'set': {**matrix.set, **texts}, 'sha256': ''})
    return freeze(whole), tuple(arms)


def _common(matrix: MatrixFile, above: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all arms share, nested as the settings are."""
    own: dict[str, Any] = {} if matrix.seed < 0 else {'seed': matrix.seed}
    own |= {'scenarios': matrix.scenarios} if matrix.scenarios else {}
    own |= {} if matrix.trials is None else {'trials': matrix.trials}
    return _with(own | _assigned(matrix.set, 'set'), above)


def _assigned(values: Mapping[str, Value], where: str) -> dict[str, Any]:
    return read_assignments(RunSettings, [
        f'{name}={text_of(value)}' for name, value in values.items()], f'{where}: ')


def _with(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested settings in which the second count; a controller's parameters by key."""
    texts = {text.partition('=')[0]: text
             for one in (below, above) for text in one.get(_PARAMETERS, ())}
    found = merged(below, above)
    return found | ({_PARAMETERS: tuple(texts.values())} if texts else {})


def _settings(name: str, entry: ArmEntry, common: Mapping[str, Any]) -> RunSettings:
    own: dict[str, Any] = {'controller': entry.controller} if entry.controller else {}
    own |= _assigned(entry.set, f'arm {name}')
    return _validated(_with(common, own), f'arm {name}')


def _validated(data: Mapping[str, Any], where: str) -> RunSettings:
    try:
        return RunSettings.model_validate(with_profile(data))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = '.'.join(str(step) for step in first['loc'])
        raise SettingsError(refused(f'{where}: {place}' if place else where, first)) from None


def _refuse_both(name: str, entry: ArmEntry, above: Mapping[str, Any]) -> None:
    given = _told(above)
    own = {'controller'} if entry.controller else set[str]()
    for key in sorted((own | entry.set.keys()) & given.keys()):
        raise SettingsError(f'arm {name}: got {key} in the matrix and on the command line, '
                            f'expected one of them')


def _told(above: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the command line sets by dotted name, parameters of the controller too."""
    found: dict[str, Any] = {}
    for key, value in flat(above):
        if key == _PARAMETERS:
            found |= {f'controller.{text.partition("=")[0]}': text.partition('=')[2]
                      for text in value}
        elif isinstance(value, (str, int, float)) or (
                isinstance(value, tuple) and all(isinstance(one, str) for one in value)):
            found[key] = value
    return found
