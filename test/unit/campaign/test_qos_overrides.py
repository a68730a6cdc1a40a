# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An override of a quality of service is one that a trial can be judged with, or is refused."""

from cases import for_each
import pytest
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.topic_rules import read_override, read_overrides


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
