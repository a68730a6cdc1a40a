# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The world ``are`` of a campaign: ARE's process, the tools of its apps, and links around them."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from safety_scenarios.errors import MeasurementError, Problem, ScenarioError
from safety_scenarios.scenario.blocks.agents import Tool
from safety_scenarios.scenario.blocks.nominal_calls import AppTool, AppWorld
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.servers import AreSettings
from safety_scenarios.trial.link import Link
from safety_scenarios.trial.links.app_link import AppLink, AppProcess, text_of
from safety_scenarios.trial.session import Session

FOLDER = 'are'
"""Of a campaign: each run as ARE itself exports it."""


def with_app_tools(scenarios: Sequence[Scenario], are: AreSettings) -> tuple[Scenario, ...]:
    """
    Return scenarios with the tools that ARE's own apps have.

    :raises SettingsError: ARE is not where the settings say
    :raises ScenarioError: with every file that ARE refuses
    """
    found: list[Scenario] = []
    problems: list[Problem] = []
    with closing(AppProcess(are)) as process:
        process.check()
        for scenario in scenarios:
            try:
                found.append(scenario_with_tools(scenario, process))
            except MeasurementError as error:
                problems.append(Problem(scenario.place, None, None, 'apps', (
                    f'{error}. Fix the file: safety-scenarios scenario validate lists what ARE '
                    f'refuses')))
    if problems:
        raise ScenarioError(problems)
    return tuple(found)


@contextmanager
def with_apps(session: Session, are: AreSettings, folder: Path) -> Iterator[Session]:
    """Put ARE behind a session, and end it with the campaign; it starts with the first trial."""
    with closing(AppProcess(are)) as process:
        def opened(scenario: Scenario) -> AbstractContextManager[Link]:
            return _around(session.open_link(scenario), process, folder, scenario)
        yield replace(session, open_link=opened, where=f'{session.where}, with the apps of ARE')


@contextmanager
def _around(inner: AbstractContextManager[Link], process: AppProcess, folder: Path,
            scenario: Scenario) -> Iterator[Link]:
    with inner as link:
        yield AppLink(link, process, None if folder == Path() else folder / FOLDER / scenario.id)


def scenario_with_tools(scenario: Scenario, process: AppProcess) -> Scenario:
    """
    Return a scenario with the tools that the apps of its file have.

    :raises MeasurementError: ARE refuses the file
    """
    block = scenario.body
    assert isinstance(block, AgentsBody) and block.apps is not None  # others are refused before
    loaded = process.load(text_of(scenario))
    tools, known = [], []
    for one in loaded['tools']:
        known.append(_tool(one))
        if one['offered']:
            tools.append(Tool(name=str(one['name']), description=str(one['description']),
                              returns=None))
    missing = sorted({tool.name for tool in block.tools} - {tool.name for tool in known})
    if missing:
        raise MeasurementError(f'got calls of {", ".join(missing)}, expected tools that the apps '
                               f'of the file have')
    apps = AppWorld(tools=tuple(known), told=block.apps.told, begins_s=block.apps.begins_s,
                    user=str(loaded['user']), answered_by='are', tool_turns=block.apps.tool_turns)
    return scenario.model_copy(update={
        'body': block.model_copy(update={'tools': tuple(tools), 'apps': apps})})


def _tool(data: Any) -> AppTool:
    return AppTool(name=data['name'], key=data['key'], parameters=data['parameters'],
                   defaults=data['defaults'], writes=bool(data['write']), checks=data['checks'])
