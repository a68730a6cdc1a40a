# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The middleware (rmw): a domain for one run, its shared memory, and what ids of endpoints show.

This is the place to change for another vendor.

A participant owns a segment of its own and some ports, and maps the ports of those it sends to.
Whoever unmaps a port last removes it; one that was killed never does, so that the ports of all it
has sent to stay, too, though their owners end as they should. The names of some ports
(``fastrtps_port7005``) are those of the machine, whatever the domain.

A port that is removed while somebody still sends through it is a trap: the next participant makes
another one of that name, and never hears that sender. Who sends may be in a container that shares
our memory and not our process ids, or may be about to begin. So the kernel is asked, by a lease.

The middleware gives each endpoint an id that no node can choose. With DDS its first 12 octets are
those of the participant. With Fast DDS octets 2 and 3 are of the host, 4 and 5 are the low half of
the process id, and 6 and 7 are drawn when the process starts.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, ExitStack, suppress
import fcntl
import os
from pathlib import Path
import random
import signal
import socket

from rclpy.utilities import get_rmw_implementation_identifier
from safety_scenarios.errors import SettingsError

_FOLDER = '/dev/shm/'
_NAMES = ('fastrtps_', 'fastdds_')
_LOCK, _SHARED = '_el', '_sl'
"""Behind the name of a segment: files that its only owner, or each of several, holds open."""


def abandoned() -> set[str]:
    """Return the segments that are there, and that nobody owns, sends to or is about to open."""
    there = list[str]()
    with suppress(OSError):  # a system without shared memory, or none that we may read
        there = os.listdir(_FOLDER)
    return {name for name in map(_segment, there)
            if name.startswith(_NAMES) and _is_ours_alone(name)}


def remove_segments(segments: Iterable[str]) -> None:
    """Remove segments, but for those that somebody owns, sends to or is about to open."""
    for name in segments:
        _is_ours_alone(name, removes=True)


def _is_ours_alone(name: str, *, removes: bool = False) -> bool:
    """
    Return whether nobody has a segment open or mapped, on this machine as a whole.

    While that is found out, and while it is removed, whoever opens it waits; its mutex is what
    everybody opens first, so that who has waited finds the rest gone, and makes it anew.
    """
    files = [Path(_FOLDER, file)
             for file in (f'sem.{name}_mutex', name, name + _LOCK, name + _SHARED)]
    with ExitStack() as leases:
        try:
            for file in files:
                with suppress(FileNotFoundError):
                    _lease(leases.enter_context(open(file, 'rb', opener=_at_once)).fileno())
            for file in files if removes else ():
                file.unlink(missing_ok=True)
        except OSError:  # it is open or mapped, or is somebody else's
            return False
    return True


def _at_once(file: str, flags: int) -> int:
    """Open a file without waiting, as for a pipe, or for the lease of another program."""
    return os.open(file, flags | os.O_NONBLOCK | os.O_NOFOLLOW)


def _lease(file: int) -> None:
    """Let everybody who opens a file wait until we close it."""
    fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)  # tells that one waits; else it would end us
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)


def _segment(file: str) -> str:
    file = file.removeprefix('sem.').removesuffix('_mutex')
    return file.removesuffix(_LOCK).removesuffix(_SHARED)


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
