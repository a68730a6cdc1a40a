# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whole pictures: caption, view from above and axes; strips of moments; the frames of a film."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
import math
import textwrap
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
import numpy
from numpy.typing import NDArray
from safety_scenarios.reports.film import style as words
from safety_scenarios.reports.film.axes import (
    draw_floor,
    draw_gap,
    draw_moment,
    draw_paths,
    draw_speed,
    limits,
    nearest_points,
    View,
)
from safety_scenarios.reports.scene.scene import CALLED, Frame, Scene

DPI = 120
_WIDE_ONE, _WIDE_EACH = 8.0, 6.2
"""Width of a picture of one trial, and of each of two (inches)."""
_LEFT, _RIGHT = 0.62, 0.15
_HEADER, _LEGEND, _SPEED, _GAP, _FOOTER = 0.52, 0.55, 0.95, 1.2, 0.74
_LINE = 0.16
_MOST_LINES = 3
_FLATTEST, _STEEPEST = 2.6, 1.25
"""Width of a view by its height, at most and at least."""


@dataclass(frozen=True)
class Panels:
    """The axes of one trial on a sheet."""

    top: Axes
    speed: Axes
    gap: Axes


class Sheet:
    """A figure on which everything has its place in inches from the left and from the top."""

    def __init__(self, width: float, height: float) -> None:
        even = [2 * math.ceil(size * DPI / 2) / DPI for size in (width, height)]
        self.width, self.height = even
        self.figure = Figure(figsize=(self.width, self.height), dpi=DPI)
        self.canvas = FigureCanvasAgg(self.figure)

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        return self.figure.add_axes((left / self.width, 1 - (top + height) / self.height,
                                     width / self.width, height / self.height))

    def text(self, left: float, top: float, text: str, **style: Any) -> None:
        """Write, the upper left corner at a place unless told otherwise."""
        style = {'va': 'top', 'ha': 'left', **style}
        self.figure.text(left / self.width, 1 - top / self.height, text, **style)


def columns(scenes: Sequence[Scene],
            when: str = '') -> tuple[Sheet, Sequence[tuple[Panels, View]]]:
    """Return a sheet with captions and axes over time; the view from above has its floor."""
    each = _WIDE_ONE if len(scenes) == 1 else _WIDE_EACH
    inner = each - _LEFT - _RIGHT
    shape = shape_of(scenes, _FLATTEST)
    view_height = inner / shape
    header = header_height(scenes, each)
    sheet = Sheet(each * len(scenes), header + view_height + 0.38 + _LEGEND + _SPEED + 0.12
                  + _GAP + _FOOTER)
    view = View.of(scenes, shape)
    found = []
    for place, scene in enumerate(scenes):
        left = place * each + _LEFT
        caption(sheet, scene, place * each + 0.15, each - 0.3)
        top = sheet.axes(left, header, inner, view_height)
        draw_floor(top, scene, view)
        below = header + view_height + 0.38 + _LEGEND
        speed, gap = time_axes(sheet, scenes, scene, (left, below, inner))
        footer(sheet, scene, place * each + 0.15, each - 0.3, sheet.height - 0.08)
        found.append((Panels(top, speed, gap), view))
    legend(sheet, scenes, header + view_height + 0.40, when)
    return sheet, found


def time_axes(sheet: Sheet, scenes: Sequence[Scene], scene: Scene,
              place: tuple[float, float, float]) -> tuple[Axes, Axes]:
    """Return axes with speed and gap over time, of a scale that all trials share."""
    left, below, inner = place
    begin, end, fastest, widest = limits(scenes)
    speed = sheet.axes(left, below, inner, _SPEED)
    gap = sheet.axes(left, below + _SPEED + 0.12, inner, _GAP)
    for axes in (speed, gap):
        axes.set_xlim(begin, end)
    draw_speed(speed, scene, fastest)
    draw_gap(gap, scene, widest)
    return speed, gap


def caption(sheet: Sheet, scene: Scene, left: float, width: float, top: float = 0.0) -> None:
    """Write which trial it is, and its verdict with the sentence why."""
    sheet.text(left, top + 0.10, cut(f'{scene.title} · {scene.controller}', width, words.LARGE),
               fontsize=words.LARGE, fontweight='bold')
    verdict = scene.verdict.value
    sheet.text(left + 0.045, top + 0.40, verdict, fontsize=words.NORMAL, fontweight='bold',
               color='white', bbox={'boxstyle': 'square,pad=0.25', 'linewidth': 0,
                                    'facecolor': words.VERDICTS[scene.verdict]})
    indent = _indent(scene)
    lines = wrapped(scene.reason, width - indent)
    sheet.text(left + indent, top + 0.395, '\n'.join(lines), fontsize=words.NORMAL,
               linespacing=1.2)


def header_height(scenes: Sequence[Scene], width: float) -> float:
    """Return how much room the captions of some trials need (inches)."""
    lines = max(len(wrapped(scene.reason, width - 0.3 - _indent(scene))) for scene in scenes)
    return _HEADER + _LINE * lines


def _indent(scene: Scene) -> float:
    return 0.17 + 0.098 * len(scene.verdict.value)


def footer(sheet: Sheet, scene: Scene, left: float, width: float, bottom: float) -> None:
    """Write where the numbers come from, and what has to be known of them."""
    text = '; '.join([f'{scene.trial_id}: places, speed and gap {scene.source}', *scene.facts])
    text = ' '.join([f'{text}.', *(f'Note: {note}.' for note in scene.notes)])
    lines = wrapped(text, width * 1.2, 2)
    sheet.text(left, bottom, '\n'.join(lines), fontsize=words.SMALL - 0.5,
               color=words.REQUIRED if scene.notes else words.FAINT, va='bottom')


def legend(sheet: Sheet, scenes: Sequence[Scene], top: float, when: str = '') -> None:
    """
    Explain the signs that are in the picture, in one row over all of its width.

    :param when: the moment whose S_p is drawn in the view from above; empty: that of each robot
    """
    axes = sheet.axes(0.0, top, sheet.width, 0.25)
    axes.set_axis_off()
    called = {(body.kind, body.called) for scene in scenes for frame in scene.frames
              for body in frame.bodies}
    signs: list[Line2D | Patch] = [Line2D([], [], color=words.ROBOT, linewidth=2,
                                          label='robot and its path')]
    for kind, name in sorted(called, key=lambda one: (list(CALLED).index(one[0]), one[1])):
        signs.append(Patch(facecolor=words.BODIES[kind], label=name, alpha=0.75))
    if any(frame.required is not None for scene in scenes for frame in scene.frames):
        signs.append(Line2D([], [], color=words.REQUIRED, linewidth=1.5, linestyle=(0, (4, 1.5)),
                            label=f'S_p, what a stop needs{when}'))
    if any(frame.gap is not None for scene in scenes for frame in scene.frames):
        signs.append(Line2D([], [], color=words.GAP, linewidth=1.8, label='gap'))
    if any(scene.commanded for scene in scenes):
        signs.append(Line2D([], [], color=words.COMMANDED, linewidth=1, linestyle=(0, (2, 1)),
                            label='commanded'))
    axes.legend(handles=signs, loc='upper center', ncol=len(signs), frameon=False,
                fontsize=words.SMALL, handlelength=1.7, columnspacing=1.3, handletextpad=0.5,
                borderaxespad=0.0)


def draw_page(scenes: Sequence[Scene]) -> Sheet:
    """Return the view from above of whole trials, with onset, reaction and least gap."""
    is_late = all(scene.figures.reaction_s is not None for scene in scenes)
    sheet, panels = columns(scenes, ' (ring: at the reaction)' if is_late else '')
    for scene, (panel, _) in zip(scenes, panels, strict=True):
        draw_paths(panel.top, scene)
        draw_story(panel.top, scene)
    return sheet


def draw_story(axes: Axes, scene: Scene) -> None:
    """Draw the moments that matter into one view, with their names."""
    figures = scene.figures
    last = scene.decisive
    since = figures.reaction_s
    if scene.has_onset:
        first = scene.first
        draw_moment(axes, scene, first, alpha=0.45, ring=since is None, bodies=last is not first)
        _name(axes, first, 'onset', 'D', 1)
    if since is not None:
        reaction = scene.at(since)
        draw_moment(axes, scene, reaction, alpha=0.45, bodies=False)
        _name(axes, reaction, f'reaction {scene.figures.reaction_ms:.1f} ms', '^', -1)
    draw_moment(axes, scene, last, ring=since is None or last.t_s < since)
    facing = nearest_points(scene, last)
    gap = figures.least.gap if figures.least is not None and scene.shows_least else last.gap
    if facing is not None and gap is not None:
        axes.plot(*zip(*facing, strict=True), color=words.INK, linewidth=1.6, zorder=9,
                  marker='|', markersize=7)
        middle = [(one + other) / 2 for one, other in zip(*facing, strict=True)]
        overlap = ', an overlap' if gap < 0 else ''
        _say(axes, (middle[0], middle[1]), f'gap {words.metres(gap)}{overlap}', (0, 17), 'center')


def _name(axes: Axes, frame: Frame, text: str, marker: str, side: int) -> None:
    """Mark a moment on the path, its name beside the way the robot goes."""
    x, y = frame.robot.place
    axes.plot([x], [y], marker=marker, markersize=7, color=words.INK, zorder=10,
              markeredgecolor='white', markeredgewidth=1.0, linestyle='none')
    is_along_x = abs(math.cos(frame.robot.heading)) >= abs(math.sin(frame.robot.heading))
    offset = (-14 * side, 46 * side) if is_along_x else (46 * side, -14 * side)
    _say(axes, (x, y), text, offset, 'right' if offset[0] < 0 else 'left')


def _say(axes: Axes, place: tuple[float, float], text: str, offset: tuple[float, float],
         align: str) -> None:
    axes.annotate(text, place, xytext=offset, textcoords='offset points', ha=align, zorder=11,
                  va='center', fontsize=words.SMALL, fontweight='bold',
                  bbox={'boxstyle': 'round,pad=0.2', 'linewidth': 0.6, 'facecolor': 'white',
                        'edgecolor': '#9A9A9A', 'alpha': 0.92},
                  arrowprops={'arrowstyle': '-', 'linewidth': 0.8, 'color': words.INK,
                              'shrinkA': 0, 'shrinkB': 2})


def wrapped(text: str, width: float, most: int = _MOST_LINES) -> list[str]:
    """Return a text in lines of a width (inches), not more than fit; what is cut ends in dots."""
    letters = max(20, int(width / words.LETTER))
    shown = ' '.join(text.split())[:(letters + 1) * (most + 1)]  # no line takes more, and a blank
    lines = textwrap.wrap(shown, letters) or ['']
    return lines if len(lines) <= most else [*lines[:most - 1],
                                             lines[most - 1][:-3].rstrip() + ' ...']


def cut(text: str, width: float, size: float) -> str:
    """Return a text in one line of a width (inches)."""
    fit = int(width / (words.LETTER * 1.18 * size / words.NORMAL))
    return text if len(text) <= fit else text[:fit - 3].rstrip() + '...'


def shape_of(scenes: Sequence[Scene], flattest: float) -> float:
    """Return width by height of a view that wastes little of the floor."""
    raw = View.bounds(scenes)
    return min(flattest, max(_STEEPEST, (raw.right - raw.left) / (raw.high - raw.low)))


MOMENTS = 6
_WIDTH, _BETWEEN = 12.0, 0.12
_TITLE, _TICKS, _STRIP_LEGEND, _TIMES = 0.56, 0.27, 0.50, 2.27
_STRIP_FLATTEST, _IN_A_ROW = 1.9, 3
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
    shape = shape_of(scenes, _STRIP_FLATTEST)
    found = moments(scenes)
    across = _IN_A_ROW if shape > 1.3 and len(scenes) == 1 else len(found)
    down = -(-len(found) // across)
    inner = _WIDTH - _LEFT - _RIGHT
    each = (inner - _BETWEEN * (across - 1)) / across
    height = each / shape
    block = down * (_TITLE + height) + _TICKS + _STRIP_LEGEND + _TIMES + _FOOTER
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
        speed, gap = time_axes(sheet, scenes, scene, (_LEFT, below + _STRIP_LEGEND, inner))
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
    for t_s in _times_of_interest(scenes):
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


def _times_of_interest(scenes: Sequence[Scene]) -> Iterator[float]:
    if any(scene.has_onset for scene in scenes):
        yield max(scene.first.t_s for scene in scenes)
    for scene in scenes:
        if scene.figures.reaction_s is not None:
            yield scene.figures.reaction_s
        if scene.figures.least is not None:
            yield scene.figures.least.t_s
    for scene in scenes:
        if scene.standstill_s is not None:
            yield scene.standstill_s


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
             (figures.reaction_s, 'reaction'), (scene.standstill_s, 'stands'),
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


Pixels = NDArray[numpy.uint8]
"""Shape (height, width, 3)."""
_LINGER_S = 1.0
"""How long the last frame stays (s)."""


class Stage:
    """One or two trials side by side, of which any moment can be shown."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._sheet, panels = columns(scenes)
        self._panels = [panel for panel, _ in panels]
        for scene, panel in zip(scenes, self._panels, strict=True):
            draw_paths(panel.top, scene, faint=True)
        canvas: Any = self._sheet.canvas
        canvas.draw()
        self._still = canvas.copy_from_bbox(self._sheet.figure.bbox)

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height in pixels, both even as coders want them."""
        width, height = self._sheet.canvas.get_width_height()
        return width, height

    def show(self, t_s: float) -> Pixels:
        """Return how it looks at a time after the onset."""
        canvas: Any = self._sheet.canvas
        canvas.restore_region(self._still)
        for scene, panel in zip(self._scenes, self._panels, strict=True):
            for axes, artist in _moving(scene, panel, t_s):
                axes.draw_artist(artist)
                artist.remove()
        return numpy.asarray(canvas.buffer_rgba())[:, :, :3].copy()


def times(scenes: Sequence[Scene], fps: float, speed: float) -> Sequence[float]:
    """Return the moments of a film (s): those of all trials, and its last one for a while."""
    begin = min(scene.window[0] for scene in scenes)
    end = max(scene.window[1] for scene in scenes)
    step = speed / fps
    count = max(1, math.floor((end - begin) / step + 1e-9))
    shown = [begin + place * step for place in range(count + 1)]
    return [*shown, *([end] * max(1, round(_LINGER_S * fps)))]


def _moving(scene: Scene, panel: Panels, t_s: float) -> Iterator[tuple[Axes, Artist]]:
    frame = scene.at(t_s)
    for artist in sorted(draw_moment(panel.top, scene, frame), key=lambda one: one.get_zorder()):
        yield panel.top, artist
    yield panel.top, _label(panel.top, _state(scene, t_s))
    for axes in (panel.speed, panel.gap):
        yield axes, axes.axvline(t_s, color=words.ROBOT, linewidth=1.4, alpha=0.8)
    for axes, value, colour in ((panel.speed, frame.robot.speed, words.ROBOT),
                                (panel.gap, frame.gap, words.GAP)):
        if value is not None and t_s >= scene.times[0]:
            [dot] = axes.plot([t_s], [value], marker='o', markersize=6, color=colour,
                              markeredgecolor='white', markeredgewidth=1.0)
            yield axes, dot


def _state(scene: Scene, t_s: float) -> str:
    """Return a moment in words: time, phase, speed, gap, S_p."""
    frame = scene.at(t_s)
    speed = '-' if frame.robot.speed is None else f'{frame.robot.speed:.2f} m/s'
    parts = [f'{words.seconds(t_s):>8}', scene.called(frame.phase), f'speed {speed}',
             f'gap {words.metres(frame.gap)}']
    if frame.required is not None:
        parts.append(f'S_p {words.metres(frame.required)}')
    since = scene.figures.reaction_s
    if since is not None and t_s >= since:
        parts.append('stands' if (scene.standstill_s or math.inf) <= t_s
                     and frame.phase == 'hazard'
                     else 'reacted')
    return '   '.join(parts)


def _label(axes: Axes, text: str) -> Any:
    return axes.text(0.012, 0.975, text, transform=axes.transAxes, va='top', zorder=12,
                     fontsize=words.SMALL, fontweight='bold', fontfamily='DejaVu Sans Mono',
                     bbox={'boxstyle': 'round,pad=0.3', 'facecolor': 'white', 'alpha': 0.9,
                           'linewidth': 0.6, 'edgecolor': '#9A9A9A'})
