# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Places on the floor from poses and twists, shapes from SDF, and who owns the world."""

from collections.abc import Sequence
import math
from typing import Any, Protocol
from xml.etree import ElementTree

from safety_scenarios.scenario.world_body import Placed, Solid
from safety_scenarios.worlds.persistent_world import FARTHEST_M, FASTEST, Moved, PersistentWorld

WORLD = 'world'
_UNIT = 1e-3
"""A quaternion's length may differ from 1 by so much."""
_UPRIGHT = 0.01
"""So far may something be above the floor (m) or tilted (rad): what a physics engine tells of
what stands."""


def refuse_other(frame: str) -> None:
    """
    Refuse every frame but that of the world.

    :raises ValueError: with the one that is expected
    """
    if frame not in ('', WORLD):
        raise ValueError(f'got the frame {frame[:200]!r}, expected {WORLD}')


def placed_of(frame: str, pose: Any) -> Placed:
    """
    Return the place of a pose.

    :raises ValueError: it is none on the floor
    """
    refuse_other(frame)
    at, turned = pose.position, pose.orientation
    numbers = (at.x, at.y, at.z, turned.x, turned.y, turned.z, turned.w)
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f'got a pose of {_listed(numbers)}, expected numbers')
    length = math.hypot(*numbers[3:])
    if abs(length - 1.0) > _UNIT:
        raise ValueError(f'got an orientation of {_listed(numbers[3:])}, whose length is '
                         f'{length:g}, expected a unit quaternion')
    tilt = 2 * math.asin(min(1.0, math.hypot(turned.x, turned.y) / length))
    if abs(at.z) > _UPRIGHT or tilt > _UPRIGHT:
        raise ValueError(f'got a pose {at.z:g} m above the floor and tilted by {tilt:.3g} rad, '
                         f'expected it on the floor and upright')
    if max(abs(at.x), abs(at.y)) > FARTHEST_M:
        raise ValueError(f'got a position of {_listed(numbers[:3])}, expected it within '
                         f'{FARTHEST_M:g} m')
    return at.x, at.y, 2 * math.atan2(turned.z, turned.w)


def moved_of(twist: Any) -> Moved:
    """
    Return how something moves along the floor.

    :raises ValueError: it is no such motion
    """
    line, turn = twist.linear, twist.angular
    numbers = (line.x, line.y, line.z, turn.x, turn.y, turn.z)
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f'got a twist of {_listed(numbers)}, expected numbers')
    if any((line.z, turn.x, turn.y)):
        raise ValueError(f'got a twist of {_listed(numbers)}, expected none but along x, y and '
                         f'about z: everything stays on the floor')
    if max(math.hypot(line.x, line.y), abs(turn.z)) > FASTEST:
        raise ValueError(f'got a twist of {_listed(numbers)}, expected at most {FASTEST:g} m/s '
                         f'and rad/s')
    return line.x, line.y, turn.z


def fill_state(state: Any, stamp_ns: int, place: Placed, moved: Moved) -> None:
    """Write where something is, and how it moves, into an entity's state."""
    state.header.frame_id = WORLD
    state.header.stamp.sec, state.header.stamp.nanosec = divmod(stamp_ns, 1_000_000_000)
    state.pose.position.x, state.pose.position.y = place[0], place[1]
    state.pose.orientation.z, state.pose.orientation.w = (
        math.sin(place[2] / 2), math.cos(place[2] / 2))
    state.twist.linear.x, state.twist.linear.y, state.twist.angular.z = moved


def _listed(numbers: tuple[float, ...]) -> str:
    return ', '.join(f'{number:g}' for number in numbers)


LONGEST = 1_000_000
"""Characters of a model."""
ACCEPTED = ('an SDF model with <static>true</static> and one link, whose one collision is an '
            'upright <cylinder> or <box> over its origin, and which a <visual> of the same shape '
            'lets scanners see')
_LEAST_M, _MOST_M = 0.001, 100.0
_NEAR = 1e-6


class FormatError(ValueError):
    """It is not SDF."""


class ContentError(ValueError):
    """It is SDF, of something that this world cannot have."""


def read_sdf(text: str) -> tuple[str, Solid]:
    """
    Return name and shape of a model.

    :raises FormatError: it is something else than SDF
    :raises ContentError: it has more, or something else, than one upright shape
    :raises ValueError: it cannot be read
    """
    if len(text) > LONGEST:
        raise ValueError(f'got {len(text)} characters, expected at most {LONGEST}')
    if '<!DOCTYPE' in text or '<!ENTITY' in text:
        raise ValueError('got a DOCTYPE, expected none')
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f'got {text[:40]!r}, which is no XML: {error}, expected {ACCEPTED}'
                         ) from None
    if root.tag != 'sdf':
        raise FormatError(f'got <{root.tag}>, expected <sdf>: {ACCEPTED}')
    model = _one(root, 'model')
    if (model.findtext('static') or '').strip() not in ('true', '1'):
        raise ContentError(f'got a model that is not static, expected {ACCEPTED}: a body stands '
                           f'where it is put')
    for tag in ('joint', 'model', 'include'):
        if model.find(tag) is not None:
            raise ContentError(f'got a <{tag}>, expected {ACCEPTED}')
    link = _one(model, 'link')
    collision = _one(link, 'collision')
    if any(_numbers(link, 'pose', 6)):
        raise ContentError(f'got a link with a pose, expected none: {ACCEPTED}')
    visuals = link.findall('visual')
    found = _shape(collision, is_seen=bool(visuals))
    for visual in visuals:
        if _shape(visual, is_seen=True) != found:
            raise ContentError(f'got a visual of another shape than the collision, expected '
                               f'{ACCEPTED}')
    return model.get('name', ''), found


def _one(parent: ElementTree.Element, tag: str) -> ElementTree.Element:
    found = parent.findall(tag)
    if len(found) != 1:
        raise ContentError(f'got {len(found)} of <{tag}> in <{parent.tag}>, expected {ACCEPTED}')
    return found[0]


def _shape(part: ElementTree.Element, *, is_seen: bool) -> Solid:
    geometry = part.find('geometry')
    shapes = [] if geometry is None else list(geometry)
    if len(shapes) != 1 or shapes[0].tag not in ('cylinder', 'box'):
        kinds = ', '.join(f'<{one.tag}>' for one in shapes) or 'no geometry'
        raise ContentError(f'got {kinds}, expected {ACCEPTED}')
    shape = shapes[0]
    if shape.tag == 'cylinder':
        radius, = _numbers(shape, 'radius', 1)
        height, = _numbers(shape, 'length', 1)
        sizes = (2 * radius, 2 * radius, height)
    else:
        length, width, height = _numbers(shape, 'size', 3)
        sizes = (length, width, height)
    if not all(_LEAST_M <= size <= _MOST_M for size in sizes):
        raise ContentError(f'got a {shape.tag} of {sizes}, expected {_LEAST_M:g} to {_MOST_M:g} m '
                           f'on each side')
    x, y, z, *turned = _numbers(part, 'pose', 6)
    if max(map(abs, (x, y, *turned))) > _NEAR or z - height / 2 < -_NEAR:
        raise ContentError(f'got a {part.tag} beside its origin, tilted, turned or below the '
                           f'floor, expected {ACCEPTED}')
    return Solid('cylinder' if shape.tag == 'cylinder' else 'box', *sizes,
                 max(0.0, z - height / 2), is_seen)


def _numbers(part: ElementTree.Element, tag: str, count: int) -> Sequence[float]:
    """Return numbers of an element; a pose that is left out is none at all."""
    said = part.findtext(tag)
    if said is None and tag == 'pose':
        return (0.0,) * count
    try:
        found = [float(number) for number in (said or '').split()]
    except ValueError:
        found = []
    if len(found) != count or not all(map(math.isfinite, found)):
        raise ContentError(f'<{tag}> of <{part.tag}>: got {(said or "nothing")[:60]!r}, expected '
                           f'{count} numbers')
    return found


class Host(Protocol):
    """Who owns the world and its time; all of it is called in the thread that does."""

    @property
    def trial_id(self) -> str:
        """Return which trial of an evaluator runs now; empty: none does."""

    @property
    def standing(self) -> PersistentWorld | None:
        """Return the world without a trial; None: it is not there."""

    @property
    def stamp_ns(self) -> int:
        """Return the time at which everything is where the world has it (ns)."""

    @property
    def is_paused(self) -> bool:
        """Whether time stands."""

    def catch_up(self) -> None:
        """Let the time pass that has passed."""

    def stand_up(self) -> PersistentWorld:
        """
        Have a new world without a trial, in place of whatever was there.

        :raises InputError: its scenario asks for what cannot be
        """

    def give_up_trial(self, text: str) -> None:
        """Let the trial of an evaluator end, and say why."""

    def play(self) -> None:
        """
        Let time pass.

        :raises InputError: it passes in lock-step alone
        """

    def pause(self) -> None:
        """Let no time pass."""

    def make_steps(self, count: int) -> None:
        """Let so many steps of the physics pass, as fast as can be."""

    def rewind(self) -> None:
        """Let it be the time at which this process began."""
