# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The same scenarios open loop, in the world in one process, and in three processes over DDS.

``python bench/closed_loop.py [SCENARIO...]`` prints verdicts, latencies and what the world tells,
side by side as Markdown; with seed and trial equal, what differs is the way they were run.
"""

from collections.abc import Iterator, Mapping
import json
import os
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

SCENARIOS = ('SCN-R-101', 'SCN-R-104', 'SCN-R-105', 'SCN-R-D-101')
"""Somebody steps near, the path is blocked, a sensor freezes, and somebody passes far away."""
WORLD = ('--link', 'ros', '--world', 'mujoco', '--set')
WAYS: Mapping[str, tuple[str, ...]] = {
    'open loop': ('--link', 'loopback'), 'in process': ('--link', 'simulated'),
    'DDS, lock-step': (*WORLD, 'real_time_factor=0', '--set', 'clock.lockstep=true'),
    'DDS, 0.5': (*WORLD, 'real_time_factor=0.5'),
    'DDS, 1': (*WORLD, 'real_time_factor=1'), 'DDS, 3': (*WORLD, 'real_time_factor=3')}
_COMMAND = Path(sys.executable).with_name('safety-scenarios')
_HEAD = ('scenario', 'way', 'verdict', 'latency ms', '±', 'left m', 'least gap m', 'stops in m',
         'after ms', 'rtf')


def trials(scenarios: tuple[str, ...], way: tuple[str, ...], folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a campaign's trials.jsonl."""
    environment = {name: value for name, value in os.environ.items() if name != 'ROS_DOMAIN_ID'}
    subprocess.run([_COMMAND, 'run', *scenarios, *way, '--output', folder], env=environment,
                   stdout=subprocess.DEVNULL, check=False)
    text = (folder / 'trials.jsonl').read_text(encoding='utf-8')
    return [json.loads(line) for line in text.splitlines()]


def row(way: str, trial: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a trial's line of the table."""
    reaction = (trial.get('latency') or {}).get('reaction') or {}
    cost, world = trial.get('separation') or {}, trial.get('world') or {}
    left = None if not cost or cost.get('available') is None \
        else cost['available'] - cost['required']
    return (trial['scenario_id'], way, trial['verdict'], _ms(reaction.get('judged_ns')),
            _ms(reaction.get('uncertainty_ns')), _number(left), _number(world.get('min_gap_m')),
            _number(world.get('stopping_distance_m')),
            _number(world.get('time_to_standstill_ms'), 0), _number(trial.get('rtf'), 2))


def _ms(value: float | None) -> str:
    return _number(None if value is None else value / 1e6, 1)


def _number(value: float | None, digits: int = 3) -> str:
    return '-' if value is None else f'{value:.{digits}f}'


def table(scenarios: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of the table, scenario by scenario, and why what was not decided was not."""
    with TemporaryDirectory() as folder:
        found = {way: {trial['scenario_id']: trial for trial in trials(
            scenarios, arguments, Path(folder, str(number)))}
            for number, (way, arguments) in enumerate(WAYS.items())}
    yield f'| {" | ".join(_HEAD)} |'
    yield '|---' * 3 + '|---:' * (len(_HEAD) - 3) + '|'
    for scenario_id in next(iter(found.values())):
        for way, known in found.items():
            if scenario_id in known:
                yield f'| {" | ".join(row(way, known[scenario_id]))} |'
    yield ''
    for way, known in found.items():
        for trial in known.values():
            if trial['verdict'] != 'PASS':
                yield f'{trial["scenario_id"]}, {way}: {trial["verdict"]}: {trial["reason"]}'


def main() -> None:
    """Print the table."""
    for line in table(tuple(sys.argv[1:]) or SCENARIOS):
        sys.stdout.write(f'{line}\n')


if __name__ == '__main__':
    main()
