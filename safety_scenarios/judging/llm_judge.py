# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The judge: a language model behind any OpenAI-compatible server."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
import hashlib
import json
import time
from typing import Any

from safety_scenarios.controllers.chat.reply import completion_of, Fault, FaultyReplyError
from safety_scenarios.controllers.server_replies import (
    api_key,
    ReplyBody,
    ReplyTooLargeError,
    retry_after_s,
    token_count,
    without_keys,
)
from safety_scenarios.errors import MissingDependencyError, SettingsError
from safety_scenarios.judging.grading import unanswered
from safety_scenarios.judging.judge_questions import Cache, messages, SCHEMA
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.scenario.invariant import Asks, AsksOften, Judgement, Opinion, Question
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.servers import JudgeServer
from safety_scenarios.scenario.untrusted_text import read_json
from safety_scenarios.trial.trial import TrialRecord

try:
    import openai
    from safety_scenarios.controllers.chat import language_models
except ImportError as error:
    raise MissingDependencyError('a judge', 'openai', "pip install 'openai>=1.55.3'") from error

KEY_VARIABLES = ('JUDGE_API_KEY', 'OPENAI_API_KEY')
"""The first that is set counts."""
MAX_ATTEMPTS = 4
"""How often one question is asked of a server that is overloaded or broken for a moment."""
FIRST_WAIT_S = 0.5
"""Before a question is asked again; doubled each time, unless the server says how long."""
MAX_WAIT_S = 60.0
"""Longest wait that a server may ask for; whoever asks for more is not asked again."""
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504, 529))
"""HTTP statuses of what may be over in a moment."""
MAX_REASON = 1000
"""Characters of what a judge gives as its reason."""
_BROKEN: tuple[type[Exception], ...] = (
    openai.APIConnectionError, *language_models.TRANSPORT_ERRORS)


class _Reply(Noun):
    reason: str
    verdict: Opinion


class _NoOpinionError(Exception):
    """Why the judge said nothing that counts, in our own words."""


class LanguageModelJudge:
    """
    Asks one question at a time; whatever goes wrong is a judgement without an opinion.

    Each attempt costs at most ``judge.timeout_s``. A server that is overloaded or broken (HTTP
    429, 500 and the like) is asked up to four times, after a wait that doubles or that it names
    by ``Retry-After``, of at most a minute. The key is read from the environment and goes nowhere
    else.

    :param cache: what was asked before is not asked again; None to ask each time
    :param reads_words: whether it is asked about the words of rules and patterns as well
    :param sleep: waits for some seconds
    :raises SettingsError: no model is named, or the key cannot be sent
    """

    def __init__(self, server: JudgeServer, cache: Cache | None, *,
                 reads_words: bool = True,
                 sleep: Callable[[float], None] = time.sleep) -> None:
        if not server.model:
            raise SettingsError('judge.model: got nothing, expected the name of a model. '
                                'Set judge.model')
        self._server = server
        self._cache = cache
        self._reads_words, self._sleep = reads_words, sleep
        self._key = api_key(*KEY_VARIABLES)
        with self._client() as client:
            self._address = str(client.base_url)  # which an environment variable may have set

    def judge(self, record: TrialRecord) -> TrialRecord:
        """Return a record with what the judge says to each question of a scenario."""
        found, trial = [], JudgedTrial.of(record)
        for invariant in trial.scenario.invariants:
            if not isinstance(invariant, Asks):
                continue
            try:
                questions = invariant.questions(trial) if isinstance(invariant, AsksOften) \
                    else (invariant.question(trial),)
            except Exception:  # a plug-in's mistake: its check makes it too, and says so
                continue
            found += [self.ask(invariant.name, question) for question in questions
                      if question is not None]
        if self._reads_words:
            self._ask_of_words(trial, found)
        return record.model_copy(update={'judgements': tuple(found)}) if found else record

    def _ask_of_words(self, trial: JudgedTrial, found: list[Judgement]) -> None:
        """Ask about the words that are demanded or forbidden, and about what follows from it."""
        while open_ := unanswered(trial, found):
            found += [self.ask(name, question) for name, questions in open_.items()
                      for question in questions]

    def ask(self, check: str, question: Question) -> Judgement:
        """Return what the judge says, from the cache if it was asked the same before."""
        key = self._cache_key(question)
        cached = self._cache.get(key) if self._cache else None
        if cached is not None and cached.opinion is not None and \
                (cached.question, cached.model) == (question.sha256, self._server.model):
            return cached.model_copy(update={'check': check})
        began_s = time.monotonic()
        outcome: dict[str, Any]
        try:
            outcome = _read(self._persist(question))
        except _NoOpinionError as error:
            outcome = {'opinion': None, 'error': str(error)}
        except openai.APIStatusError as error:
            host = language_models.redirected_to(error)
            outcome = {'opinion': None, 'error': f'HTTP {error.status_code}' if host is None else
                       f'redirected to {host} (HTTP {error.status_code})'}
        except ReplyTooLargeError as error:
            outcome = {'opinion': None, 'error': f'the reply has {error}'}
        except _BROKEN:
            outcome = {'opinion': None, 'error': 'the server cannot be reached'}
        except (ValueError, RecursionError):
            outcome = {'opinion': None, 'error': 'the reply is no JSON'}
        except Exception as error:  # a client can fail in any way, and none may cost the trial
            outcome = {'opinion': None, 'error': f'the client failed ({type(error).__name__})'}
        judgement = Judgement(
            check=check, question=question.sha256, model=self._server.model,
            duration_ms=(time.monotonic() - began_s) * 1e3, **outcome)
        if self._cache and judgement.opinion is not None:
            self._cache.put(key, judgement)
        return judgement

    def _persist(self, question: Question) -> Any:
        """Ask, and ask again while what is wrong may be over in a moment."""
        wait_s = FIRST_WAIT_S
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                return self._complete(question)
            except openai.APIStatusError as error:
                told_s = retry_after_s(error.response.headers)
                if error.status_code not in _PASSING or attempt == MAX_ATTEMPTS \
                        or (told_s or 0.0) > MAX_WAIT_S:
                    raise
                self._sleep(wait_s if told_s is None else told_s)
                wait_s *= 2
        raise AssertionError('unreachable')

    def _complete(self, question: Question) -> Any:
        """Ask, in a thread that is cut off in time: a server can send blanks for ever."""
        timeout_s = self._server.timeout_s
        client = self._client()
        worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix='judge')
        try:
            asked = worker.submit(self._exchange, client, question)
            wait([asked], timeout=timeout_s)
            if not asked.done():
                raise _NoOpinionError(f'timeout after {timeout_s:g} s')
            return asked.result()
        except language_models.TIMEOUTS:
            raise _NoOpinionError(f'timeout after {timeout_s:g} s') from None
        finally:
            client.close()
            worker.shutdown(wait=False)

    def _exchange(self, client: openai.OpenAI, question: Question) -> Any:
        """Send one request, and return the JSON of the reply."""
        create: Any = client.chat.completions.with_streaming_response.create
        body = ReplyBody()
        with create(model=self._server.model, messages=messages(question), temperature=0,
                    response_format={'type': 'json_schema', 'json_schema': {
                        'name': 'judgement', 'strict': True, 'schema': SCHEMA}}) as response:
            for piece in response.iter_bytes():
                body.add(piece)
        return json.loads(body.data)

    def _client(self) -> openai.OpenAI:
        return language_models.client(self._server.base_url, self._key, self._server.timeout_s)

    def _cache_key(self, question: Question) -> str:
        """
        Return the hash of everything that the answer depends on and that can be known.

        The server's address is in it: two servers may call two models by one name.
        """
        asked = [self._server.model, self._address, SCHEMA, messages(question), question.sha256]
        return hashlib.sha256(json.dumps(asked).encode('ascii')).hexdigest()


def _read(document: Any) -> dict[str, Any]:
    """Return the parts of a judgement that the server's answer gives."""
    text = _text_of(document)
    try:
        reply = _Reply.model_validate(read_json(text))
    except ValueError:
        raise _NoOpinionError('the reply does not follow the schema') from None
    usage = document.get('usage')
    usage = usage if isinstance(usage, Mapping) else {}
    return {'opinion': reply.verdict, 'reason': _printable(without_keys(reply.reason)),
            'prompt_tokens': token_count(usage.get('prompt_tokens')),
            'completion_tokens': token_count(usage.get('completion_tokens'))}


def _text_of(document: Any) -> str:
    """Return the text of a reply that is whole."""
    try:
        completion = completion_of(document)
    except FaultyReplyError as error:
        raise _NoOpinionError('the server reported an error' if error.fault is Fault.SERVER_ERROR
                              else 'the server sent no text') from None
    try:
        completion.raise_unfinished()
    except FaultyReplyError as error:
        raise _NoOpinionError(
            'the judge refused to answer' if error.fault is Fault.REFUSED else
            f'the reply broke off (finish_reason: {completion.finish_reason})') from None
    if not completion.text:
        raise _NoOpinionError('the server sent no text')
    return completion.text


def _printable(text: str) -> str:
    """Return text that can do nothing to a terminal or a file, on one line, of limited length."""
    words = ' '.join(text[:MAX_REASON].split())
    return ''.join(character if character.isprintable() else ' ' for character in words)
