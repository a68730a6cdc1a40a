# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Agents are briefed, heard and answered in time, and rules do what they say and no more."""

from collections.abc import Sequence
import random
from typing import Any

from cases import for_each
import pytest
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.blocks.agents import Agent, End, Forbid, Pattern, Publish, Say, Tool
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.conversation import Envelope, MAX_TOOL_TURNS, Turn, Utterance
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.result import Status
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.faults import LinkLoss, SensorFault
from safety_scenarios.stimuli.messages import Prompt, RawMessage
from safety_scenarios.trial.agents_trial import AgentsPlayer
from safety_scenarios.trial.links.loopback import MOST_UTTERANCES
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.rules.engine import replay, Rules
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import Timeline, Trial, TrialRecord
from unit.conversations import (
    ALICE,
    block,
    BOT,
    Echo,
    expects,
    GREETED,
    line,
    Mute,
    named,
    Played,
    rule,
    said,
    Slow,
    talk,
    Talker,
    trial_of,
    turns,
)
from unit.records import ns
from unit.scripted import ScriptedLink, START_NS

MODEL = Agent(id='a3', name='Eve', role='user', driver='model', controller='x')
SEARCH = Tool(name='search', description='Query', returns={'results': [1]})
CALLS = Pattern(kind='tool_call', name='search')
BEAT = RawMessage(kind='message', topic='heartbeat', rate_hz=10.0, message='std_msgs/msg/Empty')
ESTOP = RawMessage(kind='message', topic='estop', rate_hz=10.0, message='std_msgs/msg/Bool',
                   data={'data': True})
START = Pattern(kind='start')


def test_a_line_is_said_when_it_is_due_and_answered_at_once():
    played = Played(trial_of(block(GREETED)))
    assert played.said == [(100, 'a1', 'Hello everyone'), (100, 'a2', 'Welcome, Alice')]
    first, second = played.record.of_kind('say')
    assert first.scheduled_ns == first.stamps.steady_ns and second.scheduled_ns is None
    assert first.name == 'agents/a1/out' and second.name == 'agents/a2/out'
    assert first.trial_id == second.trial_id == played.record.trial.trial_id
    assert replay(played.record).status is Status.SATISFIED


def test_an_agent_knows_its_role_and_what_was_said():
    played = Played(trial_of(block(script=(line(100, 'Hello'), line(900, 'Hello there')))))
    first, second = played.controller.asked
    assert [message.role for message in first] == ['system', 'user']
    assert 'You are Bot (a2). Your role: assistant: Helpful AI assistant.' in first[0].content
    assert [(one.role, one.content) for one in second[1:]] == [
        ('user', 'Alice: Hello'), ('assistant', 'Welcome, Alice'), ('user', 'Alice: Hello there')]


def test_the_next_trial_is_a_new_conversation():
    played = Played(trial_of(block()), again=1)
    assert [len(messages) for messages in played.controller.asked] == [2, 2]


def test_an_answer_waits_as_long_as_its_plugin_says():
    assert Played(trial_of(block(GREETED)), Slow).said[1] == (800, 'a2', 'Welcome, Alice')


@pytest.mark.parametrize(('delay_ns', 'status'), [
    (ns(2000), Status.SATISFIED), (ns(2000) + 1, Status.VIOLATED)])
def test_the_deadline_is_inclusive(delay_ns, status):
    kind = type('Exact', (Talker,), {'answer_delay_ns': delay_ns})
    assert replay(Played(trial_of(block(GREETED)), kind).record).status is status


def test_silence_violates():
    played = Played(trial_of(block(GREETED)), Mute)
    assert len(played.said) == 1 and replay(played.record).status is Status.VIOLATED


def test_a_run_that_ends_before_the_deadline_is_inconclusive():
    played = Played(trial_of(block(GREETED, duration_ms=1000.0)), Mute)
    assert replay(played.record).status is Status.INCONCLUSIVE


def test_nothing_said_at_all_is_no_pass():
    played = Played(trial_of(block(GREETED, script=())))
    assert played.said == [] and replay(played.record).status is Status.NOT_TRIGGERED


def test_a_mistake_in_a_turn_is_told_and_the_next_turn_is_taken():
    class Clumsy(Talker):

        def reply(self, text: str) -> str:
            if len(self.asked) == 1:
                raise RuntimeError('no idea')
            return 'Hello'
    played = Played(trial_of(block(script=(line(100, 'Hello'), line(200, 'Hello?')))), Clumsy)
    assert [time for time, agent, _ in played.said if agent == 'a2'] == [200]
    fault, = played.faults
    assert fault.startswith('a2 could not take its turn: the controller rule_based failed: '
                            'RuntimeError: no idea (test_agents_trial.py:')


def test_the_run_lasts_as_planned_and_begins_at_a_drawn_time():
    delays = set()
    for seed in range(5):
        trial = trial_of(block(), seed=seed)
        record = Played(trial).record
        nominal, onset, end = (Timeline(record).mark(name) for name in ('nominal', 'onset', 'end'))
        assert end.stamps.steady_ns - onset.stamps.steady_ns == ns(3000)
        delays.add(onset.stamps.steady_ns - nominal.stamps.steady_ns)
        assert Timeline(record).onset == onset and record.events[-1] == end
    assert len(delays) == 5 and all(0 <= delay <= ns(200) for delay in delays)


def test_the_same_trial_gives_the_same_record():
    trial = trial_of(block(GREETED, stimuli=(BEAT,)))
    assert Played(trial, Slow).record == Played(trial, Slow).record


def test_a_preflight_says_nothing_and_ends():
    trial = trial_of(block(GREETED))
    link = TalkingLink()
    record = run_trial(trial, link, with_hazard=False)
    assert [event.name for event in record.events] == ['nominal', 'end']
    assert [envelope.name for envelope, _ in link.told] == ['brief']


class TestRules:
    """What a rule causes."""

    def test_a_rule_speaks_and_is_heard(self):
        played = Played(trial_of(block(
            rule(said('hello', by='a1'), Say(agent='a1', text='Hello Bot', symbol='again')),
            expects(named('again'), said('welcome', by='a2')), script=(line(0, 'hello'),))))
        again = played.record.of_kind('say')[1]
        assert (again.text, again.symbol, again.depth) == ('Hello Bot', 'again', 1)
        assert played.controller.asked[-1][-1].content == 'Alice: Hello Bot'
        assert replay(played.record).status is Status.SATISFIED

    def test_a_timer_fires_when_it_is_due(self):
        played = Played(trial_of(block(
            rule(START, Say(agent='a1', text='Hello'), delay_ms=1234.5), script=())))
        assert played.said[0][0] == 1234.5
        say = played.record.of_kind('say')[0]
        assert say.scheduled_ns == say.stamps.steady_ns and say.depth == 1

    @pytest.mark.parametrize('how', ['pass', 'fail', 'stop'])
    def test_an_end_ends_the_run(self, how):
        played = Played(trial_of(block(
            rule(said('welcome', by='a2'), Say(agent='a1', text='Bye'), End(how=how)),
            script=(line(500, 'Hello'), line(700, 'Still there?')))))
        assert [text for _, _, text in played.said] == ['Hello', 'Welcome, Alice', 'Bye']
        assert played.ms(played.record.events[-1]) == 500
        assert played.record.events[-1].name == 'end'

    def test_rules_that_cause_each_other_end_in_an_error(self):
        counts = set()
        for _ in range(2):
            played = Played(trial_of(block(
                rule(named('a'), Say(agent='a1', text='b', symbol='b'), repeat=100),
                rule(named('b'), Say(agent='a1', text='a', symbol='a'), repeat=100),
                GREETED, script=(line(100, 'Hello', symbol='a'),))))
            outcome = replay(played.record)
            assert outcome.status is Status.ERROR and 'rule_loop' in outcome.error
            assert played.record.events[-1].name == 'end' and played.faults == []
            counts.add(len(played.said))
        assert len(counts) == 1 and counts.pop() < 40

    def test_what_a_record_says_was_caused_was_caused(self):
        played = Played(trial_of(block(
            rule(START, Publish(stimulus=BEAT, symbol='beat'), delay_ms=300),
            rule(named('beat'), Say(agent='a1', text='It beats', symbol='beats')),
            rule(named('beats'), Say(agent='a1', text='Hello')), script=())))
        record = played.record
        rules = Rules.of(record.trial.scenario.body, record.trial.trial_id, record.measuring)
        caused = []
        for event in record.events:
            caused += rules.feed(event)
            caused += rules.begin(event.stamps.steady_ns) if event.name == 'onset' else []
        assert [one.depth for one in caused] == [1, 2, 3]
        assert [event.depth for event in record.of_kind('say')] == [2, 3, 0]


@for_each('seed', range(20))
def test_live_and_replay_agree_on_what_rules_cause(seed):
    chance = random.Random(seed)
    symbols = ['a', 'b', 'c']

    def trigger() -> Pattern:
        return chance.choice([START, said('welcome', by='a2'), *map(named, symbols)])

    def effect() -> Any:
        symbol = chance.choice([*symbols, None])
        return chance.choice([
            Say(agent='a1', text='Hello', symbol=symbol), Publish(stimulus=ESTOP, symbol=symbol),
            Say(agent='a1', text='Never mind', symbol=symbol),
            *([End(how='stop')] if chance.random() < 0.1 else [])])
    rules = [rule(trigger(), *(effect() for _ in range(chance.randint(1, 3))),
                  delay_ms=chance.choice([0.0, 0.0, 50.0, 333.3]),
                  repeat=chance.choice([1, 2, 100])) for _ in range(6)]
    played = Played(trial_of(block(*rules, script=(
        line(0, 'Hello', symbol='a'), line(500, 'Hello', symbol='b')))), chance.choice([
            Talker, Slow]))
    record = played.record
    assert played.faults == [] and record.events[-1].name == 'end'
    again = Rules.of(record.trial.scenario.body, record.trial.trial_id, record.measuring)
    caused = []
    for event in record.events:
        caused += again.feed(event)
        caused += again.begin(event.stamps.steady_ns) if event.name == 'onset' else []
    done = sorted((event.text, event.depth) for event in record.of_kind('say') if event.depth)
    assert done == sorted((one.effect.text, one.depth) for one in caused
                          if isinstance(one.effect, Say))
    assert all(event.agent != 'a2' or event.depth == 0 for event in record.of_kind('say'))


class TestStimuli:
    """What is published beside the talk."""

    def test_stimuli_run_from_the_start_and_reach_the_controller(self):
        played = Played(trial_of(block(stimuli=(BEAT,), duration_ms=500.0)))
        beats = played.record.of_kind('stimulus')
        assert [played.ms(event) for event in beats] == [0, 100, 200, 300, 400]
        assert not any(event.hazard for event in beats)
        assert 'heartbeat' in played.controller.seen[-1].readings

    def test_a_rule_publishes_until_the_end_and_names_the_first_message(self):
        played = Played(trial_of(block(
            rule(said('hello', by='a1'), Publish(stimulus=ESTOP, symbol='operator_stop')),
            duration_ms=400.0)))
        shown = played.record.of_kind('stimulus', 'estop')
        assert [played.ms(event) for event in shown] == [100, 200, 300]
        assert [event.symbol for event in shown] == ['operator_stop', None, None]
        assert {event.depth for event in shown} == {1}
        assert played.controller.seen[-1].readings['estop'].message.data == {'data': True}

    def test_it_takes_the_place_of_what_was_published_there(self):
        off = ESTOP.model_copy(update={'data': {'data': False}})
        played = Played(trial_of(block(
            rule(said('hello', by='a1'), Publish(stimulus=ESTOP)), stimuli=(off,),
            script=(line(150, 'Hello'),), duration_ms=400.0)))
        shown = [(played.ms(event), event.message.data['data'])
                 for event in played.record.of_kind('stimulus')]
        assert shown == [(0, False), (100, False), (150, True), (250, True), (350, True)]

    def test_a_fault_alters_what_is_published_there_and_keeps_its_beat(self):
        scan = RawMessage(kind='message', topic='scan', rate_hz=10.0,
                          message='sensor_msgs/msg/LaserScan', data={'ranges': (1.0, 2.0)})
        fault = SensorFault(kind='sensor_fault', topic='scan', fault='nan')
        played = Played(trial_of(block(
            rule(said('hello', by='a1'), Publish(stimulus=fault)), stimuli=(scan,),
            script=(line(150, 'Hello'),), duration_ms=400.0)))
        shown = {played.ms(event): event.message.data['ranges'][0]
                 for event in played.record.of_kind('stimulus')}
        assert list(shown) == [0, 100, 200, 300] and shown[100] == 1.0
        assert shown[200] != shown[200]

    def test_one_fault_after_another_keeps_the_beat_too(self):
        loss = LinkLoss(kind='link_loss', topic='heartbeat', drop=1)
        played = Played(trial_of(block(
            rule(said('hello', by='a1'), Publish(stimulus=loss)),
            rule(said('again', by='a1'), Publish(stimulus=loss)), stimuli=(BEAT,),
            script=(line(150, 'Hello'), line(450, 'Again')), duration_ms=800.0)))
        shown = [(played.ms(event), event.scheduled_ns - played.onset_ns == ns(played.ms(event)))
                 for event in played.record.of_kind('stimulus') if event.message]
        assert shown == [(at_ms, True) for at_ms in (0, 100, 300, 400, 600, 700)]

    def test_a_silence_is_an_event_with_a_name(self):
        loss = LinkLoss(kind='link_loss', topic='heartbeat')
        played = Played(trial_of(block(
            rule(said('hello', by='a1'), Publish(stimulus=loss, symbol='comms_lost')),
            expects(named('comms_lost'), said('lost', by='a2')), stimuli=(BEAT,),
            script=(line(150, 'Hello'),), duration_ms=3000.0)))
        shown = [(played.ms(event), event.message is None, event.symbol, event.depth)
                 for event in played.record.of_kind('stimulus')]
        assert shown == [(0, False, None, 0), (100, False, None, 0), (150, True, 'comms_lost', 1)]
        assert replay(played.record).status is Status.INCONCLUSIVE

    def test_what_is_sent_once_is_sent_once(self):
        played = Played(trial_of(block(rule(said('hello', by='a1'), Publish(stimulus=Prompt())))))
        assert [played.ms(event) for event in played.record.of_kind('stimulus')] == [100]

    def test_a_plan_knows_all_that_may_be_published(self):
        trial = trial_of(block(rule(START, Publish(stimulus=ESTOP)), stimuli=(BEAT,)))
        assert trial.hazard == (BEAT, ESTOP) and trial.nominal == ()
        assert not trial.is_text and trial.all_clear_ns is None and trial.end_ns == ns(3000)


@for_each(('topics', 'count'), [((), 0), (('cmd_vel',), 30), (('other',), 0)])
def test_commands_are_heard_where_the_bindings_say(topics, count):
    played = Played(trial_of(block(
        commands=tuple(CommandTopic(topic=topic) for topic in topics), duration_ms=1500.0),
        onset_delay_ns=0))
    assert len(played.record.of_kind('command')) == count
    assert len(played.controller.seen) == 30


class TestTools:
    """Agents call, and the harness answers."""

    def test_a_call_and_its_result_are_recorded_and_heard(self):
        heard: list[Turn] = []

        def take(turn: Turn) -> Sequence[Utterance]:
            heard.append(turn)
            return [Utterance(kind='tool_call', name='search', args={'q': 'x'})] \
                if turn.heard.kind == 'say' else [Utterance(kind='say', text='Hello')]
        played = Played(trial_of(block(GREETED, tools=(SEARCH,))), turns(take))
        call, result = (played.record.of_kind(kind)[0] for kind in ('tool_call', 'tool_result'))
        assert (call.agent, call.name, call.arguments) == ('a2', 'search', '{"q": "x"}')
        assert (result.agent, result.name, result.arguments) == ('a2', 'search',
                                                                 '{"results": [1]}')
        assert heard[0].tools == (('search', 'Query'),)
        assert heard[1].heard.args == {'results': [1]}
        assert [message.role for message in heard[1].messages] == [
            'system', 'user', 'assistant', 'tool']
        outcome = replay(played.record)
        assert outcome.status is Status.SATISFIED and outcome.denied == ()

    @pytest.mark.parametrize(('rule_of_call', 'cut', 'whole'), [
        (rule(START, forbid=Forbid(any=(CALLS,))), Verdict.FAIL, Verdict.FAIL),
        (expects(START, CALLS), Verdict.INCONCLUSIVE, Verdict.PASS)])
    def test_calls_of_an_answer_that_was_cut_off_are_judged_and_never_pass(
            self, rule_of_call, cut, whole):
        """What is demanded in words was said before the cut."""
        def verdict(*more: Utterance) -> Verdict:
            def take(turn: Turn) -> Sequence[Utterance]:
                return [Utterance(kind='say', text='Hello'), Utterance(
                    kind='tool_call', name='search'), *more] if turn.heard.kind == 'say' else []
            played = Played(trial_of(block(GREETED, rule_of_call, tools=(SEARCH,))), turns(take))
            return evaluate(played.record, words='patterns').verdict
        assert verdict(Utterance(kind='say', truncated_by='max_tokens')) is cut
        assert verdict() is whole

    @pytest.mark.parametrize('tools', [(), (Tool(name='search', allow=('user',)),)])
    def test_what_is_not_allowed_is_denied_and_violates(self, tools):
        def take(turn: Turn) -> Sequence[Utterance]:
            return [Utterance(kind='say', text='Hello'),
                    Utterance(kind='tool_call', name='search')] if turn.heard.kind == 'say' else []
        played = Played(trial_of(block(GREETED, tools=tools)), turns(take))
        assert '"denied"' in played.record.of_kind('tool_result')[0].arguments
        outcome = replay(played.record)
        assert outcome.status is Status.VIOLATED and len(outcome.denied) == 1

    def test_a_call_that_leads_to_a_call_comes_to_an_end(self):
        kind = turns(lambda turn: [Utterance(kind='tool_call', name='search')])
        played = Played(trial_of(block(tools=(SEARCH,))), kind)
        assert len(played.record.of_kind('tool_call')) == 1 + MAX_TOOL_TURNS
        assert played.faults == []


class TestParticipants:
    """Several live agents."""

    def test_each_hears_the_others_and_not_itself(self):
        played = Played(trial_of(block(agents=(ALICE, MODEL, BOT))), participants={'a3': Mute})
        [eve] = played.others
        assert [messages[-1].content for messages in eve.asked] == [
            'Alice: Hello everyone', 'Bot: Welcome, Alice']
        assert [messages[-1].content for messages in played.controller.asked] == [
            'Alice: Hello everyone']

    def test_the_controller_under_test_hears_it_first(self):
        link = TalkingLink()
        run_trial(trial_of(block(agents=(MODEL, ALICE, BOT))), link)
        assert [hearers for envelope, hearers in link.told] == [['a2'], ['a3'], ['a2', 'a3']]

    def test_two_who_always_answer_are_stopped_with_an_error(self):
        played = Played(trial_of(block(agents=(ALICE, MODEL, BOT))), Echo,
                        participants={'a3': Echo})
        assert len(played.said) == 1 + MOST_UTTERANCES
        assert len(played.faults) == 1 and 'must stop some time' in played.faults[0]

    def test_all_plug_ins_hang_up_at_the_end(self):
        played = Played(trial_of(block(agents=(ALICE, MODEL, BOT))), participants={'a3': Mute})
        assert [plugin.closed for plugin in (played.controller, *played.others)] == [1, 1]

    def test_nobody_plays_an_agent_without_a_driver(self):
        nobody = Agent(id='a3', name='Nobody', role='user', driver='none')
        assert Played(trial_of(block(agents=(ALICE, nobody, BOT)))).faults == []

    def test_the_controller_under_test_may_play_no_agent(self):
        played = Played(trial_of(block(agents=(ALICE,), sut='')))
        assert len(played.said) == 1 and played.controller.asked == []


class TalkingLink(ScriptedLink):
    """
    Plays nobody, and gives what a function says at given times.

    :param late_ms: by which every waiting is too long
    """

    def __init__(self, *sayings: tuple[float, str, str | None], late_ms: float = 0.0) -> None:
        super().__init__()
        self.told: list[tuple[Envelope, list[str]]] = []
        self._sayings = sorted(sayings)
        self._late_ns = ns(late_ms)

    def deliver(self, envelope: Envelope, hearers: Sequence[str]) -> Stamps:
        self.told.append((envelope, list(hearers)))
        return self._stamps()

    def receive_until(self, steady_ns: int) -> Sequence[Event]:
        if self._sayings and START_NS + ns(self._sayings[0][0]) <= steady_ns + self._late_ns:
            t_ms, text, trial_id = self._sayings.pop(0)
            self.now_ns = max(self.now_ns, START_NS + ns(t_ms))
            return [Event(kind='say', name='agents/a2/out', agent='a2', text=text,
                          trial_id=trial_id, stamps=self._stamps())]
        self.now_ns = max(self.now_ns, steady_ns + self._late_ns)
        return []


def listened(*sayings: tuple[float, str, str | None],
             late_ms: float = 0.0) -> tuple[TalkingLink, TrialRecord]:
    trial: Trial = trial_of(block(GREETED, agents=(ALICE, MODEL, BOT)), onset_delay_ns=0)
    link = TalkingLink(*((t_ms, text, trial.trial_id if one is None else one)
                         for t_ms, text, one in sayings), late_ms=late_ms)
    return link, run_trial(trial, link)


def test_what_belongs_to_this_trial_is_routed_and_counts():
    link, record = listened((300, 'Welcome', None))
    assert [(envelope.text, hearers) for envelope, hearers in link.told
            if envelope.sender == 'a2'] == [('Welcome', ['a3'])]
    assert replay(record).rules[0].obligations[0].latency_ns == ns(200)


def test_what_belongs_to_another_trial_is_recorded_and_nothing_else():
    link, record = listened((300, 'Welcome', 'another'))
    assert [event.text for event in record.of_kind('say')] == ['Hello everyone', 'Welcome']
    assert not [envelope for envelope, _ in link.told if envelope.sender == 'a2']
    assert replay(record).status is Status.VIOLATED


def test_what_was_said_before_the_run_is_no_answer():
    link, record = listened((-1, 'Welcome', None))
    assert [event.text for event in record.of_kind('say')] == ['Welcome', 'Hello everyone']
    assert replay(record).status is Status.VIOLATED


def test_a_late_line_says_when_it_was_due():
    _, record = listened(late_ms=80)
    say, onset = record.of_kind('say')[0], Timeline(record).mark('onset')
    assert say.scheduled_ns - onset.stamps.steady_ns == ns(100)
    assert say.stamps.steady_ns - say.scheduled_ns == ns(80)


def test_what_comes_instead_of_waiting_does_not_move_when_a_line_was_due():
    _, record = listened((200, 'Me first', None), late_ms=80)
    first, say = record.of_kind('say')
    onset = Timeline(record).mark('onset')
    assert (first.text, say.text) == ('Me first', 'Hello everyone')
    assert say.scheduled_ns - onset.stamps.steady_ns == ns(100)
    assert say.stamps == first.stamps and say.stamps.steady_ns - say.scheduled_ns == ns(20)


def test_a_sender_counts_what_it_says():
    trial = trial_of(block(script=(line(100, 'one'), line(200, 'two'))))
    link = TalkingLink()
    AgentsPlayer(trial, link, lambda event: None).play()
    assert [(envelope.kind, envelope.seq) for envelope, _ in link.told] == [
        ('event', 0), ('say', 0), ('say', 1)]
    assert {envelope.trial_id for envelope, _ in link.told} == {trial.trial_id}


def test_trials_of_one_scenario_differ_in_their_onset():
    made = plan([talk(block())], controller='c', trials=3, seed=1, prompt=Prompt())
    assert len({trial.onset_delay_ns for trial in made}) == 3
