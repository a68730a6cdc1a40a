# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What evaluator and simulator tell each other; in lock-step a command is waited for."""

from collections import Counter
import json
import re
import sys
import time
from types import SimpleNamespace

from cases import for_each
from hypothesis import given, strategies
import pytest
from safety_scenarios import registry
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import (
    InputError,
    MeasurementError,
    MissingDependencyError,
    SettingsError,
)
from safety_scenarios.ros.link.participants import token_of, trial_id_of, with_token
from safety_scenarios.ros.sealing import Seal
from safety_scenarios.ros.worlds.embedded import commanders
from safety_scenarios.ros.worlds.embedded.commanders import Arrivals
from safety_scenarios.ros.worlds.external.stepping import await_command
from safety_scenarios.ros.worlds.simulator_link.control import TopicControl
from safety_scenarios.ros.worlds.simulator_link.protocol import (
    Answer,
    as_json,
    LONGEST,
    parse_world_state,
    planned,
    read_request,
    Request,
    reset,
    Tellings,
    WorldState,
)
from safety_scenarios.scenario.blocks.nominal_calls import CommandTopic
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.stimulus import Intent, read_intent, StreamFault
from safety_scenarios.scenario.timing import ClockRules
from safety_scenarios.stimuli.bodies import PersonAt
from unit.records import hazard
from unit.records import planned as trial_of


def test_a_trial_arrives_as_it_was_planned():
    trial = trial_of(hazard())
    text = as_json(reset('7', trial, turns=True))
    request = read_request(text)
    assert isinstance(request, Request)
    assert planned(request, registry.resolve) == trial


@pytest.mark.parametrize('intent', [
    PersonAt(distance=1.1, bearing=0.1, speed=1.6, nearest=0.3),
    StreamFault(topic='scan', fault='nan')])
def test_an_intent_arrives_as_it_was_meant(intent: Intent):
    text = intent.model_dump_json()
    assert read_intent(text) == intent
    assert read_intent(text).model_dump_json() == text, 'a world finds it by its text'


@for_each('text', ['{"kind": "explosion"}', '{}', '[]', 'person',
                   '{"kind": "person_at", "distance": 1}'])
def test_what_is_no_intent_is_refused(text):
    with pytest.raises(ValueError, match='kind|distance|bearing|JSON|Field|valid'):
        read_intent(text)


@for_each(('text', 'reason'), [
    ('nonsense', 'Invalid JSON'), ('{}', 'id: Field required'),
    ('{"id": "1", "what": "explode"}', 'what: Input should be'),
    ('{"id": "1", "what": "step", "step_ns": -1}', 'step_ns: .*greater than or equal to 0'),
    ('{"id": "1", "what": "look", "more": 1}', 'more: Extra inputs'),
    ('x' * (LONGEST + 1), f'got {LONGEST + 1} characters')])
def test_a_wrong_request_is_answered_with_why(text, reason):
    answer = read_request(text)
    assert isinstance(answer, Answer)
    assert re.search(reason, answer.error), answer.error


def test_whoever_sent_a_wrong_request_hears_that_it_was_his():
    answer = read_request('{"id": "ab-3", "what": "explode"}')
    assert isinstance(answer, Answer)
    assert answer.id == 'ab-3'


@for_each('plan', ['', '{}', '[1]', '{"scenario": 3}', 'nonsense'])
def test_what_is_no_plan_is_no_trial(plan):
    with pytest.raises(InputError, match=r'^reset: '):
        planned(Request(id='1', what='reset', plan=plan), registry.resolve)


def test_what_the_world_tells_arrives_as_it_is():
    found = WorldState(trial='t', now_ns=17, count=1, states={'robot': {'x': 1.5}, 'scan': {}},
                       sensed=(('scan', 15, 14), ('estop', 16, None)))
    assert parse_world_state(as_json(found)) == found


def said(count, trial='t'):
    return as_json(WorldState(trial=trial, now_ns=count, count=count))


def test_what_is_told_of_a_trial_is_read_in_order_and_nothing_else():
    tellings = Tellings('t')
    assert [one.count for one in tellings.read([said(8, 'before'), said(1), 'noise'])] == [1]
    assert [one.count for one in tellings.read([said(2), said(3)])] == [2, 3]


@for_each('counts', [[2], [1, 3], [1, 1], [1, 2, 1]])
def test_what_was_lost_or_comes_from_two_simulators_is_no_truth(counts):
    with pytest.raises(MeasurementError, match='was lost'):
        list(Tellings('t').read(map(said, counts)))


@for_each('text', [
    '', '{}', '{"trial": "t", "now_ns": 1, "count": 1, "states": {"r": {"x": "a"}}}'])
def test_what_somebody_else_says_there_is_nothing(text):
    assert parse_world_state(text) is None


def test_a_simulator_has_as_long_to_answer_as_there_is_to_connect(monkeypatch):
    """Beside a load it may take longer than it does within a trial."""
    waited_s = list[float]()

    def done(world, request, timeout_s):
        waited_s.append(timeout_s)
        return Answer(id=request.id, listeners=1)
    monkeypatch.setattr(TopicControl, '_done', done)
    node = SimpleNamespace(create_publisher=lambda *_: None, create_subscription=lambda *_: None)
    TopicControl(node, 60.0, lambda: None).await_others(time.monotonic() + 60.0)
    assert waited_s == [pytest.approx(60.0, abs=1.0)]


@given(strategies.text())
def test_what_is_sealed_is_read_by_its_key_alone(text):
    seal = Seal.fresh()
    closed = seal.closed(text)
    assert seal.opened(closed) == text and Seal.fresh().opened(closed) is None
    assert len(text) < 3 or text not in closed
    assert closed != seal.closed(text), 'the same text twice looks alike'


@pytest.mark.parametrize('at', [0, 20, 40])
def test_a_text_that_was_changed_on_the_way_is_not_read(at):
    seal = Seal.fresh()
    closed = seal.closed('{"what": "withdraw"}')
    other = 'A' if closed[at] != 'A' else 'B'
    assert seal.opened(closed[:at] + other + closed[at + 1:]) is None


def test_a_text_that_somebody_else_sends_again_is_not_read():
    """A reset of the world, heard before the hazard, would take that away."""
    sender = Seal.fresh()
    receiver = Seal(bytes.fromhex(sender.line.decode()))
    texts = [sender.closed(text, topic) for text, topic in (
        ('a', 'ask'), ('b', 'ask'), ('told', 'told'), ('c', 'ask'))]
    assert [receiver.opened(texts[place], 'ask') for place in (0, 3)] == ['a', 'c']
    assert [receiver.opened(one, 'ask') for one in texts] == [None] * 4
    assert receiver.opened(texts[2], 'told') == 'told', 'topics may overtake each other'
    assert receiver.opened(sender.closed('e', 'ask'), 'told') is None, 'on its own topic alone'
    assert sender.opened(receiver.closed('d', 'ask'), 'ask') == 'd', 'each sender counts by itself'


@pytest.mark.parametrize('text', ['', 'AAAA', '{"what": "withdraw"}', 'ä', 'A' * 200])
def test_what_nobody_has_sealed_is_not_read(text):
    assert Seal.fresh().opened(text) is None


def test_without_a_key_texts_travel_as_they_are():
    assert Seal().closed('{}') == Seal().opened('{}') == '{}'


def test_an_installation_that_cannot_encrypt_is_refused_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'cryptography', None)
    refuse_unrunnable([hazard()], RunSettings(link='ros', world='none'))
    with pytest.raises(MissingDependencyError, match='apt install python3-cryptography'):
        refuse_unrunnable([hazard()], RunSettings(link='ros', world='mujoco'))


def test_a_token_names_no_trial_and_leads_back_to_it():
    ids = ['SCN-C-101.late.s7.t0', 'SCN-C-101.late.s7.t1']
    tokens = [token_of(one) for one in ids]
    assert len(set(tokens)) == 2 and not any('SCN' in one or 's7' in one for one in tokens)
    assert [trial_id_of(one, ids[1], set(ids)) for one in tokens] == ids
    assert trial_id_of('made-up', ids[1], ids) == 'made-up' and trial_id_of('', '', ()) == ''


def test_a_prompt_carries_the_token():
    prompt = json.dumps({'v': 1, 'trial_id': 'SCN-C-101.late.s7.t0', 'messages': ['ä']})
    assert json.loads(with_token(prompt)) == {
        'v': 1, 'trial_id': token_of('SCN-C-101.late.s7.t0'), 'messages': ['ä']}
    assert with_token('no envelope') == 'no envelope'


TOPICS = (CommandTopic(topic='cmd_vel'),)


class Controller:
    """
    Somebody who commands nothing.

    :ivar is_there: as the graph shows it; whether he is waited for is known by ``listen`` alone
    """

    def __init__(self):
        self.is_there, self.is_deaf, self.count, self.waits = True, False, 0, 0

    def listen(self, commands):
        assert commands == TOPICS
        self.is_deaf = not self.is_there

    def more_than(self, count, seconds):
        self.waits += 1
        return self.count > count

    def is_waited_for(self):
        before = self.waits
        await_command(self, TOPICS, self.count, 0.0)
        return self.waits > before


def test_who_has_left_is_waited_for_once_and_who_comes_again_as_ever():
    """A step of a trial of ten seconds would cost the patience two hundred times otherwise."""
    controller = Controller()
    assert controller.is_waited_for() and controller.is_waited_for(), 'it may only be slow'
    controller.is_there = False
    assert [controller.is_waited_for() for _ in range(3)] == [True, False, False]
    controller.is_there = True
    assert controller.is_waited_for() and controller.is_waited_for()


def test_whose_process_has_ended_is_an_error_and_no_silence():
    with pytest.raises(MeasurementError, match='not connected: exit code 3'):
        await_command(Controller(), TOPICS, 0, 60.0, lambda: 'exit code 3')


def test_commands_are_taken_out_of_turn_and_the_rest_keeps_its_order():
    """A request that came before a command is answered after the step."""
    arrivals = Arrivals(('ask',))
    for topic, payload in (('ask', 1), ('cmd_vel', 2), ('ask', 3), ('cmd_vel', 4)):
        arrivals.put(topic, payload)
    assert arrivals.await_commands({'cmd_vel': 2}, 0.0)
    assert not arrivals.await_commands({'cmd_vel': 3}, 0.0)
    assert arrivals.take(is_command=False) == ('ask', 1)
    assert arrivals.take_commands() == [('cmd_vel', 2), ('cmd_vel', 4)]
    assert [arrivals.take(), arrivals.take()] == [('ask', 3), None]


def test_lock_step_without_effect_is_refused_before_anything_moves():
    in_world = RunSettings(link='ros', world='mujoco', clock=ClockRules(lockstep=True))
    refuse_unrunnable([hazard()], in_world)
    external = in_world.model_copy(update={'controller': 'external'})
    with pytest.raises(SettingsError, match=r'clock\.lockstep: got true.*Leave clock\.lockstep'):
        refuse_unrunnable([hazard()], external)
    refuse_unrunnable([hazard()], external.model_copy(update={'clock': ClockRules()}))


@pytest.mark.parametrize('world', ['none', 'external'])
def test_a_simulator_of_others_may_be_in_lock_step_with_an_external_controller(world):
    refuse_unrunnable([hazard()], RunSettings(
        link='ros', world=world, controller='external', use_sim_time=True,
        clock=ClockRules(lockstep=True)))


def test_a_missing_package_is_named_once_a_node_subscribes_to_transforms(monkeypatch):
    def missing(interface):
        raise ModuleNotFoundError(interface)
    monkeypatch.setattr(commanders, 'interface_class', missing)
    subscribers, warned = Counter(), []
    frames = commanders.RobotFrames(SimpleNamespace(
        count_subscribers=subscribers.__getitem__,
        get_logger=lambda: SimpleNamespace(warning=warned.append)))
    frames.announce((), 0)
    assert warned == []
    subscribers['/tf'] = 1
    frames.announce((), 0)
    frames.announce((), 0)
    assert len(warned) == 1 and 'apt install ros-$ROS_DISTRO-tf2-msgs' in warned[0]
