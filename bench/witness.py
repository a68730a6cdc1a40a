# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
``python bench/witness.py``: our latencies against the packets' own, seen by somebody outside.

The evaluator and a controller run on two hosts (network namespaces). On both ends of the wire a
process that knows nothing of the package writes down each packet with the kernel's time stamp. The
packets' own latency is from the stimulus leaving the evaluator's host to the command coming in
there (method ``received``), or to it leaving the robot's (``source``, for which both must read one
clock, as they do here). Needs root. The exit code says only whether everything could be measured.
"""

import argparse
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

from figures import Figure, spread, table
from machine import Machine
from network import await_line, Host, INTERFACE, missing, Network, two_hosts
from safety_scenarios import registry
from safety_scenarios.errors import MeasurementError
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.reports.console_report import console, show
from safety_scenarios.scenario.event import Event
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.trial import TrialRecord

HERE = Path(__file__).parent
SCENARIO = HERE / 'one_second.yaml'
COMMAND = Path(sys.executable).with_name('safety-scenarios')
TARGETS_MS = (0.1, 0.5)
"""Of the difference: median and 99th percentile."""
_SAME_NS = 8
"""A source stamp in RTPS counts in 2^-32 s, and may be rounded twice."""
_DOMAIN = '66'
_PARTS = ('a stimulus leaves after its source stamp', 'a command is stamped before it leaves',
          'a command is stamped after it arrives')


@dataclass(frozen=True)
class Packets:
    """What one interface saw of RTPS data messages: first time of each, by its source stamp."""

    sources_ns: Sequence[int]
    kernel_ns: Sequence[int]

    def at(self, source_ns: int | None) -> int | None:
        """Return when the kernel first saw a message with this source stamp, None if never."""
        if source_ns is None:
            return None
        place = bisect_left(self.sources_ns, source_ns - _SAME_NS)
        if place == len(self.sources_ns) or self.sources_ns[place] > source_ns + _SAME_NS:
            return None
        return self.kernel_ns[place]


def packets(path: Path, is_outgoing: bool) -> Packets:
    """Read what a capture has written, in one direction."""
    first: dict[int, int] = {}
    for line in path.read_text(encoding='utf-8').splitlines():
        found = json.loads(line)
        if found and found[1] == is_outgoing and found[2]:
            first.setdefault(found[2], found[0])
    known = sorted(first.items())
    return Packets([source for source, _ in known], [kernel for _, kernel in known])


@contextmanager
def captured(host: Host, path: Path) -> Iterator[None]:
    """Write down what passes a host's interface while the block lasts."""
    with path.open('w', encoding='utf-8') as file, \
            subprocess.Popen(host.command(sys.executable, HERE / 'capture.py', INTERFACE),
                             stdin=subprocess.PIPE, stdout=file) as capture:
        try:
            await_line(path, '[]')
            yield
        finally:
            assert capture.stdin is not None
            capture.stdin.close()
            capture.wait()


def campaign(network: Network, folder: Path, trials: int) -> list[TrialRecord]:
    """
    Run trials of the product against a controller on the other host; return their records.

    :raises MeasurementError: not one record was left
    """
    variables = {'ROS_DOMAIN_ID': _DOMAIN, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'}
    with (folder / 'controller.log').open('w', encoding='utf-8') as log, network.robot.process(
            sys.executable, '-m', 'safety_scenarios.ros.nodes.controller_node', '--ros-args', '-p',
            'controller:=rule_based', '-p', 'exit_with_stdin:=true', log=log, **variables):
        done = subprocess.run(
            network.evaluator.command(COMMAND, 'run', SCENARIO, '--controller', 'external',
                                      '--trials', str(trials), '--output', folder / 'run',
                                      '--calibration', 'off'),
            env={**os.environ, **variables}, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    journals = sorted((folder / 'run').rglob('*.events.jsonl.gz'))
    if not journals:
        raise MeasurementError(f'no trial was recorded:\n{done.stdout[-2000:]}')
    return [read_journal(path, registry.resolve) for path in journals]


@dataclass
class Differences:
    """Ours less the packets' own (ms), and what a difference is made of."""

    pairs: list[float]
    reactions: list[float]
    parts: dict[str, list[float]]
    unseen: int = 0
    """Commands and stimuli of which no packet was seen."""


@dataclass(frozen=True)
class Seen:
    """
    What the captures saw.

    :ivar out: stimuli leaving the evaluator's host
    :ivar leaving: commands leaving the robot's host
    :ivar coming: commands coming in at the evaluator's
    """

    out: Packets
    leaving: Packets
    coming: Packets

    def latency_ms(self, sent_ns: int, command: Event, method: str) -> float | None:
        """Return the packets' own latency where a method sees a command, None without both."""
        begin_ns = self.out.at(sent_ns)
        end_ns = (self.leaving if method == 'source' else self.coming).at(command.stamps.source_ns)
        return None if begin_ns is None or end_ns is None else (end_ns - begin_ns) / 1e6


def differences(records: Sequence[TrialRecord], seen: Seen) -> Differences:
    """Compare each command with the latest stimulus before it, and each reaction with onset."""
    found = Differences([], [], {name: [] for name in _PARTS})
    for record in records:
        trial = JudgedTrial.of(record)
        clocks = trial.latency.clocks
        budget = record.trial.scenario.latency_budget
        begin: Event | None = None
        for event in record.events:
            if event.kind == 'stimulus' and event.message is not None:
                begin = event
            if event.kind != 'command' or begin is None:
                continue
            sent = clocks.published(begin)
            ours = clocks.elapsed(sent, event, budget)
            own_ms = seen.latency_ms(sent.system_ns, event, ours.method)
            stamps = event.stamps
            sent_ns, left_ns, came_ns = seen.out.at(sent.system_ns), \
                seen.leaving.at(stamps.source_ns), seen.coming.at(stamps.source_ns)
            if own_ms is None or sent_ns is None or left_ns is None or came_ns is None:
                found.unseen += 1
                continue
            found.pairs.append(ours.steady_ns / 1e6 - own_ms)
            for name, part_ns in zip(_PARTS, (
                    sent_ns - sent.system_ns, left_ns - (stamps.source_ns or 0),
                    (stamps.received_ns or 0) - came_ns), strict=True):
                found.parts[name].append(part_ns / 1e6)
        found.reactions += _of_reaction(trial, seen)
    return found


def _of_reaction(trial: JudgedTrial, seen: Seen) -> Iterator[float]:
    """Yield the reported latency of a trial's reaction less that of its packets."""
    latency, clocks = trial.latency.latency, trial.latency.clocks
    onset = clocks.onset()
    if latency is None or latency.reaction is None or onset is None:
        return
    for event in trial.record.of_kind('command'):
        elapsed = clocks.elapsed(onset, event, trial.scenario.latency_budget)
        own_ms = seen.latency_ms(onset.system_ns, event, elapsed.method)
        if elapsed == latency.reaction and own_ms is not None:
            yield latency.reaction.steady_ns / 1e6 - own_ms
            return


def witnessed(trials: int) -> list[Figure]:
    """Return the figures of both methods, from the same trials."""
    figures = []
    with TemporaryDirectory() as scratch, two_hosts(is_disturbed=False) as network:
        folder = Path(scratch)
        evaluator, robot = folder / 'evaluator.jsonl', folder / 'robot.jsonl'
        with captured(network.evaluator, evaluator), captured(network.robot, robot):
            records = campaign(network, folder, trials)
        seen = Seen(packets(evaluator, True), packets(robot, True), packets(evaluator, False))
        for method in ('received', 'source'):
            figures += _figures(method, differences([record.model_copy(update={
                'measuring': record.measuring.model_copy(update={
                    'one_host': method == 'source'})}) for record in records], seen))
    return figures


def _figures(method: str, found: Differences) -> Iterator[Figure]:
    if not found.pairs or not found.reactions:
        raise MeasurementError(f'{method}: got {len(found.pairs)} commands and '
                               f'{len(found.reactions)} reactions with their packets, '
                               f'expected some')
    how = "ours less the packets' own"
    yield from spread(f'{method}: |difference|, each command', list(map(abs, found.pairs)), 'ms',
                      f'|{how}|, from the latest stimulus to each command', TARGETS_MS)
    yield from spread(f'{method}: difference, each command', found.pairs, 'ms', how)
    yield from spread(f'{method}: |difference|, reactions', list(map(abs, found.reactions)), 'ms',
                      f'|{how}|, from onset to the reaction, as reported')
    for name, values in found.parts.items():
        yield from spread(f'{method}: {name}', values, 'ms', "packet's kernel stamp and "
                                                             "middleware's stamp")
    yield Figure(f'{method}: without a packet', found.unseen, '1',
                 len(found.pairs) + found.unseen, 'commands of which no packet was found')


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--trials', type=int, default=100, help='a second each')
    parser.add_argument('--output', type=Path, default=HERE / 'witness.json', metavar='FILE')
    arguments = parser.parse_args()
    reason = missing()
    if reason is not None:
        sys.exit(f'No two hosts on this machine: {reason}')
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    machine = Machine()
    figures = witnessed(arguments.trials)
    show(table("Reported latency against the packets' own", figures))
    about: dict[str, Any] = machine.as_json()
    arguments.output.write_text(json.dumps(
        {**about, 'figures': [figure.as_json() for figure in figures]}, indent=2) + '\n',
        encoding='utf-8')
    console().print(
        f'Others took {about["others_percent"]:g} % of the cores; load '
        f'{about["host"]["load"][0]:g} before, {about["load_after"][0]:g} after. '
        f'{arguments.output}', soft_wrap=True)


if __name__ == '__main__':
    try:
        main()
    except MeasurementError as error:
        sys.exit(str(error))
