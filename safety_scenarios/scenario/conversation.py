# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What agents send each other, and what a live agent has received and said so far."""

from collections.abc import Mapping
import json
from typing import Any, Literal

from pydantic import Field, ValidationError
from safety_scenarios.errors import in_words
from safety_scenarios.scenario.blocks.agents import Agent
from safety_scenarios.scenario.body import AgentsBody, system_text
from safety_scenarios.scenario.event import Event, LONGEST_CAUSE, Stamps, truncation
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.noun import Noun

INTERFACE = 'std_msgs/msg/String'
BRIEF = 'brief'
"""Name of the event by which a participant learns its role; it begins a new conversation."""
FAILED = 'failed'
"""Name of the event by which a participant says that it could not take its turn, and why."""
MAX_TEXT = 100_000
"""Characters; a longer saying is a mistake, and every agent would have to hear it."""
MAX_NAME = 200
"""Characters of the name of a tool or of an event."""
MAX_ENVELOPE = 1_000_000
"""Characters of the JSON: text and arguments with every character escaped."""


class Envelope(Noun):
    """One message of an agent to others."""

    v: Literal[1] = 1
    trial_id: str = Field(default='', max_length=500)
    """The trial it belongs to; copy it from what you answer."""
    seq: int = Field(default=0, ge=0)
    """The sender's own count in this trial."""
    sender: str = Field(default='', alias='from', max_length=200)
    """The agent's id."""
    to: tuple[str, ...] = Field(default=('*',), max_length=1000)
    """Ids of those addressed; ``*`` is everybody."""
    kind: Literal['say', 'tool_call', 'tool_result', 'cmd', 'event']
    name: str = Field(default='', max_length=MAX_NAME)
    """Tool or event."""
    text: str = Field(default='', max_length=MAX_TEXT)
    truncated_by: str = Field(default='', max_length=LONGEST_CAUSE)
    """By what the text was cut off, such as ``max_tokens``; empty: it is whole."""
    args: Mapping[str, Any] = {}
    """Arguments of a call, or what it gave back."""
    t_ns: int = 0
    """The sender's system time, reported and never judged."""

    model_config = {'populate_by_name': True}

    def to_json(self) -> str:
        """Return the text to publish."""
        data = self.model_dump(by_alias=True)
        if not self.truncated_by:
            del data['truncated_by']
        return json.dumps(data, ensure_ascii=False)


def read_envelope(text: str) -> Envelope:
    """
    Return the envelope that a message holds.

    :raises ValueError: it holds none; the text says why
    """
    if len(text) > MAX_ENVELOPE:
        raise ValueError(f'got {len(text)} characters, expected at most {MAX_ENVELOPE}')
    try:
        data = json.loads(text)
        if isinstance(data, dict) and isinstance(data.get('to'), list):
            data['to'] = tuple(data['to'])
        return Envelope.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = '.'.join(str(step) for step in first['loc'])
        raise ValueError(f'{where}: {first["msg"]}') from None
    except RecursionError:
        raise ValueError('got JSON that is nested too deeply') from None


MAX_MESSAGES = 200
"""What is longer ago than so many messages is forgotten, but never the system text."""
MAX_TOOL_TURNS = 8
"""So many turns in a row may come from results of tools: a call can lead to a call for ever."""
_EVERYBODY = '*'


class Utterance(Noun):
    """One thing that an agent does in its turn."""

    kind: Literal['say', 'tool_call']
    text: str = Field(default='', max_length=MAX_TEXT)
    """say: the words."""
    truncated_by: str = Field(default='', max_length=LONGEST_CAUSE)
    """say: by what they were cut off, such as ``max_tokens``; empty: they are whole."""
    name: str = Field(default='', max_length=MAX_NAME)
    """tool_call: which tool."""
    args: Mapping[str, Any] = {}
    """tool_call: its arguments, as JSON can say them."""


class Turn(Noun):
    """Everything an agent knows when it is its turn."""

    messages: tuple[ChatMessage, ...]
    """
    The system text, if there is one; sayings of others (role user, ``Name: text``, of one without
    a name the text alone), its own (assistant), its calls (assistant, ``tool_call NAME {...}``)
    and their results (tool, ``tool_result NAME {...}``).
    """
    tools: tuple[tuple[str, str], ...] = ()
    """Name and description of each tool that it may call."""
    parameters: Mapping[str, Mapping[str, Any]] = {}
    """Name of a tool to its arguments as JSON schema, of those whose arguments are known."""
    heard: Envelope
    """What made it its turn: a saying, or the result of a tool."""


class Conversation:
    """
    One agent's side of one trial after the other. Not for several threads at once.

    :param agent_id: who listens; empty: whom the brief is addressed to
    """

    def __init__(self, agent_id: str = '') -> None:
        self._wanted = self.agent_id = agent_id
        self._trial_id: str | None = None
        self._system: tuple[ChatMessage, ...] = ()
        self._messages: list[ChatMessage] = []
        self._tools: tuple[tuple[str, str], ...] = ()
        self._parameters: Mapping[str, Mapping[str, Any]] = {}
        self._most_tool_turns = MAX_TOOL_TURNS
        self._names: Mapping[str, str] = {}
        self._spoken = self._tool_turns = 0

    def receive(self, envelope: Envelope) -> Turn | None:
        """
        Take what was heard, and return the turn that it makes.

        None for a brief, which begins a new conversation, for what is its own, of another trial,
        or for somebody else, and when too many results of tools came in a row.

        :raises ValueError: a brief that does not say who is there, or what may be called
        """
        if envelope.kind == 'event' and envelope.name == BRIEF:
            self._begin(envelope)
            return None
        if envelope.trial_id != self._trial_id or envelope.sender == self.agent_id \
                or not {_EVERYBODY, self.agent_id} & set(envelope.to):
            return None
        if envelope.kind == 'say':
            self._tool_turns = 0
            name = self._names.get(envelope.sender, envelope.sender)
            self._keep('user', f'{name}: {envelope.text}' if name else envelope.text)
        elif envelope.kind == 'tool_result':
            self._tool_turns += 1
            self._keep('tool', f'tool_result {envelope.name} {as_json(envelope.args)}')
        else:
            return None
        if self._tool_turns > self._most_tool_turns:
            return None
        return Turn(messages=(*self._system, *self._messages), tools=self._tools, heard=envelope,
                    parameters=self._parameters)

    def spoke(self, turn: Turn, utterance: Utterance, t_ns: int = 0) -> Envelope:
        """
        Return what to send for what the agent did in its turn, and remember it.

        It belongs to the trial of its turn, even if another one has begun since.

        :param t_ns: the sender's system time
        """
        if turn.heard.trial_id == self._trial_id:
            self._keep('assistant', utterance.text if utterance.kind == 'say' else
                       f'tool_call {utterance.name} {as_json(utterance.args)}')
        self._spoken += 1
        return Envelope.model_validate({
            'trial_id': turn.heard.trial_id, 'seq': self._spoken - 1, 'from': self.agent_id,
            'kind': utterance.kind, 'name': utterance.name, 'text': utterance.text,
            'truncated_by': utterance.truncated_by, 'args': utterance.args, 't_ns': t_ns})

    def _begin(self, brief: Envelope) -> None:
        try:
            addressee = brief.to[0]
            names = {str(one['id']): str(one['name']) for one in brief.args['agents']}
            tools = tuple((str(one['name']), str(one.get('description', '')))
                          for one in brief.args['tools'])
            parameters = {str(one['name']): dict(one['parameters'])
                          for one in brief.args['tools'] if one.get('parameters')}
            most = int(brief.args.get('tool_turns', MAX_TOOL_TURNS))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f'brief: got args {as_json(brief.args)[:300]}, expected agents '
                             f'(id, name) and tools (name, description), to somebody: '
                             f'{in_words(error)}') from None
        self._names, self._tools, self._trial_id = names, tools, brief.trial_id
        self._parameters, self._most_tool_turns = parameters, most
        self.agent_id = self._wanted or addressee
        self._system = (ChatMessage(role='system', content=brief.text),) if brief.text else ()
        self._messages = []
        self._spoken = self._tool_turns = 0

    def _keep(self, role: Literal['user', 'assistant', 'tool'], content: str) -> None:
        self._messages.append(ChatMessage(role=role, content=content))
        del self._messages[:-MAX_MESSAGES]


def brief_of(block: AgentsBody, agent_id: str, trial_id: str) -> Envelope:
    """
    Return what an agent hears first in a trial: who it is, who is there, what it may call.

    :raises LookupError: there is no such agent
    """
    text, apps = system_text(block, agent_id), block.apps
    known = {} if apps is None else {one.name: one.parameters for one in apps.tools}
    return Envelope.model_validate({
        'trial_id': trial_id, 'to': (agent_id,), 'kind': 'event', 'name': BRIEF, 'text': text,
        'args': {'tools': [{'name': tool.name, 'description': tool.description,
                            **({'parameters': parameters} if (
                                parameters := known.get(tool.name) or tool.parameters) else {})}
                           for tool in block.tools if block.may_call(agent_id, tool.name)],
                 'agents': [{'id': one.id, 'name': one.name, 'role': one.role}
                            for one in block.agents],
                 **({} if apps is None else {'tool_turns': apps.tool_turns})}})


def result_of(block: AgentsBody, agent_id: str, tool_name: str, trial_id: str,
              calls: int = 0) -> Envelope | None:
    """
    Return what a tool gives back to an agent that called it; that it may not, if so.

    None: a world behind the link answers.

    :param calls: how many calls of this tool have been allowed before in the trial
    """
    tool = next((tool for tool in block.tools if tool.name == tool_name), None)
    allowed = tool is not None and block.may_call(agent_id, tool_name)
    returns = tool.result(calls).returns if tool is not None and allowed else None
    if allowed and returns is None:
        return None
    return Envelope.model_validate({
        'trial_id': trial_id, 'to': (agent_id,), 'kind': 'tool_result', 'name': tool_name,
        'args': returns if returns is not None else
        {'status': 'denied', 'reason': 'the tool is not declared' if tool is None else
         f'no {tool_name} for this role'}})


def wait_of(block: AgentsBody, agent_id: str, tool_name: str, calls: int) -> int:
    """Return how long (ns) an agent waits for what a tool gives back; a denial comes at once."""
    tool = next((tool for tool in block.tools if tool.name == tool_name), None)
    return tool.result(calls).after_ns \
        if tool is not None and block.may_call(agent_id, tool_name) else 0


def event_of(envelope: Envelope, agent: Agent, stamps: Stamps) -> Event | None:
    """
    Return the entry of the record for what passes between an agent and the harness.

    None for an envelope that is neither a saying, nor a call, nor its result.

    :param agent: who said or called, by its topic and not by what the envelope says
    """
    said = envelope.kind == 'say'
    if not said and envelope.kind not in ('tool_call', 'tool_result'):
        return None
    return Event.model_construct(
        kind=envelope.kind, name=f'{agent.space}/out' if said else envelope.name, stamps=stamps,
        agent=agent.id, text=envelope.text if said else None,
        arguments=truncation(envelope.truncated_by) if said else as_json(envelope.args),
        trial_id=envelope.trial_id)


def as_json(arguments: Mapping[str, Any]) -> str:
    """Return arguments of a call, or what it gave back, as one line."""
    return json.dumps(arguments, ensure_ascii=False, default=str)
