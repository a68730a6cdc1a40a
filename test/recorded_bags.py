# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Small bags as a recorder writes them: a scanner, a heartbeat, and the commands of a robot."""

import math
from pathlib import Path
from typing import Any

import numpy
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores

BEGIN_NS = 1_700_000_000 * 10**9
SCANNED_MS = (0, 51, 102, 150, 201)
BEATS_MS = (10, 110)
_STORE = get_typestore(Stores.ROS2_JAZZY)
_TYPES = _STORE.types


def write_bag(folder: Path, storage: str = 'mcap', distance: float = 8.0,
              scanned_ms: tuple[float, ...] = SCANNED_MS) -> Path:
    """
    Write a bag of a fifth of a second.

    :param distance: of everything around the scanner (m); with the n-th scan n mm more
    """
    plugin = StoragePlugin.MCAP if storage == 'mcap' else StoragePlugin.SQLITE3
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        topics = {name: writer.add_connection(name, interface, typestore=_STORE)
                  for name, interface in (('/base/scan', 'sensor_msgs/msg/LaserScan'),
                                          ('/heartbeat', 'std_msgs/msg/Bool'),
                                          ('/cmd_vel', 'geometry_msgs/msg/Twist'),
                                          ('/clock', 'rosgraph_msgs/msg/Clock'),
                                          ('/shapes', 'visualization_msgs/msg/MarkerArray'))}

        def put(name: str, t_ms: float, message: Any) -> None:
            writer.write(topics[name], BEGIN_NS + round(t_ms * 1e6),
                         _STORE.serialize_cdr(message, topics[name].msgtype))
        for number, t_ms in enumerate(scanned_ms):
            put('/base/scan', t_ms, _scan(t_ms, distance + number / 1e3))
            put('/cmd_vel', t_ms, _twist())
        for t_ms in BEATS_MS:
            put('/heartbeat', t_ms, _TYPES['std_msgs/msg/Bool'](data=True))
        put('/clock', 1, _TYPES['rosgraph_msgs/msg/Clock'](clock=_time(1)))
        put('/shapes', 2, _TYPES['visualization_msgs/msg/MarkerArray'](markers=[_marker(2)]))
    return folder


def _time(t_ms: float) -> Any:
    sec, nanosec = divmod(BEGIN_NS + round(t_ms * 1e6), 10**9)
    return _TYPES['builtin_interfaces/msg/Time'](sec=sec, nanosec=nanosec)


def _header(t_ms: float, frame: str) -> Any:
    return _TYPES['std_msgs/msg/Header'](stamp=_time(t_ms), frame_id=frame)


def _scan(t_ms: float, distance: float) -> Any:
    return _TYPES['sensor_msgs/msg/LaserScan'](
        header=_header(t_ms, 'base_scan'), angle_min=-math.pi / 2, angle_max=math.pi / 2,
        angle_increment=math.pi / 90, time_increment=0.0, scan_time=0.05, range_min=0.05,
        range_max=30.0, ranges=numpy.full(91, distance, numpy.float32),
        intensities=numpy.array([], numpy.float32))


def _twist() -> Any:
    zero, ahead = (_TYPES['geometry_msgs/msg/Vector3'](x=x, y=0.0, z=0.0) for x in (0.0, 0.5))
    return _TYPES['geometry_msgs/msg/Twist'](linear=ahead, angular=zero)


def _marker(t_ms: float) -> Any:
    zero = _TYPES['geometry_msgs/msg/Vector3'](x=0.0, y=0.0, z=0.0)
    place = _TYPES['geometry_msgs/msg/Pose'](
        position=_TYPES['geometry_msgs/msg/Point'](x=0.0, y=0.0, z=0.0),
        orientation=_TYPES['geometry_msgs/msg/Quaternion'](x=0.0, y=0.0, z=0.0, w=1.0))
    return _TYPES['visualization_msgs/msg/Marker'](
        header=_header(t_ms, 'map'), ns='', id=0, type=0, action=0, pose=place, scale=zero,
        color=_TYPES['std_msgs/msg/ColorRGBA'](r=0.0, g=0.0, b=0.0, a=0.0),
        lifetime=_TYPES['builtin_interfaces/msg/Duration'](sec=0, nanosec=0),
        frame_locked=False, points=[], colors=[], texture_resource='',
        texture=_TYPES['sensor_msgs/msg/CompressedImage'](
            header=_header(t_ms, ''), format='', data=numpy.array([], numpy.uint8)),
        uv_coordinates=[], text='', mesh_resource='',
        mesh_file=_TYPES['visualization_msgs/msg/MeshFile'](
            filename='', data=numpy.array([], numpy.uint8)),
        mesh_use_embedded_materials=False)
