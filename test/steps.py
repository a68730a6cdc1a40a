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
