# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The trial that runs, as it is now: as JSON, as a scene, and as shapes for RViz and Foxglove.

All places are in the robot's own frame, ``base_link`` (REP 105): x ahead, y to the left.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import json
from typing import Any, Literal

from safety_scenarios.reports.scene.builder import SceneBuilder
from safety_scenarios.reports.scene.scene import Body, Frame, Kind, Robot, turned
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import ALL_CLEAR, END, ONSET, Trial

EVENT, VERDICT, CAMPAIGN = ('safety_scenarios/event/1', 'safety_scenarios/verdict/1',
                            'safety_scenarios/campaign/1')
"""What the key ``schema`` of each object says."""
_LONGEST = 4000
"""Characters of one text; the whole is in the record."""
_MOST_FINDINGS = 50
_WORTH = frozenset(('mark', 'fault', 'say', 'tool_call', 'tool_result', 'call', 'call_state',
                    'undeclared', 'output', 'response', 'lost', 'reached', 'stall'))
"""Kinds of events of which each is told; commands, feedback and truth are streams, and are not."""


def is_worth_telling(event: Event) -> bool:
    """Return whether an event is told one by one; of a stimulus that is decided elsewhere."""
    return event.kind in _WORTH


def printable(text: str, most: int = _LONGEST) -> str:
    """
    Return a text as one line in which nothing acts: control characters become escapes.

    Those that change the direction of writing too: they would let a name look like another one.
    """
    cut = text if len(text) <= most else text[:most - 3] + '...'
    return ''.join(one if one.isprintable() else _escape(one) for one in cut)


def _escape(one: str) -> str:
    if one in '\n\r\t':
        return ' '
    return f'\\u{ord(one):04x}' if ord(one) < 0x10000 else f'\\U{ord(one):08x}'


def number_of(trial: Trial | TrialResult) -> str:
    """Return which of the trials of its scenario it is, in words."""
    return f'warm-up {-trial.index}' if trial.warmup else f'trial {trial.index + 1}'


def event_fields(trial: Trial, event: Event, since_ns: int) -> Mapping[str, Any]:
    """
    Return an event worth telling as a JSON object; what it does not have is left out.

    :param since_ns: steady time since the trial's first event
    """
    stamps = event.stamps
    found: dict[str, Any] = {
        'schema': EVENT, 'trial': trial.trial_id, 'scenario': trial.scenario.id,
        'kind': event.kind, 'name': event.name, 't_ms': round(since_ns / 1e6, 3),
        'steady_ns': stamps.steady_ns, 'system_ns': stamps.system_ns, 'ros_ns': stamps.ros_ns}
    for key in ('text', 'agent', 'symbol', 'arguments'):
        value = getattr(event, key)
        if value is not None:
            found[key] = _cut(value)
    if event.kind == 'stimulus':
        found['hazard'] = event.hazard
        found.update({key: value for key, value in event.truth.items() if key == 'distance'})
    return found


def result_fields(result: TrialResult, ended: int, planned: int) -> Mapping[str, Any]:
    """Return what a trial came to as a JSON object: of its findings those that do not pass."""
    latency = result.latency
    reaction = None if latency is None else latency.reaction
    return {
        'schema': VERDICT, 'trial': result.trial_id, 'scenario': result.scenario_id,
        'scenario_name': _cut(result.scenario_name), 'index': result.index,
        'warmup': result.warmup, 'controller': _cut(result.controller), 'seed': result.seed,
        'verdict': result.verdict.value, 'reason': _cut(result.reason),
        'latency_ms': None if reaction is None else reaction.judged_ns / 1e6,
        'uncertainty_ms': None if reaction is None else reaction.uncertainty_ns / 1e6,
        'latency_class': None if latency is None else latency.latency_class.value,
        'margin': None if (worst := _worst(result)) is None else worst[0],
        'margin_unit': None if worst is None else worst[1],
        'findings': [{
            'check': finding.check, 'kind': finding.kind, 'verdict': finding.verdict.value,
            'reason': _cut(finding.reason), 'margin': finding.margin, 'unit': finding.unit,
            'at_ms': finding.at_ms} for finding in result.findings
            if finding.verdict not in (None, Verdict.PASS) and finding.verdict][:_MOST_FINDINGS],
        'ended': ended, 'planned': planned}


def _worst(result: TrialResult) -> tuple[float, str | None] | None:
    """Return the least margin in the unit of the finding that decides, None without a number."""
    known = [(finding.margin, finding.unit) for finding in result.findings
             if finding.margin is not None and finding.verdict is result.verdict]
    units = {unit for _, unit in known}
    return min(known, key=lambda one: one[0]) if len(units) == 1 else None


def summary_fields(summary: CampaignSummary) -> Mapping[str, Any]:
    """Return what a campaign came to as a JSON object."""
    return {
        'schema': CAMPAIGN, 'controller': _cut(summary.controller), 'link': summary.link,
        'verdict': summary.verdict.value, 'verdicts': summary.verdicts,
        'completed': summary.completed, 'planned': summary.planned,
        'interrupted': summary.interrupted, 'exit_code': summary.exit_code}


def to_text(found: Mapping[str, Any]) -> str:
    """
    Return an object as JSON in ASCII, in which no character acts.

    What is no number in JSON (an infinite margin) is null.
    """
    return json.dumps(_finite(found))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    if isinstance(value, float) and not -1e308 < value < 1e308:
        return None
    return value


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST - 3] + '...'


_PHASES = {ONSET: 'hazard', ALL_CLEAR: 'after the all-clear', END: 'over'}


@dataclass(frozen=True, slots=True)
class Picture:
    """One moment of a trial. It decides nothing: verdicts come from the record alone."""

    trial: Trial
    phase: str
    frame: Frame
    footprint: float
    """Radius of the robot, of an arm that of its foot (m)."""
    reach: float
    """From its origin to where a separation is measured from, by the scenario (m)."""
    verdict: Verdict | None = None
    """Of this trial once it is judged."""
    latency_ms: float | None = None
    before: Verdict | None = None
    """Of the trial before this one."""

    @property
    def distance(self) -> float | None:
        """Return the separation from the nearest body (m)."""
        return self.frame.distance

    @property
    def speed(self) -> float | None:
        """Return that of the robot in a world, else as commanded, in the unit of its signal."""
        speed = self.frame.robot.speed
        return self.frame.commanded if speed is None else speed

    @property
    def required(self) -> float | None:
        """Return the protective separation distance S_p at that speed (m)."""
        return self.frame.required


class LiveTrial:
    """Keeps the scene of the trial that runs, and the verdict of the one before."""

    def __init__(self) -> None:
        self._trial: Trial | None = None
        self._builder: SceneBuilder | None = None
        self._before: Verdict | None = None
        self._phase = 'nominal'

    @property
    def trial(self) -> Trial | None:
        """Return the trial that runs, None between trials."""
        return self._trial

    def begin(self, trial: Trial) -> None:
        """Forget the trial before."""
        self._trial, self._builder, self._phase = trial, SceneBuilder(trial), 'nominal'

    def over(self, verdict: Verdict) -> None:
        self._before, self._trial, self._builder = verdict, None, None

    def take(self, event: Event) -> None:
        if self._builder is not None:
            self._builder.take(event)
        if event.kind == 'mark':
            self._phase = _PHASES.get(event.name, self._phase)

    def picture(self, verdict: Verdict | None = None,
                latency_ms: float | None = None) -> Picture | None:
        """Return this moment, None between trials."""
        trial, builder = self._trial, self._builder
        if trial is None or builder is None:
            return None
        return Picture(trial, self._phase, builder.frame(), builder.footprint, builder.reach,
                       verdict, latency_ms, self._before)


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
    lines = [printable(f'{scenario.id} {scenario.name}, {number_of(picture.trial)}', 80)]
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
