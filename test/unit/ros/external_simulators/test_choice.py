# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which adapter is taken, by what is on the graph; and what is said if none fits."""

from cases import for_each
import pytest
from safety_scenarios.errors import LinkTimeoutError, SettingsError
from safety_scenarios.ros.worlds.external.adapters import await_world, choose, Chosen, NEEDED

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
