# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which stimulus is drawn into which live stream: ``STIMULUS_TOPIC:=LIVE_TOPIC``."""

from collections.abc import Iterable
import re

MERGED = ('sensor_msgs/msg/LaserScan', 'geometry_msgs/msg/PoseArray',
          'geometry_msgs/msg/PoseStamped')
"""Interfaces into which something can be drawn."""
DRAWN, LIVE, PASSING = 'drawn_distance', 'live_distance', 'passing'
"""In the truth of what was drawn: how near it is, how near what is really there, and by how much
later (s) the live message left again than it had come."""
_NAME = r'[A-Za-z_]\w*(/[A-Za-z_]\w*)*'
_RULE = re.compile(rf'({_NAME}):=(/?{_NAME})', re.ASCII)


def read_merges(texts: Iterable[str]) -> dict[str, str]:
    """
    Return topic of a stimulus to topic of the live data that it is drawn into.

    :raises ValueError: a text is no such rule, or a topic has two
    """
    found: dict[str, str] = {}
    for text in texts:
        match = _RULE.fullmatch(text)
        if match is None:
            raise ValueError(f'got {text!r}, expected STIMULUS_TOPIC:=LIVE_TOPIC, such as '
                             f"scan:=/front/scan, with the stimulus' topic as the scenario has "
                             f'it')
        topic, live = match[1], match[3]
        if topic in found:
            raise ValueError(f'got two live topics for {topic}, {found[topic]} and {live}, '
                             f'expected one. Remove one of the two')
        if topic == live:
            raise ValueError(f'got {text!r}, expected two topics: the harness would hear itself. '
                             f'Name the topic on which the sensor publishes')
        found[topic] = live
    return found
