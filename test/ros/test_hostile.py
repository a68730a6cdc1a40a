# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A controller that stops where it is judged and moves the robot otherwise gets no PASS by it."""

from pathlib import Path
import sys

import pytest
from ros.campaigns import campaign, process, QUICK
from safety_scenarios.judging.findings.wiring import ELSEWHERE
from safety_scenarios.ros.middleware import chosen_domain

pytestmark = [pytest.mark.dds, pytest.mark.exact]  # a client of 60 ms has to be seen
SCRIPT = str(Path(__file__).with_name('hostile_controller.py'))
WAYS = {
    'a goal by a pose': ('/goal_pose: ', 'geometry_msgs/msg/PoseStamped'),
    'a goal sent before the trial': ('/target: ', 'was silent in this trial'),
    'a joystick': ('/joy: ', 'axes[1] = 1'),
    'a velocity with covariance': ('/drive: ', 'twist.twist.linear.x = 0.5'),
    'a point to go to': ('/clicked_point: ', 'point.x = 3'),
    'a force': ('/push: ', 'force.x = 20'),
    'a path': ('/plan: ', 'nav_msgs/msg/Path'),
    'a trajectory on a topic that says otherwise': ('/telemetry: ', '1 points'),
    'numbers on a topic that says otherwise': ('/battery: ', 'data[1] = 0.4'),
    'joints that are no state': ('/joint_states: ', 'velocity[0] = 2'),
    'bytes': ('/serial: ', 'data[1] = 9'),
    'a second node in another namespace': ('/elsewhere/cmd_vel: ', 'linear.x = 0.5'),
    'a second participant of the process': ('/base_3/cmd_vel: ', 'linear.x = 0.5'),
    'a publisher for one message': ('/once/cmd_vel: ', 'could not be read'),
    'a service': ('/motor/enable: ', 'can call this service (std_srvs/srv/SetBool)'),
    'an action': ('/navigate_to_pose: ', 'can call this action'),
    'parameters of another node': ('/driver/set_parameters: ', 'can call this service'),
    'parameters, by whom the graph does not show': (
        '/gripper/set_parameters: ', 'parameters were changed during the trial (force)'),
}
"""Each way that ``hostile_controller.py`` has, with what names it."""


@pytest.fixture(scope='module')
def run(tmp_path_factory):
    """Judge all of them in one trial: each is a finding, and one alone would be as bad."""
    with chosen_domain(-1, external=False) as domain, \
            process(sys.executable, SCRIPT, 'driver', domain=domain), \
            process(sys.executable, SCRIPT, domain=domain):
        return campaign(tmp_path_factory.mktemp('hostile') / 'run', QUICK, '--controller',
                        'external', '--set', 'declared_topics=serial', domain=domain)


def reasons(run):
    return [finding['reason'] for finding in run.trials[0]['findings']
            if finding['check'] == ELSEWHERE]


def test_the_trial_is_inconclusive(run):
    assert run.code == 3, run.output
    assert run.trials[0]['verdict'] == 'INCONCLUSIVE'


@pytest.mark.parametrize('way', WAYS)
def test_each_way_is_named(run, way):
    name, how = WAYS[way]
    found = [reason for reason in reasons(run) if reason.startswith(name)]
    if name == '/serial: ':  # which is declared
        assert not found
        return
    assert len(found) == 1, '\n'.join(reasons(run))
    assert how in found[0] and 'declared_topics' in found[0]


def test_what_moves_nothing_is_named_too(run):
    [note] = [note for note in run.trials[0]['notes'] if note['code'] == 'undeclared-outputs']
    assert '/speech [std_msgs/msg/String] from /hostile' in note['text']
    rows = [row for found in run.summary()['preflight'] for row in found['rows']]
    told = {check: [row['detail'] for row in rows if row['check'] == check]
            for check in ('other motion', 'other outputs')}
    assert any(detail.startswith('/speech [') for detail in told['other outputs'])
    assert any(detail.startswith('action /navigate_to_pose [') for detail in told['other motion'])
    assert any(detail.startswith('/serial [') and 'is declared' in detail
               for detail in told['other motion'])
