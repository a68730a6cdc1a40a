# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What evaluator and simulator say to each other is theirs alone, and names no trial."""

import json
import sys

from hypothesis import given, strategies
import pytest
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import MissingDependencyError
from safety_scenarios.ros.link.participants import token_of, trial_id_of, with_token
from safety_scenarios.ros.sealing import Seal
from safety_scenarios.scenario.settings import RunSettings
from unit.records import hazard


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
