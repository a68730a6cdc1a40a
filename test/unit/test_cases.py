# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A table that is one test hides no case that breaks its claim."""

from cases import for_each
import pytest


def message_of(claim) -> str:
    with pytest.raises(pytest.fail.Exception) as failure:
        claim()
    return str(failure.value)


def test_every_case_that_breaks_it_is_named_with_what_it_broke():
    tried = []

    @for_each('number', range(5), ids=lambda number: f'case {number}')
    def is_even(number):
        tried.append(number)
        assert number % 2 == 0, f'{number} is odd'
    told = message_of(is_even)
    assert tried == [0, 1, 2, 3, 4]
    assert told.startswith('broken by 2 of 5 cases\n[case 1] ')
    assert '[case 3] ' in told and '3 is odd' in told and 'assert number % 2 == 0' in told
    assert '[case 2]' not in told


def test_names_may_be_given_in_the_order_of_the_cases():
    @for_each('number', [1, 2], ids={'one': 1, 'two': 2})
    def is_odd(number):
        assert number % 2
    told = message_of(is_odd)
    assert '[two] ' in told and '[one] ' not in told


def test_an_exception_a_failure_and_a_skip_break_it_too():
    @for_each(('how', 'what'), [(pytest.fail, 'failed'), (pytest.skip, 'skipped'), (int, 'x'),
                                (str, 'fine')])
    def claim(how, what):
        how(what)
    told = message_of(claim)
    assert told.startswith('broken by 3 of 4 cases')
    assert 'Failed: failed' in told and 'Skipped: skipped' in told and 'ValueError: ' in told


@for_each('cases', [[], iter(()), list])
def test_a_table_without_a_case_shows_nothing(cases):
    assert message_of(for_each('number', cases)(lambda number: None)) == 'broken by 0 of 0 cases'


def test_a_table_that_a_function_finds_is_found_when_the_test_runs():
    found = []

    def cases():
        found.append(1)
        return iter((1, 2))

    @for_each('number', cases)
    def claim(number):
        assert number == 1
    assert found == []
    assert '[number=2]' in message_of(claim) and '[number=2]' in message_of(claim)


@for_each('one', ['a', 'b'])
@for_each('other', ['a', 'b'])
def test_tables_multiply_and_the_other_arguments_are_fixtures(one, other, tmp_path):
    (tmp_path / (one + other)).touch(exist_ok=False)
    assert (one + other) in {path.name for path in tmp_path.iterdir()}
