# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
Where a base and what is shown to it would be, by its commands: for a trial without a world.

The path is that of ``judging.motion.path``, slowed as the robot declares. What the stimuli show
in the nominal phase keeps its place relative to the robot; a hazard is placed where it is shown
at the onset and then moves as its stimulus tells, whatever the robot does.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import json
import math

import numpy
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.path import course
from safety_scenarios.reports.film.moment import phases_of, required_of
from safety_scenarios.reports.film.scene import Body, Frame, Robot
from safety_scenarios.scenario.intent import Intent, ObstacleAt, PersonAt
from safety_scenarios.scenario.stimulus import StimulusContext
from safety_scenarios.trial.timeline import Timeline
from safety_scenarios.trial.trial import ALL_CLEAR, TrialRecord

_STEP_NS = 20_000_000
_HELD_NS = 500_000_000
"""What has not been shown for longer is not there any more."""
_ABREAST_M = 0.7
_DEEP = 0.3
"""How deep a box is drawn: only the width of its face is known (m)."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What one stimulus has shown: at each time a distance (m), held until the next."""

    topic: str
    intent: PersonAt | ObstacleAt
    is_anchored: bool
    """Whether it is where it was shown at the onset; else its place is told from the robot."""
    until_ns: int
    """When its phase ends."""
    times_ns: tuple[int, ...]
    distances: tuple[float, ...]

    def at(self, t_ns: int) -> float | None:
        """Return how far away it is told to be at a time (m), None while it is not shown."""
        place = bisect_right(self.times_ns, t_ns) - 1
        if place < 0 or t_ns - self.times_ns[place] > _HELD_NS \
                or self.times_ns[place] < self.until_ns <= t_ns:
            return None
        is_box = self.is_anchored and isinstance(self.intent, ObstacleAt)
        return self.intent.distance if is_box else self.distances[place]


def reckoned(record: TrialRecord, zero_ns: int) -> tuple[Sequence[Frame], str]:
    """Return the frames by the motion of a base, and what that comes from; none without any."""
    trial = JudgedTrial.of(record)
    motion = trial.motion
    found = [track for track in (*motion.measured, *motion.tracks) if track.is_base]
    if not found:
        return (), ''
    track = found[0]
    begin_ns = record.events[0].stamps.steady_ns
    way = course(motion, track, begin_ns, record.end_ns, slowed=not track.is_measured)
    times = numpy.append(numpy.arange(begin_ns, record.end_ns, _STEP_NS), record.end_ns)
    rows = numpy.stack([numpy.interp(times, way.times_ns, values) for values in (
        way.x, way.y, way.headings, way.speeds)], axis=1).tolist()
    robots = [Robot(*row) for row in rows]
    onset = trial.timeline.onset
    at_onset = robots[0] if onset is None else robots[
        min(int(numpy.searchsorted(times, onset.stamps.steady_ns)), len(robots) - 1)]
    shown, radius = list(_shown(record)), track.radius
    phase_at, required_at = phases_of(record), required_of(record)
    frames = []
    for t_ns, robot in zip(times.tolist(), robots, strict=True):
        bodies = tuple(body for one in shown
                       for body in _bodies(one, t_ns, robot, at_onset, radius))
        gaps = [body.gap for body in bodies if body.gap is not None]
        frames.append(Frame((t_ns - zero_ns) / 1e9, phase_at(t_ns), robot, bodies,
                            min(gaps, default=None), required_at(robot.speed)))
    return frames, f'by {track.source}'


def _shown(record: TrialRecord) -> Iterator[_Shown]:
    """Yield each person and box that a stimulus has shown, in words of its plug-in's intent."""
    trial, timeline = record.trial, Timeline(record)
    context = StimulusContext(trial.trial_id, (), None)
    for plugins, is_hazard, ends in ((trial.nominal, False, timeline.onset),
                                     (trial.hazard, True, timeline.mark(ALL_CLEAR))):
        until_ns = record.end_ns + 1 if ends is None else ends.stamps.steady_ns
        for plugin in plugins:
            intent = plugin.intent(context)
            if not isinstance(intent, (PersonAt, ObstacleAt)):
                continue
            sent = tuple(_sent(record, plugin.topic, is_hazard))
            told = sent or tuple(_told(record, plugin.topic, is_hazard, intent))
            if told:
                times_ns, distances = zip(*told)
                yield _Shown(plugin.topic, intent, is_hazard and bool(sent), until_ns, times_ns,
                             distances)


def _sent(record: TrialRecord, topic: str, is_hazard: bool) -> Iterator[tuple[int, float]]:
    """Yield (steady ns, m) of each message that showed something."""
    for event in record.of_kind('stimulus', topic):
        if event.hazard is is_hazard and 'distance' in event.truth:
            yield event.stamps.steady_ns, event.truth['distance']


def _told(record: TrialRecord, topic: str, is_hazard: bool,
          intent: Intent) -> Iterator[tuple[int, float]]:
    """Yield (steady ns, m) of each distance that a world told, of one that tells no more."""
    placed = [event for event in record.of_kind('stimulus', topic) if event.arguments is not None]
    for event in record.of_kind('state', topic):
        now = [one for one in placed if one.stamps.steady_ns <= event.stamps.steady_ns]
        if now and 'distance' in event.truth and now[-1].hazard is is_hazard \
                and json.loads(now[-1].arguments or '{}').get('kind') == intent.kind:
            yield event.stamps.steady_ns, event.truth['distance']


def _bodies(shown: _Shown, t_ns: int, robot: Robot, at_onset: Robot,
            radius: float) -> Iterator[Body]:
    distance, intent = shown.at(t_ns), shown.intent
    if distance is None:
        return
    anchor = at_onset if shown.is_anchored else robot
    if isinstance(intent, ObstacleAt):
        half = intent.width / 2
        x, y = _ahead(anchor, distance, intent.lateral)
        outline = ((0.0, -half), (_DEEP, -half), (_DEEP, half), (0.0, half))
        gap = _to_face(robot, (x, y, anchor.heading), half) - radius
        yield Body(shown.topic, 'thing', x, y, anchor.heading, None, outline, gap)
        return
    for count in range(intent.count):
        bearing = intent.bearing + 2 * count * math.asin(min(1.0, _ABREAST_M / 2 / distance))
        x, y = _ahead(anchor, distance * math.cos(bearing), distance * math.sin(bearing))
        gap = math.hypot(x - robot.x, y - robot.y) - radius - intent.radius
        yield Body(shown.topic if not count else f'{shown.topic}#{count + 1}', 'person', x, y,
                   anchor.heading + bearing + math.pi, intent.radius, (), gap)


def _ahead(robot: Robot, ahead: float, left: float) -> tuple[float, float]:
    """Return a place in the world that is told from a robot's origin."""
    cos, sin = math.cos(robot.heading), math.sin(robot.heading)
    return robot.x + ahead * cos - left * sin, robot.y + ahead * sin + left * cos


def _to_face(robot: Robot, face: tuple[float, float, float], half: float) -> float:
    """Return the distance from a robot's origin to a box behind a face (m)."""
    x, y, heading = face
    dx, dy = robot.x - x, robot.y - y
    along = dx * math.cos(heading) + dy * math.sin(heading)
    aside = -dx * math.sin(heading) + dy * math.cos(heading)
    return math.hypot(along - min(max(along, 0.0), _DEEP), aside - min(max(aside, -half), half))
