# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""The frames of a film: what stands still is drawn once, what moves for each of them."""

from collections.abc import Iterator, Sequence
import math
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
import numpy
from numpy.typing import NDArray
from safety_scenarios.reports.film import style as words
from safety_scenarios.reports.film.pages import columns, Panels
from safety_scenarios.reports.film.top_view import draw_moment, draw_paths
from safety_scenarios.reports.scene.scene import Scene

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
        parts.append('stands' if (scene.stands_s or math.inf) <= t_s and frame.phase == 'hazard'
                     else 'reacted')
    return '   '.join(parts)


def _label(axes: Axes, text: str) -> Any:
    return axes.text(0.012, 0.975, text, transform=axes.transAxes, va='top', zorder=12,
                     fontsize=words.SMALL, fontweight='bold', fontfamily='DejaVu Sans Mono',
                     bbox={'boxstyle': 'round,pad=0.3', 'facecolor': 'white', 'alpha': 0.9,
                           'linewidth': 0.6, 'edgecolor': '#9A9A9A'})
