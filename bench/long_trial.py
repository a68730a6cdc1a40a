# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a long trial takes: ten simulated minutes of commands at 1 kHz, as a user records them.

``long_trial.py [MINUTES [TRIALS]]`` runs a loopback campaign with journal, recording in MCAP,
trace and verdict in this process, and reads the last recording back in a process of its own.
"""

from collections.abc import Sequence
import json
import os
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
import time

from campaign import peak_mb
from figures import Figure, table
from rich.console import Console
from safety_scenarios import registry
from safety_scenarios.campaign.folder.folder import read_trials
from safety_scenarios.campaign.run import run
from safety_scenarios.reports.console_report import ConsoleReport, show
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.links.loopback_session import Loopback
from safety_scenarios.trial.mcap.recording import read_mcap

SCENARIO = Path(__file__).with_name('ten_minutes.yaml')
PERIOD_MS = 1.0
_MOST_MB = 1000.0
_LONGEST_MS = '600000'


def long_trials(minutes: float, trials: int) -> list[Figure]:
    """
    Run the campaign, and return what it took.

    :raises RuntimeError: a trial did not pass, or its recording lacks an event
    """
    with TemporaryDirectory() as made:
        scenario, folder = Path(made, SCENARIO.name), Path(made, 'run')
        text = SCENARIO.read_text(encoding='utf-8')
        scenario.write_text(text.replace(_LONGEST_MS, str(round(minutes * 60_000))),
                            encoding='utf-8')
        settings = RunSettings(
            scenarios=(str(scenario),), trials=trials, link='loopback', output=str(folder),
            calibration='off', period_ms=PERIOD_MS, record=('mcap',))
        before_mb, begin_s = peak_mb(), time.process_time()
        with open(os.devnull, 'w', encoding='utf-8') as nowhere:
            summary = run(settings, [ConsoleReport(Console(file=nowhere))], Loopback)
        took_s, most_mb = time.process_time() - begin_s, peak_mb()
        if summary.exit_code:
            raise RuntimeError(f'bench: exit code {summary.exit_code}')
        counts = [result.counts for result in read_trials(folder)]
        number = sum(counts[-1][kind] for kind in ('command', 'stimulus', 'mark'))
        last = sorted(Path(folder, 'recordings').iterdir())[-1]
        read = json.loads(subprocess.run([sys.executable, __file__, '--read', last], check=True,
                                         stdout=subprocess.PIPE, text=True).stdout)
        if read['events'] != number:
            raise RuntimeError(f'bench: {read["events"]} of {number} events were recorded')
        size = {kind: sum(path.stat().st_size for path in folder.rglob(kind))
                for kind in ('*.mcap', '*.events.jsonl.gz')}
    how = f'{trials} trials of {minutes:g} simulated minutes at 1 kHz in one process'
    return [
        Figure('peak memory', most_mb, 'MB', trials, how, at_most=_MOST_MB),
        Figure('of that before the first trial', before_mb, 'MB', 1, how),
        Figure('events of a trial', number, '1', trials, how),
        Figure('peak memory an event', (most_mb - before_mb) / number * 1e3, 'kB', number, how),
        Figure('processor time an event, all files written', took_s / number / trials * 1e6, 'us',
               number, how),
        Figure('recording of a trial', size['*.mcap'] / trials / 1e6, 'MB', trials, how),
        Figure('journal of a trial', size['*.events.jsonl.gz'] / trials / 1e6, 'MB', trials, how),
        Figure('peak memory of reading the recording', read['peak_mb'], 'MB', 1,
               'a process of its own')]


def main(arguments: Sequence[str]) -> None:
    """Measure and print; or read one recording and say how much there was."""
    if arguments and arguments[0] == '--read':
        found = len(read_mcap(Path(arguments[1]), registry.resolve).events)
        json.dump({'events': found, 'peak_mb': peak_mb()}, sys.stdout)
        return
    minutes = float(arguments[0]) if arguments else 10.0
    trials = int(arguments[1]) if len(arguments) > 1 else 2
    show(table(f'{trials} long trials', long_trials(minutes, trials)))


if __name__ == '__main__':
    main(sys.argv[1:])
