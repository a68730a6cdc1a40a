# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a server replied, which action it names, and by which fault it names none."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
import re
from typing import Any

from safety_scenarios.controllers.server_replies import without_keys
from safety_scenarios.errors import ControllerError
from safety_scenarios.scenario.companion_files import DrivingPrompt
from safety_scenarios.scenario.conversation import MAX_TEXT
from safety_scenarios.scenario.untrusted_text import read_json

MOST_CALLS = 50
"""In one reply; more is a model that has lost its way."""
_REASON = '^.{0,300}$'
"""One line of a reason, which takes time. As a pattern: not every server takes a maxLength."""
_WHOLE = frozenset(('', 'stop', 'eos', 'eos_token', 'stop_sequence', 'end_turn', 'complete'))
"""Why servers say that a reply ended as it should, in small letters and with underscores."""
_WITH_CALLS = _WHOLE | {'tool_calls', 'function_call', 'tool_use'}
_CUT = frozenset(('length', 'max_tokens', 'model_length', 'max_output_tokens',
                  'model_context_window_exceeded', 'insufficient_system_resource'))
_FILTERED = frozenset(('content_filter', 'safety', 'sensitive', 'recitation', 'refusal'))
_MAX_TOKENS = 'max_tokens'
_SHOWN = 40
"""Characters of an unknown finish_reason that are kept."""


class Fault(str, Enum):
    """Why a request brought no valid answer."""

    TIMEOUT = 'timeout'
    """No complete reply within ``timeout_ms``."""
    DISCONNECTED = 'disconnected'
    """No connection, or one that broke before the reply was complete."""
    RATE_LIMITED = 'rate_limited'
    """HTTP 429."""
    SERVER_ERROR = 'server_error'
    """HTTP 5xx, or an error inside a reply."""
    REDIRECTED = 'redirected'
    """HTTP 3xx. A model that is somewhere else is not asked: it may be another one."""
    REJECTED = 'rejected'
    """Another HTTP status that is no success: a wrong key, model name or option."""
    MALFORMED = 'malformed'
    """No chat completion, no JSON, JSON outside the schema, or an unknown ``finish_reason``."""
    TRUNCATED = 'truncated'
    """The server cut the reply off (``finish_reason: length``)."""
    REFUSED = 'refused'
    """The model refused, or a content filter removed the reply."""
    NO_TOOL = 'no_tool'
    """Text where a call of a tool was asked for."""
    WRONG_TOOL = 'wrong_tool'
    """A call of a tool that was not offered."""
    SEVERAL_TOOLS = 'several_tools'
    """More than one call."""
    CLIENT_ERROR = 'client_error'
    """The client of the harness failed at the reply. This is a mistake of the harness."""


class FaultyReplyError(ControllerError):
    """
    A request brought no valid answer.

    :param retry_s: how long the server asks to wait (s)
    """

    def __init__(self, fault: Fault, detail: str = '', retry_s: float = 0.0) -> None:
        super().__init__(f'{fault.value}: {detail}' if detail else fault.value)
        self.fault = fault
        self.retry_s = retry_s


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool: its name, and its arguments as text."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Completion:
    """One reply in full."""

    text: str | None = None
    calls: tuple[ToolCall, ...] = ()
    refusal: str = ''
    finish_reason: str = ''
    """In small letters, with underscores; empty: the server gave none."""

    def raise_unfinished(self, *, with_calls: bool = False,
                         may_be_truncated: bool = False) -> None:
        """
        Refuse a reply that is not whole, whatever else is in it.

        :param with_calls: calls of tools end it as it should end
        :param may_be_truncated: whoever reads it takes ``truncated_by`` with it
        :raises FaultyReplyError: it was refused, filtered or cut, or ended for another reason
        """
        reason = self.finish_reason
        if self.refusal or reason in _FILTERED:
            raise FaultyReplyError(Fault.REFUSED)
        if reason in _CUT:
            if not may_be_truncated:
                raise FaultyReplyError(Fault.TRUNCATED)
        elif reason not in (_WITH_CALLS if with_calls else _WHOLE):
            raise FaultyReplyError(Fault.MALFORMED, f'finish_reason: {reason!r}')

    @property
    def truncated_by(self) -> str:
        """Return by what the server cut it off, such as max_tokens; empty: it is whole."""
        return _MAX_TOKENS if self.finish_reason in _CUT else ''

    @property
    def without_keys(self) -> 'Completion':
        """Return the same without the keys of our environment, which a server may repeat."""
        return Completion(
            None if self.text is None else without_keys(self.text),
            tuple(ToolCall(without_keys(call.name), without_keys(call.arguments))
                  for call in self.calls), self.refusal, self.finish_reason)


def completion_of(document: Any) -> Completion:
    """
    Return the first choice of a chat completion.

    :raises FaultyReplyError: it is none
    """
    if isinstance(document, Mapping) and document.get('error'):
        raise FaultyReplyError(Fault.SERVER_ERROR, 'an error inside the reply')
    choice = _first_choice(document)
    message = choice.get('message')
    if not isinstance(message, Mapping):
        raise FaultyReplyError(Fault.MALFORMED, 'no message')
    text, calls = message.get('content'), message.get('tool_calls') or ()
    if not isinstance(text, (str, type(None))) or not isinstance(calls, (list, tuple)):
        raise FaultyReplyError(Fault.MALFORMED, 'neither text nor calls')
    return Completion(text, tuple(map(_call, calls[:MOST_CALLS + 1])),
                      _refusal(message), _finish_reason(choice))


class StreamedCompletion:
    """Puts the pieces of a streamed reply together."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._refusal = ''
        self._calls: list[list[str]] = []
        self._places: dict[Any, int] = {}
        self.finish_reason = ''

    def add(self, document: Any) -> bool:
        """
        Take one piece, and return whether it holds part of the model's output.

        :raises FaultyReplyError: it is an error, or no piece of a chat completion
        """
        if isinstance(document, Mapping) and document.get('error'):
            raise FaultyReplyError(Fault.SERVER_ERROR, 'an error inside the stream')
        if isinstance(document, Mapping) and document.get('choices') == []:
            return False  # it holds the usage
        choice = _first_choice(document)
        delta = choice.get('delta') or {}
        if not isinstance(delta, Mapping):
            raise FaultyReplyError(Fault.MALFORMED, 'no delta')
        self.finish_reason = _finish_reason(choice) or self.finish_reason
        text, refusal = delta.get('content'), _refusal(delta)
        if not isinstance(text, (str, type(None))):
            raise FaultyReplyError(Fault.MALFORMED, 'content that is no text')
        if text:
            self._texts.append(text)
        self._refusal += refusal
        calls = delta.get('tool_calls') or ()
        if not isinstance(calls, (list, tuple)):
            raise FaultyReplyError(Fault.MALFORMED, 'calls that are no list')
        for call in calls:
            self._add_call(call)
        return bool(text or refusal or calls or _text(delta.get('reasoning_content'))
                    or _text(delta.get('reasoning')))

    def _add_call(self, call: Any) -> None:
        name, arguments = _name_and_arguments(call)
        if len(self._calls) > MOST_CALLS:
            raise FaultyReplyError(Fault.MALFORMED, 'too many calls')
        index = call.get('index')
        place = len(self._calls) - 1 if index is None and not name else len(self._calls)
        if index is not None:  # some servers number nothing, and send each call whole
            place = self._places.setdefault(str(index), place)
        if not 0 <= place < len(self._calls):
            self._calls.append(['', ''])
            place = len(self._calls) - 1
        found = self._calls[place]
        found[0], found[1] = found[0] or name, found[1] + arguments

    @property
    def completion(self) -> Completion:
        """
        Return what has come so far.

        A call without arguments, in a stream that did not say that it is whole, may lack them: it
        counts as cut off.
        """
        may_lack_more = not self.finish_reason and any(not args for _, args in self._calls)
        calls = tuple(ToolCall(name, arguments) for name, arguments in self._calls)
        text = ''.join(self._texts) if self._texts or not calls else None
        return Completion(text, calls, self._refusal,
                          'length' if may_lack_more else self.finish_reason)


def options_of(prompt: DrivingPrompt) -> dict[str, Any]:
    """Return what a request adds so that the reply names one of the actions."""
    reason = {'reason': {'type': 'string', 'pattern': _REASON}} if prompt.reason else {}
    if prompt.call == 'tools':
        return {'tool_choice': 'required', 'parallel_tool_calls': False, 'tools': [
            {'type': 'function', 'function': {
                'name': name, 'description': action.description,
                'parameters': _object(reason)}} for name, action in prompt.actions.items()]}
    meanings = '; '.join(f'{name}: {action.description}'
                         for name, action in prompt.actions.items() if action.description)
    action = {'type': 'string', 'enum': list(prompt.actions),
              **({'description': meanings} if meanings else {})}
    return {'response_format': {'type': 'json_schema', 'json_schema': {
        'name': 'command', 'strict': True, 'schema': _object({'action': action, **reason})}}}


def action_in(completion: Completion, prompt: DrivingPrompt) -> str:
    """
    Return the action that a reply names.

    :raises FaultyReplyError: it does not name exactly one that was offered
    """
    if prompt.call == 'tools':
        completion.raise_unfinished(with_calls=True)
        return _called(completion, prompt)
    if completion.calls and not completion.text:
        completion.raise_unfinished(with_calls=True)
        raise FaultyReplyError(Fault.MALFORMED, 'the answer has no text, but calls a tool, and '
                                                'this prompt asks for JSON (call: json_schema)')
    return _written(completion, prompt)


def words_in(completion: Completion) -> str:
    """
    Return the text of a reply, also of one that was cut off.

    :raises FaultyReplyError: it has none, or the model refused
    """
    completion.raise_unfinished(may_be_truncated=True)
    if completion.text is None:
        raise FaultyReplyError(Fault.MALFORMED, 'no text')
    if len(completion.text) > MAX_TEXT:
        raise FaultyReplyError(Fault.MALFORMED, f'more than {MAX_TEXT} characters')
    return completion.text


def _called(completion: Completion, prompt: DrivingPrompt) -> str:
    if not completion.calls:
        raise FaultyReplyError(Fault.NO_TOOL)
    if len(completion.calls) > 1:
        raise FaultyReplyError(Fault.SEVERAL_TOOLS, f'{len(completion.calls)} calls')
    [call] = completion.calls
    if call.name not in prompt.actions:
        raise FaultyReplyError(Fault.WRONG_TOOL)
    arguments = _json(call.arguments or '{}')
    if not isinstance(arguments, dict) or set(arguments) - {'reason'} \
            or not _is_reason(arguments.get('reason', '')):
        raise FaultyReplyError(Fault.MALFORMED, 'arguments outside the schema')
    return call.name


def _written(completion: Completion, prompt: DrivingPrompt) -> str:
    completion.raise_unfinished()
    answer = _json(words_in(completion))
    names = {'action', 'reason'} if prompt.reason else {'action'}
    if not isinstance(answer, dict) or set(answer) != names \
            or not all(isinstance(value, str) for value in answer.values()):
        raise FaultyReplyError(Fault.MALFORMED, f'JSON outside the schema, expected '
                                                f'{" and ".join(sorted(names))} as texts')
    if not _is_reason(answer.get('reason', '')):
        raise FaultyReplyError(Fault.MALFORMED, 'a reason of several lines, or of more than 300 '
                                                'characters')
    if answer['action'] not in prompt.actions:
        raise FaultyReplyError(Fault.MALFORMED, f'an action that was not offered, expected one of '
                                                f'{", ".join(prompt.actions)}')
    return str(answer['action'])


def _is_reason(text: Any) -> bool:
    return isinstance(text, str) and re.search(_REASON, text) is not None


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:
        raise FaultyReplyError(Fault.MALFORMED, 'no JSON') from None


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {'type': 'object', 'additionalProperties': False, 'required': list(properties),
            'properties': dict(properties)}


def _first_choice(document: Any) -> Mapping[str, Any]:
    choices = document.get('choices') if isinstance(document, Mapping) else None
    if not isinstance(choices, (list, tuple)) or not choices \
            or not isinstance(choices[0], Mapping):
        raise FaultyReplyError(Fault.MALFORMED, 'no chat completion')
    return choices[0]


def _call(call: Any) -> ToolCall:
    name, arguments = _name_and_arguments(call)
    if not name:
        raise FaultyReplyError(Fault.MALFORMED, 'a call without the name of a tool')
    return ToolCall(name, arguments)


def _name_and_arguments(call: Any) -> tuple[str, str]:
    """Return them of a call, or of one piece of it, in which either may be missing."""
    function = call.get('function') if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        raise FaultyReplyError(Fault.MALFORMED, 'no call')
    found = function.get('name'), function.get('arguments')
    if not all(isinstance(text, (str, type(None))) for text in found):
        raise FaultyReplyError(Fault.MALFORMED, 'name or arguments of a call are no text')
    name, arguments = found
    return name or '', arguments or ''


def _refusal(message: Mapping[str, Any]) -> str:
    """Return in which words the model refused; whatever stands there is a refusal."""
    refusal = message.get('refusal')
    return str(refusal) if refusal else ''


def _finish_reason(choice: Mapping[str, Any]) -> str:
    reason = choice.get('finish_reason')
    if not isinstance(reason, (str, type(None))):
        raise FaultyReplyError(Fault.MALFORMED, 'a finish_reason that is no text')
    reason = (reason or '').lower().replace('-', '_')[:_SHOWN]
    return '' if reason == 'null' else reason


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ''
