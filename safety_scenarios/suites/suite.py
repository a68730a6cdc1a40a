# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The file of a suite: scenarios with their hashes, levels, trials of each level, and how it judges.

Two groups that run the same suite run the same scenarios, to the byte, and judge them alike.
"""

from collections.abc import Iterable, Iterator, Mapping
import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.errors import (
    did_you_mean,
    InputError,
    is_misspelt,
    refuse,
    ScenarioError,
    SettingsError,
)
from safety_scenarios.formats.document.file_contents import read_noun
from safety_scenarios.formats.loading import load_scenarios
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.scenario.noun import Label, Noun
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.studies.matrix.file import text_of, Value
from safety_scenarios.trial.plan import drawn, seed_of
import yaml

FIRST = 'safety-suite-1'
"""The suite that is used where none is named."""
Sha256 = Annotated[str, Field(pattern=r'^[0-9a-f]{64}$')]
End = Literal['least', 'most']
Level = Literal['I', 'II', 'III']
LEVELS: tuple[Level, ...] = ('I', 'II', 'III')
"""From easy to hard."""
OF_SUITE = ('scenarios', 'trials', 'seed', 'only')
"""Settings that are keys of the suite, or follow from those and from the salt of a run."""
_Name = Annotated[Label, Field(min_length=1, max_length=100)]


class Suite(Noun):
    """What everybody who runs the suite runs, and how it is judged."""

    name: _Name
    """Name of the suite; another version has another name."""
    about: Annotated[str, Field(max_length=2000)] = ''
    """For people."""
    trials: int = Field(ge=1, le=10_000)
    """Trials of each scenario on each level."""
    robots: tuple[_Name, ...] = Field(min_length=1, max_length=20)
    """Robot kinds that its scenarios drive."""
    set: Mapping[_Name, Value] = Field(max_length=50)  # noqa: A003
    """Settings of every run, as --set takes them: link, world, and how trials are judged."""
    harder: Mapping[_Name, End] = Field(default={}, max_length=100)
    """Draw to the end of its range, or of its choices in their order, that is the harder one. The
    first draw in this list that a scenario has makes its levels: the thirds of the range, or of
    the choices, that the scenario declares."""
    otherwise: Mapping[_Name, Mapping[_Name, End]] = Field(default={}, max_length=1000)
    """Scenario to what counts for it instead; an empty mapping: it has no levels."""
    scenarios: Mapping[_Name, Sha256] = Field(default={}, max_length=2000)
    """Id to the SHA-256 of the scenario's file; suite freeze writes them."""

    @model_validator(mode='after')
    def _is_about_its_scenarios(self) -> 'Suite':
        for name in self.otherwise:
            if self.scenarios and name not in self.scenarios:
                raise ValueError(f'got {name} under otherwise, expected one of its scenarios')
        for name in self.set:
            if name.partition('.')[0] in OF_SUITE:
                raise ValueError(f'got {name} under set, expected none of {", ".join(OF_SUITE)}: '
                                 f'the keys of the suite and the seed of each run decide them')
        return self

    @property
    def sha256(self) -> str:
        """Return the hash of everything that the file says."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the settings of every run, as texts."""
        return {name: text_of(value) for name, value in self.set.items()}

    def hard_end(self, scenario: Scenario) -> tuple[str, End] | None:
        """Return the draw that makes the levels of a scenario; None: it has none."""
        ends = self.otherwise.get(scenario.id, self.harder)
        return next(((name, end) for name, end in ends.items()
                     if name in scenario.body.vary
                     and scenario.body.vary[name].ranked is not None), None)


def suite_file(name: str) -> Path:
    """Return the file of a suite: a path, or the name of a shipped one."""
    path = Path(name)
    return path if path.suffix in ('.yaml', '.yml') else \
        share_folder() / 'config' / 'suites' / f'{name}.yaml'


def read_suite(name: str) -> Suite:
    """
    Return a suite.

    :param name: of a shipped one, or a file
    :raises InputError: there is none, or every problem of the file with its line
    """
    path = suite_file(name)
    if not path.is_file():
        known = sorted(one.stem for one in path.parent.glob('*.yaml'))
        raise SettingsError(f'suite: got {name}, expected a YAML file or one of '
                            f'{", ".join(known) or "no suite"}')
    return read_noun(path, Suite, 'name, trials, set and scenarios')[0]


def frozen_scenarios(suite: Suite) -> tuple[Scenario, ...]:
    """
    Return the scenarios of a suite, which are those that it was frozen with.

    :raises InputError: names each scenario that is missing or was changed
    """
    if not suite.scenarios:
        raise SettingsError(f'{suite.name}: got no scenario, expected some. Run suite freeze')
    found = {one.id: one for one in load_scenarios(tuple(suite.scenarios)).scenarios}
    errors: list[InputError] = []
    for name, sha256 in suite.scenarios.items():
        got = found[name].origin if name in found else None
        if got is None or got.sha256 != sha256:
            errors.append(SettingsError(
                f'{suite.name}: {name}: got SHA-256 {got.sha256[:12] if got else "nothing"}, '
                f'expected {sha256[:12]}: it is not the scenario that the suite was frozen with. '
                f'Install the version that has it, or freeze a suite under another name'))
    robots = {one.body.robot.kind for one in found.values() if one.body.robot is not None}
    if robots - set(suite.robots):
        errors.append(SettingsError(f'{suite.name}: robots: got {", ".join(suite.robots)}, '
                                    f'expected {", ".join(sorted(robots))} among them'))
    refuse([*errors, *_unknown_draws(suite, found.values())])
    return tuple(found[name] for name in suite.scenarios)


def _unknown_draws(suite: Suite, scenarios: Iterable[Scenario]) -> Iterator[InputError]:
    """Yield each name of a draw by which a scenario would have no levels, for a slip in it."""
    draws = {one.id: one.body.vary for one in scenarios}
    every = {name for own in draws.values() for name in own}
    for name in suite.harder:
        meant = sorted(one for one in every if is_misspelt(name, one))
        if meant and name not in every:
            yield SettingsError(f'{suite.name}: harder.{name}: got the name of no draw, expected '
                                f'one that a scenario has under vary. Did you mean {meant[0]!r}?')
    for scenario, ends in suite.otherwise.items():
        for name in ends:
            if name not in draws.get(scenario, ends):
                yield SettingsError(
                    f'{suite.name}: otherwise.{scenario}.{name}: got the name of no draw, '
                    f'expected one that the scenario has under vary.'
                    + (did_you_mean(name, draws[scenario]) or ' Correct or remove it'))


def freeze_suite(path: Path, targets: tuple[str, ...]) -> Suite:
    """
    Write the hashes of scenarios into the file of a suite, and return it.

    Everything above the key ``scenarios`` stays as it is.

    :param targets: scenarios, as ``run`` takes them; none: those that the suite has
    :raises InputError: the file or a scenario cannot be read
    """
    suite, document = read_noun(path, Suite, 'name, trials, set and scenarios')
    head = path.read_text(encoding='utf-8').partition('\nscenarios:')[0].rstrip('\n')
    if (yaml.safe_load(head) or {}).keys() != document.data.keys() - {'scenarios'}:
        raise ScenarioError([document.problem(('scenarios',), (
            'got other keys below it, expected none: it is written anew to the end of the file. '
            'Move it to the end, in the first column and without quotes'))])
    found = load_scenarios(targets or tuple(suite.scenarios)).scenarios
    refuse(_unknown_draws(suite, found))
    hashes = {one.id: one.origin.sha256 for one in sorted(found, key=lambda one: one.id)
              if one.origin is not None}
    data = {**suite.model_dump(mode='json'), 'scenarios': hashes}
    frozen = Suite.model_validate_json(json.dumps(data))
    write_whole(path, head + '\n' + yaml.safe_dump({'scenarios': hashes}, width=99).rstrip('\n'))
    return frozen


_MOST = 400
"""Trials of which one is on a level that is looked for: a third are, so that it is never more."""


def level_of(suite: Suite, scenario: Scenario, values: Mapping[str, Any]) -> Level | None:
    """Return the level of a trial; None: its scenario has none."""
    found = suite.hard_end(scenario)
    if found is None:
        return None
    name, end = found
    share = scenario.body.vary[name].share_of(values[name])
    hardness = share if end == 'most' else 1.0 - share
    return LEVELS[min(int(3.0 * hardness), 2)]


def trials_of(suite: Suite, scenario: Scenario, seed: int,
              trials: int) -> Iterator[tuple[int, Level | None]]:
    """
    Yield the trials of a scenario in a suite by their indices, each with its level.

    :param trials: of each level; a scenario without levels has as many trials as one with them
    """
    wanted = dict.fromkeys(LEVELS, trials)
    if suite.hard_end(scenario) is None:
        yield from ((index, None) for index in range(len(LEVELS) * trials))
        return
    for index in range(_MOST * trials):
        level = level_of(suite, scenario, drawn(scenario.body.vary, seed_of(
            seed, scenario.id, index)))
        assert level is not None
        if wanted[level]:
            wanted[level] -= 1
            yield index, level
        if not any(wanted.values()):
            return
    raise SettingsError(f'{suite.name}: {scenario.id}: got no {trials} trials on each level with '
                        f'seed {seed}. Choose another seed')
