# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A campaign or matrix that is killed again and again, and resumed, against it undisturbed.

``kills.py FOLDER [KILLS] [TRIALS] [JOBS] [CONTROLLER...]`` kills it with ``kill -9`` at moments
drawn by chance, resumes it after each, and compares every number at the end. It prints one line
for each kill. Two controllers or more make a matrix.
"""

from collections.abc import Mapping, Sequence
import json
from pathlib import Path
import random
import subprocess
import sys
import time
from typing import Any

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
    return sum(path.read_bytes().count(b'\n') for path in folder.rglob(_TRIALS))


def run(*arguments: str) -> None:
    """
    Run this package to its end.

    :raises RuntimeError: it could not judge; a controller that fails is no fault
    """
    code = subprocess.run(command(*arguments), stdout=subprocess.DEVNULL).returncode
    if code not in (0, 1):
        raise RuntimeError(f'bench: {arguments} ended with {code}')


def what(trials: int, jobs: int, controllers: Sequence[str]) -> tuple[str, ...]:
    """Return what is run."""
    return ('SCN-R-101', 'SCN-C-101', '--link', 'loopback', '--words', 'patterns', '--seed', '5',
            '--trials', str(trials), '--jobs', str(jobs), '-q',
            *(part for one in controllers for part in ('--controller', one)))


def numbers(folder: Path) -> tuple[Mapping[str, bytes], Mapping[str, Any], int]:
    """Return the lines and summaries of each campaign in a folder, and how many were resumed."""
    lines = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob(_TRIALS)}
    summaries = {str(path.relative_to(folder)): json.loads(path.read_text()) for name in (
        'campaign.json', 'matrix.json') for path in folder.rglob(name)}
    resumed = sum(len(one.pop('repaired', ())) for one in summaries.values())
    return lines, summaries, resumed


def _await_progress(process: 'subprocess.Popen[bytes]', folder: Path) -> None:
    """Wait until a trial more has a line, or the process has ended."""
    before, end_s = lines_in(folder), time.monotonic() + _PATIENCE_S
    while lines_in(folder) <= before and process.poll() is None and time.monotonic() < end_s:
        time.sleep(0.02)


def main(folder: str, kills: str = '20', trials: str = '200', jobs: str = '2',
         *controllers: str) -> None:
    """
    Kill and resume, and compare.

    :raises RuntimeError: a number is another one than undisturbed
    """
    whole, cut = Path(folder, 'undisturbed'), Path(folder, 'killed')
    asked = what(int(trials), int(jobs), controllers)
    began_s = time.monotonic()
    run('run', *asked, '--output', str(whole))
    took_s = time.monotonic() - began_s
    chance, done, all_trials = random.Random(1), 0, lines_in(whole)
    while done < int(kills):
        started = any(cut.rglob('settings.json'))
        process = subprocess.Popen(
            command('run', *(('--resume', str(cut)) if started else (
                *asked, '--output', str(cut)))),
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
        tell(f'kill {done}: {lines_in(cut)} of {all_trials} trials have a line')
    if lines_in(cut) < all_trials or len(list(cut.rglob('manifest.json'))) < len(
            list(whole.rglob('manifest.json'))):
        run('run', '--resume', str(cut))
    (lines, summaries, _), (cut_lines, cut_summaries, resumed) = numbers(whole), numbers(cut)
    for path in cut.rglob(_TRIALS):
        run('evaluate', str(path.parent))
    tell(f'{done} kills, resumed {resumed} times; trials.jsonl of {len(lines)} campaigns the same '
         f'bytes: {lines == cut_lines}; {len(summaries)} summaries the same numbers: '
         f'{summaries == cut_summaries}; evaluate finds nothing wrong')
    if lines != cut_lines or summaries != cut_summaries:
        raise RuntimeError('bench: the numbers differ')


if __name__ == '__main__':
    main(*sys.argv[1:])
