# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The axes of a picture: the trial from above, and speed, gap and S_p over time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import math
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Circle, Polygon
from matplotlib.text import Text
from safety_scenarios.reports.film import style as words
from safety_scenarios.reports.scene.scene import Body, Frame, Phase, Point, Robot, Scene

_NEAR_M, _FAR_M = 5.0, 12.0
"""Who is farther away in the hazard, and when the gap is least, need not be in the picture."""
_TOOL_M = 0.08
_MARGIN_M, _LEAST_M = 0.35, 2.2
"""What is seen beyond all that matters, and how much at least."""
_SIDES = 24
"""Corners of half a circle."""


@dataclass(frozen=True)
class View:
    """What part of the floor is seen (m)."""

    left: float
    right: float
    low: float
    high: float

    @staticmethod
    def bounds(scenes: Sequence[Scene]) -> 'View':
        """Return what just shows all that matters of some trials."""
        xs, ys = zip(*(point for scene in scenes for point in _points_of_interest(scene)),
                     strict=True)
        more_x, more_y = (max(_MARGIN_M, _LEAST_M / 2 - (max(values) - min(values)) / 2)
                          for values in (xs, ys))
        return View(min(xs) - more_x, max(xs) + more_x, min(ys) - more_y, max(ys) + more_y)

    @staticmethod
    def of(scenes: Sequence[Scene], shape: float) -> 'View':
        """
        Return the same, filled up to a shape.

        :param shape: width of the picture by its height
        """
        tight = View.bounds(scenes)
        width, height = tight.right - tight.left, tight.high - tight.low
        wide, tall = max(width, height * shape), max(height, width / shape)
        x, y = (tight.left + tight.right) / 2, (tight.low + tight.high) / 2
        return View(x - wide / 2, x + wide / 2, y - tall / 2, y + tall / 2)


def _points_of_interest(scene: Scene) -> Iterator[Point]:
    begin, end = scene.window
    decisive = scene.decisive
    for frame in scene.frames:
        if not begin <= frame.t_s <= end:
            continue
        x, y = frame.robot.place
        is_hazard = frame.phase == 'hazard' or not scene.has_onset
        reach = scene.footprint + (frame.required or 0.0) * is_hazard
        yield x - reach, y - reach
        yield x + reach, y + reach
        yield frame.robot.x, frame.robot.y
        for body in frame.bodies:
            away = math.hypot(body.x - x, body.y - y)
            if ':' not in body.name and away <= (
                    _FAR_M if frame is decisive else _NEAR_M * is_hazard):
                size = body.radius or 0.3
                yield body.x - size, body.y - size
                yield body.x + size, body.y + size


def draw_floor(axes: Axes, scene: Scene, view: View, *, labels: bool = True) -> None:
    axes.set_xlim(view.left, view.right)
    axes.set_ylim(view.low, view.high)
    axes.set_aspect('equal', adjustable='box')
    axes.grid(color=words.GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=2, pad=2)
    if labels:
        axes.set_xlabel('x (m)', labelpad=2)
        axes.set_ylabel('y (m)', labelpad=2)
    for one in scene.scenery:
        axes.add_patch(Polygon(one.corners, closed=True, zorder=2, edgecolor='#4A4A4A',
                               linewidth=1.0, facecolor='#D6E8F0' if one.is_glass else '#9A9A9A',
                               hatch='xx' if one.is_glass else None))
    if len(scene.route) > 1:
        axes.plot(*zip(*scene.route, strict=True), color=words.GRID, linewidth=5, zorder=1,
                  solid_capstyle='round')


def draw_paths(axes: Axes, scene: Scene, until_s: float | None = None, *,
               faint: bool = False) -> None:
    """Draw where robot and bodies went: of a film all of it, faint, below what moves."""
    begin, end = scene.window
    frames = [frame for frame in scene.frames
              if begin <= frame.t_s <= (end if until_s is None else until_s)]
    alpha = 0.35 if faint else 1.0
    for name, body in {body.name: body for frame in frames for body in frame.bodies}.items():
        for points in _tracks(frames, name):
            axes.plot(*zip(*points, strict=True), color=words.BODIES[body.kind], linewidth=1.4,
                      alpha=alpha, linestyle=(0, (3, 1.5)), zorder=3)
    for phase, style in (('nominal', (0, (1, 1.2))), ('hazard', '-'), ('after', (0, (4, 2)))):
        points = [frame.robot.place for frame in frames if frame.phase == phase]
        if points:
            axes.plot(*zip(*points, strict=True), color=words.ROBOT, linewidth=2, alpha=alpha,
                      linestyle=style, zorder=4)


def _tracks(frames: Sequence[Frame], name: str) -> Iterator[Sequence[Point]]:
    """Yield the way of a body, phase by phase: what appears somewhere else has not walked."""
    for phase in ('nominal', 'hazard', 'after'):
        found = [(body.x, body.y) for frame in frames if frame.phase == phase
                 for body in frame.bodies if body.name == name]
        if phase == 'hazard' and found and math.dist(found[0], found[-1]) > 0.02:
            yield found


def draw_moment(axes: Axes, scene: Scene, frame: Frame, *, alpha: float = 1.0,
                ring: bool = True, bodies: bool = True) -> Sequence[Artist]:
    """Draw everything that moves, at one moment; return it."""
    found: list[Artist] = []
    if bodies:
        for body in frame.bodies:
            found += _draw_body(axes, body, alpha)
    if ring and frame.required is not None:
        found.append(axes.add_patch(Polygon(
            around(scene, frame.robot, frame.required), closed=True, fill=False,
            edgecolor=words.REQUIRED, linewidth=1.6, linestyle=(0, (5, 2)), alpha=alpha,
            zorder=6)))
    found += _draw_robot(axes, scene, frame.robot, alpha)
    return found


def _draw_robot(axes: Axes, scene: Scene, robot: Robot, alpha: float) -> Iterator[Artist]:
    x, y = robot.x, robot.y
    ahead = math.cos(robot.heading), math.sin(robot.heading)
    face: dict[str, Any] = {'facecolor': (*_rgb(words.ROBOT), 0.30 * alpha),
                            'edgecolor': (*_rgb(words.ROBOT), alpha), 'linewidth': 1.6}
    if robot.tool is None:
        size = scene.footprint
        yield axes.add_patch(Circle((x, y), size, zorder=7, **face))
        nose = [(x + size * (a * ahead[0] - b * ahead[1]),
                 y + size * (a * ahead[1] + b * ahead[0]))
                for a, b in ((0.85, 0.0), (-0.25, 0.45), (-0.25, -0.45))]
        yield axes.add_patch(Polygon(nose, closed=True, zorder=8, linewidth=0,
                                     facecolor=(*_rgb(words.ROBOT), alpha)))
        return
    [line] = axes.plot((x, robot.tool[0]), (y, robot.tool[1]), color=words.ROBOT, linewidth=4,
                       alpha=alpha * 0.7, solid_capstyle='round', zorder=7)
    yield line
    yield axes.add_patch(Circle((x, y), 0.10, zorder=8, **face))
    yield axes.add_patch(Circle(robot.tool, _TOOL_M, zorder=8, linewidth=0,
                                facecolor=(*_rgb(words.ROBOT), alpha)))


def _draw_body(axes: Axes, body: Body, alpha: float) -> Iterator[Artist]:
    colour = words.BODIES[body.kind]
    face: dict[str, Any] = {'facecolor': (*_rgb(colour), 0.55 * alpha),
                            'edgecolor': (*_rgb(colour), alpha), 'linewidth': 1.4, 'zorder': 5}
    if body.outline:
        yield axes.add_patch(Polygon(body.corners, closed=True, hatch='////', **face))
        return
    size = body.radius or 0.15
    yield axes.add_patch(Circle((body.x, body.y), size, **face))
    if body.kind == 'person':
        yield axes.add_patch(Circle((body.x, body.y), size * 0.42, zorder=5.1, linewidth=0,
                                    facecolor=(*_rgb(colour), alpha)))


def around(scene: Scene, robot: Robot, distance: float) -> Sequence[Point]:
    """Return the points at a distance from the robot, of an arm from its foot and tool's line."""
    (x, y), (to_x, to_y) = (robot.x, robot.y), robot.place
    angle = math.atan2(to_y - y, to_x - x)
    size = scene.footprint + distance
    half = [math.pi / 2 - math.pi * step / _SIDES for step in range(_SIDES + 1)]
    return [*((to_x + size * math.cos(angle + turn), to_y + size * math.sin(angle + turn))
              for turn in half),
            *((x - size * math.cos(angle + turn), y - size * math.sin(angle + turn))
              for turn in half)]


def nearest_points(scene: Scene, frame: Frame) -> tuple[Point, Point] | None:
    """Return the points of robot and nearest body that face each other, seen from above."""
    known = [body for body in frame.bodies if body.gap is not None]
    body = min(known, key=lambda one: one.gap or 0.0, default=None)
    if body is None:
        return None
    robot = frame.robot
    at = (body.x, body.y)
    start = _on_segment((robot.x, robot.y), robot.place, at)
    if body.outline:
        corners = body.corners
        at = min((_on_segment(one, other, start) for one, other in
                  zip(corners, (*corners[1:], corners[0]), strict=True)),
                 key=lambda point: math.dist(point, start))
        start = _on_segment((robot.x, robot.y), robot.place, at)
    apart = math.dist(start, at)
    if not apart:
        return None
    ux, uy = (at[0] - start[0]) / apart, (at[1] - start[1]) / apart
    size = 0.0 if body.outline else body.radius or 0.0
    return ((start[0] + ux * scene.footprint, start[1] + uy * scene.footprint),
            (at[0] - ux * size, at[1] - uy * size))


def _on_segment(begin: Point, end: Point, point: Point) -> Point:
    """Return the point of a line between two points that is nearest to a third."""
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    square = dx * dx + dy * dy
    share = 0.0 if not square else min(1.0, max(0.0, (
        (point[0] - begin[0]) * dx + (point[1] - begin[1]) * dy) / square))
    return begin[0] + share * dx, begin[1] + share * dy


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place:place + 2], 16) / 255 for place in (1, 3, 5))
    return red, green, blue


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
