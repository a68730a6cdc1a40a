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
from safety_scenarios.errors import MissingDependencyError, SettingsError
from safety_scenarios.links.loopback import LoopbackLink, MakeController
from safety_scenarios.model.contracts import Link
from safety_scenarios.model.measuring import Calibration
from safety_scenarios.model.robot import RobotModel
from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.settings import ControllerSettings, RunSettings

EXTERNAL = 'external'
_LATE_FACTOR = 1.5
_TIMEOUT_SHARE = 0.8

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


def controller_settings(settings: RunSettings, scenario: Scenario) -> ControllerSettings:
    """
    Return what a built-in controller is told: its robot and its interface, never the hazard.

    Only the saboteur ``late`` and the patience of ``llm`` depend on the scenario's budget.
    """
    critical_ms = scenario.latency_budget.critical_ms
    block = scenario.ros or scenario.agents
    robot = block.robot if block else None
    topic = block.commands[0] if block and block.commands else None
    asked = topic.message if topic and topic.message != 'auto' else ''
    return ControllerSettings(
        controller=settings.controller, period_ms=settings.period_ms,
        robot=robot or RobotModel(kind='mobile_base', max_speed=1.0),
        command_topic=topic.topic if topic else '', command_type=asked or settings.command_type,
        delay_ms=critical_ms * _LATE_FACTOR, timeout_ms=critical_ms * _TIMEOUT_SHARE,
        server=settings.server)


@contextmanager
def loopback(settings: RunSettings, folder: Path,
             make: MakeController | None = None) -> Iterator[Session]:
    """
    Reach the controller in this process, in simulated time.

    :param make: makes the controller, if no plug-in has the name in the settings
    :raises SettingsError: the controller is external
    """
    if settings.controller == EXTERNAL:
        raise SettingsError('controller: got external with link loopback, expected a built-in or '
                            'plug-in name. An external controller needs ROS')
    make = make or registry.resolve('controllers', settings.controller)
    if takes_real_time(make):
        raise SettingsError(f'controller: got {settings.controller} with link loopback, where '
                            f'thinking takes no time, so that its latency would be a lie. Use '
                            f'link ros')

    @contextmanager
    def open_link(scenario: Scenario) -> Iterator[Link]:
        own = controller_settings(settings, scenario)
        others = {agent.id: (registry.resolve('controllers', agent.controller),
                             own.model_copy(update={'controller': agent.controller}))
                  for agent in (scenario.agents.agents if scenario.agents else ())
                  if agent.driver == 'model'}
        with closing(LoopbackLink(make, own, settings.clock, others)) as link:
            yield link
    yield Session(open_link, 'this process, in simulated time')


def takes_real_time(controller: Any) -> bool:
    """Return whether a controller thinks where no simulated clock can hold it."""
    return bool(getattr(controller, 'takes_real_time', False))


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
