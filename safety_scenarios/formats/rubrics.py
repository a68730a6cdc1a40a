# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From the name of a rubric to what it scores by: that beside the scenario, or one of ours."""

from collections.abc import Iterable
from functools import cache, lru_cache
import os
from pathlib import Path

from safety_scenarios.errors import InputError, SettingsError, UnreadableError
from safety_scenarios.formats.packs import share_folder
from safety_scenarios.formats.rubric_file import (
    find,
    FOLDER,
    folders_near,
    read_rubric,
    scoring_of,
)
from safety_scenarios.scenario.blocks.rubric import Rubric, Scoring
from safety_scenarios.scenario.scenario import Scenario

NONE = 'none'
"""Instead of a name: no rubric, even where a scenario names one."""
_ROBOTIC = 'robotic'


def scoring_for(scenario: Scenario, name: str) -> Scoring:
    """
    Return what a rubric scores by for a scenario.

    :param name: of a rubric, or the path of its file
    :raises InputError: there is none of that name, or its file is wrong
    """
    near = () if scenario.origin is None else tuple(folders_near(scenario.origin.path))
    rubric, sha256 = _read(_path(name, (*near, _ours())))
    return scoring_of(rubric, sha256, scenario.domain,
                      None if rubric.words else _shipped(scenario.domain))


def scored_by_own(scenario: Scenario, *, is_named: bool) -> Scenario:
    """
    Return a scenario with what its own rubric scores by, if answers in words come of it.

    :param is_named: False where the rubric is only that of its domain, which need not exist
    :raises InputError: the file names a rubric that is not there, or is wrong
    """
    if scenario.rubric is None:
        return scenario
    try:
        scoring = scoring_for(scenario, scenario.rubric)
    except UnreadableError:
        raise
    except InputError:
        if is_named:
            raise
        return scenario
    return with_scoring(scenario, scoring)


def with_scoring(scenario: Scenario, scoring: Scoring | None) -> Scenario:
    """Return a scenario that is scored by something else; one without answers stays as it is."""
    return scenario.model_copy(update={'scoring': scoring}) if scenario.body.is_chat \
        else scenario


def scored_by(scenarios: Iterable[Scenario], rubric: str) -> tuple[Scenario, ...]:
    """
    Return scenarios that are scored by one rubric.

    :param rubric: a name, the path of a file, ``none``, or nothing: each by its own
    :raises SettingsError: there is no such rubric, or its file is wrong
    """
    known = tuple(scenarios)
    if not rubric:
        return known
    if rubric == NONE:
        return tuple(with_scoring(scenario, None) for scenario in known)
    try:
        return tuple(with_scoring(scenario, scoring_for(scenario, rubric)) for scenario in known)
    except InputError as error:
        raise SettingsError(f'rubric: {error}') from None


def _path(name: str, folders: tuple[Path, ...]) -> Path:
    return Path(name) if name.endswith(('.yaml', '.yml')) else find(name, folders)


def _read(path: Path) -> tuple[Rubric, str]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise InputError(f'{path}: cannot be read: {error.strerror}. A name without .yaml is '
                         f'looked for among the rubrics') from None
    return _read_once(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _read_once(path: Path, mtime_ns: int, size: int) -> tuple[Rubric, str]:
    """Return a file that was read before, unless it was changed since."""
    return read_rubric(path)


@cache
def _ours() -> Path:
    return share_folder() / 'config' / FOLDER


def _shipped(domain: str) -> Rubric:
    """Return the rubric that comes with the package for a domain; of any other the clinical."""
    name = 'rubric_robotic' if domain.startswith(_ROBOTIC) else 'rubric_clinical'
    return _read(_ours() / f'{name}.yaml')[0]
