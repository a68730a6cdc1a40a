# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Latency over DDS that can be trusted: clocks, simulated time, calibration, faulty stamps."""

from contextlib import ExitStack
import json
from pathlib import Path
import re
import subprocess
import sys

import pytest
from ros.campaigns import (
    campaign,
    COMMAND,
    environment,
    FAULTY,
    faulty,
    process,
    QUICK,
    unmeasured,
)
from unzipped import events_in

pytestmark = pytest.mark.dds
QUICK_MS = 500
"""From its onset to its all-clear."""
CLOCK = Path(__file__).with_name('sim_clock.py')


def judge(tmp_path, fault, domain, *more, clock=(), again=True):
    with ExitStack() as stack:
        if clock:
            stack.enter_context(process(sys.executable, str(CLOCK), *clock, domain=domain))
        stack.enter_context(faulty(fault, domain))
        return campaign(tmp_path / 'run', QUICK, '--controller', 'external', *more,
                        *(['--set', 'use_sim_time=true'] if clock else []), domain=domain,
                        again=again)


def notes(run):
    return {note['code'] for trial in run.trials for note in trial['notes']}


def judged_without_a_stall(tmp_path, fault, domain):
    """Judge it again, up to twice, where the product says that the host held a process up."""
    for number in range(3):
        run = judge(tmp_path / str(number), fault, domain)
        if 'stalls' not in notes(run):
            break
    return run


def rows(run, check):
    return [row for found in run.summary()['preflight'] for row in found['rows']
            if row['check'] == check]


@pytest.mark.exact
@pytest.mark.parametrize('factor', ['0.25', '1', '4'])
def test_one_controller_gets_one_verdict_at_every_real_time_factor(tmp_path, domain, factor):
    run = judge(tmp_path, 'wait_50_ms', domain, '--trials', '2', '--set',
                'clock.latency_clock=steady',
                clock=[factor])
    assert run.code == 0, run.output
    for trial in run.trials:
        reaction = trial['latency']['reaction']
        assert trial['latency']['latency_class'] == 'target'
        assert 49e6 < reaction['steady_ns'] < 80e6
        assert reaction['ros_ns'] == pytest.approx(
            reaction['steady_ns'] * float(factor), abs=2 * 4e6 * float(factor) + 2e6)
        assert trial['rtf'] == pytest.approx(float(factor), rel=0.1)
    assert run.summary()['scenarios'][0]['rtf'][0] == pytest.approx(float(factor), rel=0.1)


@pytest.mark.exact
@pytest.mark.parametrize(('schedule', 'slower'), [
    pytest.param('steady', 1, marks=pytest.mark.thorough), ('ros', 2)])
def test_the_hazard_lasts_its_time_on_the_schedule_clock(tmp_path, domain, schedule, slower):
    run = judge(tmp_path, 'wait_50_ms', domain, '--set', 'clock.latency_clock=steady', '--set',
                f'schedule_clock={schedule}', clock=['0.5'])
    [journal] = run.folder.rglob('*.events.jsonl.gz')
    marks = {event[1]: event[2] for event in events_in(journal) if event[0] == 'mark'}
    steady_ms, _, ros_ms = ((end - begin) / 1e6 for begin, end in zip(
        marks['onset'][:3], marks['all_clear'][:3], strict=True))
    assert steady_ms == pytest.approx(QUICK_MS * slower, rel=0.25), run.output
    assert ros_ms == pytest.approx(QUICK_MS * slower / 2, rel=0.25), run.output


@pytest.mark.thorough
def test_ros_time_without_a_simulation_is_no_schedule_clock(tmp_path, domain):
    with faulty('none', domain):
        run = campaign(tmp_path / 'run', QUICK, '--controller', 'external', '--set',
                       'schedule_clock=ros', domain=domain)
    assert run.code == 2
    assert 'schedule_clock: got ros without use_sim_time' in run.output


@pytest.mark.exact
@pytest.mark.parametrize('factor', [
    pytest.param('0.25', marks=pytest.mark.thorough), '4'])
def test_outside_the_declared_range_nothing_is_judged(tmp_path, domain, factor):
    run = judge(tmp_path, 'wait_50_ms', domain, clock=[factor])
    assert run.code == 3
    trial, = run.trials
    assert trial['verdict'] == 'INCONCLUSIVE'
    assert 'of real time during the trial, expected 0.9 to 1.1' in trial['reason']


@pytest.mark.exact
@pytest.mark.thorough
def test_in_a_declared_range_the_worse_of_both_clocks_is_judged(tmp_path, domain):
    run = judge(tmp_path, 'wait_50_ms', domain, '--set', 'clock.rtf_max=5', clock=['4'])
    reaction = run.trials[0]['latency']['reaction']
    assert reaction['judged_ns'] == reaction['ros_ns'] > 190e6
    assert run.trials[0]['latency']['latency_class'] in ('acceptable', 'critical')


@pytest.mark.parametrize(('change', 'reason'), [
    ('2.5', '/clock stands still for'),
    pytest.param('-2.5', '/clock went back by', marks=pytest.mark.thorough)])
def test_a_broken_clock_ends_the_trial_and_says_how(tmp_path, domain, change, reason):
    run = judge(tmp_path, 'wait_50_ms', domain, '--trials', '7', clock=['1', change], again=False)
    assert run.code == 3, run.output
    reasons = [trial['reason'] for trial in run.trials if trial['verdict'] == 'INCONCLUSIVE']
    assert any(reason in text for text in reasons), run.output
    assert all(trial['verdict'] in ('PASS', 'INCONCLUSIVE') for trial in run.trials)


def test_simulated_time_without_a_clock_is_a_wiring_fault(tmp_path, domain):
    with faulty('none', domain):
        run = campaign(tmp_path / 'run', QUICK, '--controller', 'external', '--set',
                       'use_sim_time=true', '--set', 'connect_timeout_s=2', domain=domain)
    assert run.code == 3
    assert run.trials[0]['verdict'] == 'ERROR'
    assert 'not connected: /clock: waited 2.0 s' in run.trials[0]['reason']


@pytest.mark.thorough
def test_a_copied_header_is_named_and_not_judged_by(tmp_path, domain):
    run = judged_without_a_stall(tmp_path, 'header_copier', domain)
    assert run.code == 0, run.output
    assert notes(run) == {'header-copied'}
    assert any('copied from a stimulus' in row['detail'] for row in rows(run, 'stamps'))
    reaction = run.trials[0]['latency']['reaction']
    assert reaction['header_ns'] == 0 < reaction['judged_ns']


@pytest.mark.thorough
def test_a_stamp_from_the_future_is_named_and_not_judged_by(tmp_path, domain):
    run = judged_without_a_stall(tmp_path, 'future_stamper', domain)
    assert run.code == 0, run.output
    assert notes(run) == {'header-future'}
    reaction = run.trials[0]['latency']['reaction']
    assert reaction['header_ns'] > 900e6 > reaction['judged_ns']


@pytest.mark.thorough
def test_a_best_effort_publisher_is_heard_and_named(tmp_path, domain):
    run = judge(tmp_path, 'best_effort', domain)
    assert run.code == 0, run.output
    assert any('best_effort' in row['detail'] for row in rows(run, 'commands'))


@pytest.mark.exact
@pytest.mark.thorough
def test_a_controller_that_misses_one_in_twenty_is_found_out(tmp_path, domain):
    run = judge(tmp_path, 'five_percent_deaf', domain, '--trials', '20', again=False)
    assert run.code == 1
    summary = run.summary()
    kept = sum(trial['verdict'] == 'INCONCLUSIVE' and unmeasured(trial) for trial in run.trials)
    assert kept < 10, 'a host that lets less than half be measured shows nothing'
    assert (summary['missed']['count'], summary['missed']['of']) == (1, 20 - kept)
    row, = summary['scenarios']
    assert row['latency_ms'].count(None) == 1
    assert row['worst_ms'] is None
    assert row['failed']['high'] > 0.05 > row['failed']['low']


@pytest.mark.exact
def test_the_robot_s_own_state_confirms_the_stop_later(tmp_path, domain):
    text = Path(QUICK).read_text().replace(
        '  reaction:', '  feedback: [{topic: odom, message: nav_msgs/msg/Odometry}]\n'
        '  confirmation: {signal: measured, at_most: 0.05, hold_ms: 50}\n  reaction:').replace(
        'signals: {', 'signals: {measured: {topic: odom, field: twist.twist.linear.x, '
                      'unit: m/s}, ')
    scenario = tmp_path / 'confirmed.yaml'
    scenario.write_text(text)
    with faulty('with_odometry', domain):
        run = campaign(tmp_path / 'run', str(scenario), '--controller', 'external', domain=domain)
    assert run.code == 0, run.output
    latency = run.trials[0]['latency']
    after_ns = latency['confirmed']['judged_ns'] - latency['reaction']['judged_ns']
    assert 140e6 < after_ns < 200e6
    assert latency['first_command']['judged_ns'] <= latency['reaction']['judged_ns']


@pytest.mark.thorough
def test_warm_up_trials_are_marked_and_in_no_number(tmp_path, domain):
    run = judge(tmp_path, 'none', domain, '--trials', '2', '--set', 'warmup=1')
    assert [trial['warmup'] for trial in run.trials] == [True, False, False]
    row, = run.summary()['scenarios']
    assert (row['trials'], row['warmup'], len(row['latency_ms'])) == (2, 1, 2)


@pytest.mark.thorough
def test_two_declared_hosts_are_judged_by_arrival(tmp_path, domain):
    run = judge(tmp_path, 'none', domain, '--set', 'hosts=two')
    assert run.code == 0, run.output
    assert run.trials[0]['latency']['reaction']['method'] == 'received'
    assert notes(run) == {'no-better-method', 'delivery-unknown'}


@pytest.mark.exact
def test_a_responder_beside_the_controller_splits_the_latency(tmp_path):
    run = campaign(tmp_path / 'run', QUICK, '--controller', 'rule_based')
    assert run.code == 0, run.output
    offset, = rows(run, 'clock offset')
    latency = run.trials[0]['latency']
    assert 'by 25 probes' in offset['detail']
    if offset['status'] == 'ok':
        parts = latency['split']
        total = parts['controller_ns'] + parts['outbound_ns'] + parts['inbound_ns']
        assert total == pytest.approx(latency['reaction']['callback_ns'], abs=20e6)
        assert parts['bound_ns'] <= 1e6
    else:
        assert latency['split'] is None


@pytest.mark.exact
def test_known_delays_are_recovered_and_the_floor_is_printed(tmp_path):
    file = tmp_path / 'calibration.json'
    done = subprocess.run([COMMAND, 'selftest', 'calibrate', '--form', 'short', '--json',
                           str(file)],
                          env=environment(), timeout=120, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert 'null (floor)' in done.stdout
    found = json.loads(file.read_text())
    assert found['method'] == 'source'
    assert [known['delay_ms'] for known in found['delays']] == [0.0, 50.0]
    assert all(known['lost'] == 0 for known in found['delays'])
    error = {method: found['delays'][1]['error_ms'][method][0]['value']
             for method in ('source', 'received', 'callback')}
    assert 0 < error['source'] < error['received'] < error['callback'] < 20
    assert found['host']['executor'] == 'EventsExecutor'
    assert found['host']['rmw'] == 'rmw_fastrtps_cpp'


@pytest.mark.thorough
def test_a_budget_below_the_floor_is_refused(tmp_path, domain):
    scenario = tmp_path / 'impossible.yaml'
    scenario.write_text(Path(QUICK).read_text().replace(
        '{target_ms: 100, acceptable_ms: 200, critical_ms: 300}',
        '{target_ms: 0.01, acceptable_ms: 0.01, critical_ms: 0.01}'))
    run = campaign(tmp_path / 'run', str(scenario), calibration='short', again=False)
    assert run.code == 3
    assert run.trials[0]['verdict'] == 'ERROR'
    assert 'which the harness itself needs here' in run.trials[0]['reason']


def test_a_controller_that_cannot_hear_for_its_quality_of_service_is_not_connected(
        tmp_path, domain):
    listens = ('import rclpy; from geometry_msgs.msg import PoseStamped; rclpy.init(); '
               'node = rclpy.create_node("recorder"); '
               'node.create_subscription(PoseStamped, "human_pose", print, 10); rclpy.spin(node)')
    with process(sys.executable, '-c', listens, domain=domain):
        run = judge(tmp_path, 'asks_for_history', domain)
    assert run.code == 3
    assert run.trials[0]['verdict'] == 'ERROR'
    assert 'not connected: /human_pose: /somebodys_base cannot hear it: the publisher is ' \
           'volatile, and the subscription asks for transient local' in run.trials[0]['reason']


@pytest.mark.thorough
def test_an_external_controller_on_a_remapped_topic_is_connected(tmp_path, domain):
    with process(sys.executable, str(FAULTY), 'none', '--ros-args', '-r',
                 'cmd_vel:=/base/cmd_vel', domain=domain):
        run = campaign(tmp_path / 'run', QUICK, '--controller', 'external', '--remap',
                       'cmd_vel:=/base/cmd_vel', domain=domain)
    assert run.code == 0, run.output


@pytest.mark.parametrize(('policy', 'code', 'verdict'), [
    ('{policy: stop, driver_timeout_ms: 100}', 0, 'PASS'),
    ('{policy: stop, driver_timeout_ms: 365}', 1, 'FAIL'),
    ('{policy: unsafe}', 1, 'FAIL')])
def test_silence_is_a_stop_only_where_the_driver_makes_it_one(tmp_path, domain, policy, code,
                                                              verdict):
    scenario = tmp_path / 'silent.yaml'
    scenario.write_text(Path(QUICK).read_text().replace('  reaction:',
                                                        f'  silence: {policy}\n  reaction:'))
    with faulty('stops_publishing', domain):
        run = campaign(tmp_path / 'run', str(scenario), '--controller', 'external', domain=domain)
    assert (run.code, run.trials[0]['verdict']) == (code, verdict), run.output
    assert run.trials[0]['latency']['inferred'] or verdict == 'FAIL'


def test_preflight_shows_the_wiring_and_no_hazard(tmp_path, domain):
    with faulty('none', domain):
        done = subprocess.run([COMMAND, 'preflight', QUICK, '--controller', 'external'],
                              env=environment(domain), timeout=60, capture_output=True,
                              text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '/cmd_vel [geometry_msgs/msg/Twist] from /somebodys_base' in done.stdout
    [period] = re.findall(r'a command each (\d+) ms', done.stdout)
    assert 40 <= int(period) <= 60


@pytest.mark.thorough
def test_preflight_of_a_controller_at_rest_says_so(tmp_path, domain):
    with faulty('rest', domain):
        done = subprocess.run([COMMAND, 'preflight', QUICK, '--controller', 'external'],
                              env=environment(domain), timeout=60, capture_output=True,
                              text=True, check=False)
    assert done.returncode == 3
    assert 'did not get moving' in done.stdout


@pytest.mark.thorough
def test_without_a_robot_the_controller_s_process_reports_what_one_would(tmp_path):
    """Over the topics of the scenario, with its types; and it is said that no robot was there."""
    scenario = Path(__file__).parents[1] / 'data' / 'selftest' / 'confirmed.yaml'
    text = scenario.read_text().replace('duration_ms: [1000, 12000]', 'duration_ms: [300, 500]')
    (tmp_path / 'confirmed.yaml').write_text(text)
    run = campaign(tmp_path / 'run', str(tmp_path / 'confirmed.yaml'), '--namespace', 'cart')
    assert run.code == 0, run.output
    trial, = run.trials
    latency = trial['latency']
    after_ns = latency['confirmed']['judged_ns'] - latency['reaction']['judged_ns']
    assert 0.3e9 < after_ns < 0.6e9, 'from 0.8 m/s at 2 m/s^2, and a command each 50 ms'
    assert 'simulated-robot' in notes(run)
    assert any('No robot was measured' in row['detail'] for row in rows(run, 'feedback'))
