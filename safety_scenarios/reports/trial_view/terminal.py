# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A trial, or the list of all of them, in a terminal or in a pipe."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import math
import sys
from textwrap import wrap
from typing import Any, cast, IO

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from safety_scenarios.errors import counted
from safety_scenarios.reports.console_report import Screen
from safety_scenarios.reports.plain_text import PlainText
from safety_scenarios.reports.trial_view.timeline import on_one_line
from safety_scenarios.scenario.verdict import Verdict

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
    """
    Return a series, and what its ends mean.

    :param lowest: each column has its lowest value; else what differs most from the rest of it,
        so that a short dip is seen, and a short peak too
    """
    found = [_inside(times, values, scale.begins(place), scale.begins(place + 1), held=held)
             for place in range(scale.width)]
    cells = [None if not inside else min(inside) if lowest else _oddest(inside)
             for inside in found]
    known = [value for inside in found for value in inside]
    if not known:
        return ' ' * scale.width, 'not known'
    low, high = min(0.0, *known), max(known)
    reach = (high - low) or 1.0
    levels = len(glyphs.levels) - 1
    drawn = ''.join(' ' if value is None else glyphs.levels[round(levels * (value - low) / reach)]
                    for value in cells)
    return drawn, f'{min(known):.3g} to {high:.3g} {unit}'


def _oddest(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return max(max(values), min(values), key=lambda value: abs(value - mean))


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


_IN_A_PIPE = 80
"""Columns where no terminal says how wide it is."""
_COLOURS = {'PASS': 'green', 'INCONCLUSIVE': 'yellow', 'ERROR': 'magenta', 'FAIL': 'red'}
_NAME, _SAID = 14, 20
"""Columns of a lane's name, and of what is said beside it."""
_INDENT = 13
"""Columns that a sentence stands to the right of its heading."""
_SAYS = {'say': 'says', 'tool_call': 'calls', 'tool_result': 'is answered', 'response': 'answers',
         'prompt': 'in the prompt', 'call': 'is asked', 'call_state': 'call', 'judge': 'judges'}


@dataclass(frozen=True)
class Row:
    """One planned trial in the list."""

    number: int
    """From 1 on, in the order of the plan: ``show`` takes it."""
    trial_id: str
    scenario: str
    name: str
    verdict: Verdict | None
    """None: it has no result."""
    reason: str
    urgency: tuple[float, ...] = ()
    """The least one is the worst trial; of a trial that has a result."""
    warmup: bool = False


def screen() -> Console:
    """Return a console as wide as the terminal; in a pipe 80 columns of ASCII, no colours."""
    found = Screen(emoji=False, highlight=False)
    return found if found.is_terminal else Screen(
        emoji=False, highlight=False, width=_IN_A_PIPE, no_color=True,
        file=cast(IO[str], PlainText(sys.stdout)))


def worst_first(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows, the worst trial first; what was not run comes last."""
    return sorted(rows, key=lambda row: (row.verdict is None, row.urgency, row.number))


def list_of(rows: Sequence[Row], title: str) -> Table:
    """Return all trials as a table, in the order that they are given in."""
    table = Table(title=Text(on_one_line(title), style='bold'), title_justify='left',
                  box=None, pad_edge=False, padding=(0, 1))
    table.add_column('no.', justify='right')
    for name in ('verdict', 'scenario'):
        table.add_column(name, no_wrap=name == 'verdict')
    table.add_column('why', overflow='fold', ratio=1)
    for row in rows:
        verdict = 'no result' if row.verdict is None else row.verdict.value
        table.add_row(
            str(row.number), Text(verdict, style=_COLOURS.get(verdict, 'dim')),
            Text(f'{on_one_line(row.name)}\n{on_one_line(row.scenario)}'
                 + (', warm-up' if row.warmup else '')),
            Text(on_one_line(row.reason, 300)))
    return table


def trial_of(view: Mapping[str, Any], console: Console) -> Iterator[RenderableType]:
    """Yield what is printed of a trial, part by part."""
    glyphs = BLOCKS if console.is_terminal and console.encoding.lower().startswith('utf') \
        else ASCII
    which = f'warm-up {-view["index"]}' if view['warmup'] else f'trial {view["number"]}'
    yield Text.assemble((view['verdict'], f'bold {_COLOURS[view["verdict"]]}'), '  ',
                        (view['name'], 'bold'), f' ({view["scenario"]}, {which})')
    yield Text(view['reason'])
    drawn = ', '.join(f'{name} {value}' for name, value in view['drawn'].items())
    yield Text(f'{view["controller"]}, seed {view["seed"]}' + (f'; drawn: {drawn}' if drawn
                                                               else ''), style='dim')
    yield from _latency(view, console, glyphs)
    yield from _timeline(view, console, glyphs)
    yield from _findings(view, console.width)
    yield from _moments(view)
    yield from _words(view, console.width)
    yield from _rest(view)


def _indented(text: str, width: int) -> Text:
    """Return a text below what it belongs to, each of its lines at its own place."""
    lines = [found for line in text.split('\n')
             for found in wrap(line, max(20, width - _INDENT)) or ['']]
    return Text('\n'.join(f'{"":{_INDENT}}{line}'.rstrip() for line in lines))


def _title(text: str) -> Text:
    return Text(f'\n{text}', style='bold')


def _latency(view: Mapping[str, Any], console: Console,
             glyphs: Glyphs) -> Iterator[RenderableType]:
    latency, cost = view['latency'], view['cost']
    if latency is None:
        return
    yield _title('Latency')
    yield Text(latency['sentence'])
    for line in latency_lines(view, min(console.width, 100) - 2, glyphs):
        yield Text('  ' + line)
    if 'parts_sentence' in latency:
        yield Text(f'Where the time went: {latency["parts_sentence"]}.')
    if 'stands_sentence' in latency:
        yield Text(f'{latency["stands_sentence"]}.')
    if 'confirmed_ms' in latency:
        yield Text(f'The robot confirmed it after {latency["confirmed_ms"]:.1f} ms: '
                   f'{latency["confirmed_class"]}.')
    if cost is not None:
        there = 'how much there was is not known' if cost['available'] is None else \
            f'there were {cost["available"]:.2f} m, {cost["left"]:.2f} m left'
        yield Text(f'In metres: with this reaction it needs {cost["required"]:.2f} m at '
                   f'{cost["speed"]:.2f} m/s; {there}. A further 100 ms cost '
                   f'{cost["per_100_ms"]:.3f} m.')


def _timeline(view: Mapping[str, Any], console: Console,
              glyphs: Glyphs) -> Iterator[RenderableType]:
    width = min(console.width, 140) - _NAME - _SAID - 2
    if width < 16 or view['window'][1] <= view['window'][0]:
        return
    yield _title('Timeline')
    for name, cells, said in lanes(view, width, glyphs):
        yield Text.assemble((name[:_NAME].rjust(_NAME), 'dim'), ' ', cells, ' ',
                            (said[:_SAID], 'dim'), no_wrap=True, overflow='crop')
    letters = {str(one['what'])[:1].upper(): str(one['what']) for one in view['moments']}
    if letters:
        yield Text(' ' * (_NAME + 1) + ', '.join(
            f'{letter} {what}' for letter, what in letters.items()), style='dim')
    if view['truth'] is None:
        yield Text(view['truth_why'], style='dim')
    elif view['truth']['predicted']:
        yield Text('No simulator published positions: paths and gaps are computed from the '
                   'commands.', style='dim')


def _findings(view: Mapping[str, Any], width: int) -> Iterator[RenderableType]:
    yield _title('Findings')
    for one in view['findings']:
        verdict = one['verdict'] or 'not evaluated'
        margin = '' if one['margin'] is None else f'  margin {one["margin"]} {one["unit"] or ""}'
        when = '' if one['at'] is None else f'  at {seconds(one["at"])}'
        yield Text.assemble((f'{verdict:<14}', _COLOURS.get(verdict, 'dim')),
                            (one['check'], 'bold'), margin.rstrip(), when)
        yield _indented(one['reason'], width)
    if view['findings_left_out']:
        yield Text(f'{counted(view["findings_left_out"], "more finding")} in the record')


def _moments(view: Mapping[str, Any]) -> Iterator[RenderableType]:
    phases = [{'t': one['begin'], 'what': f'{one["name"]} begins', 'text': ''}
              for one in view['phases']]
    yield _title('What happened when')
    for one in sorted([*phases, *view['moments']], key=lambda found: int(found['t'])):
        text = f': {one["text"]}' if one['text'] else ''
        yield Text(f'{seconds(one["t"]):>11}  {one["what"]}{text}')
    for one in view['stimuli']:
        spans = '; '.join(f'{seconds(begin)} to {seconds(end)}' for begin, end in one['spans'])
        yield Text(f'  {one["topic"]}{" (hazard)" if one["hazard"] else ""}: {one["what"]}, '
                   f'{spans}')


def _words(view: Mapping[str, Any], width: int) -> Iterator[RenderableType]:
    if not view['words']:
        return
    yield _title('Words and tool calls')
    for one in view['words']:
        yield Text.assemble(f'{seconds(one["t"]):>11}  ', (one['who'], 'bold'),
                            f' {_SAYS.get(one["kind"], one["kind"])}'
                            + (' (the controller that is judged)' if one['sut'] else ''))
        yield _indented(one['text'].expandtabs(4), width)
    if view['words_left_out']:
        yield Text(f'{counted(view["words_left_out"], "more entry", "more entries")} in the '
                   f'record')


def _rest(view: Mapping[str, Any]) -> Iterator[RenderableType]:
    if view['facts']:
        yield _title('Figures')
        yield Text('; '.join(f'{name}: {value}' for name, value in view['facts']))
    for text in view['notes']:
        yield Text(f'note: {text}', style='yellow')
    if view['film']:
        yield Text(f'film: {view["film"]}')


def seconds(t_ms: float) -> str:
    """Return a time after zero in words."""
    return f'{t_ms / 1e3:+.2f} s' if abs(t_ms) >= 5 else '0.00 s'
