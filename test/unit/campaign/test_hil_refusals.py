# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What no profile of a real robot may ask for is refused before anything is opened."""

from pathlib import Path
import subprocess

from cases import for_each
import pytest
from safety_scenarios.campaign.folder.signing import PLAN_PURPOSE, read_plan
from safety_scenarios.campaign.hil_refusals import releases, why_a_command
from safety_scenarios.campaign.refusals import refuse_unrunnable
from safety_scenarios.errors import InputError, InterlockError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.run import run_trial
from safety_scenarios.trial.trial import TrialRecord
from unit.records import hazard, planned
from unit.scripted import drives, ScriptedLink

QUICK = str(Path(__file__).parents[2] / 'data' / 'quick_person.yaml')
TWIST, FLOATS = 'geometry_msgs/msg/Twist', 'std_msgs/msg/Float64MultiArray'


def refuse(*scenarios, remap=(), namespace='', link='ros', world='none', use_sim_time=False,
           **hil):
    settings = RunSettings(
        remap=remap, namespace=namespace, link=link, world=world, use_sim_time=use_sim_time,
        hil=HilSettings.model_validate({
            'enabled': True, 'confirm': 'service', 'publishes': ('/human_pose',), **hil}))
    refuse_unrunnable(load_scenarios(scenarios or [QUICK]).scenarios, settings)


def test_a_profile_that_lists_what_its_scenario_shows_is_taken():
    refuse()
    refuse(remap=('human_pose:=/cut/people',), publishes=('/cut/people',))
    refuse(namespace='base_1', publishes=('human_pose',))
    refuse(area_topic='/safety_status', without=('area',))


def test_interlocks_that_are_written_down_are_neither_on_nor_off_by_default():
    scenarios = load_scenarios([QUICK]).scenarios

    def settings(**hil):
        return RunSettings(link='ros', controller='external', hil=HilSettings.model_validate(
            {'publishes': ('/human_pose',), **hil}))

    with pytest.raises(InputError, match='Expected --set hil.enabled=true for a robot that is'):
        refuse_unrunnable(scenarios, settings())
    refuse_unrunnable(scenarios, settings(enabled=False))
    built_in = settings().model_copy(update={'controller': 'rule_based'})
    refuse_unrunnable(scenarios, built_in)
    in_its_domain = built_in.model_copy(update={'domain_id': 0})
    with pytest.raises(InputError, match='Expected --set hil.enabled=true for a robot that is'):
        refuse_unrunnable(scenarios, in_its_domain)
    refuse_unrunnable(scenarios, in_its_domain.model_copy(update={'link': 'loopback'}))
    refuse_unrunnable(scenarios, in_its_domain.model_copy(
        update={'hil': settings(enabled=False).hil}))


@pytest.mark.parametrize(('changed', 'told'), [
    ({'publishes': ()}, r'quick_person.yaml: ros.nominal.stimuli\[0\].topic: got the stimulus '
                        r'human_pose on /human_pose, expected one of hil.publishes: none'),
    ({'publishes': ('/human_poses',)}, "Did you mean '/human_poses'"),
    ({'remap': ('human_pose:=/cmd_vel',)}, 'human_pose on /cmd_vel, expected no command topic'),
    ({'remap': ('human_pose:=/arm/joint_trajectory',)}, 'expected no command topic'),
    ({'remap': ('human_pose:=/base/go',), 'commands': ('/base/go',)}, 'it is a command topic'),
    ({'remap': ('cmd_vel:=/human_pose',)}, 'expected no command topic'),
    ({'remap': ('human_pose:=/unlock_protective_stop',)}, 'where a stop is released'),
    ({'remap': ('human_pose:=/let/it/go',), 'releases': ('/let/it/go',)}, 'a stop is released'),
    ({'publishes': ('/human_pose', '/cmd_vel')}, 'hil.publishes: got /cmd_vel'),
    ({'publishes': ('/human_pose', '/odom')}, 'the harness would confirm itself'),
    ({'publishes': ('/human_pose', '/deadman')}, 'hil.publishes: got /deadman'),
    ({'calls': ('/dashboard_client/unlock_protective_stop',)}, 'hil.calls: got /dashboard_client'),
    ({'reset_service': '/clear_fault'}, 'hil.reset_service: got /clear_fault'),
    ({'remap': ('/human_pose:=/cmd_vel',)}, 'human_pose on /cmd_vel, expected no command topic'),
    ({'remap': ('human_pose:=/cmd_vel', 'human_pose:=/human_pose')}, 'human_pose on /cmd_vel'),
    ({'remap': ('rosservice://go_home:=/power_on',)}, 'remap: got rosservice://go_home:=/power_'),
    ({'remap': ('__ns:=/other',)}, 'remap: got __ns:=/other'),
    ({'remap': ('cmd_vel:=/unlock_protective_stop',), 'reset_service': 'cmd_vel'},
     'hil.reset_service: got /unlock_protective_stop'),
    ({'remap': ('/tf:=/human_pose',), 'area_topic': '/tf'}, 'the harness would confirm itself'),
    ({'area_topic': '/deadman'}, 'hil.area_topic: got /deadman, which is that of hil.deadman_to'),
    ({'remap': ('contact:=/ok',), 'protective_topic': 'contact', 'area_topic': '/ok'},
     'hil.area_topic: got /ok, which is'),
    ({'feedback_topic': 'cmd_vel'}, 'hil.feedback_topic: got /cmd_vel, expected the topic on'),
    ({'feedback_topic': 'base/told', 'commands': ('/base/told',)}, 'hil.feedback_topic: got /b'),
    ({'link': 'loopback'}, 'link: got loopback with hil.enabled, expected ros'),
    ({'world': 'external'}, 'world: got external with hil.enabled'),
    ({'use_sim_time': True}, 'use_sim_time: got true'),
    ({'confirm': 'terminal'}, 'standard input is none')])
def test_whatever_could_hurt_somebody_is_refused_with_its_reason(changed, told, monkeypatch):
    monkeypatch.setattr('sys.stdin', None)
    with pytest.raises(InputError, match=told):
        refuse(**changed)


def test_a_conversation_and_a_message_that_takes_back_a_stop_are_refused(tmp_path):
    with pytest.raises(InputError, match='without a robot of its own, or with agents'):
        refuse('SCN-C-101')
    path = tmp_path / 'stops.yaml'
    text = Path(QUICK).read_text(encoding='utf-8')
    path.write_text(text.replace(
        'rate_hz: 40}]\n  stimuli', 'rate_hz: 40}, {kind: message, topic: estop, message: '
        'std_msgs/msg/Bool, data: {data: true}, then: {data: false}, after_ms: 9, rate_hz: 5}]'
        '\n  stimuli'), encoding='utf-8')
    with pytest.raises(InputError, match='message on /estop that takes back a stop'):
        refuse(str(path), publishes=('/human_pose', '/estop'))


@pytest.mark.parametrize('request_', ['{data: false}', '{}'])
def test_a_request_that_takes_back_a_stop_is_refused(tmp_path, request_):
    path, text = tmp_path / 'asks.yaml', Path(QUICK).read_text(encoding='utf-8')
    call = ('  nominal:\n    calls: [{service: {name: emergency_stop, type: std_srvs/srv/SetBool, '
            'request: %s}}]\n')
    path.write_text(text.replace('  nominal:\n', call % request_, 1), encoding='utf-8')
    with pytest.raises(InputError, match='/emergency_stop .* may take back a stop'):
        refuse(str(path), calls=('/emergency_stop',))
    path.write_text(text.replace('  nominal:\n', call % '{data: true}', 1), encoding='utf-8')
    refuse(str(path), calls=('/emergency_stop',))


@for_each(('topic', 'interface', 'named', 'is_one'), [
    ('/cmd_vel', '', (), True), ('/robot/cmd_vel', 'std_msgs/msg/Empty', (), True),
    ('/scan', TWIST, (), True), ('/scan', 'sensor_msgs/msg/LaserScan', (), False),
    ('/arm/anything', 'trajectory_msgs/msg/JointTrajectory', (), True),
    ('/servo_node/pose_target_cmds', 'geometry_msgs/msg/PoseStamped', (), True),
    ('/cmd_vel_teleop', '', (), True),
    ('/x', 'ackermann_msgs/msg/AckermannDriveStamped', (), True),
    ('/forward_velocity_controller/x', FLOATS, (), True), ('/temperatures', FLOATS, (), False),
    ('/go', 'std_msgs/msg/Bool', ('/go',), True),
    ('/joint_states', 'sensor_msgs/msg/JointState', (), False)])
def test_a_command_topic_is_known_by_name_by_type_and_by_the_profile(
        topic, interface, named, is_one):
    assert (why_a_command(topic, interface, named) is not None) == is_one


@for_each('name', [
    '/dashboard_client/unlock_protective_stop', '/dashboard_client/brake_release',
    '/dashboard_client/play', '/robot/resume', '/program_resume', '/unpause_robot',
    '/dashboard_client/power_on', '/release_estop', '/e_stop_reset', '/emergency_stop/clear',
    '/franka_control/error_recovery', '/io_and_status_controller/resend_robot_program',
    '/controller_manager/switch_controller', '/enabling_device', '/xarm/clear_errors'])
def test_the_release_of_a_stop_is_known_by_name(name):
    assert releases(name)
    assert not releases('/scan') and not releases('/estop') and not releases('/navigate_to_pose')
    assert not releases('/display') and not releases('/playback')


def test_a_loss_in_mid_trial_is_inconclusive_with_its_reason_and_judged_so_again():
    class Lost(ScriptedLink):

        def receive_until(self, schedule_ns):
            if self.is_shown and self.now_ms > self.is_shown + 120:
                raise InterlockError('interlock area: got False on /area_clear')
            return super().receive_until(schedule_ns)

        is_shown = 0.0

        def send(self, stimulus, *, hazard, scheduled_ns):
            self.is_shown = self.is_shown or (self.now_ms if hazard else 0.0)
            return super().send(stimulus, hazard=hazard, scheduled_ns=scheduled_ns)

    class Never(ScriptedLink):

        def arm(self):
            raise InterlockError('interlock area: got False on /area_clear')
    for link in (Lost(drives), Never(drives)):
        found = run_trial(planned(hazard()), link)
        result = evaluate(found)
        assert result.verdict.value == 'INCONCLUSIVE', result.reason
        assert 'interlock area: got False on /area_clear' in result.reason
        again = evaluate(TrialRecord(trial=found.trial, events=found.events,
                                     measuring=found.measuring))
        assert again == result


@pytest.fixture(scope='module')
def signed(tmp_path_factory):
    """Give a plan, who may sign, and how a plan is signed."""
    folder = tmp_path_factory.mktemp('plan')
    for name in ('safety', 'other'):
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', name, '-f',
                        folder / name], check=True)
    (folder / 'signers').write_text(
        'safety@example.org ' + (folder / 'safety.pub').read_text(), encoding='utf-8')

    def sign(text, key='safety', namespace=PLAN_PURPOSE):
        plan = folder / 'plan.txt'
        plan.with_name('plan.txt.sig').unlink(missing_ok=True)
        plan.write_bytes(text.encode())
        subprocess.run(['ssh-keygen', '-q', '-Y', 'sign', '-f', folder / key, '-n', namespace,
                        plan], check=True, capture_output=True)
        return {'confirm': 'plan', 'plan': str(plan), 'plan_signers': str(folder / 'signers'),
                'plan_signer': 'safety@example.org'}
    return sign


def test_a_signed_plan_confirms_what_it_lists(signed):
    [scenario] = load_scenarios([QUICK]).scenarios
    refuse(**signed(f'# of Monday\nQUICK {scenario.origin.sha256}  # as tried\n'))
    asked = HilSettings(enabled=True, **signed('QUICK\nSCN-R-101\n'))
    assert list(read_plan(asked).scenarios) == ['QUICK', 'SCN-R-101']


@pytest.mark.parametrize(('text', 'how', 'changed', 'told'), [
    ('QUICK', {'key': 'other'}, {}, 'no good signature of safety@example.org'),
    ('QUICK', {'namespace': 'file'}, {}, 'no good signature'),
    ('QUICK', {}, {'plan_signer': 'eve@example.org'}, 'no good signature of eve'),
    ('QUICK', {}, {'plan_signers': '/no/such'}, 'hil.plan_signers: /no/such: cannot be read'),
    ('SCN-R-101', {}, {}, 'got no QUICK'),
    ('QUICK ' + 'a' * 64, {}, {}, 'as signed. It was changed since'),
    ('QUICK twice', {}, {}, "plan.txt:1: got 'QUICK twice'"),
    ('# nothing', {}, {}, 'no scenario'),
    *((f'# of Monday{hidden}QUICK', {}, {}, 'no scenario')  # what no editor shows as a line
      for hidden in ('\u2028', '\x85', '\x0b', '\r'))])
def test_any_other_plan_confirms_nothing(signed, text, how, changed, told):
    with pytest.raises(InputError, match=told):
        refuse(**{**signed(text, **how), **changed})


def test_a_plan_that_was_changed_after_it_was_signed_confirms_nothing(signed):
    asked = signed('QUICK')
    Path(asked['plan']).write_text('QUICK\nSCN-R-101\n', encoding='utf-8')
    with pytest.raises(InputError, match='no good signature'):
        refuse(**asked)
