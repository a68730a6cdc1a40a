# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A picture as coloured shapes, which RViz and Foxglove draw alike.

All places are in the robot's own frame, ``base_link`` (REP 105): x ahead, y to the left.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from safety_scenarios.reports.live.json_text import number_of, shown
from safety_scenarios.reports.live.picture import Picture
from safety_scenarios.reports.scene.scene import Body, Kind, Robot, turned
from safety_scenarios.scenario.verdict import Verdict

FRAME = 'base_link'
"""Of every place of a shape (REP 105)."""
Colour = tuple[float, float, float, float]
"""Red, green, blue, opacity, each 0 to 1."""
COLOURS: dict[Verdict | None, Colour] = {
    Verdict.PASS: (0.10, 0.60, 0.25, 0.9), Verdict.INCONCLUSIVE: (0.90, 0.65, 0.05, 0.9),
    Verdict.ERROR: (0.55, 0.25, 0.75, 0.9), Verdict.FAIL: (0.85, 0.15, 0.15, 0.9),
    None: (0.45, 0.50, 0.55, 0.9)}
"""Verdict to its colour; None: there is none yet."""
BODIES: dict[Kind, Colour] = {'person': (0.95, 0.55, 0.15, 0.9), 'thing': (0.55, 0.45, 0.35, 0.9),
                              'robot': (0.3, 0.5, 0.8, 0.9)}
_REQUIRED = (0.95, 0.75, 0.10, 0.25)
_INSIDE = (0.90, 0.15, 0.15, 0.35)
"""S_p while a body is nearer than that."""
_TEXT = (0.95, 0.95, 0.95, 1.0)
_TALL: dict[Kind, float] = {'person': 1.7, 'robot': 0.5, 'thing': 0.6}
"""Height of a body of which it is not known (m)."""
_SMALL = 0.15
"""Radius of a body whose outline is not known (m)."""
_MOST_BODIES = 50
_FLAT, _ROBOT_HEIGHT, _ABOVE, _LETTERS = 0.02, 0.4, 2.2, 0.25


@dataclass(frozen=True, slots=True)
class Shape:
    """One thing to draw; its place is its middle (m, rad)."""

    group: Literal['robot', 'heading', 'bodies', 'separation', 'verdict', 'text']
    number: int
    """Tells it from the others of its group."""
    kind: Literal['cylinder', 'box', 'arrow', 'sphere', 'text']
    x: float
    y: float
    z: float
    size: tuple[float, float, float]
    colour: Colour
    text: str = ''
    heading: float = 0.0


def shapes_of(picture: Picture) -> Iterator[Shape]:
    """Yield what is to be drawn, always in the same order."""
    radius = picture.footprint
    yield Shape('robot', 0, 'cylinder', 0.0, 0.0, _ROBOT_HEIGHT / 2,
                (2 * radius, 2 * radius, _ROBOT_HEIGHT), COLOURS[picture.verdict])
    yield Shape('heading', 0, 'arrow', 0.0, 0.0, _ROBOT_HEIGHT, (radius + 0.3, 0.06, 0.06), _TEXT)
    bodies = [body for body in picture.frame.bodies if not body.is_scenery][:_MOST_BODIES]
    for number, body in enumerate(bodies):
        yield _body(number, body, picture.frame.robot)
    if picture.required is not None:
        inside = picture.distance is not None and picture.distance < picture.required
        across = 2 * (picture.required + max(radius, picture.reach))
        yield Shape('separation', 0, 'cylinder', 0.0, 0.0, _FLAT / 2, (across, across, _FLAT),
                    _INSIDE if inside else _REQUIRED)
    yield Shape('verdict', 0, 'sphere', 0.0, 0.0, _ABOVE - 0.5, (0.3, 0.3, 0.3),
                COLOURS[picture.verdict or picture.before])
    yield Shape('text', 0, 'text', 0.0, 0.0, _ABOVE + 0.3, (_LETTERS, _LETTERS, _LETTERS), _TEXT,
                caption(picture))


def _body(number: int, body: Body, robot: Robot) -> Shape:
    """Return a body as seen from the robot: a cylinder, or a box as large as its outline."""
    radius = _SMALL if body.radius is None else body.radius
    xs, ys = zip(*(body.outline or ((-radius, -radius), (radius, radius))), strict=True)
    middle = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    beside = turned([middle], body.x - robot.x, body.y - robot.y, body.heading)
    [(x, y)] = turned(beside, 0.0, 0.0, -robot.heading)
    tall = _TALL[body.kind] if body.height is None else body.height
    return Shape('bodies', number, 'box' if body.outline else 'cylinder', x, y,
                 body.above + tall / 2, (max(xs) - min(xs), max(ys) - min(ys), tall),
                 BODIES[body.kind], heading=body.heading - robot.heading)


def caption(picture: Picture) -> str:
    """Return what stands above the robot."""
    scenario = picture.trial.scenario
    lines = [shown(f'{scenario.id} {scenario.name}, {number_of(picture.trial)}', 80)]
    if picture.verdict is None:
        lines.append(picture.phase)
    else:
        took = '' if picture.latency_ms is None else f', {picture.latency_ms:.0f} ms'
        lines.append(f'{picture.verdict.value}{took}')
    numbers = [f'{name} {value:.2f} {unit}' for name, value, unit in (
        ('distance', picture.distance, 'm'), ('S_p', picture.required, 'm')) if value is not None]
    if numbers:
        lines.append(', '.join(numbers))
    if picture.verdict is None and picture.before is not None:
        lines.append(f'the trial before: {picture.before.value}')
    return '\n'.join(lines)
