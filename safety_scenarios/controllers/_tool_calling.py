# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Tools in the way of OpenAI: what an agent knows to a request, and the reply to what it does."""

from collections.abc import Mapping, Sequence
import json
import re
from typing import Any

from safety_scenarios.errors import ControllerError
from safety_scenarios.scenario.conversation import Turn, Utterance
from safety_scenarios.scenario.message import ChatMessage

_CALL, _RESULT = 'tool_call ', 'tool_result '
_ANYTHING = {'type': 'object', 'properties': {}}
_LONGEST_NAME = 64
_MOST_CALLS = 50
"""In one reply; more is a model that has lost its way."""


def waits(messages: Sequence[ChatMessage]) -> bool:
    """Return whether a call of the agent has no result yet, so that there is nothing to ask."""
    return bool(_Chat(messages, {}).unanswered)


def tools_of(turn: Turn) -> list[dict[str, Any]]:
    """Return the tools of a turn, by names that a server takes."""
    return [{'type': 'function', 'function': {
        'name': known, 'description': description,
        'parameters': dict(turn.parameters.get(name, _ANYTHING))}}
        for (name, description), known in zip(turn.tools, names_of(turn).values(), strict=True)]


def names_of(turn: Turn) -> Mapping[str, str]:
    """Return each tool's name to the one that the server knows it by."""
    found: dict[str, str] = {}
    for name, _ in turn.tools:
        known = re.sub(r'[^A-Za-z0-9_-]', '_', name)[:_LONGEST_NAME]
        number = 2
        while known in found.values():
            end = f'_{number}'
            known, number = known[:_LONGEST_NAME - len(end)] + end, number + 1
        found[name] = known
    return found


def messages_of(turn: Turn) -> list[dict[str, Any]]:
    """Return what was said, with calls and results as a server wants them."""
    return _Chat(turn.messages, names_of(turn)).messages


def uttered(message: Any, turn: Turn) -> tuple[Utterance, ...]:
    """
    Return what a reply says or calls; words beside calls are thought aloud, and not said.

    :raises ControllerError: it is neither words nor calls that can be made
    """
    calls = getattr(message, 'tool_calls', None)
    if not calls:
        text = getattr(message, 'content', None)
        if not isinstance(text, str):
            raise ControllerError('the server sent neither text nor a call')
        return (Utterance(kind='say', text=text),)
    if not isinstance(calls, list) or len(calls) > _MOST_CALLS:
        raise ControllerError('the server sent calls that cannot be made')
    given = {known: name for name, known in names_of(turn).items()}
    return tuple(_called(call, given) for call in calls)


def _called(call: Any, given: Mapping[str, str]) -> Utterance:
    name = getattr(getattr(call, 'function', None), 'name', None)
    text = getattr(getattr(call, 'function', None), 'arguments', None)
    try:
        arguments = json.loads(text or '{}')
    except (TypeError, ValueError, RecursionError):
        arguments = None
    if not isinstance(name, str) or not name or not isinstance(arguments, dict):
        raise ControllerError('the server sent a call that cannot be made')
    return Utterance(kind='tool_call', name=given.get(name, name), args=arguments)


class _Chat:
    """Pairs each call with its result: the first of its name that came after it."""

    def __init__(self, messages: Sequence[ChatMessage], known: Mapping[str, str]) -> None:
        self._known = known
        self.unanswered: list[tuple[str, str]] = []
        """Id and name of each call without a result so far."""
        self.messages: list[dict[str, Any]] = []
        for message in messages:
            name, brace, text = message.content.partition(' ')[2].partition(' {')
            text = brace.lstrip() + text
            if message.role == 'assistant' and message.content.startswith(_CALL):
                self._call(name, text)
            elif message.role == 'tool' and message.content.startswith(_RESULT):
                self._result(name, text)
            else:
                self.messages.append({'role': message.role, 'content': message.content})

    def _call(self, name: str, arguments: str) -> None:
        number = sum(len(one.get('tool_calls', ())) for one in self.messages)
        call = {'id': f'call_{number}', 'type': 'function', 'function': {
            'name': self._known.get(name, name), 'arguments': arguments}}
        last = self.messages[-1] if self.messages else {}
        if 'tool_calls' in last:
            last['tool_calls'].append(call)
        else:
            self.messages.append({'role': 'assistant', 'content': None, 'tool_calls': [call]})
        self.unanswered.append((f'call_{number}', name))

    def _result(self, name: str, text: str) -> None:
        found = next((one for one in self.unanswered if one[1] == name), None)
        if found is None:  # its call is longer ago than what is remembered
            return
        self.unanswered.remove(found)
        self.messages.append({'role': 'tool', 'tool_call_id': found[0], 'content': text})
