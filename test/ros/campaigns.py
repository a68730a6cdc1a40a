# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Campaigns as a user runs them: the installed command in a process of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import json
import os
from pathlib import Path
import re
import subprocess
import sys

QUICK = str(Path(__file__).parents[1] / 'data' / 'quick_person.yaml')
"""A trial of a second, for what any hazard shows."""
SHIPPED = Path(__file__).parents[2] / 'config' / 'scenarios' / 'robotic'
FAULTY = Path(__file__).with_name('faulty_controller.py')
OVERLOADED = 'Lower the load of the host'
COMMAND = Path(sys.executable).with_name('safety-scenarios')


def brief(folder: Path, *ids: str) -> list[str]:
    """
    Return copies of shipped robotic scenarios whose world does not vary and whose hazard is soon.

    Over DDS every second is one; what varies is tested in simulated time.

    :param ids: of the scenarios; none: all of them
    """
    folder.mkdir(parents=True, exist_ok=True)
    copies = []
    for source in sorted(SHIPPED.glob('*.yaml')):
        text = source.read_text(encoding='utf-8')
        if ids and not any(f'\nid: {name}\n' in text for name in ids):
            continue
        text, ranges = re.subn(r'(?m)^    duration_ms: .*$', '    duration_ms: [500, 900]', text)
        text, draws = re.subn(r'(?ms)^  vary:\n(    .*?\n)+?(?=  \w)', '', text)
        assert ranges == draws == 1, source
        copy = folder / source.name
        copy.write_text(text, encoding='utf-8')
        copies.append(str(copy))
    return copies


@dataclass
class Run:
    """What a campaign left behind."""

    code: int
    output: str
    folder: Path

    @property
    def trials(self) -> list[dict]:
        """Return the lines of trials.jsonl."""
        text = (self.folder / 'trials.jsonl').read_text(encoding='utf-8')
        return [json.loads(line) for line in text.splitlines()]

    @property
    def verdicts(self) -> dict[str, str]:
        """Scenario id to the verdict of its last trial."""
        return {trial['scenario_id']: trial['verdict'] for trial in self.trials}

    @property
    def overloaded(self) -> bool:
        """Whether a trial was not judged because the machine was too busy."""
        path = self.folder / 'trials.jsonl'
        return path.exists() and OVERLOADED in path.read_text(encoding='utf-8')

    def summary(self) -> dict:
        """Return the content of campaign.json."""
        return json.loads((self.folder / 'campaign.json').read_text(encoding='utf-8'))


def environment(domain: int | None = None) -> dict[str, str]:
    """Return the environment of a run: this machine only, and a domain if one is wanted."""
    result = {**os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
    result.pop('ROS_DOMAIN_ID', None)
    return result if domain is None else {**result, 'ROS_DOMAIN_ID': str(domain)}


def campaign(folder: Path, *arguments: str, domain: int | None = None, timeout: float = 400,
             calibration: str = 'off', again: bool = True, **variables: str) -> Run:
    """
    Run ``safety-scenarios run`` to its end; calibration takes seconds, so only where named.

    A shared machine may stall while a hazard is shown. The product then does not judge that trial
    and says to lower the load: nothing is wrong with either, and the whole campaign is run once
    more, in a folder of its own, at most twice.

    :param again: off where that is what the test expects, or where what it runs against changes
    """
    places = [folder.with_name(f'{folder.name}_{number}') for number in (2, 3)] if again else []
    for place in (folder, *places):
        command = [COMMAND, 'run', *arguments, '--output', place, '--calibration', calibration]
        done = subprocess.run(command, env=environment(domain) | variables, timeout=timeout,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        run = Run(done.returncode, done.stdout, place)
        if not run.overloaded:
            break
    return run


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
