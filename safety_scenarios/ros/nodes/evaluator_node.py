# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``evaluator_node``: runs a campaign over ROS topics; the command line runs the same code."""

from collections.abc import Sequence
import sys

from rclpy.node import Node
from rich.console import Console
from safety_scenarios.campaign.connect import connection
from safety_scenarios.campaign.run import run as run_campaign
from safety_scenarios.campaign.signals import interruptible
from safety_scenarios.controllers.making import parameter_model
from safety_scenarios.errors import InputError, interrupted
from safety_scenarios.reports.console_report import console, tell
from safety_scenarios.reports.plain_text import speak_plainly
from safety_scenarios.ros.measuring_node import given_overrides
from safety_scenarios.ros.nodes.node_arguments import (
    refuse_foreign,
    topic_rules,
    usage,
    wants_help,
)
from safety_scenarios.ros.parameters import (
    names_of,
    NOT_PARAMETERS,
    read_settings,
    refuse_unknown_parameters,
    with_values,
)
from safety_scenarios.ros.spinning import ros_context
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.named_controller import named_controller
from safety_scenarios.trial.observer import open_outputs, OutputContext
from safety_scenarios.trial.parameters import known_parameters
from safety_scenarios.trial.summary import CampaignSummary

_NAME = RunSettings.model_fields['node_name'].default
_WHAT = ('Runs safety scenarios against a controller and judges it, as safety-scenarios run '
         'does.')
_MORE = """
Exit codes: 0 every trial PASS; 1 some FAIL; 2 wrong input or usage; 3 some INCONCLUSIVE or ERROR
and no FAIL."""


def run(settings: RunSettings) -> CampaignSummary:
    """
    Run a whole campaign and write its folder.

    :raises InputError: wrong settings or scenarios; nothing has been run then
    """
    warn = Console(stderr=True, markup=False, soft_wrap=True).print
    with open_outputs(OutputContext(settings, tell, warn)) as observers:
        return run_campaign(settings, observers, connection(settings))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings from ROS parameters, run the campaign, return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    speak_plainly((sys.stdout, sys.stderr))
    interruptible()
    try:
        if wants_help(arguments, names_of(RunSettings)):
            say(console(), usage(_NAME, _WHAT, RunSettings, NOT_PARAMETERS, _MORE))
            return 0
        return run(_settings(arguments)).exit_code
    except InputError as error:
        say(Console(stderr=True), '\n'.join(error.lines))
        return 2
    except KeyboardInterrupt as stop:
        say(Console(stderr=True), interrupted(stop))
        return 3
    except Exception as error:  # not a verdict: never exit code 1, which says that a trial failed
        say(Console(stderr=True), f'error: {error}')
        return 3


def say(screen: Console, text: str) -> None:
    """Print a text as it is, on as many lines as it has."""
    screen.print(text, markup=False, highlight=False, soft_wrap=True)


def _settings(arguments: Sequence[str]) -> RunSettings:
    """Read the parameters in a short-lived node: the domain to run in is one of them."""
    with ros_context(arguments, None) as context:
        reader = Node(_NAME, context=context)
        try:
            return given_settings(reader, arguments, _NAME, reader.get_name())
        finally:
            reader.destroy_node()


def given_settings(node: Node, arguments: Sequence[str], first_name: str, node_name: str, *,
                   read_only: bool = True) -> RunSettings:
    """
    Return the settings that a node's parameters and a process' arguments ask for.

    :param first_name: the node's name before it was remapped
    :param node_name: of the node that will measure
    :param read_only: whether the parameters can only be given when the node is started
    :raises SettingsError: a parameter is wrong or unknown, or something misses this node
    """
    name, space = node.get_name(), node.get_namespace()
    refuse_foreign(arguments, f'{space.rstrip("/")}/{name}', first_name, names_of(RunSettings))
    settings = read_settings(
        node, RunSettings, read_only, namespace=space.lstrip('/'), node_name=node_name,
        use_sim_time=bool(node.get_parameter('use_sim_time').value))
    refuse_unknown_parameters(node, RunSettings,
                              elsewhere=_of_the_controller(settings.controller))
    return with_values(settings, remap=(*settings.remap, *topic_rules(arguments, name)),
                       qos_overrides=(*settings.qos_overrides, *given_overrides(node)))


def _of_the_controller(controller: str) -> dict[str, str]:
    """Return what to do about a parameter of the controller, which is none of the evaluator."""
    try:
        plugin = parameter_model(named_controller(controller))
    except InputError:  # said later, or one that runs already
        return {}
    return {name: f'It is one of the controller {controller}: put {name}=VALUE into '
                  f'controller_parameters' for name in known_parameters(plugin)}


if __name__ == '__main__':
    sys.exit(main())
