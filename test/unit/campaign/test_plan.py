# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The plan of a campaign: all is worked out in it, and what no trial can follow is refused."""

from dataclasses import FrozenInstanceError
import pickle

from cases import for_each
from pydantic import ValidationError
import pytest
import safety_scenarios as front_door
from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.refusals import refuse_rules, refuse_unrunnable, unmatched
from safety_scenarios.campaign.run import run, run_campaign
from safety_scenarios.cli.main import main
from safety_scenarios.errors import (
    InputError,
    refuse,
    ScenarioError,
    SettingsError,
    SeveralErrors,
    UnknownPluginError,
)
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.reports.console_report import totals
from safety_scenarios.reports.page.first_screen import claims_of
from safety_scenarios.scenario.fields import read_assignments
from safety_scenarios.scenario.qos_overrides import read_override, read_overrides
from safety_scenarios.scenario.servers import JudgeServer, ModelServer
from safety_scenarios.scenario.settings import leaves, RunSettings
from safety_scenarios.scenario.timing import ClockRules
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.faults import LinkLoss
from safety_scenarios.stimuli.messages import RawMessage
from safety_scenarios.studies.side_by_side import flaw_of
from safety_scenarios.trial.links.controller_settings import plan_link
from unit.conversations import block, talk
from unit.records import hazard

[PERSON] = load_scenarios(['SCN-R-101']).scenarios


def refused(*scenarios, **settings) -> list[str]:
    with pytest.raises(InputError) as error:
        plan_campaign(RunSettings(**settings), scenarios or [PERSON])
    return str(error.value).splitlines()


def test_everything_that_is_wrong_is_listed_at_once_in_its_own_words():
    lines = refused(link='loopback', world='external', controller='rule_base',
                    remap=('cmd_vl:=x', 'cmd_vel:=/base/cmd_vel', 'scna:=y'),
                    qos_overrides=('/nowhere.publisher.depth=3',), merge=('scan:=/front/scan',),
                    sut_artifact=('/nowhere/weights',))
    for text in ("got 'rule_base', expected one of the controllers", 'world: got external with',
                 'remap cmd_vl:=x: got cmd_vl', 'remap scna:=y: got scna',
                 'qos_overrides./nowhere.publisher.depth: no such publisher',
                 'merge: got scan:=/front/scan with link loopback and world external',
                 'sut_artifact: got /nowhere/weights'):
        assert len([line for line in lines if text in line]) == 1, text
    assert not [line for line in lines if 'cmd_vel:=/base' in line]


def test_each_of_several_errors_is_shown_as_one():
    with pytest.raises(SeveralErrors) as error:
        plan_campaign(RunSettings(link='loopback', controller='external', world='external'),
                      [talk(block())])
    assert len(error.value.errors) == 3
    assert [line.partition(':')[0] for line in error.value.lines] == ['error'] * 3


@for_each(('errors', 'kind'), [
    ((SettingsError('a'),), SettingsError), ((SettingsError('a'), SettingsError('b')),
                                             SettingsError),
    ((SettingsError('a'), SettingsError('a')), SettingsError),
    ((ScenarioError(()), ScenarioError(())), ScenarioError),
    ((SettingsError('a'), UnknownPluginError('links', 'x', ())), SeveralErrors)])
def test_errors_of_one_kind_remain_of_that_kind(errors, kind):
    with pytest.raises(kind) as error:
        refuse(errors)
    assert type(error.value) is kind
    assert str(error.value).count('a') <= 1


def test_nothing_wrong_is_nothing_to_refuse():
    refuse(())


def test_an_unknown_link_hides_nothing_else():
    lines = refused(link='loopbck', remap=('cmd_vl:=x',))
    assert any("got 'loopbck', expected one of the links" in line for line in lines)
    assert any('remap cmd_vl:=x' in line for line in lines)


def test_a_judge_that_is_the_model_under_test_is_refused_with_all_else():
    lines = refused(link='loopback', controller='external', server=ModelServer(model='m'),
                    judge=JudgeServer(model='m'), sut_artifact=('/nowhere/weights',),
                    selection={'tag': ('no_such_tag',)}, rubric='no_such_rubric')
    for text in ('judge.model: got m', '/nowhere/weights', 'no_such_tag'):
        assert any(text in line for line in lines), text


def test_what_a_link_cannot_do_is_refused_before_anything_is_written(tmp_path):
    settings = RunSettings(link='loopback', world='external', output=str(tmp_path / 'run'))
    with pytest.raises(SettingsError, match='world: got external with link loopback'):
        run(settings, [], scenarios=[hazard()])
    assert not (tmp_path / 'run').exists()


@pytest.mark.parametrize('link', ['loopback', 'simulated'])
def test_a_setting_without_effect_in_simulated_time_is_refused(link):
    lines = refused(link=link, real_time_factor=3.0, realtime=True, calibration='full')
    for text in ('real_time_factor: got 3.0', 'realtime: got true', 'calibration: got full'):
        assert any(f'{text} with link {link}' in line for line in lines), text


def test_a_pace_without_a_simulator_is_refused_over_ros():
    assert any('real_time_factor: got 3 with world none' in line
               for line in refused(link='ros', real_time_factor=3.0))


def test_as_fast_as_can_be_is_what_simulated_time_is():
    plan_campaign(RunSettings(link='loopback', real_time_factor=0.0, calibration='off',
                              clock=ClockRules(lockstep=True)), [PERSON])


def test_a_world_has_a_time_of_its_own_and_the_names_are_full():
    link = plan_campaign(RunSettings(world='external', namespace='r1', controller='external',
                                     remap=('cmd_vel:=/base/cmd_vel',)), [PERSON]).setup.link
    assert link.ros.use_sim_time and link.ros.schedule_clock == 'ros'
    assert (link.names.full('cmd_vel'), link.names.full('scan'), link.names.unmapped('cmd_vel')) \
        == ('/base/cmd_vel', '/r1/scan', '/r1/cmd_vel')


def test_a_plan_cannot_be_changed_and_can_be_pickled():
    plan = plan_campaign(RunSettings(link='loopback', trials=2), [PERSON])
    with pytest.raises(FrozenInstanceError):
        plan.seed = 1
    assert pickle.loads(pickle.dumps(plan)).setup == plan.setup
    assert [task.trial for task in plan.tasks] == list(plan.trials)


def test_the_same_plan_can_be_run_twice(tmp_path):
    plan = plan_campaign(RunSettings(link='loopback'), [PERSON])
    first, second = run_campaign(plan, ()), run_campaign(plan, ())
    assert first == second and first.verdict is Verdict.PASS


def test_some_trials_alone_are_planned_as_they_would_be_among_all():
    every = plan_campaign(RunSettings(link='loopback', trials=5, seed=1), [PERSON])
    some = plan_campaign(RunSettings(link='loopback', trials=5, seed=1, warmup=1,
                                     only=('SCN-R-101:1', 'SCN-R-101:4')), [PERSON])
    assert [one.index for one in some.trials] == [-1, 1, 4]
    assert some.trials[1:] == (every.trials[1], every.trials[4])
    assert 'only=["SCN-R-101:1", "SCN-R-101:4"]' in some.command
    for name in ('SCN-R-101:5', 'SCN-R-101', 'SCN-R-101:one'):
        with pytest.raises(SettingsError, match=f'only: got {name}, expected a trial that is'):
            plan_campaign(RunSettings(link='loopback', trials=5, only=(name,)), [PERSON])


def test_no_user_calls_trials_that_were_named_one_by_one_those_of_a_suite():
    """With a hash of his own for the design, trials that had passed were evidence."""
    with pytest.raises(SettingsError, match='design: got an unknown name'):
        read_assignments(RunSettings, [f'design={"0" * 64}'])
    assert ('design',) not in {path for path, _ in leaves(RunSettings)}
    of_suite = RunSettings(link='loopback', trials=2, seed=1, only=('SCN-R-101:1',),
                           design='0' * 64)
    assert 'design' not in of_suite.command()


def test_trials_that_a_user_names_show_nothing_of_others_and_those_of_a_suite_do():
    """Perhaps they are those that passed."""
    named = RunSettings(link='loopback', trials=5, seed=1, only=('SCN-R-101:1', 'SCN-R-101:4'))
    for design, is_chosen in (('', True), ('0' * 64, False)):
        found = run_campaign(plan_campaign(named.model_copy(update={'design': design}),
                                           [PERSON]), ())
        assert (found.is_chosen, found.claims == (), found.missed.share.high is None,
                bool(flaw_of(found))) == (is_chosen,) * 4
        assert any('named one by one' in text for text in totals(found)) == is_chosen
        may_not = claims_of(found, (), {}, ()).may_not
        assert any('named one by one' in text for text in may_not) == is_chosen


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
    with pytest.raises(ValueError) as why_refused:
        read_override(text)
    assert told in str(why_refused.value)


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
    with pytest.raises(SettingsError) as why_refused:
        refuse_unrunnable([scenario], RunSettings(**settings))
    assert told in str(why_refused.value)


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


def why_refused(scenario, *rules, **changed):
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
    assert why in why_refused(hazard(), 'scan:=/front/scan', **changed)


def test_a_topic_without_a_stimulus_is_named_with_the_nearest():
    assert "Did you mean 'scan'?" in why_refused(hazard(), 'scna:=/front/scan')


@pytest.mark.parametrize(('stimulus', 'why'), [
    (LinkLoss(topic='scan'), 'shows nothing of its own'),
    (RawMessage(topic='scan', message='std_msgs/msg/Empty'), 'publishes std_msgs/msg/Empty')])
def test_what_cannot_be_drawn_is_refused(stimulus, why):
    assert why in why_refused(hazard(stimuli=(stimulus,)), 'scan:=/front/scan')


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
