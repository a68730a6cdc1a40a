# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What evaluator and simulator tell each other: whole, bounded, and wrong with a reason."""

import re
import time
from types import SimpleNamespace

from cases import for_each
import pytest
from safety_scenarios import registry
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.ros.worlds.simulator_link.control import TopicControl
from safety_scenarios.ros.worlds.simulator_link.protocol import (
    Answer,
    as_json,
    LONGEST,
    planned,
    read_request,
    Request,
    reset,
    Tellings,
    Told,
    told,
)
from safety_scenarios.scenario.stimulus import Intent, read_intent, StreamFault
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
    found = Told(trial='t', now_ns=17, count=1, states={'robot': {'x': 1.5}, 'scan': {}},
                 sensed=(('scan', 15, 14), ('estop', 16, None)))
    assert told(as_json(found)) == found


def said(count, trial='t'):
    return as_json(Told(trial=trial, now_ns=count, count=count))


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
    assert told(text) is None


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
