# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which adapter is taken by what is on the graph, and worlds that it cannot show."""

from cases import for_each
import pytest
from safety_scenarios.errors import InputError, LinkTimeoutError, MeasurementError, SettingsError
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.worlds.external.adapters import await_world, choose, Chosen, NEEDED
from safety_scenarios.ros.worlds.simulator_link.link import WorldLink
from unit.records import hazard, planned

GAZEBO = {f'/world/hall/{name}': kind for name, kind in NEEDED['ros_gz_interfaces'].items()}
STANDARD = {f'/gzserver/{name}': kind for name, kind in NEEDED['simulation_interfaces'].items()}


def test_the_embedded_simulator_comes_first_then_the_standard():
    """Whoever is named is taken whatever else is there."""
    both = GAZEBO | STANDARD
    assert choose(both, has_ours=True) == Chosen('simulator_node')
    assert choose(both, has_ours=False) == Chosen('simulation_interfaces', '/gzserver')
    assert choose(both, True, '/world/hall') == Chosen('ros_gz_interfaces', '/world/hall')
    assert choose(GAZEBO, False) == Chosen('ros_gz_interfaces', '/world/hall')


def test_services_below_the_root_have_no_name_before_them():
    """As those of Isaac Sim."""
    here = {name.removeprefix('/gzserver'): kind for name, kind in STANDARD.items()}
    assert choose(here, False) == Chosen('simulation_interfaces', '')


@for_each('gone', GAZEBO)
def test_a_bridge_without_one_of_the_services_is_none(gone):
    """Nor is one whose service has another type."""
    some = {name: kind for name, kind in GAZEBO.items() if name != gone}
    assert choose(some, False) is None
    assert choose(some | {gone: 'std_srvs/srv/Empty'}, False) is None


def test_of_two_worlds_one_has_to_be_named():
    """Rather than that any of them is moved."""
    two = GAZEBO | {name.replace('hall', 'yard'): kind for name, kind in GAZEBO.items()}
    with pytest.raises(SettingsError, match='/world/hall, /world/yard.*world.services'):
        choose(two, False)
    assert choose(two, False, '/world/yard/') == Chosen('ros_gz_interfaces', '/world/yard')


def test_what_was_discovered_and_who_has_the_rest_is_said():
    """Of a bridge that is too old."""
    old = {'/world/hall/control': 'ros_gz_interfaces/srv/ControlWorld'}
    with pytest.raises(LinkTimeoutError) as raised:
        await_world(lambda: (old, False), '', 0.1)
    text = str(raised.value)
    assert '/world/hall/control [ros_gz_interfaces/srv/ControlWorld]' in text
    assert 'ros_gz 1.0.11' in text and 'simulation_interfaces' in text


class Connected:
    """The side of the controller, which is there."""

    measuring = None

    def revive(self):
        return False


class Elsewhere:
    """A world without what is asked for."""

    def reset(self, trial):
        raise InputError('ros.world: got walls, expected none. Use world mujoco for this one')


def test_what_cannot_be_shown_is_nothing_unexpected():
    link = WorldLink(Connected(), RosClock(), Elsewhere(), 1.0, lambda: None)
    with pytest.raises(MeasurementError, match=r'^the world: ros.world: got walls'):
        link.open(planned(hazard()))


_SEND = """
import rclpy
from ros_gz_interfaces.srv import SetEntityPose
from simulation_interfaces.srv import SpawnEntity
from tf2_msgs.msg import TFMessage
from rclpy.serialization import deserialize_message, serialize_message
asked = SetEntityPose.Request()
asked.entity.name, asked.pose.position.x = 'robot', 1.5
again = deserialize_message(serialize_message(asked), SetEntityPose.Request)
print(again.entity.name, again.pose.position.x, SpawnEntity.__name__, TFMessage.__name__)
"""
