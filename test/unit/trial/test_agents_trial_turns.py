# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What agents have heard and said so far, and what cannot be run, with every reason at once."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.campaign import run
from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.campaign.trials import execute
from safety_scenarios.controllers.host import ControllerHost
from safety_scenarios.errors import (
    ControllerError,
    ScenarioError,
    SettingsError,
    UnknownPluginError,
)
from safety_scenarios.scenario.blocks.agents import Agent, Tool
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.blocks.robot import RobotModel
from safety_scenarios.scenario.controller import ControllerPlugin
from safety_scenarios.scenario.conversation import (
    brief_of,
    Conversation,
    Envelope,
    event_of,
    MAX_MESSAGES,
    MAX_TOOL_TURNS,
    read_envelope,
    result_of,
    Turn,
    Utterance,
)
from safety_scenarios.scenario.scenario import Origin
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.trial.links.controller_settings import controller_settings, plan_controller
from safety_scenarios.trial.session import Session
from unit.conversations import ALICE, block, BOT, talk
from unit.linked import begun, wrapped
from unit.records import hazard, stamps

HELLO = Utterance(kind='say', text='Hello')
CALL = Utterance(kind='tool_call', name='search', args={'q': 1})
SEARCH = Tool(name='search', description='Query', returns={'found': True})
OPERATOR = Agent(id='op', name='', role='user')


def envelope(**fields: Any) -> Envelope:
    return Envelope.model_validate({'trial_id': 'T', 'kind': 'say', 'from': 'a1', **fields})


def briefed(agent_id: str = '', trial_id: str = 'T', **changes: Any) -> Conversation:
    """Return Bot's side of a conversation that has just begun."""
    conversation = Conversation(agent_id)
    assert conversation.receive(brief_of(block(**changes), 'a2', trial_id)) is None
    return conversation


def heard(conversation: Conversation, **fields: Any) -> Turn:
    turn = conversation.receive(envelope(**fields))
    assert turn is not None
    return turn


def told(turn: Turn) -> list[tuple[str, str]]:
    """Return role and words of each message but the system text."""
    return [(message.role, message.content) for message in turn.messages[1:]]


def test_a_brief_says_who_is_there_and_survives_the_wire():
    sent = brief_of(block(tools=(SEARCH, Tool(name='drive', allow=('user',)))), 'a2', 'T')
    brief = read_envelope(sent.to_json())
    assert (brief.kind, brief.name, brief.to, brief.trial_id) == ('event', 'brief', ('a2',), 'T')
    assert brief.text.startswith('You are Bot (a2).')
    assert brief.args == {'tools': [{'name': 'search', 'description': 'Query'}], 'agents': [
        {'id': 'a1', 'name': 'Alice', 'role': 'user'},
        {'id': 'a2', 'name': 'Bot', 'role': 'assistant'}]}


def test_nobody_is_briefed_who_is_not_there():
    with pytest.raises(LookupError, match="the agent 'a9'"):
        brief_of(block(), 'a9', 'T')


def test_a_turn_holds_what_was_said_so_far():
    bot = briefed(tools=(SEARCH,))
    first = heard(bot, text='Hi')
    assert first.messages[0].role == 'system' and 'You are Bot' in first.messages[0].content
    assert told(first) == [('user', 'Alice: Hi')]
    assert first.tools == (('search', 'Query'),) and first.heard.text == 'Hi'
    bot.spoke(first, HELLO)
    second = heard(bot, **{'from': 'a9', 'text': 'Who?'})
    assert told(second) == [('user', 'Alice: Hi'), ('assistant', 'Hello'), ('user', 'a9: Who?')]
    assert told(first) == [('user', 'Alice: Hi')]


def test_a_call_and_its_result_are_part_of_it():
    bot = briefed(tools=(SEARCH,))
    call = bot.spoke(heard(bot, text='Hi'), CALL)
    assert (call.kind, call.name, call.args) == ('tool_call', 'search', {'q': 1})
    turn = bot.receive(result_of(block(tools=(SEARCH,)), 'a2', 'search', 'T'))
    assert turn is not None and told(turn)[1:] == [
        ('assistant', 'tool_call search {"q": 1}'), ('tool', 'tool_result search {"found": true}')]


@for_each('fields', [
    {'trial_id': 'other'}, {'trial_id': ''}, {'from': 'a2'}, {'to': ('a1',)}, {'to': ()},
    {'kind': 'cmd'}, {'kind': 'event', 'name': 'bell'}, {'kind': 'tool_call', 'name': 'search'}])
def test_what_is_not_meant_for_it_makes_no_turn_and_is_forgotten(fields):
    bot = briefed()
    assert bot.receive(envelope(**{'text': 'x', **fields})) is None
    assert told(heard(bot, text='Hi')) == [('user', 'Alice: Hi')]


def test_what_is_addressed_to_it_alone_makes_a_turn():
    assert told(heard(briefed(), to=('a1', 'a2'), text='Hi')) == [('user', 'Alice: Hi')]


def test_before_its_brief_it_hears_nothing():
    assert Conversation('a2').receive(envelope(text='Hi')) is None
    assert Conversation('a2').receive(envelope(text='Hi', trial_id='')) is None


def test_a_brief_begins_anew():
    bot = briefed()
    bot.spoke(heard(bot, text='Hi'), HELLO)
    bot.receive(brief_of(block(), 'a2', 'U'))
    assert bot.receive(envelope(text='still the old one')) is None
    turn = heard(bot, trial_id='U', text='Hi')
    assert told(turn) == [('user', 'Alice: Hi')]
    assert bot.spoke(turn, HELLO).seq == 0


def test_an_answer_belongs_to_the_trial_that_asked():
    bot = briefed()
    old = heard(bot, text='Hi')
    bot.receive(brief_of(block(), 'a2', 'U'))
    assert bot.spoke(old, HELLO).trial_id == 'T'
    assert told(heard(bot, trial_id='U', text='Hi')) == [('user', 'Alice: Hi')]


def test_it_says_who_it_is_and_counts():
    bot = briefed()
    turn = heard(bot, text='Hi')
    first, second = bot.spoke(turn, HELLO, t_ns=5), bot.spoke(turn, HELLO)
    assert (first.sender, first.to, first.t_ns) == ('a2', ('*',), 5)
    assert [first.seq, second.seq] == [0, 1]
    assert briefed('b').agent_id == 'b'


def test_one_without_a_name_or_a_role_is_quoted_verbatim():
    mute = BOT.model_copy(update={'system': ''})
    turn = heard(briefed(agents=(OPERATOR, mute)), **{'from': 'op', 'text': 'Go on'})
    assert [(message.role, message.content) for message in turn.messages] == [('user', 'Go on')]


def test_it_remembers_the_last_and_never_forgets_its_role():
    bot = briefed()
    for count in range(MAX_MESSAGES + 1):
        turn = heard(bot, text=str(count))
    assert len(turn.messages) == MAX_MESSAGES + 1 and turn.messages[0].role == 'system'
    assert told(turn)[0] == ('user', 'Alice: 1')


def test_results_of_tools_make_only_so_many_turns_in_a_row():
    bot = briefed()
    result = envelope(kind='tool_result', name='search', **{'from': ''})
    heard(bot, text='Hi')
    made = [bot.receive(result) is not None for _ in range(MAX_TOOL_TURNS + 2)]
    assert made == [True] * MAX_TOOL_TURNS + [False, False]
    heard(bot, text='Once more')
    assert bot.receive(result) is not None


@for_each('fields', [
    {'args': {}}, {'args': {'agents': [], 'tools': None}},
    {'args': {'agents': ['a'], 'tools': []}}, {'args': {'agents': [{'id': 'a'}], 'tools': []}},
    {'args': {'agents': [], 'tools': ['search']}},
    {'args': {'agents': [], 'tools': []}, 'to': ()}])
def test_a_brief_that_is_none_is_refused_and_changes_nothing(fields):
    bot = briefed()
    with pytest.raises(ValueError, match='brief: .*expected agents'):
        bot.receive(envelope(kind='event', name='brief', trial_id='U', **fields))
    assert told(heard(bot, text='Hi')) == [('user', 'Alice: Hi')]


class Answers:
    """A plug-in of the old kind."""

    said: str | None = 'Hello'

    def answer(self, messages: Any) -> str | None:
        return self.said


class Converses(Answers):
    """One that prefers to take turns."""

    does: Any = (CALL, HELLO)

    def converse(self, turn: Turn) -> Any:
        return self.does


def in_its_turn(plugin: Any) -> ControllerPlugin:
    made: ControllerPlugin = begun(wrapped(lambda settings: plugin))
    return made


@for_each(('plugin', 'does'), [
    (Answers(), (HELLO,)), (Converses(), (CALL, HELLO)),
    (type('Mute', (Answers,), {'said': None})(), ()),
    (type('Quiet', (Converses,), {'does': []})(), ())])
def test_a_plug_in_does_what_it_wants_in_its_turn(plugin, does):
    assert tuple(in_its_turn(plugin).converse(heard(briefed(), text='Hi'))) == does


@pytest.mark.parametrize(('done', 'why'), [
    ('Hello', "TypeError: .*got 'Hello', expected an Utterance"),
    (CALL.model_copy(update={'args': {'bay': 10 ** 5000}}), 'ValueError: '),
    (CALL.model_copy(update={'args': {'bay': '\ud800'}}), 'UnicodeEncodeError: '),
])
def test_what_is_no_utterance_is_refused(done, why):
    plugin = type('Odd', (Converses,), {'does': [done]})()
    host = ControllerHost(in_its_turn(plugin))
    assert host.turn(brief_of(block(), 'a2', 'T')) == ()
    with pytest.raises(ControllerError, match=why):
        host.turn(envelope(text='Hi'))


@pytest.mark.parametrize(('tools', 'reason'), [
    ((), 'the tool is not declared'),
    ((SEARCH.model_copy(update={'allow': ('user',)}),), 'no search for this role')])
def test_a_denied_call_gets_nothing(tools, reason):
    result = result_of(block(tools=tools), 'a2', 'search', 'T')
    assert result.args == {'status': 'denied', 'reason': reason}


def test_an_entry_of_the_record_names_the_agent_of_the_topic():
    said = event_of(envelope(text='Hi', **{'from': 'a9'}), ALICE, stamps(1))
    assert (said.kind, said.agent, said.text, said.trial_id) == ('say', 'a1', 'Hi', 'T')
    assert said.name == 'agents/a1/out' and said.arguments is None
    call = event_of(envelope(kind='tool_call', name='search', args={'q': 'ü'}), BOT, stamps(1))
    assert (call.name, call.arguments, call.text) == ('search', '{"q": "ü"}', None)
    assert event_of(envelope(kind='cmd'), ALICE, stamps(1)) is None


LOOPBACK = RunSettings(link='loopback')
ROS = RunSettings(link='ros')
HUMAN = Agent(id='a3', name='Eve', role='user', driver='human')
LLM = Agent(id='a4', name='Max', role='user', driver='model', controller='llm')


def test_every_reason_of_every_scenario_is_told():
    odd = [talk(block(not_runnable=('F301: no role', 'F302: no agent')), id='one',
                origin=Origin(path='one.yaml', sha256='')),
           talk(block()), talk(block(not_runnable=('F303: twice',)), id='two')]
    for settings in (LOOPBACK, ROS):
        with pytest.raises(ScenarioError) as refused:
            refuse_unrunnable(odd, settings)
        assert str(refused.value).splitlines() == [
            'one.yaml: F301: no role', 'one.yaml: F302: no agent', 'two: F303: twice']


@pytest.mark.parametrize('other', [HUMAN, LLM])
def test_nobody_who_needs_real_time_takes_part_in_simulated_time(other):
    pytest.importorskip('openai')
    scenario = talk(block(agents=(ALICE, BOT, other)))
    with pytest.raises(SettingsError, match=f'{other.id}.*--link ros'):
        refuse_unrunnable([scenario], LOOPBACK)
    refuse_unrunnable([scenario], ROS)


def test_a_participant_of_an_unknown_plug_in_is_refused_on_every_link():
    other = LLM.model_copy(update={'controller': 'rule_base'})
    with pytest.raises(UnknownPluginError, match="Did you mean 'rule_based'"):
        refuse_unrunnable([talk(block(agents=(ALICE, BOT, other)))], ROS)


def test_others_are_not_concerned():
    refuse_unrunnable([hazard(), talk(block())], LOOPBACK)


def test_a_preflight_of_it_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(run, 'load_scenarios', lambda *_: SimpleNamespace(
        scenarios=(talk(block(not_runnable=('F301: no role',))),), warnings=(), notes=()))
    settings = RunSettings(link='loopback', output=str(tmp_path / 'out'))
    with pytest.raises(ScenarioError, match='F301'):
        run.preflight(settings, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_nothing_binds_is_run_without_a_link_and_is_inconclusive(tmp_path):
    def open_link(_: Any) -> Any:
        raise AssertionError('nothing may be published for it')
    settings = RunSettings(link='loopback', trials=2)
    scenario = talk(block(not_runnable=('F306: nobody',)))
    summary = run.run(settings, (), lambda *_: nullcontext(Session(open_link, 'nowhere')),
                      scenarios=[scenario], files=False)
    assert summary.verdict is Verdict.INCONCLUSIVE
    for task in plan_campaign(settings, [scenario]).tasks:
        assert execute(task).result.verdict is Verdict.INCONCLUSIVE


def test_a_controller_is_told_of_the_robot_in_the_bindings():
    arm = RobotModel(kind='arm', max_speed=1.0, joints=('one',))
    topic = CommandTopic(topic='arm_cmd', message='trajectory_msgs/msg/JointTrajectory')
    controller = plan_controller(LOOPBACK)
    told = controller_settings(controller, talk(block(robot=arm, commands=(topic,))))
    assert (told.robot, told.command_topic, told.command_type) == (arm, topic.topic, topic.message)
    bare: Any = controller_settings(controller, talk(block()))
    assert bare.robot.kind == 'mobile_base' and bare.command_topic == bare.command_type == ''
