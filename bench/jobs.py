# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How much faster several processes run a campaign in simulated time than one, in turn.

``jobs.py FOLDER [TRIALS] [JOBS] [ROUNDS]`` runs the same campaign with one job and with several,
A B A B, with all its files, and prints trials a second: of the whole campaign, and from the end of
the first trial to that of the last, which leaves out how long processes take to start.
"""

from pathlib import Path
from statistics import median
import sys
import time

from safety_scenarios.campaign.run import run
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.session import Observer, open_outputs, OutputContext
from safety_scenarios.trial.trial import TrialRecord


class Clock(Observer):
    """Reads the clock at the end of each trial."""

    reads_events = False

    def __init__(self) -> None:
        self.ended_s: list[float] = []

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Read it."""
        self.ended_s.append(time.monotonic())


def rates(folder: Path, trials: int, jobs: int) -> tuple[float, float]:
    """Return trials a second: of the whole, and from the first end to the last."""
    settings = RunSettings(scenarios=('SCN-R-101',), link='loopback', trials=trials, seed=1,
                           jobs=jobs, output=str(folder), outputs=('page',), words='patterns')
    clock, began_s = Clock(), time.monotonic()
    with open_outputs(OutputContext(settings, str, str)) as observers:
        summary = run(settings, [*observers, clock])
    if summary.completed != trials:
        raise RuntimeError(f'bench: {summary.completed} of {trials} trials completed')
    first_s, last_s = clock.ended_s[0], clock.ended_s[-1]
    return trials / (last_s - began_s), (trials - 1) / (last_s - first_s)


def main(folder: str, trials: str = '500', jobs: str = '2', rounds: str = '2') -> None:
    """Measure in turn, and print each round and the medians."""
    found: dict[int, list[tuple[float, float]]] = {1: [], int(jobs): []}
    for number in range(int(rounds)):
        for many in found:
            found[many].append(rates(Path(folder, f'{number}_{many}'), int(trials), many))
            whole, steady = found[many][-1]
            sys.stdout.write(f'round {number + 1}, {many} jobs: {whole:.2f} trials/s, '
                             f'{steady:.2f} without the start\n')
            sys.stdout.flush()
    for place, what in ((0, 'whole'), (1, 'without the start')):
        one, many_ = (median(rate[place] for rate in some) for some in found.values())
        sys.stdout.write(f'{what}: {many_ / one:.2f} x\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
