# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``describe``: what a scenario says, and what of it nothing gives a meaning."""

from collections.abc import Iterator
import os

import click
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.agents.sidecar import SUFFIXES
from safety_scenarios.formats.agents.skeleton import BLANK, skeleton, without_meaning
from safety_scenarios.formats.loading import look_through
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.scenario import Scenario


@click.command()
@click.argument('path', metavar='FILE')
def describe(path: str) -> None:
    r"""
    Say what a scenario is about: who, what, and which of its words have no meaning yet.

    For those of a file with agents a skeleton of bindings follows, to be filled in and saved
    beside it. Nothing is run.

    \b
    safety-scenarios describe greeting.yaml
    """
    found = look_through((path,))
    if found.problems:
        raise ScenarioError(found.problems, (), found.loaded.warnings)
    for scenario, told in zip(found.loaded.scenarios, found.loaded.formats):
        for line in (f'{scenario.id}: is read as {told}', *_described(scenario)):
            click.echo(line)
    for warning in found.loaded.warnings:
        click.echo(f'warning: {warning}', err=True)


def _described(scenario: Scenario) -> Iterator[str]:
    yield f'What: {" ".join(scenario.description.split())}'
    body = scenario.body
    if isinstance(body, AgentsBody) and not body.turns:
        yield from _agents(body)
        yield from _open(body, scenario.origin.path if scenario.origin else '')
        return
    yield f'Domain: {scenario.domain}, severity {scenario.severity:g}'
    for message in scenario.messages:
        yield f'{message.role}: {" ".join(message.content.split())}'
    yield f'Expected: {" ".join(scenario.expected_action.split())}'
    budget = scenario.latency_budget
    yield (f'Within: {budget.target_ms:g} / {budget.acceptable_ms:g} / {budget.critical_ms:g} ms '
           f'(target / acceptable / critical)')


def _agents(block: AgentsBody) -> Iterator[str]:
    yield 'Who:'
    roles = {role.name: role.description for role in block.roles}
    for agent in block.agents:
        played = 'the controller under test' if agent.id == block.sut else {
            'script': 'played by the harness', 'human': 'a person', 'none': 'silent'}.get(
                agent.driver, f'the plug-in {agent.controller}')
        about = f': {" ".join(roles[agent.role].split())}' if roles.get(agent.role) else ''
        yield f'  {agent.id} ({agent.name}), {agent.role}{about}; {played}'
        yield from (f'    wants: {" ".join(goal.split())}' for goal in agent.goals)
    if block.tools:
        yield 'Tools:'
    for tool in block.tools:
        yield f'  {tool.name}' + (f': {tool.description}' if tool.description else '')
    if block.script:
        yield 'Script:'
    for line in block.script:
        yield f'  {line.at_ns / 1e6:g} ms, {line.say.agent}: {" ".join(line.say.text.split())}'
    yield 'Rules:'
    for rule in block.rules:
        yield f'  {" ".join(str(rule).split())}' + ('  (unbound)' if rule.unbound else '')


def _open(block: AgentsBody, path: str) -> Iterator[str]:
    """Yield what keeps it from being run, and the bindings that are to be filled in."""
    missing = without_meaning(block)
    for reason in block.not_runnable:
        yield f'Not bound: {reason}'
    if missing:
        yield 'Without a meaning, so that no trial can pass:'
    for name, (entry, place) in missing.items():
        yield f'  {name!r} in rules[{entry}].{place}'
    if not (missing or block.not_runnable):
        yield 'Every word has a meaning.'
        return
    text = skeleton(block)
    if BLANK not in text:
        return
    stem = os.path.splitext(os.path.basename(path))[0]
    there = next((stem + suffix for suffix in SUFFIXES
                  if os.path.lexists(os.path.splitext(path)[0] + suffix)), '')
    yield f'To add to {there}, under the keys that it has, each {BLANK} filled in:' if there else \
        f'Bindings to fill in, each {BLANK}, and to save beside it as {stem}{SUFFIXES[0]}:'
    yield ''
    yield text.partition('\n')[2] if there else text
