# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The axes below the view from above: speed, gap and S_p over time, in the trial's phases."""

from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from safety_scenarios.reports.film import style as words
from safety_scenarios.reports.scene.scene import Frame, Phase, Scene

_HEADROOM = 1.42
"""Of the speed, so that the phases' names stand above its line."""
_ROOM = 1.42
"""The same of the gap, for the words about the least of it."""
_LABEL = 0.43
"""How far to the left of both axes their names stand (inches)."""


def draw_speed(axes: Axes, scene: Scene, top: float) -> None:
    """
    Draw how fast the robot went, what was asked of it, and the phases.

    :param top: the fastest that must fit (m/s)
    """
    axes.set_ylim(0.0, max(top, 0.1) * _HEADROOM)
    _bands(axes, scene, names=True)
    if scene.commanded:
        times, values = zip(*scene.commanded, strict=True)
        axes.step(times, values, where='post', color=words.COMMANDED, linewidth=1.0,
                  linestyle=(0, (2, 1)), zorder=3)
    known = [(frame.t_s, frame.robot.speed) for frame in scene.frames
             if frame.robot.speed is not None]
    if known:
        axes.plot(*zip(*known, strict=True), color=words.ROBOT, linewidth=1.8, zorder=4)
    axes.set_ylabel('speed (m/s)')
    axes.yaxis.set_label_coords(-_LABEL / inches(axes), 0.5)
    axes.tick_params(labelbottom=False)
    _marks(axes, scene)
    _label_marks(axes, scene)


def draw_gap(axes: Axes, scene: Scene, top: float) -> None:
    """
    Draw how far apart robot and nearest body were, the least of it, and S_p.

    :param top: the largest gap that must fit (m)
    """
    known = [(frame.t_s, frame.gap) for frame in scene.frames if frame.gap is not None]
    lowest = min([0.0, *(gap for _, gap in known)])
    axes.set_ylim(lowest - 0.04 * top, top * _ROOM)
    _bands(axes, scene, names=False)
    if lowest < 0:
        axes.axhline(0.0, color=words.INK, linewidth=0.8, zorder=2)
    for piece in _pieces(scene):
        times = [frame.t_s for frame in piece]
        gaps = [frame.gap or 0.0 for frame in piece]
        axes.plot(times, gaps, color=words.GAP, linewidth=1.8, zorder=4)
        needs = [frame.required for frame in piece]
        if all(need is not None for need in needs):
            axes.fill_between(times, gaps, [need or 0.0 for need in needs], zorder=3,
                              where=[(need or 0.0) > gap for need, gap in zip(
                                  needs, gaps, strict=True)],
                              color=words.REQUIRED, alpha=0.28, linewidth=0)
    needed = [(frame.t_s, frame.required) for frame in scene.frames if frame.required is not None]
    if needed:
        axes.plot(*zip(*needed, strict=True), color=words.REQUIRED, linewidth=1.4,
                  linestyle=(0, (5, 2)), zorder=4)
    axes.set_ylabel('gap (m)')
    axes.yaxis.set_label_coords(-_LABEL / inches(axes), 0.5)
    axes.set_xlabel(f'time after {"the onset" if scene.has_onset else "the beginning"} (s)',
                    labelpad=2)
    _marks(axes, scene)
    _label_least(axes, scene)


def _pieces(scene: Scene) -> Iterator[list[Frame]]:
    """Yield the frames with a gap, cut where a phase begins: what was shown is another then."""
    piece: list[Frame] = []
    for frame in scene.frames:
        if piece and (frame.gap is None or frame.phase != piece[-1].phase):
            yield piece
            piece = []
        if frame.gap is not None:
            piece.append(frame)
    if piece:
        yield piece


def _label_least(axes: Axes, scene: Scene) -> None:
    least = scene.figures.least
    if least is None:
        known = any(frame.gap is not None for frame in scene.frames)
        axes.text(0.5, 0.9 if known else 0.5, 'the least gap is not known: the world paused'
                  if known else 'no gap was published', transform=axes.transAxes, ha='center',
                  va='top', color=words.FAINT, fontsize=words.SMALL)
        return
    style: dict[str, Any] = {
        'zorder': 7, 'fontsize': words.SMALL, 'va': 'top', 'fontweight': 'bold', 'bbox': {
            'boxstyle': 'round,pad=0.15', 'linewidth': 0, 'facecolor': 'white', 'alpha': 0.85}}
    begin, end = axes.get_xlim()
    text = words.least(scene)
    if not begin <= least.t_s <= end:
        axes.text(0.995 if least.t_s > end else 0.005, 0.90, f'{text}, which is not shown',
                  ha='right' if least.t_s > end else 'left', transform=axes.transAxes, **style)
        return
    axes.plot([least.t_s], [least.gap], marker='o', markersize=6, color=words.INK,
              markerfacecolor='white', markeredgewidth=1.6, zorder=6)
    half = (len(text) * words.LETTER * words.SMALL / words.NORMAL / 2 + 0.05) \
        / inches(axes) * (end - begin)
    x = min(max(least.t_s, begin + half), end - half)
    axes.annotate(text, (least.t_s, least.gap), ha='center', xytext=(x, 0.90),
                  textcoords=axes.get_xaxis_transform(), annotation_clip=False,
                  arrowprops={'arrowstyle': '-', 'linewidth': 0.8, 'color': words.INK,
                              'shrinkB': 4}, **style)


def inches(axes: Axes) -> float:
    """Return how wide axes are."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return float(axes.get_position().width * figure.get_figwidth())


def _bands(axes: Axes, scene: Scene, names: bool) -> None:
    axes.grid(axis='y', color=words.GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=2, pad=2)
    begin, end = axes.get_xlim()
    for phase, since, until in phases_of(scene):
        since, until = max(since, begin), min(until, end)
        if until <= since:
            continue
        axes.axvspan(since, until, color=words.BANDS[phase], linewidth=0, zorder=0)
        if names:
            text = axes.text((since + until) / 2, axes.get_ylim()[1] * 0.97, scene.called(phase),
                             ha='center', va='top', fontsize=words.SMALL, color=words.FAINT,
                             zorder=5)
            _drop_unless_it_fits(axes, text, until - since)


def phases_of(scene: Scene) -> Iterator[tuple[Phase, float, float]]:
    """Yield each phase with its begin and end (s)."""
    if not scene.has_onset:
        yield 'nominal', scene.begin_s, scene.end_s
        return
    yield 'nominal', scene.begin_s, 0.0
    clear = scene.end_s if scene.all_clear_s is None else scene.all_clear_s
    yield 'hazard', 0.0, clear
    if scene.all_clear_s is not None:
        yield 'after', clear, scene.end_s


def _drop_unless_it_fits(axes: Axes, text: Text, span: float) -> None:
    figure = axes.get_figure(root=True)
    assert figure is not None
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    begin, end = axes.get_xlim()
    room = axes.get_window_extent().width * span / (end - begin)
    if text.get_window_extent(canvas.get_renderer()).width > room * 0.98:
        text.remove()


def _marks(axes: Axes, scene: Scene) -> None:
    if scene.has_onset:
        axes.axvline(0.0, color=words.INK, linewidth=1.2, zorder=5)
    if scene.figures.reaction_s is not None:
        axes.axvline(scene.figures.reaction_s, color=words.INK, linewidth=1.2, zorder=5,
                     linestyle=(0, (2, 1.5)))


def _label_marks(axes: Axes, scene: Scene) -> None:
    """Name the two moments above the axes: the onset to its left, the reaction to its right."""
    begin, end = axes.get_xlim()
    share = (0.0 - begin) / (end - begin)
    place: dict[str, Any] = {'va': 'bottom', 'fontsize': words.SMALL,
                             'transform': axes.get_xaxis_transform()}
    reaction = scene.figures.reaction
    word = 'reaction' if scene.figures.reaction_s is not None else ''
    if scene.has_onset:
        at_left = share < 0.08
        axes.text(0.0, 1.03, 'onset', ha='left' if at_left else 'right', **place)
    if reaction:
        since = max(scene.figures.reaction_s or 0.0, 0.0)
        text = f' {word} {reaction}' if word else f'  {reaction}'
        axes.text(since, 1.03, text, ha='left', fontweight='bold', **place)


def limits(scenes: Sequence[Scene]) -> tuple[float, float, float, float]:
    """Return begin and end (s), fastest (m/s) and largest gap (m) that the axes have to show."""
    begin = min(scene.window[0] for scene in scenes)
    end = max(scene.window[1] for scene in scenes)
    seen = [frame for scene in scenes for frame in scene.frames if begin <= frame.t_s <= end]
    during = [frame for frame in seen if frame.phase == 'hazard'] or seen
    fastest = max([frame.robot.speed or 0.0 for frame in seen], default=0.0)
    asked = [value for scene in scenes for t_s, value in scene.commanded
             if begin <= t_s <= end and value == value]
    gaps = [gap for frame in during for gap in (frame.gap, frame.required) if gap is not None]
    return begin, end, max([fastest, *asked], default=0.0), max(gaps, default=1.0)
