# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The text of a new robot profile, from its URDF and what a running ROS graph shows.

What the graph does not show is asked for, or left as ``BLANK``, with which a profile is refused.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
import math
import re
from xml.etree import ElementTree

from safety_scenarios.formats.document.file_contents import BLANK
from safety_scenarios.formats.writing.template import number
from safety_scenarios.scenario.world import BASE

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
        joints = tuple(_limited_joints(root))
        radius, left_out = _outer_radius(root)
    except (ElementTree.ParseError, ValueError) as error:
        return UrdfFacts(problem=f'the URDF cannot be read: {error}')
    return UrdfFacts(root.get('name', ''), joints, radius, left_out)


def _limited_joints(root: ElementTree.Element) -> Iterator[UrdfJoint]:
    for joint in root.findall('joint'):
        if joint.get('type') not in _MOVABLE or joint.find('mimic') is not None:
            continue
        limit = joint.find('limit')
        velocity = float((limit.get('velocity') if limit is not None else None) or 'nan')
        yield UrdfJoint(joint.get('name', ''),
                        velocity if math.isfinite(velocity) and velocity > 0 else None)


def _outer_radius(root: ElementTree.Element) -> tuple[float | None, int]:
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


_WITH_FRAMES = ('scan', 'wrench', 'human_pose')


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """One topic of the running graph."""

    name: str
    """Full, such as /tb4/scan."""
    type: str  # noqa: A003
    publishers: int = 0
    subscribers: int = 0
    reliability: str = ''
    """``reliable`` or ``best_effort``, of its publishers, of a command its subscribers."""
    durability: str = ''
    """``volatile`` or ``transient_local``."""
    rate_hz: float | None = None
    """Measured; None: no two messages arrived."""
    frame: str = ''
    """Of the header of its messages."""
    joints: tuple[str, ...] = ()
    """Names in joint states."""


@dataclass(frozen=True, slots=True)
class StaticFrame:
    """The place of a frame, from tf_static."""

    frame: str
    parent: str
    translation: Point
    rotation: Point
    """Roll, pitch and yaw (rad)."""


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What was seen of a running robot."""

    topics: tuple[TopicFacts, ...]
    robot_description: str = ''
    """The URDF; empty: nobody published it."""
    frames: tuple[StaticFrame, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileAnswers:
    """What the user said about the robot; None or empty: the graph tells it, or nobody does."""

    name: str = ''
    kind: str = ''
    max_speed: float | None = None
    deceleration: float | None = None
    stopping: tuple[float, float] | None = None
    """Time (s) and way (m) of a stop from top speed."""
    radius: float | None = None


@dataclass(frozen=True, slots=True)
class NewProfile:
    """A profile as text, and what is open in it."""

    text: str
    name: str
    """Of the robot; empty: unknown."""
    blanks: tuple[str, ...]
    """Dotted names of the values that have to be filled in."""
    roles: tuple[str, ...]
    """Roles that were found."""


@dataclass(frozen=True, slots=True)
class _Role:
    """How a role of scenarios is found in a graph."""

    name: str
    types: tuple[str, ...]
    words: tuple[str, ...] = ()
    """Words of which one must be in the name; none: any name will do."""
    is_command: bool = False


_ROLES = (
    _Role('cmd_vel', ('geometry_msgs/msg/Twist', 'geometry_msgs/msg/TwistStamped'), (), True),
    _Role('joint_trajectory', ('trajectory_msgs/msg/JointTrajectory',), (), True),
    _Role('commands', ('std_msgs/msg/Float64MultiArray',), ('commands',), True),
    _Role('scan', ('sensor_msgs/msg/LaserScan',)),
    _Role('odom', ('nav_msgs/msg/Odometry',)),
    _Role('joint_states', ('sensor_msgs/msg/JointState',)),
    _Role('wrench', ('geometry_msgs/msg/WrenchStamped',)),
    _Role('human_pose', ('geometry_msgs/msg/PoseStamped',), ('human', 'person', 'people')),
    _Role('contact', ('std_msgs/msg/Bool',), ('contact', 'bumper')),
    _Role('estop', ('std_msgs/msg/Bool',), ('estop', 'e_stop', 'emergency')),
    _Role('heartbeat', ('std_msgs/msg/Empty',), ('heartbeat',)))
_OF_KIND = {'mobile_base': ('scan', 'human_pose', 'wrench', 'heartbeat'),
            'arm': ('human_pose', 'joint_states', 'wrench', 'heartbeat')}
"""Roles that new scenarios show to a kind of robot."""
_REPORTS = {'mobile_base': 'odom', 'arm': 'joint_states'}
_NO_ROLE = re.compile(r'(^|/)(rosout|parameter_events|tf|tf_static|clock|robot_description)$')


def profile_text(facts: GraphFacts, answers: ProfileAnswers) -> NewProfile:
    """Return the text of a profile; what nobody told is left to be filled in."""
    found, others = _roles(facts.topics)
    kind = answers.kind or ('mobile_base' if 'cmd_vel' in found else 'arm' if {
        'joint_trajectory', 'commands'} & set(found) else '')
    if kind == 'mobile_base':
        found = {role: topic for role, topic in found.items()
                 if role not in ('joint_trajectory', 'commands')}
    elif kind == 'arm':
        found = {role: topic for role, topic in found.items() if role not in ('cmd_vel', 'odom')}
    urdf = read_urdf(facts.robot_description)
    namespace = _namespace([topic.name for topic in found.values()])
    blanks: list[str] = []
    lines = [
        '# What this robot is, and how it is reached. Seen in the running graph by',
        '# `safety-scenarios new profile`. Lines with "edit" hold what it could not see, or what',
        f'# you should check; each {BLANK} must be replaced before the profile can be used.',
        'robot:', *(f'  {line}' for line in _robot(kind, facts, found, urdf, answers, blanks)),
        f'namespace: {namespace or chr(39) * 2}',
        'topics:  # role in scenarios: the topic of this robot',
        *(f'  {line}' for line in _topics(found, others, namespace)),
        *_absent(kind, found), *_reference(kind, found),
        *_frames(facts.frames, found, blanks)]
    if any(topic.name == '/clock' and topic.publishers for topic in facts.topics):
        lines.append('use_sim_time: true  # /clock is published')
    unused = [f'{topic.name} ({topic.type})' for topic in facts.topics
              if topic not in found.values() and topic.publishers + topic.subscribers
              and not _NO_ROLE.search(topic.name)]
    if unused:
        lines += ['# Seen too, and of no role in the shipped scenarios; a scenario of yours may '
                  'use them:', *(f'#   {one}' for one in sorted(unused))]
    return NewProfile('\n'.join(lines) + '\n', answers.name or urdf.name, tuple(blanks),
                      tuple(found))


def _roles(topics: Sequence[TopicFacts]) -> tuple[
        dict[str, TopicFacts], dict[str, list[TopicFacts]]]:
    """Return role to its topic, and to others that could be it."""
    found: dict[str, TopicFacts] = {}
    others: dict[str, list[TopicFacts]] = {}
    for role in _ROLES:
        fits = [topic for topic in topics if topic.type in role.types and _fits(role, topic)]
        fits.sort(key=lambda topic: _rank(role, topic))
        if fits:
            found[role.name], *others[role.name] = fits
    return found, others


def _fits(role: _Role, topic: TopicFacts) -> bool:
    if role.is_command and not topic.subscribers:
        return False
    words = topic.name.lower()
    return bool(topic.publishers or topic.subscribers) and (
        not role.words or any(word in words for word in role.words))


def _rank(role: _Role, topic: TopicFacts) -> tuple[bool, bool, int, str]:
    """Return what the best topic of a role has the least of."""
    base = topic.name.rpartition('/')[2]
    return (base != role.name, not (role.is_command or topic.publishers), topic.name.count('/'),
            topic.name)


def _namespace(names: Sequence[str]) -> str:
    """Return the namespace that all topics share; empty: none, or only one topic is known."""
    if len(names) < 2:
        return ''
    shared: list[str] = []
    for steps in zip(*(name.split('/')[1:-1] for name in names)):
        if len(set(steps)) > 1:
            break
        shared.append(steps[0])
    return '/' + '/'.join(shared) if shared else ''


def _robot(kind: str, facts: GraphFacts, found: Mapping[str, TopicFacts], urdf: UrdfFacts,
           answers: ProfileAnswers, blanks: list[str]) -> Iterator[str]:
    def blank(name: str) -> str:
        blanks.append(f'robot.{name}')
        return f'"{BLANK}"'

    name = answers.name or urdf.name
    if name:
        yield f'name: {_plain(name)}'
    if kind:
        seen = next((found[role].name for role in ('cmd_vel', 'joint_trajectory', 'commands')
                     if role in found), 'option')
        yield f'kind: {kind}  # {"as you said" if answers.kind else f"it listens to {seen}"}'
    else:
        yield f'kind: {blank("kind")}  # edit: mobile_base or arm; no command topic was seen'
    joints = _joints(found, urdf) if kind == 'arm' else ()
    if kind == 'arm':
        yield (f'joints: [{", ".join(map(_plain, joints))}]  # edit: in the order of the commands'
               if joints else f'joints: [{blank("joints")}]  # edit: in the order of the commands')
        yield '# reach: 1.0  # edit: m, from the base to the farthest point of arm and tool'
    yield from _top_speed(kind, joints, urdf, answers, blank)
    if answers.stopping is not None:
        time, way = answers.stopping
        yield f'stopping: {{model: measured, time: {number(time)}, distance: {number(way)}}}'
    elif answers.deceleration is not None:
        yield (f'stopping: {{model: constant_deceleration, deceleration: '
               f'{number(answers.deceleration)}}}')
    elif kind == 'arm':
        yield (f'stopping: {{model: measured, time: {blank("stopping.time")}, distance: '
               f'{blank("stopping.distance")}}}  # edit: s and m, of a stop from top speed')
    else:
        yield (f'stopping: {{model: constant_deceleration, deceleration: '
               f'{blank("stopping.deceleration")}}}  # edit: m/s^2, guaranteed')
    if kind != 'arm':
        yield _radius(urdf, answers, blank)
    if urdf.problem:
        yield f'# robot_description: {urdf.problem}'
    elif not facts.robot_description:
        yield '# robot_description was not published, so that joints and size could not be read'


def _top_speed(kind: str, joints: Sequence[str], urdf: UrdfFacts, answers: ProfileAnswers,
               blank: Callable[[str], str]) -> Iterator[str]:
    unit = 'rad/s of each joint' if kind == 'arm' else 'm/s'
    limits = [joint.velocity for joint in urdf.joints
              if joint.name in joints and joint.velocity is not None]
    if answers.max_speed is not None:
        yield f'max_speed: {number(answers.max_speed)}  # {unit}'
    elif kind == 'arm' and limits and len(limits) == len(joints):
        yield (f'max_speed: {number(min(limits))}  # edit: {unit}; the smallest limit of the '
               f'URDF')
    else:
        yield f'max_speed: {blank("max_speed")}  # edit: {unit}'


def _radius(urdf: UrdfFacts, answers: ProfileAnswers, blank: Callable[[str], str]) -> str:
    if answers.radius is not None:
        return f'radius: {number(answers.radius)}  # m, of the footprint'
    if urdf.radius is None or urdf.shapes_left_out:
        why = f'{urdf.shapes_left_out} meshes have no size in the URDF' \
            if urdf.shapes_left_out else 'the URDF has no collision geometry'
        return f'radius: {blank("radius")}  # edit: m, of the footprint' + (
            f'; {why}' if urdf.name or urdf.joints or urdf.shapes_left_out else '')
    return (f'radius: {number(math.ceil(urdf.radius * 100 - 1e-6) / 100)}  # m, around the '
            f'collision geometry of the URDF')


def _joints(found: Mapping[str, TopicFacts], urdf: UrdfFacts) -> tuple[str, ...]:
    """Return the joints of an arm: those of the URDF that are reported, in its order."""
    told = found['joint_states'].joints if 'joint_states' in found else ()
    named = [joint.name for joint in urdf.joints]
    return tuple(name for name in named if not told or name in told) or told


def _topics(found: Mapping[str, TopicFacts], others: Mapping[str, Sequence[TopicFacts]],
            namespace: str) -> Iterator[str]:
    if not found:
        yield '{}  # edit: no topic of a known role was seen'
    for role, topic in found.items():
        own = topic.name.removeprefix(f'{namespace}/') if namespace else topic.name
        qos = ', '.join(f'{name}: {value}' for name, value, usual in (
            ('reliability', topic.reliability, 'reliable'),
            ('durability', topic.durability, 'volatile')) if value not in ('', usual))
        yield f'{role}:' + (f'  # {topic.rate_hz:.3g} Hz' if topic.rate_hz else '')
        yield f'  topic: {own}'
        yield f'  type: {topic.type}'
        if qos:
            yield f'  qos: {{{qos}}}'
        if topic.frame and role in _WITH_FRAMES:
            yield f'  frame: {_plain(topic.frame)}'
        yield from (f'  # edit: or {one.name} ({one.type})' for one in others.get(role, ()))


def _absent(kind: str, found: Mapping[str, TopicFacts]) -> Iterator[str]:
    absent = [role for role in _OF_KIND.get(kind, ()) if role not in found]
    if absent:
        yield from ('# edit: roles that scenarios use and that were not seen. What is shown there',
                    '# is left out where another sensor shows the same. If your controller',
                    '# listens to one of them, list it under topics instead.')
        yield f'absent: [{", ".join(absent)}]'


def _reference(kind: str, found: Mapping[str, TopicFacts]) -> Iterator[str]:
    role = _REPORTS.get(kind, '')
    if role in found and found[role].publishers:
        yield f'reference: [{role}]  # where the robot reports its motion'


def _frames(frames: Sequence[StaticFrame], found: Mapping[str, TopicFacts],
            blanks: list[str]) -> Iterator[str]:
    """Yield where the frames of the sensors are, up to one that carries the base of the robot."""
    known = {one.frame: one for one in frames}
    own, wanted = _chain(BASE, known), dict[str, None]()
    for role in (one for one in _WITH_FRAMES if one in found and found[one].frame):
        chain = _chain(found[role].frame, known)
        common = next((frame for frame in chain if frame in own), None)
        if common is not None:
            wanted |= dict.fromkeys((*chain[:chain.index(common)], *own[:own.index(common)]))
        elif chain[-1] in known or role == 'scan':
            wanted |= dict.fromkeys(chain)
    if wanted:
        yield 'frames:  # from tf_static: where the sensors are on the robot (m, rad)'
    for frame in wanted:
        yield f'  {_plain(frame)}:'
        if frame not in known:
            blanks.append(f'frames.{frame}.translation')
            yield f'    translation: "{BLANK}"  # edit: in {BASE}; it has no publisher'
            continue
        place = known[frame]
        spot, turn = (', '.join(number(round(value, 4) + 0.0) for value in values)
                      for values in (place.translation, place.rotation))
        yield from (f'    parent: {_plain(place.parent)}', f'    translation: [{spot}]',
                    f'    rotation: [{turn}]')


def _chain(frame: str, known: Mapping[str, StaticFrame]) -> list[str]:
    """Return a frame and those that carry it, the nearest first."""
    chain = [frame]
    while chain[-1] in known and known[chain[-1]].parent not in chain:
        chain.append(known[chain[-1]].parent)
    return chain


def _plain(text: str) -> str:
    """Return a text as a YAML scalar, in quotes where it is not a plain name."""
    return text if re.fullmatch(r'[A-Za-z_][A-Za-z0-9_/-]*', text) and text.lower() not in (
        'yes', 'no', 'on', 'off', 'true', 'false', 'null', 'y', 'n') \
        else "'" + text.replace("'", "''") + "'"
