# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Gets bodies into a world and keeps them where they belong; each is confirmed by its poses."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
import math
import time

from safety_scenarios.errors import InputError, LinkTimeoutError, MeasurementError
from safety_scenarios.ros.worlds.external.bodies import Model
from safety_scenarios.ros.worlds.external.mover import is_at, Mover, ServiceCall
from safety_scenarios.scenario.world import SLOTS, WorldSettings
from safety_scenarios.scenario.world_body import AWAY, Placed

_LOOK_S = 0.005
_AGAIN_S = 1.0
"""What was queued is asked for again after so long without an effect."""
_STANDS_M_S, _STANDS_NS = 0.02, 100_000_000
"""Slower than this for so long the robot stands."""


class Stage:
    """Models by name in one world, and what was asked for of them."""

    def __init__(self, mover: Mover, world: WorldSettings) -> None:
        self._mover, self._world, self._book = mover, world, mover.book
        self._bodies: dict[str, tuple[str, int]] = {}
        """Of each model of ours: its SDF, and how often one of its name has come."""
        self._open: list[ServiceCall] = []
        self.spent: set[str] = set()
        """Models whose touch was felt: a touch plug-in tells of one and no more."""

    def await_robot(self, deadline: float, timeout_s: float) -> None:
        """
        Wait until the robot tells where it is.

        :raises LinkTimeoutError: it does not
        """
        name, before = self._world.robot, self._book.last_ns
        while not (self._book.is_there(name) and self._book.last_ns != before):
            if time.monotonic() > deadline:
                raise LinkTimeoutError(
                    self._world.poses, f'poses of the robot, the model {name!r}', timeout_s,
                    f'poses of {", ".join(self._book.names()) or "no model"}',
                    'Name your robot by world.robot, bridge the topic of its pose publisher '
                    '(doc/manual/gazebo.md), and let the simulation run.')
            self._look()

    def place_robot(self, place: Placed) -> None:
        """
        Let the robot stand at its start.

        :raises MeasurementError: it does not stand, or does not get there
        """
        name = self._world.robot
        self._until(lambda: self._is_standing(name), lambda: (
            f'the robot {name!r}: it still moves at {self._speed(name):.2f} m/s, '
            f'{self._world.patience_s:g} s after its drive was commanded to stand on '
            f'{self._world.drive_enable or "no topic"}. Let its drive listen there, or stop '
            f'it between trials'))
        self._confirmed(name, place, lambda: self._mover.put(name, place))
        self._until(lambda: self._is_standing(name),
                    lambda: f'the robot {name!r}: it does not come to '
                    f'rest where it was put. Does it start inside of something?')

    def place_body(self, name: str, place: Placed) -> None:
        """
        Put a model of ours somewhere, and see that it is there.

        :raises MeasurementError: it does not get there
        """
        self._confirmed(name, place, lambda: self._mover.put(name, place))

    def await_poses(self, names: Iterable[str]) -> None:
        """
        Wait until models of ours, which are there, have told where they are once more.

        :raises MeasurementError: one does not
        """
        before_ns = self._book.last_ns
        for name in names:
            said = (f'the model {name!r}: it was put up for the trial, and its position is no '
                    f'longer published')
            self._until(partial(self._has_reported, name, before_ns), partial(str, said))

    def let_time_pass(self, now_ns: Callable[[], int]) -> None:
        """
        Let the world go on that was paused.

        :param now_ns: what /clock says
        :raises MeasurementError: it does not
        """
        before_ns = now_ns()
        self._until(lambda: now_ns() > before_ns, lambda: (
            f'/clock: it stands at {before_ns / 1e9:.3f} s, {self._world.patience_s:g} s '
            f'after the world was asked to continue'), lambda: self._mover.run(is_running=True))

    def refuse_elsewhere(self, place: Placed) -> None:
        """
        See that a robot that nothing moves is where the scenario wants it.

        :raises InputError: it is not
        """
        last = self._book.last(self._world.robot)
        if last is None or not is_at(last[1], place):
            raise InputError(
                f'ros.world.start: got {_pose_text(place)}, expected '
                f'{self._last_pose_text(self._world.robot)}: an arm stands where its world file '
                f'has it. Change one of the two')

    def furnish(self, bodies: Sequence[Model]) -> Sequence[str]:
        """
        Have these bodies wait far away, and no others of ours; return the names of their models.

        :raises MeasurementError: one does not come or go
        """
        self._open.clear()  # what a simulator that has ended was asked for is never answered
        if len(bodies) > SLOTS:
            raise MeasurementError(f'the world: got {len(bodies)} bodies of one scenario, '
                                   f'expected at most {SLOTS}: so many are bridged')
        names = [slot(place) for place in range(SLOTS)]
        for place, body in enumerate(bodies):
            self._have(names[place], place, body)
        for place, name in enumerate(names[len(bodies):], len(bodies)):
            if self._book.is_there(name):
                self.park(name, place)
        self.spent.clear()
        return names[:len(bodies)]

    def park(self, name: str, place: int = 0) -> None:
        """Let a model wait far away; nobody waits until it is there."""
        place = number(name) if not place else place
        self.ask(self._mover.put(name, waiting(place, self._bodies.get(name, ('', 0))[1])))

    def ask(self, asked: ServiceCall) -> None:
        """Keep a call whose answer nobody waits for; ``check`` raises what it says."""
        self._open.append(asked)

    @property
    def is_behind(self) -> bool:
        """Whether more calls wait for their answers than bodies can be moved by in time."""
        return len(self._open) > SLOTS

    def check(self) -> None:
        """
        Take in what has been told.

        :raises MeasurementError: something was refused
        """
        self._mover.receive()
        waiting_still = []
        for asked in self._open:
            failure = asked.failure()
            if failure:
                self._open = []
                raise MeasurementError(f'{asked.what}: {failure}')
            if not asked.is_answered:
                waiting_still.append(asked)
        self._open = waiting_still

    def _have(self, name: str, place: int, body: Model) -> None:
        """Have a model of a body wait far away, whatever was there by its name."""
        sdf = body.sdf(name, self._world.robot, self._world.plugins)
        known, count = self._bodies.get(name, ('', 0))
        if self._book.is_there(name):
            if known == sdf and name not in self.spent:
                there = waiting(place, count)
                self._confirmed(name, there, lambda: self._mover.put(name, there))
                return
            self._until(lambda: not self._book.is_there(name), lambda: (
                f'{name}: its position is still published after it was removed'),
                lambda: self._mover.remove(name))
        count += 1
        self._bodies[name] = sdf, count
        there = waiting(place, count)  # another place than before: so it is known by its pose
        self._confirmed(name, there, lambda: self._mover.spawn(name, sdf, there))

    def _confirmed(self, name: str, place: Placed, ask: Callable[[], ServiceCall]) -> None:
        def is_there() -> bool:
            last = self._book.last(name)
            return self._book.is_there(name) and last is not None and is_at(last[1], place)
        self._until(is_there,
                    lambda: _unconfirmed(self._world, name, place, self._last_pose_text(name)),
                    ask)

    def _until(self, holds: Callable[[], bool], otherwise: Callable[[], str],
               ask: Callable[[], ServiceCall] | None = None) -> None:
        """Ask again and again until something holds; raise what else to say when it is late."""
        deadline = time.monotonic() + self._world.patience_s
        asked, again = None, 0.0
        while True:
            now = time.monotonic()
            if ask is not None and now >= again and (asked is None or asked.is_answered):
                asked, again = ask(), now + _AGAIN_S
            self._look()
            if holds() and (asked is None or asked.is_answered):
                return
            if asked is not None and asked.failure():
                raise MeasurementError(f'{asked.what}: {asked.failure()}')
            if now > deadline:
                said = '' if asked is None or asked.is_answered else \
                    f'. {asked.what}: no answer'
                raise MeasurementError(otherwise() + said)

    def _has_reported(self, name: str, since_ns: int) -> bool:
        last = self._book.last(name)
        return last is not None and last[0] > since_ns

    def _look(self) -> None:
        self._mover.receive()
        time.sleep(_LOOK_S)

    def _is_standing(self, name: str) -> bool:
        speed = self._book.speed(name, _STANDS_NS)
        return self._book.is_there(name) and speed is not None and speed <= _STANDS_M_S

    def _speed(self, name: str) -> float:
        return self._book.speed(name, _STANDS_NS) or math.nan

    def _last_pose_text(self, name: str) -> str:
        last = self._book.last(name)
        return 'nothing of it' if last is None or not self._book.is_there(name) \
            else f'it at {_pose_text(last[1])}'


def slot(place: int) -> str:
    """Return the name of a model of ours, whose topics are bridged."""
    return f'stimulus_{place + 1}'


def slots() -> Iterator[str]:
    """Yield the names of all models of ours."""
    return map(slot, range(SLOTS))


def number(name: str) -> int:
    """Return which of ours a model is."""
    return int(name.rpartition('_')[2]) - 1


def waiting(place: int, count: int) -> Placed:
    """Return where the ``count``th model of a name waits: beyond every sensor."""
    return AWAY + 10.0 * place, -AWAY - count % 100, 0.0


def _unconfirmed(world: WorldSettings, name: str, place: Placed, seen: str) -> str:
    return (
        f'the model {name!r}: it was to be at {_pose_text(place)}, and {world.patience_s:g} s '
        f'later {world.poses} shows {seen}. That a service succeeds means no more than that '
        f'it was queued: see in the log of the simulator whether the model exists, and whether '
        f'its pose is bridged to {world.poses}')


def _pose_text(place: Placed) -> str:
    return f'x {place[0]:.2f}, y {place[1]:.2f} m, heading {place[2]:.2f} rad'


def missing(world: WorldSettings, shown: Mapping[str, Placed]) -> str:
    """Return what to say of bodies that were put somewhere and that no pose shows there."""
    return '; '.join(_unconfirmed(world, name, place, 'nothing of it there')
                     for name, place in shown.items())
