# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which adapter fits what is on the graph; pure but for the looking."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
import time
from typing import Literal

from safety_scenarios.errors import LinkTimeoutError, SettingsError

OURS, STANDARD, GAZEBO = 'simulator_node', 'simulation_interfaces', 'ros_gz_interfaces'
Kind = Literal['simulator_node', 'simulation_interfaces', 'ros_gz_interfaces']
_LOOK_S = 0.05
_SETTLE_S = 0.5
"""Services of one simulator are discovered one by one, within less than this."""
NEEDED: Mapping[Kind, Mapping[str, str]] = {
    'simulation_interfaces': {
        one: f'simulation_interfaces/srv/{kind}' for one, kind in (
            ('spawn_entity', 'SpawnEntity'), ('delete_entity', 'DeleteEntity'),
            ('get_entity_state', 'GetEntityState'), ('set_entity_state', 'SetEntityState'))},
    'ros_gz_interfaces': {
        one: f'ros_gz_interfaces/srv/{kind}' for one, kind in (
            ('create', 'SpawnEntity'), ('remove', 'DeleteEntity'), ('set_pose', 'SetEntityPose'),
            ('control', 'ControlWorld'))}}
"""What each adapter cannot do without: the last part of the name, and the type."""
WHERE = (
    'ros_gz_bridge can bridge create, remove and set_pose since ros_gz 1.0.11 in Jazzy, and in '
    'Kilted and later; before, control alone. simulation_interfaces come with Gazebo from Jetty '
    'on, Isaac Sim, O3DE, and simulator_node')


@dataclass(frozen=True)
class Chosen:
    """An adapter, and below which name its services are."""

    kind: Kind
    root: str = ''


def choose(services: Mapping[str, str], has_ours: bool, wanted: str = '') -> Chosen | None:
    """
    Return who moves the world; None: nobody can.

    :param services: full name to type
    :param has_ours: whether a simulator_node listens
    :param wanted: below which name, if several are there
    :raises SettingsError: several worlds or simulators are there, and none of them was named
    """
    if has_ours and not wanted:
        return Chosen('simulator_node')
    for kind, needed in NEEDED.items():
        roots = sorted(root for root in _roots(services, needed)
                       if not wanted or root == wanted.rstrip('/'))
        if len(roots) > 1:
            raise SettingsError(
                f'world: got {len(roots)} of {kind}, below '
                f'{", ".join(root or "/" for root in roots)}, expected one. '
                f'Name it by world.services')
        if roots:
            return Chosen(kind, roots[0])
    return None


def _roots(services: Mapping[str, str], needed: Mapping[str, str]) -> set[str]:
    """Return below which names everything that is needed is served."""
    below: dict[str, set[str]] = {}
    for name, interface in services.items():
        root, _, last = name.rpartition('/')
        if needed.get(last) == interface:
            below.setdefault(root, set()).add(last)
    return {root for root, found in below.items() if found == set(needed)}


def await_world(look: Callable[[], tuple[Mapping[str, str], bool]], wanted: str,
                timeout_s: float) -> Chosen:
    """
    Wait until somebody is there who can move a world.

    :param look: services by name, and whether a simulator_node listens
    :raises LinkTimeoutError: names what was discovered, and who has what is missing
    """
    deadline, since = time.monotonic() + timeout_s, None
    while True:
        services, has_ours = look()
        now = time.monotonic()
        found = None
        if services or has_ours:
            since = now if since is None else since
            if now - since >= _SETTLE_S:
                found = choose(services, has_ours, wanted)
        if found is not None:
            return found
        if now > deadline:
            raise LinkTimeoutError(
                'world external', f'a simulator_node, or the services {_needed(wanted)}',
                timeout_s, discovered(services), f'{WHERE}. Or let --world mujoco do it.')
        time.sleep(_LOOK_S)


def _needed(wanted: str) -> str:
    root = wanted.rstrip('/') or '...'
    return ' or '.join(f'{", ".join(f"{root}/{name}" for name in needed)} of {kind}'
                       for kind, needed in NEEDED.items())


def discovered(services: Mapping[str, str]) -> str:
    """Return which services of simulators are there, in words."""
    found = sorted(f'{name} [{interface}]' for name, interface in services.items()
                   if interface.startswith((STANDARD, GAZEBO)))
    return ', '.join(found) or 'no service of a simulator'
