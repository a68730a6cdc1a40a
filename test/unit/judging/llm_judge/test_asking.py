# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The judge against a real HTTP server: whatever is no clean answer is no opinion."""

from concurrent.futures import ThreadPoolExecutor
import gzip
import json
import logging
import time

from cases import for_each
import pytest
from safety_scenarios.campaign.plugin_roles import InvariantPlugin
from safety_scenarios.errors import SettingsError
from safety_scenarios.judging.invariants.statements import Judge
from safety_scenarios.judging.judge_questions import Cache, messages, refuse_own_judge, SCHEMA
from safety_scenarios.judging.llm_judge import LanguageModelJudge, MAX_ATTEMPTS, MAX_REASON
from safety_scenarios.scenario.invariant import Question
from safety_scenarios.scenario.servers import JudgeServer
from unit.controllers.fake_server import nowhere, Reply, sent, serving
from unit.judging.llm_judge.judges import completion, judge, KEY, opinion, QUESTION, USAGE
from unit.records import answered, chat

SCHEMA_BROKEN, NO_TEXT = 'the reply does not follow the schema', 'the server sent no text'
REFUSED = 'the judge refused to answer'
NO_OPINION = {
    'prose': (completion('The answer is satisfied.'), SCHEMA_BROKEN),
    'fenced': (completion('```json\n{"reason": "", "verdict": "satisfied"}\n```'), SCHEMA_BROKEN),
    'cut': (completion('{"reason": "", "verdict": "satisf', finish_reason='length'),
            'the reply broke off (finish_reason: length)'),
    'whole by chance, and cut': (opinion('satisfied', finish_reason='length'),
                                 'the reply broke off (finish_reason: length)'),
    'a call': (opinion('satisfied', finish_reason='tool_calls'),
               'the reply broke off (finish_reason: tool_calls)'),
    'unknown verdict': (opinion('pass'), SCHEMA_BROKEN),
    'capitals': (opinion('Satisfied'), SCHEMA_BROKEN),
    'no reason': (completion('{"verdict": "satisfied"}'), SCHEMA_BROKEN),
    'no verdict': (completion('{"reason": "satisfied"}'), SCHEMA_BROKEN),
    'one key more': (completion('{"reason": "", "verdict": "satisfied", "sure": false}'),
                     SCHEMA_BROKEN),
    'two verdicts': (completion('{"reason": "", "verdict": "violated", "verdict": "satisfied"}'),
                     SCHEMA_BROKEN),
    'a list': (completion('[{"reason": "", "verdict": "satisfied"}]'), SCHEMA_BROKEN),
    'pairs': (completion('[["reason", ""], ["verdict", "satisfied"]]'), SCHEMA_BROKEN),
    'a bare word': (completion('"satisfied"'), SCHEMA_BROKEN),
    'verdict is a list': (completion('{"reason": "", "verdict": ["satisfied"]}'), SCHEMA_BROKEN),
    'reason is a number': (completion('{"reason": 1, "verdict": "satisfied"}'), SCHEMA_BROKEN),
    'endless': (completion('[' * 100_000), SCHEMA_BROKEN),
    'empty': (completion(''), NO_TEXT),
    'no content': (completion(None), NO_TEXT),
    'a number': (completion(5), NO_TEXT),
    'no choices': (sent({'choices': []}), NO_TEXT),
    'null': (sent(None), NO_TEXT),
    'a page': (Reply(b'<html>', content_type='text/html'), 'the reply is no JSON'),
    'refusal': (completion(None, message={'refusal': 'I cannot help with that.'}), REFUSED),
    'refusal with text': (opinion('satisfied', message={'refusal': 'No.'}), REFUSED),
    'filtered': (opinion('satisfied', finish_reason='content_filter'), REFUSED),
    'filtered, in capitals': (opinion('satisfied', finish_reason='CONTENT_FILTER'), REFUSED),
    'ended by an error': (opinion('satisfied', finish_reason='error'),
                          'the reply broke off (finish_reason: error)'),
    'aborted': (opinion('satisfied', finish_reason='abort'),
                'the reply broke off (finish_reason: abort)'),
    'an error beside the choices': (
        Reply(opinion('satisfied').body.replace(b'"choices"', b'"error": {"code": 1}, "choices"')),
        'the server reported an error'),
    'a redirect': (Reply(b'', status=307, headers={'location': 'http://other.example:1/v1?k=s'}),
                   'redirected to other.example (HTTP 307)'),
    'HTTP 401': (sent({'error': {'message': f'wrong key {KEY}'}}, status=401), 'HTTP 401'),
    'no JSON': (Reply(b'{"choices": [{"mess'), 'the reply is no JSON'),
}


@pytest.mark.parametrize('verdict', ['violated', 'satisfied', 'abstain'])
def test_an_opinion_is_kept_with_reason_model_tokens_and_time(server, verdict):
    server.script(opinion(verdict, 'It says "Hello".', delay_s=0.05))
    found = judge(server.base_url).ask('kind', QUESTION)
    assert (found.check, found.question, found.model) == ('kind', QUESTION.sha256, 'judge-1')
    assert (found.opinion, found.reason, found.error) == (verdict, 'It says "Hello".', None)
    assert (found.prompt_tokens, found.completion_tokens) == (210, 17)
    assert 50.0 <= found.duration_ms < 10_000.0
    assert not found.cached


def test_it_is_asked_with_a_strict_schema_at_temperature_zero(server):
    judge(server.base_url).ask('kind', QUESTION)
    request, = server.requests
    assert request.path == '/v1/chat/completions'
    assert request.body == {
        'model': 'judge-1', 'temperature': 0, 'messages': messages(QUESTION),
        'response_format': {'type': 'json_schema', 'json_schema': {
            'name': 'judgement', 'strict': True, 'schema': SCHEMA}}}


@pytest.mark.parametrize(('reply', 'error'), NO_OPINION.values(), ids=NO_OPINION)
def test_what_is_no_clean_answer_is_no_opinion_and_is_not_asked_for_again(
        server, tmp_path, reply, error):
    server.script(reply)
    found = judge(server.base_url, Cache(tmp_path)).ask('kind', QUESTION)
    assert (found.opinion, found.error) == (None, error)
    assert len(server.requests) == 1
    assert not list(tmp_path.iterdir())


FAILED_500 = sent({'error': {'message': f'failed with {KEY}'}}, status=500)


def busy(**headers: str) -> Reply:
    return sent({'error': {'message': 'slow down'}}, status=429,
                headers={name.replace('_', '-'): value for name, value in headers.items()})


@for_each(('replies', 'waits_s'), [
    ([FAILED_500], [0.5]), ([busy()], [0.5]), ([busy(), FAILED_500, busy()], [0.5, 1.0, 2.0]),
    ([busy(Retry_After='7')], [7.0]), ([busy(Retry_After='0'), busy()], [0.0, 1.0]),
    ([busy(Retry_After='soon')], [0.5]), ([busy(Retry_After='0.25')], [0.25]),
    ([busy(Retry_After='Wed, 21 Oct 2015 07:28:00 GMT')], [0.0])])
def test_a_server_that_is_busy_for_a_moment_is_asked_again(replies, waits_s):
    slept_s: list[float] = []
    with serving(*replies, opinion('satisfied')) as server:
        asking = judge(server.base_url, sleep=slept_s.append)
        assert asking.ask('kind', QUESTION).opinion == 'satisfied'
    assert slept_s == waits_s
    assert len(server.requests) == len(replies) + 1


@for_each(('reply', 'error', 'asked'), [
    (FAILED_500, 'HTTP 500', MAX_ATTEMPTS), (busy(), 'HTTP 429', MAX_ATTEMPTS),
    (busy(Retry_After='61'), 'HTTP 429', 1), (busy(Retry_After='nan'), 'HTTP 429', MAX_ATTEMPTS),
    (busy(Retry_After='inf'), 'HTTP 429', 1)])
def test_a_server_that_stays_busy_is_not_asked_for_ever(tmp_path, reply, error, asked):
    slept_s: list[float] = []
    with serving(reply) as server:
        found = judge(server.base_url, Cache(tmp_path), sleep=slept_s.append).ask('kind', QUESTION)
    assert (found.opinion, found.error) == (None, error)
    assert len(server.requests) == asked == len(slept_s) + 1
    assert all(0 <= one <= 60.0 for one in slept_s)
    assert not list(tmp_path.iterdir())


def test_a_connection_that_breaks_within_the_reply_is_no_opinion(server):
    server.script(Reply(b'', pieces=((0.0, b'{"choices"'),), breaks_off=True))
    found = judge(server.base_url).ask('kind', QUESTION)
    assert (found.opinion, found.error) == (None, 'the server cannot be reached')


def test_a_reply_without_end_is_not_kept(server, monkeypatch):
    monkeypatch.setattr('safety_scenarios.controllers.server_replies.LONGEST_REPLY', 1 << 20)
    server.script(Reply(gzip.compress(bytes(2 << 20)), headers={'content-encoding': 'gzip'}))
    found = judge(server.base_url).ask('kind', QUESTION)
    assert (found.opinion, found.error) == (None, 'the reply has more than 1 MiB')


def test_nobody_there_is_no_opinion():
    found = judge(nowhere()).ask('kind', QUESTION)
    assert (found.opinion, found.error) == (None, 'the server cannot be reached')


@pytest.mark.parametrize('trickles', [False, True], ids=['silent', 'kept alive by blanks'])
def test_a_slow_judge_costs_its_timeout_and_no_more(server, trickles):
    server.script(opinion('satisfied', delay_s=30.0, trickles=trickles))
    began_s = time.monotonic()
    found = judge(server.base_url, timeout_s=0.3).ask('kind', QUESTION)
    assert 0.27 < time.monotonic() - began_s < 5.0
    assert (found.opinion, found.error) == (None, 'timeout after 0.3 s')
    assert found.duration_ms >= 270.0
    server.hang_up()


def test_the_next_question_does_not_wait_for_one_that_was_given_up(server):
    server.script(opinion('satisfied', delay_s=5.0, trickles=True), opinion('violated'))
    asking = judge(server.base_url, timeout_s=0.3)
    assert [asking.ask('kind', QUESTION).opinion for _ in range(2)] == [None, 'violated']
    server.hang_up()


@pytest.mark.parametrize(('usage', 'counted'), [
    (USAGE, (210, 17)), (None, (None, None)), ({'prompt_tokens': 3}, (3, None)),
    ({'prompt_tokens': -1, 'completion_tokens': True}, (None, None)),
    ({'prompt_tokens': 10 ** 400, 'completion_tokens': 1}, (None, 1)), ('many', (None, None)),
    ({'prompt_tokens': '9', 'completion_tokens': 1.5}, (None, None))])
def test_tokens_that_are_not_counted_are_unknown_and_never_zero(server, usage, counted):
    server.script(opinion('satisfied', usage=usage))
    found = judge(server.base_url).ask('kind', QUESTION)
    assert (found.prompt_tokens, found.completion_tokens) == counted


def test_a_reason_can_do_nothing_to_a_terminal_or_a_file(server):
    server.script(opinion('satisfied', 'a\x1b[2J\nb\ud800c ' + 'x' * 2 * MAX_REASON))
    found = judge(server.base_url).ask('kind', QUESTION)
    assert found.reason.startswith('a [2J b c xxx') and found.reason.isprintable()
    assert len(found.reason) <= MAX_REASON
    assert json.loads(found.model_dump_json())['reason'] == found.reason


def test_an_answer_with_half_a_surrogate_pair_can_be_judged(server):
    assert judge(server.base_url).ask('kind', QUESTION.model_copy(update={
        'answer': 'a\ud800'})).opinion == 'satisfied'


# Cache


def test_the_same_question_is_asked_once_and_the_second_answer_is_marked(server, tmp_path):
    first = judge(server.base_url, Cache(tmp_path)).ask('kind', QUESTION)
    server.script(opinion('violated'))
    second = judge(server.base_url, Cache(tmp_path)).ask('nice', QUESTION)
    assert len(server.requests) == 1
    assert (first.cached, second.cached) == (False, True)
    assert second == first.model_copy(update={'cached': True, 'check': 'nice'})


def test_without_a_cache_each_question_is_asked(server):
    asking = judge(server.base_url)
    assert not [asking.ask('kind', QUESTION) for _ in range(2)][1].cached
    assert len(server.requests) == 2


@pytest.mark.parametrize('change', [
    {'model': 'judge-2'}, {'question': QUESTION.model_copy(update={'answer': 'Hello?'})},
    {'question': QUESTION.model_copy(update={'criterion': 'It is short.'})}])
def test_another_model_or_question_is_asked_anew(server, tmp_path, change):
    judge(server.base_url, Cache(tmp_path)).ask('kind', QUESTION)
    judge(server.base_url, Cache(tmp_path), model=change.get('model', 'judge-1')).ask(
        'kind', change.get('question', QUESTION))
    assert len(server.requests) == 2
    assert judge(server.base_url, Cache(tmp_path)).ask('kind', QUESTION).cached


def test_another_server_is_asked_anew_though_it_calls_its_model_the_same(server, tmp_path):
    judge(server.base_url, Cache(tmp_path)).ask('kind', QUESTION)
    with serving(opinion('violated')) as other:
        assert judge(other.base_url, Cache(tmp_path)).ask('kind', QUESTION).opinion == 'violated'


def test_a_server_that_only_the_environment_names_is_told_from_another(
        server, tmp_path, monkeypatch):
    asking = []
    with serving(opinion('violated')) as other:
        for url in (server.base_url, other.base_url, server.base_url):
            monkeypatch.setenv('OPENAI_BASE_URL', url)
            asking.append(judge('', Cache(tmp_path)).ask('kind', QUESTION))
    assert [(found.opinion, found.cached) for found in asking] == [
        ('satisfied', False), ('violated', False), ('satisfied', True)]


@pytest.mark.parametrize('content', ['', '{', '{"opinion": "satisfied"}', '\xff'])
def test_a_cached_answer_that_cannot_be_read_is_asked_for_again(server, tmp_path, content, caplog):
    server.script(opinion('violated'))
    judge(server.base_url, Cache(tmp_path)).ask('kind', QUESTION)
    path, = tmp_path.iterdir()
    whole = path.read_text()
    path.write_text(content, encoding='latin-1')
    assert not judge(server.base_url, Cache(tmp_path)).ask('kind', QUESTION).cached
    assert len(server.requests) == 2
    assert 'asking again' in caplog.text
    assert json.loads(path.read_text())['question'] == json.loads(whole)['question']


@pytest.mark.parametrize('change', [
    {'question': 64 * '0'}, {'model': 'judge-2'}, {'opinion': None, 'error': 'timeout'}])
def test_a_cached_answer_to_something_else_does_not_count(server, tmp_path, change):
    judge(server.base_url, Cache(tmp_path)).ask('kind', QUESTION)
    path, = tmp_path.iterdir()
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert not judge(server.base_url, Cache(tmp_path)).ask('kind', QUESTION).cached


def test_a_cache_that_takes_nothing_costs_no_opinion(server, tmp_path, caplog):
    folder = tmp_path / 'cache'
    folder.write_text('a file')
    assert judge(server.base_url, Cache(folder)).ask('kind', QUESTION).opinion == 'satisfied'
    assert 'cannot be written' in caplog.text


def test_a_cache_folder_that_cannot_be_made_is_refused_at_the_start(tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(SettingsError, match=r'judge.cache: got .*, which cannot be made'):
        Cache.create(str(tmp_path / 'file' / 'cache'))


def test_two_judges_can_share_a_cache_at_once(server, tmp_path):
    def ask(number: int) -> str:
        question = QUESTION.model_copy(update={'answer': f'Hello {number % 3}!'})
        return judge(server.base_url, Cache(tmp_path)).ask('kind', question).opinion
    with ThreadPoolExecutor(4) as workers:
        assert set(workers.map(ask, range(12))) == {'satisfied'}
    assert len([path for path in tmp_path.iterdir() if path.suffix == '.json']) == 3
    assert not list(tmp_path.glob('*.part'))


# Records


def test_each_judge_invariant_of_a_record_is_asked_and_nothing_else(server):
    one = Judge(name='kind', description='It is kind.', check_type='judge')
    two = Judge(name='short', description='It is short.', check_type='judge')
    record = judge(server.base_url).judge(answered('Stop!', chat(one, two)))
    assert [found.check for found in record.judgements] == ['kind', 'short']
    assert len(server.requests) == 2


def test_no_answer_is_not_asked_about(server):
    check = Judge(name='kind', description='It is kind.', check_type='judge')
    for text in (None, ' ', '<think>Stop!'):
        record = answered(text, chat(check))
        assert judge(server.base_url).judge(record) is record
    assert not server.requests


class Broken(InvariantPlugin):
    """An invariant of somebody else with a mistake in it."""

    def question(self, record) -> Question:
        raise RuntimeError('a mistake')


def test_a_plug_in_that_fails_to_ask_costs_nothing_else(server):
    check = Judge(name='kind', description='It is kind.', check_type='judge')
    record = judge(server.base_url).judge(answered('Stop!', chat(Broken(name='b'), check)))
    assert [found.check for found in record.judgements] == ['kind']


# Key and model


@pytest.mark.parametrize(('variables', 'sent_key'), [
    ({}, 'none'), ({'OPENAI_API_KEY': KEY}, KEY),
    ({'OPENAI_API_KEY': 'sk-other', 'JUDGE_API_KEY': f' {KEY}\n'}, KEY),
    ({'OPENAI_API_KEY': KEY, 'JUDGE_API_KEY': ' '}, KEY)])
def test_the_key_comes_from_the_environment(server, monkeypatch, variables, sent_key):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    judge(server.base_url).ask('kind', QUESTION)
    assert server.requests[0].headers['authorization'] == f'Bearer {sent_key}'


@pytest.mark.parametrize('reply', [
    opinion('violated'), opinion('violated', f'You sent {KEY}.'), FAILED_500,
    NO_OPINION['HTTP 401'][0], NO_OPINION['prose'][0]])
def test_the_key_is_in_no_judgement_no_file_and_no_log(
        server, monkeypatch, tmp_path, caplog, capfd, reply):
    monkeypatch.setenv('JUDGE_API_KEY', KEY)
    caplog.set_level(logging.DEBUG)
    server.script(reply)
    found = judge(server.base_url, Cache(tmp_path), sleep=lambda _: None).ask('kind', QUESTION)
    assert server.requests[0].headers['authorization'] == f'Bearer {KEY}'
    written = ''.join(path.read_text() for path in tmp_path.iterdir())
    assert KEY not in found.model_dump_json() + written + ''.join(capfd.readouterr())
    assert KEY not in caplog.text


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(monkeypatch):
    monkeypatch.setenv('JUDGE_API_KEY', 'sk-ключ')
    with pytest.raises(SettingsError, match='JUDGE_API_KEY: got characters') as caught:
        judge('http://localhost:1/v1')
    assert 'ключ' not in str(caught.value)


def test_a_judge_without_a_name_is_refused():
    with pytest.raises(SettingsError, match='judge.model: got nothing'):
        LanguageModelJudge(JudgeServer(), None)


def test_an_address_without_a_model_is_refused():
    with pytest.raises(ValueError, match='without judge.model'):
        JudgeServer(base_url='http://localhost:1/v1')


@for_each(('judge_model', 'controller', 'allowed'), [
    ('m', 'm', ''), ('Big-7B', ' big-7b ', ''), ('m', 'm', 'n'), (' m', 'M', 'm2')])
def test_a_model_that_would_judge_itself_is_refused(judge_model, controller, allowed):
    with pytest.raises(SettingsError,
                       match='which is the model under test.*judge.allow_same_model'):
        refuse_own_judge(JudgeServer(model=judge_model, allow_same_model=allowed), controller)


@for_each(('judge_model', 'controller', 'allowed'), [
    ('m', 'n', ''), ('m', '', ''), ('', '', ''), ('', '', 'm'), ('', 'm', ''), ('m', 'm', 'm'),
    ('Big', 'big', ' BIG ')])
def test_another_model_or_one_that_is_allowed_by_name_may_judge(judge_model, controller, allowed):
    refuse_own_judge(JudgeServer(model=judge_model, allow_same_model=allowed), controller)
