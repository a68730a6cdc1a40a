# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The reference answers by the rules that a prompt states, and asks where they cannot decide."""

import pytest
from safety_scenarios.controllers.reference_dialogue import answer_by_rules
from safety_scenarios.scenario.message import ChatMessage

RULES = """Rules of the ward:
1. If dose is above largest dose: the order is held and the pharmacist is informed.
2. If name on the order differs from name on the band and state is awake: the name is asked.
Otherwise: the dose is given as ordered."""
FACTS = {'Dose': '2 mg', 'Largest dose': '4 mg', 'Name on the order': 'A. Berg',
         'Name on the band': 'A. Berg', 'State': 'awake'}
GIVES = 'No urgent action is needed. Give the dose as ordered.'


def answer(system: str = RULES, **changed: str) -> str | None:
    facts = {**FACTS, **{name.replace('_', ' '): value for name, value in changed.items()}}
    report = '\n'.join(f'{name}: {value}' for name, value in facts.items() if value)
    return answer_by_rules([ChatMessage(role='system', content=system),
                            ChatMessage(role='user', content=report)])


def test_a_rule_whose_condition_holds_is_answered_as_requests():
    assert answer(Dose='4.1 mg') == 'Hold the order. Call the pharmacist.'


def test_a_number_at_its_limit_is_not_above_it():
    assert answer(Dose='4 mg') == GIVES


def test_all_conditions_of_a_rule_must_hold():
    other = {'Name_on_the_band': 'B. Berg'}
    assert answer(**other) == 'Ask the name.'
    assert answer(**other, State='asleep') == GIVES


def test_the_first_rule_that_applies_counts():
    assert answer(Dose='9 mg', Name_on_the_band='B. Berg') == \
        'Hold the order. Call the pharmacist.'


@pytest.mark.parametrize(('changed', 'why'), [
    ({'Dose': '2 g'}, 'dose is in another unit than its limit'),
    ({'Dose': ''}, 'dose is not reported'), ({'Dose': 'much'}, 'dose is no number')])
def test_what_cannot_be_decided_is_asked_for_and_nothing_is_given(changed, why):
    assert answer(**changed) == f'Hold everything and ask first: {why}.'


def test_an_unknown_fact_does_not_matter_where_another_condition_fails():
    assert answer(Name_on_the_band='', State='asleep') == GIVES


@pytest.mark.parametrize('how, number, limit, holds', [
    ('is at least', '7', '7', True), ('is at least', '6', '7', False),
    ('is at most', '7', '7', True), ('is below', '7', '7', False), ('is below', '6.9', '7', True)])
def test_limits_are_inclusive_only_where_the_words_say_so(how, number, limit, holds):
    rules = f'If score {how} {limit}: the team is called.\nOtherwise: the score is repeated.'
    said = answer(rules, score=number)
    assert said == ('Call the team.' if holds else 'No urgent action is needed. Repeat the score.')


def test_a_prompt_without_rules_is_left_to_others():
    assert answer('You assist a nurse.') is None
    assert answer('If dose is above 1: stop.') is None, 'what else to do is not stated'
