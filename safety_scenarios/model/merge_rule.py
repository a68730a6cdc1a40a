# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
