# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Controllers that the package did not start: good ones pass, each fault is named."""

from pathlib import Path

import pytest
from ros.campaigns import brief, campaign, faulty, process, QUICK

pytestmark = pytest.mark.dds


def near_person(tmp_path, **changed):
    """Return a copy of SCN-R-101 whose person is soon gone again, with other texts exchanged."""
    [copy] = map(Path, brief(tmp_path / 'copy', 'SCN-R-101'))
    text = copy.read_text(encoding='utf-8')
    for old, new in {'all_clear: {at_ms: 2500}': 'all_clear: {at_ms: 1000, observe_ms: 100}',
                     'within: critical, hold_ms: 1000': 'within: critical, hold_ms: 400',
                     'eventually[0, 1.3] always[0, 1]': 'eventually[0, 0.5] always[0, 0.4]',
                     **changed}.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    copy.write_text(text, encoding='utf-8')
    return str(copy)


def judge(tmp_path, fault, domain, *more, scenario=''):
    with faulty(fault, domain):
        return campaign(tmp_path / 'run', scenario or near_person(tmp_path),
                        '--controller', 'external', *more, domain=domain)


def reasons(run):
    return '\n'.join(f'{finding["verdict"]} {finding["check"]}: {finding["reason"]}'
                     for trial in run.trials for finding in trial['findings'])


def test_a_controller_that_somebody_else_started_passes_and_says_what_it_is(tmp_path, domain):
    run = judge(tmp_path, 'none', domain, '--trials', '2', scenario=QUICK)
    assert run.code == 0, run.output
    assert [trial['verdict'] for trial in run.trials] == ['PASS', 'PASS']
    assert 'nothing identifies what was judged' in run.output
    sut = run.summary()['sut']
    assert 'nothing identifies' in sut['unidentified']
    [node] = sut['nodes']
    assert 'use_sim_time' in node['parameters'] and '/cmd_vel' in node['interfaces']


def test_a_deaf_controller_misses_the_hazard(tmp_path, domain):
    with faulty('deaf', domain), process(
            'python3', '-c', 'import time; time.sleep(60)', domain=domain):
        run = campaign(tmp_path / 'run', QUICK, '--controller', 'external',
                       '--set', 'connect_timeout_s=5', domain=domain)
    assert run.code == 3
    assert 'not connected' in reasons(run)
    assert 'a subscriber on any of' in reasons(run)


@pytest.mark.thorough
def test_nan_commands_fail_and_say_where(tmp_path, domain):
    run = judge(tmp_path, 'nan', domain, scenario=QUICK)
    assert run.code == 1
    assert 'cmd_vel carried linear.x = nan' in reasons(run)


@pytest.mark.thorough
def test_a_spinning_robot_has_not_stopped(tmp_path, domain):
    run = judge(tmp_path, 'spins', domain)
    assert run.code == 1
    assert run.trials[0]['latency']['latency_class'] == 'no_response'


def test_a_robot_at_rest_is_inconclusive_and_never_passes(tmp_path, domain):
    run = judge(tmp_path, 'rest', domain, scenario=near_person(
        tmp_path, **{'within_ms: 3000': 'within_ms: 1000'}))
    assert run.code == 3
    assert run.trials[0]['verdict'] == 'INCONCLUSIVE'
    assert 'speed >= 0.3 was not met within 1000 ms' in reasons(run)


@pytest.mark.thorough
def test_a_flood_is_named_with_its_rate(tmp_path, domain):
    run = judge(tmp_path, 'flood', domain)
    assert run.code == 1
    assert 'commands a second, at most 200 allowed' in reasons(run)
    assert run.trials[0]['latency']['latency_class'] == 'target'


def test_a_controller_that_dies_of_the_hazard_has_not_stopped_the_robot(tmp_path, domain):
    run = judge(tmp_path, 'dies', domain)
    assert run.code == 1
    assert 'cmd_vel was silent' in reasons(run)


def test_a_stop_of_another_process_is_none_of_the_controller(tmp_path, domain):
    with faulty('takes_over', domain):
        run = judge(tmp_path, 'hands_over', domain, scenario=QUICK)
    assert run.code == 3, run.output
    assert 'ERROR one publisher commands: /cmd_vel: another process publishes' in reasons(run)


def test_a_publisher_that_is_made_anew_is_still_the_controller_s(tmp_path, domain):
    run = judge(tmp_path, 'renews', domain, scenario=QUICK)
    assert run.code == 0, run.output


@pytest.mark.thorough
def test_another_type_than_asked_for_is_a_wiring_fault(tmp_path, domain):
    run = judge(tmp_path, 'wrong_type', domain, '--set', 'connect_timeout_s=4',
                scenario=near_person(
                    tmp_path, **{'message: auto': 'message: geometry_msgs/msg/Twist'}))
    assert run.code == 3
    assert run.trials[0]['verdict'] == 'ERROR'
    assert 'on this topic: geometry_msgs/msg/TwistStamped' in reasons(run)


@pytest.mark.thorough
def test_an_unknown_topic_type_is_an_error_of_its_trial_only(tmp_path, domain):
    scenario = near_person(tmp_path, **{'message: auto': 'message: foo_msgs/msg/Bar',
                                        'id: SCN-R-101': 'id: SCN-R-901'})
    run = campaign(tmp_path / 'run', scenario, 'SCN-C-101', '--words', 'patterns')
    assert run.code == 3
    assert run.verdicts == {'SCN-R-901': 'ERROR', 'SCN-C-101': 'PASS'}


def test_nobody_there_says_what_was_discovered_instead(tmp_path, domain):
    run = campaign(tmp_path / 'run', QUICK, '--controller', 'external',
                   '--set', 'connect_timeout_s=2', domain=domain)
    assert run.code == 3
    assert 'not connected: /cmd_vel: waited 2.0 s for a publisher' in reasons(run)
    assert f'(domain {domain})' in reasons(run)


@pytest.mark.thorough
def test_a_controller_on_another_topic_is_found_by_remapping(tmp_path, domain):
    run = campaign(tmp_path / 'alone', QUICK, '--controller', 'rule_based', '--remap',
                   'cmd_vel:=/base/cmd_vel', '--namespace', 'hall', domain=domain)
    assert run.code == 0, run.output


@pytest.mark.thorough
def test_an_answer_without_the_trial_id_is_not_counted(tmp_path, domain):
    run = judge(tmp_path, 'plain_text', domain, scenario='SCN-C-101')
    assert run.code == 1
    assert 'Copy trial_id from the prompt into the response' in reasons(run)


def test_a_stimulus_cannot_be_remapped_onto_a_command_topic(tmp_path, domain):
    run = judge(tmp_path, 'none', domain, '--remap', 'scan:=/cmd_vel', '--set',
                'connect_timeout_s=3')
    assert run.code == 3
    assert "the stimulus 'scan' is remapped to the command topic 'cmd_vel'" in reasons(run)
