# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Driving by a language model over HTTP: streams, tools, faults, cancelling, and their times."""

from collections.abc import Callable, Iterator
import gzip
import json
import logging
from pathlib import Path
import time
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.controllers.chat.reply import (
    action_in,
    Completion,
    completion_of,
    Fault,
    FaultyReplyError,
    StreamedCompletion,
    ToolCall,
)
from safety_scenarios.controllers.llm import LanguageModel
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.settings import ControllerSettings
from unit.controllers.fake_server import (
    call_piece,
    called,
    decided,
    event,
    FakeServer,
    nowhere,
    piece,
    Reply,
    said,
    sent,
    serving,
    streamed,
)
from unit.controllers.observations import box, pose, scan, seen
from unit.linked import begun

ROBOT = RobotModel(kind='mobile_base', max_speed=2.0)
GO, STAND = (1.6, 0.0), (0.0, 0.0)
USAGE = {'prompt_tokens': 200, 'completion_tokens': 10, 'total_tokens': 210}
PATIENCE_S = 5.0
NEVER_S = 30.0
CLOSE_NS = 30_000_000
TOOLS = """\
system: Drive.
actions: {ahead: 0.8, turn: {velocity: [0.2, 0.5], description: Turn left.}, halt: 0.0}
call: tools
reason: false
"""

Start = Callable[..., LanguageModel]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving(in_pieces('continue')) as running:
        yield running


@pytest.fixture
def start(server: FakeServer, tmp_path: Path) -> Iterator[Start]:
    """Start controllers on the server; text of a prompt file may be given."""
    started: list[LanguageModel] = []

    def begin(prompt: str = '', **parameters: Any) -> LanguageModel:
        if prompt:
            (tmp_path / 'mine.yaml').write_text(prompt)
            parameters['prompt'] = str(tmp_path / 'mine.yaml')
        started.append(begun(
            LanguageModel, ControllerSettings(controller='llm', robot=ROBOT), model='fake-7b',
            **{'timeout_ms': 10_000.0, 'base_url': server.base_url, **parameters}))
        return started[-1]
    yield begin
    server.hang_up()
    for controller in started:
        controller.close()


def in_pieces(action: str, first_s: float = 0.0, rest_s: float = 0.0) -> Reply:
    """Return a stream that names an action, with the token counts at its end."""
    return streamed(piece(role='assistant'), piece(first_s, content='{"action": '),
                    piece(content=f'"{action}", '), piece(rest_s, content='"reason": ""}'),
                    piece(finish='stop'), event({'choices': [], 'usage': USAGE}))


def calls(*parts: dict[str, Any], finish: str = 'tool_calls') -> Reply:
    """Return a stream of calls, one piece each."""
    return streamed(*(piece(tool_calls=[part]) for part in parts), piece(finish=finish))


def until(controller: LanguageModel, done: Callable[[Any], bool], message: Any = None) -> Any:
    """Tick until a command, or the world, is as wanted; return the last velocity."""
    due_s = time.monotonic() + PATIENCE_S
    while True:
        command: Any = controller.decide(seen(time.monotonic() * 1e3, scan=message or scan()))
        velocity = command and command.velocity
        if done(velocity):
            return velocity
        assert time.monotonic() < due_s, f'waited in vain, last velocity {velocity}'
        time.sleep(0.002)


def moves(velocity: Any) -> bool:
    return velocity is not None and any(velocity)


def stands(velocity: Any) -> bool:
    return velocity is not None and not any(velocity)


# Streams and figures


def test_a_streamed_answer_drives_and_its_times_are_those_of_the_server(
        server: FakeServer, start: Start) -> None:
    server.script(in_pieces('continue', 0.03, 0.03))
    controller = start()
    assert until(controller, moves) == GO
    body = server.requests[0].body
    assert body['stream'] is True and body['stream_options'] == {'include_usage': True}
    # Of several, because the machine may be busy: one whose times are right is enough.
    until(controller, lambda _: any(
        all(-CLOSE_NS < late_ns < CLOSE_NS for late_ns in lateness)
        for lateness in late_by(server, controller)))
    first = controller.figures[0]
    assert first.first_token_ms is not None
    assert 30 <= first.first_token_ms <= first.complete_ms and first.complete_ms >= 60


def late_by(server: FakeServer, controller: LanguageModel) -> Iterator[tuple[int, int, int]]:
    """Yield how much later the server and the controller saw start, first token and end."""
    pieces = len(in_pieces('continue').pieces)
    for number, figures in enumerate(controller.figures):
        times = server.sent_ns[number * pieces:]
        assert figures.first_token_ns is not None
        yield (server.requests[number].received_ns - figures.began_ns,
               figures.first_token_ns - times[1], figures.ended_ns - times[4])


def test_the_connection_of_the_first_request_is_open_before_it_is_asked_for(
        server: FakeServer, start: Start) -> None:
    controller = start()
    assert (server.visits, server.open_connections(), len(server.requests)) == (1, 1, 0)
    until(controller, moves)
    assert (server.visits, server.open_connections()) == (1, 1)


def test_the_newest_input_of_a_request_is_known(server: FakeServer, start: Start) -> None:
    controller = start()
    before_ns = time.monotonic_ns()
    until(controller, lambda _: len(controller.figures) >= 1)
    figures = controller.figures[0]
    assert figures.observed_ns is not None and figures.received_ns is not None
    assert before_ns - 20_000_000 <= figures.received_ns < figures.began_ns
    assert figures.received_ns == figures.observed_ns  # both 20 ms old here


def test_a_command_carries_the_times_of_its_request(server: FakeServer, start: Start) -> None:
    reply = Reply(decided('continue').body, delay_s=0.02, headers={'openai-processing-ms': '20'})
    server.script(reply, Reply(b'', delay_s=NEVER_S))
    controller = start(stream=False)
    until(controller, moves)
    one, two = (controller.decide(seen(time.monotonic() * 1e3, scan=scan())) for _ in range(2))
    assert one is two, 'the same answer is the same command'
    stamps: Any = getattr(one, 'stamps', None)
    assert stamps.observed_ns == stamps.received_ns < stamps.queued_ns < stamps.ended_ns
    assert stamps.ended_ns - stamps.queued_ns >= stamps.server_ns == 20_000_000
    assert 0 <= time.monotonic_ns() - stamps.ended_ns < PATIENCE_S * 1e9


def test_tokens_cost_and_faults_are_logged_once_as_one_line(
        server: FakeServer, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    controller = start(prompt_price=5.0, completion_price=20.0)
    until(controller, lambda _: len(controller.figures) >= 2)
    server.script(said('Hm.'))
    until(controller, stands)
    controller.close()
    controller.close()
    [line] = [one.getMessage() for one in caplog.records
              if one.getMessage().startswith('requests to fake-7b: ')]
    fields = dict(field.split('=') for field in line.split(': ')[1].split())
    count = int(fields['valid'])
    assert count >= 2 and int(fields['malformed']) >= 1
    assert int(fields['requests']) == count + int(fields['malformed']) + int(fields['cancelled'])
    assert int(fields['prompt_tokens']) == 200 * count
    assert int(fields['completion_tokens']) == 10 * count
    assert float(fields['cost']) == pytest.approx(count * 0.0012)
    assert {'first_token_ms_p50', 'first_token_ms_p95', 'complete_ms_max'} <= set(fields)


def timed(prompt_ms: str, header: str = '') -> Reply:
    """Return a reply of a server of which timings are known, after 20 ms."""
    timings = f'"timings": {{"prompt_ms": {prompt_ms}, "predicted_ms": 6}}, "choices"'
    return Reply(decided('continue').body.replace(b'"choices"', timings.encode()), delay_s=0.02,
                 headers={'openai-processing-ms': header} if header else {})


@pytest.mark.parametrize(('reply', 'server_ms'), [
    (decided('continue'), None), (timed('4.5'), 10.5),
    (Reply(decided('continue').body, delay_s=0.02, headers={'openai-processing-ms': '20'}), 20),
    *((timed(prompt_ms), None) for prompt_ms in (
        'Infinity', 'NaN', '1e308', '1' + 400 * '0', '-50', '600000')),
    *((Reply(decided('continue').body, headers={'openai-processing-ms': header}), None)
      for header in (5000 * '9', 30 * '9', '600000', '-1', 'inf'))])
def test_what_the_server_says_it_took_is_kept(
        server: FakeServer, start: Start, reply: Reply, server_ms: float | None) -> None:
    server.script(reply)
    controller = start(stream=False)
    until(controller, moves)
    server_ns = controller.figures[0].usage.server_ns
    assert server_ns == (None if server_ms is None else server_ms * 1e6)


def test_token_counts_that_never_come_do_not_hold_up_the_command(
        server: FakeServer, start: Start) -> None:
    server.script(streamed(
        piece(content='{"action": "continue", "reason": ""}'), piece(finish='stop'),
        event({'choices': [], 'usage': USAGE}, NEVER_S)))
    controller = start()
    assert until(controller, moves) == GO
    assert controller.figures[0].usage.prompt_tokens is None


@pytest.mark.parametrize(('first', 'reason'), [
    (decided('continue'), 'the server answered in one piece'),
    (sent({'error': {'message': 'stream_options is not supported'}}, status=400),
     'the server refused to stream: HTTP 400')])
def test_a_server_that_does_not_stream_is_asked_without_and_the_log_says_why(
        server: FakeServer, start: Start, caplog: pytest.LogCaptureFixture, first: Reply,
        reason: str) -> None:
    server.script(first, decided('continue'))
    controller = start()
    assert until(controller, moves) == GO
    until(controller, lambda _: len(server.requests) >= 3)
    assert ['stream' in one.body for one in server.requests[:3]] == [True, False, False]
    assert [one.getMessage() for one in caplog.records if 'no streaming' in one.getMessage()] == [
        f'no streaming: {reason}. The time to the first token is unknown']


@pytest.mark.parametrize('last', ['Infinity', 'NaN', '1e308'])
def test_times_that_no_clock_shows_do_not_cost_a_streamed_answer(
        server: FakeServer, start: Start, last: str) -> None:
    usage = f'{{"choices": [], "timings": {{"prompt_ms": {last}}}}}'
    server.script(streamed(WHOLE, piece(finish='stop'), event(usage)))
    controller = start()
    assert until(controller, moves) == GO
    assert controller.figures[0].usage.server_ns is None


ANSWER = json.dumps({'choices': [{'delta': {'content': (
    '{"action": "continue", "reason": "a\u2028b\u2029c\u0085d\u00e9"}')}}]}, ensure_ascii=False)
END = json.dumps({'choices': [{'delta': {}, 'finish_reason': 'stop'}]}, indent=1)


def in_bytes(text: str) -> Reply:
    """Return a stream that comes byte for byte."""
    return Reply(b'', content_type='Text/Event-Stream; charset=utf-8',
                 pieces=tuple((0.0, bytes([byte])) for byte in text.encode()))


@pytest.mark.parametrize('end', ['\n', '\r\n', '\r'])
def test_a_stream_has_the_lines_that_its_standard_says(
        server: FakeServer, start: Start, end: str) -> None:
    several = ''.join(f'data: {line}\n' for line in END.split('\n'))
    stream = f'\ufeffdata: {ANSWER}\n\n: alive\n\nevent: x\ndata:\n\n{several}\n'
    server.script(in_bytes(stream.replace('\n', end)))
    controller = start()
    assert until(controller, moves) == GO
    assert {one.fault for one in controller.figures} == {None}


@pytest.mark.parametrize('reply', [
    Reply(gzip.compress(bytes(2 << 20)), headers={'content-encoding': 'gzip'}),
    streamed(event('x' * (1 << 20)))])
def test_a_reply_without_end_is_not_kept(
        server: FakeServer, start: Start, reply: Reply, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('safety_scenarios.controllers.server_replies.LONGEST_REPLY', 1 << 20)
    server.script(reply)
    controller = start()
    until(controller, lambda _: len(controller.figures) >= 1)
    assert controller.figures[0].fault == Fault.MALFORMED


def test_an_answer_in_words_is_put_together_from_its_pieces(
        server: FakeServer, start: Start) -> None:
    server.script(streamed(piece(content='Stop '), piece(content='it.'), piece(finish='stop')))
    assert start().answer(()) == 'Stop it.'


# Actions and tools of the user


def test_each_action_is_a_tool_and_its_call_drives(server: FakeServer, start: Start) -> None:
    server.script(calls(call_piece(0, 'turn', ''), call_piece(0, None, '{}')))
    assert until(start(TOOLS), moves) == (0.2, 0.5)
    body = server.requests[0].body
    assert body['messages'][0] == {'role': 'system', 'content': 'Drive.'}
    assert [one['function']['name'] for one in body['tools']] == ['ahead', 'turn', 'halt']
    assert body['tools'][1]['function']['description'] == 'Turn left.'
    assert body['tool_choice'] == 'required' and 'response_format' not in body


@pytest.mark.parametrize('reply', [
    called(('ahead', {})), called(('ahead', {'reason': 'free'})),
    calls(call_piece(None, 'ahead', '{}')), calls(call_piece(0, 'ahead', ''))])
def test_a_call_is_read_whole_in_pieces_and_without_a_number(
        server: FakeServer, start: Start, reply: Reply) -> None:
    server.script(reply)
    assert until(start(TOOLS), moves) == GO


def test_without_a_reason_the_schema_has_only_the_action(server: FakeServer, start: Start) -> None:
    server.script(said('{"action": "ahead"}'))
    controller = start('{system: Drive., actions: {ahead: 0.8}, reason: false}')
    assert until(controller, moves) == GO
    schema = server.requests[0].body['response_format']['json_schema']['schema']
    assert schema['required'] == ['action'] and schema['properties']['action']['enum'] == ['ahead']


def test_an_action_with_too_many_velocities_for_the_robot_is_refused(start: Start) -> None:
    with pytest.raises(SettingsError, match=r'actions\.go\.velocity: got 3 numbers, expected 2'):
        start('{system: Drive., actions: {go: [1, 2, 3]}}')


# Faults


def cut(finish: str, **delta: Any) -> Reply:
    return streamed(piece(content='{"action": "con'), piece(finish=finish, **delta))


WHOLE = piece(content='{"action": "continue", "reason": ""}')
JSON_FAULTS = {
    'cut off': (cut('length'), Fault.TRUNCATED),
    'filtered': (cut('content_filter'), Fault.REFUSED),
    'refused in pieces': (streamed(piece(refusal='I ca'), piece(refusal="n't."),
                                   piece(finish='stop')), Fault.REFUSED),
    'refused': (sent({'choices': [{'finish_reason': 'stop', 'message': {
        'content': None, 'refusal': 'No.'}}]}), Fault.REFUSED),
    'prose': (streamed(piece(content='You may go.'), piece(finish='stop')), Fault.MALFORMED),
    'no JSON in the stream': (streamed(event('{"choices"')), Fault.MALFORMED),
    'no completion in the stream': (streamed(event([])), Fault.MALFORMED),
    'an empty stream': (streamed(), Fault.MALFORMED),
    'an error in the stream': (streamed(WHOLE, event({'error': {'message': 'out of memory'}})),
                               Fault.SERVER_ERROR),
    'dropped before the end': (streamed(WHOLE, breaks_off=True), Fault.DISCONNECTED),
    'ended without an end': (Reply(WHOLE[1], content_type='text/event-stream'),
                             Fault.DISCONNECTED),
    'filtered, in capitals': (cut('CONTENT_FILTER'), Fault.REFUSED),
    'filtered, as Gemini says it': (streamed(WHOLE, piece(finish='SAFETY')), Fault.REFUSED),
    'cut off, in capitals': (streamed(WHOLE, piece(finish='LENGTH')), Fault.TRUNCATED),
    'ended by an error': (streamed(WHOLE, piece(finish='error')), Fault.MALFORMED),
    'aborted': (streamed(WHOLE, piece(finish='abort')), Fault.MALFORMED),
    'calls where none are due': (streamed(WHOLE, piece(finish='tool_calls')), Fault.MALFORMED),
    'a call instead of text': (streamed(
        piece(tool_calls=[call_piece(0, 'stop', '{}')]), piece(finish='tool_calls')),
        Fault.MALFORMED),
    'a call that was cut off': (streamed(
        piece(tool_calls=[call_piece(0, 'stop', '{')]), piece(finish='length')), Fault.TRUNCATED),
    'an error beside the choices': (Reply(decided('continue').body.replace(
        b'"choices"', b'"error": {"code": 503}, "choices"')), Fault.SERVER_ERROR),
    'two actions': (said('{"action": "stop", "action": "continue", "reason": ""}'),
                    Fault.MALFORMED),
    'HTTP 429': (sent({}, status=429), Fault.RATE_LIMITED),
    'HTTP 500': (sent({}, status=500), Fault.SERVER_ERROR),
    'HTTP 401': (sent({}, status=401), Fault.REJECTED),
    'a redirect': (Reply(b'', status=307, headers={'location': 'http://other.example/v1'}),
                   Fault.REDIRECTED),
}
TOOL_FAULTS = {
    'text': (streamed(piece(content='ahead'), piece(finish='stop')), Fault.NO_TOOL),
    'another tool': (calls(call_piece(0, 'erase', '{}')), Fault.WRONG_TOOL),
    'two tools': (calls(call_piece(0, 'ahead', '{}'), call_piece(1, 'halt', '{}')),
                  Fault.SEVERAL_TOOLS),
    'two without numbers': (calls(call_piece(None, 'ahead', '{}'), call_piece(
        None, 'halt', '{}')), Fault.SEVERAL_TOOLS),
    'arguments that are cut': (calls(call_piece(0, 'ahead', '{')), Fault.MALFORMED),
    'a list of arguments': (called(('ahead', [])), Fault.MALFORMED),  # type: ignore[arg-type]
    'an unknown argument': (called(('ahead', {'speed': 9})), Fault.MALFORMED),
    'cut off': (calls(call_piece(0, 'ahead', ''), finish='length'), Fault.TRUNCATED),
    'no call at all': (streamed(piece(tool_calls=['ahead'])), Fault.MALFORMED),
    'refused': (streamed(piece(refusal='No.'), piece(finish='stop')), Fault.REFUSED),
    'a stream that ends within a call': (
        streamed(piece(tool_calls=[call_piece(0, 'ahead', '')])), Fault.TRUNCATED),
}


def stops_and_drives_again(controller: LanguageModel, server: FakeServer, good: Reply,
                           bad: Reply) -> set[Fault | None]:
    """Return the faults of the requests that a bad reply was the answer to."""
    server.script(good)
    assert until(controller, moves) == GO
    server.script(bad)
    assert until(controller, stands) == STAND
    found = {one.fault for one in controller.figures}
    server.script(good)
    assert until(controller, moves) == GO
    return found


@pytest.mark.parametrize(('reply', 'fault'), JSON_FAULTS.values(), ids=JSON_FAULTS)
def test_each_fault_of_an_answer_has_its_name_and_stops_until_the_next_good_one(
        server: FakeServer, start: Start, reply: Reply, fault: Fault) -> None:
    found = stops_and_drives_again(start(), server, in_pieces('continue'), reply)
    assert found == {None, fault}


@for_each('finish', ['tool_calls', 'stop', ''])
def test_a_call_where_json_is_due_is_named(finish):
    answer = Completion(None, (ToolCall('stop', '{}'),), finish_reason=finish)
    with pytest.raises(FaultyReplyError, match=r'malformed: the answer has no text, .* asks for '
                                               r'JSON \(call: json_schema\)'):
        action_in(answer, LanguageModel().driving)


@for_each('name', ['turn', None])
def test_arguments_that_are_no_text_are_named(name):
    function = {'name': name or 7, 'arguments': {} if name else ''}
    for read in (lambda call: completion_of({'choices': [{'message': {'tool_calls': [call]}}]}),
                 lambda call: StreamedCompletion().add({'choices': [{'delta': {
                     'tool_calls': [call]}}]})):
        with pytest.raises(FaultyReplyError, match='name or arguments of a call are no text'):
            read({'function': function})


@for_each(('text', 'why'), [
    ('{"action": "go", "reason": ""}', 'expected one of continue, slow, stop'),
    ('{"action": "stop"}', 'expected action and reason as texts'),
    ('{"action": "stop", "reason": "a\\nb"}', 'a reason of several lines')])
def test_of_an_answer_outside_the_schema_the_message_has_what_was_expected(text, why):
    with pytest.raises(FaultyReplyError, match=why):
        action_in(Completion(text), LanguageModel().driving)


@pytest.mark.parametrize(('reply', 'fault'), TOOL_FAULTS.values(), ids=TOOL_FAULTS)
def test_each_fault_of_a_call_has_its_name_and_stops_until_the_next_good_one(
        server: FakeServer, start: Start, reply: Reply, fault: Fault) -> None:
    good = calls(call_piece(0, 'ahead', '{}'))
    assert stops_and_drives_again(start(TOOLS), server, good, reply) == {None, fault}


def test_a_mistake_of_the_client_is_a_fault_and_not_the_end(
        server: FakeServer, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    controller = start()
    assert until(controller, moves) == GO
    with monkeypatch.context() as patched:
        patched.setattr('safety_scenarios.controllers.chat.request.reported_usage',
                        lambda *_: 1 / 0)
        assert until(controller, stands) == STAND
    assert Fault.CLIENT_ERROR in {one.fault for one in controller.figures}
    assert until(controller, moves) == GO


@pytest.mark.parametrize('wait', ['0.5', 'Wed, 21 Oct 2037 07:28:00 GMT'])
def test_a_server_is_left_alone_for_as_long_as_it_asks(
        server: FakeServer, start: Start, wait: str) -> None:
    server.script(sent({}, status=429, headers={'retry-after': wait}), in_pieces('continue'))
    controller, now_ms = start(), 1e6
    due_s = time.monotonic() + PATIENCE_S
    while not controller.figures and time.monotonic() < due_s:
        controller.decide(seen(now_ms, scan=scan()))
    for later_ms in (0.0, 400.0):  # the wait begins when the refusal is looked at
        controller.decide(seen(now_ms + later_ms, scan=scan()))
    assert len(server.requests) == 1
    controller.decide(seen(now_ms + 10_000.0, scan=scan()))
    until(controller, lambda _: len(server.requests) >= 2)


@pytest.mark.parametrize(('words', 'status'), [
    ('no healthy upstream', 404), ('the model was not found', 404), ('overloaded', 200)])
def test_another_refusal_does_not_end_streaming(
        server: FakeServer, start: Start, words: str, status: int) -> None:
    server.script(sent({'error': {'message': words}}, status=status))
    controller = start()
    until(controller, lambda _: len(server.requests) >= 2)
    assert all(one.body['stream'] for one in server.requests)


def test_a_redirect_is_not_followed_and_its_host_is_named(
        server: FakeServer, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    with serving(decided('continue')) as other:
        server.script(Reply(b'', status=307, headers={'location': f'{other.base_url}?key=s3cret'}))
        controller = start()
        until(controller, lambda _: len(controller.figures) >= 2)
        assert not other.requests
    assert 'redirected: HTTP 307 to 127.0.0.1' in caplog.text and 's3cret' not in caplog.text


def test_a_key_that_the_server_repeats_is_not_said(
        server: FakeServer, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-0123456789')
    server.script(said('Your key is sk-0123456789.'), said('The bag is EMPTY.'))
    controller = start()
    assert controller.answer(()) == 'Your key is ***.'
    monkeypatch.setenv('OPENAI_API_KEY', 'EMPTY')
    assert controller.answer(()) == 'The bag is EMPTY.'


def test_no_connection_and_no_answer_have_their_names(server: FakeServer, start: Start) -> None:
    lost = start(base_url=nowhere())
    until(lost, lambda _: len(lost.figures) >= 1)
    assert lost.figures[0].fault == Fault.DISCONNECTED
    server.script(streamed(piece(role='assistant'), piece(NEVER_S, content='{')))
    hangs = start(timeout_ms=100.0)
    until(hangs, lambda _: len(hangs.figures) >= 1)
    assert hangs.figures[0].fault == Fault.TIMEOUT
    assert 100 <= hangs.figures[0].complete_ms < PATIENCE_S * 1e3


# New data


def test_a_hazard_cancels_the_request_that_runs_and_does_not_wait_for_its_rest(
        server: FakeServer, start: Start) -> None:
    server.script(in_pieces('continue'), streamed(
        piece(role='assistant'), piece(NEVER_S, content='{')), in_pieces('stop', 0.1))
    controller = start()
    assert until(controller, moves) == GO
    until(controller, lambda _: len(server.requests) >= 2)
    began_ns = time.monotonic_ns()
    assert until(controller, stands, box(1.0)) == STAND
    assert 100 <= (time.monotonic_ns() - began_ns) / 1e6 < NEVER_S * 1e3 / 2
    assert 'obstacle in the path' in server.requests[2].body['messages'][1]['content']
    assert [one.is_cancelled for one in controller.figures[:3]] == [False, True, False]
    assert controller.figures[1].fault is None


def test_finish_waits_for_the_rest_and_parallel_does_not(server: FakeServer, start: Start) -> None:
    for on_new_data, requests in (('finish', 1), ('parallel', 2)):
        server.script(in_pieces('continue', NEVER_S))
        before = len(server.requests)
        controller = start(on_new_data=on_new_data)
        until(controller, lambda _, known=before: len(server.requests) > known)
        server.script(in_pieces('slow'))
        due_s, known = time.monotonic() + 0.1, before + requests
        until(controller, lambda _, due_s=due_s, known=known: time.monotonic() > due_s
              and len(server.requests) >= known, box(1.0))
        assert min(len(server.requests) - before, 2) == requests


# Fallbacks


def test_without_a_fallback_nothing_is_published_until_there_is_an_answer(
        server: FakeServer, start: Start) -> None:
    controller = start(fallback='none')
    assert controller.decide(seen(0.0)) is None
    assert until(controller, moves) == GO
    server.script(said('Hm.'))
    until(controller, lambda velocity: velocity is None)


def test_the_reference_may_command_while_there_is_no_answer(
        server: FakeServer, start: Start) -> None:
    server.script(said('Hm.'))
    controller = start(fallback='rule_based')
    free, near = seen(0.0, human_pose=pose(9.0)), seen(0.0, human_pose=pose(1.0))
    for observation, velocity in ((free, GO), (near, STAND)):
        command: Any = controller.decide(observation)
        assert command.velocity == velocity
