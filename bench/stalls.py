# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
``python bench/stalls.py``: verdicts while SIGSTOP holds up one process of a trial after another.

Each trial of a campaign meets one stop: of one process, for one duration, at one of ten phases of
the trial. What is stopped and when follows from the number of the trial. Printed is, for each
process and duration, how often each verdict came. A good controller must not FAIL by a stop, and a
saboteur that FAILs without one must not PASS by it.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, ExitStack, nullcontext
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from typing import Any

WORLD = ('--link', 'ros', '--world', 'mujoco')
WAYS: Mapping[str, tuple[str, ...]] = {
    'open loop': ('--link', 'ros'), 'factor 1': (*WORLD, '--set', 'real_time_factor=1'),
    'factor 3': (*WORLD, '--set', 'real_time_factor=3'),
    'lock-step': (*WORLD, '--set', 'real_time_factor=0', '--set', 'clock.lockstep=true'),
    'over a relay': ('--link', 'ros', '--controller', 'external')}
PROCESSES: Mapping[str, str] = {'evaluator': '', 'simulator': 'nodes.simulator_node',
                                'controller': 'nodes.controller_node',
                                'relay': 'nodes.relay_node'}
"""Each with a part of its command line; the evaluator is the program that was started."""
_ABSENT: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(WAYS, ['relay']), 'open loop': ['simulator', 'relay'],
    'over a relay': ['simulator']}
DURATIONS_MS = (50, 100, 200, 500, 1000)
PHASES = 10
_RUN = 'import sys; from safety_scenarios.cli.main import main; sys.exit(main())'
_LOOK_S = 0.002
_DOMAIN = '67'
_SCAN = 'front_lidar/scan'


def children(pid: int, part: str) -> list[int]:
    """Return the processes below one whose command line has a part."""
    found, below = [], [pid]
    while below:
        parent = below.pop()
        try:
            tasks = Path(f'/proc/{parent}/task').iterdir()
            own = [int(one) for task in tasks
                   for one in (task / 'children').read_text(encoding='ascii').split()]
        except OSError:
            continue
        below += own
        for child in own:
            try:
                words = Path(f'/proc/{child}/cmdline').read_bytes()
            except OSError:
                continue
            if part.encode() in words:
                found.append(child)
    return found


def stop(pids: Sequence[int], seconds: float) -> None:
    """Stop processes for some time."""
    for number, pause in ((signal.SIGSTOP, seconds), (signal.SIGCONT, 0.0)):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue
        time.sleep(pause)


def plan(processes: Sequence[str], durations_ms: Sequence[int],
         phases: int) -> list[tuple[str, int, float]]:
    """Return what each trial meets: process, duration, and when of its length."""
    return [(process, duration_ms, (phase + 0.5) / phases) for process in processes
            for duration_ms in durations_ms for phase in range(phases)]


@contextmanager
def behind_a_relay(controller: str) -> Iterator[None]:
    """Run a controller that hears the scanner over a relay."""
    nodes = {'relay_node': ('-p', f"topics:=['{_SCAN}:={_SCAN}_on_wire']"),
             'controller_node': ('-p', f'controller:={controller}',
                                 '-r', f'{_SCAN}:={_SCAN}_on_wire')}
    with ExitStack() as stack:
        for name, arguments in nodes.items():
            node = stack.enter_context(subprocess.Popen(
                [sys.executable, '-m', f'safety_scenarios.ros.nodes.{name}', '--ros-args',
                 '-p', 'exit_with_stdin:=true', *arguments], stdin=subprocess.PIPE,
                env={**os.environ, 'ROS_DOMAIN_ID': _DOMAIN}, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL))
            assert node.stdin is not None
            stack.callback(node.stdin.close)
        yield


def disturbed(arguments: Sequence[str], folder: Path, stops: Sequence[tuple[str, int, float]],
              length_s: float) -> list[dict[str, Any]]:
    """
    Return the lines of a campaign in which each trial met its stop.

    :param length_s: of a trial, in real time
    """
    environment = {name: value for name, value in os.environ.items() if name != 'ROS_DOMAIN_ID'}
    if 'external' in arguments:
        environment['ROS_DOMAIN_ID'] = _DOMAIN
    with subprocess.Popen([sys.executable, '-c', _RUN, 'run', *arguments, '--output', folder,
                           '--trials', str(len(stops))], env=environment,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as campaign:
        seen = set[Path]()
        try:
            while campaign.poll() is None:
                for path in sorted(folder.rglob('*.events.jsonl.gz*')):
                    number = _number(path)
                    if path in seen or number >= len(stops):
                        continue
                    seen.add(path)
                    process, duration_ms, share = stops[number]
                    time.sleep(share * length_s)
                    part = PROCESSES[process]
                    stop(children(os.getpid(), part) if part else [campaign.pid],
                         duration_ms / 1e3)
                time.sleep(_LOOK_S)
        finally:
            campaign.terminate()
    return trials(folder)


def _number(path: Path) -> int:
    return next((int(part[1:]) for part in path.name.split('.')
                 if part[:1] == 't' and part[1:].isdigit()), 1 << 30)


def trials(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a campaign's trials.jsonl."""
    text = (folder / 'trials.jsonl').read_text(encoding='utf-8')
    return [json.loads(line) for line in text.splitlines()]


def rows(way: str, controller: str, stops: Sequence[tuple[str, int, float]],
         found: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield the lines of the table."""
    counts: dict[tuple[str, int], Counter[str]] = {}
    for trial in found:
        process, duration_ms, _ = stops[trial['index']]
        counts.setdefault((process, duration_ms), Counter())[trial['verdict']] += 1
    for (process, duration_ms), verdicts in counts.items():
        yield (way, controller, process, str(duration_ms), *(
            str(verdicts[name]) for name in ('PASS', 'INCONCLUSIVE', 'ERROR', 'FAIL')))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('scenarios', nargs='*', default=['SCN-R-101'])
    parser.add_argument('--way', action='append', choices=sorted(WAYS), default=[])
    parser.add_argument('--controller', action='append', default=[])
    parser.add_argument('--process', action='append', choices=sorted(PROCESSES), default=[])
    parser.add_argument('--phases', type=int, default=PHASES)
    parser.add_argument('--keep', type=Path, help='folder for the campaigns; none: they go')
    parser.add_argument('--length-s', type=float, default=0.0,
                        help='of a trial in real time; 0: as a first, undisturbed one takes')
    arguments = parser.parse_args()
    _say('| way | controller | stopped | for ms | PASS | INCONCLUSIVE | ERROR | FAIL |')
    _say('|---|---|---|---:|---:|---:|---:|---:|')
    for way in arguments.way or WAYS:
        for controller in arguments.controller or ['rule_based', 'never_stop']:
            names = [name for name in arguments.process or PROCESSES if name not in _ABSENT[way]]
            stops = plan(names, DURATIONS_MS, arguments.phases)
            is_external = way == 'over a relay'
            with TemporaryDirectory() as scratch, \
                    behind_a_relay(controller) if is_external else nullcontext():
                options = [*arguments.scenarios, *WAYS[way], '--seed', '5', '--calibration', 'off',
                           *([] if is_external else ['--controller', controller])]
                length_s = arguments.length_s or _length_s(options, Path(scratch) / 'first')
                folder = (arguments.keep or Path(scratch)) / f'{way} {controller}'
                found = disturbed(options, folder, stops, length_s)
                for row in rows(way, controller, stops, found):
                    _say(f'| {" | ".join(row)} |')
                for trial in found:
                    if trial['verdict'] == ('FAIL' if controller == 'rule_based' else 'PASS'):
                        _say(f'{stops[trial["index"]]}: {trial["reason"]}')


def _say(line: str) -> None:
    sys.stdout.write(f'{line}\n')
    sys.stdout.flush()


def _length_s(options: Sequence[str], folder: Path) -> float:
    """Return how long an undisturbed trial takes in real time."""
    before = disturbed(options, folder, [('controller', 0, 0.0)], 0.0)
    rate = before[0].get('rtf') or 1.0
    return float(before[0]['duration_ms']) / 1e3 / rate


if __name__ == '__main__':
    main()
