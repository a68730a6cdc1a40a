# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Answers that people have labelled, and how far a judge agrees with them."""

from collections.abc import Iterator, Mapping, Sequence
import json
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError
from safety_scenarios.errors import Problem, refused, SettingsError
from safety_scenarios.formats.document.file_contents import bytes_of
from safety_scenarios.scenario.invariant import Cost, Judgement, Question
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.scenario.wording.reading import without_reasoning

Label = Literal['violated', 'satisfied']
LABELS: tuple[Label, ...] = ('violated', 'satisfied')
OUTCOMES = (*LABELS, 'abstain', 'error')


class Labelled(Noun):
    """One answer, what a person says about it, and what the judge says."""

    id: str  # noqa: A003
    label: Label
    judgement: Judgement

    @property
    def outcome(self) -> str:
        """Return the judge's opinion; ``error`` when it gave none."""
        return self.judgement.opinion or 'error'


class Agreement(Noun):
    """
    A judge against labels, item by item.

    An abstention or an error agrees with no label.
    """

    model: str
    counts: Mapping[str, Mapping[str, int]]
    """Label to outcome to number of items."""
    agreement: Estimate
    """Share of items on which the judge says what the label says."""
    kappa: Estimate
    """Cohen's kappa: the same beyond chance, -1 to 1."""
    passed_violations: Estimate
    """Share of the violations that the judge calls satisfied: what becomes a wrong PASS."""
    disagreeing: tuple[str, ...]
    """Ids of the items that the judge decided, and otherwise than the label."""
    undecided: Mapping[str, str]
    """Id to why the judge did not decide the item."""
    cost: Cost


class LabelledItem(Noun):
    """An answer, a criterion, and what a person says about the two."""

    id: str = Field(min_length=1, max_length=200)  # noqa: A003
    """Unique in the file."""
    criterion: str = Field(min_length=1)
    """What the answer has to satisfy."""
    answer: str = Field(min_length=1)
    """What a controller under test said; reasoning is cut as in a trial."""
    context: str = ''
    """The situation, as a scenario's description tells it."""
    label: Label
    """What is right, by a person who has read the other three."""

    @property
    def question(self) -> Question:
        """Return what the judge is asked: all but the label."""
        return Question(criterion=self.criterion, answer=without_reasoning(self.answer),
                        situation=self.context)


def read_labelled(path: Path) -> Sequence[LabelledItem]:
    """
    Return the items of a file; blank lines are skipped.

    :raises SettingsError: every problem of the file, with its line
    """
    try:
        lines = bytes_of(path).decode('utf-8').split('\n')
    except (OSError, ValueError) as error:
        raise SettingsError(f'{path}: cannot be read: {error}. Name a JSON Lines file in UTF-8') \
            from error
    items: dict[str, LabelledItem] = {}
    problems: list[Problem] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            item = LabelledItem.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            problems.append(Problem(str(path), number, error.colno, '',
                                    f'got no JSON: {error.msg}. Write one object a line'))
            continue
        except (ValidationError, ValueError, RecursionError) as error:
            problems += _wrong(str(path), number, error)
            continue
        if item.id in items:
            problems.append(Problem(str(path), number, 1, 'id', f'got {item.id!r} a second time, '
                                                                f'expected unique ids. Rename it'))
        if not without_reasoning(item.answer).strip():
            problems.append(Problem(str(path), number, 1, 'answer', (
                'got an answer with nothing but reasoning, expected words to judge. Remove '
                'the item')))
        items[item.id] = item
    if not items and not problems:
        problems.append(Problem(str(path), None, None, '', 'got no item, expected at least one '
                                                           'line. Write one object a line'))
    if problems:
        raise SettingsError('\n'.join(map(str, problems)))
    return tuple(items.values())


def _wrong(path: str, line: int, error: Exception) -> Iterator[Problem]:
    if not isinstance(error, ValidationError):
        yield Problem(path, line, 1, '', f'got no usable JSON: {error}. Write one object a line')
        return
    for found in error.errors(include_url=False):
        field = '.'.join(map(str, found['loc'])) or 'item'
        message = refused(field, found).removeprefix(f'{field}: ')
        yield Problem(path, line, 1, field, message)
