# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""A strip: some moments of a trial side by side, and below them its axes over time."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from safety_scenarios.reports.film import style as words
from safety_scenarios.reports.film.pages import (
    caption,
    footer,
    header_height,
    legend,
    shape_of,
    Sheet,
    time_axes,
)
from safety_scenarios.reports.film.top_view import draw_floor, draw_moment, draw_paths, View
from safety_scenarios.reports.scene.scene import Scene

MOMENTS = 6
_WIDTH, _LEFT, _RIGHT, _BETWEEN = 12.0, 0.62, 0.15, 0.12
_TITLE, _TICKS, _LEGEND, _TIMES, _FOOTER = 0.56, 0.27, 0.50, 2.27, 0.74
_FLATTEST, _IN_A_ROW = 1.9, 3
"""A view that is wider than high is drawn in two rows of three, else all are in one row."""
_CLOSE = 0.04
"""Two moments that are nearer than this share of the window are one."""
_BEFORE_S, _AFTER_S = 0.5, 0.7
"""How long before the onset the first moment is, and after all of interest the last one."""
_NUMBERS = '123456789'


def draw_strip(scenes: Sequence[Scene]) -> Sheet:
    """
    Return a strip of one trial, or of two below each other whose moments are the same.

    What is drawn at a moment is the frame in force then; its number is on the axes below.
    """
    shape = shape_of(scenes, _FLATTEST)
    found = moments(scenes)
    across = _IN_A_ROW if shape > 1.3 and len(scenes) == 1 else len(found)
    down = -(-len(found) // across)
    inner = _WIDTH - _LEFT - _RIGHT
    each = (inner - _BETWEEN * (across - 1)) / across
    height = each / shape
    block = down * (_TITLE + height) + _TICKS + _LEGEND + _TIMES + _FOOTER
    headers = [header_height([scene], _WIDTH) - 0.1 for scene in scenes]
    sheet = Sheet(_WIDTH, sum(headers) + block * len(scenes))
    view, top = View.of(scenes, shape), 0.0
    for scene, header in zip(scenes, headers, strict=True):
        caption(sheet, scene, 0.15, _WIDTH - 0.3, top)
        for place, t_s in enumerate(found):
            row, column = divmod(place, across)
            axes = sheet.axes(_LEFT + column * (each + _BETWEEN), top + header + _TITLE
                              + row * (height + _TITLE), each, height)
            _draw(axes, scene, t_s, view, place, close_to(scenes))
            axes.tick_params(labelleft=not column, labelbottom=row == down - 1)
        below = top + header + down * (_TITLE + height) + _TICKS
        legend(sheet, scenes, below)
        speed, gap = time_axes(sheet, scenes, scene, (_LEFT, below + _LEGEND, inner))
        _number(gap, found)
        footer(sheet, scene, 0.15, _WIDTH - 0.3, top + header + block - 0.08)
        top += header + block
    return sheet


def moments(scenes: Sequence[Scene]) -> Sequence[float]:
    """
    Return the moments of a strip (s): onset, reactions, standstills, least gaps, and in between.

    The largest gaps between them are filled, so that no long time goes unseen.
    """
    begin = min(scene.window[0] for scene in scenes)
    end = max(scene.window[1] for scene in scenes)
    close = close_to(scenes)
    found: list[float] = []
    for t_s in _of_interest(scenes):
        if begin <= t_s <= end and len(found) < MOMENTS - 1 \
                and all(abs(t_s - other) >= close for other in found):
            found.append(t_s)
    before = max(begin, -_BEFORE_S)
    if before <= -close:
        found.append(before)
    edges = sorted({*found, min(end, max([1.0, *found]) + _AFTER_S)})
    while len(found) < MOMENTS and len(edges) > 1:
        gaps = [(then - since, since, then) for since, then in pairwise(edges) if since >= -close]
        _, since, then = max(gaps)
        new = edges[-1] if edges[-1] not in found else (since + then) / 2
        found.append(new)
        edges = sorted({*edges, new})
    return sorted(found)


def close_to(scenes: Sequence[Scene]) -> float:
    """Return how near two moments are that need not both be drawn (s)."""
    return _CLOSE * (max(scene.window[1] for scene in scenes)
                     - min(scene.window[0] for scene in scenes))


def _of_interest(scenes: Sequence[Scene]) -> Iterator[float]:
    if any(scene.has_onset for scene in scenes):
        yield max(scene.first.t_s for scene in scenes)
    for scene in scenes:
        if scene.figures.reaction_s is not None:
            yield scene.figures.reaction_s
        if scene.figures.least is not None:
            yield scene.figures.least.t_s
    for scene in scenes:
        if scene.stands_s is not None:
            yield scene.stands_s


def _draw(axes: Axes, scene: Scene, t_s: float, view: View, place: int, close: float) -> None:
    frame = scene.at(t_s)
    draw_floor(axes, scene, view, labels=False)
    draw_paths(axes, scene, t_s)
    draw_moment(axes, scene, frame)
    axes.tick_params(labelsize=words.SMALL - 1.5)
    speed = '-' if frame.robot.speed is None else f'{frame.robot.speed:.2f} m/s'
    lines = ((f'{_NUMBERS[place]}   {words.seconds(t_s)}', words.INK, 'bold'),
             (_event(scene, t_s, close), words.INK, 'bold'),
             (f'{speed}, gap {words.metres(frame.gap)}', words.FAINT, 'normal'))
    for row, (text, colour, weight) in enumerate(reversed(lines)):
        axes.annotate(text, (0.0, 1.0), xycoords='axes fraction', xytext=(0, 1 + 10.5 * row),
                      textcoords='offset points', fontsize=words.SMALL, color=colour,
                      fontweight=weight, va='bottom')


def _event(scene: Scene, t_s: float, close: float) -> str:
    """Return what happens at a moment in a word or two; what is drawn with it has its time."""
    figures = scene.figures
    named = [(scene.first.t_s if scene.has_onset else None, 'onset'),
             (figures.reaction_s, 'reaction'), (scene.stands_s, 'stands'),
             (figures.least.t_s if figures.least else None, 'least gap')]
    return ', '.join(name if abs(when - t_s) < words.SAME_S else
                     f'{name} {words.seconds(when)}' for when, name in named
                     if when is not None and abs(when - t_s) < close)


def _number(axes: Axes, found: Sequence[float]) -> None:
    """Write the numbers of the moments on the upper edge of the axes over time."""
    for place, t_s in enumerate(found):
        axes.text(t_s, 1.0, _NUMBERS[place], transform=axes.get_xaxis_transform(), ha='center',
                  va='center', fontsize=words.SMALL - 1, fontweight='bold', color='white',
                  zorder=8, bbox={'boxstyle': 'circle,pad=0.18', 'facecolor': words.INK,
                                  'linewidth': 0})
