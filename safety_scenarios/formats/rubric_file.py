# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A rubric's file, and the folders in which a rubric is found by its name."""

from collections.abc import Iterator, Mapping
import hashlib
import os
from pathlib import Path
import re

from pydantic import ValidationError
from safety_scenarios.errors import did_you_mean, InputError, Problem, ScenarioError
from safety_scenarios.formats.document.messages import describe, show
from safety_scenarios.formats.document.opening import names_in, raw_of
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.scenario.blocks.rubric import Rubric, Scoring, Weight

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
    raw = raw_of(str(path))
    if isinstance(raw, Problem):
        raise ScenarioError([raw])
    document = Document.of(str(path), raw)
    problems = list(document.problems)
    if not problems and not isinstance(document.data, Mapping):
        problems.append(document.problem((), f'got {show(document.data)}, expected a mapping with '
                                             f'name and dimensions'))
    if problems:
        raise ScenarioError(problems)
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
                     f'the folder of the scenario (doc/rubrics.md)')


def scoring_of(rubric: Rubric, sha256: str, domain: str, fallback: Rubric | None) -> Scoring:
    """
    Return what of a rubric decides in one domain.

    :param fallback: whose word lists are taken for a rubric that has none at all
    """
    words = rubric.words_in(domain) if rubric.words or fallback is None \
        else fallback.words_in(domain)
    return Scoring(
        rubric=rubric.name, sha256=sha256, words=words, thresholds=rubric.thresholds,
        dimensions=tuple(Weight(name=one.name, weight=one.weight) for one in rubric.dimensions))
