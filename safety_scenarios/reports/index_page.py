# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Campaigns over time as one HTML file that needs no network: a table, and a chart for each trend.

Whatever others wrote (names of folders, controllers, scenarios) is text here and nothing else.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from safety_scenarios.model.estimate import Estimate
from safety_scenarios.reports.plain_text import on_one_line

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 360, 132, 58, 10, 10, 22
"""Of a chart, in CSS pixels."""
_MOST_FLAKY, _MOST_CHARTS = 500, 600


@dataclass(frozen=True)
class IndexRow:
    """One campaign of the table."""

    name: str
    started: str
    controller: str
    state: str
    scenarios: int
    verdict: str
    """Empty unless it has ended whole."""
    verdicts: Mapping[str, int]
    made: int | None
    """Trials that count; None: nobody can tell."""
    planned: int | None
    margins: str
    problem: str
    report: str
    """URL of its own report; empty without one."""


@dataclass(frozen=True)
class Point:
    """One campaign in a trend."""

    number: int
    value: float | None
    """None: too many observations are missing for one, as reactions that never came."""
    n: int
    low: float | None = None
    high: float | None = None
    censored: int = 0


@dataclass(frozen=True)
class Trend:
    """One figure of one scenario and controller over the campaigns."""

    scenario: str
    controller: str
    what: str
    unit: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Flaky:
    """A trial that was judged otherwise in another campaign."""

    scenario_id: str
    index: int
    seed: int
    verdicts: tuple[tuple[str, str], ...]
    """(campaign, verdict), in their order."""


@dataclass(frozen=True)
class IndexPage:
    """Everything on the page."""

    title: str
    rows: tuple[IndexRow, ...]
    trends: tuple[Trend, ...]
    flakiness: Estimate
    flaky_by_scenario: Mapping[str, Estimate]
    flaky: tuple[Flaky, ...]
    notes: tuple[str, ...]
    counted: tuple[str, ...]
    """Names of the campaigns in the trends; a point's number is a place here."""


def index_html(page: IndexPage) -> str:
    """Return the page."""
    title = f'Campaigns in {_text(page.title)}'
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            f'style-src \'unsafe-inline\'; script-src \'unsafe-inline\'">\n'
            f'<title>{title}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n'
            f'<header><h1>{title}</h1>\n<p>{_summary(page)}</p></header>\n<main>\n'
            + ''.join(f'{part}\n' for part in _parts(page))
            + f'</main>\n<script>{_SCRIPT}</script>\n</body>\n</html>\n')


def _summary(page: IndexPage) -> str:
    states: dict[str, int] = {}
    for row in page.rows:
        states[row.verdict or row.state] = states.get(row.verdict or row.state, 0) + 1
    return f'{len(page.rows)} campaigns: ' + ', '.join(
        f'{count} {_text(name)}' for name, count in sorted(states.items()))


def _parts(page: IndexPage) -> Iterator[str]:
    yield ('<section aria-labelledby="campaigns"><h2 id="campaigns">Campaigns</h2>'
           '<p><label for="filter">Show only rows with </label><input id="filter" type="search">'
           '</p>')
    yield _table(('campaign', 'started (UTC)', 'controller', 'state', 'verdict', 'trials',
                  'scenarios', 'worst margins', 'problem'),
                 (_cells(row) for row in page.rows), 'all')
    yield '</section>'
    for note in page.notes:
        yield f'<p class="note">{_text(note)}</p>'
    yield '<section aria-labelledby="flaky"><h2 id="flaky">Flakiness</h2>'
    yield from _flaky(page)
    yield '</section><section aria-labelledby="trends"><h2 id="trends">Trends</h2>'
    yield ('<p>From left to right, the oldest campaign first. A line through a point is its '
           '95 % interval; a cross at the top is a median that is no number, because too many '
           'reactions are missing. Latencies and margins are never averaged over scenarios.</p>'
           '<div class="charts">')
    for trend in page.trends[:_MOST_CHARTS]:
        yield _chart(trend, page.counted)
    yield '</div>'
    if len(page.trends) > _MOST_CHARTS:
        yield f'<p>{len(page.trends) - _MOST_CHARTS} more trends are left out.</p>'
    yield '</section>'


def _cells(row: IndexRow) -> Iterator[str]:
    name = _text(row.name)
    yield f'<a href="{escape(row.report)}">{name}</a>' if row.report else name
    yield _text(row.started)
    yield _text(row.controller)
    yield _text(row.state)
    counts = ', '.join(f'{count} {name}' for name, count in row.verdicts.items())
    yield f'<span class="{escape(row.verdict.lower())}" title="{_text(counts)}">' \
          f'{_text(row.verdict)}</span>' if row.verdict else ''
    made = '-' if row.made is None else f'{row.made}'
    yield made if row.planned is None else f'{made} of {row.planned}'
    yield str(row.scenarios)
    yield _text(row.margins)
    yield _text(row.problem)


def _flaky(page: IndexPage) -> Iterator[str]:
    yield (f'<p>The same trial is one with the same plan, seed, controller, link, settings and '
           f'version. Judged otherwise in another campaign: {_share(page.flakiness)} of '
           f'{page.flakiness.n} repeated trials.</p>')
    if page.flaky_by_scenario:
        yield _table(('scenario', 'judged otherwise', 'repeated trials'), (
            (_text(name), _share(share), str(share.n))
            for name, share in page.flaky_by_scenario.items()), 'shares')
    if page.flaky:
        yield _table(('scenario', 'index', 'seed', 'judged'), (
            (_text(one.scenario_id), str(one.index), str(one.seed), '; '.join(
                f'{_text(verdict)} in {_text(where)}' for where, verdict in one.verdicts))
            for one in page.flaky[:_MOST_FLAKY]), 'otherwise')
    if len(page.flaky) > _MOST_FLAKY:
        yield f'<p>{len(page.flaky) - _MOST_FLAKY} more are left out.</p>'


def _share(share: Estimate) -> str:
    if share.value is None:
        return 'unknown'
    ends = '' if share.low is None or share.high is None else \
        f' [{share.low:.1%}, {share.high:.1%}]'
    return f'{share.value:.1%}{ends}'


def _table(heads: Sequence[str], rows: Iterable[Iterable[str]], identifier: str) -> str:
    """Return a table of cells that are HTML already."""
    head = ''.join(f'<th scope="col"><button type="button">{name}</button></th>'
                   for name in heads)
    body = '\n'.join('<tr>' + ''.join(f'<td>{cell}</td>' for cell in cells) + '</tr>'
                     for cells in rows)
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{identifier}">'
            f'<table id="{identifier}"><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody>'
            f'</table></div>')


def _chart(trend: Trend, names: Sequence[str]) -> str:
    """Return one trend as SVG, with the same as words for whoever cannot see it."""
    told = f'{_text(trend.scenario)}, {_text(trend.controller)}: {_text(trend.what)}'
    unit = '' if trend.unit == '1' else f' ({_text(trend.unit)})'
    ends = [end for point in trend.points for end in (point.low, point.value, point.high)
            if end is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    high = high if high > low else low + 1.0
    across = max(1, len(names) - 1)

    def x(number: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (number / across if len(names) > 1 else 0.5)

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - value) / (high - low)
    marks = [f'<line class="axis" x1="{_LEFT}" y1="{y(0.0):.1f}" x2="{_WIDTH - _RIGHT}" '
             f'y2="{y(0.0):.1f}"/>']
    marks += [f'<text x="{_LEFT - 4}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>'
              for value in dict.fromkeys((low, high))]
    known = [point for point in trend.points if point.value is not None]
    marks.append('<polyline points="' + ' '.join(
        f'{x(point.number):.1f},{y(point.value or 0.0):.1f}' for point in known) + '"/>')
    for point in trend.points:
        where = f'{x(point.number):.1f}'
        if point.value is None:
            marks.append(f'<text class="missing" x="{where}" y="{_TOP + 8}" '
                         f'text-anchor="middle">×<title>{_told(point, trend, names)}</title>'
                         f'</text>')
            continue
        if point.low is not None or point.high is not None:
            bottom = low if point.low is None else point.low
            top = high if point.high is None else point.high
            marks.append(f'<line class="interval" x1="{where}" y1="{y(bottom):.1f}" '
                         f'x2="{where}" y2="{y(top):.1f}"/>')
        marks.append(f'<circle cx="{where}" cy="{y(point.value):.1f}" r="3">'
                     f'<title>{_told(point, trend, names)}</title></circle>')
    words = ''.join(f'<li>{_told(point, trend, names)}</li>' for point in trend.points)
    return (f'<figure><figcaption>{told}{unit}</figcaption><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            f'role="img" aria-label="{told}">{"".join(marks)}</svg>'
            f'<details><summary>as numbers</summary><ol>{words}</ol></details></figure>')


def _told(point: Point, trend: Trend, names: Sequence[str]) -> str:
    unit = '' if trend.unit == '1' else f' {_text(trend.unit)}'
    value = 'no number' if point.value is None else f'{point.value:.4g}{unit}'
    ends = '' if point.low is None and point.high is None else ' [' + ', '.join(
        'unbounded' if end is None else f'{end:.4g}' for end in (point.low, point.high)) + ']'
    missing = f', {point.censored} without a reaction' if point.censored else ''
    return f'{_text(names[point.number])}: {value}{ends}, n={point.n}{missing}'


def _text(text: str) -> str:
    return escape(on_one_line(text))


_CSS = """
:root{--fg:#1a1a1a;--bg:#fff;--muted:#595959;--line:#c8c8c8;--accent:#0b5fa5;--pass:#1b6e3c;
--inconclusive:#7a5200;--error:#7b2d8b;--fail:#b02318;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--fg:#e8e8e8;--bg:#161616;--muted:#a8a8a8;--line:#4a4a4a;
--accent:#7db8ee;--pass:#6fcf97;--inconclusive:#e5b567;--error:#d79be6;--fail:#ff8a80}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);margin:0 auto;
max-width:76rem;padding:1rem}
h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}
td{unicode-bidi:isolate;overflow-wrap:anywhere;min-width:4rem}
th,td{border-bottom:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top}
th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible{outline:2px solid var(--accent)}
a{color:var(--accent)}.note{color:var(--inconclusive)}
.pass{color:var(--pass)}.fail{color:var(--fail);font-weight:700}
.inconclusive{color:var(--inconclusive)}.error{color:var(--error)}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(22rem,100%),1fr));gap:1rem}
figure{margin:0;border:1px solid var(--line);padding:.5rem;break-inside:avoid}
figcaption{font-weight:600;overflow-wrap:anywhere}svg{width:100%;height:auto}
svg text{fill:var(--muted);font-size:11px}svg .missing{fill:var(--fail);font-size:15px}
svg circle{fill:var(--accent)}svg polyline{fill:none;stroke:var(--accent);stroke-width:1}
svg .axis{stroke:var(--line)}svg .interval{stroke:var(--accent);stroke-width:1.5;opacity:.5}
@media print{input,label{display:none}}
"""
_SCRIPT = """
'use strict';
document.getElementById('filter').addEventListener('input', function (event) {
  const wanted = event.target.value.toLowerCase();
  for (const row of document.querySelectorAll('#all tbody tr')) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
  }
});
for (const button of document.querySelectorAll('th button')) {
  button.addEventListener('click', function () {
    const head = button.parentElement;
    const at = Array.prototype.indexOf.call(head.parentElement.children, head);
    const body = head.closest('table').tBodies[0];
    const down = head.getAttribute('aria-sort') === 'ascending';
    for (const other of head.parentElement.children) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const rows = Array.from(body.rows);
    rows.sort(function (one, other) {
      const order = one.cells[at].textContent.localeCompare(
        other.cells[at].textContent, 'en', {numeric: true});
      return down ? -order : order;
    });
    body.append(...rows);
  });
}
"""
