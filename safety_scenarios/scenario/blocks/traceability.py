# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a scenario says of itself: hazards, requirements, clauses, labels, domain."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from safety_scenarios.scenario.noun import Label, Noun

MOST_LABELS, LONGEST_LABEL = 50, 200
Kind = Literal['hazard', 'requirement', 'clause']
FIELDS: Mapping[str, Kind] = {'hazards': 'hazard', 'requirements': 'requirement',
                              'clauses': 'clause'}
"""Key in a scenario file to what one of its labels is."""


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError('got a blank text, expected a short label such as REQ-12')
    return text.strip()


def as_labels(value: Any) -> Any:
    """
    Return a list of labels for what a file says; () for what can be none.

    The keys may stand in a file that was written for something else, which has to load: a mapping,
    or a list of mappings, is nothing of ours.
    """
    if value is None or is_foreign(value):
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, (list, tuple)):
        return tuple(str(item) if isinstance(item, int) and not isinstance(item, bool) else item
                     for item in value)
    return value


def is_foreign(value: Any) -> bool:
    """Return whether a value of one of the keys was written for something else."""
    return isinstance(value, Mapping) or (
        isinstance(value, (list, tuple)) and any(isinstance(item, Mapping) for item in value)) \
        or (isinstance(value, str) and (len(value) > LONGEST_LABEL or '\n' in value.strip()))


TraceLabel = Annotated[Label, Field(max_length=LONGEST_LABEL), AfterValidator(_not_blank)]
"""A short name of a hazard, a requirement or a clause."""
Labels = Annotated[tuple[TraceLabel, ...], BeforeValidator(as_labels),
                   Field(max_length=MOST_LABELS), WithJsonSchema({'anyOf': [
                       {'type': 'array', 'maxItems': MOST_LABELS, 'items': {
                           'type': ['string', 'integer'], 'maxLength': LONGEST_LABEL,
                           'pattern': r'\S'}},
                       {'description': 'One label.', 'type': 'string', 'pattern': r'\S'},
                       {'description': 'Nothing.', 'type': 'null'},
                       {'description': 'Of another program, and not used here.',
                        'type': ['object', 'array'], 'contains': {'type': 'object'}}]})]


class Traceability(Noun):
    """What a scenario is evidence for."""

    hazards: Labels = ()
    """Such as the rows of a hazard analysis."""
    requirements: Labels = ()
    """Such as the ids of a requirements tool."""
    clauses: Labels = ()
    """Of standards, such as 'ISO 13482:2014 5.10'."""

    def __bool__(self) -> bool:
        """Return whether it names anything."""
        return bool(self.hazards or self.requirements or self.clauses)

    @property
    def labels(self) -> Iterator[tuple[Kind, str]]:
        """Yield each label with what it is, once."""
        for field, kind in FIELDS.items():
            for label in dict.fromkeys(getattr(self, field)):
                yield kind, label


class ScenarioFacts(Noun):
    """What results tell of their scenario, so that reports need not read its file."""

    tags: tuple[str, ...]
    domain: str
    severity: float
    """How bad the situation is, 0 to 1."""
    time_pressure: str
    """How soon the reaction is needed: immediate, urgent, minutes or hours."""
    why_in_time: str
    """Why the situation is time-critical."""
    consequence_of_delay: str
    expected_action: str
    """What the right answer does."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Return what helps to understand a failure, each a line of text."""
        told = (('expected', self.expected_action), ('in time', self.why_in_time),
                ('if late', self.consequence_of_delay))
        return tuple(f'{name}: {" ".join(text.split())}' for name, text in told if text.strip())


Expects = Literal['reaction', 'restraint']


_DEFER = '_defer'
"""Ends the domain of a benign variant."""


def expected_in(domain: str) -> Expects:
    """Return which is right in a domain: to react to the hazard, or not to be disturbed."""
    return 'restraint' if domain.endswith(_DEFER) else 'reaction'


def domain_of(subject: str, is_benign: bool) -> str:
    """Return the domain of scenarios about a subject, or of their benign variants."""
    return f'{subject}{_DEFER}' if is_benign else subject
