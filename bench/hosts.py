# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
``python bench/hosts.py``: the same controllers on one host and on two, over a disturbed wire.

The controller's host has a clock of its own, ahead and faster. A verdict may become INCONCLUSIVE
where the network hides what has to be known; it must never become the opposite. Needs root, and
libfaketime for the clock. The exit code is 1 where a verdict is the opposite of that on one host.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
import json
import os
from pathlib import Path
import signal
from statistics import median
import struct
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

from machine import Machine
from network import Clock, Host, missing, Network, two_hosts, Wire
from rich.table import Table
from safety_scenarios.errors import MeasurementError
from safety_scenarios.reports.console_report import console, show

HERE = Path(__file__).parent
SCENARIO = HERE / 'one_second.yaml'
COMMAND = Path(sys.executable).with_name('safety-scenarios')
CONTROLLERS = ('rule_based', 'never_stop')
_DOMAIN = '66'
_HAZARD, _NOMINAL = (struct.pack('<d', distance).hex() for distance in (1.5, 6.0))
"""What a message of the scenario carries while the person is near, and before."""
_AHEAD = Clock(3.0, 200.0)
_CUT = Wire(cut_ms=600.0, cut_after=_HAZARD)
_OPPOSITE = {'PASS': 'FAIL', 'FAIL': 'PASS'}


@dataclass(frozen=True)
class Condition:
    """
    Where the controller runs, and what happens on the way to it.

    :ivar wire: None: both are on one host
    """

    name: str
    wire: Wire | None = Wire()
    clock: Clock = _AHEAD


CONDITIONS = (
    Condition('one host', None, Clock()),
    Condition('two hosts, one clock', Wire(), Clock()),
    Condition('clock 3 s ahead, +200 ppm'),
    Condition('clock 3 s behind, -200 ppm', Wire(), Clock(-3.0, -200.0)),
    Condition('delay 10 ms', Wire(delay_ms=10.0)),
    Condition('delay 20 ms, jitter 10 ms', Wire(delay_ms=20.0, jitter_ms=10.0)),
    Condition('a quarter overtakes 20 ms', Wire(delay_ms=20.0, reorder=0.25)),
    Condition('loss 1 %', Wire(loss=0.01)),
    Condition('loss 5 %', Wire(loss=0.05)),
    Condition('cut for 300 ms before the hazard', Wire(
        cut='both', cut_ms=300.0, cut_after=_NOMINAL)),
    Condition('cut for 200 ms at the hazard', replace(_CUT, cut='both', cut_ms=200.0)),
    Condition('cut for the whole hazard', replace(_CUT, cut='both')),
    Condition('the same, after its first message', replace(_CUT, cut='both', cut_first=False)),
    Condition('cut to the robot for the whole hazard', replace(_CUT, cut='out')),
    Condition('cut from the robot for the whole hazard', replace(_CUT, cut='in')))
QUICK = (CONDITIONS[5], CONDITIONS[11])


def trials(network: Network, condition: Condition, controller: str, count: int,
           folder: Path, calibration: str = 'short') -> list[dict[str, Any]]:
    """
    Run a campaign against a controller that is started beside it; return its trials.

    :raises MeasurementError: not one trial was made
    """
    near: Host = network.robot if condition.wire else network.evaluator
    network.disturb(condition.wire or Wire())
    variables = {'ROS_DOMAIN_ID': _DOMAIN, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'}
    with ExitStack() as stack:
        log = stack.enter_context((folder / 'controller.log').open('w', encoding='utf-8'))
        stack.enter_context(near.process(
            sys.executable, '-m', 'safety_scenarios.ros.nodes.controller_node', '--ros-args', '-p',
            f'controller:={controller}', '-p', 'exit_with_stdin:=true', log=log,
            **variables, **condition.clock.environment()))
        done = subprocess.run(
            network.evaluator.command(
                COMMAND, 'run', SCENARIO, '--controller', 'external', '--set',
                'connect_timeout_s=30',
                '--trials', str(count), '--output', folder / 'run', '--calibration', calibration),
            env={**os.environ, **variables}, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    try:
        lines = (folder / 'run' / 'trials.jsonl').read_text(encoding='utf-8').splitlines()
    except OSError:
        raise MeasurementError(f'{condition.name}: no trial:\n{done.stdout[-2000:]}') from None
    return [json.loads(line) for line in lines]


def row(condition: Condition, controller: str, made: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what is told of one condition and controller."""
    reactions = [trial['latency']['reaction'] for trial in made
                 if trial['verdict'] == 'PASS' and trial['latency']['reaction']]
    reasons = Counter(trial['reason'] for trial in made if trial['verdict'] not in _OPPOSITE)
    return {
        'condition': condition.name, 'controller': controller, 'trials': len(made),
        'verdicts': dict(sorted(Counter(trial['verdict'] for trial in made).items())),
        'method': '/'.join(sorted({reaction['method'] for reaction in reactions})),
        'latency_ms': median(one['judged_ns'] / 1e6 for one in reactions) if reactions else None,
        'uncertainty_ms': median(one['uncertainty_ns'] / 1e6 for one in reactions)
        if reactions else None,
        'why_inconclusive': dict(reasons.most_common())}


def measured(conditions: Sequence[Condition], controllers: Sequence[str],
             count: int, calibration: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each condition and controller."""
    with TemporaryDirectory() as scratch, two_hosts() as network:
        for number, condition in enumerate(conditions):
            for controller in controllers:
                folder = Path(scratch) / f'{number}.{controller}'
                folder.mkdir()
                yield row(condition, controller, trials(
                    network, condition, controller, count, folder, calibration))


def opposite(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Name each row with a verdict that its controller must not have."""
    right = {'rule_based': 'PASS', 'never_stop': 'FAIL'}
    return [f'{one["condition"]}, {one["controller"]}' for one in rows
            if one['verdicts'].get(_OPPOSITE[right[one['controller']]])]


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return the rows for people to read."""
    shown = Table(title='Two hosts', title_justify='left', title_style='bold')
    for heading in ('condition', 'controller', 'verdicts', 'method', 'median ms', 'U ms'):
        shown.add_column(heading)
    for one in rows:
        shown.add_row(one['condition'], one['controller'], ', '.join(
            f'{count} {verdict}' for verdict, count in one['verdicts'].items()), one['method'],
            *('-' if one[name] is None else f'{one[name]:.1f}'
              for name in ('latency_ms', 'uncertainty_ms')))
    return shown


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--trials', type=int, default=10, help='of each; a second each')
    parser.add_argument('--quick', action='store_true',
                        help='one trial of two conditions and of the controller that stops')
    parser.add_argument('--output', type=Path, default=HERE / 'hosts.json', metavar='FILE')
    arguments = parser.parse_args()
    reason = missing()
    if reason is not None:
        sys.exit(f'No two hosts on this machine: {reason}')
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    machine, screen = Machine(), console()
    rows = []
    for one in measured(QUICK if arguments.quick else CONDITIONS,
                        CONTROLLERS[:1] if arguments.quick else CONTROLLERS,
                        1 if arguments.quick else arguments.trials,
                        'off' if arguments.quick else 'short'):
        rows.append(one)
        arguments.output.write_text(json.dumps({**machine.as_json(), 'rows': rows}, indent=2)
                                    + '\n', encoding='utf-8')
    show(table(rows))
    wrong = opposite(rows)
    screen.print(f'{len(wrong)} of {len(rows)} rows with a verdict that is the opposite'
                 + (f': {"; ".join(wrong)}' if wrong else '') + f'. {arguments.output}',
                 soft_wrap=True)
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    try:
        main()
    except MeasurementError as error:
        sys.exit(str(error))
