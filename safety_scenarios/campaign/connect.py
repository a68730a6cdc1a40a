# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How a campaign reaches its controller."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from safety_scenarios import registry
from safety_scenarios.errors import missing_ros
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.session import LinkPlugin


def connection(settings: RunSettings) -> type[LinkPlugin]:
    """
    Return how the settings say that the controller is reached.

    :raises UnknownPluginError: there is no link of this name
    :raises MissingDependencyError: over ROS, and there is no ROS here
    """
    connect: type[LinkPlugin] = registry.resolve('links', settings.link)
    return connect


def from_ros(module: str, feature: str, instead: str = '') -> Any:
    """
    Import a module of the ROS edge, which nothing else imports.

    :param instead: what works without ROS
    :raises MissingDependencyError: there is no ROS here
    """
    try:
        return import_module(f'safety_scenarios.ros.{module}')
    except ImportError as error:
        raise missing_ros(error, feature, instead) from error


def ros_names(settings: RunSettings) -> Sequence[str]:
    """Return the ROS arguments for namespace and remapping."""
    arguments = [part for rule in settings.remap for part in ('-r', rule)]
    if settings.namespace:
        arguments += ['-r', f'__ns:=/{settings.namespace.lstrip("/")}']
    return arguments


def full_name(settings: RunSettings) -> Callable[[str], str]:
    """
    Return relative topic name to full name, by remapping rules and namespace.

    As ROS does, both sides of a rule are full names before they are compared, and the first rule
    that matches counts.
    """
    space = f'/{settings.namespace.strip("/")}/' if settings.namespace.strip('/') else '/'

    def placed(name: str) -> str:
        return name if name.startswith('/') else space + name
    rules: dict[str, str] = {}
    for rule in settings.remap:
        name, _, target = rule.partition(':=')
        rules.setdefault(placed(name.strip().removeprefix('rostopic://')), placed(target.strip()))
    return lambda name: rules.get(placed(name), placed(name))
