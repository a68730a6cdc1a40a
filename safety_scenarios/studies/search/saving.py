# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A failure as a scenario file, and a campaign of it that shows that it fails again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safety_scenarios.campaign.run import run
from safety_scenarios.errors import counted, InputError, SafetyScenariosError, TraceError
from safety_scenarios.formats.loading import load_scenario
from safety_scenarios.formats.writing.scenario_text import fixed_text
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.studies.search.failures import Failure
from safety_scenarios.studies.search.space import ONSET, Space
from safety_scenarios.trial.session import Observer

AGAIN = 5
"""Trials of the saved file, each with a seed of its own."""


@dataclass(frozen=True)
class Saved:
    """A failure that was saved, and what came of its file."""

    failure: Failure
    file: Path | None
    """None: the values do not make a scenario file; ``problem`` says why."""
    folder: Path | None = None
    """Of the campaign of the file."""
    failed: int = 0
    """Of its trials, those that fail in the same way."""
    decided: int = 0
    problem: str = ''
    trial_id: str = ''
    """Of the first trial that fails."""

    @property
    def how_often(self) -> str:
        """Return whether it fails with other seeds, in words."""
        if self.problem:
            return f'not tried again: {self.problem}'
        if not self.decided:
            return 'not decided when it was run again'
        word = 'always' if self.failed == self.decided == AGAIN else \
            'not again' if not self.failed else 'sometimes'
        return f'{word} ({self.failed} of {counted(self.decided, "trial")} with other seeds)'


class _Kept(Observer):
    """Keeps the results."""

    def __init__(self) -> None:
        self.results: list[Any] = []

    def trial_ended(self, record: Any, result: Any) -> None:
        """Keep one."""
        self.results.append(result)


def save(space: Space, scenario: Scenario, data: Mapping[str, Any], failures: Sequence[Failure],
         folder: Path, settings: RunSettings, controller: Any = None) -> Iterator[Saved]:
    """
    Write each failure as a file, load it, and run it again with other seeds.

    :param data: the scenario's file as plain data
    :param folder: for files and campaigns
    :param settings: how a campaign of the scenario is run
    :param controller: the controller itself, if no plug-in has the name in the settings
    :raises TraceError: a file cannot be written
    """
    for number, failure in enumerate(failures, 1):
        path = folder / f'failure_{number}.yaml'
        values = space.values(failure.point)
        needed = [space.axes[place].name for place in failure.needed]
        text = fixed_text(
            data, {name: values[name] for name in scenario.body.vary},
            scenario_id=f'{scenario.id}-failure-{number}',
            name=f'{scenario.name}: failure {number}',
            onset_ms=values[ONSET] if ONSET in values and ONSET not in scenario.body.vary
            else None,
            comment=(f'{scenario.id} as it failed in a search (seed {failure.seed}, trial '
                     f'{failure.first}): {", ".join(sorted(failure.checks))}.',
                     f'It takes {space.text(failure.point, failure.needed)}.' if needed else
                     'It takes none of the draws.',
                     'All other draws have their ordinary values.'))
        try:
            path.write_text(text, encoding='utf-8')
        except OSError as error:
            raise TraceError(f'{path}: cannot be written: {error.strerror}') from error
        try:
            load_scenario(path)
        except InputError as error:
            yield Saved(failure, None, problem=f'{path.name} is no valid scenario: {error}')
            continue
        yield _run_again(path, failure, settings, controller)


def _run_again(path: Path, failure: Failure, settings: RunSettings, controller: Any) -> Saved:
    folder, kept = path.with_suffix(''), _Kept()
    own = settings.model_copy(update={
        'scenarios': (str(path),), 'trials': AGAIN, 'warmup': 0, 'output': str(folder),
        'seed': (settings.seed + 1) % 2**31, 'outputs': ()})
    try:
        run(own, [kept], controller=controller)
    except SafetyScenariosError as error:
        return Saved(failure, path, problem=str(error))
    decided = [one for one in kept.results if one.verdict in (Verdict.PASS, Verdict.FAIL)]
    failing = [one for one in decided if failure.checks & {
        finding.check for finding in one.findings if finding.verdict is Verdict.FAIL}]
    return Saved(failure, path, folder, len(failing), len(decided),
                 trial_id=failing[0].trial_id if failing else '')
