# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What bindings beside an agent file change, and that every mistake in them has a place."""

import hashlib
import os

from cases import for_each
import pytest
from safety_scenarios.formats.agents.bindings import Bindings
from safety_scenarios.formats.agents.symbols import built_in, Cast, NAMES
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.lint.pairs import hazards_of
from safety_scenarios.scenario.blocks.agents import (
    Argument,
    End,
    Expect,
    Forbid,
    Pattern,
    Publish,
    Say,
    Trigger,
)
from safety_scenarios.scenario.verdict import LatencyBudget
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.plan import plan
from unit.formats.agent_files import (
    agents,
    block,
    BOT,
    CMD,
    DATA,
    dumped,
    ESTOP,
    only,
    read,
    refused,
    rule,
    SAYS,
    SPEED,
    USER,
)

MS = 1_000_000
CARL = {'id': 'a3', 'name': 'Carl', 'role': 'user'}
SLOW = {'kind': 'signal', 'name': 'v', 'op': '<=', 'value': 0.1}
ROBOT = {'topics': {'cmd': CMD, 'estop': ESTOP}, 'signals': {'v': SPEED}}
FAR = {'name': 'scan', 'type': 'sensor_msgs/msg/LaserScan', 'use': 'stimulus',
       'stimulus': {'kind': 'person', 'distance': 5.0}}
BLIND = {'topic': 'far', 'kind': 'sensor_fault', 'fault': 'nan'}


def wrong(tmp_path, bindings, *rules, **changes):
    """Return the field and the code of the one problem, which is in the bindings."""
    found = refused(tmp_path, agents(*(rules or [('greet', 'stop')]), **changes), bindings)
    assert found.path.endswith('talk.bindings.yaml')
    return found.field, found.code


# the file

def test_a_robot_with_its_bindings_means_what_they_say():
    found = load_scenario(str(DATA / 'stop_for_human.yaml')).body
    near, stop, ban, clear, help_, fast, drill, blind = found.rules
    published = near.effects[0]
    assert (published.stimulus.topic, published.stimulus.distance, published.symbol) == (
        'scan', 1.0, 'person_near')
    assert stop.trigger == Trigger(any=(Pattern(kind='symbol', name='person_near'),))
    slow = Pattern(kind='signal', name='speed', op='<=', value=0.05)
    budget = LatencyBudget(target_ms=500.0, acceptable_ms=800.0, critical_ms=800.0)
    assert stop.expect == Expect(any=(slow,), budget=budget) and stop.repeat == 2
    moving = Pattern(kind='signal', name='speed', op='>', value=0.05)
    assert ban.forbid == Forbid(any=(moving,), for_ns=3000 * MS)
    assert clear.trigger.delay_ns == 4000 * MS
    assert [type(effect) for effect in clear.effects] == [Publish, Say]
    assert clear.effects[1] == Say(agent='olga', text='The person is gone.', symbol='told')
    assert help_.trigger.any == (Pattern(kind='tool_call', name='call_help'),)
    assert fast.effects == (End(how='fail'),)
    assert drill.trigger.any == (Pattern(kind='symbol', name='drill', agents=('olga',)),)
    assert drill.effects[0].stimulus.data == {'data': True}
    assert blind.effects[0].stimulus.kind == 'sensor_fault'
    assert [rule.unbound for rule in found.rules] == [()] * 8 and found.not_runnable == ()
    assert [(one.at_ns // MS, one.say.symbol) for one in found.script] == [
        (0, 'drill'), (2500, 'later')]
    assert [one.topic for one in found.commands] == ['cmd_vel']
    assert [one.topic for one in found.feedback] == ['odom']
    assert found.signals['speed'].topic == 'cmd_vel' and found.stale_ms == 400
    assert [one.topic for one in found.stimuli] == ['scan'] and found.robot.max_speed == 1.0
    assert found.tools[0].returns == {'status': 'called', 'eta_s': 30}
    assert found.tools[0].allow == ('robot',)
    assert found.duration_ms == 2500 + 1000 + 4000 + 2000 + 3000 + 1000


def test_the_hash_is_of_both_files_as_sha256sum_gives_them():
    path = DATA / 'stop_for_human.yaml'
    lines = ''.join(f'{hashlib.sha256(one.read_bytes()).hexdigest()}\n'
                    for one in (path, path.with_suffix('.bindings.yaml')))
    assert load_scenario(str(path)).origin.sha256 == hashlib.sha256(lines.encode()).hexdigest()


def test_another_byte_in_the_bindings_is_another_hash(tmp_path):
    hashes = {read(tmp_path, agents(('greet', 'stop')), bindings).scenario.origin.sha256
              for bindings in (None, 'version: 1\n', 'version: 1\n\n')}
    assert len(hashes) == 3


def test_empty_bindings_change_nothing(tmp_path):
    data = agents(('greet', 'stop'))
    plain = block(tmp_path, data)
    assert block(tmp_path, data, {}) == plain


@pytest.mark.parametrize('text', ['', 'version: 2', '{}', '[]', 'version: 1\nversion: 1',
                                  'version: 1\nx: !!python/object:os.system {}', '"\\ud800"',
                                  'version: 1\nparticipants: &a {b: *a}',
                                  'version: 1\nfaults: ' + '[' * 60 + ']' * 60])
def test_bindings_that_cannot_be_read_are_a_problem_of_theirs(tmp_path, text):
    reading = read(tmp_path, agents(('greet', 'stop')), text)
    assert reading.scenario is None
    assert {os.path.basename(one.path) for one in reading.problems} == {'talk.bindings.yaml'}
    assert all(problem.line and problem.column for problem in reading.problems)


def test_aliases_that_multiply_are_refused_in_both_files(tmp_path):
    bomb = 'a0: &a0 [x, x]\n' + ''.join(f'a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n'
                                        for n in range(1, 30))
    assert 'more than' in only(read(tmp_path, 'agents: []\n' + bomb).problems).message
    reading = read(tmp_path, agents(('greet', 'stop')), 'version: 1\n' + bomb)
    assert 'more than' in only(reading.problems).message


@pytest.mark.parametrize('make', [os.mkdir, os.mkfifo, lambda path: os.symlink('gone', path)])
def test_bindings_that_are_there_and_no_file_are_not_passed_over(tmp_path, make):
    make(str(tmp_path / 'talk.bindings.yaml'))
    assert 'cannot be read' in only(read(tmp_path, agents(('greet', 'stop'))).problems).message


def test_two_bindings_files_are_one_too_many(tmp_path):
    (tmp_path / 'talk.bindings.json').write_text('{"version": 1}', encoding='utf-8')
    assert 'expected one' in only(read(tmp_path, agents(('greet', 'stop')), {}).problems).message


def test_json_bindings_are_read(tmp_path):
    (tmp_path / 'talk.bindings.json').write_text('{"version": 1, "stale_ms": 7}', encoding='utf-8')
    assert block(tmp_path, agents(('greet', 'stop'))).stale_ms == 7


def test_problems_of_both_files_are_told_at_once(tmp_path):
    reading = read(tmp_path, agents(rules=None), {'stale_ms': -1})
    assert [problem.field for problem in reading.problems] == ['rules', 'stale_ms']


# each key, right and wrong

@for_each(('field', 'bindings'), [
    ('extra', {'extra': 1}), ('stale_ms', {'stale_ms': 0}), ('duration_ms', {'duration_ms': 1e9}),
    ('sut', {'sut': 'zoe'}), ('participants.zoe', {'participants': {'zoe': {'driver': 'none'}}}),
    ('participants.a2', {'participants': {'a2': {'driver': 'none'}}}),
    ('participants.a1.driver', {'participants': {'a1': {'driver': 'sut'}}}),
    ('participants.a1', {'participants': {'a1': {'driver': 'model'}}}),
    ('participants.a1', {'participants': {'a1': {'driver': 'human', 'controller': 'silent'}}}),
    ('participants.a1.controller',
     {'participants': {'a1': {'driver': 'model', 'controller': 'sillent'}}}),
    ('symbols.Greet', {'symbols': {'Greet': {'when': SAYS}}}),
    ('symbols.s', {'symbols': {'s': {}}}),
    ('symbols.s', {'symbols': {'s': {'expect': {**SAYS, 'from': 'sut'}, 'forbid': SAYS}}}),
    ('symbols.s', {'symbols': {'s': {'when': SAYS, 'within_ms': 5}}}),
    ('symbols.s', {'symbols': {'s': {'when': SAYS, 'for_ms': 5}}}),
    ('symbols.s.repeat', {'symbols': {'s': {'when': SAYS, 'repeat': 101}}}),
    ('symbols.s.when.kind', {'symbols': {'s': {'when': {'kind': 'shout'}}}}),
    ('symbols.s.when', {'symbols': {'s': {'when': {'kind': 'say', 'name': 'x'}}}}),
    ('symbols.s.when', {'symbols': {'s': {'when': {'kind': 'signal', 'name': 'v'}}}}),
    ('symbols.s.when.any_word', {'symbols': {'s': {'when': {'kind': 'say', 'any_word': 'a'}}}}),
    ('symbols.s.when', {'symbols': {'s': {'when': {'kind': 'say', 'any_word': []}}}}),
    ('symbols.s.when', {'symbols': {'s': {'when': {'kind': 'say', 'as_question': True}}}}),
    ('symbols.s.when', {'symbols': {'s': {'when': {'kind': 'start', 'as_question': True}}}}),
    ('symbols.s.expect', {'symbols': {'s': {'expect': {'kind': 'say', 'any_word': []}}}}),
    ('symbols.s.expect', {'symbols': {'s': {'expect': {**SLOW, 'op': None}}}}),
    ('symbols.s.expect', {'symbols': {'s': {'expect': {**SLOW, 'value': None}}}}),
    ('symbols.s.when.any_word[0]', {'symbols': {'s': {'when': {'kind': 'say',
                                                               'any_word': ['?']}}}}),
    ('symbols.s.when', {'symbols': {'s': {'when': {
        'kind': 'say', 'any_word': ['Go'], 'no_word': ['stop', 'go']}}}}),
    ('symbols.s.when[1].from', {'symbols': {'s': {'when': [SAYS, {**SAYS, 'from': 'zoe'}]}}}),
    ('symbols.s.when.name', {'symbols': {'s': {'when': {'kind': 'tool_call', 'name': 'dig'}}}}),
    ('symbols.s.when.name', {'symbols': {'s': {'when': SLOW}}}),
    ('symbols.s.expect', {'symbols': {'s': {'expect': {**SAYS, 'from': 'a1'}}}}),
    ('symbols.s.expect', {'symbols': {'s': {'expect': {'kind': 'start'}}}}),
    ('symbols.s.forbid', {'symbols': {'s': {'forbid': {**SAYS, 'from': ['sut', 'a1']}}}}),
    ('symbols.s.within_ms', {'symbols': {'s': {'expect': SAYS, 'within_ms': {
        'target': 5, 'acceptable': 4, 'critical': 6}}}}),
    ('symbols.s.do', {'symbols': {'s': {'do': []}}}),
    ('symbols.s.do[0]', {'symbols': {'s': {'do': [{}]}}}),
    ('symbols.s.do[0]', {'symbols': {'s': {'do': [{'say': 'a', 'end': 'stop'}]}}}),
    ('symbols.s.do[0]', {'symbols': {'s': {'do': [{'say': 'a', 'agent': 'a2'}]}}}),
    ('symbols.s.do', {'symbols': {'s': {'do': {'publish': 'nothing'}}}}),
    ('symbols.s.do', {'symbols': {'s': {'do': {'set': 'nothing', 'to': 1}}}}),
    ('symbols.s.do', {'symbols': {'s': {'do': {'set': 'nothing'}}}}),
    ('symbols.s.do.as', {'symbols': {'s': {'do': {'say': 'x', 'as': '$(rm)'}}}}),
    ('topics.t.name', {'topics': {'t': {**ESTOP, 'name': '//estop'}}}),
    ('topics.t.name', {'topics': {'t': {**ESTOP, 'name': 'agents/a2/in'}}}),
    ('topics.t', {'topics': {'t': {**ESTOP, 'use': 'observe'}}}),
    ('topics.t.data', {'topics': {'t': {**ESTOP, 'data': {'datta': True}}}}),
    ('topics.t', {'topics': {'t': {'name': 'x', 'use': 'stimulus'}}}),
    ('topics.t', {'topics': {'t': {**ESTOP, 'type': 'auto'}}}),
    ('topics.t.stimulus.kind', {'topics': {'t': {**FAR, 'stimulus': {'kind': 'persn'}}}}),
    ('topics.t.stimulus.kind', {'topics': {'t': {**FAR, 'stimulus': {}}}}),
    ('topics.t.stimulus.distance', {'topics': {'t': {**FAR, 'stimulus': {'kind': 'person'}}}}),
    ('topics.t.stimulus.topic', {'topics': {'t': {**FAR, 'stimulus': {
        'kind': 'person', 'distance': 1.0, 'topic': 'x'}}}}),
    ('topics.t', {'topics': {'t': {**FAR, 'stimulus': {'kind': 'link_loss'}}}}),
    ('topics.u.name', {'topics': {'t': ESTOP, 'u': {**CMD, 'name': 'estop'}}}),
    ('topics.u.name', {'topics': {'t': CMD, 'u': CMD}}),
    ('topics.u.type', {'topics': {'t': {**ESTOP, 'data': {}}, 'u': {
        **ESTOP, 'type': 'std_msgs/msg/Empty', 'data': {}}}}),
    ('signals.v.topic', {'signals': {'v': SPEED}}),
    ('signals.v.topic', {'topics': {'cmd': ESTOP}, 'signals': {'v': SPEED}}),
    ('signals.v.unit', {'topics': {'cmd': CMD}, 'signals': {'v': {**SPEED, 'unit': 'km/h'}}}),
    ('tools.dig', {'tools': {'dig': {}}}),
    ('script[0].agent', {'script': [{'at_ms': 0, 'agent': 'a2', 'say': 'x'}]}),
    ('script[0].at_ms', {'script': [{'at_ms': -1, 'agent': 'a1', 'say': 'x'}]}),
    ('script[0].at_ms', {'script': [{'at_ms': 900, 'agent': 'a1', 'say': 'x'}],
                         'duration_ms': 900}),
    ('script[0].say', {'script': [{'at_ms': 0, 'agent': 'a1', 'say': ' '}]}),
    ('script[0].as', {'script': [{'at_ms': 0, 'agent': 'a1', 'say': 'x', 'as': 'A b'}]}),
    ('stimuli[0]', {'stimuli': ['t']}),
    ('robot.kind', {'robot': {'kind': 'car', 'max_speed': 1.0}}),
    ('stimuli[1]', {'topics': {'t': FAR, 'u': FAR}, 'stimuli': ['t', 'u']}),
    ('faults.f.topic', {'faults': {'f': {'kind': 'link_loss'}}}),
    ('faults.f', {'topics': {'far': FAR}, 'faults': {'f': BLIND}}),
    ('faults.f.fault', {'topics': {'far': FAR}, 'stimuli': ['far'],
                        'faults': {'f': {**BLIND, 'fault': 'x'}}}),
    ('sets.s.topic', {'sets': {'s': {'topic': 't', 'field': 'data'}}}),
    ('sets.s.field', {'topics': {'t': ESTOP}, 'sets': {'s': {'topic': 't', 'field': 'a[0]'}}}),
])
def test_a_mistake_in_the_bindings_is_told_at_its_field(tmp_path, field, bindings):
    assert wrong(tmp_path, bindings)[0] == field


def test_a_problem_points_into_the_line_of_its_value(tmp_path):
    bindings = {'version': 1, 'symbols': {'s': {'when': {'kind': 'say', 'from': 'zoe'}}}}
    found = refused(tmp_path, agents(('greet', 'stop')), bindings)
    lines = dumped(bindings).splitlines()
    assert lines[found.line - 1][found.column - 1:] == 'zoe'


def test_only_a_stimulus_topic_may_be_published_on(tmp_path):
    found = refused(tmp_path, agents(('greet', 'publish: cmd')), ROBOT)
    assert (found.code, found.field) == ('F310', 'rules[0].action')
    assert wrong(tmp_path, {**ROBOT, 'stimuli': ['cmd']}) == ('stimuli[0]', 'F310')
    assert wrong(tmp_path, {**ROBOT, 'faults': {'f': {**BLIND, 'topic': 'cmd'}}}) == (
        'faults.f.topic', 'F310')
    assert wrong(tmp_path, {**ROBOT, 'sets': {'f': {'topic': 'cmd', 'field': 'x'}}}) == (
        'sets.f.topic', 'F310')
    assert wrong(tmp_path, {**ROBOT, 'symbols': {'s': {'do': {'publish': 'cmd'}}}}) == (
        'symbols.s.do', 'F310')


@pytest.mark.parametrize(('name', 'type_name'), [
    ('cmd_vel', 'std_msgs/msg/String'), ('base/cmd_vel', 'std_msgs/msg/String'),
    ('arm/commands', 'std_msgs/msg/Float64MultiArray'), ('x', 'geometry_msgs/msg/Twist'),
    ('x', 'geometry_msgs/msg/TwistStamped'), ('x', 'trajectory_msgs/msg/JointTrajectory')])
def test_what_commands_a_robot_is_no_stimulus(tmp_path, name, type_name):
    topic = {'name': name, 'type': type_name, 'use': 'stimulus', 'data': {}}
    assert wrong(tmp_path, {'topics': {'t': topic}}) == ('topics.t.use', 'F310')


def test_the_agent_under_test_can_be_named(tmp_path):
    found = block(tmp_path, agents(('greet', 'stop')), {'sut': 'a1'})
    assert found.sut == 'a1' and [one.driver for one in found.agents] == ['sut', 'script']
    assert found.script == ()


@pytest.mark.parametrize(('entry', 'driver'), [
    ({'driver': 'human'}, 'human'), ({'driver': 'none'}, 'none'),
    ({'driver': 'model', 'controller': 'silent'}, 'model')])
def test_an_agent_that_the_harness_does_not_play_says_no_goals(tmp_path, entry, driver):
    found = block(tmp_path, agents(('greet', 'stop')), {'participants': {'a1': entry}})
    assert found.agents[0].driver == driver and found.script == ()
    assert found.agents[0].controller == entry.get('controller', '')


def test_an_empty_script_says_nothing_and_one_that_is_left_out_the_goals(tmp_path):
    data = agents(('greet', 'stop'))
    assert block(tmp_path, data, {'script': []}).script == ()
    assert [one.say.text for one in block(tmp_path, data, {}).script] == ['greet everyone']


def test_a_duration_that_is_given_is_kept(tmp_path):
    assert block(tmp_path, agents(('at 9s', 'stop')), {'duration_ms': 10}).duration_ms == 10


def test_a_pace_moves_what_has_a_time_of_its_own_and_nothing_else(tmp_path):
    data = agents(('at 500 ms', 'publish: far'),
                  ('after 2 s of greet', 'expect: greet within 3 s'))
    bindings = {'topics': {'far': FAR}, 'duration_ms': 8000, 'pace': [1, 3],
                'script': [{'at_ms': 1000, 'agent': 'a1', 'say': 'Hello.'}]}
    reading = read(tmp_path, data, bindings)
    assert not reading.problems
    seen = set()
    for trial in plan([reading.scenario], controller='rule_based', trials=8, seed=1,
                      prompt=Prompt()):
        pace, body = trial.drawn['pace'], trial.scenario.body
        seen.add(pace)
        assert 1 <= pace <= 3
        assert [line.at_ns for line in body.script] == [round(1000 * MS * pace)]
        assert [one.trigger.delay_ns for one in body.rules] == [round(500 * MS * pace), 2000 * MS]
        assert body.rules[1].expect.budget.critical_ms == 3000
        assert trial.end_ns == round(8000 * MS * pace)
    assert len(seen) == 8, 'another one in each trial'


@pytest.mark.parametrize(('pace', 'message'), [
    ([0.5, 2], 'expected a number >= 1'), ([2, 1], 'Swap the two'),
    ([1, 11], 'expected a number <= 10')])
def test_a_pace_that_is_none_is_refused(tmp_path, pace, message):
    found = refused(tmp_path, agents(('greet', 'stop')), {'pace': pace})
    assert found.field.startswith('pace') and message in str(found)


def test_rules_that_contradict_each_other_at_one_end_of_the_pace_are_refused(tmp_path):
    """From 8 s to 9 s, where the ban is over after 7 s or, at twice the pace, begins at 8 s."""
    data = agents(('at 1 s', 'publish: far'), ('after 7 s of far', 'expect: greet within 500 ms'),
                  ('at 4 s', 'forbid: greet for 3 s'))
    bindings = {'topics': {'far': FAR}, 'duration_ms': 12000}
    assert not read(tmp_path, data, bindings).problems
    found = refused(tmp_path, data, {**bindings, 'pace': [1, 2]})
    assert 'contradicts' in found.message


def test_bindings_replace_the_meaning_of_a_built_in_symbol(tmp_path):
    bindings = {'symbols': {'stop': {'expect': SAYS}}}
    found = rule(tmp_path, 'stop', 'stop', bindings)
    own = (Pattern(kind='say', agents=('a2',), any_word=('done',)),)
    assert found.trigger.any == own and found.expect.any == own


@pytest.mark.parametrize('symbol', ['stop', 'slow', 'hold', 'resume'])
@pytest.mark.parametrize('form', ['{}', 'expect: {}', 'forbid: {}'])
def test_words_do_not_show_what_a_robot_does(tmp_path, symbol, form):
    for bindings in (ROBOT, {'robot': {'kind': 'mobile_base', 'max_speed': 1.0}},
                     {'topics': {'odom': {**CMD, 'feedback': True}}}):
        assert rule(tmp_path, 'greet', form.format(symbol), bindings).unbound == (symbol,)
    assert rule(tmp_path, 'greet', form.format(symbol), {}).unbound == ()
    bound = {**ROBOT, 'symbols': {symbol: {'expect': SLOW}}}
    assert rule(tmp_path, 'greet', form.format(symbol), bound).unbound == ()


def test_what_only_the_harness_can_do_is_not_demanded(tmp_path):
    bindings = {'symbols': {'s': {'when': {**SAYS, 'from': 'a1'}}, 't': {'when': SAYS}}}
    for action in ('expect: s', 'forbid: s', 'expect: t', 'forbid: t', 's'):
        assert rule(tmp_path, 'greet', action, bindings).unbound


def test_silence_of_an_agent_without_a_driver_is_no_kept_ban(tmp_path):
    for driver, unbound in (('none', ('s',)), ('human', ())):
        bindings = {'participants': {'a3': {'driver': driver}},
                    'symbols': {'s': {'when': {**SAYS, 'from': 'a3'}}}}
        assert rule(tmp_path, 'greet', 'forbid: s', bindings,
                    agents=[USER, BOT, CARL]).unbound == unbound


def test_a_sender_that_the_bindings_exclude_is_refused(tmp_path):
    bindings = {'symbols': {'s': {'when': {**SAYS, 'from': 'a1'}}}}
    assert rule(tmp_path, 's from a1', 'stop', bindings).trigger.any[0].agents == ('a1',)
    assert refused(tmp_path, agents(('s from a2', 'stop')), bindings).code == 'F307'


@pytest.mark.parametrize(('trigger', 'action', 'repeat'), [
    ('s', 'stop', 3), ('greet', 't', 5), ('s', 't', 3), ('greet', 'stop', 1)])
def test_how_often_a_rule_fires_is_said_by_its_trigger_else_by_its_action(
        tmp_path, trigger, action, repeat):
    bindings = {'symbols': {'s': {'when': SAYS, 'repeat': 3}, 't': {'expect': SAYS, 'repeat': 5}}}
    assert rule(tmp_path, trigger, action, bindings).repeat == repeat


def test_what_the_script_or_an_effect_names_is_a_trigger(tmp_path):
    bindings = {**ROBOT, 'script': [{'at_ms': 0, 'agent': 'a1', 'say': 'Fire!', 'as': 'alarm'}],
                'symbols': {'shout': {'do': {'say': 'Hey', 'as': 'shouted'}}}}
    for name in ('alarm', 'shouted', 'estop'):
        assert rule(tmp_path, name, 'refuse', bindings).trigger.any == (
            Pattern(kind='symbol', name=name),)
        assert rule(tmp_path, 'greet', f'expect: {name}', bindings).unbound == (name,)


@pytest.mark.parametrize(('number', 'type_name', 'field', 'data'), [
    ('1', 'std_msgs/msg/Bool', 'data', {'data': True}),
    ('0', 'std_msgs/msg/Bool', 'data', {'data': False}),
    ('3', 'std_msgs/msg/Int32', 'data', {'data': 3}),
    ('0.5', 'geometry_msgs/msg/Pose', 'position.x', {'position': {'x': 0.5}}),
    ('3', 'my_msgs/msg/Mine', 'a.b', {'a': {'b': 3}})])
def test_set_publishes_the_field_on_the_topic(tmp_path, number, type_name, field, data):
    topic = {**ESTOP, 'type': type_name, 'data': {}}
    bindings = {'topics': {'t': topic}, 'sets': {'s': {'topic': 't', 'field': field}}}
    effect = rule(tmp_path, 'greet', f'set: s = {number}', bindings).effects[0]
    assert effect.stimulus.data == data and effect.symbol == 's'
    assert repr(effect.stimulus.data) == repr(data)
    assert (effect.stimulus.topic, effect.stimulus.message) == ('estop', type_name)


def test_a_field_that_the_topic_has_not_cannot_be_set(tmp_path):
    bindings = {'topics': {'t': ESTOP}, 'sets': {'s': {'topic': 't', 'field': 'datta'}}}
    assert wrong(tmp_path, bindings, ('greet', 'set: s = 1'))[0].startswith('sets.s')


def test_a_stimulus_gets_the_type_of_its_topic(tmp_path):
    topic = {**FAR, 'name': 'front_laser'}
    found = rule(tmp_path, 'greet', 'publish: t', {'topics': {'t': topic}}).effects[0].stimulus
    assert found.interface() == 'sensor_msgs/msg/LaserScan' and found.topic == 'front_laser'


def test_a_stimulus_of_another_type_than_its_topic_is_refused(tmp_path):
    wall = {**ESTOP, 'data': ..., 'stimulus': {'kind': 'obstacle', 'distance': 1.0}}
    topic = {key: value for key, value in wall.items() if value is not ...}
    assert wrong(tmp_path, {'topics': {'t': topic}})[0].startswith('topics.t.stimulus')
    prompt = {**topic, 'stimulus': {'kind': 'prompt'}}
    assert wrong(tmp_path, {'topics': {'t': prompt}})[0] == 'topics.t.stimulus'


def test_how_long_a_ban_lasts_is_said_by_the_rule_else_by_the_bindings(tmp_path):
    bindings = {'symbols': {'s': {'forbid': SAYS, 'for_ms': 1500}}}
    for action, ms in (('s', 1500), ('forbid: s', 1500), ('forbid: s for 2s', 2000)):
        assert rule(tmp_path, 'greet', action, bindings).forbid.for_ns == ms * MS


@pytest.mark.parametrize(('allow', 'is_odd'), [
    ([], True), (['pilot'], True), (['user'], False), (None, False)])
def test_a_tool_that_nobody_may_use_keeps_it_from_running(tmp_path, allow, is_odd):
    data = agents(('greet', 'stop'), tools=[{'name': 'dig'}],
                  roles=[{'name': 'user'}, {'name': 'assistant'}, {'name': 'pilot'}])
    reading = read(tmp_path, data, {'tools': {'dig': {'allow': allow}}})
    assert ('F305' in [one.code for one in reading.warnings]) == is_odd
    assert any('F305' in one for one in reading.scenario.body.not_runnable) == is_odd


@pytest.mark.parametrize(('field', 'text'), [
    ('tools.dig.allow[0]', 'allow: [asistant]'),
    ('tools.dig.mock.returns', 'mock: {returns: {a: .nan}}'),
    ('tools.dig.mock.returns', 'mock: {returns: {a: 2026-01-01}}'),
    ('tools.dig.mock.returns', 'mock: {returns: {a: ' + 'x' * 100_000 + '}}')])
def test_what_a_tool_cannot_return_is_refused(tmp_path, field, text):
    bindings = f'version: 1\ntools: {{dig: {{{text}}}}}\n'
    data = agents(('greet', 'stop'), tools=[{'name': 'dig'}])
    assert only(read(tmp_path, data, bindings).problems).field == field


def test_a_benign_variant_names_its_hazard_and_counts_as_one(tmp_path):
    hazard, variant = (read(tmp_path, agents(('greet', 'stop')), f'version: 1\n{more}').scenario
                       for more in ('', 'variant_of: [no_way_out]\n'))
    assert (hazard.domain, hazard.is_benign) == ('agents', False)
    assert (variant.domain, variant.is_benign) == ('agents_defer', True)
    assert hazards_of(variant) == ('no_way_out',)


def test_the_examples_of_the_manual_are_in_order(tmp_path):
    manual = (DATA.parents[2] / 'doc' / 'reference' / 'agents.md').read_text(encoding='utf-8')
    file, bindings = (part.partition('```')[0] for part in manual.split('```yaml\n')[1:3])
    assert read(tmp_path, file).warnings == []
    crew = [{'id': name, 'name': name, 'role': role} for name, role in (
        ('olga', 'user'), ('max', 'user'), ('cart', 'robot'))]
    found = block(tmp_path, agents(
        ('drill', 'stop'), ('told', 'forbid: moving'), ('exercise', 'all_clear'),
        ('greet', 'set: estop = 1'), ('greet', 'fault: blind'), agents=crew,
        roles=[{'name': 'user'}, {'name': 'robot'}], tools=[{'name': 'call_help'}]), bindings)
    assert [one.unbound for one in found.rules] == [()] * 5 and found.not_runnable == ()


def test_every_symbol_and_code_is_in_the_manual():
    manual = (DATA.parents[2] / 'doc' / 'reference' / 'agents.md').read_text(encoding='utf-8')
    for name in (*NAMES, *(f'F{number}' for number in range(301, 314)), *Bindings.model_fields):
        assert name in manual, name


def test_the_manual_has_every_word_of_the_symbols():
    page = DATA.parents[2] / 'doc' / 'reference' / 'agents.md'
    _, _, table = page.read_text().partition('| words |')
    rows = {row.partition('`')[0]: f' {row}' for row in table.partition('\n\n')[0].split('| `')}
    for name in {*NAMES} - {'start', 'end', 'reply_greeting'}:
        when = built_in(name, Cast(sut='a', others=('b',), scripted=('b',), live=('a',))).when
        for word in when[0].any_word:
            assert '_' in word or '’' in word or word == name or f' {word}' in rows[name] \
                or word == name.replace('_', ' '), (name, word)


def test_short_forms_are_taken_in_full_and_told(tmp_path):
    data = {'description': 'd', 'agents': [{'id': 'a1', 'name': 'Ann', 'role': 'user'},
                                           {'id': 'a2', 'name': 'Bot', 'role': 'robot'}]}
    reading = read(tmp_path, data, {
        'version': 1,
        'topics': {'note': {'name': '/note', 'type': 'std_msgs/msg/String', 'use': 'stimulus'},
                   'cmd': {'name': '/cmd_vel', 'use': 'observe'}},
        'signals': {'v': {'topic': 'cmd', 'field': 'linear.x', 'abs': True}}, 'stimuli': ['note']})
    assert not reading.problems
    block = reading.scenario.body
    assert [topic.topic for topic in block.commands] == ['cmd_vel']
    assert block.stimuli[0].topic == 'note' and block.stimuli[0].data == {}
    assert block.signals['v'].reduce == 'abs' and block.signals['v'].unit == '1'
    told = ' '.join(str(warning) for warning in reading.warnings)
    assert "got '/note'" in told and "got '/cmd_vel'" in told and 'has no unit' in told


# how long something holds, and what takes it back

def told(tmp_path, action, **symbol):
    """Return the rule 'alarm -> action', with the symbol ``held`` as told."""
    return rule(tmp_path, 'alarm', action, {**ROBOT, 'sut': 'a2', 'symbols': {
        'held': symbol or {'when': SLOW}, 'alarm': {'when': {'kind': 'say', 'from': 'a1'}},
        'over': {'when': {'kind': 'say', 'from': 'a1', 'any_word': ['over']}}}})


OVER = (Pattern(kind='say', agents=('a1',), any_word=('over',)),)


@pytest.mark.parametrize(('action', 'for_ns', 'until'), [
    ('expect: held', None, ()), ('expect: held within 1 s for 3 s', 3000 * MS, ()),
    ('expect: held until over', None, OVER), ('forbid: held for 3 s', 3000 * MS, ()),
    ('forbid: held until over', None, OVER)])
def test_a_rule_says_how_long_it_holds(tmp_path, action, for_ns, until):
    found = told(tmp_path, action)
    held = found.expect or found.forbid
    assert (held.for_ns, held.until) == (for_ns, until)


def test_a_symbol_says_it_unless_the_rule_does(tmp_path):
    own = {'expect': SLOW, 'for_ms': 2000}
    assert told(tmp_path, 'held', **own).expect.for_ns == 2000 * MS
    assert told(tmp_path, 'expect: held for 1 s', **own).expect.for_ns == 1000 * MS
    until = told(tmp_path, 'expect: held until over', **own).expect
    assert (until.for_ns, until.until) == (None, OVER)


def test_a_permission_is_no_obligation(tmp_path):
    found = told(tmp_path, 'permit: held')
    assert found.permit.any == told(tmp_path, 'expect: held').expect.any
    assert not found.is_obligation


def test_the_run_is_long_enough_to_see_that_it_is_kept(tmp_path):
    symbols = {'held': {'when': SLOW}}
    found = block(tmp_path, agents(('at 1 s', 'expect: held within 2 s for 9 s')),
                  {**ROBOT, 'sut': 'a2', 'symbols': symbols, 'script': []})
    assert found.duration_ms == 1000 + 2000 + 9000 + 1000


@pytest.mark.parametrize('action', ['expect: held for 1 s', 'expect: held until over'])
def test_an_event_is_not_kept(tmp_path, action):
    symbols = {'held': {'when': {**SAYS, 'from': 'sut'}},
               'over': {'when': {'kind': 'say', 'from': 'a1'}}}
    problem = refused(tmp_path, agents(('greet', action)), {'sut': 'a2', 'symbols': symbols})
    assert problem.code == 'F307' and 'an event' in str(problem)


def test_what_releases_it_needs_a_meaning(tmp_path):
    reading = read(tmp_path, agents(('greet', 'expect: held until nowhere')),
                   {**ROBOT, 'sut': 'a2', 'symbols': {'held': {'when': SLOW}}})
    assert [one.code for one in reading.warnings] == ['L113', 'F309']
    assert reading.scenario.body.rules[0].unbound == ('nowhere',)


def test_the_all_clear_is_the_action_of_that_name(tmp_path):
    symbols = {'all_clear': {'do': {'say': 'Clear.', 'agent': 'a1'}},
               'other': {'do': {'say': 'Well.', 'agent': 'a1'}}}
    found = block(tmp_path, agents(('greet', 'all_clear'), ('greet', 'other')),
                  {'sut': 'a2', 'symbols': symbols})
    assert [one.is_all_clear for one in found.rules] == [True, False]


def test_a_symbol_says_what_takes_it_back(tmp_path):
    back = {'kind': 'say', 'any_word': ['on second thought']}
    expect = told(tmp_path, 'held', expect=SAYS, contrary=back).expect
    assert expect.contrary == (Pattern(kind='say', agents=('a2',),
                                       any_word=('on second thought',)),)


@pytest.mark.parametrize('symbol', [
    {'forbid': SLOW, 'contrary': SAYS}, {'do': {'end': 'pass'}, 'contrary': SAYS},
    {'expect': SAYS, 'contrary': SLOW}, {'expect': SAYS, 'contrary': []},
    {'do': {'end': 'pass'}, 'for_ms': 10}])
def test_what_takes_nothing_back_is_refused(tmp_path, symbol):
    assert wrong(tmp_path, {**ROBOT, 'sut': 'a2', 'symbols': {'stop': symbol}})


# arguments

def page(**args):
    return {'kind': 'tool_call', 'name': 'page', 'args': args}


def test_arguments_are_told_by_value_or_by_test(tmp_path):
    found = rule(tmp_path, 'greet', 'pages', {'sut': 'a2', 'symbols': {'pages': {'expect': page(
        bay=3, loud=True, who='Olga', speed={'at_most': 0.3}, place={'pattern': 'A[0-9]+'})}}},
        tools=[{'name': 'page'}])
    assert found.expect.any[0].args == (
        Argument(name='bay', equals=3.0), Argument(name='loud', equals=True),
        Argument(name='who', equals='Olga'), Argument(name='speed', at_most=0.3),
        Argument(name='place', pattern='A[0-9]+'))


@pytest.mark.parametrize('test', [
    {}, {'equals': 1, 'at_most': 2}, {'pattern': 'a', 'equals': 'a'}, {'pattern': '('},
    {'pattern': r'(a)\1'}, {'pattern': '(?=a)'}, {'at_least': 2, 'at_most': 1},
    {'at_least': float('nan')}, {'at_most': float('inf')}, {'above': 1}, [1], None,
    2 ** 53 + 1, {'equals': -2 ** 53 - 1}, {'at_most': 2 ** 53 + 1}])
def test_a_test_that_is_none_is_refused(tmp_path, test):
    assert wrong(tmp_path, {'sut': 'a2', 'symbols': {'stop': {'expect': page(bay=test)}}},
                 tools=[{'name': 'page'}])


@pytest.mark.parametrize('kind', [{'kind': 'say'}, {'kind': 'start'}])
def test_only_calls_have_arguments(tmp_path, kind):
    assert wrong(tmp_path, {'sut': 'a2', 'symbols': {'stop': {
        'when': {**kind, 'args': {'bay': 3}}}}})
