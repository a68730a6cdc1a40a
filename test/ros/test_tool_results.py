# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A result of a tool that takes a while does not leave after its trial, nor after a stop."""

import time

import pytest
from ros.test_agents import BLOCK, until, wire  # noqa: F401
from safety_scenarios.ros.link.stopped_link import Stop
from safety_scenarios.scenario.blocks.agents import Tool, ToolResult
from safety_scenarios.trial.link import leave_at_once

pytestmark = pytest.mark.dds


def slow_tool(wire, after_ms=200):  # noqa: F811
    """Begin a trial with a tool that takes a while, and call it; return the trial."""
    slow = Tool(name='search', results=(ToolResult(returns={'found': 1},
                                                   after_ns=after_ms * 1_000_000),))
    trial = wire.trial(BLOCK.model_copy(update={'tools': (slow,)}))
    wire.link.open(trial)
    wire.heard.clear()
    wire.send(kind='tool_call', name='search', trial_id=trial.trial_id)
    [call] = wire.events(1)
    assert call.kind == 'tool_call'
    return trial


def test_a_result_that_waits_does_not_leave_after_its_trial(wire):  # noqa: F811
    trial = slow_tool(wire)
    wire.link.disarm()
    assert not wire.received(400_000_000) and not wire.heard
    wire.send(kind='tool_call', name='search', trial_id=trial.trial_id)
    assert [event.kind for event in wire.events(1)] == ['tool_call']
    assert not wire.received(300_000_000) and not wire.heard


def test_a_result_leaves_only_if_the_gate_lets_it_and_tries_again_until_then(wire):  # noqa: F811
    stop = Stop()
    wire.link.let_by(stop.let)
    try:
        with stop.leaving():  # as while the main thread publishes
            slow_tool(wire, after_ms=50)
            time.sleep(0.3)
            assert not wire.heard
        until(lambda: wire.heard)
        assert wire.heard[0].args == {'found': 1}
        wire.events(1)
        slow_tool(wire, after_ms=500)
        stop.ask()
        assert not wire.received(800_000_000) and not wire.heard
        wire.link.disarm()
    finally:
        wire.link.let_by(leave_at_once)
