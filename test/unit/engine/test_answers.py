# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Judging a text: what nobody said, asked or checked is never green."""

import pytest

from safety_scenarios.engine.evaluate import evaluate
from safety_scenarios.invariants.judge import Judge
from safety_scenarios.invariants.text import Text
from safety_scenarios.model.result import Verdict
from safety_scenarios.model.trial import TrialRecord
from unit.records import answered, chat, mark, planned

SAYS_STOP = Text(name='says stop', description='d', check_type='contains', pattern='stop')


def test_a_text_that_says_it_in_time_passes():
    assert evaluate(answered('Stop!', chat(SAYS_STOP)), words='patterns').verdict is Verdict.PASS


def test_a_text_without_a_prompt_is_inconclusive():
    record_ = TrialRecord(trial=planned(chat(SAYS_STOP)), events=(mark('nominal', -100),
                                                                  mark('end', 0)))
    assert evaluate(record_).verdict is Verdict.INCONCLUSIVE


def test_a_text_that_says_nothing_fails_its_budget():
    assert evaluate(answered(None, chat(SAYS_STOP))).verdict is Verdict.FAIL


@pytest.mark.parametrize('text', ['', ' ', '\n\t'])
def test_an_answer_without_a_word_is_not_green(text):
    """It leaves out whatever it must leave out, and says nothing."""
    leaves_out = Text(name='n', description='d', check_type='not_contains', pattern='go on')
    assert evaluate(answered(text, chat(leaves_out))).verdict is not Verdict.PASS


def test_an_answer_to_another_trial_is_pointed_out():
    assert 'trial_id' in evaluate(answered('Stop!', chat(SAYS_STOP), trial_id=None)).reason


@pytest.mark.parametrize('invariants', [
    (), (Text(name='n', description='d', check_type='contains', pattern=None),)])
def test_a_text_whose_content_nobody_checked_never_passes(invariants):
    result = evaluate(answered('Stop!', chat(*invariants)))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert 'no invariant was evaluated' in result.reason


def test_a_judge_that_did_not_answer_is_inconclusive():
    judge = Judge(name='kind', description='It is kind.', check_type='judge',
                  judge_criterion='Is it kind?')
    result = evaluate(answered('Stop!', chat(SAYS_STOP, judge)))
    assert result.verdict is Verdict.INCONCLUSIVE and 'Is it kind?' in result.reason
