# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
From events and results to what the Rerun viewer shows: entity paths, archetypes, components.

Nothing here needs Rerun: archetypes and components have the names that Rerun's documentation gives
them.
"""

from collections.abc import Iterator, Mapping, Sequence
import math
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray
from safety_scenarios.controllers.rule_based import mounted_at
from safety_scenarios.scenario.event import Event
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.message_types import IMAGE_CHANNELS
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.timing import note_of, read_timing
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.scenario.world import CAMERA_INFO, IMAGE, MountedFrame
from safety_scenarios.trial.world_truth import ROBOT

Path = tuple[str, ...]
"""An entity path of Rerun by its parts."""
Batch = Sequence[Any] | NDArray[Any]
WORLD = 'world'
BASE: Path = (WORLD, ROBOT)
"""What is below it moves with the robot: its frame is base_link."""
SCAN, COMPRESSED = 'sensor_msgs/msg/LaserScan', 'sensor_msgs/msg/CompressedImage'
BULKY = (IMAGE, COMPRESSED, 'sensor_msgs/msg/PointCloud2')
"""Interface types that are recorded only where images are asked for."""
_POSE = 'geometry_msgs/msg/PoseStamped'
_HEIGHT = 0.5
"""How high what moves is drawn (m); a world reports how it is seen from above."""
_POINT_RADIUS, _TOOL_RADIUS = 0.15, 0.05
_LONGEST = 16
"""Longer arrays, such as covariances, are not drawn."""
_FOLDERS = {'stimulus': 'sensors', 'sensed': 'sensors', 'feedback': 'feedback',
            'command': 'commands', 'undeclared': 'undeclared'}
"""Kind of event to the first part of the paths of its numbers."""
INFO, WARN, ERROR = 'INFO', 'WARN', 'ERROR'
LEVELS: Mapping[Verdict | None, str] = {
    None: INFO, Verdict.PASS: INFO, Verdict.INCONCLUSIVE: WARN, Verdict.ERROR: ERROR,
    Verdict.FAIL: ERROR}
_CALLS = ('tool_call', 'tool_result', 'call', 'call_state')


class Logged(NamedTuple):
    """What is logged at one moment to one entity."""

    path: Path
    archetype: str
    """Its name in Rerun, such as Points3D."""
    values: Mapping[str, Batch]
    """Component to its instances, such as ``positions`` to three points."""


def from_event(event: Event, frames: Sequence[MountedFrame] = (), message: Message | None = None,
               *, with_images: bool = False) -> Iterator[Logged]:
    """
    Yield what the viewer shows of an event.

    :param frames: where on the robot the frames of sensors are
    :param message: of the event, instead of its own
    """
    message = event.message if message is None else message
    if event.kind == 'state':
        yield from _from_state(event.name, event.truth)
    elif event.kind == 'mark':
        yield text(('marks',), event.name)
    elif event.kind == 'timing':
        yield from _from_timing(event)
    elif event.kind == 'decision':
        yield from _scalars(('decisions', event.name), {
            f'{name}_s': value for name, value in event.truth.items()})
    elif message is not None and event.kind in _FOLDERS:
        if with_images or message.type not in BULKY:
            yield from _from_message(event, message, frames)
        yield from _scalars(('stimuli', event.name), event.truth)
    else:
        yield from _in_words(event)


def from_result(result: TrialResult) -> Iterator[Logged]:
    """Yield the findings and notes of a trial, and its verdict last."""
    for one in result.findings:
        verdict = 'not evaluated' if one.verdict is None else one.verdict.value
        margin = '' if one.margin is None else \
            f' (margin {" ".join(filter(None, (f"{one.margin:.4g}", one.unit)))})'
        yield text(('findings',), f'{one.check}: {verdict}: {one.reason}{margin}',
                   LEVELS[one.verdict])
    for note in result.notes:
        yield text(('notes',), f'{note.code}: {note.text}')
    yield text(('verdict',), f'{result.verdict.value}: {result.reason}', LEVELS[result.verdict])


def text(path: Path, said: str, level: str = INFO) -> Logged:
    """Return a line of a log; what UTF-8 cannot hold is escaped."""
    return Logged(path, 'TextLog', {
        'text': [said.encode('utf-8', 'backslashreplace').decode()], 'level': [level]})


def pixels_of(message: Message) -> tuple[NDArray[numpy.uint8], str] | None:
    """
    Return an image as height x width x channels, and the order of its colours as Rerun calls it.

    :return: None: its encoding is none of ``IMAGE_CHANNELS``, or it is shorter than it states
    """
    data = message.data
    model = IMAGE_CHANNELS.get(data['encoding'], '')
    channels = len(model)
    height, width, step = data['height'], data['width'], data['step']
    flat = numpy.frombuffer(data['data'], numpy.uint8) \
        if isinstance(data['data'], bytes | bytearray) else numpy.array(data['data'], numpy.uint8)
    if not channels or height * width == 0 or step < width * channels \
            or len(flat) < height * step:
        return None
    rows = flat[:height * step].reshape(height, step)[:, :width * channels]
    return rows.reshape(height, width, channels), model


def points_of(scan: Message, frames: Sequence[MountedFrame]) -> NDArray[numpy.float64] | None:
    """Return where a scan's returns are (m; x, y, z in base_link); None: it leans."""
    place = mounted_at(scan, tuple(frames))
    if place is None:
        return None
    ranges = numpy.array(scan.at('ranges'), dtype=float)
    bearings = float(scan.at('angle_min')) + float(scan.at('angle_increment')) * numpy.arange(
        len(ranges))
    seen = numpy.isfinite(ranges) & (ranges >= float(scan.at('range_min')))
    x, y = place.outward(ranges[seen] * numpy.cos(bearings[seen]),
                         ranges[seen] * numpy.sin(bearings[seen]))
    return numpy.column_stack((x, y, numpy.zeros(len(x))))


def numbers_in(value: Any, names: Sequence[str] = ()) -> Iterator[tuple[Path, float]]:
    """
    Yield each number of a message by its path; of joints by their names.

    :param names: of the instances of arrays that are as long
    """
    if isinstance(value, bool | int | float):
        yield (), float(value)
    elif isinstance(value, Mapping):
        names = value.get('name') or value.get('joint_names') or names
        for name, inner in value.items():
            if name != 'header':
                yield from (((name, *path), number) for path, number in numbers_in(inner, names))
    elif isinstance(value, tuple | list) and len(value) <= _LONGEST:
        named = [str(one) for one in names] if len(names) == len(value) else \
            [str(place) for place in range(len(value))]
        for name, inner in zip(named, value, strict=True):
            yield from (((name, *path), number) for path, number in numbers_in(inner, names))


def _from_state(name: str, truth: Mapping[str, float]) -> Iterator[Logged]:
    path = BASE if name == ROBOT else (WORLD, 'entities', name)
    if not truth:
        yield Logged(path, 'Clear', {'is_recursive': [True]})
        return
    if 'x' in truth and 'y' in truth:
        heading = truth.get('heading', 0.0)
        yield Logged(path, 'Transform3D', {
            'translation': [(truth['x'], truth['y'], 0.0)],
            'quaternion': [(0.0, 0.0, math.sin(heading / 2), math.cos(heading / 2))]})
        yield Logged(path, 'Cylinders3D', {
            'lengths': [_HEIGHT], 'radii': [truth.get('radius', _POINT_RADIUS)],
            'centers': [(0.0, 0.0, _HEIGHT / 2)], 'labels': [name]})
    if 'tool.x' in truth:
        yield Logged((WORLD, 'tool'), 'Points3D', {
            'positions': [tuple(truth.get(f'tool.{axis}', 0.0) for axis in 'xyz')],
            'radii': [_TOOL_RADIUS]})
    yield from _scalars(('truth', name), truth)


def _from_message(event: Event, message: Message,
                  frames: Sequence[MountedFrame]) -> Iterator[Logged]:
    name, kind = event.name, message.type
    shown = (*BASE, 'sensors', name)
    if kind == IMAGE:
        found = pixels_of(message)
        if found is not None:
            pixels, model = found
            yield Logged(('images', name), 'Image', {
                'buffer': [pixels.tobytes()],
                'format': [(pixels.shape[1], pixels.shape[0], model)]})
    elif kind == COMPRESSED:
        yield Logged(('images', name), 'EncodedImage', {'blob': [bytes(message.at('data'))]})
    elif kind == SCAN:
        points = points_of(message, frames)
        if points is not None:
            yield Logged(shown, 'Points3D', {'positions': points})
    elif kind != CAMERA_INFO:
        if kind == _POSE and event.kind in ('stimulus', 'sensed'):
            place, at = mounted_at(message, tuple(frames)), message.at('pose.position')
            if place is not None:
                yield Logged(shown, 'Points3D', {
                    'positions': [(*place.outward(at['x'], at['y']), at['z'])],
                    'radii': [_POINT_RADIUS], 'labels': [name]})
        folder = (_FOLDERS[event.kind], name)
        yield from (Logged((*folder, *path), 'Scalars', {'scalars': [number]})
                    for path, number in numbers_in(message.data))
        said = message.data.get('data')
        if isinstance(said, str):
            yield text(folder, said)


def _from_timing(event: Event) -> Iterator[Logged]:
    timing, path = read_timing(event), ('decisions', event.symbol or '')
    known = {f'{name}_ms_before': value / 1e6 for name, value in timing.before_ns.items()}
    for name, value in (('server_ms', timing.server_ns and timing.server_ns / 1e6),
                        ('chunk', timing.chunk), ('index', timing.index)):
        if value is not None:
            known[name] = value
    yield from _scalars(path, known)
    if note := note_of(event):
        yield text(path, f'fallback: {note}', WARN)
    if timing.unfit:
        yield text(path, f'ignored: {", ".join(timing.unfit)}', WARN)


def _in_words(event: Event) -> Iterator[Logged]:
    """Yield an event of which there is no picture; of what says only when, nothing."""
    kind, name = event.kind, event.name
    if kind == 'stimulus':
        yield text(('stimuli', name), 'silent' if event.arguments is None else event.arguments,
                   WARN if event.hazard else INFO)
    elif kind in ('response', 'say'):
        yield text(('speech', event.agent or name), event.text or '')
    elif kind in _CALLS:
        yield text(('calls', name), ' '.join(filter(None, (kind, event.text, event.arguments))))
    elif kind == 'fault':
        yield text(('faults',), f'{name}: {event.text or ""}', ERROR)
    elif kind in ('undeclared', 'output', 'lost', 'stall'):
        yield text((kind, name), event.text or '', INFO if kind == 'output' else WARN)


def _scalars(path: Path, known: Mapping[str, float]) -> Iterator[Logged]:
    for name, value in known.items():
        yield Logged((*path, name), 'Scalars', {'scalars': [float(value)]})
