# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a server of a policy may do to its controller, and by which name that is reported."""

import base64
from collections.abc import Callable
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import struct
import threading
import time
from typing import Any

from cases import for_each
from examples import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
import msgpack
import numpy
import pytest
from safety_scenarios.controllers.policies.model import (
    duration_ns,
    Inference,
    InferenceError,
    ModelOptions,
)
from safety_scenarios.controllers.policies.servers import server
from safety_scenarios.controllers.policies.servers.messages import (
    from_json,
    json_numpy_array,
    msgpack_numpy_array,
    npy_array,
    openpi_array,
    read_map,
    unpacked,
)
from safety_scenarios.controllers.policies.servers.request_reply import ActModel, Gr00tModel
from safety_scenarios.controllers.policies.servers.websocket import OpenpiModel, XPolicyLabModel
from safety_scenarios.errors import SettingsError
from safety_scenarios.judging.latency.split import checked
from safety_scenarios.scenario.message import CommandStamps
from safety_scenarios.scenario.timing import Timing
from unit.controllers.fake_server import nowhere, Reply, serving
from unit.controllers.policies.scripted_servers import (
    actions,
    DIES,
    gr00t,
    listening,
    OLDER,
    openpi,
    openpi_bytes,
    websocket,
    xpolicylab,
)

INPUTS = {'observation/state': numpy.arange(3, dtype='float32'), 'prompt': 'drive'}
SHORT = ModelOptions(timeout_s=0.2, cold_start_s=2.0)
LATE_S = 0.5
"""In which a time-out of 0.2 s has to be over, on a machine that is busy."""


def warm(model: Any) -> Any:
    """Return a model that has had its first answer."""
    model.open()
    model.infer(INPUTS)
    return model


def failure(model: Any, inputs: Any = INPUTS) -> InferenceError:
    """Return how an inference fails, which has to be in time."""
    began_s = time.monotonic()
    with pytest.raises(InferenceError) as caught:
        model.infer(inputs)
    assert time.monotonic() - began_s < LATE_S
    return caught.value


def read_request(connection: Any) -> bytes:
    """Return a whole request of JSON over HTTP; headers and body may come apart."""
    data = b''
    while not data.endswith(b'}') and (more := connection.recv(1 << 16)):
        data += more
    return data


def values(found: Inference) -> list[Any]:
    return numpy.asarray(found.outputs['actions'], dtype=float).tolist()


def test_openpi_answers_with_actions_and_its_own_time():
    with openpi(actions((0.5, 0.0), infer_ms=48.5, delay_s=0.05)) as address:
        model = warm(OpenpiModel(address, SHORT))
        found = model.infer(INPUTS)
        assert values(found) == [[0.5, 0.0]] and found.server_ns == 48_500_000
        model.close()


@for_each(('odd', 'said'), [
    ('fast', 'server: not a number'), (True, 'server: not a number'), (-1.0, 'server: below 0'),
    (float('nan'), 'server: not a number'), (1e305, 'server: not a number'),
    (10 ** 400, 'server: not a number'), ([1], 'server: not a number')], ids=repr)
def test_a_time_of_the_server_that_cannot_be_true_is_ignored_and_reported(odd, said):
    stamps = CommandStamps(began_ns=0, ended_ns=9, server_ns=duration_ns(odd))
    decision = checked(Timing.of(stamps, 10), 10, 0)
    assert decision.server_ns is None and decision.implausible == (said,)
    assert duration_ns(None) is None and duration_ns(numpy.float32(0.5)) == 500_000


@for_each(('answer', 'name', 'said'), [
    (lambda _: 'Traceback:\n  line 3\nRuntimeError: no CUDA\n', 'server_error', 'no CUDA'),
    (lambda _: b'\xc1 no msgpack', 'malformed', 'no message of msgpack'),
    (lambda _: openpi_bytes([1, 2]), 'malformed', 'got list, expected a map'),
    (lambda _: b'\x91' * 100_000 + b'\x01', 'malformed', 'no message of msgpack'),
    (lambda _: openpi_bytes({'actions': {
        b'__ndarray__': True, b'data': b'123', b'dtype': '<f4', b'shape': (9, 9)}}),
     'malformed', '3 bytes for an array of shape'),
    (lambda _: openpi_bytes({'actions': {
        b'__ndarray__': True, b'data': b'12345678', b'dtype': '|O', b'shape': (1,)}}),
     'malformed', 'dtype'),
    (actions((1.0, 0.0), delay_s=0.6), 'timeout', 'within 0.2 s')],
    ids=['text', 'no msgpack', 'no map', 'nested', 'short array', 'objects', 'late'])
def test_what_goes_wrong_at_openpi_has_a_name_and_the_next_question_is_answered(
        answer, name, said):
    with openpi(actions((1.0, 0.0)), answer, actions((0.25, 0.0))) as address:
        model = warm(OpenpiModel(address, SHORT))
        error = failure(model)
        assert error.name == name and said in error.detail
        assert values(model.infer(INPUTS)) == [[0.25, 0.0]]  # over a connection of its own
        model.close()


@for_each('error', ['out of memory', ['out of memory'], numpy.array([1.0]), {'code': 7}], ids=repr)
def test_an_error_beside_actions_is_one_of_the_server(error):
    with openpi(actions((1.0, 0.0)), lambda _: openpi_bytes({'actions': [[0.0, 0.0]],
                                                             'error': error}),
                lambda _: openpi_bytes({'error': ''}),
                lambda _: openpi_bytes({'actions': [[0.5, 0.0]], 'error': None})) as address:
        model = warm(OpenpiModel(address, SHORT))
        assert [failure(model).name for _ in range(2)] == ['server_error'] * 2
        assert values(model.infer(INPUTS)) == [[0.5, 0.0]]
        model.close()


def test_an_answer_to_no_question_is_not_believed():
    def twice(connection: Any) -> None:
        connection.send(openpi_bytes({}))
        for count, _ in enumerate(connection):
            for _ in range(2):
                connection.send(actions((float(count), 0.0))(None))

    def twice_http(connection: Any) -> None:
        for count in range(3):
            if not read_request(connection):
                return
            for _ in range(2):
                body = f'[{count}.0, 0.0]'.encode()
                connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s'
                                   % (len(body), body))
                time.sleep(0.02)
    with websocket(twice) as address, listening(twice_http) as port:
        for model in (OpenpiModel(address, SHORT), ActModel(f'http://127.0.0.1:{port}', SHORT)):
            warm(model)
            time.sleep(0.1)
            error = failure(model)
            assert (error.name, error.detail) == ('malformed',
                                                  'an answer came before its question')
            model.infer(INPUTS)  # over a new connection
            model.close()


def test_a_server_that_hangs_up_is_dropped_and_one_that_is_gone_refused():
    with ExitStack() as stack:
        def once(connection: Any) -> None:
            connection.send(openpi_bytes({}))
            for count, _ in enumerate(connection):
                if count:
                    return
                connection.send(actions((1.0, 0.0))(None))
        model = warm(OpenpiModel(stack.enter_context(websocket(once)), SHORT))
        assert failure(model).name == 'dropped'
    assert failure(model).name == 'refused'
    model.close()


def test_an_answer_that_comes_byte_by_byte_has_one_deadline(monkeypatch):
    """Each byte is in time, and the whole is not."""
    def trickle(connection: Any) -> None:
        connection.recv(1 << 16)
        head = b'HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\n[1.0'
        connection.sendall(head)
        for _ in range(40):
            connection.sendall(b' ')
            time.sleep(0.02)
    with listening(trickle) as port:
        model = ActModel(f'http://127.0.0.1:{port}/act', SHORT)
        model.interrupt()  # no cold start
        assert failure(model).name == 'timeout'
        model.close()


def test_headers_that_come_byte_by_byte_have_the_same_deadline():
    def trickle(connection: Any) -> None:
        connection.recv(1 << 16)
        for byte in b'HTTP/1.1 200 OK\r\nx-long: ' + b'y' * 60:
            connection.sendall(bytes([byte]))
            time.sleep(0.02)
    with listening(trickle) as port:
        for model in (ActModel(f'http://127.0.0.1:{port}/act', SHORT),
                      OpenpiModel(f'ws://127.0.0.1:{port}', SHORT)):
            model.interrupt()
            assert failure(model).name == 'timeout'
            model.close()


def test_a_server_that_reads_nothing_holds_nobody_up():
    def deaf(connection: Any) -> None:
        time.sleep(0.5)
    with listening(deaf) as port:
        model = ActModel(f'http://127.0.0.1:{port}/act', SHORT)
        model.interrupt()
        assert failure(model, {'image': numpy.zeros(8_000_000, 'uint8')}).name == 'timeout'
        model.close()


def test_an_answer_that_is_too_large_is_not_read_to_its_end(monkeypatch):
    for module in ('request_reply', 'websocket', 'server'):
        monkeypatch.setattr(f'{server.__package__}.{module}.MAX_ANSWER', 1 << 20)
    large = [0.0] * (1 << 18)
    with openpi(actions((1.0, 0.0)), lambda _: openpi_bytes({'actions': large})) as address:
        model = warm(OpenpiModel(address, SHORT))
        assert failure(model).name == 'too_large'
        model.close()
    with serving(Reply(b'[1.0, 0.0]'), Reply(json.dumps(large).encode())) as http:
        model = warm(ActModel(http.base_url, SHORT))
        assert failure(model).name == 'too_large'
        model.close()


class OldServer(BaseHTTPRequestHandler):
    """Answers in HTTP/1.0, which closes the connection after each answer."""

    says_length = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers['Content-Length']))
        body = json.dumps([[0.5, 0.25]] * 2000).encode()
        self.send_response(200)
        if self.says_length:
            self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.flush()
        time.sleep(0.02)
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Write nothing."""


@for_each('says_length', [True, False])
def test_an_answer_on_a_connection_that_the_server_closes_is_read(monkeypatch, says_length):
    monkeypatch.setattr(OldServer, 'says_length', says_length)
    with ThreadingHTTPServer(('127.0.0.1', 0), OldServer) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        model = warm(ActModel(f'http://127.0.0.1:{http.server_port}/act', SHORT))
        assert len(values(model.infer(INPUTS))) == 2000
        model.close()
        http.shutdown()
        thread.join()


def test_a_connection_that_the_server_closed_while_idle_is_opened_again():
    def once(connection: Any) -> None:
        read_request(connection)
        connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n[0.5, 0.0]')
    with listening(once) as port:
        model = warm(ActModel(f'http://127.0.0.1:{port}', SHORT))
        time.sleep(0.1)
        assert values(model.infer(INPUTS)) == [0.5, 0.0]
        model.close()


@for_each('sent', [b'HTTP/1.1 200 OK\r\nserver: x\r\ncontent-le', b'HTTP/1.1 200 OK\r\n\r\n',
                   b'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n[0.5'])
def test_an_answer_over_http_that_ends_early_is_dropped_wherever_it_ends(sent):
    def ends(connection: Any) -> None:
        read_request(connection)
        connection.sendall(sent)
    with listening(ends) as port:
        model = ActModel(f'http://127.0.0.1:{port}', SHORT)
        model.interrupt()  # no cold start
        assert failure(model).name == 'dropped'
        model.close()


def test_a_chunk_of_a_negative_size_is_malformed():
    def negative(connection: Any) -> None:
        read_request(connection)
        connection.sendall(b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\nabc\r\n')
    with listening(negative) as port:
        model = ActModel(f'http://127.0.0.1:{port}', SHORT)
        model.interrupt()  # no cold start
        assert failure(model).name == 'malformed'
        model.close()


@for_each('body', [
    '[[0.5, 0.25]]', '{"actions": [[0.5, 0.25]]}', json.dumps('{"actions": [[0.5, 0.25]]}'),
    json.dumps(json.dumps([[0.5, 0.25]])),
    json.dumps({'actions': json_numpy_array(numpy.array([[0.5, 0.25]]))}),
    json.dumps(json_numpy_array(numpy.array([[0.5, 0.25]]))),
    json.dumps({'__numpy__': base64.b64encode(struct.pack('<2d', 0.5, 0.25)).decode(),
                'dtype': '<f8', 'shape': [1, 2]})])
def test_each_form_of_an_answer_over_http_is_read(body):
    with serving(Reply(body.encode())) as http:
        model = warm(ActModel(f'{http.base_url}/act', SHORT))
        assert values(model.infer(INPUTS)) == [[0.5, 0.25]]
        assert len(http.requests) == 2 and http.open_connections() == 1
        [state, prompt] = http.requests[-1].body.values()
        assert read_map(state).tolist() == [0.0, 1.0, 2.0] and prompt == 'drive'
        assert http.requests[-1].path == '/v1/act'
        model.close()


@for_each(('reply', 'name', 'said'), [
    (Reply(b'slow down', 429), 'http_429', 'slow down'),
    (Reply(b'<html>\x1b[2J</html>', 500, content_type='text/html'), 'http_500', '\\u001b'),
    (Reply(b'not json'), 'malformed', 'no JSON'), (Reply(b'"error"'), 'server_error', 'error'),
    (Reply(b'{"error": "out of memory"}'), 'server_error', 'out of memory'),
    (Reply(b'{"error": "no CUDA", "actions": [[0.0, 0.0]]}'), 'server_error', 'no CUDA'),
    (Reply(b'[' * 100_000), 'malformed', 'no JSON'), (Reply(b'\xff\xfe'), 'malformed', 'no JSON'),
    (Reply(b'{"actions": {"__numpy__": "&&", "dtype": "<f4", "shape": [2]}}'), 'malformed', ''),
    (Reply(json.dumps({'a': {'__numpy__': 'AAAA', 'dtype': 'O', 'shape': [1]}}).encode()),
     'malformed', 'dtype'),
    (Reply(b'[1.0]', headers={'content-length': '500'}), 'malformed', ''),
    (Reply(b'[1.0, 0.0]', delay_s=0.6), 'timeout', 'within 0.2 s'),
    (Reply(b'[1.0, 0.0]', delay_s=0.6, trickles=True), 'timeout', 'within 0.2 s')],
    ids=str)
def test_what_goes_wrong_over_http_has_a_name_and_the_next_question_is_answered(reply, name, said):
    with serving(Reply(b'[1.0, 0.0]')) as http:
        model = warm(ActModel(http.base_url, SHORT))
        http.script(reply, Reply(b'[0.25, 0.0]'))
        error = failure(model)
        if reply.headers:  # two lengths: what comes of them is up to the HTTP client
            assert error.name in ('malformed', 'dropped', 'timeout')
        else:
            assert error.name == name and said in error.detail
        assert values(model.infer(INPUTS)) == [0.25, 0.0]
        model.close()


def test_a_server_that_is_still_loading_is_waited_for(monkeypatch):
    monkeypatch.setattr(server, '_PAUSE_S', 0.05)
    with serving(Reply(b'loading', 503), Reply(b'loading', 503),
                 Reply(b'[1.0, 0.0]', delay_s=0.4), Reply(b'[0.5, 0.0]')) as http:
        model = ActModel(http.base_url, SHORT)
        model.open()
        assert values(model.infer(INPUTS)) == [1.0, 0.0]  # later than timeout_s
        assert values(model.infer(INPUTS)) == [0.5, 0.0]
        model.close()


@for_each('make', [XPolicyLabModel, OpenpiModel])
def test_a_first_connection_on_which_the_server_says_nothing_is_given_up(make, monkeypatch):
    monkeypatch.setattr(f'{server.__package__}.websocket.SILENT_S', 0.1)
    visits: list[Any] = []

    def handle(connection: Any) -> None:
        connection.send(openpi_bytes({}))
        for data in connection:
            found = read_map(msgpack.unpackb(data, object_hook=read_map))
            kind = str(found.get('message_type', ''))
            connection.send(openpi_bytes({**found, 'message_type': {
                'reset': 'reset_result'}.get(kind, f'{kind}_ack')}))

    def late_once(connection: Any, request: Any) -> None:
        visits.append(request)
        if len(visits) == 1:
            time.sleep(0.7)
    with websocket(handle, process_request=late_once) as address:
        model = make(address, ModelOptions(cold_start_s=5.0))
        began_s = time.monotonic()
        model.open()
        assert time.monotonic() - began_s < 4.0 and len(visits) == 2
        model.close()


@for_each('make', [ActModel, OpenpiModel])
def test_a_server_that_never_comes_is_named_after_the_cold_start(make):
    address = nowhere().replace('http', 'ws' if make is OpenpiModel else 'http')
    model = make(address, ModelOptions(timeout_s=0.1, cold_start_s=0.2))
    with pytest.raises(InferenceError, match=f'refused: {make.kind}:{address}: nothing listens'):
        model.open()
    model.close()


def test_what_another_thread_waits_for_ends_with_the_interrupt():
    def silent(connection: Any) -> None:
        connection.recv(1 << 16)
        time.sleep(0.8)
    with listening(silent) as port:
        patient = ModelOptions(timeout_s=60.0, cold_start_s=60.0)
        for model in (ActModel(f'http://127.0.0.1:{port}', patient),
                      OpenpiModel(f'ws://127.0.0.1:{port}', patient)):
            ended: list[str] = []
            thread = threading.Thread(target=_ask, args=(model, ended))
            thread.start()
            time.sleep(0.1)
            model.interrupt()
            thread.join(LATE_S)
            assert not thread.is_alive() and ended == ['dropped']
            model.close()


def _ask(model: Any, ended: list[str]) -> None:
    try:
        model.infer(INPUTS)
    except InferenceError as error:
        ended.append(error.name)


@for_each('address', ['', 'ws://', 'ftp://a', '127.0.0.1:8000', 'ws://me:secret@host',
                      'ws://host?token=secret', 'ws://host#a', 'ws://host:99999', 'ws://a b'])
def test_an_address_with_a_secret_or_of_another_kind_is_refused(address):
    with pytest.raises(SettingsError, match='expected openpi:ws://HOST:PORT') as caught:
        OpenpiModel(address, SHORT)
    assert 'secret' not in str(caught.value)


def test_a_key_comes_from_the_environment_and_goes_to_the_server_alone(monkeypatch, caplog):
    monkeypatch.setenv('OPENPI_API_KEY', 'hush')
    keys: list[str] = []

    def handle(connection: Any) -> None:
        keys.append(connection.request.headers['Authorization'])
        connection.send(openpi_bytes({}))
        for _ in connection:
            connection.send(actions((1.0, 0.0))(None))
    with caplog.at_level('DEBUG'), websocket(handle) as address:
        warm(OpenpiModel(address, SHORT)).close()
    ours = [one for one in caplog.records if one.name != 'websockets.server']
    assert keys == ['Api-Key hush'] and ours
    assert not [one for one in ours if 'hush' in one.getMessage()]


def test_a_key_that_the_server_repeats_is_kept_nowhere(monkeypatch):
    monkeypatch.setenv('OPENPI_API_KEY', 'opk-0123456789')

    def refuse(connection: Any, request: Any) -> Any:
        return connection.respond(401, f'wrong: {request.headers["Authorization"]}')
    with websocket(lambda _: None, process_request=refuse) as address, \
            pytest.raises(InferenceError, match=r'wrong: Api-Key \*\*\*') as caught:
        OpenpiModel(address, SHORT).open()
    assert 'opk-' not in str(caught.value)


@for_each('variable', ['GR00T_API_TOKEN', 'HF_TOKEN', 'ANTHROPIC_API_KEY', 'DB_PASSWORD'])
def test_no_key_of_the_environment_that_a_server_repeats_is_kept(variable, monkeypatch):
    monkeypatch.setenv(variable, 'tok-0123456789')
    monkeypatch.setenv('KEYBOARD', 'an ordinary word')
    with gr00t(lambda request: {
            'error': f'an ordinary word: {request.get("api_token")} tok-0123456789'}) as address:
        model = Gr00tModel(address, SHORT)
        model.open()
        detail = failure(model, MODALITIES).detail
        model.close()
    assert 'an ordinary word' in detail and '***' in detail and 'tok-' not in detail


FIELD = st.sampled_from(['__ndarray__', '__npgeneric__', 'nd', 'data', 'dtype', 'type', 'shape',
                         '__ndarray_class__', 'as_npy', '__numpy__', 'x'])
VALUE = st.one_of(st.booleans(), st.integers(-5, 2 ** 60), st.floats(), st.binary(max_size=40),
                  st.text(max_size=8),
                  st.sampled_from(['<f4', '|u1', '|O', '(9,)<f4', 'M8', '<c8']),
                  st.lists(st.integers(-2, 9), max_size=3),
                  st.binary(max_size=60).map(lambda data: b'\x93NUMPY\x01\x00' + data))


@settings(max_examples=up_to(100), deadline=None)
@given(st.dictionaries(FIELD, VALUE, max_size=6))
def test_no_message_from_outside_ends_in_anything_but_a_name(found):
    text = {name: repr(value) if isinstance(value, bytes) else value
            for name, value in found.items()}
    for read, message in ((unpacked, msgpack.packb({'a': found})),
                          (from_json, json.dumps(text).encode()),
                          (unpacked, json.dumps(text).encode())):
        try:
            read(message)
        except InferenceError as error:
            assert error.name == 'malformed'


@for_each(('reader', 'message'), [
    (from_json, b'{"actions": [[0.0, 0.0]], "actions": [[0.8, 0.0]]}'),
    (from_json, json.dumps('{"a": {"b": 1, "b": 1}}').encode()),
    (unpacked, b'\x82\xa1a\x00\xa1a\x01')])
def test_a_message_with_a_key_twice_is_none(reader, message):
    with pytest.raises(InferenceError, match='malformed: .* twice, expected it once'):
        reader(message)


@for_each('write', [openpi_array, msgpack_numpy_array, npy_array, json_numpy_array])
@for_each('array', [numpy.arange(6, dtype='uint8').reshape(1, 2, 3), numpy.zeros((0, 7)),
                    numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)),
                    numpy.array(2.5, 'float32')])
def test_an_array_comes_back_as_it_was(write: Callable[[Any], Any], array):
    found = read_map(write(array))
    assert numpy.array_equal(found, array) and numpy.shape(found) == array.shape


IMAGE = numpy.arange(4 * 4 * 3, dtype='uint8').reshape(4, 4, 3)
MODALITIES = {'video.ego_view': IMAGE, 'state.base': numpy.arange(4.0)}
CHUNK = numpy.array([[[0.5, 0.25], [0.5, 0.0]]], 'float32')


def test_gr00t_takes_and_gives_modalities_as_it_declares_them():
    requests: list[Any] = []

    def answer(request: Any) -> Any:
        requests.append(request)
        return [{'base_motion': CHUNK}, {'note': 1}]
    with gr00t(answer) as address:
        model = Gr00tModel(address, SHORT)
        model.open()
        assert model.inputs().keys() == {
            'video.ego_view', 'state.base', 'language.annotation.human.task'}
        assert model.outputs().keys() == {'base_motion'}
        found = model.infer({**MODALITIES, 'language.annotation.human.task': 'drive'})
        assert found.outputs['base_motion'].tolist() == CHUNK.tolist()
        model.reset()
        model.close()
    seen = requests[0]['data']['observation']
    assert requests[0]['data']['options'] == {}
    assert seen['video']['ego_view'].shape == (1, 1, 4, 4, 3)
    assert seen['state']['base'].tolist() == [[[0.0, 1.0], [2.0, 3.0]]]
    assert seen['language'] == {'annotation.human.task': [['drive']]}


def test_an_answer_of_gr00t_that_comes_again_is_not_that_to_the_next_question():
    script = [{'base_motion': CHUNK}, {'base_motion': CHUNK * 2}, {'base_motion': CHUNK * 4}]
    with gr00t(lambda _: script.pop(0), says_again=True) as address:
        model = Gr00tModel(address, SHORT)
        model.open()
        assert [model.infer(MODALITIES).outputs['base_motion'].max() for _ in range(3)] == [
            0.5, 1.0, 2.0]
        model.close()


def test_a_question_that_gr00t_loses_with_its_connection_is_dropped_and_at_first_asked_again():
    script = [DIES, {'base_motion': CHUNK}, DIES]
    with gr00t(lambda _: script.pop(0)) as address:
        model = Gr00tModel(address, ModelOptions(timeout_s=LATE_S * 2, cold_start_s=60.0))
        model.open()
        began_s = time.monotonic()
        assert model.infer(MODALITIES).outputs['base_motion'].max() == 0.5
        assert time.monotonic() - began_s < 10.0
        assert failure(model, MODALITIES).name == 'dropped'
        model.close()


def test_a_gr00t_whose_connection_was_lost_keeps_nothing_of_the_trial_before():
    script, asked = [{'base_motion': CHUNK}, DIES, {'base_motion': CHUNK}], list[str]()
    with gr00t(lambda _: script.pop(0), asked=asked) as address:
        model = Gr00tModel(address, SHORT)
        model.open()
        model.infer(MODALITIES)
        assert failure(model, MODALITIES).name == 'dropped'
        asked.clear()
        model.reset()
        model.infer(MODALITIES)
        model.close()
    assert [one for one in asked if one in ('reset', 'get_action')] == ['reset', 'get_action']


def test_an_empty_answer_that_is_whole_is_malformed_and_not_waited_for():
    def empty(connection: Any) -> None:
        connection.recv(1 << 16)
        connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    with listening(empty) as port:
        model = ActModel(f'http://127.0.0.1:{port}/act', ModelOptions(cold_start_s=60.0))
        began_s = time.monotonic()
        assert failure(model).name == 'malformed'
        assert time.monotonic() - began_s < 10.0
        model.close()


def test_an_earlier_gr00t_is_asked_in_its_own_way():
    requests: list[Any] = []

    def answer(request: Any) -> Any:
        requests.append(request)
        return msgpack.packb({'action.base_motion': CHUNK[0]}, default=msgpack_numpy_array)
    with gr00t(answer, OLDER) as address:
        model = Gr00tModel(address, SHORT)
        model.open()
        found = model.infer(MODALITIES)
        assert found.outputs['base_motion'].tolist() == CHUNK[0].tolist()
        model.close()
    assert requests[0]['data']['video.ego_view'].shape == (1, 4, 4, 3)
    assert requests[0]['data']['state.base'].shape == (1, 4)


@for_each(('answer', 'name', 'said'), [
    ({'error': 'Unauthorized: Invalid API token'}, 'server_error', 'Unauthorized'),
    (b'ERROR', 'server_error', 'ERROR'), (b'\xc1', 'malformed', 'msgpack'),
    ([1.0], 'malformed', 'expected a map'),
    ({'base_motion': {'__ndarray_class__': True, 'as_npy': b'PK\x03\x04'}}, 'malformed', 'magic'),
    (None, 'timeout', '0.2 s')], ids=str)
def test_what_goes_wrong_at_gr00t_has_a_name_and_the_next_question_is_answered(answer, name, said):
    script = [{'base_motion': CHUNK}, answer, {'base_motion': CHUNK * 2}]

    def one(_: Any) -> Any:
        found = script.pop(0)
        time.sleep(0.0 if found is not None else 0.4)
        return found
    with gr00t(one) as address:
        model = Gr00tModel(address, SHORT)
        model.open()
        model.infer(MODALITIES)
        error = failure(model, MODALITIES)
        assert error.name == name and said in error.detail
        time.sleep(0.0 if answer is not None else 0.3)
        assert model.infer(MODALITIES).outputs['base_motion'].max() == 1.0
        model.close()
    if answer is None:
        assert failure(model, MODALITIES).name == 'refused'
        model.close()


def test_xpolicylab_is_asked_in_its_order_and_by_its_envelope():
    requests: list[Any] = []
    with xpolicylab(lambda _: {'actions': CHUNK[0], 'latency_ms': 12.5}, requests) as address:
        model = XPolicyLabModel(address, SHORT)
        model.open()
        found = model.infer({'vision/cam/color': IMAGE, 'state/base': numpy.zeros(2),
                             'instruction': 'drive'})
        assert found.outputs['actions'].tolist() == CHUNK[0].tolist()
        assert found.server_ns == 12_500_000
        model.reset()
        model.close()
    assert [one['message_type'] for one in requests] == [
        'hello', 'prepare_case', 'reset', 'infer', 'reset']
    seen = requests[3]['payload']['observation']
    assert seen['vision']['cam']['color'].shape == (4, 4, 3) and seen['instruction'] == 'drive'
    assert requests[3]['trial_id'] == requests[2]['payload']['trial_id'] != requests[4]['trial_id']
    assert len({one['evaluation_id'] for one in requests}) == 1


@for_each(('answer', 'name', 'said'), [
    ({'as': 'error', 'code': 'infer_failed', 'message': 'no CUDA'}, 'server_error',
     'infer_failed: no CUDA'), ({'as': 'reset_result'}, 'malformed', 'expected infer_result'),
    ({'action': 1}, 'malformed', 'without actions'), (b'\xc1', 'malformed', 'msgpack')], ids=str)
def test_what_goes_wrong_at_xpolicylab_has_a_name(answer, name, said):
    script = [{'actions': [{'base': [0.5, 0.0]}, {'base': [0.25, 0.0]}]}, answer,
              {'actions': CHUNK[0]}]
    with xpolicylab(lambda _: script.pop(0), []) as address:
        model = XPolicyLabModel(address, SHORT)
        model.open()
        assert model.infer(INPUTS).outputs == {'base': [[0.5, 0.0], [0.25, 0.0]]}
        error = failure(model)
        assert error.name == name and said in error.detail
        assert model.infer(INPUTS).outputs['actions'].shape == (2, 2)
        model.close()
