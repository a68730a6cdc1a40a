# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The fields of an agent file as its published schema has them, and remarks about it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
import re
from typing import Any

from pydantic import BaseModel, ValidationError
from safety_scenarios.errors import UNSEEN
from safety_scenarios.formats.document.json_document import Reading
from safety_scenarios.formats.document.messages import describe
from safety_scenarios.formats.document.positions import Document, Path
from safety_scenarios.scenario.noun import Noun

MAX_TOLD = 100
"""Problems, and warnings, of one reading; a file of 90 000 mistakes is told sooner."""
RULE_TEXT, SIZE, UNBOUND, FOREIGN_TOPIC = 'F307', 'F308', 'F309', 'F310'
CONTRADICTION, GAP, SWALLOWED = 'F311', 'F312', 'F313'
_CONTROL = re.compile(r'[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]')


@dataclass(frozen=True)
class Remarks:
    """What is told about one document of a reading."""

    document: Document
    reading: Reading

    def refuse(self, path: Path, message: str, code: str = '', at_key: bool = False) -> None:
        """Tell what cannot be read as it is."""
        told = len(self.reading.problems)
        if told == MAX_TOLD:
            message = f'is not the last mistake: only {MAX_TOLD} are told. Correct those first'
        if told <= MAX_TOLD:
            self.reading.problems.append(
                self.document.problem(self._as_written(path), message, at_key, code))

    def warn(self, path: Path, message: str, code: str = '') -> None:
        """Tell what can be read, and is odd."""
        if len(self.reading.warnings) < MAX_TOLD:
            self.reading.warnings.append(self.document.problem(path, message, code=code))

    def line(self, path: Path) -> int | None:
        """Return the line in which something stands."""
        return self.document.problem(self._as_written(path), '').line

    def refuse_fields(self, prefix: Path, error: ValidationError, model: type[BaseModel]) -> None:
        """Tell every field that a model refuses."""
        found = describe(error.errors(include_url=False), model)
        for path, sentence, at_key in islice(found, MAX_TOLD + 1):
            self.refuse((*prefix, *path), sentence, at_key=at_key)

    def name(self, path: Path, text: str) -> None:
        """Refuse a name that is too long, or holds what nobody sees: it may look like another."""
        self.text(path, text, MAX_NAME, UNSEEN)

    def text(self, path: Path, text: str, longest: int,
             refused: re.Pattern[str] = _CONTROL) -> None:
        """Refuse a text that is too long or holds control characters."""
        found = refused.search(text)
        if len(text) > longest:
            self.refuse(path, f'got {len(text)} characters, expected at most {longest}. '
                              f'Shorten it', SIZE)
        elif found:
            self.refuse(path, f'got the control character U+{ord(found[0]):04X} at column '
                              f'{found.start() + 1} of the text, expected none. Remove it', SIZE)

    def count(self, path: Path, got: int, most: int, what: str) -> None:
        """Refuse too many of something."""
        if got > most:
            self.refuse(path, f'got {got} {what}, expected at most {most}. Split the file', SIZE)

    def _as_written(self, path: Path) -> Path:
        """Return a path without the index of a list that the file left out, having one entry."""
        found: Path = ()
        value: Any = self.document.data
        for step in path:
            if isinstance(step, int) and not isinstance(value, tuple):
                continue
            found = (*found, step)
            if isinstance(value, tuple) and isinstance(step, int) and step < len(value):
                value = value[step]
            elif isinstance(value, Mapping):
                value = value.get(step)
            else:
                value = ()
        return found


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
            remarks.name((key, index, 'name'), entry.name)
            remarks.text((key, index, 'description'), entry.description, MAX_DESCRIPTION)
        _double((key,), 'name', [entry.name for entry in named], remarks)
    for index, agent in enumerate(file.agents):
        _agent(('agents', index), agent, remarks)
    _double(('agents',), 'id', [agent.id for agent in file.agents], remarks)


def _agent(path: Path, agent: AgentEntry, remarks: Remarks) -> None:
    remarks.name((*path, 'id'), agent.id)
    if agent.id == '*':
        remarks.refuse((*path, 'id'), "got '*', which means everybody. Name the agent", DUPLICATE)
    remarks.name((*path, 'name'), agent.name)
    remarks.name((*path, 'role'), agent.role)
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
