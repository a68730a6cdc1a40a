# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A campaign that is killed again and again, and resumed, against the same one undisturbed.

``kills.py FOLDER [KILLS] [TRIALS] [JOBS]`` kills it with ``kill -9`` at moments drawn by chance,
resumes it after each, and compares every number at the end. It prints one line for each kill.
"""

import json
from pathlib import Path
import random
import subprocess
import sys
import time

_PROGRAM = ('from safety_scenarios.cli.main import main\nimport sys\nsys.exit(main())')
_TRIALS = 'trials.jsonl'
_PATIENCE_S = 60.0


def command(*arguments: str) -> list[str]:
    """Return a command line of this package."""
    return [sys.executable, '-c', _PROGRAM, *arguments]


def tell(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + '\n')
    sys.stdout.flush()


def lines_in(folder: Path) -> int:
    """Return how many trials have a line."""
    path = folder / _TRIALS
    return path.read_bytes().count(b'\n') if path.exists() else 0


def undisturbed(folder: Path, trials: int, jobs: int) -> float:
    """Run the campaign to its end, and return the seconds that it took."""
    began_s = time.monotonic()
    subprocess.run(command('run', *what(trials, jobs), '--output', str(folder)), check=True)
    return time.monotonic() - began_s


def what(trials: int, jobs: int) -> tuple[str, ...]:
    """Return what is run."""
    return ('SCN-R-101', 'SCN-C-101', '--link', 'loopback', '--words', 'patterns', '--seed', '5',
            '--trials', str(trials), '--jobs', str(jobs), '-q')


def _await_progress(process: 'subprocess.Popen[bytes]', folder: Path) -> None:
    """Wait until a trial more has a line, or the process has ended."""
    before, end_s = lines_in(folder), time.monotonic() + _PATIENCE_S
    while lines_in(folder) <= before and process.poll() is None and time.monotonic() < end_s:
        time.sleep(0.02)


def main(folder: str, kills: str = '20', trials: str = '200', jobs: str = '2') -> None:
    """
    Kill and resume, and compare.

    :raises RuntimeError: a number is another one than undisturbed
    """
    whole, cut = Path(folder, 'undisturbed'), Path(folder, 'killed')
    took_s = undisturbed(whole, int(trials), int(jobs))
    chance, done = random.Random(1), 0
    begin = command('run', *what(int(trials), int(jobs)), '--output', str(cut))
    while done < int(kills):
        started = (cut / 'settings.json').exists()
        process = subprocess.Popen(begin if not started else command('run', '--resume', str(cut)),
                                   start_new_session=True, stdout=subprocess.DEVNULL)
        try:
            _await_progress(process, cut)
            process.wait(chance.uniform(0.0, took_s / 4))
            tell(f'ended by itself after {done} kills')
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        done += 1
        tell(f'kill {done}: {lines_in(cut)} of {2 * int(trials)} trials have a line')
    if lines_in(cut) < 2 * int(trials) or not (cut / 'manifest.json').exists():
        subprocess.run(command('run', '--resume', str(cut)), check=True)
    same = (whole / _TRIALS).read_bytes() == (cut / _TRIALS).read_bytes()
    one, two = (json.loads((path / 'campaign.json').read_text()) for path in (whole, cut))
    repaired = two.pop('repaired', ())
    subprocess.run(command('evaluate', str(cut)), check=True, stdout=subprocess.DEVNULL)
    tell(f'{done} kills, resumed {len(repaired)} times; trials.jsonl the same bytes: {same}; '
         f'campaign.json the same numbers: {one == two}; evaluate finds nothing wrong')
    if not same or one != two:
        raise RuntimeError('bench: the numbers differ')


if __name__ == '__main__':
    main(*sys.argv[1:])
