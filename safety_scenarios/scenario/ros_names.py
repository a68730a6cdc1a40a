# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a relative name of a topic or service is called by ROS, after namespace and remapping."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class RosNames:
    """
    Namespace and remapping rules of a node.

    As ROS does, both sides of a rule are full names before they are compared, and the first rule
    that matches counts.
    """

    namespace: str = ''
    remap: tuple[str, ...] = ()
    """Rules ``FROM:=TO``."""
    roles: tuple[str, ...] = ()
    """Rules ``ROLE:=TOPIC`` of a robot's profile; they count after ``remap``."""

    def full(self, name: str) -> str:
        """Return the full name after namespace and remapping."""
        placed = self.unmapped(name)
        return self._rules.get(placed, placed)

    def unmapped(self, name: str) -> str:
        """Return the full name of what is named after remapping, as in the profile of a robot."""
        return name if name.startswith('/') else self.space + name

    @property
    def space(self) -> str:
        """Return what stands before a relative name."""
        inner = self.namespace.strip('/')
        return f'/{inner}/' if inner else '/'

    @property
    def arguments(self) -> Sequence[str]:
        """Return the ROS arguments that give a process the same names."""
        arguments = [part for rule in (*self.remap, *self.roles) for part in ('-r', rule)]
        if self.namespace:
            arguments += ['-r', f'__ns:=/{self.namespace.lstrip("/")}']
        return arguments

    @cached_property
    def _rules(self) -> Mapping[str, str]:
        rules: dict[str, str] = {}
        for rule in (*self.remap, *self.roles):
            name, _, target = rule.partition(':=')
            rules.setdefault(self.unmapped(name.strip().removeprefix('rostopic://')),
                             self.unmapped(target.strip()))
        return rules
