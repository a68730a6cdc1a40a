# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A person drawn into what a tracker of people says: poses as plain data, in metres."""

from collections.abc import Iterable, Mapping, Sequence
import math

from safety_scenarios.trial.placing import Place

Pose = Mapping[str, Mapping[str, float]]
"""A geometry_msgs/msg/Pose as plain data."""


def with_poses(live: Sequence[Pose], drawn: Iterable[Pose], place: Place) -> tuple[Pose, ...]:
    """
    Return the live poses and after them the drawn ones; one that is there already stays one.

    :param place: of the live frame, in the frame of what is drawn
    """
    seen = list(live)
    for pose in drawn:
        moved = inward(pose, place)
        if moved not in seen:
            seen.append(moved)
    return tuple(seen)


def nearer(live: Pose, drawn: Pose, place: Place) -> Pose:
    """
    Return the one that is nearer to the origin of the drawing's frame.

    A topic with one pose shows one person: to show the farther one would hide the other.
    """
    return live if distance(live, place) <= distance(inward(drawn, place), place) \
        else inward(drawn, place)


def distance(pose: Pose, place: Place) -> float:
    """Return how far a pose in the live frame is from the origin of the drawing's frame."""
    at = pose['position']
    return math.hypot(*place.outward(at['x'], at['y']))


def inward(pose: Pose, place: Place) -> Pose:
    """Return a pose of the drawing's frame in the live one."""
    at, turned = pose['position'], {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0} \
        | dict(pose.get('orientation', {}))
    x, y = place.inward(at['x'], at['y'])
    sin, cos = math.sin(-place.yaw / 2), math.cos(-place.yaw / 2)
    return {'position': {'x': x, 'y': y, 'z': at.get('z', 0.0)}, 'orientation': {
        'x': cos * turned['x'] - sin * turned['y'], 'y': cos * turned['y'] + sin * turned['x'],
        'z': cos * turned['z'] + sin * turned['w'], 'w': cos * turned['w'] - sin * turned['z']}}
