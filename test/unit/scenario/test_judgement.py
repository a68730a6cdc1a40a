# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A question is known by its content, and a judgement has an opinion or an error."""

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios.scenario.invariant import Cost, Judgement, Question
from safety_scenarios.scenario.message import ChatMessage

ASKED = Question(criterion='c', answer='a', situation='s', expected='e',
                 chat=(ChatMessage(role='user', content='What now?'),))


def said(**changes) -> Judgement:
    return Judgement(**{'check': 'n', 'question': ASKED.sha256, 'model': 'm', 'duration_ms': 5.0,
                        'opinion': 'satisfied', **changes})


@for_each('change', [
    {'criterion': 'C'}, {'answer': 'a '}, {'situation': ''}, {'expected': 'f'}, {'chat': ()},
    {'chat': (ChatMessage(role='system', content='What now?'),)},
    {'answer': 's', 'situation': 'a'}, {'answer': 'half \ud800 a pair'}])
def test_whatever_is_different_in_a_question_makes_it_another(change):
    assert ASKED.model_copy(update=change).sha256 != ASKED.sha256


def test_an_equal_question_is_the_same():
    assert ASKED.model_copy(deep=True).sha256 == ASKED.sha256


@for_each('change', [
    {'opinion': None}, {'error': 'HTTP 500'}, {'opinion': 'PASS'}, {'question': 'short'},
    {'prompt_tokens': -1}, {'duration_ms': float('nan')}])
def test_a_judgement_that_contradicts_itself_is_refused(change):
    with pytest.raises(ValidationError):
        said(**change)


def test_the_cost_is_that_of_what_was_asked_and_unknown_is_not_zero():
    found = Cost.of([said(prompt_tokens=100), said(cached=True, prompt_tokens=7),
                     said(opinion=None, error='timeout')])
    assert found == Cost(asked=2, cached=1, prompt_tokens=100, completion_tokens=None,
                         duration_ms=10.0)
    assert Cost.of([]).prompt_tokens is None
