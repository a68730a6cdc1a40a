# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Rules that contradict each other are refused; a gap between a demand and a ban is told."""

import time

from cases import for_each
import pytest
from unit.formats.agent_files import agents, CMD, only, read, SPEED

SYMBOLS = {
    'stands': {'when': {'kind': 'signal', 'name': 'speed', 'op': '<=', 'value': 0.05}},
    'moves': {'when': {'kind': 'signal', 'name': 'speed', 'op': '>', 'value': 0.05}},
    'slow': {'when': {'kind': 'signal', 'name': 'speed', 'op': '<', 'value': 0.3}},
    'calls': {'when': {'kind': 'tool_call', 'from': 'sut', 'name': 'help'}},
    'nods': {'when': {'kind': 'say', 'from': 'sut', 'any_word': ['yes']}},
    'alarm': {'when': {'kind': 'say', 'from': 'a1', 'any_word': ['fire']}},
}
SCRIPT = [{'at_ms': 1000, 'agent': 'a1', 'say': 'One.', 'as': 'one'},
          {'at_ms': 4000, 'agent': 'a1', 'say': 'Two.', 'as': 'two'},
          {'at_ms': 8000, 'agent': 'a1', 'say': 'Three.', 'as': 'three'}]
TOPICS = {'cmd': CMD, 'person': {
    'name': 'scan', 'type': 'sensor_msgs/msg/LaserScan', 'use': 'stimulus',
    'stimulus': {'kind': 'person', 'distance': 1.0}}}


def reading(tmp_path, *rules):
    return read(tmp_path, agents(*rules, tools=[{'name': 'help'}]), {
        'sut': 'a2', 'symbols': SYMBOLS, 'topics': TOPICS, 'signals': {'speed': SPEED},
        'script': SCRIPT, 'duration_ms': 12_000})


@for_each(('first', 'second'), [
    (('one', 'expect: stands'), ('one', 'forbid: stands')),
    (('one', 'forbid: slow'), ('one', 'expect: stands within 1 s')),
    (('one', 'expect: stands'), ('one', 'expect: moves')),
    (('one', 'expect: stands for 1 s'), ('at 1 s', 'expect: moves')),
    (('one', 'forbid: stands'), ('one', 'forbid: moves for 1 s')),
    (('one', 'forbid: moves'), ('two', 'expect: moves within 2 s')),
    (('one', 'forbid: moves for 10 s'), ('after 3 s of one', 'expect: moves within 2 s')),
    (('alarm', 'expect: calls'), ('alarm', 'forbid: calls')),
    (('alarm', 'forbid: calls'), ('after 2 s of alarm', 'expect: calls')),
    (('one', 'expect: nods'), ('one', 'forbid: nods for 9 s'))])
@for_each('turned', [False, True])
def test_a_contradiction_names_both_rules_and_their_lines(tmp_path, first, second, turned):
    rules = [('at 9 s', 'expect: calls'), *((second, first) if turned else (first, second))]
    found = reading(tmp_path, *rules)
    problem = only(found.problems)
    assert problem.code == 'F311' and 'contradicts' in str(problem)
    lines = (tmp_path / 'talk.yaml').read_text(encoding='utf-8').splitlines()
    assert rules[2][1] in lines[problem.line - 1]
    assert all(f'{trigger} -> {action}' in str(problem) for trigger, action in rules[1:])
    named = int(str(problem).split(' in line ')[1].split(':')[0])
    assert rules[1][1] in lines[named - 1]


@pytest.mark.parametrize('rules', [
    [('one', 'expect: stands'), ('one', 'forbid: moves')],
    [('one', 'expect: stands'), ('two', 'expect: moves')],
    [('one', 'expect: stands'), ('two', 'forbid: stands')],
    [('one', 'forbid: moves until two'), ('two', 'expect: moves')],
    [('one', 'forbid: moves'), ('two', 'permit: moves'), ('three', 'expect: moves')],
    [('one', 'forbid: moves for 3 s'), ('two', 'expect: moves within 2 s')],
    [('one', 'forbid: moves for 4 s'), ('two', 'expect: moves within 2 s')],
    [('one', 'expect: slow'), ('one', 'expect: stands')],
    [('one', 'expect: stands'), ('alarm', 'forbid: stands')],
    [('one', 'expect: calls'), ('one', 'forbid: nods')],
    [('one', 'forbid: slow'), ('one', 'forbid: nods')],
])
def test_what_can_be_kept_is_not_refused(tmp_path, rules):
    found = reading(tmp_path, *rules)
    assert not found.problems and not found.warnings, [*found.problems, *found.warnings]


@pytest.mark.parametrize('rules, gap', [
    ([('one', 'forbid: calls for 2 s'), ('two', 'expect: calls')], '1000 ms'),
    ([('one', 'expect: stands for 1 s'), ('two', 'forbid: moves')], '2000 ms'),
    ([('one', 'forbid: moves for 1 s'), ('two', 'expect: stands')], '2000 ms'),
    ([('one', 'forbid: moves until two'), ('three', 'expect: moves')], '4000 ms'),
    ([('at 1 s', 'publish: person'), ('person', 'forbid: moves for 2500 ms'),
      ('after 4 s of person', 'expect: moves')], '1500 ms'),
    ([('alarm', 'expect: stands for 1 s'), ('after 1500 ms of alarm', 'forbid: moves')],
     '500 ms'),
    ([('one', 'expect: stands for 2 s'), ('one', 'forbid: moves for 1 s'),
      ('two', 'expect: moves')], '1000 ms'),
])
def test_a_gap_between_a_demand_and_a_ban_is_told_with_both(tmp_path, rules, gap):
    found = reading(tmp_path, *rules)
    assert not found.problems, found.problems
    warning = only(found.warnings)
    assert warning.code == 'F312' and f'a gap of {gap} between' in str(warning)
    assert ' in line ' in str(warning) and 'anything may happen' in str(warning)


@pytest.mark.parametrize('rules', [
    [('one', 'forbid: calls until two'), ('two', 'expect: calls')],
    [('one', 'forbid: calls for 3 s'), ('two', 'expect: calls')],
    [('one', 'expect: stands'), ('after 1 s of one', 'forbid: moves for 1 s'),
     ('two', 'expect: moves')],
    [('one', 'expect: stands within 1 s for 3 s'), ('two', 'forbid: moves')],
    [('one', 'forbid: calls for 2 s'), ('after 2500 ms of one', 'permit: calls'),
     ('two', 'expect: calls')],
    [('one', 'forbid: calls for 2 s'), ('two', 'expect: nods')],
    [('one', 'forbid: calls for 2 s'), ('alarm', 'expect: calls')],
    [('one', 'expect: stands for 1 s'), ('two', 'expect: moves')],
    [('one', 'expect: nothing for 1 s'), ('one', 'forbid: calls until two'),
     ('two', 'expect: calls')],
])
def test_what_has_no_gap_or_is_not_known_is_not_warned_of(tmp_path, rules):
    found = reading(tmp_path, *rules)
    assert not found.problems and not found.warnings, [*found.problems, *found.warnings]


@pytest.mark.slow
def test_many_rules_with_many_times_are_looked_at_in_time(tmp_path):
    rules = [(f'at {place} ms', 'expect: stands') for place in range(1, 500)] \
        + [(f'at {place} ms', 'forbid: moves for 1 ms') for place in range(1, 500)]
    begin_s = time.process_time()
    assert not reading(tmp_path, *rules).problems
    assert time.process_time() - begin_s < 15.0
