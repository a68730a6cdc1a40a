# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From the events of one trial, as they come, to the frame of any moment.

Where the world of the link reports the robot's place, everything is where the world reports it.
Without a world, bodies are where their stimuli show them, as seen from the robot. If its path is
predicted, a hazard is placed where it is shown at the onset and then moves as its stimulus says,
whatever the robot does. Else the robot stays the origin.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import math

from safety_scenarios.reports.scene.scene import Body, Frame, Kind, Phase, Robot
from safety_scenarios.scenario.body import RobotBody, ScenarioBody
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.robot_kind import kind_of
from safety_scenarios.scenario.stimulus import BodyIntent, read_intent, StimulusContext
from safety_scenarios.scenario.world import WorldBlock
from safety_scenarios.scenario.world_body import beside, box, disc, Footprint, gap, Placed
from safety_scenarios.scenario.world_body import Body as DescribedBody
from safety_scenarios.trial.trial import ALL_CLEAR, ONSET, Trial
from safety_scenarios.trial.world_truth import DISTANCE, GAP, OTHER_ROBOT, PERSON, ROBOT

POINT_RADIUS = 0.1
"""How wide the foot of an arm is drawn (m)."""
_PERSON_RADIUS = 0.25
"""Of a person whose size is not known (m)."""
_HELD_NS = 500_000_000
"""What no stimulus has shown for longer is not there any more."""
_SCENERY = 'wall:', 'door:'


class ProtectiveDistance:
    """
    S_p of one trial at a speed of the robot.

    As the invariant ``separation`` has it: without a share of the controller, and for a robot that
    is faster than it declares, that of its top speed.
    """

    def __init__(self, trial: Trial) -> None:
        self._terms = trial.scenario.body.separation_terms
        self._known: dict[float, float] = {}

    def at(self, speed: float | None) -> float | None:
        """Return it (m) at a speed (m/s), None where the scenario does not declare its terms."""
        if speed is None or not math.isfinite(speed) or self._terms is None:
            return None
        terms, robot = self._terms
        if speed not in self._known:  # most of a trial is driven at one speed
            [self._known[speed]] = terms.needed(robot, [speed])
        return self._known[speed]


@dataclass(frozen=True, slots=True)
class _LastDistance:
    """How far away a body was shown last."""

    distance: float
    t_ns: int
    is_published: bool
    """Whether its stimulus published it; else a world has reported it without the robot's
    place."""
    kind: str | None = None
    """Of the intent in that world."""


class _Source:
    """A stimulus that shows bodies."""

    def __init__(self, is_hazard: bool, topic: str, intent: BodyIntent) -> None:
        self.is_hazard, self.topic, self.kind = is_hazard, topic, intent.kind
        self.distance = intent.distance
        self.stands = intent.bodies()[0].motion.is_stationary
        """Whether nothing but the robot itself can bring it nearer."""
        self._intent, self._places = intent, (math.nan, _places(intent, intent.distance))

    def places(self, distance: float) -> Sequence[tuple[DescribedBody, Footprint, Placed]]:
        """Return each body, its outline and its place as seen at a distance; most stay there."""
        if distance != self._places[0]:
            self._places = distance, _places(self._intent, distance)
        return self._places[1]


def _places(intent: BodyIntent,
            distance: float) -> Sequence[tuple[DescribedBody, Footprint, Placed]]:
    return [(body, body.footprint, place) for body, place in intent.places(distance)]


@dataclass(frozen=True, slots=True)
class _Applied:
    """What a stimulus has put into a world."""

    is_hazard: bool
    kind: str
    bodies: Mapping[str, DescribedBody]
    """By the names that the world gives them."""


@dataclass(frozen=True, slots=True)
class _Moment:
    """What is there at a moment."""

    bodies: list[Body] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)


class SceneBuilder:
    """
    Keeps what the events of one trial have said so far.

    :param onset_ns: steady time of the onset where it is known beforehand, else that of its mark
    :param clear_ns: the same of the all-clear
    :param zero_ns: steady time from which the time of a frame counts
    """

    def __init__(self, trial: Trial, onset_ns: float | None = None,
                 clear_ns: float | None = None, zero_ns: int = 0) -> None:
        self._body = trial.scenario.body
        self.footprint = footprint_of(trial)
        """Radius of the robot (m)."""
        self.reach = self._body.separation.reach if self._body.separation else 0.0
        """What is taken off every distance from the robot's origin (m)."""
        self._protective = ProtectiveDistance(trial)
        self._sources = tuple(_sources(trial))
        self._known = {(one.is_hazard, one.topic) for one in self._sources}
        self._onset_ns, self._clear_ns = onset_ns, clear_ns
        self._zero_ns, self._now_ns = zero_ns, zero_ns
        self._shown: dict[tuple[bool, str], _LastDistance] = {}
        self._applied: dict[str, _Applied] = {}
        self._truths: dict[str, Mapping[str, float]] = {}
        block = scene_of_file(trial.scenario.body)
        self._scenery = {f'wall:{one.name}': box(math.dist(one.begin, one.end), one.thickness)
                         for one in block.walls} | {
            f'box:{one.name}': box(one.size[0], one.size[1]) for one in block.boxes}
        self._moment = set[str]()
        """What the world has reported at the time of the last event."""
        self._messages: dict[str, Message] = {}
        self._anchor: Robot | None = None

    def take(self, event: Event) -> None:
        """Take one event, not before the one before it."""
        if event.stamps.steady_ns != self._now_ns:
            self.end_moment()
        self._now_ns = event.stamps.steady_ns
        if event.kind == 'mark':
            if event.name == ONSET and self._onset_ns is None:
                self._onset_ns = self._now_ns
            elif event.name == ALL_CLEAR and self._clear_ns is None:
                self._clear_ns = self._now_ns
        elif event.kind == 'stimulus':
            if event.arguments is not None:
                self._applied[event.name] = _applied(event)
            elif DISTANCE in event.truth:
                self._shown[event.hazard, event.name] = _LastDistance(
                    event.truth[DISTANCE], self._now_ns, True)
        elif event.kind == 'state':
            self._report(event)
        elif event.kind in ('command', 'feedback') and event.message is not None:
            self._messages[event.name] = event.message

    def end_moment(self) -> None:
        """Forget what the world did not report with the robot: every event of then is known."""
        if ROBOT in self._moment and len(self._moment) < len(self._truths) \
                and is_placed(self._truths.get(ROBOT, {})):
            self._truths = {name: truth for name, truth in self._truths.items()
                            if name in self._moment}
        self._moment.clear()

    def _report(self, event: Event) -> None:
        name, truth = event.name, event.truth
        self._truths.pop(name, None)  # what was reported last is last
        if not truth:
            return
        self._truths[name] = truth
        self._moment.add(name)
        if name == ROBOT:
            self.footprint = truth.get('radius', self.footprint)
        applied = self._applied.get(name)
        if applied is not None and DISTANCE in truth:
            self._shown[applied.is_hazard, name] = _LastDistance(
                truth[DISTANCE], self._now_ns, False, applied.kind)

    def phase_at(self, t_ns: int) -> Phase:
        """Return the phase at a steady time."""
        if self._onset_ns is None or t_ns < self._onset_ns:
            return 'nominal'
        return 'hazard' if self._clear_ns is None or t_ns < self._clear_ns else 'after'

    def frame(self, t_ns: int | None = None, predicted: Robot | None = None) -> Frame:
        """
        Return the scene at a moment.

        :param t_ns: steady time, not before that of the last event; None: that of it
        :param predicted: where the robot would be, in a trial without a world
        """
        t_ns = self._now_ns if t_ns is None else t_ns
        phase, truth, commanded = self.phase_at(t_ns), self._truths.get(ROBOT, {}), \
            self._commanded()
        if predicted is None and is_placed(truth):
            robot = _robot(truth)
            found = self._reported()
        else:
            robot = predicted or Robot(0.0, 0.0, 0.0, _over_ground(truth))
            if phase != 'nominal' and self._anchor is None:
                self._anchor = robot
            found = self._from_stimuli(t_ns, phase, robot, predicted is not None)
        speed = robot.speed
        if speed is None and commanded is not None and self._body.separation:
            speed = abs(commanded) * self._body.separation.metres_per_unit
        return Frame((t_ns - self._zero_ns) / 1e9, phase, robot, tuple(found.bodies),
                     min(found.gaps, default=None), self._protective.at(speed),
                     min(found.distances, default=None), commanded)

    def _from_stimuli(self, t_ns: int, phase: Phase, robot: Robot, has_path: bool) -> _Moment:
        """Return what stimuli show."""
        found = _Moment()
        for key in (key for key in self._shown if key not in self._known):
            one = self._shown[key]
            if self._is_visible(one, key[0], t_ns, phase):
                found.distances.append(one.distance - self.reach)
                if not has_path:
                    found.bodies.append(_straight_ahead(key[1], one.distance, robot))
        for source in self._sources:
            shown = self._shown.get((source.is_hazard, source.topic))
            if shown is None or shown.kind not in (None, source.kind) \
                    or not self._is_visible(shown, source.is_hazard, t_ns, phase):
                continue
            found.distances.append(shown.distance - self.reach)
            anchor, distance = robot, shown.distance
            if source.is_hazard and has_path and shown.is_published and self._anchor is not None:
                anchor = self._anchor
                if source.stands:  # only the robot has come nearer to it
                    distance = source.distance
            found.bodies.extend(_stimulus_bodies(source, distance, anchor, robot, self.footprint))
        found.gaps.extend(body.gap for body in found.bodies if body.gap is not None)
        return found

    def _is_visible(self, shown: _LastDistance, is_hazard: bool, t_ns: int, phase: Phase) -> bool:
        """Return whether it is still there: not what was shown before another phase began."""
        ends, until_ns = ('after', self._clear_ns) if is_hazard else ('hazard', self._onset_ns)
        return t_ns - shown.t_ns <= _HELD_NS and math.isfinite(shown.distance) and (
            phase != ends or until_ns is None or shown.t_ns >= until_ns)

    def _reported(self) -> _Moment:
        """Return what the world reports; who is shown to two sensors is one body."""
        found, places = _Moment(), set[tuple[float, float, str]]()
        for name, truth in self._truths.items():
            if name == ROBOT:
                continue
            apart = truth.get(GAP) if _is_kept_away_from(name, truth) else None
            if apart is not None:
                found.gaps.append(min(apart, truth.get('nearest', math.inf)))
            if DISTANCE in truth:
                found.distances.append(truth.get(GAP, truth[DISTANCE] - self.reach))
            if not is_placed(truth):
                continue
            described = self._described(name)
            kind = _kind(name, truth, described)
            place = truth['x'], truth['y'], kind
            if place not in places:
                places.add(place)
                outline = disc(truth['radius']) if 'radius' in truth else \
                    self._outline(name, kind) if described is None else described.footprint
                found.bodies.append(_body(
                    name, kind, (truth['x'], truth['y'], truth.get('heading', 0.0)), outline,
                    described, apart))
        return found

    def _described(self, name: str) -> DescribedBody | None:
        """Return how the intent of an entity describes it, None for what no stimulus has put."""
        applied = self._applied.get(name.partition('#')[0])
        return None if applied is None else applied.bodies.get(name)

    def _outline(self, name: str, kind: Kind) -> Footprint | None:
        """Return the outline of what no stimulus has put there, None where it is not known."""
        if name in self._scenery:
            return self._scenery[name]
        return disc(_PERSON_RADIUS) if kind == 'person' else None

    def _commanded(self) -> float | None:
        if not isinstance(self._body, RobotBody) or not self._messages:
            return None
        terms = self._body.separation
        signal = self._body.signals.get(
            self._body.nominal.require.signal if terms is None else terms.signal)
        message = None if signal is None else self._messages.get(signal.topic)
        if signal is None or message is None:
            return None
        try:
            found = signal.value(message, self._messages.get(signal.current or ''))
        except LookupError:  # a finding of whoever judges the signal
            return None
        return None if found is None or not math.isfinite(found) else found


def footprint_of(trial: Trial) -> float:
    """Return the radius of a robot by its scenario (m); of an arm that of its foot."""
    robot = trial.scenario.body.robot
    return POINT_RADIUS if robot is None else kind_of(robot).outline


def scene_of_file(body: ScenarioBody) -> WorldBlock:
    """Return the world that a scenario asks for, an empty one where it asks for none."""
    return body.world or WorldBlock()


def is_placed(truth: Mapping[str, float]) -> bool:
    """Return whether a world has reported a place."""
    return 'x' in truth and 'y' in truth


def _sources(trial: Trial) -> Iterator[_Source]:
    context = StimulusContext(trial.trial_id, (), None)
    for is_hazard, plugins in ((False, trial.harmless), (True, trial.hazard)):
        for plugin in plugins:
            intent = plugin.intent(context)
            if isinstance(intent, BodyIntent):
                yield _Source(is_hazard, plugin.topic, intent)


def _applied(event: Event) -> _Applied:
    try:
        intent = read_intent(event.arguments or '')
    except ValueError:  # of a package that is not installed here
        return _Applied(event.hazard, '', {})
    return _Applied(event.hazard, intent.kind, {
        _name(event.name, number): body for number, body in enumerate(intent.bodies())})


def _name(topic: str, number: int) -> str:
    """Return what a body of a stimulus is called."""
    return topic if not number else f'{topic}#{number + 1}'


def _stimulus_bodies(source: _Source, distance: float, anchor: Robot, robot: Robot,
                     radius: float) -> Iterator[Body]:
    """
    Yield the bodies of a stimulus.

    :param distance: of the first (m)
    :param anchor: from where it is seen at that distance
    """
    seen_from, here = (anchor.x, anchor.y, anchor.heading), (robot.x, robot.y, robot.heading)
    own = disc(radius)
    for number, (one, outline, (ahead, left, turn)) in enumerate(source.places(distance)):
        place = *beside(seen_from, ahead, left), anchor.heading + turn
        apart = gap(own, here, outline, place) if len(outline.points) > 1 else \
            math.hypot(place[0] - robot.x, place[1] - robot.y) - radius - outline.rounding
        yield _body(_name(source.topic, number), one.look, place, outline, one,
                    apart if math.isfinite(apart) else None)


def _straight_ahead(topic: str, distance: float, robot: Robot) -> Body:
    """Return what is shown at a distance, of which the trial has no intent."""
    x, y = beside((robot.x, robot.y, robot.heading), distance, 0.0)
    return Body(topic, 'thing', x, y, robot.heading, None)


def _body(name: str, kind: Kind, place: Placed, outline: Footprint | None,
          described: DescribedBody | None, apart: float | None) -> Body:
    is_disc = outline is not None and len(outline.points) == 1
    return Body(
        name, kind, *place, radius=outline.rounding if outline is not None and is_disc else None,
        outline=() if outline is None or is_disc else outline.points, gap=apart,
        label=described.label if described is not None else
        name.partition(':')[0] if name.startswith(_SCENERY) else '',
        above=0.0 if described is None else described.rigid.above,
        height=None if described is None else described.rigid.height,
        is_scenery=name.startswith(_SCENERY))


def _robot(truth: Mapping[str, float]) -> Robot:
    tool = (truth['tool.x'], truth['tool.y']) if 'tool.x' in truth and 'tool.y' in truth else None
    return Robot(truth['x'], truth['y'], truth.get('heading', 0.0), _over_ground(truth), tool)


def _over_ground(truth: Mapping[str, float]) -> float | None:
    """Return the speed of a robot in a world, of an arm that of its tool (m/s)."""
    if 'tool.speed' in truth:
        return truth['tool.speed']
    return math.hypot(truth['vx'], truth.get('vy', 0.0)) if 'vx' in truth else None


def _kind(name: str, truth: Mapping[str, float], described: DescribedBody | None) -> Kind:
    """Return as what an entity is drawn; whether it is a person the world knows best."""
    kind: Kind = 'person' if name.startswith(PERSON) else \
        'robot' if name.startswith(OTHER_ROBOT) else \
        'thing' if described is None else described.look
    if 'body' not in truth:
        return kind
    return 'person' if truth['body'] >= 0.5 else 'thing' if kind == 'person' else kind


def _is_kept_away_from(name: str, truth: Mapping[str, float]) -> bool:
    """Return whether a distance is one that is judged: to walls of the scene it is not."""
    return DISTANCE in truth or truth.get('body') == 1.0 or name.startswith(OTHER_ROBOT)
