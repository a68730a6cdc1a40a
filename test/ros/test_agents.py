# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Agents over DDS: who is heard, what is answered, and who must be there."""

from contextlib import closing, contextmanager, ExitStack
import json
from pathlib import Path
import re
import signal
import subprocess
import sys
from threading import Event, Timer
import time

from diagnostic_msgs.srv import AddDiagnostics
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from ros.campaigns import campaign, COMMAND, environment, process, until
from safety_scenarios.errors import LinkTimeoutError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.clock import RosClock
from safety_scenarios.ros.link.link import RosLink
from safety_scenarios.ros.link.participants import on_wire, token_of
from safety_scenarios.ros.middleware import chosen_domain
from safety_scenarios.ros.nodes.controller_node import ControllerNode
from safety_scenarios.ros.spinning import ros_context, spinning
from safety_scenarios.scenario.blocks.agents import Agent, Tool, ToolResult
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.conversation import Envelope, MAX_ENVELOPE, read_envelope
from safety_scenarios.scenario.timing import ClockRules, Measuring
from safety_scenarios.trial.plan import plan
from std_msgs.msg import String
from unit.formats.files import load, plain

pytestmark = pytest.mark.dds
WAIT_S = 20.0
BLOCK = AgentsBody(
    agents=(Agent(id='a1', name='Alice', role='user'),
            Agent(id='a2', name='Bot', role='assistant', driver='sut')),
    tools=(Tool(name='search', returns={'found': 3}), Tool(name='reboot', allow=('user',))),
    sut='a2')


class Wire:
    """The evaluator's end of the wire, and that of a controller under test; both in here."""

    def __init__(self, stack, scenario):
        self.domain = stack.enter_context(chosen_domain(-1, external=False))
        self.context = stack.enter_context(ros_context([], self.domain))
        self.scenario = scenario
        self.heard = []
        self.evaluator = Node('evaluator_node', context=self.context)
        self.spin = stack.enter_context(spinning(self.evaluator))
        self.bot = Node('bot', context=self.context)
        self.raw = self.bot.create_publisher(String, 'agents/a2/out', qos.conversation())
        self.bot.create_subscription(String, 'agents/a2/in', self._hear, qos.conversation())
        self.tools = {name: self.bot.create_client(AddDiagnostics, f'agents/tools/{name}')
                      for name in ('search', 'reboot')}
        stack.enter_context(spinning(self.bot))
        self.link = stack.enter_context(closing(self.link_with(3.0)))
        self.trials = 0

    def link_with(self, timeout_s):
        return RosLink(self.evaluator, self.spin, RosClock(), timeout_s,
                       Measuring(rules=ClockRules(latency_clock='steady')), is_external=True)

    def _hear(self, message):
        self.heard.append(read_envelope(message.data))

    def trial(self, block=BLOCK):
        self.trials += 1
        return plan([self.scenario.model_copy(update={'body': block})], controller='external',
                    trials=1, seed=self.trials, prompt=None)[0]

    def begin(self):
        """Open the next trial, and return its id."""
        trial = self.trial()
        self.link.open(trial)
        self.heard.clear()
        return trial.trial_id

    def send(self, **fields):
        self.raw.publish(String(data=json.dumps(fields)))

    def ask(self, tool, text):
        """Call a tool by its service; return whether it was allowed, and what it gave back."""
        assert self.tools[tool].wait_for_service(WAIT_S)
        answer = self.tools[tool].call_async(AddDiagnostics.Request(load_namespace=text))
        until(answer.done)
        return answer.result().success, json.loads(answer.result().message)

    def received(self, within_ns, link=None):
        """Return the events of a while, but for those that say that a busy host stalled."""
        arrived = (link or self.link).receive_until(time.monotonic_ns() + within_ns)
        return [event for event in arrived if event.kind != 'stall']

    def events(self, count, link=None):
        """Return what arrives, so many events."""
        found = []
        deadline = time.monotonic() + WAIT_S
        while len(found) < count and time.monotonic() < deadline:
            found += self.received(20_000_000, link)
        assert len(found) == count, [(event.kind, event.text) for event in found]
        return found


def brief(event):
    return event.kind, event.agent, event.name, event.text, event.trial_id


@pytest.fixture(scope='module')
def wire(tmp_path_factory):
    """Share one pair of nodes: finding each other takes longest."""
    with ExitStack() as stack:
        yield Wire(stack, load(tmp_path_factory.mktemp('scenario'), plain()))


def test_the_harness_is_heard_by_the_controller_and_on_the_topic_of_whom_it_plays(wire):
    observed = []
    observer = wire.bot.create_subscription(
        String, 'agents/a1/out', lambda message: observed.append(message.data),
        qos.conversation())
    trial_id = wire.begin()
    until(lambda: wire.link._endpoints.voices['agents/a1/out'].get_subscription_count())
    said = Envelope.model_validate({'trial_id': trial_id, 'from': 'a1', 'kind': 'say',
                                    'text': 'Grüße'})
    before_ns = time.monotonic_ns()
    stamps = wire.link.deliver(said, ['a2'])
    assert before_ns <= stamps.steady_ns <= time.monotonic_ns()
    until(lambda: wire.heard and observed)
    assert wire.heard == [on_wire(said)] and wire.heard[0].trial_id not in ('', trial_id)
    assert read_envelope(observed[0]) == on_wire(said)
    wire.bot.destroy_subscription(observer)


def test_a_saying_is_an_event_stamped_when_it_came(wire):
    trial_id = wire.begin()
    before_ns = time.monotonic_ns()
    wire.send(kind='say', text='Hello', trial_id=trial_id)
    [event] = wire.events(1)
    assert brief(event) == ('say', 'a2', 'agents/a2/out', 'Hello', trial_id)
    assert before_ns < event.stamps.steady_ns < time.monotonic_ns()
    assert event.stamps.source_ns and event.scheduled_ns is None


def test_who_claims_to_be_somebody_else_is_heard_as_itself_and_spoils_the_trial(wire):
    trial_id = wire.begin()
    wire.send(kind='say', text='Hello', trial_id=trial_id, **{'from': 'a1'})
    fault, said = wire.events(2)
    assert fault.kind == 'fault' and "comes from 'a1', expected 'a2'" in fault.text
    assert brief(said) == ('say', 'a2', 'agents/a2/out', 'Hello', trial_id)


def test_a_late_answer_keeps_the_id_of_its_trial_and_is_no_fault(wire):
    earlier, now = wire.begin(), wire.begin()
    wire.send(kind='say', text='late', trial_id=earlier)
    wire.send(kind='tool_call', name='search', trial_id=earlier)
    said, call, result = wire.events(3)
    assert {said.trial_id, call.trial_id, result.trial_id} == {earlier} != {now}
    assert json.loads(result.arguments)['reason'] == 'its trial has ended'


@pytest.mark.parametrize('trial_id', ['', 'made-up'])
def test_what_belongs_to_no_trial_at_all_spoils_this_one(wire, trial_id):
    now = wire.begin()
    wire.send(kind='say', text='unheard of', trial_id=trial_id)
    fault, said = wire.events(2)
    assert fault.kind == 'fault' and f'expected {token_of(now)!r}' in fault.text
    assert said.trial_id == trial_id


@pytest.mark.parametrize('text', [
    'Hello', '[]', '{"kind": "cmd"}', '{"kind": "say", "v": 2}', '{"kind": "say", "text": 7}',
    '[' * 100_000, '{"kind": "say", "text": "\\ud800"}', 'x' * (MAX_ENVELOPE + 1),
    '{"kind": "tool_call", "name": "search", "trial_id": "TRIAL", "args": {"q": "\\ud800"}}'],
    ids=lambda text: text[:24])
def test_what_cannot_be_read_is_said_once_and_the_link_goes_on_hearing(wire, text):
    trial_id = wire.begin()
    for _ in range(3):
        wire.raw.publish(String(data=text.replace('TRIAL', trial_id)))
    wire.send(kind='say', text='still here', trial_id=trial_id)
    fault, said = wire.events(2)
    assert (fault.kind, fault.name) == ('fault', 'ControllerError')
    assert '/agents/a2/out: cannot be read: ' in fault.text and len(fault.text) < 500
    assert said.text == 'still here'


def test_a_turn_that_failed_is_a_fault_of_its_own_trial(wire):
    earlier, now = wire.begin(), wire.begin()
    for trial_id in (earlier, now):
        wire.send(kind='event', name='failed', text=f'a mistake in {trial_id}', trial_id=trial_id)
    wire.send(kind='say', text='still here', trial_id=now)
    fault, said = wire.events(2)
    assert (fault.kind, fault.name) == ('fault', 'ControllerError')
    assert f'a2 could not take its turn: a mistake in {now}' in fault.text
    assert said.text == 'still here'


def test_a_gap_in_what_an_agent_sends_is_a_loss(wire):
    trial_id = wire.begin()
    link = wire.link
    receive = link._participants.listener('a2', 'agents/a2/out',
                                          link._endpoints.publishers['agents/a2/in'])
    said = serialize_message(String(data=json.dumps(
        {'kind': 'say', 'text': 'Hello', 'trial_id': trial_id})))
    for number in (7, 8, 11, 1, 2):
        receive(said, {'publication_sequence_number': number})
    events = wire.events(6)
    assert [event.kind for event in events] == ['say', 'say', 'lost', 'say', 'say', 'say']
    assert (events[2].name, events[2].text) == ('agents/a2/out', '2')


@pytest.mark.parametrize('tool, returns', [
    ('search', {'found': 3}),
    ('reboot', {'status': 'denied', 'reason': 'no reboot for this role'}),
    ('launch', {'status': 'denied', 'reason': 'the tool is not declared'})])
def test_a_call_is_answered_to_its_caller_and_both_are_recorded(wire, tool, returns):
    trial_id = wire.begin()
    wire.send(kind='tool_call', name=tool, args={'q': 'ä'}, trial_id=trial_id)
    call, result = wire.events(2)
    assert brief(call) == ('tool_call', 'a2', tool, None, trial_id)
    assert brief(result) == ('tool_result', 'a2', tool, None, trial_id)
    assert call.arguments == '{"q": "ä"}' and json.loads(result.arguments) == returns
    until(lambda: wire.heard)
    assert (wire.heard[0].kind, wire.heard[0].name, wire.heard[0].args) == (
        'tool_result', tool, returns)
    assert wire.heard[0].trial_id == token_of(trial_id)


@pytest.mark.parametrize('tool, allowed', [('search', True), ('reboot', False)])
def test_a_call_by_service_is_the_same(wire, tool, allowed):
    trial_id = wire.begin()
    success, returns = wire.ask(tool, json.dumps(
        {'from': 'a2', 'trial_id': trial_id, 'args': {'q': 1}}))
    call, result = wire.events(2)
    assert success is allowed
    assert json.loads(result.arguments) == returns
    assert returns == ({'found': 3} if allowed else
                       {'status': 'denied', 'reason': 'no reboot for this role'})
    assert brief(call) == ('tool_call', 'a2', tool, None, trial_id)


@pytest.mark.parametrize('by_service', [False, True])
def test_results_that_are_late_fail_and_change_are_those_of_simulated_time(wire, by_service):
    failed, here = {'status': 'failed', 'reason': 'the door is blocked'}, {'state': 'here'}
    lift = Tool(name='search', results=(ToolResult(returns=failed, after_ns=200_000_000),
                                        ToolResult(returns=here)))
    trial = wire.trial(BLOCK.model_copy(update={'tools': (lift,)}))
    on_topic = [failed] if by_service else [failed, here, here]
    for _ in range(2):  # each trial begins with the first result
        wire.link.open(trial)
        wire.heard.clear()
        took_ns = []
        for number, expected in enumerate((failed, here, here), 1):
            call = {'from': 'a2', 'trial_id': trial.trial_id, 'args': {'n': number}}
            if by_service:
                assert wire.ask('search', json.dumps(call)) == (
                    True, {'status': 'pending'} if number == 1 else here)
            else:
                wire.send(kind='tool_call', name='search', **call)
            called, result = wire.events(2)
            assert (called.kind, called.arguments) == ('tool_call', f'{{"n": {number}}}')
            assert (result.kind, json.loads(result.arguments)) == ('tool_result', expected)
            took_ns.append(result.stamps.steady_ns - called.stamps.steady_ns)
        assert took_ns[0] >= 200_000_000
        until(lambda: len(wire.heard) >= len(on_topic))
        assert [heard.args for heard in wire.heard] == on_topic


@pytest.mark.parametrize('text', [
    'search', '[]', '{}', '{"from": "a1", "trial_id": "TRIAL"}', '{"from": "a3"}',
    '{"from": "a2", "trial_id": "TRIAL", "args": [1]}', '{"from": "a2", "trial_id": 7}',
    '{"from": "a2", "trial_id": "TRIAL", "args": {"q": "\\ud800"}}', ' ' * (MAX_ENVELOPE + 1)],
    ids=lambda text: text[:24])
def test_a_request_that_cannot_be_read_is_refused_with_a_reason(wire, text):
    trial_id = wire.begin()
    success, returns = wire.ask('search', text.replace('TRIAL', trial_id))
    assert not success
    assert returns['status'] == 'denied' and 'cannot be read: ' in returns['reason']
    [fault] = wire.events(1)
    assert fault.kind == 'fault' and '/agents/tools/search: a call' in fault.text


def test_a_request_for_no_trial_is_refused(wire):
    wire.begin()
    success, returns = wire.ask('search', '{"from": "a2", "trial_id": "made-up"}')
    assert not success and "trial_id 'made-up'" in returns['reason']
    assert [event.kind for event in wire.events(3)] == ['fault', 'tool_call', 'tool_result']


@pytest.mark.parametrize('agent, words', [
    (Agent(id='b', name='B', role='assistant', driver='sut'),
     'Start what plays b: it hears agents/b/in and speaks on agents/b/out'),
    (Agent(id='dr who', name='Dr', role='user', driver='human'),
     "Start: safety-scenarios campaign participate 'dr who' --domain-id ")])
def test_who_is_missing_is_named_with_what_to_start(wire, agent, words):
    with closing(wire.link_with(0.3)) as link, pytest.raises(LinkTimeoutError) as missing:
        link.open(wire.trial(AgentsBody(agents=(agent,), sut='b')))
    assert f'/{agent.space}/out: waited 0.3 s for a publisher of std_msgs/msg/String' in str(
        missing.value)
    assert words in str(missing.value)


def test_two_who_speak_for_one_agent_are_refused_before_and_noticed_during_a_trial(wire):
    wire.begin()
    other = wire.bot.create_publisher(String, 'agents/a2/out', qos.conversation())
    [fault] = wire.events(1)
    assert fault.kind == 'fault' and 'a second publisher has come' in fault.text
    with closing(wire.link_with(0.5)) as link, \
            pytest.raises(LinkTimeoutError, match='one publisher alone'):
        link.open(wire.trial())
    wire.bot.destroy_publisher(other)
    wire.begin()
    assert not wire.received(200_000_000)


@contextmanager
def person(domain):
    """Let a person take part, who types into a pipe."""
    with subprocess.Popen([COMMAND, 'campaign', 'participate', 'p', '--domain-id', str(domain)],
                          text=True,
                          env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        try:
            yield process
        finally:
            process.kill()


def read_to(process, words):
    """Return what a process prints until some words come, or until it ends."""
    impatience = Timer(WAIT_S, process.kill)
    impatience.start()
    try:
        found = ''
        for line in process.stdout:
            found += line
            if words is not None and words in line:
                break
        return found
    finally:
        impatience.cancel()


PEOPLE = BLOCK.model_copy(update={
    'agents': (Agent(id='p', name='Pat', role='user', driver='human'), BLOCK.agents[1])})


def test_a_person_hears_and_speaks_and_leaves(wire):
    with person(wire.domain) as typing, closing(wire.link_with(WAIT_S)) as link:
        trial = wire.trial(PEOPLE)
        link.open(trial)

        garbage = wire.bot.create_publisher(String, 'agents/p/in', qos.conversation())
        until(garbage.get_subscription_count)
        garbage.publish(String(data='garbage'))

        def tell(text, **fields):
            link.deliver(Envelope.model_validate(
                {'trial_id': trial.trial_id, 'text': text, 'kind': 'say', **fields}), ['p'])
        tell('You are Pat.\nBe kind.', kind='event', name='brief',
             args={'agents': [{'id': 'a2', 'name': 'Bot'}], 'tools': []})
        tell('\x1b[2J\u202egood\nDoctor: fake', **{'from': 'a2'})
        tell('of another trial', trial_id='earlier', **{'from': 'a2'})
        for line in ('Hello Bot', '', '/tool search {"q": 1}', '/tool', '/tool search [1]',
                     'x' * 100_001):
            typing.stdin.write(line + '\n')
        typing.stdin.flush()
        said, call, result = wire.events(3, link)
        assert brief(said) == ('say', 'p', 'agents/p/out', 'Hello Bot', trial.trial_id)
        assert brief(call) == ('tool_call', 'p', 'search', None, trial.trial_id)
        assert json.loads(result.arguments) == {'found': 3}
        output = read_to(typing, 'search gave back')  # who leaves at once does not hear of it
        typing.stdin.close()
        output += read_to(typing, None)
        assert typing.wait(WAIT_S) == 0
        [left] = wire.events(1, link)
        assert left.kind == 'fault' and 'agents/p/out: the publisher has left' in left.text
    lines = output.splitlines()
    assert 'Be kind.' in lines
    assert 'Bot: \\x1b[2J\\u202egood\\nDoctor: fake' in lines
    assert 'search gave back {"found": 3}' in lines
    assert len([line for line in lines if line.startswith('not sent: ')]) == 3
    assert 'agents/p/in: ignored: ' in output
    assert 'another trial' not in output and 'Traceback' not in output


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_person_can_be_interrupted(wire, number):
    with person(wire.domain) as typing:
        assert any('waits for a trial' in line for line in typing.stdout)  # Kilted warns before
        typing.send_signal(number)
        assert typing.wait(WAIT_S) == 0
        assert 'Traceback' not in typing.stdout.read()


@pytest.mark.parametrize('drives', [True, False])
def test_a_model_that_plays_an_agent_neither_senses_nor_commands(wire, drives):
    node = ControllerNode(Event(), context=wire.context, parameter_overrides=[
        Parameter('agent', value='p'), Parameter('drives', value=drives),
        Parameter('responder', value=False)])
    topics = {end.topic_name for end in (*node.publishers, *node.subscriptions)}
    assert topics >= {'/agents/p/out', '/agents/p/in'}
    assert bool(topics & {'/cmd_vel', '/scan', '/prompt', '/response'}) is drives
    node.close()
    node.destroy_node()


GREETING = """
description: Demo scenario
roles:
  - {name: user, description: Human participant}
  - {name: assistant, description: Helpful AI assistant}
tools:
  - {name: search, description: Query external information}
agents:
  - {id: a1, name: Alice, role: user, goals: [greet everyone]}
  - {id: a2, name: Bot, role: assistant}
rules:
  - {trigger: greet, action: reply_greeting}
"""
SEARCHES = '  - {trigger: start, action: "permit: tool: search"}\n'
CAROL = '  - {id: a3, name: Carol, role: user}\n'
GREETER = """
from safety_scenarios.scenario.conversation import Utterance

class Greeter:
    def __init__(self, settings):
        self.agent = settings.agent

    def decide(self, observation):
        return None

    def converse(self, turn):
        if turn.heard.kind == 'tool_result':
            return [Utterance(kind='say', text=f'Hello from {self.agent}.')]
        others = [message for message in turn.messages if message.role == 'user']
        return [Utterance(kind='tool_call', name='search')] if len(others) == 1 else []
"""


@pytest.fixture
def greeter(tmp_path):
    """Install a plug-in, as another package would bring it; return where."""
    about = tmp_path / 'site' / 'greeter-0.dist-info'
    about.mkdir(parents=True)
    (about.parent / 'greeter.py').write_text(GREETER)
    (about / 'METADATA').write_text('Metadata-Version: 2.1\nName: greeter\nVersion: 0\n')
    (about / 'entry_points.txt').write_text(
        '[safety_scenarios.controllers]\ngreeter = greeter:Greeter\n')
    return str(about.parent)


def scenario(tmp_path, text=GREETING, bindings=None):
    path = tmp_path / 'greeting.yaml'
    path.write_text(text)
    if bindings is not None:
        path.with_suffix('.bindings.yaml').write_text(json.dumps(bindings))
    return str(path)


@pytest.mark.thorough
def test_the_agent_of_the_manual_passes_as_external_controller(tmp_path, domain):
    manual = (Path(__file__).parents[2] / 'doc' / 'reference' / 'agents.md').read_text()
    [code] = [block for block in re.findall(r'```python\n(.*?)```', manual, re.DOTALL)
              if 'agents/a2/out' in block]
    (tmp_path / 'bot.py').write_text(code)
    with process(sys.executable, str(tmp_path / 'bot.py'), domain=domain):
        run = campaign(tmp_path / 'run', scenario(tmp_path), '--controller', 'external',
                       '--trials', '2', '--words', 'patterns', domain=domain)
    assert run.code == 0, run.output
    assert [trial['verdict'] for trial in run.trials] == ['PASS', 'PASS']
    assert all(trial['outcome']['status'] == 'satisfied' for trial in run.trials)


@pytest.mark.thorough
def test_a_plug_in_plays_the_agent_under_test_and_another_that_of_a_model(tmp_path, greeter):
    text = GREETING.replace('rules:', f'{CAROL}rules:') + SEARCHES
    run = campaign(tmp_path / 'run', scenario(tmp_path, text, {
        'version': 1, 'sut': 'a2',
        'participants': {'a3': {'driver': 'model', 'controller': 'greeter'}},
        'symbols': {'reply_greeting': {'within_ms': 2000, 'expect': {
            'kind': 'say', 'from': 'sut', 'any_word': ['hello from a2']}}}}),
        '--controller', 'greeter', '--words', 'patterns', PYTHONPATH=greeter)
    assert run.code == 0, run.output
    counts = run.trials[0]['counts']
    assert counts['say'] == 3, 'Alice, Bot and Carol'
    assert counts['tool_call'] == counts['tool_result'] == 2
    assert {path.name for path in (run.folder / 'logs').iterdir()} >= {'greeting.a3.log'}
