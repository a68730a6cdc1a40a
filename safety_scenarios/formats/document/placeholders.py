# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Texts of a scenario file with ``{name}`` in them, which takes the value that a trial draws.

``{name.key}`` takes one entry of a drawn mapping, and ``{{name}}`` is ``{name}`` itself. Braces
around anything else are what they are: a quantifier of a pattern, or JSON. Only files with the
key ``vary`` have placeholders.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
import json
import math
import re
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import did_you_mean, Problem
from safety_scenarios.formats.document.messages import describe, show
from safety_scenarios.formats.document.positions import Document, Path
from safety_scenarios.scenario.blocks.vary import Draw

VARY = 'vary'
MAX_DRAWS, MAX_CHOICES, MAX_TEXT = 20, 100, 10_000
"""Draws of a file; choices of one; characters of a text that is chosen."""
_MAX_FILLED = 1_000_000
"""Characters of a file with its values in it, as of one that has none."""
_NAME = r'[a-z][a-z0-9_]{0,39}'
_PLACE = re.compile(rf'(\{{?)\{{({_NAME})(?:\.({_NAME}))?\}}(\}}?)')
_DRAW_NAME = re.compile(_NAME)
_TEXT_KEYS = frozenset((
    'action', 'any_word', 'content', 'description', 'fails', 'goals', 'judge_criterion', 'means',
    'no_word', 'pattern', 'say', 'trigger'))
"""Keys of texts: there a number is written out. Elsewhere a value alone keeps its type."""
_LEFT_OUT_BY = ('content', 'say')
"""A message or line of which this becomes empty is left out."""
_FIXED = frozenset(('agent', 'as', 'from', 'kind', 'topic'))
"""Keys whose values make the wiring, and may not differ from trial to trial."""
Where = Sequence[Path]
"""Field paths below which texts may have placeholders; ``*`` is any step."""


def checked_draws(document: Document, files: Sequence[tuple[Document, Where]]) \
        -> tuple[Mapping[str, Draw], list[Problem]]:
    """
    Return the draws of a file by their names, and what is wrong with them: then there are none.

    :param files: in which they are used, and where there
    """
    draws, problems = _draws_of(document)
    if draws and not problems and files[0][0].drawn is None:
        problems += _misplaced(draws, files)
    return {} if problems else draws, problems


def _draws_of(document: Document) -> tuple[dict[str, Draw], list[Problem]]:
    data = document.data
    if not isinstance(data, Mapping) or VARY not in data or isinstance(data.get('ros'), Mapping):
        return {}, []  # of a robot it is below ros
    block = data[VARY]
    if not isinstance(block, Mapping) or not 1 <= len(block) <= MAX_DRAWS:
        return {}, [document.problem((VARY,), (
            f'got {show(block) if not isinstance(block, Mapping) else f"{len(block)} draws"}, '
            f'expected a mapping of 1 to {MAX_DRAWS} names to draws, such as dose: {{range: '
            f'[2, 8], decimals: 0}}'))]
    draws: dict[str, Draw] = {}
    problems: list[Problem] = []
    for name, given in block.items():
        try:
            draws[name] = Draw.model_validate(given)
        except ValidationError as error:
            problems += [document.problem((VARY, name, *path), sentence, at_key)
                         for path, sentence, at_key in describe(
                             error.errors(include_url=False), Draw)]
        else:
            problems += [document.problem((VARY, name, *path), sentence)
                         for path, sentence in _unfit(name, draws[name])]
    return draws, problems


def _unfit(name: str, draw: Draw) -> Iterator[tuple[Path, str]]:
    """Yield what keeps a draw from being put into a text."""
    if not _DRAW_NAME.fullmatch(name):
        yield (), (f'got the name {name[:60]!r}, expected a small letter, then up to 39 small '
                   f'letters, digits and _. Rename it')
    if not draw.is_in_text:
        yield (), (f'got sets or keeps, expected neither in a scenario in words. Write {{{name}}} '
                   f'where the value belongs')
    if draw.choice is None:
        if draw.decimals is None:
            yield (), ('got a range without decimals, expected how many digits behind the point '
                       'are written, such as decimals: 1')
        return
    if len(draw.choice) > MAX_CHOICES:
        yield ('choice',), f'got {len(draw.choice)} choices, expected at most {MAX_CHOICES}'
    keys = {frozenset(one) if isinstance(one, Mapping) else None for one in draw.choice}
    if len(keys) > 1:
        yield ('choice',), ('got choices with other keys than the first, expected the same in '
                            'each: a text takes one by its key')
    for index, one in enumerate(draw.choice):
        for key, value in (one.items() if isinstance(one, Mapping) else [('', one)]):
            place = ('choice', index, *([key] if key else []))
            if key and not _DRAW_NAME.fullmatch(key):
                yield place, (f'got the key {key[:60]!r}, expected a small letter, then up to 39 '
                              f'small letters, digits and _. Rename it')
            if not isinstance(value, (str, int, float)) or (
                    isinstance(value, float) and not math.isfinite(value)):
                yield place, f'got {show(value)}, expected a text or a number'
            elif isinstance(value, str) and len(value) > MAX_TEXT:
                yield place, (f'got {len(value)} characters, expected at most {MAX_TEXT}. '
                              f'Shorten it')
            elif isinstance(value, str) and _PLACE.search(value):
                yield place, ('got braces around a name, expected none: a value is put in as it '
                              'is. Draw what differs under a name of its own')


def _misplaced(draws: Mapping[str, Draw],
               files: Sequence[tuple[Document, Where]]) -> Iterator[Problem]:
    """Yield placeholders that no draw fills or that may not differ, and draws of no use."""
    used, length = set[str](), 0
    for document, where in files:
        for path, text in _texts(document.data, ()):
            if '{' not in text:
                continue
            is_open = any(_is_below(path, place) for place in where) \
                and not _FIXED.intersection(path)
            for found in _PLACE.finditer(text):
                name, key = found[2], found[3]
                if found[1] and found[4]:
                    continue
                used.add(name)
                if name in draws and not is_open:
                    yield document.problem(path, (
                        f'got {{{name}}}, which may not differ from trial to trial here. Write a '
                        f'fixed text, or {{{{{name}}}}} for the braces themselves'))
                elif is_open:
                    told = _wrong(name, key, draws, is_written=_alone(text, path) is None)
                    if told:
                        yield document.problem(path, told)
                        continue
                    length += _longest(draws[name], key)
    if length > _MAX_FILLED:
        yield files[0][0].problem((), (
            f'got up to {length} characters with the drawn values put in, expected at most '
            f'{_MAX_FILLED}. Shorten the choices, or use them less often'))
    for name in draws:
        if name not in used:
            yield files[-1][0].problem((VARY, name), (
                f'got a draw that no text uses, expected {{{name}}} in one. Remove it, or write '
                f'it there'))


def _wrong(name: str, key: str | None, draws: Mapping[str, Draw], *, is_written: bool) -> str:
    """
    Return why nothing can be put in; empty: something can.

    :param is_written: in a text, and not as it is
    """
    if name not in draws:
        return (f'got {{{name}}}, expected one of the draws of vary: {", ".join(draws)}.'
                f'{did_you_mean(name, draws)} Write {{{{{name}}}}} for the braces themselves')
    value = draws[name].probes[0]
    keys = list(value) if isinstance(value, Mapping) else []
    if (key is None) != (not keys):
        return f'got {{{name}}}, expected one of its keys: {{{name}.{keys[0]}}}' if keys else \
            f'got {{{name}.{key}}}, expected {{{name}}}: what is drawn has no keys'
    if key is not None and key not in keys:
        hint = did_you_mean(key, keys)
        return f'got {{{name}.{key}}}, expected one of its keys: {", ".join(keys)}' \
            f'{f".{hint}" if hint else ""}'
    is_bool = any(isinstance(_value(one, key), bool) for one in draws[name].probes)
    return f'got true or false for {{{name}}} in a text, expected words. Put them in quotes, ' \
           f'such as "yes"' if is_written and is_bool else ''


def _longest(draw: Draw, key: str | None) -> int:
    return max(len(_written(draw, _value(value, key))) for value in draw.probes)


def _texts(data: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield every text of a file with its path, but for the draws themselves."""
    if isinstance(data, str):
        yield path, data
    elif path != (VARY,):
        items = data.items() if isinstance(data, Mapping) else \
            enumerate(data) if isinstance(data, tuple) else ()
        for step, inner in items:
            yield from _texts(inner, (*path, step))


def _is_below(path: Path, place: Path) -> bool:
    return len(path) >= len(place) and all(
        wanted in ('*', step) for step, wanted in zip(path, place))


def filled(document: Document, draws: Mapping[str, Draw], where: Where) -> Document:
    """
    Return a document with the drawn values in its texts; of other draws what is named first.

    What does not change stays the same object.
    """
    if not draws:
        return document
    values = {**_first_values(draws), **(document.drawn or {})}
    kept: dict[str, list[int]] = {}
    return document.with_data(
        {key: value if key == VARY else _filled(value, (key,), draws, values, where, kept)
         for key, value in document.data.items()}, kept)


def _filled(value: Any, path: Path, draws: Mapping[str, Draw], values: Mapping[str, Any],
            where: Where, kept: dict[str, list[int]]) -> Any:
    if isinstance(value, str):
        is_open = '{' in value and any(_is_below(path, place) for place in where) \
            and not _FIXED.intersection(path)
        return _filled_text(value, path, draws, values) if is_open else value
    if isinstance(value, Mapping):
        put = {key: _filled(inner, (*path, key), draws, values, where, kept)
               for key, inner in value.items()}
        if value.get('check_type') == 'regex' or 'check_type' not in value:
            pattern = value.get('pattern')
            if isinstance(pattern, str) and put['pattern'] is not pattern:
                put['pattern'] = _filled_text(pattern, (*path, 'pattern'), draws, values,
                                              re.escape)
        return value if all(put[key] is inner for key, inner in value.items()) else put
    if isinstance(value, tuple):
        items = [_filled(inner, (*path, index), draws, values, where, kept)
                 for index, inner in enumerate(value)]
        if len(path) == 1:
            left = [index for index, item in enumerate(items)
                    if item is value[index] or not _is_empty(item)]
            if len(left) < len(items):
                kept[str(path[0])] = left
                items = [items[index] for index in left]
        return value if len(items) == len(value) and all(
            item is inner for item, inner in zip(items, value)) else tuple(items)
    return value


def _is_empty(item: Any) -> bool:
    return isinstance(item, Mapping) and any(
        isinstance(item.get(key), str) and not item[key].strip() for key in _LEFT_OUT_BY)


def _filled_text(text: str, path: Path, draws: Mapping[str, Draw], values: Mapping[str, Any],
                 escape: Callable[[str], str] = str) -> Any:
    def value_of(found: re.Match[str]) -> Any:
        return _value(values[found[2]], found[3])

    def written(found: re.Match[str]) -> str:
        if found[1] and found[4]:
            return found[0][1:-1]
        return f'{found[1]}{escape(_written(draws[found[2]], value_of(found)))}{found[4]}'

    alone = _alone(text, path)
    return value_of(alone) if alone else _PLACE.sub(written, text)


def _alone(text: str, path: Path) -> re.Match[str] | None:
    """Return the placeholder that is all of a text, where its value need be no text."""
    found = _PLACE.fullmatch(text)
    return None if found is None or found[1] or found[4] or _TEXT_KEYS.intersection(path) \
        else found


def _value(value: Any, key: str | None) -> Any:
    return value[key] if key is not None and isinstance(value, Mapping) else value


def _written(draw: Draw, value: Any) -> str:
    if isinstance(value, str):
        return value
    if draw.decimals is not None and not isinstance(value, bool):
        return f'{value:.{draw.decimals}f}'
    return json.dumps(value)


def _first_values(draws: Mapping[str, Draw]) -> dict[str, Any]:
    return {name: draw.probes[0] for name, draw in draws.items()}


Read = Callable[[Mapping[str, Any]], Mapping[str, str]]
"""Values of all draws to what is wrong with the file then: field to message."""


def misdrawn(document: Document, draws: Mapping[str, Draw], wrong: Read) -> Iterator[Problem]:
    """
    Yield what is wrong with a file with some of the values that can be drawn.

    Looked at are the extremes of each range, a value between them and every choice, the others
    at their first; and all at their last.
    """
    first, told = _first_values(draws), set[str]()
    worlds = [{name: value} for name, draw in draws.items() for value in draw.probes[1:]]
    if draws:
        worlds.append({name: draw.probes[1 if draw.extent else -1]
                       for name, draw in draws.items()})
    for world in worlds:
        for field, message in wrong({**first, **world}).items():
            if field not in told:
                told.add(field)
                values = ', '.join(f'{name} = {show(value)}' for name, value in world.items())
                yield document.problem((VARY, next(iter(world))),
                                       f'with {values}: {field}: {message}')


def as_fields(problems: Sequence[Problem]) -> dict[str, str]:
    return {problem.field: problem.message for problem in problems}
