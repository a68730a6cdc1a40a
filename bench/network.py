# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
Two hosts on one machine: network namespaces with a wire between them, and a clock of its own.

Needs root, and ``ip``, ``unshare`` and ``nsenter``. Namespaces have no name and live as long as a
process that reads our pipe: whatever ends this one, even a kill, leaves nothing behind.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, ExitStack
from dataclasses import asdict, dataclass
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
import time
from typing import IO

from safety_scenarios.errors import MeasurementError

EVALUATOR, ROBOT = '10.77.0.1', '10.77.0.2'
INTERFACE = 'wire0'
_WIRE = Path(__file__).with_name('wire.py')
_TOOLS = ('ip', 'unshare', 'nsenter')
_READY_S = 5.0
_POLL_S = 0.005
_FAKETIME = 'faketime/libfaketime.so.1'
"""Below a folder of libraries, as Debian's package libfaketime has it."""


@dataclass(frozen=True)
class Wire:
    """
    What happens to each frame, in both directions.

    :ivar loss: share of frames that are dropped
    :ivar reorder: share of frames that overtake those before them: they are not delayed
    :ivar cut: frames that are dropped all: ``out`` to the robot, ``in`` from it, ``both``
    :ivar cut_ms: how long a cut lasts; 0: for as long as this wire does
    :ivar cut_after: begin when a frame with these octets (hexadecimal) comes; empty: at once
    :ivar cut_first: that frame is cut off too
    """

    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    loss: float = 0.0
    reorder: float = 0.0
    cut: str = ''
    cut_ms: float = 0.0
    cut_after: str = ''
    cut_first: bool = True
    seed: int = 1


@dataclass(frozen=True)
class Clock:
    """How far a host's system clock is ahead, and how much faster it goes."""

    ahead_s: float = 0.0
    ppm: float = 0.0

    def environment(self) -> Mapping[str, str]:
        """
        Return what a process of that host needs.

        :raises MeasurementError: the library that shifts a clock is not installed
        """
        if not self.ahead_s and not self.ppm:
            return {}
        library = faketime()
        if library is None:
            raise MeasurementError('libfaketime is not installed. apt-get install libfaketime, '
                                   'or name the library in FAKETIME_LIBRARY')
        return {'LD_PRELOAD': library, 'FAKETIME_DONT_FAKE_MONOTONIC': '1',
                'FAKETIME': f'{self.ahead_s:+f}s x{1 + self.ppm / 1e6:.7f}'}


def faketime() -> str | None:
    """Return the library that shifts the system clock of a process, None without it."""
    places = [os.environ.get('FAKETIME_LIBRARY', ''),
              *map(str, Path('/usr/lib').glob(f'*/{_FAKETIME}'))]
    return next((place for place in places if place and Path(place).exists()), None)


def missing() -> str | None:
    """Return why there can be no two hosts here, None if there can."""
    without = [name for name in _TOOLS if shutil.which(name) is None]
    if without:
        return f'{", ".join(without)}: not installed'
    tried = subprocess.run(['unshare', '--net', '--mount', 'ip', 'link', 'set', 'lo', 'up'],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if tried.returncode:
        return f'no network namespaces here: {tried.stderr.strip()[:200]}'
    if not os.access('/dev/net/tun', os.R_OK | os.W_OK):
        return '/dev/net/tun: cannot be opened'
    return None


class Host:
    """
    One network namespace, with shared memory of its own.

    :param address: of its end of the wire
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._holder = subprocess.Popen(
            ['unshare', '--net', '--mount', 'sh', '-c',
             'mount -t tmpfs none /dev/shm && ip link set lo up && echo ready && exec cat'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != b'ready\n':
            raise MeasurementError('no network namespace: the process that holds it has ended')

    @property
    def pid(self) -> int:
        """Process that holds the namespace."""
        return self._holder.pid

    def command(self, *arguments: str | Path) -> list[str]:
        """Return a command that runs on this host."""
        return ['nsenter', f'--net=/proc/{self.pid}/ns/net', f'--mount=/proc/{self.pid}/ns/mnt',
                f'--wdns={os.getcwd()}', '--', *map(str, arguments)]

    def run(self, *arguments: str) -> None:
        """
        Run a command to its end.

        :raises MeasurementError: it has failed
        """
        done = subprocess.run(self.command(*arguments), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise MeasurementError(f'{" ".join(arguments)}: {done.stderr.strip()}')

    @contextmanager
    def process(self, *arguments: str | Path, log: IO[str] | int | None = None,
                **variables: str) -> Iterator[subprocess.Popen[str]]:
        """
        Keep a process running on this host while the block lasts.

        Its variables are set there and not before: a library that is loaded into all of its
        processes would else leave something in the shared memory of this host.
        """
        given = [f'{name}={value}' for name, value in variables.items()]
        with subprocess.Popen(self.command('env', *given, *arguments), stdin=subprocess.PIPE,
                              text=True, stdout=log,
                              stderr=subprocess.STDOUT if log else None) as running:
            try:
                yield running
            finally:
                running.terminate()
                try:
                    running.wait(_READY_S)
                except subprocess.TimeoutExpired:
                    running.kill()

    def end(self) -> None:
        """End the namespace; processes that still run in it keep it until they end."""
        assert self._holder.stdin is not None and self._holder.stdout is not None
        self._holder.stdin.close()
        self._holder.wait(_READY_S)
        self._holder.stdout.close()


class Network:
    """The two hosts, joined by a wire that can be disturbed, or by a plain pair of interfaces."""

    def __init__(self, evaluator: Host, robot: Host,
                 wire: subprocess.Popen[str] | None = None) -> None:
        self.evaluator, self.robot, self._wire = evaluator, robot, wire

    def disturb(self, wire: Wire) -> None:
        """From now on do this to each frame."""
        assert self._wire is not None and self._wire.stdin is not None
        self._wire.stdin.write(json.dumps(asdict(wire)) + '\n')
        self._wire.stdin.flush()


@contextmanager
def two_hosts(is_disturbed: bool = True) -> Iterator[Network]:
    """
    Join two hosts while the block lasts.

    :param is_disturbed: by a process that passes each frame on, which takes 0.1 ms; False: by a
        pair of interfaces of the kernel
    """
    with ExitStack() as stack:
        hosts = []
        for address in (EVALUATOR, ROBOT):
            hosts.append(Host(address))
            stack.callback(hosts[-1].end)
        wire = None
        if is_disturbed:
            wire = stack.enter_context(_passing_on(hosts))
        else:
            hosts[0].run('ip', 'link', 'add', INTERFACE, 'type', 'veth', 'peer', 'name',
                         INTERFACE, 'netns', str(hosts[1].pid))
        for host in hosts:
            host.run('ip', 'address', 'add', f'{host.address}/24', 'dev', INTERFACE)
            host.run('ip', 'link', 'set', INTERFACE, 'up')
            host.run('ip', 'route', 'add', 'default', 'dev', INTERFACE)
        yield Network(*hosts, wire)


@contextmanager
def _passing_on(hosts: Sequence[Host]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, _WIRE, INTERFACE, *(str(host.pid) for host in hosts)],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as wire:
        try:
            assert wire.stdout is not None
            if not wire.stdout.readline():
                raise MeasurementError('the process that passes frames on has ended')
            yield wire
        finally:
            wire.terminate()


def await_line(path: Path, wanted: str, timeout_s: float = 30.0) -> None:
    """
    Wait until a log has a text.

    :raises MeasurementError: it has not in time
    """
    deadline = time.monotonic() + timeout_s
    while wanted not in path.read_text(encoding='utf-8'):
        if time.monotonic() >= deadline:
            raise MeasurementError(f'{path}: waited {timeout_s:g} s for {wanted!r}')
        time.sleep(_POLL_S)
