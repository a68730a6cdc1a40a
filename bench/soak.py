# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A campaign of many simulated hours, and what it holds of the machine meanwhile.

``soak.py FOLDER [HOURS] [JOBS] [LINK]`` runs as many trials as the simulated hours take, and
prints memory, files, threads, processes and shared memory as they were after a tenth of the trials
and at the end, as JSON, and then one line: flat or not, and why. The campaign keeps each result
for its summary, so that its own memory grows with the trials, by no more than ``MOST_KB`` each;
everything else must not grow. The line also says what the growth would come to in 24 hours: a
line through two points, and no measurement.
"""

from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import sys
import time
from typing import Any

from safety_scenarios.campaign.run import run
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.session import Beginning, Observer
from safety_scenarios.trial.summary import CampaignSummary
from safety_scenarios.trial.trial import TrialRecord

_SCENARIO = 'SCN-R-101'
_SIMULATED_S = 25.0
"""Of one trial, about: it ends when the bench has seen so many hours."""
_SAMPLES = 200
MOST_KB = 25.0
"""That a campaign's own memory may grow by for each trial."""
_MOST_PROCESSES_MB = 5.0
"""That the memory of the processes of trials may differ by: what allocators keep or give back."""
_DAY_H = 24.0


def own_processes(pid: int) -> list[int]:
    """Return a process and all below it."""
    found = [pid]
    for task in Path(f'/proc/{pid}/task').glob('*/children'):
        for child in task.read_text().split():
            found += own_processes(int(child))
    return found


def held() -> dict[str, float]:
    """Return what the campaign and its processes hold now."""
    mine, others = os.getpid(), [pid for pid in own_processes(os.getpid()) if pid != os.getpid()]

    def mb(pids: list[int]) -> float:
        pages = sum(int(Path(f'/proc/{pid}/statm').read_text().split()[1]) for pid in pids)
        return pages * os.sysconf('SC_PAGE_SIZE') / 1e6

    def count(what: str) -> int:
        return sum(len(os.listdir(f'/proc/{pid}/{what}')) for pid in [mine, *others])
    return {'campaign_mb': mb([mine]), 'processes_mb': mb(others), 'files': count('fd'),
            'threads': count('task'), 'processes': len(others) + 1,
            'shared_memory': len(os.listdir('/dev/shm'))}


def growth(first: dict[str, float], last: dict[str, float], hours: float) -> str:
    """
    Return in one line whether what is held has stayed flat.

    :param first: what was held after some trials
    :param last: the same after more trials
    :param hours: simulated hours until then
    """
    trials = last['trials'] - first['trials']
    each_kb = (last['campaign_mb'] - first['campaign_mb']) * 1e3 / trials
    problems = [f'{name} grew from {first[name]:g} to {last[name]:g}'
                for name in ('files', 'threads', 'processes', 'shared_memory')
                if last[name] > first[name]]
    if each_kb > MOST_KB:
        problems.append(f'the campaign grew by {each_kb:.1f} kB a trial, expected at most '
                        f'{MOST_KB:g} kB')
    if last['processes_mb'] - first['processes_mb'] > _MOST_PROCESSES_MB:
        problems.append(f'the processes of trials grew from {first["processes_mb"]:.0f} to '
                        f'{last["processes_mb"]:.0f} MB')
    day_mb = last['campaign_mb'] + each_kb / 1e3 * last['trials'] * (_DAY_H / hours - 1)
    return (f'{"not flat: " + "; ".join(problems) if problems else "flat"} '
            f'(from trial {first["trials"]:g} to {last["trials"]:g}, {hours:.1f} simulated hours; '
            f'the campaign grew by {each_kb:.1f} kB a trial, of which it keeps the result; '
            f'extrapolated to {_DAY_H:g} h, not measured: {day_mb:.0f} MB)')


@dataclass
class Soak(Observer):
    """Looks at the machine again and again."""

    reads_events = False
    samples: list[dict[str, float]] = field(default_factory=list)
    planned: int = 0
    ended: int = 0

    def campaign_began(self, beginning: Beginning) -> None:
        """Note how many trials there are."""
        self.planned = beginning.planned

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Look, a number of times in all."""
        self.ended += 1
        if self.ended % max(1, self.planned // _SAMPLES) == 0:
            self.samples.append({'trials': self.ended, **held()})


def main(folder: str, hours: str = '24', jobs: str = '1', link: str = 'loopback') -> None:
    """Run it, and print what it held."""
    trials = round(float(hours) * 3600 / _SIMULATED_S)
    settings = RunSettings(
        scenarios=(_SCENARIO,), link=link, trials=trials, seed=1, jobs=int(jobs), output=folder,
        outputs=(), words='patterns', world={'kind': 'mujoco' if link == 'simulated' else 'none'})
    before, soak, began_s = held(), Soak(), time.monotonic()
    summary: CampaignSummary = run(settings, [soak])
    first, last = soak.samples[len(soak.samples) // 10], soak.samples[-1]
    after = held()
    told: dict[str, Any] = {
        'trials': trials, 'completed': summary.completed, 'verdict': summary.verdict.value,
        'took_s': round(time.monotonic() - began_s), 'after_a_tenth': first, 'at_the_end': last,
        'before': before, 'after': after}
    json.dump(told, sys.stdout, indent=1)
    sys.stdout.write(f'\n{growth(first, last, float(hours))}\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
