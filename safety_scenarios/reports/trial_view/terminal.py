# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A trial, or the list of all of them, in a terminal or in a pipe."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
import sys
from textwrap import wrap
from typing import Any, cast, IO

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text
from safety_scenarios.errors import counted
from safety_scenarios.reports.plain_text import PlainText
from safety_scenarios.reports.trial_view.characters import (
    ASCII,
    BLOCKS,
    Glyphs,
    lanes,
    latency_lines,
)
from safety_scenarios.reports.trial_view.display_text import on_one_line
from safety_scenarios.scenario.verdict import Verdict

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
    failure_class: str = 'none'
    failed: int = 0
    """How many of its findings are FAIL."""
    late_ms: float = 0.0
    """How much later than critical the reaction came; infinite: never."""
    warmup: bool = False


class _Screen(Console):
    """A console that does not end with 1, which says that a trial failed."""

    def on_broken_pipe(self) -> None:
        """Leave it to whoever called when nobody reads on, as behind ``| head``."""
        raise BrokenPipeError


def screen() -> Console:
    """Return a console as wide as the terminal; in a pipe 80 columns of ASCII, no colours."""
    found = _Screen(emoji=False, highlight=False)
    return found if found.is_terminal else _Screen(
        emoji=False, highlight=False, width=_IN_A_PIPE, no_color=True,
        file=cast(IO[str], PlainText(sys.stdout)))


def worst_first(rows: Sequence[Row]) -> Sequence[Row]:
    """
    Return the rows, the worst verdict first; what was not run comes last.

    Of one verdict by failure class (A, B, D), then by how many findings failed, then by how late
    the reaction was: margins in metres and in seconds cannot be held against each other.
    """
    return sorted(rows, key=lambda row: (
        row.verdict is None, -(row.verdict.rank if row.verdict else 0), row.failure_class.lower(),
        -row.failed, -row.late_ms, row.number))


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
    if 'stands_ms' in latency:
        yield Text(f'It stands after {latency["stands_ms"]:.0f} ms, {latency["way"]:.3f} '
                   f'{latency["way_unit"]} on, {latency["stands_source"]}.')
    if 'confirmed_ms' in latency:
        yield Text(f'The robot confirmed it after {latency["confirmed_ms"]:.1f} ms: '
                   f'{latency["confirmed_class"]}.')
    if cost is not None:
        there = 'how much there was is not known' if cost['available'] is None else \
            f'there were {cost["available"]:.2f} m, {cost["left"]:.2f} m left'
        yield Text(f'In metres: it needs S_p = {cost["required"]:.2f} m at {cost["speed"]:.2f} '
                   f'm/s; {there}. A further 100 ms cost {cost["per_100_ms"]:.3f} m.')


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
        yield Text('No world told where anything was: paths and gaps are reckoned from the '
                   'commands.', style='dim')


def _findings(view: Mapping[str, Any], width: int) -> Iterator[RenderableType]:
    yield _title('Findings')
    for one in view['findings']:
        verdict = one['verdict'] or 'not evaluated'
        margin = '' if one['margin'] is None else f'  margin {one["margin"]} {one["unit"] or ""}'
        when = '' if one['at'] is None else f'  at {seconds(one["at"])}'
        yield Text.assemble((f'{verdict:<13}', _COLOURS.get(verdict, 'dim')),
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
