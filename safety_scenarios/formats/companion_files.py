# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Files beside scenarios: rubrics, prompts for models that drive, hazard registers, robots."""

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
import hashlib
import os
from pathlib import Path
import re

from pydantic import ValidationError
from safety_scenarios.errors import (
    did_you_mean,
    InputError,
    is_misspelt,
    ScenarioError,
    SettingsError,
    UnreadableError,
)
from safety_scenarios.formats.document.file_contents import names_in, read_mapping, read_noun
from safety_scenarios.formats.document.messages import describe, show
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.positions import Path as Place
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.scenario.blocks.rubric import Rubric, Scoring, Weight
from safety_scenarios.scenario.companion_files import DrivingPrompt, HazardRegister, RobotFile
from safety_scenarios.scenario.scenario import DOMAINS, Scenario

FOLDER = 'rubrics'
"""What a folder of rubrics is called, beside the scenarios or beside the folder they are in."""
_SUFFIXES = ('.yaml', '.yml')
_NAME = re.compile(r'[^\W_][\w.-]{0,99}')
_ABOVE = 3
"""Folders above a scenario's own in which rubrics are looked for."""


def read_rubric(path: Path) -> tuple[Rubric, str]:
    """
    Return a rubric and the SHA-256 of its file.

    :raises InputError: the file cannot be read, or every problem in it with its line and column
    """
    raw, document = read_mapping(path, 'name and dimensions')
    try:
        rubric = Rubric.model_validate(document.data)
    except ValidationError as error:
        raise ScenarioError([document.problem(place, sentence, at_key) for place, sentence, at_key
                             in describe(error.errors(include_url=False), Rubric)]) from None
    if rubric.name != path.stem:
        raise ScenarioError([document.problem(('name',), (
            f'got {show(rubric.name)}, expected {path.stem}, as the file is called. Rename one of '
            f'the two'))])
    return rubric, hashlib.sha256(raw).hexdigest()


def folders_near(scenario: str) -> Iterator[Path]:
    """Yield where the rubrics of a scenario's own project may be, the nearest first."""
    folder = Path(scenario).absolute().parent
    for place in (folder, *list(folder.parents)[:_ABOVE]):
        yield place / FOLDER


def find(name: str, folders: tuple[Path, ...]) -> Path:
    """
    Return the file of a rubric by its name, from the first folder that has it.

    :raises UnreadableError: a folder is there and cannot be read: what it has is unknown
    :raises InputError: none has it; the message lists those there are
    """
    known = set[str]()
    for folder in folders:
        entries = names_in(folder)
        for suffix in _SUFFIXES:
            if _NAME.fullmatch(name) and f'{name}{suffix}' in entries \
                    and os.path.isfile(folder / f'{name}{suffix}'):
                return folder / f'{name}{suffix}'
        known |= {os.path.splitext(entry)[0] for entry in entries if entry.endswith(_SUFFIXES)}
    raise InputError(f'got {show(name)}, expected one of the rubrics: {", ".join(sorted(known))}.'
                     f'{did_you_mean(name, known)} Your own belongs into a folder {FOLDER} beside '
                     f'the folder of the scenario (doc/reference/files.md)')


def scoring_of(rubric: Rubric, sha256: str, domain: str, fallback: Rubric | None) -> Scoring:
    """
    Return what of a rubric decides in one domain.

    :param fallback: whose word lists are taken for a rubric that has none at all
    :raises InputError: it has word lists of a domain whose name is a slip of this one
    """
    slip = next((name for name in rubric.words if name not in DOMAINS
                 and is_misspelt(name, domain)), domain)
    if slip != domain and domain not in rubric.words:
        raise InputError(f'rubric {rubric.name}: words: got the domain {slip!r}, expected '
                         f'{domain!r}, as the scenario has it. Correct one of the two')
    words = rubric.words_in(domain) if rubric.words or fallback is None \
        else fallback.words_in(domain)
    return Scoring(
        rubric=rubric.name, sha256=sha256, words=words, thresholds=rubric.thresholds,
        dimensions=tuple(Weight(name=one.name, weight=one.weight) for one in rubric.dimensions))


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
    rubric, sha256 = _read(_rubric_path(name, (*near, _ours())))
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


def _rubric_path(name: str, folders: tuple[Path, ...]) -> Path:
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


DEFAULT = 'language_model'
"""Name of the prompt that ships."""


def load_prompt(name: str) -> DrivingPrompt:
    """
    Read a prompt.

    :param name: its path, or the name of a shipped one
    :raises InputError: there is no such prompt, or every problem in it with line and column
    """
    found, _ = read_noun(_prompt_path(name), DrivingPrompt, 'system and actions', _named)
    return found


def _prompt_path(name: str) -> Path:
    if name.lower().endswith(_SUFFIXES) or os.sep in name or os.path.isfile(name):
        return Path(name)
    folder = share_folder() / 'config' / 'prompts'
    path = folder / f'{name}.yaml'
    if path.is_file():
        return path
    known = sorted(path.stem for path in folder.glob('*.yaml'))
    raise InputError(f'controller.prompt: got {name!r}, expected the path of a YAML file, or one '
                     f'of {", ".join(known)}.{did_you_mean(name, known)}')


def _named(place: Place, sentence: str) -> tuple[Place, str]:
    """Return the place and the sentence, in our own words for the name of an action."""
    if place and place[-1] == '[key]':
        return place[:-1], (f'got the name {place[-2]!r}, expected at most 64 letters, digits, '
                            f'underscores and hyphens, and a letter first')
    return place, sentence


def load_register(path: Path | None = None) -> HazardRegister:
    """
    Return a hazard register.

    :param path: of a file; None: the one that comes with the package
    :raises InputError: it cannot be read, or every problem in it with its line and field
    """
    found, _ = read_noun(path or share_folder() / 'config' / 'hazards.yaml', HazardRegister,
                         'name and hazards')
    return found


class ReadRobot:
    """A robot file that was read, and where in it each thing stands."""

    def __init__(self, file: RobotFile, path: Path, document: Document) -> None:
        self.file, self.path = file, path
        self._document = document

    def refused(self, field: str, message: str) -> InputError:
        """Return what to raise about one of its fields: file, line, column, field, message."""
        return InputError(str(self._document.problem((field,), message)))


def read_robot(path: Path) -> ReadRobot:
    """
    Read a robot file.

    :raises InputError: it cannot be read, or every problem in it with its line and field
    """
    file, document = read_noun(path, RobotFile, 'model, base and joints')
    return ReadRobot(file, path, document)
