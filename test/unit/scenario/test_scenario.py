# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A scenario knows what it is about and what is right; it is selected by tag and severity."""

import json
import pickle

from cases import for_each
from pydantic import ValidationError
import pytest
from safety_scenarios import registry
from safety_scenarios.cli.main import main
from safety_scenarios.errors import did_you_mean, SettingsError
from safety_scenarios.formats.loading import load_scenario, load_scenarios, share_folder
from safety_scenarios.scenario.body import AgentsBody, ChatBody, MonitorBody, RobotBody
from safety_scenarios.scenario.scenario import Selection, severity_range
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


def named(name, **changes):
    return chat().model_copy(update={'id': name, **changes})


SET = (named('a', tags=('cardiac', 'esi-1'), severity=1.0),
       named('b', tags=('routine',), domain='clinical_defer', severity=0.3),
       named('c', severity=0.9))


def ids(**wanted):
    return ''.join(one.id for one in Selection(**wanted).of(SET))


def test_values_of_a_kind_are_alternatives_and_kinds_must_all_fit():
    assert ids() == 'abc'
    assert ids(tag=('cardiac', 'routine')) == 'ab'
    assert ids(domain=('clinical_defer',)) == 'b'
    assert ids(tag=('cardiac', 'routine'), severity=('>=0.9',)) == 'a'
    assert ids(severity=('0.3', '0.9')) == 'bc'


def test_scenarios_are_left_out_by_their_id():
    assert ids(skip=('b',)) == 'ac'
    assert ids(skip=('c', 'a')) == 'b'
    with pytest.raises(SettingsError, match="got 'd', which is no id of these 3 scenarios, exp"):
        ids(skip=('a', 'd'))
    with pytest.raises(SettingsError, match='selection.skip: got none of 3 scenarios by skip a, '):
        ids(skip=('a', 'b', 'c'))


@for_each(('text', 'inside', 'outside'), [
    ('0.9', (0.9,), (0.89, 0.91)), ('>=0.9', (0.9, 1.0), (0.89,)), ('> 0.9', (0.91,), (0.9,)),
    ('<=.5', (0.0, 0.5), (0.51,)), ('<0.5', (0.49,), (0.5,)),
    ('0.3..0.6', (0.3, 0.6), (0.29, 0.7))])
def test_a_severity_is_a_number_a_comparison_or_a_range(text, inside, outside):
    found = severity_range(text)
    assert all(map(found.has, inside)) and not any(map(found.has, outside))


@for_each('text', ['', 'high', '1.1', '-1', '0.6..0.3', '>=0.1..0.2', 'nan', '=1'])
def test_anything_else_is_refused(text):
    with pytest.raises(SettingsError, match='expected a number from 0 to 1'):
        severity_range(text)


def test_the_id_that_is_meant_is_of_the_same_pack():
    assert did_you_mean('SCN-R-D-107', ['SCN-C-D-107', 'SCN-R-D-106']) \
        == " Did you mean 'SCN-R-D-106'?"


def test_nothing_selected_is_an_error_with_the_values_that_there_are():
    with pytest.raises(SettingsError) as error:
        ids(tag=('cardiak',), severity=('<0.2',))
    said = str(error.value)
    assert "tag 'cardiak', where there is cardiac, esi-1, routine (Did you mean" in said
    assert "severity '<0.2', where there is 0.3, 0.9, 1" in said


@pytest.mark.parametrize(('wanted', 'said'), [
    ({'tag': ('cardiac', 'rutine')}, "--tag: got 'rutine'.*Did you mean 'routine'"),
    ({'domain': ('clinical', 'clinical_defr')}, "--domain: got 'clinical_defr'")])
def test_a_misspelt_alternative_leaves_nothing_out_in_silence(wanted, said):
    with pytest.raises(SettingsError, match=said):
        ids(**wanted)


@pytest.mark.parametrize('command', [
    ['scenario', 'list'], ['scenario', 'validate'], ['preflight', '--link', 'loopback'],
    ['run', '--link', 'loopback']])
def test_commands_select_and_say_when_nothing_is_left(command, capsys):
    assert main([*command, 'clinical', '--tag', 'nobody']) == 2
    assert "tag 'nobody', where there is allergy, bed, bedside, " in capsys.readouterr().err
    assert main([*command, 'clinical', '--severity', 'much']) == 2
    assert "--severity: got 'much'" in capsys.readouterr().err


def test_a_list_and_a_campaign_hold_only_what_is_selected(tmp_path, capsys):
    assert main(['scenario', 'list', 'clinical', '--domain', 'clinical_defer']) == 0
    shown = capsys.readouterr().out
    assert '| SCN-C-D-101 ' in shown and '\n| SCN-C-101 ' not in shown
    assert main(['run', 'SCN-C-101', 'SCN-C-D-101', '--link', 'loopback', '--severity', '>=0.9',
                 '--words', 'patterns', '--output', str(tmp_path / 'run')]) == 0
    lines = (tmp_path / 'run' / 'trials.jsonl').read_text().splitlines()
    assert [json.loads(line)['scenario_id'] for line in lines] == ['SCN-C-101']
