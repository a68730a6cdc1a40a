# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether both ends read one clock is only said of ends that are there."""

from types import SimpleNamespace

import pytest


def end(host: int) -> SimpleNamespace:
    return SimpleNamespace(endpoint_gid=bytes([1, 15, host, 0, *range(12)]))


@pytest.fixture
def one_host(monkeypatch):
    hosts = pytest.importorskip('safety_scenarios.ros.link.clock')
    monkeypatch.delenv('ROS_AUTOMATIC_DISCOVERY_RANGE', raising=False)
    monkeypatch.setattr(hosts, 'get_rmw_implementation_identifier', lambda: 'rmw_fastrtps_cpp')
    return hosts.one_host


def test_nobody_is_neither_on_one_host_nor_on_two(one_host):
    assert one_host('auto', end(1), []) == (None, 'nobody is connected')


def test_the_endpoints_tell_whether_it_is_one_host(one_host):
    assert one_host('auto', end(1), [end(1), end(1)])[0] is True
    assert one_host('auto', end(1), [end(1), end(2)])[0] is False
    assert one_host('two', end(1), [end(1)])[0] is False


def test_a_middleware_that_does_not_tell_is_not_told_as_two_hosts(one_host):
    assert one_host('auto', None, [end(1)])[0] is None
