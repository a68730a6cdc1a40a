# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The file of a matrix: which controllers with which settings meet which scenarios how often.

The same noun is what a run writes as ``matrix.yaml`` into its folder, with every arm written out
and a hash, so that such a file can be run again.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
import hashlib
from itertools import product
import json
from pathlib import Path
import re
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator, ValidationError
from safety_scenarios.campaign.folder.files import counts_for_terms, write_whole
from safety_scenarios.errors import InputError, refuse, refused, SettingsError
from safety_scenarios.formats.document.file_contents import read_noun
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.profile_file import merged, with_profile
from safety_scenarios.scenario.fields import flat, kind_of_group, read_assignments, setting_at
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.settings import FRESH, RunSettings, SEEDS
import yaml

FILE = 'matrix.yaml'
MOST_ARMS = 100
OWN_KEYS = ('scenarios', 'trials', 'seed')
"""Settings that are keys of the file."""
_MOST_ENTRIES = 50
Scalar = Annotated[str, Field(max_length=4000)] | bool | int | float
Value = Scalar | Annotated[tuple[Scalar, ...], Field(max_length=1000)]
"""Of a setting, as ``--set NAME=VALUE`` takes it."""
ArmName = Annotated[str, Field(pattern=r'^[A-Za-z0-9][A-Za-z0-9_.,=+-]{0,99}$')]
"""Name of an arm, and of its folder."""
Order = Literal['trial', 'block']

MAY_DIFFER = ('controller', 'controller_parameters', 'controller_label', 'server', 'period_ms',
              'command_type', 'namespace', 'remap', 'domain_id', 'realtime', 'sut_version',
              'sut_artifact', 'sut_image_digest')
"""Settings and groups in which arms may differ: who is judged, and how it is reached. With any
other one the arms would not be judged alike, or on other trials."""
_LABELS = ('controller_label', 'namespace', 'remap', 'domain_id')
"""Of these, what makes no other controller."""


class ArmEntry(Noun):
    """One arm: a controller with its settings."""

    controller: str = Field(default='', max_length=4000)
    """Controller, as --controller takes it, such as onnx:policy.onnx; empty: rule_based, or that
    of the axis controller."""
    set: Mapping[str, Value] = Field(default={}, max_length=_MOST_ENTRIES)  # noqa: A003
    """Settings of this arm, as --set takes them, such as controller.delay_ms: 100."""
    counts: bool = True
    """Whether its verdict counts for the exit code; false for a controller that is wrong on
    purpose, or a baseline that is known to fail."""
    at: Mapping[str, Value] = Field(default={}, max_length=_MOST_ENTRIES)
    """Where on each axis it is; written by a run."""


class MatrixFile(Noun):
    """Controllers x settings x scenarios x trials."""

    scenarios: tuple[Annotated[str, Field(min_length=1, max_length=4000)], ...] = Field(
        default=(), max_length=1000)
    """Files, folders, ids or installed folders such as robotic."""
    trials: int | None = Field(default=None, ge=1, le=100_000)
    """Trials of each scenario in each arm."""
    seed: int = Field(default=FRESH, ge=FRESH, le=SEEDS - 1)
    """Of all arms; -1: a fresh one, which matrix.yaml keeps."""
    order: Order | None = None
    """trial: all arms run a trial, in an order drawn from the seed, before the next trial begins;
    block: all trials of a scenario under one arm, then under the next. Left out: trial, and over
    ros block, because only one controller process at a time drives."""
    set: Mapping[str, Value] = Field(default={}, max_length=_MOST_ENTRIES)  # noqa: A003
    """Settings of every arm, as --set takes them, such as link: simulated."""
    arms: Mapping[ArmName, ArmEntry] = Field(default={}, max_length=MOST_ARMS)
    """Arms by name; the first is the one that the others are compared with."""
    axes: Mapping[str, Annotated[tuple[Value, ...], Field(min_length=2, max_length=_MOST_ENTRIES)]
                  ] = Field(default={}, max_length=5)
    """Setting to its values, in the order from the usual to the worst: each arm is run at each
    combination."""
    sha256: str = Field(default='', pattern=r'^([0-9a-f]{64})?$')
    """Of everything else in this file; written by a run. Arms of such a file are not multiplied
    by the axes again."""

    @model_validator(mode='after')
    def _has_arms(self) -> 'MatrixFile':
        if not self.arms and not self.axes:
            raise ValueError('got neither arms nor axes, expected one of them at least')
        if self.arms and not any(arm.counts for arm in self.arms.values()):
            raise ValueError('got no arm that counts, expected one at least: nothing would decide '
                             'the exit code')
        return self

    @property
    def digest(self) -> str:
        """Return the SHA-256 of everything but the hash itself."""
        return hashlib.sha256(json.dumps(self.model_dump(mode='json', exclude={'sha256'}),
                                         sort_keys=True).encode()).hexdigest()

    @property
    def is_frozen(self) -> bool:
        """Return whether a run has written it."""
        return bool(self.sha256)


def read_matrix(path: Path) -> tuple[MatrixFile, Document]:
    """
    Return a matrix, and the file as plain data that knows its places.

    :raises InputError: every problem of the file with its line, or a frozen file that was changed
    """
    matrix, document = read_noun(path, MatrixFile, 'arms or axes')
    if matrix.is_frozen and matrix.digest != matrix.sha256:
        raise InputError(str(document.problem(
            ('sha256',), f'got {matrix.sha256[:12]}..., expected {matrix.digest[:12]}... of its '
                         f'content: it was changed since the matrix was run. For a new '
                         f'matrix take sha256 and each at out')))
    problems = [document.problem(place, str(error), True) for place, error in _misplaced(matrix)]
    if problems:
        raise InputError('\n'.join(map(str, problems)))
    return matrix, document


def _misplaced(matrix: MatrixFile) -> Any:
    """Yield the place of what would not be used, is unknown, or that arms may not differ in."""
    if 'scenarios' in matrix.model_fields_set and not matrix.scenarios:
        yield ('scenarios',), ('got an empty list, expected a scenario or more. Name them, or '
                               'leave the key out and name them on the command line')
    for name in matrix.set:
        if (error := _unknown(name)) is not None:
            yield ('set', name), error
        elif name in OWN_KEYS:
            yield ('set', name), f'got it under set, expected it as the key {name} of the file'
        elif name == 'output':
            yield ('set', name), ('got it under set, where it has no effect, expected it on the '
                                  'command line. Name the folder by --output')
    places = [*((('axes', name), name) for name in matrix.axes),
              *((('arms', arm, 'set', name), name) for arm, entry in matrix.arms.items()
                for name in entry.set)]
    for place, name in places:
        if (error := _unknown(name) or why_not(name)) is not None:
            yield place, error
    for arm, entry in matrix.arms.items():
        both = {'controller'} if entry.controller else set[str]()
        for name in sorted((both | entry.set.keys()) & matrix.axes.keys()):
            if not matrix.is_frozen:
                yield ('arms', arm), f'got {name} here and as an axis, expected one of them'


def _unknown(name: str) -> str | None:
    """Return why there is no setting of a name."""
    if name.startswith('controller.'):
        return None
    try:
        setting_at(RunSettings, kind_of_group(RunSettings, name))
    except SettingsError as error:
        return str(error).partition(': ')[2]
    return None


def why_not(name: str) -> str | None:
    """Return why arms may not differ in a setting; None: they may."""
    if name.startswith('controller.') or name.partition('.')[0] in MAY_DIFFER:
        return None
    return (f'got a setting that all arms must share, expected one of the controller or of how it '
            f'is reached ({", ".join(MAY_DIFFER)}): otherwise the arms would not be judged alike '
            f'on the same trials. Write it under set of the whole file, or run two matrices')


def is_label(name: str) -> bool:
    """Return whether a setting may differ without another controller being judged."""
    return name.partition('.')[0] in _LABELS


def text_of(value: Value) -> str:
    """Return a value as ``--set`` takes it."""
    return value if isinstance(value, str) else json.dumps(
        list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def freeze(matrix: MatrixFile) -> MatrixFile:
    """Return the same with its hash."""
    return matrix.model_copy(update={'sha256': matrix.digest})


def write_matrix(matrix: MatrixFile, folder: Path) -> None:
    """
    Write the frozen matrix into its folder.

    :raises TraceError: it cannot be written
    """
    head = ('# Written by safety_scenarios: the matrix as it was run. It can be run again:\n'
            '# safety-scenarios run --matrix matrix.yaml\n')
    text = yaml.safe_dump(json.loads(matrix.model_dump_json(exclude_defaults=True)),
                          sort_keys=False, allow_unicode=True, width=99)
    write_whole(folder / FILE, head + text.removesuffix('\n'))


def matrix_around(folder: Path) -> Path | None:
    """
    Return the folder of a matrix as it was run: this one, or the one that it is an arm of.

    None: it is of no matrix. A file of that name which no run has written is a user's own.
    """
    for one in (folder, folder.absolute().parent):
        with suppress(InputError):  # it is not there, or a user's own is broken
            if read_matrix(one / FILE)[0].is_frozen:
                return one
    return None


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


def matrix_of_controllers(names: Sequence[str], scenarios: Sequence[str]) -> MatrixFile:
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
        arms[_free(arm_name(name), arms)] = ArmEntry(controller=name)
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
        text = arm_name(text_of(value)) or 'none'
        yield text if name == 'controller' else f'{last if is_clear else name}={text}'


def arm_name(text: str) -> str:
    """Return the name of the arm, and of its folder, of a controller or a value."""
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
    texts = {name: value for name, value in _settings_by_name(above).items()
             if counts_for_terms(name) and name not in OWN_KEYS and _unknown(name) is None}
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
    given = _settings_by_name(above)
    own = {'controller'} if entry.controller else set[str]()
    for key in sorted((own | entry.set.keys()) & given.keys()):
        raise SettingsError(f'arm {name}: got {key} in the matrix and on the command line, '
                            f'expected one of them')


def _settings_by_name(above: Mapping[str, Any]) -> dict[str, Any]:
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
