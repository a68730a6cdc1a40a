# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Where everything was, from a scene: poses, speed, gap and S_p on one axis of time."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from safety_scenarios.reports.scene.scene import Body, Frame, Scene
from safety_scenarios.reports.trial_view.display import (
    all_rounded,
    corners,
    on_one_line,
    places,
    rounded,
)

_MOMENTS = 56
"""How many moments of a trial are kept, besides those that something happens at."""
_BEFORE_AND_AFTER = 10
"""How many of them are outside the scene's window, in which hardly anything happens."""
_NEAR, _CORNERS = 0.03, 60
"""The line of the speed is so near to each speed (m/s), by at most so many moments."""
_BODIES = 6
"""People and things of which the path is kept: those that come nearest."""
_SCENERY = 40


def above(scene: Scene) -> dict[str, Any]:
    """Return the part of a view that is called ``truth``, see ``view``."""
    frames = _kept(scene)
    bodies, left_out = _bodies(scene, frames)
    has_tool = any(frame.robot.tool is not None for frame in frames)
    return {
        'source': scene.source, 'predicted': scene.is_predicted, 'of': len(scene.frames),
        't': [_ms(frame.t_s) for frame in frames],
        'speed': all_rounded((frame.robot.speed for frame in frames), 2),
        'gap': all_rounded((frame.gap for frame in frames), 3),
        'required': all_rounded((frame.required for frame in frames), 2),
        'robot': {
            'footprint': rounded(scene.footprint, 2),
            'x': all_rounded((frame.robot.x for frame in frames), 2),
            'y': all_rounded((frame.robot.y for frame in frames), 2),
            'heading': all_rounded((frame.robot.heading for frame in frames), 2),
            **({'tool_x': all_rounded((frame.robot.place[0] for frame in frames), 2),
                'tool_y': all_rounded((frame.robot.place[1] for frame in frames), 2)}
               if has_tool else {})},
        'bodies': bodies, 'bodies_left_out': left_out,
        'scenery': [{'corners': [all_rounded(corner, 2) for corner in one.corners],
                     'glass': one.is_glass} for one in scene.scenery[:_SCENERY]],
        'scenery_left_out': max(0, len(scene.scenery) - _SCENERY),
        'route': [all_rounded(point, 2) for point in scene.route[:_SCENERY]]}


def _kept(scene: Scene) -> Sequence[Frame]:
    """Return the moments that are shown: with each dip of speed, and extremes of the gap."""
    frames, (begin, end) = scene.frames, scene.window
    inside = [place for place, frame in enumerate(frames) if begin <= frame.t_s <= end]
    if not inside:
        inside = list(range(len(frames)))
    first, last = inside[0], inside[-1]
    found = {0, len(frames) - 1, first, last}
    for part, most in ((range(first, last + 1), _MOMENTS - _BEFORE_AND_AFTER),
                       (range(first), _BEFORE_AND_AFTER // 2),
                       (range(last + 1, len(frames)), _BEFORE_AND_AFTER // 2)):
        found |= set(part[::max(1, -(-len(part) // most))])
    moments = [0.0, scene.figures.reaction_s, scene.stands_s, scene.all_clear_s,
               scene.figures.least.t_s if scene.figures.least else None]
    found |= {frames.index(scene.at(t_s)) for t_s in moments if t_s is not None}
    times = [frame.t_s for frame in frames]
    for values in _series(frames):
        found |= set(places(values, times, 8, ()))
    speeds = [frame.robot.speed for frame in frames[first:last + 1]]
    found |= {first + place for place in corners(speeds, times[first:last + 1], _NEAR, _CORNERS)}
    return [frames[place] for place in sorted(found)]


def _series(frames: Sequence[Frame]) -> Iterator[Sequence[float | None]]:
    yield [frame.robot.speed for frame in frames]
    yield [frame.gap for frame in frames]
    yield [None if frame.gap is None or frame.required is None else frame.gap - frame.required
           for frame in frames]


def _bodies(scene: Scene, frames: Sequence[Frame]) -> tuple[Sequence[Mapping[str, Any]], int]:
    """Return who and what is near, and how many are left out."""
    nearest: dict[str, float] = {}
    for frame in scene.frames:
        for body in frame.bodies:
            away = body.gap if body.gap is not None else 1e3 + (
                (body.x - frame.robot.x)**2 + (body.y - frame.robot.y)**2)**0.5
            nearest[body.name] = min(away, nearest.get(body.name, away))
    names = sorted(nearest, key=lambda name: nearest[name])
    by_name = [{body.name: body for body in frame.bodies} for frame in frames]
    after = next((place for place, frame in enumerate(frames) if frame.t_s >= 0), 0)
    return [_path(name, [found.get(name) for found in by_name], after)
            for name in names[:_BODIES]], max(0, len(names) - _BODIES)


def _path(name: str, found: Sequence[Body | None], onset: int) -> Mapping[str, Any]:
    """
    Return where a body was; it looks as it did from the onset on, whatever was there before.

    :param onset: index of the first moment of the hazard
    """
    seen = [body for body in found[onset:] if body is not None] \
        or [body for body in found if body is not None]
    looks = Counter((body.kind, body.label) for body in seen) or Counter([('thing', '')])
    (kind, label), _ = looks.most_common(1)[0]
    seen = [body for body in seen if (body.kind, body.label) == (kind, label)]
    path: dict[str, Any] = {
        'name': on_one_line(name, 60), 'kind': kind,
        'x': all_rounded((None if body is None else body.x for body in found), 2),
        'y': all_rounded((None if body is None else body.y for body in found), 2)}
    if label:
        path['label'] = on_one_line(label, 60)
    radius = next((body.radius for body in seen if body.radius is not None), None)
    outline = next((body.outline for body in seen if body.outline), ())
    if radius is not None:
        path['radius'] = rounded(radius, 2)
    elif outline:
        path['outline'] = [all_rounded(corner, 2) for corner in outline]
        path['heading'] = all_rounded(
            (None if body is None else body.heading for body in found), 2)
    return path


def _ms(t_s: float) -> int:
    return round(t_s * 1e3)
