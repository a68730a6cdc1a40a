# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What each service of ``simulation_interfaces`` does here, and which result it answers; pure.

Requests are looked at by their fields alone, so that versions 1 and 2 of the interfaces are told
apart by what they have.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
import logging
import re
from typing import Any

from safety_scenarios.errors import described, InputError, MeasurementError
from safety_scenarios.ros.worlds.embedded.poses import (
    ACCEPTED,
    ContentError,
    FormatError,
    Host,
    moved_of,
    placed_of,
    read_sdf,
    refuse_other,
)
from safety_scenarios.scenario.untrusted_text import compile_pattern
from safety_scenarios.scenario.world_body import Placed
from safety_scenarios.worlds.persistent_world import Moved, PersistentWorld, ROBOT, ROOM

UNSUPPORTED, OK, NOT_FOUND, INCORRECT_STATE, FAILED = range(5)
NAME_NOT_UNIQUE, NAME_INVALID, UNSUPPORTED_FORMAT, NO_RESOURCE = 101, 102, 103, 104
PARSE_ERROR, UNSUPPORTED_ASSETS, INVALID_POSE = 106, 108, 109
SET_INVALID_POSE, ALREADY_THERE, TRANSITION_FAILED = 101, 101, 102
STOPPED, PLAYING, PAUSED = range(3)
TIME, STATE, SPAWNED, EVERYTHING = 1, 2, 4, 255
"""Scopes of a reset."""
FEATURES = (0, 1, 9, 10, 11, 20, 21, 22, 23, 24, 25, 26, 31, 32)
"""Of the list in SimulatorFeatures: to spawn (also from a string) and delete, to get and set the
state of entities, to reset (time, state, spawned), to get and set the state of the simulation, to
pause, and to step once or more."""
FORMATS = ('sdf',)
MOST_STEPS = 1_000_000
"""Of one request: whoever asked may have gone, and nobody would know."""
_SLICE = 4
"""Steps that are made before anybody else is served again."""
_NAME = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_./:#-]{0,199}')
_ABOUT = ('safety_scenarios, embedded world: poses are in the frame world, everything is upright '
          'on the floor. Spawned is {accepted}')


@dataclass(frozen=True)
class Reply:
    """What a request is answered with."""

    code: int = OK
    text: str = ''
    name: str = ''
    """Of the entity that was spawned."""
    entities: Sequence[tuple[str, Placed, Moved]] = ()
    """Who was asked for, where each is and how it moves."""
    stamp_ns: int = 0
    """Of the moment at which they are there."""
    state: int = STOPPED


@dataclass(frozen=True)
class Call:
    """
    One request on its way.

    :param service: as its name ends, such as ``spawn_entity``
    :param reply: sends its answer; it is called once
    """

    service: str
    request: Any
    reply: Callable[[Reply], None] = field(compare=False)


class RefusedError(Exception):
    """A request is not carried out; with the code that says why."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Answering:
    """
    Carries out requests for one world, one by one.

    The world comes with the first request that is about it. While a trial of an evaluator runs,
    nobody else moves that world: all that would is refused, but for a reset of everything, which
    ends the trial.

    :param host: of the world and its time
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._is_stopped = False
        self._stepping: Call | None = None
        self._left = self._asked = 0
        self._lost = ''
        self._does: Mapping[str, Callable[[Any], Reply]] = {
            'get_simulator_features': lambda _: Reply(text=_ABOUT.format(accepted=ACCEPTED)),
            'get_simulation_state': lambda _: Reply(state=self._state),
            'set_simulation_state': self._set_state, 'reset_simulation': self._reset,
            'get_entities': self._find, 'get_entities_states': self._find,
            'get_entity_state': self._say, 'set_entity_state': self._set_entity,
            'spawn_entity': self._spawn, 'delete_entity': self._delete}

    def take(self, call: Call) -> None:
        """Carry out a request, and answer it once its effect is there."""
        try:
            self._host.catch_up()
            if call.service == 'step_simulation':
                self._begin_steps(call)
                return
            reply = self._does[call.service](call.request)
        except RefusedError as error:
            reply = Reply(error.code, f'{call.service}: {error}')
        except (InputError, MeasurementError) as error:
            reply = Reply(FAILED, f'{call.service}: {error}')
        except Exception as error:  # whatever is asked, the node lives on
            logging.getLogger(__name__).exception('%s', call.service)
            reply = Reply(FAILED, f'{call.service}: {described(error)}')
        call.reply(reply)

    @property
    def is_stepping(self) -> bool:
        """Whether somebody waits for steps."""
        return self._stepping is not None

    def go_on(self) -> None:
        """Make some of the steps that somebody waits for."""
        assert self._stepping is not None
        count = min(_SLICE, self._left)
        self._host.make_steps(count)
        self._left -= count
        if self._host.standing is None:
            self._end_steps('the world has come to an end')
        elif not self._left:
            self._end_steps('')

    def lose(self, why: str) -> None:
        """Take that the world has come to an end by itself; empty: it is another's now."""
        self._lost = why
        self._end_steps(why or 'an evaluator has begun a trial')

    @property
    def _state(self) -> int:
        if self.is_stepping or not self._host.is_paused:
            return PLAYING
        return STOPPED if self._is_stopped else PAUSED

    def _standing(self, *, is_moved: bool = True) -> PersistentWorld:
        """Return the world without a trial; what would move that of a trial is refused."""
        trial = self._host.trial_id
        if trial:
            raise RefusedError(INCORRECT_STATE, (
                f'got it while the trial {trial} of an evaluator runs, expected it without one: '
                f'no other client may change its world. Wait for its end'
                + (', or reset the simulation, which ends it with an error' if is_moved else '')))
        if self._lost:
            raise RefusedError(FAILED, f'the world has come to an end: {self._lost}. Reset the '
                                       f'simulation, and everything begins anew')
        found = self._host.standing
        if found is None:
            self._is_stopped = False
            found = self._host.stand_up()
        return found

    def _begin_steps(self, call: Call) -> None:
        self._standing()
        count = int(call.request.steps)
        if self.is_stepping:
            raise RefusedError(FAILED, f'got {count} steps while {self._left} of {self._asked} '
                                       f'are still to be made, expected them after that')
        if not self._host.is_paused:
            raise RefusedError(FAILED, f'got {count} steps while time passes, expected them in '
                                       f'the state paused. Set that first')
        if not 1 <= count <= MOST_STEPS:
            raise RefusedError(FAILED, f'got {count} steps, expected 1 to {MOST_STEPS}')
        self._is_stopped = False
        self._stepping, self._asked, self._left = call, count, count

    def _end_steps(self, why: str) -> None:
        call, self._stepping = self._stepping, None
        if call is not None:
            made = self._asked - self._left
            call.reply(Reply(FAILED, f'step_simulation: ended after {made} of {self._asked} '
                                     f'steps: {why}') if why else Reply())

    def _set_state(self, request: Any) -> Reply:
        wanted, now = int(request.state.state), self._state
        if wanted not in (STOPPED, PLAYING, PAUSED):
            raise RefusedError(UNSUPPORTED, f'got the state {wanted}, expected 0 (stopped), '
                                            f'1 (playing) or 2 (paused). End the node by SIGINT')
        self._standing()
        if wanted == now and not (wanted == PLAYING and self.is_stepping):
            raise RefusedError(ALREADY_THERE, 'got the state in which it is already')
        self._end_steps('another client has set the state of the simulation')
        if wanted == PLAYING:
            try:
                self._host.play()
            except InputError as error:
                raise RefusedError(TRANSITION_FAILED, str(error)) from None
        elif wanted == PAUSED:
            self._host.pause()
        else:
            self._host.pause()
            self._begin_anew()
        self._is_stopped = wanted == STOPPED
        return Reply()

    def _reset(self, request: Any) -> Reply:
        scope = int(request.scope) or EVERYTHING
        if scope != EVERYTHING and scope & ~(TIME | STATE | SPAWNED):
            raise RefusedError(UNSUPPORTED, f'got the scope {scope}, expected 0 or 255 '
                                            f'(everything), or a sum of 1 (time), 2 (state) and '
                                            f'4 (what was spawned)')
        if scope == EVERYTHING:
            if self._host.trial_id:
                self._host.give_up_trial(
                    'reset_simulation: got it from another client while a trial ran, '
                    'expected no change of its world. Let no other client call services of the '
                    'simulator during a campaign')
            self._begin_anew()
            return Reply()
        world = self._standing()
        if scope & SPAWNED:
            for name in world.names():
                if name != ROBOT:
                    world.delete(name)
        if scope & STATE:
            world.begin_again()
        self._end_steps('another client has reset the simulation')
        if scope & TIME:
            self._host.rewind()
        return Reply()

    def _begin_anew(self) -> None:
        self._end_steps('another client has reset the simulation')
        self._lost = ''
        self._host.stand_up()
        self._host.rewind()

    def _find(self, request: Any) -> Reply:
        filters = request.filters
        if list(filters.categories) or list(filters.tags.tags) or filters.bounds.type:
            raise RefusedError(UNSUPPORTED, 'got filters by category, tag or bounds, expected one '
                                            'by name at most')
        wanted = None
        if filters.filter:
            try:
                wanted = compile_pattern(filters.filter, case_sensitive=True)
            except ValueError as error:
                raise RefusedError(FAILED, str(error)) from None
        world = self._standing(is_moved=False)
        return self._entity_poses(world, [name for name in world.names()
                                          if wanted is None or wanted.fullmatch(name)])

    def _say(self, request: Any) -> Reply:
        world = self._standing(is_moved=False)
        return self._entity_poses(world, [self._check_name(world, request.entity)])

    def _entity_poses(self, world: PersistentWorld, names: Sequence[str]) -> Reply:
        return Reply(stamp_ns=self._host.stamp_ns,
                     entities=[(name, *world.where(name)) for name in names])

    def _set_entity(self, request: Any) -> Reply:
        world, state = self._standing(), request.state
        name = self._check_name(world, request.entity)
        place = moved = None
        try:
            refuse_other(state.header.frame_id)
            if getattr(request, 'set_pose', True):
                place = placed_of(state.header.frame_id, state.pose)
            if getattr(request, 'set_twist', True):
                moved = moved_of(state.twist)
        except ValueError as error:
            raise RefusedError(SET_INVALID_POSE, str(error)) from None
        if getattr(request, 'set_acceleration', False):
            raise RefusedError(UNSUPPORTED, 'got an acceleration to set, expected pose and twist '
                                            'at most')
        try:
            world.put(name, place, moved)
        except InputError as error:
            is_pose = moved is None or not any(moved) or name == ROBOT
            raise RefusedError(SET_INVALID_POSE if is_pose and place else FAILED,
                               str(error)) from None
        return Reply()

    def _spawn(self, request: Any) -> Reply:
        world = self._standing()
        resource = getattr(request, 'entity_resource', request)
        if resource.uri:
            raise RefusedError(UNSUPPORTED_FORMAT, (
                f'got the uri {resource.uri[:200]!r}, expected none, and in resource_string '
                f'{ACCEPTED}'))
        if not resource.resource_string:
            raise RefusedError(NO_RESOURCE, f'got no resource, expected as resource_string '
                                            f'{ACCEPTED}')
        if request.entity_namespace:
            raise RefusedError(UNSUPPORTED, (
                f'got the namespace {request.entity_namespace[:200]!r}, expected none: what is '
                f'spawned has no topics'))
        try:
            own, shape = read_sdf(resource.resource_string)
        except FormatError as error:
            raise RefusedError(UNSUPPORTED_FORMAT, str(error)) from None
        except ContentError as error:
            raise RefusedError(UNSUPPORTED_ASSETS, str(error)) from None
        except ValueError as error:
            raise RefusedError(PARSE_ERROR, str(error)) from None
        if not world.has_room:
            raise RefusedError(FAILED, f'got one more body, expected at most {ROOM}: delete one '
                                       f'first')
        name = self._free_name(world, request.name or own, may_rename=request.allow_renaming)
        pose = request.initial_pose
        try:
            world.spawn(name, shape, placed_of(pose.header.frame_id, pose.pose))
        except (ValueError, InputError) as error:
            raise RefusedError(INVALID_POSE, str(error)) from None
        return Reply(name=name)

    def _free_name(self, world: PersistentWorld, asked: str, *, may_rename: bool) -> str:
        if not asked and may_rename:
            asked = 'body'
        if not _NAME.fullmatch(asked):
            raise RefusedError(NAME_INVALID, (
                f'got the name {asked[:200]!r}, expected letters, digits and _ . / : # -, at most '
                f'200'))
        taken = set(world.names())
        if asked not in taken:
            return asked
        if not may_rename:
            raise RefusedError(NAME_NOT_UNIQUE, f'got the name {asked!r}, which exists '
                                                f'already. Take another one, delete that one, or '
                                                f'allow renaming')
        return next(name for name in (f'{asked[:190]}_{number}' for number in
                                      range(1, len(taken) + 2)) if name not in taken)

    def _delete(self, request: Any) -> Reply:
        world = self._standing()
        name = self._check_name(world, request.entity)
        if name == ROBOT:
            raise RefusedError(FAILED, 'got the robot, expected what was spawned: it belongs to '
                                       'the scenario of this node')
        world.delete(name)
        return Reply()

    @staticmethod
    def _check_name(world: PersistentWorld, name: str) -> str:
        names = world.names()
        if name not in names:
            raise RefusedError(NOT_FOUND, f'got the entity {name[:200]!r}, expected one of '
                                          f'{", ".join(names)}')
        return name
