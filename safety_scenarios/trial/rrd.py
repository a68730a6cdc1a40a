# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A trial as one file for the Rerun viewer, written when the trial has ended.

The same record gives the same entities, times and values under the same recording id. Rerun gives
each row an id of its own, so that the bytes differ.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
import hashlib
import os
from typing import Any

import numpy
from safety_scenarios.errors import MissingDependencyError, TraceError
from safety_scenarios.scenario.event import Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.world import MountedFrame
from safety_scenarios.trial.links.sensor_readings import sensor_readings
from safety_scenarios.trial.rrd_entities import (
    Batch,
    BULKY,
    from_event,
    from_result,
    Logged,
    WORLD,
)
from safety_scenarios.trial.session import Observer, TraceContext
from safety_scenarios.trial.trial import ONSET, TrialRecord

try:
    import rerun
    from rerun.components import ImageFormat
except ImportError as error:
    raise MissingDependencyError('a recording for Rerun', 'rerun-sdk',
                                 "pip install 'safety_scenarios[rerun]', or pip install "
                                 "'rerun-sdk>=0.41'") from error

APPLICATION, SUFFIX = 'safety_scenarios', '.rrd'
STEADY, ROS, SINCE_ONSET = 'steady_time', 'ros_time', 'since_onset'
"""Timelines; the last one only in a trial that came to its hazard."""
_MOST_ROWS, _MOST_IMAGES = 4096, 16
"""In a chunk of Rerun, which the viewer loads as a whole."""
_IMAGES = ('Image', 'EncodedImage')


class RrdRecording(Observer):
    """Writes each trial's recording when the trial has ended, so that no measurement waits."""

    def __init__(self, context: TraceContext) -> None:
        self._context = context

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """
        Write the recording of a trial that has begun.

        :raises TraceError: the disk is full, or the folder is gone
        """
        if record.events:
            trial_id = record.trial.trial_id
            path = self._context.place(trial_id) / f'{trial_id}{SUFFIX}'
            content = rrd_of(record, result, with_images=self._context.settings.record_images)
            unfinished = path.with_name(f'{path.name}.part')
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                unfinished.write_bytes(content)
                os.replace(unfinished, path)
            except OSError as error:
                raise TraceError(f'{path}: cannot be written: {error.strerror}. Free some space, '
                                 f'or name another folder') from error
            finally:
                with suppress(OSError):  # there is none, or it cannot be reached
                    unfinished.unlink()


def rrd_of(record: TrialRecord, result: TrialResult, *, with_images: bool = False) -> bytes:
    """Return a trial as the content of an .rrd file."""
    readings, frames, missing = sensor_readings(record, without=() if with_images else BULKY)
    frames = (*frames, *record.trial.scenario.body.mounted_frames)
    stream = rerun.RecordingStream(APPLICATION, recording_id=_recording_id(record),
                                   send_properties=False)
    memory = stream.memory_recording()
    trial = record.trial
    stream.log(WORLD, rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    stream.log('about', rerun.TextDocument('\n'.join(filter(None, (
        f'trial {trial.trial_id}', f'scenario {trial.scenario.id}: {trial.scenario.name}',
        f'controller {trial.controller}', f'seed {trial.seed}',
        f'journal {record.chain}' if record.chain else '', missing)))), static=True)
    onset_ns = next((event.stamps.steady_ns for event in record.events
                     if event.kind == 'mark' and event.name == ONSET), None)
    for rows in _grouped(_rows(record, result, readings, frames, with_images)):
        first = rows[0][1]
        stream.send_columns(
            rerun.new_entity_path(list(first.path)),
            _times([stamps for stamps, _ in rows], onset_ns),
            _columns(first.archetype, [logged.values for _, logged in rows]))
    stream.flush()
    return bytes(memory.drain_as_bytes())


def _recording_id(record: TrialRecord) -> str:
    """Return an id that two trials of one name in two campaigns do not share."""
    seen = hashlib.sha256(record.chain.encode())
    if not record.chain:
        for event in record.events:
            seen.update(repr((event.kind, event.name, event.stamps.system_ns)).encode())
    return f'{record.trial.trial_id}.{seen.hexdigest()[:16]}'


def _rows(record: TrialRecord, result: TrialResult, readings: Mapping[int, Message],
          frames: Sequence[MountedFrame], with_images: bool) -> Iterator[tuple[Stamps, Logged]]:
    for place, event in enumerate(record.events):
        for logged in from_event(event, frames, readings.get(place), with_images=with_images):
            yield event.stamps, logged
    for logged in from_result(result):
        yield record.events[-1].stamps, logged


def _grouped(rows: Iterable[tuple[Stamps, Logged]]) -> Iterator[Sequence[tuple[Stamps, Logged]]]:
    """Yield rows of the same entity and components together, in order."""
    groups: dict[Any, list[tuple[Stamps, Logged]]] = defaultdict(list)
    for row in rows:
        logged = row[1]
        groups[logged.path, logged.archetype, tuple(logged.values)].append(row)
    for (_, archetype, _), found in groups.items():
        most = _MOST_IMAGES if archetype in _IMAGES else _MOST_ROWS
        yield from (found[begin:begin + most] for begin in range(0, len(found), most))


def _times(stamps: Sequence[Stamps], onset_ns: int | None) -> Sequence[Any]:
    steady = numpy.array([one.steady_ns for one in stamps], 'timedelta64[ns]')
    ros = numpy.array([one.ros_ns for one in stamps], 'datetime64[ns]')
    times = [rerun.TimeColumn(STEADY, duration=steady), rerun.TimeColumn(ROS, timestamp=ros)]
    if onset_ns is not None:
        times.append(rerun.TimeColumn(SINCE_ONSET,
                                      duration=steady - numpy.timedelta64(onset_ns, 'ns')))
    return times


def _columns(archetype: str, values: Sequence[Mapping[str, Batch]]) -> Sequence[Any]:
    columns = getattr(rerun, archetype).columns
    found: list[Any] = []
    for name in values[0]:
        batches = [one[name] for one in values]
        flat = numpy.concatenate(batches) if isinstance(batches[0], numpy.ndarray) \
            else [_component(name, one) for batch in batches for one in batch]
        found += columns(**{name: flat}).partition([len(batch) for batch in batches])
    return found


def _component(name: str, value: Any) -> Any:
    if name != 'format':
        return value
    width, height, model = value
    return ImageFormat(width=width, height=height, color_model=model, channel_datatype='U8')
