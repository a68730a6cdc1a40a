# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a model says and calls among other agents, read from its reply."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from safety_scenarios.controllers.chat.reply import (
    Completion,
    Fault,
    FaultyReplyError,
    MOST_CALLS,
    ToolCall,
    words_in,
)
from safety_scenarios.controllers.language_models import names_of
from safety_scenarios.scenario.conversation import as_json, MAX_NAME, Turn, Utterance
from safety_scenarios.scenario.json_text import read_json


def uttered(completion: Completion, turn: Turn) -> tuple[Utterance, ...]:
    """
    Return what a reply says or calls; words beside calls are thought aloud, and not said.

    Calls in a reply that was cut off, filtered or refused are judged, as a program may make them,
    beside a saying that names what is missing: with that no trial can pass.

    :raises FaultyReplyError: it is neither words nor calls that can be made
    """
    if not completion.calls:
        text = words_in(completion)
        if not _can_be_sent(text):
            raise FaultyReplyError(Fault.MALFORMED, 'words with half a character')
        return (Utterance(kind='say', text=text, truncated_by=completion.truncated_by),)
    if len(completion.calls) > MOST_CALLS:
        raise FaultyReplyError(Fault.MALFORMED, 'too many calls')
    given = {known: name for name, known in names_of(turn).items()}
    try:
        completion.raise_unfinished(with_calls=True)
    except FaultyReplyError as fault:
        why = completion.truncated_by or completion.finish_reason or fault.fault.value
        return (*_makeable(completion.calls, given), Utterance(kind='say', truncated_by=why))
    return tuple(_called(call, given) for call in completion.calls)


def _makeable(calls: Sequence[ToolCall], given: Mapping[str, str]) -> Iterator[Utterance]:
    for call in calls:
        with suppress(FaultyReplyError):
            yield _called(call, given)


def _called(call: ToolCall, given: Mapping[str, str]) -> Utterance:
    try:
        arguments = read_json(call.arguments or '{}')
        can_be_sent = _can_be_sent(call.name) and _can_be_sent(as_json(arguments))
    except ValueError:
        arguments = None
    if not 0 < len(call.name) <= MAX_NAME or not isinstance(arguments, dict) or not can_be_sent:
        raise FaultyReplyError(Fault.MALFORMED, 'a call that cannot be made')
    return Utterance(kind='tool_call', name=given.get(call.name, call.name), args=arguments)


def _can_be_sent(text: str) -> bool:
    """Return whether a text can be written as UTF-8; JSON can say half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
