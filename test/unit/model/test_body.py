# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A scenario knows what it is about, and what the right behaviour is, once and for all."""

import pickle

import pytest
from safety_scenarios import registry
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.scenario import Agents, Chat, Robot
from safety_scenarios.trial.journal import Journal, read_journal
from unit.conversations import block, GREETED, talk, trial_of
from unit.records import benign_variant, chat, hazard, planned

TURNS = block(GREETED).model_copy(update={'turns': ('turn 1', 'turn 2')})


@pytest.mark.parametrize(('scenario', 'kind', 'is_conversation'), [
    (hazard(), Robot, False), (benign_variant(), Robot, False), (chat(), Chat, False),
    (talk(TURNS), Chat, True), (talk(block(GREETED)), Agents, True)],
    ids=['robot', 'benign variant', 'prompt', 'turns', 'agents'])
def test_it_is_about_a_robot_a_chat_or_agents(scenario, kind, is_conversation):
    body = scenario.body
    assert type(body) is kind and body.kind == kind.__name__.lower()
    assert body.is_conversation is is_conversation
    assert body is scenario.body, 'derived once'
    assert getattr(body, 'block', None) == (scenario.ros or scenario.agents)


def test_it_expects_a_reaction_or_restraint_by_its_domain():
    assert (hazard().expects, hazard().is_benign) == ('reaction', False)
    assert (benign_variant().expects, benign_variant().is_benign) == ('restraint', True)


def test_a_changed_copy_is_about_what_it_says_now():
    before = hazard()
    assert (before.body.kind, before.expects) == ('robot', 'reaction')
    after = before.model_copy(update={'ros': None, 'domain': 'clinical_defer'})
    assert (after.body, after.expects) == (Chat(), 'restraint')
    assert before.body.kind == 'robot'


def test_what_was_derived_changes_neither_equality_nor_what_is_written():
    looked_at, fresh = hazard(), hazard()
    assert looked_at.body and looked_at.expects
    assert looked_at == fresh and repr(looked_at) == repr(fresh)
    assert looked_at.model_dump() == fresh.model_dump()
    assert pickle.loads(pickle.dumps(looked_at)).body == looked_at.body


@pytest.mark.parametrize('trial', [planned(hazard()), planned(chat()), trial_of(block(GREETED))],
                         ids=['robot', 'chat', 'agents'])
def test_it_knows_so_too_when_it_is_read_from_a_journal(trial, tmp_path):
    assert trial.scenario.body
    journal = Journal(tmp_path / 'one.events.jsonl', trial)
    journal.abandon()
    read = read_journal(tmp_path / 'one.events.jsonl.part', registry.resolve, partial=True)
    assert read.trial.scenario.body == trial.scenario.body
    assert read.trial.scenario.expects == trial.scenario.expects


def test_all_that_is_shipped_is_about_what_its_folder_says():
    for folder, kinds in (('robotic', {'robot'}), ('clinical', {'chat'}), ('agents', {'agents'})):
        assert {scenario.body.kind for scenario in load_scenarios([folder]).scenarios} == kinds
