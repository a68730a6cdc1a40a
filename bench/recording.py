# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a recording costs: processor time and bytes an event, against a bare ``json.dumps`` of it.

``recording.py [EVENTS]`` measures without ROS: blocks of four topics at 1 kHz, the bare dump and
the recording in turn, in processor time of this process. Each block is a recording of its own.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
import json
import math
from pathlib import Path
from random import Random
from statistics import median
import struct
import sys
from tempfile import TemporaryDirectory
import time

from figures import Figure, table
from safety_scenarios import registry
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.reports.console_report import show
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.trial.mcap.recording import McapWriter, read_mcap
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.trial import Trial

SCENARIO = 'SCN-R-101'
BLOCKS = 5
TOPICS, RATE_HZ = 4, 1000
_RAYS = 360
_SHARE = 0.25
_BEGIN_NS, _EPOCH_NS = 10**12, 1_700_000_000 * 10**9


def twist(index: int) -> Message:
    """Return a command of a moving base that never is the same."""
    zero = {'x': 0.0, 'y': 0.0, 'z': 0.0}
    return Message(type='geometry_msgs/msg/Twist', data={
        'linear': {**zero, 'x': 0.8 + index * 1e-9}, 'angular': {**zero, 'z': math.sin(index)}})


def scan(index: int, rounded: bool) -> Message:
    """
    Return a noisy scan of 360 rays.

    :param rounded: to what a float32 can hold, as everything is that came over ROS
    """
    noise = Random(index)
    rays = [5.0 + noise.random() for _ in range(_RAYS)]
    if rounded:
        rays = list(struct.unpack(f'{_RAYS}f', struct.pack(f'{_RAYS}f', *rays)))
    return Message(type='sensor_msgs/msg/LaserScan', data={
        'header': {'stamp': {'sec': index, 'nanosec': 0}, 'frame_id': 'laser'}, 'angle_min': 0.0,
        'angle_max': 6.25, 'angle_increment': 0.015625, 'time_increment': 0.0, 'scan_time': 0.0,
        'range_min': 0.0, 'range_max': 30.0, 'ranges': tuple(rays), 'intensities': ()})


def events(make: Callable[[int], Message], number: int) -> list[Event]:
    """Return what a link hands over of four topics at 1 kHz."""
    found = []
    for index in range(number):
        past_ns = index * 1_000_000_000 // (TOPICS * RATE_HZ)
        system_ns = _EPOCH_NS + past_ns
        found.append(Event(
            kind='command', name=f'command{index % TOPICS}', message=make(index),
            sequence=index // TOPICS + 1, stamps=Stamps(
                steady_ns=_BEGIN_NS + past_ns, system_ns=system_ns, ros_ns=system_ns,
                source_ns=system_ns - 200_000, received_ns=system_ns - 100_000)))
    return found


def dumped_us(stream: Sequence[Event]) -> float:
    """Return the processor time of a bare dump, in us an event."""
    begin_s = time.process_time()
    for event in stream:
        json.dumps(event.model_dump())
    return (time.process_time() - begin_s) / len(stream) * 1e6


def recorded_us(stream: Sequence[Event], trial: Trial, folder: Path) -> tuple[float, float]:
    """Return the processor time of a whole recording, and the longest ``add``, in us."""
    longest_s, begin_s = 0.0, time.process_time()
    with closing(McapWriter(folder, trial)) as writer:
        for event in stream:
            added_s = time.process_time()
            writer.add(event)
            longest_s = max(longest_s, time.process_time() - added_s)
        writer.finish(Measuring())
    return (time.process_time() - begin_s) / len(stream) * 1e6, longest_s * 1e6


def recording(name: str, make: Callable[[int], Message], number: int) -> list[Figure]:
    """Return what ``number`` events of one kind cost in each block."""
    [trial] = plan(load_scenarios([SCENARIO]).scenarios, controller='none', trials=1, seed=1,
                   prompt=registry.resolve('stimuli', 'prompt')())
    stream, bare, ours, longest = events(make, number), [], [], []
    with TemporaryDirectory() as folder:
        recorded_us(stream[:TOPICS], trial, Path(folder, 'warm'))
        for block in range(BLOCKS):
            bare.append(dumped_us(stream))
            took_us, longest_us = recorded_us(stream, trial, Path(folder, f'block{block}'))
            ours.append(took_us)
            longest.append(longest_us)
        last = Path(folder, f'block{BLOCKS - 1}')
        size = sum(path.stat().st_size for path in last.iterdir())
        begin_s = time.process_time()
        if list(read_mcap(last, registry.resolve).events) != stream:
            raise RuntimeError(f'bench: {name}: the recording does not give back its events')
        read_us = (time.process_time() - begin_s) / number * 1e6
    how = f'{BLOCKS} blocks of {number} events in turn with the other side, process_time'
    ratio = [took / dump for took, dump in zip(ours, bare, strict=True)]
    return [
        Figure(f'{name}: recorded', median(ours), 'us', BLOCKS,
               f'median of {how}; file opened and finished included'),
        Figure(f'{name}: bare json.dumps', median(bare), 'us', BLOCKS, f'median of {how}'),
        Figure(f'{name}: recorded / bare', median(ratio), '1', BLOCKS, f'median of {how}'),
        Figure(f'{name}: share of a core at {TOPICS} x {RATE_HZ} Hz',
               max(ours) * TOPICS * RATE_HZ / 1e6, '1', BLOCKS, f'{how}; the worst block',
               at_most=_SHARE if name == 'Twist' else None),
        Figure(f'{name}: longest add', max(longest), 'us', number * BLOCKS, how),
        Figure(f'{name}: read', read_us, 'us', number, 'the last block, plan included'),
        Figure(f'{name}: size of 100k events', size / number * 0.1, 'MB', number,
               'all files of the last block')]


def main(number: int = 20_000) -> None:
    """Measure and print."""
    for name, make, share in (
            ('Twist', twist, 1), ('LaserScan of 360 rays', lambda index: scan(index, True), 10),
            ('the same in Python floats', lambda index: scan(index, False), 10)):
        show(table(name, recording(name, make, number // share)))


if __name__ == '__main__':
    main(*map(int, sys.argv[1:]))
