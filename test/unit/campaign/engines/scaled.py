# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Small campaigns for engines, and controllers whose processes end; what they leave, compared."""

import json
import os
from pathlib import Path
import re
import signal
import time
from typing import Any, ClassVar

from safety_scenarios import registry
from safety_scenarios.campaign.run import run
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.trial.journal import read_journal
from safety_scenarios.trial.session import open_outputs, OutputContext
from safety_scenarios.trial.summary import CampaignSummary
from unzipped import content

TIMES_LEFT = 'TEST_TIMES_LEFT'
"""Environment variable: file with how often to end, and how many trials to leave alone first."""
SCENARIOS = ('SCN-R-101', 'SCN-C-101')


def settings(output: Path, **more: Any) -> RunSettings:
    """Return those of a campaign of three trials of each of two scenarios."""
    return RunSettings(**{'scenarios': SCENARIOS, 'link': 'loopback', 'words': 'patterns',
                          'trials': 3, 'seed': 1, 'output': str(output), 'outputs': ('page',),
                          **more})


def campaign(output: Path, **more: Any) -> CampaignSummary:
    """Run it, with its page."""
    return _run(settings(output, **more))


def go_on(folder: Path, **given: Any) -> CampaignSummary:
    """Go on with the campaign in a folder, by whatever settings are given."""
    return _run(RunSettings(**{'outputs': ('page',), **given}), folder)


def _run(chosen: RunSettings, resume: Path | None = None) -> CampaignSummary:
    with open_outputs(OutputContext(chosen, str, str)) as observers:
        return run(chosen, observers, resume=resume)


def left(folder: Path) -> dict[str, Any]:
    """Return everything that a campaign has left, but when, where and how fast it was run."""
    found: dict[str, Any] = {'trials': [
        json.loads(_unhurried(line))
        for line in (folder / 'trials.jsonl').read_bytes().splitlines()]}
    found['summary'] = json.loads((folder / 'campaign.json').read_text())
    found['summary'].pop('repaired', None)
    for path in sorted(folder.rglob('*.gz')):
        found[str(path.relative_to(folder))] = _unhurried(content(path)) \
            if not path.name.endswith('.events.jsonl.gz') else [
                event for event in read_journal(path, registry.resolve).events
                if event.kind != 'timing']
    return found


def _unhurried(text: bytes) -> bytes:
    """Take out what long thoughts change, which a controller has on a busy machine."""
    return re.sub(rb'"record_sha256":"\w+"', b'', text)


class Killed(RuleBased):
    """Ends its own process, as often and after as many trials as the file says."""

    by: ClassVar[signal.Signals] = signal.SIGKILL

    def start(self) -> None:
        """End with SIGKILL, as the kernel ends what takes too much memory."""
        path = Path(os.environ[TIMES_LEFT])
        count, spared = map(int, path.read_text().split())
        path.write_text(f'{count - (not spared and count > 0)} {max(0, spared - 1)}')
        if not spared and count > 0:
            self._kill()

    def _kill(self) -> None:
        os.kill(os.getpid(), self.by)


class WorkerKilled(Killed):
    """Kills the process that executes its trial, whose child it is: as something else does."""

    def _kill(self) -> None:
        os.kill(os.getppid(), signal.SIGKILL)


class Forks(Killed):
    """Ends its process while a child holds the socket to the campaign."""

    def _kill(self) -> None:
        if os.fork():
            os._exit(5)
        time.sleep(600)


class Aborts(Killed):
    """Ends it as a failed assertion of a library does."""

    by: ClassVar[signal.Signals] = signal.SIGABRT
