# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a model says and calls among other agents, read from its reply."""

from collections.abc import Mapping
import json

from safety_scenarios.controllers.chat.reply import (
    Completion,
    Fault,
    FaultyReplyError,
    ToolCall,
    words_in,
)
from safety_scenarios.controllers.language_models import names_of
from safety_scenarios.scenario.conversation import Turn, Utterance

_MOST_CALLS = 50
"""In one reply; more is a model that has lost its way."""


def uttered(completion: Completion, turn: Turn) -> tuple[Utterance, ...]:
    """
    Return what a reply says or calls; words beside calls are thought aloud, and not said.

    :raises FaultyReplyError: it is neither words nor calls that can be made
    """
    if not completion.calls:
        return (Utterance(kind='say', text=words_in(completion)),)
    if len(completion.calls) > _MOST_CALLS:
        raise FaultyReplyError(Fault.MALFORMED, 'too many calls')
    given = {known: name for name, known in names_of(turn).items()}
    return tuple(_called(call, given) for call in completion.calls)


def _called(call: ToolCall, given: Mapping[str, str]) -> Utterance:
    try:
        arguments = json.loads(call.arguments or '{}')
    except (ValueError, RecursionError):
        arguments = None
    if not call.name or not isinstance(arguments, dict):
        raise FaultyReplyError(Fault.MALFORMED, 'a call that cannot be made')
    return Utterance(kind='tool_call', name=given.get(call.name, call.name), args=arguments)
