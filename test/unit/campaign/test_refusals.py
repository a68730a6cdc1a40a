# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""QoS overrides, merges and remapping rules that no trial can follow are refused before any."""

from cases import for_each
from pydantic import ValidationError
import pytest
import safety_scenarios as front_door
from safety_scenarios.campaign.refusals import refuse_rules, refuse_unrunnable, unmatched
from safety_scenarios.cli.main import main
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.qos_overrides import read_override, read_overrides
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.stimuli.faults import LinkLoss
from safety_scenarios.stimuli.messages import RawMessage
from safety_scenarios.trial.links.controller_settings import plan_link
from unit.records import hazard


@for_each(('text', 'value'), [
    ('/scan.publisher.reliability=best_effort', 'best_effort'),
    ('qos_overrides./robot_1/scan.publisher.durability:=transient_local', 'transient_local'),
    ('/scan.publisher.depth=5', 5), ('/scan.publisher.deadline=100000000', 100_000_000),
    ('/cmd_vel.subscription.reliability=reliable', 'reliable')])
def test_it_is_read_as_ros_writes_it(text, value):
    override = read_override(text)
    assert override.value == value
    assert override.parameter == 'qos_overrides.' + text.removeprefix(
        'qos_overrides.').replace(':=', '=').partition('=')[0]


@pytest.mark.parametrize('text, told', [
    ('/scan.publisher.reliability', 'expected /TOPIC.publisher.POLICY=VALUE'),
    ('scan.publisher.reliability=best_effort', 'expected its full name, such as /scan'),
    ('/scan.publishr.reliability=best_effort', "Did you mean 'publisher'?"),
    ('/scan.publisher.reliabilty=best_effort', "Did you mean 'reliability'?"),
    ('/scan.publisher.reliability=besteffort', "Did you mean 'best_effort'?"),
    ('/scan.publisher.history=keep_all', 'expected keep_last'),
    ('/scan.publisher.lifespan=1', 'expected one of'),
    ('/scan.publisher.depth=0', 'expected a whole number from 1'),
    ('/scan.publisher.deadline=0.1', 'whole number from 1 to 3600000000000 (ns)'),
    ('/cmd_vel.subscription.depth=999', 'so that no command is lost'),
    ('/cmd_vel.subscription.durability=transient_local',
     'sent before a trial would be taken for a part of it')])
def test_what_would_take_no_effect_or_misjudge_is_refused(text, told):
    with pytest.raises(ValueError) as refused:
        read_override(text)
    assert told in str(refused.value)


def test_two_values_for_one_policy_are_refused():
    with pytest.raises(ValueError, match='expected one value'):
        read_overrides(['/a.publisher.depth=1', '/a.publisher.depth=2'])
    assert len(read_overrides(['/a.publisher.depth=1', '/a.publisher.depth=1'])) == 1


@for_each(('settings', 'told'), [
    ({'qos_overrides': ('/scan.subscription.reliability=best_effort',)},
     'no such subscription in these scenarios, expected one of /cmd_vel'),
    ({'qos_overrides': ('/scann.publisher.depth=1',)}, "Did you mean '/scan'?"),
    ({'qos_overrides': ('/scan.publisher.depth=1',), 'namespace': 'robot_1'},
     'expected one of /robot_1/heartbeat, /robot_1/human_pose, /robot_1/scan'),
    ({'qos_overrides': ('/scan.publisher.depth=1',), 'remap': ('scan:=/front/scan',)},
     'expected one of /front/scan')])
def test_an_endpoint_that_no_scenario_has_is_refused(settings, told):
    [scenario] = load_scenarios(['SCN-R-106']).scenarios
    with pytest.raises(SettingsError) as refused:
        refuse_unrunnable([scenario], RunSettings(**settings))
    assert told in str(refused.value)


def test_an_endpoint_that_a_scenario_has_is_taken_by_its_full_name():
    [scenario] = load_scenarios(['SCN-R-106']).scenarios
    refuse_unrunnable([scenario], RunSettings(
        namespace='robot_1', remap=('cmd_vel:=/base/cmd_vel',), qos_overrides=(
            '/robot_1/scan.publisher.reliability=best_effort',
            '/base/cmd_vel.subscription.reliability=best_effort')))


def test_what_is_sent_once_must_not_get_lost():
    [scenario] = load_scenarios(['SCN-C-101']).scenarios
    with pytest.raises(SettingsError, match='what is sent once must not get lost'):
        refuse_unrunnable([scenario], RunSettings(
            qos_overrides=('/prompt.publisher.reliability=best_effort',)))


def refused(scenario, *rules, **changed):
    with pytest.raises(SettingsError) as error:
        refuse_unrunnable([scenario], RunSettings(merge=rules, **changed))
    return str(error.value)


def test_a_scan_is_drawn_into_live_data():
    refuse_unrunnable([hazard()], RunSettings(merge=('scan:=/front/scan',)))


@for_each(('changed', 'why'), [
    ({'link': 'loopback'}, 'only a real robot has live data'),
    ({'world': 'external'}, 'only a real robot has live data'),
    ({'remap': ('scan:=/front/scan',)}, 'the harness would hear itself')])
def test_without_live_data_of_another_topic_there_is_nothing_to_draw_into(changed, why):
    assert why in refused(hazard(), 'scan:=/front/scan', **changed)


def test_a_topic_without_a_stimulus_is_named_with_the_nearest():
    assert "Did you mean 'scan'?" in refused(hazard(), 'scna:=/front/scan')


@pytest.mark.parametrize(('stimulus', 'why'), [
    (LinkLoss(topic='scan'), 'shows nothing of its own'),
    (RawMessage(topic='scan', message='std_msgs/msg/Empty'), 'publishes std_msgs/msg/Empty')])
def test_what_cannot_be_drawn_is_refused(stimulus, why):
    assert why in refused(hazard(stimuli=(stimulus,)), 'scan:=/front/scan')


@for_each('rules', [
    ('scan',), ('scan:=scan',), ('/scan:=live',), ('scan:=a', 'scan:=b'), ('scan:=a b',)])
def test_a_rule_that_is_none_is_refused_with_an_example(rules):
    with pytest.raises(ValidationError, match='expected'):
        RunSettings(merge=rules)


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
