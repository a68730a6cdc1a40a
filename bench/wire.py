# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
``python3 wire.py INTERFACE PID PID``: pass frames between two network namespaces, disturbed.

Each line on standard input is what happens from then on, as ``network.Wire`` has it. Ends with
standard input. The kernel's netem does the same where it is built in, and is not everywhere.
"""

import ctypes
import fcntl
import heapq
import json
import os
import random
import selectors
import struct
import sys
import time
from typing import Any

_TUNSETIFF = 0x400454CA
_TAP, _NO_INFORMATION = 0x0002, 0x1000
_NEW_NETWORK = 0x40000000
_FRAME = 65536
_APART_NS = 140_000_000
"""A sign after a longer pause is the next hazard."""
_OUT, _IN = 0, 1
_WAYS = {'': (), 'out': (_OUT,), 'in': (_IN,), 'both': (_OUT, _IN)}


def tap(interface: str, pid: int) -> int:
    """Return an open interface in the network namespace of a process."""
    with open(f'/proc/{pid}/ns/net', 'rb') as space:
        if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), f'network namespace of {pid}')
    device = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack(
        '16sH22x', interface.encode(), _TAP | _NO_INFORMATION))
    return device


class Passing:
    """
    Frames on their way.

    :param ends: the evaluator's interface and the robot's
    """

    def __init__(self, ends: tuple[int, int]) -> None:
        self._ends = ends
        self._due: list[tuple[int, int, int, bytes]] = []
        self._count = 0
        self.change({})

    def change(self, wire: dict[str, Any]) -> None:
        """Do something else from now on; what is on its way arrives."""
        self._delay_ns = round(wire.get('delay_ms', 0) * 1e6)
        self._jitter_ns = round(wire.get('jitter_ms', 0) * 1e6)
        self._loss, self._reorder = wire.get('loss', 0), wire.get('reorder', 0)
        self._ways = _WAYS[wire.get('cut', '')]
        self._cut_ns = round(wire.get('cut_ms', 0) * 1e6)
        self._sign = bytes.fromhex(wire.get('cut_after', ''))
        self._first = wire.get('cut_first', True)
        self._until_ns = -1 if self._sign else self._end_ns(time.monotonic_ns())
        self._signed_ns = 0
        self._chance = random.Random(wire.get('seed', 1))

    def _end_ns(self, now_ns: int) -> int:
        return now_ns + self._cut_ns if self._cut_ns else sys.maxsize

    def take(self, way: int) -> None:
        """Take in what has come on one end."""
        while True:
            try:
                frame = os.read(self._ends[way], _FRAME)
            except BlockingIOError:
                return
            now_ns = time.monotonic_ns()
            if self._is_cut(way, frame, now_ns) or self._chance.random() < self._loss:
                continue
            wait_ns = self._delay_ns + round(self._chance.uniform(-1, 1) * self._jitter_ns)
            if self._chance.random() < self._reorder:
                wait_ns = 0
            self._count += 1
            heapq.heappush(self._due, (now_ns + max(0, wait_ns), self._count, 1 - way, frame))

    def _is_cut(self, way: int, frame: bytes, now_ns: int) -> bool:
        if self._sign and self._sign in frame:
            is_new, self._signed_ns = now_ns - self._signed_ns > _APART_NS, now_ns
            if is_new:
                self._until_ns = self._end_ns(now_ns)
                if not self._first:
                    return False
        return way in self._ways and now_ns < self._until_ns

    def give(self) -> float | None:
        """Let arrive what is due; return how long until the next is (s), None without any."""
        while self._due:
            wait_ns = self._due[0][0] - time.monotonic_ns()
            if wait_ns > 0:
                return wait_ns / 1e9
            _, _, end, frame = heapq.heappop(self._due)
            try:
                os.write(self._ends[end], frame)
            except OSError:  # an interface that is not up yet, or is full, drops it
                pass
        return None


def main() -> None:
    """Pass on until standard input ends."""
    interface, evaluator, robot = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    ends = (tap(interface, evaluator), tap(interface, robot))
    passing = Passing(ends)
    selector = selectors.DefaultSelector()
    for way, end in enumerate(ends):
        selector.register(end, selectors.EVENT_READ, way)
    selector.register(sys.stdin, selectors.EVENT_READ)
    sys.stdout.write('ready\n')
    sys.stdout.flush()
    while True:
        for key, _ in selector.select(passing.give()):
            if key.fileobj is not sys.stdin:
                passing.take(key.data)
                continue
            lines = os.read(key.fd, _FRAME)
            if not lines:
                return
            passing.change(json.loads(lines.splitlines()[-1]))


if __name__ == '__main__':
    main()
