# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Where a robot is really there, the node that publishes stimuli has no other publisher."""

import pytest
from safety_scenarios.errors import InterlockError
from safety_scenarios.ros.measuring_node import MeasuringNode
from safety_scenarios.ros.spinning import ros_context
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import plan_link
from std_msgs.msg import Empty

pytestmark = pytest.mark.dds


def test_a_publisher_that_is_not_listed_is_never_made(domain):
    settings = RunSettings(hil=HilSettings(enabled=True, publishes=('/scan_in',)))
    with ros_context(['--ros-args', '-r', 'scan:=/scan_in', '-r', '/tf_static:=/go'],
                     domain) as context:
        node = MeasuringNode('measuring', context, plan_link(settings))
        node.create_publisher(Empty, 'scan', 1)
        for topic, told in (('other', '/other'), ('/tf_static', '/go')):
            with pytest.raises(InterlockError, match=f'{told}: .* expected one of /scan_in'):
                node.create_publisher(Empty, topic, 1)
        assert {known.topic_name for known in node.publishers} == {
            '/parameter_events', '/scan_in', '/calibration/presence'}
        node.destroy_node()
