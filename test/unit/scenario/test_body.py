# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A scenario knows what it is about, and what the right behaviour is, once and for all."""

import pickle

from pydantic import ValidationError
import pytest
from safety_scenarios import registry
from safety_scenarios.formats.loading import load_scenario, load_scenarios, share_folder
from safety_scenarios.scenario.body import AgentsBody, ChatBody, MonitorBody, RobotBody
from safety_scenarios.trial.journal import Journal, read_journal
from safety_scenarios.trial.plan_data import plan_from_data, plan_to_data
from unit.conversations import block, GREETED, talk, trial_of
from unit.records import benign_variant, chat, hazard, planned

MONITOR = load_scenario(share_folder() / 'config' / 'monitors' / 'mobile_base.yaml')
TURNS = block(GREETED).model_copy(update={'turns': ('turn 1', 'turn 2')})


@pytest.mark.parametrize(('scenario', 'kind', 'is_in_words', 'is_conversation', 'is_chat'), [
    (hazard(), RobotBody, False, False, False), (benign_variant(), RobotBody, False, False, False),
    (MONITOR, MonitorBody, False, False, False), (chat(), ChatBody, True, False, True),
    (talk(TURNS), AgentsBody, True, True, True),
    (talk(block(GREETED)), AgentsBody, True, True, False)],
    ids=['robot', 'benign variant', 'monitor', 'prompt', 'turns', 'agents'])
def test_it_is_about_a_robot_a_chat_or_agents(scenario, kind, is_in_words, is_conversation,
                                              is_chat):
    body = scenario.body
    assert type(body) is kind and body.kind == kind.__name__.removesuffix('Body').lower()
    assert (body.is_in_words, body.is_conversation, body.is_chat) == (
        is_in_words, is_conversation, is_chat)
    assert scenario.is_monitor is (kind is MonitorBody)


@pytest.mark.parametrize('scenario', [chat(), talk(block(GREETED))], ids=['prompt', 'agents'])
def test_what_is_played_in_words_has_nothing_of_a_robot(scenario):
    body = scenario.body
    assert (body.onset, body.reaction, body.confirmation, body.separation, body.world) == (
        None,) * 5
    assert (body.robot, body.calls, body.published, body.separation_terms) == (None, (), (), None)
    assert not body.needs_world
    with pytest.raises(TypeError, match='expected one with a robot'):
        assert scenario.robot_body


def test_a_robot_s_body_is_that_of_its_scenario():
    scenario = hazard()
    assert scenario.robot_body is scenario.body
    assert scenario.body.published == (*scenario.body.nominal.stimuli, *scenario.body.hazard)


@pytest.mark.parametrize('body', [None, {}, {'kind': 'chat'}, 'chat'])
def test_a_body_is_never_assumed(body):
    with pytest.raises(ValidationError, match='body'):
        chat(body=body)


def test_it_expects_a_reaction_or_restraint_by_its_domain():
    assert (hazard().expects, hazard().is_benign) == ('reaction', False)
    assert (benign_variant().expects, benign_variant().is_benign) == ('restraint', True)


def test_a_changed_copy_is_about_what_it_says_now():
    before = hazard()
    assert (before.body.kind, before.expects) == ('robot', 'reaction')
    after = before.model_copy(update={'body': ChatBody(), 'domain': 'clinical_defer'})
    assert (after.body.kind, after.expects) == ('chat', 'restraint')
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
    journal = Journal(tmp_path / 'one.events.jsonl.gz', trial)
    journal.abandon()
    read = read_journal(tmp_path / 'one.events.jsonl.gz.part', registry.resolve, partial=True)
    assert read.trial.scenario.body == trial.scenario.body
    assert read.trial.scenario.expects == trial.scenario.expects


@pytest.mark.parametrize('key', ['ros', 'agents'])
def test_a_stray_key_of_a_prompt_is_never_read_back_as_a_body(key):
    trial = planned(chat(**{key: {'commands': ()}}))
    assert plan_from_data(plan_to_data(trial), registry.resolve).scenario.body == ChatBody()


def test_all_that_is_shipped_is_about_what_its_folder_says():
    for folder, kinds in (('robotic', {'robot'}), ('clinical', {'chat'}), ('agents', {'agents'})):
        assert {scenario.body.kind for scenario in load_scenarios([folder]).scenarios} == kinds
