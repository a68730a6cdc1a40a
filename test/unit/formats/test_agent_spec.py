# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an agent file means without bindings, and what keeps it from being read or run."""

import hashlib
import json
import sys

from cases import for_each
import fast_yaml
import pytest
from safety_scenarios.errors import ScenarioError
from safety_scenarios.formats.agents.symbols import built_in, Cast, NAMES
from safety_scenarios.formats.loading import load_scenario, load_scenarios
from safety_scenarios.scenario.blocks.agents import End, Forbid, Pattern, Say, Trigger
from safety_scenarios.scenario.verdict import LatencyBudget
from safety_scenarios.trial.rules.matching import says
from steps import calls
from unit.formats.agent_files import (
    agents,
    block,
    BOT,
    DATA,
    dumped,
    only,
    read,
    refused,
    rule,
    USER,
)

MS = 1_000_000
DEFAULT = LatencyBudget(target_ms=500.0, acceptable_ms=1000.0, critical_ms=2000.0)
CAST = Cast('a2', ('a1', 'a3'), ('a1',), ('a2', 'a3'))


def warned(tmp_path, data, bindings=None):
    """Return code to message of the warnings, after a look at what they keep from running."""
    reading = read(tmp_path, data, bindings)
    assert reading.scenario is not None, '\n'.join(map(str, reading.problems))
    told = {problem.code: problem.message for problem in reading.warnings}
    assert {f'{problem.code}: {problem.message}' for problem in reading.warnings}.issuperset(
        reading.scenario.body.not_runnable)
    assert all(problem.line and problem.column for problem in reading.warnings)
    return told, len(reading.scenario.body.not_runnable)


def matched(patterns, text, agent):
    return any((pattern.agents is None or agent in pattern.agents)
               and any(says(text.lower(), word) for word in pattern.any_word)
               and not any(says(text.lower(), word) for word in pattern.no_word)
               for pattern in patterns)


# the example of the format's document

def test_the_documents_example_greets_and_expects_a_greeting_in_return():
    scenario = load_scenario(str(DATA / 'greeting.yaml'))
    found = scenario.body
    assert (found.sut, [line.say.text for line in found.script]) == ('a2', ['greet everyone'])
    assert found.script[0].at_ns == 0 and found.script[0].say.agent == 'a1'
    greeting = found.rules[0]
    assert matched(greeting.trigger.any, 'greet everyone', 'a1')
    assert matched(greeting.expect.any, 'Hello Alice!', 'a2')
    assert greeting.expect.budget == scenario.latency_budget == DEFAULT
    assert found.not_runnable == () and greeting.unbound == ()


def test_the_controllers_own_greeting_does_not_trigger_and_an_echo_is_no_reply():
    greeting = load_scenario(str(DATA / 'greeting.yaml')).body.rules[0]
    assert not matched(greeting.trigger.any, 'hello', 'a2')
    assert not matched(greeting.expect.any, 'hello', 'a1')
    assert not matched(greeting.expect.any, 'greet everyone', 'a2')


def test_the_documents_example_as_a_scenario(tmp_path):
    scenario = load_scenario(str(DATA / 'greeting.yaml'))
    assert (scenario.id, scenario.domain, scenario.name) == ('greeting', 'agents', 'Demo scenario')
    assert scenario.description == 'Demo scenario' and scenario.body.kind == 'agents'
    assert [(one.role, one.content) for one in scenario.messages] == [
        ('system', scenario.body.system_text)]
    assert 'Your role: assistant: Helpful AI assistant.' in scenario.body.system_text
    assert scenario.constraint.description == scenario.expected_action == \
        'On "greet", Bot must do "reply_greeting" within 2000 ms.'
    raw = (DATA / 'greeting.yaml').read_bytes()
    assert scenario.origin.sha256 == hashlib.sha256(raw).hexdigest()


def test_json_says_the_same_as_yaml(tmp_path):
    data = fast_yaml.load((DATA / 'greeting.yaml').read_text(encoding='utf-8'))
    as_json = read(tmp_path, json.dumps(data), suffix='.json').scenario
    assert as_json.body == load_scenario(str(DATA / 'greeting.yaml')).body


def test_goals_are_said_once_each_in_order_with_time_for_the_answers(tmp_path):
    users = [{**USER, 'goals': ['one', ' ', 'two']},
             {'id': 'a3', 'name': 'Carl', 'role': 'user', 'goals': ['three']}, BOT]
    found = block(tmp_path, agents(('greet', 'expect: reply_greeting within 4 s'), agents=users))
    assert [(line.at_ns // MS, line.say.agent, line.say.text) for line in found.script] == [
        (0, 'a1', 'one'), (4500, 'a1', 'two'), (9000, 'a3', 'three')]
    assert found.duration_ms == 9000 + 4000 + 1000


def test_the_run_is_long_enough_for_delays_and_bans(tmp_path):
    found = block(tmp_path, agents(('at 20 s', 'forbid: resume for 30 s'),
                                   ('after 5 s of greet', 'stop')))
    assert found.duration_ms == (20 + 5 + 30 + 1) * 1000
    assert block(tmp_path, agents()).duration_ms == 5000


# symbols

@pytest.mark.parametrize('name', NAMES)
def test_every_built_in_symbol_has_a_meaning_as_a_trigger(name):
    meaning = built_in(name, CAST)
    assert meaning.when
    for pattern in meaning.expect + meaning.forbid:
        assert pattern.agents == ('a2',)


@pytest.mark.parametrize(('symbol', 'text'), [
    ('human_enters', 'A person enters the hall'), ('human_enters', 'human_enters'),
    ('human_leaves', 'The man has left'), ('collision', 'We collided!'),
    ('sensor_lost', 'Lidar failed'), ('comms_lost', 'connection lost'),
    ('battery_low', 'Battery low, 3 %'), ('operator_stop', 'STOP!'), ('greet', 'Good morning'),
    ('stop', 'Halt, please'), ('slow', 'Slow down'), ('hold', 'Wait here'),
    ('resume', 'Continue, please')])
def test_a_situation_or_an_order_is_what_others_say(symbol, text):
    when = built_in(symbol, CAST).when
    assert matched(when, text, 'a1') and matched(when, text, 'a3')
    assert not matched(when, text, 'a2')


@pytest.mark.parametrize(('symbol', 'yes', 'no'), [
    ('reply_greeting', 'Hi there', 'This hit home'), ('stop', 'Stopping now', 'I will not stop'),
    ('stop', 'I stopped.', 'a nonstop trip'), ('slow', 'Slowing down', "I won't slow down"),
    ('hold', 'Holding position', 'on the household'), ('resume', 'Resuming', 'cannot resume'),
    ('handoff', 'Handing over to you', 'no need to escalate'),
    ('refuse', 'I cannot do that', 'I never refuse'), ('stop', 'Halting.', 'no need to stop'),
    ('resume', 'I go on.', 'I will not go on.'), ('hold', 'I stay here.', 'I drive on.')])
def test_an_answer_is_what_the_controller_says_and_not_its_opposite(symbol, yes, no):
    expect = built_in(symbol, CAST).expect
    assert matched(expect, yes, 'a2') and not matched(expect, no, 'a2')
    assert not matched(expect, yes, 'a1')


@pytest.mark.parametrize(('symbol', 'back'), [
    ('stop', 'I go on.'), ('stop', 'Resuming.'), ('hold', "I'm moving on"), ('hold', 'I continue'),
    ('resume', 'I stop.'), ('refuse', 'All right then.'), ('refuse', 'I will proceed'),
    ('refuse', 'As you wish')])
def test_an_answer_is_taken_back_by_its_contrary(symbol, back):
    meaning = built_in(symbol, CAST)
    assert matched(meaning.contrary, back, 'a2') and not matched(meaning.contrary, back, 'a1')
    assert not matched(meaning.expect, back, 'a2')


@pytest.mark.parametrize(('symbol', 'text'), [
    ('stop', 'I go on when you clear me.'), ('stop', 'I stop, and I go on.'),
    ('stop', 'I cannot go on: something is 1.0 m ahead of me.'),
    ('hold', 'I will continue once it is clear.'), ('refuse', 'I cannot do that while I move.'),
    ('stop', 'Stopping. I hold until somebody who may clear me tells me to go on.')])
def test_what_is_conditional_or_says_it_again_takes_nothing_back_for_sure(symbol, text):
    assert not matched(built_in(symbol, CAST).contrary, text, 'a2')


@pytest.mark.parametrize(('symbol', 'text', 'agent', 'expected'), [
    ('stop', 'Please continue.', 'a1', True), ('stop', 'Do not continue.', 'a1', False),
    ('stop', 'The person leaves the room.', 'a1', True), ('stop', 'Continue.', 'a2', False),
    ('resume', 'Stop!', 'a1', True), ('refuse', 'Please continue.', 'a1', False),
    ('refuse', 'The human leaves.', 'a1', True)])
def test_a_built_in_demand_is_released_by_what_others_say(symbol, text, agent, expected):
    assert matched(built_in(symbol, CAST).until, text, agent) is expected


def test_for_a_ban_the_opposite_counts_too():
    assert matched(built_in('resume', CAST).forbid, 'I will not stop. Resuming', 'a2')
    assert matched(built_in('resume', CAST).forbid, 'I do not resume', 'a2')


@pytest.mark.parametrize('name', ['refuse', 'handoff', 'reply_greeting'])
def test_an_answer_as_a_trigger_is_the_controllers(name):
    assert {pattern.agents for pattern in built_in(name, CAST).when} == {('a2',)}


@pytest.mark.parametrize('name', [name for name in NAMES if built_in(name, CAST).effects])
def test_what_an_agent_is_made_to_say_is_what_the_symbol_means(name):
    meaning = built_in(name, CAST)
    assert name == 'end' or matched(meaning.when, meaning.effects[0].text, 'a1')


def test_a_situation_as_an_action_is_told_by_the_only_agent_that_can(tmp_path):
    assert rule(tmp_path, 'start', 'sensor_lost').effects == (
        Say(agent='a1', text='The sensor is lost.', symbol='sensor_lost'),)
    assert rule(tmp_path, 'greet', 'end').effects == (End(how='stop'),)


@pytest.mark.parametrize('action', ['sensor_lost', 'say: hello'])
def test_whom_to_let_speak_is_not_guessed(tmp_path, action):
    third = {'id': 'a3', 'name': 'Carl', 'role': 'user'}
    data = agents(('start', action), agents=[USER, third, BOT])
    found = block(tmp_path, data).rules[0]
    assert found.unbound and found.trigger is None and found.effects == ()
    assert '2 agents' in warned(tmp_path, data)[0]['F309']


@pytest.mark.parametrize(('trigger', 'action', 'name'), [
    ('sunrise', 'stop', 'sunrise'), ('greet', 'wave', 'wave'), ('tool: dig', 'stop', 'tool:dig'),
    ('signal: v < 1', 'stop', 'signal:v'), ('greet from zoe', 'stop', 'agent:zoe'),
    ('greet', 'publish: person', 'publish:person'), ('greet', 'set: v = 1', 'set:v'),
    ('greet', 'fault: blind', 'fault:blind'), ('greet', 'expect: wave', 'wave'),
    ('greet', 'forbid: collision', 'collision'), ('greet', 'expect: human_leaves', 'human_leaves'),
    ('greet', 'expect: end', 'end'), ('greet', 'start', 'start')])
def test_what_nothing_gives_a_meaning_is_unbound_and_never_fires(tmp_path, trigger, action, name):
    data = agents((trigger, action))
    found = block(tmp_path, data).rules[0]
    assert found.unbound == (name,) and found.trigger is None
    assert 'never passes' in warned(tmp_path, data)[0]['F309']


# the forms

def test_triggers_become_patterns(tmp_path):
    assert rule(tmp_path, 'at 2 s', 'stop').trigger == Trigger(
        any=(Pattern(kind='start'),), delay_ns=2000 * MS)
    assert rule(tmp_path, 'after 1s of start', 'stop').trigger == Trigger(
        any=(Pattern(kind='start'),), delay_ns=1000 * MS)
    assert rule(tmp_path, 'Says: Stop', 'stop').trigger == Trigger(
        any=(Pattern(kind='say', any_word=('stop',)),))
    assert rule(tmp_path, 'tool: SEARCH', 'stop', tools=[{'name': 'Search'}]).trigger == Trigger(
        any=(Pattern(kind='tool_call', name='Search'),))
    assert [one.agents for one in rule(tmp_path, 'stop from A2', 'stop').trigger.any] == [('a2',)]


def test_a_phrase_is_a_whole_word_and_no_pattern(tmp_path):
    words = rule(tmp_path, 'says: stop', 'stop').trigger.any[0].any_word
    assert not any(says('a nonstop trip', word) for word in words)
    assert rule(tmp_path, 'says: .*', 'stop', rules=[
        {'trigger': 'says: s.*p', 'action': 'stop'}]).trigger.any[0].any_word == ('s.*p',)


def test_actions_become_demands_bans_and_effects(tmp_path):
    assert rule(tmp_path, 'greet', 'expect: stop within 700ms').expect.budget == LatencyBudget(
        target_ms=500.0, acceptable_ms=700.0, critical_ms=700.0)
    assert rule(tmp_path, 'greet', 'expect: stop').expect.budget == DEFAULT
    assert rule(tmp_path, 'greet', 'stop').expect.budget == DEFAULT
    banned = rule(tmp_path, 'greet', 'forbid: resume for 3s').forbid
    resume = built_in('resume', Cast('a2', ('a1',), ('a1',), ()))
    assert banned == Forbid(any=resume.forbid, for_ns=3000 * MS, contrary=resume.contrary)
    assert rule(tmp_path, 'greet', 'forbid: resume').forbid.for_ns is None
    assert rule(tmp_path, 'greet', 'say: Well Done').effects == (
        Say(agent='a1', text='Well Done'),)
    assert rule(tmp_path, 'greet', 'end: fail').effects == (End(how='fail'),)


def test_the_budget_is_that_of_the_first_demand(tmp_path):
    scenario = read(tmp_path, agents(
        ('greet', 'forbid: resume'), ('greet', 'expect: stop within 9s'),
        ('greet', 'stop'))).scenario
    assert scenario.latency_budget.critical_ms == 9000
    assert 'must hold to "forbid: resume" to the end of the run' in scenario.expected_action


def test_rules_that_cause_each_other_can_be_read(tmp_path):
    found = block(tmp_path, agents(('sensor_lost', 'comms_lost'), ('comms_lost', 'sensor_lost')))
    assert [len(one.effects) for one in found.rules] == [1, 1]


@for_each('key', ['trigger', 'action'])
@for_each('text', ['$(rm)', '{0.__class__}', '__import__', '__import__("os")',
                   '${HOME}', 'a\0b', 'says: a\0b', 'x' * 501,
                   'says: ' + 'a' * 201, 'say: ' + 'a' * 201])
def test_a_text_that_is_no_rule_is_refused_at_its_place(tmp_path, key, text):
    data = agents()
    data['rules'] = [{'trigger': 'greet', 'action': 'stop', key: text}]
    found = refused(tmp_path, data)
    assert (found.code, found.field) == ('F307', f'rules[0].{key}')
    assert found.line == dumped(data).splitlines().index(
        next(one for one in dumped(data).splitlines() if one.lstrip('- ').startswith(key))) + 1


def test_nothing_of_a_rule_is_evaluated(tmp_path):
    mark = tmp_path / 'made'
    for text in (f'$(touch {mark})', f'`touch {mark}`', f'__import__("os").mknod("{mark}")',
                 f'says: $(touch {mark})', f'say: {{0.__class__}} $(touch {mark})'):
        read(tmp_path, agents((text, text)))
    assert not mark.exists()
    assert rule(tmp_path, 'greet', 'say: {0.__class__}').effects[0].text == '{0.__class__}'


def test_which_of_two_ids_is_meant_is_told_by_case_alone(tmp_path):
    pair = [USER, {**USER, 'id': 'A1'}, BOT]
    data = agents(('greet from A1', 'stop'), agents=pair)
    assert [one.agents for one in block(tmp_path, data).rules[0].trigger.any] == [('A1',)]
    pair = [{**USER, 'id': 'Ann'}, {**USER, 'id': 'ANN'}, BOT]
    assert refused(tmp_path, agents(('greet from ann', 'stop'), agents=pair)).code == 'F307'


@pytest.mark.parametrize('change', [
    {'agents': [{**USER, 'id': 'a1\u200b'}, BOT]}, {'agents': [{**USER, 'name': '\u200f'}, BOT]},
    {'roles': [{'name': 'user'}, {'name': 'assistant\u2060'}]}])
def test_a_name_with_what_nobody_sees_is_refused(tmp_path, change):
    """It would look like another one."""
    assert refused(tmp_path, agents(('greet', 'stop'), **change)).code == 'F308'


@pytest.mark.parametrize('name', ['\u3164', '\u200d\u200c', ' ', ''])
def test_a_file_with_a_name_of_which_nothing_is_seen_is_not_run(tmp_path, name):
    found = warned(tmp_path, agents(('greet', 'stop'), agents=[USER, BOT],
                                    tools=[{'name': name}]))[0]
    assert 'F308' in str(found)


# what it can be described with, and not run

def test_a_file_in_order_has_no_warning(tmp_path):
    assert warned(tmp_path, agents(('greet', 'stop'))) == ({}, 0)


@pytest.mark.parametrize(('code', 'change'), [
    ('F308', {'agents': [{**USER, 'id': ''}, BOT]}), ('F308', {'tools': [{'name': ' '}]}),
    ('F302', {'roles': [{'name': 'assistant'}]}),
    ('F304', {'agents': [], 'roles': []}),
    ('F306', {'agents': [USER], 'roles': [{'name': 'user'}]}),
    ('F306', {'agents': [USER, BOT, {**BOT, 'id': 'a3'}]})])
def test_what_cannot_be_run_can_be_read(tmp_path, code, change):
    told, blocking = warned(tmp_path, agents(('greet', 'stop'), **change))
    assert code in told and blocking == 1


def test_without_roles_every_role_will_do(tmp_path):
    for roles in (..., []):
        assert warned(tmp_path, agents(('greet', 'stop'), roles=roles)) == ({}, 0)


def test_a_role_that_no_agent_has_is_told_and_keeps_nothing_from_running(tmp_path):
    roles = [{'name': 'user'}, {'name': 'assistant'}, {'name': 'pilot'}]
    told, blocking = warned(tmp_path, agents(('greet', 'stop'), roles=roles))
    assert 'pilot' in told['F301'] and blocking == 0


def test_without_a_controller_under_test_there_is_a_scenario_and_nobody_in_it_passes(tmp_path):
    found = read(tmp_path, agents(('greet', 'stop'), agents=[USER],
                                  roles=[{'name': 'user'}])).scenario
    assert found.body.sut == '' and found.body.rules[0].expect.any[0].agents == ()
    assert found.messages[0].content == 'No agent is the controller under test.'


@pytest.mark.parametrize('role', ['Robot', ' controller', 'SUT', 'assistant'])
def test_the_controller_under_test_is_known_by_its_role(tmp_path, role):
    data = agents(agents=[USER, {**BOT, 'role': role}], roles=[{'name': 'user'}, {'name': role}])
    assert block(tmp_path, data).sut == 'a2'


@pytest.mark.parametrize('rules', [[], [('greet', 'say: hi')], [('greet', 'wave')]])
def test_without_a_demand_or_ban_nothing_is_checked(tmp_path, rules):
    assert 'nothing is checked' in warned(tmp_path, agents(*rules))[0]['L113']


@pytest.mark.parametrize(('field', 'change'), [
    ('agents[1].id', {'agents': [USER, {**BOT, 'id': 'a1'}]}),
    ('roles[1].name', {'roles': [{'name': 'user'}, {'name': 'user'}]}),
    ('tools[2].name', {'tools': [{'name': 'a'}, {'name': 'b'}, {'name': 'a'}]})])
def test_a_name_that_stands_twice_is_refused(tmp_path, field, change):
    found = refused(tmp_path, agents(**change))
    assert (found.code, found.field) == ('F303', field)


@pytest.mark.parametrize(('field', 'change'), [
    ('description', {'description': 'x' * 100_001}),
    ('tools[0].name', {'tools': [{'name': 'x' * 201}]}),
    ('agents[0].goals[0]', {'agents': [{**USER, 'goals': ['a\0b']}]}),
    ('agents[0].goals', {'agents': [{**USER, 'goals': ['a'] * 101}]}),
    ('roles[0].description', {'roles': [{'name': 'user', 'description': 'x' * 1001}]}),
    ('agents', {'agents': [{**USER, 'id': f'a{index}'} for index in range(101)]}),
    ('rules', {'rules': [{'trigger': 'greet', 'action': 'stop'}] * 1001})])
def test_what_is_too_large_or_odd_is_refused(tmp_path, field, change):
    found = refused(tmp_path, agents(**change))
    assert (found.code, found.field) == ('F308', field)


def test_what_an_agent_has_to_be_told_fits_one_message(tmp_path):
    bot = {**BOT, 'goals': ['x' * 9_990] * 11}
    assert refused(tmp_path, agents(agents=[USER, bot])).code == 'F308'
    assert block(tmp_path, agents(agents=[USER, {**BOT, 'goals': ['x' * 9_990] * 9}]))


@pytest.mark.slow
@pytest.mark.parametrize('change', [
    {'description': 'x' * 9_900_000},
    {'rules': [{'trigger': 'after ' * 80, 'action': '$(rm)'}] * 10_000}],
    ids=['ten megabytes', 'ten thousand rules'])
def test_what_is_much_too_large_is_refused_in_few_steps(tmp_path, change):
    def refuse():
        reading = read(tmp_path, json.dumps(agents(**change)), suffix='.json')
        assert only(reading.problems).code == 'F308'
    assert calls(refuse) < 15_000_000


def test_twice_the_rules_take_twice_the_steps(tmp_path):
    counts = []
    both = ('after 1s of greet' + ' ' * 400, 'expect: stop within 1s')
    for size in (100, 200, 400):
        text = json.dumps(agents(*[both] * size))
        calls = 0

        def count(frame, event, argument):
            nonlocal calls
            calls += 1
        sys.setprofile(count)
        try:
            reading = read(tmp_path, text, suffix='.json')
        finally:
            sys.setprofile(None)
        assert reading.scenario is not None
        counts.append(calls)
    assert counts[1] < 2.1 * counts[0] and counts[2] < 2.1 * counts[1]


# files

def test_the_bindings_of_a_folder_are_no_scenarios(tmp_path):
    read(tmp_path, agents(('greet', 'stop')), {'stale_ms': 100})
    for target in (str(tmp_path), f'{tmp_path}/*.yaml'):
        found = load_scenarios([target]).scenarios
        assert [one.id for one in found] == ['talk'] and found[0].body.stale_ms == 100


def test_bindings_that_are_named_themselves_are_refused(tmp_path):
    read(tmp_path, agents(('greet', 'stop')), {})
    with pytest.raises(ScenarioError, match='holds the bindings of a scenario'):
        load_scenario(str(tmp_path / 'talk.bindings.yaml'))


def test_a_file_name_that_is_too_long_for_an_id_is_refused(tmp_path):
    path = tmp_path / ('x' * 210 + '.yaml')
    path.write_text(dumped(agents(('greet', 'stop'))), encoding='utf-8')
    with pytest.raises(ScenarioError, match='the name of the file'):
        load_scenario(str(path))
