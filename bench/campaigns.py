# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What campaigns take: trials a second, in loopback and over DDS, and cost by their number."""

import json
import os
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

from evaluator import HERE
from figures import Figure

_TRIALS_A_SECOND = 100.0
_TIMEOUT_S = 300


def loopback(numbers: tuple[int, ...]) -> list[Figure]:
    """Return trials a second of simulated two-second trials, and their cost by number."""
    found = {number: _campaign('loopback', number) for number in numbers}
    most = max(numbers)
    how = f'one campaign of {most} trials of two simulated seconds, one process on one core'
    return [
        Figure('loopback: trials a second', most / found[most]['wall_s'], '1/s', most,
               f'{how}; all files written', at_least=_TRIALS_A_SECOND),
        Figure('loopback: run and judged only', most / found[most]['bare_s'], '1/s', most,
               f'{how}; no files'),
        Figure('loopback: CPU a trial', found[most]['cpu_s'] / most * 1e3, 'ms', most,
               f'{how}; all files written, process_time'),
        *(Figure(f'loopback, {number} trial{"s" * (number > 1)}: {what}', value, unit, number,
                 f'one campaign of {number}, a process of its own')
          for number, took in found.items() for what, value, unit in (
              ('a trial', took['wall_s'] / number * 1e3, 'ms'),
              ('peak memory', took['peak_mb'], 'MB')))]


def over_dds(trials: int) -> list[Figure]:
    """Return trials a second over DDS, where two seconds take two seconds."""
    took = _campaign('ros', trials)
    how = f'one campaign of {trials} trials of two seconds, no calibration'
    return [
        Figure('DDS: trials a second', 1 / took['apart_s'], '1/s', trials - 1,
               f'{how}; median time from one begin to the next'),
        Figure('DDS: a trial', took['apart_s'] * 1e3, 'ms', trials - 1, how),
        Figure('DDS: start and end of a campaign', took['wall_s'] - trials * took['apart_s'], 's',
               1, f'{how}; all of it but its trials'),
        Figure('DDS: evaluator CPU a trial', took['cpu_s'] / trials * 1e3, 'ms', trials, how),
        Figure('DDS: peak memory', took['peak_mb'], 'MB', trials, how)]


def _campaign(link: str, trials: int) -> dict[str, Any]:
    """
    Run a campaign in a process of its own.

    :raises RuntimeError: it did not complete, or a trial did not pass
    """
    environment = {name: value for name, value in os.environ.items() if name != 'ROS_DOMAIN_ID'}
    with TemporaryDirectory() as folder:
        ended = subprocess.run(
            [sys.executable, HERE / 'campaign.py', link, str(trials), str(Path(folder, 'run'))],
            env=environment, stdout=subprocess.PIPE, text=True, timeout=_TIMEOUT_S, check=True)
    took: dict[str, Any] = json.loads(ended.stdout)
    if took['completed'] != trials or took['exit_code']:
        raise RuntimeError(f'bench: {link}: {took["completed"]} of {trials} trials completed, '
                           f'exit code {took["exit_code"]}')
    return took
