# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
ARE traces: time and memory to write and to read one, against ARE's own exporter and importer.

``are_traces.py [EVENTS]``. ARE has an environment of its own in build/, made when it is missing.
ARE reads the trace that we wrote and writes the same events again, each step in a process of its
own; memory is how much higher the peak of the process is than before the step.
"""

from collections.abc import Iterable, Sequence
import json
import math
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

from figures import Figure, table
from safety_scenarios import registry
from safety_scenarios.are.traces.writer import read_are_events, write_are
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.reports.console_report import console, show
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.message import Message
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.trial import TrialRecord
from step import measured

sys.path.append(str(Path(__file__).resolve().parents[1] / 'test'))
from contract.environments import are_python  # type: ignore # noqa: E402, I100

SCENARIO = 'SCN-R-101'
ITSELF = Path(__file__).with_name('are_itself.py')
SHARE, FLAT_MB, ROUNDS = 0.1, 4.0, 3
_EPOCH_NS, _PERIOD_NS, _MB = 1_700_000_000 * 10**9, 10_000_000, 2**20
Step = tuple[float, float]
"""Processor time (s), and memory (bytes)."""


def record(number: int) -> TrialRecord:
    """Return a trial of that many commands at 100 Hz, none like the one before."""
    [trial] = plan(load_scenarios([SCENARIO]).scenarios, controller='none', trials=1, seed=1,
                   prompt=registry.resolve('stimuli', 'prompt')())
    events = []
    for index in range(number):
        past_ns = index * _PERIOD_NS
        events.append(Event(
            kind='command', name='cmd_vel', sequence=index + 1, message=Message(
                type='geometry_msgs/msg/Twist', data={
                    'linear': {'x': 0.8 + index * 1e-9, 'y': 0.0, 'z': 0.0},
                    'angular': {'x': 0.0, 'y': 0.0, 'z': math.sin(index)}}),
            stamps=Stamps(steady_ns=10**12 + past_ns, system_ns=_EPOCH_NS + past_ns,
                          ros_ns=_EPOCH_NS + past_ns, source_ns=_EPOCH_NS + past_ns - 200_000)))
    return TrialRecord(trial=trial, events=tuple(events))


def ours(number: int, path: Path) -> tuple[Step, Step]:
    """Return what writing and reading cost us, in this process, which does nothing else."""
    found = record(number)
    result = evaluate(found)

    def write() -> None:
        with path.open('w', encoding='utf-8') as file:
            write_are(file, found, result, most=number)

    def read() -> int:
        return sum(event.event_type == 'AGENT' for event in read_are_events(path))

    _, *writing = measured(write)
    commands, *reading = measured(read)
    if commands != number:
        raise RuntimeError(f'{path}: read {commands} commands, expected {number}')
    return (writing[0], writing[1]), (reading[0], reading[1])


def in_a_process(command: Sequence[str | Path]) -> Any:
    """Return the JSON that a process prints after MEASURED."""
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=900)
    return json.loads(ended.stdout.rpartition('MEASURED')[2])


def against_are(number: int, rounds: int = ROUNDS) -> list[Figure]:
    """Return what both cost; nothing but the reason on the screen where ARE cannot be had."""
    try:
        python = are_python()
    except (subprocess.SubprocessError, OSError) as error:
        console().print(f'ARE traces: skipped, ARE cannot be installed: {error}', markup=False)
        return []
    with TemporaryDirectory() as folder:
        return list(compare(python, number, Path(folder), rounds))


def compare(python: Path, number: int, folder: Path, rounds: int) -> Iterable[Figure]:
    """Yield what both cost, in turns, and whether our memory grows with the length."""
    path, again = folder / 'ours.json', folder / 'theirs.json'
    sides: dict[str, list[tuple[Step, Step]]] = {'ours': [], 'ARE': [], 'short': []}
    for _ in range(rounds):
        sides['ours'].append(in_a_process([sys.executable, __file__, '--ours', str(number), path]))
        count, reading, writing = in_a_process([python, ITSELF, path, again])
        if count < number:
            raise RuntimeError(f'{path}: ARE read {count} events, expected {number} or more')
        sides['ARE'].append((writing, reading))
        sides['short'].append(in_a_process([
            sys.executable, __file__, '--ours', str(number // 10), folder / 'short.json']))
        for old in folder.iterdir():  # to write over a file costs more than to write a new one
            old.unlink()
    method = f'{number} events, processor time and peak above before, best of {rounds}'
    for place, verb in enumerate(('write', 'read')):
        took, took_are = (min(side[place][0] for side in sides[name]) for name in ('ours', 'ARE'))
        need, need_are, need_short = (min(side[place][1] for side in sides[name]) / _MB
                                      for name in ('ours', 'ARE', 'short'))
        yield Figure(f'{verb}, ours', took, 's', rounds, method)
        yield Figure(f'{verb}, ARE', took_are, 's', rounds, method)
        yield Figure(f'{verb}, share of ARE', took / took_are, '1', rounds, method, at_most=SHARE)
        yield Figure(f'{verb} memory, ours', need, 'MB', rounds, method)
        yield Figure(f'{verb} memory, ARE', need_are, 'MB', rounds, method)
        yield Figure(f'{verb} memory, share of ARE', need / need_are, '1', rounds, method,
                     at_most=SHARE)
        yield Figure(f'{verb} memory, growth', need - need_short, 'MB', rounds,
                     f'{method}; against {number // 10} events', at_most=FLAT_MB)


def main() -> None:
    """Measure, and print a table."""
    screen = console()
    if sys.argv[1:2] == ['--ours']:
        screen.out('MEASURED', json.dumps(ours(int(sys.argv[2]), Path(sys.argv[3]))))
        return
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    show(table('ARE traces', against_are(number)))


if __name__ == '__main__':
    main()
