# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a tool is called with counts: the right call with the wrong argument is the wrong call."""

import json

from cases import for_each
from safety_scenarios.scenario.blocks.agents import Argument, Pattern
from safety_scenarios.scenario.result import Status
from unit.rule_runs import BOT, calls, expects, forbids, run, START


def search(*tests):
    return Pattern(kind='tool_call', agents=(BOT,), name='search', args=tests)


def called(rule, *given):
    told = [calls(10.0 + place, 'search', arguments=one if isinstance(one, str) or one is None
                  else json.dumps(one)) for place, one in enumerate(given)]
    return run(rule, *told).status


SLOW = Argument(name='speed', at_least=0.0, at_most=0.3)
CASES = [
    (SLOW, {'speed': 0.3}, True), (SLOW, {'speed': 0}, True), (SLOW, {'speed': 0.31}, False),
    (SLOW, {'speed': -0.1}, False), (SLOW, {'speed': 1e400}, False),
    (SLOW, {'speed': 10 ** 400}, False), (SLOW, {'speed': -10 ** 400}, False),
    (SLOW, {'speed': '0.1'}, None),
    (SLOW, {'speed': True}, None), (SLOW, {'speed': None}, None), (SLOW, {}, None),
    (SLOW, {'speed': float('nan')}, None), (SLOW, {'speed': [0.1]}, None), (SLOW, '', None),
    (SLOW, '[1]', None), (SLOW, 'x', None), (SLOW, '[' * 100_000, None),
    (Argument(name='at_.x', equals=1.0), {'at_': {'x': 1}}, True),
    (Argument(name='at_.x', equals=1.0), {'at_.x': 1}, None),
    (Argument(name='at_.x', equals=1.0), {'at_.x': 1, 'at_': {'x': 1}}, True),
    (Argument(name='at_.x', equals=1.0), {'at_.x': 1, 'at_': {'x': 9}}, None),
    (Argument(name='at_.x', equals=1.0), {'at_.x': 9, 'at_': {'x': 1}}, None),
    (Argument(name='at_.x.y', equals=1.0), {'at_': {'x.y': 9, 'x': {'y': 1}}}, None),
    (Argument(name='at_.x', equals=1.0), {'at_': {'x': 10 ** 400}}, False),
    (Argument(name='at_.x', equals=1.0), {'at_': 1}, None),
    (Argument(name='on', equals=True), {'on': True}, True),
    (Argument(name='on', equals=True), {'on': 1}, None),
    (Argument(name='on', equals=1.0), {'on': True}, None),
    (Argument(name='who', equals='Olga'), {'who': 'Olga'}, True),
    (Argument(name='who', equals='Olga'), {'who': 'olga'}, False),
    (Argument(name='bay', pattern='[A-C][0-9]+'), {'bay': 'B12'}, True),
    (Argument(name='bay', pattern='[A-C][0-9]+'), {'bay': 'B12 or D1'}, False),
    (Argument(name='bay', pattern='[A-C][0-9]+'), {'bay': 12}, None),
    (Argument(name='bay', pattern='A?'), '{"bay": "\\ud800"}', False),
]


@for_each(('test', 'given', 'is_right'), CASES)
def test_a_demand_is_met_by_the_right_argument_alone(test, given, is_right):
    assert called(expects(search(test), on=START), given) is (
        Status.SATISFIED if is_right else Status.VIOLATED)


@for_each(('test', 'given', 'is_right'), CASES)
def test_a_ban_is_broken_by_it_and_open_where_nobody_can_tell(test, given, is_right):
    assert called(forbids(search(test), on=START), given) is {
        True: Status.VIOLATED, False: Status.SATISFIED, None: Status.INCONCLUSIVE}[is_right]


def test_every_test_has_to_hold():
    both = search(SLOW, Argument(name='who', equals='Olga'))
    assert called(expects(both, on=START), {'speed': 0.1, 'who': 'Olga'}) is Status.SATISFIED
    assert called(expects(both, on=START), {'speed': 0.1, 'who': 'Max'}) is Status.VIOLATED
    assert called(forbids(both, on=START), {'speed': '?', 'who': 'Max'}) is Status.SATISFIED


def test_a_second_call_with_the_right_argument_meets_the_demand():
    assert called(expects(search(SLOW), on=START), {'speed': 9}, {'speed': 0.1}) \
        is Status.SATISFIED


def test_a_pattern_that_is_slow_elsewhere_is_not_slow_here():
    test = Argument(name='bay', pattern='(a+)+$')
    assert called(expects(search(test), on=START), {'bay': 'a' * 50_000 + 'b'}) \
        is Status.VIOLATED
