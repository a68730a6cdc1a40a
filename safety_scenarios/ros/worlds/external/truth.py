# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What is true, from the poses of models: speeds by differences, gaps by outlines; pure."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
import math

from safety_scenarios.errors import MeasurementError
from safety_scenarios.ros.worlds.external.bodies import Fall, Model, Places
from safety_scenarios.ros.worlds.external.mover import ArmTruth, PoseBook
from safety_scenarios.ros.worlds.external.stage import slots
from safety_scenarios.scenario.world import WorldBlock
from safety_scenarios.scenario.world_body import Footprint, gap, Placed
from safety_scenarios.trial.world_truth import LONGEST_GAP_NS, UNSEEN
from safety_scenarios.worlds.task import Route

TOUCH_M = 0.01
"""Outlines this near to each other touch: solvers keep bodies a little apart, or let them in."""
NEAR = 5.0
"""Of walls and boxes only what is nearer than this is told (m), as in our own world."""
_APART_NS = 8_000_000
"""Between two tellings, at least; at most it is what the robot's poses are apart."""
_OVER_NS = 20_000_000
"""Velocities are differences over so much time."""
_WAIT_NS = 100_000_000
"""So long a telling waits for the pose of a body; then it is told without that one."""
_TASK_NS = 100_000_000
_CLOSING = 1e-3
_NEAR_M = 0.3
"""Something whose touch is felt is what is nearest, if it is this near."""
_NOBODY_KNOWS = 'touched'
"""What touched the robot, where nothing tells what it was."""
States = Mapping[str, Mapping[str, float]]


@dataclass
class TrackedBody:
    """A body that is to be there, and what was told of it last."""

    name: str
    """Of its model."""
    body: Model
    course: Places
    topics: set[str] = field(default_factory=set)
    """Stimulus topics that show it, with its number on each; empty: it is not there."""
    asked_ns: int = 0
    since_ns: int | None = None
    """From when on its poses say that it is where it was put; None: they do not yet."""
    told: tuple[int, float] | None = None
    """When its gap was told last, and that (ns, m)."""
    is_scenery: bool = False
    """Whether it is a wall or a box of the scene, which is told of while it is near."""
    is_glass: bool = False
    """Whether scanners see it where a beam meets it squarely."""
    fall: Fall | None = None
    """How a person falls; None: he or she does not."""
    is_seen: bool = False
    """Whether a sensor has shown anything that may be it."""

    @property
    def models(self) -> frozenset[str]:
        return frozenset({self.name} if self.fall is None else {self.name, self.fall.name})


class Truth:
    """
    Tells what is true at each pose of the robot, once the poses of all others are known.

    A contact that nothing tells is never told as none: ``touching`` is 1 where outlines meet or
    somebody has felt a touch, 0 where somebody would have felt it, and else left out.

    :param begin_ns: what was before is none of the trial
    :param feels: whether a sensor tells of every touch
    :param arm: what is true of the robot if it is one: its outline goes with its links
    """

    def __init__(self, book: PoseBook, robot: str,
                 footprint: Footprint, block: WorldBlock, begin_ns: int, feels: bool,
                 arm: ArmTruth | None = None) -> None:
        self._book, self._robot, self._footprint, self._arm = book, robot, footprint, arm
        self._told_ns = begin_ns
        self._task_ns = 0
        self._route = Route(block)
        self._feels = feels
        self._felt: set[str] = set()
        """Models whose touch is still to be told: of who has just come, once poses show where."""
        self._ours = frozenset(slots())
        self._gone: list[tuple[int, str]] = []
        self._is_touched = False

    def feel(self, name: str) -> None:
        """Take that a sensor felt a touch of a model; empty: it does not say of which."""
        self._felt.add(name)

    def leave(self, names: Iterable[str], now_ns: int) -> None:
        """
        Tell that something is there no more, not before it went.

        :param now_ns: of the last step of the world that was known when it was asked to go; in
            that step it was still there
        """
        self._gone += [(now_ns, name) for name in names]

    def robot(self, now_ns: int) -> Placed | None:
        """Return where the robot is by now, if it goes on as it did."""
        last = self._book.last(self._robot)
        if last is None:
            return None
        stamp_ns, place = last
        moved = self._moved(stamp_ns, place)
        if moved is None:
            return place
        ahead_s = max(0, min(_WAIT_NS, now_ns - stamp_ns)) / 1e9
        return (place[0] + moved[0] * ahead_s, place[1] + moved[1] * ahead_s,
                place[2] + moved[2] * ahead_s)

    def apart(self, body: Footprint, robot: Placed, place: Placed) -> float:
        """
        Return the gap between a body that is at a place and the robot as it is now (m).

        :raises MeasurementError: the robot is an arm of which nobody knows where its links are
        """
        return self._gap(self._outline(self._book.last_ns), robot, body, place)

    def new_states(self, shown: Mapping[str, TrackedBody]) -> Iterator[tuple[int, States]]:
        """Yield stamp and what is true then, for each that has become known since."""
        there = [one for one in shown.values() if one.topics]
        for stamp_ns in self._book.stamps_after(self._robot, self._told_ns):
            if stamp_ns - self._told_ns < _APART_NS:
                continue
            places = {}
            for one in there:
                if one.since_ns is None or stamp_ns < one.since_ns:
                    continue
                place = self._book.at(one.name, stamp_ns)
                if place is None and self._book.last_ns - stamp_ns < _WAIT_NS:
                    return
                if place is not None:
                    places[one.name] = place
            outline = self._outline(stamp_ns)
            if not outline and self._book.last_ns - stamp_ns < _WAIT_NS:
                return
            self._told_ns = stamp_ns
            yield stamp_ns, self._at(stamp_ns, there, places, outline)

    def _outline(self, stamp_ns: int) -> Sequence[Footprint]:
        """Return the parts of the robot's outline; none: its links have not told it."""
        return [self._footprint] if self._arm is None else self._arm.outline(stamp_ns) or ()

    def _at(self, stamp_ns: int, there: list[TrackedBody], places: Mapping[str, Placed],
            outline: Sequence[Footprint]) -> States:
        robot = self._book.at(self._robot, stamp_ns)
        assert robot is not None  # it is one of its own stamps
        here = {topic for one in there for topic in one.topics}  # of these somebody else is told
        states: dict[str, Mapping[str, float]] = {
            name: {} for since_ns, name in self._gone if since_ns < stamp_ns and name not in here}
        self._gone = [one for one in self._gone if one[0] >= stamp_ns]
        states['robot'] = self._robot_state(stamp_ns, robot)
        if stamp_ns >= self._task_ns:
            self._task_ns = stamp_ns + _TASK_NS
            task = self._task(stamp_ns, robot)
            states |= {'task': task} if task else {}
        gaps = {one.name: self._gap(outline, robot, one.body.footprint, places[one.name])
                for one in there if one.name in places}
        self._whose_touch(gaps)
        for one in there:
            if one.name not in places:
                continue
            if one.is_scenery and gaps[one.name] >= NEAR:
                if one.told is not None:
                    states |= dict.fromkeys(sorted(one.topics), {})
                one.told = None
                continue
            truth = self._body_state(one, stamp_ns, robot, places[one.name], gaps[one.name])
            states |= dict.fromkeys(sorted(one.topics), truth)
        is_touched = not self._felt <= self._ours
        if is_touched:
            states[_NOBODY_KNOWS] = {'touching': 1.0}
        elif self._is_touched:
            states[_NOBODY_KNOWS] = {}
        self._is_touched = is_touched
        self._felt &= {name for one in there if one.name not in places for name in one.models}
        return states

    def _gap(self, outline: Sequence[Footprint], robot: Placed, body: Footprint,
             place: Placed) -> float:
        if not outline:
            raise MeasurementError(f'the robot {self._robot!r}: the positions of its links are '
                                   'no longer '
                                   f'published, expected them with each of its poses')
        return min(gap(part, robot, body, place) for part in outline)

    def _robot_state(self, stamp_ns: int, robot: Placed) -> Mapping[str, float]:
        x, y, heading = robot
        told = {'x': x, 'y': y, 'heading': heading}
        if self._arm is not None:
            return told | self._arm.truth_at(stamp_ns, robot)
        told['radius'] = self._footprint.radius
        moved = self._moved(stamp_ns, robot)
        if moved is not None:
            cos, sin = math.cos(heading), math.sin(heading)
            told |= {'vx': moved[0] * cos + moved[1] * sin,
                     'vy': moved[1] * cos - moved[0] * sin, 'wz': moved[2]}
        return told

    def _task(self, stamp_ns: int, robot: Placed) -> Mapping[str, float]:
        if self._arm is None:
            return self._route.task_state(robot[0], robot[1])
        cycles = self._arm.progress(stamp_ns)
        return {} if cycles is None else {'progress': cycles}

    def _whose_touch(self, gaps: Mapping[str, float]) -> None:
        """Let a touch whose other side is not told be that of what is nearest, if it is near."""
        if '' in self._felt and gaps:
            name = min(gaps, key=lambda one: gaps[one])
            if gaps[name] <= _NEAR_M:
                self._felt.discard('')
                self._felt.add(name)

    def _body_state(self, one: TrackedBody, stamp_ns: int, robot: Placed, place: Placed,
                    apart: float) -> Mapping[str, float]:
        before, one.told = one.told, (stamp_ns, apart)
        vx, vy = self._velocity(one, stamp_ns, place)
        told = {'x': place[0], 'y': place[1], 'heading': place[2], 'vx': vx, 'vy': vy,
                'gap': apart, 'body': float(one.body.is_person)}
        if not one.is_scenery:  # nobody keeps a distance from walls
            told['distance'] = one.course.distance(place, robot)
        if len(one.body.footprint.points) == 1:
            told['radius'] = one.body.footprint.rounding
        if not one.is_seen and not one.is_scenery:
            told[UNSEEN] = 1.0
        closing = 0.0
        if before is not None:
            closing = (before[1] - apart) / ((stamp_ns - before[0]) / 1e9)
        nearest = min(apart, before[1]) if before is not None else apart
        told |= {'nearest': nearest, 'closing': closing}
        if closing > _CLOSING and apart > 0:
            told['ttc'] = apart / closing
        if apart <= TOUCH_M or one.models & self._felt:
            told['touching'] = 1.0
        elif self._feels:
            told['touching'] = 0.0
        return told

    def _velocity(self, one: TrackedBody, stamp_ns: int, place: Placed) -> tuple[float, float]:
        assert one.since_ns is not None
        if one.is_scenery:
            return one.course.velocity
        since_ns = max(one.since_ns, stamp_ns - 3 * _OVER_NS)  # it is moved in steps
        was = self._book.at(one.name, since_ns)
        if was is None or stamp_ns - since_ns < _OVER_NS:
            return one.course.velocity
        passed_s = (stamp_ns - since_ns) / 1e9
        return (place[0] - was[0]) / passed_s, (place[1] - was[1]) / passed_s

    def _moved(self, stamp_ns: int, place: Placed) -> tuple[float, float, float] | None:
        """Return how the robot moves along x and y of the world, and turns; None: not known."""
        before = self._book.before(self._robot, stamp_ns - _OVER_NS)
        if before is None or stamp_ns - before[0] > LONGEST_GAP_NS:
            return None
        passed_s, was = (stamp_ns - before[0]) / 1e9, before[1]
        return ((place[0] - was[0]) / passed_s, (place[1] - was[1]) / passed_s,
                math.remainder(place[2] - was[2], math.tau) / passed_s)


_KEPT = 10
"""Places of a body that are remembered: poses come half a second later than asked for at most."""
_SAME_PLACE_M = 0.1
"""A body that is this near to where it was put is there."""
_FASTEST_M_S, _JUMP_M = 20.0, 0.1
"""No robot drives faster; it jumps if it gets farther than that, and by so much."""
_LONGEST_NS = 200_000_000
"""Between two poses that are farther apart nobody knows what was."""
_ADVICE = ('another client moves the world, or has reset it. Let only the evaluator use the '
           'services of the simulator during a campaign')


class Disturbed:
    """Holds what the poses show against what was asked for."""

    def __init__(self, book: PoseBook, robot: str) -> None:
        self._book, self._robot = book, robot
        self._places: dict[str, deque[Placed]] = {}
        self._since_ns = 0

    def begin(self, now_ns: int) -> None:
        """Forget what was before a trial."""
        self._places.clear()
        self._since_ns = now_ns

    def put(self, name: str, place: Placed, *, is_new: bool = False) -> None:
        """Take that a body was asked to be somewhere; ``is_new``: it has just appeared."""
        if is_new or name not in self._places:
            self._places[name] = deque(maxlen=_KEPT)
        self._places[name].append(place)

    def check(self, there: Iterable[tuple[str, int]]) -> None:
        """
        See that nobody else has moved anything.

        :param there: names of the bodies that are there, and since when that is known (ns)
        :raises MeasurementError: somebody has; what, and where it is
        """
        for name, since_ns in there:
            told = self._book.last(name)
            if told is None or not self._book.is_there(name):
                raise MeasurementError(f'the model {name!r}: its position is no longer published, '
                                       f'expected it where it was put: {_ADVICE}')
            places = self._places.get(name)
            if told[0] >= since_ns and places and not any(
                    _apart(told[1], place) <= _SAME_PLACE_M for place in places):
                raise MeasurementError(
                    f'the model {name!r}: it is at {_position_text(told[1])}, expected it at '
                    f'{_position_text(places[-1])}, where it was put: {_ADVICE}')
        self._check_robot()

    def _check_robot(self) -> None:
        stamps = self._book.stamps_after(self._robot, self._since_ns - 1)
        for before_ns, now_ns in zip(stamps, stamps[1:], strict=False):
            self._since_ns = now_ns
            was, now = (self._book.at(self._robot, stamp) for stamp in (before_ns, now_ns))
            if was is None or now is None or now_ns - before_ns > _LONGEST_NS:
                continue
            if _apart(was, now) > _JUMP_M + _FASTEST_M_S * (now_ns - before_ns) / 1e9:
                raise MeasurementError(f'the robot: it was at {_position_text(was)}, and '
                                       f'{(now_ns - before_ns) / 1e6:.0f} ms later at '
                                       f'{_position_text(now)}, farther than any can drive: '
                                       f'{_ADVICE}')


def _apart(one: Placed, other: Placed) -> float:
    return math.hypot(one[0] - other[0], one[1] - other[1])


def _position_text(place: Placed) -> str:
    return f'x {place[0]:.2f}, y {place[1]:.2f} m'
