# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
One campaign of two-second trials in a process of its own, as a user runs it.

``campaign.py LINK TRIALS FOLDER`` prints one JSON line: wall and processor seconds of the campaign
with all its files, seconds of running and judging alone, peak memory, and how far apart trials
began. A loopback campaign stays on one core.
"""

from itertools import pairwise
import json
import os
from pathlib import Path
from statistics import median
import sys
import time

from rich.console import Console
from safety_scenarios import registry
from safety_scenarios.campaign.engines.choice import Loop
from safety_scenarios.campaign.folder.folder import read_trials
from safety_scenarios.campaign.observed import ObservedCampaign
from safety_scenarios.campaign.open_session import OpenSession
from safety_scenarios.campaign.plan import plan_campaign, TrialTask
from safety_scenarios.campaign.run import run, run_tasks
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.reports.console_report import ConsoleReport
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.plan import plan

SCENARIO = str(Path(__file__).with_name('two_seconds.yaml'))


def bare_s(settings: RunSettings) -> float:
    """Return the seconds that planning, running and judging take in Loopback, without files."""
    begin_s = time.perf_counter()
    trials = plan(load_scenarios(settings.scenarios).scenarios, controller=settings.controller,
                  trials=settings.trials, seed=1, prompt=registry.resolve('stimuli', 'prompt')())
    setup = plan_campaign(settings, ()).setup
    with Loopback(setup.link, Path()) as session:
        own = OpenSession(session.open_link, begins_anew=True)
        run_tasks([TrialTask(setup, trial) for trial in trials], Loop(lambda task: own),
                  ObservedCampaign())
    return time.perf_counter() - begin_s


def peak_mb() -> float:
    """Return the peak of resident memory; ``ru_maxrss`` would be the parent's at first."""
    status = Path('/proc/self/status').read_text(encoding='ascii')
    return float(next(line for line in status.splitlines()
                      if line.startswith('VmHWM:')).split()[1]) / 1e3


def main(link: str, trials: str, folder: str) -> None:
    """Run a campaign and print what it took."""
    settings = RunSettings(scenarios=(SCENARIO,), trials=int(trials), link=link, output=folder,
                           calibration='off')
    if link == 'loopback':
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    begin_s, begin_cpu_s = time.perf_counter(), time.process_time()
    with open(os.devnull, 'w', encoding='utf-8') as nowhere:
        summary = run(settings, [ConsoleReport(Console(file=nowhere))])
    wall_s, cpu_s = time.perf_counter() - begin_s, time.process_time() - begin_cpu_s
    begun = [trial.started_system_ns for trial in read_trials(Path(folder))]
    apart = [(later - earlier) / 1e9 for earlier, later in pairwise(begun)]
    most_mb = peak_mb()
    json.dump({'completed': summary.completed, 'exit_code': summary.exit_code, 'wall_s': wall_s,
               'cpu_s': cpu_s, 'peak_mb': most_mb,
               'bare_s': bare_s(settings) if link == 'loopback' else None,
               'apart_s': median(apart) if apart else None}, sys.stdout)


if __name__ == '__main__':
    main(*sys.argv[1:])
