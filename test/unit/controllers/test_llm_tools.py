# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The llm controller with tools: what the server is asked, and what comes of its replies."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from safety_scenarios.controllers.llm import LanguageModel
from safety_scenarios.scenario.conversation import Conversation, Envelope, Turn
from unit.controllers.fake_server import (
    call_piece,
    called,
    FakeServer,
    piece,
    Reply,
    said,
    sent,
    serving,
    streamed,
)
from unit.linked import begun

SCHEMA = {'type': 'object', 'properties': {'hard': {'type': 'boolean'}}, 'required': ['hard']}
TOOLS = [{'name': 'Robot__halt', 'description': 'Halts.', 'parameters': SCHEMA},
         {'name': 'call a human', 'description': 'Calls.'}]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving(said('Done.')) as running:
        yield running


@pytest.fixture
def model(server: FakeServer) -> Iterator[LanguageModel]:
    controller = begun(LanguageModel, model='m', base_url=server.base_url, timeout_ms=10_000.0)
    yield controller
    controller.close()


@pytest.fixture
def hears() -> Callable[..., Turn | None]:
    """Return what tells an agent something; the brief is told already."""
    conversation = Conversation()

    def hear(kind: str, **more: Any) -> Turn | None:
        return conversation.receive(Envelope.model_validate({
            'trial_id': 't', 'from': 'somebody', 'to': ('me',), 'kind': kind, **more}))
    hear('event', name='brief', text='Be kind.', args={
        'tools': TOOLS, 'agents': [{'id': 'me', 'name': 'Me'}], 'tool_turns': 9})
    hear.conversation = conversation  # type: ignore[attr-defined]
    return hear


def test_tools_are_offered_with_their_arguments_by_names_that_a_server_takes(server, model, hears):
    model.converse(hears('say', text='Stop!'))
    first, second = (one['function'] for one in server.requests[0].body['tools'])
    assert first == {'name': 'Robot__halt', 'description': 'Halts.', 'parameters': SCHEMA}
    assert second['name'] == 'call_a_human'
    assert second['parameters'] == {'type': 'object', 'properties': {}}


def test_calls_are_made_by_their_own_names_and_words_beside_them_are_not_said(
        server, model, hears):
    reply = called(('Robot__halt', {'hard': True}), ('call_a_human', {}))
    server.script(Reply(reply.body.replace(b'"content": null', b'"content": "Let me see."')))
    assert [(one.kind, one.name, one.args) for one in model.converse(hears('say', text='Go'))] \
        == [('tool_call', 'Robot__halt', {'hard': True}), ('tool_call', 'call a human', {})]


def test_nothing_is_asked_before_every_call_has_its_result(server, model, hears):
    server.script(called(('Robot__halt', {'hard': True}), ('call_a_human', {})), said('Done.'))
    turn = hears('say', text='Stop!')
    for one in model.converse(turn):
        hears.conversation.spoke(turn, one)
    assert model.converse(hears('tool_result', name='call a human', args={'result': 'Bo'})) == ()
    [done] = model.converse(hears('tool_result', name='Robot__halt', args={'result': 1}))
    assert done.text == 'Done.'
    assert len(server.requests) == 2
    system, user, calls, *results = server.requests[1].body['messages']
    assert (system['content'], user['content']) == ('Be kind.', 'somebody: Stop!')
    assert [one['function']['name'] for one in calls['tool_calls']] == [
        'Robot__halt', 'call_a_human']
    ids = [one['id'] for one in calls['tool_calls']]
    assert [(one['role'], one['tool_call_id'], one['content']) for one in results] == [
        ('tool', ids[1], '{"result": "Bo"}'), ('tool', ids[0], '{"result": 1}')]


@pytest.mark.parametrize('reply', [
    called(('', {})), called(('Robot__halt', [])), said(None), said(5), sent({'choices': []}),
    Reply(called(('Robot__halt', {})).body.replace(b'"arguments": "{}"', b'"arguments": "{"')),
    Reply(called(('Robot__halt', {})).body.replace(b'"arguments": "{}"', b'"arguments": 5')),
    sent({'choices': [{'message': {'content': None, 'tool_calls': [None]}}]}),
    sent({'choices': [{'message': {'content': None, 'tool_calls': 'halt'}}]}),
    called(*[('Robot__halt', {})] * 51), Reply(b'', status=500)])
def test_a_reply_that_is_neither_words_nor_calls_is_no_answer(server, model, hears, reply):
    server.script(reply)
    assert model.converse(hears('say', text='Stop!')) == ()


def with_call(finish, **message):
    """Return a reply that calls a tool and ends for a reason of its own."""
    return sent({'choices': [{'finish_reason': finish, 'message': {
        'content': None, 'tool_calls': [{'function': {
            'name': 'Robot__halt', 'arguments': '{"hard": true}'}}], **message}}]})


@pytest.mark.parametrize(('reply', 'why'), [
    (with_call('length'), 'max_tokens'), (with_call('MAX_TOKENS'), 'max_tokens'),
    (with_call('content-filter'), 'content_filter'), (with_call('error'), 'error'),
    (with_call('', refusal='I cannot do that.'), 'refused'),
    (streamed(piece(tool_calls=[call_piece(0, 'Robot__halt', '')]), piece(finish='length')),
     'max_tokens'),
    (streamed(piece(tool_calls=[call_piece(0, 'Robot__halt', '')])), 'max_tokens'),
    *((streamed(piece(content='Stop'), piece(finish='stop', usage=usage),
                piece(tool_calls=[call_piece(0, 'Robot__halt', '{}')])), 'more after the end')
      for usage in (None, {'prompt_tokens': 9, 'completion_tokens': 1, 'total_tokens': 10}))])
def test_a_call_in_a_reply_that_is_not_whole_is_judged_and_cannot_pass(
        server, model, hears, reply, why):
    """It may be forbidden, and then fails; and the saying beside it says what is missing."""
    server.script(reply)
    call, cut = model.converse(hears('say', text='Stop!'))
    assert (call.kind, call.name) == ('tool_call', 'Robot__halt')
    assert (cut.kind, cut.text, cut.truncated_by) == ('say', '', why)


@pytest.mark.parametrize('reply', [
    with_call({'a': 1}),
    Reply(with_call('stop').body.replace(b'"choices"', b'"error": {"code": 503}, "choices"'))])
def test_no_call_is_made_of_what_is_no_reply(server, model, hears, reply):
    server.script(reply)
    assert model.converse(hears('say', text='Stop!')) == ()


def test_a_call_that_cannot_be_read_is_not_made_beside_what_was_cut(server, model, hears):
    body = with_call('length').body.replace(rb'true}', rb'tr')
    server.script(Reply(body))
    [cut] = model.converse(hears('say', text='Stop!'))
    assert (cut.kind, cut.truncated_by) == ('say', 'max_tokens')


@pytest.mark.parametrize('finish', ['tool_calls', 'function_call', 'tool_use', 'stop', 'STOP',
                                    'eos', 'end_turn', 'null', '', None])
def test_a_call_is_made_of_a_reply_that_ended_as_it_should(server, model, hears, finish):
    server.script(with_call(finish))
    [call] = model.converse(hears('say', text='Stop!'))
    assert call.args == {'hard': True}


def test_words_that_were_cut_off_are_said_with_what_cut_them(server, model, hears):
    server.script(sent({'choices': [{'finish_reason': 'length', 'message': {
        'content': 'Stop the inf'}}]}), said('Stop the infusion.'))
    [cut] = model.converse(hears('say', text='What now?'))
    assert (cut.text, cut.truncated_by) == ('Stop the inf', 'max_tokens')
    [whole] = model.converse(hears('say', text='What now?'))
    assert whole.truncated_by == ''


@pytest.mark.parametrize('reply', [
    called(('Robot__halt', {'hard': '\ud800'})), called(('Robot__halt\ud800', {})),
    called(('R' * 201, {})), said('Stop \ud800'), said('help ' * 20_001)])
def test_what_no_envelope_can_carry_is_no_answer_and_named(server, model, hears, reply, caplog):
    server.script(reply)
    assert model.converse(hears('say', text='Stop!')) == ()
    assert 'no answer: malformed' in caplog.text


def test_a_tool_that_was_never_offered_is_called_as_the_model_says(server, model, hears):
    server.script(called(('erase', {'all': True})))
    [call] = model.converse(hears('say', text='Stop!'))
    assert (call.name, call.args) == ('erase', {'all': True})


def test_so_many_results_in_a_row_make_turns_as_the_brief_says(hears):
    results = [hears('tool_result', name='Robot__halt', args={}) for _ in range(10)]
    assert [one is not None for one in results] == [True] * 9 + [False]
