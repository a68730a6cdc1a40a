# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A remapping rule that matches nothing is an error, before anything is run or written."""

from cases import for_each
import pytest
import safety_scenarios as front_door
from safety_scenarios.campaign.remaps import refuse_rules, unmatched
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.controller_settings import plan_link

TOPICS = ('cmd_vel', 'scan', 'agents/a1/in')


@for_each(('rule', 'space'), [
    ('cmd_vel:=/base/cmd_vel', ''), ('/cmd_vel:=x', ''), ('/r1/cmd_vel:=x', 'r1'),
    ('cmd_vel:=x', '/r1'), ('agents/a1/in:=x', ''), ('rostopic://scan:=x', ''), ('/tf:=tf', 'r1'),
    ('__node:=x', ''), ('~/status:=x', '')])
def test_a_rule_that_matches_a_topic_is_none_to_refuse(rule, space):
    refuse_rules([rule], TOPICS, space)


@for_each(('rule', 'space', 'near'), [
    ('cmd_vl:=x', '', 'cmd_vel'), ('/cmd_vel:=x', 'r1', 'cmd_vel'),
    ('r1/cmd_vel:=x', 'r1', 'cmd_vel'), ('agents/a1/on:=x', '', 'agents/a1/in')])
def test_a_rule_that_matches_nothing_is_an_error_with_the_nearest_topic(rule, space, near):
    with pytest.raises(SettingsError, match=f'^remap {rule}: .*Did you mean {near!r}'):
        refuse_rules(['scan:=laser', rule], TOPICS, space)


def topics_of(*names, **settings):
    link = plan_link(RunSettings(remap=('zzz:=x',), **settings))
    [refusal] = unmatched(link, load_scenarios(names).scenarios)
    return str(refusal).partition('expected one of ')[2].rstrip('.').split(', ')


def test_the_topics_of_a_campaign_are_those_of_its_scenarios_and_of_a_controller_of_ours():
    assert {'cmd_vel', 'human_pose'} <= set(topics_of('SCN-R-101', controller='external'))
    assert 'heartbeat' not in topics_of('SCN-R-101', controller='external')
    assert 'heartbeat' in topics_of('SCN-R-101')
    assert {'prompt', 'response'} <= set(topics_of('SCN-C-101', controller='external'))
    assert 'b/cmd_vel' in topics_of('SCN-C-101', declared_topics=('b/cmd_vel',))
    assert any(name.endswith('/in') for name in topics_of('agents', controller='external'))


def test_a_person_who_takes_part_is_told_too(capsys):
    assert main(['campaign', 'participate', 'a1', '--remap', 'agents/a1/on:=x']) == 2
    assert 'agents/a1/on, which matches nothing here' in capsys.readouterr().err


def test_nothing_is_written_when_a_rule_matches_nothing(tmp_path):
    with pytest.raises(SettingsError, match="cmd_vl, which matches nothing.*'cmd_vel'"):
        front_door.run('SCN-R-101', link='loopback', remap=('cmd_vl:=x',),
                       output=str(tmp_path / 'run'))
    assert not (tmp_path / 'run').exists()
