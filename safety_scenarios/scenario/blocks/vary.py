# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How the world of a scenario varies from trial to trial, and a scenario with values put in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    model_serializer,
    model_validator,
    SerializerFunctionWrapHandler,
)
from safety_scenarios.scenario.message import parse_path
from safety_scenarios.scenario.noun import Noun

STIMULI = 'ros.stimuli'
"""The list of which a draw with ``keeps`` leaves some out."""
_ROOTS = ('ros.stimuli', 'ros.nominal.stimuli', 'ros.nominal.changes', 'ros.all_clear',
          'ros.invariants', 'ros.separation', 'ros.world', 'agents')
_IDENTITY = ('kind', 'topic', 'message', 'frame', 'rate_hz', 'name')
"""What a stimulus or an invariant is: with another one, the wiring or the checks would differ."""


def ascending(value: tuple[float, float]) -> tuple[float, float]:
    """
    Return least and most.

    :raises ValueError: they are not in that order
    """
    least, most = value
    if not least < most:
        advice = 'Swap the two' if least > most else \
            'Write a single value where it belongs, without a draw'
        raise ValueError(f'got {least:g} to {most:g}, expected least < most. {advice}')
    return value


class Draw(Noun):
    """
    One thing that differs from trial to trial; drawn from the trial's seed.

    Draws are independent of each other. Fields that must have the same value take it from one
    draw, by several paths in ``sets``. For different values that belong together, draw the whole
    block that holds them, if it has no ``kind``: such as a ``choice`` of mappings for
    ``ros.stimuli[0].walks``. There is no other way: write two files.
    """

    range: Annotated[tuple[float, float], AfterValidator(ascending)] | None = None  # noqa: A003
    """Least and most; every value between them is as likely."""
    ranges: Annotated[tuple[Annotated[tuple[float, float], AfterValidator(ascending)], ...],
                      Field(min_length=2)] | None = None
    """Ranges, each as likely; one that is named twice is twice as likely. So most trials may be
    short, and a few long."""
    choice: Annotated[tuple[Any, ...], Field(min_length=2)] | None = None
    """Values, each as likely; one that is named twice is twice as likely."""
    decimals: int | None = Field(default=None, ge=0, le=9)
    """Digits behind the point of what is drawn from a range, whose ends have no more of them;
    each such number is as likely. Left out: the numbers are not rounded."""
    unit: str | None = None
    """Unit of the values; if given, it must be that of every field that is set and states one."""
    sets: tuple[str, ...] = ()
    """Field paths that take the value, such as ros.stimuli[0].distance; a whole stimulus or
    invariant is not one. In a scenario in words ``{name}`` in a text takes it instead."""
    keeps: Literal['ros.stimuli'] | None = None
    """Each choice is a list of topics: of the hazard's stimuli only those on them are shown."""

    @model_validator(mode='after')
    def _one_form(self) -> 'Draw':
        given = [one for one in (self.range, self.ranges, self.choice) if one is not None]
        if len(given) != 1:
            raise ValueError(f'got {len(given)} of range, ranges and choice, expected one of them')
        if self.decimals is not None:
            self._check_ends(self.decimals)
        if self.keeps is not None:
            if self.choice is None or self.sets:
                raise ValueError('got keeps without choice, or with sets, expected it with choice '
                                 'alone')
            for topics in self.choice:
                if not isinstance(topics, Sequence) or isinstance(topics, str) or not topics:
                    raise ValueError(f'got {topics!r}, expected a list of at least one topic for '
                                     f'each choice, such as [scan, human_pose]')
        return self

    def _check_ends(self, decimals: int) -> None:
        if self.choice is not None:
            raise ValueError('got decimals with choice, expected them with range or ranges. Write '
                             'each choice as it is to be')
        for ends in self.ranges or (self.range or (),):
            for end in ends:
                if round(end, decimals) != end:
                    raise ValueError(f'got {end:g} as an end, expected a number with at most '
                                     f'{decimals} digits behind the point, as decimals says')

    @model_serializer(mode='wrap')
    def _without_decimals(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what older records have not."""
        data: dict[str, Any] = handler(self)
        if self.decimals is None:
            data.pop('decimals', None)
        return data

    @property
    def is_in_text(self) -> bool:
        """Whether ``{name}`` in a text takes the value, and no field that a path names."""
        return not self.sets and self.keeps is None

    @property
    def probes(self) -> tuple[Any, ...]:
        """Values that must all be valid: the extremes and one between them, or every choice."""
        if self.extent is None:
            found: list[Any] = []
            for value in self.choice or ():
                if value not in found:
                    found.append(value)
            return tuple(found)
        least, most = self.extent
        values = least, most, least + (most - least) * 0.381966
        return tuple(self.rounded(value) for value in values)

    def rounded(self, value: float) -> float:
        """Return a number with as many digits as the draw has; a whole one is no fraction."""
        return value if self.decimals is None else round(value, self.decimals or None)

    @property
    def ranked(self) -> tuple[Any, ...] | None:
        """The ends of a range, or different choices in their order; None: they have no order."""
        found = self.range if self.range is not None else \
            self.probes if self.choice is not None and self.is_in_text else ()
        return found if len(found) > 1 else None

    def share_of(self, value: Any) -> float:
        """Return where a value is from the first of what is ranked, 0, to the last, 1."""
        ranked = self.ranked or (value,)
        if self.range is not None:
            return float((value - ranked[0]) / (ranked[-1] - ranked[0]))
        return ranked.index(value) / (len(ranked) - 1)

    @property
    def extent(self) -> tuple[float, float] | None:
        """Least and most of a range, or of all ranges; None for a choice."""
        ends = self.ranges or (() if self.range is None else (self.range,))
        return (min(least for least, _ in ends), max(most for _, most in ends)) if ends else None


def used(draw: Draw) -> Draw:
    """
    Return a draw of a robot's scenario.

    :raises ValueError: nothing uses it
    """
    if draw.is_in_text:
        raise ValueError('got a draw that nothing uses. Say in sets which fields take its '
                         'value, or in keeps what it leaves out')
    return draw


def steps_to(path: str) -> tuple[str | int, ...]:
    """
    Return a field path as names and indices.

    :raises ValueError: it is none, or leads to what may not differ from trial to trial
    """
    steps = parse_path(path)
    if not any(path.startswith((f'{root}.', f'{root}[')) for root in _ROOTS):
        raise ValueError(f'got {path!r}, expected a field of {", ".join(_ROOTS[:-1])}. The '
                         f'start of the hazard is drawn from ros.nominal.duration_ms')
    if steps[-1] in _IDENTITY or '*' in steps:
        raise ValueError(f'got {path!r}, which may not differ from trial to trial. Name a field '
                         f'with a value, such as ros.stimuli[0].distance')
    return steps


def unit_at(noun: Any, steps: Sequence[str | int]) -> str | None:
    """
    Return the unit of the field that ``steps`` lead to; None where nobody states one.

    :param noun: a noun, or what one holds
    :raises LookupError: there is no such field, or no value alone; says which step is wrong
    """
    step, rest = steps[0], steps[1:]
    unit: str | None = None
    if isinstance(noun, Noun):
        field = type(noun).model_fields.get(str(step))
        if field is None:
            raise LookupError(f'{step!r} is unknown, expected one of '
                              f'{", ".join(type(noun).model_fields)}')
        extra = field.json_schema_extra
        stated = extra.get('unit') if isinstance(extra, dict) else None
        unit = str(stated) if stated else 'ms' if str(step).endswith('_ms') else None
        inner = getattr(noun, str(step))
    else:
        inner = _inner(noun, step)
    if rest:
        return unit_at(inner, rest)
    if _has_kind(inner):
        raise LookupError(f'it names a whole block, expected one field of it. Add which, such as '
                          f'{_first_field(inner)}')
    return unit


def value_at(noun: Any, steps: Sequence[str | int]) -> Any:
    """
    Return what ``steps`` lead to.

    :raises LookupError: there is no such field
    """
    for step in steps:
        noun = getattr(noun, str(step)) if isinstance(noun, Noun) else _inner(noun, step)
    return noun


def _has_kind(value: Any) -> bool:
    """Return whether a value is a block that its ``kind`` reads, or holds one."""
    if isinstance(value, Noun):
        return 'kind' in type(value).model_fields or any(
            _has_kind(getattr(value, name)) for name in type(value).model_fields)
    return isinstance(value, (tuple, list)) and any(map(_has_kind, value))


def _first_field(block: Any) -> str:
    """Return the path, inside a block or a list of them, of the first field that may be drawn."""
    if not isinstance(block, Noun):
        return f'[0]{_first_field(block[0])}'
    known = [name for name in type(block).model_fields if name not in _IDENTITY]
    given = [name for name in known if name in block.model_fields_set
             and not _has_kind(getattr(block, name))]
    return f'.{(given or known)[0]}'


def with_value(noun: Any, paths: Iterable[Sequence[str | int]], value: Any) -> Any:
    """
    Return a copy in which the fields that ``paths`` lead to have another value, all at once.

    Every noun on the way is validated again by its own fields, when all of them are set: the
    corners of a polygon that move together do not cross it on their way.

    :raises LookupError: there is no such field
    :raises pydantic.ValidationError: the value does not fit
    """
    behind: dict[str | int, list[Sequence[str | int]]] = {}
    for steps in paths:
        if not steps:
            return value
        behind.setdefault(steps[0], []).append(steps[1:])
    is_noun = isinstance(noun, Noun)
    inner = {step: with_value(getattr(noun, str(step), None) if is_noun else _inner(noun, step),
                              rest, value) for step, rest in behind.items()}
    if is_noun:
        own = {name: getattr(noun, name) for name in noun.model_fields_set}
        return type(noun).model_validate({**own, **inner})
    if isinstance(noun, Mapping):
        return {**noun, **inner}
    return tuple(inner.get(place, item) for place, item in enumerate(noun))


def _inner(holder: Any, step: str | int) -> Any:
    if isinstance(step, int) and isinstance(holder, (tuple, list)):
        if not 0 <= step < len(holder):
            raise LookupError(f'[{step}] is not there, expected 0 to {len(holder) - 1}')
        return holder[step]
    if isinstance(step, str) and isinstance(holder, Mapping) and step in holder:
        return holder[step]
    known = ', '.join(map(str, holder)) if isinstance(holder, Mapping) else 'nothing'
    raise LookupError(f'{step!r} is not there, expected one of {known}')
