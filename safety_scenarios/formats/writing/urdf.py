# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a robot's URDF tells: joints with their speed limits, and the radius of its footprint."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
import math
from xml.etree import ElementTree

_MOVABLE = ('revolute', 'prismatic')
_LONGEST = 4_000_000
"""Characters of a URDF; a longer one is not looked at."""
_ROUND = 16
"""Points on the rim of a cylinder."""
Point = tuple[float, float, float]
Turn = tuple[Point, Point, Point]


@dataclass(frozen=True, slots=True)
class UrdfJoint:
    """A joint that a controller can move within limits."""

    name: str
    velocity: float | None
    """Limit of its speed (rad/s or m/s); None: not stated."""


@dataclass(frozen=True, slots=True)
class UrdfFacts:
    """What a URDF tells of a robot."""

    name: str = ''
    joints: tuple[UrdfJoint, ...] = ()
    """In the order of the file; without wheels, mimic and fixed joints."""
    radius: float | None = None
    """Of the smallest circle about the origin that holds the collision geometry (m)."""
    shapes_left_out: int = 0
    """Collision shapes that are meshes, whose size is not in the file."""
    problem: str = ''
    """Why nothing was read of it."""


def read_urdf(text: str) -> UrdfFacts:
    """Return what a URDF tells; of one that cannot be read why."""
    if not text:
        return UrdfFacts()
    if len(text) > _LONGEST:
        return UrdfFacts(problem=f'the URDF is longer than {_LONGEST} characters')
    if '<!DOCTYPE' in text or '<!ENTITY' in text:
        return UrdfFacts(problem='the URDF declares a document type')
    try:
        root = ElementTree.fromstring(text)
        joints = tuple(_joints(root))
        radius, left_out = _radius(root)
    except (ElementTree.ParseError, ValueError) as error:
        return UrdfFacts(problem=f'the URDF cannot be read: {error}')
    return UrdfFacts(root.get('name', ''), joints, radius, left_out)


def _joints(root: ElementTree.Element) -> Iterator[UrdfJoint]:
    for joint in root.findall('joint'):
        if joint.get('type') not in _MOVABLE or joint.find('mimic') is not None:
            continue
        limit = joint.find('limit')
        velocity = float((limit.get('velocity') if limit is not None else None) or 'nan')
        yield UrdfJoint(joint.get('name', ''),
                        velocity if math.isfinite(velocity) and velocity > 0 else None)


def _radius(root: ElementTree.Element) -> tuple[float | None, int]:
    """Return how far the collision geometry reaches over the floor (m), and how many meshes."""
    above = {_link(joint, 'child'): joint for joint in root.findall('joint')}
    farthest, left_out = 0.0, 0
    for link in root.findall('link'):
        for collision in link.findall('collision'):
            corners = _corners(collision)
            if corners is None:
                left_out += 1
                continue
            for corner in corners:
                x, y, _ = _in_root(_moved(corner, collision.find('origin')),
                                   link.get('name', ''), above)
                farthest = max(farthest, math.hypot(x, y))
    return farthest or None, left_out


def _link(joint: ElementTree.Element, which: str) -> str:
    found = joint.find(which)
    return '' if found is None else found.get('link', '')


def _corners(collision: ElementTree.Element) -> list[Point] | None:
    """Return points around a collision shape; None: it is a mesh, or nothing known."""
    geometry = collision.find('geometry')
    if geometry is None:
        return None
    box, cylinder, sphere = (geometry.find(name) for name in ('box', 'cylinder', 'sphere'))
    if box is not None:
        half = [size / 2 for size in _numbers(box.get('size'), 3)]
        return [(x, y, z) for x, y, z in product(*((-one, one) for one in half))]
    if cylinder is not None:
        radius, half_length = (float(cylinder.get('radius', '')),
                               float(cylinder.get('length', '')) / 2)
        return [(radius * math.cos(at), radius * math.sin(at), z)
                for at in (2 * math.pi * step / _ROUND for step in range(_ROUND))
                for z in (-half_length, half_length)]
    if sphere is not None:
        radius = float(sphere.get('radius', ''))
        return [(x, y, z) for x, y, z in product((-radius, 0.0, radius), repeat=3)
                if abs(x) + abs(y) + abs(z) == radius]
    return None


def _in_root(point: Point, link: str, above: Mapping[str, ElementTree.Element]) -> Point:
    """Return a point of a link in the frame of the root link, with every joint at 0."""
    for _ in range(len(above) + 1):
        joint = above.get(link)
        if joint is None:
            return point
        point, link = _moved(point, joint.find('origin')), _link(joint, 'parent')
    raise ValueError(f'link {link} is its own parent')


def _moved(point: Point, origin: ElementTree.Element | None) -> Point:
    if origin is None:
        return point
    offset = _numbers(origin.get('xyz', '0 0 0'), 3)
    rows = turn_of(*_numbers(origin.get('rpy', '0 0 0'), 3))
    x, y, z = (sum(row[axis] * point[axis] for axis in range(3)) + offset[place]
               for place, row in enumerate(rows))
    return x, y, z


def _numbers(text: str | None, count: int) -> list[float]:
    values = [float(word) for word in (text or '').split()]
    if len(values) != count or not all(map(math.isfinite, values)):
        raise ValueError(f'got {text!r}, expected {count} numbers')
    return values


def turn_of(roll: float, pitch: float, yaw: float) -> Turn:
    """Return the rotation about the fixed axes x, y and z, as rows of a matrix."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(at), math.sin(at)) for at in (roll, pitch, yaw))
    return ((cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            (-sp, cp * sr, cp * cr))
