# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a middleware (rmw) shows of hosts and processes: the place to change for another vendor.

The middleware gives each endpoint an id that no node can choose. With DDS its first 12 octets are
those of the participant. With Fast DDS octets 2 and 3 are of the host, 4 and 5 are the low half of
the process id, and 6 and 7 are drawn when the process starts.
"""

import os

from rclpy.utilities import get_rmw_implementation_identifier

PARTICIPANT, PROCESS = 12, 8
"""Leading octets that all endpoints of one participant, of one process, have in common."""
HOST, PID = slice(2, 4), slice(4, 6)
_DDS = ('fastrtps', 'cyclonedds', 'connext', 'gurum')
_LIMITED = ('fastrtps', 'cyclonedds')
"""Middleware that keeps to this host where ROS_AUTOMATIC_DISCOVERY_RANGE says so."""
_WIDER = ('ROS_STATIC_PEERS', 'ROS_DISCOVERY_SERVER', 'FASTRTPS_DEFAULT_PROFILES_FILE',
          'FASTDDS_DEFAULT_PROFILES_FILE', 'CYCLONEDDS_URI')
"""What may reach other hosts all the same."""


def is_fast_dds() -> bool:
    """Return whether ids of endpoints name host and process, as those of Fast DDS do."""
    return 'fastrtps' in get_rmw_implementation_identifier()


def is_dds() -> bool:
    """Return whether ids of endpoints begin with that of their participant."""
    return any(name in get_rmw_implementation_identifier() for name in _DDS)


def keeps_to_host() -> bool:
    """Return whether discovery is limited to this host, and nothing is set that widens it."""
    return os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE') == 'LOCALHOST' \
        and any(name in get_rmw_implementation_identifier() for name in _LIMITED) \
        and not any(os.environ.get(name) for name in _WIDER)
