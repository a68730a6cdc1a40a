# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an adapter asks of a simulator, the poses reported, and what an arm reports of itself."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
import math
from typing import Any, NamedTuple, Protocol

from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.scenario.world_body import Footprint, Placed
from safety_scenarios.worlds.task import Cycles

_POSES_KEPT = 256
"""Poses of each model: some seconds."""
NEAR_M, NEAR_RAD = 0.02, 0.02
"""A model that is this near to where it was put is there: physics settles a little."""
ALIVE_NS = 500_000_000
"""A model that says nothing for so long while others do is not there."""


class PoseBook:
    """
    Poses by model, as they come in; one thread writes, another reads.

    Stamps that go back mean that the world has begun anew: what was before is forgotten then.
    """

    def __init__(self) -> None:
        self._known: dict[str, deque[tuple[int, Placed]]] = {}
        self.last_ns = 0
        """The newest stamp of any model (ns)."""

    def put(self, name: str, stamp_ns: int, place: Placed) -> None:
        """Take what a model says; the same stamp twice is one telling."""
        if stamp_ns + ALIVE_NS < self.last_ns:
            self._known = {}
            self.last_ns = stamp_ns
        kept = self._known.setdefault(name, deque(maxlen=_POSES_KEPT))
        if not kept or stamp_ns > kept[-1][0]:
            kept.append((stamp_ns, place))
            self.last_ns = max(self.last_ns, stamp_ns)

    def clear(self) -> None:
        """Forget everything."""
        self._known, self.last_ns = {}, 0

    def names(self) -> Sequence[str]:
        """Return who is there."""
        return sorted(name for name in list(self._known) if self.is_there(name))

    def is_there(self, name: str) -> bool:
        """Return whether a model still tells where it is, while others do."""
        kept = self._known.get(name)
        return bool(kept) and self.last_ns - kept[-1][0] < ALIVE_NS  # type: ignore[index]

    def last(self, name: str) -> tuple[int, Placed] | None:
        """Return stamp and place that a model has told last."""
        kept = self._known.get(name)
        return kept[-1] if kept else None

    def before(self, name: str, stamp_ns: int) -> tuple[int, Placed] | None:
        """Return what a model told last at a time or before it; None: nothing."""
        return next((one for one in reversed(tuple(self._known.get(name, ())))
                     if one[0] <= stamp_ns), None)

    def stamps_after(self, name: str, stamp_ns: int) -> Sequence[int]:
        """Return the stamps of what a model has told since."""
        return [stamp for stamp, _ in tuple(self._known.get(name, ())) if stamp > stamp_ns]

    def at(self, name: str, stamp_ns: int) -> Placed | None:
        """Return where a model was, between two of its tellings; None: before or after all."""
        before = None
        for stamp, place in reversed(tuple(self._known.get(name, ()))):
            if stamp == stamp_ns:
                return place
            if stamp < stamp_ns:
                if before is None:
                    return None
                later_ns, later = before
                share = (stamp_ns - stamp) / (later_ns - stamp)
                turned = math.remainder(later[2] - place[2], math.tau)
                return (place[0] + share * (later[0] - place[0]),
                        place[1] + share * (later[1] - place[1]),
                        math.remainder(place[2] + share * turned, math.tau))
            before = stamp, place
        return None

    def speed(self, name: str, over_ns: int) -> float | None:
        """Return how fast a model has moved lately, turning included (m/s); None: not known."""
        kept = tuple(self._known.get(name, ()))
        if len(kept) < 2 or kept[-1][0] - kept[0][0] < over_ns:
            return None
        last_ns, (x, y, heading) = kept[-1]
        since_ns, (was_x, was_y, was) = next(
            (one for one in reversed(kept) if last_ns - one[0] >= over_ns), kept[0])
        moved = math.hypot(x - was_x, y - was_y) + abs(math.remainder(heading - was, math.tau))
        return moved / ((last_ns - since_ns) / 1e9)


def is_at(place: Placed, wanted: Placed) -> bool:
    """Return whether something is where it was put."""
    return math.hypot(place[0] - wanted[0], place[1] - wanted[1]) <= NEAR_M \
        and abs(math.remainder(place[2] - wanted[2], math.tau)) <= NEAR_RAD


class ServiceCall:
    """
    One call of a service, on its way.

    :param what: says what was asked, for messages
    :param future: of rclpy; its answer comes in another thread
    :param wrong: what an answer says is wrong; empty: nothing
    """

    def __init__(self, what: str, future: Any, wrong: Callable[[Any], str]) -> None:
        self.what, self._future, self._wrong = what, future, wrong

    @property
    def is_answered(self) -> bool:
        """Whether the answer has come, which need not mean that anything was done."""
        return bool(self._future.done())

    def failure(self) -> str:
        """Return why it was refused; empty: it was not, or nobody has answered yet."""
        if not self._future.done():
            return ''
        error = self._future.exception()
        return repr(error) if error is not None else self._wrong(self._future.result())


class Mover(Protocol):
    """
    The services of one simulator. None of them waits, and success means no more than *queued*.

    What has become of it is in the book of poses.
    """

    name: str
    """As the record names the world."""
    book: PoseBook
    tells_links: bool
    """Whether it tells where the links of a robot are, and not the robot alone."""

    def await_services(self, deadline: float, *, steps: bool = False) -> None:
        """
        Wait until all that is needed is served (monotonic time).

        :param steps: time is to pass in steps, too
        :raises LinkTimeoutError: says what was discovered instead
        """

    def spawn(self, name: str, sdf: str, place: Placed) -> ServiceCall:
        """Let a model come."""

    def remove(self, name: str) -> ServiceCall:
        """Let a model go."""

    def put(self, name: str, place: Placed) -> ServiceCall:
        """Put a model somewhere, standing as far as that can be asked for."""

    def run(self, *, is_running: bool) -> ServiceCall:
        """Let time pass, or stand."""

    def steps(self, count: int) -> ServiceCall:
        """Let so many steps of the physics pass, and stand."""

    def receive(self) -> None:
        """Write into the book what has been told since."""

    def felt(self) -> Iterator[str]:
        """Yield whom the robot has touched since asked before; empty: nobody tells who it was."""

    @property
    def feels(self) -> bool:
        """Whether every touch would be told."""

    def close(self) -> None:
        """Give up the endpoints."""


LATE_NS = 250_000_000
"""A force that is there later than this after it was asked for came too late to be judged."""
_SHARE, _LEAST = 0.2, 4.0
"""So far off the sensor may be: a tool that moves has inertia (N)."""


class Pushing:
    """What is asked for on one topic at a time, and what the sensor says of it."""

    def __init__(self) -> None:
        self.topic, self.force = '', 0.0
        """Of the stimulus; empty: nothing pushes."""
        self._asked_ns = self._good_ns = 0
        self._is_there = False

    def ask(self, topic: str, force: float, now_ns: int) -> None:
        """
        Take that something is to push from now on (N).

        :raises InputError: something pushes already, by another stimulus
        """
        if self.topic not in ('', topic):
            raise InputError(
                f'{topic}: got a second force while {self.topic} pushes, expected one at a time: '
                f'a sensor at the flange measures their sum. Use world mujoco for this one')
        self.topic, self.force = topic, force
        self._asked_ns = self._good_ns = now_ns
        self._is_there = False

    def withdraw(self, topic: str) -> bool:
        """Take that it is to push no more; False: it did not."""
        if topic != self.topic or not topic:
            return False
        self.topic, self.force = '', 0.0
        return True

    def check(self, told: Sequence[tuple[int, float]], now_ns: int) -> None:
        """
        Hold the sensor's word against what was asked for.

        :param told: stamp (ns) and force (N) of what the sensor has told since the last look
        :raises MeasurementError: it does not push as it should, or came too late
        """
        if not self.topic:
            return
        for stamp_ns, force in told:
            if stamp_ns > self._asked_ns and abs(force - self.force) <= max(
                    _LEAST, _SHARE * self.force):
                if not self._is_there and stamp_ns - self._asked_ns > LATE_NS:
                    break
                self._is_there, self._good_ns = True, max(self._good_ns, stamp_ns)
        if now_ns - self._good_ns > LATE_NS:
            last = f'{told[-1][1]:.1f} N' if told else 'nothing new'
            raise MeasurementError(
                f'{self.topic}: got {last} at the flange '
                f'{(now_ns - self._good_ns) / 1e6:.0f} ms of simulated time after '
                f'{"it was right last" if self._is_there else "something was commanded to push"}, '
                f'expected about {self.force:g} N. Does what pushes against the tool listen '
                f'(world.push), does anything touch the arm, is the weight of the tool taken '
                f'off? Lower the load of the host if the force comes late')


_KEPT = 512
"""Tellings of each kind: two seconds of one in each step of 4 ms."""
_OLD_NS = 50_000_000
"""What was told longer ago is not what is."""
_OVER_NS = 20_000_000
"""The speed of the tool is a difference over so much time."""
Place = tuple[float, float, float]
"""x, y, z (m)."""


class Joints(NamedTuple):
    """One telling of the joints."""

    stamp_ns: int
    names: tuple[str, ...]
    positions: tuple[float, ...]
    velocities: tuple[float, ...]


class ArmBook:
    """Joints, force at the flange and places of links, as they come in, in simulated time."""

    def __init__(self) -> None:
        self._joints: deque[Joints] = deque(maxlen=_KEPT)
        self._forces: deque[tuple[int, float]] = deque(maxlen=_KEPT)
        self._links: deque[tuple[int, Mapping[str, Place]]] = deque(maxlen=_KEPT)

    def clear(self) -> None:
        """Forget everything."""
        for kept in (self._joints, self._forces, self._links):
            kept.clear()

    def put_joints(self, told: Joints) -> None:
        if self._joints and told.stamp_ns + ALIVE_NS < self._joints[-1].stamp_ns:
            self.clear()
        if not self._joints or told.stamp_ns > self._joints[-1].stamp_ns:
            self._joints.append(told)

    def put_force(self, stamp_ns: int, newton: float) -> None:
        """Take how hard something pushes against the tool (N)."""
        if not self._forces or stamp_ns > self._forces[-1][0]:
            self._forces.append((stamp_ns, newton))

    def put_links(self, stamp_ns: int, places: Mapping[str, Place]) -> None:
        """Take where links are, seen from the robot's origin."""
        if not self._links or stamp_ns > self._links[-1][0]:
            self._links.append((stamp_ns, places))

    @property
    def joints(self) -> Joints | None:
        """Return what the joints told last."""
        return self._joints[-1] if self._joints else None

    @property
    def links(self) -> Mapping[str, Place]:
        """Return where links were told to be last."""
        return self._links[-1][1] if self._links else {}

    @property
    def observed_until_ns(self) -> int:
        """Return up to when joints and links are told; 0: not at all."""
        return min(self._joints[-1].stamp_ns, self._links[-1][0]) \
            if self._joints and self._links else 0

    def forces_after(self, stamp_ns: int) -> Sequence[tuple[int, float]]:
        """Return stamp and force (N) of what the sensor has told since."""
        return [one for one in tuple(self._forces) if one[0] > stamp_ns]

    def joints_at(self, stamp_ns: int) -> Joints | None:
        """Return what the joints told last at a time or before it; None: nothing lately."""
        found = next((one for one in reversed(tuple(self._joints))
                      if one.stamp_ns <= stamp_ns), None)
        return None if found is None or stamp_ns - found.stamp_ns > _OLD_NS else found

    def links_at(self, stamp_ns: int) -> tuple[int, Mapping[str, Place]] | None:
        """Return stamp and places of what links told last at a time; None: nothing lately."""
        found = next((one for one in reversed(tuple(self._links)) if one[0] <= stamp_ns), None)
        return None if found is None or stamp_ns - found[0] > _OLD_NS else found


class ArmTruth:
    """
    What is true of an arm, by its book.

    :param names: what the scenario calls its joints, each with the name that the simulator has
    :param links: in order from the foot to the tip of the tool
    :param thickness: no part of the arm is farther than this from the line through the origins
        of its links (m)
    """

    def __init__(self, book: ArmBook, names: Mapping[str, str], links: Sequence[str],
                 thickness: float) -> None:
        self._book, self._names = book, names
        self._links, self._thickness = links, thickness
        self._cycles: Cycles | None = None

    def outline(self, stamp_ns: int) -> Sequence[Footprint] | None:
        """Return its outline on the floor, link by link; None: the links have not told it."""
        told = self._book.links_at(stamp_ns)
        if told is None:
            return None
        points = [told[1][name][:2] for name in self._links]
        return [Footprint((begin, end), self._thickness)
                for begin, end in zip(points, points[1:], strict=False)]

    def truth_at(self, stamp_ns: int, foot: Placed) -> Mapping[str, float]:
        """Return what is known of its tool and joints at a time."""
        found: dict[str, float] = {}
        now, before = (self._book.links_at(at) for at in (stamp_ns, stamp_ns - _OVER_NS))
        tip = self._links[-1]
        if now is not None:
            x, y, z = now[1][tip]
            cos, sin = math.cos(foot[2]), math.sin(foot[2])
            found |= {'tool.x': foot[0] + cos * x - sin * y,
                      'tool.y': foot[1] + sin * x + cos * y, 'tool.z': z}
            if before is not None and now[0] > before[0]:
                found['tool.speed'] = math.dist(now[1][tip], before[1][tip]) / (
                    (now[0] - before[0]) / 1e9)
        joints = self._book.joints_at(stamp_ns)
        if joints is not None:
            places = {name: place for place, name in enumerate(joints.names)}
            for said, name in self._names.items():
                found[f'joint.{said}'] = joints.positions[places[name]]
                found[f'velocity.{said}'] = joints.velocities[places[name]]
        return {key: value for key, value in found.items() if math.isfinite(value)}

    def progress(self, stamp_ns: int) -> float | None:
        """Return how many cycles the busiest joint has made; None: the joints do not tell."""
        joints = self._book.joints_at(stamp_ns)
        if joints is None:
            return None
        if self._cycles is None:
            self._cycles = Cycles(joints.positions)
        return self._cycles.to(joints.positions)


def named(wanted: Sequence[str], told: Sequence[str]) -> Mapping[str, str]:
    """
    Return what the simulator calls each joint of a scenario: by name, or else in order.

    :raises InputError: it has too few, or only some of them by name
    """
    if set(wanted) <= set(told):
        return {name: name for name in wanted or told}
    if set(wanted) & set(told) or len(wanted) > len(told):
        raise InputError(
            f'ros.robot.joints: got {", ".join(wanted)}, expected joints of the arm in the '
            f'simulator: {", ".join(told)}; all by these names, or as many or fewer by others: '
            f'then they are taken in order. Let the world be one with that arm')
    return dict(zip(wanted, told, strict=False))


def joint_errors(joints: Joints, goal: Mapping[str, float], near: float) -> Iterator[str]:
    """Yield what to say of each joint that is not where it is to be, or moves."""
    for name, at, moving in zip(joints.names, joints.positions, joints.velocities, strict=True):
        if name in goal and not (abs(at - goal[name]) <= near and abs(moving) <= near):
            yield f'{name} at {at:.2f} rad instead of {goal[name]:.2f}'
