# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A process of ours that is slow to start."""

import time

import pytest
from safety_scenarios.ros import controller_process
from safety_scenarios.ros.controller_process import ChildProcess

pytestmark = pytest.mark.dds


def test_a_long_wait_for_a_process_is_reported_once_with_what_it_printed(
        tmp_path, monkeypatch, caplog, domain):
    monkeypatch.setattr(controller_process, '_SAY_S', 0.0)
    began_s = time.monotonic()
    child = ChildProcess(
        'the controller x', 'controller_node', domain, [], tmp_path / 'x.log').awaited(
            lambda: time.monotonic() - began_s > 0.1, 60.0)
    try:
        child.ensure_running()
    finally:
        child.stop()
    [said] = caplog.messages
    assert said.startswith('the controller x is not ready after 0 s, and is waited for up to 60 s')
    assert said.endswith('it wrote nothing')


def test_what_a_process_that_is_waited_for_prints_later_is_reported_too(
        tmp_path, monkeypatch, caplog, domain):
    monkeypatch.setattr(controller_process, '_SAY_S', 0.01)
    child = ChildProcess(
        'the controller x', 'controller_node', domain, [], tmp_path / 'x.log',
        begin='import time; time.sleep(0.5); print("waiting for the server", flush=True); input()'
        ).awaited(lambda: any('server' in one for one in caplog.messages), 20.0)
    try:
        child.ensure_running()
    finally:
        child.stop()
    assert caplog.messages[-1].endswith('its last words: waiting for the server')
