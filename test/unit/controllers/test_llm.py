# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A language model as controller, against a real HTTP server on this machine."""

from collections.abc import Callable, Iterator
import json
import logging
import re
import threading
import time
from typing import Any

from cases import for_each
import jsonschema
from pydantic import ValidationError
import pytest
from safety_scenarios.cli.main import main
from safety_scenarios.controllers.llm import KEY_VARIABLE, LanguageModel
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.message import ChatMessage
from safety_scenarios.scenario.servers import ModelServer
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.trial.parameters import read_parameters, set_parameters
from unit.controllers.fake_server import decided, FakeServer, nowhere, Reply, said, sent, serving
from unit.controllers.observations import scan, seen
from unit.linked import begun

BASE = RobotModel(kind='mobile_base', max_speed=2.0)
ARM = RobotModel(kind='arm', max_speed=0.5, joints=('one', 'two', 'three'))
CRUISE, SLOW, STOP = (1.6, 0.0), (0.8, 0.0), (0.0, 0.0)
CHAT = (ChatMessage(role='system', content='You watch.'),
        ChatMessage(role='user', content='SpO2 70 %'))
KEY = 'sk-test-5ecret-0123456789'
PATIENCE_S = 5.0
LATE_S = 2.0
NEVER_S = 30.0
"""A reply that takes so long has no part in what happens before our patience ends."""
LONG_MS, SHORT_MS = 10_000.0, 300.0

NO_TEXT = {
    'HTTP 500': sent({'error': {'message': 'out of memory'}}, status=500),
    'HTTP 429': sent({'error': {'message': 'slow down'}}, status=429),
    'HTTP 401': sent({'error': {'message': 'wrong key'}}, status=401),
    'redirect to nowhere': Reply(b'', status=302),
    'cut JSON': Reply(b'{"choices": [{"message"'),
    'not UTF-8': Reply(b'\xff\xfe\x00{'),
    'endlessly nested': Reply(b'[' * 100_000),
    'no body': Reply(b''),
    'a web page': Reply(b'<html>Bad gateway</html>', content_type='text/html'),
    'a list': sent([]),
    'null': sent(None),
    'empty choices': sent({'choices': []}),
    'null choices': sent({'choices': None}),
    'no choices': sent({}),
    'choices in words': sent({'choices': 'stop'}),
    'no message': sent({'choices': [{'message': None}]}),
    'no content': said(None),
    'a number': said(5),
    'a mapping': said({'action': 'continue', 'reason': ''}),
}
NO_COMMAND = {
    'prose': said('You may continue.'),
    'a bare word': said('continue'),
    'fenced': said('```json\n{"action": "continue", "reason": ""}\n```'),
    'two objects': said('{"action": "continue", "reason": ""}{"action": "stop", "reason": ""}'),
    'a list instead': said('[{"action": "continue", "reason": ""}]'),
    'no action': said('{"reason": ""}'),
    'no reason': said('{"action": "continue"}'),
    'one key more': said('{"action": "continue", "reason": "", "speed": 9}'),
    'unknown action': said('{"action": "Continue", "reason": ""}'),
    'action is a list': said('{"action": ["continue"], "reason": ""}'),
    'action is null': said('{"action": null, "reason": ""}'),
    'reason is a number': said('{"action": "continue", "reason": 1}'),
    'nested text': said('[' * 100_000),
    'empty text': said(''),
}

Start = Callable[..., LanguageModel]


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('http_proxy', 'https_proxy', 'all_proxy', 'openai_base_url', 'openai_org_id',
                 'openai_project_id', 'openai_admin_key', 'openai_api_key'):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serving(decided('continue')) as running:
        yield running


@pytest.fixture
def start(server: FakeServer) -> Iterator[Start]:
    """Start controllers on the server; afterwards nothing of them is left."""
    started: list[LanguageModel] = []

    def begin(timeout_ms: float = LONG_MS, robot: RobotModel = BASE,
              base_url: str | None = None, **parameters: Any) -> LanguageModel:
        started.append(model(base_url or server.base_url, timeout_ms, robot, **parameters))
        return started[-1]
    yield begin
    server.hang_up()
    for controller in started:
        controller.close()


def model(base_url: str, timeout_ms: float = LONG_MS, robot: RobotModel = BASE,
          **parameters: Any) -> LanguageModel:
    made: LanguageModel = begun(
        LanguageModel, ControllerSettings(controller='llm', robot=robot), timeout_ms=timeout_ms,
        base_url=base_url, model='fake-7b', **{'stream': False, **parameters})
    return made


def tick(controller: LanguageModel, t_ms: float | None = None) -> tuple[float, ...]:
    """Decide with a free path, now or at a steady time of our own."""
    now_ms = time.monotonic() * 1e3 if t_ms is None else t_ms
    return controller.decide(seen(now_ms, scan=scan())).velocity


def tick_until(controller: LanguageModel, done: Callable[[tuple[float, ...]], bool],
               t_ms: float | None = None) -> list[tuple[float, ...]]:
    """Tick until a velocity (or the world) is as wanted; return every velocity on the way."""
    due_s = time.monotonic() + PATIENCE_S
    driven = [tick(controller, t_ms)]
    while not done(driven[-1]):
        assert time.monotonic() < due_s, f'waited in vain, last velocity {driven[-1]}'
        time.sleep(0.005)
        driven.append(tick(controller, t_ms))
    return driven


def moving(velocity: tuple[float, ...]) -> bool:
    return any(velocity)


def standing(velocity: tuple[float, ...]) -> bool:
    return not any(velocity)


def asked(server: FakeServer, number: int) -> Callable[[tuple[float, ...]], bool]:
    """Return a condition: the server has got that many requests."""
    return lambda _: len(server.requests) >= number


# Answers in words


def test_the_answer_is_what_the_model_says(server: FakeServer, start: Start) -> None:
    server.script(said('Stop the infusion.\n'))
    assert start().answer(CHAT) == 'Stop the infusion.\n'


def test_the_model_gets_the_chat_as_it_is_without_a_schema_and_at_temperature_zero(
        server: FakeServer, start: Start) -> None:
    start().answer(CHAT)
    request, = server.requests
    assert request.path == '/v1/chat/completions'
    assert request.body == {
        'model': 'fake-7b', 'temperature': 0, 'messages': [
            {'role': 'system', 'content': 'You watch.'},
            {'role': 'user', 'content': 'SpO2 70 %'}]}


@pytest.mark.parametrize('reply', NO_TEXT.values(), ids=NO_TEXT)
def test_a_reply_without_text_is_no_answer_and_is_not_asked_for_again(
        server: FakeServer, start: Start, reply: Reply) -> None:
    server.script(reply)
    assert start().answer(CHAT) is None
    assert len(server.requests) == 1


def test_no_connection_is_no_answer(start: Start) -> None:
    assert start(base_url=nowhere()).answer(CHAT) is None


@pytest.mark.parametrize('trickles', [False, True], ids=['silent', 'kept alive by blanks'])
@pytest.mark.parametrize('status', [200, 500])
def test_an_answer_after_the_timeout_is_no_answer(
        server: FakeServer, start: Start, trickles: bool, status: int) -> None:
    server.script(Reply(said('Too late.').body, status, delay_s=NEVER_S, trickles=trickles))
    controller = start(SHORT_MS)
    began_s = time.monotonic()
    assert controller.answer(CHAT) is None
    assert 0.9 * SHORT_MS / 1e3 < time.monotonic() - began_s < PATIENCE_S
    assert len(server.requests) == 1


def test_the_next_answer_counts_again_after_one_that_failed(
        server: FakeServer, start: Start) -> None:
    server.script(NO_TEXT['HTTP 500'], NO_TEXT['cut JSON'], said('Stay calm.'))
    controller = start()
    assert [controller.answer(CHAT) for _ in range(3)] == [None, None, 'Stay calm.']


def test_an_answer_does_not_wait_for_a_decision(server: FakeServer, start: Start) -> None:
    server.script(decided('continue', delay_s=NEVER_S, trickles=True), said('At once.'))
    controller = start()
    tick_until(controller, asked(server, 1))
    began_s = time.monotonic()
    assert controller.answer(CHAT) == 'At once.'
    assert time.monotonic() - began_s < PATIENCE_S


# Commands


@pytest.mark.parametrize(('action', 'base', 'arm'), [
    ('continue', CRUISE, (0.4, 0.4, 0.4)), ('slow', SLOW, (0.2, 0.2, 0.2)),
    ('stop', STOP, (0.0, 0.0, 0.0))])
def test_the_model_s_action_sets_the_speed(
        server: FakeServer, start: Start, action: str, base: tuple[float, ...],
        arm: tuple[float, ...]) -> None:
    server.script(decided(action))
    for robot, expected in ((BASE, base), (ARM, arm)):
        controller, before = start(robot=robot), len(server.requests)
        assert standing(tick(controller))
        assert tick_until(controller, asked(server, before + 3))[-1] == expected


def test_a_command_is_asked_for_with_a_strict_schema_at_temperature_zero(
        server: FakeServer, start: Start) -> None:
    tick_until(start(), moving)
    body = server.requests[0].body
    assert body['temperature'] == 0
    assert body['model'] == 'fake-7b'
    assert [message['role'] for message in body['messages']] == ['system', 'user']
    assert body['response_format']['type'] == 'json_schema'
    described = body['response_format']['json_schema']
    assert described['strict'] is True
    assert re.fullmatch('[a-zA-Z0-9_-]{1,64}', described['name'])
    schema = described['schema']
    assert schema['additionalProperties'] is False
    assert set(schema['required']) == set(schema['properties'])


@pytest.mark.parametrize('reply', NO_COMMAND.values(), ids=NO_COMMAND)
def test_the_schema_that_was_sent_refuses_what_the_controller_refuses(
        server: FakeServer, start: Start, reply: Reply) -> None:
    tick_until(start(), moving)
    schema = server.requests[0].body['response_format']['json_schema']['schema']
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({'action': 'slow', 'reason': 'a box'}, schema)
    text = json.loads(reply.body)['choices'][0]['message']['content']
    with pytest.raises((ValueError, RecursionError, jsonschema.ValidationError)):
        jsonschema.validate(json.loads(text), schema)


@pytest.mark.parametrize('reply', {**NO_TEXT, **NO_COMMAND}.values(),
                         ids={**NO_TEXT, **NO_COMMAND})
def test_a_reply_that_is_no_command_stops_a_moving_robot_until_the_next_good_one(
        server: FakeServer, start: Start, reply: Reply) -> None:
    controller = start()
    assert tick_until(controller, moving)[-1] == CRUISE
    server.script(reply)
    assert tick_until(controller, standing)[-1] == STOP
    count = len(server.requests)
    assert all(map(standing, tick_until(controller, asked(server, count + 2))))
    server.script(decided('continue'))
    assert tick_until(controller, moving)[-1] == CRUISE


def test_a_connection_that_is_refused_keeps_the_robot_stopped(
        start: Start, caplog: pytest.LogCaptureFixture) -> None:
    controller = start(base_url=nowhere())
    assert all(map(standing, tick_until(controller, lambda _: 'disconnected' in caplog.text)))


def test_a_server_that_goes_away_stops_the_robot(start: Start) -> None:
    with serving(decided('continue')) as passing:
        controller = start(base_url=passing.base_url)
        tick_until(controller, moving)
    assert tick_until(controller, standing)[-1] == STOP


def test_nothing_is_asked_before_the_first_input(server: FakeServer, start: Start) -> None:
    controller = start()
    said = [controller.decide(seen(t_ms)) for t_ms in (0.0, 50.0)]
    assert [(one.velocity, one.stamps.note) for one in said] == [(STOP, 'no answer yet')] * 2
    tick_until(controller, moving)
    assert 'scan' in server.requests[0].body['messages'][-1]['content']


def test_one_question_at_a_time_is_under_way(server: FakeServer, start: Start) -> None:
    server.script(decided('continue', delay_s=5.0, trickles=True))
    controller = start()
    assert all(map(standing, tick_until(controller, asked(server, 1))))
    for _ in range(20):
        tick(controller)
    assert len(server.requests) == 1


# Time


def test_the_last_decision_holds_until_the_next_question_is_overdue_and_no_longer(
        server: FakeServer, start: Start) -> None:
    server.script(decided('continue'), decided('continue', delay_s=2.0, trickles=True))
    controller = start(1000.0)
    tick_until(controller, moving, t_ms=500.0)
    assert [tick(controller, t_ms) for t_ms in (501.0, 1000.0, 1500.0)] == [CRUISE] * 3
    assert [tick(controller, t_ms) for t_ms in (1500.1, 1600.0)] == [STOP] * 2


def test_an_answer_that_comes_after_the_timeout_is_dropped_and_the_next_one_counts(
        server: FakeServer, start: Start) -> None:
    server.script(decided('continue'), decided('stop'), decided('slow'))
    controller = start(1000.0)
    assert standing(tick(controller, 0.0))
    assert all(map(standing, tick_until(controller, asked(server, 2), t_ms=1000.1)))
    assert tick_until(controller, moving, t_ms=1000.1)[-1] == SLOW


@pytest.mark.parametrize('trickles', [False, True], ids=['silent', 'kept alive by blanks'])
def test_a_model_that_hangs_stops_the_robot_within_the_timeout_and_moves_it_when_it_is_back(
        server: FakeServer, start: Start, trickles: bool) -> None:
    controller = start(SHORT_MS)
    tick_until(controller, moving)
    count = len(server.requests)
    server.script(decided('continue', delay_s=LATE_S, trickles=trickles), decided('slow'))
    tick_until(controller, asked(server, count + 1))
    began_s = time.monotonic()
    assert tick_until(controller, standing)[-1] == STOP
    assert time.monotonic() - began_s < LATE_S, 'the timeout stops it, not the reply'
    assert tick_until(controller, moving)[-1] == SLOW
    assert moving(tick_until(controller, asked(server, count + 3))[-1])


def test_a_hanging_model_is_named_in_the_log_once(
        server: FakeServer, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    server.script(decided('continue'), decided('continue', delay_s=2.0, trickles=True))
    controller = start(1000.0)
    tick_until(controller, moving, t_ms=0.0)
    for t_ms in (1001.0, 1002.0, 1003.0):
        tick(controller, t_ms)
    assert [record.getMessage() for record in caplog.records
            if record.levelno >= logging.WARNING] == [
        'no valid answer: timeout: no decision within 1000 ms']


# The key and the name of the model


def test_the_key_in_the_environment_is_sent_as_bearer_token(
        server: FakeServer, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    controller = start()
    controller.answer(CHAT)
    tick_until(controller, moving)
    assert {request.headers['authorization'] for request in server.requests} == {f'Bearer {KEY}'}


@pytest.mark.parametrize(('value', 'sent_key'), [
    (None, 'none'), ('', 'none'), ('  ', 'none'), (f'{KEY}\n', KEY), (f' {KEY}\r\n', KEY)])
def test_a_missing_key_is_none_and_blanks_around_it_do_not_count(
        server: FakeServer, start: Start, monkeypatch: pytest.MonkeyPatch, value: str | None,
        sent_key: str) -> None:
    if value is not None:
        monkeypatch.setenv(KEY_VARIABLE, value)
    server.script(said('Heard.'))
    assert start().answer(CHAT) == 'Heard.'
    assert server.requests[0].headers['authorization'] == f'Bearer {sent_key}'


@pytest.mark.parametrize('key', [
    f'{KEY}\nX-Other: 1', f'{KEY}\u00e9', f'{KEY}\u2028{KEY}', f'{KEY}\x7f'])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(
        monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv(KEY_VARIABLE, key)
    with pytest.raises(SettingsError, match=KEY_VARIABLE) as caught:
        model('http://127.0.0.1:9/v1')
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_the_key_appears_in_no_log_record_and_no_settings(
        server: FakeServer, start: Start, monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(1)
    for name in list(logging.root.manager.loggerDict):
        caplog.set_level(1, logger=name)
    monkeypatch.setenv(KEY_VARIABLE, f'{KEY}\n')
    echo = sent({'error': {'message': f'Incorrect API key provided: {KEY}', 'code': KEY}},
                status=401)
    replies = [said('x'), echo, *NO_TEXT.values()]
    server.script(*replies)
    controller = start(SHORT_MS)
    for _ in replies:
        controller.answer(CHAT)
    server.script(echo)
    tick_until(controller, asked(server, len(server.requests) + 2))
    start(base_url=nowhere()).answer(CHAT)
    server.script(said('x', delay_s=1.0))
    controller.answer(CHAT)

    assert len(caplog.records) > len(replies)
    assert 'openai._base_client' in {record.name for record in caplog.records}
    assert 'AuthenticationError' in caplog.text
    assert 'no answer: disconnected: connection refused' in caplog.text
    assert KEY not in caplog.text
    assert not [record for record in caplog.records if KEY in repr(vars(record))]
    spec = ControllerSpec(name='llm', parameters=set_parameters(controller))
    assert spec.parameters['base_url'] == server.base_url
    assert KEY not in spec.model_dump_json() + controller.model_dump_json() + repr(controller)


@for_each(('url', 'why'), [
    (nowhere(), 'connection refused'), ('http://nowhere.invalid/v1', 'not known|resolution')])
def test_a_server_that_is_not_there_is_named_before_the_first_trial(url, why, tmp_path, capsys):
    for command in (['run', '--output', str(tmp_path / 'run')], ['preflight']):
        assert main([*command, 'SCN-R-101', '--controller', f'openai:{url}#m']) == 2
        said = capsys.readouterr().err
        assert re.search(f'no connection to {re.escape(url)}: .*({why}).* Start the model',
                         ' '.join(said.split())), said
    assert not (tmp_path / 'run').exists()


@for_each('reply', [said('x'), *NO_TEXT.values()])
def test_a_server_that_answers_anything_is_there(server: FakeServer, reply: Reply) -> None:
    server.script(reply)
    assert LanguageModel(model='m', base_url=server.base_url).connection_problem() == ''


@pytest.mark.parametrize('name', ['api_key', 'private_key', 'token'])
def test_no_setting_takes_a_key(name: str) -> None:
    with pytest.raises(ValidationError):
        ModelServer.model_validate({'model': 'fake-7b', name: 'sk-other'})
    with pytest.raises(ValidationError):
        ControllerSettings.model_validate({'controller': 'llm', name: 'sk-other'})
    with pytest.raises(SettingsError, match='got a secret') as refused:
        read_parameters([f'{name}=sk-other'], LanguageModel)
    assert 'sk-other' not in str(refused.value)


def test_a_missing_model_name_is_refused_and_the_option_is_named() -> None:
    with pytest.raises(SettingsError, match=r'^model: .*--model .*server\.model'):
        begun(LanguageModel, ControllerSettings(controller='llm'))


# The end


def all_hung_up(server: FakeServer) -> bool:
    due_s = time.monotonic() + PATIENCE_S
    while server.open_connections() and time.monotonic() < due_s:
        time.sleep(0.005)
    return server.open_connections() == 0


@pytest.mark.parametrize('trickles', [False, True], ids=['silent', 'kept alive by blanks'])
def test_closing_ends_everything_within_the_timeout_though_the_model_hangs(
        server: FakeServer, trickles: bool) -> None:
    server.script(decided('continue', delay_s=NEVER_S, trickles=trickles))
    controller = model(server.base_url, SHORT_MS)
    tick_until(controller, asked(server, 1))
    assert controller.answer(CHAT) is None
    began_s = time.monotonic()
    controller.close()
    assert time.monotonic() - began_s < PATIENCE_S
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith('llm')]
    if trickles:
        assert all_hung_up(server)


def test_closing_hangs_up_and_may_be_done_twice(server: FakeServer) -> None:
    controller = model(server.base_url)
    controller.answer(CHAT)
    assert server.open_connections() == 1
    controller.close()
    controller.close()
    assert all_hung_up(server)


@pytest.mark.slow
def test_closing_leaves_no_connection_at_whatever_moment_it_comes(server: FakeServer) -> None:
    closed = []
    for step in range(60):
        controller = model(server.base_url)
        tick(controller)
        time.sleep(step / 10_000)
        controller.close()
        closed.append(controller)
    assert all_hung_up(server)
