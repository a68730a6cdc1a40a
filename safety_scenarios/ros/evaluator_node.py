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

"""``evaluator_node``: runs a campaign over ROS topics; the command line runs the same code."""

from collections.abc import Sequence
import sys

from rclpy.node import Node
from rich.console import Console

from safety_scenarios.campaign.connect import connection
from safety_scenarios.campaign.run import run as run_campaign
from safety_scenarios.campaign.signals import interruptible
from safety_scenarios.errors import InputError
from safety_scenarios.model.settings import RunSettings
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.reports.console_report import console, ConsoleReport
from safety_scenarios.ros.measuring_node import given_overrides
from safety_scenarios.ros.parameters import read_settings, with_values
from safety_scenarios.ros.session import NODE_NAME
from safety_scenarios.ros.spinning import ros_context


def run(settings: RunSettings, screen: Console) -> CampaignSummary:
    """
    Run a whole campaign and write its folder.

    :raises InputError: wrong settings or scenarios; nothing has been run then
    """
    return run_campaign(settings, [ConsoleReport(screen)], connection(settings))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings from ROS parameters, run the campaign, return its exit code."""
    arguments = sys.argv if arguments is None else arguments
    interruptible()
    try:
        return run(_settings(arguments), console()).exit_code
    except InputError as error:
        Console(stderr=True).print(f'error: {error}', markup=False, highlight=False,
                                   soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 3
    except Exception as error:  # not a verdict: never exit code 1, which says that a trial failed
        Console(stderr=True).print(f'error: {error}', markup=False, highlight=False,
                                   soft_wrap=True)
        return 3


def _settings(arguments: Sequence[str]) -> RunSettings:
    """Read the parameters in a short-lived node: the domain to run in is one of them."""
    with ros_context(arguments, None) as context:
        reader = Node(NODE_NAME, context=context)
        try:
            return given_settings(reader, arguments)
        finally:
            reader.destroy_node()


def given_settings(node: Node, arguments: Sequence[str], *,
                   read_only: bool = True) -> RunSettings:
    """
    Return the settings that a node's parameters and a process' arguments ask for.

    :param read_only: whether the parameters can only be given when the node is started
    :raises SettingsError: a parameter is wrong
    """
    rules = [rule for flag, rule in zip(arguments, arguments[1:], strict=False)
             if flag in ('-r', '--remap') and not rule.startswith('__')]
    settings = read_settings(
        node, RunSettings, read_only, namespace=node.get_namespace().lstrip('/'),
        use_sim_time=bool(node.get_parameter('use_sim_time').value))
    return with_values(settings, remap=(*settings.remap, *rules),
                       qos_overrides=(*settings.qos_overrides, *given_overrides(node)))


if __name__ == '__main__':
    sys.exit(main())
