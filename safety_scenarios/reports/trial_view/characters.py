# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a view made of characters: a latency in its budget, and lanes over time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any

Lane = tuple[str, str, str]
"""(name, one character for each column, what is said beside it)."""
_FEWEST = 16
"""Columns below which there is no picture."""
_APART = 7
"""Columns between two times below a picture, at least."""
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0, 3600.0)


@dataclass(frozen=True)
class Glyphs:
    """What a picture is made of."""

    levels: str
    """From lowest to highest."""
    bands: str
    """Of a budget: target, acceptable, critical, violation."""
    bar: str
    hazard: str
    tick: str
    point: str
    reach: str
    """An interval about a point."""


BLOCKS = Glyphs('▁▂▃▄▅▆▇█', '░▒▓█', '─', '━', '│', '●', '─')
ASCII = Glyphs('_.-=+*%#', '.-=#', '-', '=', '|', 'O', '~')


def latency_lines(view: Mapping[str, Any], width: int, glyphs: Glyphs) -> Sequence[str]:
    """Return a latency in its budget: a scale of bands, the value with its interval, limits."""
    latency = view['latency']
    if latency is None or width < _FEWEST:
        return ()
    limits = latency['budget_ms']
    most = 1.15 * max(limits[-1], latency['high_ms'] or 0.0, latency['ms'] or 0.0)

    def column(ms: float) -> int:
        return min(width - 1, max(0, int(width * ms / most)))

    bands = [glyphs.bands[sum(ms > limit for limit in limits)]
             for ms in (most * (place + 0.5) / width for place in range(width))]
    marks = [' '] * width
    if latency['ms'] is not None:
        for place in range(column(latency['low_ms']), column(latency['high_ms']) + 1):
            marks[place] = glyphs.reach
        marks[column(latency['ms'])] = glyphs.point
    names = ', '.join(f'{band} {name} {limit:g}' for band, name, limit in zip(
        glyphs.bands, ('target', 'acceptable', 'critical'), limits, strict=False))
    return [''.join(marks).rstrip() if latency['ms'] is not None else
            'no reaction'.rjust(width), ''.join(bands),
            f'0 to {most:.0f} ms; {names}, {glyphs.bands[3]} violation']


def lanes(view: Mapping[str, Any], width: int, glyphs: Glyphs) -> Iterator[Lane]:
    """Yield what happened over time, lane by lane, the axis last."""
    begin, end = view['window']
    scale = _Scale(begin, end, width)
    yield 'phase', _phases(view, scale, glyphs), ''
    for one in view['stimuli']:
        cells = [' '] * width
        for begin, end in one['spans']:
            for place in scale.columns(begin, end):
                cells[place] = glyphs.hazard if one['hazard'] else glyphs.bar
        yield one['topic'], ''.join(cells), 'hazard' if one['hazard'] else ''
    if view['words']:
        cells = [' '] * width
        for one in view['words']:
            for place in scale.columns(one['t'], one['t']):
                if cells[place] != glyphs.point:
                    cells[place] = glyphs.point if one['sut'] else 'o'
        yield 'words, calls', ''.join(cells), f'{glyphs.point} the controller'
    for one in view['commands']:
        yield (one['name'], *_series(scale, one['t'], one['v'], glyphs, one['unit'], held=True))
    truth = view['truth']
    if truth is not None:
        for name, values, lowest in (("robot's speed", truth['speed'], False),
                                     ('gap', truth['gap'], True),
                                     ('S_p', truth['required'], False)):
            if any(value is not None for value in values):
                unit = 'm' if name in ('gap', 'S_p') else 'm/s'
                yield (name, *_series(scale, truth['t'], values, glyphs, unit, lowest=lowest))
    yield '', _marks(view, scale), ''
    yield f's after {view["zero"].split()[-1]}', _axis(scale), ''


@dataclass(frozen=True)
class _Scale:
    """Which column a time is in."""

    begin: int
    end: int
    width: int

    def columns(self, begin: float, end: float) -> range:
        """Return the columns of a span of time; none if it is not seen at all."""
        if end < self.begin or begin > self.end:
            return range(0)
        return range(self.column(begin), self.column(end) + 1)

    def column(self, t_ms: float) -> int:
        """Return the column of a time, the nearest one of what is not seen."""
        share = (t_ms - self.begin) / max(1, self.end - self.begin)
        return min(self.width - 1, max(0, int(share * self.width)))

    def begins(self, column: int) -> float:
        """Return the time (ms) at which a column starts."""
        return self.begin + (self.end - self.begin) * column / self.width


def _phases(view: Mapping[str, Any], scale: _Scale, glyphs: Glyphs) -> str:
    cells = [' '] * scale.width
    for phase in view['phases']:
        places = scale.columns(phase['begin'], phase['end'])
        if phase['end'] <= scale.begin or not places:
            continue
        name = f'{glyphs.tick}{phase["name"]}'[:len(places)]
        for place, letter in zip(places, name.ljust(len(places)), strict=True):
            cells[place] = letter
    return ''.join(cells)


def _series(scale: _Scale, times: Sequence[int], values: Sequence[float | None],
            glyphs: Glyphs, unit: str, *, held: bool = False,
            lowest: bool = False) -> tuple[str, str]:
    """Return a series, in each column its highest or lowest value, and what its ends mean."""
    found = [_inside(times, values, scale.begins(place), scale.begins(place + 1), held=held)
             for place in range(scale.width)]
    cells = [None if not inside else (min if lowest else max)(inside) for inside in found]
    known = [value for inside in found for value in inside]
    if not known:
        return ' ' * scale.width, 'not known'
    low, high = min(0.0, *known), max(known)
    reach = (high - low) or 1.0
    levels = len(glyphs.levels) - 1
    drawn = ''.join(' ' if value is None else glyphs.levels[round(levels * (value - low) / reach)]
                    for value in cells)
    return drawn, f'{min(known):.3g} to {high:.3g} {unit}'


def _inside(times: Sequence[int], values: Sequence[float | None], begin: float, end: float, *,
            held: bool) -> Sequence[float]:
    """Return the values in a stretch of time, with the one that it begins with."""
    inside = [value for t_ms, value in zip(times, values, strict=True) if begin <= t_ms < end]
    before = [value for t_ms, value in zip(times, values, strict=True) if t_ms < begin]
    if before and (held or not inside):
        inside = [before[-1], *inside]
    return [value for value in inside if value is not None]


def _marks(view: Mapping[str, Any], scale: _Scale) -> str:
    """Return the first letter of each moment, where its place is taken one column on."""
    cells = [' '] * scale.width
    for one in view['moments']:
        for place in scale.columns(one['t'], one['t']):
            free = [at for at in range(place, scale.width) if cells[at] == ' ']
            if free:
                cells[free[0]] = str(one['what'])[:1].upper()
    return ''.join(cells)


def _axis(scale: _Scale) -> str:
    """Return round times below the columns that they are in."""
    cells = [' '] * scale.width
    span = (scale.end - scale.begin) / 1e3
    least = span * _APART / scale.width
    step = next(one for one in _STEPS if one >= least or one == _STEPS[-1])
    at = math.ceil(scale.begin / 1e3 / step)
    while at * step <= scale.end / 1e3:
        text, place = f'{at * step:+g}' if at else '0', scale.column(at * step * 1e3)
        if place + len(text) <= scale.width:
            cells[place:place + len(text)] = text
        at += max(1, math.ceil(least / step))
    return ''.join(cells)
