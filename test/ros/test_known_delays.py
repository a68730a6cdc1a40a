# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In lock-step a slow controller is late, and a busy machine or a stopped process is not."""

import os
from pathlib import Path
import signal
import time

import pytest
from ros.campaigns import campaign, faulty, QUICK, trials_in, until
from ros.test_world import children, has_onset, running

pytestmark = pytest.mark.dds
BESIDE = 'no time beside decisions'
PERIOD_MS, SENSOR_MS, WITHIN_MS = 10.0, 25.0, 15.0
"""Of the controller; of the tracker that shows the hazard; and of what is charged beside any load,
of which 3 ms are stated."""
LOCKSTEP = '--world', 'mujoco', '--set', 'clock.lockstep=true', '--set', \
    'real_time_factor=0'


def unhurried(folder):
    """Return a scenario whose base comes to its speed, and whose hazard lasts for long enough."""
    text = Path(QUICK).read_text(encoding='utf-8')
    for short, long in (('at_ms: 500', 'at_ms: 3000'),
                        ('duration_ms: [50, 100]', 'duration_ms: [2000, 2500]'),
                        ('max_speed: 1.0', 'max_speed: 1.0, stopping: {model: '
                                           'constant_deceleration, deceleration: 1.0}')):
        assert short in text
        text = text.replace(short, long)
    folder.mkdir(exist_ok=True)
    path = folder / 'unhurried.yaml'
    path.write_text(text, encoding='utf-8')
    return str(path)


def known(folder, name, *options, world=LOCKSTEP):
    """Return the only trial of a controller of known delay."""
    run = campaign(folder / 'run', unhurried(folder), *world, '--set', f'period_ms={PERIOD_MS}',
                   '--controller', f'known_delay:{name}', *options, again=False,
                   PYTHONPATH=os.pathsep.join([str(Path(__file__).parent),
                                               os.environ.get('PYTHONPATH', '')]))
    trial, = run.trials
    return trial, run.output


def delayed(delay_ms, computes):
    """Return the options for a delay."""
    return ('--set', f'controller.delay_ms={delay_ms}',
            '--set', f'controller.computes={str(computes).lower()}')


@pytest.mark.parametrize(('delay_ms', 'computes'), [(10, False), (100, True), (400, False)])
def test_a_known_delay_is_charged_whatever_else_the_machine_does(tmp_path, delay_ms, computes):
    """And one that is longer than the budget never passes."""
    trial, output = known(tmp_path / 'run', 'KnownDelay', *delayed(delay_ms, computes))
    if delay_ms > 300:
        assert trial['verdict'] == 'FAIL' or trial['reason'].startswith(BESIDE), output
    else:
        assert trial['verdict'] in ('PASS', 'INCONCLUSIVE'), output
    took_ms = trial['latency']['reaction']['judged_ns'] / 1e6
    assert delay_ms <= took_ms <= delay_ms + PERIOD_MS + SENSOR_MS + WITHIN_MS, output


@pytest.mark.exact
@pytest.mark.thorough
def test_in_real_time_a_known_delay_is_read_alike(tmp_path):
    """Where in its period the hazard comes is another in real time."""
    reactions = []
    for name, world in (('lock-step', LOCKSTEP), ('real', ('--world', 'mujoco'))):
        trial, output = known(tmp_path / name, 'KnownDelay', *delayed(100, False), world=world)
        reactions.append((trial['latency'] or {}).get('reaction'))
        assert reactions[-1], output
    charged, real = reactions
    assert abs(charged['judged_ns'] - real['judged_ns']) <= (
        charged['uncertainty_ns'] + real['uncertainty_ns'] + PERIOD_MS * 1e6)


@pytest.mark.thorough
def test_who_answers_at_once_and_thinks_in_a_thread_is_not_flattered(tmp_path):
    """Real time passes beside it, and nobody is said to be charged for that."""
    trial, output = known(tmp_path / 'run', 'HiddenDelay', '--set', 'controller.delay_ms=400')
    assert trial['verdict'] in ('FAIL', 'INCONCLUSIVE'), output
    assert 'computes-beside' in {note['code'] for note in trial['notes']}
    reaction = (trial['latency'] or {}).get('reaction')
    assert reaction is None or reaction['judged_ns'] >= 400e6 - reaction['uncertainty_ns'], output


def test_a_controller_that_was_stopped_by_others_is_not_late(tmp_path):
    """Ten times for a good half of its budget, wherever in the trial that is."""
    folder = tmp_path / 'run'
    with running(folder, '--set', 'clock.lockstep=true', '--set', 'real_time_factor=0',
                 '--trials', '5',
                 scenario=unhurried(tmp_path / 'files')) as run:
        until(lambda: has_onset(folder) or trials_in(folder))
        for _ in range(10):
            for process in children(run.pid, 'controller_node'):
                os.kill(process, signal.SIGSTOP)
                time.sleep(0.17)
                os.kill(process, signal.SIGCONT)
            time.sleep(0.05)
        output, _ = run.communicate(timeout=300)
    assert [trial['verdict'] for trial in trials_in(folder)] == ['PASS'] * 5, output


@pytest.mark.parametrize(('fault', 'passes'), [('none', True), ('deaf', False)])
@pytest.mark.thorough
def test_whoever_takes_no_turns_has_the_time_of_a_robot(tmp_path, domain, fault, passes):
    """A controller with a timer of its own, and one that sees nothing, hold nothing up."""
    with faulty(fault, domain):
        run = campaign(tmp_path / 'run', QUICK, '--world', 'mujoco', '--controller', 'external',
                       '--domain-id', str(domain), again=False)
    trial, = run.trials
    assert (trial['verdict'] != 'FAIL') if passes else (trial['verdict'] != 'PASS'), run.output
    assert not (trial.get('world') or {}).get('lockstep'), run.output
