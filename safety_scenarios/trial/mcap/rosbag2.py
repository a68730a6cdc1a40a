# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The ``metadata.yaml`` beside a recording, as ``ros2 bag`` wants it.

Version 5, what Humble writes: each later release reads it too (Jazzy and Kilted write 9, whose
other form of quality of service Humble cannot read).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import yaml

_VERSION = 5
"""Of the format of ``metadata.yaml``."""
_FOREVER = {'sec': 9_223_372_036, 'nsec': 854_775_807}
_RELIABLE, _VOLATILE, _UNKNOWN_HISTORY, _AUTOMATIC = 1, 2, 3, 1
"""Numbers of the QoS policies in rmw."""
QOS = yaml.safe_dump([{
    'history': _UNKNOWN_HISTORY, 'depth': 0, 'reliability': _RELIABLE, 'durability': _VOLATILE,
    'deadline': _FOREVER, 'lifespan': _FOREVER, 'liveliness': _AUTOMATIC,
    'liveliness_lease_duration': _FOREVER, 'avoid_ros_namespace_conventions': False}])
"""Reliable and volatile, as the harness publishes; numbers as in versions up to 8."""


@dataclass
class Topic:
    """One topic of a recording."""

    name: str
    type: str  # noqa: A003
    messages: int = 0


def metadata(file: str, topics: Iterable[Topic], first_ns: int, last_ns: int) -> str:
    """
    Return the text of ``metadata.yaml``.

    :param file: name of the only file
    :param first_ns: log time of the earliest message, in ns since 1970
    """
    topics = list(topics)
    span = {'starting_time': {'nanoseconds_since_epoch': first_ns},
            'duration': {'nanoseconds': last_ns - first_ns},
            'message_count': sum(topic.messages for topic in topics)}
    return yaml.safe_dump({'rosbag2_bagfile_information': {
        'version': _VERSION, 'storage_identifier': 'mcap', **span,
        'topics_with_message_count': [
            {'topic_metadata': {'name': topic.name, 'type': topic.type,
                                'serialization_format': 'cdr', 'offered_qos_profiles': QOS},
             'message_count': topic.messages} for topic in topics],
        'compression_format': '', 'compression_mode': '', 'relative_file_paths': [file],
        'files': [{'path': file, **span}]}}, sort_keys=False)
