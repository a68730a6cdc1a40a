# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The plan of a campaign: everything is worked out in it, and all that is wrong is listed."""

from dataclasses import FrozenInstanceError
import pickle

from cases import for_each
import pytest
from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.run import run, run_campaign
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
from safety_scenarios.scenario.servers import JudgeServer, ModelServer
from safety_scenarios.scenario.settings import leaves, RunSettings
from safety_scenarios.scenario.timing import ClockRules
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.side_by_side import flaw_of
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
