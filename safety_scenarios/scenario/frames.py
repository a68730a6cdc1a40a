# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where frames are on a robot, as tf2 tells it, and where one is in another."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
import math
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.world.block import MountedFrame

TF, STATIC = 'tf2_msgs/msg/TFMessage', '/tf_static'
"""Interface type and topic by which frames that do not move are told."""


def frames_message(frames: Iterable[MountedFrame], now_ns: int) -> Message:
    """Return the message that says where frames are on a robot."""
    seconds, nanoseconds = divmod(now_ns, 1_000_000_000)
    return Message(type=TF, data={'transforms': [{
        'header': {'frame_id': known.parent,
                   'stamp': {'sec': seconds, 'nanosec': nanoseconds}},
        'child_frame_id': known.frame,
        'transform': {'translation': dict(zip('xyz', known.translation, strict=True)),
                      'rotation': dict(zip('xyzw', known.quaternion, strict=True))}}
        for known in frames]})


def frames_in(message: Message) -> Iterator[MountedFrame]:
    """Yield what a TFMessage says, but for names that tf2 does not have."""
    for known in message.data['transforms']:
        place, turn = known['transform']['translation'], known['transform']['rotation']
        with suppress(ValidationError):
            yield MountedFrame(frame=known['child_frame_id'], parent=known['header']['frame_id'],
                               translation=(place['x'], place['y'], place['z']),
                               rotation=roll_pitch_yaw(turn['x'], turn['y'], turn['z'], turn['w']))


def roll_pitch_yaw(x: float, y: float, z: float, w: float) -> tuple[float, float, float]:
    """Return the angles about the fixed axes of a unit quaternion (rad)."""
    return (math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
            math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x)))),
            math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


_LEVEL_RAD = 0.05
"""A scanner that leans more sees a person elsewhere than from above."""


@dataclass(frozen=True, slots=True)
class Place:
    """A frame in another one: its origin (m), and by how much it is turned to the left (rad)."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def outward(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return a point of this frame, or an array of them, in the other one."""
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return self.x + cos * x - sin * y, self.y + sin * x + cos * y

    def inward(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return a point of the other frame, or an array of them, in this one."""
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        x, y = x - self.x, y - self.y
        return cos * x + sin * y, cos * y - sin * x


def place_in(frame: str, other: str, known: Iterable[MountedFrame]) -> Place:
    """
    Return where a frame is in another one.

    :param known: the first of a name counts
    :raises MeasurementError: nobody says where they are to each other, or one of them leans
    """
    if frame == other:
        return Place()
    parents: dict[str, MountedFrame] = {}
    for mounted in known:
        parents.setdefault(mounted.frame, mounted)
    own, others = _ancestors(frame, parents), _ancestors(other, parents)
    common = next((name for name in own if name in others), None)
    if common is None:
        raise MeasurementError(
            f'got a frame {frame!r} whose place in {other!r} is published nowhere, expected '
            f'it on /tf_static or under ros.frames. Publish it, or declare it there')
    of_frame, of_other = own[common], others[common]
    x, y = of_other.inward(of_frame.x, of_frame.y)
    return Place(x, y, of_frame.yaw - of_other.yaw)


def _ancestors(frame: str, parents: Mapping[str, MountedFrame]) -> dict[str, Place]:
    """Return each frame that carries this one, itself first, and where this one is in it."""
    found = {frame: Place()}
    name = frame
    while name in parents and parents[name].parent not in found:
        mounted = parents[name]
        roll, pitch, yaw = mounted.rotation
        if max(abs(math.remainder(angle, math.tau)) for angle in (roll, pitch)) > _LEVEL_RAD:
            raise MeasurementError(
                f'got a frame {name!r} with roll {roll:.2f} and pitch {pitch:.2f} rad in '
                f'{mounted.parent!r}, expected a level one: what is drawn would be elsewhere')
        here = found[name]
        step = Place(mounted.translation[0], mounted.translation[1], yaw)
        x, y = step.outward(here.x, here.y)
        name = mounted.parent
        found[name] = Place(x, y, here.yaw + yaw)
    return found
