# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""How a campaign reaches its controller."""

from importlib import import_module
from typing import Any

from safety_scenarios import registry
from safety_scenarios.errors import missing_ros
from safety_scenarios.trial.session import LinkPlugin


def connection(name: str) -> type[LinkPlugin]:
    """
    Return the link plug-in of a name.

    :raises UnknownPluginError: there is no link of this name
    :raises MissingDependencyError: over ROS, and there is no ROS here
    """
    connect: type[LinkPlugin] = registry.resolve('links', name)
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
