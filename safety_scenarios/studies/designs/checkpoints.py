# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Checkpoints of a bisection: texts that name controllers, and their trials as campaigns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import glob
from pathlib import Path
import re

from safety_scenarios.campaign.plan import plan_campaign
from safety_scenarios.campaign.run import run_campaign
from safety_scenarios.errors import SettingsError
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.studies.designs.bisect import World
from safety_scenarios.trial.session import Observer
from safety_scenarios.trial.trial import TrialRecord

MOST = 1000
"""Checkpoints of one bisection."""
_PATTERN = re.compile(r'[^\s:=(),]*\*[^\s:=(),]*')
_NAMED = re.compile(r'(?P<name>[^()]+)\((?P<parameters>[^()]*)\)')
_DIGITS = re.compile(r'(\d+)')
_NOT_IN_NAMES = re.compile(r'[^A-Za-z0-9_.=-]+')


def in_order(good: str, bad: str, between: Sequence[str]) -> Sequence[str]:
    """
    Return all checkpoints in order: the good one, those between, the bad one.

    One with ``*`` in a path stands for the files that there are, by number: ckpt_9 before ckpt_10.

    :raises SettingsError: a pattern without a file, one that is named twice, or too many
    """
    for one in (good, bad):
        if '*' in one:
            raise SettingsError(f'checkpoint: got {one}, expected one controller without *, for '
                                f'the good and for the bad one')
    found = [one for text in between for one in _expanded(text) if one not in (good, bad)]
    for one in found:
        if found.count(one) > 1:
            raise SettingsError(f'checkpoint: got {one} twice, expected it once')
    if good == bad:
        raise SettingsError(f'checkpoint: got {good} as good and as bad, expected two')
    if len(found) + 2 > MOST:
        raise SettingsError(f'checkpoint: got {len(found) + 2}, expected at most {MOST}')
    return [good, *found, bad]


def _expanded(text: str) -> Iterator[str]:
    pattern = _PATTERN.search(text)
    if pattern is None:
        yield text
        return
    names = sorted(glob.glob(pattern[0]), key=_by_number)
    if not names:
        raise SettingsError(f'checkpoint: got {text}, and no file is called {pattern[0]}. Correct '
                            f'the pattern')
    yield from (text[:pattern.start()] + name + text[pattern.end():] for name in names)


def _by_number(name: str) -> list[tuple[int, str]]:
    return [(int(part), '') if part.isdigit() else (-1, part) for part in _DIGITS.split(name)]


def controller_in(text: str) -> tuple[str, Sequence[str]]:
    """
    Return the controller that a text names, and its parameters as KEY=VALUE.

    As results name it: ``rule_based(delay_ms=100)``; or as --controller takes it.

    :raises SettingsError: a parameter without a value
    """
    named = _NAMED.fullmatch(text)
    if named is None:
        return text, ()
    parameters = [one.strip() for one in named['parameters'].split(',') if one.strip()]
    for one in parameters:
        if not one.partition('=')[2]:
            raise SettingsError(f'checkpoint: {text}: got {one!r}, expected KEY=VALUE, such as '
                                f'rule_based(delay_ms=100)')
    return named['name'], parameters


@dataclass(frozen=True)
class Checkpoint:
    """One controller of a bisection."""

    name: str
    settings: RunSettings


class CampaignsOfCheckpoints:
    """
    Runs trials with checkpoints, each time as a campaign in a folder of its own.

    :param folder: of all of them
    :raises InputError: a checkpoint cannot be run, or a sequential test would end its trials
    """

    def __init__(self, checkpoints: Sequence[Checkpoint], folder: Path) -> None:
        self._checkpoints, self._folder = checkpoints, folder
        first = checkpoints[0].settings
        if first.sequential.p1:
            raise SettingsError(f'sequential.p1: got {first.sequential.p1:g} with several '
                                f'checkpoints, expected 0: each would end after other trials, and '
                                f'no p-value would hold. Leave it out')
        self._scenarios: Sequence[Scenario] = load_scenarios(
            first.scenarios, first.regex).scenarios
        self._visits: dict[int, int] = {}
        plan = plan_campaign(first, self._scenarios)
        self.link = plan.setup.link.name
        self.is_repeatable = plan.setup.link_plugin.is_repeatable
        for one in checkpoints[1:]:  # refused before the first trial
            plan_campaign(one.settings, self._scenarios)

    def run(self, place: int, worlds: Sequence[World] | None) -> Sequence[TrialResult]:
        """Run the trials of some worlds, None: all, with one checkpoint."""
        one = self._checkpoints[place]
        visit = self._visits[place] = self._visits.get(place, 0) + 1
        short = _NOT_IN_NAMES.sub('_', Path(one.name).name).strip('_.')[:60]
        folder = self._folder / f'{place:03d}-{short}' / str(visit)
        settings = one.settings.model_copy(update={'output': str(folder), 'only': tuple(
            f'{name}:{index}' for name, index in worlds or ())})
        results = _Results()
        summary = run_campaign(plan_campaign(settings, self._scenarios, folder=folder), [results])
        if summary.interrupted:
            raise KeyboardInterrupt
        return results.found


class _Results(Observer):
    """Keeps the results of a campaign."""

    def __init__(self) -> None:
        self.found: list[TrialResult] = []

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        self.found.append(result)
