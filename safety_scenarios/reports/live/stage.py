# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From the events of a running trial to the picture of this moment, seen from the robot.

Everything is told in the robot's own frame, ``base_link`` (REP 105): x ahead, y to the left. A
world tells where robot and people are; without one it is what the stimuli show. It decides
nothing: verdicts come from the record alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import json
import math
from typing import Any, Literal

from safety_scenarios.errors import InputError
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import Verdict
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.stimuli.obstacle import ObstacleAt
from safety_scenarios.stimuli.person import PersonAt
from safety_scenarios.trial.trial import ALL_CLEAR, END, ONSET, Trial

FRAME = 'base_link'
"""Of every place in a picture (REP 105)."""
_HELD_NS = 500_000_000
"""What no stimulus has shown for longer is not there any more."""
_PERSON_RADIUS, _THING_RADIUS, _POINT_RADIUS = 0.25, 0.15, 0.1
_MOST_BODIES = 50
_PHASES = {ONSET: 'hazard', ALL_CLEAR: 'after the all-clear', END: 'over'}
_NO_THINGS = ('robot', 'task', 'floor')
_SCENERY = ('wall:', 'door:')


@dataclass(frozen=True, slots=True)
class Body:
    """A person, another robot or a thing, as seen from the robot (m)."""

    name: str
    kind: Literal['person', 'robot', 'thing']
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class Picture:
    """One moment of a trial."""

    trial: Trial
    phase: str
    bodies: tuple[Body, ...]
    footprint: float
    """Radius of the robot (m)."""
    reach: float
    """From its origin to where a separation is measured from, by the scenario (m)."""
    distance: float | None
    """Separation from the nearest body, as the world or a stimulus tells it (m)."""
    speed: float | None
    """Of the robot in a world, else as commanded, in the unit of the scenario's signal."""
    required: float | None
    """The protective separation distance S_p at that speed (m)."""
    verdict: Verdict | None = None
    """Of this trial once it is judged."""
    latency_ms: float | None = None
    before: Verdict | None = None
    """Of the trial before this one."""


class Stage:
    """Keeps what is known of the trial that runs."""

    def __init__(self) -> None:
        self._trial: Trial | None = None
        self._before: Verdict | None = None
        self._phase = 'nominal'
        self._now_ns = 0
        self._shown: dict[tuple[bool, str], tuple[float, int]] = {}
        self._told: dict[str, Mapping[str, float]] = {}
        self._intents: dict[str, str] = {}
        self._messages: dict[str, Message] = {}

    @property
    def trial(self) -> Trial | None:
        """Return the trial that runs, None between trials."""
        return self._trial

    def begin(self, trial: Trial) -> None:
        """Forget the trial before."""
        self._trial, self._phase = trial, 'nominal'
        self._shown, self._told, self._intents, self._messages = {}, {}, {}, {}

    def over(self, verdict: Verdict) -> None:
        """Note what the trial came to."""
        self._before, self._trial = verdict, None

    def take(self, event: Event) -> None:
        """Take one event of the trial that runs."""
        self._now_ns = event.stamps.steady_ns
        if event.kind == 'mark':
            self._phase = _PHASES.get(event.name, self._phase)
            if event.name == ALL_CLEAR:
                self._shown = {key: told for key, told in self._shown.items() if not key[0]}
        elif event.kind == 'stimulus':
            if event.arguments is not None:
                self._intents[event.name] = event.arguments
            elif 'distance' in event.truth:
                self._shown[event.hazard, event.name] = (event.truth['distance'], self._now_ns)
        elif event.kind == 'state':
            if event.truth:
                self._told[event.name] = event.truth
            else:
                self._told.pop(event.name, None)
        elif event.kind in ('command', 'feedback') and event.message is not None:
            self._messages[event.name] = event.message

    def picture(self, verdict: Verdict | None = None,
                latency_ms: float | None = None) -> Picture | None:
        """Return this moment, None between trials."""
        trial = self._trial
        if trial is None:
            return None
        robot = self._told.get('robot', {})
        in_world = 'x' in robot and 'y' in robot
        bodies = tuple(self._in_world(robot) if in_world else self._as_shown(trial))[:_MOST_BODIES]
        measured = _over_ground(robot)
        speed = self._commanded(trial) if measured is None else measured
        return Picture(trial, self._phase, bodies, _footprint(trial, robot), _reach(trial),
                       min(self._distances(trial, in_world), default=None), speed,
                       _required(trial, speed, measured is not None), verdict, latency_ms,
                       self._before)

    def _live(self) -> Iterator[tuple[bool, str, float]]:
        """Yield whether of the hazard, topic and distance of what is shown now."""
        taken = {name for hazard, name in self._shown if hazard}
        for (hazard, name), (distance, t_ns) in self._shown.items():
            if self._now_ns - t_ns <= _HELD_NS and (hazard or name not in taken):
                yield hazard, name, distance

    def _as_shown(self, trial: Trial) -> Iterator[Body]:
        for hazard, name, distance in self._live():
            if not math.isfinite(distance):
                continue
            bearing, radius, count, kind = _shape(trial, hazard, name)
            for number in range(min(count, _MOST_BODIES)):
                angle = bearing + number * (2 * radius + 0.2) / max(distance, radius)
                yield Body(name if not number else f'{name}#{number + 1}', kind,
                           distance * math.cos(angle), distance * math.sin(angle), radius)

    def _in_world(self, robot: Mapping[str, float]) -> Iterator[Body]:
        cos, sin = math.cos(robot.get('heading', 0.0)), math.sin(robot.get('heading', 0.0))
        seen = set[tuple[float, float]]()
        for name, truth in self._told.items():
            if name in _NO_THINGS or name.startswith(_SCENERY) or 'x' not in truth \
                    or 'y' not in truth or (truth['x'], truth['y']) in seen:
                continue  # who is shown to two sensors is one body
            seen.add((truth['x'], truth['y']))
            dx, dy = truth['x'] - robot['x'], truth['y'] - robot['y']
            kind = self._kind(name, truth)
            yield Body(name, kind, dx * cos + dy * sin, dy * cos - dx * sin, truth.get(
                'radius', _PERSON_RADIUS if kind == 'person' else _THING_RADIUS))

    def _kind(self, name: str, truth: Mapping[str, float]) -> Literal['person', 'robot', 'thing']:
        if name.startswith('robot:'):
            return 'robot'
        if 'body' in truth:
            return 'person' if truth['body'] >= 0.5 else 'thing'
        put = self._intents.get(name.partition('#')[0])
        is_person = name.startswith('person:') or (
            put is not None and json.loads(put).get('kind') == 'person_at')
        return 'person' if is_person else 'thing'

    def _distances(self, trial: Trial, in_world: bool) -> list[float]:
        reach = _reach(trial)
        if not in_world:
            return [distance - reach for _, _, distance in self._live()
                    if math.isfinite(distance)]
        return [truth.get('gap', truth['distance'] - reach) for name, truth in self._told.items()
                if name not in _NO_THINGS and 'distance' in truth]

    def _commanded(self, trial: Trial) -> float | None:
        ros = trial.scenario.ros
        if ros is None:
            return None
        name = ros.separation.signal if ros.separation is not None else ros.nominal.require.signal
        signal = ros.signals.get(name)
        message = self._messages.get(signal.topic) if signal is not None else None
        if signal is None or message is None:
            return None
        try:
            found = signal.value(message, self._messages.get(signal.current or ''))
        except LookupError:  # the trial itself says so
            return None
        return None if found is None or not math.isfinite(found) else found


def _shape(trial: Trial, hazard: bool, topic: str) -> \
        tuple[float, float, int, Literal['person', 'thing']]:
    """Return bearing (rad), radius (m), number and kind of what a stimulus shows."""
    context = StimulusContext(trial.trial_id, (), None)
    for plugin in trial.hazard if hazard else trial.nominal:
        if plugin.topic == topic:
            intent: Any = plugin.intent(context)
            if isinstance(intent, PersonAt):
                return intent.bearing, intent.radius, intent.count, 'person'
            if isinstance(intent, ObstacleAt):
                return 0.0, max(0.05, intent.width / 2), 1, 'thing'
    return 0.0, _THING_RADIUS, 1, 'thing'


def _over_ground(robot: Mapping[str, float]) -> float | None:
    """Return the speed of a robot in a world, of an arm that of its tool (m/s)."""
    if 'tool.speed' in robot:
        return robot['tool.speed']
    return math.hypot(robot['vx'], robot.get('vy', 0.0)) if 'vx' in robot else None


def _reach(trial: Trial) -> float:
    """Return what is taken off every distance that is told from the robot's origin (m)."""
    ros = trial.scenario.ros
    return ros.separation.reach if ros is not None and ros.separation is not None else 0.0


def _footprint(trial: Trial, robot: Mapping[str, float]) -> float:
    block = trial.scenario.ros or trial.scenario.agents
    if 'radius' in robot:
        return robot['radius']
    if block is None or block.robot is None:
        return _POINT_RADIUS
    return kind_of(block.robot).outline


def _required(trial: Trial, speed: float | None, is_measured: bool) -> float | None:
    """
    Return S_p at a speed (m), without a share of the controller, as the invariant has it.

    :param is_measured: the speed is over ground; else that of the signal of ``ros.separation``
    """
    ros = trial.scenario.ros
    if speed is None or ros is None or ros.separation is None or ros.robot.stopping is None:
        return None
    terms = ros.separation
    metres = abs(speed) if is_measured else abs(speed) * terms.metres_per_unit
    try:
        return terms.required(ros.robot, min(metres, terms.top_speed(ros.robot)), 0.0).total
    except (InputError, LookupError):
        return None
