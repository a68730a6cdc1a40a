# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A YAML file that is one noun: read at once, or refused with every problem at its line.

What it leaves to be filled in is such a problem.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError
from safety_scenarios.errors import InputError, Problem, ScenarioError
from safety_scenarios.formats.document.messages import describe, show
from safety_scenarios.formats.document.opening import raw_of
from safety_scenarios.formats.document.positions import Document
from safety_scenarios.formats.document.positions import Path as Place
from safety_scenarios.scenario.noun import Noun

BLANK = '???'
"""What is to be filled in."""


def blank_problems(document: Document, why: str) -> Iterator[Problem]:
    """
    Yield each value or key that was not filled in, with its line and column.

    :param why: it was left open, and what to do
    """
    for place in _blanks(document.data):
        yield document.problem(place, f'got {BLANK}, expected a value. {why}')


def _blanks(data: Any, place: Place = ()) -> Iterator[Place]:
    if data == BLANK:
        yield place
    elif isinstance(data, Mapping):
        for name, value in data.items():
            if name == BLANK:
                yield (*place, name)
            yield from _blanks(value, (*place, str(name)))
    elif isinstance(data, (list, tuple)):
        for index, value in enumerate(data):
            yield from _blanks(value, (*place, index))


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
