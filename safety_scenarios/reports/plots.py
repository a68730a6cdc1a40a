# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Figures of campaigns for papers, and boundary maps (SVG, PNG); needs matplotlib (extra ``plot``).

The same results give the same bytes with one version of matplotlib: no file holds a date.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal, TYPE_CHECKING

import numpy
from safety_scenarios.errors import MissingDependencyError, TraceError
from safety_scenarios.reports.plain_text import on_one_line
from safety_scenarios.scenario.blocks.traceability import expected_in
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate, LatencyBudget, Verdict
from safety_scenarios.trial.summary import CampaignSummary

try:
    from matplotlib import rc_context
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.patches import Rectangle
except ImportError:
    raise MissingDependencyError('a figure', 'matplotlib',
                                 "pip install 'safety_scenarios[plot]', or pip install "
                                 'matplotlib') from None

if TYPE_CHECKING:
    from safety_scenarios.studies.search.study import BoundarySearch

Picture = Literal['svg', 'png']
_PROBABILITIES, _BOUNDARY_DPI = 'RdYlGn_r', 150
_STYLE: Mapping[str, object] = {
    'font.family': ['DejaVu Sans'], 'font.size': 8.0, 'axes.linewidth': 0.6,
    'text.usetex': False, 'text.parse_math': False, 'svg.hashsalt': 'safety_scenarios',
    'svg.fonttype': 'path', 'text.hinting': 'none', 'axes.unicode_minus': False,
    'figure.facecolor': 'white', 'axes.facecolor': 'white', 'savefig.bbox': None}
_METADATA: Mapping[Picture, Mapping[str, None]] = {
    'svg': {'Date': None, 'Creator': None}, 'png': {'Software': None}}
_BANDS = ('#CFE8DC', '#E9F0D0', '#F9E3BF', '#F3CFC6')
"""Target, acceptable, critical, violation: light enough for black points."""
_INK, _BLUE, _RED = '#1A1A1A', '#0B5FA5', '#B02318'
_WIDTH, _ROW, _REST = 7.0, 0.26, 1.1
"""Inches: of the figure, of one of its rows, and of what is above and below them."""
_MOST_ROWS, _LONGEST = 200, 44
_DPI = 200


@dataclass(frozen=True)
class Plotted:
    """One campaign of a figure."""

    name: str
    summary: CampaignSummary
    results: Sequence[TrialResult]
    """Without warm-up."""
    budgets: Mapping[str, LatencyBudget]
    """Scenario id to its budget; in a scenario that varies, that of its first trial."""


def draw(name: str, campaigns: Sequence[Plotted], path: Path, how: Picture) -> None:
    """
    Draw one of ``FIGURES``.

    :raises OSError: the disk is full, or the folder is gone
    """
    with rc_context(dict(_STYLE)):
        figure = FIGURES[name](campaigns)
        FigureCanvasAgg(figure)
        figure.savefig(path, format=how, dpi=_DPI, metadata=dict(_METADATA[how]))


def _latencies(campaigns: Sequence[Plotted]) -> Figure:
    """Draw each judged latency against the bands of its budget, a row for each scenario."""
    rows = [(campaign, row) for campaign in campaigns for row in campaign.summary.scenarios
            if row.latency_ms or row.not_measured or (
                expected_in(row.domain) == 'reaction' and row.verdict is not Verdict.PASS)]
    labels = [
        f'{row.scenario_id}{_campaign_suffix(campaign, campaigns)}' for campaign, row in rows]
    figure, axes = _sheet('Judged latency against its budget', labels)
    most = max([1.0, *(budget.critical_ms for campaign, row in rows
                       if (budget := campaign.budgets.get(row.scenario_id))),
                *(value for _, row in rows for value in row.latency_ms if value is not None)])
    right = 1.25 * most
    for at, (campaign, row) in enumerate(rows[:_MOST_ROWS]):
        _bands(axes, at, campaign.budgets.get(row.scenario_id), right)
        numbers = [value for value in row.latency_ms if value is not None]
        axes.plot(numbers, _spread(at, len(numbers)), linestyle='', marker='o', markersize=2.6,
                  markerfacecolor='none', markeredgecolor=_INK, markeredgewidth=0.6)
        if row.median_ms.value is not None:
            axes.plot([row.median_ms.value] * 2, [at - 0.34, at + 0.34], color=_BLUE,
                      linewidth=1.4)
        missing = len(row.latency_ms) - len(numbers)
        told = [f'{missing} without reaction'] if missing else []
        unknown = row.trials - len(row.latency_ms)
        told += [f'{unknown} not measured'] if unknown else []
        axes.text(right * 0.995, at, ', '.join(told), ha='right', va='center', color=_RED,
                  fontsize=6.5)
    axes.set_xlim(0.0, right)
    axes.set_xlabel('latency from onset to reaction (ms); line: median; bands: target, '
                    'acceptable, critical, violation')
    return figure


def _bands(axes: Axes, at: int, budget: LatencyBudget | None, right: float) -> None:
    if budget is None:
        return
    ends = [0.0, budget.target_ms, budget.acceptable_ms, budget.critical_ms, right]
    for low, high, colour in zip(ends, ends[1:], _BANDS):
        axes.barh(at, max(0.0, high - low), left=low, height=0.86, color=colour, linewidth=0.0,
                  zorder=0.5)


def _margins(campaigns: Sequence[Plotted]) -> Figure:
    """Draw each margin, a row for each check, of one unit after the other."""
    rows: dict[tuple[str, str], list[float]] = {}
    without: dict[str, list[Verdict | None]] = {}
    for campaign in campaigns:
        for result in campaign.results:
            for finding in result.findings:
                name = f'{finding.check}{_campaign_suffix(campaign, campaigns)}'
                if finding.margin is not None and finding.verdict is not None:
                    rows.setdefault((finding.unit or '1', name), []).append(finding.margin)
                else:
                    without.setdefault(name, []).append(finding.verdict)
    has_margin = {name for _, name in rows}
    rows |= {('-', name): [] for name, verdicts in without.items()
             if set(verdicts) != {Verdict.PASS} and name not in has_margin}
    order = sorted(rows)
    units = sorted({unit for unit, _ in order})
    largest = {unit: max((abs(value) for key in order if key[0] == unit for value in rows[key]),
                         default=0.0) or 1.0 for unit in units}
    figure, axes = _sheet('Margins: distance to the limit, > 0 holds',
                          [f'{name} ({unit})' for unit, name in order])
    for at, key in enumerate(order[:_MOST_ROWS]):
        values = rows[key]
        scale = largest[key[0]]
        axes.scatter([value / scale for value in values], _spread(at, len(values)), 6.8,
                     facecolors='none', linewidths=0.6, zorder=2.0,
                     edgecolors=[_INK if value > 0.0 else _RED for value in values])
        told = [f'least {min(values):.3g} {key[0]}'] if values else []
        missing = without.get(key[1], [])
        failed = missing.count(Verdict.FAIL)
        undecided = len(missing) - failed - missing.count(Verdict.PASS)
        told += [f'no number: {failed} FAIL, {undecided} undecided'] if missing else []
        axes.annotate('; '.join(told), (1.05, at), (4.0, 0.0), textcoords='offset points',
                      va='center', fontsize=6.5, annotation_clip=False,
                      color=_RED if failed else _INK)
    axes.axvline(0.0, color=_RED, linewidth=0.8)
    axes.set_xlim(-1.05, 1.05)
    axes.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
    axes.set_xlabel('margin, as a share of the largest in its unit')
    return figure


def _pairs(campaigns: Sequence[Plotted]) -> Figure:
    """Draw both error rates of each campaign as one point; they are never averaged."""
    figure = Figure(figsize=(4.6, 4.6), layout='constrained')
    axes = figure.add_subplot()
    untold = []
    for number, campaign in enumerate(campaigns):
        missed, stops = campaign.summary.missed, campaign.summary.false_stops
        name = _drawable(campaign.name)
        if missed.share.value is None or stops.share.value is None:
            untold.append(name)
            continue
        axes.errorbar([stops.share.value], [missed.share.value], xerr=_ends(stops.share),
                      yerr=_ends(missed.share), fmt='osD^v'[number % 5], markersize=4.0,
                      linewidth=0.8, capsize=2.0, label=name + _open(
                          missed.undecided + stops.undecided))
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel('false stops: share of benign trials')
    axes.set_ylabel('hazards missed: share of hazard trials')
    axes.set_title('Both error rates, 95 % intervals over scenarios')
    if len(untold) < len(campaigns):
        axes.legend(loc='upper right', fontsize=6.5)
    if untold:
        axes.text(0.5, 0.5, 'no point, as one rate has no decided trial:\n' + '\n'.join(
            untold[:10]), ha='center', va='center', color=_RED, fontsize=6.5)
    return figure


FIGURES: Mapping[str, Callable[[Sequence[Plotted]], Figure]] = {
    'latency': _latencies, 'margins': _margins, 'pairs': _pairs}


def grid(path: Path, title: str, labels: Sequence[str], columns: Sequence[str],
         squares: Sequence[Sequence[tuple[str, str]]]) -> None:
    """
    Draw a table of coloured squares, each with a short text.

    :param path: whose ending is .svg or .png
    :param squares: by row: text and colour
    :raises OSError: the disk is full, or the folder is gone
    """
    how: Picture = 'png' if path.suffix.lower() == '.png' else 'svg'
    with rc_context(dict(_STYLE)):
        figure, axes = _sheet(title, labels)
        for row, cells in enumerate(squares[:_MOST_ROWS]):
            for column, (text, colour) in enumerate(cells):
                axes.add_patch(Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=colour,
                                         edgecolor='none'))
                axes.text(column, row, _drawable(text), ha='center', va='center', fontsize=5.5)
        axes.set_xticks(range(len(columns)), [_drawable(name) for name in columns], fontsize=6,
                        rotation=30, ha='left')
        axes.xaxis.tick_top()
        axes.set_xlim(-0.5, len(columns) - 0.5)
        FigureCanvasAgg(figure)
        figure.savefig(path, format=how, dpi=_DPI, metadata=dict(_METADATA[how]))


def _sheet(title: str, labels: Sequence[str]) -> tuple[Figure, Any]:
    """Return a figure with a row for each label, the first at the top."""
    shown = labels[:_MOST_ROWS]
    figure = Figure(figsize=(_WIDTH, _REST + _ROW * max(1, len(shown))), layout='constrained')
    axes = figure.add_subplot()
    left = len(labels) - len(shown)
    axes.set_title(title + (f' (first {len(shown)} rows; {left} more)' if left else ''))
    axes.set_yticks(range(len(shown)), [
        '\n'.join(map(_drawable, wrap(label, _LONGEST, max_lines=2))) for label in shown],
        fontsize=6.5)
    axes.set_ylim(max(1, len(shown)) - 0.5, -0.5)
    if not shown:
        axes.text(0.5, 0.5, 'nothing was measured', ha='center', va='center',
                  transform=axes.transAxes)
    return figure, axes


def _spread(at: int, count: int) -> list[float]:
    """Return heights that keep equal values apart, always the same."""
    return [at + 0.28 * ((number * 0.618034) % 1.0 - 0.5) * 2.0 for number in range(count)]


def _ends(share: Estimate) -> list[list[float]] | None:
    if share.low is None or share.high is None or share.value is None:
        return None
    return [[share.value - share.low], [share.high - share.value]]


def _open(undecided: int) -> str:
    return f' ({undecided} undecided trials beside it)' if undecided else ''


def _campaign_suffix(campaign: Plotted, campaigns: Sequence[Plotted]) -> str:
    return f' [{campaign.name}]' if len(campaigns) > 1 else ''


def _drawable(text: str) -> str:
    """Return a text in the letters that the font has; others become escapes."""
    known = _letters()
    return ''.join(one if ord(one) in known else f'\\u{ord(one):04x}'
                   for one in on_one_line(text, _LONGEST))


def _letters() -> Mapping[int, int]:
    found: Mapping[int, int] = get_font(findfont('DejaVu Sans')).get_charmap()
    return found


def draw_boundary(found: 'BoundarySearch', path: Path) -> None:
    """
    Draw probability, the 5 % and 95 % lines, and each trial.

    :raises TraceError: it cannot be written
    """
    figure = Figure(figsize=(6.4, 4.8))
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    one, other = (found.space.axes[place] for place in found.axes)
    known = found.found
    sides = [(0.0, float(axis.size)) if axis.size else axis.extent for axis in (one, other)]
    shown = axes.imshow(known.probability.T, origin='lower', aspect='auto', vmin=0, vmax=1,
                        cmap=_PROBABILITIES, extent=(*sides[0], *sides[1]))
    figure.colorbar(shown, label='probability that most trials fail')
    if min(known.probability.shape) > 1:
        middles = [low + (numpy.arange(count) + 0.5) / count * (high - low)
                   for (low, high), count in zip(sides, known.probability.shape)]
        axes.contour(*middles, known.probability.T, levels=[0.05, 0.5, 0.95], colors='black',
                     linestyles=['dotted', 'solid', 'dashed'], linewidths=0.8)
    _draw_trials(axes, found, sides)
    for axis, name, ticks in ((one, axes.set_xlabel, axes.set_xticks),
                              (other, axes.set_ylabel, axes.set_yticks)):
        name(axis.name + (f' ({axis.unit})' if axis.unit else ''))
        if axis.size:
            ticks([place + 0.5 for place in range(axis.size)],
                  [axis.text(place) for place in range(axis.size)])
    axes.set_title(found.scenario_id)
    try:
        figure.savefig(path, dpi=_BOUNDARY_DPI, metadata={'Software': None})
    except OSError as error:
        raise TraceError(f'{path}: cannot be written: {error.strerror}') from None


def _draw_trials(axes: Axes, found: 'BoundarySearch', sides: list[tuple[float, float]]) -> None:
    low = numpy.array([side[0] for side in sides])
    wide = numpy.array([side[1] - side[0] for side in sides])
    points = low + found.found.points * wide
    for fails, marker, label in ((False, 'o', 'passes'), (True, 'x', 'fails'),
                                 (None, '_', 'not decided')):
        chosen = points[[one is fails for one in found.found.failing]]
        if len(chosen):
            axes.scatter(chosen[:, 0], chosen[:, 1], marker=marker, s=14, c='black',
                         linewidths=0.8, label=label)
    axes.legend(loc='upper center', bbox_to_anchor=(0.5, -0.13), ncols=3, frameon=False)
