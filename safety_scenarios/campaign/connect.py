# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""How a campaign reaches its controller, and what the controller is told."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from safety_scenarios import registry
from safety_scenarios.campaign.controllers import controller_settings, EXTERNAL, plugin_of
from safety_scenarios.controllers.host import ControllerHost
from safety_scenarios.controllers.making import takes_real_time
from safety_scenarios.errors import MissingDependencyError, SettingsError
from safety_scenarios.links.loopback import hosted, LoopbackLink
from safety_scenarios.model.contracts import Link
from safety_scenarios.model.measuring import Calibration
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.settings import RunSettings

OpenLink = Callable[[Scenario], AbstractContextManager[Link]]


@dataclass(frozen=True)
class Session:
    """What reaching the controller gives a campaign."""

    open_link: OpenLink
    where: str
    """For the first line of output, such as 'ROS domain 17'."""
    ros: Mapping[str, Any] = field(default_factory=dict)
    calibrate: Callable[[], Calibration | None] = lambda: None
    definition: Callable[[str], str | None] | None = None
    """Knows the text of the .msg files that are installed."""


Connect = Callable[[RunSettings, Path], AbstractContextManager[Session]]
"""(settings, folder for the controllers' logs) to a session."""


def connection(settings: RunSettings) -> Connect:
    """
    Return how the settings say that the controller is reached.

    :raises MissingDependencyError: over ROS, and there is no ROS here
    """
    if settings.link == 'loopback':
        return loopback
    connect: Connect = from_ros('session', 'running over ROS 2',
                                '; or try --link loopback').over_ros
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
        if (error.name or '').partition('.')[0] == 'safety_scenarios':
            raise
        raise MissingDependencyError(
            feature, f'{error.name or "rclpy"} ({error})',
            'source your ROS installation, or pip install ros-jazzy-rclpy '
            f'ros-jazzy-rmw-fastrtps-cpp ros-jazzy-common-interfaces{instead}') from error


@contextmanager
def loopback(settings: RunSettings, folder: Path,
             controller: Any = None) -> Iterator[Session]:
    """
    Reach the controller in this process, in simulated time.

    :param controller: the controller, if no plug-in has the name in the settings
    :raises SettingsError: the controller is external
    """
    if settings.controller == EXTERNAL:
        raise SettingsError('controller: got external with link loopback, expected a built-in or '
                            'plug-in name. An external controller needs ROS')
    plugin = plugin_of(settings, controller)
    if takes_real_time(plugin):
        raise SettingsError(f'controller: got {settings.controller} with link loopback, where '
                            f'thinking takes no time, so that its latency would be a lie. Use '
                            f'link ros')

    @contextmanager
    def open_link(scenario: Scenario) -> Iterator[Link]:
        own = controller_settings(settings, scenario, controller=controller)
        others = {agent.id: _hosted(settings, scenario, agent.controller)
                  for agent in (scenario.agents.agents if scenario.agents else ())
                  if agent.driver == 'model'}
        with closing(LoopbackLink(hosted(plugin, own), settings.clock, others)) as link:
            yield link
    yield Session(open_link, 'this process, in simulated time')


def _hosted(settings: RunSettings, scenario: Scenario, participant: str) -> ControllerHost:
    own = controller_settings(settings, scenario, participant)
    return hosted(registry.resolve('controllers', own.controller), own)


def ros_names(settings: RunSettings) -> Sequence[str]:
    """Return the ROS arguments for namespace and remapping."""
    arguments = [part for rule in settings.remap for part in ('-r', rule)]
    if settings.namespace:
        arguments += ['-r', f'__ns:=/{settings.namespace.lstrip("/")}']
    return arguments


def full_name(settings: RunSettings) -> Callable[[str], str]:
    """Return relative topic name to full name, by remapping rules and namespace."""
    rules = dict(rule.partition(':=')[::2] for rule in settings.remap)
    space = f'/{settings.namespace.strip("/")}/' if settings.namespace.strip('/') else '/'

    def full(name: str) -> str:
        target = rules.get(name, name)
        return target if target.startswith('/') else space + target
    return full
