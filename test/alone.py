# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Tests that talk DDS: which they are, and how many of them run at once.

Each of them carries the marker ``alone``, so that ``-m alone`` and ``-m 'not alone'`` part all
tests in two: what talks does not run beside what computes. They mostly wait, so a few of them
may run at once, in all workers and clones of this machine together: with more of them robots are
late that are not. One that measures exactly carries the marker ``exact`` and has the machine to
itself: it holds a lock of this machine alone, which the others share.
"""

from collections.abc import Iterator
from contextlib import contextmanager
import fcntl
import os
from pathlib import Path
import socket
import time
import zlib

import pytest

TESTS = Path(__file__).parent
MEASURES = 'ros'
"""Where make test looks for what measures exactly."""
PLACES = (MEASURES, 'contract/test_are_calls.py', 'contract/test_noble.py')
"""Where it looks for all that talks DDS: what is elsewhere need not be collected again."""
FIXTURES = {'rule_based_run', 'domain'}
"""Whoever uses one of these talks DDS."""
LOCK = '/dev/shm'
"""A folder that every user of the machine can open, so that the lock leaves no file behind."""
AT_ONCE = 3
"""As many as make test has workers for them."""
_AGAIN_S = 0.1


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what has to run alone, when it is found: before any selection by marker."""
    if item.path.parent.name == 'ros' or item.get_closest_marker('dds') is not None \
            or FIXTURES & _fixtures(item):
        item.add_marker(pytest.mark.alone)
        _hold_place(item, PLACES, 'talks DDS')
    if item.get_closest_marker('exact') is not None:
        _hold_place(item, (MEASURES,), 'measures exactly')


def _hold_place(item: pytest.Item, places: tuple[str, ...], what: str) -> None:
    if TESTS in item.path.parents:
        here = item.path.relative_to(TESTS)
        if not any(here.is_relative_to(place) for place in places):
            raise pytest.UsageError(f'{item.nodeid}: {what}, expected it where make test looks '
                                    f'for such tests, below test/: {", ".join(places)}')


def _fixtures(item: pytest.Item) -> set[str]:
    """Return the fixtures that a test uses, without the parameters that are only named so."""
    given = item.callspec.params if hasattr(item, 'callspec') else ()
    return set(getattr(item, 'fixturenames', ())) - set(given)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Hold the lock from before the fixtures of such a test are made until they have ended."""
    if item.get_closest_marker('alone') is None:
        yield
    elif item.get_closest_marker('exact') is not None:
        with _the_machine(fcntl.LOCK_EX):
            yield
    else:
        with _a_place(), _the_machine(fcntl.LOCK_SH):
            yield


@contextmanager
def _a_place() -> Iterator[None]:
    """Hold one of a few names of sockets, which belong to no folder and end with their process."""
    while True:
        for number in range(AT_ONCE):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as held:
                try:
                    held.bind(f'\0alone {zlib.crc32(LOCK.encode())} {number}')
                except OSError:
                    continue
                yield
                return
        time.sleep(_AGAIN_S)


@contextmanager
def _the_machine(how: int) -> Iterator[None]:
    folder = os.open(LOCK, os.O_RDONLY)
    try:
        fcntl.flock(folder, how)
        yield
    finally:
        os.close(folder)
