# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Whether both ends read one clock is only said of ends that are there."""

from types import SimpleNamespace

import pytest

RMW_NAME = 'safety_scenarios.ros.middleware.get_rmw_implementation_identifier'


def end(host: int) -> SimpleNamespace:
    return SimpleNamespace(endpoint_gid=bytes([1, 15, host, 0, *range(12)]))


@pytest.fixture
def one_host(monkeypatch):
    hosts = pytest.importorskip('safety_scenarios.ros.link.clock')
    for name in ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'FASTRTPS_DEFAULT_PROFILES_FILE'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(RMW_NAME, lambda: 'rmw_fastrtps_cpp')
    return hosts.one_host


def test_nobody_is_neither_on_one_host_nor_on_two(one_host):
    assert one_host('auto', end(1), []) == (None, 'no subscriber is connected')


def test_the_endpoints_tell_whether_it_is_one_host(one_host):
    assert one_host('auto', end(1), [end(1), end(1)])[0] is True
    assert one_host('auto', end(1), [end(1), end(2)])[0] is False
    assert one_host('two', end(1), [end(1)])[0] is False


def test_a_middleware_that_does_not_tell_is_not_told_as_two_hosts(one_host):
    assert one_host('auto', None, [end(1)])[0] is None


def test_where_the_endpoints_tell_it_is_not_asked_how_far_discovery_should_go(
        one_host, monkeypatch):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    assert one_host('auto', end(1), [end(2)])[0] is False
    assert one_host('auto', end(1), []) == (True, 'discovery is limited to this host')


@pytest.mark.parametrize(('middleware', 'wider', 'known'), [
    ('rmw_cyclonedds_cpp', '', True), ('rmw_cyclonedds_cpp', 'file:///peers.xml', None),
    ('rmw_zenoh_cpp', '', None)])
def test_a_middleware_that_hides_hosts_is_believed_where_it_keeps_to_this_one(
        one_host, monkeypatch, middleware, wider, known):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    monkeypatch.setenv('CYCLONEDDS_URI', wider)
    monkeypatch.setattr(RMW_NAME, lambda: middleware)
    assert one_host('auto', end(1), [end(2)])[0] is known


def test_a_responder_stands_beside_the_controller_on_its_host(one_host):
    from safety_scenarios.ros.link.clock import are_beside
    assert are_beside([end(2)], [end(2), end(2)])
    assert not are_beside([end(1)], [end(2)]), 'as who records all topics here'
