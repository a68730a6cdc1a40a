# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Each campaign draws a seed of its own, says which, and is repeated by it to the byte."""

import json
import shlex
import subprocess
import sys

import pytest
import safety_scenarios as ss
from safety_scenarios.cli.main import main
from safety_scenarios.scenario.settings import FRESH, RunSettings
from unit.loopback_runs import loopback_run

SCENARIO = 'SCN-R-101'
TWICE = """
import safety_scenarios as ss
print(*(ss.run('SCN-R-101', link='loopback').summary.seed for _ in range(2)))
"""


def test_two_campaigns_that_name_no_seed_have_two():
    done = subprocess.run([sys.executable, '-c', TWICE], capture_output=True, text=True,
                          timeout=120, check=True)
    seeds = [int(one) for one in done.stdout.split()]
    assert len(set(seeds)) == 2 and all(0 <= seed < 2**31 for seed in seeds)
    assert RunSettings().seed == FRESH and RunSettings(seed=7).seeded().seed == 7


@pytest.mark.parametrize(('settings', 'told'), [
    ({}, 'safety-scenarios run SCN-R-101 --seed 0 --link loopback'),
    ({'controller': 'late', 'controller_parameters': ('delay_ms=400',), 'trials': 2},
     'safety-scenarios run SCN-R-101 --controller late --set controller.delay_ms=400.0 '
     '--trials 2 --seed 0 --link loopback')])
def test_the_command_that_is_printed_repeats_it_to_the_byte(tmp_path, settings, told):
    first = loopback_run(tmp_path / 'first', SCENARIO, **settings)
    assert first.summary.command == told and f'The same trials again: {told}' in first.output
    main([*shlex.split(told)[1:], '--output', str(tmp_path / 'second')])
    lines = (tmp_path / 'second' / 'trials.jsonl').read_text().splitlines()
    assert lines == first.lines


def test_the_seed_stands_in_every_record(tmp_path):
    run = loopback_run(tmp_path / 'run', SCENARIO, seed=FRESH)
    drawn = run.summary.seed
    assert drawn != FRESH
    assert json.loads((run.folder / 'campaign.json').read_text())['seed'] == drawn
    assert json.loads((run.folder / 'settings.json').read_text())['settings']['seed'] == drawn
    assert all(f'.s{drawn}.' in trial['trial_id'] for trial in run.trials)
    assert f'seed {drawn}' in str(ss.run(SCENARIO, link='loopback', seed=drawn))


def test_a_setting_of_every_kind_comes_back_from_the_command():
    settings = RunSettings(
        scenarios=('a b',), controller='late', controller_parameters=('delay_ms=4',), seed=3,
        record=('mcap',), remap=('cmd_vel:=/a', 'scan:=/b'), isolate=False, realtime=True,
        connect_timeout_s=2.5, judge={'model': 'm'}, output='left out')
    words = shlex.split(settings.command())
    assert words[:3] == ['safety-scenarios', 'run', 'a b'] and 'left out' not in words
    for flag in ('isolate=false', 'realtime=true', 'judge.model=m', 'connect_timeout_s=2.5'):
        assert flag in words
    assert words.count('--remap') == 2
