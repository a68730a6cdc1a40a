# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Seeds of trials, the order in which they are run, and the command that repeats them."""

import json
from pathlib import Path
import shlex
import stat
import subprocess
import sys
import tempfile
import time
from typing import Any

import pytest
import safety_scenarios as ss
from safety_scenarios.campaign.folder.folder import ended, read_trials
from safety_scenarios.campaign.merging import merge
from safety_scenarios.campaign.plan import CampaignPlan, plan_campaign
from safety_scenarios.campaign.process import remove_launch_files
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.campaign.run import preflight
from safety_scenarios.cli.main import main
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.from_python import run
from safety_scenarios.scenario.settings import FRESH, RunSettings
from unit.loopback_runs import loopback_run

PAIR = 'SCN-R-104', 'SCN-R-D-104'


def planned(*names: str, **settings: Any) -> CampaignPlan:
    return plan_campaign(RunSettings(link='loopback', **settings),
                         load_scenarios(names or ['robotic']).scenarios)


def kinds(seed: int) -> list[bool]:
    return [task.trial.scenario.is_benign for task in planned(seed=seed, trials=20).tasks]


def test_the_order_of_one_campaign_tells_nothing_of_that_of_another():
    one, other = kinds(1), kinds(2)
    alike = sum(mine is yours for mine, yours in zip(one, other, strict=True)) / len(one)
    assert 0.4 < alike < 0.6 and kinds(1) == one


def test_what_is_next_does_not_follow_from_what_came_last():
    found = kinds(3)
    alike = sum(mine is yours for mine, yours in zip(found, found[1:])) / len(found)
    assert 0.4 < alike < 0.6


def test_the_trials_of_a_scenario_keep_their_order_and_their_draws():
    plan = planned(seed=1, trials=5)
    for scenario in plan.scenarios:
        mine = [task.trial for task in plan.tasks if task.trial.scenario.id == scenario.id]
        assert [trial.index for trial in mine] == [0, 1, 2, 3, 4]
        alone = planned(scenario.id, seed=1, trials=5).trials
        assert [one.model_dump() for one in mine] == [one.model_dump() for one in alone]


def test_a_look_at_the_wiring_is_shown_in_the_order_of_the_files(tmp_path):
    ids = 'SCN-R-104', 'SCN-R-D-104', 'SCN-R-105', 'SCN-R-D-105'
    settings = RunSettings(link='loopback', scenarios=ids, seed=1)
    assert [trial.scenario.id for trial in planned(*ids, seed=1, trials=1).trials] != [*ids]
    assert [one.scenario_id for one in preflight(settings, tmp_path).found] == [*ids]


def test_trials_that_share_a_link_are_run_one_after_the_other():
    ids = [task.trial.scenario.id for task in planned(seed=1, trials=3, warmup=1).tasks]
    blocks = [name for name, before in zip(ids, [None, *ids], strict=False) if name != before]
    scenarios = [scenario.id for scenario in load_scenarios(['robotic']).scenarios]
    assert len(blocks) == len(scenarios) and blocks != scenarios


COUNTED: list[int] = []


class Counts(RuleBased):
    """Stops for whatever is there, but only in trials that were hazards in another campaign."""

    known: str = ''

    def begin_trial(self):
        super().begin_trial()
        COUNTED.append(1)

    def command(self, observation):
        is_hazard = self.known[(len(COUNTED) - 1) % len(self.known)] == 'h'
        scan = observation.readings.get('scan')
        stops = scan is None or (is_hazard and min(scan.message.data['ranges']) < 3.5)
        return self.at_share(0.0 if stops else self.cruise)


def test_who_has_learned_the_order_of_a_campaign_fails_the_next():
    settings = {'link': 'loopback', 'trials': 6, 'isolate': False}
    earlier = ''.join('d' if task.trial.scenario.is_benign else 'h'
                      for task in planned(*PAIR, seed=1, trials=6).tasks)

    def passed(seed: int) -> int:
        COUNTED.clear()
        return run(*PAIR, controller=Counts, set={'controller_parameters': (f'known={earlier}',)},
                   seed=seed, **settings).summary.verdicts.get('PASS', 0)
    assert passed(1) == 12 and passed(2) <= 8


def test_results_are_shown_in_the_order_of_the_files_and_stored_as_they_were_run(tmp_path):
    ids = 'SCN-R-104', 'SCN-R-D-104', 'SCN-R-105', 'SCN-R-D-105'
    found = run(*ids, controller='rule_based', link='loopback', trials=3, seed=1,
                output=tmp_path / 'run')
    shown = [(scenario, index) for scenario in ids for index in range(3)]
    assert [(one.scenario_id, one.index) for one in found.trials] == shown
    assert [row.scenario_id for row in found.summary.scenarios] == list(ids)
    again = rejudge(tmp_path / 'run')
    assert [(one.after.scenario_id, one.after.index) for one in again] == shown
    assert again.flaws == () and again.summary == found.summary
    ran = [json.loads(line)['trial_id']
           for line in (tmp_path / 'run' / 'trials.jsonl').read_text().splitlines()]
    plan = json.loads((tmp_path / 'run' / 'settings.json').read_text())['plan']
    assert ran == [one['trial_id'] for one in plan]
    assert ran != [one.trial_id for one in found.trials]


def test_shards_together_leave_what_one_machine_leaves(tmp_path):
    ids = {'controller': 'rule_based', 'link': 'loopback', 'trials': 3, 'seed': 1}
    run(*PAIR, 'SCN-R-105', output=tmp_path / 'whole', **ids)
    for shard in (1, 2):
        run(*PAIR, 'SCN-R-105', output=tmp_path / str(shard), shard=f'{shard}/2', **ids)
    merge([tmp_path / '2', tmp_path / '1'], tmp_path / 'merged')
    whole, merged = read_trials(tmp_path / 'whole'), read_trials(tmp_path / 'merged')
    assert [one.trial_id for one in merged] == [one.trial_id for one in whole]
    for mine, theirs in zip(merged, whole, strict=True):  # a busy machine adds events of timing
        assert mine.model_copy(update={'counts': theirs.counts}) == theirs
    assert [row.scenario_id for row in ended(tmp_path / 'merged').scenarios] == [
        *PAIR, 'SCN-R-105']


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
    assert 'seed: 0' in first.output
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


CODE = """
import subprocess, sys
from safety_scenarios.cli import main
sys.argv = ['safety-scenarios', *sys.argv[1:]]
sys.exit(main.main())
"""
SPY = """
import os, time
from pathlib import Path
import safety_scenarios as ss

if not Path('seen').exists():
    Path('seeing').write_text(str(os.getppid()))
    Path('seeing').replace('seen')
    while not Path('looked').exists():
        time.sleep(0.01)


def spy(observation):
    return ss.Command(velocity=(0.5, 0.0))
"""


def test_the_command_line_of_a_campaign_is_out_of_sight(tmp_path):
    (tmp_path / 'own_spy.py').write_text(SPY)
    with subprocess.Popen(
            [sys.executable, '-c', CODE, 'run', 'SCN-R-101', '--seed', '987654321', '--link',
             'loopback', '--controller', 'own_spy:spy', '--output', 'run', '-v'], cwd=tmp_path,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as campaign:
        until = time.monotonic() + 60.0
        while not (tmp_path / 'seen').exists() and time.monotonic() < until:
            time.sleep(0.01)
        harness = (tmp_path / 'seen').read_text()
        told = Path(f'/proc/{harness}/cmdline').read_text()
        (tmp_path / 'looked').touch()
        shown = ' '.join(campaign.communicate(timeout=120)[0].split())
    assert campaign.returncode == 1, shown
    assert 'seed: 987654321' in shown and '--seed 987654321' in shown
    assert told.rstrip('\0') == 'safety-scenarios run'


def test_what_launch_wrote_for_this_process_goes_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    launched, own = tmp_path / 'launch_params_ab12', tmp_path / 'mine.yaml'
    elsewhere = tmp_path / 'kept' / 'launch_params_cd34'
    elsewhere.parent.mkdir()
    for path in (launched, own, elsewhere):
        path.touch()
    remove_launch_files(['--ros-args', *(word for path in (launched, own, elsewhere)
                                         for word in ('--params-file', str(path)))])
    assert not launched.exists() and own.exists() and elsewhere.exists()


def test_nobody_else_looks_into_the_folder_while_the_campaign_runs(tmp_path, monkeypatch):
    modes = []
    from safety_scenarios.campaign.folder.folder import RunFolder
    whole = RunFolder.add
    monkeypatch.setattr(RunFolder, 'add', lambda self, *given: modes.append(
        stat.S_IMODE(self.folder.stat().st_mode)) or whole(self, *given))
    (tmp_path / 'run').mkdir(mode=0o755)
    loopback_run(tmp_path / 'run', 'SCN-R-101')
    assert modes == [0o700] and stat.S_IMODE(Path(tmp_path / 'run').stat().st_mode) == 0o755
