# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Who takes part and who plays them, their tools, and what the script lets them say."""

from collections.abc import Mapping, Sequence
import json
from typing import Any

from safety_scenarios.errors import did_you_mean, InputError
from safety_scenarios.formats.agents.bindings import Bindings
from safety_scenarios.formats.agents.file import AgentFile, Remarks, SIZE
from safety_scenarios.formats.agents.symbols import Cast
from safety_scenarios.formats.document.json_document import Resolve
from safety_scenarios.formats.document.messages import show
from safety_scenarios.scenario.blocks.agents import Agent, Line, Say, Tool, ToolResult
from safety_scenarios.scenario.noun import is_unseen

SUT_ROLES = ('assistant', 'controller', 'robot', 'sut')
MAX_RETURNS = 100_000
"""Characters; each live agent may hear it with every call."""
_SHOWN = 200
"""Characters of a list in a message."""
_PAUSE_MS = 500.0
"""Between the deadline of an answer and the next thing that is said."""


class Participants:
    """Who plays which agent; ``not_runnable`` says what keeps the scenario from being run."""

    def __init__(self, file: AgentFile, bindings: Bindings, remarks: Remarks, side: Remarks,
                 resolve: Resolve) -> None:
        self._file = file
        self._bindings = bindings
        self._remarks = remarks
        self._side = side
        self.not_runnable: list[str] = []
        self._roles()
        self.sut = self._sut()
        self.agents = tuple(self._agent(index, resolve) for index in range(len(file.agents)))
        self._check_participants()
        self.tools = tuple(self._tool(tool.name, tool.description) for tool in file.tools)
        self._check_tools()

    @property
    def cast(self) -> Cast:
        """Return the ids of those who are there."""
        others = [agent for agent in self.agents if agent.id != self.sut]
        return Cast(self.sut, tuple(agent.id for agent in others),
                    tuple(agent.id for agent in others if agent.driver == 'script'),
                    tuple(agent.id for agent in self.agents if agent.is_live))

    def script(self, critical_ms: float) -> tuple[Line, ...]:
        """
        Return what is said when: the script, else every goal of those whom the harness plays.

        :param critical_ms: the longest time that an answer to a goal may take
        """
        if self._bindings.script is not None:
            return self._bound_script()
        goals = [(agent.id, goal) for agent in self.agents if agent.driver == 'script'
                 for goal in agent.goals if goal.strip()]
        step_ms = critical_ms + _PAUSE_MS
        return tuple(Line(at_ns=round(index * step_ms * 1e6), say=Say(agent=agent, text=goal))
                     for index, (agent, goal) in enumerate(goals))

    def _blocked(self, remarks: Remarks, path: tuple[str | int, ...], message: str,
                 code: str) -> None:
        """Tell what can be described and not be run."""
        remarks.warn(path, message, code)
        self.not_runnable.append(f'{code}: {message}')

    def _roles(self) -> None:
        if not self._file.agents:
            self._blocked(self._remarks, ('agents',), 'has no agent. Add one', 'F304')
        for kind, key, names in (
                ('roles', 'name', [role.name for role in self._file.roles]),
                ('tools', 'name', [tool.name for tool in self._file.tools]),
                ('agents', 'id', [agent.id for agent in self._file.agents])):
            for index, name in enumerate(names):
                if is_unseen(name):
                    self._blocked(self._remarks, (kind, index, key), 'got a blank text, expected '
                                  'a name. Fill it in', SIZE)
        declared = [role.name for role in self._file.roles]
        taken = {agent.role for agent in self._file.agents}
        for index, name in enumerate(declared):
            if name not in taken:
                self._remarks.warn(('roles', index, 'name'), f'no agent has the role '
                                   f'{show(name)}. Give it to one, or remove it', 'F301')
        for index, agent in enumerate(self._file.agents):
            if declared and agent.role not in declared:
                known = ', '.join(declared)[:_SHOWN] or 'none'
                self._blocked(self._remarks, ('agents', index, 'role'), f'got {show(agent.role)}, '
                              f'expected one of the roles: {known}. Describe it under roles'
                              f'.{did_you_mean(agent.role, declared)}'.rstrip('.'), 'F302')

    def _sut(self) -> str:
        ids = [agent.id for agent in self._file.agents]
        wanted = self._bindings.sut
        if wanted is not None:
            if wanted not in ids:
                self._side.refuse(('sut',), _no_agent(wanted, ids))
            return wanted
        found = [agent.id for agent in self._file.agents
                 if agent.role.strip().lower() in SUT_ROLES]
        if len(found) == 1:
            return found[0]
        if ids:
            self._blocked(self._remarks, ('agents',), f'got {len(found)} agents whose role is one '
                          f'of {", ".join(SUT_ROLES)}, expected one, which the controller under '
                          f'test takes. Name it in the bindings: sut: {ids[-1][:60]}', 'F306')
        return ''

    def _agent(self, index: int, resolve: Resolve) -> Agent:
        entry = self._file.agents[index]
        played = self._bindings.participants.get(entry.id)
        if played is not None and entry.id == self.sut:
            self._side.refuse(('participants', entry.id), 'got an entry for the controller under '
                              'test, expected entries for the other agents only. Remove it')
        if played is not None and played.controller is not None:
            try:
                resolve('controllers', played.controller)
            except InputError as error:
                self._side.refuse(('participants', entry.id, 'controller'), str(error))
        fields = entry.model_dump()
        if entry.id == self.sut:
            return Agent(**fields, driver='sut')
        if played is None:
            return Agent(**fields)
        return Agent(**fields, driver=played.driver, controller=played.controller or '')

    def _check_participants(self) -> None:
        ids = [agent.id for agent in self._file.agents]
        for name in self._bindings.participants:
            if name not in ids:
                self._side.refuse(('participants', name), _no_agent(name, ids), at_key=True)

    def _tool(self, name: str, description: str) -> Tool:
        block = self._bindings.tools.get(name)
        if block is None:
            return Tool(name=name, description=description)
        taken = {agent.role for agent in self._file.agents}
        for index, role in enumerate(block.allow or ()):
            if role not in taken and role not in [one.name for one in self._file.roles]:
                self._side.refuse(('tools', name, 'allow', index), f'got {show(role)}, which is '
                                  f'no role.{did_you_mean(role, taken) or " Correct it"}')
        if block.allow is not None and taken and not taken.intersection(block.allow):
            self._blocked(self._side, ('tools', name, 'allow'), f'nobody may use the tool '
                          f'{show(name)}. Allow a role that an agent has', 'F305')
        place = ('tools', name, 'mock', 'returns')
        results = []
        for index, one in enumerate((block.mock, *block.mock.then)):
            fault = _not_json(one.given)
            if fault:
                self._side.refuse(place if not index else (*place[:-1], 'then', index - 1), fault)
            results.append(ToolResult(returns=one.given, after_ns=round(one.after_ms * 1e6)))
        is_plain = results == [ToolResult(returns=block.mock.returns)]
        return Tool(name=name, description=description, allow=block.allow,
                    arguments=block.arguments, returns=results[0].returns,
                    results=() if is_plain else tuple(results))

    def _check_tools(self) -> None:
        known = [tool.name for tool in self._file.tools]
        for name in self._bindings.tools:
            if name not in known:
                self._side.refuse(('tools', name), f'got {show(name)}, expected one of the tools: '
                                  f'{", ".join(known)[:_SHOWN] or "none"}.'
                                  f'{did_you_mean(name, known)}', at_key=True)

    def _bound_script(self) -> tuple[Line, ...]:
        lines, end_ms = [], self._bindings.duration_ms
        for index, line in enumerate(self._bindings.script or ()):
            if end_ms is not None and line.at_ms >= end_ms:
                self._side.refuse(('script', index, 'at_ms'), f'got {line.at_ms:g} ms, expected '
                                  f'less than duration_ms {end_ms:g}: the run is over before it '
                                  f'is said. Lower it, or raise duration_ms')
            if line.agent not in self.cast.scripted:
                self._side.refuse(('script', index, 'agent'), f'got {show(line.agent)}, expected '
                                  f'one whom the harness plays: '
                                  f'{", ".join(self.cast.scripted)[:_SHOWN] or "nobody"}')
            lines.append(Line(at_ns=round(line.at_ms * 1e6), say=Say(
                agent=line.agent, text=line.say, symbol=line.symbol)))
        return tuple(sorted(lines, key=lambda line: line.at_ns))


def _no_agent(name: str, ids: Sequence[str]) -> str:
    return (f'got {show(name)}, expected the id of an agent: {", ".join(ids)[:_SHOWN] or "none"}.'
            f'{did_you_mean(name, ids)}')


def _not_json(value: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return 'got a date, a number that is not finite or the like, expected what JSON can say'
    return f'got {len(text)} characters, expected at most {MAX_RETURNS}. Shorten it' \
        if len(text) > MAX_RETURNS else ''
