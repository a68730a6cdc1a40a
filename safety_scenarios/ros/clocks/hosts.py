# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether a controller runs on this host, so that both read one system clock."""

import os
from typing import Any, Literal

from rclpy.utilities import get_rmw_implementation_identifier

_WIDER = ('ROS_STATIC_PEERS', 'ROS_DISCOVERY_SERVER', 'FASTRTPS_DEFAULT_PROFILES_FILE',
          'FASTDDS_DEFAULT_PROFILES_FILE')
"""What may reach other hosts all the same."""
Hosts = Literal['auto', 'one', 'two']


def one_host(declared: Hosts, own: Any, others: list[Any]) -> tuple[bool | None, str]:
    """
    Return whether the publishers are on this host, and why; None if that cannot be known.

    Fast DDS writes a 16-bit id of the host into octets 2 and 3 of every endpoint's GUID.

    :param own: an endpoint of the evaluator, as the graph shows it
    :param others: the controller's publishers, as the graph shows them
    """
    if declared != 'auto':
        return declared == 'one', f'declared: {declared}'
    if os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE') == 'LOCALHOST' \
            and not any(os.environ.get(name) for name in _WIDER):
        return True, 'discovery is limited to this host'
    if not others:
        return None, 'nobody is connected'
    if 'fastrtps' not in get_rmw_implementation_identifier() or own is None:
        return None, 'this middleware does not tell hosts apart. Set --hosts one if it is one'
    here = bytes(own.endpoint_gid[:4])
    if all(bytes(other.endpoint_gid[:4]) == here for other in others):
        return True, 'the endpoints carry the same host id'
    return False, 'the endpoints carry different host ids'
