# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Transforms that cannot be published here matter to a node that subscribes to them alone."""

from collections import Counter
from types import SimpleNamespace

from safety_scenarios.ros.worlds.embedded import commanders


def test_a_missing_package_is_named_once_a_node_subscribes_to_transforms(monkeypatch):
    def missing(interface):
        raise ModuleNotFoundError(interface)
    monkeypatch.setattr(commanders, 'interface_class', missing)
    subscribers, warned = Counter(), []
    frames = commanders.RobotFrames(SimpleNamespace(
        count_subscribers=subscribers.__getitem__,
        get_logger=lambda: SimpleNamespace(warning=warned.append)))
    frames.announce((), 0)
    assert warned == []
    subscribers['/tf'] = 1
    frames.announce((), 0)
    frames.announce((), 0)
    assert len(warned) == 1 and 'apt install ros-$ROS_DISTRO-tf2-msgs' in warned[0]
