# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A recording that does not tell when the hazard was there is refused, and never judged."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores
from safety_scenarios.campaign.rejudging.stored_trials import judge_bag
from safety_scenarios.errors import TraceError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings

NEAR_YAML = Path(__file__).parents[3] / 'config/scenarios/robotic/person_steps_near.yaml'
BEGIN_NS = 1_700_000_000 * 10**9
ONSET_MS, GONE_MS, END_MS = 3000, 9000, 10000
STORE = get_typestore(Stores.ROS2_JAZZY)
TYPES = STORE.types
Value = Callable[[float], float | None]
"""Milliseconds to a distance, or to a commanded speed; None: nothing was sent then."""


def near(t_ms: float) -> float:
    return 1.5 if ONSET_MS <= t_ms < GONE_MS else 6.0


def stops(after_ms: float, until_ms: float = GONE_MS) -> Value:
    return lambda t_ms: 0.0 if ONSET_MS + after_ms <= t_ms < until_ms else 0.8


def bag(folder: Path, distance: Value, speed: Value, storage: StoragePlugin = StoragePlugin.MCAP,
        clock: Callable[[float], float] = lambda t_ms: t_ms,
        compressed: CompressionMode = CompressionMode.NONE) -> Path:
    """Write what a recorder heard, in the order in which it came, by its own clock."""
    heard = sorted([(t_ms, '/scan', scan(value)) for t_ms in range(0, END_MS, 50)
                    if (value := distance(t_ms)) is not None]
                   + [(t_ms, '/cmd_vel', twist(value)) for t_ms in range(7, END_MS, 20)
                      if (value := speed(t_ms)) is not None], key=lambda one: one[0])
    writer = Writer(folder / 'bag', version=9, storage_plugin=storage)
    if compressed != CompressionMode.NONE:
        writer.set_compression(compressed, CompressionFormat.ZSTD)
    with writer:
        topics = {name: writer.add_connection(name, interface, typestore=STORE)
                  for name, interface in (('/scan', 'sensor_msgs/msg/LaserScan'),
                                          ('/cmd_vel', 'geometry_msgs/msg/Twist'))}
        for t_ms, name, message in heard:
            writer.write(topics[name], BEGIN_NS + round(clock(t_ms) * 1e6),
                         STORE.serialize_cdr(message, topics[name].msgtype))
    return folder / 'bag'


def scan(distance: float) -> Any:
    stamp = TYPES['builtin_interfaces/msg/Time'](sec=0, nanosec=0)
    return TYPES['sensor_msgs/msg/LaserScan'](
        header=TYPES['std_msgs/msg/Header'](stamp=stamp, frame_id='laser'), angle_min=-1.5,
        angle_max=1.5, angle_increment=0.1, time_increment=0.0, scan_time=0.05, range_min=0.05,
        range_max=30.0, ranges=numpy.full(31, distance, numpy.float32),
        intensities=numpy.array([], numpy.float32))


def twist(ahead: float) -> Any:
    vector = TYPES['geometry_msgs/msg/Vector3']
    return TYPES['geometry_msgs/msg/Twist'](linear=vector(x=ahead, y=0.0, z=0.0),
                                            angular=vector(x=0.0, y=0.0, z=0.0))


def judged(path: Path) -> TrialResult:
    [scenario] = load_scenarios([str(NEAR_YAML)]).scenarios
    return judge_bag(path, scenario, '/scan:ranges:min<=2.0', RunSettings(scenarios=('x',)))


def set_back(by_ms: float, at_ms: float) -> Callable[[float], float]:
    return lambda t_ms: t_ms - by_ms if t_ms >= at_ms else t_ms


@pytest.mark.parametrize('storage', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_the_latency_of_a_whole_recording_is_the_one_that_was(tmp_path, storage):
    latency = judged(bag(tmp_path, near, stops(600), storage)).latency
    assert latency and latency.judged_ns == 607_000_000  # commands come 7 ms after a scan


def test_a_hazard_that_came_back_was_never_known_to_be_gone(tmp_path):
    """One scan saw nobody, and the robot drove on to the person who stood there."""
    path = bag(tmp_path, lambda t_ms: 6.0 if t_ms == 4500 else near(t_ms), stops(100, 4550))
    with pytest.raises(TraceError, match=r'ranges <= 2 held again after it had ended'):
        judged(path)


def test_a_hazard_that_comes_back_after_the_all_clear_is_another_one(tmp_path):
    path = bag(tmp_path, lambda t_ms: 1.5 if t_ms == 9500 else near(t_ms), stops(100))
    latency = judged(path).latency
    assert latency and latency.judged_ns == 107_000_000


@pytest.mark.parametrize(('at_ms', 'told'), [
    (ONSET_MS - 50, 'held after a message that does not show'),
    (ONSET_MS + 1000, 'a message came that does not show whether it still holds')])
def test_a_scan_of_no_numbers_tells_neither_that_somebody_is_there_nor_that_nobody_is(
        tmp_path, at_ms, told):
    path = bag(tmp_path, lambda t_ms: float('nan') if t_ms == at_ms else near(t_ms), stops(100))
    with pytest.raises(TraceError, match=told):
        judged(path)


def test_who_comes_while_the_sensor_is_silent_came_nobody_knows_when(tmp_path):
    path = bag(tmp_path, lambda t_ms: None if 1000 < t_ms < ONSET_MS else near(t_ms), stops(100))
    with pytest.raises(TraceError, match='sent nothing for 2000 ms before the edge'):
        judged(path)


@pytest.mark.parametrize('storage', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_a_recorder_whose_clock_was_set_back_tells_no_latency(tmp_path, storage):
    path = bag(tmp_path, near, stops(600), storage, clock=set_back(500, ONSET_MS + 30))
    with pytest.raises(TraceError, match='clock of the recorder was set back'):
        judged(path)


def test_messages_that_were_written_a_little_out_of_order_are_taken(tmp_path):
    path = bag(tmp_path, near, stops(100), clock=lambda t_ms: t_ms - 0.8 * (t_ms % 100 == 47))
    latency = judged(path).latency
    assert latency and latency.judged_ns == 107_000_000


@pytest.mark.parametrize('storage', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_in_files_that_are_compressed_as_a_whole_a_clock_that_was_set_back_is_not_missed(
        tmp_path, storage):
    path = bag(tmp_path, near, stops(600), storage, clock=set_back(500, ONSET_MS + 30),
               compressed=CompressionMode.FILE)
    with pytest.raises(TraceError, match='clock of the recorder was set back'):
        judged(path)


def test_single_messages_may_be_compressed(tmp_path):
    path = bag(tmp_path, near, stops(100), StoragePlugin.SQLITE3,
               compressed=CompressionMode.MESSAGE)
    latency = judged(path).latency
    assert latency and latency.judged_ns == 107_000_000
