# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Values of a scenario in words: fields with units, times, and what is drawn in each trial."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import starmap
from typing import Any

from safety_scenarios.scenario.blocks.vary import Draw, unit_at
from safety_scenarios.scenario.fields import flat
from safety_scenarios.scenario.message import parse_path
from safety_scenarios.scenario.noun import Noun

_NAMES = ('kind', 'topic', 'name', 'severity', 'message', 'rate_hz', 'description')
"""Fields that stand before the others, or say nothing of what is shown or demanded."""
_MANY = 4
"""Choices of a draw that stand where it is used; more stand in a list of their own."""


def stimulus_text(one: Any, place: str, draws: Mapping[str, str]) -> str:
    """Return what a stimulus shows, with what is drawn for the fields below a place."""
    told = field_texts(one, place, draws, (), _NAMES)
    if one.kind == 'person' and 'distance' in told:
        told = {'distance': f'{told.pop("distance")} to the centre', **told}
    return ', '.join((str(one.kind), *starmap(_named, told.items())))


def _named(name: str, text: str) -> str:
    """Return a field with its value, in words where the name is only one of the file."""
    if name == 'drop':
        return f'messages lost: {text}'
    if text == 'true' and 'data.' not in name:
        return name.replace('.', ' ').replace('_', ' ')
    return f'{name.removesuffix("_ms")} {text}'


def fields_text(noun: Noun, place: str, draws: Mapping[str, str],
                leave_out: Collection[str] = _NAMES) -> str:
    """Return the fields of a block that are not as usual, on one line."""
    return ', '.join(f'{name} {text}' for name, text in
                     field_texts(noun, place, draws, (), leave_out).items())


def field_texts(noun: Noun, place: str, draws: Mapping[str, str], wanted: Collection[str] = (),
                leave_out: Collection[str] = _NAMES) -> dict[str, str]:
    """Return each field of a block that is not its default, or what it is drawn from."""
    every = noun.model_dump(mode='json')
    given = noun.model_dump(mode='json', exclude_defaults=True)
    for path, text in draws.items():
        if path.startswith(f'{place}.'):
            _replace(given, parse_path(path[len(place) + 1:]), _Drawn(text))
    found = dict(flat({name: given.get(name, every[name]) for name in every
                       if name in given or name in wanted and every[name] is not None}))
    return {name: _with_unit(noun, name, value) for name, value in found.items()
            if name.partition('.')[0] not in leave_out}


class _Drawn(str):
    """What a field is drawn from, with its unit."""


def _replace(holder: Any, steps: Sequence[str | int], text: str) -> None:
    """Put a text in the place of a value; what leads to it may be left out as it is usual."""
    for step in steps[:-1]:
        holder = holder.setdefault(step, {}) if isinstance(holder, dict) else holder[step]
    holder[steps[-1]] = text


def _with_unit(noun: Noun, name: str, value: Any) -> str:
    if isinstance(value, _Drawn):
        return str(value)
    try:
        unit = unit_at(noun, tuple(name.split('.')))
    except (LookupError, TypeError):
        unit = 'ms' if name.partition('.')[0].endswith('_ms') else None
    return value_text(value) + (f' {unit}' if unit else '')


def is_long(draw: Draw) -> bool:
    """Return whether a draw has too many choices to name them where it is used."""
    return draw.extent is None and len(draw.probes) > _MANY


def choices_text(draw: Draw, unit: str = '', least: int | None = None) -> str:
    """
    Return what is drawn from, with the share of each where they differ.

    :param least: choices at the beginning that are shown if there are many; None: all
    """
    if draw.extent is not None:
        counts = Counter(_span(ends, unit) for ends in draw.ranges or (draw.range or draw.extent,))
    else:
        counts = Counter(map(_choice, draw.choice or ()))
    is_even = len({*counts.values()}) == 1
    told = [text if is_even or (count == 1 and draw.extent is None)
            else f'{text} ({count} in {counts.total()})' for text, count in counts.items()]
    if draw.extent is None and unit:
        told[-1] += f' {unit}'
    if least is not None and len(told) > _MANY:
        told[least:-1] = ['...']
    has_commas = draw.ranges is not None or is_long(draw) and least is None
    return ' or '.join((', '.join(told[:-1]), told[-1])) if len(told) > 2 and has_commas \
        else ' or '.join(told)


def _choice(value: Any) -> str:
    if isinstance(value, Mapping):
        return ', '.join(map(_choice, value.values()))
    if isinstance(value, str) and len(value.split()) != 1:
        text = '; '.join(line.strip() for line in value.strip().split('\n'))
        return f'"{text}"' if text else '(nothing)'
    return value_text(value)


def _span(ends: tuple[float, float], unit: str = '') -> str:
    if unit == 'ms':
        return time_text(*ends)
    return f'{ends[0]:g} to {ends[1]:g} {unit}'.rstrip()


def time_text(*values: float) -> str:
    """Return a time, or the ends of a range, in s from one second on, else in ms."""
    unit, factor = ('s', 1e3) if max(values) >= 1000 else ('ms', 1.0)
    return f'{" to ".join(f"{value / factor:g}" for value in dict.fromkeys(values))} {unit}'


def value_text(value: Any) -> str:
    """Return a value on one line, whole."""
    if isinstance(value, Mapping):
        return ', '.join(f'{name} {value_text(one)}' for name, one in value.items())
    if isinstance(value, (list, tuple)):
        told = [f'({value_text(one)})' if isinstance(one, Mapping) else value_text(one)
                for one in value]
        return f'[{", ".join(told)}]'
    return f'{value:g}' if isinstance(value, float) else str(value).lower() \
        if isinstance(value, bool) else ' '.join(str(value).split())
