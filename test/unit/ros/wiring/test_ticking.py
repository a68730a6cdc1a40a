# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In real time the actions of a chunk follow each other at the rate of their contract."""

import time
from typing import Any

from cases import for_each
import pytest
from unit.controllers.observations import pose, seen
from unit.controllers.policies.test_chunks import BASE, PERIOD_MS, policy

pytest.importorskip('rclpy')
from safety_scenarios.ros.nodes.controller_node import tick_until  # noqa: E402

LAST_S = 8.0


class Clock:
    """A steady clock that waiting and inferring move on, and that ends after some seconds."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.end_s = self.now_s + LAST_S

    def sleep(self, seconds: float) -> None:
        self.now_s += max(0.0, seconds)

    def wait(self, seconds: float) -> bool:
        self.sleep(seconds)
        return self.now_s >= self.end_s


class Node:
    """Ticks as a node does, and keeps when each command was published (ms), and its stamps."""

    def __init__(self, made: Any, clock: Clock) -> None:
        self.settings, self.period_ns = made.context, made.period_ns
        self.found: list[tuple[float, Any]] = []
        self._made, self._clock = made, clock

    @property
    def begins_chunk(self) -> bool:
        return bool(self._made.begins_chunk)

    def tick(self) -> None:
        told = self._made.decide(seen(self._clock.now_s * 1e3, human_pose=pose(6.0)))
        self.found.append((self._clock.now_s * 1e3, told.stamps))


def played(horizon: int, d_ms: float, **terms: Any) -> list[tuple[float, Any]]:
    """Return when each command was published (ms), and its stamps."""
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, 'monotonic', lambda: clock.now_s)
        patch.setattr(time, 'monotonic_ns', lambda: round(clock.now_s * 1e9))
        patch.setattr(time, 'sleep', clock.sleep)
        node: Any = Node(policy(horizon, d_ms, BASE, 'steady', **terms), clock)
        tick_until(clock, node)  # type: ignore[arg-type]
    return node.found


@for_each(('horizon', 'd_ms', 'terms'), [
    (horizon, d_ms, terms) for horizon in (2, 8) for d_ms in (0.0, 30.0, 100.0, 130.0)
    for terms in ({}, {'replan_interval': 2})])
def test_no_action_of_a_chunk_is_cut_short_by_a_late_inference(horizon, d_ms, terms):
    found = played(horizon, d_ms, **terms)
    gaps = [after - before for (before, one), (after, other) in zip(found, found[1:], strict=False)
            if one.chunk == other.chunk]
    assert gaps == pytest.approx([PERIOD_MS] * len(gaps))
    asked = [stamps.began_ns / 1e6 for _, stamps in found if stamps.index == 0]
    cycles = [after - before for before, after in zip(asked, asked[1:], strict=False)]
    interval = terms.get('replan_interval', horizon)
    assert cycles == pytest.approx([interval * PERIOD_MS + d_ms] * len(cycles))


@for_each(('d_ms', 'cycle_ms'), [(0.0, 50), (30.0, 50), (100.0, 100), (130.0, 130)])
def test_a_policy_of_single_actions_is_asked_again_at_once_when_it_was_late(d_ms, cycle_ms):
    times = [at_ms for at_ms, _ in played(1, d_ms)]
    assert [after - before for before, after in zip(times, times[1:], strict=False)] == \
        pytest.approx([cycle_ms] * (len(times) - 1))
