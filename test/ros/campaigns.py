# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Campaigns as a user runs them: the installed command in a process of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
import json
import os
from pathlib import Path
import re
import subprocess
import sys
import time
from typing import Any

from examples import FEW
from safety_scenarios.judging.findings.latency_findings import WITHIN_BUDGET
from safety_scenarios.judging.findings.observation import ON_TIME
from safety_scenarios.judging.findings.stall_findings import CHECK, DUE
from safety_scenarios.scenario.result import BUSY_HOST

NOTHING_LEFT = 'which the harness itself needs here'
"""What the product says of a budget that its own measurement would use up."""
QUICK = str(Path(__file__).parents[1] / 'data' / 'quick_person.yaml')
"""A trial of a second, for what any hazard shows."""
SHIPPED = Path(__file__).parents[2] / 'config' / 'scenarios' / 'robotic'
DRIVEN = frozenset(re.search(r'\nid: (.*)\n', path.read_text(encoding='utf-8'))[1] for path in (
    sorted(SHIPPED.glob('*.yaml'))[::12 if FEW else 1]))
"""Ids of those that the reference is driven through over DDS: all, or a twelfth of them."""
BEDSIDE = ('SCN-C-101', 'SCN-C-D-101')
"""In words, a hazard and its benign variant: over DDS the others differ in their text alone."""
FAULTY = Path(__file__).with_name('faulty_controller.py')
SOON = {'FASTRTPS_DEFAULT_PROFILES_FILE': str(Path(QUICK).with_name('soon_discovered.xml'))}
"""Of each process of a test, so that two of them meet at once and not within three seconds."""
COMMAND = Path(sys.executable).with_name('safety-scenarios')


def brief(folder: Path, *ids: str) -> list[str]:
    """
    Return copies of shipped robotic scenarios whose world does not vary and whose hazard is soon.

    Over DDS every second is one; what varies is tested in simulated time, and so is the whole
    length of a hazard or a benign variant: here it is as short as its checks let it be.

    :param ids: of the scenarios; none: all of them
    """
    folder.mkdir(parents=True, exist_ok=True)
    copies = []
    for source in sorted(SHIPPED.glob('*.yaml')):
        text = source.read_text(encoding='utf-8')
        if ids and not any(f'\nid: {name}\n' in text for name in ids):
            continue
        text, ranges = re.subn(r'(?m)^    duration_ms: .*$', '    duration_ms: [100, 200]', text)
        text, draws = re.subn(r'(?ms)^  vary:[^\n]*\n(    .*?\n)+?(?=  \w)', '', text)
        assert ranges == draws == 1, source
        at_ms = 1000 if '\nid: SCN-R-D-' in text else \
            2500 if 'kind: temporal' in text else 1700
        text, clears = re.subn(r'(?m)^  all_clear: .*$', f'  all_clear: {{at_ms: {at_ms}}}', text)
        assert clears == 1, source
        copy = folder / source.name
        copy.write_text(text, encoding='utf-8')
        copies.append(str(copy))
    return copies


def unmeasured(trial: dict) -> bool:
    """
    Tell whether the host, and nobody else, kept a trial from being measured.

    The product says so by a finding of its own where a stimulus left late or a process could not
    run for long, and by the reason of a violation that a stall may have caused. By a note it says
    that the load of the host widened an uncertainty so far that a latency and its limit cannot be
    told apart; and of a calibration which a busy host has spoilt it says that no budget is left.
    Nothing else that is INCONCLUSIVE, or an ERROR, counts.
    """
    if trial['verdict'] == 'ERROR':
        return NOTHING_LEFT in trial['reason']
    undecided = {finding['check'] for finding in trial['findings']
                 if finding['verdict'] == 'INCONCLUSIVE'}
    noted = {note['code'] for note in trial['notes']}
    stalled = any(DUE in finding.get('reason', '') for finding in trial['findings'])
    return stalled or bool({ON_TIME, CHECK} & undecided) or (
        WITHIN_BUDGET in undecided and BUSY_HOST in noted)


def trials_in(folder: Path) -> list[dict]:
    """Return the lines of a campaign's trials.jsonl, none before there is one."""
    path = folder / 'trials.jsonl'
    lines = path.read_text(encoding='utf-8').splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


@dataclass
class Run:
    """
    What a campaign left behind.

    :ivar again: the later campaigns of those of its scenarios that could not be measured at first
    """

    first_code: int
    first_output: str
    folder: Path
    again: list['Run'] = field(default_factory=list)

    @property
    def trials(self) -> list[dict]:
        """Return the lines of trials.jsonl, those of a repeated scenario from its last run."""
        trials = trials_in(self.folder)
        for run in self.again:
            repeated = trials_in(run.folder)
            names = {trial['scenario_id'] for trial in repeated}
            trials = [trial for trial in trials if trial['scenario_id'] not in names] + repeated
        return trials

    @property
    def code(self) -> int:
        """Return the exit code; with a repeated scenario what its trials come to then."""
        if not self.again:
            return self.first_code
        verdicts = {trial['verdict'] for trial in self.trials}
        return 1 if 'FAIL' in verdicts else 3 if verdicts - {'PASS'} else 0

    @property
    def output(self) -> str:
        """Return all that was printed."""
        return '\n'.join([self.first_output, *(run.first_output for run in self.again)])

    @property
    def verdicts(self) -> dict[str, str]:
        """Scenario id to the verdict of its last trial."""
        return {trial['scenario_id']: trial['verdict'] for trial in self.trials}

    @property
    def unmeasured(self) -> set[str]:
        """Return the ids of the scenarios of which the host kept a trial from being measured."""
        return {trial['scenario_id'] for trial in self.trials if unmeasured(trial)}

    def named(self, ids: set[str], given: list[str]) -> list[str]:
        """Return what runs some of its scenarios: files among those given, else ids."""
        settings = json.loads((self.folder / 'settings.json').read_text(encoding='utf-8'))
        files = {Path(one).name: one for one in given if Path(one).is_file()}
        return [files.get(Path(known['path']).name, known['id'])
                for known in settings['scenarios'] if known['id'] in ids]

    def summary(self) -> dict:
        """Return the content of campaign.json."""
        return json.loads((self.folder / 'campaign.json').read_text(encoding='utf-8'))

    def counted(self, what: str) -> tuple[int, int]:
        """Return how many of how many in all its campaigns, by a pair of their summaries."""
        pairs = [run.summary()[what] for run in (self, *self.again)]
        return sum(pair['count'] for pair in pairs), sum(pair['of'] for pair in pairs)


def environment(domain: int | None = None) -> dict[str, str]:
    """Return the environment of a run: this machine only, and a domain if one is wanted."""
    result = {**os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
    result.pop('ROS_DOMAIN_ID', None)
    return result if domain is None else {**result, 'ROS_DOMAIN_ID': str(domain)}


def campaign(folder: Path, *arguments: str, domain: int | None = None, timeout: float = 400,
             calibration: str = 'off', again: bool = True, **variables: str) -> Run:
    """
    Run ``safety-scenarios run`` to its end; calibration takes seconds, so only where named.

    A shared machine may stall while a hazard is shown. The product then does not judge that trial,
    and says so: nothing is wrong with either. Scenarios that this has happened to are run once
    more, in a folder of their own, at most twice; what stays unmeasured is an error of the test.

    :param arguments: the scenarios, and then the options
    :param again: off where what it runs against changes by being asked
    """
    scenarios = list(takewhile(lambda argument: not argument.startswith('-'), arguments))
    options = arguments[len(scenarios):]
    seed = () if '--seed' in options else ('--seed', '0')

    def run_in(place: Path, chosen: list[str]) -> Run:
        command = [COMMAND, 'run', *chosen, *seed, *options, '--output', place,
                   '--calibration', calibration]
        done = subprocess.run(command, env=environment(domain) | variables, timeout=timeout,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        return Run(done.returncode, done.stdout, place)

    run = run_in(folder, scenarios)
    for number in (2, 3) if again else ():
        if not run.unmeasured:
            return run
        more = run_in(folder.with_name(f'{folder.name}_{number}'),
                      run.named(run.unmeasured, scenarios))
        if set(more.verdicts) == set(run.verdicts):
            run = more
        else:
            run.again.append(more)
    assert not (again and run.unmeasured), f'three times not measured:\n{run.output}'
    return run


def until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Wait for a condition and return what it is."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, 'waited in vain'
        time.sleep(0.02)
    return found


@contextmanager
def process(*command: str, domain: int) -> Iterator[subprocess.Popen]:
    """Keep a process running while the block lasts, and end it by its pid."""
    with subprocess.Popen(command, env=environment(domain), stdin=subprocess.DEVNULL) as running:
        try:
            yield running
        finally:
            running.terminate()
            try:
                running.wait(5)
            except subprocess.TimeoutExpired:
                running.kill()


def faulty(fault: str, domain: int):
    """Run a controller that this package did not start, with one fault."""
    return process(sys.executable, str(FAULTY), fault, domain=domain)
