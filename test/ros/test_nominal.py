# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The nominal phase of a real stack over DDS: a bag, service calls, and a goal with its end."""

from pathlib import Path
import re
import sys

import pytest
from recorded_bags import write_bag
from ros.campaigns import campaign, process, QUICK
from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.message import Message
import yaml

STACK = Path(__file__).with_name('stack.py')
ENABLE = {'service': {'name': 'enable', 'type': 'std_srvs/srv/SetBool', 'request': {'data': True}}}
REFUSED = {'service': {**ENABLE['service'], 'request': {'data': False}}}
NAVIGATE = {'action': {'name': 'navigate', 'type': 'test_msgs/action/Fibonacci',
                       'goal': {'order': 5}}}


def scenario(tmp_path, *calls, bag=False):
    data = yaml.safe_load(Path(QUICK).read_text(encoding='utf-8'))
    data['ros']['nominal']['calls'] = list(calls)
    if bag:
        data['ros']['stimuli'][0]['topic'] = 'scan'
        data['ros']['nominal'].pop('stimuli')
        data['ros']['nominal']['bag'] = {'file': 'drive', 'topics': ['base/scan', 'shapes'],
                                         'remap': {'base/scan': 'scan'}}
        write_bag(tmp_path / 'drive')
    path = tmp_path / 'scenario.yaml'
    path.write_text(yaml.safe_dump(data), encoding='utf-8')
    return str(path)


def judged(tmp_path, domain, path, *arguments):
    with process(sys.executable, str(STACK), str(tmp_path / 'log'), domain=domain):
        run = campaign(tmp_path / 'run', path, *arguments, '--domain-id', str(domain),
                       '--set', 'connect_timeout_s=20')
    return run, (tmp_path / 'log').read_text().splitlines()


@pytest.mark.thorough
@pytest.mark.dds
def test_a_recorded_scan_drives_a_robot_that_a_service_has_enabled(tmp_path, domain):
    run, log = judged(tmp_path, domain, scenario(tmp_path, ENABLE, bag=True))
    assert run.code == 0, run.output
    counts = run.trials[0]['counts']
    assert counts['call'] == counts['call_state'] == 1
    assert set(log) == {'enable True'}


@pytest.mark.dds
def test_a_stack_that_refuses_gets_no_hazard(tmp_path, domain):
    run, _ = judged(tmp_path, domain, scenario(tmp_path, REFUSED))
    assert run.code == 3
    assert 'got \'refused\' ({"success":false' in run.trials[0]['reason']


@pytest.mark.dds
def test_a_goal_is_pursued_during_the_trial_and_cancelled_after_it(tmp_path, domain):
    pytest.importorskip('test_msgs', reason='no action interface is installed (test_msgs)')
    run, log = judged(tmp_path, domain, scenario(tmp_path, ENABLE, NAVIGATE), '--trials', '2')
    assert run.code == 0, run.output
    assert log[:6] == ['enable True', 'goal 5', 'cancelled'] * 2
    findings = {finding['check']: finding['verdict'] for finding in run.trials[1]['findings']}
    assert findings['the goal for navigate is pursued'] == 'PASS'


@pytest.mark.parametrize('name, part, data, told', [
    ('std_srvs/srv/SetBool', 'Request', {'dataa': True}, 'no such field, expected one of data'),
    ('std_srvs/srv/SetBool', 'Request', {'data': 'yes'}, "got 'yes', expected boolean"),
    ('nowhere_msgs/action/Go', 'Goal', {}, "no such action type here. Install the package 'nowh"),
    ('std_srvs/srv/Setbool', 'Request', {}, 'no such service type here')])
def test_what_an_interface_does_not_have_is_named(name, part, data, told):
    from safety_scenarios.ros.link.convert import part_to_ros
    with pytest.raises(MeasurementError, match=re.escape(told)):
        part_to_ros(name, part, data)


def test_what_a_message_lists_is_stamped_as_its_header_is_unless_it_has_a_stamp():
    from safety_scenarios.ros.link.convert import from_ros, restamp, to_ros
    old = {'header': {'stamp': {'sec': 7}}}
    message = to_ros(Message(type='visualization_msgs/msg/MarkerArray',
                             data={'markers': ({'header': {'frame_id': 'map'}}, old)}))
    restamp(message, 5_000_000_001)
    assert [(marker['header']['frame_id'], marker['header']['stamp'])
            for marker in from_ros(message).data['markers']] == [
        ('map', {'sec': 5, 'nanosec': 1}), ('', {'sec': 7, 'nanosec': 0})]
