# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A YAML file that is one noun: read at once, or refused with every problem at its line."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from safety_scenarios.errors import InputError, Problem, ScenarioError
from safety_scenarios.formats.document.blanks import blank_problems
from safety_scenarios.formats.document.messages import describe, show
from safety_scenarios.formats.document.opening import raw_of
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.positions import Path as Place
from safety_scenarios.scenario.noun import Noun

_M = TypeVar('_M', bound=Noun)


def read_noun(path: Path, model: type[_M], keys: str, worded: Callable[
        [Place, str], tuple[Place, str]] = lambda *found: found) -> tuple[_M, Document]:
    """
    Return what a file says, and the file as plain data that knows its places.

    :param keys: what it has to hold, for messages
    :param worded: place and sentence of a problem to those that are shown
    :raises InputError: it cannot be read, or every problem in it with its line and field
    """
    raw = raw_of(str(path))
    if isinstance(raw, Problem):
        raise InputError(str(raw))
    document = Document.of(str(path), raw)
    problems = list(document.problems)
    if not problems and not isinstance(document.data, Mapping):
        problems.append(document.problem((), f'got {show(document.data)}, expected a mapping with '
                                             f'{keys}'))
    problems += [] if problems else blank_problems(document, 'Fill it in')
    raise_problems(problems)
    try:
        return model.model_validate(document.data), document
    except ValidationError as error:
        raise_problems([document.problem(*worded(place, sentence), at_key)
                        for place, sentence, at_key
                        in describe(error.errors(include_url=False), model)])
        raise


def raise_problems(problems: list[Problem]) -> None:
    """
    Refuse a file with problems.

    :raises ScenarioError: with each of them, if there are any
    """
    if problems:
        raise ScenarioError(problems)
