# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``campaign participate``: a person among the agents of a scenario."""

import json
import sys
from typing import Any

import click
from pydantic import ValidationError
from safety_scenarios.campaign.open_session import from_ros
from safety_scenarios.campaign.remaps import refuse_rules
from safety_scenarios.campaign.signals import interruptible
from safety_scenarios.cli.options import build, setting_options
from safety_scenarios.scenario.blocks.agents import AGENTS, ros_token

_TOOL = '/tool'


@click.command()
@click.argument('agent_id')
@setting_options('namespace', 'remap', 'domain_id')
def participate(agent_id: str, **values: Any) -> None:
    r"""
    Take part as an agent whose driver is human: read its messages, and type its answers.

    Each line is said to everybody. /tool NAME {JSON} calls a tool. Ctrl-D (the end of input) and
    Ctrl-C leave; a trial that is still running then ends as an error. Start this command before
    the campaign, in the same ROS domain.

    \b
    safety-scenarios campaign participate a1 --domain-id 17
    """
    settings = build(values)
    space = f'{AGENTS}/{ros_token(agent_id)}'
    refuse_rules(settings.remap, (f'{space}/in', f'{space}/out'), settings.namespace)
    taking_part = from_ros('nodes.participant_node', 'taking part').taking_part
    interruptible()
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(errors='backslashreplace')  # type: ignore[union-attr]
    try:
        with taking_part(agent_id, settings.names.arguments, settings.domain_id, _show) as node:
            _show(f'{agent_id} waits for a trial')
            node.begun.wait()
            for line in iter(sys.stdin.readline, ''):
                if line.strip():
                    _say(node, line.strip())
    except KeyboardInterrupt:
        pass


def _say(node: Any, line: str) -> None:
    try:
        if line.partition(' ')[0] == _TOOL:
            name, args = _call(line)
            node.speak('tool_call', name=name, args=args)
        else:
            node.speak('say', text=line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        click.echo(f'not sent: {first["loc"][0]}: {first["msg"]}', err=True)
    except ValueError as error:
        click.echo(f'not sent: {error}', err=True)


def _call(line: str) -> tuple[str, dict[str, Any]]:
    """Return name and arguments of a tool call."""
    _, name, text = (*line.split(maxsplit=2), '', '')[:3]
    try:
        args = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        args = None
    if not name or not isinstance(args, dict):
        raise ValueError(f'got {line[:100]}, expected {_TOOL} NAME, or {_TOOL} NAME {{"key": 1}}')
    return name, args


def _show(line: str) -> None:
    """Print a line; what a terminal might obey is shown and not sent there."""
    click.echo(''.join(one if one.isprintable() else one.encode('unicode_escape').decode('ascii')
                       for one in line))
