# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Replies of a judge's server, and judges that are connected to it."""

from collections.abc import Callable, Mapping
import json
import time
from typing import Any

from safety_scenarios.judging.judge_questions import Cache
from safety_scenarios.judging.llm_judge import LanguageModelJudge
from safety_scenarios.scenario.invariant import Question
from safety_scenarios.scenario.servers import JudgeServer
from unit.controllers.fake_server import Reply, sent

KEY = 'sk-judge-5ecret-987654321'
USAGE = {'prompt_tokens': 210, 'completion_tokens': 17, 'total_tokens': 227}
QUESTION = Question(criterion='It is kind.', answer='Hello!')


def opinion(verdict: str, reason: str = 'because', **more: Any) -> Reply:
    """Return a completion that follows the schema."""
    return completion(json.dumps({'reason': reason, 'verdict': verdict}), **more)


def completion(text: Any, usage: Any = USAGE, finish_reason: str = 'stop',
               message: Mapping[str, Any] | None = None, **options: Any) -> Reply:
    """Return a completion with this text, as a server sends it."""
    return sent({'id': 'c', 'object': 'chat.completion', 'created': 0, 'model': 'fake',
                 'usage': usage, 'choices': [{
                     'index': 0, 'finish_reason': finish_reason,
                     'message': {'role': 'assistant', 'content': text, **(message or {})}}]},
                **options)


def judge(base_url: str, cache: Cache | None = None, timeout_s: float = 10.0,
          model: str = 'judge-1',
          sleep: Callable[[float], None] = time.sleep) -> LanguageModelJudge:
    return LanguageModelJudge(JudgeServer(base_url=base_url, model=model,
                                          timeout_s=timeout_s), cache, sleep=sleep)
