# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A ROS domain for one run."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
import os
import random
import socket

from safety_scenarios.errors import SettingsError

LAST_SAFE_DOMAIN = 101
"""Above it the ports of a domain overlap the ephemeral ports of Linux."""
_PORT_BASE, _PORT_STEP = 7400, 250
"""Ports as the DDS interoperability protocol reckons them."""
_FIRST_PARTICIPANT = 10
"""Offset of the first unicast port of a domain."""


@contextmanager
def chosen_domain(wanted: int, external: bool) -> Iterator[int]:
    """
    Give the domain to use: the one asked for, the external controller's, or a free one.

    Built-in controllers command at once: they never join the environment's ROS_DOMAIN_ID, in
    which a robot may listen, unless told to by name.

    A free domain is one in which no participant of this machine listens; it is held against other
    runs by a socket on a loopback port until the block ends, so nothing is left behind.

    :param wanted: -1 to choose
    :param external: the controller runs already, so without ROS_DOMAIN_ID it is in domain 0
    :raises SettingsError: ROS_DOMAIN_ID is not a number, or no domain is free
    """
    named = os.environ.get('ROS_DOMAIN_ID', '') if external else ''
    if wanted >= 0:
        yield wanted
    elif named:
        if not named.isdigit() or int(named) > 232:
            raise SettingsError(f'ROS_DOMAIN_ID: got {named!r}, expected a number from 0 to 232')
        yield int(named)
    elif external:
        yield 0
    else:
        domains = list(range(1, LAST_SAFE_DOMAIN + 1))
        random.shuffle(domains)
        for domain in domains:
            claim = _claim(domain)
            if claim is not None:
                with closing(claim):
                    yield domain
                return
        raise SettingsError('domain_id: every domain from 1 to 101 is in use. Set --domain-id')


def _claim(domain: int) -> socket.socket | None:
    """Return a socket that holds a free domain, None when it is in use."""
    base = _PORT_BASE + _PORT_STEP * domain
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            probe.bind(('', base + _FIRST_PARTICIPANT))
        except OSError:
            return None
    claim = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        claim.bind(('127.0.0.1', base))
    except OSError:
        claim.close()
        return None
    return claim
