# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The fields of an agent file, exactly as its published schema has them, and what that leaves."""

from collections.abc import Iterable, Sequence

from safety_scenarios.formats.agents.remarks import Remarks
from safety_scenarios.formats.document.positions import Path
from safety_scenarios.scenario.noun import Noun

MAX_NAME, MAX_TEXT, MAX_DESCRIPTION, MAX_FILE_TEXT = 200, 10_000, 1000, 100_000
"""Characters of an id or a name; of a goal; of what describes a role or a tool; of the file's."""
MAX_AGENTS, MAX_GOALS, MAX_RULES = 100, 100, 1000
"""Agents, and as many roles and tools; goals of one agent; rules."""
DUPLICATE = 'F303'


class RoleEntry(Noun):
    """A role."""

    name: str
    """What agents call it."""
    description: str = ''
    """What it is for."""


class ToolEntry(Noun):
    """A tool."""

    name: str
    """What agents call it."""
    description: str = ''
    """What it does."""


class AgentEntry(Noun):
    """An agent."""

    id: str  # noqa: A003
    """What rules and bindings call it."""
    name: str
    """What the others call it."""
    role: str
    """One of the roles."""
    goals: tuple[str, ...] = ()
    """What it wants."""


class RuleEntry(Noun):
    """A rule."""

    trigger: str
    """What must happen."""
    action: str
    """What must follow."""


class AgentFile(Noun):
    """An agent file: it accepts what the schema accepts, and nothing else."""

    description: str
    """What happens."""
    roles: tuple[RoleEntry, ...] = ()
    tools: tuple[ToolEntry, ...] = ()
    agents: tuple[AgentEntry, ...]
    """Who takes part."""
    rules: tuple[RuleEntry, ...] = ()


def check(file: AgentFile, remarks: Remarks) -> None:
    """Refuse what the schema cannot say: too much, double names, control characters."""
    remarks.text(('description',), file.description, MAX_FILE_TEXT)
    for key in ('roles', 'tools', 'agents', 'rules'):
        most = MAX_RULES if key == 'rules' else MAX_AGENTS
        remarks.count((key,), len(getattr(file, key)), most, key)
    if remarks.reading.problems:
        return
    both: tuple[tuple[str, Sequence[RoleEntry | ToolEntry]], ...] = (
        ('roles', file.roles), ('tools', file.tools))
    for key, named in both:
        for index, entry in enumerate(named):
            remarks.text((key, index, 'name'), entry.name, MAX_NAME)
            remarks.text((key, index, 'description'), entry.description, MAX_DESCRIPTION)
        _double((key,), 'name', [entry.name for entry in named], remarks)
    for index, agent in enumerate(file.agents):
        _agent(('agents', index), agent, remarks)
    _double(('agents',), 'id', [agent.id for agent in file.agents], remarks)


def _agent(path: Path, agent: AgentEntry, remarks: Remarks) -> None:
    remarks.text((*path, 'id'), agent.id, MAX_NAME)
    if agent.id == '*':
        remarks.refuse((*path, 'id'), "got '*', which means everybody. Name the agent", DUPLICATE)
    remarks.text((*path, 'name'), agent.name, MAX_NAME)
    remarks.text((*path, 'role'), agent.role, MAX_NAME)
    remarks.count((*path, 'goals'), len(agent.goals), MAX_GOALS, 'goals')
    for index, goal in enumerate(agent.goals[:MAX_GOALS]):
        remarks.text((*path, 'goals', index), goal, MAX_TEXT)


def _double(path: Path, key: str, names: Sequence[str], remarks: Remarks) -> None:
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in first:
            remarks.refuse((*path, index, key), f'got {name!r}, which is also the {key} of '
                           f'{path[0]}[{first[name]}]. Give each its own', DUPLICATE)
        first.setdefault(name, index)


def same_name(name: str, known: Iterable[str]) -> list[str]:
    """Return the known names that a rule may mean: the same, else the same but for case."""
    names = list(known)
    return [name] if name in names else [one for one in names if one.lower() == name.lower()]
