# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How much work a call does, counted and not timed: the same on every machine, under any load."""

from collections.abc import Callable
from cProfile import Profile
import sys
from types import FrameType
from typing import Any


def calls(action: Callable[[], object]) -> int:
    """Return how many functions were called, those that are written in C among them."""
    profile = Profile(subcalls=False)
    profile.runcall(action)
    return sum(entry.callcount for entry in profile.getstats())


def lines(action: Callable[[], object]) -> int:
    """Return how many lines of Python were run, one in a loop as often as it came round."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        nonlocal count
        count += event == 'line'
        return trace
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def growth(of: Callable[[int], object], size: int) -> float:
    """Return how many times the lines that twice the size takes: about 2 for linear work."""
    once = lines(lambda: of(size))
    return lines(lambda: of(2 * size)) / once
